//! Nodes over memory disks, with every frame carried by hand.

mod shutdown;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::disk::{Fault, FaultOn, Faulty, MemDisk, Survives, Then};
use crate::log::EpochStart;
use crate::log::batch::{self, BatchError, NewRecord};
use crate::replica::Role;
use crate::replica::io::{BrokerImage, BrokerState, PartitionImage};
use crate::types::{BrokerEpoch, Epoch, ErrorCode, PartitionEpoch};
use crate::wire::{self, FetchRequest, ProduceRequest};

type TestNode = Node<Faulty<MemDisk>>;

const NOW: i64 = 1_700_000_000_000;
const TOPIC: TopicId = TopicId([7; 16]);
const CLIENT: Peer = Peer::Client(ClientId(5));

fn config(id: i32) -> NodeConfig {
    NodeConfig {
        id: BrokerId(id),
        topic: "orders".to_owned(),
        topic_id: TOPIC,
        partition: 0,
        replica: replica::Config::new(BrokerEpoch(10 + i64::from(id))),
        log: LogConfig::default(),
    }
}

fn node(id: i32) -> TestNode {
    let (node, recovery) = Node::open(Faulty::default(), config(id)).unwrap();
    assert_eq!(recovery, Recovery::default());
    node
}

fn image(leader: i32, leader_epoch: i32, partition_epoch: i32) -> MetadataImage {
    let active = |id: i32| BrokerImage {
        epoch: BrokerEpoch(10 + i64::from(id)),
        state: BrokerState::Active,
    };
    MetadataImage {
        partition: PartitionImage {
            leader: Some(BrokerId(leader)),
            leader_epoch: Epoch(leader_epoch),
            partition_epoch: PartitionEpoch(partition_epoch),
            replicas: vec![BrokerId(1), BrokerId(2)],
            isr: BTreeSet::from([BrokerId(1), BrokerId(2)]),
            elr: BTreeSet::new(),
            last_leader: None,
            min_isr: 2,
        },
        brokers: BTreeMap::from([1, 2].map(|id| (BrokerId(id), active(id)))),
    }
}

/// Broker 1 leads epoch 0, broker 2 follows; the second value is broker 2's first fetch.
fn pair() -> ([TestNode; 2], Vec<u8>) {
    let (mut leader, mut follower) = (node(1), node(2));
    leader.metadata(image(1, 0, 0), NOW, &mut Vec::new());
    let mut out = Vec::new();
    follower.metadata(image(1, 0, 0), NOW, &mut out);
    ([leader, follower], only(out, Peer::Broker(BrokerId(1)), Way::Request))
}

/// The one frame in `out`, which goes to `to`.
fn only(out: Vec<Outgoing>, to: Peer, way: Way) -> Vec<u8> {
    match <[Outgoing; 1]>::try_from(out) {
        Ok([Outgoing::Frame { to: receiver, way: went, bytes }])
            if receiver == to && went == way =>
        {
            bytes
        }
        other => panic!("{other:?}"),
    }
}

fn receive(node: &mut TestNode, from: Peer, way: Way, frame: &[u8]) -> Vec<Outgoing> {
    let mut out = Vec::new();
    node.receive(from, way, frame, NOW, &mut out).unwrap();
    out
}

/// One fetch and its answer; the follower's next fetch.
fn exchange([leader, follower]: &mut [TestNode; 2], fetch: &[u8]) -> Vec<u8> {
    let out = receive(leader, Peer::Broker(BrokerId(2)), Way::Request, fetch);
    let answer = only(out, Peer::Broker(BrokerId(2)), Way::Response);
    let out = receive(follower, Peer::Broker(BrokerId(1)), Way::Response, &answer);
    only(out, Peer::Broker(BrokerId(1)), Way::Request)
}

fn batch(value: &str) -> Vec<u8> {
    batch::build(&[NewRecord { value: Some(value.as_bytes()), ..NewRecord::default() }]).unwrap()
}

fn produce_frame(acks: i16, parts: &[(&str, i32, &[u8])]) -> Vec<u8> {
    let topics = parts.iter().map(|&(name, partition, records)| wire::ProduceTopic {
        name,
        partitions: vec![wire::ProducePartition { partition, records: Some(records) }],
    });
    let (transactional_id, timeout_ms) = (None, 30_000);
    let topics = topics.collect();
    let mut frame = Vec::new();
    let request = ProduceRequest { transactional_id, acks, timeout_ms, topics };
    wire::encode_request(&mut frame, CorrelationId(77), None, &request);
    frame
}

