//! `klog dump-log`: what lies in the directory of a partition, as the next start would find it.
//!
//! The directory is copied into memory and the log is opened there, so the recovery that is shown
//! is the real one and no file is changed.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use crate::disk::{DiskError, copy_in_memory, files_in};
use crate::log::{Log, LogConfig, LogError, hw_file, is_own_file, is_segment};
use crate::types::Offset;

/// Why a directory cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// It cannot be read.
    #[error("{0}; name the directory of a partition that can be read")]
    Unreadable(#[from] DiskError),
    /// What it holds is damaged.
    #[error(transparent)]
    Log(#[from] LogError),
    /// It is no log.
    #[error(
        "{0}: there is no segment (*.log) in it; name the directory of a partition, such as \
         broker-1/orders-0"
    )]
    NoSegment(String),
}

/// What a log directory holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dump {
    /// First offset.
    pub start: u64,
    /// Log end offset.
    pub leo: u64,
    /// Whole batches, in order.
    pub batches: Vec<Batch>,
    /// Leader epochs with the offsets at which they start.
    pub epochs: Vec<(i32, u64)>,
    /// Checkpoints of high watermarks: topic, partition, offset.
    pub high_watermarks: Vec<(String, i32, u64)>,
    /// The torn tail that the next start will cut.
    pub torn: Option<Torn>,
}

/// One batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Batch {
    /// Offset of the first record.
    pub base: u64,
    /// Offset of the last record.
    pub last: u64,
    /// Leader epoch; −1 if it has none.
    pub epoch: i32,
    /// Number of records.
    pub records: u32,
    /// Name of the segment's file.
    pub file: String,
    /// Byte at which it begins.
    pub position: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// A torn tail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Torn {
    /// Path of the file.
    pub file: String,
    /// Byte from which on no whole batch is left.
    pub position: u64,
    /// How many bytes there are.
    pub bytes: u64,
    /// What is wrong with them.
    pub reason: String,
}

/// Reads the directory of a partition.
pub fn read(root: &Path) -> Result<Dump, DumpError> {
    // By name alone: a directory that is no log may hold anything, and much of it.
    let mut names = files_in(root)?;
    if !names.iter().any(|name| is_segment(name)) {
        return Err(DumpError::NoSegment(root.display().to_string()));
    }
    names.retain(|name| is_own_file(name));
    let disk = copy_in_memory(root, &names)?;
    let marks = hw_file::read(&disk, hw_file::HW_FILE)?;
    let (log, recovery) = Log::open(disk, LogConfig::default())?;
    let batches = log.layout()?.into_iter().map(|placed| Batch {
        base: placed.header.base_offset.0,
        last: placed.header.next_offset().0 - 1,
        epoch: placed.header.leader_epoch.map_or(-1, |epoch| epoch.0),
        records: placed.header.records,
        file: placed.file.to_string(),
        position: placed.position,
        bytes: placed.header.bytes,
    });
    let mark = |((topic, partition), Offset(offset))| (topic, partition, offset);
    Ok(Dump {
        start: log.start().0,
        leo: log.leo().0,
        batches: batches.collect(),
        epochs: log.epochs().iter().map(|entry| (entry.epoch.0, entry.start.0)).collect(),
        high_watermarks: marks.into_iter().map(mark).collect(),
        torn: recovery.cut.map(|cut| Torn {
            file: cut.file,
            position: cut.position,
            bytes: cut.bytes,
            reason: cut.reason,
        }),
    })
}

impl Dump {
    /// What a reader must know beside the table, one line each: a torn tail, and committed records
    /// that are missing.
    pub fn notes(&self, root: &Path) -> Vec<String> {
        let mut notes: Vec<String> = self.torn.iter().map(Torn::line).collect();
        for (topic, partition, hw) in self.high_watermarks.iter().filter(|mark| mark.2 > self.leo) {
            let (root, leo) = (root.display(), self.leo);
            notes.push(format!(
                "{root}: the high watermark of {topic}-{partition} was checkpointed at {hw} and \
                 the log ends at {leo}, so committed records are gone; let the replica copy the \
                 log from its leader, or restore the files from a backup"
            ));
        }
        notes
    }
}

impl Torn {
    /// One line: place, what is there, and what becomes of it.
    fn line(&self) -> String {
        let Self { file, position, bytes, reason } = self;
        format!(
            "{file}: from byte {position} on, {bytes} bytes are a torn tail ({reason}); nothing \
             was changed, the next start cuts them off"
        )
    }
}

/// The dump as a table.
pub fn human(dump: &Dump) -> String {
    let mut text = format!(
        "{:<13}{:>7}{:>9}  {:<26}{:>10}{:>8}\n",
        "offsets", "epoch", "records", "file", "byte", "bytes"
    );
    for batch in &dump.batches {
        let Batch { base, last, epoch, records, file, position, bytes } = batch;
        let offsets = format!("{base}..{last}");
        let _ = writeln!(
            text,
            "{offsets:<13}{epoch:>7}{records:>9}  {file:<26}{position:>10}{bytes:>8}"
        );
    }
    let _ = writeln!(text, "log start {}, LEO {}", dump.start, dump.leo);
    let epochs = dump.epochs.iter().map(|(epoch, start)| format!("{epoch} from {start}"));
    let _ = writeln!(text, "leader epochs: {}", some_or_none(&epochs.collect::<Vec<_>>()));
    let marks = dump.high_watermarks.iter().map(|(t, p, hw)| format!("{t}-{p} at {hw}"));
    let _ = writeln!(
        text,
        "high watermark as checkpointed: {}",
        some_or_none(&marks.collect::<Vec<_>>())
    );
    text
}

fn some_or_none(parts: &[String]) -> String {
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}

/// The dump as one JSON document and a line end.
pub fn json(dump: &Dump) -> String {
    serde_json::to_string(dump).expect("a dump is plain data") + "\n"
}
