//! Public faults of replicated logs, as scripts with the right outcome (bug numbers in the names'
//! comments; rules in kind).

use super::harness::World;
use crate::controller::ControllerInput;
use crate::replica::io::{AlterPartitionAnswer, Effect, FetchAnswer, FetchRequest, Input};
use crate::replica::isr::Membership;
use crate::types::{BrokerEpoch, BrokerId, Epoch, ErrorCode, Offset};
use std::collections::BTreeSet;

fn ids(of: &[i32]) -> BTreeSet<BrokerId> {
    of.iter().map(|&id| BrokerId(id)).collect()
}

fn committed(of: &[i32]) -> Membership {
    Membership::Committed { isr: ids(of) }
}

/// Two brokers with `records` records on both, all committed on both.
fn pair_with(records: usize) -> World {
    let mut w = World::new(2, 1);
    for _ in 0..records {
        w.produce(1, 1);
        w.round(2);
    }
    w.round(2);
    assert_eq!((w.at(1), w.at(2)), ((records as u64, records as u64), w.at(1)));
    w
}

/// Two brokers, the second out of the ISR, one record committed by the first alone.
fn leader_alone() -> World {
    let mut w = World::new(2, 1);
    w.produce(1, 1);
    w.shrink(1);
    assert_eq!(w.leader(1).isr.membership, committed(&[1]));
    assert_eq!(w.at(1), (1, 1));
    w
}

#[test]
fn knowledge_of_committed_lags_one_round() {
    let mut w = World::new(2, 2);
    for round in 1..=4 {
        w.produce(1, 1);
        let told = w.round(2);
        let shipped = told.read.map_or(0, |r| r.upto.0 - r.from.0);
        assert_eq!(w.at(1), (round, round - 1));
        assert_eq!(w.at(2), (round, round - 1));
        assert_eq!((shipped, told.hw), (1, Some(Offset(round - 1))));
    }
    let mut w = World::new(2, 2);
    w.produce(1, 1);
    w.round(2);
    assert_eq!((w.at(1), w.at(2)), ((1, 0), (1, 0)));
    let told = w.round(2);
    assert_eq!((w.at(1), w.at(2), told.read), ((1, 1), (1, 1), None));
}

#[test]
fn b07_an_answer_of_an_older_epoch_truncates_nothing() {
    let mut w = World::new(3, 1);
    w.move_leader(2);
    (1..=3).for_each(|id| drop(w.apply(id)));
    for _ in 0..3 {
        w.produce(2, 1);
    }
    w.round(1);
    for _ in 0..2 {
        w.produce(2, 1);
    }
    w.round(3);
    assert_eq!((w.at(1).0, w.at(2).0, w.at(3).0), (3, 5, 5));

    w.move_leader(1);
    w.apply(1);
    w.apply(2);
    let told = w.deliver_fetch(2);
    assert_eq!(told.diverging, Some((Epoch(1), Offset(3))));
    let late = w.node(2).reply.clone().unwrap();

    w.move_leader(3);
    w.apply(3);
    w.apply(2);
    let now_ms = w.now;
    for from in [1, 3] {
        let (from, request, answer) = (BrokerId(from), late.request, late.answer.clone());
        let effects = w.step(2, Input::FetchAnswer { now_ms, from, request, answer });
        assert_eq!((effects, w.at(2).0), (vec![], 5), "dropped without a word");
    }
    w.deliver_fetch(2);
    assert!(w.node(2).reply.as_ref().unwrap().answer.diverging.is_none());
}

/// Broker 2 has five records, knows an answer that says to cut to three, and leads by now.
#[test]
fn b10_a_broker_that_leads_by_now_is_not_cut_by_a_late_answer() {
    let mut w = World::new(2, 1);
    w.move_leader(2);
    (1..=2).for_each(|id| drop(w.apply(id)));
    for n in 0..5 {
        w.produce(2, 1);
        if n == 2 {
            w.round(1);
        }
    }
    w.move_leader(1);
    (1..=2).for_each(|id| drop(w.apply(id)));
    assert_eq!(w.deliver_fetch(2).diverging, Some((Epoch(1), Offset(3))));
    let late = w.node(2).reply.clone().unwrap();

    w.move_leader(2);
    (1..=2).for_each(|id| drop(w.apply(id)));
    for _ in 0..4 {
        w.round(1);
    }
    assert_eq!((w.at(1), w.at(2)), ((5, 5), (5, 5)), "all five are committed");
    let (now_ms, before) = (w.now, w.node(2).replica.clone());
    let epochs = [late.request.current_epoch, Some(Epoch(3))];
    for (from, current_epoch) in [1, 2].map(BrokerId).into_iter().zip(epochs) {
        let request = FetchRequest { current_epoch, ..late.request };
        let answer = late.answer.clone();
        let effects = w.step(2, Input::FetchAnswer { now_ms, from, request, answer });
        assert_eq!(effects, [], "from {from}, made in {current_epoch:?}");
        assert_eq!(w.node(2).replica, before);
    }
}

