//! Walking over the batches of one file without reading it byte by byte from the disk.

use std::borrow::Cow;

use super::batch::{self, BatchError, BatchHeader, HEADER_BYTES};
use crate::disk::{Disk, DiskError};

/// Bytes taken from the disk at a time.
const WINDOW: u64 = 64 * 1024;

/// A reader over the first `end` bytes of a file.
pub(super) struct Walk<'a, D> {
    disk: &'a D,
    name: &'a str,
    end: u64,
    window: Cow<'a, [u8]>,
    window_at: u64,
}

impl<'a, D: Disk> Walk<'a, D> {
    pub(super) fn new(disk: &'a D, name: &'a str, end: u64) -> Self {
        Self { disk, name, end, window: Cow::Borrowed(&[]), window_at: 0 }
    }

    /// Exactly `len` bytes at `pos`; the caller keeps within `end`.
    pub(super) fn bytes(&mut self, pos: u64, len: u64) -> Result<&[u8], DiskError> {
        let inside =
            pos >= self.window_at && pos + len <= self.window_at + self.window.len() as u64;
        if !inside {
            let want = len.max(WINDOW).min(self.end - pos);
            self.window = self.disk.read_at(self.name, pos, want)?;
            self.window_at = pos;
        }
        let from = (pos - self.window_at) as usize;
        Ok(&self.window[from..from + len as usize])
    }

    /// The header of the batch at `pos`, checked so far that the whole batch lies before `end`.
    pub(super) fn header(
        &mut self,
        pos: u64,
    ) -> Result<Result<BatchHeader, BatchError>, DiskError> {
        let have = self.end - pos;
        let head = self.bytes(pos, have.min(HEADER_BYTES as u64))?;
        Ok(BatchHeader::decode(head).and_then(|header| {
            if header.bytes <= have {
                Ok(header)
            } else {
                Err(BatchError::Short { have, need: header.bytes })
            }
        }))
    }

    /// The batch at `pos`, its checksum verified too.
    pub(super) fn verified(
        &mut self,
        pos: u64,
    ) -> Result<Result<BatchHeader, BatchError>, DiskError> {
        match self.header(pos)? {
            Ok(header) => Ok(batch::verify(self.bytes(pos, header.bytes)?)),
            Err(error) => Ok(Err(error)),
        }
    }
}
