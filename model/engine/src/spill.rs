//! Going on when memory is short: what does not fit is kept in files.
//!
//! Frontiers and links are written once and read in order. Of the visited states, the fingerprints
//! in memory are written as a sorted run from time to time. From then on, what the table takes for
//! new is uncertain until the runs were asked; they are asked, for many states at a time and in the
//! order of fingerprints, before a level is visited, before another run is written, and before
//! anything is said about counts. So a search that spills finds what one in memory finds, state by
//! state and in the same order.

mod batch;
mod runs;
mod slot;

use std::path::PathBuf;

use crate::disk::{DiskError, Quota, Scratch};

pub use batch::Batch;
pub use runs::Runs;
pub use slot::Slot;

/// Where a search keeps what does not fit into the limit on memory.
///
/// Its files have no names and vanish with the search, however it ends; those of links live as
/// long as the outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spill {
    /// The folder. It is made if it is missing, and then removed at the end.
    pub folder: PathBuf,
    /// Narrower limits, for tests.
    #[doc(hidden)]
    pub tight: Option<Tight>,
}

impl Spill {
    /// Spills to this folder.
    pub fn to(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), tight: None }
    }
}

/// Limits so narrow that a small space spills many times.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tight {
    /// Fingerprints in the table.
    pub table: usize,
    /// States of the next level, and links, in memory.
    pub kept: usize,
    /// States of which it is uncertain whether they are new.
    pub uncertain: usize,
    /// States that are visited before all this is looked at.
    pub step: usize,
    /// Runs of one size.
    pub runs: usize,
    /// Bytes until the disk is full.
    pub quota: Option<u64>,
}

/// Runs of one size before they are merged into one.
const FAN: usize = 8;

/// States that a thread visits before memory is looked at, at most.
const STEP: usize = 4096;

/// No fewer states are visited before memory is looked at.
const SMALLEST_STEP: usize = 16;

/// What a search spills to, and when.
#[derive(Debug)]
pub struct Spilling {
    /// The sorted runs.
    pub runs: Runs,
    /// The folder.
    pub scratch: Scratch,
    limit: Option<u64>,
    tight: Option<Tight>,
    largest_step: usize,
    step: usize,
}

/// How much memory and how many states a step would lead to, at most.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// Fingerprints in the table.
    pub states: usize,
    /// Memory of the table.
    pub table: u64,
    /// Whether the table would grow.
    pub grows: bool,
    /// States of the next level, and links, in memory; only told where tests limit it.
    pub kept: usize,
    /// States of which it is uncertain whether they are new.
    pub uncertain: usize,
    /// Memory of the chunks.
    pub crew: u64,
    /// All other memory.
    pub others: u64,
}

impl Spilling {
    /// Opens the folder.
    pub fn new(spill: &Spill, limit: Option<u64>, threads: usize) -> Result<Self, DiskError> {
        let tight = spill.tight;
        let quota = Quota::new(tight.and_then(|tight| tight.quota));
        let largest_step = tight.map_or(STEP * threads, |tight| tight.step);
        Ok(Self {
            runs: Runs::new(tight.map_or(FAN, |tight| tight.runs)),
            scratch: Scratch::open(&spill.folder, quota)?,
            limit,
            tight,
            largest_step,
            step: tight.map_or(STEP / 16, |tight| tight.step),
        })
    }

    /// Whether tests limit it.
    pub fn is_tight(&self) -> bool {
        self.tight.is_some()
    }

    /// How many states may be visited before memory is looked at.
    pub fn step(&self) -> usize {
        self.step
    }

    /// Takes smaller or larger steps by how much memory the last one took for itself. Whether it
    /// took too much.
    pub fn adapt(&mut self, taken: u64) -> bool {
        let Some(limit) = self.limit else { return false };
        if taken < limit / 64 {
            self.step = (self.step * 2).min(self.largest_step);
        } else if taken > limit / 16 {
            self.step = (self.step / 2).max(SMALLEST_STEP);
        }
        taken > limit / 16
    }

    /// Whether the table has all that it may have: half of the memory, since what is uncertain
    /// takes as much.
    pub fn table_is_full(&self, need: &Need) -> bool {
        self.tight.is_some_and(|tight| need.states > tight.table)
            || self.limit.is_some_and(|limit| need.grows && need.table > limit / 2)
    }

    /// Whether there is room for all of it. What a step takes for itself has an eighth of the
    /// memory, if it needs it or not: twice as much as steps are fitted to, since the next one may
    /// take more than the last; and there is a little more for what is not foretold.
    pub fn fits(&self, need: &Need) -> bool {
        let kept_free = |limit: u64| need.crew.max(limit / 8) + limit / 32;
        self.limit.is_none_or(|limit| need.table + need.others + kept_free(limit) <= limit)
            && self
                .tight
                .is_none_or(|tight| need.kept <= tight.kept && need.uncertain <= tight.uncertain)
    }

    /// Whether a table with so many states is worth a run.
    pub fn is_worth_a_run(&self, states: usize) -> bool {
        let least = self.limit.map_or(0, |limit| limit / 1024);
        states > 0 && (self.tight.is_some() || states as u64 >= least)
    }
}
