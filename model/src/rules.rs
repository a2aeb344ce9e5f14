//! A protocol is a value: the decisions a broker and the controller take, one function each.
//!
//! The correct functions together *are* the specification; each cites its rule code of the
//! replication rules (A1, F5, H1, ...) or the KIP it comes from. A known fault replaces one of
//! them ([`crate::fault`]); there is no toggle inside.

pub mod controller;
pub mod follower;
pub mod isr;
pub mod leader;

use klog_trace::action::{Acks, Node};
use klog_trace::message::Member;
use klog_trace::view::{Heard, Progress, Proposal, Session, Waiting};
use klog_trace::{EpochStart, Record};

use crate::mutants::{Mutant, mutants_of};

pub use controller::{Candidate, IsrChange, ProposalFacts};
pub use follower::{AnswerTaken, Diverged};
pub use isr::{Counting, Fate, Join, Trigger};
pub use leader::{Admission, Checked, LeaderLog};

/// OFFSET_OUT_OF_RANGE.
pub const OFFSET_OUT_OF_RANGE: i16 = 1;
/// The error of a request to a broker that does not lead (F2, V1).
pub const NOT_LEADER_OR_FOLLOWER: i16 = 6;
/// REQUEST_TIMED_OUT.
pub const REQUEST_TIMED_OUT: i16 = 7;
/// NOT_ENOUGH_REPLICAS.
pub const NOT_ENOUGH_REPLICAS: i16 = 19;
/// NOT_ENOUGH_REPLICAS_AFTER_APPEND.
pub const NOT_ENOUGH_REPLICAS_AFTER_APPEND: i16 = 20;
/// INVALID_REQUEST.
pub const INVALID_REQUEST: i16 = 42;
/// FENCED_LEADER_EPOCH.
pub const FENCED_LEADER_EPOCH: i16 = 74;
/// UNKNOWN_LEADER_EPOCH.
pub const UNKNOWN_LEADER_EPOCH: i16 = 75;
/// STALE_BROKER_EPOCH.
pub const STALE_BROKER_EPOCH: i16 = 77;
/// INVALID_UPDATE_VERSION.
pub const INVALID_UPDATE_VERSION: i16 = 95;
/// INELIGIBLE_REPLICA.
pub const INELIGIBLE_REPLICA: i16 = 107;

