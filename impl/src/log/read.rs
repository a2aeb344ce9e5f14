//! Reading whole batches by offset.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::batch::{self, BatchHeader, Record};
use super::segment::Segment;
use super::walk::Walk;
use super::{BatchShape, Log, LogError};
use crate::disk::{Disk, DiskError};
use crate::types::{Epoch, Offset};

/// A batch and where it lies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Placed {
    /// Name of the segment's file.
    pub file: Arc<str>,
    /// Byte of the file at which it begins.
    pub position: u64,
    /// Its header.
    pub header: BatchHeader,
}

impl<D: Disk> Log<D> {
    /// The batches from the one that holds `from` on, as they lie in the log: those that end at
    /// or below `upto`, up to `max_bytes` together, but at least one if there is one. No byte of a
    /// record at or beyond `upto` is ever in the answer (F7, B67, B68). Segments do not show.
    ///
    /// Error if `from` lies before the start or beyond the LEO.
    pub fn read(&self, from: Offset, upto: Offset, max_bytes: u32) -> Result<Vec<u8>, LogError> {
        let mut out = Vec::new();
        self.visit(from, upto, |_, batch| {
            if !out.is_empty() && out.len() + batch.len() > max_bytes as usize {
                return ControlFlow::Break(());
            }
            out.extend_from_slice(batch);
            if out.len() < max_bytes as usize {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        Ok(out)
    }

    /// Base, end and epoch of the batches that [`read`](Self::read) would return without a limit
    /// of bytes.
    pub fn batches(&self, from: Offset, upto: Offset) -> Result<Vec<BatchShape>, LogError> {
        let mut shapes = Vec::new();
        self.visit(from, upto, |header, _| {
            shapes.push(BatchShape {
                base: header.base_offset,
                next: header.next_offset(),
                epoch: header.leader_epoch.unwrap_or_default(),
            });
            ControlFlow::Continue(())
        })?;
        Ok(shapes)
    }

    /// Every batch with the file and the byte at which it begins, in order.
    pub fn layout(&self) -> Result<Vec<Placed>, LogError> {
        let mut placed = Vec::new();
        for segment in &self.segments {
            let mut walk = Walk::new(&self.disk, &segment.log_name, segment.bytes);
            let mut position = 0;
            while position < segment.bytes {
                let header = self.header(&mut walk, segment, position)?;
                placed.push(Placed { file: Arc::clone(&segment.log_name), position, header });
                position += header.bytes;
            }
        }
        Ok(placed)
    }

    /// Shows each record of those batches with its leader epoch, in order, without a copy. Records
    /// of a compressed batch cannot be shown and are an error.
    pub fn for_each_record(
        &self,
        from: Offset,
        upto: Offset,
        mut show: impl FnMut(Epoch, &Record<'_>),
    ) -> Result<(), LogError> {
        let mut bad = None;
        self.visit(from, upto, |header, bytes| {
            let epoch = header.leader_epoch.unwrap_or_default();
            let shown = batch::records(bytes)
                .and_then(|mut records| records.try_for_each(|r| r.map(|r| show(epoch, &r))));
            match shown {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    bad = Some(LogError::BadBatch { position: 0, error });
                    ControlFlow::Break(())
                }
            }
        })?;
        bad.map_or(Ok(()), Err)
    }

    /// Calls `each` with the batches from the one that holds `from` on that end at or below
    /// `upto`, until it breaks.
    fn visit(
        &self,
        from: Offset,
        upto: Offset,
        mut each: impl FnMut(&BatchHeader, &[u8]) -> ControlFlow<()>,
    ) -> Result<(), LogError> {
        let (start, leo) = (self.start(), self.leo);
        if from < start || from > leo {
            return Err(LogError::OutOfRange { offset: from, start, leo });
        }
        let upto = upto.min(leo);
        if from >= upto {
            return Ok(());
        }
        for segment in &self.segments[self.segment_of(from)..] {
            let mut walk = Walk::new(&self.disk, &segment.log_name, segment.bytes);
            let mut pos = first_byte(&mut walk, segment, from)?;
            while pos < segment.bytes {
                let header = self.header(&mut walk, segment, pos)?;
                if header.next_offset() > upto {
                    return Ok(());
                }
                if header.next_offset() > from
                    && each(&header, walk.bytes(pos, header.bytes)?).is_break()
                {
                    return Ok(());
                }
                pos += header.bytes;
            }
        }
        Ok(())
    }

    /// Number of the segment that holds `offset`, or would.
    pub(super) fn segment_of(&self, offset: Offset) -> usize {
        self.segments.partition_point(|segment| segment.base <= offset).saturating_sub(1)
    }

    /// Where the first batch that reaches beyond `offset` begins in this segment, and its base;
    /// the segment's end and the next offset if there is none.
    pub(super) fn boundary(
        &self,
        segment: usize,
        offset: Offset,
    ) -> Result<(u64, Offset), LogError> {
        let end = self.segments.get(segment + 1).map_or(self.leo, |next| next.base);
        let segment = &self.segments[segment];
        let mut walk = Walk::new(&self.disk, &segment.log_name, segment.bytes);
        let mut pos = first_byte(&mut walk, segment, offset)?;
        while pos < segment.bytes {
            let header = self.header(&mut walk, segment, pos)?;
            if header.next_offset() > offset {
                return Ok((pos, header.base_offset));
            }
            pos += header.bytes;
        }
        Ok((pos, end))
    }

    fn header(
        &self,
        walk: &mut Walk<'_, D>,
        segment: &Segment,
        pos: u64,
    ) -> Result<BatchHeader, LogError> {
        walk.header(pos)?.map_err(|error| {
            segment.corrupt(&self.disk, pos, ("a batch header".to_owned(), error.to_string()))
        })
    }
}

/// A byte at or before the batch that holds `offset`, at which a batch begins. The index is only a
/// hint: an entry that does not fit its batch is not followed.
fn first_byte<D: Disk>(
    walk: &mut Walk<'_, D>,
    segment: &Segment,
    offset: Offset,
) -> Result<u64, DiskError> {
    let Some(entry) = segment.floor(offset) else {
        return Ok(0);
    };
    let (position, next) = (u64::from(entry.position), u64::from(entry.last) + 1);
    let fits =
        walk.header(position)?.is_ok_and(|header| header.next_offset().0 == segment.base.0 + next);
    Ok(if fits { position } else { 0 })
}
