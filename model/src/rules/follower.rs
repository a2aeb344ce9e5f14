//! A follower's decisions: what it asks for, what it takes, where it cuts (sections 12 to 14).

use klog_trace::{EpochStart, Record};

use super::leader::epoch_end;

/// What a follower did before it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerTaken {
    /// It has just begun to follow, or lost its connection, or was refused.
    None,
    /// It took records, or cut its log.
    Changed,
    /// It got an answer without records.
    Empty,
}

/// What a follower does with an answer that tells where the logs diverge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diverged {
    /// It cuts its log at once and leaves its high watermark to the cut.
    CutAtOnce,
    /// It sets its high watermark to this and cuts in a step of its own, so that a reader can come
    /// between.
    CutLater(u8),
}

/// D1: the checkpoint is a hint, and may be of a longer log.
pub fn hw_at_restart(checkpoint: u8, leo: u8) -> u8 {
    checkpoint.min(leo)
}

/// M2 (KAFKA-7164): a newer epoch of the same leader may have another log all the same.
pub fn restarts_fetcher() -> bool {
    true
}

/// M4: no cut when a broker becomes a follower; the first answer decides.
pub fn cut_on_following(leo: u8, _hw: u8) -> u8 {
    leo
}

/// Q1 (KIP-595), Q5 (KAFKA-15510): the newest epoch of the own cache, whatever was answered last.
pub fn last_epoch(cache: &[EpochStart], _: AnswerTaken) -> Option<u8> {
    cache.last().map(|e| e.epoch)
}

/// Q2 (KAFKA-18991): the answer belongs to the present epoch and to the present log end.
pub fn answer_is_mine(of: EpochStart, mine: EpochStart) -> bool {
    of == mine
}

/// Q3 (KAFKA-14704): the high watermark of a diverging answer is not for this log.
pub fn on_diverging(_own: u8, _answered: u8, _leo: u8) -> Diverged {
    Diverged::CutAtOnce
}

/// T3 to T5: the smaller of the leader's end of the epoch and the own end of it; if the own log
/// does not know the epoch, the own end of the largest epoch below it, and another round.
pub fn cut_on_diverging(cache: &[EpochStart], leo: u8, leader: EpochStart) -> u8 {
    match epoch_end(cache, leo, leader.epoch) {
        Some(own) if own.epoch == leader.epoch => own.offset.min(leader.offset).min(leo),
        Some(own) => own.offset.min(leo),
        None => leader.offset.min(leo),
    }
}

/// T6: what was cut off never comes back, whoever dies.
pub fn cut_is_durable() -> bool {
    true
}

/// T6 (KAFKA-10706): entries at or past the cut go, also if no record does.
pub fn cut_cache(mut cache: Vec<EpochStart>, to: u8, _leo: u8) -> Vec<EpochStart> {
    cache.retain(|e| e.offset < to);
    cache
}

/// Q4b (KAFKA-18723): nothing from an epoch that the request did not know, nor what follows it.
pub fn takes(records: &[Record], epoch: u8) -> usize {
    records.iter().take_while(|r| r.epoch <= epoch).count()
}

/// klog's follower only raises its high watermark here, never past its log.
pub fn follower_hw(own: u8, answered: u8, leo: u8) -> u8 {
    own.max(answered.min(leo))
}
