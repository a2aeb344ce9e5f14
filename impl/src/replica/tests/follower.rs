//! A follower's rules, one by one.

use super::harness::World;
use crate::controller::ControllerInput;
use crate::replica::Role;
use crate::replica::io::{
    BatchShape, BrokerState, Effect, FetchAnswer, FetchRequest, Input, MetadataImage, StoreWhen,
};
use crate::types::{BrokerEpoch, BrokerId, Epoch, ErrorCode, Offset, PartitionEpoch};

fn batch(base: u64, next: u64, epoch: i32) -> BatchShape {
    BatchShape { base: Offset(base), next: Offset(next), epoch: Epoch(epoch) }
}

fn good(hw: u64, batches: &[BatchShape]) -> FetchAnswer {
    let (hw, log_start) = (Some(Offset(hw)), Some(Offset(0)));
    let batches = batches.to_vec();
    FetchAnswer { error: ErrorCode::None, hw, log_start, diverging: None, batches }
}

/// The answer to the newest fetch of broker 2, from broker 1, given to the core alone: what comes
/// of it, the fetch at the end left out.
fn answer(w: &World, answer: FetchAnswer) -> (Vec<Effect>, (u64, u64)) {
    let mut replica = w.node(2).replica.clone();
    let (_, request) = w.node(2).fetch.unwrap();
    let (now_ms, from) = (w.now, BrokerId(1));
    let mut effects = vec![];
    replica.step(Input::FetchAnswer { now_ms, from, request, answer }, &mut effects);
    match effects.pop() {
        Some(Effect::SendFetch { fetch, .. }) => assert_eq!(fetch.offset, replica.leo()),
        other => panic!("each answer is followed by a fetch, not by {other:?}"),
    }
    (effects, (replica.leo().0, replica.hw().0))
}

/// Broker 2 follows broker 1 in epoch 0 with two records, the first one known to be committed.
fn following() -> World {
    let mut w = World::new(2, 1);
    for _ in 0..2 {
        w.produce(1, 1);
        w.round(2);
    }
    assert_eq!(w.at(2), (2, 1));
    w
}

fn image_with(w: &World, change: impl Fn(&mut MetadataImage)) -> Input {
    let mut image = w.controller.image();
    change(&mut image);
    Input::Metadata { now_ms: w.now, image }
}

#[test]
fn it_asks_a_new_leader_at_once_and_cuts_nothing_by_itself() {
    let mut w = following();
    w.move_leader(2);
    w.move_leader(1);
    let effects = w.apply(2);
    let [Effect::SendFetch { to, fetch }] = effects[..] else { panic!("{effects:?}") };
    assert_eq!((to, fetch.current_epoch), (BrokerId(1), Some(Epoch(2))), "M2: the epoch grew");
    assert_eq!((fetch.offset, fetch.last_fetched_epoch), (Offset(2), Some(Epoch(0))));
    assert_eq!(fetch.broker_epoch, Some(BrokerEpoch(2)));
    assert_eq!(w.at(2), (2, 1), "M4");
    w.control(ControllerInput::ChangeMinIsr { min_isr: 2 });
    assert_eq!(w.apply(2), [], "the same epoch: the fetch that is out stays out");
    let known = w.node(2).replica.registration().unwrap();
    assert_eq!((known.min_isr, known.partition_epoch), (2, PartitionEpoch(3)));
}

#[test]
fn without_a_leader_nothing_is_asked() {
    let mut w = following();
    let leaderless = image_with(&w, |image| {
        image.partition.leader = None;
        image.partition.leader_epoch = Epoch(1);
        image.partition.partition_epoch = PartitionEpoch(1);
    });
    assert_eq!(w.step(2, leaderless), []);
    assert_eq!(w.node(2).replica.role(), &Role::Follower);
    let (_, request) = w.node(2).fetch.unwrap();
    let (now_ms, from) = (w.now, BrokerId(1));
    let late = Input::FetchAnswer { now_ms, from, request, answer: good(2, &[]) };
    assert_eq!(w.step(2, late), []);
}

