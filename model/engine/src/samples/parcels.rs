//! A depot that sends parcels to doors, some of them equal, on any network.

use std::borrow::Cow;

use stateright::Expectation;
use stateright::actor::{Actor, ActorModel, Id, Out};

use super::{Wire, lossy};

/// The parameters of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// How many doors there are behind the depot.
    pub doors: usize,
    /// How many parcels each gets. Two at a time are equal.
    pub parcels: u8,
    /// Whether one more parcel goes to a door that does not exist.
    pub astray: bool,
    /// How messages travel.
    pub wire: Wire,
    /// Whether messages get lost.
    pub lossy: bool,
}

/// The depot or a door.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Sends, and counts what comes back.
    Depot(Setup),
    /// Receives, and answers.
    Door(Setup),
}

/// What a node knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// How many receipts are back.
    Depot(u8),
    /// A door.
    Door {
        /// How many parcels have come.
        came: u8,
        /// The number on the last one.
        last: u8,
        /// Whether one came with a lower number than the one before.
        disorder: bool,
    },
}

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Msg {
    /// A parcel, with a number that two of them share.
    Parcel(u8),
    /// It has come. All receipts are equal.
    Receipt,
}

impl Setup {
    fn all(&self) -> u8 {
        self.parcels * self.doors as u8
    }
}

impl Actor for Node {
    type Msg = Msg;
    type Timer = ();
    type State = State;
    type Storage = ();
    type Random = ();

    fn on_start(&self, _: Id, _: &Option<()>, o: &mut Out<Self>) -> State {
        let Self::Depot(setup) = self else {
            return State::Door { came: 0, last: 0, disorder: false };
        };
        for door in 1..=setup.doors {
            (0..setup.parcels).for_each(|number| o.send(door.into(), Msg::Parcel(number / 2)));
        }
        if setup.astray {
            o.send((setup.doors + 1).into(), Msg::Parcel(0));
        }
        State::Depot(0)
    }

    fn on_msg(&self, _: Id, state: &mut Cow<State>, src: Id, msg: Msg, o: &mut Out<Self>) {
        // Where messages come again and again, the counts stop one above what is right.
        match (self, msg, **state) {
            (Self::Depot(setup), Msg::Receipt, State::Depot(back)) if back <= setup.all() => {
                *state.to_mut() = State::Depot(back + 1);
            }
            (Self::Door(setup), Msg::Parcel(number), State::Door { came, last, disorder })
                if came <= setup.parcels =>
            {
                let disorder = disorder || number < last;
                *state.to_mut() = State::Door { came: came + 1, last: number, disorder };
                o.send(src, Msg::Receipt);
            }
            _ => {}
        }
    }
}

/// The model.
///
/// Stateright's hashes tell its states apart: there are no timers and no random choices, and the
/// one set of messages has something of another kind behind it.
pub fn model(setup: &Setup) -> ActorModel<Node, Setup> {
    ActorModel::new(setup.clone(), ())
        .actor(Node::Depot(setup.clone()))
        .actors((0..setup.doors).map(|_| Node::Door(setup.clone())))
        .init_network(setup.wire.network())
        .lossy_network(lossy(setup.lossy))
        .property(Expectation::Always, "parcels come in order", |_, state| {
            state.actor_states.iter().all(|node| match **node {
                State::Door { disorder, .. } => !disorder,
                State::Depot(_) => true,
            })
        })
        .property(Expectation::Always, "no more come than were sent", |model, state| {
            state.actor_states.iter().all(|node| match **node {
                State::Door { came, .. } => came <= model.cfg.parcels,
                State::Depot(back) => back <= model.cfg.all(),
            })
        })
        .property(Expectation::Sometimes, "all receipts are back", |model, state| {
            state.actor_states.iter().any(|node| match **node {
                State::Depot(back) => back == model.cfg.all(),
                State::Door { .. } => false,
            })
        })
}
