//! Files that a search keeps beside memory.
//!
//! What is spilled goes to files without a name: the system takes their space back when they are
//! closed, however the search ends.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What went wrong with a file, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: can't {doing}: {cause}; {remedy}", file.display())]
pub struct DiskError {
    /// The file, or the folder of a file without a name.
    pub file: PathBuf,
    /// What was being done.
    pub doing: String,
    /// Why it failed.
    pub cause: String,
    /// What the user can do.
    pub remedy: &'static str,
}

impl DiskError {
    pub(crate) fn new(file: &Path, doing: &str, cause: &io::Error) -> Self {
        let remedy = match cause.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "free space there, or name a folder on another disk"
            }
            io::ErrorKind::FileTooLarge => {
                "raise the limit on the size of a file, or name a folder on another disk"
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "name a folder that may be written"
            }
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => "name another folder",
            _ => "look after the disk, or name another folder",
        };
        let (doing, cause) = (doing.to_owned(), cause.to_string());
        Self { file: file.to_owned(), doing, cause, remedy }
    }
}

/// How many bytes were written, and how many may be; tests run out of these as of a disk.
#[derive(Clone, Debug, Default)]
pub struct Quota {
    written: Arc<AtomicU64>,
    most: Option<u64>,
}

impl Quota {
    /// Writing fails after so many bytes, if it is told.
    pub fn new(bytes: Option<u64>) -> Self {
        Self { written: Arc::default(), most: bytes }
    }

    fn take(&self, bytes: usize) -> io::Result<()> {
        let written = self.written.load(Relaxed) + bytes as u64;
        if self.most.is_some_and(|most| written > most) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.written.store(written, Relaxed);
        Ok(())
    }
}

/// A folder for files without a name.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    /// What of its path had to be made, the innermost first.
    made: Vec<PathBuf>,
    quota: Quota,
}

impl Scratch {
    /// Makes the folder if it is missing.
    pub fn open(folder: &Path, quota: Quota) -> Result<Self, DiskError> {
        let missing = folder.ancestors().take_while(|path| !path.exists());
        let made = missing.filter(|path| path.file_name().is_some()).map(Path::to_owned).collect();
        let scratch = Self { folder: folder.to_owned(), made, quota };
        fs::create_dir_all(folder).map_err(|e| DiskError::new(folder, "make the folder", &e))?;
        scratch.sequence("a test file").map(drop)?;
        Ok(scratch)
    }

    /// How many bytes were written.
    pub fn written(&self) -> u64 {
        self.quota.written.load(Relaxed)
    }

    /// A new file for `what`.
    pub fn sequence(&self, what: &'static str) -> Result<Sequence, DiskError> {
        let file = tempfile::tempfile_in(&self.folder);
        let file = file.map_err(|e| DiskError::new(&self.folder, &format!("make {what}"), &e))?;
        Ok(Sequence::new(file, 0, self.folder.clone(), what, self.quota.clone()))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that is not empty is not ours to remove.
        self.made.iter().for_each(|path| drop(fs::remove_dir(path)));
    }
}

/// Bytes that wait to be written.
const BUFFER: usize = 64 * 1024;

/// A file that grows at its end and is read anywhere.
#[derive(Debug)]
pub struct Sequence {
    file: File,
    /// How much of it is written.
    written: u64,
    buffer: Vec<u8>,
    path: PathBuf,
    what: &'static str,
    quota: Quota,
}

impl Sequence {
    /// Goes on at byte `from` of a file.
    pub fn new(file: File, from: u64, path: PathBuf, what: &'static str, quota: Quota) -> Self {
        Self { file, written: from, buffer: Vec::new(), path, what, quota }
    }

