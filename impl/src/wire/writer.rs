//! Appends the fields of a frame to a buffer that the caller keeps and reuses.

use super::frame::{MAX_FRAME_BYTES, TopicId};
use super::part::Part;
use crate::types::{BrokerEpoch, BrokerId, Epoch, ErrorCode, Offset};

/// Writes one frame at the end of a buffer.
pub struct Writer<'b> {
    out: &'b mut Vec<u8>,
    start: usize,
}

impl<'b> Writer<'b> {
    /// Starts a frame at the end of `out`; its length is filled in by [`Writer::finish`].
    pub fn start(out: &'b mut Vec<u8>) -> Self {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        Self { out, start }
    }

    /// Fills in the length prefix.
    pub fn finish(self) {
        let length = self.out.len() - self.start - 4;
        assert!(length <= MAX_FRAME_BYTES as usize, "a frame of {length} bytes is too large");
        let prefix = (length as u32).to_be_bytes();
        self.out[self.start..self.start + 4].copy_from_slice(&prefix);
    }

    /// INT8.
    pub fn int8(&mut self, value: i8) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    /// INT16.
    pub fn int16(&mut self, value: i16) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    /// INT32.
    pub fn int32(&mut self, value: i32) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    /// INT64.
    pub fn int64(&mut self, value: i64) {
        self.out.extend_from_slice(&value.to_be_bytes());
    }

    /// UNSIGNED_VARINT.
    pub fn varint(&mut self, mut value: u32) {
        while value >= 0x80 {
            self.out.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.out.push(value as u8);
    }

    fn compact(&mut self, length: usize) {
        assert!(length < MAX_FRAME_BYTES as usize, "a field of {length} does not fit in a frame");
        self.varint(length as u32 + 1);
    }

    /// COMPACT_NULLABLE_BYTES, or COMPACT_RECORDS.
    pub fn nullable_bytes(&mut self, bytes: Option<&[u8]>) {
        match bytes {
            None => self.varint(0),
            Some(bytes) => {
                self.compact(bytes.len());
                self.out.extend_from_slice(bytes);
            }
        }
    }

    /// COMPACT_NULLABLE_STRING.
    pub fn nullable_string(&mut self, string: Option<&str>) {
        let length = string.map_or(0, str::len);
        assert!(i16::try_from(length).is_ok(), "a string of {length} bytes is too long");
        self.nullable_bytes(string.map(str::as_bytes));
    }

    /// COMPACT_STRING.
    pub fn string(&mut self, string: &str) {
        self.nullable_string(Some(string));
    }

    /// NULLABLE_STRING with a 16-bit length.
    pub fn old_nullable_string(&mut self, string: Option<&str>) {
        let Some(string) = string else {
            return self.int16(-1);
        };
        let length = i16::try_from(string.len()).expect("a client id has at most 32,767 bytes");
        self.int16(length);
        self.out.extend_from_slice(string.as_bytes());
    }

    /// COMPACT_ARRAY.
    pub fn array<'a, T: Part<'a>>(&mut self, elements: &[T]) {
        self.compact(elements.len());
        for element in elements {
            element.write(self);
        }
    }

    /// COMPACT_ARRAY that may be null.
    pub fn nullable_array<'a, T: Part<'a>>(&mut self, elements: Option<&[T]>) {
        match elements {
            None => self.varint(0),
            Some(elements) => self.array(elements),
        }
    }

    /// The end of a structure without tagged fields.
    pub fn no_tags(&mut self) {
        self.out.push(0);
    }

    /// The head of a tagged field of `size` bytes.
    pub fn tag(&mut self, tag: u32, size: u32) {
        self.varint(tag);
        self.varint(size);
    }

    /// An offset, −1 for `None`.
    pub fn offset(&mut self, offset: impl Into<Option<Offset>>) {
        self.int64(offset.into().map_or(-1, |Offset(offset)| {
            i64::try_from(offset).expect("an offset stays below 2^63")
        }));
    }

    /// A leader epoch, −1 for `None`.
    pub fn epoch(&mut self, epoch: impl Into<Option<Epoch>>) {
        self.int32(epoch.into().map_or(-1, |Epoch(epoch)| epoch));
    }

    /// A broker, −1 for `None`.
    pub fn broker(&mut self, broker: impl Into<Option<BrokerId>>) {
        self.int32(broker.into().map_or(-1, |BrokerId(id)| id));
    }

    /// A broker epoch, −1 for `None`.
    pub fn broker_epoch(&mut self, epoch: impl Into<Option<BrokerEpoch>>) {
        self.int64(epoch.into().map_or(-1, |BrokerEpoch(epoch)| epoch));
    }

    /// An error code.
    pub fn error_code(&mut self, error: ErrorCode) {
        self.int16(error.code());
    }

    /// A topic id.
    pub fn topic_id(&mut self, TopicId(id): &TopicId) {
        self.out.extend_from_slice(id);
    }
}
