//! The constants of the specification, and how large they may be.

use std::fmt;
use std::ops::RangeInclusive;

use super::{Id, Log, Requests, State};

/// The constants of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Constants {
    /// How many replicas.
    pub replicas: Id,
    /// How many records a log can hold.
    pub log_size: u8,
    /// How many records are ever written.
    pub max_records: u8,
    /// The largest leader epoch; the first is 0.
    pub max_leader_epoch: u8,
}

impl Constants {
    /// Whether states of these constants fit; if not, the first constant that is to blame.
    pub fn check(&self) -> Result<(), OutOfRange> {
        within("--replicas", self.replicas, 1..=State::MOST_REPLICAS)?;
        within("--log-size", self.log_size, 1..=Log::ROOM)?;
        within("--max-records", self.max_records, 1..=Log::MOST_RECORDS)?;
        within("--max-leader-epoch", self.max_leader_epoch, 0..=Requests::ROOM - 1)
    }
}

/// A constant that is too small or too large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// The flag that sets it.
    pub flag: &'static str,
    /// What it was set to.
    pub given: u8,
    /// What it may be.
    pub range: RangeInclusive<u8>,
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (least, most) = (self.range.start(), self.range.end());
        write!(f, "{} must be {least} to {most}, not {}", self.flag, self.given)
    }
}

impl std::error::Error for OutOfRange {}

/// Whether one constant is in its range.
pub(super) fn within(
    flag: &'static str,
    given: u8,
    range: RangeInclusive<u8>,
) -> Result<(), OutOfRange> {
    if range.contains(&given) { Ok(()) } else { Err(OutOfRange { flag, given, range }) }
}