#[test]
fn b14_a_diverging_fetch_is_not_an_ack() {
    let mut w = World::new(2, 1);
    for _ in 0..3 {
        w.produce(1, 1);
    }
    w.move_leader(2);
    w.apply(2);
    for _ in 0..5 {
        w.produce(2, 1);
    }
    w.apply(1);
    let told = w.deliver_fetch(1);
    assert_eq!((told.error, told.diverging), (ErrorCode::None, Some((Epoch(0), Offset(0)))));
    assert_eq!(told.read, None, "no records with it");
    assert_eq!(w.leader(2).isr.followers[&BrokerId(1)].leo, None);
    assert_eq!(w.at(2), (5, 0));
    w.deliver_reply(1);
    assert_eq!(w.at(1), (0, 0));
    w.round(1);
    w.round(1);
    assert_eq!((w.at(1), w.at(2)), ((5, 5), (5, 5)));
    assert_eq!(w.node(1).records, w.node(2).records);
}

#[test]
fn b18_an_epoch_without_records_ends_the_one_before() {
    let mut w = pair_with(1);
    w.move_leader(2);
    w.apply(2);
    w.produce(2, 1);
    w.fence(2);
    w.apply(1);
    assert_eq!(w.node(1).replica.log().epochs.latest(), Some(Epoch(2)), "no record of it yet");

    w.crash(2);
    w.apply(2);
    assert_eq!(w.node(2).fetch.unwrap().1.last_fetched_epoch, Some(Epoch(1)));
    let told = w.round(2);
    assert_eq!(told.diverging, Some((Epoch(0), Offset(1))));
    assert_eq!(w.at(2).0, 1, "the record that was not committed is gone, the other is not");
    assert_eq!(w.round(2).error, ErrorCode::None);
    assert_eq!(w.node(1).records, w.node(2).records);
}

#[test]
fn b19_an_entry_without_records_is_dropped_and_costs_one_round() {
    let mut w = pair_with(5);
    w.move_leader(2);
    w.apply(2);
    w.move_leader(1);
    w.apply(1);
    w.apply(2);
    let told = w.deliver_fetch(2);
    assert_eq!(told.diverging, Some((Epoch(0), Offset(5))));
    let effects = w.deliver_reply(2);
    assert!(!effects.iter().any(|e| matches!(e, Effect::Truncate { .. })));
    assert_eq!((w.at(2), w.node(2).replica.log().epochs.latest()), ((5, 5), Some(Epoch(0))));
    assert_eq!(w.round(2).diverging, None);
}

#[test]
fn b28_a_leader_that_has_moved_past_me_is_no_reason_to_start_over() {
    let mut w = pair_with(2);
    for log_start in [None, Some(0), Some(1), Some(2)] {
        let (_, request) = w.node(2).fetch.unwrap();
        let (error, log_start) = (ErrorCode::OffsetOutOfRange, log_start.map(Offset));
        let (hw, diverging, batches) = (Some(Offset(105)), None, vec![]);
        let answer = FetchAnswer { error, hw, log_start, diverging, batches };
        let (now_ms, from) = (w.now, BrokerId(1));
        let effects = w.step(2, Input::FetchAnswer { now_ms, from, request, answer });
        assert!(matches!(effects[..], [Effect::SendFetch { .. }]), "{effects:?}");
        assert_eq!(w.at(2), (2, 2));
    }
}

