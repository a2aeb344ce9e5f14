//! Paths: from a hit back to an initial state, and forth again through the model.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::disk::DiskError;
use crate::outcome::{Hit, Outcome};
use crate::space::{Sink, Space};

/// A path through a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path<A> {
    /// The initial state.
    pub start: Vec<u32>,
    /// Each action with the row it leads to; the row before if it changes nothing, or leads out of
    /// the model's bounds.
    pub steps: Vec<(A, Vec<u32>)>,
}

impl<A> Path<A> {
    /// The row it ends in.
    pub fn last(&self) -> &[u32] {
        self.steps.last().map_or(&self.start, |step| &step.1)
    }

    /// Its actions.
    pub fn into_actions(self) -> Vec<A> {
        self.steps.into_iter().map(|step| step.0).collect()
    }
}

/// What went wrong in a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step {step} of a path can't be taken again: the model does not answer the same twice")]
pub struct Unrepeatable {
    /// The step, from 1; 0 if it is the initial state.
    pub step: usize,
}

/// Why there is no path to a hit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPath {
    /// The model does not answer the same twice.
    #[error(transparent)]
    Unrepeatable(#[from] Unrepeatable),
    /// The links that were spilled can't be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl Outcome {
    /// The path to a hit.
    pub fn path<S: Space>(&self, space: &S, hit: Hit) -> Result<Path<S::Action>, NoPath> {
        Ok(replay(space, &self.ordinals(hit)?)?)
    }

    /// The path to a hit as ordinals: which initial state, then which action of each state.
    pub fn ordinals(&self, hit: Hit) -> Result<Vec<u16>, DiskError> {
        let mut ordinals = Vec::from_iter(hit.ordinal);
        let mut place = hit.index;
        for level in (0..=hit.level as usize).rev() {
            let (parent, ordinal) = self.levels.get(level, place)?;
            ordinals.push(ordinal);
            place = parent;
        }
        ordinals.reverse();
        Ok(ordinals)
    }
}

/// Follows ordinals: first which initial state, then which action of each state.
pub fn replay<S: Space>(space: &S, ordinals: &[u16]) -> Result<Path<S::Action>, Unrepeatable> {
    replay_marked(space, ordinals).map(|(path, _)| path)
}

/// A path, and the fingerprint of each of its states.
type Marked<A> = (Path<A>, Vec<u64>);

/// The same, with the fingerprints that tell states apart; rows need not be alike.
pub(crate) fn replay_marked<S: Space>(
    space: &S,
    ordinals: &[u16],
) -> Result<Marked<S::Action>, Unrepeatable> {
    let mut worker = space.worker();
    let (first, rest) = ordinals.split_first().ok_or(Unrepeatable { step: 0 })?;
    let mut picker = Picker::new(*first);
    space.initial(&mut worker, &mut picker);
    let (mark, start) = picker.start.ok_or(Unrepeatable { step: 0 })?;
    let mut marks = vec![mark];
    let mut path = Path { start, steps: Vec::with_capacity(rest.len()) };
    for (n, ordinal) in rest.iter().enumerate() {
        let mut picker = Picker::new(*ordinal);
        let visit = || space.visit(&mut worker, path.last(), &mut picker);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(visit)) {
            // A later action of this state panics. The one that was taken is known by then.
            if picker.picked.is_none() {
                resume_unwind(panic);
            }
            worker = space.worker();
        }
        let (action, row) = picker.picked.ok_or(Unrepeatable { step: n + 1 })?;
        let (mark, row) = row.unwrap_or_else(|| (marks[n], path.last().to_vec()));
        path.steps.push((action, row));
        marks.push(mark);
    }
    Ok((path, marks))
}

/// A state's fingerprint and row.
type Found = (u64, Vec<u32>);

/// A sink that keeps one initial state, or one action.
struct Picker<A> {
    /// How many actions come before it.
    before: usize,
    start: Option<Found>,
    picked: Option<(A, Option<Found>)>,
}

impl<A> Picker<A> {
    fn new(ordinal: u16) -> Self {
        Self { before: ordinal.into(), start: None, picked: None }
    }

    fn told(&mut self, action: impl FnOnce() -> A, to: Option<(u64, &[u32])>) {
        if self.before == 0 && self.picked.is_none() {
            self.picked = Some((action(), to.map(|(mark, row)| (mark, row.to_vec()))));
        }
        self.before = self.before.saturating_sub(1);
    }
}

impl<A> Sink<A> for Picker<A> {
    fn start(&mut self, mark: u64, row: &[u32]) {
        if self.before == 0 && self.start.is_none() {
            self.start = Some((mark, row.to_vec()));
        }
        self.before = self.before.saturating_sub(1);
    }

    fn step(&mut self, _: usize, mark: u64, row: &[u32], action: impl FnOnce() -> A) {
        self.told(action, Some((mark, row)));
    }

    fn stays(&mut self, _: usize, action: impl FnOnce() -> A) {
        self.told(action, None);
    }

    fn leaves(&mut self, _: usize, action: impl FnOnce() -> A) {
        self.told(action, None);
    }
}
