//! What workers tell each other.

use serde::{Deserialize, Serialize};

/// Something for one worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parcel {
    /// For whom.
    pub to: u32,
    /// From whom.
    pub from: u32,
    /// How many parcels of the sender came before it. What is unpacked is unpacked in this order.
    pub number: u64,
    /// What.
    pub what: What,
}

/// What a parcel holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum What {
    /// States that may be new.
    States(Batch),
    /// What became of a level.
    Vote(Vote),
    /// A step back on the way to a hit.
    Hop(Hop),
}

/// States that may be new, each with where it comes from.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Batch {
    /// One for each state.
    pub heads: Vec<Head>,
    /// Rows one after the other, within a process.
    pub words: Vec<u32>,
    /// Packed rows one after the other, between processes.
    pub bytes: Vec<u8>,
}

/// A state that may be new.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Head {
    /// Its fingerprint.
    pub fingerprint: u64,
    /// The fingerprint of the state it comes from.
    pub parent: u64,
    /// Which action of that state leads to it.
    pub ordinal: u16,
    /// How many words, or bytes, it takes in the batch.
    pub len: u32,
}

/// What became of a worker's part of a level, for all workers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Vote {
    /// States that were new.
    pub new: u64,
    /// Those of them that were not expanded.
    pub left: u64,
    /// What visits counted.
    pub counts: Sums,
    /// By goal: the smallest hit.
    pub hits: Vec<Option<Place>>,
    /// Why the level was not visited to its end.
    pub stop: Option<Stop>,
    /// Memory taken for states.
    pub bytes: u64,
    /// How often the memo was asked since the start, and how often it had to compute.
    pub memo: (u64, u64),
}

/// A hit of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The state.
    pub fingerprint: u64,
    /// Which of its actions hits, if it is an action that does.
    pub ordinal: Option<u16>,
}

/// What visits count, as it is sent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sums {
    generated: u64,
    left_bounds: u64,
    kinds: Vec<u64>,
    refused: Vec<u64>,
    tallies: Vec<u64>,
}

impl From<levelwise::Counts> for Sums {
    fn from(counts: levelwise::Counts) -> Self {
        let levelwise::Counts { generated, left_bounds, kinds, refused, tallies } = counts;
        Self { generated, left_bounds, kinds, refused, tallies }
    }
}

impl From<Sums> for levelwise::Counts {
    fn from(sums: Sums) -> Self {
        let Sums { generated, left_bounds, kinds, refused, tallies } = sums;
        Self { generated, left_bounds, kinds, refused, tallies }
    }
}

/// Why a worker did not visit its part of a level to its end. Of several the first in this order
/// is told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Stop {
    /// What arrived is no state of this space.
    Garbled,
    /// Fingerprints depend on which process made them.
    Unrepeatable,
    /// The model panicked in this state, or before there was any.
    Panic(Option<u64>, String),
    /// The user.
    Interruption,
    /// The limit on memory.
    Memory,
    /// The limit on time.
    Time,
}

/// A step back on the way to a hit.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Hop {
    /// Which way.
    pub chain: u32,
    /// The state before; `None` if this is an initial state.
    pub parent: Option<u64>,
    /// Which action of it, or which initial state.
    pub ordinal: u16,
}
