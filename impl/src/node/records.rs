//! Record batches on their way in: checked whole before the core hears of them (G1, B111).

use crate::log::batch::{self, BatchError, BatchHeader};
use crate::replica::io::BatchShape;

/// A batch in the records of a fetch answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub shape: BatchShape,
    /// First byte in the records.
    pub from: usize,
    /// Byte after the last.
    pub upto: usize,
}

/// Damaged records: byte and reason.
pub(super) type Damage = (u64, BatchError);

/// The header of a producer's batch. It must be one whole batch with a record for each
/// offset; records that are not compressed are looked at one by one.
pub(super) fn produced(bytes: &[u8]) -> Result<BatchHeader, BatchError> {
    let header = batch::verify(bytes)?;
    if bytes.len() as u64 > header.bytes {
        return Err(BatchError::Trailing(bytes.len() as u64 - header.bytes));
    }
    let offsets = i64::from(header.last_offset_delta) + 1;
    if i64::from(header.records) != offsets {
        return Err(BatchError::Count { records: header.records as i32, offsets });
    }
    if header.compression() == 0 {
        for record in batch::records(bytes)? {
            record?;
        }
    }
    Ok(header)
}

/// The batches in the records of a fetch answer, each with its checksum verified. A leader may cut
/// its answer anywhere, so the beginning of one more batch at the end counts for nothing (KIP-74).
pub(super) fn fetched(bytes: &[u8]) -> Result<Vec<Placed>, Damage> {
    let mut placed = Vec::new();
    let mut from = 0;
    while from < bytes.len() {
        let position = from as u64;
        let header = match batch::verify(&bytes[from..]) {
            Ok(header) => header,
            Err(BatchError::Short { .. }) => break,
            Err(error) => return Err((position, error)),
        };
        // Nothing in a leader's log lacks the leader's stamp.
        let no_stamp = BatchError::Offsets { base: header.base_offset.0 as i64, last_delta: -1 };
        let epoch = header.leader_epoch.ok_or((position, no_stamp))?;
        let upto = from + header.bytes as usize;
        let shape = BatchShape { base: header.base_offset, next: header.next_offset(), epoch };
        placed.push(Placed { shape, from, upto });
        from = upto;
    }
    Ok(placed)
}

/// The bytes of the batches named, which follow on each other in `bytes`; `None` if they do not.
pub(super) fn bytes_of<'a>(
    named: &[BatchShape],
    placed: &[Placed],
    bytes: &'a [u8],
) -> Option<&'a [u8]> {
    let first = placed.iter().position(|batch| Some(&batch.shape) == named.first())?;
    let run = placed.get(first..first + named.len())?;
    let same = run.iter().zip(named).all(|(batch, shape)| batch.shape == *shape);
    let (from, upto) = (run.first()?.from, run.last()?.upto);
    same.then(|| &bytes[from..upto])
}
