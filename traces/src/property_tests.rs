use super::*;
use crate::ghost::Ghost;
use crate::view::{EpochStart, Record};

/// A world of two brokers with everything right: b1 leads in epoch 1, both hold two records.
#[derive(Clone)]
struct Small {
    up: [bool; 2],
    logs: [Vec<Record>; 2],
    epochs: [Vec<EpochStart>; 2],
    hw: [u8; 2],
    leads: [Option<u8>; 2],
    isr: Vec<Node>,
    ghost: Ghost,
}

fn good() -> Small {
    let log: Vec<Record> = vec![(0, 1).into(), (1, 2).into()];
    let epochs: Vec<EpochStart> = vec![(0, 0).into(), (1, 1).into()];
    Small {
        up: [true; 2],
        logs: [log.clone(), log],
        epochs: [epochs.clone(), epochs],
        hw: [2, 1],
        leads: [Some(1), None],
        isr: vec![1, 2],
        ghost: Ghost { committed: vec![Some(1), Some(2)], ..Ghost::default() },
    }
}

impl World for Small {
    fn brokers(&self) -> Node {
        2
    }
    fn is_up(&self, b: Node) -> bool {
        self.up[usize::from(b) - 1]
    }
    fn log(&self, b: Node) -> &[Record] {
        &self.logs[usize::from(b) - 1]
    }
    fn epochs(&self, b: Node) -> &[EpochStart] {
        &self.epochs[usize::from(b) - 1]
    }
    fn hw(&self, b: Node) -> u8 {
        self.hw[usize::from(b) - 1]
    }
    fn leads(&self, b: Node) -> Option<u8> {
        self.leads[usize::from(b) - 1]
    }
    fn leader_epoch(&self) -> u8 {
        1
    }
    fn isr(&self) -> &[Node] {
        &self.isr
    }
    fn min_isr(&self) -> u8 {
        2
    }
    fn ghost(&self) -> &Ghost {
        &self.ghost
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
    assert_eq!(
        broken(|w| {
            w.logs[0].pop();
            w.hw[0] = 1;
        }),
        ["committed-survives"]
    );
    assert_eq!(broken(|w| w.logs[1][0].value = 9), ["logs-match"]);
    assert_eq!(broken(|w| w.ghost.read_differs = true), ["consistent-read"]);
    assert_eq!(broken(|w| w.ghost.leader_hw_fell = true), ["leader-hw-monotone"]);
    assert_eq!(broken(|w| w.hw[1] = 3), ["hw-in-log"]);
    assert_eq!(broken(|w| w.epochs[0][1].offset = 0), ["epochs-ordered"]);
    assert_eq!(broken(|w| w.epochs[1].truncate(1)), ["epochs-ordered"]);
    let begun_at = |offset| broken(|w| w.epochs[1].push((2, offset).into()));
    assert_eq!(begun_at(2), [""; 0], "a reign that has written nothing");
    assert_eq!(begun_at(3), ["epochs-ordered"], "a start beyond the log end");
}

#[test]
fn a_leader_of_an_older_epoch_or_a_dead_one_is_not_the_current_leader() {
    let lost = |w: &mut Small| {
        w.logs[0].clear();
        w.epochs[0].clear();
    };
    assert_eq!(
        broken(|w| {
            lost(w);
            w.hw[0] = 0;
            w.leads[0] = Some(0);
        }),
        [""; 0]
    );
    assert_eq!(
        broken(|w| {
            lost(w);
            w.hw[0] = 0;
            w.up[0] = false;
        }),
        [""; 0]
    );
}

#[test]
fn outside_the_claim_only_the_unconditional_properties_speak() {
    let outside = broken(|w| {
        w.ghost.lost = vec![0b11];
        w.logs[1][0].value = 9;
        w.hw[1] = 3;
        w.logs[0].pop();
        w.hw[0] = 1;
    });
    assert_eq!(outside, ["hw-in-log"]);
}

#[test]
fn promises_are_kept_as_they_were_first_made() {
    let mut ghost = Ghost::default();
    let mut world = good();
    ghost.observe(&world, 1, Some(1), 0);
    assert_eq!(ghost.committed, [Some(1), Some(2)]);
    assert_eq!(ghost.read, [Some(1), Some(2)]);
    world.logs[1][0].value = 9;
    ghost.observe(&world, 2, None, 0);
    assert!(ghost.read_differs, "b2 shows another value at offset 0");
    assert_eq!(ghost.committed, [Some(1), Some(2)]);
    world.hw[0] = 1;
    ghost.observe(&world, 1, Some(1), 2);
    assert!(ghost.leader_hw_fell);
}

#[test]
fn a_high_watermark_may_fall_across_reigns() {
    let mut ghost = Ghost::default();
    let mut world = good();
    world.hw[0] = 0;
    ghost.observe(&world, 1, Some(0), 2);
    assert!(!ghost.leader_hw_fell);
}

#[test]
fn only_the_loss_of_a_committed_record_counts_against_the_claim() {
    let world = good();
    let mut ghost = Ghost { committed: vec![Some(1)], ..Ghost::default() };
    ghost.power_lost(&world, 1, 1);
    assert!(ghost.lost.is_empty());
    ghost.power_lost(&world, 1, 0);
    ghost.power_lost(&world, 1, 0);
    assert_eq!(ghost.lost, [0b1]);
    assert!(ghost.outside_claim(1) && !ghost.outside_claim(2));
}

#[test]
fn two_brokers_that_lost_different_records_lost_none_twice() {
    let world = good();
    let mut ghost = Ghost { committed: vec![Some(1), Some(2)], ..Ghost::default() };
    ghost.power_lost(&world, 2, 1);
    assert!(!ghost.outside_claim(2));
    ghost.committed[1] = None;
    ghost.power_lost(&world, 1, 0);
    assert_eq!(ghost.lost, [0b1, 0b10]);
    assert!(!ghost.outside_claim(2));
    ghost.power_lost(&world, 2, 0);
    assert!(ghost.outside_claim(2));
}
