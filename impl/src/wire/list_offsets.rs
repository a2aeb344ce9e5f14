//! ListOffsets, version 7 (KIP-79, KIP-207, KIP-320).

use super::error::DecodeError;
use super::fetch::{ISOLATION, IsolationLevel};
use super::part::Part;
use super::reader::Reader;
use super::writer::Writer;
use crate::types::{BrokerId, Epoch, ErrorCode, Offset};

/// The timestamp that asks for the end of what can be read (N2).
pub const LATEST_TIMESTAMP: i64 = -1;

/// The timestamp that asks for the log start.
pub const EARLIEST_TIMESTAMP: i64 = -2;

/// A question for offsets by time, or for the ends of logs (N2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListOffsetsRequest<'a> {
    /// The follower that asks, `None` for a consumer.
    pub replica_id: Option<BrokerId>,
    /// What a consumer may see (N1).
    pub isolation_level: IsolationLevel,
    /// What it asks for.
    pub topics: Vec<ListTopic<'a>>,
}

/// The questions about one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListTopic<'a> {
    /// Name of the topic.
    pub name: &'a str,
    /// Its partitions.
    pub partitions: Vec<ListPartition>,
}

/// The question about one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListPartition {
    /// Index in the topic.
    pub partition: i32,
    /// Leader epoch that the asker believes in (F1).
    pub current_leader_epoch: Option<Epoch>,
    /// A time in milliseconds since 1970, or one of the negative ones that have a meaning of
    /// their own ([`LATEST_TIMESTAMP`], [`EARLIEST_TIMESTAMP`]).
    pub timestamp: i64,
}

/// Answer to a [`ListOffsetsRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListOffsetsResponse<'a> {
    /// How long the requester should hold back, in milliseconds.
    pub throttle_time_ms: i32,
    /// The answers.
    pub topics: Vec<ListedTopic<'a>>,
}

/// The answers about one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedTopic<'a> {
    /// Name of the topic.
    pub name: &'a str,
    /// Its partitions.
    pub partitions: Vec<ListedPartition>,
}

/// The answer about one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListedPartition {
    /// Index in the topic.
    pub partition: i32,
    /// Why there is no answer, or none.
    pub error: ErrorCode,
    /// Time of the record found, `None` if no record was asked for.
    pub timestamp_ms: Option<i64>,
    /// The offset, `None` if there is none.
    pub offset: Option<Offset>,
    /// Epoch that the offset is known by.
    pub leader_epoch: Option<Epoch>,
}

impl<'a> Part<'a> for ListOffsetsRequest<'a> {
    const MIN: usize = 7;

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let request = Self {
            replica_id: reader.maybe_broker_or_debugger("replica_id")?,
            isolation_level: reader.choice("isolation_level", &ISOLATION)?,
            topics: reader.array("topics")?,
        };
        reader.no_tags()?;
        Ok(request)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.broker(self.replica_id);
        writer.int8(self.isolation_level.code());
        writer.array(&self.topics);
        writer.no_tags();
    }
}

impl<'a> Part<'a> for ListTopic<'a> {
    const MIN: usize = 3;

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let topic = Self { name: reader.string("name")?, partitions: reader.array("partitions")? };
        reader.no_tags()?;
        Ok(topic)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.string(self.name);
        writer.array(&self.partitions);
        writer.no_tags();
    }
}

impl Part<'_> for ListPartition {
    const MIN: usize = 17;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let partition = Self {
            partition: reader.int32("partition_index")?,
            current_leader_epoch: reader.maybe_epoch("current_leader_epoch")?,
            timestamp: reader.int64("timestamp")?,
        };
        reader.no_tags()?;
        Ok(partition)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.int32(self.partition);
        writer.epoch(self.current_leader_epoch);
        writer.int64(self.timestamp);
        writer.no_tags();
    }
}

impl<'a> Part<'a> for ListOffsetsResponse<'a> {
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

impl<'a> Part<'a> for ListedTopic<'a> {
    const MIN: usize = 3;

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let topic = Self { name: reader.string("name")?, partitions: reader.array("partitions")? };
        reader.no_tags()?;
        Ok(topic)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.string(self.name);
        writer.array(&self.partitions);
        writer.no_tags();
    }
}

impl Part<'_> for ListedPartition {
    const MIN: usize = 27;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let partition = Self {
            partition: reader.int32("partition_index")?,
            error: reader.error_code("error_code")?,
            timestamp_ms: reader.maybe_time_ms("timestamp")?,
            offset: reader.maybe_offset("offset")?,
            leader_epoch: reader.maybe_epoch("leader_epoch")?,
        };
        reader.no_tags()?;
        Ok(partition)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.int32(self.partition);
        writer.error_code(self.error);
        writer.int64(self.timestamp_ms.unwrap_or(-1));
        writer.offset(self.offset);
        writer.epoch(self.leader_epoch);
        writer.no_tags();
    }
}
