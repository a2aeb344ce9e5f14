//! Looking into a batch, without a copy and without trusting a number in it.

use super::{BatchError, BatchHeader, HEADER_BYTES};
use crate::log::varint;
use crate::types::Offset;

/// A record as it lies in its batch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record<'a> {
    /// Its offset in the log.
    pub offset: Offset,
    /// Milliseconds, as the producer set it.
    pub timestamp: i64,
    /// `None` is Kafka's null.
    pub key: Option<&'a [u8]>,
    /// `None` is Kafka's null.
    pub value: Option<&'a [u8]>,
    /// Headers in order; keys may repeat.
    pub headers: Headers<'a>,
}

/// One header of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header<'a> {
    /// Text by convention; not checked.
    pub key: &'a [u8],
    /// `None` is Kafka's null.
    pub value: Option<&'a [u8]>,
}

/// The headers of a record, already checked: iterating cannot fail.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Headers<'a> {
    left: u32,
    bytes: &'a [u8],
}

impl<'a> Iterator for Headers<'a> {
    type Item = Header<'a>;

    fn next(&mut self) -> Option<Header<'a>> {
        self.left = self.left.checked_sub(1)?;
        let key = take_blob(&mut self.bytes, "").ok()??;
        Some(Header { key, value: take_blob(&mut self.bytes, "").ok()? })
    }
}

/// The records of one batch, in order. After an error it ends.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    header: BatchHeader,
    index: u32,
    last_delta: Option<u32>,
    bytes: &'a [u8],
}

/// The records of a batch that [`verify`](super::verify) passed. Every count and length is
/// checked against the bytes that are left. Error for a compressed batch, or if `bytes` is not
/// one whole batch.
pub fn records(bytes: &[u8]) -> Result<Records<'_>, BatchError> {
    let header = BatchHeader::decode(bytes)?;
    let have = bytes.len() as u64;
    if have < header.bytes {
        return Err(BatchError::Short { have, need: header.bytes });
    }
    if have > header.bytes {
        return Err(BatchError::Trailing(have - header.bytes));
    }
    match header.compression() {
        0 => {
            let bytes = &bytes[HEADER_BYTES..];
            Ok(Records { header, index: 0, last_delta: None, bytes })
        }
        codec => Err(BatchError::Compressed(codec)),
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.index == self.header.records {
            let trailing = self.bytes.len() as u64;
            self.bytes = &[];
            return (trailing > 0).then_some(Err(BatchError::Trailing(trailing)));
        }
        let index = self.index;
        let record = self.record();
        self.index += 1;
        if record.is_err() {
            self.index = self.header.records;
            self.bytes = &[];
        }
        Some(record.map_err(|field| BatchError::Record { index, field }))
    }
}

impl<'a> Records<'a> {
    /// The next record, or the name of the field that is wrong.
    fn record(&mut self) -> Result<Record<'a>, &'static str> {
        let length = varint::take_i32(&mut self.bytes).ok_or("length")?;
        let mut body = take_bytes(&mut self.bytes, length).ok_or("length")?;
        // One byte of attributes, unused.
        take_bytes(&mut body, 1).ok_or("attributes")?;
        let time_delta = varint::take_i64(&mut body).ok_or("timestamp")?;
        let delta = varint::take_i32(&mut body).and_then(|delta| u32::try_from(delta).ok());
        let delta = delta.filter(|delta| *delta <= self.header.last_offset_delta);
        let delta = delta.filter(|delta| self.last_delta.is_none_or(|last| last < *delta));
        let delta = delta.ok_or("offset")?;
        self.last_delta = Some(delta);
        let key = take_blob(&mut body, "key")?;
        let value = take_blob(&mut body, "value")?;
        let left = varint::take_i32(&mut body).and_then(|left| u32::try_from(left).ok());
        let headers = Headers { left: left.ok_or("header count")?, bytes: body };
        check_headers(headers.clone())?;
        Ok(Record {
            offset: Offset(self.header.base_offset.0 + u64::from(delta)),
            timestamp: self.header.base_timestamp.wrapping_add(time_delta),
            key,
            value,
            headers,
        })
    }
}

/// Walks the headers once. Each takes two bytes at least, so a count too big for the bytes ends
/// the walk early.
fn check_headers(mut headers: Headers<'_>) -> Result<(), &'static str> {
    for _ in 0..headers.left {
        let key = take_blob(&mut headers.bytes, "header key")?;
        key.ok_or("header key")?;
        take_blob(&mut headers.bytes, "header value")?;
    }
    if headers.bytes.is_empty() { Ok(()) } else { Err("length") }
}

/// Takes a length and that many bytes; the length −1 is null. The error is the field's name.
fn take_blob<'a>(
    bytes: &mut &'a [u8],
    field: &'static str,
) -> Result<Option<&'a [u8]>, &'static str> {
    match varint::take_i32(bytes).ok_or(field)? {
        -1 => Ok(None),
        length => take_bytes(bytes, length).map(Some).ok_or(field),
    }
}

fn take_bytes<'a>(bytes: &mut &'a [u8], length: i32) -> Option<&'a [u8]> {
    let length = usize::try_from(length).ok()?;
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}
