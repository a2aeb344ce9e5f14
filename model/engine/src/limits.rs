//! When a search ends early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

use crate::outcome::Bound;

/// States that are expanded before the limits are looked at.
const ROUND: u64 = 32 * 1024;

/// When a search must end early. The default is never.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Levels, that of the initial states counted as 1. States of the last level are judged and
    /// not expanded.
    pub depth: Option<u32>,
    /// Distinct states. The search ends with the first block of states that reaches it.
    pub states: Option<u64>,
    /// Bytes that the search may take for states. Where it may spill, it goes on with files when
    /// these are used up.
    pub memory: Option<u64>,
    /// Wall time.
    pub deadline: Option<Instant>,
    /// Set from outside: the user interrupts.
    pub interrupted: Arc<AtomicBool>,
}

impl Limits {
    /// The limit that is reached, if one is.
    pub(crate) fn reached(&self, unique: u64, bytes: u64) -> Option<Bound> {
        if self.interrupted.load(Relaxed) {
            Some(Bound::Interruption)
        } else if self.states.is_some_and(|limit| unique >= limit) {
            Some(Bound::States)
        } else if self.memory.is_some_and(|limit| bytes > limit) {
            Some(Bound::Memory)
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Some(Bound::Time)
        } else {
            None
        }
    }

    /// Whether the next round may be shorter than others for so many states.
    pub(crate) fn is_near(&self, unique: u64) -> bool {
        self.states.is_some() && (self.round(unique) as u64) < ROUND
    }

    /// How many states may be expanded before the limits are looked at again, at most.
    pub(crate) fn round(&self, unique: u64) -> usize {
        let room = self.states.map_or(ROUND, |limit| limit.saturating_sub(unique) / 8);
        room.clamp(1, ROUND) as usize
    }
}

/// Whether to go on when something was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Until {
    /// Look at every state, whatever is found.
    #[default]
    Exhausted,
    /// End when every goal that can be hit was hit.
    AllHit,
}
