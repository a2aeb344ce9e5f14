//! Memory that behaves like a disk: it knows what was flushed, and a power loss takes the rest.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Disk, DiskError, DiskOp};

/// Files in memory. A value: it can be cloned, compared and hashed, and holds no clock and no
/// random order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct MemDisk {
    /// The names as a running process sees them.
    files: BTreeMap<Arc<str>, MemFile>,
    /// Durable names that a running process no longer sees (removed, or taken by another file).
    gone: BTreeMap<Arc<str>, MemFile>,
    /// What it goes by in messages.
    root: Option<Arc<Path>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct MemFile {
    data: Vec<u8>,
    /// `data[..synced]` is durable.
    synced: usize,
    /// Durable bytes after `data[..synced]` that were cut off without a flush.
    cut: Vec<u8>,
    /// Whether the name of this file is durable.
    entry: Entry,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Entry {
    #[default]
    New,
    Durable,
}

/// A name and what a power loss may decide about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unflushed<'a> {
    /// The file's name.
    pub name: &'a str,
    /// Durable bytes that are still there: no power loss takes these.
    pub durable: u64,
    /// Bytes written after them and not flushed.
    pub written: u64,
    /// Durable bytes that were cut off, the cut not being flushed.
    pub cut: u64,
    /// What happened to the name since the directory was flushed.
    pub entry: EntryChange,
}

/// What happened to a name since the directory was last flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryChange {
    /// Nothing.
    None,
    /// The name was given to this file.
    Given,
    /// This file lost the name: it was removed, or another file took it.
    Taken,
}

/// What a power loss leaves of one file's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataFate {
    /// The file as it was last flushed: nothing written since, and no cut.
    AsFlushed,
    /// Every cut, and this many of the bytes written since (all, if there are fewer).
    Written(u64),
    /// As `Written`, and the full length: the missing bytes read as zeros.
    ZeroFilled(u64),
}

/// What a power loss leaves of the changes of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryFate {
    /// The name as it was when the directory was last flushed.
    AsFlushed,
    /// The name as the process saw it.
    Changed,
}

/// What a power loss leaves of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Survives {
    /// Of its bytes.
    pub data: DataFate,
    /// Of its name.
    pub entry: EntryFate,
}

impl Survives {
    /// Nothing that was not flushed.
    pub const FLUSHED: Self = Self { data: DataFate::AsFlushed, entry: EntryFate::AsFlushed };
    /// Everything, as after a crash of the process alone.
    pub const ALL: Self = Self { data: DataFate::Written(u64::MAX), entry: EntryFate::Changed };

    /// Names as the process saw them, cuts, and this many unflushed bytes.
    pub const fn bytes(written: u64) -> Self {
        Self { data: DataFate::Written(written), entry: EntryFate::Changed }
    }
}

impl MemFile {
    fn unflushed<'a>(&self, name: &'a str, entry: EntryChange) -> Unflushed<'a> {
        Unflushed {
            name,
            durable: self.synced as u64,
            written: (self.data.len() - self.synced) as u64,
            cut: self.cut.len() as u64,
            entry,
        }
    }

    fn sync(&mut self) {
        self.synced = self.data.len();
        self.cut.clear();
    }

    /// The file after a power loss.
    fn lose(mut self, fate: DataFate) -> Self {
        let full = self.data.len();
        let keep = |written: u64| full.min(self.synced.saturating_add(written as usize));
        match fate {
            DataFate::AsFlushed => {
                self.data.truncate(self.synced);
                self.data.append(&mut self.cut);
            }
            DataFate::Written(n) => self.data.truncate(keep(n)),
            DataFate::ZeroFilled(n) => {
                let kept = keep(n);
                self.data[kept..].fill(0);
            }
        }
        self.sync();
        self.entry = Entry::Durable;
        self
    }
}

impl MemDisk {
    /// An empty directory.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty directory that goes by this path in messages.
    pub fn rooted(root: &Path) -> Self {
        Self { root: Some(root.into()), ..Self::default() }
    }

    /// The power goes: what was not flushed is lost, but for what `keep` lets survive. It is
    /// asked once for each file that has a name, or still has one on the platter; where two files
    /// claim one name, the process's wins if its `entry` survives.
    pub fn power_loss(&mut self, mut keep: impl FnMut(&Unflushed<'_>) -> Survives) {
        let mut left = BTreeMap::new();
        for (name, file) in std::mem::take(&mut self.gone) {
            let survives = keep(&file.unflushed(&name, EntryChange::Taken));
            if survives.entry == EntryFate::AsFlushed {
                left.insert(name, file.lose(survives.data));
            }
        }
        for (name, file) in std::mem::take(&mut self.files) {
            let change = match file.entry {
                Entry::New => EntryChange::Given,
                Entry::Durable => EntryChange::None,
            };
            let survives = keep(&file.unflushed(&name, change));
            if change == EntryChange::None || survives.entry == EntryFate::Changed {
                left.insert(name, file.lose(survives.data));
            }
        }
        self.files = left;
    }

    /// The process dies and the machine lives: everything written stays, flushed or not. The disk
    /// itself does not change; the name says it in a test.
    pub fn process_crash(&mut self) {}

    /// What a power loss now would decide about this file; `None` if there is no such file.
    pub fn unflushed(&self, name: &str) -> Option<Unflushed<'_>> {
        let (name, file) = self.files.get_key_value(name)?;
        let change = match file.entry {
            Entry::New => EntryChange::Given,
            Entry::Durable => EntryChange::None,
        };
        Some(file.unflushed(name, change))
    }

