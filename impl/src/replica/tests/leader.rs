//! A leader's answers, check by check.

use super::harness::{T0, Told, World};
use crate::replica::Role;
use crate::replica::fetch::{Isolation, check_epoch, isolation_of};
use crate::replica::io::{
    AlterPartitionAnswer, AlterPartitionRequest, Effect, FetchRequest, Input, OffsetSpec,
    ReadRange, RequestId,
};
use crate::replica::isr::Membership;
use crate::types::{BrokerEpoch, BrokerId, Epoch, ErrorCode, Offset, PartitionEpoch};
use std::collections::BTreeSet;

fn produce(acks: i16, records: u32) -> Input {
    let (now_ms, request) = (T0, RequestId(900));
    Input::Produce { now_ms, request, acks, records, timeout_ms: 1_000 }
}

/// The only answer among the effects, and how many appends there are.
fn answer(effects: &[Effect]) -> (Option<ErrorCode>, usize) {
    let of = |e: &Effect| match e {
        Effect::AnswerProduce { error, .. } => Some(*error),
        _ => None,
    };
    let appends = effects.iter().filter(|e| matches!(e, Effect::Append { .. })).count();
    (effects.iter().find_map(of), appends)
}

#[test]
fn acks_decides_when_the_answer_comes_and_never_what_is_written() {
    for (acks, at_once) in [(0, None), (1, Some(ErrorCode::None)), (-1, None)] {
        let mut w = World::new(2, 1);
        let effects = w.step(1, produce(acks, 1));
        assert_eq!(answer(&effects), (at_once, 1), "acks {acks}");
        assert!(matches!(effects[0], Effect::Append { base: Offset(0), .. }), "append first");
        assert_eq!(w.leader(1).waiting.len(), usize::from(acks == -1));
    }
}

#[test]
fn a_refused_produce_writes_nothing() {
    let mut alone = World::new(2, 2);
    alone.produce(1, 1);
    alone.shrink(1);
    let under_min = ErrorCode::NotEnoughReplicas;
    for (acks, records, error, appends) in [
        (2, 1, Some(ErrorCode::InvalidRequiredAcks), 0),
        (-2, 1, Some(ErrorCode::InvalidRequiredAcks), 0),
        (-1, 1, Some(under_min), 0),
        (1, 0, Some(ErrorCode::InvalidRequest), 0),
        (1, 1, Some(ErrorCode::None), 1),
        (0, 1, None, 1),
    ] {
        let before = alone.at(1).0;
        alone.answered.clear();
        let effects = alone.step(1, produce(acks, records));
        assert_eq!(answer(&effects), (error, appends), "acks {acks}, {records} records");
        assert_eq!(alone.at(1), (before + appends as u64, 0), "the watermark stands still (H1)");
    }
    for acks in [-1, 0, 1] {
        alone.answered.clear();
        let effects = alone.step(2, produce(acks, 1));
        assert_eq!(answer(&effects), (Some(ErrorCode::NotLeaderOrFollower), 0));
    }
    alone.answered.clear();
    let effects = alone.step(2, produce(7, 1));
    assert_eq!(answer(&effects), (Some(ErrorCode::InvalidRequiredAcks), 0), "A1 before A2");
}

#[test]
fn a_request_that_waits_already_is_not_taken_twice() {
    let mut w = World::new(2, 1);
    w.step(1, produce(-1, 1));
    let effects = w.step(1, produce(-1, 1));
    assert_eq!(answer(&effects), (Some(ErrorCode::InvalidRequest), 0));
}

#[test]
fn a_produce_waits_no_longer_than_it_said() {
    let mut w = World::new(2, 1);
    w.step(1, produce(-1, 1));
    w.now = T0 + 999;
    assert_eq!(answer(&w.tick(1)), (None, 0));
    w.now = T0 + 1_000;
    assert_eq!(answer(&w.tick(1)), (Some(ErrorCode::RequestTimedOut), 0));
    assert!(w.leader(1).waiting.is_empty());

    // One that is decided only waits to be told so.
    w.answered.clear();
    w.step(1, produce(-1, 1));
    w.round(2);
    w.round(2);
    w.now = T0 + 2_000;
    assert_eq!(answer(&w.tick(1)), (None, 0));
    assert_eq!(w.error_of(1, 900), Some(ErrorCode::None));
    assert_eq!(w.answered[&900].1, Some(Offset(1)));
}

