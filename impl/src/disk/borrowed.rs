//! A borrowed disk is a disk: who opens a log with `&mut disk` still has the disk afterwards.

use std::borrow::Cow;
use std::path::PathBuf;

use super::{Disk, DiskError};

impl<D: Disk> Disk for &mut D {
    fn create(&mut self, name: &str) -> Result<(), DiskError> {
        (**self).create(name)
    }

    fn open(&mut self, name: &str) -> Result<u64, DiskError> {
        (**self).open(name)
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> Result<(), DiskError> {
        (**self).append(name, bytes)
    }

    fn read_at(&self, name: &str, pos: u64, len: u64) -> Result<Cow<'_, [u8]>, DiskError> {
        (**self).read_at(name, pos, len)
    }

    fn len(&self, name: &str) -> Result<Option<u64>, DiskError> {
        (**self).len(name)
    }

    fn truncate(&mut self, name: &str, len: u64) -> Result<(), DiskError> {
        (**self).truncate(name, len)
    }

    fn sync_file(&mut self, name: &str) -> Result<(), DiskError> {
        (**self).sync_file(name)
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), DiskError> {
        (**self).rename(from, to)
    }

    fn remove(&mut self, name: &str) -> Result<(), DiskError> {
        (**self).remove(name)
    }

    fn sync_dir(&mut self) -> Result<(), DiskError> {
        (**self).sync_dir()
    }

    fn list(&self) -> Result<Vec<String>, DiskError> {
        (**self).list()
    }

    fn path(&self, name: &str) -> PathBuf {
        (**self).path(name)
    }
}
