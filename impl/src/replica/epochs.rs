//! The epoch cache: where each leader epoch begins in this log (KIP-101, KIP-279, G2).

use crate::types::{Epoch, Offset};

/// Leader epochs with their first offsets, strictly increasing in both. An epoch without records
/// has an entry too, at the LEO of its beginning (KAFKA-7415).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EpochCache {
    entries: Vec<(Epoch, Offset)>,
}

impl EpochCache {
    /// The cache with these entries, which recovery has put in order.
    pub fn new(entries: Vec<(Epoch, Offset)>) -> Self {
        let cache = Self { entries };
        assert!(cache.is_ordered(), "epoch cache out of order: {:?}", cache.entries);
        cache
    }

    /// All entries, oldest first.
    pub fn entries(&self) -> &[(Epoch, Offset)] {
        &self.entries
    }

    /// The newest epoch, `None` when the cache is empty.
    pub fn latest(&self) -> Option<Epoch> {
        self.entries.last().map(|&(epoch, _)| epoch)
    }

    /// Whether epochs and starts both strictly increase and no epoch is negative.
    pub(super) fn is_ordered(&self) -> bool {
        let rising = |w: &[(Epoch, Offset)]| w[0].0 < w[1].0 && w[0].1 < w[1].1;
        self.entries.first().is_none_or(|e| e.0 >= Epoch(0)) && self.entries.windows(2).all(rising)
    }

    /// Epoch `epoch` begins at `start`. Entries at its end that contradict this go first. Nothing
    /// happens when the epoch is already the newest and begins no later. Says what it did.
    pub fn assign(&mut self, epoch: Epoch, start: Offset) -> CacheChange {
        assert!(epoch >= Epoch(0), "epoch {epoch} assigned");
        let known = |&(e, s): &(Epoch, Offset)| e == epoch && s <= start;
        if self.entries.last().is_some_and(known) {
            return CacheChange::Unchanged;
        }
        while self.entries.pop_if(|last| last.0 >= epoch || last.1 >= start).is_some() {}
        self.entries.push((epoch, start));
        CacheChange::Changed
    }

    /// The log now ends at `end`: entries that begin at or above it go, also one without records
    /// (T6, KAFKA-10706).
    pub fn truncate_from_end(&mut self, end: Offset) -> CacheChange {
        let kept = self.entries.partition_point(|&(_, start)| start < end);
        let change = CacheChange::of(kept != self.entries.len());
        self.entries.truncate(kept);
        change
    }

    /// The log now begins at `start`: the epoch that covers it begins there, older ones go.
    pub fn truncate_from_start(&mut self, start: Offset) -> CacheChange {
        let gone = self.entries.partition_point(|&(_, s)| s <= start);
        let before = self.entries.clone();
        if gone > 0 {
            self.entries.drain(..gone - 1);
            self.entries[0].1 = start;
        }
        CacheChange::of(before != self.entries)
    }

    /// Forget everything (T7).
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Epoch of the record at `offset`, `None` below the first entry.
    pub fn epoch_for_offset(&self, offset: Offset) -> Option<Epoch> {
        let upto = self.entries.partition_point(|&(_, start)| start <= offset);
        upto.checked_sub(1).map(|at| self.entries[at].0)
    }

    /// The pure floor look-up (KIP-279): the largest known epoch not above `epoch`, and its end:
    /// the next entry's start, or `leo` for the newest. `None` below the first entry.
    ///
    /// A peer's question is answered by [`Self::answer_end_offset`], which differs at the edges.
    pub fn end_offset_for_epoch(&self, epoch: Epoch, leo: Offset) -> Option<(Epoch, Offset)> {
        let upto = self.entries.partition_point(|&(e, _)| e <= epoch);
        let end = self.entries.get(upto).map_or(leo, |&(_, start)| start);
        upto.checked_sub(1).map(|at| (self.entries[at].0, end))
    }

    /// What a peer is told about the end of `epoch`: the floor look-up, but an epoch
    /// newer than all is undefined, and one older than all is echoed with the first start
    /// (KAFKA-7415). `None` is (−1, −1) on the wire.
    pub fn answer_end_offset(&self, epoch: Epoch, leo: Offset) -> Option<(Epoch, Offset)> {
        let (&(_, first_start), newest) = (self.entries.first()?, self.latest()?);
        if epoch < Epoch(0) || epoch > newest {
            return None;
        }
        self.end_offset_for_epoch(epoch, leo).or(Some((epoch, first_start)))
    }
}

/// Whether a rule changed the cache, so that it must be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheChange {
    /// It is as it was.
    Unchanged,
    /// It differs from what is stored.
    Changed,
}

impl CacheChange {
    fn of(changed: bool) -> Self {
        if changed { Self::Changed } else { Self::Unchanged }
    }
}

#[cfg(test)]
#[path = "tests/epochs.rs"]
mod tests;