#[test]
fn a_shrink_between_watermark_and_verdict_is_error_20() {
    let mut w = World::new(2, 2);
    let m = w.produce(1, -1);
    w.round(2);
    w.round(2);
    assert_eq!(w.at(1), (1, 1));
    w.produce(1, 1);
    w.shrink(1);
    assert_eq!(w.error_of(1, m), Some(ErrorCode::NotEnoughReplicasAfterAppend));
}

#[test]
fn the_isr_shrinks_one_millisecond_after_the_limit() {
    let mut w = World::new(2, 2);
    w.round(2);
    w.produce(1, 1);
    w.now = T0 + 30_000;
    assert_eq!(w.tick(1), []);
    w.now = T0 + 30_001;
    let effects = w.tick(1);
    let expected = AlterPartitionRequest {
        broker: BrokerId(1),
        broker_epoch: BrokerEpoch(1),
        leader_epoch: Epoch(0),
        partition_epoch: PartitionEpoch(0),
        isr: vec![(BrokerId(1), Some(BrokerEpoch(1)))],
    };
    assert_eq!(effects, [Effect::SendAlterPartition(expected)]);
    w.decide();
    w.hear(1);
    assert!(w.leader(1).isr.under_min_isr(2));
}

#[test]
fn a_clock_that_jumps_back_keeps_no_one_in_sync() {
    let mut w = World::new(2, 1);
    w.round(2);
    w.produce(1, 1);
    w.now = T0 - 3_600_000;
    w.tick(1);
    assert_eq!(w.proposals.len(), 1);
    let progress = w.leader(1).isr.followers[&BrokerId(2)];
    let stamps = (progress.last_caught_up_ms, progress.last_fetch_ms);
    assert_eq!(stamps, (None, None), "nor when the clock is there again (B108)");
}

fn follower_fetch(w: &World, id: i32) -> FetchRequest {
    w.node(id).fetch.expect("a fetch on its way").1
}

#[test]
fn the_checks_of_a_fetch_come_in_their_order() {
    let mut w = World::new(3, 1);
    w.move_leader(2);
    (1..=3).for_each(|id| drop(w.apply(id)));
    let fetch = follower_fetch(&w, 1);
    let (fenced, unknown) = (ErrorCode::FencedLeaderEpoch, ErrorCode::UnknownLeaderEpoch);
    let not_leader = ErrorCode::NotLeaderOrFollower;
    // F1 before F2 (KAFKA-14078): a follower asked by another compares epochs first.
    for (to, from, epoch, error) in [
        (3, 1, Some(0), fenced),
        (3, 1, Some(1), not_leader),
        (3, 1, Some(2), unknown),
        (3, 1, None, not_leader),
        (2, 1, Some(0), fenced),
        (2, 1, Some(1), ErrorCode::None),
        (2, 1, Some(2), unknown),
        (2, 1, None, ErrorCode::None),
        // F3: not in the assignment, and the leader itself is no follower of its own.
        (2, 9, Some(1), unknown),
        (2, 9, None, not_leader),
        (2, 9, Some(0), fenced),
        (2, 2, Some(1), unknown),
    ] {
        let replica_id = Some(BrokerId(from));
        let current_epoch = epoch.map(Epoch);
        let told = w.ask(to, FetchRequest { replica_id, current_epoch, ..fetch });
        assert_eq!(told.error, error, "{from} asks {to} with epoch {epoch:?}");
        if error != ErrorCode::None {
            let (hw, log_start, diverging, read) = (None, None, None, None);
            assert_eq!(told, Told { error, hw, log_start, diverging, read });
        }
    }
}

