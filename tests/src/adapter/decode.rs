//! Frames of the real code, in the words of a trace.
//!
//! Each frame is decoded with the real decoders. A field that a trace has no word for must have
//! the one value it can have here, else that is a difference too.

use klog::log::batch;
use klog::types::{BrokerEpoch, BrokerId, Epoch, ErrorCode, Offset};
use klog::wire::{self, CorrelationId, DecodeError};
use klog_trace::action::Node as Id;
use klog_trace::message::Member;
use klog_trace::{EpochStart, Message, Record};

use super::fault::{Fault, small};
use super::{PARTITION, TOPIC_ID};

fn undecodable(error: DecodeError) -> Fault {
    Fault::hidden(format!("a frame of the real code does not decode: {error}"))
}

/// Holds, or the real code said something that a trace cannot say.
fn expect(holds: bool, what: &str) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(Fault::hidden(what)) }
}

/// The only element, for messages about one partition.
fn only<T>(what: &str, items: Vec<T>) -> Result<T, Fault> {
    let mut items = items.into_iter();
    match (items.next(), items.next()) {
        (Some(item), None) => Ok(item),
        _ => Err(Fault::hidden(format!("{what} is not about one partition"))),
    }
}

/// A broker's number.
pub fn broker(id: BrokerId) -> Result<Id, Fault> {
    small("broker", id.0)
}

/// A leader epoch.
pub fn epoch(epoch: Epoch) -> Result<u8, Fault> {
    small("leader epoch", epoch.0)
}

/// An offset.
pub fn offset(offset: Offset) -> Result<u8, Fault> {
    small("offset", offset.0)
}

/// A broker epoch.
pub fn life(epoch: BrokerEpoch) -> Result<u8, Fault> {
    small("broker epoch", epoch.0)
}

/// An epoch and an offset.
pub fn epoch_start(of: Epoch, at: Offset) -> Result<EpochStart, Fault> {
    Ok((epoch(of)?, offset(at)?).into())
}

/// A request of broker `from`: its number and what it says.
pub fn request(from: Id, frame: &[u8]) -> Result<(CorrelationId, Message), Fault> {
    let (header, request) = wire::decode_request(frame).map_err(undecodable)?;
    let message = match request {
        wire::Request::Fetch(fetch) => self::fetch(from, fetch)?,
        wire::Request::AlterPartition(alter) => alter_partition(from, alter)?,
        other => return Err(Fault::hidden(format!("a broker sent {other:?}"))),
    };
    Ok((header.correlation_id, message))
}

fn fetch(from: Id, fetch: wire::FetchRequest<'_>) -> Result<Message, Fault> {
    let wire::ReplicaState { replica_id, replica_epoch } = fetch.replica_state;
    expect(replica_id == Some(BrokerId(from.into())), "a fetch of another than its sender")?;
    let topic = only("a fetch", fetch.topics)?;
    let part = only("a fetch", topic.partitions)?;
    expect(
        (topic.topic_id, part.partition) == (TOPIC_ID, PARTITION),
        "a fetch of another partition",
    )?;
    expect(part.log_start_offset == Some(Offset(0)), "a log that does not start at 0")?;
    let said = "a fetch without an epoch";
    Ok(Message::Fetch {
        epoch: epoch(part.current_leader_epoch.ok_or(Fault::hidden(said))?)?,
        offset: offset(part.fetch_offset)?,
        last_epoch: part.last_fetched_epoch.map(epoch).transpose()?,
        broker_epoch: life(replica_epoch.ok_or(Fault::hidden(said))?)?,
    })
}

fn alter_partition(from: Id, alter: wire::AlterPartitionRequest) -> Result<Message, Fault> {
    expect(alter.broker_id == BrokerId(from.into()), "a proposal of another than its sender")?;
    let topic = only("a proposal", alter.topics)?;
    let part = only("a proposal", topic.partitions)?;
    expect(
        (topic.topic_id, part.partition) == (TOPIC_ID, PARTITION),
        "a proposal for another partition",
    )?;
    let member = |m: &wire::IsrMember| -> Result<Member, Fault> {
        Ok((broker(m.broker_id)?, m.broker_epoch.map(life).transpose()?))
    };
    Ok(Message::AlterPartition {
        broker_epoch: life(alter.broker_epoch)?,
        leader_epoch: epoch(part.leader_epoch)?,
        partition_epoch: small("partition epoch", part.partition_epoch.0)?,
        isr: part.new_isr.iter().map(member).collect::<Result<_, _>>()?,
    })
}

