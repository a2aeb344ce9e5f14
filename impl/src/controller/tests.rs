//! The controller's rules over every small registration, and its events as scripts.

use super::change::Election;
use super::*;
use crate::types::ErrorCode;

fn ids(of: &[i32]) -> BTreeSet<BrokerId> {
    of.iter().map(|&id| BrokerId(id)).collect()
}

fn three(min_isr: u32, elr: Elr) -> Controller {
    Controller::new([1, 2, 3].map(BrokerId).to_vec(), min_isr, elr)
}

fn give(controller: &mut Controller, input: ControllerInput) -> Vec<ControllerEffect> {
    let mut effects = vec![];
    controller.step(input, &mut effects);
    effects
}

fn fence(controller: &mut Controller, id: i32) {
    give(controller, ControllerInput::SessionExpired { broker: BrokerId(id) });
}

fn unfence(controller: &mut Controller, id: i32) {
    let broker = BrokerId(id);
    let epoch = controller.brokers()[&broker].epoch;
    give(controller, ControllerInput::Unfence { broker, epoch });
}

fn register(controller: &mut Controller, id: i32, log: LogFate) -> Vec<ControllerEffect> {
    give(controller, ControllerInput::Register { broker: BrokerId(id), log })
}

/// Leader, leader epoch, partition epoch, ISR, ELR.
fn shape(controller: &Controller) -> (Option<i32>, i32, i32, Vec<i32>, Vec<i32>) {
    let p = controller.partition();
    let list = |set: &BTreeSet<BrokerId>| set.iter().map(|id| id.0).collect();
    let leader = p.leader.map(|id| id.0);
    (leader, p.leader_epoch.0, p.partition_epoch.0, list(&p.isr), list(&p.elr))
}

fn proposal(controller: &Controller, isr: &[i32]) -> AlterPartitionRequest {
    let p = controller.partition();
    let broker = p.leader.expect("a leader");
    let life = |id: BrokerId| controller.brokers().get(&id).map(|b| b.epoch);
    AlterPartitionRequest {
        broker,
        broker_epoch: life(broker).unwrap(),
        leader_epoch: p.leader_epoch,
        partition_epoch: p.partition_epoch,
        isr: isr.iter().map(|&id| (BrokerId(id), life(BrokerId(id)))).collect(),
    }
}

fn alter(controller: &mut Controller, request: AlterPartitionRequest) -> AlterPartitionAnswer {
    let from = request.broker;
    let input = ControllerInput::AlterPartition { from, request: request.clone() };
    match give(controller, input).pop() {
        Some(ControllerEffect::AnswerAlterPartition { to, proposal, answer }) => {
            assert_eq!((to, proposal), (from, request));
            answer
        }
        other => panic!("not an answer: {other:?}"),
    }
}

/// Every registration of three replicas that can stand: any ISR, any ELR beside it that its size
/// allows, any leader out of the ISR, any minimum; members of the ISR are active.
fn every_registration(mut test: impl FnMut(Controller)) {
    let set = |mask: u32| (0..3).filter(|b| mask >> b & 1 == 1).map(|b| BrokerId(b + 1)).collect();
    for (isr, elr, active) in (0..512_u32).map(|n| (n & 7, n >> 3 & 7, n >> 6)) {
        for min_isr in 1..=4 {
            let allowed = isr & elr == 0 && isr & active == isr;
            if !allowed || (elr != 0 && isr.count_ones() >= min_isr.min(3)) {
                continue;
            }
            let mut controller = three(min_isr, Elr::On);
            let active: BTreeSet<BrokerId> = set(active);
            for (id, image) in &mut controller.brokers {
                if !active.contains(id) {
                    image.state = BrokerState::Fenced;
                }
            }
            controller.partition.isr = set(isr);
            controller.partition.elr = set(elr);
            let leaders = controller.partition.isr.clone().into_iter().map(Some).chain([None]);
            for leader in leaders {
                controller.partition.leader = leader;
                test(controller.clone());
            }
        }
    }
}