#[test]
fn b32_to_join_is_to_have_reached_the_begin_of_the_epoch() {
    let mut w = World::new(3, 1);
    w.produce(1, 1);
    for _ in 0..2 {
        w.round(2);
        w.round(3);
    }
    w.produce(1, 1);
    w.round(2);
    w.now += 30_001;
    w.round(2);
    w.tick(1);
    w.decide();
    w.hear(1);
    assert_eq!((w.at(1), w.at(2), w.at(3).0), ((2, 2), (2, 1), 1));

    w.move_leader(2);
    w.apply(2);
    w.apply(3);
    w.deliver_fetch(3);
    assert_eq!(w.at(2), (2, 1), "the first replica is silent");
    assert_eq!(w.leader(2).isr.followers[&BrokerId(3)].leo, Some(Offset(1)), "at the watermark");
    assert_eq!(w.proposals, [], "but below the begin of the epoch");
    w.deliver_reply(3);
    w.deliver_fetch(3);
    assert_eq!(w.proposals.len(), 1);
}

#[test]
fn b33_a_proposed_member_counts_from_the_moment_of_asking() {
    let mut w = leader_alone();
    w.round(2);
    w.round(2);
    assert_eq!(w.leader(1).isr.membership.maximal(), ids(&[1, 2]));
    w.decide();
    let lost = w.decisions.pop();
    assert!(matches!(lost, Some((_, AlterPartitionAnswer::Accepted { .. }))));
    let m = w.produce(1, -1);
    assert_eq!((w.at(1), w.error_of(1, m)), ((2, 1), None));
    w.round(2);
    assert_eq!(w.error_of(1, m), None);
    w.round(2);
    assert_eq!((w.at(1), w.error_of(1, m)), ((2, 2), Some(ErrorCode::None)));
}

#[test]
fn b33_a_member_to_be_removed_counts_until_it_is() {
    let mut w = World::new(2, 1);
    let m = w.produce(1, -1);
    w.now += 30_001;
    w.tick(1);
    assert_eq!(w.proposals.len(), 1);
    assert_eq!((w.at(1), w.error_of(1, m)), ((1, 0), None));
    w.tick(1);
    w.complete(1);
    assert_eq!((w.at(1).1, w.proposals.len()), (0, 1), "one proposal at a time");
}

#[test]
fn b35_an_accepted_change_is_enough_to_commit() {
    let mut w = World::new(2, 1);
    let m = w.produce(1, -1);
    w.shrink(1);
    assert_eq!((w.at(1), w.error_of(1, m)), ((1, 1), Some(ErrorCode::None)));
}

#[test]
fn b36_an_answer_is_for_its_own_proposal_and_an_equal_version_is_success() {
    let mut w = World::new(2, 1);
    w.produce(1, 1);
    w.now += 30_001;
    w.tick(1);
    w.decide();
    // The metadata is faster than the answer.
    w.apply(1);
    assert_eq!(w.leader(1).isr.membership, committed(&[1]));
    w.round(2);
    w.round(2);
    assert_eq!(w.proposals, [], "the first one's answer is still on its way (S3)");
    let (old, answer) = w.decisions[0].clone();
    w.hear(1);
    assert_eq!(w.leader(1).isr.membership, committed(&[1]));
    w.round(2);
    assert_eq!(w.proposals.len(), 1);
    w.hear_of(1, old, answer);
    let Membership::Pending { proposal, .. } = &w.leader(1).isr.membership else {
        panic!("an old answer was taken for the new proposal");
    };
    // The controller answers with the version it already had: nothing had to be written.
    let proposal = proposal.clone();
    let answer = AlterPartitionAnswer::Accepted {
        leader: Some(BrokerId(1)),
        leader_epoch: proposal.leader_epoch,
        partition_epoch: proposal.partition_epoch,
        isr: ids(&[1, 2]),
    };
    w.hear_of(1, proposal, answer);
    assert_eq!(w.leader(1).isr.membership, committed(&[1, 2]));
}

#[test]
fn b39_nobody_waits_for_one_that_may_not_join() {
    let mut w = World::new(3, 2);
    w.round(2);
    w.round(3);
    w.control(ControllerInput::ShutDown { broker: BrokerId(3), epoch: BrokerEpoch(3) });
    w.apply(1);
    let m = w.produce(1, -1);
    w.round(2);
    w.round(2);
    assert_eq!((w.at(1), w.error_of(1, m)), ((1, 1), Some(ErrorCode::None)));
}

/// One of nine things that can happen to a leader's ISR, or to the controller's.
fn turn(w: &mut World, nth: usize) {
    match nth {
        0 => {
            w.round(2);
        }
        1 => {
            w.now += 30_001;
            w.tick(1);
        }
        2 if !w.proposals.is_empty() => w.decide(),
        3 if !w.decisions.is_empty() => {
            w.hear(1);
        }
        4 if !w.decisions.is_empty() => {
            let (proposal, _) = w.decisions.remove(0);
            w.hear_of(1, proposal, AlterPartitionAnswer::Lost);
        }
        5 => {
            w.apply(1);
        }
        6 => w.fence(2),
        7 => w.unfence(2),
        8 => {
            let min_isr = 3 - w.controller.partition().min_isr;
            w.control(ControllerInput::ChangeMinIsr { min_isr });
        }
        _ => {}
    }
}

