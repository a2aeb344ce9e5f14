//! OffsetForLeaderEpoch, version 4 (KIP-101, KIP-279, KIP-320).

use super::error::{DecodeError, Reason};
use super::part::Part;
use super::reader::Reader;
use super::writer::Writer;
use crate::types::{BrokerId, Epoch, ErrorCode, Offset};

/// Where a leader epoch ends (epoch look-up). "Undefined" is `None` around it: the wire
/// never carries one half without the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EpochEnd {
    /// The largest epoch known that is not above the one asked for.
    pub epoch: Epoch,
    /// Its end, exclusive.
    pub end_offset: Offset,
}

impl EpochEnd {
    /// Reads both halves; (−1, −1) is `None`.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Option<Self>, DecodeError> {
        let epoch = reader.maybe_epoch("leader_epoch")?;
        let end_offset = reader.maybe_offset("end_offset")?;
        match (epoch, end_offset) {
            (Some(epoch), Some(end_offset)) => Ok(Some(Self { epoch, end_offset })),
            (None, None) => Ok(None),
            _ => Err(reader.error("end_offset", Reason::OutOfRange { value: -1 })),
        }
    }
}

/// A question where leader epochs end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffsetForLeaderEpochRequest<'a> {
    /// The follower that asks, `None` for a consumer.
    pub replica_id: Option<BrokerId>,
    /// What it asks for.
    pub topics: Vec<AskedTopic<'a>>,
}

/// The questions about one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedTopic<'a> {
    /// Name of the topic.
    pub topic: &'a str,
    /// Its partitions.
    pub partitions: Vec<AskedEpoch>,
}

/// The question about one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AskedEpoch {
    /// Index in the topic.
    pub partition: i32,
    /// Leader epoch that the asker believes in (F1).
    pub current_leader_epoch: Option<Epoch>,
    /// The epoch whose end is wanted.
    pub leader_epoch: Option<Epoch>,
}

/// Answer to an [`OffsetForLeaderEpochRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffsetForLeaderEpochResponse<'a> {
    /// How long the requester should hold back, in milliseconds.
    pub throttle_time_ms: i32,
    /// The answers.
    pub topics: Vec<EpochEndTopic<'a>>,
}

/// The answers about one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpochEndTopic<'a> {
    /// Name of the topic.
    pub topic: &'a str,
    /// Its partitions.
    pub partitions: Vec<EpochEndAnswer>,
}

/// The answer about one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EpochEndAnswer {
    /// Why there is no answer, or none.
    pub error: ErrorCode,
    /// Index in the topic.
    pub partition: i32,
    /// The end, `None` if the epoch is unknown.
    pub end: Option<EpochEnd>,
}

impl<'a> Part<'a> for OffsetForLeaderEpochRequest<'a> {
    const MIN: usize = 6;

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let request = Self {
            replica_id: reader.maybe_broker_or_debugger("replica_id")?,
            topics: reader.array("topics")?,
        };
        reader.no_tags()?;
        Ok(request)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.broker(self.replica_id);
        writer.array(&self.topics);
        writer.no_tags();
    }
}

impl<'a> Part<'a> for AskedTopic<'a> {
    const MIN: usize = 3;

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let topic =
            Self { topic: reader.string("topic")?, partitions: reader.array("partitions")? };
        reader.no_tags()?;
        Ok(topic)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.string(self.topic);
        writer.array(&self.partitions);
        writer.no_tags();
    }
}

impl Part<'_> for AskedEpoch {
    const MIN: usize = 13;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let asked = Self {
            partition: reader.int32("partition")?,
            current_leader_epoch: reader.maybe_epoch("current_leader_epoch")?,
            leader_epoch: reader.maybe_epoch("leader_epoch")?,
        };
        reader.no_tags()?;
        Ok(asked)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.int32(self.partition);
        writer.epoch(self.current_leader_epoch);
        writer.epoch(self.leader_epoch);
        writer.no_tags();
    }
}

impl<'a> Part<'a> for OffsetForLeaderEpochResponse<'a> {
    const MIN: usize = 6;

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let response = Self {
            throttle_time_ms: reader.int32("throttle_time_ms")?,
            topics: reader.array("topics")?,
        };
        reader.no_tags()?;
        Ok(response)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.int32(self.throttle_time_ms);
        writer.array(&self.topics);
        writer.no_tags();
    }
}

impl<'a> Part<'a> for EpochEndTopic<'a> {
    const MIN: usize = 3;

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let topic =
            Self { topic: reader.string("topic")?, partitions: reader.array("partitions")? };
        reader.no_tags()?;
        Ok(topic)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.string(self.topic);
        writer.array(&self.partitions);
        writer.no_tags();
    }
}

impl Part<'_> for EpochEndAnswer {
    const MIN: usize = 19;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let answer = Self {
            error: reader.error_code("error_code")?,
            partition: reader.int32("partition")?,
            end: EpochEnd::read(reader)?,
        };
        reader.no_tags()?;
        Ok(answer)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.error_code(self.error);
        writer.int32(self.partition);
        writer.epoch(self.end.map(|end| end.epoch));
        writer.offset(self.end.map(|end| end.end_offset));
        writer.no_tags();
    }
}