/// The rules of a change, said once more and slowly.
fn twin(c: &Controller, target: &[i32], lost: Option<i32>) -> (Option<i32>, Vec<i32>, Vec<i32>) {
    let (leader, _, _, old_isr, old_elr) = shape(c);
    let min = c.partition.min_isr.min(3) as usize;
    let active = |id: &i32| c.brokers[&BrokerId(*id)].state == BrokerState::Active;
    let mut elr: Vec<i32> = vec![];
    for id in 1..=3 {
        let was_complete = old_isr.contains(&id) || old_elr.contains(&id);
        if target.len() < min && was_complete && !target.contains(&id) && lost != Some(id) {
            elr.push(id);
        }
    }
    let candidates = if target.is_empty() { elr.clone() } else { target.to_vec() };
    let candidates: Vec<i32> = candidates.into_iter().filter(active).collect();
    let chosen = match leader {
        Some(leader) if candidates.contains(&leader) => Some(leader),
        _ => candidates.first().copied(),
    };
    let mut isr = target.to_vec();
    if let (true, Some(chosen)) = (isr.is_empty(), chosen) {
        isr = vec![chosen];
        elr.retain(|&id| id != chosen && min > 1);
    }
    (chosen, isr, elr)
}

#[test]
fn every_change_makes_the_record_the_rules_say() {
    let mut changes = 0;
    every_registration(|before| {
        let (leader, leader_epoch, partition_epoch, isr, elr) = shape(&before);
        for lost in [None, Some(1), Some(2), Some(3)] {
            for removed in 1..=3 {
                let target: Vec<i32> = isr.iter().copied().filter(|&id| id != removed).collect();
                if lost.is_some_and(|id| id != removed) {
                    continue;
                }
                let mut after = before.clone();
                after.change(ids(&target), lost.map(BrokerId), Election::Online);
                let (next, next_isr, next_elr) = twin(&before, &target, lost);
                let recorded = (next, &next_isr, &next_elr) != (leader, &isr, &elr);
                let expected = (
                    next,
                    leader_epoch + i32::from(next != leader),
                    partition_epoch + i32::from(recorded),
                    next_isr,
                    next_elr,
                );
                assert_eq!(shape(&after), expected, "{removed} leaves {before:?}");
                changes += 1;
            }
        }
    });
    assert!(changes > 1_000, "only {changes} changes");
}

/// One thing wrong with a proposal.
type Spoil = fn(&mut AlterPartitionRequest);

#[test]
fn the_checks_of_a_proposal_come_in_their_order() {
    let mut c = three(1, Elr::On);
    give(&mut c, ControllerInput::MoveLeader { to: BrokerId(2) });
    fence(&mut c, 3);
    let good = proposal(&c, &[1, 2]);
    // From the last check to the first, each on top of those before: the earliest one decides.
    let steps: [(Spoil, ErrorCode); 11] = [
        (|r| r.isr[0].1 = Some(BrokerEpoch(9)), ErrorCode::IneligibleReplica),
        (|r| r.isr.retain(|m| m.0 != BrokerId(2)), ErrorCode::InvalidRequest),
        (|r| r.isr.push((BrokerId(9), None)), ErrorCode::InvalidRequest),
        (|r| r.isr.push(r.isr[0]), ErrorCode::InvalidRequest),
        (|r| r.partition_epoch = PartitionEpoch(0), ErrorCode::InvalidUpdateVersion),
        (|r| (r.broker, r.broker_epoch) = (BrokerId(1), BrokerEpoch(1)), ErrorCode::InvalidRequest),
        (|r| r.leader_epoch = Epoch(0), ErrorCode::FencedLeaderEpoch),
        (|r| r.partition_epoch = PartitionEpoch(3), ErrorCode::NotController),
        (|r| r.leader_epoch = Epoch(2), ErrorCode::NotController),
        (|r| r.broker_epoch = BrokerEpoch(0), ErrorCode::StaleBrokerEpoch),
        (|r| r.broker = BrokerId(9), ErrorCode::StaleBrokerEpoch),
    ];
    let before = c.clone();
    let mut request = good.clone();
    for (spoil, error) in steps {
        spoil(&mut request);
        let answer = alter(&mut c, request.clone());
        assert_eq!(answer, AlterPartitionAnswer::Refused(error), "{request:?}");
        assert_eq!(c, before, "a refused proposal changes nothing");
    }
    let accepted = AlterPartitionAnswer::Accepted {
        leader: Some(BrokerId(2)),
        leader_epoch: Epoch(1),
        partition_epoch: PartitionEpoch(2),
        isr: ids(&[1, 2]),
    };
    assert_eq!(alter(&mut c, good), accepted, "nothing to write: the same version");
}

