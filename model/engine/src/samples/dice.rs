//! Players that throw a die until they have enough or stop, each with a dog that may bark.

use std::borrow::Cow;

use stateright::Expectation;
use stateright::actor::{Actor, ActorModel, Id, Out};

use super::Wire;

/// The parameters of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// How many play.
    pub players: usize,
    /// How often each may throw.
    pub throws: u8,
    /// The highest face of the die. The lowest one, 1, is on it twice.
    pub sides: u8,
    /// Whether the name of a choice tells whose it is.
    pub tagged: bool,
    /// How many players can be asleep at a time: they wake up with nothing.
    pub asleep: usize,
}

/// One who throws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Player(Setup);

/// What a player has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hand {
    /// Times thrown.
    pub throws: u8,
    /// The sum of the faces.
    pub sum: u8,
    /// Whether somebody else said that it is enough.
    pub told: bool,
}

/// Somebody stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Enough;

/// What chance, or a player, decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Chance {
    /// The die shows this.
    Face(u8),
    /// The player does not go on.
    Stop,
    /// The dog barks. Nothing comes of it, so only the choices left show that it did.
    Bark,
}

impl Player {
    fn key(&self, id: Id, what: &str) -> String {
        if self.0.tagged { format!("{what} {}", usize::from(id)) } else { what.to_owned() }
    }

    fn faces(&self) -> Vec<Chance> {
        [1].into_iter().chain(1..=self.0.sides).map(Chance::Face).collect()
    }
}

impl Actor for Player {
    type Msg = Enough;
    type Timer = ();
    type State = Hand;
    type Storage = ();
    type Random = Chance;

    fn on_start(&self, id: Id, _: &Option<()>, o: &mut Out<Self>) -> Hand {
        o.choose_random(self.key(id, "die"), self.faces());
        o.choose_random(self.key(id, "stop"), vec![Chance::Stop]);
        o.choose_random(self.key(id, "dog"), vec![Chance::Bark]);
        Hand::default()
    }

    fn on_msg(&self, id: Id, hand: &mut Cow<Hand>, _: Id, _: Enough, o: &mut Out<Self>) {
        if !hand.told {
            hand.to_mut().told = true;
            o.remove_random(self.key(id, "stop"));
        }
    }

    fn on_random(&self, id: Id, hand: &mut Cow<Hand>, chance: &Chance, o: &mut Out<Self>) {
        match chance {
            Chance::Face(face) => {
                let hand = hand.to_mut();
                hand.throws += 1;
                hand.sum += face;
                if hand.throws < self.0.throws {
                    o.choose_random(self.key(id, "die"), self.faces());
                } else {
                    o.remove_random(self.key(id, "stop"));
                }
            }
            Chance::Stop => {
                hand.to_mut().throws = self.0.throws;
                o.remove_random(self.key(id, "die"));
                let others = (0..self.0.players).map(Id::from).filter(|other| *other != id);
                others.for_each(|other| o.send(other, Enough));
            }
            Chance::Bark => {}
        }
    }
}

/// The model.
///
/// Stateright's hashes tell its states apart if choices are tagged. If they are not, two players
/// who have thrown all they may are taken for each other: whose dog has barked is seen in no other
/// place than the choices.
pub fn model(setup: &Setup) -> ActorModel<Player, Setup> {
    ActorModel::new(setup.clone(), ())
        .actors((0..setup.players).map(|_| Player(setup.clone())))
        .init_network(Wire::Duplicating.network())
        .max_crashes(setup.asleep)
        .property(Expectation::Always, "no sum beyond the die", |model, state| {
            let most = model.cfg.throws * model.cfg.sides;
            state.actor_states.iter().all(|hand| hand.sum <= most)
        })
        .property(Expectation::Always, "not everybody gets the most", |model, state| {
            let most = model.cfg.throws * model.cfg.sides;
            state.actor_states.iter().any(|hand| hand.sum < most)
        })
        .property(Expectation::Sometimes, "everybody is told", |_, state| {
            state.actor_states.iter().all(|hand| hand.told)
        })
}
