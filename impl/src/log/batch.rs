//! Kafka's record batch, version 2, byte for byte.
//!
//! ```text
//! byte  0  base offset         i64   ┐
//!       8  length of the rest  i32   │ outside the checksum: a broker stamps the offset and
//!      12  leader epoch        i32   │ the epoch without reading the records
//!      16  magic = 2           i8    │
//!      17  CRC-32C             u32   ┘
//!      21  attributes          i16   ┐
//!      23  last offset delta   i32   │
//!      27  base timestamp      i64   │
//!      35  max timestamp       i64   │
//!      43  producer id         i64   │ under the checksum
//!      51  producer epoch      i16   │
//!      53  base sequence       i32   │
//!      57  record count        i32   │
//!      61  records                   ┘
//! ```
//!
//! A client's batch passes through as bytes; it is never taken apart and put together again.

mod build;
mod records;
#[cfg(test)]
mod tests;

pub use build::{NewHeader, NewRecord, build};
pub use records::{Header, Headers, Record, Records, records};

use crate::types::{Epoch, Offset};

/// Bytes of a batch before its first record.
pub const HEADER_BYTES: usize = 61;
/// Bytes before the part that the length field counts.
const LENGTH_END: usize = 12;
/// Where the checksummed part begins.
const CRC_END: usize = 21;
const MAGIC: i8 = 2;

/// What is wrong with the bytes of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum BatchError {
    /// The bytes end inside the batch.
    #[error("{need} bytes of a record batch, found {have}")]
    Short {
        /// Bytes that there are.
        have: u64,
        /// Bytes that the batch needs.
        need: u64,
    },
    /// The length field is smaller than a header.
    #[error("a batch length of at least 49, found {0}")]
    Length(i32),
    /// Another format than version 2.
    #[error("magic 2, found {0}")]
    Magic(i8),
    /// The checksum does not fit the bytes.
    #[error("CRC-32C {computed:#010x} of the bytes, found {stored:#010x}")]
    Crc {
        /// As written in the batch.
        stored: u32,
        /// Of the bytes as they are.
        computed: u32,
    },
    /// The base offset or the last offset delta is negative, or their sum is too big.
    #[error("offsets that are not negative, found base {base} and last delta {last_delta}")]
    Offsets {
        /// Base offset.
        base: i64,
        /// Last offset delta.
        last_delta: i32,
    },
    /// The record count is not between 1 and the number of offsets.
    #[error("1 to {offsets} records, found {records}")]
    Count {
        /// The record count of the header.
        records: i32,
        /// Offsets that the batch covers.
        offsets: i64,
    },
    /// A record is not well-formed.
    #[error("a well-formed record number {index}, found a bad {field}")]
    Record {
        /// Number of the record in its batch, from 0.
        index: u32,
        /// The field that is wrong.
        field: &'static str,
    },
    /// Bytes follow the last record, or the batch where one alone is wanted.
    #[error("the end, found {0} more bytes")]
    Trailing(u64),
    /// The records are compressed and cannot be looked into.
    #[error("records without compression, found compression codec {0}")]
    Compressed(u8),
    /// A batch to build has no record, or is too big for its length field.
    #[error("1 record or more and less than 2 GiB in one batch")]
    Size,
}

/// The header of a batch, checked as far as a header can be: magic, length, offsets, counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchHeader {
    /// Offset of the first record.
    pub base_offset: Offset,
    /// Bytes of the whole batch, its header included.
    pub bytes: u64,
    /// Epoch of the leader that appended it; `None` (−1) before a broker stamped it.
    pub leader_epoch: Option<Epoch>,
    /// CRC-32C as written.
    pub crc: u32,
    /// Attribute bits (compression, timestamp type, transactional, control).
    pub attributes: i16,
    /// Offset of the last record, relative to the first.
    pub last_offset_delta: u32,
    /// Milliseconds; record timestamps are relative to it.
    pub base_timestamp: i64,
    /// Milliseconds.
    pub max_timestamp: i64,
    /// −1 without idempotence.
    pub producer_id: i64,
    /// −1 without idempotence.
    pub producer_epoch: i16,
    /// −1 without idempotence.
    pub base_sequence: i32,
    /// Number of records, at least 1.
    pub records: u32,
}

