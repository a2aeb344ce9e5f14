//! A model with known counts: counters that go up one by one, within a bound on their sum.

use levelwise::{Codec, Plain};
use stateright::{Model, Property};

/// Counters from 0 to `top`, whose sum is at most `sum`.
#[derive(Clone, Debug)]
pub struct Stairs {
    pub counters: usize,
    pub top: u8,
    pub sum: u32,
    /// The state in which a visit panics.
    pub trap: Option<Vec<u8>>,
}

impl Stairs {
    pub fn small() -> Self {
        Self { counters: 4, top: 4, sum: 13, trap: None }
    }

    pub fn space(self) -> Plain<Self> {
        Plain::new(self)
    }
}

fn sum(state: &[u8]) -> u32 {
    state.iter().map(|counter| u32::from(*counter)).sum()
}

impl Model for Stairs {
    type State = Vec<u8>;
    type Action = usize;

    fn init_states(&self) -> Vec<Vec<u8>> {
        let mut second = vec![0; self.counters];
        second[0] = 2;
        vec![vec![0; self.counters], second]
    }

    fn actions(&self, _: &Vec<u8>, actions: &mut Vec<usize>) {
        actions.extend(0..self.counters);
    }

    fn next_state(&self, state: &Vec<u8>, up: usize) -> Option<Vec<u8>> {
        assert_ne!(Some(state), self.trap.as_ref(), "it is a trap");
        let mut next = state.clone();
        next[up] += 1;
        (next[up] <= self.top).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("never two twos", |_, state: &Vec<u8>| {
                state.iter().map(|counter| u8::from(*counter == 2)).sum::<u8>() < 2
            }),
            Property::sometimes("all ones", |_, state: &Vec<u8>| {
                state.iter().all(|counter| *counter == 1)
            }),
            Property::sometimes("never seen", |model: &Self, state: &Vec<u8>| {
                sum(state) > model.sum
            }),
            Property::eventually("even", |_, state: &Vec<u8>| sum(state).is_multiple_of(2)),
        ]
    }

    fn within_boundary(&self, state: &Vec<u8>) -> bool {
        sum(state) <= self.sum
    }
}

impl Codec for Stairs {
    fn pack(&self, state: &Vec<u8>, row: &mut Vec<u32>) {
        row.extend(state.iter().map(|counter| u32::from(*counter)));
    }

    fn unpack(&self, row: &[u32]) -> Vec<u8> {
        row.iter().map(|word| *word as u8).collect()
    }

    fn kinds(&self) -> Vec<String> {
        (0..self.counters).map(|n| format!("up-{n}")).collect()
    }

    fn kind(&self, action: &usize) -> usize {
        *action
    }
}