fn produce(node: &mut TestNode, acks: i16, value: &str) -> Vec<Outgoing> {
    let frame = produce_frame(acks, &[("orders", 0, &batch(value))]);
    receive(node, CLIENT, Way::Request, &frame)
}

/// Topic, partition, error and base offset of each answer in a produce response.
fn produced(frame: &[u8]) -> Vec<(String, i32, ErrorCode, Option<Offset>)> {
    let response = wire::decode_response(frame).unwrap();
    assert_eq!(response.correlation_id, CorrelationId(77));
    let response: wire::ProduceResponse<'_> = response.body().unwrap();
    let topics = response.topics.iter();
    let parts = topics.flat_map(|topic| topic.partitions.iter().map(move |part| (topic, part)));
    parts
        .map(|(topic, part)| (topic.name.to_owned(), part.partition, part.error, part.base_offset))
        .collect()
}

fn produced_one(out: Vec<Outgoing>) -> (ErrorCode, Option<Offset>) {
    match &produced(&only(out, CLIENT, Way::Response))[..] {
        [(topic, 0, error, base)] if topic == "orders" => (*error, *base),
        other => panic!("{other:?}"),
    }
}

fn positions([leader, follower]: &[TestNode; 2]) -> [u64; 4] {
    let (a, b) = (leader.replica(), follower.replica());
    [a.leo(), a.hw(), b.leo(), b.hw()].map(|offset| offset.0)
}

#[test]
fn each_round_of_frames_ships_one_record_and_commits_the_one_before() {
    let (mut pair, mut fetch) = pair();
    for round in 1..=4 {
        assert_eq!(produce(&mut pair[0], -1, "x"), []);
        fetch = exchange(&mut pair, &fetch);
        assert_eq!(positions(&pair), [round, round - 1, round, round - 1]);
        let mut out = Vec::new();
        pair[0].complete_produces(NOW, &mut out);
        match round {
            1 => assert_eq!(out, []),
            // The verdict on the record of the round before.
            _ => assert_eq!(produced_one(out), (ErrorCode::None, Some(Offset(round - 2)))),
        }
    }
    let [leader, follower] = &pair;
    let all = |node: &TestNode| node.log().read(Offset(0), Offset(4), u32::MAX).unwrap();
    assert_eq!(all(leader), all(follower));
    assert_eq!(leader.log().epochs(), follower.log().epochs());
    assert_eq!(leader.clone(), *leader);
}

#[test]
fn correlation_ids_count_and_match_the_very_request() {
    let (mut pair, first) = pair();
    let second = exchange(&mut pair, &first);
    let id = |frame: &[u8]| wire::decode_request(frame).unwrap().0.correlation_id;
    assert_eq!([id(&first), id(&second)], [CorrelationId(0), CorrelationId(1)]);
    let sent: Vec<_> = pair[1].sent().map(|(id, sent)| (id, sent.to())).collect();
    assert_eq!(sent, [(CorrelationId(1), Peer::Broker(BrokerId(1)))]);
    // The answer to the first fetch again, and an answer from somebody else.
    let answer = receive(&mut pair[0], Peer::Broker(BrokerId(2)), Way::Request, &second);
    let answer = only(answer, Peer::Broker(BrokerId(2)), Way::Response);
    for peer in [Peer::Broker(BrokerId(3)), Peer::Controller, CLIENT] {
        let before = pair[1].clone();
        let mut out = Vec::new();
        let error = pair[1].receive(peer, Way::Response, &answer, NOW, &mut out).unwrap_err();
        assert!(matches!(error, NodeError::Unasked { peer: from, .. } if from == peer));
        assert_eq!((&pair[1], out), (&before, vec![]));
    }
    receive(&mut pair[1], Peer::Broker(BrokerId(1)), Way::Response, &answer);
    let mut out = Vec::new();
    let error = pair[1].receive(Peer::Broker(BrokerId(1)), Way::Response, &answer, NOW, &mut out);
    let text = "response from broker 1: no request with correlation id 1 is waiting";
    assert_eq!(error.unwrap_err().to_string(), text);
}

