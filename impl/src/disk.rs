//! Where bytes live: the files of one directory, on a real file system or in memory.
//!
//! [`Disk`] speaks of written and of *durable* (flushed) bytes and names, because a crash of the
//! process keeps the first and a power loss keeps only the second. [`FsDisk`] is a directory of
//! the file system; [`MemDisk`] is memory that remembers what was flushed and can lose the rest;
//! [`Faulty`] makes any disk fail at a chosen call.

mod borrowed;
mod faulty;
mod fs;
mod mem;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::PathBuf;

pub use faulty::{Fault, FaultOn, Faulty, Then};
pub use fs::{FsDisk, copy_in_memory, files_in};
pub use mem::{DataFate, EntryChange, EntryFate, MemDisk, Survives, Unflushed};

/// Suffix of the file that [`Disk::replace`] writes before it takes the place of the old one. A
/// file with this suffix is a left-over of a crash and may be removed.
pub const TMP_SUFFIX: &str = ".tmp";

/// What was being done when a disk failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiskOp {
    /// Open a directory that files can be made in.
    OpenDirectory,
    /// Make a new, empty file.
    Create,
    /// Open a file that exists.
    Open,
    /// Write at the end of a file.
    Append,
    /// Read from a file.
    Read,
    /// Shorten a file.
    Truncate,
    /// Flush a file.
    SyncFile,
    /// Flush the names of a directory.
    SyncDirectory,
    /// Give a file another name.
    Rename,
    /// Remove a file.
    Remove,
    /// List a directory.
    List,
}

impl fmt::Display for DiskOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenDirectory => "use as a directory to write in",
            Self::Create => "create",
            Self::Open => "open",
            Self::Append => "append to",
            Self::Read => "read",
            Self::Truncate => "truncate",
            Self::SyncFile => "flush",
            Self::SyncDirectory => "flush the names in",
            Self::Rename => "rename",
            Self::Remove => "remove",
            Self::List => "list",
        })
    }
}

/// A failed call of a [`Disk`]: what was done, to which path, and what the system said.
#[derive(Debug, thiserror::Error)]
#[error("cannot {op} {}: {source}", path.display())]
pub struct DiskError {
    /// What was being done.
    pub op: DiskOp,
    /// The file or directory it was done to.
    pub path: PathBuf,
    /// The system's reason.
    pub source: io::Error,
}

impl DiskError {
    pub(crate) fn new(op: DiskOp, path: PathBuf, source: io::Error) -> Self {
        Self { op, path, source }
    }
}

/// The files of one flat directory.
///
/// A name is a plain file name, without a path. Nothing is durable until it is flushed: bytes by
/// [`sync_file`](Self::sync_file), names (made, renamed, removed) by
/// [`sync_dir`](Self::sync_dir). Every error names the path.
pub trait Disk {
    /// Makes an empty file and opens it. Error if the name is taken.
    fn create(&mut self, name: &str) -> Result<(), DiskError>;

    /// Opens an existing file, so that later calls need not, and returns its length in bytes.
    fn open(&mut self, name: &str) -> Result<u64, DiskError>;

    /// Writes `bytes` at the end of the file. After an error any prefix of them may be there.
    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), DiskError>;

    /// Exactly `len` bytes from byte `pos` on; error if the file ends before.
    fn read_at(&self, name: &str, pos: u64, len: u64) -> Result<Cow<'_, [u8]>, DiskError>;

    /// Length in bytes, or `None` if there is no such file.
    fn len(&self, name: &str) -> Result<Option<u64>, DiskError>;

    /// Shortens the file to `len` bytes; error if it is shorter.
    fn truncate(&mut self, name: &str, len: u64) -> Result<(), DiskError>;

    /// Makes the file's bytes and length durable (not its name).
    fn sync_file(&mut self, name: &str) -> Result<(), DiskError>;

    /// Gives `from` the name `to`, in the place of a file that has that name.
    fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError>;

    /// Removes a file.
    fn remove(&mut self, name: &str) -> Result<(), DiskError>;

    /// Makes every name as it is now durable (KAFKA-3968).
    fn sync_dir(&mut self) -> Result<(), DiskError>;

    /// All names, in order.
    fn list(&self) -> Result<Vec<String>, DiskError>;

    /// The path of a name, for messages.
    fn path(&self, name: &str) -> PathBuf;

    /// The whole file, or `None` if there is no such file.
    fn read_file(&self, name: &str) -> Result<Option<Cow<'_, [u8]>>, DiskError> {
        match self.len(name)? {
            Some(len) => self.read_at(name, 0, len).map(Some),
            None => Ok(None),
        }
    }

    /// Makes `bytes` the durable content of `name`, all or nothing: a crash at any moment leaves
    /// the old file or the new one, and after `Ok` a power loss leaves the new one.
    fn replace(&mut self, name: &str, bytes: &[u8]) -> Result<(), DiskError> {
        let tmp = format!("{name}{TMP_SUFFIX}");
        if self.len(&tmp)?.is_some() {
            self.remove(&tmp)?;
        }
        self.create(&tmp)?;
        self.append(&tmp, bytes)?;
        self.sync_file(&tmp)?;
        self.rename(&tmp, name)?;
        self.sync_dir()
    }
}
