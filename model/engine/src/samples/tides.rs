//! Neighbours that outbid each other without end, within a boundary.

use std::borrow::Cow;

use stateright::Expectation;
use stateright::actor::{Actor, ActorModel, Id, Out, model_peers};

use super::Wire;

/// The parameters of the model, and the boundary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// How many neighbours there are.
    pub neighbours: usize,
    /// No state in which one stands higher is looked at.
    pub highest: u8,
    /// No state in which more messages are under way is looked at.
    pub crowd: usize,
    /// How messages travel.
    pub wire: Wire,
}

/// One who answers each rise with a higher one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    others: Vec<Id>,
}

/// Somebody stands this high.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(pub u8);

impl Actor for Neighbour {
    type Msg = Level;
    type Timer = ();
    /// How high it stands.
    type State = u8;
    type Storage = ();
    type Random = ();

    fn on_start(&self, id: Id, _: &Option<()>, o: &mut Out<Self>) -> u8 {
        let first = u8::from(usize::from(id) == 0);
        if first == 1 {
            o.broadcast(&self.others, &Level(first));
        }
        first
    }

    fn on_msg(&self, _: Id, state: &mut Cow<u8>, _: Id, Level(level): Level, o: &mut Out<Self>) {
        if level > **state {
            *state.to_mut() = level + 1;
            o.broadcast(&self.others, &Level(level + 1));
        } else if level == **state {
            // Standing equally high it says so, and its own state stays as it is.
            o.broadcast(&self.others, &Level(level));
        }
    }
}

/// The model.
///
/// Stateright's hashes tell its states apart: the only set is that of the messages.
pub fn model(setup: &Setup) -> ActorModel<Neighbour, Setup> {
    let count = setup.neighbours;
    ActorModel::new(setup.clone(), ())
        .actors((0..count).map(|id| Neighbour { others: model_peers(id, count) }))
        .init_network(setup.wire.network())
        .within_boundary(|setup, state| {
            let low = state.actor_states.iter().all(|level| **level <= setup.highest);
            low && state.network.len() <= setup.crowd
        })
        .property(Expectation::Always, "nobody leaves the boundary", |model, state| {
            state.actor_states.iter().all(|level| **level <= model.cfg.highest)
        })
        .property(Expectation::Always, "nobody gets to the boundary", |model, state| {
            state.actor_states.iter().all(|level| **level < model.cfg.highest)
        })
        .property(Expectation::Sometimes, "two stand equally high above the ground", |_, state| {
            let all = &state.actor_states;
            let equal = |i: usize| all[..i].iter().any(|other| **other == *all[i]);
            (0..all.len()).any(|i| *all[i] > 0 && equal(i))
        })
}
