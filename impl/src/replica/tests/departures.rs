//! Where klog departs from Kafka (last table of docs/protocol.md): the scripts that break Kafka's
//! rules.

use super::harness::World;
use crate::controller::ControllerInput;
use crate::replica::io::AlterPartitionAnswer;
use crate::replica::isr::{Membership, Outcome};
use crate::replica::progress::Progress;
use crate::types::{BrokerEpoch, BrokerId, Epoch, ErrorCode, Offset};
use std::collections::BTreeSet;

fn ids(of: &[i32]) -> BTreeSet<BrokerId> {
    of.iter().map(|&id| BrokerId(id)).collect()
}

#[test]
fn x1_a_leader_elected_again_has_forgotten_what_followers_acknowledged() {
    // In the order of the assignment: C is 1, A is 2, B is 3.
    let mut w = World::new(3, 2);
    w.move_leader(2);
    (1..=3).for_each(|id| drop(w.apply(id)));
    let v0 = w.produce(2, -1);
    w.round(3);
    w.deliver_fetch(3);
    assert_eq!(w.leader(2).isr.followers[&BrokerId(3)].leo, Some(Offset(1)));
    assert_eq!(w.at(2), (1, 0), "C has not fetched");

    w.move_leader(1);
    w.apply(3);
    w.apply(1);
    assert_eq!(w.round(3).diverging, Some((Epoch(1), Offset(0))));
    assert_eq!(w.at(3), (0, 0));
    w.fence(1);
    assert_eq!(w.controller.partition().leader, Some(BrokerId(2)));
    assert_eq!(w.controller.partition().isr, ids(&[2, 3]));

    w.apply(2);
    let grace = Progress { last_caught_up_ms: Some(w.now), ..Progress::default() };
    assert_eq!(w.leader(2).isr.followers[&BrokerId(3)], grace);
    assert_eq!(w.at(2), (1, 0));
    assert_eq!(w.answered[&v0].0, ErrorCode::NotLeaderOrFollower);
    w.apply(3);
    w.round(3);
    assert_eq!(w.at(2), (1, 0));
    w.round(3);
    assert_eq!((w.at(2), w.at(3)), ((1, 1), (1, 1)));
}

#[test]
fn x2_a_partition_epoch_already_known_cancels_nothing() {
    let mut w = World::new(2, 1);
    w.now += 30_001;
    w.tick(1);
    w.decide();
    w.hear(1);
    assert_eq!(w.leader(1).isr.membership, Membership::Committed { isr: ids(&[1]) });
    w.deliver_fetch(2);
    let proposed = w.leader(1).isr.membership.clone();
    assert_eq!(proposed.maximal(), ids(&[1, 2]));
    let v1 = w.produce(1, -1);
    w.apply(1);
    assert_eq!(w.leader(1).isr.membership, proposed);
    assert_eq!((w.at(1), w.error_of(1, v1)), ((1, 0), None));
    w.decide();
    assert_eq!(w.controller.partition().isr, ids(&[1, 2]));
    w.deliver_reply(2);
    w.round(2);
    assert_eq!(w.error_of(1, v1), None);
    w.round(2);
    assert_eq!(w.error_of(1, v1), Some(ErrorCode::None));
    assert_eq!(w.at(2).0, 1);
}

#[test]
fn a_newer_partition_epoch_cancels_what_was_proposed_before_it() {
    let mut w = World::new(3, 1);
    w.produce(1, 1);
    w.round(2);
    w.round(2);
    w.now += 30_001;
    w.round(2);
    w.tick(1);
    assert_eq!(w.leader(1).isr.membership.committed(), &ids(&[1, 2, 3]));
    w.fence(3);
    w.apply(1);
    assert_eq!(w.leader(1).isr.membership, Membership::Committed { isr: ids(&[1, 2]) });
    assert_eq!(w.leader(1).isr.followers[&BrokerId(2)].leo, Some(Offset(1)), "progress is kept");
    w.decide();
    let refused = AlterPartitionAnswer::Refused(ErrorCode::InvalidUpdateVersion);
    assert_eq!(w.hear(1), refused);
    assert_eq!(w.leader(1).isr.membership, Membership::Committed { isr: ids(&[1, 2]) });
}

