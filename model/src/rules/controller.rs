//! The controller's decisions: registrations, proposals, elections (sections 18 and 19).

use klog_trace::action::Node;
use klog_trace::view::Session;

use super::{
    FENCED_LEADER_EPOCH, INELIGIBLE_REPLICA, INVALID_REQUEST, INVALID_UPDATE_VERSION,
    STALE_BROKER_EPOCH,
};

/// What the controller's new ISR does to the ELR ([`super::Rules::eligible_after`]).
#[derive(Clone, Copy, Debug)]
pub struct IsrChange<'a> {
    /// The ISR before.
    pub isr: &'a [Node],
    /// The ELR before.
    pub elr: &'a [Node],
    /// The ISR that shall be.
    pub target: &'a [Node],
    /// Members whose log may have lost its end.
    pub unclean: &'a [Node],
    /// The effective minimum size of the ISR.
    pub min_isr: u8,
}

/// What is true of a proposal when it reaches the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "a list of facts, each checked by itself")]
pub struct ProposalFacts {
    /// The sender's broker epoch is the registered one.
    pub sender_lives: bool,
    /// It was made in the present leader epoch, or a later one.
    pub epoch_is_current: bool,
    /// The sender leads.
    pub sender_leads: bool,
    /// It was made at the present partition epoch, or a later one.
    pub version_is_current: bool,
    /// The sender is a member.
    pub sender_is_member: bool,
    /// Every member is active.
    pub members_are_active: bool,
    /// Every member's broker epoch is the registered one, if it was said.
    pub members_live: bool,
}

/// A broker that might lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "a list of facts, each checked by itself")]
pub struct Candidate {
    /// It is in the ISR.
    pub in_isr: bool,
    /// It is in the ELR.
    pub in_elr: bool,
    /// The ISR is empty.
    pub isr_is_empty: bool,
    /// It is registered and neither fenced nor shutting down.
    pub is_active: bool,
}

/// B1 (KIP-380): not before the session of the old life is over.
pub fn may_register(old: Session) -> bool {
    old == Session::Fenced
}

/// B1, D3 (KIP-966): the marker says that the very life the controller knows was shut down.
pub fn is_clean(marker: Option<u8>, registered: u8) -> bool {
    marker == Some(registered)
}

/// 18.8: a proposal is about one version of the registration.
pub fn version_is_current(made: u8, mine: u8) -> bool {
    made >= mine
}

/// 18.13 (KIP-841): neither fenced nor shutting down.
pub fn member_is_active(state: Session) -> bool {
    state == Session::Active
}

/// 18.13 (KIP-903): the life that is in sync is the one that is registered.
pub fn member_lives(said: Option<u8>, registered: u8) -> bool {
    said.is_none_or(|said| said == registered)
}

/// Section 18: the checks in their order.
pub fn refuse_proposal(facts: ProposalFacts) -> i16 {
    let checks = [
        (facts.sender_lives, STALE_BROKER_EPOCH),
        (facts.epoch_is_current, FENCED_LEADER_EPOCH),
        (facts.sender_leads, INVALID_REQUEST),
        (facts.version_is_current, INVALID_UPDATE_VERSION),
        (facts.sender_is_member, INVALID_REQUEST),
        (facts.members_are_active && facts.members_live, INELIGIBLE_REPLICA),
    ];
    checks.into_iter().find(|(passed, _)| !passed).map_or(0, |(_, error)| error)
}

/// klog's departure (X6): an ineligible member may be eligible again when an earlier try of the
/// same proposal arrives, and the leader takes this refusal for final (R2). So it is made final.
pub fn refusal_is_versioned(error: i16) -> bool {
    error == INELIGIBLE_REPLICA
}

/// Z1, Z2 (KIP-966): under the minimum, whoever left the ISR without losing its log stays
/// eligible, since nothing is committed without it.
pub fn eligible_after(change: IsrChange<'_>) -> Option<Vec<Node>> {
    if change.target.len() >= usize::from(change.min_isr) {
        return Some(Vec::new());
    }
    let mut elr: Vec<Node> = change.isr.iter().chain(change.elr).copied().collect();
    elr.retain(|b| !change.target.contains(b) && !change.unclean.contains(b));
    elr.sort_unstable();
    elr.dedup();
    Some(elr)
}

/// B7: without an ELR the last member is never removed.
pub fn may_be_empty() -> bool {
    false
}

/// O1: an active member of the ISR, or of the ELR where the ISR is empty.
pub fn may_lead(candidate: Candidate) -> bool {
    let Candidate { in_isr, in_elr, isr_is_empty, is_active } = candidate;
    is_active && (in_isr || isr_is_empty && in_elr)
}

/// O2: only if it is active (the check came with 4.1).
pub fn last_leader_may(state: Session) -> bool {
    state == Session::Active
}

/// K1: whenever the leader changes, also from none to the one before.
pub fn begins_epoch(was: Option<Node>, _last: Option<Node>, now: Option<Node>) -> bool {
    was != now
}

/// Z4 (KAFKA-16540): under another minimum the ELR means nothing any more.
pub fn elr_after_min_isr(_elr: Vec<Node>) -> Vec<Node> {
    Vec::new()
}

/// klog's departure (X3): so that a proposal made under the old minimum is refused.
pub fn min_isr_is_versioned() -> bool {
    true
}