#[test]
fn frames_that_are_no_message_change_nothing_and_are_named() {
    let (pair, fetch) = pair();
    for end in 0..fetch.len() {
        let mut leader = pair[0].clone();
        let peer = Peer::Broker(BrokerId(2));
        let mut out = Vec::new();
        let error = leader.receive(peer, Way::Request, &fetch[..end], NOW, &mut out).unwrap_err();
        assert!(error.to_string().starts_with("frame from broker 2: "), "{error}");
        assert_eq!((&leader, out), (&pair[0], vec![]));
    }
}

#[test]
fn an_answer_without_the_partition_asked_for_is_no_answer() {
    let (mut pair, fetch) = pair();
    let request = |topic_id| {
        let (header, request) = wire::decode_request(&fetch).unwrap();
        let wire::Request::Fetch(mut request) = request else { panic!("{request:?}") };
        request.topics[0].topic_id = topic_id;
        let mut frame = Vec::new();
        wire::encode_request(&mut frame, header.correlation_id, None, &request);
        frame
    };
    let elsewhere = request(TopicId([8; 16]));
    let out = receive(&mut pair[0], Peer::Broker(BrokerId(2)), Way::Request, &elsewhere);
    let answer = only(out, Peer::Broker(BrokerId(2)), Way::Response);
    let before = pair[1].clone();
    let peer = Peer::Broker(BrokerId(1));
    let error = pair[1].receive(peer, Way::Response, &answer, NOW, &mut Vec::new()).unwrap_err();
    assert!(matches!(error, NodeError::Unanswered { .. }), "{error}");
    assert_eq!(pair[1], before);
}

#[test]
fn an_answer_that_ends_one_epoch_and_begins_the_next_keeps_both_starts() {
    let (mut pair, fetch) = pair();
    produce(&mut pair[0], 1, "first of epoch 0");
    exchange(&mut pair, &fetch);
    produce(&mut pair[0], 1, "second of epoch 0");
    pair[0].metadata(image(1, 1, 1), NOW, &mut Vec::new());
    produce(&mut pair[0], 1, "first of epoch 1");
    let mut out = Vec::new();
    pair[1].metadata(image(1, 1, 1), NOW, &mut out);
    let fetch = only(out, Peer::Broker(BrokerId(1)), Way::Request);
    exchange(&mut pair, &fetch);
    let starts = [(Epoch(0), Offset(0)), (Epoch(1), Offset(2))];
    for node in &pair {
        assert_eq!(node.replica().log().epochs.entries(), starts);
        let stored = node.log().epochs().iter().map(|entry| (entry.epoch, entry.start));
        assert!(stored.eq(starts), "{:?}", node.log().epochs());
    }
}

#[test]
fn damaged_records_are_not_appended_and_are_asked_for_again() {
    let (mut pair, fetch) = pair();
    produce(&mut pair[0], 1, "value");
    let out = receive(&mut pair[0], Peer::Broker(BrokerId(2)), Way::Request, &fetch);
    let mut answer = only(out, Peer::Broker(BrokerId(2)), Way::Response);
    let at = answer.windows(5).position(|bytes| bytes == b"value").unwrap();
    answer[at] ^= 1;
    let mut out = Vec::new();
    let peer = Peer::Broker(BrokerId(1));
    let error = pair[1].receive(peer, Way::Response, &answer, NOW, &mut out).unwrap_err();
    assert!(matches!(error, NodeError::CorruptBatch { position: 0, .. }), "{error}");
    assert_eq!(pair[1].replica().leo(), Offset(0));
    let again = only(out, peer, Way::Request);
    exchange(&mut pair, &again);
    assert_eq!(positions(&pair)[2], 1);
}

