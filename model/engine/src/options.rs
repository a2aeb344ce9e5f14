//! How to search, and what makes no sense.

use crate::checkpoint::Checkpoint;
use crate::limits::{Limits, Until};
use crate::spill::Spill;

/// How to search.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads, at least 1.
    pub threads: usize,
    /// When to end early.
    pub limits: Limits,
    /// Which goals are looked for, one bit each.
    pub goals: u64,
    /// Whether to go on when something was found.
    pub until: Until,
    /// Where to go on when memory is used up.
    pub spill: Option<Spill>,
    /// Where to write what it takes to go on with the search another time.
    pub checkpoint: Option<Checkpoint>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: 1,
            limits: Limits::default(),
            goals: u64::MAX,
            until: Until::default(),
            spill: None,
            checkpoint: None,
        }
    }
}

/// A search that spills needs so much memory.
pub(crate) const LEAST_TO_SPILL: u64 = 16 << 20;

/// More threads than this are not used.
pub(crate) const MOST_THREADS: usize = 256;

/// Why options are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// A number that must not be 0.
    #[error("{0} is 0, so there is nothing to do; give at least 1, or leave it out")]
    Zero(&'static str),
    /// Spilling begins where memory ends, and it has no end.
    #[error("there is a folder to spill to and no limit on memory; give the limit as well")]
    SpillWithoutLimit,
    /// Too little memory for a search that spills.
    #[error("{got} bytes of memory are too few for a search that spills; give {least} or more")]
    TooLittleToSpill {
        /// The least that does.
        least: u64,
        /// What was given.
        got: u64,
    },
    /// Nobody could tell whose checkpoint it is.
    #[error("the identity of a checkpoint is empty; name model and configuration")]
    NoIdentity,
}

impl Options {
    /// Whether a search can do something sensible with them. A search does not ask: it takes 0
    /// threads for 1 and uses 256 at most, and ends at once where another number is 0.
    pub fn check(&self) -> Result<(), Refused> {
        let Limits { depth, states, memory, .. } = &self.limits;
        let numbers = [
            ("the number of threads", Some(self.threads as u64)),
            ("the limit on depth", depth.map(u64::from)),
            ("the limit on states", *states),
            ("the limit on memory", *memory),
        ];
        if let Some((what, _)) = numbers.iter().find(|(_, number)| *number == Some(0)) {
            return Err(Refused::Zero(what));
        }
        if self.spill.as_ref().is_some_and(|spill| spill.tight.is_none()) {
            let got = memory.ok_or(Refused::SpillWithoutLimit)?;
            if got < LEAST_TO_SPILL {
                return Err(Refused::TooLittleToSpill { least: LEAST_TO_SPILL, got });
            }
        }
        let checkpoint = self.checkpoint.as_ref();
        if checkpoint.is_some_and(|checkpoint| checkpoint.levels == Some(0)) {
            return Err(Refused::Zero("the number of levels between checkpoints"));
        }
        if checkpoint.is_some_and(|checkpoint| checkpoint.identity.trim().is_empty()) {
            return Err(Refused::NoIdentity);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_numbers_are_refused_by_name() {
        let refused = |change: &dyn Fn(&mut Options)| {
            let mut options = Options::default();
            change(&mut options);
            options.check().map_err(|refused| refused.to_string())
        };
        let zero = |what: &str| {
            Err(format!("{what} is 0, so there is nothing to do; give at least 1, or leave it out"))
        };
        assert_eq!(refused(&|_| {}), Ok(()));
        assert_eq!(refused(&|it| it.threads = 0), zero("the number of threads"));
        assert_eq!(refused(&|it| it.limits.depth = Some(0)), zero("the limit on depth"));
        assert_eq!(refused(&|it| it.limits.states = Some(0)), zero("the limit on states"));
        assert_eq!(refused(&|it| it.limits.memory = Some(0)), zero("the limit on memory"));
        let spilling = |memory| {
            refused(&move |it| {
                it.spill = Some(Spill::to("x"));
                it.limits.memory = memory;
            })
        };
        assert!(spilling(None).is_err_and(|text| text.contains("no limit on memory")));
        assert!(spilling(Some(1 << 20)).is_err_and(|text| text.contains("give 16777216 or more")));
        assert_eq!(spilling(Some(16 << 20)), Ok(()));
        let unnamed = refused(&|it| it.checkpoint = Some(Checkpoint::to("x", " ")));
        assert!(unnamed.is_err_and(|text| text.contains("identity")));
        let checkpoint = Checkpoint { levels: Some(0), ..Checkpoint::to("x", "y") };
        let never = refused(&|it| it.checkpoint = Some(checkpoint.clone()));
        assert!(never.is_err_and(|text| text.contains("levels between checkpoints")));
    }
}
