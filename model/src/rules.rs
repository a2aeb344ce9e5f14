//! A protocol is a value: the decisions a broker and the controller take, one function each.
//!
//! The correct functions together *are* the specification; each cites its rule code of the
//! replication rules (A1, F5, H1, ...) or the KIP it comes from. A known fault replaces one of
//! them ([`crate::fault`]); there is no toggle inside.

use klog_trace::EpochStart;
use klog_trace::Record;
use klog_trace::action::Node;
use klog_trace::view::{BrokerState, Pending, Progress, Session};

/// FENCED_LEADER_EPOCH.
pub const FENCED_LEADER_EPOCH: i16 = 74;
/// UNKNOWN_LEADER_EPOCH.
pub const UNKNOWN_LEADER_EPOCH: i16 = 75;
/// OFFSET_OUT_OF_RANGE.
pub const OFFSET_OUT_OF_RANGE: i16 = 1;
/// NOT_ENOUGH_REPLICAS.
pub const NOT_ENOUGH_REPLICAS: i16 = 19;
/// NOT_ENOUGH_REPLICAS_AFTER_APPEND.
pub const NOT_ENOUGH_REPLICAS_AFTER_APPEND: i16 = 20;

/// What [`Rules::joins`] decides on.
#[derive(Clone, Copy, Debug)]
pub struct Join<'a> {
    /// The follower that fetched.
    pub follower: &'a Progress,
    /// Its registration as the leader's metadata says.
    pub known: BrokerState,
    /// The leader's high watermark.
    pub hw: u8,
    /// The leader's LEO when its epoch began.
    pub epoch_start: u8,
}

/// What the controller's new ISR does to the ELR ([`Rules::eligible_after`]).
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

/// What a broker that registers again says of its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogFate {
    /// Nothing written was lost.
    Kept,
    /// The unflushed end may be lost.
    MaybeLost,
}

/// A leader's log as [`Rules::diverging`] looks at it.
#[derive(Clone, Copy, Debug)]
pub struct LeaderLog<'a> {
    /// Its leader-epoch cache.
    pub cache: &'a [EpochStart],
    /// Its LEO.
    pub leo: u8,
    /// The look-up in force.
    pub epoch_end: fn(cache: &[EpochStart], leo: u8, asked: u8) -> Option<EpochStart>,
}

