//! Plain stateright models as they come: each state is kept whole, once.
//!
//! Nothing is asked of the model but that its states can be hashed and compared. States are told
//! apart by comparing them, so no two are ever merged; the price is that all are kept in memory.
//! A model with a [`crate::Codec`] needs a fraction of it.

use std::hash::Hash;

use stateright::Model;

use crate::intern::Interner;
use crate::plain::{goal, is_hit};
use crate::space::{Goal, Sink, Space};

/// The space of a model whose states are kept.
pub struct Kept<M: Model> {
    model: M,
    seed: u64,
    states: Interner<M::State>,
}

impl<M: Model> Kept<M>
where
    M::State: Hash + PartialEq,
{
    /// The space of `model`, with fingerprints made with `seed`. An `eventually` property of it is
    /// a tally, which a search counts and does not judge; [`crate::Graph::check_eventually`] does.
    pub fn new(model: M, seed: u64) -> Self {
        Self { model, seed, states: Interner::new(seed) }
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// The state of a row.
    pub fn state(&self, row: &[u32]) -> &M::State {
        &self.states.get(row[0]).value
    }

    fn keep(&self, state: M::State) -> (u64, [u32; 1]) {
        let number = self.states.intern(state);
        (self.states.get(number).mark, [number])
    }
}

/// What a thread needs: the properties, and a list of actions.
pub struct Scratch<M: Model> {
    properties: Vec<stateright::Property<M>>,
    actions: Vec<M::Action>,
}

impl<M> Space for Kept<M>
where
    M: Model + Sync,
    M::State: Hash + PartialEq + Send + Sync,
    M::Action: Clone + Send,
{
    type Action = M::Action;
    type Worker = Scratch<M>;

    fn worker(&self) -> Scratch<M> {
        Scratch { properties: self.model.properties(), actions: Vec::new() }
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn kinds(&self) -> Vec<String> {
        vec!["action".to_owned()]
    }

    fn goals(&self) -> Vec<Goal> {
        self.model.properties().iter().map(goal).collect()
    }

    fn initial(&self, _: &mut Scratch<M>, sink: &mut impl Sink<M::Action>) {
        for state in self.model.init_states() {
            if self.model.within_boundary(&state) {
                let (mark, row) = self.keep(state);
                sink.start(mark, &row);
            }
        }
    }

    fn visit(&self, worker: &mut Scratch<M>, row: &[u32], sink: &mut impl Sink<M::Action>) {
        let state = self.state(row);
        for (n, property) in worker.properties.iter().enumerate() {
            if sink.open() & 1 << n != 0 && is_hit(property, &self.model, state) {
                sink.hit(n);
            }
        }
        if !sink.expands() {
            return;
        }
        self.model.actions(state, &mut worker.actions);
        for action in worker.actions.drain(..) {
            match self.model.next_state(state, action.clone()) {
                None => sink.stays(0, || action),
                Some(next) if !self.model.within_boundary(&next) => sink.leaves(0, || action),
                Some(next) => {
                    let (mark, row) = self.keep(next);
                    sink.step(0, mark, &row, || action);
                }
            }
        }
    }

    fn bytes(&self) -> u64 {
        self.states.bytes()
    }

    fn is_repeatable(&self) -> bool {
        !self.states.is_ambiguous()
    }
}
