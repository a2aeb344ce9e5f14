//! A follower's work: fetch, reconcile, append (sections 12 to 14).

use super::io::{BatchShape, Effect, FetchAnswer, FetchRequest};
use super::log_state::MAX_OFFSET;
use super::truncation::truncation_offset;
use super::{Replica, Role};
use crate::types::{BrokerId, Epoch, ErrorCode, Offset};

impl Replica {
    /// Ask the leader for what comes after the LEO (Q1), if there is a leader to ask. The epoch of
    /// the last record goes along, so that the leader sees whether the logs part.
    pub(super) fn send_fetch(&self, effects: &mut Vec<Effect>) {
        let Some(known) = &self.registration else {
            return;
        };
        let Some(to) = known.leader else { return };
        let fetch = FetchRequest {
            replica_id: Some(self.id),
            broker_epoch: Some(self.config.broker_epoch),
            current_epoch: Some(known.leader_epoch),
            offset: self.log.leo,
            last_fetched_epoch: self.log.epochs.latest(),
            log_start: self.log.start,
            max_bytes: self.config.fetch_max_bytes,
        };
        effects.push(Effect::SendFetch { to, fetch });
    }

    /// Q2: does this fetch still stand? Everything else is an echo of another epoch or another
    /// log and is dropped (KAFKA-18991, B07). The epoch, if so.
    fn stands(&self, from: BrokerId, request: &FetchRequest) -> Option<Epoch> {
        let known = self.registration.as_ref()?;
        let stands = self.role == Role::Follower
            && known.leader == Some(from)
            && request.current_epoch == Some(known.leader_epoch)
            && request.offset == self.log.leo;
        stands.then_some(known.leader_epoch)
    }

    /// Q2 to Q6: take in an answer and ask for more.
    pub(super) fn on_fetch_answer(
        &mut self,
        from: BrokerId,
        request: &FetchRequest,
        answer: FetchAnswer,
        effects: &mut Vec<Effect>,
    ) {
        let Some(epoch) = self.stands(from, request) else {
            return;
        };
        match (answer.error, answer.diverging) {
            (ErrorCode::None, Some(leaders)) => self.reconcile(leaders, effects),
            (ErrorCode::None, None) => self.replicate(epoch, answer, effects),
            (ErrorCode::OffsetOutOfRange, _) => self.out_of_range(answer.log_start, effects),
            _ => {}
        }
        self.send_fetch(effects);
    }

    /// The fetch will not be answered: ask again.
    pub(super) fn on_fetch_lost(
        &self,
        from: BrokerId,
        request: &FetchRequest,
        effects: &mut Vec<Effect>,
    ) {
        if self.stands(from, request).is_some() {
            self.send_fetch(effects);
        }
    }

    /// Q3: cut where the logs part. The high watermark of such an answer is not taken: it speaks
    /// of records this log does not hold (KAFKA-14704).
    fn reconcile(&mut self, leaders: (Epoch, Offset), effects: &mut Vec<Effect>) {
        let to = truncation_offset(leaders, &self.log.epochs, self.log.leo);
        self.log.truncate(to, effects);
    }

    /// OOR: only a log that ends before the leader's begins is given up. Anything else is asked
    /// again, and the epochs settle it (B28).
    fn out_of_range(&mut self, leader_start: Option<Offset>, effects: &mut Vec<Effect>) {
        if let Some(start) = leader_start.filter(|s| *s > self.log.leo && s.0 <= MAX_OFFSET) {
            self.log.truncate_fully(start, effects);
        }
    }

    /// Q4: append, then the high watermark, then the log start. The high watermark only rises
    /// here; nothing but a truncation lowers it.
    fn replicate(&mut self, epoch: Epoch, answer: FetchAnswer, effects: &mut Vec<Effect>) {
        let FetchAnswer { hw, log_start, batches, .. } = answer;
        let Some(batches) = self.admit(epoch, batches) else {
            return;
        };
        if let Some(first) = batches.first().filter(|first| first.base < self.log.leo) {
            self.log.truncate_fully(first.base, effects);
        }
        self.log.append_replicated(batches, effects);
        let told = hw.map_or(self.log.start, |hw| hw.min(self.log.leo));
        self.log.hw = self.log.hw.max(told);
        if let Some(start) = log_start {
            self.log.advance_start(start.min(self.log.hw), effects);
        }
    }

    /// Q4a, Q4b, G1: the batches to append, or `None` if no leader could have sent this. They
    /// follow on each other and on the LEO, and their epochs never fall. From the first batch of
    /// an epoch above this follower's own on, all are left out (KAFKA-18723): a fetch of the next
    /// epoch will bring them.
    ///
    /// One exception (G1): into an empty log whose start lies within a batch, that batch comes
    /// whole.
    fn admit(&self, epoch: Epoch, mut batches: Vec<BatchShape>) -> Option<Vec<BatchShape>> {
        let upto = batches.iter().position(|b| b.epoch > epoch).unwrap_or(batches.len());
        batches.truncate(upto);
        let (log, empty) = (&self.log, self.log.start == self.log.leo);
        let fits = |first: &BatchShape| {
            let straddles = empty && first.base < log.leo && log.leo < first.next;
            first.base == log.leo || straddles
        };
        let rising = |w: &[BatchShape]| w[0].next == w[1].base && w[0].epoch <= w[1].epoch;
        let newest = log.epochs.latest().unwrap_or(Epoch(0));
        let sound = batches.first().is_none_or(|first| fits(first) && first.epoch >= newest)
            && batches.iter().all(|b| b.base < b.next && b.next.0 <= MAX_OFFSET)
            && batches.windows(2).all(rising);
        sound.then_some(batches)
    }
}
