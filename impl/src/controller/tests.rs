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

/// A broker registers with the word that its life of this epoch ended in order, or with none.
fn register(controller: &mut Controller, id: i32, clean: Option<i64>) -> Vec<ControllerEffect> {
    let clean_shutdown = clean.map(BrokerEpoch);
    give(controller, ControllerInput::Register { broker: BrokerId(id), clean_shutdown })
}

fn last_leader(controller: &Controller) -> Option<i32> {
    controller.partition().last_leader.map(|id| id.0)
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
/// allows, any leader out of the ISR or the last known one, any minimum, each policy; members of
/// the ISR are active.
fn every_registration(mut test: impl FnMut(Controller)) {
    let set = |mask: u32| (0..3).filter(|b| mask >> b & 1 == 1).map(|b| BrokerId(b + 1)).collect();
    for (isr, elr, active) in (0..512_u32).map(|n| (n & 7, n >> 3 & 7, n >> 6)) {
        for (min_isr, mode) in (1..=4).flat_map(|min| [(min, Elr::On), (min, Elr::Off)]) {
            let allowed = isr & elr == 0 && isr & active == isr;
            if !allowed || (elr != 0 && (mode == Elr::Off || isr.count_ones() >= min_isr.min(3))) {
                continue;
            }
            let mut controller = three(min_isr, mode);
            let active: BTreeSet<BrokerId> = set(active);
            for (id, image) in &mut controller.brokers {
                if !active.contains(id) {
                    image.state = BrokerState::Fenced;
                }
            }
            controller.partition.isr = set(isr);
            controller.partition.elr = set(elr);
            for leader in controller.partition.isr.clone() {
                controller.partition.leader = Some(leader);
                test(controller.clone());
            }
            controller.partition.leader = None;
            for last in [None, Some(1), Some(2), Some(3)] {
                controller.partition.last_leader = last.map(BrokerId);
                test(controller.clone());
            }
        }
    }
}

/// Leader, ISR, ELR, last known leader.
type Outcome = (Option<i32>, Vec<i32>, Vec<i32>, Option<i32>);

/// The rules of a change, said once more and slowly.
fn twin(c: &Controller, target: &[i32], lost: Option<i32>) -> Outcome {
    let (leader, _, _, old_isr, old_elr) = shape(c);
    let min = c.partition.min_isr.min(3) as usize;
    let active = |id: &i32| c.brokers[&BrokerId(*id)].state == BrokerState::Active;
    let mut elr: Vec<i32> = vec![];
    for id in 1..=3 {
        let was_complete = old_isr.contains(&id) || old_elr.contains(&id);
        let under = c.elr == Elr::On && target.len() < min;
        if under && was_complete && !target.contains(&id) && lost != Some(id) {
            elr.push(id);
        }
    }
    let candidates = if target.is_empty() { elr.clone() } else { target.to_vec() };
    let complete: Vec<i32> = candidates.iter().copied().filter(active).collect();
    let chosen = match leader {
        Some(leader) if complete.contains(&leader) => Some(leader),
        _ => complete.first().copied(),
    };
    if chosen.is_none() {
        let mut risky = vec![];
        if c.elr == Elr::On && candidates.is_empty() {
            risky.extend(last_leader(c));
        }
        if c.unclean == UncleanElection::Allowed {
            risky.extend([1, 2, 3]);
        }
        if let Some(id) = risky.into_iter().find(active) {
            return (Some(id), vec![id], vec![], None);
        }
    }
    let mut isr = target.to_vec();
    match chosen {
        Some(chosen) if isr.is_empty() => {
            isr = vec![chosen];
            elr.retain(|&id| id != chosen && min > 1);
        }
        None if isr.is_empty() && c.elr == Elr::Off => isr = old_isr,
        _ => {}
    }
    let remembered = match c.elr {
        Elr::On if chosen.is_none() => last_leader(c).or(leader),
        _ => None,
    };
    (chosen, isr, elr, remembered)
}

#[test]
fn every_change_makes_the_record_the_rules_say() {
    let mut changes = 0;
    let mut uncertain = 0;
    every_registration(|registration| {
        for unclean in [UncleanElection::Forbidden, UncleanElection::Allowed] {
            let before = registration.clone().with_unclean_election(unclean);
            let (leader, leader_epoch, partition_epoch, isr, elr) = shape(&before);
            for lost in [None, Some(1), Some(2), Some(3)] {
                for removed in 1..=3 {
                    let left = isr.iter().copied().filter(|&id| id != removed);
                    let target: Vec<i32> = left.collect();
                    if lost.is_some_and(|id| id != removed) {
                        continue;
                    }
                    let mut after = before.clone();
                    after.change(ids(&target), lost.map(BrokerId), Election::Online);
                    let (next, next_isr, next_elr, last) = twin(&before, &target, lost);
                    let recorded = (next, &next_isr, &next_elr) != (leader, &isr, &elr);
                    let known = isr.iter().chain(&elr).any(|&id| Some(id) == next);
                    uncertain += u32::from(next.is_some() && !known);
                    let expected = (
                        next,
                        leader_epoch + i32::from(next != leader),
                        partition_epoch + i32::from(recorded),
                        next_isr,
                        next_elr,
                    );
                    assert_eq!(shape(&after), expected, "{removed} leaves {before:?}");
                    let last = if recorded { last } else { last_leader(&before) };
                    assert_eq!(last_leader(&after), last, "{removed} leaves {before:?}");
                    changes += 1;
                }
            }
        }
    });
    assert!(changes > 10_000, "only {changes} changes");
    assert!(uncertain > 100, "only {uncertain} unclean elections");
}

/// One thing wrong with a proposal.
type Spoil = fn(&mut AlterPartitionRequest);

/// X6: the leader takes a refusal for an ineligible member as final (R2). An earlier try of the
/// same proposal may arrive when the member is eligible again, and must not be accepted then.
#[test]
fn what_was_refused_for_a_member_is_not_accepted_later() {
    let mut c = three(1, Elr::On);
    let request = proposal(&c, &[1, 2]);
    fence(&mut c, 2);
    let ineligible = proposal(&c, &[1, 2]);
    let before = c.partition().partition_epoch;
    let answer = alter(&mut c, ineligible.clone());
    assert_eq!(answer, AlterPartitionAnswer::Refused(ErrorCode::IneligibleReplica));
    assert_eq!(c.partition().partition_epoch, PartitionEpoch(before.0 + 1), "a new version");
    let epoch = c.brokers()[&BrokerId(2)].epoch;
    give(&mut c, ControllerInput::Unfence { broker: BrokerId(2), epoch });
    let void = AlterPartitionAnswer::Refused(ErrorCode::InvalidUpdateVersion);
    assert_eq!(alter(&mut c, ineligible), void, "the earlier try");
    assert_eq!(alter(&mut c, request), void);
}

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
        if error == ErrorCode::IneligibleReplica {
            c = before.clone();
        }
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
    assert_eq!(last_leader(&c), Some(2), "Z3");
    unfence(&mut c, 3);
    assert_eq!(shape(&c), (None, 2, 3, vec![], vec![1, 2]), "not eligible");
    unfence(&mut c, 2);
    assert_eq!(last_leader(&c), None, "Z3");
    assert_eq!(shape(&c), (Some(2), 3, 4, vec![2], vec![1]), "O4");
    unfence(&mut c, 1);
    let request = proposal(&c, &[1, 2]);
    alter(&mut c, request);
    assert_eq!(shape(&c), (Some(2), 3, 5, vec![1, 2], vec![]), "Z1");
}

