//! Values of every message: generated ones, and the smallest.

use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

use crate::types::{BrokerEpoch, BrokerId, Epoch, ErrorCode, Offset, PartitionEpoch};
use crate::wire::*;

static TEXT: LazyLock<String> = LazyLock::new(|| "klog-жß".repeat(3000));
static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| (0..70_000u32).map(|n| n as u8).collect());

/// Strings of every length class of the variable-length prefix.
fn text() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => 0..6usize, 2 => 100..300usize, 1 => 16_300..16_500usize]
        .prop_map(|length| &TEXT[..TEXT.floor_char_boundary(length)])
}

fn bytes() -> impl Strategy<Value = &'static [u8]> {
    prop_oneof![4 => 0..200usize, 1 => 16_300..16_500usize, 1 => 60_000..70_000usize]
        .prop_map(|length| &BYTES[..length])
}

fn offset() -> impl Strategy<Value = Offset> {
    prop_oneof![0..9u64, 0..=i64::MAX as u64].prop_map(Offset)
}

fn epoch() -> impl Strategy<Value = Epoch> {
    prop_oneof![0..9, 0..=i32::MAX].prop_map(Epoch)
}

fn partition_epoch() -> impl Strategy<Value = PartitionEpoch> {
    (0..=i32::MAX).prop_map(PartitionEpoch)
}

fn broker() -> impl Strategy<Value = BrokerId> {
    (0..=i32::MAX).prop_map(BrokerId)
}

fn broker_epoch() -> impl Strategy<Value = BrokerEpoch> {
    (0..=i64::MAX).prop_map(BrokerEpoch)
}

fn topic_id() -> impl Strategy<Value = TopicId> {
    any::<[u8; 16]>().prop_map(TopicId)
}

fn error() -> impl Strategy<Value = ErrorCode> {
    select((i16::MIN..=i16::MAX).filter_map(ErrorCode::from_code).collect::<Vec<_>>())
}

fn isolation() -> impl Strategy<Value = IsolationLevel> {
    select(vec![IsolationLevel::ReadUncommitted, IsolationLevel::ReadCommitted])
}

fn end() -> impl Strategy<Value = EpochEnd> {
    (epoch(), offset()).prop_map(|(epoch, end_offset)| EpochEnd { epoch, end_offset })
}

prop_compose! {
    fn replica_state()(
        replica_id in of(broker()), replica_epoch in of(broker_epoch()),
    ) -> ReplicaState {
        ReplicaState { replica_id, replica_epoch }
    }
}

prop_compose! {
    fn fetch_partition()(
        partition in any::<i32>(), current_leader_epoch in of(epoch()), fetch_offset in offset(),
        last_fetched_epoch in of(epoch()), log_start_offset in of(offset()),
        partition_max_bytes in any::<i32>(),
    ) -> FetchPartition {
        FetchPartition {
            partition, current_leader_epoch, fetch_offset, last_fetched_epoch, log_start_offset,
            partition_max_bytes,
        }
    }
}

prop_compose! {
    fn fetch_topic()(
        topic_id in topic_id(), partitions in vec(fetch_partition(), 0..4),
    ) -> FetchTopic {
        FetchTopic { topic_id, partitions }
    }
}

prop_compose! {
    fn forgotten_topic()(
        topic_id in topic_id(), partitions in vec(any::<i32>(), 0..200),
    ) -> ForgottenTopic {
        ForgottenTopic { topic_id, partitions }
    }
}

prop_compose! {
    pub fn fetch_request()(
        numbers in any::<[i32; 5]>(),
        isolation_level in isolation(),
        topics in vec(fetch_topic(), 0..4), forgotten_topics in vec(forgotten_topic(), 0..3),
        rack_id in text(), replica_state in replica_state(),
    ) -> FetchRequest<'static> {
        let [max_wait_ms, min_bytes, max_bytes, session_id, session_epoch] = numbers;
        FetchRequest {
            max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics,
            forgotten_topics, rack_id, replica_state,
        }
    }
}

prop_compose! {
    fn aborted()(producer_id in any::<i64>(), first_offset in offset()) -> AbortedTransaction {
        AbortedTransaction { producer_id, first_offset }
    }
}

prop_compose! {
    fn current_leader()(
        leader_id in of(broker()), leader_epoch in of(epoch()),
    ) -> CurrentLeader {
        CurrentLeader { leader_id, leader_epoch }
    }
}

prop_compose! {
    fn fetched_partition()(
        partition in any::<i32>(), error in error(), offsets in [of(offset()), of(offset()),
        of(offset())], aborted_transactions in of(vec(aborted(), 0..3)),
        preferred_read_replica in of(broker()), records in of(bytes()),
        diverging_epoch in of(end()), current_leader in current_leader(),
    ) -> FetchedPartition<'static> {
        let [high_watermark, last_stable_offset, log_start_offset] = offsets;
        FetchedPartition {
            partition, error, high_watermark, last_stable_offset, log_start_offset,
            aborted_transactions, preferred_read_replica, records, diverging_epoch, current_leader,
        }
    }
}