    /// How long it is.
    pub fn len(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Adds bytes at its end.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), DiskError> {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush()?;
        }
        if bytes.len() < BUFFER {
            if self.buffer.capacity() == 0 {
                self.buffer.reserve_exact(BUFFER);
            }
            self.buffer.extend_from_slice(bytes);
            return Ok(());
        }
        self.write(bytes)
    }

    /// Hands everything to the system. What fails may be tried again.
    pub fn flush(&mut self) -> Result<(), DiskError> {
        let buffer = std::mem::take(&mut self.buffer);
        let written = self.write(&buffer);
        self.buffer = buffer;
        written.map(|()| self.buffer.clear())
    }

    /// The same, and gives the buffer back.
    pub fn close(&mut self) -> Result<(), DiskError> {
        self.flush()?;
        self.buffer = Vec::new();
        Ok(())
    }

    /// Waits until the disk has everything.
    pub fn sync(&mut self) -> Result<(), DiskError> {
        self.flush()?;
        self.file.sync_data().map_err(|e| self.failed("sync", &e))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), DiskError> {
        let written = self.quota.take(bytes.len());
        let written = written.and_then(|()| write_at(&self.file, bytes, self.written));
        written.map_err(|e| self.failed("write", &e))?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Reads what stands at `offset`.
    pub fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), DiskError> {
        let in_file = self.written.saturating_sub(offset).min(out.len() as u64) as usize;
        let (written, waiting) = out.split_at_mut(in_file);
        read_at(&self.file, written, offset).map_err(|e| self.failed("read", &e))?;
        if !waiting.is_empty() {
            let from = (offset + in_file as u64 - self.written) as usize;
            waiting.copy_from_slice(&self.buffer[from..from + waiting.len()]);
        }
        Ok(())
    }

    /// What is to be said if it was changed by someone else.
    pub fn changed(&self) -> DiskError {
        let cause = io::Error::other("it is not what was written");
        self.failed("trust", &cause)
    }

    fn failed(&self, verb: &str, cause: &io::Error) -> DiskError {
        DiskError::new(&self.path, &format!("{verb} {}", self.what), cause)
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        self.buffer.capacity() as u64
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(unix)]
fn read_at(file: &File, out: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, offset)
}

#[cfg(windows)]
fn write_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let n = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
        (bytes, offset) = (&bytes[n..], offset + n as u64);
    }
    Ok(())
}

#[cfg(windows)]
fn read_at(file: &File, mut out: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !out.is_empty() {
        let n = std::os::windows::fs::FileExt::seek_read(file, out, offset)?;
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        (out, offset) = (&mut out[n..], offset + n as u64);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(quota: Option<u64>) -> (tempfile::TempDir, Scratch) {
        let folder = tempfile::tempdir().expect("a folder");
        let scratch = Scratch::open(folder.path(), Quota::new(quota)).expect("a scratch folder");
        (folder, scratch)
    }

    #[test]
    fn what_is_written_is_read_wherever_it_is() {
        let (_folder, scratch) = scratch(None);
        let mut file = scratch.sequence("numbers").expect("a file");
        let all: Vec<u8> = (0..3 * BUFFER).map(|n| (n % 251) as u8).collect();
        let pieces = all.chunks(40_000).chain(std::iter::once(&all[..]));
        pieces.for_each(|piece| file.append(piece).expect("room"));
        let twice = [&all[..], &all[..]].concat();
        let check = |file: &Sequence| {
            for from in (0..twice.len() - 5000).step_by(4999) {
                let mut out = vec![0; 5000];
                file.read(from as u64, &mut out).expect("it is there");
                assert_eq!(out, twice[from..from + 5000]);
            }
        };
        check(&file);
        file.close().expect("room");
        check(&file);
        assert_eq!((file.len(), file.bytes()), (twice.len() as u64, 0));
    }

    #[test]
    fn a_full_disk_is_told_with_file_and_remedy() {
        let (folder, scratch) = scratch(Some(1000));
        let mut file = scratch.sequence("numbers").expect("a file");
        file.append(&[7; 1000]).expect("it waits in memory");
        file.flush().expect("it just fits");
        file.append(&[7; 1]).expect("it waits in memory");
        let error = file.flush().expect_err("the quota is used up").to_string();
        let expected = format!("{}: can't write numbers: ", folder.path().display());
        assert!(error.starts_with(&expected), "{error}");
        assert!(error.ends_with("free space there, or name a folder on another disk"), "{error}");
        assert!(!error.contains('\n'));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_device_that_is_full_is_a_full_disk() {
        let path = Path::new("/dev/full");
        let device = File::options().write(true).open(path).expect("the device");
        let mut file = Sequence::new(device, 0, path.to_owned(), "numbers", Quota::default());
        file.append(&[7; 1000]).expect("it waits in memory");
        let error = file.sync().expect_err("the device is full").to_string();
        assert!(error.starts_with("/dev/full: can't write numbers: No space left"), "{error}");
    }

    #[test]
    fn folders_come_and_go_with_the_search() {
        let outer = tempfile::tempdir().expect("a folder");
        let folder = outer.path().join("a").join("b");
        drop(Scratch::open(&folder, Quota::default()).expect("a scratch folder"));
        assert!(!outer.path().join("a").exists());
        let kept = Scratch::open(&folder, Quota::default()).expect("a scratch folder");
        fs::write(folder.join("theirs"), "x").expect("a file of someone else's");
        drop(kept);
        assert!(folder.join("theirs").exists());
        let under_a_file = folder.join("theirs").join("c");
        let error = Scratch::open(&under_a_file, Quota::default()).expect_err("a file, no folder");
        assert!(error.to_string().contains("can't make the folder"), "{error}");
    }
}