#[test]
fn a_produce_is_answered_part_by_part() {
    let (mut pair, _) = pair();
    let good = batch("x");
    let mut torn = good.clone();
    torn.pop();
    let two = [good.clone(), good.clone()].concat();
    let unknown = ErrorCode::UnknownTopicOrPartition;
    let frame = produce_frame(1, &[("bills", 0, &good), ("orders", 1, &good)]);
    let out = receive(&mut pair[0], CLIENT, Way::Request, &frame);
    let answers = produced(&only(out, CLIENT, Way::Response));
    let elsewhere =
        [("bills".to_owned(), 0, unknown, None), ("orders".to_owned(), 1, unknown, None)];
    assert_eq!(answers, elsewhere);
    for bad in [&torn[..], &two, &[]] {
        let frame = produce_frame(1, &[("orders", 0, bad)]);
        let out = receive(&mut pair[0], CLIENT, Way::Request, &frame);
        assert_eq!(produced_one(out), (ErrorCode::CorruptMessage, None));
        assert_eq!(pair[0].log().leo(), Offset(0));
    }
    let frame =
        produce_frame(1, &[("bills", 3, &good), ("orders", 0, &good), ("orders", 0, &good)]);
    let out = receive(&mut pair[0], CLIENT, Way::Request, &frame);
    let answers = produced(&only(out, CLIENT, Way::Response));
    assert_eq!(
        answers,
        [
            ("orders".to_owned(), 0, ErrorCode::None, Some(Offset(0))),
            ("orders".to_owned(), 0, ErrorCode::InvalidRequest, None),
            ("bills".to_owned(), 3, unknown, None),
        ]
    );
    assert_eq!(pair[0].log().leo(), Offset(1));
}

#[test]
fn batches_that_are_too_big_or_part_of_a_transaction_are_refused() {
    let (mut pair, _) = pair();
    let big = batch(&"x".repeat(1_048_588));
    let mut part = batch("x");
    part[22] |= 0x10;
    let mut marker = batch("x");
    marker[22] |= 0x20;
    for (bytes, resealed) in [(big, false), (part, true), (marker, true)] {
        let mut bytes = bytes;
        if resealed {
            let Err(BatchError::Crc { computed, .. }) = batch::verify(&bytes) else { panic!() };
            bytes[17..21].copy_from_slice(&computed.to_be_bytes());
        }
        batch::verify(&bytes).unwrap();
        let frame = produce_frame(1, &[("orders", 0, &bytes)]);
        let out = receive(&mut pair[0], CLIENT, Way::Request, &frame);
        assert_eq!(produced_one(out), (ErrorCode::InvalidRequest, None));
        assert_eq!(pair[0].log().leo(), Offset(0));
    }
    let frame = produce_frame(1, &[("orders", 0, &batch(&"x".repeat(1_048_000)))]);
    let out = receive(&mut pair[0], CLIENT, Way::Request, &frame);
    assert_eq!(produced_one(out), (ErrorCode::None, Some(Offset(0))));
}

#[test]
fn a_request_for_a_thousand_partitions_is_answered_and_one_for_more_is_refused() {
    let (mut pair, _) = pair();
    let mut parts: Vec<(&str, i32, &[u8])> = (1..=1000).map(|i| ("orders", i, &[][..])).collect();
    let out = receive(&mut pair[0], CLIENT, Way::Request, &produce_frame(1, &parts));
    assert_eq!(produced(&only(out, CLIENT, Way::Response)).len(), 1000);
    parts.push(("orders", 1001, &[]));
    let before = pair[0].clone();
    let frame = produce_frame(1, &parts);
    let mut out = Vec::new();
    let error = pair[0].receive(CLIENT, Way::Request, &frame, NOW, &mut out).unwrap_err();
    let text = "request from client connection 5: 1001 partitions, at most 1000 are answered";
    assert_eq!(error.to_string(), text);
    assert_eq!((&pair[0], out), (&before, vec![]));
}

#[test]
fn acks_0_is_answered_by_nothing_or_by_closing_the_connection() {
    let (mut pair, _) = pair();
    assert_eq!(produce(&mut pair[0], 0, "x"), []);
    assert_eq!(pair[0].log().leo(), Offset(1));
    assert_eq!(pair[0].links.asked.len(), 0);
    assert_eq!(produce(&mut pair[1], 0, "x"), [Outgoing::Close { to: CLIENT }]);
    let frame = produce_frame(0, &[("orders", 0, &[])]);
    let out = receive(&mut pair[0], CLIENT, Way::Request, &frame);
    assert_eq!(out, [Outgoing::Close { to: CLIENT }]);
    assert_eq!(pair[0].links.asked.len() + pair[1].links.asked.len(), 0);
}

