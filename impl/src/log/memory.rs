//! What only a log in memory can tell: what a power loss would leave of it.

use super::{Log, LogError};
use crate::disk::{Disk, EntryChange, MemDisk, Survives};
use crate::types::Offset;

impl<D: Disk> Log<D> {
    /// For each segment file its name and how many of its bytes belong to batches that end at or
    /// below `offset`.
    pub fn bytes_below(&self, offset: Offset) -> Result<Vec<(String, u64)>, LogError> {
        let each = |(number, segment): (usize, &super::Segment)| {
            let bytes = if segment.base >= offset { 0 } else { self.boundary(number, offset)?.0 };
            Ok((String::from(&*segment.log_name), bytes))
        };
        self.segments.iter().enumerate().map(each).collect()
    }
}

impl Log<MemDisk> {
    /// The power goes. What was flushed stays, and of the rest the batches that end at or below
    /// `keep`. Returns the disk to open again.
    pub fn power_loss(self, keep: Offset) -> Result<MemDisk, LogError> {
        let kept = self.bytes_below(keep)?;
        let mut disk = self.disk;
        disk.power_loss(|file| {
            let bytes = kept.iter().find(|(name, _)| name == file.name);
            Survives::bytes(bytes.map_or(0, |(_, bytes)| bytes.saturating_sub(file.durable)))
        });
        Ok(disk)
    }

    /// The process dies and the machine lives. Returns the disk to open again.
    pub fn process_crash(self) -> MemDisk {
        let mut disk = self.disk;
        disk.process_crash();
        disk
    }

    /// End of the batches that no power loss takes, as the disk knows it. Never below
    /// [`flushed`](Self::flushed), which is what the log itself knows.
    pub fn durable(&self) -> Result<Offset, LogError> {
        let mut end = self.start();
        for (number, segment) in self.segments.iter().enumerate() {
            let file = self.disk.unflushed(&segment.log_name);
            let named = file.filter(|file| file.entry == EntryChange::None);
            let durable = named.map_or(0, |file| file.durable);
            let next = self.segments.get(number + 1).map_or(self.leo, |next| next.base);
            for batch in self.batches(segment.base, next)? {
                // The batch ends where the next one begins.
                if self.boundary(number, batch.next)?.0 > durable {
                    return Ok(end);
                }
                end = batch.next;
            }
        }
        Ok(end)
    }
}