#[test]
fn who_is_not_there_in_that_life_may_not_join() {
    for (state, life, may) in [
        (BrokerState::Active, Some(3), true),
        (BrokerState::Active, None, true),
        (BrokerState::Active, Some(2), false),
        (BrokerState::Active, Some(4), false),
        (BrokerState::Fenced, Some(3), false),
        (BrokerState::Fenced, None, false),
        (BrokerState::ShuttingDown, Some(3), false),
    ] {
        let mut c = three(1, Elr::On);
        c.partition.isr = ids(&[1, 2]);
        c.brokers.get_mut(&BrokerId(3)).unwrap().state = state;
        let mut request = proposal(&c, &[1, 2, 3]);
        request.isr[2].1 = life.map(BrokerEpoch);
        let answer = alter(&mut c, request);
        let accepted = matches!(answer, AlterPartitionAnswer::Accepted { .. });
        assert_eq!(accepted, may, "{state:?}, life {life:?}");
    }
}

#[test]
fn each_record_counts_one_and_only_a_set_leader_begins_an_epoch() {
    let mut c = three(2, Elr::On);
    assert_eq!(shape(&c), (Some(1), 0, 0, vec![1, 2, 3], vec![]));
    let request = proposal(&c, &[1, 2]);
    alter(&mut c, request);
    assert_eq!(shape(&c), (Some(1), 0, 1, vec![1, 2], vec![]));
    fence(&mut c, 3);
    assert_eq!(shape(&c), (Some(1), 0, 1, vec![1, 2], vec![]), "no record for the partition");
    fence(&mut c, 1);
    assert_eq!(shape(&c), (Some(2), 1, 2, vec![2], vec![1]), "Z2");
    fence(&mut c, 2);
    assert_eq!(shape(&c), (None, 2, 3, vec![], vec![1, 2]), "Z4");
    unfence(&mut c, 3);
    assert_eq!(shape(&c), (None, 2, 3, vec![], vec![1, 2]), "not eligible");
    unfence(&mut c, 2);
    assert_eq!(shape(&c), (Some(2), 3, 4, vec![2], vec![1]), "O4");
    unfence(&mut c, 1);
    let request = proposal(&c, &[1, 2]);
    alter(&mut c, request);
    assert_eq!(shape(&c), (Some(2), 3, 5, vec![1, 2], vec![]), "Z1");
}

#[test]
fn b54_the_last_replica_standing_that_lost_its_log_does_not_lead() {
    let mut c = three(2, Elr::On);
    fence(&mut c, 1);
    fence(&mut c, 2);
    assert_eq!(shape(&c), (Some(3), 2, 2, vec![3], vec![2]));
    register(&mut c, 3, LogFate::Lost);
    assert_eq!(shape(&c), (None, 3, 3, vec![], vec![2]));
    unfence(&mut c, 3);
    unfence(&mut c, 1);
    assert_eq!(shape(&c).0, None);
    unfence(&mut c, 2);
    assert_eq!(shape(&c), (Some(2), 4, 4, vec![2], vec![]));
}

#[test]
fn b58_another_minimum_clears_the_elr_in_the_same_record() {
    let mut c = three(2, Elr::On);
    fence(&mut c, 1);
    fence(&mut c, 2);
    give(&mut c, ControllerInput::ChangeMinIsr { min_isr: 1 });
    assert_eq!(shape(&c), (Some(3), 2, 3, vec![3], vec![]));
    for min_isr in [0, 1] {
        assert_eq!(give(&mut c, ControllerInput::ChangeMinIsr { min_isr }), []);
    }
}

#[test]
fn b07_without_an_elr_the_last_member_stays_and_leads_again() {
    let mut c = three(2, Elr::Off);
    fence(&mut c, 1);
    fence(&mut c, 2);
    assert_eq!(shape(&c), (Some(3), 2, 2, vec![3], vec![]));
    fence(&mut c, 3);
    assert_eq!(shape(&c), (None, 3, 3, vec![3], vec![]));
    unfence(&mut c, 1);
    assert_eq!(shape(&c).0, None);
    unfence(&mut c, 3);
    assert_eq!(shape(&c), (Some(3), 4, 4, vec![3], vec![]));
}