#[test]
fn who_leaves_the_isr_under_the_minimum_is_eligible_and_nobody_else() {
    let mut c = three(2, Elr::On);
    let request = proposal(&c, &[1]);
    alter(&mut c, request);
    assert_eq!(shape(&c), (Some(1), 0, 1, vec![1], vec![2, 3]), "Z2: both at once");
    let mut c = three(2, Elr::On);
    let request = proposal(&c, &[1, 2]);
    alter(&mut c, request);
    let request = proposal(&c, &[1]);
    alter(&mut c, request);
    assert_eq!(shape(&c), (Some(1), 0, 2, vec![1], vec![2]), "3 left before");
    fence(&mut c, 2);
    assert_eq!(shape(&c), (Some(1), 0, 2, vec![1], vec![2]), "Z4: fenced it stays");
    let request = proposal(&c, &[1, 3]);
    alter(&mut c, request);
    assert_eq!(shape(&c), (Some(1), 0, 3, vec![1, 3], vec![]), "Z1");
}

#[test]
fn b54_the_last_replica_standing_that_lost_its_log_does_not_lead() {
    let mut c = three(2, Elr::On);
    fence(&mut c, 1);
    fence(&mut c, 2);
    assert_eq!(shape(&c), (Some(3), 2, 2, vec![3], vec![2]));
    fence(&mut c, 3);
    assert_eq!(shape(&c), (None, 3, 3, vec![], vec![2, 3]));
    register(&mut c, 3, None);
    assert_eq!(shape(&c), (None, 3, 4, vec![], vec![2]));
    unfence(&mut c, 3);
    unfence(&mut c, 1);
    assert_eq!((shape(&c).0, last_leader(&c)), (None, Some(3)), "2 is eligible, so 3 is not asked");
    unfence(&mut c, 2);
    assert_eq!(shape(&c), (Some(2), 4, 5, vec![2], vec![]));
}

