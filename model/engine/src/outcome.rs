//! What a search found, and how far it came.

use std::any::Any;

use crate::disk::DiskError;
use crate::levels::Levels;
use crate::space::{Goal, Memo, Sort, Space};

/// What visits count. The same for any number of threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// States generated, initial ones included.
    pub generated: u64,
    /// Steps that lead out of the model's bounds.
    pub left_bounds: u64,
    /// How often an action of each kind was taken, also where nothing changed.
    pub kinds: Vec<u64>,
    /// How often each guard refused.
    pub refused: Vec<u64>,
    /// In how many states each goal that is a tally was hit; 0 for all others.
    pub tallies: Vec<u64>,
}

impl Counts {
    /// All zero, with room for what a space counts.
    pub(crate) fn zero<S: Space>(space: &S) -> Self {
        let mut zero = Self::default();
        zero.reset(space.kinds().len(), space.guards().len(), space.goals().len());
        zero
    }

    /// All zero, with room for so many of each.
    pub fn reset(&mut self, kinds: usize, guards: usize, goals: usize) {
        (self.generated, self.left_bounds) = (0, 0);
        for (counter, len) in
            [(&mut self.kinds, kinds), (&mut self.refused, guards), (&mut self.tallies, goals)]
        {
            counter.clear();
            counter.resize(len, 0);
        }
    }

    /// Adds what another counted.
    pub fn add(&mut self, other: &Self) {
        self.generated += other.generated;
        self.left_bounds += other.left_bounds;
        for (mine, theirs) in [
            (&mut self.kinds, &other.kinds),
            (&mut self.refused, &other.refused),
            (&mut self.tallies, &other.tallies),
        ] {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        }
    }
}

/// Where a goal was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit {
    /// The level of the state, the initial states' being 0.
    pub level: u32,
    /// Its place in the level.
    pub index: u32,
    /// Which of its actions hit, if it is an action that does.
    pub ordinal: Option<u16>,
}

impl Hit {
    /// The length of the path, in steps.
    pub fn steps(self) -> usize {
        self.level as usize + usize::from(self.ordinal.is_some())
    }
}

/// A panic of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    /// What it said.
    pub message: String,
    /// The state that was visited; `None` if there was none yet.
    pub at: Option<Hit>,
}

impl Panic {
    pub(crate) fn new(what: &(dyn Any + Send), level: u32, index: u32) -> Self {
        Self { at: Some(Hit { level, index, ordinal: None }), ..Self::at_start(what) }
    }

    pub(crate) fn at_start(what: &(dyn Any + Send)) -> Self {
        Self { message: panic_message(what), at: None }
    }
}

/// What a panic said, from what was caught.
pub fn panic_message(what: &(dyn Any + Send)) -> String {
    let text = what.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = text.or_else(|| what.downcast_ref::<String>().cloned());
    message.unwrap_or_else(|| "no message".to_owned())
}

/// What ended a search before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The limit on depth.
    Depth,
    /// The limit on distinct states.
    States,
    /// The limit on time.
    Time,
    /// The limit on memory, or the memory there is.
    Memory,
    /// The user.
    Interruption,
    /// All that was looked for was found, and the search was told to end there.
    Goal,
    /// The model panicked.
    Panic,
    /// A file could not be written or read.
    Disk,
    /// A worker of a search on several machines was lost, or could not go on.
    Worker,
}

impl Bound {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Depth => "depth",
            Self::States => "states",
            Self::Time => "time",
            Self::Memory => "memory",
            Self::Interruption => "interruption",
            Self::Goal => "goal",
            Self::Panic => "panic",
            Self::Disk => "disk",
            Self::Worker => "worker",
        }
    }
}

/// How far a search came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every reachable state was looked at.
    Exhausted,
    /// It was ended early, with so many known states that were not expanded.
    Bounded {
        /// By what.
        by: Bound,
        /// States known and not expanded.
        left: u64,
    },
}

impl Verdict {
    /// What ended it early.
    pub fn bound(self) -> Option<Bound> {
        match self {
            Self::Exhausted => None,
            Self::Bounded { by, .. } => Some(by),
        }
    }

    /// States known and not expanded.
    pub fn left(self) -> u64 {
        match self {
            Self::Exhausted => 0,
            Self::Bounded { left, .. } => left,
        }
    }
}

/// What a search found. All but `bytes`, `spilled`, `resumed` and `memo` is the same for any number
/// of threads, whether it spilled, and whether it was gone on with.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How far it came.
    pub verdict: Verdict,
    /// Distinct states.
    pub unique: u64,
    /// How many levels there are, that of the initial states included.
    pub depth: u64,
    /// What was counted.
    pub counts: Counts,
    /// The goals, each with its first hit: the first in breadth-first order, so a shortest. A tally
    /// has none; whether it is met in every run says the graph, not the search.
    pub goals: Vec<(Goal, Option<Hit>)>,
    /// A panic of the model, if it ended the search. Counts are those of one thread until then.
    pub panic: Option<Panic>,
    /// What went wrong with files. It ended the search if that is the bound; otherwise there is no
    /// checkpoint to go on with, or an older one.
    pub disk: Option<DiskError>,
    /// The seed of its fingerprints.
    pub seed: u64,
    /// Most memory that it took for states at a time, by its own count.
    pub bytes: u64,
    /// Bytes that were written where it spilled.
    pub spilled: u64,
    /// How many levels were taken from a checkpoint: at least one, if the search was gone on with.
    pub resumed: u64,
    /// How the memos of the workers fared.
    pub memo: Memo,
    pub(crate) levels: Levels,
}

impl Outcome {
    /// The first hit of the goal with this name.
    pub fn hit(&self, name: &str) -> Option<Hit> {
        self.goals.iter().find(|(goal, _)| goal.name == name)?.1
    }

    /// Whether every reachable state was looked at.
    pub fn exhausted(&self) -> bool {
        self.verdict == Verdict::Exhausted
    }

    /// What ended it early.
    pub fn bound(&self) -> Option<Bound> {
        self.verdict.bound()
    }

    /// How many states each level has.
    pub fn levels(&self) -> impl Iterator<Item = usize> {
        self.levels.sizes()
    }

    /// Whether a goal of this sort was hit.
    pub fn any_hit(&self, sort: Sort) -> bool {
        self.goals.iter().any(|(goal, hit)| goal.sort == sort && hit.is_some())
    }
}
