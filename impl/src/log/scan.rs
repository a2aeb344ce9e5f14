//! Reading a segment to see what of it is good.

use super::EpochStart;
use super::append::assign;
use super::error::LogError;
use super::segment::{IndexEntry, Segment};
use super::walk::Walk;
use crate::disk::Disk;
use crate::log::batch::{BatchHeader, HEADER_BYTES};
use crate::types::{Epoch, Offset};

/// What a segment holds.
pub(super) struct Scan {
    /// Offset after the last good batch.
    pub next: Offset,
    /// Bytes of good batches.
    pub bytes: u64,
    /// The index that the good batches should have.
    pub index: Vec<IndexEntry>,
    /// The first bad batch, if any.
    pub defect: Option<Defect>,
}

/// A batch that is not good. It begins where the good ones end.
pub(super) struct Defect {
    pub expected: String,
    pub found: String,
    /// Its bytes are whole and its checksum is right: no crash leaves a batch like that where it
    /// does not belong.
    pub whole: bool,
}

/// The epochs along the log: what the file says, or else what the batches say.
pub(super) struct EpochTrail<'a> {
    /// As stored; empty if the file is missing.
    pub stored: &'a [EpochStart],
    /// From the batches read so far.
    pub seen: Vec<EpochStart>,
}

impl EpochTrail<'_> {
    /// The leader epoch lies outside the checksum. Where the file knows it (it is written before
    /// the records), it must be the same; else it must not go back.
    fn check(&mut self, base: Offset, found: Option<Epoch>) -> Option<Defect> {
        let after = self.stored.partition_point(|entry| entry.start <= base);
        let known = after.checked_sub(1).map(|i| self.stored[i].epoch);
        let last = self.seen.last().map(|entry| entry.epoch);
        let good = found.filter(|epoch| {
            let as_stored = self.stored.is_empty() || known == Some(*epoch);
            as_stored && last.is_none_or(|last| last <= *epoch)
        });
        if let Some(epoch) = good {
            assign(&mut self.seen, EpochStart { epoch, start: base });
            return None;
        }
        let show = |epoch: Option<Epoch>| epoch.map_or("none".to_owned(), |e| e.to_string());
        let expected = match known {
            Some(epoch) => format!("leader epoch {epoch}"),
            None => format!("a leader epoch of {} or later", show(last)),
        };
        // A truncation that a crash interrupts cuts the epoch file before the records.
        Some(Defect { expected, found: format!("leader epoch {}", show(found)), whole: false })
    }
}

/// Reads every batch of the segment up to the first that is not good: header, length, checksum,
/// offsets without a gap, epochs (D4).
pub(super) fn full<D: Disk>(
    disk: &D,
    segment: &Segment,
    every: u32,
    epochs: &mut EpochTrail<'_>,
) -> Result<Scan, LogError> {
    let mut walk = Walk::new(disk, &segment.log_name, segment.bytes);
    let mut built = Segment::at(segment.base);
    let mut next = segment.base;
    let mut defect = None;
    while built.bytes < segment.bytes {
        let found = match walk.verified(built.bytes)? {
            Ok(header) => check(&header, next, epochs).map_or(Ok(header), Err),
            Err(error) => {
                let text = error.to_string();
                let (expected, found) = text.split_once(", found ").unwrap_or((&text, "less"));
                let (expected, found) = (expected.to_owned(), found.to_owned());
                Err(Defect { expected, found, whole: false })
            }
        };
        match found {
            Ok(header) => {
                next = header.next_offset();
                built.index.extend(built.entry_for(built.bytes, next, every));
                built.bytes += header.bytes;
            }
            Err(bad) => {
                defect = Some(bad);
                break;
            }
        }
    }
    Ok(Scan { next, bytes: built.bytes, index: built.index, defect })
}

fn check(header: &BatchHeader, next: Offset, epochs: &mut EpochTrail<'_>) -> Option<Defect> {
    if header.base_offset != next {
        let expected = format!("a batch at offset {next}");
        let found = format!("offset {}", header.base_offset);
        return Some(Defect { expected, found, whole: true });
    }
    epochs.check(next, header.leader_epoch)
}

/// Trusts the bytes and the index, and reads headers from the last index entry on. `None` if
/// something does not fit: then the segment must be read in full.
pub(super) fn quick<D: Disk>(disk: &D, segment: &Segment) -> Result<Option<Scan>, LogError> {
    let Some(index) = segment.read_index(disk)? else {
        return Ok(None);
    };
    let mut walk = Walk::new(disk, &segment.log_name, segment.bytes);
    let mut expected = index.last().map(|entry| segment.base.0 + u64::from(entry.last) + 1);
    let mut bytes = index.last().map_or(0, |entry| u64::from(entry.position));
    let mut next = if bytes == 0 { Some(segment.base) } else { None };
    while bytes < segment.bytes {
        let Ok(header) = walk.header(bytes)? else {
            return Ok(None);
        };
        let fits = next.is_none_or(|next| next == header.base_offset);
        let indexed = expected.take().is_none_or(|end| end == header.next_offset().0);
        if !fits || !indexed {
            return Ok(None);
        }
        next = Some(header.next_offset());
        bytes += header.bytes;
    }
    Ok(next.map(|next| Scan { next, bytes, index, defect: None }))
}

/// Looks for a good batch after a bad one at `bad`, which should hold offset `expected`: then the
/// bad one is damage in the middle and not a torn tail. Returns where it begins.
pub(super) fn good_batch_after<D: Disk>(
    disk: &D,
    segment: &Segment,
    bad: u64,
    expected: Offset,
) -> Result<Option<u64>, LogError> {
    let mut walk = Walk::new(disk, &segment.log_name, segment.bytes);
    let last = segment.bytes.saturating_sub(HEADER_BYTES as u64);
    for pos in bad + 1..=last {
        // The checksum is looked at last, and hardly ever.
        if walk.bytes(pos + 16, 1)? != [2] {
            continue;
        }
        let later = |header: BatchHeader| header.base_offset > expected;
        if walk.header(pos)?.is_ok_and(later) && walk.verified(pos)?.is_ok() {
            return Ok(Some(pos));
        }
    }
    Ok(None)
}
