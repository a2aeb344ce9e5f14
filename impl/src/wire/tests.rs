//! The codecs against an oracle (the crate `kafka-protocol`) and against hostile bytes.

mod hostile;
mod oracle;
mod samples;

use proptest::prelude::*;

use super::part::Part;
use super::*;
use crate::types::{BrokerEpoch, BrokerId, ErrorCode, Offset};

const ID: CorrelationId = CorrelationId(-7);
const CLIENT: Option<&str> = Some("broker-2");

fn request_frame<'a, M: RequestMessage<'a>>(message: &M) -> Vec<u8> {
    let mut frame = Vec::new();
    encode_request(&mut frame, ID, CLIENT, message);
    frame
}

fn response_frame<'a, M: ResponseMessage<'a>>(message: &M) -> Vec<u8> {
    let mut frame = Vec::new();
    encode_response(&mut frame, ID, message);
    frame
}

/// Our bytes are the oracle's bytes, and each reads what the other wrote. Bytes with unknown
/// tagged fields in every structure read as the same message.
macro_rules! agree {
    ($name:ident, $sample:path, $frame:ident, $read:expr, $oracle:ident) => {
        proptest! {
            #[test]
            fn $name(ours in $sample()) {
                let frame = $frame(&ours);
                let theirs = oracle::$oracle(&ours, oracle::Tags::None);
                prop_assert_eq!(&frame, &theirs.frame);
                theirs.assert_reads(&frame);
                prop_assert_eq!($read(&frame), Ok(ours.clone()));
                let tagged = oracle::$oracle(&ours, oracle::Tags::Unknown).frame;
                prop_assert_ne!(&tagged, &frame);
                prop_assert_eq!($read(&tagged), Ok(ours.clone()));
            }
        }
    };
}

macro_rules! read_request {
    ($api:ident) => {
        |frame| match decode_request(frame)? {
            (RequestHeader { api: Api::$api, correlation_id: ID, client_id: CLIENT }, request) => {
                let Request::$api(request) = request else { panic!("{request:?}") };
                Ok::<_, DecodeError>(request)
            }
            (header, _) => panic!("{header:?}"),
        }
    };
}

macro_rules! read_response {
    ($message:ident) => {
        |frame| {
            let response = decode_response(frame)?;
            assert_eq!(response.correlation_id, ID);
            response.body::<$message>()
        }
    };
}

agree!(
    fetch_requests_agree,
    samples::fetch_request,
    request_frame,
    read_request!(Fetch),
    fetch_request
);
agree!(
    fetch_responses_agree,
    samples::fetch_response,
    response_frame,
    read_response!(FetchResponse),
    fetch_response
);
agree!(
    produce_requests_agree,
    samples::produce_request,
    request_frame,
    read_request!(Produce),
    produce_request
);
agree!(
    produce_responses_agree,
    samples::produce_response,
    response_frame,
    read_response!(ProduceResponse),
    produce_response
);
agree!(
    list_offsets_requests_agree,
    samples::list_offsets_request,
    request_frame,
    read_request!(ListOffsets),
    list_offsets_request
);
agree!(
    list_offsets_responses_agree,
    samples::list_offsets_response,
    response_frame,
    read_response!(ListOffsetsResponse),
    list_offsets_response
);
agree!(
    epoch_end_requests_agree,
    samples::epoch_end_request,
    request_frame,
    read_request!(OffsetForLeaderEpoch),
    epoch_end_request
);
agree!(
    epoch_end_responses_agree,
    samples::epoch_end_response,
    response_frame,
    read_response!(OffsetForLeaderEpochResponse),
    epoch_end_response
);
agree!(
    alter_partition_requests_agree,
    samples::alter_partition_request,
    request_frame,
    read_request!(AlterPartition),
    alter_partition_request
);
agree!(
    alter_partition_responses_agree,
    samples::alter_partition_response,
    response_frame,
    read_response!(AlterPartitionResponse),
    alter_partition_response
);

fn check<'a, T: Part<'a>>(smallest: &T) {
    let mut out = Vec::new();
    let mut writer = writer::Writer::start(&mut out);
    smallest.write(&mut writer);
    writer.finish();
    assert_eq!(out.len() - 4, T::MIN, "{}", std::any::type_name::<T>());
}

#[test]
fn the_smallest_of_each_structure_is_as_small_as_its_count_check_assumes() {
    let topic_id = TopicId::default();
    check(&samples::least_fetch_request());
    check(&FetchTopic { topic_id, partitions: vec![] });
    check(&samples::least_fetch_partition());
    check(&ForgottenTopic { topic_id, partitions: vec![] });
    check(&ReplicaState::default());
    check(&samples::least_fetch_response());
    check(&FetchedTopic { topic_id, partitions: vec![] });
    check(&samples::least_fetched_partition());
    check(&AbortedTransaction { producer_id: 0, first_offset: Offset(0) });
    check(&CurrentLeader::default());
    check(&ProduceRequest { transactional_id: None, acks: 0, timeout_ms: 0, topics: vec![] });
    check(&ProduceTopic { name: "", partitions: vec![] });
    check(&ProducePartition { partition: 0, records: None });
    check(&ProduceResponse { topics: vec![], throttle_time_ms: 0 });
    check(&ProducedTopic { name: "", partitions: vec![] });
    check(&samples::least_produced_partition());
    check(&RecordError { batch_index: 0, message: None });
    let isolation_level = IsolationLevel::ReadUncommitted;
    check(&ListOffsetsRequest { replica_id: None, isolation_level, topics: vec![] });
    check(&ListTopic { name: "", partitions: vec![] });
    check(&ListPartition { partition: 0, current_leader_epoch: None, timestamp: 0 });
    check(&ListOffsetsResponse { throttle_time_ms: 0, topics: vec![] });
    check(&ListedTopic { name: "", partitions: vec![] });
    check(&samples::least_listed_partition());
}

#[test]
fn the_smallest_of_each_structure_for_replicas_is_as_small_as_its_count_check_assumes() {
    let topic_id = TopicId::default();
    check(&OffsetForLeaderEpochRequest { replica_id: None, topics: vec![] });
    check(&AskedTopic { topic: "", partitions: vec![] });
    check(&AskedEpoch { partition: 0, current_leader_epoch: None, leader_epoch: None });
    check(&OffsetForLeaderEpochResponse { throttle_time_ms: 0, topics: vec![] });
    check(&EpochEndTopic { topic: "", partitions: vec![] });
    check(&EpochEndAnswer { error: ErrorCode::None, partition: 0, end: None });
    check(&AlterPartitionRequest {
        broker_id: BrokerId(0),
        broker_epoch: BrokerEpoch(0),
        topics: vec![],
    });
    check(&AlterTopic { topic_id, partitions: vec![] });
    check(&samples::least_alter_partition());
    check(&IsrMember { broker_id: BrokerId(0), broker_epoch: None });
    check(&AlterPartitionResponse { throttle_time_ms: 0, error: ErrorCode::None, topics: vec![] });
    check(&AlteredTopic { topic_id, partitions: vec![] });
    check(&samples::least_altered_partition());
    check(&RequestHeader { api: Api::Fetch, correlation_id: ID, client_id: None });
    check(&ID);
    check(&BrokerId(0));
    check(&0i32);
}