/// The answer to `request` as if `from` had sent it; what broker `id` does about it.
fn hand(w: &mut World, id: i32, from: i32, request: FetchRequest) -> Vec<Effect> {
    let (now_ms, answer) = (w.now, good(2, &[batch(2, 3, 0)]));
    w.step(id, Input::FetchAnswer { now_ms, from: BrokerId(from), request, answer })
}

#[test]
fn an_answer_stands_only_for_this_epoch_this_leader_and_this_leo() {
    let mut w = following();
    let (_, request) = w.node(2).fetch.unwrap();
    let before = w.node(2).replica.clone();
    for current_epoch in [None, Some(Epoch(1)), Some(Epoch(-1))] {
        let request = FetchRequest { current_epoch, ..request };
        assert_eq!(hand(&mut w, 2, 1, request), []);
        let from = BrokerId(1);
        assert_eq!(w.step(2, Input::FetchLost { from, request }), []);
    }
    for offset in [0, 1, 3].map(Offset) {
        assert_eq!(hand(&mut w, 2, 1, FetchRequest { offset, ..request }), []);
    }
    for from in [0, 2, 3] {
        assert_eq!(hand(&mut w, 2, from, request), []);
    }
    assert_eq!(w.node(2).replica, before);
    assert_eq!(hand(&mut w, 1, 1, request), [], "a leader has asked nobody");
    let from = BrokerId(1);
    let effects = w.step(2, Input::FetchLost { from, request });
    assert_eq!(effects, [Effect::SendFetch { to: from, fetch: request }]);
}

#[test]
fn an_error_is_asked_again() {
    let w = following();
    for error in [
        ErrorCode::UnknownLeaderEpoch,
        ErrorCode::FencedLeaderEpoch,
        ErrorCode::NotLeaderOrFollower,
        ErrorCode::OffsetOutOfRange,
        ErrorCode::KafkaStorageError,
    ] {
        let mut refused = good(2, &[batch(2, 3, 0)]);
        refused.error = error;
        refused.diverging = Some((Epoch(0), Offset(0)));
        assert_eq!(answer(&w, refused), (vec![], (2, 1)), "{error:?}");
    }
}

#[test]
fn the_watermark_rises_to_what_both_know_and_never_falls_here() {
    let w = following();
    for (hw, batches, expected) in [
        (0, vec![], (2, 1)),
        (1, vec![], (2, 1)),
        (2, vec![], (2, 2)),
        (9, vec![], (2, 2)),
        (2, vec![batch(2, 3, 0)], (3, 2)),
        (9, vec![batch(2, 3, 0)], (3, 3)),
    ] {
        assert_eq!(answer(&w, good(hw, &batches)).1, expected);
    }
    let mut silent = good(0, &[]);
    silent.hw = None;
    assert_eq!(answer(&w, silent).1, (2, 1));
}

#[test]
fn the_watermark_of_a_diverging_answer_is_not_taken() {
    let w = following();
    let mut parting = good(2, &[]);
    parting.diverging = Some((Epoch(0), Offset(1)));
    let (effects, at) = answer(&w, parting);
    assert_eq!(effects, [Effect::Truncate { to: Offset(1) }]);
    assert_eq!(at, (1, 1));
    let mut deeper = good(2, &[]);
    deeper.diverging = Some((Epoch(0), Offset(0)));
    let (effects, at) = answer(&w, deeper);
    assert_eq!(at, (0, 0), "only a truncation lowers it");
    let (entries, when) = (vec![], StoreWhen::Lazily);
    assert_eq!(effects[1], Effect::StoreEpochs { entries, when });
}

#[test]
fn batches_of_an_epoch_above_mine_are_left_out_with_all_that_follow() {
    let w = following();
    let sent = [batch(2, 3, 0), batch(3, 4, 1), batch(4, 5, 1)];
    let (effects, at) = answer(&w, good(9, &sent));
    assert_eq!(effects, [Effect::AppendReplicated { batches: sent[..1].to_vec() }]);
    assert_eq!(at, (3, 3));
    assert_eq!(answer(&w, good(2, &sent[1..])).0, [], "even the first");
}