#[test]
fn a_broker_that_kept_its_log_keeps_its_place_but_no_epoch() {
    let mut c = three(2, Elr::On);
    let effects = register(&mut c, 2, LogFate::Kept);
    assert_eq!(shape(&c), (Some(1), 0, 0, vec![1, 2, 3], vec![]));
    let life = BrokerImage { epoch: BrokerEpoch(4), state: BrokerState::Active };
    assert_eq!(c.brokers()[&BrokerId(2)], life);
    let (broker, epoch) = (BrokerId(2), BrokerEpoch(4));
    let image = c.image();
    assert_eq!(
        effects,
        [ControllerEffect::Registered { broker, epoch }, ControllerEffect::Metadata(image)]
    );
    register(&mut c, 1, LogFate::Kept);
    assert_eq!(shape(&c), (Some(1), 1, 1, vec![1, 2, 3], vec![]), "the same leader, a new epoch");
    // Fenced it was, fenced it stays, in its place in the ELR.
    fence(&mut c, 2);
    fence(&mut c, 3);
    register(&mut c, 3, LogFate::Kept);
    assert_eq!(shape(&c), (Some(1), 1, 3, vec![1], vec![3]));
    assert_eq!(c.brokers()[&BrokerId(3)].state, BrokerState::Fenced);
    // One never heard of comes in fenced.
    register(&mut c, 9, LogFate::Kept);
    let life = BrokerImage { epoch: BrokerEpoch(7), state: BrokerState::Fenced };
    assert_eq!(c.brokers()[&BrokerId(9)], life);
}

#[test]
fn a_broker_that_lost_its_log_comes_back_fenced_and_in_no_set() {
    let mut c = three(3, Elr::On);
    register(&mut c, 1, LogFate::Lost);
    assert_eq!(shape(&c), (Some(2), 1, 1, vec![2, 3], vec![]));
    fence(&mut c, 3);
    assert_eq!(shape(&c), (Some(2), 1, 2, vec![2], vec![3]));
    register(&mut c, 3, LogFate::Lost);
    assert_eq!(shape(&c), (Some(2), 1, 3, vec![2], vec![]));
    assert!([1, 3].iter().all(|&id| c.brokers()[&BrokerId(id)].state == BrokerState::Fenced));
}

#[test]
fn a_word_of_another_life_is_not_heard() {
    let mut c = three(2, Elr::On);
    fence(&mut c, 2);
    let broker = BrokerId(2);
    for epoch in [1, 3].map(BrokerEpoch) {
        assert_eq!(give(&mut c, ControllerInput::Unfence { broker, epoch }), []);
        assert_eq!(give(&mut c, ControllerInput::ShutDown { broker, epoch }), []);
        let before = c.clone();
        give(&mut c, ControllerInput::Heartbeat { now_ms: 5, broker, epoch });
        assert_eq!(c, before);
    }
    let epoch = BrokerEpoch(2);
    assert_eq!(give(&mut c, ControllerInput::Unfence { broker, epoch }).len(), 1);
}

#[test]
fn one_that_goes_down_in_order_leads_nothing_and_joins_nothing() {
    let mut c = three(2, Elr::On);
    let (broker, epoch) = (BrokerId(1), BrokerEpoch(1));
    give(&mut c, ControllerInput::ShutDown { broker, epoch });
    assert_eq!(shape(&c), (Some(2), 1, 1, vec![2, 3], vec![]));
    unfence(&mut c, 1);
    assert_eq!(c.brokers()[&broker].state, BrokerState::ShuttingDown, "it is not fenced");
    let request = proposal(&c, &[1, 2, 3]);
    let refused = AlterPartitionAnswer::Refused(ErrorCode::IneligibleReplica);
    assert_eq!(alter(&mut c, request), refused);
    register(&mut c, 1, LogFate::Kept);
    assert_eq!(c.brokers()[&broker].state, BrokerState::Fenced);
}

#[test]
fn the_leadership_moves_to_active_members_only() {
    let mut c = three(1, Elr::On);
    fence(&mut c, 3);
    for (to, outcome) in [
        (1, MoveOutcome::NotNeeded),
        (3, MoveOutcome::NotAvailable),
        (9, MoveOutcome::NotAvailable),
        (2, MoveOutcome::Moved),
    ] {
        let to = BrokerId(to);
        let effects = give(&mut c, ControllerInput::MoveLeader { to });
        assert_eq!(effects.last(), Some(&ControllerEffect::AnswerMoveLeader { to, outcome }));
        assert_eq!(effects.len() == 2, outcome == MoveOutcome::Moved);
    }
    assert_eq!(shape(&c), (Some(2), 1, 2, vec![1, 2], vec![]));
}

