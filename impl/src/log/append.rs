//! Adding batches, and the leader epochs they carry.

use super::batch::{self, BatchError, BatchHeader};
use super::segment::Segment;
use super::{BatchShape, EpochStart, Log, LogError, epochs_file};
use crate::disk::Disk;
use crate::types::{Epoch, Offset};

/// A batch in the bytes to append.
struct Placed {
    shape: BatchShape,
    bytes: usize,
}

impl<D: Disk> Log<D> {
    /// Appends one batch of a producer as the leader: checks it, gives it the offset `base` and
    /// the leader epoch, writes it (A4, G1, G2). Returns the new LEO. `base` must be the LEO. The
    /// batch must hold a record for each offset; records that are not compressed are checked too.
    /// Nothing is written for a refused batch.
    pub fn append_leader(
        &mut self,
        batch: &[u8],
        base: Offset,
        epoch: Epoch,
    ) -> Result<Offset, LogError> {
        self.sound()?;
        if base != self.leo {
            return Err(LogError::NotNext { expected: self.leo, found: base });
        }
        let header = check_produced(batch, base)
            .map_err(|error| LogError::BadBatch { position: 0, error })?;
        let next = Offset(base.0 + u64::from(header.last_offset_delta) + 1);
        check_epoch(Some(epoch), self.last_epoch())?;
        let mut stamped = batch.to_vec();
        batch::stamp(&mut stamped, base, epoch);
        let shape = BatchShape { base, next, epoch };
        self.write(&stamped, &[Placed { shape, bytes: batch.len() }])
    }

    /// Appends batches of the leader as they are, as a follower: checksums, offsets and epochs
    /// are checked first (G1, G2, B111), then all are written. Returns the new LEO. No bytes are
    /// no batches. Nothing is written if one batch is refused.
    pub fn append_follower(&mut self, bytes: &[u8]) -> Result<Offset, LogError> {
        self.sound()?;
        let mut placed = Vec::new();
        let (mut at, mut next, mut epoch) = (0, self.leo, self.last_epoch());
        while at < bytes.len() {
            let position = at as u64;
            let header = batch::verify(&bytes[at..])
                .map_err(|error| LogError::BadBatch { position, error })?;
            if header.base_offset != next {
                return Err(LogError::NotNext { expected: next, found: header.base_offset });
            }
            let found = check_epoch(header.leader_epoch, epoch)?;
            let shape = BatchShape { base: next, next: header.next_offset(), epoch: found };
            placed.push(Placed { shape, bytes: header.bytes as usize });
            at += header.bytes as usize;
            (next, epoch) = (shape.next, Some(found));
        }
        self.write(bytes, &placed)
    }

    /// Stores where a leader epoch begins, durably: the new leader does so before its first
    /// record (L3). By G2: nothing changes for the newest epoch at or after its
    /// start; else entries of this epoch or newer, or at this offset or after, give way.
    pub fn assign_epoch(&mut self, epoch: Epoch, start: Offset) -> Result<(), LogError> {
        self.sound()?;
        let mut epochs = self.epochs.clone();
        if assign(&mut epochs, EpochStart { epoch, start }) {
            self.store_epochs(&epochs)?;
        }
        Ok(())
    }

    /// Stores these leader epochs, durably and in the place of all others. Both columns must
    /// grow.
    pub fn store_epochs(&mut self, epochs: &[EpochStart]) -> Result<(), LogError> {
        self.sound()?;
        assert!(
            epochs.is_sorted_by(|a, b| a.epoch < b.epoch && a.start < b.start),
            "epochs and their starts grow: {epochs:?}"
        );
        if epochs != self.epochs {
            let written = epochs_file::write(&mut self.disk, epochs);
            self.fence_on_error(written)?;
            self.epochs = epochs.to_vec();
        }
        Ok(())
    }

    /// Epoch of the last record, if there is one.
    fn last_epoch(&self) -> Option<Epoch> {
        self.epochs.iter().rev().find(|entry| entry.start < self.leo).map(|entry| entry.epoch)
    }

    fn write(&mut self, bytes: &[u8], placed: &[Placed]) -> Result<Offset, LogError> {
        self.assign_epochs_of(placed)?;
        let written = self.write_runs(bytes, placed);
        self.fence_on_error(written)?;
        Ok(self.leo)
    }

    /// The epochs come first: a crash then leaves an entry too many, which a start removes, and
    /// never one too few (B21, B23).
    ///
    /// The core may have stored them already, also those of later batches in the same answer. An
    /// entry that covers a batch stays as it is: assigned again, it would take the newer ones
    /// after it away and begin too late.
    fn assign_epochs_of(&mut self, placed: &[Placed]) -> Result<(), LogError> {
        if placed.iter().all(|batch| covers(&self.epochs, batch.shape)) {
            return Ok(());
        }
        let mut epochs = self.epochs.clone();
        for &Placed { shape, .. } in placed {
            if !covers(&epochs, shape) {
                assign(&mut epochs, EpochStart { epoch: shape.epoch, start: shape.base });
            }
        }
        self.store_epochs(&epochs)
    }

