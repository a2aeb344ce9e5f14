//! What messages and their parts have in common.

use super::error::DecodeError;
use super::reader::Reader;
use super::writer::Writer;
use crate::types::BrokerId;

/// A message, or a structure that stands in an array of one.
pub trait Part<'a>: Sized {
    /// The fewest bytes this can take on the wire. A count of `n` is refused when fewer than
    /// `n * MIN` bytes are left, before anything is allocated (B109).
    const MIN: usize;

    /// Reads one from the reader's position.
    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError>;

    /// Appends this to the frame.
    fn write(&self, writer: &mut Writer<'_>);
}

impl Part<'_> for BrokerId {
    const MIN: usize = 4;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        reader.broker("broker id")
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.broker(*self);
    }
}

impl Part<'_> for i32 {
    const MIN: usize = 4;

    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        reader.int32("element")
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.int32(*self);
    }
}