#[test]
fn the_last_known_leader_leads_when_nobody_is_left_that_is_complete() {
    let mut c = three(1, Elr::On);
    for id in [2, 3, 1] {
        fence(&mut c, id);
    }
    assert_eq!(shape(&c), (None, 1, 3, vec![], vec![1]));
    register(&mut c, 1, None);
    assert_eq!(shape(&c), (None, 1, 4, vec![], vec![]), "fenced it does not lead");
    unfence(&mut c, 2);
    assert_eq!((shape(&c).0, last_leader(&c)), (None, Some(1)), "2 never led last");
    give(&mut c, ControllerInput::ChangeMinIsr { min_isr: 2 });
    assert_eq!((shape(&c).0, last_leader(&c)), (None, Some(1)), "Z4");
    unfence(&mut c, 1);
    assert_eq!(shape(&c), (Some(1), 2, 6, vec![1], vec![]), "O2, O5");
    assert_eq!(last_leader(&c), None, "Z3");
}

#[test]
fn the_last_known_leader_leads_at_the_event_that_takes_the_last_eligible_one() {
    let mut c = three(2, Elr::On);
    for id in [1, 2, 3] {
        fence(&mut c, id);
    }
    register(&mut c, 3, None);
    unfence(&mut c, 3);
    assert_eq!(shape(&c), (None, 3, 4, vec![], vec![2]));
    assert_eq!(register(&mut c, 2, None).len(), 2);
    assert_eq!(shape(&c), (Some(3), 4, 5, vec![3], vec![]));
}

#[test]
fn an_unclean_election_takes_the_first_that_is_there_and_only_if_it_may() {
    for (unclean, elr) in [
        (UncleanElection::Forbidden, Elr::On),
        (UncleanElection::Forbidden, Elr::Off),
        (UncleanElection::Allowed, Elr::On),
        (UncleanElection::Allowed, Elr::Off),
    ] {
        let mut c = three(2, elr).with_unclean_election(unclean);
        for id in [1, 2] {
            fence(&mut c, id);
        }
        unfence(&mut c, 2);
        unfence(&mut c, 1);
        assert_eq!(shape(&c).0, Some(3), "nobody is elected while one leads");
        let mut by_shutdown = c.clone();
        let (broker, epoch) = (BrokerId(3), BrokerEpoch(3));
        give(&mut by_shutdown, ControllerInput::ShutDown { broker, epoch });
        fence(&mut c, 3);
        assert_eq!(shape(&c), shape(&by_shutdown), "at each event");
        let expected = match (elr, unclean) {
            // 2 is eligible and there: no need of an unclean one.
            (Elr::On, _) => (Some(2), 3, 3, vec![2], vec![3]),
            (Elr::Off, UncleanElection::Forbidden) => (None, 3, 3, vec![3], vec![]),
            (Elr::Off, UncleanElection::Allowed) => (Some(1), 3, 3, vec![1], vec![]),
        };
        assert_eq!(shape(&c), expected, "{unclean:?}");
    }
}

