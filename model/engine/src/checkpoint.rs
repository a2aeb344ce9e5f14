//! A search that can be gone on with: what is known at the end of a level, in a folder.
//!
//! Three files: `fingerprints` has 8 bytes of each state, `links` 6 bytes (the place of its parent
//! in the level before, and which action of the parent leads to it), both in the order in which
//! states were found and the lower bytes first; they only grow. `manifest` is text: whose search it
//! is, how many states each level has with checksums of both, and all that was counted and found.
//! It is replaced as a whole, when the disk has what it tells of. What follows in the other files
//! is of a level that was not complete, and ignored.
//!
//! Rows of states are not kept. They are had again from the space, along the links.

mod manifest;
mod saved;

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use xxhash_rust::xxh3::Xxh3;

use crate::disk::{DiskError, Quota, Sequence};
use crate::frontier::Links;
use crate::levels::encode_one;
use crate::options::Refused;

pub use manifest::{Head, Level, Moment};
pub use saved::Saved;

/// Where and when a search writes what it takes to go on with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The folder. It is made if it is missing, and stays.
    pub folder: PathBuf,
    /// What model and configuration it is. A search with another identity can't go on with it.
    pub identity: String,
    /// It is written at the end of a level if so many were completed since it was written last.
    pub levels: Option<u32>,
    /// The same, if so much time has passed.
    pub time: Option<Duration>,
    /// Bytes until the disk is full, for tests.
    #[doc(hidden)]
    pub quota: Option<u64>,
}

impl Checkpoint {
    /// Writes to this folder once a minute, and in any case when the search ends.
    pub fn to(folder: impl Into<PathBuf>, identity: impl Into<String>) -> Self {
        let (folder, identity) = (folder.into(), identity.into());
        let time = Some(Duration::from_secs(60));
        Self { folder, identity, levels: None, time, quota: None }
    }
}

/// Why a search can't go on with a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// The options are no use.
    #[error(transparent)]
    Options(#[from] Refused),
    /// The options name no checkpoint.
    #[error("no checkpoint is named; name the folder of one")]
    Unnamed,
    /// There is none.
    #[error("{}: there is no checkpoint; search without resuming", file.display())]
    Missing {
        /// The file that is not there.
        file: PathBuf,
    },
    /// It was written by another version.
    #[error("{}: format {got:?} is not {expected:?}; use the version that wrote it, or search anew",
        file.display())]
    Version {
        /// The manifest.
        file: PathBuf,
        /// The format that this version reads.
        expected: String,
        /// That of the file.
        got: String,
    },
    /// It is not what was written.
    #[error("{}: {what} is damaged: {expected} expected, {got} found; \
        restore the folder from a copy, or search anew", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Which part of it.
        what: String,
        /// What it should be.
        expected: String,
        /// What it is.
        got: String,
    },
    /// It is of another model, configuration or seed.
    #[error("{}: it is of another search: {what} is {got} there and {expected} here; \
        resume with what it was made with, or search anew", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
        /// What differs.
        what: String,
        /// What this search has.
        expected: String,
        /// What the checkpoint has.
        got: String,
    },
    /// The search that wrote it went further than this one may.
    #[error("{}: it has {got} {what}, the limit is {limit}; raise the limit, or search anew",
        file.display())]
    Beyond {
        /// The manifest.
        file: PathBuf,
        /// What is limited.
        what: &'static str,
        /// The limit.
        limit: u64,
        /// How many there are.
        got: u64,
    },
    /// The user interrupted before the search went on. Nothing was changed.
    #[error("{}: interrupted while it was read; resume again", file.display())]
    Interrupted {
        /// The folder.
        file: PathBuf,
    },
    /// The system has no memory for what was known.
    #[error("{}: no memory for its states; spill, or resume on a larger machine", file.display())]
    Memory {
        /// The folder.
        file: PathBuf,
    },
    /// A file can't be used.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

const FINGERPRINTS: &str = "fingerprints";
const LINKS: &str = "links";
const MANIFEST: &str = "manifest";
/// The next manifest, until it is whole.
const NEW_MANIFEST: &str = "manifest.new";

