//! The same messages as the crate `kafka-protocol` writes and reads them.

use std::collections::BTreeMap;
use std::fmt::Debug;

use kafka_protocol::messages as kp;
use kafka_protocol::messages::{
    alter_partition_request as apq, alter_partition_response as aps, fetch_request as fq,
    fetch_response as fs, list_offsets_request as lq, list_offsets_response as ls,
    offset_for_leader_epoch_request as oq, offset_for_leader_epoch_response as os,
    produce_request as pq, produce_response as ps,
};
use kafka_protocol::protocol::{Decodable, Encodable, StrBytes};

use super::{CLIENT, ID};
use crate::types::{BrokerEpoch, BrokerId, Epoch, Offset};
use crate::wire::*;

/// Whether each structure carries tagged fields from the future.
#[derive(Clone, Copy)]
pub enum Tags {
    None,
    Unknown,
}

impl Tags {
    fn map<B: From<&'static [u8]>>(self) -> BTreeMap<i32, B> {
        match self {
            Self::None => BTreeMap::new(),
            Self::Unknown => BTreeMap::from([(77, b"new"[..].into()), (0x4001, b""[..].into())]),
        }
    }
}

/// A message of the oracle and the frame it makes of it.
pub struct Theirs<H, M> {
    header: H,
    header_version: i16,
    message: M,
    version: i16,
    pub frame: Vec<u8>,
}

impl<H, M> Theirs<H, M>
where
    H: Encodable + Decodable + PartialEq + Debug,
    M: Encodable + Decodable + PartialEq + Debug,
{
    fn new(header: H, header_version: i16, message: M, version: i16) -> Self {
        let mut body = Vec::new();
        header.encode(&mut body, header_version).unwrap();
        message.encode(&mut body, version).unwrap();
        let mut frame = (body.len() as u32).to_be_bytes().to_vec();
        frame.extend(body);
        Self { header, header_version, message, version, frame }
    }

    /// Asserts that the oracle reads `frame` as this message.
    pub fn assert_reads(&self, frame: &[u8]) {
        let mut bytes = &frame[4..];
        assert_eq!(H::decode(&mut bytes, self.header_version).unwrap(), self.header);
        assert_eq!(M::decode(&mut bytes, self.version).unwrap(), self.message);
        assert!(bytes.is_empty());
    }
}

fn request<M: Encodable + Decodable + PartialEq + Debug>(
    (key, version): (i16, i16),
    message: M,
    tags: Tags,
) -> Theirs<kp::RequestHeader, M> {
    let header = kp::RequestHeader::default()
        .with_request_api_key(key)
        .with_request_api_version(version)
        .with_correlation_id(ID.0)
        .with_client_id(CLIENT.map(StrBytes::from_static_str))
        .with_unknown_tagged_fields(tags.map());
    Theirs::new(header, 2, message, version)
}

fn response<M: Encodable + Decodable + PartialEq + Debug>(
    version: i16,
    message: M,
    tags: Tags,
) -> Theirs<kp::ResponseHeader, M> {
    let header = kp::ResponseHeader::default()
        .with_correlation_id(ID.0)
        .with_unknown_tagged_fields(tags.map());
    Theirs::new(header, 1, message, version)
}

fn offset(offset: Option<Offset>) -> i64 {
    offset.map_or(-1, |Offset(offset)| offset as i64)
}

fn epoch(epoch: Option<Epoch>) -> i32 {
    epoch.map_or(-1, |Epoch(epoch)| epoch)
}

fn broker(broker: Option<BrokerId>) -> kp::BrokerId {
    broker.map_or(kp::BrokerId(-1), |BrokerId(id)| kp::BrokerId(id))
}

fn broker_epoch(epoch: Option<BrokerEpoch>) -> i64 {
    epoch.map_or(-1, |BrokerEpoch(epoch)| epoch)
}

fn uuid<U: TryFrom<Vec<u8>, Error: Debug>>(id: TopicId) -> U {
    id.0.to_vec().try_into().unwrap()
}

fn text(text: &'static str) -> StrBytes {
    StrBytes::from_static_str(text)
}

fn all<T, U>(parts: &[T], convert: impl Fn(&T) -> U) -> Vec<U> {
    parts.iter().map(convert).collect()
}

fn recovery(state: LeaderRecoveryState) -> i8 {
    i8::from(state == LeaderRecoveryState::Recovering)
}

