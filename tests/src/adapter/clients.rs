//! The producers: real Produce frames in, answers out.

use std::collections::BTreeMap;

use klog::log::batch::{self, NewRecord};
use klog::types::Offset;
use klog::wire::{self, CorrelationId};
use klog_trace::action::Node as Id;
use klog_trace::{Acks, ClientAnswer};

use super::decode;
use super::fault::{Fault, small};
use super::{PARTITION, TOPIC};

/// Every produce has waited long enough whenever the environment says so (V4), and the node is
/// asked at no other time.
const TIMEOUT_MS: i32 = 0;

/// A produce that was sent and is not answered.
#[derive(Clone, Copy, Debug)]
struct Produced {
    value: u8,
    /// Where the leader appended it; `None` if it did not.
    offset: Option<u8>,
}

/// A produce frame on its way to a broker.
pub struct Sending {
    /// The frame.
    pub frame: Vec<u8>,
    id: CorrelationId,
    value: u8,
    acks: Acks,
}

/// Every client, behind one connection to each broker.
#[derive(Debug)]
pub struct Clients {
    next_value: u16,
    next_id: i32,
    waiting: BTreeMap<(Id, CorrelationId), Produced>,
}

impl Clients {
    /// No client has sent anything; the first value is 1.
    pub fn new() -> Self {
        Self { next_value: 1, next_id: 0, waiting: BTreeMap::new() }
    }

    /// How many values were appended.
    pub fn produced(&self) -> u16 {
        self.next_value - 1
    }

    /// The frame that produces the next value.
    pub fn send(&mut self, acks: Acks) -> Result<Sending, Fault> {
        let value = small("value", self.next_value)?;
        let record = NewRecord { value: Some(&[value]), ..NewRecord::default() };
        let records = batch::build(&[record]).map_err(|e| Fault::Internal(e.to_string()))?;
        let request = wire::ProduceRequest {
            transactional_id: None,
            acks: match acks {
                Acks::None => 0,
                Acks::Leader => 1,
                Acks::All => -1,
            },
            timeout_ms: TIMEOUT_MS,
            topics: vec![wire::ProduceTopic {
                name: TOPIC,
                partitions: vec![wire::ProducePartition {
                    partition: PARTITION,
                    records: Some(&records),
                }],
            }],
        };
        let id = CorrelationId(self.next_id);
        self.next_id += 1;
        let mut frame = Vec::with_capacity(160);
        wire::encode_request(&mut frame, id, None, &request);
        Ok(Sending { frame, id, value, acks })
    }

    /// The broker has read the frame and has appended the record there, or has not. A value that
    /// was refused is free for the next try.
    pub fn taken(
        &mut self,
        broker: Id,
        sent: &Sending,
        appended: Option<Offset>,
    ) -> Result<(), Fault> {
        let &Sending { id, value, acks, .. } = sent;
        let offset = appended.map(decode::offset).transpose()?;
        if offset.is_some() {
            self.next_value += 1;
        }
        if acks != Acks::None {
            let produced = Produced { value, offset };
            self.waiting.insert((broker, id), produced);
        }
        Ok(())
    }

    /// A broker answered.
    ///
    /// The wire says −1 for the offset beside any error, also for a record that was appended and
    /// whose fate is not known. A trace says where it stands, so the offset it was seen to be
    /// appended at is given here.
    pub fn answered(&mut self, broker: Id, frame: &[u8]) -> Result<ClientAnswer, Fault> {
        let damaged = |e| Fault::hidden(format!("an answer to a produce does not decode: {e}"));
        let response = wire::decode_response(frame).map_err(damaged)?;
        let id = response.correlation_id;
        let body: wire::ProduceResponse<'_> = response.body().map_err(damaged)?;
        let parts = body.topics.iter().flat_map(|topic| &topic.partitions);
        let [part] = parts.collect::<Vec<_>>()[..] else {
            return Err(Fault::hidden("an answer to a produce is not about one partition"));
        };
        let unasked = || Fault::hidden(format!("b{broker} answered produce {id} once too often"));
        let produced = self.waiting.remove(&(broker, id)).ok_or_else(unasked)?;
        let told = part.base_offset.map(decode::offset).transpose()?;
        let error = part.error.code();
        if told.is_some() && told != produced.offset || error == 0 && told.is_none() {
            return Err(Fault::hidden(format!(
                "b{broker} told the client offset {told:?} of a record that it appended at {:?}",
                produced.offset
            )));
        }
        Ok(ClientAnswer { value: produced.value, error, offset: produced.offset })
    }

    /// The broker died: it answers nothing any more.
    pub fn died(&mut self, broker: Id) {
        self.waiting.retain(|(asked, _), _| *asked != broker);
    }
}
