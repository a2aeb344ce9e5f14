//! Reading the frames that brokers answer.

use crate::log::batch;
use crate::types::{ErrorCode, Offset};
use crate::wire;

/// An answer to a produce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Produced {
    pub error: ErrorCode,
    pub base_offset: Option<Offset>,
}

/// What a fetch brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shipped {
    pub records: u64,
    pub hw: Option<Offset>,
}

/// The message in a response that a node of ours has just made.
pub(super) fn body<'a, M: wire::ResponseMessage<'a>>(frame: &'a [u8]) -> M {
    let response = wire::decode_response(frame).and_then(wire::Response::body);
    response.expect("a node's own response can be read")
}

/// The answer to a produce of one batch.
pub(super) fn produced(frame: &[u8]) -> Option<Produced> {
    let response: wire::ProduceResponse<'_> = body(frame);
    let part = response.topics.first()?.partitions.first()?;
    Some(Produced { error: part.error, base_offset: part.base_offset })
}

/// What an answer to a fetch of one partition brings.
pub(super) fn shipped(frame: &[u8]) -> Shipped {
    let response: wire::FetchResponse<'_> = body(frame);
    let part = response.topics.first().and_then(|topic| topic.partitions.first());
    let Some(part) = part else {
        return Shipped { records: 0, hw: None };
    };
    let mut rest = part.records.unwrap_or_default();
    let mut records = 0;
    while let Ok(header) = batch::verify(rest) {
        records += u64::from(header.records);
        rest = &rest[header.bytes as usize..];
    }
    Shipped { records, hw: part.high_watermark }
}
