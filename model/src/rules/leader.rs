//! A leader's decisions on produces and fetches, and at the start of its reign (4, 5, 10, 11).

use klog_trace::EpochStart;
use klog_trace::action::Acks;
use klog_trace::view::{Progress, Waiting};

use super::{
    FENCED_LEADER_EPOCH, NOT_ENOUGH_REPLICAS, NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    OFFSET_OUT_OF_RANGE, UNKNOWN_LEADER_EPOCH,
};

/// What becomes of an acks=all produce on arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is appended.
    Append,
    /// It is refused with this error and nothing is written.
    Refuse(i16),
    /// It is appended and then refused with this error.
    AppendAndRefuse(i16),
}

/// How the checks of a fetch went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// The follower gets what it asks for.
    Good,
    /// The logs diverge, as this says.
    Diverging(EpochStart),
    /// The offset is not in the log.
    OutOfRange,
    /// Another error, before the log was looked at.
    Refused(i16),
}

/// A leader's log as [`super::Rules::diverging`] looks at it.
#[derive(Clone, Copy, Debug)]
pub struct LeaderLog<'a> {
    /// Its leader-epoch cache.
    pub cache: &'a [EpochStart],
    /// Its LEO.
    pub leo: u8,
    /// The look-up in force.
    pub epoch_end: fn(cache: &[EpochStart], leo: u8, asked: u8) -> Option<EpochStart>,
}

/// A3: acks=all needs a committed ISR of the minimum size, and nothing is written without it.
pub fn admits(isr: usize, min_isr: u8) -> Admission {
    if isr < usize::from(min_isr) {
        Admission::Refuse(NOT_ENOUGH_REPLICAS)
    } else {
        Admission::Append
    }
}

/// A5: acks=all waits until the record is committed.
pub fn waits(acks: Acks) -> bool {
    acks == Acks::All
}

/// V1, V2 and KAFKA-20634: decided below the high watermark, and only by the reign in which it was
/// appended.
pub fn decides(waiting: Waiting, leads: Option<u8>, hw: u8) -> bool {
    leads == Some(waiting.epoch) && waiting.offset < hw
}

/// V3: success needs a maximal ISR of the minimum size.
pub fn verdict(maximal: usize, min_isr: u8) -> i16 {
    if maximal >= usize::from(min_isr) { 0 } else { NOT_ENOUGH_REPLICAS_AFTER_APPEND }
}

/// V1 and KAFKA-20634: what waits belongs to one leader epoch and ends with it.
pub fn ends_with_reign(_: Waiting) -> bool {
    true
}

/// N1: committed records only.
pub fn readable(hw: u8, _leo: u8) -> u8 {
    hw
}

/// N2 (KIP-207): a high watermark below the start of the epoch lags behind what the leader before
/// may have told.
pub fn told_end(hw: u8, epoch_start: u8) -> Option<u8> {
    (hw >= epoch_start).then_some(hw)
}

/// F1 (KIP-320): both sides must be in the same epoch. To one that knows none, any is newer.
pub fn fence(asked: u8, mine: Option<u8>) -> Option<i16> {
    match Some(asked).cmp(&mine) {
        std::cmp::Ordering::Less => Some(FENCED_LEADER_EPOCH),
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Greater => Some(UNKNOWN_LEADER_EPOCH),
    }
}

/// F5 (KIP-595): the logs diverge if the leader does not know the follower's newest epoch, or if
/// that epoch ends before the follower's log does. An epoch from the future is out of range.
pub fn diverging(
    leader: LeaderLog<'_>,
    offset: u8,
    last_epoch: u8,
) -> Result<Option<EpochStart>, i16> {
    let end = (leader.epoch_end)(leader.cache, leader.leo, last_epoch);
    let end = end.ok_or(OFFSET_OUT_OF_RANGE)?;
    Ok((end.epoch < last_epoch || end.offset < offset).then_some(end))
}

/// Section 15: the newest epoch ends at the log end, an epoch newer than that is unknown, an
/// older one ends where the next known one starts and is named by the largest known one not
/// above it (KIP-279); an epoch before the first known one is echoed (KAFKA-7415).
pub fn epoch_end(cache: &[EpochStart], leo: u8, asked: u8) -> Option<EpochStart> {
    let latest = cache.last()?.epoch;
    if asked >= latest {
        return (asked == latest).then_some(EpochStart { epoch: asked, offset: leo });
    }
    let next = cache.iter().position(|e| e.epoch > asked)?;
    let epoch = if next == 0 { asked } else { cache[next - 1].epoch };
    Some(EpochStart { epoch, offset: cache[next].offset })
}

/// U1 (KIP-903): a life that the metadata has left behind must not speak for the new one.
pub fn from_older_life(fetched: u8, known: u8) -> bool {
    fetched < known
}

/// F6 (KAFKA-13141, KAFKA-8400): only what was really read is acknowledged by asking for more.
pub fn counts_as_progress(checked: Checked) -> bool {
    checked == Checked::Good
}

/// Q4b's reason (KAFKA-18723): the log may be cut and written anew before the answer leaves.
pub fn sends_what_was_read() -> bool {
    true
}

/// U2: it asks for the log end, or for what was the log end when it asked before: so one that is
/// always a round behind stays in sync (KAFKA-4485).
pub fn shows_caught_up(offset: u8, leo: u8, previous: Option<u8>) -> bool {
    offset >= leo || previous.is_some_and(|then| offset >= then)
}

/// L3 (KAFKA-7415), G2: a new epoch begins at the log end and has its entry also before its first
/// record. Entries that contradict it are dropped.
pub fn begin_epoch(mut cache: Vec<EpochStart>, epoch: u8, leo: u8) -> Vec<EpochStart> {
    crate::broker::assign(&mut cache, epoch, leo);
    cache
}

/// L3 and klog's departure (X1): nothing is known of any follower, whoever led before. What it
/// acknowledged in an older epoch it may have truncated since.
pub fn progress_at_start(before: Progress, _is_member: bool) -> Progress {
    Progress { leo: None, broker_epoch: None, ..before }
}

/// L5: neither raised to the log end nor lowered.
pub fn hw_at_start(hw: u8, _leo: u8) -> u8 {
    hw
}
