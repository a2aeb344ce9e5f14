//! Fetch response, version 15.

use super::epoch_end::EpochEnd;
use super::error::DecodeError;
use super::frame::TopicId;
use super::part::Part;
use super::reader::Reader;
use super::writer::Writer;
use crate::types::{BrokerId, Epoch, ErrorCode, Offset};

/// Answer to a [`super::FetchRequest`]; the records are borrowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchResponse<'a> {
    /// How long the requester should hold back, in milliseconds.
    pub throttle_time_ms: i32,
    /// An error of the whole request.
    pub error: ErrorCode,
    /// Fetch session, 0 for none.
    pub session_id: i32,
    /// What was fetched.
    pub topics: Vec<FetchedTopic<'a>>,
}

/// The fetched partitions of one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedTopic<'a> {
    /// The topic.
    pub topic_id: TopicId,
    /// Its partitions.
    pub partitions: Vec<FetchedPartition<'a>>,
}

/// What one partition answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedPartition<'a> {
    /// Index in the topic.
    pub partition: i32,
    /// Why there are no records, or none.
    pub error: ErrorCode,
    /// The leader's high watermark; `None` beside an error.
    pub high_watermark: Option<Offset>,
    /// Bound for read_committed; `None` beside an error.
    pub last_stable_offset: Option<Offset>,
    /// First offset the leader still has.
    pub log_start_offset: Option<Offset>,
    /// Aborted transactions in the range read, for read_committed.
    pub aborted_transactions: Option<Vec<AbortedTransaction>>,
    /// Follower that a consumer should rather read from (N3).
    pub preferred_read_replica: Option<BrokerId>,
    /// Record batches as they lie in the leader's log.
    pub records: Option<&'a [u8]>,
    /// Set if the fetcher's log parts from the leader's (F5); then there are no records.
    pub diverging_epoch: Option<EpochEnd>,
    /// Who leads, when the fetcher seems not to know.
    pub current_leader: CurrentLeader,
}

/// The leader that a broker knows of; both fields are `None` when it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CurrentLeader {
    /// The leader, `None` while the partition has none.
    pub leader_id: Option<BrokerId>,
    /// Its leader epoch.
    pub leader_epoch: Option<Epoch>,
}

/// One aborted transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AbortedTransaction {
    /// Its producer.
    pub producer_id: i64,
    /// Offset of its first record.
    pub first_offset: Offset,
}

impl<'a> Part<'a> for FetchResponse<'a> {
    const MIN: usize = 12;

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let response = Self {
            throttle_time_ms: reader.int32("throttle_time_ms")?,
            error: reader.error_code("error_code")?,
            session_id: reader.int32("session_id")?,
            topics: reader.array("responses")?,
        };
        reader.no_tags()?;
        Ok(response)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.int32(self.throttle_time_ms);
        writer.error_code(self.error);
        writer.int32(self.session_id);
        writer.array(&self.topics);
        writer.no_tags();
    }
}

impl<'a> Part<'a> for FetchedTopic<'a> {
    const MIN: usize = 18;

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let topic = Self {
            topic_id: reader.topic_id("topic_id")?,
            partitions: reader.array("partitions")?,
        };
        reader.no_tags()?;
        Ok(topic)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.topic_id(&self.topic_id);
        writer.array(&self.partitions);
        writer.no_tags();
    }
}

impl<'a> Part<'a> for FetchedPartition<'a> {
    const MIN: usize = 37;

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut partition = Self {
            partition: reader.int32("partition_index")?,
            error: reader.error_code("error_code")?,
            high_watermark: reader.maybe_offset("high_watermark")?,
            last_stable_offset: reader.maybe_offset("last_stable_offset")?,
            log_start_offset: reader.maybe_offset("log_start_offset")?,
            aborted_transactions: reader.nullable_array("aborted_transactions")?,
            preferred_read_replica: reader.maybe_broker("preferred_read_replica")?,
            records: reader.nullable_bytes("records")?,
            diverging_epoch: None,
            current_leader: CurrentLeader::default(),
        };
        // Tag 2 is a snapshot of Kafka's metadata quorum, which this crate never asks for.
        reader.tagged(|tag, field| {
            match tag {
                0 => partition.diverging_epoch = read_diverging(field)?,
                1 => partition.current_leader = CurrentLeader::read(field)?,
                _ => return Ok(None),
            }
            Ok(Some(()))
        })?;
        Ok(partition)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.int32(self.partition);
        writer.error_code(self.error);
        writer.offset(self.high_watermark);
        writer.offset(self.last_stable_offset);
        writer.offset(self.log_start_offset);
        writer.nullable_array(self.aborted_transactions.as_deref());
        writer.broker(self.preferred_read_replica);
        writer.nullable_bytes(self.records);
        let leader = Some(self.current_leader).filter(|leader| *leader != CurrentLeader::default());
        writer.varint(u32::from(self.diverging_epoch.is_some()) + u32::from(leader.is_some()));
        if let Some(EpochEnd { epoch, end_offset }) = self.diverging_epoch {
            writer.tag(0, DIVERGING_BYTES);
            writer.epoch(epoch);
            writer.offset(end_offset);
            writer.no_tags();
        }
        if let Some(leader) = leader {
            writer.tag(1, CurrentLeader::MIN as u32);
            leader.write(writer);
        }
    }
}

/// Bytes of the tagged field `DivergingEpoch`.
const DIVERGING_BYTES: u32 = 13;

fn read_diverging(reader: &mut Reader<'_>) -> Result<Option<EpochEnd>, DecodeError> {
    let end = EpochEnd::read(reader)?;
    reader.no_tags()?;
    Ok(end)
}

impl Part<'_> for CurrentLeader {
    const MIN: usize = 9;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let leader = Self {
            leader_id: reader.maybe_broker("leader_id")?,
            leader_epoch: reader.maybe_epoch("leader_epoch")?,
        };
        reader.no_tags()?;
        Ok(leader)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.broker(self.leader_id);
        writer.epoch(self.leader_epoch);
        writer.no_tags();
    }
}

impl Part<'_> for AbortedTransaction {
    const MIN: usize = 17;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let transaction = Self {
            producer_id: reader.int64("producer_id")?,
            first_offset: reader.offset("first_offset")?,
        };
        reader.no_tags()?;
        Ok(transaction)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.int64(self.producer_id);
        writer.offset(self.first_offset);
        writer.no_tags();
    }
}