    /// Writes as many batches at a time as fit in the segment.
    fn write_runs(&mut self, mut bytes: &[u8], mut placed: &[Placed]) -> Result<(), LogError> {
        while let Some(first) = placed.first() {
            if !self.fits(self.active().bytes, first) {
                self.roll()?;
            }
            let mut end = self.active().bytes + first.bytes as u64;
            let more = placed[1..].iter().take_while(|batch| {
                let fits = self.fits(end, batch);
                end += batch.bytes as u64;
                fits
            });
            let (run, rest) = placed.split_at(1 + more.count());
            let (now, later) = bytes.split_at(run.iter().map(|batch| batch.bytes).sum());
            self.write_run(now, run)?;
            (bytes, placed) = (later, rest);
        }
        Ok(())
    }

    /// Whether the batch may stand at byte `at` of the active segment. At byte 0 any batch may:
    /// an empty segment is never followed by another with the same base (B87).
    fn fits(&self, at: u64, batch: &Placed) -> bool {
        let limit = self.config.segment_bytes.min(i32::MAX as u32);
        let last = i32::try_from(batch.shape.next.0 - self.active().base.0 - 1);
        at == 0 || (at + batch.bytes as u64 <= u64::from(limit) && last.is_ok())
    }

    fn write_run(&mut self, bytes: &[u8], run: &[Placed]) -> Result<(), LogError> {
        let every = self.config.index_interval_bytes;
        let segment = self.segments.last_mut().expect("a log has a segment");
        self.disk.append(&segment.log_name, bytes)?;
        for Placed { shape, bytes } in run {
            let entry = segment.entry_for(segment.bytes, shape.next, every);
            segment.bytes += *bytes as u64;
            self.leo = shape.next;
            if let Some(entry) = entry {
                self.disk.append(&segment.index_name, &entry.encode())?;
                segment.index.push(entry);
            }
        }
        Ok(())
    }

    /// Starts a new segment at the LEO. The one before is flushed first, so only the last segment
    /// can have a torn tail; the new names are durable before anything is written (B76).
    fn roll(&mut self) -> Result<(), LogError> {
        let Self { disk, segments, .. } = self;
        let full = segments.last().expect("a log has a segment");
        disk.sync_file(&full.log_name)?;
        disk.sync_file(&full.index_name)?;
        self.flushed = self.leo;
        let segment = Segment::create(&mut self.disk, self.leo)?;
        self.disk.sync_dir()?;
        self.segments.push(segment);
        Ok(())
    }
}

/// Whether the entry in force at the batch's first offset is that of its epoch.
fn covers(epochs: &[EpochStart], batch: BatchShape) -> bool {
    let upto = epochs.partition_point(|entry| entry.start <= batch.base);
    upto.checked_sub(1).is_some_and(|at| epochs[at].epoch == batch.epoch)
}

/// Adds an entry by rule G2; false if it changes nothing.
pub(super) fn assign(epochs: &mut Vec<EpochStart>, new: EpochStart) -> bool {
    if epochs.last().is_some_and(|last| last.epoch == new.epoch && new.start >= last.start) {
        return false;
    }
    while epochs.last().is_some_and(|last| last.epoch >= new.epoch || last.start >= new.start) {
        epochs.pop();
    }
    epochs.push(new);
    true
}

/// Epochs never go back along a log.
fn check_epoch(found: Option<Epoch>, last: Option<Epoch>) -> Result<Epoch, LogError> {
    match found {
        Some(epoch) if epoch.0 >= 0 && last.is_none_or(|last| last <= epoch) => Ok(epoch),
        _ => Err(LogError::EpochWentBack { last, found }),
    }
}

/// A batch of a producer: one whole batch, with a record for each offset, that fits at `base`.
fn check_produced(bytes: &[u8], base: Offset) -> Result<BatchHeader, BatchError> {
    let header = batch::verify(bytes)?;
    let (records, last_delta) = (header.records, header.last_offset_delta);
    if bytes.len() as u64 > header.bytes {
        return Err(BatchError::Trailing(bytes.len() as u64 - header.bytes));
    }
    if u64::from(records) != u64::from(last_delta) + 1 {
        let offsets = i64::from(last_delta) + 1;
        return Err(BatchError::Count { records: records as i32, offsets });
    }
    if base.0 + u64::from(records) > i64::MAX as u64 {
        let (base, last_delta) = (base.0 as i64, last_delta as i32);
        return Err(BatchError::Offsets { base, last_delta });
    }
    if header.compression() == 0 {
        for record in batch::records(bytes)? {
            record?;
        }
    }
    Ok(header)
}
