//! A state of the whole, read from its row.

use smallvec::SmallVec;

use super::apart::Seen;
use super::store::Posted;
use super::{Start, Store, System};
use crate::fingerprint::mix;
use crate::intern::Kept;

/// A message in flight.
#[derive(Debug)]
pub struct Flight<'a, M>(&'a Kept<Posted<M>>);

impl<M> Clone for Flight<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Flight<'_, M> {}

/// Two are equal if their messages are.
impl<M> PartialEq for Flight<'_, M> {
    fn eq(&self, other: &Self) -> bool {
        self.0.number == other.0.number
    }
}

impl<'a, M> Flight<'a, M> {
    pub(super) fn of(kept: &'a Kept<Posted<M>>) -> Self {
        Self(kept)
    }

    /// The message.
    #[inline]
    pub fn message(self) -> &'a M {
        &self.0.value.message
    }

    /// Its number in the store; equal messages have equal numbers.
    #[inline]
    pub fn number(self) -> u32 {
        self.0.number
    }

    #[inline]
    pub(super) fn mark(self) -> u64 {
        self.0.mark
    }

    /// What messages in flight are sorted by: the queue, or a number of its own for a message that
    /// is in no queue and all that equal it.
    #[inline]
    pub fn key(self) -> u64 {
        self.0.value.queue().unwrap_or(self.0.mark)
    }
}

/// A state of a system: what each actor is in, the world, the plain words, what is in flight.
pub struct State<'a, S: System> {
    store: &'a Store<S>,
    locals: SmallVec<[&'a Kept<Box<S::Local>>; 6]>,
    world: &'a Kept<S::World>,
    words: SmallVec<[u32; 4]>,
    flights: SmallVec<[Flight<'a, S::Message>; 12]>,
    /// The sum of what each part adds to the fingerprint.
    pub(super) sum: u64,
    /// Whether anything was set since it was copied.
    pub(super) changed: bool,
}

impl<S: System> Clone for State<'_, S> {
    fn clone(&self) -> Self {
        Self {
            store: self.store,
            locals: SmallVec::from_slice(&self.locals),
            world: self.world,
            words: SmallVec::from_slice(&self.words),
            flights: SmallVec::from_slice(&self.flights),
            sum: self.sum,
            changed: false,
        }
    }

    /// Without allocating, where there is room.
    #[inline]
    fn clone_from(&mut self, other: &Self) {
        self.locals.copy_from_slice(&other.locals);
        self.words.copy_from_slice(&other.words);
        self.flights.clear();
        self.flights.extend_from_slice(&other.flights);
        (self.world, self.sum, self.changed) = (other.world, other.sum, false);
    }
}

/// Two states are equal if their parts are.
impl<S: System> PartialEq for State<'_, S> {
    fn eq(&self, other: &Self) -> bool {
        let locals = || self.locals.iter().zip(&other.locals);
        locals().all(|(one, other)| one.number == other.number)
            && self.world.number == other.world.number
            && self.words == other.words
            && self.flights == other.flights
    }
}

impl<'a, S: System> State<'a, S> {
    pub(super) fn start(system: &S, store: &'a Store<S>) -> Self {
        Self::made_of(system, store, system.start())
    }

    pub(super) fn copied(system: &S, store: &'a Store<S>, other: &State<'_, S>) -> Self
    where
        S::Local: Clone,
        S::World: Clone,
        S::Message: Clone,
    {
        let parts = Start {
            locals: other.locals.iter().map(|local| S::Local::clone(&local.value)).collect(),
            world: other.world().clone(),
            words: other.words.to_vec(),
            messages: other.flights.iter().map(|flight| flight.message().clone()).collect(),
        };
        Self::made_of(system, store, parts)
    }

    fn made_of(system: &S, store: &'a Store<S>, parts: Start<S>) -> Self {
        let Start { locals, world, words, messages } = parts;
        let locals = store.locals.iter().zip(locals);
        let mut state = Self {
            store,
            locals: locals.map(|(store, local)| store.get(store.intern(Box::new(local)))).collect(),
            world: store.worlds.get(store.worlds.intern(world)),
            words: words.into(),
            flights: SmallVec::new(),
            sum: 0,
            changed: false,
        };
        state.sum = state.sum_of_parts();
        for message in messages {
            state.put(store.post(system, message));
        }
        state
    }

