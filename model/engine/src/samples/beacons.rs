//! Stations that ask a beacon and wait for its answer, with three timers each.

use std::borrow::Cow;

use stateright::Expectation;
use stateright::actor::{Actor, ActorModel, ActorModelState, Id, Out, model_timeout};

use super::{Wire, lossy};

/// The parameters of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// How many stations ask; the beacon comes after them.
    pub stations: usize,
    /// How many answers each wants.
    pub rounds: u8,
    /// How often each asks again when an answer is late, over all rounds.
    pub patience: u8,
    /// Whether a timer names the station it belongs to.
    pub tagged: bool,
    /// How messages travel.
    pub wire: Wire,
    /// Whether messages get lost.
    pub lossy: bool,
}

/// A station or the beacon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Asks.
    Station(Setup),
    /// Answers.
    Beacon,
}

/// What a node knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// A station.
    Station {
        /// Questions asked, without repetitions.
        asked: u8,
        /// Answers received.
        answered: u8,
        /// Questions asked again.
        again: u8,
        /// Whether an answer is outstanding.
        waiting: bool,
    },
    /// The beacon remembers nothing.
    Beacon,
}

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Msg {
    /// A question with its number.
    Ask(u8),
    /// The answer to the question of that number.
    Answer(u8),
}

/// A timer: whose it is, if timers are tagged, and what it is for.
pub type Timer = (Option<Id>, Alarm);

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Alarm {
    /// It is time for the next question.
    Call,
    /// The answer is late.
    Late,
    /// A lamp goes out: nothing else happens, so only the set of timers shows that it did.
    Lamp,
    /// The beacon turns: it only renews its timer, which is no step.
    Turn,
}

impl Actor for Node {
    type Msg = Msg;
    type Timer = Timer;
    type State = State;
    type Storage = ();
    type Random = ();

    fn on_start(&self, id: Id, _: &Option<()>, o: &mut Out<Self>) -> State {
        match self {
            Self::Station(setup) => {
                o.set_timer(setup.timer(id, Alarm::Call), model_timeout());
                o.set_timer(setup.timer(id, Alarm::Lamp), model_timeout());
                State::Station { asked: 0, answered: 0, again: 0, waiting: false }
            }
            Self::Beacon => {
                o.set_timer((None, Alarm::Turn), model_timeout());
                State::Beacon
            }
        }
    }

    fn on_msg(&self, id: Id, state: &mut Cow<State>, src: Id, msg: Msg, o: &mut Out<Self>) {
        let setup = match (self, msg) {
            (Self::Beacon, Msg::Ask(number)) => return o.send(src, Msg::Answer(number)),
            (Self::Station(setup), Msg::Answer(_)) => setup,
            _ => return,
        };
        let expected = matches!(**state, State::Station { asked, waiting: true, .. }
            if msg == Msg::Answer(asked));
        if !expected {
            return;
        }
        if let State::Station { asked, answered, waiting, .. } = state.to_mut() {
            *answered += 1;
            *waiting = false;
            o.cancel_timer(setup.timer(id, Alarm::Late));
            setup.call(id, *asked, o);
        }
    }

    fn on_timeout(&self, id: Id, state: &mut Cow<State>, timer: &Timer, o: &mut Out<Self>) {
        let setup = match self {
            Self::Beacon => return o.set_timer(*timer, model_timeout()),
            Self::Station(setup) if timer.1 != Alarm::Lamp => setup,
            Self::Station(_) => return,
        };
        let beacon = Id::from(setup.stations);
        let State::Station { asked, again, waiting, .. } = state.to_mut() else { return };
        if timer.1 == Alarm::Call {
            *asked += 1;
            *waiting = true;
        } else if *again < setup.patience {
            *again += 1;
        } else {
            *waiting = false;
            return setup.call(id, *asked, o);
        }
        o.send(beacon, Msg::Ask(*asked));
        o.set_timer(setup.timer(id, Alarm::Late), model_timeout());
    }
}

impl Setup {
    fn timer(&self, id: Id, alarm: Alarm) -> Timer {
        (self.tagged.then_some(id), alarm)
    }

    /// Sets the timer of the next question, if there is one.
    fn call(&self, id: Id, asked: u8, o: &mut Out<Node>) {
        if asked < self.rounds {
            o.set_timer(self.timer(id, Alarm::Call), model_timeout());
        }
    }
}

/// The model.
///
/// Stateright's hashes tell its states apart if the timers are tagged. If they are not, two
/// stations that have nothing more to ask are taken for each other: whose lamp still burns is seen
/// in no other place than the timers.
pub fn model(setup: &Setup) -> ActorModel<Node, Setup> {
    ActorModel::new(setup.clone(), ())
        .actors((0..setup.stations).map(|_| Node::Station(setup.clone())))
        .actor(Node::Beacon)
        .init_network(setup.wire.network())
        .lossy_network(lossy(setup.lossy))
        .property(Expectation::Always, "no answer without a question", |_, state| {
            stations(state).all(|(asked, answered, _)| answered <= asked)
        })
        .property(Expectation::Always, "nobody gives up", |_, state| {
            stations(state).all(|(asked, answered, waiting)| answered == asked || waiting)
        })
        .property(Expectation::Sometimes, "everything is answered", |model, state| {
            stations(state).all(|(_, answered, _)| answered == model.cfg.rounds)
        })
}

/// Asked, answered and waiting, of each station.
fn stations(state: &ActorModelState<Node>) -> impl Iterator<Item = (u8, u8, bool)> {
    state.actor_states.iter().filter_map(|node| match **node {
        State::Station { asked, answered, waiting, .. } => Some((asked, answered, waiting)),
        State::Beacon => None,
    })
}
