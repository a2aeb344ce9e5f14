//! A truncation over several files, made all or nothing (B77).
//!
//! The intent is written first, durably. Then the files are changed, and the intent is removed. A
//! crash in between is finished at the next start, so the log is as before or as after, and never
//! has a hole.

use super::checkpoint::{self, plain};
use super::error::LogError;
use crate::disk::Disk;
use crate::types::Offset;

/// Name of the file; it exists only while a truncation is under way.
pub(super) const INTENT_FILE: &str = "truncation-in-progress";

const REMEDY: &str = "nothing was changed; a truncation was under way and cannot be finished: \
     move this directory away and let the replica copy the log from its leader";

/// What is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Intent {
    /// Cut everything at or after this offset (T6).
    To(Offset),
    /// Drop everything and start, empty, at this offset (T7).
    StartAt(Offset),
}

pub(super) fn read<D: Disk>(disk: &D) -> Result<Option<Intent>, LogError> {
    let entries = checkpoint::read(disk, INTENT_FILE, REMEDY, |words| {
        match words {
            ["to", offset] => plain(offset).map(|o| Intent::To(Offset(o))),
            ["start-at", offset] => plain(offset).map(|o| Intent::StartAt(Offset(o))),
            _ => None,
        }
        .ok_or("\"to\" or \"start-at\" and an offset")
    })?;
    Ok(entries.into_iter().next_back())
}

pub(super) fn write<D: Disk>(disk: &mut D, intent: Intent) -> Result<(), LogError> {
    let line = match intent {
        Intent::To(offset) => format!("to {offset}"),
        Intent::StartAt(offset) => format!("start-at {offset}"),
    };
    checkpoint::write(disk, INTENT_FILE, &[line])
}

pub(super) fn done<D: Disk>(disk: &mut D) -> Result<(), LogError> {
    disk.remove(INTENT_FILE)?;
    Ok(disk.sync_dir()?)
}