#[test]
fn a_failed_write_is_answered_with_56_by_every_acks_and_ends_all_serving() {
    for acks in [1, -1] {
        let (mut pair, fetch) = pair();
        produce(&mut pair[0], -1, "waits");
        let fault = Fault { on: FaultOn::Write, after: 0, tear: 3, then: Then::StaysBroken };
        pair[0].disk_mut().arm(fault);
        let out = produce(&mut pair[0], acks, "lost");
        // The one that waited and the one that failed.
        assert_eq!(out.len(), 2, "{out:?}");
        for answer in out {
            let answer = produced_one(vec![answer]);
            assert_eq!(answer, (ErrorCode::KafkaStorageError, None));
        }
        assert_eq!(pair[0].replica().role(), &Role::Failed);
        assert!(pair[0].failure().unwrap().contains("append"), "{:?}", pair[0].failure());
        assert_eq!(pair[0].links.asked.len(), 0);
        let out = produce(&mut pair[0], acks, "later");
        assert_eq!(produced_one(out), (ErrorCode::KafkaStorageError, None));
        let out = receive(&mut pair[0], Peer::Broker(BrokerId(2)), Way::Request, &fetch);
        let answer = only(out, Peer::Broker(BrokerId(2)), Way::Response);
        let response = wire::decode_response(&answer).unwrap();
        let response: wire::FetchResponse<'_> = response.body().unwrap();
        assert_eq!(response.topics[0].partitions[0].error, ErrorCode::KafkaStorageError);
    }
}

#[test]
fn a_start_after_a_crash_takes_the_checkpoint_for_a_hint_and_resumes_no_epoch() {
    let (mut pair, mut fetch) = pair();
    for _ in 0..3 {
        produce(&mut pair[0], 1, "x");
        fetch = exchange(&mut pair, &fetch);
    }
    pair[0].checkpoint_hw().unwrap();
    produce(&mut pair[0], 1, "x");
    exchange(&mut pair, &fetch);
    assert_eq!(positions(&pair)[..2], [4, 3]);
    let [leader, _] = pair;
    let (reopened, recovery) = Node::open(leader.into_disk(), config(1)).unwrap();
    assert_eq!((recovery.cut, recovery.stale_epochs), (None, vec![]));
    assert_eq!((reopened.replica().leo(), reopened.replica().hw()), (Offset(4), Offset(2)));
    assert_eq!(reopened.replica().role(), &Role::Idle);
    let mut again = reopened.clone();
    again.metadata(image(1, 0, 0), NOW, &mut Vec::new());
    assert_eq!(again.replica().role(), &Role::Idle);
}

#[test]
fn b65_a_checkpoint_written_while_nobody_leads_keeps_the_watermark() {
    let (mut pair, mut fetch) = pair();
    for _ in 0..3 {
        produce(&mut pair[0], 1, "x");
        fetch = exchange(&mut pair, &fetch);
    }
    let [_, mut follower] = pair;
    follower.checkpoint_hw().unwrap();
    let mut leaderless = image(1, 1, 1);
    leaderless.partition.leader = None;
    // Before any metadata, and when it says that nobody leads.
    for metadata in [None, Some(leaderless)] {
        follower = Node::open(follower.into_disk(), config(2)).unwrap().0;
        if let Some(image) = metadata {
            follower.metadata(image, NOW, &mut Vec::new());
        }
        follower.checkpoint_hw().unwrap();
        follower = Node::open(follower.into_disk(), config(2)).unwrap().0;
        let at = (follower.replica().leo(), follower.replica().hw());
        assert_eq!(at, (Offset(3), Offset(2)));
    }
    // The leader is back: nothing is cut.
    follower.metadata(image(1, 2, 2), NOW, &mut Vec::new());
    assert_eq!(follower.log().leo(), Offset(3));
}

