//! Kafka's `replication-offset-checkpoint`: the high watermark of each partition (D1).
//!
//! `recovery-point-offset-checkpoint` has the same layout. Both are hints.

use std::collections::BTreeMap;

use super::checkpoint::{self, plain};
use super::error::LogError;
use crate::disk::Disk;
use crate::types::Offset;

/// Name of the high watermark checkpoint.
pub const HW_FILE: &str = "replication-offset-checkpoint";
/// Name of the recovery point checkpoint.
pub const RECOVERY_POINT_FILE: &str = "recovery-point-offset-checkpoint";

const REMEDY: &str = "nothing was changed; remove this file: its offsets are only hints";

/// An offset for each partition, by topic name and partition number.
pub type Offsets = BTreeMap<(String, i32), Offset>;

/// Reads `name` ([`HW_FILE`] or [`RECOVERY_POINT_FILE`]). A missing file is empty; an error names
/// the line.
pub fn read<D: Disk>(disk: &D, name: &str) -> Result<Offsets, LogError> {
    let mut offsets = Offsets::new();
    checkpoint::read(disk, name, REMEDY, |words| {
        let entry = match words {
            [topic, partition, offset] if !topic.is_empty() => {
                plain(partition).zip(plain(offset)).map(|rest| (*topic, rest))
            }
            _ => None,
        };
        let (topic, (partition, offset)) = entry.ok_or("a topic, a partition and an offset")?;
        match offsets.insert((topic.to_owned(), partition), Offset(offset)) {
            None => Ok(()),
            Some(_) => Err("each partition once"),
        }
    })?;
    Ok(offsets)
}

/// Writes `name`, durably and all or nothing. Error for a topic name that would not read back.
pub fn write<D: Disk>(disk: &mut D, name: &str, offsets: &Offsets) -> Result<(), LogError> {
    if let Some((topic, _)) = offsets.keys().find(|(topic, _)| !writable(topic)) {
        return Err(LogError::TopicName(topic.clone()));
    }
    let line = |((topic, partition), offset): (&(String, i32), &Offset)| {
        format!("{topic} {partition} {offset}")
    };
    checkpoint::write(disk, name, &offsets.iter().map(line).collect::<Vec<_>>())
}

fn writable(topic: &str) -> bool {
    !topic.is_empty() && !topic.contains([' ', '\n', '\r'])
}
