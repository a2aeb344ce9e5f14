//! A segment of the log and its sparse offset index.

use std::sync::Arc;

use super::error::{LogError, RESTORE};
use crate::disk::Disk;
use crate::types::Offset;

/// Bytes of one entry of the index file.
pub(super) const ENTRY_BYTES: usize = 8;
const LOG_SUFFIX: &str = ".log";
const INDEX_SUFFIX: &str = ".index";

/// One entry of the index: a batch, by the offset of its last record. Kafka's eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct IndexEntry {
    /// Offset of the batch's last record, relative to the segment's base.
    pub last: u32,
    /// Byte at which the batch begins.
    pub position: u32,
}

/// A run of the log in one file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Segment {
    /// First offset; the file is named by it.
    pub base: Offset,
    /// Bytes of whole batches. The file may be longer only after a disk error.
    pub bytes: u64,
    /// In order; both columns grow.
    pub index: Vec<IndexEntry>,
    pub log_name: Arc<str>,
    pub index_name: Arc<str>,
}

impl IndexEntry {
    pub(super) fn encode(self) -> [u8; ENTRY_BYTES] {
        (u64::from(self.last) << 32 | u64::from(self.position)).to_be_bytes()
    }

    fn decode(bytes: [u8; ENTRY_BYTES]) -> Self {
        let both = u64::from_be_bytes(bytes);
        Self { last: (both >> 32) as u32, position: both as u32 }
    }
}

impl Segment {
    /// A segment without bytes yet; no file is touched.
    pub(super) fn at(base: Offset) -> Self {
        let log_name = file_name(base, LOG_SUFFIX).into();
        let index_name = file_name(base, INDEX_SUFFIX).into();
        Self { base, bytes: 0, index: Vec::new(), log_name, index_name }
    }

    /// Makes the two empty files. Their names are durable after the next flush of the directory.
    pub(super) fn create<D: Disk>(disk: &mut D, base: Offset) -> Result<Self, LogError> {
        let segment = Self::at(base);
        disk.create(&segment.log_name)?;
        disk.create(&segment.index_name)?;
        Ok(segment)
    }

    /// Removes the two files, the log first: an index alone is a left-over.
    pub(super) fn remove<D: Disk>(&self, disk: &mut D) -> Result<(), LogError> {
        disk.remove(&self.log_name)?;
        if disk.len(&self.index_name)?.is_some() {
            disk.remove(&self.index_name)?;
        }
        Ok(())
    }

    /// The entry of a batch at or before the one that holds `offset`; `None`: begin at byte 0.
    pub(super) fn floor(&self, offset: Offset) -> Option<IndexEntry> {
        let relative = offset.0.saturating_sub(self.base.0);
        let above = self.index.partition_point(|entry| u64::from(entry.last) <= relative);
        Some(self.index[above.checked_sub(1)?])
    }

    /// The entry that a batch at `position` gets, if it is its turn.
    pub(super) fn entry_for(&self, position: u64, next: Offset, every: u32) -> Option<IndexEntry> {
        let since = position - self.index.last().map_or(0, |entry| u64::from(entry.position));
        let last = u32::try_from(next.0 - self.base.0 - 1).ok()?;
        let position = u32::try_from(position).ok()?;
        (since > u64::from(every)).then_some(IndexEntry { last, position })
    }

    /// Reads the index file. `None` if it is missing or cannot be right for the segment.
    pub(super) fn read_index<D: Disk>(
        &self,
        disk: &D,
    ) -> Result<Option<Vec<IndexEntry>>, LogError> {
        let Some(bytes) = disk.read_file(&self.index_name)? else {
            return Ok(None);
        };
        let (entries, rest) = bytes.as_chunks::<ENTRY_BYTES>();
        let entries: Vec<_> = entries.iter().map(|bytes| IndexEntry::decode(*bytes)).collect();
        let grows = entries.is_sorted_by(|a, b| a.last < b.last && a.position < b.position);
        let inside = entries.last().is_none_or(|entry| u64::from(entry.position) < self.bytes);
        Ok((rest.is_empty() && grows && inside).then_some(entries))
    }

    /// A damaged place in this segment.
    pub(super) fn corrupt<D: Disk>(
        &self,
        disk: &D,
        position: u64,
        (expected, found): (String, String),
    ) -> LogError {
        let file = disk.path(&self.log_name).display().to_string();
        LogError::Corrupt { file, position, expected, found, remedy: RESTORE }
    }
}

fn file_name(base: Offset, suffix: &str) -> String {
    format!("{:020}{suffix}", base.0)
}

/// The base offset in the name of a segment's log file.
pub(super) fn base_of_log(name: &str) -> Option<Offset> {
    base_of(name, LOG_SUFFIX)
}

/// The base offset in the name of a segment's index file.
pub(super) fn base_of_index(name: &str) -> Option<Offset> {
    base_of(name, INDEX_SUFFIX)
}

fn base_of(name: &str, suffix: &str) -> Option<Offset> {
    let digits = name.strip_suffix(suffix)?;
    let plain = digits.len() == 20 && digits.bytes().all(|b| b.is_ascii_digit());
    // An offset fits 63 bits.
    let base = plain.then(|| digits.parse::<i64>().ok())??;
    Some(Offset(base.cast_unsigned()))
}

#[cfg(test)]
mod tests {
    use super::{IndexEntry, Segment, base_of_index, base_of_log};
    use crate::types::Offset;

    #[test]
    fn names_read_back_and_nothing_else_is_a_segment() {
        for base in [0, 7, 1_000_000, i64::MAX as u64] {
            let segment = Segment::at(Offset(base));
            assert_eq!(base_of_log(&segment.log_name), Some(Offset(base)));
            assert_eq!(base_of_index(&segment.index_name), Some(Offset(base)));
            assert_eq!(base_of_log(&segment.index_name), None);
        }
        assert_eq!(&*Segment::at(Offset(42)).log_name, "00000000000000000042.log");
        for name in ["42.log", "+0000000000000000042.log", "00000000000000000042.log.tmp", ".log"] {
            assert_eq!(base_of_log(name), None, "{name}");
        }
        assert_eq!(base_of_log("18446744073709551615.log"), None, "more than 63 bits");
    }

    #[test]
    fn the_floor_is_the_last_entry_not_above() {
        let mut segment = Segment::at(Offset(100));
        segment.index = [(3, 40), (7, 90), (8, 95)]
            .map(|(last, position)| IndexEntry { last, position })
            .to_vec();
        for offset in 95..120_u64 {
            let dumb = segment.index.iter().filter(|e| u64::from(e.last) + 100 <= offset);
            assert_eq!(segment.floor(Offset(offset)), dumb.max().copied(), "{offset}");
        }
    }

    #[test]
    fn an_entry_is_two_big_endian_numbers() {
        let entry = IndexEntry { last: 0x0102_0304, position: 0x0506_0708 };
        assert_eq!(entry.encode(), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(IndexEntry::decode(entry.encode()), entry);
    }
}
