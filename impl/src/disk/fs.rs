//! A directory of the file system.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::{Disk, DiskError, DiskOp, MemDisk};

/// The files of one directory of the file system. Flushes are real: `fsync` of the file, and of
/// the directory for names. Unix only, because a directory must be flushed.
#[derive(Debug)]
pub struct FsDisk {
    root: PathBuf,
    files: BTreeMap<String, File>,
}

impl FsDisk {
    /// Opens `root`, which is made (with its parents) if it is not there; a new directory's name
    /// is flushed in its parent, or a power loss would take the directory with all its flushed
    /// files. Error if no file can be made in it: better now than at the first append.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, DiskError> {
        let root = root.into();
        let made = make_durably(&root).and_then(|()| tempfile::tempfile_in(&root));
        made.map_err(|e| DiskError::new(DiskOp::OpenDirectory, root.clone(), e))?;
        Ok(Self { root, files: BTreeMap::new() })
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn fail(&self, op: DiskOp, name: &str) -> impl FnOnce(io::Error) -> DiskError {
        let path = self.path(name);
        move |e| DiskError::new(op, path, e)
    }

    /// The open file of this name; opens it first if need be.
    fn file(&mut self, op: DiskOp, name: &str) -> Result<&mut File, DiskError> {
        if !self.files.contains_key(name) {
            let opened = OpenOptions::new().read(true).append(true).open(self.path(name));
            let file = opened.map_err(self.fail(op, name))?;
            self.files.insert(name.to_owned(), file);
        }
        Ok(self.files.get_mut(name).expect("opened above"))
    }
}

impl Disk for FsDisk {
    fn create(&mut self, name: &str) -> Result<(), DiskError> {
        let made =
            OpenOptions::new().read(true).append(true).create_new(true).open(self.path(name));
        let file = made.map_err(self.fail(DiskOp::Create, name))?;
        self.files.insert(name.to_owned(), file);
        Ok(())
    }

    fn open(&mut self, name: &str) -> Result<u64, DiskError> {
        let meta = self.file(DiskOp::Open, name)?.metadata();
        meta.map(|m| m.len()).map_err(self.fail(DiskOp::Open, name))
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), DiskError> {
        let written = self.file(DiskOp::Append, name)?.write_all(bytes);
        written.map_err(self.fail(DiskOp::Append, name))
    }

    fn read_at(&self, name: &str, pos: u64, len: u64) -> Result<Cow<'_, [u8]>, DiskError> {
        let fail = |e| DiskError::new(DiskOp::Read, self.path(name), e);
        // Never more memory than the file has bytes, whatever `len` says.
        if self.len(name)?.is_none_or(|have| pos.checked_add(len).is_none_or(|end| end > have)) {
            return Err(fail(io::ErrorKind::UnexpectedEof.into()));
        }
        let mut bytes = vec![0; len as usize];
        let read = match self.files.get(name) {
            Some(file) => file.read_exact_at(&mut bytes, pos),
            None => File::open(self.path(name)).and_then(|f| f.read_exact_at(&mut bytes, pos)),
        };
        read.map(|()| Cow::Owned(bytes)).map_err(fail)
    }

    fn len(&self, name: &str) -> Result<Option<u64>, DiskError> {
        let meta = match self.files.get(name) {
            Some(file) => file.metadata(),
            None => fs::metadata(self.path(name)),
        };
        match meta {
            Ok(meta) => Ok(Some(meta.len())),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(self.fail(DiskOp::Read, name)(e)),
        }
    }

    fn truncate(&mut self, name: &str, len: u64) -> Result<(), DiskError> {
        let file = self.file(DiskOp::Truncate, name)?;
        let done = file.metadata().and_then(|meta| {
            if len > meta.len() {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            file.set_len(len)
        });
        done.map_err(self.fail(DiskOp::Truncate, name))
    }

    fn sync_file(&mut self, name: &str) -> Result<(), DiskError> {
        let synced = self.file(DiskOp::SyncFile, name)?.sync_all();
        synced.map_err(self.fail(DiskOp::SyncFile, name))
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError> {
        let renamed = fs::rename(self.path(from), self.path(to));
        renamed.map_err(self.fail(DiskOp::Rename, from))?;
        self.files.remove(to);
        if let Some(file) = self.files.remove(from) {
            self.files.insert(to.to_owned(), file);
        }
        Ok(())
    }

    fn remove(&mut self, name: &str) -> Result<(), DiskError> {
        fs::remove_file(self.path(name)).map_err(self.fail(DiskOp::Remove, name))?;
        self.files.remove(name);
        Ok(())
    }

    fn sync_dir(&mut self) -> Result<(), DiskError> {
        let synced = File::open(&self.root).and_then(|dir| dir.sync_all());
        synced.map_err(|e| DiskError::new(DiskOp::SyncDirectory, self.root.clone(), e))
    }

    fn list(&self) -> Result<Vec<String>, DiskError> {
        files_in(&self.root)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }
}

/// The names of the files in a directory, in order. Nothing is made or changed.
pub fn files_in(root: &Path) -> Result<Vec<String>, DiskError> {
    let fail = |e| DiskError::new(DiskOp::List, root.to_owned(), e);
    let mut names = Vec::new();
    for entry in fs::read_dir(root).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let kind = entry.file_type().map_err(fail)?;
        // A link stands for what it leads to, and one that leads nowhere is not passed over.
        let is_file = kind.is_file() || kind.is_symlink() && !entry.path().is_dir();
        // A name that is not text, or a directory, is none of ours.
        if let (true, Ok(name)) = (is_file, entry.file_name().into_string()) {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// These files of a directory as a disk in memory, all durable. Its messages name the directory, in
/// which nothing is ever changed.
pub fn copy_in_memory(root: &Path, names: &[String]) -> Result<MemDisk, DiskError> {
    let mut copy = MemDisk::rooted(root);
    for name in names {
        let path = root.join(name);
        let bytes = fs::read(&path).map_err(|e| DiskError::new(DiskOp::Read, path, e))?;
        copy.create(name)?;
        copy.append(name, &bytes)?;
        copy.sync_file(name)?;
    }
    copy.sync_dir()?;
    Ok(copy)
}

/// Makes the directories that are missing on the way to `root`, and flushes their names.
fn make_durably(root: &Path) -> io::Result<()> {
    // The parent of a plain name is written as nothing and means here.
    let parent = |dir: &Path| match dir.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Some(PathBuf::from(".")),
        parent => parent.map(Path::to_owned),
    };
    let missing = root.ancestors().take_while(|dir| !dir.exists());
    let parents: Vec<PathBuf> = missing.filter_map(parent).collect();
    fs::create_dir_all(root)?;
    parents.iter().try_for_each(|dir| File::open(dir)?.sync_all())
}
