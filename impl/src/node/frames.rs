//! Frames made of what the core says.

use super::NodeConfig;
use super::links::Others;
use crate::replica::io::{AlterPartitionRequest, FetchRequest};
use crate::types::{Epoch, ErrorCode, Offset};
use crate::wire::{self, CorrelationId, EpochEnd, IsolationLevel};

/// How long a leader may park a follower's fetch: Kafka's `replica.fetch.wait.max.ms`.
const FETCH_WAIT_MS: i32 = 500;

/// What one partition answers to a fetch.
#[derive(Clone, Copy)]
pub(super) struct Fetched<'a> {
    pub error: ErrorCode,
    pub hw: Option<Offset>,
    pub log_start: Option<Offset>,
    pub diverging: Option<(Epoch, Offset)>,
    pub records: &'a [u8],
}

impl Fetched<'_> {
    pub fn refused(error: ErrorCode) -> Self {
        Self { error, hw: None, log_start: None, diverging: None, records: &[] }
    }
}

/// What one partition answers to a produce.
pub(super) struct Produced {
    pub error: ErrorCode,
    pub base_offset: Option<Offset>,
    pub log_start: Option<Offset>,
}

/// What one partition answers to a question for an offset.
pub(super) struct Listed {
    pub error: ErrorCode,
    pub offset: Option<Offset>,
    pub epoch: Option<Epoch>,
}

impl Listed {
    pub fn refused(error: ErrorCode) -> Self {
        Self { error, offset: None, epoch: None }
    }
}

/// Collects the partitions of each topic, in order of first mention.
fn by_topic<K: PartialEq, T>(parts: impl IntoIterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut topics: Vec<(K, Vec<T>)> = Vec::new();
    for (topic, part) in parts {
        match topics.iter_mut().find(|(known, _)| *known == topic) {
            Some((_, parts)) => parts.push(part),
            None => topics.push((topic, vec![part])),
        }
    }
    topics
}

pub(super) fn fetch(config: &NodeConfig, id: CorrelationId, fetch: &FetchRequest) -> Vec<u8> {
    let max_bytes = i32::try_from(fetch.max_bytes).unwrap_or(i32::MAX);
    let partition = wire::FetchPartition {
        partition: config.partition,
        current_leader_epoch: fetch.current_epoch,
        fetch_offset: fetch.offset,
        last_fetched_epoch: fetch.last_fetched_epoch,
        log_start_offset: Some(fetch.log_start),
        partition_max_bytes: max_bytes,
    };
    let topic = wire::FetchTopic { topic_id: config.topic_id, partitions: vec![partition] };
    let request = wire::FetchRequest {
        max_wait_ms: FETCH_WAIT_MS,
        min_bytes: 1,
        max_bytes,
        isolation_level: IsolationLevel::ReadUncommitted,
        session_id: 0,
        session_epoch: -1,
        topics: vec![topic],
        forgotten_topics: Vec::new(),
        rack_id: "",
        replica_state: wire::ReplicaState {
            replica_id: fetch.replica_id,
            replica_epoch: fetch.broker_epoch,
        },
    };
    let mut frame = Vec::with_capacity(112);
    wire::encode_request(&mut frame, id, None, &request);
    frame
}

pub(super) fn fetched(
    config: &NodeConfig,
    id: CorrelationId,
    error: ErrorCode,
    ours: Option<Fetched<'_>>,
    others: Others<wire::TopicId>,
) -> Vec<u8> {
    let ours = ours.map(|ours| {
        let partition = wire::FetchedPartition {
            high_watermark: ours.hw,
            // No transactions yet: every record below the high watermark is stable.
            last_stable_offset: ours.hw,
            log_start_offset: ours.log_start,
            records: Some(ours.records),
            diverging_epoch: ours.diverging.map(epoch_end),
            ..nothing_fetched(config.partition, ours.error)
        };
        (config.topic_id, partition)
    });
    let others = others
        .into_iter()
        .map(|(topic, partition, error)| (topic, nothing_fetched(partition, error)));
    let topics = by_topic(ours.into_iter().chain(others)).into_iter();
    let topics = topics.map(|(topic_id, partitions)| wire::FetchedTopic { topic_id, partitions });
    let response =
        wire::FetchResponse { throttle_time_ms: 0, error, session_id: 0, topics: topics.collect() };
    let mut frame = Vec::with_capacity(112);
    wire::encode_response(&mut frame, id, &response);
    frame
}

fn nothing_fetched(partition: i32, error: ErrorCode) -> wire::FetchedPartition<'static> {
    wire::FetchedPartition {
        partition,
        error,
        high_watermark: None,
        last_stable_offset: None,
        log_start_offset: None,
        aborted_transactions: None,
        preferred_read_replica: None,
        records: Some(&[]),
        diverging_epoch: None,
        current_leader: wire::CurrentLeader::default(),
    }
}

