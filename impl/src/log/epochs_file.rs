//! Kafka's `leader-epoch-checkpoint`: where each leader epoch begins (G2).

use super::checkpoint::{self, plain};
use super::error::LogError;
use crate::disk::Disk;
use crate::types::{Epoch, Offset};

/// Name of the file in a partition's directory.
pub const EPOCHS_FILE: &str = "leader-epoch-checkpoint";

const REMEDY: &str = "nothing was changed; if the segments are sound, remove this file and the \
     epochs are read from the batches at the next start";

/// Where a leader epoch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EpochStart {
    /// The epoch.
    pub epoch: Epoch,
    /// Offset of its first record.
    pub start: Offset,
}

/// Reads the file. A missing file is empty. Epochs and starts must both grow; if not, the error
/// names the line.
pub fn read<D: Disk>(disk: &D) -> Result<Vec<EpochStart>, LogError> {
    let mut last: Option<EpochStart> = None;
    checkpoint::read(disk, EPOCHS_FILE, REMEDY, |words| {
        let entry = match words {
            [epoch, start] => plain(epoch).zip(plain(start)),
            _ => None,
        };
        let (epoch, start) = entry.ok_or("an epoch and an offset")?;
        let entry = EpochStart { epoch: Epoch(epoch), start: Offset(start) };
        if last.is_some_and(|last| entry.epoch <= last.epoch || entry.start <= last.start) {
            return Err("an epoch and an offset greater than in the line before");
        }
        last = Some(entry);
        Ok(entry)
    })
}

/// Writes the file, durably and all or nothing (B23).
pub fn write<D: Disk>(disk: &mut D, entries: &[EpochStart]) -> Result<(), LogError> {
    let lines: Vec<_> = entries.iter().map(|e| format!("{} {}", e.epoch, e.start)).collect();
    checkpoint::write(disk, EPOCHS_FILE, &lines)
}
