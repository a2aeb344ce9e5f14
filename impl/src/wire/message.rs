//! Whole frames: a header and the message behind it.

use super::alter_partition::{AlterPartitionRequest, AlterPartitionResponse};
use super::epoch_end::{OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse};
use super::error::DecodeError;
use super::fetch::FetchRequest;
use super::fetch_answer::FetchResponse;
use super::frame::{CorrelationId, RequestHeader, open};
use super::list_offsets::{ListOffsetsRequest, ListOffsetsResponse};
use super::part::Part;
use super::produce::{ProduceRequest, ProduceResponse};
use super::reader::Reader;
use super::writer::Writer;

/// The requests that this crate speaks, each in one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Api {
    /// Produce, key 0, version 9.
    Produce,
    /// Fetch, key 1, version 15.
    Fetch,
    /// ListOffsets, key 2, version 7.
    ListOffsets,
    /// OffsetForLeaderEpoch, key 23, version 4.
    OffsetForLeaderEpoch,
    /// AlterPartition, key 56, version 3.
    AlterPartition,
}

impl Api {
    const ALL: [Self; 5] = [
        Self::Produce,
        Self::Fetch,
        Self::ListOffsets,
        Self::OffsetForLeaderEpoch,
        Self::AlterPartition,
    ];

    /// Kafka's number of the request.
    pub fn key(self) -> i16 {
        match self {
            Self::Produce => 0,
            Self::Fetch => 1,
            Self::ListOffsets => 2,
            Self::OffsetForLeaderEpoch => 23,
            Self::AlterPartition => 56,
        }
    }

    /// The version spoken.
    pub fn version(self) -> i16 {
        match self {
            Self::Produce => 9,
            Self::Fetch => 15,
            Self::ListOffsets => 7,
            Self::OffsetForLeaderEpoch => 4,
            Self::AlterPartition => 3,
        }
    }

    pub(super) fn find(key: i16, version: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.key() == key && api.version() == version)
    }
}

/// A message that can be sent as a request.
pub trait RequestMessage<'a>: Part<'a> {
    /// Which request it is.
    const API: Api;
}

/// A message that can be sent as a response.
pub trait ResponseMessage<'a>: Part<'a> {
    /// Its name in errors.
    const NAME: &'static str;
}

macro_rules! messages {
    ($($api:ident: $request:ident $(<$r:lifetime>)?, $response:ident $(<$s:lifetime>)?;)*) => {
        /// A request, borrowed from its frame.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Request<'a> {
            $(
                #[doc = concat!("See [`", stringify!($request), "`].")]
                $api($request $(<$r>)?),
            )*
        }

        impl<'a> Request<'a> {
            fn read(api: Api, reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
                match api {
                    $(Api::$api => {
                        reader.enter(stringify!($request));
                        $request::read(reader).map(Self::$api)
                    })*
                }
            }
        }

        $(
            impl<'a> RequestMessage<'a> for $request $(<$r>)? {
                const API: Api = Api::$api;
            }

            impl<'a> ResponseMessage<'a> for $response $(<$s>)? {
                const NAME: &'static str = stringify!($response);
            }
        )*
    };
}

messages! {
    Produce: ProduceRequest<'a>, ProduceResponse<'a>;
    Fetch: FetchRequest<'a>, FetchResponse<'a>;
    ListOffsets: ListOffsetsRequest<'a>, ListOffsetsResponse<'a>;
    OffsetForLeaderEpoch: OffsetForLeaderEpochRequest<'a>, OffsetForLeaderEpochResponse<'a>;
    AlterPartition: AlterPartitionRequest, AlterPartitionResponse;
}

impl Request<'_> {
    /// How many partitions the request names, over all its topics.
    pub fn partitions(&self) -> usize {
        match self {
            Self::Produce(request) => request.topics.iter().map(|t| t.partitions.len()).sum(),
            Self::Fetch(request) => request.topics.iter().map(|t| t.partitions.len()).sum(),
            Self::ListOffsets(request) => request.topics.iter().map(|t| t.partitions.len()).sum(),
            Self::OffsetForLeaderEpoch(request) => {
                request.topics.iter().map(|t| t.partitions.len()).sum()
            }
            Self::AlterPartition(request) => {
                request.topics.iter().map(|t| t.partitions.len()).sum()
            }
        }
    }
}

/// Appends one request frame to `out`.
pub fn encode_request<'a, M: RequestMessage<'a>>(
    out: &mut Vec<u8>,
    correlation_id: CorrelationId,
    client_id: Option<&str>,
    message: &M,
) {
    let mut writer = Writer::start(out);
    RequestHeader { api: M::API, correlation_id, client_id }.write(&mut writer);
    message.write(&mut writer);
    writer.finish();
}

/// Appends one response frame to `out`.
pub fn encode_response<'a, M: ResponseMessage<'a>>(
    out: &mut Vec<u8>,
    correlation_id: CorrelationId,
    message: &M,
) {
    let mut writer = Writer::start(out);
    correlation_id.write(&mut writer);
    message.write(&mut writer);
    writer.finish();
}

/// Reads one request frame, length prefix included.
pub fn decode_request(frame: &[u8]) -> Result<(RequestHeader<'_>, Request<'_>), DecodeError> {
    let mut reader = open(frame, "RequestHeader")?;
    let header = RequestHeader::read(&mut reader)?;
    let request = Request::read(header.api, &mut reader)?;
    reader.end("end of message")?;
    Ok((header, request))
}

/// Reads the header of one response frame, length prefix included. The bytes do not say which
/// message follows: the receiver knows it from the request with this correlation id.
pub fn decode_response(frame: &[u8]) -> Result<Response<'_>, DecodeError> {
    let mut body = open(frame, "ResponseHeader")?;
    let correlation_id = CorrelationId::read(&mut body)?;
    Ok(Response { correlation_id, body })
}

/// A response whose body is still to be read.
pub struct Response<'a> {
    /// Correlation id of the request that this answers.
    pub correlation_id: CorrelationId,
    pub(super) body: Reader<'a>,
}

impl<'a> Response<'a> {
    /// Reads the body as the message `M`.
    pub fn body<M: ResponseMessage<'a>>(mut self) -> Result<M, DecodeError> {
        self.body.enter(M::NAME);
        let message = M::read(&mut self.body)?;
        self.body.end("end of message")?;
        Ok(message)
    }
}