    pub(super) fn of_row(system: &S, store: &'a Store<S>, row: &[u32]) -> Self {
        let (locals, rest) = row.split_at(system.actors());
        let (world, rest) = rest.split_first().expect("a row has a world");
        let (words, flights) = rest.split_at(system.words());
        let locals = store.locals.iter().zip(locals);
        let mut state = Self {
            store,
            locals: locals.map(|(store, number)| store.get(*number)).collect(),
            world: store.worlds.get(*world),
            words: SmallVec::from_slice(words),
            flights: flights.iter().map(|number| Flight(store.messages.get(*number))).collect(),
            sum: 0,
            changed: false,
        };
        state.sum = state.sum_of_parts();
        state
    }

    pub(super) fn write(&self, row: &mut Vec<u32>) {
        let (locals, words) = (self.locals.len(), self.words.len());
        row.resize(locals + 1 + words + self.flights.len(), 0);
        let (of_locals, rest) = row.split_at_mut(locals);
        for (word, local) in of_locals.iter_mut().zip(&self.locals) {
            *word = local.number;
        }
        rest[0] = self.world.number;
        rest[1..=words].copy_from_slice(&self.words);
        for (word, flight) in rest[1 + words..].iter_mut().zip(&self.flights) {
            *word = flight.number();
        }
    }

