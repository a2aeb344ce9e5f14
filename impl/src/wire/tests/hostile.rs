//! Bytes that no honest peer sends: a decoder answers each with a message or an error, in bounds.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::super::frame::open;
use super::super::part::Part;
use super::super::reader::Reader;
use super::{ID, request_frame, response_frame, samples};
use crate::types::{BrokerEpoch, BrokerId, Epoch, ErrorCode, Offset};
use crate::wire::*;

/// Bytes of memory that a decoder may reserve for arrays, per byte of the frame. An element may
/// be larger in memory than its least form on the wire, and three arrays nest at most: topics
/// (40 bytes for 3), partitions (120 for 33), refused batches (24 for 6).
const MEMORY_PER_BYTE: usize = 22;

/// How a frame is read, reporting what was reserved for arrays.
type Decode = fn(&[u8]) -> (Result<(), DecodeError>, usize);

fn read_request(frame: &[u8]) -> (Result<(), DecodeError>, usize) {
    let mut reader = match open(frame, "RequestHeader") {
        Ok(reader) => reader,
        Err(error) => return (Err(error), 0),
    };
    let result = RequestHeader::read(&mut reader).and_then(|header| {
        match header.api {
            Api::Produce => ProduceRequest::read(&mut reader).map(drop),
            Api::Fetch => FetchRequest::read(&mut reader).map(drop),
            Api::ListOffsets => ListOffsetsRequest::read(&mut reader).map(drop),
            Api::OffsetForLeaderEpoch => OffsetForLeaderEpochRequest::read(&mut reader).map(drop),
            Api::AlterPartition => AlterPartitionRequest::read(&mut reader).map(drop),
        }?;
        reader.end("end of message")
    });
    let whole = decode_request(frame).map(drop);
    assert_eq!(whole.map_err(|error| error.reason), result.map_err(|error| error.reason));
    (result, reader.reserved)
}

fn read_response<'a, M: ResponseMessage<'a>>(frame: &'a [u8]) -> (Result<(), DecodeError>, usize) {
    let mut reader = match open(frame, "ResponseHeader") {
        Ok(reader) => reader,
        Err(error) => return (Err(error), 0),
    };
    let result = CorrelationId::read(&mut reader).and_then(|_| {
        M::read(&mut reader)?;
        reader.end("end of message")
    });
    (result, reader.reserved)
}

/// A few frames of each message and how to read them.
fn frames() -> Vec<(Vec<u8>, Decode)> {
    let mut runner = TestRunner::deterministic();
    let mut frames: Vec<(Vec<u8>, Decode)> = Vec::new();
    macro_rules! add {
        ($sample:ident, $frame:ident, $read:expr) => {
            let mut small = 0;
            while small < 8 {
                let sample = samples::$sample().new_tree(&mut runner).unwrap().current();
                let frame = $frame(&sample);
                if frame.len() < 700 {
                    frames.push((frame, $read));
                    small += 1;
                }
            }
        };
    }
    add!(fetch_request, request_frame, read_request);
    add!(fetch_response, response_frame, |frame| read_response::<FetchResponse>(frame));
    add!(produce_request, request_frame, read_request);
    add!(produce_response, response_frame, |frame| read_response::<ProduceResponse>(frame));
    add!(list_offsets_request, request_frame, read_request);
    add!(list_offsets_response, response_frame, |frame| {
        read_response::<ListOffsetsResponse>(frame)
    });
    add!(epoch_end_request, request_frame, read_request);
    add!(epoch_end_response, response_frame, |frame| {
        read_response::<OffsetForLeaderEpochResponse>(frame)
    });
    add!(alter_partition_request, request_frame, read_request);
    add!(alter_partition_response, response_frame, |frame| {
        read_response::<AlterPartitionResponse>(frame)
    });
    frames
}

/// Gives `frame` a length prefix that is true.
fn reframe(frame: &mut [u8]) {
    let length = (frame.len() - 4) as u32;
    frame[..4].copy_from_slice(&length.to_be_bytes());
}

fn in_bounds(frame: &[u8], decode: Decode) -> Result<(), DecodeError> {
    let (result, reserved) = decode(frame);
    assert!(reserved <= frame.len() * MEMORY_PER_BYTE, "{reserved} of {}", frame.len());
    if let Err(error) = result {
        assert!(error.position <= frame.len(), "{error}");
        assert!(!error.field.is_empty());
    }
    result
}