/// Wherever the disk breaks and the power goes, no record is left of an epoch that the disk does
/// not name: a start would take it for a torn tail and cut it.
#[test]
fn b105_an_epoch_is_on_the_disk_before_its_first_record() {
    let starts = [EpochStart { epoch: Epoch(4), start: Offset(1) }];
    let reopened = |node: &TestNode, id, survives| {
        let mut disk = node.clone().into_disk().into_inner();
        disk.power_loss(|_| survives);
        let (node, recovery) = Node::open(Faulty::new(disk), config(id)).unwrap();
        assert_eq!((recovery.cut, recovery.found_epochs), (None, vec![]), "broker {id}");
        // Without a record it tells nothing of the log, so the start names and drops it.
        (node.log().leo(), recovery.stale_epochs == starts)
    };
    let (mut pair, fetch) = pair();
    produce(&mut pair[0], 1, "of epoch 0");
    exchange(&mut pair, &fetch);
    for node in &mut pair {
        node.flush(&mut Vec::new()).unwrap();
    }
    pair[0].metadata(image(1, 4, 1), NOW, &mut Vec::new());
    assert_eq!(reopened(&pair[0], 1, Survives::FLUSHED), (Offset(1), true));

    produce(&mut pair[0], 1, "of epoch 4");
    let mut out = Vec::new();
    pair[1].metadata(image(1, 4, 1), NOW, &mut out);
    let fetch = only(out, Peer::Broker(BrokerId(1)), Way::Request);
    let out = receive(&mut pair[0], Peer::Broker(BrokerId(2)), Way::Request, &fetch);
    let answer = only(out, Peer::Broker(BrokerId(2)), Way::Response);
    let mut seen = BTreeSet::new();
    for after in 0.. {
        let mut node = pair[1].clone();
        let (on, then) = (FaultOn::Change, Then::StaysBroken);
        node.disk_mut().arm(Fault { on, after, tear: 0, then });
        receive(&mut node, Peer::Broker(BrokerId(1)), Way::Response, &answer);
        for survives in [Survives::FLUSHED, Survives::ALL] {
            seen.insert(reopened(&node, 2, survives));
        }
        if node.failure().is_none() {
            break;
        }
    }
    // Nothing of it, the epoch alone, both.
    assert_eq!(seen, BTreeSet::from([(Offset(1), false), (Offset(1), true), (Offset(2), false)]));
}

#[test]
fn a_flush_is_told_to_the_core_and_a_failed_one_ends_all_serving() {
    let (mut pair, _) = pair();
    produce(&mut pair[0], 1, "x");
    let mut out = Vec::new();
    assert_eq!(pair[0].flush(&mut out).unwrap(), Offset(1));
    assert_eq!((pair[0].replica().log().flushed, out.len()), (Offset(1), 0));
    produce(&mut pair[0], -1, "x");
    let fault = Fault { on: FaultOn::Sync, after: 0, tear: 0, then: Then::Works };
    pair[0].disk_mut().arm(fault);
    assert!(matches!(pair[0].flush(&mut out), Err(NodeError::Storage(_))));
    assert_eq!(produced_one(out), (ErrorCode::KafkaStorageError, None));
    assert_eq!(pair[0].replica().role(), &Role::Failed);
}

#[test]
fn what_a_broken_connection_carried_is_sent_again() {
    let (mut pair, first) = pair();
    let mut out = Vec::new();
    pair[1].disconnected(Peer::Broker(BrokerId(1)), NOW, &mut out);
    let second = only(out, Peer::Broker(BrokerId(1)), Way::Request);
    let body = |frame: &[u8]| format!("{:?}", wire::decode_request(frame).unwrap().1);
    assert_eq!(body(&first), body(&second));
    assert_eq!(pair[1].sent().count(), 1);
    // The leader forgets who waited there; a waiting produce has nobody to be answered to.
    produce(&mut pair[0], -1, "x");
    pair[0].disconnected(CLIENT, NOW, &mut Vec::new());
    let third = exchange(&mut pair, &second);
    exchange(&mut pair, &third);
    let mut out = Vec::new();
    pair[0].complete_produces(NOW, &mut out);
    assert_eq!((positions(&pair)[1], out), (1, vec![]));
    let mut out = Vec::new();
    pair[1].lost(CorrelationId(99), NOW, &mut out);
    assert_eq!(out, []);
}

#[test]
fn a_lost_proposal_goes_out_again_in_the_same_bytes() {
    let (mut pair, _) = pair();
    produce(&mut pair[0], 1, "x");
    let late = NOW + 30_001;
    let mut out = Vec::new();
    pair[0].tick(late, &mut out);
    let first = only(out, Peer::Controller, Way::Request);
    let header = |frame: &[u8]| wire::decode_request(frame).unwrap().0.correlation_id;
    let mut out = Vec::new();
    pair[0].tick(late, &mut out);
    assert_eq!(out, [], "on its way");
    pair[0].lost(header(&first), late, &mut out);
    pair[0].check_lag(late, &mut out);
    pair[0].expire_produces(late, &mut out);
    assert_eq!(out, [], "only one of the three sends it");
    pair[0].resend_proposal(late + 1, &mut out);
    let again = only(out, Peer::Controller, Way::Request);
    assert_ne!(header(&again), header(&first));
    // Length, api key and version stand before the correlation id, which is four bytes.
    assert_eq!((&again[..8], &again[12..]), (&first[..8], &first[12..]));
}

