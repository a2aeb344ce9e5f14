//! A space whose states, actions and goals are written down one by one.

use levelwise::fingerprint::mix;
use levelwise::{Goal, Sink, Space};

/// Where an action leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    State(usize),
    Same,
    Outside,
}

/// An action of a state.
#[derive(Clone, Copy, Debug)]
pub struct Action {
    pub kind: usize,
    pub to: To,
    /// It hits the goal on steps.
    pub is_bad: bool,
    /// A guard refuses something beside it.
    pub refused: bool,
}

/// A state: what it hits, one bit for each goal, and its actions.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub hits: u64,
    pub actions: Vec<Action>,
}

/// A space of such states.
#[derive(Clone, Debug)]
pub struct Small {
    pub seed: u64,
    pub initial: Vec<usize>,
    pub states: Vec<State>,
    pub kinds: usize,
    /// In this state the model panics, after so many actions.
    pub panics: Option<(usize, usize)>,
}

pub const BAD: usize = 0;
pub const WITNESS: usize = 1;
pub const BAD_STEP: usize = 2;
pub const RED: usize = 3;
pub const BLUE: usize = 4;

/// A source of numbers that are the same in every run.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (mix(self.0) % end as u64) as usize
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

impl Small {
    /// A random one. `size` is how many states it has at most, reachable or not.
    pub fn random(seed: u64, size: usize) -> Self {
        let mut dice = Dice(seed << 20);
        let (len, kinds) = (1 + dice.below(size), 1 + dice.below(3));
        let (marked, most) = (2 + dice.below(4), 1 + dice.below(4));
        let (leaving, idle) = (4 + dice.below(40), 4 + dice.below(40));
        let state = |dice: &mut Dice| {
            let bit = |hit: bool, goal: usize| u64::from(hit) << goal;
            let hits = bit(dice.one_in(9), BAD)
                | bit(dice.one_in(9), WITNESS)
                | bit(dice.one_in(marked), RED)
                | bit(dice.one_in(3), BLUE);
            let action = |dice: &mut Dice| Action {
                kind: dice.below(kinds),
                to: match () {
                    () if dice.one_in(leaving) => To::Outside,
                    () if dice.one_in(idle) => To::Same,
                    () => To::State(dice.below(len)),
                },
                is_bad: dice.one_in(20),
                refused: dice.one_in(5),
            };
            let actions = (0..dice.below(most + 1)).map(|_| action(dice)).collect();
            State { hits, actions }
        };
        let states = (0..len).map(|_| state(&mut dice)).collect();
        let initial = (0..=dice.below(3)).map(|_| dice.below(len)).collect();
        Self { seed, initial, states, kinds, panics: None }
    }

    /// A row is not the same for equal states: it also says where the state was come from.
    fn row(state: usize, from: usize) -> [u32; 2] {
        [state as u32, from as u32]
    }

    fn fingerprint(&self, state: usize) -> u64 {
        mix(self.seed ^ mix(state as u64))
    }
}

impl Space for Small {
    /// Where it is taken, and which one.
    type Action = (usize, usize);
    type Worker = ();

    fn worker(&self) {}

    fn seed(&self) -> u64 {
        self.seed
    }

    fn kinds(&self) -> Vec<String> {
        (0..self.kinds).map(|kind| format!("kind {kind}")).collect()
    }

    fn guards(&self) -> Vec<String> {
        vec!["guard".to_owned()]
    }

    fn goals(&self) -> Vec<Goal> {
        vec![
            Goal::always("bad"),
            Goal::sometimes("witness"),
            Goal::always("bad step"),
            Goal::tally("red"),
            Goal::tally("blue"),
        ]
    }

    fn initial(&self, (): &mut (), sink: &mut impl Sink<Self::Action>) {
        for &state in &self.initial {
            sink.start(self.fingerprint(state), &Self::row(state, usize::MAX));
        }
    }

    fn visit(&self, (): &mut (), row: &[u32], sink: &mut impl Sink<Self::Action>) {
        let at = row[0] as usize;
        let state = &self.states[at];
        for goal in [BAD, WITNESS, RED, BLUE] {
            if sink.open() & state.hits & 1 << goal != 0 {
                sink.hit(goal);
            }
        }
        if !sink.expands() {
            return;
        }
        for (n, action) in state.actions.iter().enumerate() {
            assert_ne!(self.panics, Some((at, n)), "planted");
            match action.to {
                To::State(to) => {
                    sink.step(action.kind, self.fingerprint(to), &Self::row(to, at), || (at, n));
                }
                To::Same => sink.stays(action.kind, || (at, n)),
                To::Outside => sink.leaves(action.kind, || (at, n)),
            }
            if action.is_bad && sink.open() & 1 << BAD_STEP != 0 {
                sink.hit_step(BAD_STEP);
            }
            if action.refused {
                sink.refused(0);
            }
        }
        assert_ne!(self.panics, Some((at, state.actions.len())), "planted");
    }
}
