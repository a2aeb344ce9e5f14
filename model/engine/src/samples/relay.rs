//! Runners in a ring that pass batons, one for each team, and a judge's book beside them.

use std::borrow::Cow;

use stateright::Expectation;
use stateright::actor::{Actor, ActorModel, Envelope, Id, Network, Out};

use super::lossy;

/// The parameters of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// How many runners stand in the ring; each runs for every team.
    pub runners: usize,
    /// How many teams run at a time. Each has one baton.
    pub teams: u8,
    /// How often a baton is passed.
    pub legs: u8,
    /// How many runners can lie on the ground at a time. One who gets up for the first time throws
    /// a spare baton, of a team that does not exist, for one leg.
    pub falls: usize,
    /// Whether batons and cheers get lost.
    pub lossy: bool,
}

/// One who takes a baton and passes it on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runner(Setup);

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Msg {
    /// The baton of a team, and how often it has been passed.
    Baton {
        /// Whose it is.
        team: u8,
        /// Which leg this is, from 0.
        leg: u8,
    },
    /// Thanks to the one before. All cheers are equal.
    Cheer,
}

/// The history of a race. It is no part of what the runners know.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Book {
    /// How many batons were sent, the one that lay in the network at the start not counted.
    pub sent: u8,
    /// Team and leg of each baton taken, in order.
    pub taken: Vec<(u8, u8)>,
}

impl Actor for Runner {
    type Msg = Msg;
    type Timer = ();
    /// How many cheers were heard.
    type State = u8;
    /// How often it got up, as far as it cares.
    type Storage = u8;
    type Random = ();

    fn on_start(&self, id: Id, stored: &Option<u8>, o: &mut Out<Self>) -> u8 {
        let Setup { teams, legs, .. } = self.0;
        let ups = stored.map_or(0, |ups| (ups + 1).min(2));
        o.save(ups);
        let mut throw = |team, leg| o.send(self.next(id), Msg::Baton { team, leg });
        match ups {
            // The baton of team 0 is in the air before the race begins.
            0 if usize::from(id) == 0 => (1..teams).for_each(|team| throw(team, 0)),
            1 => throw(teams, legs - 1),
            _ => {}
        }
        0
    }

    fn on_msg(&self, id: Id, state: &mut Cow<u8>, src: Id, msg: Msg, o: &mut Out<Self>) {
        match msg {
            Msg::Cheer => *state.to_mut() += 1,
            Msg::Baton { team, leg } => {
                o.send(src, Msg::Cheer);
                if leg + 1 < self.0.legs {
                    o.send(self.next(id), Msg::Baton { team, leg: leg + 1 });
                }
            }
        }
    }
}

impl Runner {
    fn next(&self, id: Id) -> Id {
        Id::from((usize::from(id) + 1) % self.0.runners)
    }
}

/// The model.
///
/// Stateright's hashes tell its states apart: the only set is that of the messages.
pub fn model(setup: &Setup) -> ActorModel<Runner, Setup, Book> {
    let first = Envelope {
        src: 0.into(),
        dst: Runner(setup.clone()).next(0.into()),
        msg: Msg::Baton { team: 0, leg: 0 },
    };
    ActorModel::new(setup.clone(), Book::default())
        .actors((0..setup.runners).map(|_| Runner(setup.clone())))
        .init_network(Network::new_unordered_nonduplicating([first]))
        .lossy_network(lossy(setup.lossy))
        .max_crashes(setup.falls)
        .record_msg_in(|_, book, envelope| match *envelope.msg {
            Msg::Baton { team, leg } => {
                let mut book = book.clone();
                book.taken.push((team, leg));
                Some(book)
            }
            Msg::Cheer => None,
        })
        .record_msg_out(|_, book, envelope| match envelope.msg {
            Msg::Baton { .. } => Some(Book { sent: book.sent + 1, taken: book.taken.clone() }),
            Msg::Cheer => None,
        })
        .property(Expectation::Always, "no baton out of nowhere", |_, state| {
            state.history.taken.len() <= usize::from(state.history.sent) + 1
        })
        .property(Expectation::Always, "team 0 is not the last to start", |model, state| {
            let starts = state.history.taken.iter().filter(|(_, leg)| *leg == 0);
            let teams: Vec<u8> = starts.map(|(team, _)| *team).collect();
            teams.len() < usize::from(model.cfg.teams) || teams.last() != Some(&0)
        })
        .property(Expectation::Sometimes, "every team arrives", |model, state| {
            let Setup { teams, legs, .. } = model.cfg;
            let arrived = |(team, leg): &&(u8, u8)| *team < teams && leg + 1 == legs;
            state.history.taken.iter().filter(arrived).count() == usize::from(teams)
        })
}
