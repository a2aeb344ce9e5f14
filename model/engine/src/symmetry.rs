//! Symmetry: states that differ in the names of interchangeable parts only are taken as one.
//!
//! Of all renamings of a state, the one with the smallest packed row stands for all of them, and
//! which renaming led to it is remembered with each step, so that a path through these states is
//! told as one of the model itself.

use crate::fingerprint::of_words;
use crate::outcome::{Hit, Outcome};
use crate::plain::{Codec, Scratch, goal, is_hit};
use crate::replay::{NoPath, Unrepeatable, replay};
use crate::space::{Goal, Sink, Space};

/// A model whose parts can be renamed without changing what it does.
///
/// Renaming a state and then taking a renamed step leads to the renamed state; every property of a
/// state is one of the renamed state, too. `Order` i ↦ `order[i]` gives part i the name `order[i]`.
pub trait Symmetric: Codec {
    /// A renaming, ready for use.
    type Renaming: Send + Sync;

    /// Every order of the parts that the model allows; the first leaves all names.
    fn orders(&self) -> Vec<Vec<u8>>;

    /// The renaming of an order.
    fn renaming(&self, order: &[u8]) -> Self::Renaming;

    /// A state with new names.
    fn rename(&self, state: &Self::State, by: &Self::Renaming) -> Self::State;

    /// An action with new names.
    fn rename_action(&self, action: Self::Action, by: &Self::Renaming) -> Self::Action;
}

/// The space of a model's states up to renaming.
pub struct Reduced<M: Symmetric> {
    model: M,
    seed: u64,
    orders: Vec<Vec<u8>>,
    renamings: Vec<M::Renaming>,
}

impl<M: Symmetric> Reduced<M> {
    /// The space of `model`, with fingerprints made with `seed`.
    pub fn new(model: M, seed: u64) -> Self {
        let orders = model.orders();
        let renamings = orders.iter().map(|order| model.renaming(order)).collect();
        Self { model, seed, orders, renamings }
    }

    /// Writes the smallest row of a state's renamings, and says which renaming leads to it.
    fn canonical(&self, state: &M::State, row: &mut Vec<u32>, other: &mut Vec<u32>) -> u16 {
        row.clear();
        self.model.pack(state, row);
        let mut by = 0;
        for (n, renaming) in self.renamings.iter().enumerate().skip(1) {
            other.clear();
            self.model.pack(&self.model.rename(state, renaming), other);
            if other < row {
                std::mem::swap(row, other);
                by = n as u16;
            }
        }
        by
    }

    /// The path to a hit as the model itself would take it.
    pub fn path(&self, outcome: &Outcome, hit: Hit) -> Result<Vec<M::Action>, NoPath>
    where
        M: Sync,
        M::Action: Clone,
    {
        Ok(self.path_along(&outcome.ordinals(hit)?)?)
    }

    /// The path along these ordinals (which initial state, then which action of each state) as the
    /// model itself would take it.
    pub fn path_along(&self, ordinals: &[u16]) -> Result<Vec<M::Action>, Unrepeatable>
    where
        M: Sync,
        M::Action: Clone,
    {
        let path = replay(self, ordinals)?;
        // Which order makes the state at hand of the state that stands for it.
        let mut order = inverse(&self.orders[self.first_renaming(ordinals[0])]);
        let mut actions = Vec::with_capacity(path.steps.len());
        for ((action, by), _) in path.steps {
            actions.push(self.model.rename_action(action, &self.model.renaming(&order)));
            order = after(&order, &inverse(&self.orders[usize::from(by)]));
        }
        Ok(actions)
    }

    /// Which renaming made the state that stands for this initial state.
    fn first_renaming(&self, first: u16) -> usize {
        let states = self.model.init_states();
        let mut within = states.iter().filter(|state| self.model.within_boundary(state));
        let state = within.nth(first.into()).expect("a path starts in an initial state");
        self.canonical(state, &mut Vec::new(), &mut Vec::new()).into()
    }
}

/// The order that undoes an order.
fn inverse(order: &[u8]) -> Vec<u8> {
    let mut inverse = vec![0; order.len()];
    for (from, &to) in order.iter().enumerate() {
        inverse[usize::from(to)] = from as u8;
    }
    inverse
}

/// First `second`, then `first`.
fn after(first: &[u8], second: &[u8]) -> Vec<u8> {
    second.iter().map(|&to| first[usize::from(to)]).collect()
}

/// What a thread needs to reduce states.
pub struct Reducing<M: Codec> {
    plain: Scratch<M>,
    other: Vec<u32>,
}

impl<M> Space for Reduced<M>
where
    M: Symmetric + Sync,
    M::Action: Clone,
{
    /// An action, and the number of the renaming of where it leads.
    type Action = (M::Action, u16);
    type Worker = Reducing<M>;

    fn worker(&self) -> Reducing<M> {
        Reducing { plain: Scratch::new(&self.model), other: Vec::new() }
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

    fn initial(&self, worker: &mut Reducing<M>, sink: &mut impl Sink<Self::Action>) {
        for state in self.model.init_states() {
            if self.model.within_boundary(&state) {
                let Reducing { plain, other } = worker;
                self.canonical(&state, &mut plain.row, other);
                sink.start(of_words(&plain.row, self.seed), &plain.row);
            }
        }
    }

    fn visit(&self, worker: &mut Reducing<M>, row: &[u32], sink: &mut impl Sink<Self::Action>) {
        let state = self.model.unpack(row);
        let Reducing { plain, other } = worker;
        for (n, property) in plain.properties.iter().enumerate() {
            if sink.open() & 1 << n != 0 && is_hit(property, &self.model, &state) {
                sink.hit(n);
            }
        }
        if !sink.expands() {
            return;
        }
        let Scratch { row, refused, .. } = plain;
        let mut tell = |action, next| {
            let kind = self.model.kind(&action);
            match next {
                None => sink.stays(kind, || (action, 0)),
                Some(next) if !self.model.within_boundary(&next) => {
                    sink.leaves(kind, || (action, 0));
                }
                Some(next) => {
                    let by = self.canonical(&next, row, other);
                    sink.step(kind, of_words(row, self.seed), row, || (action, by));
                }
            }
        };
        self.model.steps(&state, &mut tell, &mut |guard| refused.push(guard));
        refused.drain(..).for_each(|guard| sink.refused(guard));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_undone_and_follow_each_other() {
        let (one, other) = ([1, 2, 0], [0, 2, 1]);
        assert_eq!(after(&one, &inverse(&one)), [0, 1, 2]);
        // 1 becomes 2, which becomes 0.
        assert_eq!(after(&one, &other)[1], 0);
    }
}