/// The answer to a request: its number and what it says.
pub fn answer(to: &Message, frame: &[u8]) -> Result<(CorrelationId, Message), Fault> {
    let response = wire::decode_response(frame).map_err(undecodable)?;
    let id = response.correlation_id;
    let message = match *to {
        Message::Fetch { epoch, offset, .. } => {
            fetch_answer((epoch, offset), response.body().map_err(undecodable)?)?
        }
        Message::AlterPartition { leader_epoch, partition_epoch, .. } => {
            let of = (leader_epoch, partition_epoch);
            alter_partition_answer(of, response.body().map_err(undecodable)?)?
        }
        Message::FetchAnswer { .. } | Message::AlterPartitionAnswer { .. } => {
            return Err(Fault::hidden("an answer was answered"));
        }
    };
    Ok((id, message))
}

fn fetch_answer(
    (of_epoch, of_offset): (u8, u8),
    answer: wire::FetchResponse<'_>,
) -> Result<Message, Fault> {
    expect(answer.error == ErrorCode::None, "an error for a whole fetch request")?;
    let part = only("an answer", only("an answer", answer.topics)?.partitions)?;
    let refused = part.error != ErrorCode::None;
    expect(refused || part.log_start_offset == Some(Offset(0)), "a log that does not start at 0")?;
    // Beside an error nobody reads the high watermark, and a trace has 0 there.
    let hw = match part.high_watermark.filter(|_| !refused) {
        Some(hw) => offset(hw)?,
        None if refused => 0,
        None => return Err(Fault::hidden("an answer without a high watermark")),
    };
    let diverging = part.diverging_epoch;
    Ok(Message::FetchAnswer {
        of_epoch,
        of_offset,
        error: part.error.code(),
        hw,
        records: records(of_offset, part.records.unwrap_or_default())?,
        diverging: diverging.map(|end| epoch_start(end.epoch, end.end_offset)).transpose()?,
    })
}

/// The records in an answer, which follow on each other from `first` on.
fn records(first: u8, mut bytes: &[u8]) -> Result<Vec<Record>, Fault> {
    let mut records = Vec::new();
    let damaged = |e| Fault::hidden(format!("records in an answer: expected {e}"));
    while !bytes.is_empty() {
        let header = batch::verify(bytes).map_err(damaged)?;
        let (one, rest) = bytes.split_at(header.bytes as usize);
        let stamp = header.leader_epoch.ok_or(Fault::hidden("no epoch stamp"))?;
        for record in batch::records(one).map_err(damaged)? {
            let record = record.map_err(damaged)?;
            expect(
                record.offset.0 == u64::from(first) + records.len() as u64,
                "records in an answer leave a gap",
            )?;
            records.push(self::record(stamp, &record)?);
        }
        bytes = rest;
    }
    Ok(records)
}

/// A record of a log or of an answer: its epoch and its value.
pub fn record(stamp: Epoch, record: &batch::Record<'_>) -> Result<Record, Fault> {
    match record.value {
        Some(&[value]) => Ok((epoch(stamp)?, value).into()),
        other => Err(Fault::hidden(format!("a record of nobody: its value is {other:?}"))),
    }
}

fn alter_partition_answer(
    (of_leader_epoch, of_partition_epoch): (u8, u8),
    answer: wire::AlterPartitionResponse,
) -> Result<Message, Fault> {
    let refused = |error: ErrorCode| Message::AlterPartitionAnswer {
        of_leader_epoch,
        of_partition_epoch,
        error: error.code(),
        leader_epoch: 0,
        partition_epoch: 0,
        isr: Vec::new(),
    };
    if answer.error != ErrorCode::None {
        return Ok(refused(answer.error));
    }
    let part = only("an answer", only("an answer", answer.topics)?.partitions)?;
    if part.error != ErrorCode::None {
        return Ok(refused(part.error));
    }
    let said = Fault::hidden("an accepted proposal without an epoch");
    Ok(Message::AlterPartitionAnswer {
        of_leader_epoch,
        of_partition_epoch,
        error: 0,
        leader_epoch: epoch(part.leader_epoch.ok_or(said)?)?,
        partition_epoch: small("partition epoch", part.partition_epoch.0)?,
        isr: part.isr.into_iter().map(broker).collect::<Result<_, _>>()?,
    })
}