/// The bytes of a fingerprint.
const FINGERPRINT: usize = size_of::<u64>();

/// Bytes that are hashed and handed on at a time.
const PIECE: usize = 32 * 1024;

/// One of the two growing files, with the hash of its open level.
struct Column {
    file: Sequence,
    hash: Box<Xxh3>,
    piece: Vec<u8>,
}

impl Column {
    fn new(file: File, from: u64, path: PathBuf, what: &'static str, quota: Quota) -> Self {
        let file = Sequence::new(file, from, path, what, quota);
        Self { file, hash: Box::default(), piece: Vec::with_capacity(PIECE + FINGERPRINT) }
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), DiskError> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE { self.hand_on() } else { Ok(()) }
    }

    fn hand_on(&mut self) -> Result<(), DiskError> {
        self.file.append(&self.piece)?;
        self.hash.update(&self.piece);
        self.piece.clear();
        Ok(())
    }

    /// The hash of what came since the last time.
    fn close(&mut self) -> Result<u64, DiskError> {
        self.hand_on()?;
        let hash = self.hash.digest();
        self.hash.reset();
        Ok(hash)
    }
}

/// Writes a checkpoint while the search goes on.
pub struct Log {
    folder: PathBuf,
    every: (Option<u32>, Option<Duration>),
    quota: Quota,
    head: Head,
    fingerprints: Column,
    links: Column,
    /// States of the level that is being found.
    open: u64,
    levels: Vec<Level>,
    /// What was known at the end of the last complete level.
    latest: Option<Moment>,
    /// How many levels the manifest on disk has, and when it was written.
    written: (usize, Instant),
}

impl Log {
    /// Begins a checkpoint in a folder that has none.
    pub fn begin(checkpoint: &Checkpoint, head: Head) -> Result<Self, DiskError> {
        let folder = &checkpoint.folder;
        fs::create_dir_all(folder).map_err(|e| DiskError::new(folder, "make the folder", &e))?;
        let manifest = folder.join(MANIFEST);
        if manifest.exists() {
            let cause = io::Error::other("there is one already");
            let error = DiskError::new(&manifest, "begin a checkpoint", &cause);
            return Err(DiskError { remedy: "resume it, or name another folder", ..error });
        }
        let names = [FINGERPRINTS, LINKS, NEW_MANIFEST];
        names.into_iter().try_for_each(|name| is_free(folder, name))?;
        let files = [open(&folder.join(FINGERPRINTS), true)?, open(&folder.join(LINKS), true)?];
        Self::new(checkpoint, head, files, Vec::new())
    }

    /// Goes on with a checkpoint. What is not of a complete level is cut off.
    pub fn go_on(checkpoint: &Checkpoint, head: Head, saved: Saved) -> Result<Self, DiskError> {
        let (files, levels) = saved.into_parts();
        Self::new(checkpoint, head, files, levels)
    }

    fn new(
        checkpoint: &Checkpoint,
        head: Head,
        [fingerprints, links]: [File; 2],
        levels: Vec<Level>,
    ) -> Result<Self, DiskError> {
        let states: u64 = levels.iter().map(|level| level.states).sum();
        let quota = Quota::new(checkpoint.quota);
        let column = |file: File, each: usize, name, what| {
            let (path, len) = (checkpoint.folder.join(name), states * each as u64);
            let now = file.metadata().map(|data| data.len());
            let cut = now.and_then(|now| if now > len { file.set_len(len) } else { Ok(()) });
            cut.map_err(|e| DiskError::new(&path, "shorten it", &e))?;
            Ok(Column::new(file, len, path, what, quota.clone()))
        };
        Ok(Self {
            folder: checkpoint.folder.clone(),
            every: (checkpoint.levels, checkpoint.time),
            head,
            fingerprints: column(fingerprints, FINGERPRINT, FINGERPRINTS, "fingerprints")?,
            links: column(links, Links::EACH, LINKS, "links")?,
            quota: quota.clone(),
            open: 0,
            latest: None,
            written: (levels.len(), Instant::now()),
            levels,
        })
    }

