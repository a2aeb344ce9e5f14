//! Fetch request, version 15 (KIP-320, KIP-516, KIP-595, KIP-903).

use super::error::DecodeError;
use super::frame::TopicId;
use super::part::Part;
use super::reader::Reader;
use super::writer::Writer;
use crate::types::{BrokerEpoch, BrokerId, Epoch, Offset};

/// A follower's or a consumer's wish for records (F1 to F9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchRequest<'a> {
    /// How long the leader may park the request, in milliseconds (F9).
    pub max_wait_ms: i32,
    /// Bytes that end the wait early.
    pub min_bytes: i32,
    /// Most bytes in the response.
    pub max_bytes: i32,
    /// What a consumer may see (N1).
    pub isolation_level: IsolationLevel,
    /// Fetch session, 0 for none (KIP-227).
    pub session_id: i32,
    /// Epoch of the session, −1 for a fetch outside of sessions.
    pub session_epoch: i32,
    /// What to fetch.
    pub topics: Vec<FetchTopic>,
    /// What to drop from the session.
    pub forgotten_topics: Vec<ForgottenTopic>,
    /// Rack of a consumer, empty for none.
    pub rack_id: &'a str,
    /// Who asks: a follower names itself, a consumer does not.
    pub replica_state: ReplicaState,
}

/// What a fetch may read (N1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IsolationLevel {
    /// Records below the high watermark.
    #[default]
    ReadUncommitted,
    /// Records below the last stable offset.
    ReadCommitted,
}

pub(super) const ISOLATION: [(i8, IsolationLevel); 2] =
    [(0, IsolationLevel::ReadUncommitted), (1, IsolationLevel::ReadCommitted)];

impl IsolationLevel {
    pub(super) fn code(self) -> i8 {
        match self {
            Self::ReadUncommitted => 0,
            Self::ReadCommitted => 1,
        }
    }
}

/// The follower that fetches; both fields are `None` for a consumer (KIP-903).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplicaState {
    /// The follower.
    pub replica_id: Option<BrokerId>,
    /// Its broker epoch, for the fence U1.
    pub replica_epoch: Option<BrokerEpoch>,
}

/// The partitions of one topic to fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchTopic {
    /// The topic.
    pub topic_id: TopicId,
    /// Its partitions.
    pub partitions: Vec<FetchPartition>,
}

/// One partition to fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FetchPartition {
    /// Index in the topic.
    pub partition: i32,
    /// Leader epoch that the fetcher believes in (F1).
    pub current_leader_epoch: Option<Epoch>,
    /// First offset wanted; a follower's log end (Q1, Q7).
    pub fetch_offset: Offset,
    /// Epoch of the last record the fetcher has (F5).
    pub last_fetched_epoch: Option<Epoch>,
    /// Where a follower's own log begins; `None` from a consumer.
    pub log_start_offset: Option<Offset>,
    /// Most bytes for this partition.
    pub partition_max_bytes: i32,
}

/// Partitions that leave a fetch session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgottenTopic {
    /// The topic.
    pub topic_id: TopicId,
    /// Indexes of its partitions.
    pub partitions: Vec<i32>,
}

impl<'a> Part<'a> for FetchRequest<'a> {
    const MIN: usize = 25;

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut request = Self {
            max_wait_ms: reader.int32("max_wait_ms")?,
            min_bytes: reader.int32("min_bytes")?,
            max_bytes: reader.int32("max_bytes")?,
            isolation_level: reader.choice("isolation_level", &ISOLATION)?,
            session_id: reader.int32("session_id")?,
            session_epoch: reader.int32("session_epoch")?,
            topics: reader.array("topics")?,
            forgotten_topics: reader.array("forgotten_topics")?,
            rack_id: reader.string("rack_id")?,
            replica_state: ReplicaState::default(),
        };
        // Tag 0 is the cluster id, of which this crate makes no use: it is skipped.
        reader.tagged(|tag, field| match tag {
            1 => ReplicaState::read(field).map(|state| {
                request.replica_state = state;
                Some(())
            }),
            _ => Ok(None),
        })?;
        Ok(request)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.int32(self.max_wait_ms);
        writer.int32(self.min_bytes);
        writer.int32(self.max_bytes);
        writer.int8(self.isolation_level.code());
        writer.int32(self.session_id);
        writer.int32(self.session_epoch);
        writer.array(&self.topics);
        writer.array(&self.forgotten_topics);
        writer.string(self.rack_id);
        if self.replica_state == ReplicaState::default() {
            return writer.no_tags();
        }
        writer.varint(1);
        writer.tag(1, ReplicaState::MIN as u32);
        self.replica_state.write(writer);
    }
}

impl Part<'_> for ReplicaState {
    const MIN: usize = 13;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let state = Self {
            replica_id: reader.maybe_broker("replica_id")?,
            replica_epoch: reader.maybe_broker_epoch("replica_epoch")?,
        };
        reader.no_tags()?;
        Ok(state)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.broker(self.replica_id);
        writer.broker_epoch(self.replica_epoch);
        writer.no_tags();
    }
}

impl Part<'_> for FetchTopic {
    const MIN: usize = 18;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
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

impl Part<'_> for FetchPartition {
    const MIN: usize = 33;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let partition = Self {
            partition: reader.int32("partition")?,
            current_leader_epoch: reader.maybe_epoch("current_leader_epoch")?,
            fetch_offset: reader.offset("fetch_offset")?,
            last_fetched_epoch: reader.maybe_epoch("last_fetched_epoch")?,
            log_start_offset: reader.maybe_offset("log_start_offset")?,
            partition_max_bytes: reader.int32("partition_max_bytes")?,
        };
        reader.no_tags()?;
        Ok(partition)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.int32(self.partition);
        writer.epoch(self.current_leader_epoch);
        writer.offset(self.fetch_offset);
        writer.epoch(self.last_fetched_epoch);
        writer.offset(self.log_start_offset);
        writer.int32(self.partition_max_bytes);
        writer.no_tags();
    }
}

impl Part<'_> for ForgottenTopic {
    const MIN: usize = 18;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
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
