use super::*;
use crate::action::Action;
use crate::bounds::Unclean;
use crate::ghost::Ghost;
use crate::message::{ClientAnswer, Image};
use crate::view::{
    BrokerState, ControllerView, Life, Outcome, Policy, Progress, Proposal, Session, Waiting,
};

/// A world of two brokers with everything right: b1 leads in epoch 1, both hold two records.
#[derive(Clone)]
struct Small {
    brokers: [BrokerView; 2],
    controller: ControllerView,
    ghost: Ghost,
}

fn good() -> Small {
    let follower = BrokerView {
        life: Life::Up,
        broker_epoch: 2,
        role: Role::Follower { epoch: 1, leader: Some(1) },
        partition_epoch: 1,
        log: vec![(0, 1).into(), (1, 2).into()],
        epochs: vec![(0, 0).into(), (1, 1).into()],
        hw: 1,
        hw_checkpoint: 0,
        proposed_at: None,
        waiting: Vec::new(),
        diverged: None,
        cut_off: Vec::new(),
    };
    let registered = |epoch| BrokerState { epoch, state: Session::Active };
    let brokers = vec![registered(1), registered(2)];
    let role = Role::Leader {
        epoch: 1,
        epoch_start: 1,
        isr: vec![1, 2],
        pending: None,
        followers: vec![Progress { broker: 2, leo: Some(2), broker_epoch: Some(2), heard: None }],
        min_isr: 2,
        known: brokers.clone(),
    };
    let leader = BrokerView { broker_epoch: 1, role, hw: 2, ..follower.clone() };
    let image = Image {
        leader: Some(1),
        leader_epoch: 1,
        partition_epoch: 1,
        isr: vec![1, 2],
        elr: Vec::new(),
        last_leader: None,
        min_isr: 2,
        brokers,
    };
    let committed = vec![Some(1), Some(2)];
    Small {
        brokers: [leader, follower],
        controller: ControllerView { image, last_broker_epoch: 2 },
        ghost: Ghost { committed, floors: vec![2, 2], ..Ghost::default() },
    }
}

impl World for Small {
    fn brokers(&self) -> Node {
        2
    }
    fn broker(&self, b: Node) -> &BrokerView {
        &self.brokers[usize::from(b) - 1]
    }
    fn controller(&self) -> &ControllerView {
        &self.controller
    }
    fn policy(&self) -> Policy {
        Policy { elr: Elr::On, unclean: Unclean::Forbidden }
    }
    fn ghost(&self) -> &Ghost {
        &self.ghost
    }
}

impl Small {
    /// b1's role, to be changed.
    fn leader(&mut self) -> (&mut u8, &mut Vec<Node>, &mut Option<Proposal>) {
        match &mut self.brokers[0].role {
            Role::Leader { epoch, isr, pending, .. } => (epoch, isr, pending),
            _ => panic!("b1 leads"),
        }
    }

    /// What is remembered when a step has led from `self` to `after`.
    fn then(&self, after: &Self, action: Action, answers: &[ClientAnswer]) -> Ghost {
        let new = self.ghost.after(self, after, action, answers);
        new.unwrap_or_else(|| self.ghost.clone())
    }
}

fn broken(change: impl FnOnce(&mut Small)) -> Vec<&'static str> {
    let mut world = good();
    change(&mut world);
    PROPERTIES.iter().filter(|p| p.0.judge(&world).is_some()).map(|p| p.1).collect()
}

#[test]
fn rows_stand_at_their_own_index() {
    assert!(PROPERTIES.iter().enumerate().all(|(i, p)| p.0 as usize == i && p.0.id() == p.1));
    assert!(WITNESSES.iter().enumerate().all(|(i, w)| w.0 as usize == i && w.0.id() == w.1));
    assert_eq!(Property::by_id("logs-match"), Some(Property::LogsMatch));
    assert_eq!(Witness::by_id("error-19"), Some(Witness::Error19));
    assert_eq!(Property::by_id("error-19"), None);
    assert_eq!(Witness::by_id("logs-match"), None);
    assert_eq!((Property::by_id("nonsense"), Witness::by_id("nonsense")), (None, None));
}