fn epoch_end((epoch, end_offset): (Epoch, Offset)) -> EpochEnd {
    EpochEnd { epoch, end_offset }
}

pub(super) fn produced(
    config: &NodeConfig,
    id: CorrelationId,
    ours: Option<Produced>,
    others: &Others<String>,
) -> Vec<u8> {
    let partition =
        |partition, Produced { error, base_offset, log_start }| wire::ProducedPartition {
            partition,
            error,
            base_offset,
            log_append_time_ms: None,
            log_start_offset: log_start,
            record_errors: Vec::new(),
            error_message: None,
        };
    let ours = ours.map(|ours| (config.topic.as_str(), partition(config.partition, ours)));
    let others = others.iter().map(|(topic, index, error)| {
        let nothing = Produced { error: *error, base_offset: None, log_start: None };
        (topic.as_str(), partition(*index, nothing))
    });
    let topics = by_topic(ours.into_iter().chain(others)).into_iter();
    let topics = topics.map(|(name, partitions)| wire::ProducedTopic { name, partitions });
    let response = wire::ProduceResponse { topics: topics.collect(), throttle_time_ms: 0 };
    let mut frame = Vec::with_capacity(80);
    wire::encode_response(&mut frame, id, &response);
    frame
}

pub(super) fn end_offset(
    config: &NodeConfig,
    id: CorrelationId,
    ours: Option<(ErrorCode, Option<(Epoch, Offset)>)>,
    others: &Others<String>,
) -> Vec<u8> {
    let ours = ours.map(|(error, end)| {
        let end = end.map(epoch_end);
        (config.topic.as_str(), wire::EpochEndAnswer { error, partition: config.partition, end })
    });
    let others = others.iter().map(|(topic, partition, error)| {
        let (error, partition) = (*error, *partition);
        (topic.as_str(), wire::EpochEndAnswer { error, partition, end: None })
    });
    let topics = by_topic(ours.into_iter().chain(others)).into_iter();
    let topics = topics.map(|(topic, partitions)| wire::EpochEndTopic { topic, partitions });
    let response =
        wire::OffsetForLeaderEpochResponse { throttle_time_ms: 0, topics: topics.collect() };
    let mut frame = Vec::with_capacity(64);
    wire::encode_response(&mut frame, id, &response);
    frame
}

pub(super) fn listed(
    config: &NodeConfig,
    id: CorrelationId,
    ours: Option<Listed>,
    others: &Others<String>,
) -> Vec<u8> {
    let partition = |partition, Listed { error, offset, epoch }| wire::ListedPartition {
        partition,
        error,
        timestamp_ms: None,
        offset,
        leader_epoch: epoch,
    };
    let ours = ours.map(|ours| (config.topic.as_str(), partition(config.partition, ours)));
    let others = others
        .iter()
        .map(|(topic, index, error)| (topic.as_str(), partition(*index, Listed::refused(*error))));
    let topics = by_topic(ours.into_iter().chain(others)).into_iter();
    let topics = topics.map(|(name, partitions)| wire::ListedTopic { name, partitions });
    let response = wire::ListOffsetsResponse { throttle_time_ms: 0, topics: topics.collect() };
    let mut frame = Vec::with_capacity(64);
    wire::encode_response(&mut frame, id, &response);
    frame
}

pub(super) fn alter_partition(
    config: &NodeConfig,
    id: CorrelationId,
    proposal: &AlterPartitionRequest,
) -> Vec<u8> {
    let members = proposal.isr.iter();
    let new_isr =
        members.map(|&(broker_id, broker_epoch)| wire::IsrMember { broker_id, broker_epoch });
    let partition = wire::AlterPartition {
        partition: config.partition,
        leader_epoch: proposal.leader_epoch,
        new_isr: new_isr.collect(),
        leader_recovery_state: wire::LeaderRecoveryState::Recovered,
        partition_epoch: proposal.partition_epoch,
    };
    let topic = wire::AlterTopic { topic_id: config.topic_id, partitions: vec![partition] };
    let request = wire::AlterPartitionRequest {
        broker_id: proposal.broker,
        broker_epoch: proposal.broker_epoch,
        topics: vec![topic],
    };
    let mut frame = Vec::with_capacity(112);
    wire::encode_request(&mut frame, id, None, &request);
    frame
}

/// The whole request is refused: this broker is no controller.
pub(super) fn not_controller(id: CorrelationId) -> Vec<u8> {
    let response = wire::AlterPartitionResponse {
        throttle_time_ms: 0,
        error: ErrorCode::NotController,
        topics: Vec::new(),
    };
    let mut frame = Vec::new();
    wire::encode_response(&mut frame, id, &response);
    frame
}