#[test]
fn x3_a_proposal_made_under_another_minimum_is_refused() {
    let mut w = World::new(2, 1);
    let v1 = w.produce(1, -1);
    w.now += 30_001;
    w.tick(1);
    w.control(ControllerInput::ChangeMinIsr { min_isr: 2 });
    w.decide();
    assert_eq!(w.hear(1), AlterPartitionAnswer::Refused(ErrorCode::InvalidUpdateVersion));
    assert_eq!((w.at(1), w.error_of(1, v1)), ((1, 0), None));
    assert_eq!(w.leader(1).isr.membership.maximal(), ids(&[1, 2]), "still pending (R3)");
    w.apply(1);
    assert_eq!(w.leader(1).isr.membership, Membership::Committed { isr: ids(&[1, 2]) });
    w.tick(1);
    w.decide();
    w.hear(1);
    assert_eq!(w.controller.partition().elr, ids(&[2]));
    assert_eq!((w.at(1), w.error_of(1, v1)), ((1, 0), None), "under the minimum (H1)");
}

/// The second broker is out of the ISR and proposed again, one produce waits for it, and it is
/// fenced at the controller.
fn proposed_and_fenced() -> (World, u64) {
    let mut w = World::new(2, 1);
    w.produce(1, 1);
    w.shrink(1);
    w.round(2);
    w.round(2);
    assert_eq!(w.proposals.len(), 1);
    let v = w.produce(1, -1);
    w.fence(2);
    w.decide();
    assert_eq!(w.error_of(1, v), None);
    (w, v)
}

/// The refusal is a new version of the registration (X6), which alone would be enough; so the
/// leader has not heard of it yet.
fn apply_all_but_the_refusal(w: &mut World) {
    let before = w.images.len() - 2;
    w.apply_image(1, before);
}

#[test]
fn x4_a_refused_proposal_is_enough_to_commit() {
    let (mut w, v) = proposed_and_fenced();
    apply_all_but_the_refusal(&mut w);
    assert_eq!(w.error_of(1, v), None, "still in the maximal ISR");
    assert_eq!(w.hear(1), AlterPartitionAnswer::Refused(ErrorCode::IneligibleReplica));
    assert_eq!((w.at(1), w.error_of(1, v)), ((2, 2), Some(ErrorCode::None)));
}

#[test]
fn x5_a_change_of_a_broker_is_enough_to_commit() {
    let (mut w, v) = proposed_and_fenced();
    w.hear(1);
    assert_eq!(w.error_of(1, v), None, "about to join, as far as the leader knows");
    let known = w.node(1).replica.registration().cloned();
    apply_all_but_the_refusal(&mut w);
    assert_eq!(w.node(1).replica.registration().cloned(), known, "nothing new of the partition");
    assert_eq!((w.at(1), w.error_of(1, v)), ((2, 2), Some(ErrorCode::None)));
}

#[test]
fn x5_a_new_life_of_a_broker_is_enough_to_commit() {
    let (mut w, v) = proposed_and_fenced();
    let (broker, clean_shutdown) = (BrokerId(2), Some(BrokerEpoch(2)));
    w.control(ControllerInput::Register { broker, clean_shutdown });
    w.unfence(2);
    w.hear(1);
    assert_eq!(w.error_of(1, v), None);
    w.apply(1);
    assert_eq!(w.error_of(1, v), Some(ErrorCode::None));
}

#[test]
fn x5_time_alone_is_enough_to_commit() {
    let (mut w, v) = proposed_and_fenced();
    w.hear(1);
    w.now += 29_999;
    w.tick(1);
    assert_eq!(w.at(1), (2, 1));
    w.now += 2;
    w.tick(1);
    assert_eq!((w.at(1), w.error_of(1, v)), ((2, 2), Some(ErrorCode::None)));
}

#[test]
fn what_proves_nothing_leaves_the_maximal_isr_wide_until_metadata_tells() {
    let mut w = World::new(2, 1);
    w.produce(1, 1);
    w.now += 30_001;
    w.tick(1);
    let sent = w.proposals[0].clone();
    w.decide();
    w.decisions.clear();
    w.hear_of(1, sent.clone(), AlterPartitionAnswer::Lost);
    w.tick(1);
    assert_eq!(w.proposals, [sent], "the same again (R4)");
    w.decide();
    assert_eq!(w.hear(1), AlterPartitionAnswer::Refused(ErrorCode::InvalidUpdateVersion));
    let pending = &w.leader(1).isr.membership;
    assert!(matches!(pending, Membership::Pending { outcome: Outcome::Unknown, .. }));
    w.tick(1);
    assert_eq!((w.proposals.len(), w.at(1)), (0, (1, 0)), "and not a third time");
    w.apply(1);
    assert_eq!(w.leader(1).isr.membership, Membership::Committed { isr: ids(&[1]) });
    assert_eq!(w.at(1), (1, 1));
}
