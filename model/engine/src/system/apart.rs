//! Systems in which one part of a state alone makes each thing possible: a message, or an actor.

use super::met::Met;
use super::{Flight, State, Store, System};

/// What can happen, told by the parts of a state.
///
/// Taking a choice may let one actor react, then take the message out, then put in flight what the
/// reaction sends, and change the world by [`super::Step::change_world`]; whether it does each of
/// these depends on the actor's state and the message alone. What it does beyond is found out the
/// first time, and then it is taken each time. Every state is within the bounds of the model, and
/// no goal is judged on steps.
pub trait Apart<S: System> {
    /// Tells what can happen to a message that stands at this place and has none ahead of it in its
    /// queue, and which actor it reaches, if any: for each actor, and for none, at most one thing.
    /// It depends on the message alone.
    fn of_message(
        &self,
        at: usize,
        message: &S::Message,
        each: &mut dyn FnMut(S::Choice, Option<usize>),
    );

    /// Whether messages can reach an actor in this state.
    fn hears(&self, local: &S::Local) -> bool;

    /// Tells what an actor in this state can do or undergo. Each is possible where the actors'
    /// states weigh less than so much together.
    fn of_actor(&self, actor: usize, local: &S::Local, each: &mut dyn FnMut(S::Choice, u32));

    /// What an actor's state weighs.
    fn weight(&self, local: &S::Local) -> u32;

    /// Which of the open goals a state hits.
    fn judge(&self, scratch: &mut S::Scratch, seen: &Seen<'_, S>, open: u64) -> u64;

    /// Tells everything that can happen: to the messages, then to each actor.
    fn all(&self, state: &State<'_, S>, each: &mut dyn FnMut(S::Choice)) {
        let mut queue = None;
        for (at, flight) in state.flights().iter().enumerate() {
            // Of equal messages and of a queue, the first.
            if queue.replace(flight.key()) == Some(flight.key()) {
                continue;
            }
            self.of_message(at, flight.message(), &mut |choice, actor| {
                if actor.is_none_or(|actor| self.hears(state.local(actor))) {
                    each(choice);
                }
            });
        }
        let locals = || (0..state.actors()).map(|actor| state.local(actor));
        let weight: u32 = locals().map(|local| self.weight(local)).sum();
        for (actor, local) in locals().enumerate() {
            self.of_actor(actor, local, &mut |choice, below| {
                if weight < below {
                    each(choice);
                }
            });
        }
    }
}

/// A state by the numbers of its parts.
pub struct Seen<'w, S: System> {
    pub(super) store: &'w Store<S>,
    pub(super) row: &'w [u32],
    /// Where the messages begin in the row.
    pub(super) first: usize,
    /// What is known of its parts, if they were met.
    pub(super) met: Option<&'w Met>,
}

impl<'w, S: System> Seen<'w, S> {
    /// The number of an actor's state; of one actor, equal states have equal numbers.
    #[inline]
    pub fn local_number(&self, actor: usize) -> u32 {
        self.row[actor]
    }

    /// An actor's state.
    pub fn local(&self, actor: usize) -> &'w S::Local {
        &self.store.locals[actor].get(self.row[actor]).value
    }

    /// The number of the world.
    #[inline]
    pub fn world_number(&self) -> u32 {
        self.row[self.store.locals.len()]
    }

    /// The world.
    pub fn world(&self) -> &'w S::World {
        &self.store.worlds.get(self.world_number()).value
    }

    /// The numbers of what is in flight, queue by queue, each with its oldest message first.
    #[inline]
    pub fn flights(&self) -> &'w [u32] {
        &self.row[self.first..]
    }

    /// A message by its number, whether it is in flight or not.
    #[inline]
    pub fn flight(&self, number: u32) -> Flight<'w, S::Message> {
        self.store.flight(number)
    }

    /// What messages in flight are sorted by, as in [`Flight::key`], of one that is in flight or
    /// was in a state before.
    #[inline]
    pub fn key(&self, number: u32) -> u64 {
        match self.met {
            Some(met) => met.key(number),
            None => self.flight(number).key(),
        }
    }
}
