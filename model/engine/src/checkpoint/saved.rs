//! A checkpoint as it is read.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use super::manifest::hex;
use super::{
    Checkpoint, FINGERPRINT, FINGERPRINTS, Head, LINKS, Level, MANIFEST, Moment, Unusable,
};
use super::{DiskError, open};
use crate::frontier::Links;
use crate::levels::decode;

/// Bytes that are read at a time.
const BUFFER: usize = 64 * 1024;

/// A checkpoint whose manifest is sound and of this search.
pub struct Saved {
    folder: PathBuf,
    fingerprints: File,
    links: File,
    /// What was counted and found.
    pub moment: Moment,
    /// The complete levels.
    pub levels: Vec<Level>,
}

impl Saved {
    /// Reads the manifest, and looks whether the other files are long enough.
    pub fn open(checkpoint: &Checkpoint, head: &Head) -> Result<Self, Unusable> {
        let folder = checkpoint.folder.clone();
        let manifest = folder.join(MANIFEST);
        let bytes = fs::read(&manifest).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => Unusable::Missing { file: manifest.clone() },
            _ => DiskError::new(&manifest, "read it", &e).into(),
        })?;
        let (moment, levels) = head.read(&bytes, &manifest)?;
        let [fingerprints, links] = [FINGERPRINTS, LINKS].map(|name| {
            let path = folder.join(name);
            if path.exists() {
                return Ok(open(&path, false)?);
            }
            let (expected, got) = ("a file".to_owned(), "none".to_owned());
            Err(Unusable::Damaged { file: path, what: "the checkpoint".to_owned(), expected, got })
        });
        let saved = Self { folder, fingerprints: fingerprints?, links: links?, moment, levels };
        saved.is_consistent(&manifest)?;
        Ok(saved)
    }

    fn is_consistent(&self, manifest: &Path) -> Result<(), Unusable> {
        let states = self.levels.iter().try_fold(0_u64, |sum, level| sum.checked_add(level.states));
        let states = states.filter(|states| (1..1 << 56).contains(states));
        let hits = self.moment.hits.iter().flatten();
        let known = |hit: &crate::Hit| {
            let level = self.levels.get(hit.level as usize);
            level.is_some_and(|level| u64::from(hit.index) < level.states)
        };
        let Some(states) = states.filter(|_| hits.clone().all(known)) else {
            return Err(Unusable::Damaged {
                file: manifest.to_owned(),
                what: "what it tells of levels".to_owned(),
                expected: "states, and hits in them".to_owned(),
                got: format!("{} levels", self.levels.len()),
            });
        };
        let files =
            [(&self.fingerprints, FINGERPRINTS, FINGERPRINT), (&self.links, LINKS, Links::EACH)];
        for (file, name, each) in files {
            let path = self.folder.join(name);
            let len = file.metadata().map_err(|e| DiskError::new(&path, "measure it", &e))?.len();
            if len < states * each as u64 {
                return Err(Unusable::Damaged {
                    file: path,
                    what: "its length".to_owned(),
                    expected: format!("{} bytes", states * each as u64),
                    got: format!("{len}"),
                });
            }
        }
        Ok(())
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where its manifest is.
    pub fn manifest_path(&self) -> PathBuf {
        self.folder.join(MANIFEST)
    }

    /// Where its fingerprints are.
    pub fn fingerprints_path(&self) -> PathBuf {
        self.folder.join(FINGERPRINTS)
    }

    /// The fingerprints of a level, in order.
    pub fn fingerprints(&self, level: usize) -> Result<Records<'_, FINGERPRINT>, Unusable> {
        let check = self.levels[level].fingerprints;
        Records::new(&self.fingerprints, self.fingerprints_path(), &self.levels, level, check)
    }

    /// The links of a level, in order.
    pub fn links(&self, level: usize) -> Result<Records<'_, { Links::EACH }>, Unusable> {
        let (path, check) = (self.folder.join(LINKS), self.levels[level].links);
        Records::new(&self.links, path, &self.levels, level, check)
    }

    /// What it takes to go on writing it.
    pub fn into_parts(self) -> ([File; 2], Vec<Level>) {
        ([self.fingerprints, self.links], self.levels)
    }
}

/// What a file has of a level, from its first state to its last. The last comes only if all of them
/// are what was written.
pub struct Records<'a, const N: usize> {
    file: BufReader<&'a File>,
    path: PathBuf,
    level: usize,
    left: u64,
    hash: Box<Xxh3>,
    check: u64,
}

impl<'a, const N: usize> Records<'a, N> {
    fn new(
        file: &'a File,
        path: PathBuf,
        levels: &[Level],
        level: usize,
        check: u64,
    ) -> Result<Self, Unusable> {
        let before: u64 = levels[..level].iter().map(|level| level.states).sum();
        let mut reader = BufReader::with_capacity(BUFFER, file);
        let sought = reader.seek(SeekFrom::Start(before * N as u64));
        sought.map_err(|e| DiskError::new(&path, "read it", &e))?;
        let left = levels[level].states;
        Ok(Self { file: reader, path, level, left, hash: Box::default(), check })
    }

    /// The next record.
    pub fn next(&mut self) -> Result<Option<[u8; N]>, Unusable> {
        if self.left == 0 {
            return Ok(None);
        }
        let mut record = [0; N];
        let read = self.file.read_exact(&mut record);
        read.map_err(|e| DiskError::new(&self.path, "read it", &e))?;
        self.hash.update(&record);
        self.left -= 1;
        if self.left == 0 && self.hash.digest() != self.check {
            return Err(self.damaged(&hex(self.check), &hex(self.hash.digest())));
        }
        Ok(Some(record))
    }

    /// What is to be said if its level can't be what was written.
    pub fn damaged(&self, expected: &str, got: &str) -> Unusable {
        Unusable::Damaged {
            file: self.path.clone(),
            what: format!("level {}", self.level),
            expected: expected.to_owned(),
            got: got.to_owned(),
        }
    }
}

impl Records<'_, FINGERPRINT> {
    /// The next fingerprint.
    pub fn fingerprint(&mut self) -> Result<Option<u64>, Unusable> {
        Ok(self.next()?.map(u64::from_le_bytes))
    }
}

impl Records<'_, { Links::EACH }> {
    /// The next link.
    pub fn link(&mut self) -> Result<Option<(u32, u16)>, Unusable> {
        Ok(self.next()?.map(decode))
    }
}