prop_compose! {
    fn fetched_topic()(
        topic_id in topic_id(), partitions in vec(fetched_partition(), 0..4),
    ) -> FetchedTopic<'static> {
        FetchedTopic { topic_id, partitions }
    }
}

prop_compose! {
    pub fn fetch_response()(
        throttle_time_ms in any::<i32>(), error in error(), session_id in any::<i32>(),
        topics in vec(fetched_topic(), 0..3),
    ) -> FetchResponse<'static> {
        FetchResponse { throttle_time_ms, error, session_id, topics }
    }
}

prop_compose! {
    fn produce_topic()(
        name in text(), partitions in vec((any::<i32>(), of(bytes())), 0..3),
    ) -> ProduceTopic<'static> {
        let partitions = partitions.into_iter();
        let partitions = partitions.map(|(partition, records)| ProducePartition {
            partition, records,
        });
        ProduceTopic { name, partitions: partitions.collect() }
    }
}

prop_compose! {
    pub fn produce_request()(
        transactional_id in of(text()), acks in any::<i16>(), timeout_ms in any::<i32>(),
        topics in vec(produce_topic(), 0..3),
    ) -> ProduceRequest<'static> {
        ProduceRequest { transactional_id, acks, timeout_ms, topics }
    }
}

prop_compose! {
    fn record_error()(batch_index in any::<i32>(), message in of(text())) -> RecordError<'static> {
        RecordError { batch_index, message }
    }
}

prop_compose! {
    fn produced_partition()(
        partition in any::<i32>(), error in error(), base_offset in of(offset()),
        log_append_time_ms in of(0..=i64::MAX), log_start_offset in of(offset()),
        record_errors in vec(record_error(), 0..3), error_message in of(text()),
    ) -> ProducedPartition<'static> {
        ProducedPartition {
            partition, error, base_offset, log_append_time_ms, log_start_offset, record_errors,
            error_message,
        }
    }
}

prop_compose! {
    fn produced_topic()(
        name in text(), partitions in vec(produced_partition(), 0..3),
    ) -> ProducedTopic<'static> {
        ProducedTopic { name, partitions }
    }
}

prop_compose! {
    pub fn produce_response()(
        topics in vec(produced_topic(), 0..3), throttle_time_ms in any::<i32>(),
    ) -> ProduceResponse<'static> {
        ProduceResponse { topics, throttle_time_ms }
    }
}

prop_compose! {
    fn list_partition()(
        partition in any::<i32>(), current_leader_epoch in of(epoch()),
        timestamp in prop_oneof![-3..3i64, any::<i64>()],
    ) -> ListPartition {
        ListPartition { partition, current_leader_epoch, timestamp }
    }
}

prop_compose! {
    fn list_topic()(
        name in text(), partitions in vec(list_partition(), 0..4),
    ) -> ListTopic<'static> {
        ListTopic { name, partitions }
    }
}

prop_compose! {
    pub fn list_offsets_request()(
        replica_id in of(broker()), isolation_level in isolation(),
        topics in vec(list_topic(), 0..3),
    ) -> ListOffsetsRequest<'static> {
        ListOffsetsRequest { replica_id, isolation_level, topics }
    }
}

prop_compose! {
    fn listed_partition()(
        partition in any::<i32>(), error in error(), timestamp_ms in of(0..=i64::MAX),
        offset in of(offset()), leader_epoch in of(epoch()),
    ) -> ListedPartition {
        ListedPartition { partition, error, timestamp_ms, offset, leader_epoch }
    }
}

prop_compose! {
    fn listed_topic()(
        name in text(), partitions in vec(listed_partition(), 0..4),
    ) -> ListedTopic<'static> {
        ListedTopic { name, partitions }
    }
}

prop_compose! {
    pub fn list_offsets_response()(
        throttle_time_ms in any::<i32>(), topics in vec(listed_topic(), 0..3),
    ) -> ListOffsetsResponse<'static> {
        ListOffsetsResponse { throttle_time_ms, topics }
    }
}

prop_compose! {
    fn asked_epoch()(
        partition in any::<i32>(), current_leader_epoch in of(epoch()), leader_epoch in of(epoch()),
    ) -> AskedEpoch {
        AskedEpoch { partition, current_leader_epoch, leader_epoch }
    }
}

prop_compose! {
    fn asked_topic()(
        topic in text(), partitions in vec(asked_epoch(), 0..4),
    ) -> AskedTopic<'static> {
        AskedTopic { topic, partitions }
    }
}

prop_compose! {
    pub fn epoch_end_request()(
        replica_id in of(broker()), topics in vec(asked_topic(), 0..3),
    ) -> OffsetForLeaderEpochRequest<'static> {
        OffsetForLeaderEpochRequest { replica_id, topics }
    }
}

prop_compose! {
    fn epoch_end_answer()(
        error in error(), partition in any::<i32>(), end in of(end()),
    ) -> EpochEndAnswer {
        EpochEndAnswer { error, partition, end }
    }
}

