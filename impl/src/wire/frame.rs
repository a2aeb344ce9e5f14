//! Frames and headers: what stands around every message.

use std::fmt;

use super::error::{DecodeError, Reason};
use super::message::Api;
use super::part::Part;
use super::reader::Reader;
use super::writer::Writer;

/// The longest frame accepted or sent, in bytes after the length prefix: Kafka's default of
/// `socket.request.max.bytes`.
pub const MAX_FRAME_BYTES: u32 = 100 * 1024 * 1024;

/// Bytes of the length prefix.
const PREFIX: usize = 4;

/// Identity of a topic on the wire (KIP-516): 16 bytes, all zero for "none".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicId(pub [u8; 16]);

impl fmt::Display for TopicId {
    /// The usual form of a UUID.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

/// Number by which a response is matched to its request. Chosen by the requester; any value is
/// legal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CorrelationId(pub i32);

impl fmt::Display for CorrelationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Request header, version 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestHeader<'a> {
    /// The message that follows, in the one version that this crate speaks.
    pub api: Api,
    /// Repeated in the response header.
    pub correlation_id: CorrelationId,
    /// Name that the requester gives itself.
    pub client_id: Option<&'a str>,
}

impl<'a> Part<'a> for RequestHeader<'a> {
    const MIN: usize = 11;

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let key = reader.int16("api key")?;
        let version = reader.int16("api version")?;
        let Some(api) = Api::find(key, version) else {
            return Err(reader.error("api version", Reason::UnsupportedApi { key, version }));
        };
        let header = Self {
            api,
            correlation_id: CorrelationId(reader.int32("correlation id")?),
            client_id: reader.old_nullable_string("client id")?,
        };
        reader.no_tags()?;
        Ok(header)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.int16(self.api.key());
        writer.int16(self.api.version());
        writer.int32(self.correlation_id.0);
        writer.old_nullable_string(self.client_id);
        writer.no_tags();
    }
}

/// Response header, version 1.
impl Part<'_> for CorrelationId {
    const MIN: usize = 5;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let id = Self(reader.int32("correlation id")?);
        reader.no_tags()?;
        Ok(id)
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.int32(self.0);
        writer.no_tags();
    }
}

/// The first frame of a stream and what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut<'a> {
    /// The frame, with its length prefix.
    pub frame: &'a [u8],
    /// The bytes after it.
    pub rest: &'a [u8],
}

/// Cuts the first frame off a stream of bytes, or answers `Ok(None)` while it is not complete.
///
/// A prefix above `limit`, or a negative one, is an error at once: the receiver need not buffer
/// what it will refuse.
pub fn next_frame(stream: &[u8], limit: u32) -> Result<Option<Cut<'_>>, DecodeError> {
    let Some(length) = announced(stream, limit)? else {
        return Ok(None);
    };
    let cut = stream.split_at_checked(PREFIX + length);
    Ok(cut.map(|(frame, rest)| Cut { frame, rest }))
}

/// A reader behind the length prefix of a frame whose length is exactly what the prefix says.
pub(super) fn open<'a>(frame: &'a [u8], header: &'static str) -> Result<Reader<'a>, DecodeError> {
    let mut reader = Reader::new(frame, header);
    let length = announced(frame, MAX_FRAME_BYTES)?;
    reader.int32("length prefix")?;
    let (needed, left) = (length.unwrap_or(0) as u64, (frame.len() - PREFIX) as u64);
    match left.cmp(&needed) {
        std::cmp::Ordering::Equal => Ok(reader),
        std::cmp::Ordering::Less => Err(reader.error("frame", Reason::Truncated { needed, left })),
        std::cmp::Ordering::Greater => {
            let count = left - needed;
            Err(reader.error("frame", Reason::TrailingBytes { count }))
        }
    }
}

/// The length in the prefix, or `None` if the prefix is not complete.
fn announced(bytes: &[u8], limit: u32) -> Result<Option<usize>, DecodeError> {
    let Some(prefix) = bytes.first_chunk::<PREFIX>() else {
        return Ok(None);
    };
    // A negative length reads as one above 2^31, which no limit allows.
    let length = u32::from_be_bytes(*prefix);
    if length > limit.min(i32::MAX as u32) {
        let reason = Reason::FrameTooLarge { length: length.into(), limit: limit.into() };
        return Err(Reader::new(bytes, "frame").error("length prefix", reason));
    }
    Ok(Some(length as usize))
}
