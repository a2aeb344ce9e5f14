//! What can go wrong with stored bytes: which file, where, expected, found, and what to do.

use super::batch::BatchError;
use crate::disk::DiskError;
use crate::types::{Epoch, Offset};

/// Remedy for a damaged segment.
pub(super) const RESTORE: &str = "nothing was changed; bytes that were once good are damaged: \
     move this directory away and let the replica copy the log from its leader, or restore the \
     file from a backup";

/// An error of the log.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// Stored bytes are damaged, and not as a crash damages them (B80, B89).
    #[error("{file}: at byte {position} expected {expected}, found {found}; {remedy}")]
    Corrupt {
        /// Path of the file.
        file: String,
        /// Byte in the file.
        position: u64,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
        /// What a person can do.
        remedy: &'static str,
    },
    /// A text file (a checkpoint) is damaged.
    #[error("{file}: in line {line} expected {expected}, found {found}; {remedy}")]
    CorruptText {
        /// Path of the file.
        file: String,
        /// Line, from 1.
        line: u64,
        /// What should be there.
        expected: &'static str,
        /// What is there.
        found: String,
        /// What a person can do.
        remedy: &'static str,
    },
    /// Bytes to append are not a good batch; nothing was written (G1, B111).
    #[error("batch refused at byte {position}: expected {error}")]
    BadBatch {
        /// Byte in the bytes handed over.
        position: u64,
        /// What is wrong.
        error: BatchError,
    },
    /// A batch to append does not begin at the log end offset; nothing was written (G1).
    #[error("batch refused: the log ends at offset {expected}, the batch begins at {found}")]
    NotNext {
        /// LEO.
        expected: Offset,
        /// Base offset of the batch.
        found: Offset,
    },
    /// A batch to append has no leader epoch, or an older one than the record before it; nothing
    /// was written.
    #[error("batch refused: its leader epoch is {found:?}, the record before it has {last:?}")]
    EpochWentBack {
        /// Epoch of the last record.
        last: Option<Epoch>,
        /// Epoch of the batch.
        found: Option<Epoch>,
    },
    /// An offset outside the log.
    #[error("offset {offset} is outside the log, which holds {start} up to {leo}")]
    OutOfRange {
        /// The offset asked for.
        offset: Offset,
        /// First offset.
        start: Offset,
        /// LEO.
        leo: Offset,
    },
    /// The disk failed before; nothing is changed until the log is opened again (D6, B83).
    #[error("the log takes no change after a disk error; open it again")]
    Fenced,
    /// A topic name cannot be written to a checkpoint.
    #[error("topic name {0:?} is empty or has white space in it")]
    TopicName(String),
}