#[test]
fn each_property_notices_its_own_fault_and_nothing_else() {
    assert!(broken(|_| ()).is_empty());
    let outside = |w: &mut Small| w.controller.image.isr = vec![1];
    let begun_at_the_end = |w: &mut Small| match &mut w.brokers[0].role {
        Role::Leader { epoch_start, .. } => *epoch_start = 2,
        _ => panic!("b1 leads"),
    };
    let lags = |w: &mut Small| w.brokers[0].hw = 1;
    assert_eq!(broken(lags), ["end-offset-kept"]);
    assert_eq!(broken(|w| (lags(w), begun_at_the_end(w)).0), [""; 0], "it tells none yet");
    assert_eq!(
        broken(|w| {
            w.controller.image.isr = vec![2];
            w.controller.image.elr.clear();
            w.controller.image.min_isr = 1;
            w.controller.image.leader = Some(2);
            w.brokers[0].log.pop();
            w.brokers[0].hw = 1;
            begun_at_the_end(w);
        }),
        ["committed-survives"]
    );
    assert_eq!(
        broken(|w| {
            w.brokers[1].log[0].value = 9;
            w.ghost.committed.clear();
        }),
        ["logs-match"]
    );
    assert_eq!(broken(|w| w.ghost.read_differs = true), ["consistent-read"]);
    assert_eq!(broken(|w| w.ghost.leader_hw_fell = true), ["leader-hw-monotone"]);
    assert_eq!(broken(|w| w.brokers[1].hw = 3), ["hw-in-log"]);
    assert_eq!(broken(|w| w.brokers[0].epochs[1].offset = 0), ["epochs-ordered"]);
    assert_eq!(broken(|w| w.brokers[1].epochs.truncate(1)), ["epochs-ordered"]);
    let begun_at = |offset| broken(|w| w.brokers[1].epochs.push((2, offset).into()));
    assert_eq!(begun_at(2), [""; 0], "a reign that has written nothing");
    assert_eq!(begun_at(3), ["epochs-ordered"], "a start beyond the log end");
    let short = |w: &mut Small| {
        w.brokers[1].log.pop();
        w.brokers[1].epochs.pop();
    };
    assert_eq!(broken(short), ["candidates-complete"]);
    assert_eq!(broken(|w| (short(w), outside(w)).0), [""; 0], "no member");
    assert_eq!(broken(|w| (short(w), w.brokers[1].life = Life::Crashed).0), [""; 0]);
    assert_eq!(broken(|w| (short(w), w.brokers[1].broker_epoch = 3).0), [""; 0], "another life");
    let stopped = broken(|w| (short(w), w.brokers[1].life = Life::Stopped).0);
    assert_eq!(stopped, ["candidates-complete"]);
    assert_eq!(broken(|w| w.ghost.dishonest = true), ["acknowledged-honestly"]);
    assert_eq!(broken(|w| w.ghost.epoch_shared = true), ["one-leader-per-epoch"]);
    let both = |w: &mut Small| {
        w.brokers[1].role = w.brokers[0].role.clone();
        w.brokers[1].hw = 2;
    };
    assert_eq!(broken(both), ["one-leader-per-epoch"]);
    assert_eq!(broken(|w| (both(w), w.brokers[1].life = Life::Crashed).0), [""; 0]);
    assert_eq!(broken(|w| w.ghost.refused_written = true), ["refused-writes-nothing"]);
}

