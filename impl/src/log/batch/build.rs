//! Making a batch of our own (a client brings its own bytes).

use super::{BatchError, CRC_END, HEADER_BYTES, LENGTH_END, MAGIC, checksum};
use crate::log::varint;

/// A header of a record to write. Keys may repeat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NewHeader<'a> {
    /// Text by convention.
    pub key: &'a [u8],
    /// `None` is Kafka's null.
    pub value: Option<&'a [u8]>,
}

/// A record to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NewRecord<'a> {
    /// `None` is Kafka's null.
    pub key: Option<&'a [u8]>,
    /// `None` is Kafka's null.
    pub value: Option<&'a [u8]>,
    /// Milliseconds.
    pub timestamp: i64,
    /// In order.
    pub headers: &'a [NewHeader<'a>],
}

/// A batch of these records, uncompressed, without producer, at base offset 0 and without leader
/// epoch, as a client sends it. Error [`BatchError::Size`] for none, or for 2 GiB and more.
pub fn build(records: &[NewRecord<'_>]) -> Result<Vec<u8>, BatchError> {
    let first = records.first().ok_or(BatchError::Size)?;
    let max_timestamp = records.iter().map(|r| r.timestamp).max().unwrap_or(first.timestamp);
    let last_delta = i32::try_from(records.len() - 1).map_err(|_| BatchError::Size)?;
    let mut out = Vec::with_capacity(HEADER_BYTES + records.iter().map(room).sum::<usize>());
    out.extend_from_slice(&[0; LENGTH_END]);
    out.extend_from_slice(&(-1_i32).to_be_bytes());
    out.extend_from_slice(&MAGIC.to_be_bytes());
    out.extend_from_slice(&[0; 4 + 2]);
    out.extend_from_slice(&last_delta.to_be_bytes());
    out.extend_from_slice(&first.timestamp.to_be_bytes());
    out.extend_from_slice(&max_timestamp.to_be_bytes());
    out.extend_from_slice(&(-1_i64).to_be_bytes());
    out.extend_from_slice(&(-1_i16).to_be_bytes());
    out.extend_from_slice(&(-1_i32).to_be_bytes());
    out.extend_from_slice(&(last_delta + 1).to_be_bytes());
    for (delta, record) in (0..).zip(records) {
        put_record(&mut out, delta, record.timestamp.wrapping_sub(first.timestamp), record);
    }
    let length = i32::try_from(out.len() - LENGTH_END).map_err(|_| BatchError::Size)?;
    out[8..LENGTH_END].copy_from_slice(&length.to_be_bytes());
    let crc = checksum(&out[CRC_END..]);
    out[17..CRC_END].copy_from_slice(&crc.to_be_bytes());
    Ok(out)
}

fn put_record(out: &mut Vec<u8>, offset_delta: i64, time_delta: i64, record: &NewRecord<'_>) {
    let size = 1
        + varint::size(time_delta)
        + varint::size(offset_delta)
        + blob_size(record.key)
        + blob_size(record.value)
        + varint::size(record.headers.len() as i64)
        + record.headers.iter().map(header_size).sum::<usize>();
    varint::put(out, size as i64);
    out.push(0);
    varint::put(out, time_delta);
    varint::put(out, offset_delta);
    put_blob(out, record.key);
    put_blob(out, record.value);
    varint::put(out, record.headers.len() as i64);
    for header in record.headers {
        put_blob(out, Some(header.key));
        put_blob(out, header.value);
    }
}

/// Room that is enough for a record: its blobs, and the numbers at their widest.
fn room(record: &NewRecord<'_>) -> usize {
    let headers = record.headers.iter().map(header_size).sum::<usize>();
    27 + blob_size(record.key) + blob_size(record.value) + headers
}

fn header_size(header: &NewHeader<'_>) -> usize {
    blob_size(Some(header.key)) + blob_size(header.value)
}

fn blob_size(blob: Option<&[u8]>) -> usize {
    match blob {
        None => 1,
        Some(bytes) => varint::size(bytes.len() as i64) + bytes.len(),
    }
}

fn put_blob(out: &mut Vec<u8>, blob: Option<&[u8]>) {
    match blob {
        None => varint::put(out, -1),
        Some(bytes) => {
            varint::put(out, bytes.len() as i64);
            out.extend_from_slice(bytes);
        }
    }
}