/// The decisions of a protocol.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// A3: the error with which acks=all is refused before the append.
    pub refuse_produce: fn(isr: usize, min_isr: u8) -> Option<i16>,
    /// F1: the error for a request made in epoch `asked` when the receiver is in `mine` (none: it
    /// has applied no metadata since it started).
    pub fence: fn(asked: u8, mine: Option<u8>) -> Option<i16>,
    /// Q1: the last fetched epoch a follower puts into its fetch.
    pub last_epoch: fn(cache: &[EpochStart]) -> Option<u8>,
    /// F5: what a leader with this cache and LEO says to a fetch: nothing (the logs agree), where
    /// they diverge, or an error. Looks the epoch up with [`Rules::epoch_end`].
    pub diverging: fn(LeaderLog<'_>, offset: u8, last_epoch: u8) -> Result<Option<EpochStart>, i16>,
    /// Section 15: where the epoch `asked` ends in a log with this cache and LEO.
    pub epoch_end: fn(cache: &[EpochStart], leo: u8, asked: u8) -> Option<EpochStart>,
    /// M4: where a broker that becomes a follower cuts its log before its first fetch.
    pub cut_on_following: fn(leo: u8, hw: u8) -> u8,
    /// T3 to T5: where a follower cuts its log when the leader says it diverges.
    pub cut_on_diverging: fn(cache: &[EpochStart], leo: u8, leader: EpochStart) -> u8,
    /// Q2: whether an answer to the fetch made at `of` is for a follower that is at `mine`;
    /// both are (epoch, offset).
    pub answer_is_mine: fn(of: EpochStart, mine: EpochStart) -> bool,
    /// Q4b: how many of the records of an answer a follower in `epoch` takes.
    pub takes: fn(records: &[Record], epoch: u8) -> usize,
    /// Q4c and klog's departure: a follower's high watermark after an answer.
    pub follower_hw: fn(own: u8, answered: u8, leo: u8) -> u8,
    /// E1: whether a follower's fetch makes the leader propose it into the ISR.
    pub joins: fn(Join<'_>) -> bool,
    /// I1: the maximal ISR of a committed ISR and an open proposal.
    pub maximal_isr: fn(isr: &[Node], pending: Option<&Pending>) -> Vec<Node>,
    /// H1: whether the high watermark may move at all.
    pub hw_may_move: fn(isr: usize, min_isr: u8) -> bool,
    /// V3: the error of a waiting produce that the high watermark has passed.
    pub verdict: fn(maximal: usize, min_isr: u8) -> i16,
    /// B2 and klog's departure: whether a broker that registers again keeps its place.
    pub keeps_place: fn(log: LogFate) -> bool,
    /// Z1, Z2: the ELR after a change of the ISR; none where the protocol has no ELR (B7).
    pub eligible_after: fn(change: IsrChange<'_>) -> Option<Vec<Node>>,
}

impl Rules {
    /// The rules of `klog`: nothing broken.
    pub const fn correct() -> Self {
        Self {
            refuse_produce,
            fence,
            last_epoch,
            diverging,
            epoch_end,
            cut_on_following,
            cut_on_diverging,
            answer_is_mine,
            takes,
            follower_hw,
            joins,
            maximal_isr,
            hw_may_move,
            verdict,
            keeps_place,
            eligible_after,
        }
    }
}

/// A3: acks=all needs a committed ISR of the minimum size, and nothing is written without it.
fn refuse_produce(isr: usize, min_isr: u8) -> Option<i16> {
    (isr < usize::from(min_isr)).then_some(NOT_ENOUGH_REPLICAS)
}

/// F1 (KIP-320): both sides must be in the same epoch. To one that knows none, any is newer.
fn fence(asked: u8, mine: Option<u8>) -> Option<i16> {
    match Some(asked).cmp(&mine) {
        std::cmp::Ordering::Less => Some(FENCED_LEADER_EPOCH),
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Greater => Some(UNKNOWN_LEADER_EPOCH),
    }
}

/// Q1 (KIP-595): the newest epoch of the own cache.
fn last_epoch(cache: &[EpochStart]) -> Option<u8> {
    cache.last().map(|e| e.epoch)
}

/// F5 (KIP-595): the logs diverge if the leader does not know the follower's newest epoch, or if
/// that epoch ends before the follower's log does. An epoch from the future is out of range.
fn diverging(leader: LeaderLog<'_>, offset: u8, last_epoch: u8) -> Result<Option<EpochStart>, i16> {
    let end = (leader.epoch_end)(leader.cache, leader.leo, last_epoch);
    let end = end.ok_or(OFFSET_OUT_OF_RANGE)?;
    Ok((end.epoch < last_epoch || end.offset < offset).then_some(end))
}

/// Section 15: the newest epoch ends at the log end, an epoch newer than that is unknown, an
/// older one ends where the next known one starts and is named by the largest known one not
/// above it (KIP-279); an epoch before the first known one is echoed (KAFKA-7415).
pub(crate) fn epoch_end(cache: &[EpochStart], leo: u8, asked: u8) -> Option<EpochStart> {
    let latest = cache.last()?.epoch;
    if asked >= latest {
        return (asked == latest).then_some(EpochStart { epoch: asked, offset: leo });
    }
    let next = cache.iter().position(|e| e.epoch > asked)?;
    let epoch = if next == 0 { asked } else { cache[next - 1].epoch };
    Some(EpochStart { epoch, offset: cache[next].offset })
}

/// M4: no cut when a broker becomes a follower; the first answer decides.
fn cut_on_following(leo: u8, _hw: u8) -> u8 {
    leo
}

/// T3 to T5: the smaller of the leader's end of the epoch and the own end of it; if the own log
/// does not know the epoch, the own end of the largest epoch below it, and another round.
fn cut_on_diverging(cache: &[EpochStart], leo: u8, leader: EpochStart) -> u8 {
    match epoch_end(cache, leo, leader.epoch) {
        Some(own) if own.epoch == leader.epoch => own.offset.min(leader.offset).min(leo),
        Some(own) => own.offset.min(leo),
        None => leader.offset.min(leo),
    }
}

/// Q2 (KAFKA-18991): the answer belongs to the present epoch and to the present log end.
fn answer_is_mine(of: EpochStart, mine: EpochStart) -> bool {
    of == mine
}

/// Q4b (KAFKA-18723): nothing from an epoch that the request did not know, nor what follows it.
fn takes(records: &[Record], epoch: u8) -> usize {
    records.iter().take_while(|r| r.epoch <= epoch).count()
}

/// klog's follower only raises its high watermark here, never past its log.
fn follower_hw(own: u8, answered: u8, leo: u8) -> u8 {
    own.max(answered.min(leo))
}

/// E1: at the high watermark, past the start of the leader's epoch (KAFKA-7128), active
/// (KIP-841) and in the very life that fetched (KIP-903).
fn joins(join: Join<'_>) -> bool {
    let Some(leo) = join.follower.leo else {
        return false;
    };
    leo >= join.hw
        && leo >= join.epoch_start
        && join.known.state == Session::Active
        && join.follower.broker_epoch == Some(join.known.epoch)
}

/// I1 (KIP-497): who may be in the controller's ISR, whatever becomes of the open proposal.
fn maximal_isr(isr: &[Node], pending: Option<&Pending>) -> Vec<Node> {
    let mut maximal = isr.to_vec();
    if let Some(Pending::Expand(new)) = pending {
        maximal.push(*new);
        maximal.sort_unstable();
    }
    maximal
}

/// H1 (KIP-966): nothing is committed while the committed ISR is under its minimum.
fn hw_may_move(isr: usize, min_isr: u8) -> bool {
    isr >= usize::from(min_isr)
}

/// V3: success needs a maximal ISR of the minimum size.
fn verdict(maximal: usize, min_isr: u8) -> i16 {
    if maximal >= usize::from(min_isr) { 0 } else { NOT_ENOUGH_REPLICAS_AFTER_APPEND }
}

/// klog: a broker that lost nothing written keeps its place in ISR and ELR; one that may have
/// lost its unflushed end leaves both before it may lead again (B2).
fn keeps_place(log: LogFate) -> bool {
    log == LogFate::Kept
}

#[expect(clippy::unnecessary_wraps, reason = "a protocol without an ELR has none")]
/// Z1, Z2 (KIP-966): under the minimum, whoever left the ISR without losing its log stays
/// eligible, since nothing is committed without it.
fn eligible_after(change: IsrChange<'_>) -> Option<Vec<Node>> {
    if change.target.len() >= usize::from(change.min_isr) {
        return Some(Vec::new());
    }
    let mut elr: Vec<Node> = change.isr.iter().chain(change.elr).copied().collect();
    elr.retain(|b| !change.target.contains(b) && !change.unclean.contains(b));
    elr.sort_unstable();
    elr.dedup();
    Some(elr)
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
