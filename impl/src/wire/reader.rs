//! A cursor over one frame that cannot be made to read, or to allocate, beyond it.

use super::error::{DecodeError, Reason};
use super::frame::TopicId;
use super::part::Part;
use crate::types::{BrokerEpoch, BrokerId, Epoch, ErrorCode, Offset, PartitionEpoch};

type Read<T> = Result<T, DecodeError>;

/// Reads the fields of one frame from front to back.
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    message: &'static str,
    /// Bytes of memory reserved for arrays so far: the tests bound it by the frame's size.
    #[cfg(test)]
    pub reserved: usize,
}

impl<'a> Reader<'a> {
    /// A reader at the first byte of `bytes`; errors name `message`.
    pub fn new(bytes: &'a [u8], message: &'static str) -> Self {
        Self {
            bytes,
            at: 0,
            message,
            #[cfg(test)]
            reserved: 0,
        }
    }

    /// From here on errors name `message`.
    pub fn enter(&mut self, message: &'static str) {
        self.message = message;
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// An error at the present position.
    #[cold]
    pub fn error(&self, field: &'static str, reason: Reason) -> DecodeError {
        self.error_at(field, self.at, reason)
    }

    #[cold]
    fn error_at(&self, field: &'static str, position: usize, reason: Reason) -> DecodeError {
        DecodeError { message: self.message, field, position, reason }
    }

    fn need(&self, field: &'static str, needed: u64) -> Read<()> {
        let left = self.left() as u64;
        if needed > left {
            return Err(self.error(field, Reason::Truncated { needed, left }));
        }
        Ok(())
    }

    fn slice(&mut self, field: &'static str, length: usize) -> Read<&'a [u8]> {
        self.need(field, length as u64)?;
        let from = self.at;
        self.at += length;
        Ok(&self.bytes[from..self.at])
    }

    fn fixed<const N: usize>(&mut self, field: &'static str) -> Read<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.slice(field, N)?);
        Ok(array)
    }

    /// INT8.
    pub fn int8(&mut self, field: &'static str) -> Read<i8> {
        self.fixed(field).map(i8::from_be_bytes)
    }

    /// INT16.
    pub fn int16(&mut self, field: &'static str) -> Read<i16> {
        self.fixed(field).map(i16::from_be_bytes)
    }

    /// INT32.
    pub fn int32(&mut self, field: &'static str) -> Read<i32> {
        self.fixed(field).map(i32::from_be_bytes)
    }

    /// INT64.
    pub fn int64(&mut self, field: &'static str) -> Read<i64> {
        self.fixed(field).map(i64::from_be_bytes)
    }

    /// UNSIGNED_VARINT: seven bits a byte, lowest first, at most 32 bits.
    pub fn varint(&mut self, field: &'static str) -> Read<u32> {
        let start = self.at;
        let mut value = 0u32;
        for shift in [0, 7, 14, 21, 28] {
            let [byte] = self.fixed(field)?;
            if shift == 28 && byte > 0x0f {
                break;
            }
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.error_at(field, start, Reason::VarintOverflow))
    }

    /// A compact length or count: 0 is null, `n + 1` is `n`.
    fn compact(&mut self, field: &'static str) -> Read<Option<u32>> {
        Ok(self.varint(field)?.checked_sub(1))
    }

    /// COMPACT_NULLABLE_BYTES, or COMPACT_RECORDS, borrowed from the frame.
    pub fn nullable_bytes(&mut self, field: &'static str) -> Read<Option<&'a [u8]>> {
        match self.compact(field)? {
            None => Ok(None),
            Some(length) => self.slice(field, length as usize).map(Some),
        }
    }

    fn utf8(&mut self, field: &'static str, length: u32) -> Read<&'a str> {
        if i16::try_from(length).is_err() {
            return Err(self.error(field, Reason::OutOfRange { value: length.into() }));
        }
        let start = self.at;
        let bytes = self.slice(field, length as usize)?;
        std::str::from_utf8(bytes)
            .map_err(|error| self.error_at(field, start + error.valid_up_to(), Reason::NotUtf8))
    }

    /// COMPACT_NULLABLE_STRING.
    pub fn nullable_string(&mut self, field: &'static str) -> Read<Option<&'a str>> {
        match self.compact(field)? {
            None => Ok(None),
            Some(length) => self.utf8(field, length).map(Some),
        }
    }

    /// COMPACT_STRING.
    pub fn string(&mut self, field: &'static str) -> Read<&'a str> {
        let start = self.at;
        self.nullable_string(field)?
            .ok_or_else(|| self.error_at(field, start, Reason::UnexpectedNull))
    }

    /// NULLABLE_STRING with a 16-bit length: the client id of a request header.
    pub fn old_nullable_string(&mut self, field: &'static str) -> Read<Option<&'a str>> {
        let start = self.at;
        match self.int16(field)? {
            -1 => Ok(None),
            length => match u32::try_from(length) {
                Ok(length) => self.utf8(field, length).map(Some),
                Err(_) => {
                    Err(self.error_at(field, start, Reason::OutOfRange { value: length.into() }))
                }
            },
        }
    }

    /// COMPACT_ARRAY that may be null.
    pub fn nullable_array<T: Part<'a>>(&mut self, field: &'static str) -> Read<Option<Vec<T>>> {
        let Some(count) = self.compact(field)? else {
            return Ok(None);
        };
        self.need(field, u64::from(count) * T::MIN as u64)?;
        #[cfg(test)]
        {
            self.reserved += count as usize * size_of::<T>();
        }
        let mut elements = Vec::with_capacity(count as usize);
        for _ in 0..count {
            elements.push(T::read(self)?);
        }
        Ok(Some(elements))
    }

    /// COMPACT_ARRAY.
    pub fn array<T: Part<'a>>(&mut self, field: &'static str) -> Read<Vec<T>> {
        let start = self.at;
        self.nullable_array(field)?
            .ok_or_else(|| self.error_at(field, start, Reason::UnexpectedNull))
    }

    /// The tagged fields at the end of a structure (KIP-482). `known` gets a reader that ends
    /// where the field ends; it answers `None` for a tag it does not know, which is skipped.
    pub fn tagged(
        &mut self,
        mut known: impl FnMut(u32, &mut Reader<'a>) -> Read<Option<()>>,
    ) -> Read<()> {
        let field = "tagged fields";
        let count = self.varint(field)?;
        self.need(field, u64::from(count) * 2)?;
        let mut last = None;
        for _ in 0..count {
            let start = self.at;
            let tag = self.varint(field)?;
            if last.is_some_and(|last| tag <= last) {
                return Err(self.error_at(field, start, Reason::TagOrder { tag }));
            }
            last = Some(tag);
            let size = self.varint(field)? as usize;
            self.need(field, size as u64)?;
            let end = self.at + size;
            let mut inner = Reader {
                bytes: &self.bytes[..end],
                at: self.at,
                message: self.message,
                #[cfg(test)]
                reserved: 0,
            };
            if known(tag, &mut inner)?.is_some() {
                inner.end(field)?;
            }
            #[cfg(test)]
            {
                self.reserved += inner.reserved;
            }
            self.at = end;
        }
        Ok(())
    }

    /// Tagged fields of a structure that has none of its own: all are skipped.
    pub fn no_tags(&mut self) -> Read<()> {
        // Nearly every structure ends in a zero byte.
        if self.bytes.get(self.at) == Some(&0) {
            self.at += 1;
            return Ok(());
        }
        self.tagged(|_, _| Ok(None))
    }

    /// Asserts that every byte was read.
    pub fn end(&self, field: &'static str) -> Read<()> {
        match self.left() as u64 {
            0 => Ok(()),
            count => Err(self.error(field, Reason::TrailingBytes { count })),
        }
    }

    /// A number that is at least 0, or −1 for `None`.
    fn defined<N: Copy + Into<i64>>(
        &mut self,
        field: &'static str,
        read: impl FnOnce(&mut Self, &'static str) -> Read<N>,
    ) -> Read<Option<N>> {
        let start = self.at;
        let number = read(self, field)?;
        match number.into() {
            -1 => Ok(None),
            0.. => Ok(Some(number)),
            value => Err(self.error_at(field, start, Reason::OutOfRange { value })),
        }
    }

    fn required<T>(
        &mut self,
        field: &'static str,
        read: impl FnOnce(&mut Self, &'static str) -> Read<Option<T>>,
    ) -> Read<T> {
        let start = self.at;
        read(self, field)?
            .ok_or_else(|| self.error_at(field, start, Reason::OutOfRange { value: -1 }))
    }

    /// An offset, −1 for `None`.
    pub fn maybe_offset(&mut self, field: &'static str) -> Read<Option<Offset>> {
        Ok(self.defined(field, Self::int64)?.map(|offset| Offset(offset.unsigned_abs())))
    }

    /// An offset that must be defined.
    pub fn offset(&mut self, field: &'static str) -> Read<Offset> {
        self.required(field, Self::maybe_offset)
    }

    /// A leader epoch, −1 for `None`.
    pub fn maybe_epoch(&mut self, field: &'static str) -> Read<Option<Epoch>> {
        Ok(self.defined(field, Self::int32)?.map(Epoch))
    }

    /// A leader epoch that must be defined.
    pub fn epoch(&mut self, field: &'static str) -> Read<Epoch> {
        self.required(field, Self::maybe_epoch)
    }

    /// A broker, −1 for `None`.
    pub fn maybe_broker(&mut self, field: &'static str) -> Read<Option<BrokerId>> {
        Ok(self.defined(field, Self::int32)?.map(BrokerId))
    }

    /// A broker that must be defined.
    pub fn broker(&mut self, field: &'static str) -> Read<BrokerId> {
        self.required(field, Self::maybe_broker)
    }

    /// A broker; `None` for a consumer (−1) or a debugging consumer (−2).
    pub fn maybe_broker_or_debugger(&mut self, field: &'static str) -> Read<Option<BrokerId>> {
        if self.bytes[self.at..].starts_with(&(-2i32).to_be_bytes()) {
            self.at += 4;
            return Ok(None);
        }
        self.maybe_broker(field)
    }

    /// A broker epoch, −1 for `None`.
    pub fn maybe_broker_epoch(&mut self, field: &'static str) -> Read<Option<BrokerEpoch>> {
        Ok(self.defined(field, Self::int64)?.map(BrokerEpoch))
    }

    /// A broker epoch that must be defined.
    pub fn broker_epoch(&mut self, field: &'static str) -> Read<BrokerEpoch> {
        self.required(field, Self::maybe_broker_epoch)
    }

    /// A partition epoch that must be defined.
    pub fn partition_epoch(&mut self, field: &'static str) -> Read<PartitionEpoch> {
        self.required(field, |reader, field| reader.defined(field, Self::int32)).map(PartitionEpoch)
    }

    /// A time in milliseconds since 1970, −1 for `None`.
    pub fn maybe_time_ms(&mut self, field: &'static str) -> Read<Option<i64>> {
        self.defined(field, Self::int64)
    }

    /// An error code of the list that this crate knows.
    pub fn error_code(&mut self, field: &'static str) -> Read<ErrorCode> {
        let start = self.at;
        let code = self.int16(field)?;
        ErrorCode::from_code(code)
            .ok_or_else(|| self.error_at(field, start, Reason::UnknownErrorCode { code }))
    }

    /// One of a small set of INT8 values.
    pub fn choice<T: Copy>(&mut self, field: &'static str, values: &[(i8, T)]) -> Read<T> {
        let start = self.at;
        let value = self.int8(field)?;
        let chosen = values.iter().find(|(number, _)| *number == value);
        chosen
            .map(|(_, choice)| *choice)
            .ok_or_else(|| self.error_at(field, start, Reason::OutOfRange { value: value.into() }))
    }

    /// A topic id.
    pub fn topic_id(&mut self, field: &'static str) -> Read<TopicId> {
        self.fixed(field).map(TopicId)
    }
}