#[test]
fn every_epoch_is_newer_than_none() {
    let codes = [-1, 0, 1].map(|e| check_epoch(Some(Epoch(e)), Some(Epoch(0))));
    let fenced = Some(ErrorCode::FencedLeaderEpoch);
    assert_eq!(codes, [fenced, None, Some(ErrorCode::UnknownLeaderEpoch)]);
    assert_eq!(check_epoch(Some(Epoch(0)), None), Some(ErrorCode::UnknownLeaderEpoch));
    assert_eq!(check_epoch(None, Some(Epoch(0))), None);
}

#[test]
fn below_the_log_start_is_out_of_range_even_if_the_logs_part() {
    let mut w = World::new(2, 1);
    for _ in 0..3 {
        w.produce(1, 1);
        w.round(2);
    }
    w.round(2);
    w.step(1, Input::AdvanceLogStart { to: Offset(2) });
    w.move_leader(2);
    w.move_leader(1);
    w.apply(1);
    w.apply(2);
    let fetch = follower_fetch(&w, 2);
    let before = w.leader(1).clone();
    for (offset, last, error) in [
        (1, Some(2), ErrorCode::OffsetOutOfRange),
        (1, Some(1), ErrorCode::OffsetOutOfRange),
        (1, None, ErrorCode::OffsetOutOfRange),
        (4, None, ErrorCode::OffsetOutOfRange),
        (3, Some(3), ErrorCode::OffsetOutOfRange),
        (3, Some(-1), ErrorCode::OffsetOutOfRange),
        (3, Some(1), ErrorCode::None),
        (4, Some(2), ErrorCode::None),
    ] {
        let last_fetched_epoch = last.map(Epoch);
        let told = w.ask(1, FetchRequest { offset: Offset(offset), last_fetched_epoch, ..fetch });
        assert_eq!(told.error, error, "@{offset}, last epoch {last:?}");
        assert_eq!(told.diverging.is_some(), error == ErrorCode::None);
        assert_eq!((told.hw, told.log_start), (Some(Offset(3)), Some(Offset(2))));
        assert_eq!(w.leader(1), &before, "neither an error nor a diverging answer is an ack (F6)");
    }
}

#[test]
fn a_consumer_reads_what_is_committed_and_a_follower_all() {
    assert_eq!(isolation_of(Some(BrokerId(2))), Isolation::LogEnd);
    assert_eq!(isolation_of(None), Isolation::HighWatermark);
    let mut w = World::new(2, 1);
    w.produce(1, 1);
    w.round(2);
    w.produce(1, 1);
    w.deliver_fetch(2);
    assert_eq!(w.at(1), (2, 1));
    let read = |from, upto| Some(ReadRange { from: Offset(from), upto: Offset(upto) });
    assert_eq!(w.consume(1, 0).read, read(0, 1));
    for offset in [1, 2] {
        let told = w.consume(1, offset);
        assert_eq!((told.error, told.read), (ErrorCode::None, None), "empty, not an error (B72)");
    }
    assert_eq!(w.consume(1, 3).error, ErrorCode::OffsetOutOfRange);
    let before = w.leader(1).clone();
    w.consume(1, 2);
    assert_eq!(w.leader(1), &before, "a consumer acknowledges nothing");
    let fetch = w.node(2).reply.as_ref().unwrap().request;
    assert_eq!(w.ask(1, FetchRequest { offset: Offset(0), ..fetch }).read, read(0, 2));
}

#[test]
fn a_consumer_that_names_epochs_is_checked_like_a_follower() {
    let mut w = World::new(2, 1);
    w.produce(1, 1);
    w.move_leader(2);
    w.apply(2);
    let of_epoch_0 = FetchRequest {
        replica_id: None,
        broker_epoch: None,
        current_epoch: Some(Epoch(1)),
        offset: Offset(1),
        last_fetched_epoch: Some(Epoch(0)),
        log_start: Offset(0),
        max_bytes: 1,
    };
    assert_eq!(w.ask(2, of_epoch_0).diverging, Some((Epoch(0), Offset(0))), "F5");
}

