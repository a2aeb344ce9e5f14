//! Two jugs, a tap and a drain: can exactly so much be measured?

use stateright::{Model, Property};

/// The model.
///
/// If no number above 1 divides both sizes, it has `2 * (sizes[0] + sizes[1])` states: those in
/// which a jug is empty or full. If useless actions are steps, each state has six of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jugs {
    /// What each jug holds.
    pub sizes: [u8; 2],
    /// What shall be left in one of them.
    pub wanted: u8,
    /// Whether an action that changes nothing is a step, from a state to itself.
    pub useless: bool,
}

/// What can be done with jug 0 or 1. All of it is always offered, useful or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Do {
    /// Fill it.
    Fill(usize),
    /// Empty it.
    Empty(usize),
    /// Pour it into the other one, until this one is empty or the other one full.
    Pour(usize),
}

impl Model for Jugs {
    type State = [u8; 2];
    type Action = Do;

    fn init_states(&self) -> Vec<[u8; 2]> {
        vec![[0, 0]]
    }

    fn actions(&self, _: &[u8; 2], actions: &mut Vec<Do>) {
        actions.extend((0..2).flat_map(|jug| [Do::Fill(jug), Do::Empty(jug), Do::Pour(jug)]));
    }

    fn next_state(&self, last: &[u8; 2], action: Do) -> Option<[u8; 2]> {
        let mut next = *last;
        match action {
            Do::Fill(jug) => next[jug] = self.sizes[jug],
            Do::Empty(jug) => next[jug] = 0,
            Do::Pour(jug) => {
                let poured = last[jug].min(self.sizes[1 - jug] - last[1 - jug]);
                next[jug] -= poured;
                next[1 - jug] += poured;
            }
        }
        (self.useless || next != *last).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no jug overflows", |model: &Self, state: &[u8; 2]| {
                state[0] <= model.sizes[0] && state[1] <= model.sizes[1]
            }),
            Property::always("not both are full", |model, state: &[u8; 2]| *state != model.sizes),
            Property::sometimes("it is measured", |model, state: &[u8; 2]| {
                state.contains(&model.wanted)
            }),
        ]
    }
}
