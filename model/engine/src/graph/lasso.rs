//! Lassos: walks that end in a cycle.

use std::collections::{BTreeMap, VecDeque};

use super::walk::{Step, Walk};
use crate::replay::{Path, Unrepeatable, replay_marked};
use crate::space::{Sink, Space};

/// A run that never ends: a walk whose last part is repeated forever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso {
    /// The way into the cycle, and once around it.
    pub walk: Walk,
    /// How many of its steps come before the cycle. If that is all, nothing leads on from the
    /// state it ends in.
    pub stem: usize,
}

impl Lasso {
    /// The steps before the cycle.
    pub fn stem(&self) -> &[Step] {
        &self.walk.steps[..self.stem]
    }

    /// The steps that are repeated; none if nothing can happen any more.
    pub fn cycle(&self) -> &[Step] {
        &self.walk.steps[self.stem..]
    }

    /// The state in which the cycle begins and ends.
    pub fn entry(&self) -> u32 {
        self.walk.last()
    }

    /// The same run through the space.
    ///
    /// # Errors
    ///
    /// If a step can't be taken again, or if it does not end where it must.
    pub fn replay<S: Space>(&self, space: &S) -> Result<Run<S::Action>, Unrepeatable> {
        let (path, fingerprints) = replay_marked(space, &self.walk.ordinals())?;
        let mut end = End::default();
        if self.cycle().is_empty() {
            space.visit(&mut space.worker(), path.last(), &mut end);
        }
        let ends_well = fingerprints[self.stem] == fingerprints[path.steps.len()] && !end.goes_on;
        let run = Run { path, stem: self.stem };
        if ends_well { Ok(run) } else { Err(Unrepeatable { step: self.walk.steps.len() }) }
    }
}

/// A run that never ends, in actions and rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run<A> {
    /// The way into the cycle, and once around it.
    pub path: Path<A>,
    /// How many of its steps come before the cycle.
    pub stem: usize,
}

/// The shortest way from a state that ends with a step that is wanted. There must be one.
pub fn nearest<I: Iterator<Item = Step>>(
    from: u32,
    next: impl Fn(u32) -> I,
    wanted: impl Fn(&Step) -> bool,
) -> Vec<Step> {
    let mut found_by = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(state) = queue.pop_front() {
        for step in next(state) {
            if wanted(&step) {
                let mut way = vec![step];
                while way[way.len() - 1].from != from {
                    way.push(found_by[&way[way.len() - 1].from]);
                }
                way.reverse();
                return way;
            }
            if step.to != from && !found_by.contains_key(&step.to) {
                found_by.insert(step.to, step);
                queue.push_back(step.to);
            }
        }
    }
    unreachable!("a component is strongly connected");
}

/// A sink that finds out whether anything leads on within the bounds.
#[derive(Default)]
struct End {
    goes_on: bool,
}

impl<A> Sink<A> for End {
    fn start(&mut self, _: u64, _: &[u32]) {}

    fn step(&mut self, _: usize, _: u64, _: &[u32], _: impl FnOnce() -> A) {
        self.goes_on = true;
    }

    fn stays(&mut self, _: usize, _: impl FnOnce() -> A) {}

    fn leaves(&mut self, _: usize, _: impl FnOnce() -> A) {}
}
