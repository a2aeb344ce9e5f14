//! The log of one partition: segments of record batches, found by offset, whole after any crash.
//!
//! [`Log`] is generic over its [`Disk`](crate::disk::Disk). A change of the log end offset (LEO)
//! is written when the call returns and durable after [`Log::flush`]; a truncation is durable when
//! the call returns. Leader epochs are written before the records that carry them (G2), so a
//! start never misses one. Batches pass through as bytes.

mod append;
pub mod batch;
mod checkpoint;
pub mod epochs_file;
mod error;
pub mod hw_file;
mod intent;
mod memory;
mod read;
mod recovery;
mod scan;
mod segment;
pub mod shutdown_file;
#[cfg(test)]
mod tests;
mod truncate;
mod varint;
mod walk;

pub use epochs_file::EpochStart;
pub use error::LogError;
pub use intent::Intent;
pub use read::Placed;
pub use recovery::{Cut, Recovery};

use crate::disk::Disk;
use crate::types::{Epoch, Offset};
use segment::Segment;

/// Settings of a log, with Kafka's defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogConfig {
    /// `segment.bytes`: a segment that would grow past it is followed by a new one. A batch that
    /// is bigger gets a segment of its own.
    pub segment_bytes: u32,
    /// `index.interval.bytes`: bytes between two entries of the offset index.
    pub index_interval_bytes: u32,
    /// Everything below is known to be flushed and sound: it is not read again at the start, and
    /// damage below it is never taken for a torn tail. 0 trusts nothing and is always safe. Who
    /// stores it must lower the stored value before a truncation (D4, T6).
    pub recovery_point: Offset,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { segment_bytes: 1 << 30, index_interval_bytes: 4096, recovery_point: Offset(0) }
    }
}

/// A batch in the log, as far as replication cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchShape {
    /// Offset of the first record.
    pub base: Offset,
    /// Offset after the last record.
    pub next: Offset,
    /// Leader epoch.
    pub epoch: Epoch,
}

/// Whether the log still takes changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Health {
    Sound,
    /// A change failed half way; what the file holds after the last good batch is unknown (D6).
    Fenced,
}

/// The log of one partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Log<D> {
    disk: D,
    config: LogConfig,
    /// Never empty, in order, without a gap; the last one is written to.
    segments: Vec<Segment>,
    leo: Offset,
    flushed: Offset,
    /// As in the epoch checkpoint file.
    epochs: Vec<EpochStart>,
    health: Health,
}

/// Whether a file of this name is a segment of a log.
pub fn is_segment(name: &str) -> bool {
    segment::base_of_log(name).is_some()
}

/// Whether a log, or the replica over it, reads a file of this name.
pub fn is_own_file(name: &str) -> bool {
    let others = [epochs_file::EPOCHS_FILE, hw_file::HW_FILE, intent::INTENT_FILE];
    is_segment(name) || segment::base_of_index(name).is_some() || others.contains(&name)
}

impl<D: Disk> Log<D> {
    /// Log start offset: the first one that can be read.
    pub fn start(&self) -> Offset {
        self.segments[0].base
    }

    /// Log end offset: the offset of the next record.
    pub fn leo(&self) -> Offset {
        self.leo
    }

    /// Everything below is known to survive a power loss. Moves up with [`flush`](Self::flush),
    /// with a new segment (the one before is flushed first) and with a truncation (the file is
    /// flushed whole).
    pub fn flushed(&self) -> Offset {
        self.flushed
    }

    /// Where each leader epoch begins, as stored.
    pub fn epochs(&self) -> &[EpochStart] {
        &self.epochs
    }

    /// The settings.
    pub fn config(&self) -> &LogConfig {
        &self.config
    }

    /// The disk.
    pub fn disk(&self) -> &D {
        &self.disk
    }

    /// The disk, for files of the same directory that are not the log's (checkpoints), and for
    /// tests that arm a fault. Changing the log's own files breaks it.
    pub fn disk_mut(&mut self) -> &mut D {
        &mut self.disk
    }

    /// The same log over another disk, which must hold the same bytes: for one who wants to try
    /// something on it and leave this one as it is.
    pub fn over<E: Disk>(&self, disk: E) -> Log<E> {
        let Self { disk: _, config, segments, leo, flushed, epochs, health } = self;
        Log {
            disk,
            config: *config,
            segments: segments.clone(),
            leo: *leo,
            flushed: *flushed,
            epochs: epochs.clone(),
            health: *health,
        }
    }

    /// Closes the log without a flush, as a crash of the process does.
    pub fn into_disk(self) -> D {
        self.disk
    }

    /// Makes everything written durable and returns the flushed offset, which is the LEO then.
    pub fn flush(&mut self) -> Result<Offset, LogError> {
        self.sound()?;
        if self.flushed < self.leo {
            let name = self.active().log_name.clone();
            let synced = self.disk.sync_file(&name).map_err(LogError::from);
            self.fence_on_error(synced)?;
            self.flushed = self.leo;
        }
        Ok(self.flushed)
    }

    fn active(&self) -> &Segment {
        self.segments.last().expect("a log has a segment")
    }

    fn sound(&self) -> Result<(), LogError> {
        match self.health {
            Health::Sound => Ok(()),
            Health::Fenced => Err(LogError::Fenced),
        }
    }

    /// After a failed change the log takes no other until it is opened again (B83).
    fn fence_on_error<T>(&mut self, result: Result<T, LogError>) -> Result<T, LogError> {
        if result.is_err() {
            self.health = Health::Fenced;
        }
        result
    }
}
