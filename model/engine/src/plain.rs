//! Plain stateright models whose states can be packed.

use stateright::{Expectation, Model};

use crate::fingerprint::of_words;
use crate::space::{Goal, Sink, Space};

/// How the states of a model are written as words and read back.
///
/// `unpack` undoes `pack`, and two states are packed alike if and only if they are equal.
pub trait Codec: Model {
    /// Writes a state.
    fn pack(&self, state: &Self::State, row: &mut Vec<u32>);

    /// Reads a state.
    fn unpack(&self, row: &[u32]) -> Self::State;

    /// The names of the kinds of action, for coverage.
    fn kinds(&self) -> Vec<String> {
        vec!["action".to_owned()]
    }

    /// Which kind an action is of.
    fn kind(&self, action: &Self::Action) -> usize {
        let _ = action;
        0
    }

    /// The names of guards whose refusals [`Self::steps`] tells, for coverage.
    fn guards(&self) -> Vec<String> {
        Vec::new()
    }

    /// Tells every enabled action with the state it leads to, `None` where it changes nothing; and
    /// each time that a guard refused one, the guard by its number.
    /// A model that can do this without a list of actions is faster if it does.
    fn steps(
        &self,
        state: &Self::State,
        each: &mut impl FnMut(Self::Action, Option<Self::State>),
        refused: &mut impl FnMut(usize),
    ) where
        Self::Action: Clone,
    {
        let _ = refused;
        let mut actions = Vec::new();
        self.actions(state, &mut actions);
        for action in actions {
            let next = self.next_state(state, action.clone());
            each(action, next);
        }
    }
}

/// The space of a model with a codec. Its goals are the model's properties, in their order.
#[derive(Debug)]
pub struct Plain<M> {
    model: M,
    seed: u64,
}

impl<M: Codec> Plain<M> {
    /// The space of `model`. An `eventually` property of it is a tally, which a search counts and
    /// does not judge; [`crate::Graph::check_eventually`] does.
    pub fn new(model: M) -> Self {
        Self { model, seed: 0 }
    }

    /// The same, with fingerprints made with another seed.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }
}

/// What a thread needs for a plain space.
pub struct Scratch<M: Model> {
    pub(crate) row: Vec<u32>,
    pub(crate) refused: Vec<usize>,
    pub(crate) properties: Vec<stateright::Property<M>>,
}

impl<M: Model> Scratch<M> {
    pub(crate) fn new(model: &M) -> Self {
        Self { row: Vec::new(), refused: Vec::new(), properties: model.properties() }
    }
}

impl<M> Space for Plain<M>
where
    M: Codec + Sync,
    M::Action: Clone,
{
    type Action = M::Action;
    type Worker = Scratch<M>;

    fn worker(&self) -> Scratch<M> {
        Scratch::new(&self.model)
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn kinds(&self) -> Vec<String> {
        self.model.kinds()
    }

    fn guards(&self) -> Vec<String> {
        self.model.guards()
    }

    fn goals(&self) -> Vec<Goal> {
        self.model.properties().iter().map(goal).collect()
    }

    fn initial(&self, worker: &mut Scratch<M>, sink: &mut impl Sink<M::Action>) {
        for state in self.model.init_states() {
            if self.model.within_boundary(&state) {
                worker.row.clear();
                self.model.pack(&state, &mut worker.row);
                sink.start(of_words(&worker.row, self.seed), &worker.row);
            }
        }
    }

    fn visit(&self, worker: &mut Scratch<M>, row: &[u32], sink: &mut impl Sink<M::Action>) {
        let state = self.model.unpack(row);
        for (n, property) in worker.properties.iter().enumerate() {
            if sink.open() & 1 << n != 0 && is_hit(property, &self.model, &state) {
                sink.hit(n);
            }
        }
        if !sink.expands() {
            return;
        }
        let Scratch { row, refused, .. } = worker;
        let mut tell = |action, next| {
            let kind = self.model.kind(&action);
            match next {
                None => sink.stays(kind, || action),
                Some(next) if !self.model.within_boundary(&next) => sink.leaves(kind, || action),
                Some(next) => {
                    row.clear();
                    self.model.pack(&next, row);
                    sink.step(kind, of_words(row, self.seed), row, || action);
                }
            }
        };
        self.model.steps(&state, &mut tell, &mut |guard| refused.push(guard));
        refused.drain(..).for_each(|guard| sink.refused(guard));
    }
}

/// The goal of a property.
pub(crate) fn goal<M: Model>(property: &stateright::Property<M>) -> Goal {
    match property.expectation {
        Expectation::Always => Goal::always(property.name),
        Expectation::Sometimes => Goal::sometimes(property.name),
        Expectation::Eventually => Goal::tally(property.name),
    }
}

/// Whether a state violates the property, is an example of it, or is what must come.
pub(crate) fn is_hit<M: Model>(
    property: &stateright::Property<M>,
    model: &M,
    state: &M::State,
) -> bool {
    (property.condition)(model, state) == (property.expectation != Expectation::Always)
}
