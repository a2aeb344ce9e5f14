//! The disks under a cluster: memory, or files of the file system.

use std::fs;

use klog::disk::{Disk, DiskError, FsDisk, MemDisk, Survives, copy_in_memory};
use klog::log::LogError;
use klog_trace::action::Node as Id;
use tempfile::TempDir;

use super::fault::Fault;

impl From<DiskError> for Fault {
    fn from(error: DiskError) -> Self {
        LogError::from(error).into()
    }
}

/// A disk that a cluster can be built on, lose power on, and look at without touching it.
pub trait Storage: Disk + Sized {
    /// Name on the command line.
    const NAME: &'static str;

    /// What the disks of one cluster have in common; they are gone when it is.
    type Home;

    /// A new, empty home.
    fn home() -> Result<Self::Home, Fault>;

    /// An empty disk for this broker.
    fn fresh(home: &Self::Home, broker: Id) -> Result<Self, Fault>;

    /// The disk as a new process finds it.
    fn reopened(self) -> Result<Self, Fault>;

    /// Shows a copy of the disk to `look`, which may write on it.
    fn with_copy<T>(&self, look: impl FnOnce(Self) -> Result<T, Fault>) -> Result<T, Fault>;

    /// The power goes. Of each file named, so many bytes are left; of all others, what was flushed.
    ///
    /// A trace may lose records that are known to be flushed (a truncation flushes the whole
    /// file): which ones go is the environment's choice here, so the file is cut all the same.
    fn lose_power(&mut self, kept: &[(String, u64)]) -> Result<(), Fault>;

    /// A copy of the disk in memory.
    fn in_memory(&self) -> Result<MemDisk, Fault>;
}

impl Storage for MemDisk {
    const NAME: &'static str = "memory";

    type Home = ();

    fn home() -> Result<(), Fault> {
        Ok(())
    }

    fn fresh((): &(), _broker: Id) -> Result<Self, Fault> {
        Ok(Self::new())
    }

    fn reopened(self) -> Result<Self, Fault> {
        Ok(self)
    }

    fn with_copy<T>(&self, look: impl FnOnce(Self) -> Result<T, Fault>) -> Result<T, Fault> {
        look(self.clone())
    }

    fn lose_power(&mut self, kept: &[(String, u64)]) -> Result<(), Fault> {
        self.power_loss(|file| {
            let bytes = kept.iter().find(|(name, _)| name == file.name);
            bytes.map_or(Survives::FLUSHED, |(_, bytes)| {
                Survives::bytes(bytes.saturating_sub(file.durable))
            })
        });
        cut_all(self, kept)
    }

    fn in_memory(&self) -> Result<MemDisk, Fault> {
        Ok(self.clone())
    }
}

impl Storage for FsDisk {
    const NAME: &'static str = "files";

    type Home = TempDir;

    fn home() -> Result<TempDir, Fault> {
        tempfile::tempdir().map_err(|e| Fault::Internal(format!("no temporary directory: {e}")))
    }

    fn fresh(home: &TempDir, broker: Id) -> Result<Self, Fault> {
        Ok(Self::open(home.path().join(format!("broker-{broker}")))?)
    }

    fn reopened(self) -> Result<Self, Fault> {
        let root = self.root().to_owned();
        drop(self);
        Ok(Self::open(root)?)
    }

    fn with_copy<T>(&self, look: impl FnOnce(Self) -> Result<T, Fault>) -> Result<T, Fault> {
        let copy = Self::home()?;
        for name in self.list()? {
            let copied = fs::copy(self.path(&name), copy.path().join(&name));
            copied.map_err(|e| Fault::Internal(format!("cannot copy {name}: {e}")))?;
        }
        look(Self::open(copy.path())?)
    }

    /// The file system cannot be made to forget what was not flushed, so only the cut is real.
    fn lose_power(&mut self, kept: &[(String, u64)]) -> Result<(), Fault> {
        cut_all(self, kept)
    }

    fn in_memory(&self) -> Result<MemDisk, Fault> {
        Ok(copy_in_memory(self.root(), &self.list()?)?)
    }
}

fn cut_all<D: Disk>(disk: &mut D, kept: &[(String, u64)]) -> Result<(), Fault> {
    for (name, bytes) in kept {
        if disk.len(name)?.is_some_and(|length| length > *bytes) {
            disk.truncate(name, *bytes)?;
            disk.sync_file(name)?;
        }
    }
    Ok(())
}