/// Every order of five turns. Whatever the leader holds for committed is what the controller wrote
/// under the version that the leader names, and the leader has it when it has heard all.
#[test]
fn b43_one_version_of_the_registration_has_one_isr() {
    let mut followed = 0;
    for number in 0..9_usize.pow(5) {
        let mut w = leader_alone();
        for nth in 0..5 {
            turn(&mut w, number / 9_usize.pow(nth) % 9);
            let known = w.node(1).replica.registration().unwrap();
            let version = known.partition_epoch;
            let written = w.images.iter().filter(|i| i.partition.partition_epoch == version);
            let written: BTreeSet<_> = written.map(|image| &image.partition.isr).collect();
            let held = w.leader(1).isr.membership.committed();
            assert_eq!(written, BTreeSet::from([held]), "version {version:?} of {number}");
        }
        followed += usize::from(w.leader(1).isr.membership.committed() == &ids(&[1, 2]));
        w.apply(1);
        assert_eq!(w.leader(1).isr.membership.committed(), &w.controller.partition().isr);
    }
    assert!(followed > 10, "2 came in {followed} times only");
}

#[test]
fn b47_a_new_life_does_not_join_on_the_word_of_the_old() {
    let mut w = leader_alone();
    w.round(2);
    w.deliver_fetch(2);
    assert_eq!(w.proposals[0].isr[1], (BrokerId(2), Some(BrokerEpoch(2))));
    w.fence(2);
    let (broker, clean_shutdown) = (BrokerId(2), None);
    w.control(ControllerInput::Register { broker, clean_shutdown });
    w.unfence(2);
    w.decide();
    let answer = w.hear(1);
    assert_eq!(answer, AlterPartitionAnswer::Refused(ErrorCode::IneligibleReplica));
    assert_eq!(w.controller.partition().isr, ids(&[1]));
    assert_eq!(w.leader(1).isr.membership, committed(&[1]));
    // And once the leader knows the new life, the old one cannot speak for it (U1).
    let (_, stale) = (1, w.node(2).reply.as_ref().unwrap().request);
    w.apply(1);
    let before = w.leader(1).clone();
    assert_eq!(w.ask(1, stale).error, ErrorCode::NotLeaderOrFollower);
    assert_eq!(w.leader(1), &before);
}

/// Each order of these: a fetch of the old life of broker 2, from the high watermark; a fetch of
/// its new life, whose disk is empty; the leader hears of the new life. The new life is proposed
/// only when it has fetched from the high watermark itself.
#[test]
fn b48_a_new_life_does_not_join_by_what_the_old_one_had() {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let mut proposed_old = 0;
    for order in orders {
        let mut w = leader_alone();
        w.round(2);
        let (_, stale) = w.node(2).fetch.unwrap();
        assert_eq!((stale.offset, stale.broker_epoch), (Offset(1), Some(BrokerEpoch(2))));
        w.crash(2);
        w.unfence(2);
        let new = BrokerEpoch(3);
        let fresh = FetchRequest {
            broker_epoch: Some(new),
            offset: Offset(0),
            last_fetched_epoch: None,
            ..stale
        };
        for event in order {
            match event {
                0 => assert_eq!(w.ask(1, stale).diverging, None),
                1 => assert_eq!(w.ask(1, fresh).diverging, None),
                _ => drop(w.apply(1)),
            }
            let known = &w.leader(1).isr.followers[&BrokerId(2)];
            let mixed = (Some(stale.offset), Some(new));
            assert_ne!((known.leo, known.broker_epoch), mixed, "two lives in one: {order:?}");
            w.tick(1);
            let lives: Vec<_> = w.proposals.iter().flat_map(|p| &p.isr).collect();
            let life = |epoch| (BrokerId(2), Some(epoch));
            assert!(!lives.contains(&&life(new)), "{order:?}");
            if lives.contains(&&life(BrokerEpoch(2))) {
                proposed_old += 1;
                w.decide();
                let refused = AlterPartitionAnswer::Refused(ErrorCode::IneligibleReplica);
                assert_eq!(w.hear(1), refused, "{order:?}");
            }
            assert_eq!(w.controller.partition().isr, ids(&[1]));
        }
        w.apply(1);
        w.ask(1, FetchRequest { offset: Offset(1), ..fresh });
        assert_eq!(w.proposals[0].isr[1], (BrokerId(2), Some(new)), "{order:?}");
        w.decide();
        assert_eq!(w.controller.partition().isr, ids(&[1, 2]));
    }
    assert!(proposed_old > 0, "the old life was never believed");
}

