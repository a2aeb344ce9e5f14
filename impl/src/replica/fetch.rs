//! Serving fetches, and questions for the end of an epoch or of the log (sections 5, 15 and 17).

use super::io::{Effect, FetchRequest, OffsetSpec, ReadRange, RequestId};
use super::{Replica, Role};
use crate::types::{BrokerId, Epoch, ErrorCode, Offset};
use std::cmp::Ordering;

/// How far a reader may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isolation {
    /// Up to the LEO: a follower copies what is not committed yet.
    LogEnd,
    /// Up to the high watermark: a consumer sees committed records only (N1).
    HighWatermark,
}

/// F7: a request with a replica id is a follower's, one without is a consumer's. There is no other
/// difference on the path of the read.
pub fn isolation_of(replica_id: Option<BrokerId>) -> Isolation {
    if replica_id.is_some() { Isolation::LogEnd } else { Isolation::HighWatermark }
}

/// Whether a fetch is news of its sender's progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// It has just arrived, at this time (ms).
    Arrival(i64),
    /// It was parked and is looked at again (F8).
    Again,
}

/// What the checks say of a fetch, before any progress is counted.
enum Checked {
    /// F1 to F3, D6: not served here or not now.
    Refused(ErrorCode),
    /// Outside the log (F5, F7): never an ack (B52).
    OutOfRange,
    /// F5: the logs part.
    Diverging(Epoch, Offset),
    /// To be read.
    Readable,
}

/// F1: compares the epoch a sender believes in with the receiver's, `None` when they may talk.
/// A receiver without metadata knows no epoch, so every epoch is newer.
pub fn check_epoch(request: Option<Epoch>, local: Option<Epoch>) -> Option<ErrorCode> {
    match request?.cmp(&local.unwrap_or(Epoch(-1))) {
        Ordering::Less => Some(ErrorCode::FencedLeaderEpoch),
        Ordering::Equal => None,
        Ordering::Greater => Some(ErrorCode::UnknownLeaderEpoch),
    }
}

impl Replica {
    /// Serve a fetch. The high watermark in the answer is the one after the follower's progress
    /// was counted; a diverging answer or an error counts nothing (F6).
    pub(super) fn on_fetch(
        &mut self,
        request: RequestId,
        fetch: FetchRequest,
        pass: Pass,
        effects: &mut Vec<Effect>,
    ) {
        let (error, diverging) = match self.check_fetch(&fetch) {
            Checked::Refused(error) => return effects.push(refused(request, error)),
            Checked::OutOfRange => (ErrorCode::OffsetOutOfRange, None),
            Checked::Diverging(epoch, end) => (ErrorCode::None, Some((epoch, end))),
            Checked::Readable => (ErrorCode::None, None),
        };
        let readable = error == ErrorCode::None && diverging.is_none();
        if let (true, Pass::Arrival(now_ms), Some(follower)) = (readable, pass, fetch.replica_id) {
            if self.is_from_an_older_life(follower, &fetch) {
                return effects.push(refused(request, ErrorCode::NotLeaderOrFollower));
            }
            self.count_progress(now_ms, follower, &fetch, effects);
        }
        let upto = match isolation_of(fetch.replica_id) {
            Isolation::LogEnd => self.log.leo,
            Isolation::HighWatermark => self.log.hw,
        };
        let read =
            (readable && fetch.offset < upto).then_some(ReadRange { from: fetch.offset, upto });
        let (hw, log_start) = (Some(self.log.hw), Some(self.log.start));
        effects.push(Effect::AnswerFetch { request, error, hw, log_start, diverging, read });
    }

    /// The checks in their order (KAFKA-13837, KAFKA-14078).
    fn check_fetch(&self, fetch: &FetchRequest) -> Checked {
        if let Some(error) = self.check_leading(fetch.current_epoch) {
            return Checked::Refused(error);
        }
        if let (Some(follower), Role::Leader(leader)) = (fetch.replica_id, &self.role)
            && !leader.isr.followers.contains_key(&follower)
        {
            return Checked::Refused(if fetch.current_epoch.is_some() {
                ErrorCode::UnknownLeaderEpoch
            } else {
                ErrorCode::NotLeaderOrFollower
            });
        }
        let log = &self.log;
        if let Some(last) = fetch.last_fetched_epoch {
            let Some((epoch, end)) = log.epochs.answer_end_offset(last, log.leo) else {
                return Checked::OutOfRange;
            };
            let in_log = fetch.offset >= log.start;
            if in_log && (epoch < last || end < fetch.offset) {
                return Checked::Diverging(epoch, end);
            }
        }
        if fetch.offset < log.start || fetch.offset > log.leo {
            return Checked::OutOfRange;
        }
        Checked::Readable
    }

    /// F1, F2 and D6: `None` if this replica leads and the sender knows it rightly.
    fn check_leading(&self, current_epoch: Option<Epoch>) -> Option<ErrorCode> {
        if self.role == Role::Failed {
            return Some(ErrorCode::KafkaStorageError);
        }
        let local = self.registration.as_ref().map(|known| known.leader_epoch);
        check_epoch(current_epoch, local).or(match self.role {
            Role::Leader(_) => None,
            _ => Some(ErrorCode::NotLeaderOrFollower),
        })
    }

    /// Answer where an epoch ends, under the checks of a fetch.
    pub(super) fn on_end_offset(
        &self,
        request: RequestId,
        current_epoch: Option<Epoch>,
        epoch: Epoch,
        effects: &mut Vec<Effect>,
    ) {
        let error = self.check_leading(current_epoch).unwrap_or(ErrorCode::None);
        let end = (error == ErrorCode::None)
            .then(|| self.log.epochs.answer_end_offset(epoch, self.log.leo))
            .flatten();
        effects.push(Effect::AnswerEndOffset { request, error, end });
    }

    /// Answer where the log begins or ends, under the checks of a fetch. N2, KIP-207: a new leader
    /// does not know yet how far its predecessor got. Until its high watermark has reached the
    /// begin of its epoch it names no end, so that no consumer sees the end go back.
    pub(super) fn on_list_offset(
        &self,
        request: RequestId,
        current_epoch: Option<Epoch>,
        wanted: OffsetSpec,
        effects: &mut Vec<Effect>,
    ) {
        let (log, known) = (&self.log, self.registration.as_ref());
        let lags = self.leader().is_some_and(|leader| log.hw < leader.epoch_start);
        let found = match (self.check_leading(current_epoch), wanted) {
            (Some(error), _) => Err(error),
            (None, OffsetSpec::Latest) if lags => Err(ErrorCode::OffsetNotAvailable),
            (None, OffsetSpec::Latest) => Ok((log.hw, known.map(|known| known.leader_epoch))),
            (None, OffsetSpec::Earliest) => Ok((log.start, log.epochs.epoch_for_offset(log.start))),
        };
        effects.push(match found {
            Ok((offset, epoch)) => {
                let (error, offset) = (ErrorCode::None, Some(offset));
                Effect::AnswerListOffset { request, error, offset, epoch }
            }
            Err(error) => Effect::AnswerListOffset { request, error, offset: None, epoch: None },
        });
    }
}

fn refused(request: RequestId, error: ErrorCode) -> Effect {
    let (hw, log_start, diverging, read) = (None, None, None, None);
    Effect::AnswerFetch { request, error, hw, log_start, diverging, read }
}