#[test]
fn new_epochs_are_stored_before_their_records() {
    let mut w = following();
    w.move_leader(2);
    w.move_leader(1);
    w.apply(2);
    let sent = [batch(2, 3, 0), batch(3, 4, 1), batch(4, 6, 2)];
    let (effects, at) = answer(&w, good(0, &sent));
    let entries = vec![(Epoch(0), Offset(0)), (Epoch(1), Offset(3)), (Epoch(2), Offset(4))];
    let stored = Effect::StoreEpochs { entries, when: StoreWhen::BeforeNext };
    assert_eq!(effects, [stored, Effect::AppendReplicated { batches: sent.to_vec() }]);
    assert_eq!(at, (6, 1));
}

#[test]
fn what_no_leader_could_have_sent_is_not_taken() {
    let w = following();
    for (why, batches) in [
        ("a gap", vec![batch(3, 4, 0)]),
        ("an overlap", vec![batch(1, 3, 0)]),
        ("a gap between two", vec![batch(2, 3, 0), batch(4, 5, 0)]),
        ("an empty batch", vec![batch(2, 2, 0)]),
        ("a batch that ends before it begins", vec![batch(2, 1, 0)]),
        ("an offset beyond the wire", vec![batch(2, u64::MAX, 0)]),
        ("no epoch", vec![batch(2, 3, -1)]),
    ] {
        assert_eq!(answer(&w, good(9, &batches)), (vec![], (2, 1)), "{why}");
    }
    let mut w = following();
    w.move_leader(2);
    w.move_leader(1);
    w.apply(2);
    let falling = [batch(2, 3, 1), batch(3, 4, 0)];
    assert_eq!(answer(&w, good(9, &falling)), (vec![], (2, 1)), "falling epochs");
}

#[test]
fn a_log_that_ends_before_the_leaders_begins_starts_over_there() {
    let w = following();
    for (start, expected) in [(3, (3, 3)), (2, (2, 1)), (u64::MAX, (2, 1))] {
        let mut refused = good(9, &[]);
        refused.error = ErrorCode::OffsetOutOfRange;
        refused.log_start = Some(Offset(start));
        let (effects, at) = answer(&w, refused);
        assert_eq!(at, expected, "log start {start}");
        assert_eq!(effects.is_empty(), expected == (2, 1));
    }
}

#[test]
fn the_log_start_follows_the_leaders() {
    let mut w = following();
    w.round(2);
    w.step(1, Input::AdvanceLogStart { to: Offset(1) });
    w.round(2);
    let log = w.node(2).replica.log();
    assert_eq!((log.start, log.epochs.entries()), (Offset(1), &[(Epoch(0), Offset(1))][..]));
    // Never above the watermark, never back.
    for to in [0, 1, 3] {
        assert_eq!(w.step(1, Input::AdvanceLogStart { to: Offset(to) }), []);
    }
}

#[test]
fn below_its_own_log_start_nothing_of_the_log_is_left() {
    let mut w = following();
    w.round(2);
    w.step(2, Input::AdvanceLogStart { to: Offset(2) });
    let mut parting = good(2, &[]);
    parting.diverging = Some((Epoch(0), Offset(1)));
    let (effects, at) = answer(&w, parting);
    assert_eq!(effects[0], Effect::TruncateFully { start_at: Offset(1) });
    assert_eq!(at, (1, 1));
}

#[test]
fn into_an_empty_log_a_batch_comes_whole() {
    let mut w = World::new(2, 1);
    let (_, request) = w.node(2).fetch.unwrap();
    let mut refused = good(9, &[]);
    refused.error = ErrorCode::OffsetOutOfRange;
    refused.log_start = Some(Offset(5));
    let (now_ms, from) = (w.now, BrokerId(1));
    w.step(2, Input::FetchAnswer { now_ms, from, request, answer: refused });
    assert_eq!(w.at(2), (5, 5));
    let mut whole = good(8, &[batch(3, 8, 0)]);
    whole.log_start = Some(Offset(5));
    let (effects, at) = answer(&w, whole);
    assert_eq!(effects[0], Effect::TruncateFully { start_at: Offset(3) });
    assert!(matches!(effects[3], Effect::AppendReplicated { .. }), "{effects:?}");
    assert_eq!(effects[4], Effect::AdvanceLogStart { to: Offset(5) });
    assert_eq!(at, (8, 8));
}