#[test]
fn an_unsound_isr_is_noticed_in_each_of_its_ways() {
    let isr = |change: fn(&mut Small)| broken(change);
    assert_eq!(isr(|w| w.controller.image.leader = Some(2)), [""; 0]);
    let leader_outside = |w: &mut Small| w.controller.image.isr = vec![2];
    assert_eq!(isr(leader_outside), ["isr-sound"]);
    for state in [Session::Fenced, Session::ShuttingDown] {
        assert_eq!(broken(|w| w.controller.image.brokers[1].state = state), ["isr-sound"]);
    }
    assert_eq!(isr(|w| w.controller.image.elr = vec![2]), ["isr-sound"], "in both");
    let eligible = |w: &mut Small| {
        w.controller.image.isr = vec![1];
        w.controller.image.elr = vec![2];
    };
    assert_eq!(isr(eligible), [""; 0]);
    let full = broken(|w| (eligible(w), w.controller.image.min_isr = 1).0);
    assert_eq!(full, ["isr-sound"], "beside a full ISR");
    assert_eq!(isr(|w| *w.leader().1 = vec![1]), ["isr-sound"], "not maximal");
    let proposed = broken(|w| {
        *w.leader().1 = vec![1];
        let isr = vec![(1, Some(1)), (2, Some(2))];
        *w.leader().2 = Some(Proposal { isr, outcome: Outcome::Unknown });
    });
    assert_eq!(proposed, [""; 0], "a proposed member is reckoned with");
    let older = broken(|w| {
        *w.leader().1 = vec![1];
        *w.leader().0 = 0;
    });
    assert_eq!(older, [""; 0], "a leader of an older epoch");
}

#[test]
fn a_leader_of_an_older_epoch_or_a_dead_one_is_not_the_current_leader() {
    let lost = |w: &mut Small| {
        w.controller.image.isr = vec![2];
        w.controller.image.leader = Some(2);
        w.controller.image.min_isr = 1;
        w.brokers[0].log.clear();
        w.brokers[0].epochs.clear();
        w.brokers[0].hw = 0;
    };
    assert_eq!(broken(lost), ["committed-survives"]);
    assert_eq!(broken(|w| (lost(w), *w.leader().0 = 0).0), [""; 0]);
    assert_eq!(broken(|w| (lost(w), w.brokers[0].life = Life::Crashed).0), [""; 0]);
}

#[test]
fn outside_the_claim_only_the_unconditional_properties_speak() {
    let wrong = |w: &mut Small| {
        w.brokers[1].log[0].value = 9;
        w.brokers[1].hw = 3;
        w.brokers[0].log.pop();
        w.brokers[0].hw = 1;
    };
    let lost = broken(|w| (wrong(w), w.ghost.lost = vec![0b11]).0);
    assert_eq!(lost, ["hw-in-log"]);
    assert_eq!(broken(|w| (wrong(w), w.ghost.unclean = true).0), ["hw-in-log"]);
    assert!(broken(|w| (wrong(w), w.ghost.lost = vec![0b1]).0).len() > 1);
}

const STEP: Action = Action::Verdict { broker: 1 };

#[test]
fn promises_are_kept_as_they_were_first_made() {
    let mut start = good();
    start.ghost = Ghost::default();
    let mut before = start.clone();
    before.brokers[0].hw = 0;
    let mut world = start.clone();
    world.ghost = before.then(&start, STEP, &[]);
    assert_eq!(world.ghost.committed, [Some(1), Some(2)]);
    assert_eq!((&world.ghost.read, &world.ghost.floors), (&vec![Some(1), Some(2)], &vec![2, 2]));
    let mut other = world.clone();
    other.brokers[1].log[0].value = 9;
    let ghost = world.then(&other, STEP, &[]);
    assert!(ghost.read_differs, "b2 shows another value at offset 0");
    assert_eq!(ghost.committed, [Some(1), Some(2)]);
    let mut fallen = world.clone();
    fallen.brokers[0].hw = 1;
    assert!(world.then(&fallen, STEP, &[]).leader_hw_fell);
    *fallen.leader().0 = 2;
    assert!(!world.then(&fallen, STEP, &[]).leader_hw_fell, "across reigns it may");
}

fn lose(world: &mut Small, broker: Node, keep: u8) {
    let mut after = world.clone();
    let view = &mut after.brokers[usize::from(broker) - 1];
    view.log.truncate(keep.into());
    (view.life, view.hw) = (Life::PowerLost, 0);
    let ghost = world.then(&after, Action::PowerLoss { broker, keep }, &[]);
    *world = Small { ghost, ..world.clone() };
}