prop_compose! {
    fn epoch_end_topic()(
        topic in text(), partitions in vec(epoch_end_answer(), 0..4),
    ) -> EpochEndTopic<'static> {
        EpochEndTopic { topic, partitions }
    }
}

prop_compose! {
    pub fn epoch_end_response()(
        throttle_time_ms in any::<i32>(), topics in vec(epoch_end_topic(), 0..3),
    ) -> OffsetForLeaderEpochResponse<'static> {
        OffsetForLeaderEpochResponse { throttle_time_ms, topics }
    }
}

fn recovery() -> impl Strategy<Value = LeaderRecoveryState> {
    select(vec![LeaderRecoveryState::Recovered, LeaderRecoveryState::Recovering])
}

prop_compose! {
    fn member()(broker_id in broker(), broker_epoch in of(broker_epoch())) -> IsrMember {
        IsrMember { broker_id, broker_epoch }
    }
}

prop_compose! {
    fn alter_partition()(
        partition in any::<i32>(), leader_epoch in epoch(), new_isr in vec(member(), 0..4),
        leader_recovery_state in recovery(), partition_epoch in partition_epoch(),
    ) -> AlterPartition {
        AlterPartition { partition, leader_epoch, new_isr, leader_recovery_state, partition_epoch }
    }
}

prop_compose! {
    fn alter_topic()(
        topic_id in topic_id(), partitions in vec(alter_partition(), 0..3),
    ) -> AlterTopic {
        AlterTopic { topic_id, partitions }
    }
}

prop_compose! {
    pub fn alter_partition_request()(
        broker_id in broker(), broker_epoch in broker_epoch(), topics in vec(alter_topic(), 0..3),
    ) -> AlterPartitionRequest {
        AlterPartitionRequest { broker_id, broker_epoch, topics }
    }
}

prop_compose! {
    fn altered_partition()(
        partition in any::<i32>(), error in error(), leader_id in of(broker()),
        leader_epoch in of(epoch()), isr in vec(broker(), 0..4),
        leader_recovery_state in recovery(), partition_epoch in partition_epoch(),
    ) -> AlteredPartition {
        AlteredPartition {
            partition, error, leader_id, leader_epoch, isr, leader_recovery_state, partition_epoch,
        }
    }
}

prop_compose! {
    fn altered_topic()(
        topic_id in topic_id(), partitions in vec(altered_partition(), 0..3),
    ) -> AlteredTopic {
        AlteredTopic { topic_id, partitions }
    }
}

prop_compose! {
    pub fn alter_partition_response()(
        throttle_time_ms in any::<i32>(), error in error(), topics in vec(altered_topic(), 0..3),
    ) -> AlterPartitionResponse {
        AlterPartitionResponse { throttle_time_ms, error, topics }
    }
}

pub fn least_fetch_request() -> FetchRequest<'static> {
    FetchRequest {
        max_wait_ms: 0,
        min_bytes: 0,
        max_bytes: 0,
        isolation_level: IsolationLevel::ReadUncommitted,
        session_id: 0,
        session_epoch: -1,
        topics: vec![],
        forgotten_topics: vec![],
        rack_id: "",
        replica_state: ReplicaState::default(),
    }
}

pub fn least_fetch_partition() -> FetchPartition {
    FetchPartition {
        partition: 0,
        current_leader_epoch: None,
        fetch_offset: Offset(0),
        last_fetched_epoch: None,
        log_start_offset: None,
        partition_max_bytes: 0,
    }
}

pub fn least_fetch_response() -> FetchResponse<'static> {
    FetchResponse { throttle_time_ms: 0, error: ErrorCode::None, session_id: 0, topics: vec![] }
}

pub fn least_fetched_partition() -> FetchedPartition<'static> {
    FetchedPartition {
        partition: 0,
        error: ErrorCode::None,
        high_watermark: None,
        last_stable_offset: None,
        log_start_offset: None,
        aborted_transactions: None,
        preferred_read_replica: None,
        records: None,
        diverging_epoch: None,
        current_leader: CurrentLeader::default(),
    }
}

pub fn least_produced_partition() -> ProducedPartition<'static> {
    ProducedPartition {
        partition: 0,
        error: ErrorCode::None,
        base_offset: None,
        log_append_time_ms: None,
        log_start_offset: None,
        record_errors: vec![],
        error_message: None,
    }
}

pub fn least_listed_partition() -> ListedPartition {
    ListedPartition {
        partition: 0,
        error: ErrorCode::None,
        timestamp_ms: None,
        offset: None,
        leader_epoch: None,
    }
}

pub fn least_alter_partition() -> AlterPartition {
    AlterPartition {
        partition: 0,
        leader_epoch: Epoch(0),
        new_isr: vec![],
        leader_recovery_state: LeaderRecoveryState::Recovered,
        partition_epoch: PartitionEpoch(0),
    }
}

pub fn least_altered_partition() -> AlteredPartition {
    AlteredPartition {
        partition: 0,
        error: ErrorCode::None,
        leader_id: None,
        leader_epoch: None,
        isr: vec![],
        leader_recovery_state: LeaderRecoveryState::Recovered,
        partition_epoch: PartitionEpoch(0),
    }
}
