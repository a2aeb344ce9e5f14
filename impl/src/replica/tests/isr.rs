//! Joining and leaving the ISR, over every combination of what the rules look at.

use super::*;
use crate::types::{Epoch, PartitionEpoch};

const T0: i64 = 1_700_000_000_000;
const LAG: i64 = 30_000;

fn ids(of: &[i32]) -> BTreeSet<BrokerId> {
    of.iter().map(|&id| BrokerId(id)).collect()
}

fn seen(offset: u64, leader_leo: u64, now_ms: i64) -> Observation {
    let broker_epoch = Some(BrokerEpoch(2));
    Observation { offset: Offset(offset), broker_epoch, leader_leo: Offset(leader_leo), now_ms }
}

fn state(isr: &[i32]) -> IsrState {
    IsrState::new(BrokerId(1), [1, 2, 3].map(BrokerId), ids(isr), T0)
}

fn proposal(isr: &[i32]) -> AlterPartitionRequest {
    AlterPartitionRequest {
        broker: BrokerId(1),
        broker_epoch: BrokerEpoch(1),
        leader_epoch: Epoch(0),
        partition_epoch: PartitionEpoch(0),
        isr: isr.iter().map(|&id| (BrokerId(id), None)).collect(),
    }
}

fn pending(isr: &[i32], wanted: &[i32]) -> Membership {
    Membership::Pending { isr: ids(isr), proposal: proposal(wanted), outcome: Outcome::Open }
}

#[test]
fn a_follower_leaves_one_millisecond_after_its_time_is_up() {
    let mut isr = state(&[1, 2]);
    isr.observe(BrokerId(2), seen(1, 1, T0));
    let shrink = |now| isr.shrink_isr(Offset(2), now, LAG);
    assert_eq!(shrink(T0 + LAG), None);
    assert_eq!(shrink(T0 + LAG + 1), Some(ids(&[1])));
    assert_eq!(isr.shrink_isr(Offset(1), T0 + LAG + 1, LAG), None, "idle and at the LEO");
    assert!(!isr.under_min_isr(2));
    isr.membership = Membership::Committed { isr: ids(&[1]) };
    assert!(isr.under_min_isr(2) && !isr.under_min_isr(1));
}

#[test]
fn a_member_that_never_fetched_has_the_full_time_from_the_begin() {
    let isr = state(&[1, 2]);
    assert_eq!(isr.shrink_isr(Offset(0), T0 + LAG, LAG), None);
    assert_eq!(isr.followers[&BrokerId(3)], Progress::default(), "no member, no grace");
    assert_eq!(isr.shrink_isr(Offset(0), T0 + LAG + 1, LAG), Some(ids(&[1])));
}

#[test]
fn all_laggards_leave_at_once_and_the_leader_never() {
    for members in [&[1][..], &[1, 2], &[1, 3], &[1, 2, 3]] {
        for fresh in [&[][..], &[2], &[3], &[2, 3]] {
            let mut isr = state(members);
            for &id in fresh {
                isr.observe(BrokerId(id), seen(5, 5, T0 + LAG));
            }
            let stay = |id: &&i32| **id == 1 || fresh.contains(id);
            let kept: Vec<i32> = members.iter().filter(stay).copied().collect();
            let expected = (kept != members).then(|| ids(&kept));
            assert_eq!(isr.shrink_isr(Offset(6), T0 + LAG + 1, LAG), expected);
            isr.membership = pending(members, &[1]);
            assert_eq!(isr.shrink_isr(Offset(6), T0 + LAG + 1, LAG), None, "S3: one at a time");
        }
    }
}

#[test]
fn who_may_join_is_exactly_e1() {
    let states = [BrokerState::Active, BrokerState::Fenced, BrokerState::ShuttingDown];
    let mut joined = 0;
    for stored in [None, Some(1), Some(2), Some(3)] {
        for broker in states.map(Some).into_iter().chain([None]) {
            for (leo, hw, start) in (0..27).map(|n| (n % 3, n / 3 % 3, n / 9)) {
                for (member, busy) in [(false, false), (true, false), (false, true)] {
                    let members: &[i32] = if member { &[1, 2] } else { &[1] };
                    let mut isr = state(members);
                    let epoch = stored.map(BrokerEpoch);
                    let observed = Observation { broker_epoch: epoch, ..seen(leo, 2, T0) };
                    isr.observe(BrokerId(2), observed);
                    if busy {
                        isr.membership = pending(members, &[1, 3]);
                    }
                    let image = |state| BrokerImage { epoch: BrokerEpoch(2), state };
                    let brokers = broker.map(|state| (BrokerId(2), image(state)));
                    let brokers = brokers.into_iter().collect();
                    let floor = JoinFloor { hw: Offset(hw), epoch_start: Offset(start) };
                    let may = stored == Some(2)
                        && broker == Some(BrokerState::Active)
                        && leo >= hw
                        && leo >= start
                        && !member
                        && !busy;
                    let wanted = isr.expand_isr(BrokerId(2), &brokers, floor);
                    assert_eq!(wanted, may.then(|| ids(&[1, 2])));
                    joined += usize::from(may);
                }
            }
        }
    }
    assert!(joined > 0);
    let floor = JoinFloor { hw: Offset(0), epoch_start: Offset(0) };
    let unheard = state(&[1]).expand_isr(BrokerId(2), &BTreeMap::new(), floor);
    assert_eq!(unheard, None, "its LEO is not known");
}

#[test]
fn the_maximal_isr_holds_both_the_committed_and_the_proposed() {
    for committed in [&[1][..], &[1, 2], &[1, 3], &[1, 2, 3]] {
        for wanted in [&[1][..], &[1, 2], &[1, 3], &[1, 2, 3]] {
            let membership = pending(committed, wanted);
            let both = ids(&[committed, wanted].concat());
            assert_eq!((membership.maximal(), membership.committed()), (both, &ids(committed)));
        }
    }
}

#[test]
fn a_proposal_names_the_life_each_member_fetched_in() {
    let mut isr = state(&[1, 2]);
    isr.observe(BrokerId(3), seen(0, 0, T0));
    let named = isr.with_epochs(&ids(&[1, 2, 3]), BrokerEpoch(9));
    let lives = [(1, Some(9)), (2, None), (3, Some(2))];
    assert_eq!(named, lives.map(|(id, life)| (BrokerId(id), life.map(BrokerEpoch))));
}

#[test]
fn the_minimum_is_no_larger_than_the_assignment() {
    let rows = [(1, 3, 1), (2, 3, 2), (3, 3, 3), (4, 3, 3), (u32::MAX, 1, 1)];
    for (min_isr, replicas, effective) in rows {
        assert_eq!(effective_min_isr(min_isr, replicas), effective);
    }
}

#[test]
fn a_newer_registration_keeps_progress_and_follows_the_assignment() {
    let mut isr = state(&[1, 2]);
    isr.observe(BrokerId(2), seen(1, 1, T0));
    isr.membership = pending(&[1, 2], &[1]);
    isr.adopt(&[1, 2, 4].map(BrokerId), ids(&[1, 2]));
    assert_eq!(isr.membership, Membership::Committed { isr: ids(&[1, 2]) });
    assert_eq!(isr.followers[&BrokerId(2)].leo, Some(Offset(1)));
    assert_eq!(isr.followers[&BrokerId(4)], Progress::default());
    assert_eq!(isr.followers.len(), 2);
}
