//! Machines that hand out numbered tickets, and forget what they did not store when they crash.

use std::borrow::Cow;
use std::collections::BTreeMap;

use stateright::Expectation;
use stateright::actor::{Actor, ActorModel, Id, Out, model_timeout};

use super::Wire;

/// The parameters of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// How many machines there are; the customer comes after them.
    pub machines: usize,
    /// How many tickets the customer asks of each.
    pub wanted: u8,
    /// How many actors can be down at a time.
    pub crashes: usize,
    /// Whether a machine stores the next number before it hands out a ticket.
    pub careful: bool,
}

/// A machine or the customer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Hands out tickets.
    Machine {
        /// See [`Setup::careful`].
        careful: bool,
    },
    /// Asks for tickets, once in its life.
    Customer(Setup),
}

/// What a node knows while it is up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// A machine.
    Machine {
        /// The number of the next ticket.
        next: u8,
        /// Tickets handed out since it was switched on: nobody stores this.
        today: u8,
        /// Whether it has warmed up; before that it hands out nothing.
        warm: bool,
    },
    /// The customer: how often each ticket came, by machine and number. Nobody stores this.
    Customer(BTreeMap<(Id, u8), u8>),
}

/// What survives a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stored {
    /// The next number of a machine.
    Next(u8),
    /// The customer has asked.
    Asked,
}

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Msg {
    /// A ticket is wanted.
    Take,
    /// Here it is.
    Ticket(u8),
}

/// The timer of a machine that warms up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Warm;

impl Actor for Node {
    type Msg = Msg;
    type Timer = Warm;
    type State = State;
    type Storage = Stored;
    type Random = ();

    fn on_start(&self, _: Id, stored: &Option<Stored>, o: &mut Out<Self>) -> State {
        match self {
            Self::Machine { .. } => {
                let next = if let Some(Stored::Next(next)) = stored { *next } else { 0 };
                // The first time it comes warm from the factory.
                let warm = stored.is_none();
                if !warm {
                    o.set_timer(Warm, model_timeout());
                }
                State::Machine { next, today: 0, warm }
            }
            Self::Customer(setup) => {
                if stored.is_none() {
                    o.save(Stored::Asked);
                    for _ in 0..setup.wanted {
                        (0..setup.machines).for_each(|machine| o.send(machine.into(), Msg::Take));
                    }
                }
                State::Customer(BTreeMap::new())
            }
        }
    }

    fn on_msg(&self, _: Id, state: &mut Cow<State>, src: Id, msg: Msg, o: &mut Out<Self>) {
        match (self, msg) {
            (Self::Machine { careful }, Msg::Take) => {
                // A cold machine leaves the request where it is.
                if matches!(**state, State::Machine { warm: false, .. }) {
                    return;
                }
                if let State::Machine { next, today, .. } = state.to_mut() {
                    o.send(src, Msg::Ticket(*next));
                    *next += 1;
                    *today += 1;
                    if *careful {
                        o.save(Stored::Next(*next));
                    }
                }
            }
            (Self::Customer(_), Msg::Ticket(number)) => {
                if let State::Customer(tickets) = state.to_mut() {
                    *tickets.entry((src, number)).or_default() += 1;
                }
            }
            _ => {}
        }
    }

    fn on_timeout(&self, _: Id, state: &mut Cow<State>, _: &Warm, _: &mut Out<Self>) {
        if let State::Machine { warm, .. } = state.to_mut() {
            *warm = true;
        }
    }
}

/// The model.
///
/// Stateright's hashes tell its states apart: two machines have equal timers side by side, but
/// whether one is set can be read off the machine's state and whether it is down.
pub fn model(setup: &Setup) -> ActorModel<Node, Setup> {
    let machine = Node::Machine { careful: setup.careful };
    ActorModel::new(setup.clone(), ())
        .actors((0..setup.machines).map(|_| machine.clone()))
        .actor(Node::Customer(setup.clone()))
        .init_network(Wire::NonDuplicating.network())
        .max_crashes(setup.crashes)
        .property(Expectation::Always, "no ticket comes twice", |_, state| {
            state.actor_states.iter().all(|node| match &**node {
                State::Customer(tickets) => tickets.values().all(|times| *times == 1),
                State::Machine { .. } => true,
            })
        })
        .property(Expectation::Sometimes, "all tickets are there", |model, state| {
            let all = model.cfg.machines * usize::from(model.cfg.wanted);
            state.actor_states.iter().any(|node| match &**node {
                State::Customer(tickets) => tickets.len() == all,
                State::Machine { .. } => false,
            })
        })
        .property(Expectation::Sometimes, "as many are down as can be", |model, state| {
            state.crashed.iter().filter(|down| **down).count() == model.max_crashes
        })
}