#[test]
fn a_restarted_broker_resumes_no_epoch() {
    let mut w = World::new(1, 1);
    w.produce(1, 1);
    let old = w.images.len() - 1;
    w.crash(1);
    w.unfence(1);
    assert_eq!(w.apply_image(1, old), [], "older than its registration");
    assert_eq!(w.node(1).replica.role(), &Role::Idle);
    w.apply(1);
    assert_eq!(w.node(1).replica.registration().unwrap().leader_epoch, Epoch(2));
    assert!(w.node(1).replica.leader().is_some());

    // Not even if the metadata says so: records of that epoch are in the log already.
    w.produce(1, 1);
    w.restart(1);
    assert_eq!(w.apply(1), []);
    assert_eq!(w.node(1).replica.role(), &Role::Idle);
}

/// One thing wrong with an image.
type Break = fn(&mut MetadataImage);

#[test]
fn an_image_that_no_controller_wrote_is_not_acted_on() {
    let w = following();
    let breaks: [(&str, Break); 9] = [
        ("a replica twice", |i| {
            i.partition.replicas.push(BrokerId(1));
        }),
        ("no minimum", |i| i.partition.min_isr = 0),
        ("a member outside", |i| {
            i.partition.isr.extend([BrokerId(9)]);
        }),
        ("the leader not a member", |i| {
            i.partition.isr.retain(|&id| id == BrokerId(2));
        }),
        ("a negative leader epoch", |i| {
            i.partition.leader_epoch = Epoch(-1);
        }),
        ("another leader in the same epoch", |i| {
            i.partition.leader = Some(BrokerId(2));
        }),
        ("the partition epoch gone back", |i| {
            i.partition.partition_epoch = PartitionEpoch(0);
        }),
        ("another life of mine", |i| {
            let epoch = BrokerEpoch(7);
            i.brokers.get_mut(&BrokerId(2)).unwrap().epoch = epoch;
        }),
        ("me unknown", |i| {
            i.brokers.retain(|&id, _| id == BrokerId(1));
        }),
    ];
    for (why, change) in breaks {
        let mut replica = w.node(2).replica.clone();
        let input = image_with(&w, |image| {
            image.partition.partition_epoch = PartitionEpoch(1);
            image.brokers.get_mut(&BrokerId(1)).unwrap().state = BrokerState::ShuttingDown;
            change(image);
        });
        let before = replica.registration().cloned();
        let mut effects = vec![];
        replica.step(input, &mut effects);
        assert_eq!((effects, replica.registration().cloned()), (vec![], before), "{why}");
    }
}

#[test]
fn joining_and_leaving_the_assignment_in_one_epoch() {
    let mut w = World::new(3, 1);
    let (_, request) = w.node(3).fetch.unwrap();
    let without = image_with(&w, |image| {
        image.partition.replicas.pop();
        image.partition.isr.remove(&BrokerId(3));
        image.partition.partition_epoch = PartitionEpoch(1);
    });
    assert_eq!(w.step(3, without.clone()), []);
    assert_eq!(w.node(3).replica.role(), &Role::Idle);
    w.step(1, without);
    assert_eq!(w.ask(1, request).error, ErrorCode::UnknownLeaderEpoch, "F3");
    let again = image_with(&w, |image| {
        image.partition.partition_epoch = PartitionEpoch(2);
    });
    assert!(matches!(w.step(3, again.clone())[..], [Effect::SendFetch { .. }]));
    w.step(1, again);
    assert_eq!(w.ask(1, request).error, ErrorCode::None);
}
