//! Opening a log after a clean end, a crash, or a power loss (D1 to D6).
//!
//! First everything is read and judged, then files are changed: damage that is not a torn tail is
//! an error, and no file is touched by it. Only an [`Intent`] is finished before: it was decided
//! before the crash.

use super::intent::{self, Intent};
use super::scan::{self, Defect, EpochTrail, Scan};
use super::segment::{Segment, base_of_index, base_of_log};
use super::truncate::{remove_all, restart};
use super::{EpochStart, Health, Log, LogConfig, LogError, epochs_file};
use crate::disk::{Disk, TMP_SUFFIX};
use crate::types::Offset;

/// A torn tail that was cut.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cut {
    /// Path of the file.
    pub file: String,
    /// Offset of the first record that is not whole: the LEO after the cut.
    pub offset: Offset,
    /// Byte at which the file ends now.
    pub position: u64,
    /// Bytes cut off.
    pub bytes: u64,
    /// What was wrong with them.
    pub reason: String,
}

/// What opening a log found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Recovery {
    /// The torn tail; it is durably gone.
    pub cut: Option<Cut>,
    /// A truncation that a crash had interrupted and that was finished.
    pub finished: Option<Intent>,
    /// Segments whose index was missing or wrong and was written anew.
    pub indexes: Vec<Offset>,
    /// Epoch entries that were dropped or moved: at or beyond the LEO, or below the start (B23).
    pub stale_epochs: Vec<EpochStart>,
    /// Epoch entries that the file did not have and the batches gave (B21).
    pub found_epochs: Vec<EpochStart>,
    /// Left-over files that were removed.
    pub removed: Vec<String>,
}

/// The files of a log, as found.
struct Files {
    segments: Vec<Segment>,
    left_over: Vec<String>,
}

impl<D: Disk> Log<D> {
    /// Opens the log in this directory, and makes an empty one at offset 0 if there is none.
    ///
    /// Batches above the recovery point are read and checked. A bad end of the last segment, not
    /// followed by any good batch, is a torn tail and is cut, durably. Any other damage is
    /// [`LogError::Corrupt`], and no file was changed. The recovery itself claims nothing as
    /// flushed that it did not flush (KAFKA-10101).
    pub fn open(mut disk: D, config: LogConfig) -> Result<(Self, Recovery), LogError> {
        let finished = intent::read(&disk)?;
        if let Some(intent) = finished {
            resume(&mut disk, intent)?;
        }
        let Files { mut segments, left_over } = find(&mut disk)?;
        let stored = epochs_file::read(&disk)?;
        let mut trail = EpochTrail { stored: &stored, seen: Vec::new() };
        let scans = check(&disk, &segments, &config, &mut trail)?;
        let seen = trail.seen;

        let mut recovery = Recovery { finished, ..Recovery::default() };
        recovery.removed = remove_left_over(&mut disk, left_over)?;
        let leo = repair(&mut disk, &mut segments, scans, &mut recovery)?;
        let flushed = match (&recovery.cut, segments.last()) {
            (None, Some(last)) => last.base.max(config.recovery_point.min(leo)),
            _ => leo,
        };
        let health = Health::Sound;
        let mut log = Self { disk, config, segments, leo, flushed, epochs: stored, health };
        log.repair_epochs(&seen, &mut recovery)?;
        if let Some(Intent::To(offset)) = finished {
            log.truncate_to(offset)?;
        }
        if finished.is_some() {
            intent::done(&mut log.disk)?;
        }
        Ok((log, recovery))
    }

    /// Drops epoch entries without a record, and takes those of the batches if none are stored.
    fn repair_epochs(
        &mut self,
        seen: &[EpochStart],
        recovery: &mut Recovery,
    ) -> Result<(), LogError> {
        if self.epochs.is_empty() {
            seen.clone_into(&mut recovery.found_epochs);
            return self.store_epochs(seen);
        }
        let (start, leo) = (self.start(), self.leo);
        let mut kept: Vec<_> = self.epochs.iter().copied().filter(|e| e.start < leo).collect();
        let below = kept.partition_point(|entry| entry.start <= start);
        if let Some(covering) = below.checked_sub(1) {
            kept.drain(..covering);
            kept[0].start = start;
        }
        if leo == start {
            kept.clear();
        }
        let gone = self.epochs.iter().filter(|entry| !kept.contains(entry));
        recovery.stale_epochs = gone.copied().collect();
        self.store_epochs(&kept)
    }
}

/// Finishes the part of a truncation that concerns whole segments.
fn resume<D: Disk>(disk: &mut D, intent: Intent) -> Result<(), LogError> {
    let Files { segments, left_over } = find(disk)?;
    remove_left_over(disk, left_over)?;
    match intent {
        Intent::To(offset) => remove_all(disk, segments.iter().filter(|s| s.base > offset)),
        Intent::StartAt(offset) => {
            restart(disk, segments.iter(), offset)?;
            epochs_file::write(disk, &[])
        }
    }
}