#[test]
fn only_the_loss_of_a_committed_record_counts_against_the_claim() {
    let mut world = good();
    world.ghost.committed = vec![Some(1)];
    lose(&mut world, 1, 1);
    assert!(world.ghost.lost.is_empty());
    lose(&mut world, 1, 0);
    lose(&mut world, 1, 0);
    assert_eq!(world.ghost.lost, [0b1]);
    assert!(!world.ghost.outside_claim());
    world.ghost.floors[0] = 1;
    assert!(world.ghost.outside_claim(), "the minimum was one when it was committed");
}

#[test]
fn two_brokers_that_lost_different_records_lost_none_twice() {
    let mut world = good();
    lose(&mut world, 2, 1);
    world.ghost.committed[1] = None;
    lose(&mut world, 1, 0);
    assert_eq!(world.ghost.lost, [0b1, 0b10]);
    assert!(!world.ghost.outside_claim());
    lose(&mut world, 2, 0);
    assert!(world.ghost.outside_claim());
}

#[test]
fn an_acknowledgement_is_honest_if_enough_brokers_have_held_the_record() {
    let waiting = |held: u8| {
        let mut world = good();
        world.brokers[0].waiting = vec![Waiting { offset: 1, value: 2, epoch: 1 }];
        world.ghost.held = vec![0, held];
        world
    };
    let answer = |error, offset| [ClientAnswer { value: 2, error, offset }];
    let told = |world: &Small, answers: &[ClientAnswer]| world.then(&good(), STEP, answers);
    let honest = told(&waiting(0b11), &answer(0, Some(1)));
    assert!(!honest.dishonest && honest.held.is_empty(), "nobody waits any more");
    assert!(told(&waiting(0b01), &answer(0, Some(1))).dishonest, "one broker, and two are needed");
    assert!(told(&waiting(0b11), &answer(0, Some(0))).dishonest, "not its own record");
    assert!(!told(&waiting(0b01), &answer(7, Some(1))).dishonest);
    assert!(told(&waiting(0b11), &answer(19, None)).refused_written);
    let held = good().then(&waiting(0), STEP, &[]).held;
    assert_eq!(held, [0, 0b11], "both hold what is waited for");
}

#[test]
fn only_an_allowed_election_of_last_resort_ends_the_claim() {
    let mut before = good();
    let image = &mut before.controller.image;
    (image.leader, image.last_leader) = (None, Some(2));
    (image.isr, image.elr) = (Vec::new(), Vec::new());
    let elected = |before: &Small, leader: Node| {
        let mut after = before.clone();
        let image = &mut after.controller.image;
        (image.leader, image.isr, image.leader_epoch) = (Some(leader), vec![leader], 2);
        before.then(&after, Action::Unfence { broker: leader }, &[]).unclean
    };
    assert!(elected(&before, 2), "the last known leader (O2)");
    assert!(!elected(&before, 1), "unclean elections are forbidden, so the claim stands");
    before.controller.image.elr = vec![1];
    assert!(!elected(&before, 1), "out of the ELR is clean");
    assert!(!elected(&before, 2), "b1 could have led, so the claim stands");
    let mut after = before.clone();
    let image = &mut after.controller.image;
    (image.leader, image.isr, image.elr, image.leader_epoch) = (Some(2), vec![2], Vec::new(), 2);
    let by = |before: &Small| before.then(&after, Action::Restart { broker: 1 }, &[]).unclean;
    assert!(by(&before), "b1 has just lost its place (B2)");
    before.brokers[0].life = Life::Stopped;
    assert!(!by(&before), "b1 was shut down cleanly, so the claim stands");
}

#[test]
fn a_leader_put_in_place_of_another_without_a_new_epoch_is_noticed() {
    let (before, mut after) = (good(), good());
    after.controller.image.leader = Some(2);
    assert!(before.then(&after, STEP, &[]).epoch_shared);
    after.controller.image.leader_epoch = 2;
    assert!(!before.then(&after, STEP, &[]).epoch_shared);
}