pub fn fetch_request(
    ours: &FetchRequest<'static>,
    tags: Tags,
) -> Theirs<kp::RequestHeader, kp::FetchRequest> {
    let partition = |part: &FetchPartition| {
        fq::FetchPartition::default()
            .with_partition(part.partition)
            .with_current_leader_epoch(epoch(part.current_leader_epoch))
            .with_fetch_offset(part.fetch_offset.0 as i64)
            .with_last_fetched_epoch(epoch(part.last_fetched_epoch))
            .with_log_start_offset(offset(part.log_start_offset))
            .with_partition_max_bytes(part.partition_max_bytes)
            .with_unknown_tagged_fields(tags.map())
    };
    let topic = |part: &FetchTopic| {
        fq::FetchTopic::default()
            .with_topic_id(uuid(part.topic_id))
            .with_partitions(all(&part.partitions, partition))
            .with_unknown_tagged_fields(tags.map())
    };
    let forgotten = |part: &ForgottenTopic| {
        fq::ForgottenTopic::default()
            .with_topic_id(uuid(part.topic_id))
            .with_partitions(part.partitions.clone())
            .with_unknown_tagged_fields(tags.map())
    };
    let state = fq::ReplicaState::default()
        .with_replica_id(broker(ours.replica_state.replica_id))
        .with_replica_epoch(broker_epoch(ours.replica_state.replica_epoch))
        .with_unknown_tagged_fields(tags.map());
    let cluster = match tags {
        Tags::None => None,
        Tags::Unknown => Some(text("a cluster")),
    };
    let message = kp::FetchRequest::default()
        .with_cluster_id(cluster)
        .with_max_wait_ms(ours.max_wait_ms)
        .with_min_bytes(ours.min_bytes)
        .with_max_bytes(ours.max_bytes)
        .with_isolation_level(i8::from(ours.isolation_level == IsolationLevel::ReadCommitted))
        .with_session_id(ours.session_id)
        .with_session_epoch(ours.session_epoch)
        .with_topics(all(&ours.topics, topic))
        .with_forgotten_topics_data(all(&ours.forgotten_topics, forgotten))
        .with_rack_id(text(ours.rack_id))
        .with_replica_state(state)
        .with_unknown_tagged_fields(tags.map());
    request((1, 15), message, tags)
}

pub fn fetch_response(
    ours: &FetchResponse<'static>,
    tags: Tags,
) -> Theirs<kp::ResponseHeader, kp::FetchResponse> {
    let aborted = |part: &AbortedTransaction| {
        fs::AbortedTransaction::default()
            .with_producer_id(part.producer_id.into())
            .with_first_offset(part.first_offset.0 as i64)
            .with_unknown_tagged_fields(tags.map())
    };
    let partition = |part: &FetchedPartition<'static>| {
        let diverging = fs::EpochEndOffset::default()
            .with_epoch(epoch(part.diverging_epoch.map(|end| end.epoch)))
            .with_end_offset(offset(part.diverging_epoch.map(|end| end.end_offset)))
            .with_unknown_tagged_fields(tags.map());
        let leader = fs::LeaderIdAndEpoch::default()
            .with_leader_id(broker(part.current_leader.leader_id))
            .with_leader_epoch(epoch(part.current_leader.leader_epoch))
            .with_unknown_tagged_fields(tags.map());
        let snapshot = match tags {
            Tags::None => fs::SnapshotId::default(),
            Tags::Unknown => fs::SnapshotId::default().with_epoch(3).with_end_offset(9),
        };
        fs::PartitionData::default()
            .with_partition_index(part.partition)
            .with_error_code(part.error.code())
            .with_high_watermark(offset(part.high_watermark))
            .with_last_stable_offset(offset(part.last_stable_offset))
            .with_log_start_offset(offset(part.log_start_offset))
            .with_aborted_transactions(
                part.aborted_transactions.as_ref().map(|parts| all(parts, aborted)),
            )
            .with_preferred_read_replica(broker(part.preferred_read_replica))
            .with_records(part.records.map(Into::into))
            .with_diverging_epoch(diverging)
            .with_current_leader(leader)
            .with_snapshot_id(snapshot)
            .with_unknown_tagged_fields(tags.map())
    };
    let topic = |part: &FetchedTopic<'static>| {
        fs::FetchableTopicResponse::default()
            .with_topic_id(uuid(part.topic_id))
            .with_partitions(all(&part.partitions, partition))
            .with_unknown_tagged_fields(tags.map())
    };
    let message = kp::FetchResponse::default()
        .with_throttle_time_ms(ours.throttle_time_ms)
        .with_error_code(ours.error.code())
        .with_session_id(ours.session_id)
        .with_responses(all(&ours.topics, topic))
        .with_unknown_tagged_fields(tags.map());
    response(15, message, tags)
}

