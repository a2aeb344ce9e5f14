//! A disk that fails at a chosen call.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use super::{Disk, DiskError, DiskOp};

/// Which calls a [`Fault`] counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultOn {
    /// Appends: the disk is full.
    Write,
    /// Flushes of a file or of the directory.
    Sync,
    /// Every call that changes something.
    Change,
}

/// How the disk goes on after the call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Then {
    /// It works again.
    Works,
    /// Each later call of any kind that changes something fails too: the moment of a crash.
    StaysBroken,
}

/// A failure to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fault {
    /// Which calls count.
    pub on: FaultOn,
    /// How many of them succeed before one fails.
    pub after: u32,
    /// If the call that fails is an append: how many of its bytes are written all the same.
    pub tear: u64,
    /// What follows.
    pub then: Then,
}

/// A disk with a failure to come, or none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Faulty<D> {
    disk: D,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum State {
    #[default]
    Sound,
    Armed(Fault),
    Broken,
}

impl<D: Disk> Faulty<D> {
    /// A disk that works until a fault is [armed](Self::arm).
    pub fn new(disk: D) -> Self {
        Self { disk, state: State::Sound }
    }

    /// Sets the failure to come; counting starts now.
    pub fn arm(&mut self, fault: Fault) {
        self.state = State::Armed(fault);
    }

    /// Whether a fault is armed and has not struck yet.
    pub fn is_armed(&self) -> bool {
        matches!(self.state, State::Armed(_))
    }

    /// Takes the failure away again.
    pub fn heal(&mut self) {
        self.state = State::Sound;
    }

    /// The disk inside.
    pub fn inner(&self) -> &D {
        &self.disk
    }

    /// The disk inside, to change.
    pub fn inner_mut(&mut self) -> &mut D {
        &mut self.disk
    }

    /// The disk inside, alone.
    pub fn into_inner(self) -> D {
        self.disk
    }

    /// Counts one call. `Err` carries the bytes of an append that are to be written all the same.
    fn strike(&mut self, on: FaultOn) -> Result<(), u64> {
        match &mut self.state {
            State::Sound => Ok(()),
            State::Broken => Err(0),
            State::Armed(fault) if fault.on != on && fault.on != FaultOn::Change => Ok(()),
            State::Armed(fault) if fault.after > 0 => {
                fault.after -= 1;
                Ok(())
            }
            State::Armed(fault) => {
                let Fault { tear, then, .. } = *fault;
                self.state = match then {
                    Then::Works => State::Sound,
                    Then::StaysBroken => State::Broken,
                };
                Err(tear)
            }
        }
    }

    fn guard(&mut self, on: FaultOn, op: DiskOp, name: &str) -> Result<(), DiskError> {
        self.strike(on).map_err(|_| self.error(op, name))
    }

    fn error(&self, op: DiskOp, name: &str) -> DiskError {
        let kind = match op {
            DiskOp::Append | DiskOp::Create => io::ErrorKind::StorageFull,
            _ => io::ErrorKind::Other,
        };
        DiskError::new(op, self.disk.path(name), kind.into())
    }
}

impl<D: Disk> Disk for Faulty<D> {
    fn create(&mut self, name: &str) -> Result<(), DiskError> {
        self.guard(FaultOn::Change, DiskOp::Create, name)?;
        self.disk.create(name)
    }

    fn open(&mut self, name: &str) -> Result<u64, DiskError> {
        self.disk.open(name)
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), DiskError> {
        match self.strike(FaultOn::Write) {
            Ok(()) => self.disk.append(name, bytes),
            Err(tear) => {
                let torn = bytes.len().min(tear as usize);
                self.disk.append(name, &bytes[..torn])?;
                Err(self.error(DiskOp::Append, name))
            }
        }
    }

    fn read_at(&self, name: &str, pos: u64, len: u64) -> Result<Cow<'_, [u8]>, DiskError> {
        self.disk.read_at(name, pos, len)
    }

    fn len(&self, name: &str) -> Result<Option<u64>, DiskError> {
        self.disk.len(name)
    }

    fn truncate(&mut self, name: &str, len: u64) -> Result<(), DiskError> {
        self.guard(FaultOn::Change, DiskOp::Truncate, name)?;
        self.disk.truncate(name, len)
    }

    fn sync_file(&mut self, name: &str) -> Result<(), DiskError> {
        self.guard(FaultOn::Sync, DiskOp::SyncFile, name)?;
        self.disk.sync_file(name)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError> {
        self.guard(FaultOn::Change, DiskOp::Rename, from)?;
        self.disk.rename(from, to)
    }

    fn remove(&mut self, name: &str) -> Result<(), DiskError> {
        self.guard(FaultOn::Change, DiskOp::Remove, name)?;
        self.disk.remove(name)
    }

    fn sync_dir(&mut self) -> Result<(), DiskError> {
        self.guard(FaultOn::Sync, DiskOp::SyncDirectory, "")?;
        self.disk.sync_dir()
    }

    fn list(&self) -> Result<Vec<String>, DiskError> {
        self.disk.list()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.disk.path(name)
    }
}