    /// Inverts the bits of `mask` in one byte, as a failing medium does. The caller names a byte
    /// that exists.
    pub fn flip(&mut self, name: &str, pos: u64, mask: u8) {
        self.files.get_mut(name).expect("the file exists").data[pos as usize] ^= mask;
    }

    fn fail(&self, op: DiskOp, name: &str, kind: io::ErrorKind) -> DiskError {
        DiskError::new(op, self.path(name), kind.into())
    }

    fn file(&mut self, op: DiskOp, name: &str) -> Result<&mut MemFile, DiskError> {
        if !self.files.contains_key(name) {
            return Err(self.fail(op, name, io::ErrorKind::NotFound));
        }
        Ok(self.files.get_mut(name).expect("it is there"))
    }

    /// Takes a name away from its file, which stays on the platter if the name is durable.
    fn unlink(&mut self, name: &str) -> Option<MemFile> {
        let (key, file) = self.files.remove_entry(name)?;
        if file.entry == Entry::Durable {
            self.gone.insert(key, file.clone());
        }
        Some(file)
    }
}

impl Disk for MemDisk {
    fn create(&mut self, name: &str) -> Result<(), DiskError> {
        if self.files.contains_key(name) {
            return Err(self.fail(DiskOp::Create, name, io::ErrorKind::AlreadyExists));
        }
        self.files.insert(name.into(), MemFile::default());
        Ok(())
    }

    fn open(&mut self, name: &str) -> Result<u64, DiskError> {
        Ok(self.file(DiskOp::Open, name)?.data.len() as u64)
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), DiskError> {
        self.file(DiskOp::Append, name)?.data.extend_from_slice(bytes);
        Ok(())
    }

    fn read_at(&self, name: &str, pos: u64, len: u64) -> Result<Cow<'_, [u8]>, DiskError> {
        let missing = || self.fail(DiskOp::Read, name, io::ErrorKind::NotFound);
        let file = self.files.get(name).ok_or_else(missing)?;
        let range = pos.checked_add(len).map(|end| pos as usize..end as usize);
        let bytes = range.and_then(|range| file.data.get(range));
        let short = || self.fail(DiskOp::Read, name, io::ErrorKind::UnexpectedEof);
        bytes.map(Cow::Borrowed).ok_or_else(short)
    }

    fn len(&self, name: &str) -> Result<Option<u64>, DiskError> {
        Ok(self.files.get(name).map(|file| file.data.len() as u64))
    }

    fn truncate(&mut self, name: &str, len: u64) -> Result<(), DiskError> {
        if len > self.file(DiskOp::Truncate, name)?.data.len() as u64 {
            return Err(self.fail(DiskOp::Truncate, name, io::ErrorKind::InvalidInput));
        }
        let file = self.file(DiskOp::Truncate, name)?;
        let len = len as usize;
        if len < file.synced {
            let mut cut = file.data[len..file.synced].to_vec();
            cut.append(&mut file.cut);
            file.cut = cut;
            file.synced = len;
        }
        file.data.truncate(len);
        Ok(())
    }

    fn sync_file(&mut self, name: &str) -> Result<(), DiskError> {
        self.file(DiskOp::SyncFile, name)?.sync();
        Ok(())
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError> {
        let Some(mut file) = self.unlink(from) else {
            return Err(self.fail(DiskOp::Rename, from, io::ErrorKind::NotFound));
        };
        self.unlink(to);
        file.entry = Entry::New;
        self.files.insert(to.into(), file);
        Ok(())
    }

    fn remove(&mut self, name: &str) -> Result<(), DiskError> {
        match self.unlink(name) {
            Some(_) => Ok(()),
            None => Err(self.fail(DiskOp::Remove, name, io::ErrorKind::NotFound)),
        }
    }

    fn sync_dir(&mut self) -> Result<(), DiskError> {
        self.gone.clear();
        for file in self.files.values_mut() {
            file.entry = Entry::Durable;
        }
        Ok(())
    }

    fn list(&self) -> Result<Vec<String>, DiskError> {
        Ok(self.files.keys().map(|name| String::from(&**name)).collect())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.as_deref().unwrap_or(Path::new("memory")).join(name)
    }
}