/// Declares [`Rules`], its correct value, the names of its fields and their mutants from one list,
/// so that a rule is added in one place.
macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident: fn($($arg:ident: $of:ty),*) -> $result:ty =
        $correct:path,)*) => {
        /// The decisions of a protocol.
        #[derive(Clone, Copy, Debug)]
        pub struct Rules {
            $($(#[$doc])* pub $name: fn($($arg: $of),*) -> $result,)*
        }

        impl Rules {
            /// Every rule by its name.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// The rules of `klog`: nothing broken.
            pub const fn correct() -> Self {
                Self { $($name: $correct,)* }
            }

            /// Every rule with one argument, or its result, changed in one way.
            pub(crate) fn mutants() -> Vec<Mutant> {
                [$(mutants_of!($name: fn($($arg: $of),*) -> $result = $correct)),*].concat()
            }
        }
    };
}

rules! {
    /// A3: whether an acks=all produce is appended, or refused with an error.
    admits: fn(isr: usize, min_isr: u8) -> Admission = leader::admits,
    /// A5: whether the answer to an appended produce waits for the high watermark.
    waits: fn(acks: Acks) -> bool = leader::waits,
    /// V1 to V3: whether a waiting produce is decided at a broker that leads in `leads`, or does
    /// not, and has this high watermark.
    decides: fn(waiting: Waiting, leads: Option<u8>, hw: u8) -> bool = leader::decides,
    /// V3: the error of a waiting produce that is decided.
    verdict: fn(maximal: usize, min_isr: u8) -> i16 = leader::verdict,
    /// V1, B70: whether a produce stops waiting when its leader epoch ends.
    ends_with_reign: fn(waiting: Waiting) -> bool = leader::ends_with_reign,
    /// N1: how far consumers may read at a leader with this high watermark and LEO.
    readable: fn(hw: u8, leo: u8) -> u8 = leader::readable,
    /// N2: the end of the log that consumers are told at a leader with this high watermark, whose
    /// epoch began there; none: it is not available yet.
    told_end: fn(hw: u8, epoch_start: u8) -> Option<u8> = leader::told_end,

    /// F1: the error for a request made in epoch `asked` when the receiver is in `mine` (none: it
    /// has applied no metadata since it started).
    fence: fn(asked: u8, mine: Option<u8>) -> Option<i16> = leader::fence,
    /// F5: what a leader with this cache and LEO says to a fetch: nothing (the logs agree), where
    /// they diverge, or an error. Looks the epoch up with [`Rules::epoch_end`].
    diverging: fn(
        leader: LeaderLog<'_>, offset: u8, last_epoch: u8
    ) -> Result<Option<EpochStart>, i16> = leader::diverging,
    /// Section 15: where the epoch `asked` ends in a log with this cache and LEO.
    epoch_end: fn(cache: &[EpochStart], leo: u8, asked: u8) -> Option<EpochStart> =
        leader::epoch_end,
    /// U1: whether a fetch comes from an older life of its broker than the metadata knows.
    from_older_life: fn(fetched: u8, known: u8) -> bool = leader::from_older_life,
    /// F6: whether a fetch that was checked so is news of its sender's progress.
    counts_as_progress: fn(checked: Checked) -> bool = leader::counts_as_progress,

    /// Q4b, B08: whether an answer is sent with the records that were read for it, and not with
    /// what stands there when it is sent.
    sends_what_was_read: fn() -> bool = leader::sends_what_was_read,

    /// U2: whether a fetch shows its follower caught up, at a leader with this LEO that had
    /// `previous` at its previous fetch; none if that is long ago.
    shows_caught_up: fn(offset: u8, leo: u8, previous: Option<u8>) -> bool =
        leader::shows_caught_up,

    /// L3: the cache of a log with this LEO when a new leader epoch begins.
    begin_epoch: fn(cache: Vec<EpochStart>, epoch: u8, leo: u8) -> Vec<EpochStart> =
        leader::begin_epoch,
    /// L3, X1: what a new leader epoch knows of a follower, a member of the ISR or not, that the
    /// epoch before, if this broker led it, knew so.
    progress_at_start: fn(before: Progress, is_member: bool) -> Progress =
        leader::progress_at_start,
    /// L5: the high watermark with which a leader epoch begins.
    hw_at_start: fn(hw: u8, leo: u8) -> u8 = leader::hw_at_start,
    /// L1, L2, X2: whether a registration of the same leader epoch settles the ISR.
    settles: fn(image: u8, mine: u8) -> bool = isr::settles,

    /// D1: the high watermark of a broker that starts with this checkpoint and LEO.
    hw_at_restart: fn(checkpoint: u8, leo: u8) -> u8 = follower::hw_at_restart,
    /// M2: whether a follower begins anew when the leader epoch grows and the leader is the same.
    restarts_fetcher: fn() -> bool = follower::restarts_fetcher,
    /// M4: where a broker that becomes a follower cuts its log before its first fetch.
    cut_on_following: fn(leo: u8, hw: u8) -> u8 = follower::cut_on_following,
    /// Q1, Q5: the last fetched epoch a follower puts into its fetch, after such an answer.
    last_epoch: fn(cache: &[EpochStart], after: AnswerTaken) -> Option<u8> = follower::last_epoch,
    /// Q2: whether an answer to the fetch made at `of` is for a follower that is at `mine`;
    /// both are (epoch, offset).
    answer_is_mine: fn(of: EpochStart, mine: EpochStart) -> bool = follower::answer_is_mine,
    /// Q2: the same of an answer that tells where the logs diverge.
    diverging_is_mine: fn(of: EpochStart, mine: EpochStart) -> bool = follower::answer_is_mine,
    /// Q3: what becomes of the high watermark of an answer that tells where the logs diverge.
    on_diverging: fn(own: u8, answered: u8, leo: u8) -> Diverged = follower::on_diverging,
    /// T3 to T5: where a follower cuts its log when the leader says it diverges.
    cut_on_diverging: fn(cache: &[EpochStart], leo: u8, leader: EpochStart) -> u8 =
        follower::cut_on_diverging,
    /// T6, B77: whether what is cut off a log is gone for good.
    cut_is_durable: fn() -> bool = follower::cut_is_durable,
    /// T6: the cache of a log that is cut at `to`.
    cut_cache: fn(cache: Vec<EpochStart>, to: u8, leo: u8) -> Vec<EpochStart> =
        follower::cut_cache,
    /// Q4b: how many of the records of an answer a follower in `epoch` takes.
    takes: fn(records: &[Record], epoch: u8) -> usize = follower::takes,
    /// Q4c and klog's departure: a follower's high watermark after an answer.
    follower_hw: fn(own: u8, answered: u8, leo: u8) -> u8 = follower::follower_hw,

    /// C1: whether a follower with this LEO, heard so recently, is caught up with its leader's.
    caught_up: fn(leo: Option<u8>, leader: u8, heard: Option<Heard>) -> bool = isr::caught_up,
    /// B108: whether what was recent is so when the clock was set back.
    recent_after_setback: fn(was: bool) -> bool = isr::recent_after_setback,
    /// E1, B48: the log end by which a follower joins whose log end, as far as its leader knew, was
    /// `before` until its fetch told `now`.
    joins_at: fn(before: Option<u8>, now: Option<u8>) -> Option<u8> = isr::joins_at,
    /// E1: whether a follower's fetch makes the leader propose it into the ISR.
    joins: fn(join: Join) -> bool = isr::joins,
    /// P1: the members of a proposal that is sent again, which was made so, and would now be made
    /// so.
    resent: fn(made: Vec<Member>, now: Vec<Member>) -> Vec<Member> = isr::resent,
    /// R0: whether an answer to the proposal made at `of` is for the open one, made at `mine`;
    /// both are (leader epoch, partition epoch).
    reply_is_mine: fn(of: (u8, u8), mine: (u8, u8)) -> bool = isr::reply_is_mine,
    /// R2 to R4: what an error proves of a proposal.
    refused: fn(error: i16) -> Fate = isr::refused,
    /// R4: what it proves of a proposal that its answer got lost.
    answer_lost: fn() -> Fate = isr::answer_lost,
    /// I1: the maximal ISR of a committed ISR and an open proposal.
    maximal_isr: fn(isr: &[Node], pending: Option<&Proposal>) -> Vec<Node> = isr::maximal_isr,
    /// H1: whether the high watermark may move at all.
    hw_may_move: fn(isr: usize, maximal: usize, min_isr: u8) -> bool = isr::hw_may_move,
    /// H2: whether the high watermark waits for a follower.
    counts_for_hw: fn(counting: Counting<'_>) -> bool = isr::counts_for_hw,
    /// H3: the high watermark after a candidate.
    raised: fn(hw: u8, candidate: u8) -> u8 = isr::raised,
    /// H5 (KAFKA-13091): whether it is tried when a proposal is accepted.
    tries_hw_after_accept: fn() -> bool = isr::tries_hw,
    /// H5, X4: whether it is tried when a proposal is refused for good.
    tries_hw_after_refusal: fn() -> bool = isr::tries_hw,
    /// H5, X5: whether it is tried when metadata tells of brokers only.
    tries_hw_on_brokers: fn() -> bool = isr::tries_hw,
    /// H5, X5: whether it is tried when the shrink task runs.
    tries_hw_on_tick: fn() -> bool = isr::tries_hw,

    /// B1: whether a broker may register a new life while the old one is registered so.
    may_register: fn(old: Session) -> bool = controller::may_register,
    /// B1, D3: whether a registration is clean that brings a marker of the broker epoch `marker`
    /// while `registered` is the registered one.
    is_clean: fn(marker: Option<u8>, registered: u8) -> bool = controller::is_clean,
    /// 18.8: whether a proposal made at the version `made` may be accepted at `mine`.
    version_is_current: fn(made: u8, mine: u8) -> bool = controller::version_is_current,
    /// 18.13 (KIP-841): whether a proposed member may be registered so.
    member_is_active: fn(state: Session) -> bool = controller::member_is_active,
    /// 18.13 (KIP-903): whether a proposed member's broker epoch, if it was said, is good where
    /// `registered` is the registered one.
    member_lives: fn(said: Option<u8>, registered: u8) -> bool = controller::member_lives,
    /// Section 18: the error with which a proposal is refused, 0 if it is accepted.
    refuse_proposal: fn(facts: ProposalFacts) -> i16 = controller::refuse_proposal,
    /// R2, X6: whether a refusal with this error is a new version of the registration.
    refusal_is_versioned: fn(error: i16) -> bool = controller::refusal_is_versioned,
    /// Z1, Z2: the ELR after a change of the ISR; none where there is no ELR.
    eligible_after: fn(change: IsrChange<'_>) -> Option<Vec<Node>> = controller::eligible_after,
    /// B7: whether the ISR may be written empty where there is no ELR.
    may_be_empty: fn() -> bool = controller::may_be_empty,
    /// O1: whether a broker may be elected.
    may_lead: fn(candidate: Candidate) -> bool = controller::may_lead,
    /// O2: whether the last known leader may be elected, when nobody else is left.
    last_leader_may: fn(state: Session) -> bool = controller::last_leader_may,
    /// K1: whether a change of the leader begins a new leader epoch; `last` led before it, or
    /// before there was none.
    begins_epoch: fn(was: Option<Node>, last: Option<Node>, now: Option<Node>) -> bool =
        controller::begins_epoch,
    /// Z4: the ELR after a change of the minimum ISR.
    elr_after_min_isr: fn(elr: Vec<Node>) -> Vec<Node> = controller::elr_after_min_isr,
    /// X3: whether a change of the minimum ISR is a new version of the registration.
    min_isr_is_versioned: fn() -> bool = controller::min_isr_is_versioned,
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
