//! Walks through a graph, and through the space again.

use super::{Edge, Graph};
use crate::replay::{Path, Unrepeatable, replay};
use crate::space::Space;

/// An action that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The state it was taken in.
    pub from: u32,
    /// Its kind.
    pub kind: usize,
    /// Which of the state's actions it is.
    pub ordinal: u16,
    /// The state it leads to.
    pub to: u32,
}

impl Step {
    /// An action of a state, unless it leads out of the bounds.
    pub(super) fn of(from: u32, edge: Edge) -> Option<Self> {
        let Edge { kind, ordinal, .. } = edge;
        edge.target.map(|to| Self { from, kind, ordinal, to })
    }
}

/// Actions from an initial state on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Which of the initial states that the space tells.
    pub start: u16,
    /// The number of this state.
    pub first: u32,
    /// What happens, each step from where the one before leads to.
    pub steps: Vec<Step>,
}

impl Walk {
    /// The state it ends in.
    pub fn last(&self) -> u32 {
        self.steps.last().map_or(self.first, |step| step.to)
    }

    /// The states it goes through, the first and the last included.
    pub fn states(&self) -> impl Iterator<Item = u32> {
        std::iter::once(self.first).chain(self.steps.iter().map(|step| step.to))
    }

    /// The same walk through the space: its actions and rows.
    pub fn replay<S: Space>(&self, space: &S) -> Result<Path<S::Action>, Unrepeatable> {
        replay(space, &self.ordinals())
    }

    pub(super) fn ordinals(&self) -> Vec<u16> {
        let steps = self.steps.iter().map(|step| step.ordinal);
        std::iter::once(self.start).chain(steps).collect()
    }
}

impl Graph {
    /// The shortest walk to a state: the one on which the search found it.
    ///
    /// # Panics
    ///
    /// If there is no such state.
    pub fn path_to(&self, state: u32) -> Walk {
        assert!((state as usize) < self.len(), "there is no state {state}");
        let (mut steps, mut at) = (Vec::new(), state);
        while at as usize >= self.starts.len() {
            // The states that were new in a state have consecutive numbers, in its actions' order.
            let from = self.known.partition_point(|known| *known <= at) as u32;
            let step = self.steps(from).find(|step| step.to == at);
            steps.push(step.expect("a state is found from another one"));
            at = from;
        }
        steps.reverse();
        Walk { start: self.starts[at as usize], first: at, steps }
    }

    /// The actions of a state that lead to a state.
    pub(super) fn steps(&self, from: u32) -> impl Iterator<Item = Step> {
        self.edges(from).filter_map(move |edge| Step::of(from, edge))
    }
}