#[test]
fn b49_a_fenced_broker_does_not_join() {
    let mut w = leader_alone();
    w.fence(2);
    // The leader does not know yet: it asks, is refused, and goes back.
    w.round(2);
    w.round(2);
    w.decide();
    assert_eq!(w.hear(1), AlterPartitionAnswer::Refused(ErrorCode::IneligibleReplica));
    assert_eq!(w.leader(1).isr.membership, committed(&[1]));
    // It knows: it does not ask.
    w.apply(1);
    w.round(2);
    assert_eq!(w.proposals, []);
    // Unfenced, it joins.
    w.unfence(2);
    w.apply(1);
    w.round(2);
    w.decide();
    w.hear(1);
    assert_eq!(w.controller.partition().isr, ids(&[1, 2]));
    assert_eq!(w.leader(1).isr.membership, committed(&[1, 2]));
}

/// Both ways for the leadership to leave broker 1 and to come back before it hears of either.
#[test]
fn b51_a_leader_that_was_away_unseen_leads_in_a_new_epoch() {
    let moved: fn(&mut World) = |w| [2, 1].into_iter().for_each(|to| w.move_leader(to));
    let fenced: fn(&mut World) = |w| {
        w.fence(2);
        w.fence(1);
        w.unfence(1);
    };
    for away in [moved, fenced] {
        let mut w = pair_with(1);
        away(&mut w);
        let now = w.controller.partition().clone();
        assert_eq!((now.leader, now.leader_epoch), (Some(BrokerId(1)), Epoch(2)));
        for pair in w.images.windows(2) {
            let [a, b] = [0, 1].map(|nth| &pair[nth].partition);
            assert_eq!(a.leader == b.leader, a.leader_epoch == b.leader_epoch, "{a:?}, {b:?}");
        }
        w.apply(1);
        assert_eq!(w.leader(1).isr.followers[&BrokerId(2)].leo, None, "of this epoch");
        w.produce(1, 1);
        let epochs = w.node(1).records.iter().map(|record| record.0);
        assert!(epochs.eq([Epoch(0), Epoch(2)]), "{:?}", w.node(1).records);
    }
}

#[test]
fn b52_an_offset_above_the_log_is_no_ack() {
    let mut w = World::new(2, 1);
    let m = w.produce(1, -1);
    let mut fetch = w.node(2).fetch.unwrap().1;
    for offset in [2, 3, u64::MAX] {
        fetch.offset = Offset(offset);
        for last in [None, Some(Epoch(0))] {
            fetch.last_fetched_epoch = last;
            let told = w.ask(1, fetch);
            let diverging = last.map(|epoch| (epoch, Offset(1)));
            let error = last.map_or(ErrorCode::OffsetOutOfRange, |_| ErrorCode::None);
            assert_eq!((told.error, told.diverging), (error, diverging));
        }
    }
    assert_eq!(w.leader(1).isr.followers[&BrokerId(2)].leo, None);
    assert_eq!((w.at(1), w.error_of(1, m)), ((1, 0), None));
}

#[test]
fn b70_a_produce_is_not_answered_out_of_another_epoch() {
    let mut w = pair_with(1);
    let c1 = w.produce(1, -1);
    w.move_leader(2);
    w.apply(2);
    w.produce(2, 1);
    w.apply(1);
    assert_eq!(w.answered[&c1], (ErrorCode::NotLeaderOrFollower, None), "in that very step");
    for _ in 0..3 {
        w.round(1);
    }
    assert_eq!(w.at(1), (2, 2), "the watermark gets there, with another record");

    // The same broker again, two epochs on, without having seen the one between.
    let mut w = pair_with(1);
    let c1 = w.produce(1, -1);
    w.move_leader(2);
    w.move_leader(1);
    w.apply(1);
    assert_eq!(w.answered[&c1].0, ErrorCode::NotLeaderOrFollower);
    assert!(w.leader(1).waiting.is_empty());
}