#[test]
fn a_parked_fetch_is_no_news_of_its_follower() {
    let mut w = World::new(2, 1);
    let fetch = follower_fetch(&w, 2);
    w.ask(1, fetch);
    w.produce(1, 1);
    w.now += 30_001;
    let before = w.leader(1).clone();
    let request = RequestId(900);
    let effects = w.step(1, Input::Reread { request, fetch });
    assert!(matches!(effects[..], [Effect::AnswerFetch { read: Some(_), .. }]), "{effects:?}");
    assert_eq!(w.leader(1), &before);
    w.move_leader(2);
    w.apply(1);
    let effects = w.step(1, Input::Reread { request, fetch });
    assert_eq!(super::harness::told(&effects).error, ErrorCode::FencedLeaderEpoch);
}

#[test]
fn the_end_of_an_epoch_is_told_by_the_leader_only() {
    let mut w = World::new(2, 1);
    w.produce(1, 1);
    w.move_leader(2);
    w.apply(2);
    let end = |w: &mut World, id, current: Option<i32>, epoch| {
        let (request, current_epoch) = (RequestId(900), current.map(Epoch));
        let input = Input::EndOffset { request, current_epoch, epoch: Epoch(epoch) };
        match w.step(id, input)[..] {
            [Effect::AnswerEndOffset { error, end, .. }] => (error, end),
            ref other => panic!("{other:?}"),
        }
    };
    let found = |epoch, at| (ErrorCode::None, Some((Epoch(epoch), Offset(at))));
    assert_eq!(end(&mut w, 2, Some(1), 1), found(1, 0));
    assert_eq!(end(&mut w, 2, None, 0), found(0, 0));
    assert_eq!(end(&mut w, 2, None, 2), (ErrorCode::None, None));
    assert_eq!(end(&mut w, 2, Some(0), 1), (ErrorCode::FencedLeaderEpoch, None));
    assert_eq!(end(&mut w, 2, Some(2), 1), (ErrorCode::UnknownLeaderEpoch, None));
    w.apply(1);
    assert_eq!(end(&mut w, 1, Some(1), 1), (ErrorCode::NotLeaderOrFollower, None));
}

/// Error, offset and epoch of the answer to a question for an end of the log.
type Listed = (ErrorCode, Option<u64>, Option<i32>);