pub fn produce_request(
    ours: &ProduceRequest<'static>,
    tags: Tags,
) -> Theirs<kp::RequestHeader, kp::ProduceRequest> {
    let partition = |part: &ProducePartition<'static>| {
        pq::PartitionProduceData::default()
            .with_index(part.partition)
            .with_records(part.records.map(Into::into))
            .with_unknown_tagged_fields(tags.map())
    };
    let topic = |part: &ProduceTopic<'static>| {
        pq::TopicProduceData::default()
            .with_name(text(part.name).into())
            .with_partition_data(all(&part.partitions, partition))
            .with_unknown_tagged_fields(tags.map())
    };
    let message = kp::ProduceRequest::default()
        .with_transactional_id(ours.transactional_id.map(|id| text(id).into()))
        .with_acks(ours.acks)
        .with_timeout_ms(ours.timeout_ms)
        .with_topic_data(all(&ours.topics, topic))
        .with_unknown_tagged_fields(tags.map());
    request((0, 9), message, tags)
}

pub fn produce_response(
    ours: &ProduceResponse<'static>,
    tags: Tags,
) -> Theirs<kp::ResponseHeader, kp::ProduceResponse> {
    let record = |part: &RecordError<'static>| {
        ps::BatchIndexAndErrorMessage::default()
            .with_batch_index(part.batch_index)
            .with_batch_index_error_message(part.message.map(text))
            .with_unknown_tagged_fields(tags.map())
    };
    let partition = |part: &ProducedPartition<'static>| {
        ps::PartitionProduceResponse::default()
            .with_index(part.partition)
            .with_error_code(part.error.code())
            .with_base_offset(offset(part.base_offset))
            .with_log_append_time_ms(part.log_append_time_ms.unwrap_or(-1))
            .with_log_start_offset(offset(part.log_start_offset))
            .with_record_errors(all(&part.record_errors, record))
            .with_error_message(part.error_message.map(text))
            .with_unknown_tagged_fields(tags.map())
    };
    let topic = |part: &ProducedTopic<'static>| {
        ps::TopicProduceResponse::default()
            .with_name(text(part.name).into())
            .with_partition_responses(all(&part.partitions, partition))
            .with_unknown_tagged_fields(tags.map())
    };
    let message = kp::ProduceResponse::default()
        .with_responses(all(&ours.topics, topic))
        .with_throttle_time_ms(ours.throttle_time_ms)
        .with_unknown_tagged_fields(tags.map());
    response(9, message, tags)
}

pub fn list_offsets_request(
    ours: &ListOffsetsRequest<'static>,
    tags: Tags,
) -> Theirs<kp::RequestHeader, kp::ListOffsetsRequest> {
    let partition = |part: &ListPartition| {
        lq::ListOffsetsPartition::default()
            .with_partition_index(part.partition)
            .with_current_leader_epoch(epoch(part.current_leader_epoch))
            .with_timestamp(part.timestamp)
            .with_unknown_tagged_fields(tags.map())
    };
    let topic = |part: &ListTopic<'static>| {
        lq::ListOffsetsTopic::default()
            .with_name(text(part.name).into())
            .with_partitions(all(&part.partitions, partition))
            .with_unknown_tagged_fields(tags.map())
    };
    let message = kp::ListOffsetsRequest::default()
        .with_replica_id(broker(ours.replica_id))
        .with_isolation_level(i8::from(ours.isolation_level == IsolationLevel::ReadCommitted))
        .with_topics(all(&ours.topics, topic))
        .with_unknown_tagged_fields(tags.map());
    request((2, 7), message, tags)
}

pub fn list_offsets_response(
    ours: &ListOffsetsResponse<'static>,
    tags: Tags,
) -> Theirs<kp::ResponseHeader, kp::ListOffsetsResponse> {
    let partition = |part: &ListedPartition| {
        ls::ListOffsetsPartitionResponse::default()
            .with_partition_index(part.partition)
            .with_error_code(part.error.code())
            .with_timestamp(part.timestamp_ms.unwrap_or(-1))
            .with_offset(offset(part.offset))
            .with_leader_epoch(epoch(part.leader_epoch))
            .with_unknown_tagged_fields(tags.map())
    };
    let topic = |part: &ListedTopic<'static>| {
        ls::ListOffsetsTopicResponse::default()
            .with_name(text(part.name).into())
            .with_partitions(all(&part.partitions, partition))
            .with_unknown_tagged_fields(tags.map())
    };
    let message = kp::ListOffsetsResponse::default()
        .with_throttle_time_ms(ours.throttle_time_ms)
        .with_topics(all(&ours.topics, topic))
        .with_unknown_tagged_fields(tags.map());
    response(7, message, tags)
}

