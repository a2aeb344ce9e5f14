//! AlterPartition, version 3 (KIP-497, KIP-704, KIP-903).

use super::error::DecodeError;
use super::frame::TopicId;
use super::part::Part;
use super::reader::Reader;
use super::writer::Writer;
use crate::types::{BrokerEpoch, BrokerId, Epoch, ErrorCode, PartitionEpoch};

/// A leader's proposal of new in-sync replica sets (P1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterPartitionRequest {
    /// The leader.
    pub broker_id: BrokerId,
    /// Its broker epoch.
    pub broker_epoch: BrokerEpoch,
    /// The proposals.
    pub topics: Vec<AlterTopic>,
}

/// The proposals for one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterTopic {
    /// The topic.
    pub topic_id: TopicId,
    /// Its partitions.
    pub partitions: Vec<AlterPartition>,
}

/// The proposal for one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterPartition {
    /// Index in the topic.
    pub partition: i32,
    /// The proposer's leader epoch.
    pub leader_epoch: Epoch,
    /// The members proposed, each with the epoch its proposer knows it by.
    pub new_isr: Vec<IsrMember>,
    /// Whether the leader has recovered from an unclean election.
    pub leader_recovery_state: LeaderRecoveryState,
    /// Version of the registration that the proposal is based on.
    pub partition_epoch: PartitionEpoch,
}

/// One proposed member of the in-sync replica set (KIP-903).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IsrMember {
    /// The replica.
    pub broker_id: BrokerId,
    /// Its broker epoch, `None` if it never fetched from this leader.
    pub broker_epoch: Option<BrokerEpoch>,
}

/// Whether a leader has recovered from an unclean election (KIP-704).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeaderRecoveryState {
    /// It has, or there was none.
    #[default]
    Recovered,
    /// Not yet.
    Recovering,
}

const RECOVERY: [(i8, LeaderRecoveryState); 2] =
    [(0, LeaderRecoveryState::Recovered), (1, LeaderRecoveryState::Recovering)];

impl LeaderRecoveryState {
    fn code(self) -> i8 {
        match self {
            Self::Recovered => 0,
            Self::Recovering => 1,
        }
    }
}

/// Answer to an [`AlterPartitionRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterPartitionResponse {
    /// How long the requester should hold back, in milliseconds.
    pub throttle_time_ms: i32,
    /// An error of the whole request.
    pub error: ErrorCode,
    /// The answers.
    pub topics: Vec<AlteredTopic>,
}

/// The answers for one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlteredTopic {
    /// The topic.
    pub topic_id: TopicId,
    /// Its partitions.
    pub partitions: Vec<AlteredPartition>,
}

/// The answer for one partition: its registration after the request, or an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlteredPartition {
    /// Index in the topic.
    pub partition: i32,
    /// Why the proposal was refused, or none. Beside an error the other fields mean nothing.
    pub error: ErrorCode,
    /// The leader, `None` if there is none.
    pub leader_id: Option<BrokerId>,
    /// The leader epoch.
    pub leader_epoch: Option<Epoch>,
    /// The in-sync replicas.
    pub isr: Vec<BrokerId>,
    /// Whether the leader has recovered from an unclean election.
    pub leader_recovery_state: LeaderRecoveryState,
    /// Version of the registration.
    pub partition_epoch: PartitionEpoch,
}

impl Part<'_> for AlterPartitionRequest {
    const MIN: usize = 14;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let request = Self {
            broker_id: reader.broker("broker_id")?,
            broker_epoch: reader.broker_epoch("broker_epoch")?,
            topics: reader.array("topics")?,
        };
        reader.no_tags()?;
        Ok(request)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.broker(self.broker_id);
        writer.broker_epoch(self.broker_epoch);
        writer.array(&self.topics);
        writer.no_tags();
    }
}

impl Part<'_> for AlterTopic {
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

impl Part<'_> for AlterPartition {
    const MIN: usize = 15;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let partition = Self {
            partition: reader.int32("partition_index")?,
            leader_epoch: reader.epoch("leader_epoch")?,
            new_isr: reader.array("new_isr_with_epochs")?,
            leader_recovery_state: reader.choice("leader_recovery_state", &RECOVERY)?,
            partition_epoch: reader.partition_epoch("partition_epoch")?,
        };
        reader.no_tags()?;
        Ok(partition)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.int32(self.partition);
        writer.epoch(self.leader_epoch);
        writer.array(&self.new_isr);
        writer.int8(self.leader_recovery_state.code());
        writer.int32(self.partition_epoch.0);
        writer.no_tags();
    }
}

impl Part<'_> for IsrMember {
    const MIN: usize = 13;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let member = Self {
            broker_id: reader.broker("broker_id")?,
            broker_epoch: reader.maybe_broker_epoch("broker_epoch")?,
        };
        reader.no_tags()?;
        Ok(member)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.broker(self.broker_id);
        writer.broker_epoch(self.broker_epoch);
        writer.no_tags();
    }
}

impl Part<'_> for AlterPartitionResponse {
    const MIN: usize = 8;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let response = Self {
            throttle_time_ms: reader.int32("throttle_time_ms")?,
            error: reader.error_code("error_code")?,
            topics: reader.array("topics")?,
        };
        reader.no_tags()?;
        Ok(response)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.int32(self.throttle_time_ms);
        writer.error_code(self.error);
        writer.array(&self.topics);
        writer.no_tags();
    }
}

impl Part<'_> for AlteredTopic {
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

impl Part<'_> for AlteredPartition {
    const MIN: usize = 21;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let partition = Self {
            partition: reader.int32("partition_index")?,
            error: reader.error_code("error_code")?,
            leader_id: reader.maybe_broker("leader_id")?,
            leader_epoch: reader.maybe_epoch("leader_epoch")?,
            isr: reader.array("isr")?,
            leader_recovery_state: reader.choice("leader_recovery_state", &RECOVERY)?,
            partition_epoch: reader.partition_epoch("partition_epoch")?,
        };
        reader.no_tags()?;
        Ok(partition)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.int32(self.partition);
        writer.error_code(self.error);
        writer.broker(self.leader_id);
        writer.epoch(self.leader_epoch);
        writer.array(&self.isr);
        writer.int8(self.leader_recovery_state.code());
        writer.int32(self.partition_epoch.0);
        writer.no_tags();
    }
}
