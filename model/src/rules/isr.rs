//! A leader's decisions on its ISR and its high watermark (sections 8 and 9).

use klog_trace::action::Node;
use klog_trace::message::Member;
use klog_trace::view::{BrokerState, Heard, Progress, Proposal, Session};

use super::INELIGIBLE_REPLICA;

/// What [`super::Rules::joins`] decides on.
#[derive(Clone, Copy, Debug)]
pub struct Join {
    /// The follower that fetched.
    pub follower: Progress,
    /// Its registration as the leader's metadata says.
    pub known: BrokerState,
    /// The leader's high watermark.
    pub hw: u8,
    /// The leader's LEO when its epoch began.
    pub epoch_start: u8,
}

/// What [`super::Rules::counts_for_hw`] decides on.
#[derive(Clone, Copy, Debug)]
pub struct Counting<'a> {
    /// The follower.
    pub follower: Progress,
    /// The maximal ISR.
    pub maximal: &'a [Node],
    /// The follower's registration as the leader's metadata says; none before it has applied any.
    pub known: Option<BrokerState>,
    /// Whether the follower is caught up (C1).
    pub caught_up: bool,
}

/// What makes a leader try its high watermark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// It appended.
    Append,
    /// A follower's fetch told of its log end.
    Progress,
    /// It applied a newer registration of the partition, or began a reign.
    Registration,
    /// It applied metadata that tells of brokers only.
    Brokers,
    /// Its proposal was accepted.
    Accepted,
    /// Its proposal was refused for good.
    Refused,
    /// Its shrink task ran.
    Tick,
}

/// What is proven of a proposal that was answered with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was not applied and will not be.
    Void,
    /// Nothing: an earlier try may have been applied.
    Unknown,
    /// It was not looked at, and is sent again.
    Again,
}

/// L2, L4 and klog's departure (X2): only a newer registration settles the ISR and whatever was
/// proposed; one already learnt from an answer settles nothing.
pub fn settles(image: u8, mine: u8) -> bool {
    image > mine
}

/// E1 and KAFKA-15221: log end and broker epoch of one and the same fetch.
pub fn joins_at(_before: Option<u8>, now: Option<u8>) -> Option<u8> {
    now
}

/// E1: at the high watermark, past the start of the leader's epoch (KAFKA-7128), and eligible.
pub fn joins(join: Join) -> bool {
    let Some(leo) = join.follower.leo else {
        return false;
    };
    leo >= join.hw && leo >= join.epoch_start && eligible(join.follower, join.known)
}

/// Active (KIP-841), and in the very life that fetched (KIP-903).
fn eligible(follower: Progress, known: BrokerState) -> bool {
    known.state == Session::Active && follower.broker_epoch == Some(known.epoch)
}

/// C1 (KAFKA-7152): at the log end, or caught up recently.
pub fn caught_up(leo: Option<u8>, leader: u8, heard: Option<Heard>) -> bool {
    leo == Some(leader) || heard.is_some_and(|heard| heard.caught_up)
}

/// B108: how long ago it was cannot be known any more.
pub fn recent_after_setback(_was: bool) -> bool {
    false
}

/// P1, R4: the same to the byte.
pub fn resent(made: Vec<Member>, _now: Vec<Member>) -> Vec<Member> {
    made
}

/// R0: the very proposal that is open.
pub fn reply_is_mine(of: (u8, u8), mine: (u8, u8)) -> bool {
    of == mine
}

/// R2 to R4 (KIP-497, KAFKA-14154): 107 and 55 prove that nothing was applied; of the other
/// errors some prove nothing, and some say that nobody looked.
pub fn refused(error: i16) -> Fate {
    match error {
        55 | INELIGIBLE_REPLICA => Fate::Void,
        3 | 42 | 74 | 95 | 100 | 108 => Fate::Unknown,
        _ => Fate::Again,
    }
}

/// R4: nobody knows whether the controller has looked at it, so it is asked again.
pub fn answer_lost() -> Fate {
    Fate::Again
}

/// I1 (KIP-497): who may be in the controller's ISR, whatever becomes of the open proposal.
pub fn maximal_isr(isr: &[Node], pending: Option<&Proposal>) -> Vec<Node> {
    let mut maximal = isr.to_vec();
    maximal.extend(pending.iter().flat_map(|p| p.isr.iter().map(|member| member.0)));
    maximal.sort_unstable();
    maximal.dedup();
    maximal
}

/// H1 (KIP-966): nothing is committed while the committed ISR is under its minimum.
pub fn hw_may_move(isr: usize, _maximal: usize, min_isr: u8) -> bool {
    isr >= usize::from(min_isr)
}

/// H2: the maximal ISR, and who is caught up and about to join it, else it could never catch up
/// with a busy leader; but nobody who may not join (KAFKA-15021).
pub fn counts_for_hw(counting: Counting<'_>) -> bool {
    let Counting { follower, maximal, known, caught_up } = counting;
    maximal.contains(&follower.broker)
        || caught_up && known.is_some_and(|known| eligible(follower, known))
}

/// H3: never back.
pub fn raised(hw: u8, candidate: u8) -> u8 {
    hw.max(candidate)
}

/// H5 and klog's departures (X4, X5): whatever may let it move.
pub fn tries_hw() -> bool {
    true
}
