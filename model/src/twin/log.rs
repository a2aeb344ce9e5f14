//! A log of few records, all in one number: logs are copied and compared all the time.

use std::fmt;

/// A record: its id, unique over all logs, and the leader epoch it was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Record {
    /// Its id.
    pub id: u8,
    /// Its leader epoch; a leader that knows none cannot write.
    pub epoch: u8,
}

impl Record {
    /// The record as a byte that is not 0.
    #[inline]
    fn byte(self) -> u8 {
        0x80 | self.epoch << 4 | self.id
    }

    #[inline]
    fn of_byte(byte: u8) -> Option<Self> {
        (byte != 0).then_some(Self { id: byte & 0xf, epoch: byte >> 4 & 7 })
    }
}

/// A log: one byte for each record, the first the lowest, and 0 from its end on.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Log(u64);

impl Log {
    /// The log without a record.
    pub const EMPTY: Self = Self(0);

    /// How many records a log has room for.
    pub const ROOM: u8 = 8;

    /// How many records there can ever be, so that an id has its four bits.
    pub const MOST_RECORDS: u8 = 15;

    /// Its end offset.
    #[inline]
    pub fn end(self) -> u8 {
        Self::ROOM - (self.0.leading_zeros() / 8) as u8
    }

    /// Whether it has no record.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The record at this offset.
    #[inline]
    pub fn at(self, offset: u8) -> Option<Record> {
        if offset < Self::ROOM { Record::of_byte((self.0 >> (8 * offset)) as u8) } else { None }
    }

    /// The last record.
    #[inline]
    pub fn last(self) -> Option<Record> {
        self.at(self.end().wrapping_sub(1))
    }

    /// The records in order.
    #[inline]
    pub fn records(self) -> impl Iterator<Item = Record> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let record = Record::of_byte(rest as u8);
            rest >>= 8;
            record
        })
    }

    /// Appends a record. There is room for it.
    #[inline]
    pub fn push(&mut self, record: Record) {
        self.0 |= u64::from(record.byte()) << (8 * self.end());
    }

    /// The part below this offset.
    #[inline]
    #[must_use]
    pub fn below(self, end: u8) -> Self {
        if end < Self::ROOM { Self(self.0 & ((1 << (8 * end)) - 1)) } else { self }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.records()).finish()
    }
}