fn list(w: &mut World, id: i32, current: Option<i32>, wanted: OffsetSpec) -> Listed {
    let (request, current_epoch) = (RequestId(900), current.map(Epoch));
    match w.step(id, Input::ListOffset { request, current_epoch, wanted })[..] {
        [Effect::AnswerListOffset { request: RequestId(900), error, offset, epoch }] => {
            (error, offset.map(|offset| offset.0), epoch.map(|epoch| epoch.0))
        }
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn the_ends_of_the_log_are_told_by_the_leader_under_the_checks_of_a_fetch() {
    let mut w = World::new(2, 1);
    w.move_leader(2);
    w.apply(2);
    w.apply(1);
    for _ in 0..3 {
        w.produce(2, 1);
        w.round(1);
    }
    w.step(2, Input::AdvanceLogStart { to: Offset(1) });
    let refused = |error| (error, None, None);
    for (wanted, offset) in [(OffsetSpec::Latest, 2), (OffsetSpec::Earliest, 1)] {
        for (current, answer) in [
            (Some(1), (ErrorCode::None, Some(offset), Some(1))),
            (None, (ErrorCode::None, Some(offset), Some(1))),
            (Some(0), refused(ErrorCode::FencedLeaderEpoch)),
            (Some(2), refused(ErrorCode::UnknownLeaderEpoch)),
        ] {
            assert_eq!(list(&mut w, 2, current, wanted), answer, "{wanted:?}, {current:?}");
        }
        let not_leader = refused(ErrorCode::NotLeaderOrFollower);
        assert_eq!(list(&mut w, 1, Some(1), wanted), not_leader);
        assert_eq!(list(&mut w, 1, Some(0), wanted), refused(ErrorCode::FencedLeaderEpoch));
    }
    let before = w.leader(2).clone();
    list(&mut w, 2, None, OffsetSpec::Latest);
    assert_eq!(w.leader(2), &before, "it is no news of anybody");
    w.step(2, Input::AppendFailed);
    for wanted in [OffsetSpec::Latest, OffsetSpec::Earliest] {
        assert_eq!(list(&mut w, 2, None, wanted), refused(ErrorCode::KafkaStorageError), "D6");
    }
}

#[test]
fn b66_a_new_leader_names_no_end_until_its_watermark_has_reached_its_epoch() {
    let mut w = World::new(2, 1);
    for _ in 0..3 {
        w.produce(1, 1);
        w.round(2);
    }
    let latest = |w: &mut World, id| list(w, id, None, OffsetSpec::Latest);
    assert_eq!(latest(&mut w, 1), (ErrorCode::None, Some(2), Some(0)));
    w.round(2);
    assert_eq!(latest(&mut w, 1), (ErrorCode::None, Some(3), Some(0)), "told to a consumer");
    // The new leader has all three and knows of one less: it must not tell the consumer so.
    w.produce(1, 1);
    w.round(2);
    w.deliver_fetch(2);
    assert_eq!(latest(&mut w, 1), (ErrorCode::None, Some(4), Some(0)));
    w.move_leader(2);
    w.apply(2);
    w.apply(1);
    assert_eq!((w.at(2), w.leader(2).epoch_start), ((4, 3), Offset(4)));
    let not_yet = (ErrorCode::OffsetNotAvailable, None, None);
    assert_eq!(latest(&mut w, 2), not_yet);
    w.produce(2, 1);
    assert_eq!(latest(&mut w, 2), not_yet, "a record more does not help");
    let earliest = list(&mut w, 2, None, OffsetSpec::Earliest);
    assert_eq!(earliest, (ErrorCode::None, Some(0), Some(0)), "the begin is known at any time");
    assert_eq!(list(&mut w, 2, Some(0), OffsetSpec::Latest).0, ErrorCode::FencedLeaderEpoch);
    w.round(1);
    assert_eq!(w.at(2), (5, 4));
    assert_eq!(latest(&mut w, 2), (ErrorCode::None, Some(4), Some(1)), "reached is enough");
}

#[test]
fn a_lost_proposal_is_sent_again_to_the_byte() {
    let mut w = World::new(2, 1);
    w.produce(1, 1);
    w.shrink(1);
    w.round(2);
    w.round(2);
    let sent = w.proposals.remove(0);
    for answer in [
        AlterPartitionAnswer::Lost,
        AlterPartitionAnswer::Refused(ErrorCode::NotController),
        AlterPartitionAnswer::Refused(ErrorCode::StaleBrokerEpoch),
    ] {
        assert_eq!(w.hear_of(1, sent.clone(), answer), [], "not at once");
        // A new life of the member shows itself meanwhile: the proposal still names the old one.
        w.crash(2);
        w.unfence(2);
        w.apply(1);
        w.apply(2);
        w.deliver_fetch(2);
        assert_eq!(w.proposals, []);
        let sends = |e: &Effect| matches!(e, Effect::SendAlterPartition(_));
        assert_eq!(w.tick(1).iter().filter(|e| sends(e)).count(), 1);
        assert_eq!(w.proposals.pop().as_ref(), Some(&sent));
        w.tick(1);
        assert_eq!(w.proposals, [], "once, until it is answered");
    }
}

#[test]
fn each_look_at_the_clock_does_its_own_work() {
    let mut w = World::new(2, 1);
    w.round(2);
    w.step(1, produce(-1, 1));
    w.now = T0 + 30_001;
    let now_ms = w.now;
    let (lag, resend, expire) = (
        Input::CheckLag { now_ms },
        Input::ResendProposal { now_ms },
        Input::ExpireProduces { now_ms },
    );
    assert_eq!(w.step(1, resend.clone()), [], "nothing is proposed");
    assert_eq!(answer(&w.step(1, expire.clone())), (Some(ErrorCode::RequestTimedOut), 0));
    assert_eq!(w.proposals, [], "a timeout proposes nothing");
    w.answered.clear();
    w.step(1, produce(-1, 1));
    assert!(matches!(w.step(1, lag.clone())[..], [Effect::SendAlterPartition(_)]));
    let sent = w.proposals.remove(0);
    w.now += 1_000;
    for input in [&lag, &resend] {
        assert_eq!(w.step(1, input.clone()), [], "on its way, and no timeout");
    }
    w.hear_of(1, sent.clone(), AlterPartitionAnswer::Lost);
    let timed_out = (Some(ErrorCode::RequestTimedOut), 0);
    assert_eq!(w.step(1, lag.clone()), [], "not its work");
    assert_eq!(answer(&w.step(1, expire.clone())), timed_out);
    assert_eq!(w.proposals, [], "nor that of the timeouts");
    assert_eq!(w.step(1, resend.clone()), [Effect::SendAlterPartition(sent.clone())]);
    // What is void, or what only metadata can tell, is not sent again.
    let refused = AlterPartitionAnswer::Refused(ErrorCode::InvalidUpdateVersion);
    w.hear_of(1, sent, refused);
    assert_eq!(w.step(1, resend.clone()), []);
    for input in [lag, resend, expire] {
        assert_eq!(w.step(2, input), [], "not the leader");
    }
}

#[test]
fn an_answer_of_another_epoch_or_out_of_this_world_changes_no_isr() {
    let mut w = World::new(2, 1);
    w.produce(1, 1);
    w.now += 30_001;
    w.tick(1);
    let sent = w.proposals[0].clone();
    let isr = |of: &[i32]| of.iter().map(|&id| BrokerId(id)).collect::<BTreeSet<_>>();
    for (epoch, partition_epoch, members) in
        [(1, 1, isr(&[1])), (0, -1, isr(&[1])), (0, 1, isr(&[2])), (0, 1, isr(&[1, 9]))]
    {
        let answer = AlterPartitionAnswer::Accepted {
            leader: Some(BrokerId(1)),
            leader_epoch: Epoch(epoch),
            partition_epoch: PartitionEpoch(partition_epoch),
            isr: members,
        };
        w.hear_of(1, sent.clone(), answer);
        assert!(matches!(w.leader(1).isr.membership, Membership::Pending { .. }));
        assert_eq!(w.at(1), (1, 0));
    }
}

#[test]
fn after_a_failed_write_it_leads_nothing_and_takes_nothing() {
    let mut w = World::new(2, 1);
    let m = w.produce(1, -1);
    w.step(1, Input::AppendFailed);
    assert_eq!(w.answered[&m].0, ErrorCode::KafkaStorageError);
    assert_eq!(answer(&w.step(1, produce(1, 1))), (Some(ErrorCode::KafkaStorageError), 0));
    assert_eq!(w.consume(1, 0).error, ErrorCode::KafkaStorageError);
    w.move_leader(2);
    w.move_leader(1);
    assert_eq!(w.apply(1), []);
    assert_eq!(w.node(1).replica.role(), &Role::Failed);
    w.step(2, Input::AppendFailed);
    w.apply(2);
    let (_, request) = w.node(2).fetch.unwrap();
    let lost = Input::FetchLost { from: BrokerId(1), request };
    assert_eq!(w.step(2, lost), [], "it does not even fetch");
}

#[test]
fn the_watermark_of_a_new_leader_is_neither_raised_nor_lowered() {
    let mut w = World::new(2, 1);
    w.produce(1, 1);
    w.round(2);
    w.round(2);
    w.produce(1, 1);
    w.round(2);
    assert_eq!(w.at(2), (2, 1));
    w.move_leader(2);
    w.apply(2);
    assert_eq!(w.at(2), (2, 1), "L5, H4");
    w.fence(1);
    w.apply(2);
    assert_eq!(w.at(2), (2, 2), "alone in the ISR");
}