#[test]
fn a_broker_is_no_controller_and_hands_out_no_fetch_session() {
    let (mut pair, fetch) = pair();
    let mut frame = Vec::new();
    let (broker_id, broker_epoch) = (BrokerId(2), BrokerEpoch(12));
    let request = wire::AlterPartitionRequest { broker_id, broker_epoch, topics: vec![] };
    wire::encode_request(&mut frame, CorrelationId(4), None, &request);
    let out = receive(&mut pair[0], Peer::Broker(BrokerId(2)), Way::Request, &frame);
    let answer = only(out, Peer::Broker(BrokerId(2)), Way::Response);
    let response = wire::decode_response(&answer).unwrap();
    let response: wire::AlterPartitionResponse = response.body().unwrap();
    assert_eq!(response.error, ErrorCode::NotController);

    let (_, request) = wire::decode_request(&fetch).unwrap();
    let wire::Request::Fetch(request) = request else { panic!("{request:?}") };
    let mut frame = Vec::new();
    let request = FetchRequest { session_id: 9, session_epoch: 1, ..request };
    wire::encode_request(&mut frame, CorrelationId(5), None, &request);
    let before = pair[0].clone();
    let out = receive(&mut pair[0], Peer::Broker(BrokerId(2)), Way::Request, &frame);
    let answer = only(out, Peer::Broker(BrokerId(2)), Way::Response);
    let response = wire::decode_response(&answer).unwrap();
    let response: wire::FetchResponse<'_> = response.body().unwrap();
    assert_eq!((response.error, response.session_id), (ErrorCode::InvalidRequest, 0));
    assert_eq!(pair[0], before);
}

#[test]
fn a_question_for_the_end_of_an_epoch_is_answered() {
    let (mut pair, _) = pair();
    produce(&mut pair[0], 1, "x");
    let mut asked = |epoch: Option<i32>, current: i32| {
        let partitions = vec![wire::AskedEpoch {
            partition: 0,
            current_leader_epoch: Some(Epoch(current)),
            leader_epoch: epoch.map(Epoch),
        }];
        let topics = vec![wire::AskedTopic { topic: "orders", partitions }];
        let request = wire::OffsetForLeaderEpochRequest { replica_id: None, topics };
        let mut frame = Vec::new();
        wire::encode_request(&mut frame, CorrelationId(1), None, &request);
        let out = receive(&mut pair[0], CLIENT, Way::Request, &frame);
        let answer = only(out, CLIENT, Way::Response);
        let response = wire::decode_response(&answer).unwrap();
        let response: wire::OffsetForLeaderEpochResponse<'_> = response.body().unwrap();
        let part = response.topics[0].partitions[0];
        (part.error, part.end.map(|end| (end.epoch.0, end.end_offset.0)))
    };
    assert_eq!(asked(Some(0), 0), (ErrorCode::None, Some((0, 1))));
    assert_eq!(asked(Some(1), 0), (ErrorCode::None, None));
    assert_eq!(asked(None, 0), (ErrorCode::None, None));
    assert_eq!(asked(Some(0), 1), (ErrorCode::UnknownLeaderEpoch, None));
}

fn list_frame(replica_id: Option<BrokerId>, parts: &[(&str, i32, i64)]) -> Vec<u8> {
    let current_leader_epoch = Some(Epoch(0));
    let topics = parts.iter().map(|&(name, partition, timestamp)| wire::ListTopic {
        name,
        partitions: vec![wire::ListPartition { partition, current_leader_epoch, timestamp }],
    });
    let (isolation_level, topics) = (wire::IsolationLevel::ReadCommitted, topics.collect());
    let request = wire::ListOffsetsRequest { replica_id, isolation_level, topics };
    let mut frame = Vec::new();
    wire::encode_request(&mut frame, CorrelationId(6), None, &request);
    frame
}