#[test]
fn samples_are_legal() {
    for (frame, decode) in frames() {
        assert_eq!(in_bounds(&frame, decode), Ok(()));
    }
}

#[test]
fn every_truncation_is_an_error() {
    for (frame, decode) in frames() {
        for end in 0..frame.len() {
            // With the old prefix: half a frame.
            let mut cut = frame[..end].to_vec();
            assert!(in_bounds(&cut, decode).is_err(), "{end} of {frame:?}");
            // With a prefix that agrees: half a message.
            if end >= 4 {
                reframe(&mut cut);
                assert!(in_bounds(&cut, decode).is_err(), "{end} of {frame:?}");
            }
        }
    }
}

#[test]
fn every_trailing_byte_is_an_error() {
    for (mut frame, decode) in frames() {
        frame.push(0);
        assert!(in_bounds(&frame, decode).is_err());
        reframe(&mut frame);
        let error = in_bounds(&frame, decode).unwrap_err();
        assert_eq!(error.reason, Reason::TrailingBytes { count: 1 });
    }
}

#[test]
fn every_corruption_of_one_byte_stays_in_bounds() {
    let mut refused = 0u64;
    let mut accepted = 0u64;
    for (mut frame, decode) in frames() {
        for at in 0..frame.len() {
            let original = frame[at];
            for byte in 0..=u8::MAX {
                frame[at] = byte;
                match in_bounds(&frame, decode) {
                    Ok(()) => accepted += 1,
                    Err(_) => refused += 1,
                }
            }
            frame[at] = original;
        }
    }
    // Both happen: otherwise the frames reach nothing.
    assert!(refused > 10_000 && accepted > 10_000, "{refused} refused, {accepted} accepted");
}

/// B109: a count from the wire asked a decoder for gigabytes before it looked at the bytes left.
#[test]
fn the_bytes_of_b109_and_their_kind_are_refused_wherever_they_stand() {
    let bombs: [&[u8]; 6] = [
        &[0x03, 0x00, 0x00, 0x03, 0x3c, 0x0c, 0x00, 0xb6],
        &[0xff, 0xff, 0xff, 0xff, 0x0f],
        &[0xff, 0xff, 0xff, 0xff, 0x7f],
        &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80],
        &[0x7f, 0xff, 0xff, 0xff],
        &[0xff, 0xff, 0xff, 0xff],
    ];
    for (frame, decode) in frames() {
        for at in 0..frame.len() {
            for bomb in bombs {
                let mut written = frame.clone();
                written.splice(at..frame.len().min(at + bomb.len()), bomb.iter().copied());
                let _ = in_bounds(&written, decode);
                let mut ended = frame[..at].to_vec();
                ended.extend_from_slice(bomb);
                let _ = in_bounds(&ended, decode);
                if at >= 4 {
                    reframe(&mut ended);
                    let _ = in_bounds(&ended, decode);
                    reframe(&mut written);
                    let _ = in_bounds(&written, decode);
                }
            }
        }
    }
}

#[test]
fn each_array_of_four_billion_elements_is_refused_before_it_is_reserved() {
    fn bomb<'a, T: Part<'a>>() {
        let bytes: &'static [u8] = &[0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0];
        let mut reader = Reader::new(bytes, "bomb");
        let Err(error) = reader.array::<T>("array") else { panic!("accepted") };
        let needed = u64::from(u32::MAX - 1) * T::MIN as u64;
        assert_eq!(error.reason, Reason::Truncated { needed, left: 3 });
        assert_eq!((error.position, reader.reserved), (5, 0));
    }
    bomb::<FetchTopic>();
    bomb::<FetchPartition>();
    bomb::<ForgottenTopic>();
    bomb::<FetchedTopic>();
    bomb::<FetchedPartition>();
    bomb::<AbortedTransaction>();
    bomb::<ProduceTopic>();
    bomb::<ProducePartition>();
    bomb::<ProducedTopic>();
    bomb::<ProducedPartition>();
    bomb::<RecordError>();
    bomb::<ListTopic>();
    bomb::<ListPartition>();
    bomb::<ListedTopic>();
    bomb::<ListedPartition>();
    bomb::<AskedTopic>();
    bomb::<AskedEpoch>();
    bomb::<EpochEndTopic>();
    bomb::<EpochEndAnswer>();
    bomb::<AlterTopic>();
    bomb::<AlterPartition>();
    bomb::<IsrMember>();
    bomb::<AlteredTopic>();
    bomb::<AlteredPartition>();
    bomb::<BrokerId>();
    bomb::<i32>();
}