pub fn epoch_end_request(
    ours: &OffsetForLeaderEpochRequest<'static>,
    tags: Tags,
) -> Theirs<kp::RequestHeader, kp::OffsetForLeaderEpochRequest> {
    let partition = |part: &AskedEpoch| {
        oq::OffsetForLeaderPartition::default()
            .with_partition(part.partition)
            .with_current_leader_epoch(epoch(part.current_leader_epoch))
            .with_leader_epoch(epoch(part.leader_epoch))
            .with_unknown_tagged_fields(tags.map())
    };
    let topic = |part: &AskedTopic<'static>| {
        oq::OffsetForLeaderTopic::default()
            .with_topic(text(part.topic).into())
            .with_partitions(all(&part.partitions, partition))
            .with_unknown_tagged_fields(tags.map())
    };
    let message = kp::OffsetForLeaderEpochRequest::default()
        .with_replica_id(broker(ours.replica_id))
        .with_topics(all(&ours.topics, topic))
        .with_unknown_tagged_fields(tags.map());
    request((23, 4), message, tags)
}

pub fn epoch_end_response(
    ours: &OffsetForLeaderEpochResponse<'static>,
    tags: Tags,
) -> Theirs<kp::ResponseHeader, kp::OffsetForLeaderEpochResponse> {
    let partition = |part: &EpochEndAnswer| {
        os::EpochEndOffset::default()
            .with_error_code(part.error.code())
            .with_partition(part.partition)
            .with_leader_epoch(epoch(part.end.map(|end| end.epoch)))
            .with_end_offset(offset(part.end.map(|end| end.end_offset)))
            .with_unknown_tagged_fields(tags.map())
    };
    let topic = |part: &EpochEndTopic<'static>| {
        os::OffsetForLeaderTopicResult::default()
            .with_topic(text(part.topic).into())
            .with_partitions(all(&part.partitions, partition))
            .with_unknown_tagged_fields(tags.map())
    };
    let message = kp::OffsetForLeaderEpochResponse::default()
        .with_throttle_time_ms(ours.throttle_time_ms)
        .with_topics(all(&ours.topics, topic))
        .with_unknown_tagged_fields(tags.map());
    response(4, message, tags)
}

pub fn alter_partition_request(
    ours: &AlterPartitionRequest,
    tags: Tags,
) -> Theirs<kp::RequestHeader, kp::AlterPartitionRequest> {
    let member = |part: &IsrMember| {
        apq::BrokerState::default()
            .with_broker_id(broker(Some(part.broker_id)))
            .with_broker_epoch(broker_epoch(part.broker_epoch))
            .with_unknown_tagged_fields(tags.map())
    };
    let partition = |part: &AlterPartition| {
        apq::PartitionData::default()
            .with_partition_index(part.partition)
            .with_leader_epoch(part.leader_epoch.0)
            .with_new_isr_with_epochs(all(&part.new_isr, member))
            .with_leader_recovery_state(recovery(part.leader_recovery_state))
            .with_partition_epoch(part.partition_epoch.0)
            .with_unknown_tagged_fields(tags.map())
    };
    let topic = |part: &AlterTopic| {
        apq::TopicData::default()
            .with_topic_id(uuid(part.topic_id))
            .with_partitions(all(&part.partitions, partition))
            .with_unknown_tagged_fields(tags.map())
    };
    let message = kp::AlterPartitionRequest::default()
        .with_broker_id(broker(Some(ours.broker_id)))
        .with_broker_epoch(ours.broker_epoch.0)
        .with_topics(all(&ours.topics, topic))
        .with_unknown_tagged_fields(tags.map());
    request((56, 3), message, tags)
}

pub fn alter_partition_response(
    ours: &AlterPartitionResponse,
    tags: Tags,
) -> Theirs<kp::ResponseHeader, kp::AlterPartitionResponse> {
    let partition = |part: &AlteredPartition| {
        aps::PartitionData::default()
            .with_partition_index(part.partition)
            .with_error_code(part.error.code())
            .with_leader_id(broker(part.leader_id))
            .with_leader_epoch(epoch(part.leader_epoch))
            .with_isr(all(&part.isr, |id| broker(Some(*id))))
            .with_leader_recovery_state(recovery(part.leader_recovery_state))
            .with_partition_epoch(part.partition_epoch.0)
            .with_unknown_tagged_fields(tags.map())
    };
    let topic = |part: &AlteredTopic| {
        aps::TopicData::default()
            .with_topic_id(uuid(part.topic_id))
            .with_partitions(all(&part.partitions, partition))
            .with_unknown_tagged_fields(tags.map())
    };
    let message = kp::AlterPartitionResponse::default()
        .with_throttle_time_ms(ours.throttle_time_ms)
        .with_error_code(ours.error.code())
        .with_topics(all(&ours.topics, topic))
        .with_unknown_tagged_fields(tags.map());
    response(3, message, tags)
}