#[test]
fn a_question_for_the_ends_of_the_log_is_answered_part_by_part() {
    let (mut pair, fetch) = pair();
    for _ in 0..2 {
        produce(&mut pair[0], 1, "x");
    }
    let fetch = exchange(&mut pair, &fetch);
    exchange(&mut pair, &fetch);
    produce(&mut pair[0], 1, "x");
    let mut listed = |replica_id, parts: &[(&str, i32, i64)]| {
        let out = receive(&mut pair[0], CLIENT, Way::Request, &list_frame(replica_id, parts));
        assert_eq!(pair[0].links.asked.len(), 0);
        let answer = only(out, CLIENT, Way::Response);
        let response = wire::decode_response(&answer).unwrap();
        assert_eq!(response.correlation_id, CorrelationId(6));
        let response: wire::ListOffsetsResponse<'_> = response.body().unwrap();
        let topics = response.topics.into_iter();
        let parts = topics.flat_map(|t| t.partitions.into_iter().map(move |p| (t.name, p)));
        let parts = parts.map(|(name, part)| {
            assert_eq!(part.timestamp_ms, None);
            let found = part.offset.zip(part.leader_epoch).map(|(o, e)| (o.0, e.0));
            (name.to_owned(), part.partition, part.error, found)
        });
        parts.collect::<Vec<_>>()
    };
    let orders = |error, found| vec![("orders".to_owned(), 0, error, found)];
    let refused = orders(ErrorCode::InvalidRequest, None);
    for (timestamp, answer) in [
        (wire::LATEST_TIMESTAMP, orders(ErrorCode::None, Some((2, 0)))),
        (wire::EARLIEST_TIMESTAMP, orders(ErrorCode::None, Some((0, 0)))),
        (-3, refused.clone()),
        (0, refused.clone()),
        (NOW, refused.clone()),
        (i64::MIN, refused.clone()),
    ] {
        assert_eq!(listed(None, &[("orders", 0, timestamp)]), answer, "{timestamp}");
    }
    // A follower would take a consumer's end for the end of the log.
    let latest = wire::LATEST_TIMESTAMP;
    assert_eq!(listed(Some(BrokerId(2)), &[("orders", 0, latest)]), refused);
    let unknown = ErrorCode::UnknownTopicOrPartition;
    let parts = [("bills", 0, -1), ("orders", 0, -1), ("orders", 0, -2), ("orders", 7, 5)];
    let expected = [
        ("orders".to_owned(), 0, ErrorCode::None, Some((2, 0))),
        ("orders".to_owned(), 0, ErrorCode::InvalidRequest, None),
        ("orders".to_owned(), 7, unknown, None),
        ("bills".to_owned(), 0, unknown, None),
    ];
    assert_eq!(listed(None, &parts), expected);
    assert_eq!(listed(None, &parts[..1]), expected[3..]);
    assert_eq!(listed(None, &[]), []);
    let out = receive(&mut pair[1], CLIENT, Way::Request, &list_frame(None, &parts[1..2]));
    let answer = only(out, CLIENT, Way::Response);
    let response = wire::decode_response(&answer).unwrap();
    let response: wire::ListOffsetsResponse<'_> = response.body().unwrap();
    assert_eq!(response.topics[0].partitions[0].error, ErrorCode::NotLeaderOrFollower);
}

proptest! {
    /// Whatever bytes come, from whomever: no panic, and an error leaves the node as it was.
    #[test]
    fn no_bytes_break_a_node(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        which in 0..4usize,
    ) {
        let (mut pair, fetch) = pair();
        produce(&mut pair[0], 1, "x");
        let out = receive(&mut pair[0].clone(), Peer::Broker(BrokerId(2)), Way::Request, &fetch);
        let answer = only(out, Peer::Broker(BrokerId(2)), Way::Response);
        let (at, from, way, mut frame) = match which {
            0 => (0, Peer::Broker(BrokerId(2)), Way::Request, fetch),
            1 => (1, Peer::Broker(BrokerId(1)), Way::Response, answer),
            2 => (0, CLIENT, Way::Request, list_frame(None, &[("orders", 0, -1)])),
            _ => (0, CLIENT, Way::Request, produce_frame(-1, &[("orders", 0, &batch("y"))])),
        };
        for (index, byte) in changes {
            *index.get_mut(&mut frame) = byte;
        }
        let before = pair[at].clone();
        let mut out = Vec::new();
        match pair[at].receive(from, way, &frame, NOW, &mut out) {
            Ok(()) | Err(NodeError::CorruptBatch { .. }) => {}
            Err(_) => {
                prop_assert_eq!(&pair[at], &before);
                prop_assert_eq!(out, vec![]);
            }
        }
    }
}
