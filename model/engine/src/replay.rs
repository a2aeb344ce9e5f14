//! Paths: from a hit back to an initial state, and forth again through the model.

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

impl Outcome {
    /// The path to a hit.
    pub fn path<S: Space>(&self, space: &S, hit: Hit) -> Result<Path<S::Action>, Unrepeatable> {
        let mut ordinals = Vec::from_iter(hit.ordinal);
        let mut place = hit.index;
        for level in (0..=hit.level as usize).rev() {
            let (parent, ordinal) = self.levels[level].get(place);
            ordinals.push(ordinal);
            place = parent;
        }
        ordinals.reverse();
        replay(space, &ordinals)
    }
}

/// Follows ordinals: first which initial state, then which action of each state.
pub fn replay<S: Space>(space: &S, ordinals: &[u16]) -> Result<Path<S::Action>, Unrepeatable> {
    let mut worker = space.worker();
    let (first, rest) = ordinals.split_first().ok_or(Unrepeatable { step: 0 })?;
    let mut picker = Picker::new(*first);
    space.initial(&mut worker, &mut picker);
    let start = picker.start.ok_or(Unrepeatable { step: 0 })?;
    let mut path = Path { start, steps: Vec::with_capacity(rest.len()) };
    for (n, ordinal) in rest.iter().enumerate() {
        let mut picker = Picker::new(*ordinal);
        space.visit(&mut worker, path.last(), &mut picker);
        let (action, row) = picker.picked.ok_or(Unrepeatable { step: n + 1 })?;
        let row = row.unwrap_or_else(|| path.last().to_vec());
        path.steps.push((action, row));
    }
    Ok(path)
}

/// A sink that keeps one initial state, or one action.
struct Picker<A> {
    /// How many actions come before it.
    before: usize,
    start: Option<Vec<u32>>,
    picked: Option<(A, Option<Vec<u32>>)>,
}

impl<A> Picker<A> {
    fn new(ordinal: u16) -> Self {
        Self { before: ordinal.into(), start: None, picked: None }
    }

    fn told(&mut self, action: impl FnOnce() -> A, row: Option<&[u32]>) {
        if self.before == 0 && self.picked.is_none() {
            self.picked = Some((action(), row.map(<[u32]>::to_vec)));
        }
        self.before = self.before.saturating_sub(1);
    }
}

impl<A> Sink<A> for Picker<A> {
    fn open(&self) -> u64 {
        0
    }

    fn expands(&self) -> bool {
        true
    }

    fn hit(&mut self, _: usize) {}

    fn start(&mut self, _: u64, row: &[u32]) {
        if self.before == 0 && self.start.is_none() {
            self.start = Some(row.to_vec());
        }
        self.before = self.before.saturating_sub(1);
    }

    fn step(&mut self, _: usize, _: u64, row: &[u32], action: impl FnOnce() -> A) {
        self.told(action, Some(row));
    }

    fn stays(&mut self, _: usize, action: impl FnOnce() -> A) {
        self.told(action, None);
    }

    fn leaves(&mut self, _: usize, action: impl FnOnce() -> A) {
        self.told(action, None);
    }

    fn hit_step(&mut self, _: usize) {}

    fn refused(&mut self, _: usize) {}
}