proptest! {
    #[test]
    fn any_bytes_stay_in_bounds(mut bytes in proptest::collection::vec(any::<u8>(), 4..400)) {
        reframe(&mut bytes);
        for (_, decode) in frames().iter().step_by(8) {
            let _ = in_bounds(&bytes, *decode);
        }
    }
}

fn fetch_frame(partition: FetchPartition) -> Vec<u8> {
    let topics = vec![FetchTopic { topic_id: TopicId([7; 16]), partitions: vec![partition] }];
    request_frame(&FetchRequest { topics, ..samples::least_fetch_request() })
}

#[test]
fn an_error_names_the_message_the_field_and_the_byte() {
    let partition = samples::least_fetch_partition();
    let good = fetch_frame(partition);
    let other = fetch_frame(FetchPartition { fetch_offset: Offset(i64::MAX as u64), ..partition });
    let at = good.iter().zip(&other).position(|(a, b)| a != b).unwrap();
    let mut frame = good;
    frame[at..at + 8].copy_from_slice(&(-2i64).to_be_bytes());
    let error = decode_request(&frame).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("FetchRequest: field fetch_offset at byte {at}: -2 is out of range")
    );
    frame[at..at + 8].copy_from_slice(&(-1i64).to_be_bytes());
    let error = decode_request(&frame).unwrap_err();
    assert_eq!(error.reason, Reason::OutOfRange { value: -1 });
}

#[test]
fn a_future_version_and_an_unknown_request_are_refused_by_name() {
    let good = fetch_frame(samples::least_fetch_partition());
    for (at, key, version) in [(5, 2, 15), (7, 1, 16)] {
        let mut frame = good.clone();
        frame[at] += 1;
        let error = decode_request(&frame).unwrap_err();
        assert_eq!(error.reason, Reason::UnsupportedApi { key, version });
    }
}

#[test]
fn an_error_code_from_elsewhere_is_refused() {
    let mut frame = response_frame(&samples::least_fetch_response());
    let at = 4 + CorrelationId::MIN + 4;
    frame[at..at + 2].copy_from_slice(&9i16.to_be_bytes());
    let error = decode_response(&frame).unwrap().body::<FetchResponse>().unwrap_err();
    assert_eq!((error.position, error.reason), (at, Reason::UnknownErrorCode { code: 9 }));
}

#[test]
fn half_an_epoch_end_is_refused() {
    let end = Some(EpochEnd { epoch: Epoch(5), end_offset: Offset(6) });
    let answer = EpochEndAnswer { error: ErrorCode::None, partition: 0, end };
    let topics = vec![EpochEndTopic { topic: "t", partitions: vec![answer] }];
    let frame = response_frame(&OffsetForLeaderEpochResponse { throttle_time_ms: 0, topics });
    let tail = frame.len() - 3;
    for half in [tail - 12..tail - 8, tail - 8..tail] {
        let mut frame = frame.clone();
        frame[half].fill(0xff);
        let response = decode_response(&frame).unwrap();
        let error = response.body::<OffsetForLeaderEpochResponse>().unwrap_err();
        assert_eq!(error.reason, Reason::OutOfRange { value: -1 });
    }
}

#[test]
fn a_debugging_consumer_is_no_replica() {
    let mut frame =
        request_frame(&OffsetForLeaderEpochRequest { replica_id: None, topics: vec![] });
    let at = frame.len() - 6;
    for (id, legal) in [(-1i32, true), (-2, true), (-3, false), (i32::MIN, false)] {
        frame[at..at + 4].copy_from_slice(&id.to_be_bytes());
        match decode_request(&frame) {
            Ok((_, Request::OffsetForLeaderEpoch(request))) => {
                assert!(legal);
                assert_eq!(request.replica_id, None);
            }
            Ok(other) => panic!("{other:?}"),
            Err(error) => {
                assert!(!legal);
                assert_eq!(error.reason, Reason::OutOfRange { value: id.into() });
            }
        }
    }
}

