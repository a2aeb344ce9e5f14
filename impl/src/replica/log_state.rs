//! The shape of this replica's log, as the core keeps it: offsets and epochs, never bytes.

use super::epochs::{CacheChange, EpochCache};
use super::io::{BatchShape, Effect, LogShape, RequestId, StoreWhen};
use crate::types::{Epoch, Offset};

/// The largest offset the wire can carry.
pub(super) const MAX_OFFSET: u64 = i64::MAX as u64;

/// Log start, LEO, high watermark and epoch cache of one replica.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LogState {
    /// Offset of the first record that is kept.
    pub start: Offset,
    /// Offset of the next record.
    pub leo: Offset,
    /// High watermark (exclusive): everything below is known to be committed.
    pub hw: Offset,
    /// Where each epoch begins.
    pub epochs: EpochCache,
    /// End of what is on stable storage, as far as the core was told. No rule of the protocol
    /// waits for it (D2); it is kept for those who watch.
    pub flushed: Offset,
}

impl LogState {
    /// The log as recovery left it. The checkpoint is a hint only (D1): out of range it is moved
    /// into the log, missing it counts as the log start.
    pub(super) fn restore(shape: LogShape, hw_checkpoint: Option<Offset>) -> Self {
        let LogShape { start, leo, epochs } = shape;
        assert!(start <= leo, "log start {start} above LEO {leo}");
        let hw = hw_checkpoint.unwrap_or(start).clamp(start, leo);
        Self { start, leo, hw, epochs: EpochCache::new(epochs), flushed: start }
    }

    /// Whether another `records` records fit below the largest offset the wire can carry.
    pub(super) fn has_room_for(&self, records: u32) -> bool {
        self.leo.0 + u64::from(records) <= MAX_OFFSET
    }

    /// Append a produce as the leader (A4). The cache knows the epoch since the leadership began.
    pub(super) fn append(
        &mut self,
        request: RequestId,
        records: u32,
        epoch: Epoch,
        effects: &mut Vec<Effect>,
    ) -> Offset {
        let base = self.leo;
        self.leo = Offset(base.0 + u64::from(records));
        effects.push(Effect::Append { request, base, epoch });
        base
    }

    /// Begin a new epoch at the LEO, also without records (L3, KAFKA-7415).
    pub(super) fn begin_epoch(&mut self, epoch: Epoch, effects: &mut Vec<Effect>) {
        if self.epochs.assign(epoch, self.leo) == CacheChange::Changed {
            self.store_epochs(StoreWhen::BeforeNext, effects);
        }
    }

    /// Append batches of the leader (G2): their epochs are stored first.
    pub(super) fn append_replicated(
        &mut self,
        batches: Vec<BatchShape>,
        effects: &mut Vec<Effect>,
    ) {
        let mut change = CacheChange::Unchanged;
        for batch in &batches {
            if self.epochs.assign(batch.epoch, batch.base) == CacheChange::Changed {
                change = CacheChange::Changed;
            }
            self.leo = batch.next;
        }
        if change == CacheChange::Changed {
            self.store_epochs(StoreWhen::BeforeNext, effects);
        }
        if !batches.is_empty() {
            effects.push(Effect::AppendReplicated { batches });
        }
    }

    /// Truncate to `to` (T6, T7). At or above the LEO no record goes, but an epoch entry without
    /// records does (KAFKA-10706). Below the log start nothing of the log is left.
    pub(super) fn truncate(&mut self, to: Offset, effects: &mut Vec<Effect>) {
        if to < self.start {
            return self.truncate_fully(to, effects);
        }
        if to < self.leo {
            self.leo = to;
            self.hw = self.hw.min(to);
            self.flushed = self.flushed.min(to);
            effects.push(Effect::Truncate { to });
        }
        if self.epochs.truncate_from_end(self.leo) == CacheChange::Changed {
            self.store_epochs(StoreWhen::Lazily, effects);
        }
    }

    /// Drop everything and begin anew at `start_at` (T7); the high watermark goes there too
    /// (KAFKA-9491).
    pub(super) fn truncate_fully(&mut self, start_at: Offset, effects: &mut Vec<Effect>) {
        self.start = start_at;
        self.leo = start_at;
        self.hw = start_at;
        self.flushed = start_at;
        self.epochs.clear();
        effects.push(Effect::TruncateFully { start_at });
        self.store_epochs(StoreWhen::BeforeNext, effects);
    }

    /// Forget records below `to`, if there are any and all of them are committed (G5).
    pub(super) fn advance_start(&mut self, to: Offset, effects: &mut Vec<Effect>) {
        if to <= self.start || to > self.hw {
            return;
        }
        self.start = to;
        effects.push(Effect::AdvanceLogStart { to });
        if self.epochs.truncate_from_start(to) == CacheChange::Changed {
            self.store_epochs(StoreWhen::Lazily, effects);
        }
    }

    /// A flush ended (D2).
    pub(super) fn flushed(&mut self, upto: Offset) {
        self.flushed = self.flushed.max(upto.min(self.leo));
    }

    fn store_epochs(&self, when: StoreWhen, effects: &mut Vec<Effect>) {
        effects.push(Effect::StoreEpochs { entries: self.epochs.entries().to_vec(), when });
    }
}

#[cfg(test)]
#[path = "tests/log_state.rs"]
mod tests;
