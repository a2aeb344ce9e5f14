//! The log as a whole, on both disks.
//!
//! - `suite`: what the log does, once for memory and once for a real directory
//! - `layout`: the files
//! - `histories`: every short history against a dumb twin, with crashes and power losses
//! - `recovery`: a cut at every byte, a flipped bit at every byte
//! - `faults`: a disk that fails at every call in turn
//! - `files`: the checkpoint files

mod faults;
mod files;
mod histories;
mod layout;
mod recovery;
mod suite;

use std::collections::BTreeMap;

use super::batch::{NewRecord, build};
use super::{BatchShape, EpochStart, Log, LogConfig, LogError, Recovery};
use crate::disk::{Disk, FsDisk, MemDisk};
use crate::types::{Epoch, Offset};

/// A disk that a test can be run on.
trait TestDisk: Disk + Sized + std::fmt::Debug {
    /// Keeps the disk's place alive.
    type Place;

    fn fresh() -> (Self, Self::Place);

    fn flip(&mut self, name: &str, byte: u64, mask: u8);
}

impl TestDisk for MemDisk {
    type Place = ();

    fn fresh() -> (Self, ()) {
        (Self::new(), ())
    }

    fn flip(&mut self, name: &str, byte: u64, mask: u8) {
        Self::flip(self, name, byte, mask);
    }
}

impl TestDisk for FsDisk {
    type Place = tempfile::TempDir;

    fn fresh() -> (Self, tempfile::TempDir) {
        let dir = tempfile::tempdir().unwrap();
        (Self::open(dir.path()).unwrap(), dir)
    }

    fn flip(&mut self, name: &str, byte: u64, mask: u8) {
        let mut bytes = std::fs::read(self.path(name)).unwrap();
        bytes[byte as usize] ^= mask;
        std::fs::write(self.path(name), bytes).unwrap();
    }
}

macro_rules! on_both_disks {
    ($($name:ident)*) => {
        mod memory {
            $(#[test] fn $name() { super::$name::<super::MemDisk>(); })*
        }
        mod directory {
            $(#[test] fn $name() { super::$name::<super::FsDisk>(); })*
        }
    };
}

use on_both_disks;

/// Segments that hold two small batches, and an index entry for each batch but the first.
const SMALL: LogConfig =
    LogConfig { segment_bytes: 150, index_interval_bytes: 1, recovery_point: Offset(0) };

const FIRST_LOG: &str = "00000000000000000000.log";
const FIRST_INDEX: &str = "00000000000000000000.index";

/// A producer's batch with these values.
fn produced(values: &[u8]) -> Vec<u8> {
    let values: Vec<[u8; 1]> = values.iter().map(|value| [*value]).collect();
    let record = |value| NewRecord { value: Some(value), ..NewRecord::default() };
    let records: Vec<_> = values.iter().map(|v| record(v.as_slice())).collect();
    build(&records).unwrap()
}

/// A batch as a leader sends it.
fn replicated(base: u64, epoch: i32, values: &[u8]) -> Vec<u8> {
    let mut bytes = produced(values);
    super::batch::stamp(&mut bytes, Offset(base), Epoch(epoch));
    bytes
}

fn open<D: Disk>(disk: D, config: LogConfig) -> (Log<D>, Recovery) {
    Log::open(disk, config).unwrap()
}

/// Appends one batch as the leader of `epoch`.
fn put<D: Disk>(log: &mut Log<D>, epoch: i32, values: &[u8]) -> Offset {
    let base = log.leo();
    log.append_leader(&produced(values), base, Epoch(epoch)).unwrap()
}

/// Epoch and value of each record from `from` on.
fn values<D: Disk>(log: &Log<D>, from: u64) -> Vec<(i32, u8)> {
    let mut all = Vec::new();
    let mut next = None;
    log.for_each_record(Offset(from), log.leo(), |epoch, record| {
        assert_eq!(record.offset, next.unwrap_or(record.offset), "no gap");
        next = Some(Offset(record.offset.0 + 1));
        all.push((epoch.0, record.value.expect("a value")[0]));
    })
    .unwrap();
    all
}

fn epochs(pairs: &[(i32, u64)]) -> Vec<EpochStart> {
    let entry = |&(epoch, start)| EpochStart { epoch: Epoch(epoch), start: Offset(start) };
    pairs.iter().map(entry).collect()
}

fn shape(base: u64, next: u64, epoch: i32) -> BatchShape {
    BatchShape { base: Offset(base), next: Offset(next), epoch: Epoch(epoch) }
}

/// Everything on a disk.
fn contents<D: Disk>(disk: &D) -> BTreeMap<String, Vec<u8>> {
    let read = |name: String| {
        let bytes = disk.read_file(&name).unwrap().expect("a listed file");
        let bytes = bytes.into_owned();
        (name, bytes)
    };
    disk.list().unwrap().into_iter().map(read).collect()
}

/// Batches of one, two and three records over several segments, in epochs 0 and 2.
fn filled<D: TestDisk>() -> (Log<D>, D::Place) {
    let (disk, place) = D::fresh();
    let (mut log, _) = open(disk, SMALL);
    assert_eq!(put(&mut log, 0, &[1]), Offset(1));
    assert_eq!(put(&mut log, 0, &[2, 3]), Offset(3));
    assert_eq!(put(&mut log, 2, &[4, 5, 6]), Offset(6));
    assert_eq!(put(&mut log, 2, &[7]), Offset(7));
    assert_eq!(put(&mut log, 2, &[8]), Offset(8));
    (log, place)
}

/// Where the batches of [`filled`] begin and end.
const BOUNDS: [u64; 6] = [0, 1, 3, 6, 7, 8];

/// Whether the file is a segment's.
fn is_log(name: &str) -> bool {
    super::segment::base_of_log(name).is_some()
}