#[test]
fn every_timestamp_is_legal_and_an_isolation_level_must_be_known() {
    let isolation_level = IsolationLevel::ReadUncommitted;
    let request = |timestamp| {
        let partition = ListPartition { partition: 0, current_leader_epoch: None, timestamp };
        let topics = vec![ListTopic { name: "t", partitions: vec![partition] }];
        request_frame(&ListOffsetsRequest { replica_id: None, isolation_level, topics })
    };
    for timestamp in [i64::MIN, -5, -3, LATEST_TIMESTAMP, 0, i64::MAX] {
        let frame = request(timestamp);
        let Ok((_, Request::ListOffsets(read))) = decode_request(&frame) else { panic!() };
        assert_eq!(read.topics[0].partitions[0].timestamp, timestamp);
    }
    let mut frame = request(EARLIEST_TIMESTAMP);
    let at = frame.windows(5).position(|bytes| bytes == [0xff, 0xff, 0xff, 0xff, 0]).unwrap() + 4;
    frame[at] = 2;
    let error = decode_request(&frame).unwrap_err();
    assert_eq!((error.position, error.reason), (at, Reason::OutOfRange { value: 2 }));
}

#[test]
fn tagged_fields_keep_their_order_and_their_bounds() {
    let state = ReplicaState { replica_id: Some(BrokerId(2)), replica_epoch: Some(BrokerEpoch(9)) };
    let least = samples::least_fetch_request();
    let bare = request_frame(&least);
    let state =
        request_frame(&FetchRequest { replica_state: state, ..least })[bare.len()..].to_vec();
    // `state` is tag, size and value: the count byte stands where `bare` ends with a zero.
    let read = |tags: &[&[u8]]| {
        let mut frame = bare[..bare.len() - 1].to_vec();
        frame.push(tags.len() as u8);
        frame.extend(tags.concat());
        reframe(&mut frame);
        match decode_request(&frame) {
            Ok((_, Request::Fetch(request))) => Ok(request.replica_state.replica_id),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.reason),
        }
    };
    let (cluster, unknown): (&[u8], &[u8]) = (&[0, 2, 2, b'c'], &[9, 1, 1]);
    assert_eq!(read(&[&state]), Ok(Some(BrokerId(2))));
    assert_eq!(read(&[cluster, &state, unknown]), Ok(Some(BrokerId(2))));
    assert_eq!(read(&[&state, cluster]), Err(Reason::TagOrder { tag: 0 }));
    assert_eq!(read(&[&state, &state]), Err(Reason::TagOrder { tag: 1 }));
    let mut long = state.clone();
    long[1] += 1;
    long.push(0);
    assert_eq!(read(&[&long]), Err(Reason::TrailingBytes { count: 1 }));
    let mut short = state.clone();
    short[1] -= 1;
    short.pop();
    assert!(matches!(read(&[&short]), Err(Reason::Truncated { needed: 1, left: 0 })));
    assert!(matches!(read(&[&[9, 5]]), Err(Reason::Truncated { needed: 5, left: 0 })));
}

#[test]
fn a_stream_is_cut_into_frames_and_an_oversize_one_is_refused_at_its_prefix() {
    let one = fetch_frame(samples::least_fetch_partition());
    let two = response_frame(&samples::least_fetch_response());
    let stream = [one.clone(), two.clone()].concat();
    let limit = one.len() as u32;
    let first = next_frame(&stream, limit).unwrap().unwrap();
    assert_eq!((first.frame, first.rest), (&one[..], &two[..]));
    let second = next_frame(first.rest, limit).unwrap().unwrap();
    assert_eq!((second.frame, second.rest), (&two[..], &[][..]));
    for end in 0..two.len() {
        assert_eq!(next_frame(&two[..end], limit), Ok(None));
    }
    let body = (one.len() - 4) as u32;
    assert!(next_frame(&one, body).is_ok());
    let error = next_frame(&one[..4], body - 1).unwrap_err();
    let reason = Reason::FrameTooLarge { length: body.into(), limit: (body - 1).into() };
    assert_eq!((error.position, error.reason), (0, reason));
    for prefix in [i32::MIN, -1, i32::MAX] {
        let error = next_frame(&prefix.to_be_bytes(), MAX_FRAME_BYTES).unwrap_err();
        assert!(matches!(error.reason, Reason::FrameTooLarge { .. }));
    }
    assert!(next_frame(&(-1i32).to_be_bytes(), u32::MAX).is_err());
}

#[test]
fn a_buffer_is_reused() {
    let mut buffer = Vec::new();
    encode_response(&mut buffer, ID, &samples::least_fetch_response());
    let first = buffer.clone();
    encode_response(&mut buffer, ID, &samples::least_fetch_response());
    assert_eq!(buffer, [first.clone(), first].concat());
}
