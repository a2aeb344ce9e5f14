//! Counters that count up, one at a time: everything about it follows from closed formulas.

use stateright::{Model, Property};

/// The model: some counters from 0 to `top`.
///
/// Unbounded it has `(top + 1) ^ counters` states, generates
/// `1 + counters * top * (top + 1) ^ (counters - 1)`, and is `counters * top + 1` deep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// How many counters there are.
    pub counters: usize,
    /// Where each of them ends.
    pub top: u8,
    /// Sums above this one are outside the boundary.
    pub sum: u32,
}

/// Counts one up. Also asked for at the end of a counter, where it does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Up(pub usize);

fn sum(state: &[u8]) -> u32 {
    state.iter().map(|counter| u32::from(*counter)).sum()
}

impl Model for Grid {
    type State = Vec<u8>;
    type Action = Up;

    fn init_states(&self) -> Vec<Vec<u8>> {
        vec![vec![0; self.counters]]
    }

    fn actions(&self, _: &Vec<u8>, actions: &mut Vec<Up>) {
        actions.extend((0..self.counters).map(Up));
    }

    fn next_state(&self, last: &Vec<u8>, Up(which): Up) -> Option<Vec<u8>> {
        let mut next = last.clone();
        next[which] += 1;
        (next[which] <= self.top).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no counter passes its end", |model: &Self, state: &Vec<u8>| {
                state.iter().all(|counter| *counter <= model.top)
            }),
            Property::always("the first counter is not at its end", |model, state: &Vec<u8>| {
                state[0] < model.top
            }),
            Property::sometimes("all are at their ends", |model, state: &Vec<u8>| {
                state.iter().all(|counter| *counter == model.top)
            }),
        ]
    }

    fn within_boundary(&self, state: &Vec<u8>) -> bool {
        sum(state) <= self.sum
    }
}
