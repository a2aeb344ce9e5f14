//! Two processes that share one resource, with Peterson's rule: a flag each, and whose turn it is.

use stateright::{Model, Property};

/// The model. Whose turn it is at the start is left open, so there are two initial states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutex {
    /// Whether a process lets the other one go first before it waits. Without that both can wait
    /// for ever.
    pub polite: bool,
    /// Whether a process looks at the other one's flag at all.
    pub careful: bool,
}

/// Where a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum At {
    /// Busy with something else, its flag down.
    Away,
    /// Its flag is up.
    Flagged,
    /// It waits.
    Waiting,
    /// It has the resource.
    Inside,
}

/// The state: where both are, and whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    /// Where process 0 and process 1 are.
    pub at: [At; 2],
    /// Who goes first if both want to.
    pub turn: usize,
}

/// Process 0 or 1 makes its next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step(pub usize);

impl Model for Mutex {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        [0, 1].map(|turn| State { at: [At::Away; 2], turn }).to_vec()
    }

    fn actions(&self, _: &State, actions: &mut Vec<Step>) {
        actions.extend([Step(0), Step(1)]);
    }

    fn next_state(&self, last: &State, Step(me): Step) -> Option<State> {
        let mut next = *last;
        let other = 1 - me;
        next.at[me] = match last.at[me] {
            At::Away => At::Flagged,
            At::Flagged => {
                if self.polite {
                    next.turn = other;
                }
                At::Waiting
            }
            At::Waiting => {
                let flag = last.at[other] != At::Away;
                let first = self.polite && last.turn == me;
                if self.careful && flag && !first {
                    return None;
                }
                At::Inside
            }
            At::Inside => At::Away,
        };
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("only one is inside", |_, state: &State| state.at != [At::Inside; 2]),
            Property::always("somebody can go on", |model: &Self, state: &State| {
                (0..2).any(|me| model.next_state(state, Step(me)).is_some())
            }),
            Property::sometimes("one is inside while the other waits", |_, state: &State| {
                state.at == [At::Inside, At::Waiting]
            }),
        ]
    }
}
