//! What a thread has met of the parts of states: it asks once what a part makes possible.

use super::System;
use super::flat::Flat;
use super::guide::Visit;
use super::recipes::Recipes;

/// What a thread knows of the parts of states.
#[derive(Debug)]
pub(super) struct Met {
    /// By number.
    messages: Vec<OfMessage>,
    /// What can happen to messages, one after another.
    ends: Vec<End>,
    /// By actor, by number.
    pub locals: Vec<Vec<OfLocal>>,
    /// By actor: the recipe of a message, by the actor's state and the message. The last is of
    /// messages that reach nobody.
    pub recipes: Vec<Flat<u32>>,
}

/// What is known of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfMessage {
    /// What messages in flight are sorted by, as in [`super::Flight::key`].
    pub key: u64,
    /// What it adds to the sum of a state's parts, if none is ahead of it in its queue.
    pub mark: u64,
    /// Where the one thing is that can happen to it, as [`End::map`], or [`UNMET`], or [`OTHER`].
    pub reach: u32,
    /// Its part of [`Met::ends`].
    ends: (u32, u32),
}

/// Nothing is known of the message yet.
const UNMET: u32 = u32::MAX;

/// Not just one thing can happen to the message.
pub(super) const OTHER: u32 = u32::MAX - 1;

/// One bit of 64 for the queue of messages with this key, which others may share.
#[inline]
pub(super) fn queue_bit(key: u64) -> u64 {
    1 << (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58)
}

/// What is known of an actor's state.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfLocal {
    pub mark: u64,
    pub weight: u32,
    pub hears: bool,
    /// The recipes of what it can do or undergo.
    pub owns: (u32, u32),
}

/// No part of a list: nothing is known yet.
const NO_OWNS: (u32, u32) = (u32::MAX, 0);

/// Something that can happen to a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    kind: u32,
    /// Which of [`Met::recipes`] it is in.
    pub map: u32,
}

/// A part that was not met yet, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unmet {
    /// A state of this actor.
    Local(usize, u32),
    /// A message.
    Message(u32),
}

impl Met {
    pub fn new(actors: usize) -> Self {
        Self {
            messages: Vec::new(),
            ends: Vec::new(),
            locals: vec![Vec::new(); actors],
            recipes: (0..=actors).map(|_| Flat::default()).collect(),
        }
    }

    /// What is known of an actor's state.
    #[inline]
    pub fn local(&self, actor: usize, number: u32) -> Result<&OfLocal, Unmet> {
        let known = self.locals[actor].get(number as usize);
        known.filter(|local| local.owns != NO_OWNS).ok_or(Unmet::Local(actor, number))
    }

    /// What is known of a message.
    #[inline]
    pub fn message(&self, number: u32) -> Result<&OfMessage, Unmet> {
        let known = self.messages.get(number as usize);
        known.filter(|message| message.reach != UNMET).ok_or(Unmet::Message(number))
    }

    /// What messages in flight are sorted by, of one that was met.
    #[inline]
    pub fn key(&self, message: u32) -> u64 {
        self.messages[message as usize].key
    }

    /// What can happen to a message that was met.
    pub fn ends(&self, message: u32) -> &[End] {
        let (from, to) = self.messages[message as usize].ends;
        &self.ends[from as usize..to as usize]
    }

    /// Where the recipe of a message is kept that reaches an actor, or nobody.
    #[inline]
    pub fn place(&self, row: &[u32], actor: Option<usize>, message: u32) -> (usize, u64) {
        let message = u64::from(message);
        match actor {
            Some(actor) => (actor, u64::from(row[actor]) << 32 | message),
            None => (self.locals.len(), message),
        }
    }

    /// A new recipe for a message that reaches an actor, or nobody.
    pub fn add(
        &mut self,
        recipes: &mut Recipes,
        row: &[u32],
        actor: Option<usize>,
        message: u32,
    ) -> u32 {
        let (map, key) = self.place(row, actor, message);
        let mut ends = self.ends(message).iter();
        let end = ends.find(|end| end.map as usize == map).expect("what can happen to a message");
        let recipe = recipes.add(end.kind, u32::MAX);
        self.recipes[map].insert(key, recipe);
        recipe
    }

    /// Asks what a part makes possible.
    #[cold]
    pub fn meet<S: System>(&mut self, recipes: &mut Recipes, visit: &Visit<'_, S>, part: Unmet) {
        match part {
            Unmet::Local(actor, number) => self.meet_local(recipes, visit, (actor, number)),
            Unmet::Message(number) => self.meet_message(visit, number),
        }
    }

    fn meet_local<S: System>(
        &mut self,
        recipes: &mut Recipes,
        Visit { system, apart, store, .. }: &Visit<'_, S>,
        (actor, number): (usize, u32),
    ) {
        let (kept, from) = (store.locals[actor].get(number), recipes.all.len() as u32);
        apart.of_actor(actor, &kept.value, &mut |choice, below| {
            recipes.add(system.kind(choice) as u32, below);
        });
        let owns = (from, recipes.all.len() as u32);
        let (weight, hears) = (apart.weight(&kept.value), apart.hears(&kept.value));
        let met = OfLocal { mark: kept.mark, weight, hears, owns };
        put(&mut self.locals[actor], number, OfLocal { owns: NO_OWNS, ..met }, met);
    }

    fn meet_message<S: System>(&mut self, visit: &Visit<'_, S>, number: u32) {
        let flight = visit.store.flight(number);
        let (from, nobody) = (self.ends.len(), self.locals.len());
        visit.apart.of_message(0, flight.message(), &mut |choice, actor| {
            let kind = visit.system.kind(choice) as u32;
            self.ends.push(End { kind, map: actor.unwrap_or(nobody) as u32 });
        });
        let reach = match &self.ends[from..] {
            [end] => end.map,
            _ => OTHER,
        };
        let ends = (from as u32, self.ends.len() as u32);
        let met = OfMessage { key: flight.key(), mark: flight.mark(), reach, ends };
        put(&mut self.messages, number, OfMessage { reach: UNMET, ..met }, met);
    }
}

/// Sets what is known of this number, and nothing of those before it that were not met.
fn put<T: Clone>(known: &mut Vec<T>, number: u32, unmet: T, met: T) {
    let number = number as usize;
    if known.len() <= number {
        known.resize(number + 1, unmet);
    }
    known[number] = met;
}