impl BatchHeader {
    /// Offset after the last record (exclusive end).
    pub fn next_offset(&self) -> Offset {
        Offset(self.base_offset.0 + u64::from(self.last_offset_delta) + 1)
    }

    /// Compression codec, 0 for none.
    pub fn compression(&self) -> u8 {
        (self.attributes & 7) as u8
    }

    /// Reads the header at the front of `bytes`, which may end right after it: whether the rest
    /// of the batch is there is for the caller to see from [`bytes`](Self::bytes).
    pub fn decode(bytes: &[u8]) -> Result<Self, BatchError> {
        let Some(head) = bytes.first_chunk::<HEADER_BYTES>() else {
            let (have, need) = (bytes.len() as u64, HEADER_BYTES as u64);
            return Err(BatchError::Short { have, need });
        };
        let magic = head[16] as i8;
        if magic != MAGIC {
            return Err(BatchError::Magic(magic));
        }
        let length = i32_at(head, 8);
        if length < (HEADER_BYTES - LENGTH_END) as i32 {
            return Err(BatchError::Length(length));
        }
        let (base, last_delta) = (i64_at(head, 0), i32_at(head, 23));
        if base < 0 || last_delta < 0 || base.checked_add(i64::from(last_delta) + 1).is_none() {
            return Err(BatchError::Offsets { base, last_delta });
        }
        let (records, offsets) = (i32_at(head, 57), i64::from(last_delta) + 1);
        if records < 1 || i64::from(records) > offsets {
            return Err(BatchError::Count { records, offsets });
        }
        let epoch = i32_at(head, 12);
        Ok(Self {
            base_offset: Offset(base as u64),
            bytes: LENGTH_END as u64 + length as u64,
            leader_epoch: (epoch >= 0).then_some(Epoch(epoch)),
            crc: i32_at(head, 17) as u32,
            attributes: i16_at(head, 21),
            last_offset_delta: last_delta as u32,
            base_timestamp: i64_at(head, 27),
            max_timestamp: i64_at(head, 35),
            producer_id: i64_at(head, 43),
            producer_epoch: i16_at(head, 51),
            base_sequence: i32_at(head, 53),
            records: records as u32,
        })
    }
}

/// Checks the batch at the front of `bytes`: header, length, checksum (G1, B111). Bytes after it
/// are not looked at.
pub fn verify(bytes: &[u8]) -> Result<BatchHeader, BatchError> {
    let header = BatchHeader::decode(bytes)?;
    let have = bytes.len() as u64;
    if have < header.bytes {
        return Err(BatchError::Short { have, need: header.bytes });
    }
    let computed = checksum(&bytes[CRC_END..header.bytes as usize]);
    if computed != header.crc {
        return Err(BatchError::Crc { stored: header.crc, computed });
    }
    Ok(header)
}

/// Writes the base offset and the leader epoch into a batch whose header was checked. Both lie
/// outside the checksum, which stays right (A4).
pub fn stamp(batch: &mut [u8], base_offset: Offset, leader_epoch: Epoch) {
    batch[..8].copy_from_slice(&(base_offset.0 as i64).to_be_bytes());
    batch[12..16].copy_from_slice(&leader_epoch.0.to_be_bytes());
}

/// CRC-32C (Castagnoli).
fn checksum(bytes: &[u8]) -> u32 {
    crc_fast::crc32_iscsi(bytes)
}

fn i16_at(head: &[u8; HEADER_BYTES], at: usize) -> i16 {
    i16::from_be_bytes([head[at], head[at + 1]])
}

fn i32_at(head: &[u8; HEADER_BYTES], at: usize) -> i32 {
    i32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]])
}

fn i64_at(head: &[u8; HEADER_BYTES], at: usize) -> i64 {
    let (high, low) = (i32_at(head, at), i32_at(head, at + 4) as u32);
    i64::from(high) << 32 | i64::from(low)
}
