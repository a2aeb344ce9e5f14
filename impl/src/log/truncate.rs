//! Cutting the log, durably before anything can be written over the cut (T6, B77).

use super::intent::{self, Intent};
use super::segment::{ENTRY_BYTES, Segment};
use super::{EpochStart, Log, LogError};
use crate::disk::Disk;
use crate::types::Offset;

impl<D: Disk> Log<D> {
    /// Cuts everything at or after `offset` and returns the new LEO (T6). A batch that holds
    /// `offset` in its middle goes whole. At or after the LEO no record goes, but the epoch entries
    /// that begin there do (KAFKA-10706). Before the start, the log begins anew at `offset` (T7).
    ///
    /// When it returns, the cut is durable. A crash before leaves the log as it was or as it is to
    /// be; an error leaves it fenced, and opening it again does the same.
    pub fn truncate_to(&mut self, offset: Offset) -> Result<Offset, LogError> {
        self.sound()?;
        if offset < self.start() {
            return self.truncate_fully(offset);
        }
        let cut = self.cut(offset);
        self.fence_on_error(cut)?;
        let kept = self.epochs.partition_point(|entry| entry.start < self.leo);
        let epochs: Vec<EpochStart> = self.epochs[..kept].to_vec();
        self.store_epochs(&epochs)?;
        Ok(self.leo)
    }

    /// Drops everything; the log is empty then and starts and ends at `start_at`, which is
    /// returned (T7). No epoch is left. Durable as [`truncate_to`](Self::truncate_to) is.
    pub fn truncate_fully(&mut self, start_at: Offset) -> Result<Offset, LogError> {
        self.sound()?;
        let restarted = intent::write(&mut self.disk, Intent::StartAt(start_at))
            .and_then(|()| restart(&mut self.disk, self.segments.iter(), start_at));
        let segment = self.fence_on_error(restarted)?;
        self.segments = vec![segment];
        (self.leo, self.flushed) = (start_at, start_at);
        self.store_epochs(&[])?;
        let done = intent::done(&mut self.disk);
        self.fence_on_error(done)?;
        Ok(self.leo)
    }

    pub(super) fn cut(&mut self, offset: Offset) -> Result<(), LogError> {
        if offset >= self.leo {
            return Ok(());
        }
        let keep = self.segment_of(offset);
        let (position, leo) = self.boundary(keep, offset)?;
        let several = keep + 1 < self.segments.len();
        if several {
            intent::write(&mut self.disk, Intent::To(leo))?;
            remove_all(&mut self.disk, self.segments[keep + 1..].iter())?;
            self.segments.truncate(keep + 1);
        }
        let Self { disk, segments, .. } = self;
        let segment = &mut segments[keep];
        disk.truncate(&segment.log_name, position)?;
        disk.sync_file(&segment.log_name)?;
        let entries = segment.index.partition_point(|entry| u64::from(entry.position) < position);
        disk.truncate(&segment.index_name, (entries * ENTRY_BYTES) as u64)?;
        segment.index.truncate(entries);
        segment.bytes = position;
        // Segments below were flushed before this one was made; this one was flushed just now.
        (self.leo, self.flushed) = (leo, leo);
        if several {
            intent::done(&mut self.disk)?;
        }
        Ok(())
    }
}

/// Removes segments; the names are durably gone when it returns.
pub(super) fn remove_all<'a, D: Disk>(
    disk: &mut D,
    segments: impl Iterator<Item = &'a Segment>,
) -> Result<(), LogError> {
    for segment in segments {
        segment.remove(disk)?;
    }
    Ok(disk.sync_dir()?)
}

/// Removes these segments, and begins anew with an empty one.
pub(super) fn restart<'a, D: Disk>(
    disk: &mut D,
    segments: impl Iterator<Item = &'a Segment>,
    start_at: Offset,
) -> Result<Segment, LogError> {
    remove_all(disk, segments)?;
    let segment = Segment::create(disk, start_at)?;
    disk.sync_dir()?;
    Ok(segment)
}