fn find<D: Disk>(disk: &mut D) -> Result<Files, LogError> {
    let (mut bases, mut indexes, mut left_over) = (Vec::new(), Vec::new(), Vec::new());
    for name in disk.list()? {
        if let Some(base) = base_of_log(&name) {
            bases.push(base);
        } else if let Some(base) = base_of_index(&name) {
            indexes.push((base, name));
        } else if name.ends_with(TMP_SUFFIX) {
            left_over.push(name);
        }
    }
    indexes.retain(|(base, _)| bases.binary_search(base).is_err());
    left_over.extend(indexes.into_iter().map(|(_, name)| name));
    let mut segments = Vec::with_capacity(bases.len());
    for base in bases {
        let mut segment = Segment::at(base);
        segment.bytes = disk.open(&segment.log_name)?;
        segments.push(segment);
    }
    Ok(Files { segments, left_over })
}

fn remove_left_over<D: Disk>(disk: &mut D, names: Vec<String>) -> Result<Vec<String>, LogError> {
    for name in &names {
        disk.remove(name)?;
    }
    Ok(names)
}

/// Judges every segment. An error is damage that is not a torn tail.
fn check<D: Disk>(
    disk: &D,
    segments: &[Segment],
    config: &LogConfig,
    trail: &mut EpochTrail<'_>,
) -> Result<Vec<Scan>, LogError> {
    let mut scans = Vec::with_capacity(segments.len());
    for (i, segment) in segments.iter().enumerate() {
        let scan = read_segment(disk, segment, config, trail)?;
        let at = scan.bytes;
        match (segments.get(i + 1), &scan.defect) {
            (Some(next), None) if scan.next != next.base => {
                let expected = format!("a batch at offset {}", scan.next);
                let found = format!("the end, and the next segment at offset {}", next.base);
                return Err(segment.corrupt(disk, at, (expected, found)));
            }
            (_, None) => {}
            (Some(_), Some(defect)) => {
                let found = format!("{} (and later segments)", defect.found);
                return Err(segment.corrupt(disk, at, (defect.expected.clone(), found)));
            }
            (None, Some(defect)) => judge_tail(disk, segment, config, &scan, defect)?,
        }
        scans.push(scan);
    }
    Ok(scans)
}

/// Full reading, unless the segment lies below the recovery point and its end looks right. The
/// epochs must be read from the batches if there is no file.
fn read_segment<D: Disk>(
    disk: &D,
    segment: &Segment,
    config: &LogConfig,
    trail: &mut EpochTrail<'_>,
) -> Result<Scan, LogError> {
    if segment.base < config.recovery_point && !trail.stored.is_empty() {
        let quick = scan::quick(disk, segment)?;
        if let Some(scan) = quick.filter(|scan| scan.next <= config.recovery_point) {
            return Ok(scan);
        }
    }
    scan::full(disk, segment, config.index_interval_bytes, trail)
}

/// A bad end of the last segment is a torn tail if it was not flushed, is no whole batch, and no
/// good batch follows (B80, B89).
fn judge_tail<D: Disk>(
    disk: &D,
    segment: &Segment,
    config: &LogConfig,
    scan: &Scan,
    defect: &Defect,
) -> Result<(), LogError> {
    let why = if scan.next < config.recovery_point {
        format!("below the recovery point {}", config.recovery_point)
    } else if defect.whole {
        "in a batch that is whole".to_owned()
    } else if let Some(pos) = scan::good_batch_after(disk, segment, scan.bytes, scan.next)? {
        format!("and a good batch after it at byte {pos}")
    } else {
        return Ok(());
    };
    let found = format!("{} ({why})", defect.found);
    Err(segment.corrupt(disk, scan.bytes, (defect.expected.clone(), found)))
}

/// Cuts the torn tail, writes indexes anew where need be, makes the first segment of a new log.
/// Returns the LEO.
fn repair<D: Disk>(
    disk: &mut D,
    segments: &mut Vec<Segment>,
    scans: Vec<Scan>,
    recovery: &mut Recovery,
) -> Result<Offset, LogError> {
    let mut leo = Offset(0);
    for (segment, scan) in segments.iter_mut().zip(scans) {
        if let Some(defect) = scan.defect {
            disk.truncate(&segment.log_name, scan.bytes)?;
            disk.sync_file(&segment.log_name)?;
            recovery.cut = Some(Cut {
                file: disk.path(&segment.log_name).display().to_string(),
                offset: scan.next,
                position: scan.bytes,
                bytes: segment.bytes - scan.bytes,
                reason: format!("expected {}, found {}", defect.expected, defect.found),
            });
        }
        segment.bytes = scan.bytes;
        if segment.read_index(disk)?.as_ref() != Some(&scan.index) {
            let bytes: Vec<u8> = scan.index.iter().flat_map(|entry| entry.encode()).collect();
            disk.replace(&segment.index_name, &bytes)?;
            recovery.indexes.push(segment.base);
        }
        segment.index = scan.index;
        leo = scan.next;
    }
    if segments.is_empty() {
        segments.push(Segment::create(disk, leo)?);
        disk.sync_dir()?;
    }
    Ok(leo)
}