    /// The same state by the numbers of its parts, which are written to `row`.
    pub fn seen<'w>(&self, row: &'w mut Vec<u32>) -> Seen<'w, S>
    where
        'a: 'w,
    {
        self.write(row);
        let first = self.locals.len() + 1 + self.words.len();
        Seen { store: self.store, row, first, met: None }
    }

    /// The row of this state.
    pub fn row(&self) -> Vec<u32> {
        let mut row = Vec::new();
        self.write(&mut row);
        row
    }

    /// Made of marks only, so it is the same in every run with the same seed.
    #[inline]
    pub(super) fn fingerprint(&self) -> u64 {
        fingerprint_of(self.sum)
    }

    /// A sum, since what is in flight has no order beyond that of its queues.
    fn sum_of_parts(&self) -> u64 {
        let seed = self.store.seed();
        let mut sum = self.world.mark;
        for local in &self.locals {
            sum = sum.wrapping_add(local.mark);
        }
        for (n, word) in self.words.iter().enumerate() {
            sum = sum.wrapping_add(adds::word(n, *word, seed));
        }
        let (mut queue, mut ahead) = (None, 0);
        for flight in &self.flights {
            let key = Some(flight.key());
            ahead = if queue == key { ahead + 1 } else { 0 };
            queue = key;
            sum = sum.wrapping_add(adds::flight(flight.0.mark, ahead));
        }
        sum
    }

    /// How the sum changes if an actor's state does.
    pub(super) fn sum_with_local(&self, actor: usize, number: u32) -> u64 {
        let (old, new) = (self.locals[actor].mark, self.store.locals[actor].get(number).mark);
        new.wrapping_sub(old)
    }

    /// A message by its number.
    pub(super) fn flight(&self, number: u32) -> Flight<'a, S::Message> {
        self.store.flight(number)
    }

    /// What the message at this place adds to the sum.
    #[inline]
    fn adds_flight(&self, at: usize) -> u64 {
        let flight = self.flights[at];
        let ahead = self.flights[..at].iter().rev().take_while(|other| other.key() == flight.key());
        adds::flight(flight.0.mark, ahead.count())
    }

    #[inline]
    fn replace(&mut self, old: u64, new: u64) {
        self.sum = self.sum.wrapping_sub(old).wrapping_add(new);
        self.changed = true;
    }

    /// How many actors there are.
    pub fn actors(&self) -> usize {
        self.locals.len()
    }

    /// An actor's state.
    #[inline]
    pub fn local(&self, actor: usize) -> &'a S::Local {
        &self.locals[actor].value
    }

    /// The number of an actor's state; of one actor, equal states have equal numbers.
    #[inline]
    pub fn local_number(&self, actor: usize) -> u32 {
        self.locals[actor].number
    }

    /// The world.
    #[inline]
    pub fn world(&self) -> &'a S::World {
        &self.world.value
    }

    /// The number of the world; equal worlds have equal numbers.
    #[inline]
    pub fn world_number(&self) -> u32 {
        self.world.number
    }

    /// A plain word.
    #[inline]
    pub fn word(&self, n: usize) -> u32 {
        self.words[n]
    }

    /// What is in flight, queue by queue, each with its oldest message first.
    #[inline]
    pub fn flights(&self) -> &[Flight<'a, S::Message>] {
        &self.flights
    }

    /// A message by its number, whether it is in flight or not.
    pub fn message_of(&self, number: u32) -> &'a S::Message {
        &self.store.messages.get(number).value.message
    }

    pub(super) fn store(&self) -> &'a Store<S> {
        self.store
    }

    #[inline]
    pub(super) fn set_local(&mut self, actor: usize, number: u32) {
        let local = self.store.locals[actor].get(number);
        let old = std::mem::replace(&mut self.locals[actor], local);
        self.replace(old.mark, local.mark);
    }

    #[inline]
    pub(super) fn set_world(&mut self, number: u32) {
        let world = self.store.worlds.get(number);
        let old = std::mem::replace(&mut self.world, world);
        self.replace(old.mark, world.mark);
    }

    #[inline]
    pub(super) fn set_word(&mut self, n: usize, word: u32) {
        let seed = self.store.seed();
        let old = std::mem::replace(&mut self.words[n], word);
        self.replace(adds::word(n, old, seed), adds::word(n, word, seed));
    }

    /// Puts a message at the end of its queue.
    #[inline]
    pub(super) fn put(&mut self, number: u32) {
        let flight = Flight(self.store.messages.get(number));
        let before = self.flights.iter().rposition(|other| other.key() <= flight.key());
        let at = before.map_or(0, |at| at + 1);
        self.flights.insert(at, flight);
        self.replace(0, self.adds_flight(at));
    }

    /// Takes a message out; those behind it in its queue move up.
    #[inline]
    pub(super) fn remove(&mut self, at: usize) -> Flight<'a, S::Message> {
        let key = self.flights[at].key();
        let behind = self.flights[at + 1..].iter().take_while(|other| other.key() == key).count();
        for moved in at..=at + behind {
            self.replace(self.adds_flight(moved), 0);
        }
        let removed = self.flights.remove(at);
        for moved in at..at + behind {
            self.replace(0, self.adds_flight(moved));
        }
        removed
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(Flight<'a, S::Message>) -> bool) {
        let before = self.flights.len();
        self.flights.retain(|flight| keep(*flight));
        if self.flights.len() < before {
            self.sum = self.sum_of_parts();
            self.changed = true;
        }
    }
}

/// The fingerprint of a state whose parts add so much.
#[inline]
pub(super) fn fingerprint_of(sum: u64) -> u64 {
    mix(sum)
}

/// What each part of a state adds to the sum that its fingerprint is made of: an actor's state, the
/// world and a message with none ahead of it in its queue each their mark.
pub(super) mod adds {
    use crate::fingerprint::mix;

    const WORD: u64 = 0xc2b2_ae3d_27d4_eb4f;
    const PLACE: u64 = 0x1656_67b1_9e37_79f9;

    #[inline]
    pub fn word(n: usize, word: u32, seed: u64) -> u64 {
        mix((u64::from(word) ^ seed).wrapping_add(WORD.wrapping_mul(n as u64 + 1)))
    }

    #[inline]
    pub fn flight(mark: u64, ahead: usize) -> u64 {
        if ahead == 0 { mark } else { mix(mark.wrapping_add(PLACE.wrapping_mul(ahead as u64))) }
    }
}