    /// Adds the next state of the level that is being found.
    pub fn push(
        &mut self,
        fingerprint: u64,
        (parent, ordinal): (u32, u16),
    ) -> Result<(), DiskError> {
        self.open += 1;
        self.fingerprints.push(&fingerprint.to_le_bytes())?;
        self.links.push(&encode_one(parent, ordinal))
    }

    /// A level is complete.
    pub fn close(&mut self, moment: Moment) -> Result<(), DiskError> {
        let states = std::mem::take(&mut self.open);
        let (fingerprints, links) = (self.fingerprints.close()?, self.links.close()?);
        self.levels.push(Level { states, fingerprints, links });
        self.latest = Some(moment);
        let (levels, when) = self.written;
        let enough = |every: u32| self.levels.len() - levels >= every as usize;
        let long = |time: Duration| when.elapsed() >= time;
        if self.every.0.is_some_and(enough) || self.every.1.is_some_and(long) {
            return self.write();
        }
        Ok(())
    }

    /// Writes what was known at the end of the last complete level, if that was not done.
    pub fn write(&mut self) -> Result<(), DiskError> {
        let Some(moment) = &self.latest else { return Ok(()) };
        self.fingerprints.file.sync()?;
        self.links.file.sync()?;
        let text = self.head.render(moment, &self.levels);
        replace(&self.folder, text.as_bytes(), &self.quota)?;
        self.latest = None;
        self.written = (self.levels.len(), Instant::now());
        Ok(())
    }

    /// Removes it, since nobody may go on with it. Returns what the user is to be told.
    pub fn abandon(self) -> DiskError {
        for name in [MANIFEST, FINGERPRINTS, LINKS] {
            // What can't be removed is found out when someone tries to resume.
            let _ = fs::remove_file(self.folder.join(name));
        }
        let cause = io::Error::other("unequal parts of its states hash alike");
        let error = DiskError::new(&self.folder, "keep a checkpoint of this model", &cause);
        DiskError { remedy: "let `Hash` write all that `Eq` compares", ..error }
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        let columns = [&self.fingerprints, &self.links];
        let columns = columns.map(|column| column.file.bytes() + column.piece.capacity() as u64);
        columns.iter().sum::<u64>() + (self.levels.capacity() * size_of::<Level>()) as u64
    }
}

/// Whether nothing gets lost if a file of this name is written: a checkpoint that was never
/// complete leaves empty ones.
fn is_free(folder: &Path, name: &str) -> Result<(), DiskError> {
    let path = folder.join(name);
    match fs::metadata(&path) {
        Ok(there) if there.len() > 0 => {
            let cause = io::Error::other("there is something of that name, and no checkpoint");
            let error = DiskError::new(&path, "begin a checkpoint", &cause);
            Err(DiskError { remedy: "name another folder, or remove it", ..error })
        }
        _ => Ok(()),
    }
}

/// Opens a file of a checkpoint for this process alone.
fn open(path: &Path, new: bool) -> Result<File, DiskError> {
    let failed = |e: &io::Error| DiskError::new(path, "open it", e);
    let file = File::options().read(true).write(true).create(new).truncate(false).open(path);
    let file = file.map_err(|e| failed(&e))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let error = failed(&io::Error::other("another search uses it"));
            Err(DiskError { remedy: "wait for it, or name another folder", ..error })
        }
        // A file system without locks is not a reason to do without checkpoints.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Puts a manifest in the place of the one before, or nothing.
fn replace(folder: &Path, text: &[u8], quota: &Quota) -> Result<(), DiskError> {
    let (path, new) = (folder.join(MANIFEST), folder.join(NEW_MANIFEST));
    let failed = |doing: &str, e: &io::Error| DiskError::new(&path, doing, e);
    let file = File::create(&new).map_err(|e| failed("make it", &e))?;
    let mut sequence = Sequence::new(file, 0, new.clone(), "the manifest", quota.clone());
    let written = sequence.append(text).and_then(|()| sequence.sync());
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written?;
    fs::rename(&new, &path).map_err(|e| failed("replace it", &e))?;
    #[cfg(unix)]
    File::open(folder).and_then(|it| it.sync_all()).map_err(|e| failed("sync its folder", &e))?;
    Ok(())
}