#[test]
fn a_session_ends_one_millisecond_after_its_time() {
    let mut c = three(2, Elr::On);
    let tick = |c: &mut Controller, now_ms| give(c, ControllerInput::Tick { now_ms });
    let beat = |c: &mut Controller, id: i32, now_ms| {
        let (broker, epoch) = (BrokerId(id), c.brokers()[&BrokerId(id)].epoch);
        give(c, ControllerInput::Heartbeat { now_ms, broker, epoch })
    };
    assert_eq!(tick(&mut c, 1_000), [], "from the first tick on");
    beat(&mut c, 1, 9_000);
    beat(&mut c, 2, 9_000);
    assert_eq!(tick(&mut c, 10_000), []);
    assert_eq!(tick(&mut c, 10_001).len(), 1);
    assert_eq!(shape(&c), (Some(1), 0, 1, vec![1, 2], vec![]));
    // Two at once are two records, and one image.
    assert_eq!(tick(&mut c, 18_001).len(), 1);
    assert_eq!(shape(&c), (None, 2, 3, vec![], vec![1, 2]));
    assert_eq!(tick(&mut c, 99_000), [], "fenced ones have no session");
}

#[test]
fn a_clock_that_jumps_back_lengthens_a_session_by_one_time_at_most() {
    let mut c = three(2, Elr::On);
    let tick = |c: &mut Controller, now_ms| give(c, ControllerInput::Tick { now_ms }).len();
    let back = 3_600_000;
    assert_eq!(tick(&mut c, back), 0);
    assert_eq!(tick(&mut c, 0), 0);
    assert_eq!(tick(&mut c, 9_000), 0);
    assert_eq!(tick(&mut c, 9_001), 1);
}

#[test]
fn no_sequence_of_events_breaks_a_controller() {
    // Every sequence of four events over two brokers, each from a fixed set.
    let brokers = [1, 2].map(BrokerId);
    for (elr, min_isr) in [(Elr::On, 1), (Elr::On, 2), (Elr::Off, 1), (Elr::Off, 2)] {
        let mut states =
            BTreeMap::from([(0, vec![Controller::new(brokers.to_vec(), min_isr, elr)])]);
        for depth in 0..4 {
            let mut next: Vec<Controller> = vec![];
            for before in &states[&depth] {
                for input in events(before) {
                    let mut after = before.clone();
                    let effects = give(&mut after, input.clone());
                    assert_moved_on(before, &after, &effects, &input);
                    if after != *before && !next.contains(&after) {
                        next.push(after);
                    }
                }
            }
            states.insert(depth + 1, next);
        }
        assert!(states[&4].len() > 100, "only {} states", states[&4].len());
    }
}

fn events(c: &Controller) -> Vec<ControllerInput> {
    let mut events = vec![ControllerInput::ChangeMinIsr { min_isr: 1 }];
    for broker in [1, 2].map(BrokerId) {
        let epoch = c.brokers()[&broker].epoch;
        events.extend([
            ControllerInput::Register { broker, log: LogFate::Kept },
            ControllerInput::Register { broker, log: LogFate::Lost },
            ControllerInput::SessionExpired { broker },
            ControllerInput::Unfence { broker, epoch },
            ControllerInput::ShutDown { broker, epoch },
            ControllerInput::MoveLeader { to: broker },
        ]);
    }
    if let Some(from) = c.partition().leader {
        let isrs = [&[1][..], &[2], &[1, 2]];
        let asks =
            isrs.map(|isr| ControllerInput::AlterPartition { from, request: proposal(c, isr) });
        events.extend(asks);
    }
    events
}

/// What holds between two states, whatever happened.
fn assert_moved_on(
    before: &Controller,
    after: &Controller,
    effects: &[ControllerEffect],
    input: &ControllerInput,
) {
    let (old, new) = (before.partition(), after.partition());
    let records = new.partition_epoch.0 - old.partition_epoch.0;
    let reigns = new.leader_epoch.0 - old.leader_epoch.0;
    assert!(records == i32::from(old != new), "{input:?} of {before:?}");
    assert!((0..=records).contains(&reigns), "{input:?} of {before:?}");
    assert!(reigns == 1 || old.leader == new.leader, "a leader without an epoch of its own");
    let image = |e: &ControllerEffect| matches!(e, ControllerEffect::Metadata(_));
    let changed = before.image() != after.image();
    assert_eq!(effects.iter().filter(|e| image(e)).count(), usize::from(changed));
    for (id, broker) in after.brokers() {
        assert!(
            before.brokers().get(id).is_none_or(|b| b.epoch <= broker.epoch),
            "epoch went back"
        );
    }
}