#[test]
fn an_unclean_election_is_held_at_the_fence_and_at_the_return() {
    for at_the_fence in [true, false] {
        let mut c = three(2, Elr::On).with_unclean_election(UncleanElection::Allowed);
        fence(&mut c, 1);
        fence(&mut c, 2);
        if at_the_fence {
            unfence(&mut c, 1);
            fence(&mut c, 3);
        } else {
            fence(&mut c, 3);
            assert_eq!(shape(&c), (None, 3, 3, vec![], vec![2, 3]));
            unfence(&mut c, 1);
        }
        let records = if at_the_fence { 3 } else { 4 };
        assert_eq!(shape(&c), (Some(1), records, records, vec![1], vec![]), "the ELR is cleared");
        assert_eq!(last_leader(&c), None);
    }
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
fn a_second_life_is_refused_while_the_first_has_its_session() {
    let mut c = three(2, Elr::On);
    let (broker, epoch) = (BrokerId(1), BrokerEpoch(1));
    let error = ErrorCode::DuplicateBrokerRegistration;
    for state in [BrokerState::Active, BrokerState::ShuttingDown] {
        assert_eq!(c.brokers()[&broker].state, state);
        let before = c.clone();
        for clean in [None, Some(1), Some(9)] {
            let effects = register(&mut c, 1, clean);
            assert_eq!(effects, [ControllerEffect::RegistrationRefused { broker, error }]);
            assert_eq!(c, before, "nothing changes, and no epoch is used up");
        }
        give(&mut c, ControllerInput::ShutDown { broker, epoch });
    }
    fence(&mut c, 1);
    let effects = register(&mut c, 1, Some(1));
    let epoch = BrokerEpoch(4);
    let registered = ControllerEffect::Registered { broker, epoch };
    assert_eq!(effects, [registered, ControllerEffect::Metadata(c.image())]);
    assert_eq!(c.brokers()[&broker], BrokerImage { epoch, state: BrokerState::Fenced });
}

/// Every order of six registrations of two brokers, sessions that end among them.
#[test]
fn no_broker_epoch_is_given_out_twice() {
    let mut most = 0;
    for order in 0..4_u32.pow(6) {
        let mut c = Controller::new([1, 2].map(BrokerId).to_vec(), 1, Elr::On);
        let mut newest = c.brokers().values().map(|b| b.epoch).max().unwrap();
        let mut given = 0;
        for turn in 0..6 {
            let choice = order / 4_u32.pow(turn) % 4;
            let (id, ends) = (choice as i32 / 2 + 1, choice % 2 == 0);
            if ends {
                fence(&mut c, id);
                continue;
            }
            for effect in register(&mut c, id, None) {
                if let ControllerEffect::Registered { epoch, .. } = effect {
                    assert!(epoch > newest, "{epoch:?} after {newest:?} in {order}");
                    (newest, given) = (epoch, given + 1);
                }
            }
            unfence(&mut c, id);
        }
        assert_eq!(c.last_broker_epoch(), newest);
        most = most.max(given);
    }
    assert_eq!(most, 3, "half of the turns end a session");
}

#[test]
fn a_life_that_ended_in_order_keeps_its_place_in_the_elr_and_no_other_does() {
    let mut fenced = three(3, Elr::On);
    fence(&mut fenced, 2);
    assert_eq!(shape(&fenced), (Some(1), 0, 1, vec![1, 3], vec![2]));
    let kept = (Some(1), 0, 1, vec![1, 3], vec![2]);
    let gone = (Some(1), 0, 2, vec![1, 3], vec![]);
    // The word must be of the registered life of this broker, not of an older or another one.
    for (clean, expected) in
        [(Some(2), &kept), (None, &gone), (Some(1), &gone), (Some(3), &gone), (Some(4), &gone)]
    {
        let mut c = fenced.clone();
        register(&mut c, 2, clean);
        assert_eq!(&shape(&c), expected, "{clean:?}");
        let life = BrokerImage { epoch: BrokerEpoch(4), state: BrokerState::Fenced };
        assert_eq!(c.brokers()[&BrokerId(2)], life);
    }
    // The same word a second time is of a life that is not the registered one any more.
    let mut c = fenced.clone();
    register(&mut c, 2, Some(2));
    register(&mut c, 2, Some(2));
    assert_eq!((shape(&c), c.brokers()[&BrokerId(2)].epoch), (gone, BrokerEpoch(5)));
}

#[test]
fn an_unclean_life_leads_again_only_through_the_isr() {
    let mut c = three(2, Elr::On);
    fence(&mut c, 1);
    fence(&mut c, 2);
    for (id, clean, elr) in [(2, Some(2), vec![2]), (2, None, vec![])] {
        register(&mut c, id, clean);
        assert_eq!((shape(&c).3, shape(&c).4), (vec![3], elr));
    }
    unfence(&mut c, 2);
    fence(&mut c, 3);
    assert_eq!(shape(&c).0, None, "2 is active and not eligible");
    register(&mut c, 3, Some(3));
    unfence(&mut c, 3);
    assert_eq!(shape(&c).0, Some(3), "3 ended in order");
    let request = proposal(&c, &[2, 3]);
    alter(&mut c, request);
    give(&mut c, ControllerInput::MoveLeader { to: BrokerId(2) });
    assert_eq!(shape(&c).0, Some(2));
}

#[test]
fn without_an_elr_an_unclean_life_is_as_a_clean_one() {
    for clean in [None, Some(3)] {
        let mut c = three(2, Elr::Off);
        for id in 1..=3 {
            fence(&mut c, id);
        }
        let before = shape(&c);
        assert_eq!(before, (None, 3, 3, vec![3], vec![]));
        register(&mut c, 3, clean);
        assert_eq!(shape(&c), before, "B7");
        unfence(&mut c, 3);
        assert_eq!(shape(&c).0, Some(3));
    }
}

#[test]
fn one_never_heard_of_comes_in_fenced_and_in_no_set() {
    for clean in [None, Some(1), Some(9)] {
        let mut c = three(2, Elr::On);
        let before = shape(&c);
        register(&mut c, 9, clean);
        let life = BrokerImage { epoch: BrokerEpoch(4), state: BrokerState::Fenced };
        assert_eq!((c.brokers()[&BrokerId(9)], shape(&c)), (life, before));
        // Nor does it lead when it has caught up: it holds no replica.
        unfence(&mut c, 9);
        for id in 1..=3 {
            fence(&mut c, id);
        }
        assert_eq!(shape(&c).0, None);
    }
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
    fence(&mut c, 1);
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
fn a_new_life_has_a_session_of_its_own() {
    let mut c = three(2, Elr::On);
    fence(&mut c, 2);
    let broker = BrokerId(2);
    // Fenced it may say that it lives; the life to come does not begin then.
    let epoch = BrokerEpoch(2);
    give(&mut c, ControllerInput::Heartbeat { now_ms: 0, broker, epoch });
    register(&mut c, 2, None);
    unfence(&mut c, 2);
    let state = |c: &Controller| c.brokers()[&broker].state;
    for (now_ms, expected) in
        [(9_001, BrokerState::Active), (18_001, BrokerState::Active), (18_002, BrokerState::Fenced)]
    {
        give(&mut c, ControllerInput::Tick { now_ms });
        assert_eq!(state(&c), expected, "at {now_ms}");
    }
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
    let modes = [(Elr::On, 1), (Elr::On, 2), (Elr::Off, 1), (Elr::Off, 2)];
    let policies = [UncleanElection::Forbidden, UncleanElection::Allowed];
    for ((elr, min_isr), unclean) in modes.into_iter().flat_map(|m| policies.map(|p| (m, p))) {
        let first = Controller::new(brokers.to_vec(), min_isr, elr).with_unclean_election(unclean);
        let mut states = BTreeMap::from([(0, vec![first])]);
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
            ControllerInput::Register { broker, clean_shutdown: Some(epoch) },
            ControllerInput::Register { broker, clean_shutdown: None },
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
    if let Some(leader) = new.leader {
        let complete = old.isr.contains(&leader) || old.elr.contains(&leader);
        let risked = after.unclean == UncleanElection::Allowed || old.last_leader == new.leader;
        assert!(complete || risked, "{input:?} of {before:?}");
    }
    let refused = |e: &ControllerEffect| matches!(e, ControllerEffect::RegistrationRefused { .. });
    assert!(!effects.iter().any(refused) || before == after, "{input:?} of {before:?}");
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
