//! Why bytes from the wire are not a message.

use std::fmt;

/// A frame that cannot be read: which message, which field, where and why (B109).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The message being read, for example `FetchRequest`.
    pub message: &'static str,
    /// The field at which reading stopped.
    pub field: &'static str,
    /// Position of the offending byte, counted from the first byte of the frame's length prefix.
    pub position: usize,
    /// What is wrong there.
    pub reason: Reason,
}

/// What is wrong with the bytes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The field needs more bytes than the frame, or the tagged field around it, still has.
    /// Both counts are bytes; for an array, `needed` is the least that its elements can take.
    Truncated {
        /// Bytes the field needs.
        needed: u64,
        /// Bytes that are left.
        left: u64,
    },
    /// The message, or a tagged field, ended before its bytes did.
    TrailingBytes {
        /// Bytes that nothing read.
        count: u64,
    },
    /// A variable-length number with more than 32 bits.
    VarintOverflow,
    /// A number outside the range of its field.
    OutOfRange {
        /// The number read.
        value: i64,
    },
    /// Null where the field may not be null.
    UnexpectedNull,
    /// A string that is not UTF-8.
    NotUtf8,
    /// Tagged fields out of order, or one of them twice.
    TagOrder {
        /// The tag that is not greater than the one before it.
        tag: u32,
    },
    /// An error code that this crate does not know.
    UnknownErrorCode {
        /// The code read.
        code: i16,
    },
    /// A request that this crate does not serve.
    UnsupportedApi {
        /// The API key read.
        key: i16,
        /// The version read.
        version: i16,
    },
    /// A frame larger than the receiver's limit.
    FrameTooLarge {
        /// The length that the prefix announces, in bytes.
        length: u64,
        /// The largest length accepted, in bytes.
        limit: u64,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, field, position, reason } = self;
        write!(f, "{message}: field {field} at byte {position}: {reason}")
    }
}

impl std::error::Error for DecodeError {}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { needed, left } => write!(f, "needs {needed} bytes, {left} are left"),
            Self::TrailingBytes { count } => write!(f, "{count} bytes follow the end"),
            Self::VarintOverflow => f.write_str("variable-length number exceeds 32 bits"),
            Self::OutOfRange { value } => write!(f, "{value} is out of range"),
            Self::UnexpectedNull => f.write_str("null is not allowed"),
            Self::NotUtf8 => f.write_str("not UTF-8"),
            Self::TagOrder { tag } => write!(f, "tag {tag} is repeated or out of order"),
            Self::UnknownErrorCode { code } => write!(f, "unknown error code {code}"),
            Self::UnsupportedApi { key, version } => {
                write!(f, "API key {key} version {version} is not supported")
            }
            Self::FrameTooLarge { length, limit } => {
                write!(f, "frame of {length} bytes exceeds the limit of {limit}")
            }
        }
    }
}
