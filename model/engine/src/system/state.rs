//! A state of the whole, read from its row.

use smallvec::SmallVec;

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

    /// What messages in flight are sorted by: the queue, or a number of its own for a message that
    /// is in no queue and all that equal it.
    #[inline]
    pub fn key(self) -> u64 {
        self.0.value.queue.unwrap_or(self.0.mark)
    }
}

/// A state of a system: what each actor is in, the world, the plain words, what is in flight.
pub struct State<'a, S: System> {
    store: &'a Store<S>,
    locals: SmallVec<[&'a Kept<S::Local>; 6]>,
    world: &'a Kept<S::World>,
    words: SmallVec<[u32; 4]>,
    flights: SmallVec<[Flight<'a, S::Message>; 12]>,
}

impl<S: System> Clone for State<'_, S> {
    #[inline]
    fn clone(&self) -> Self {
        Self {
            store: self.store,
            locals: SmallVec::from_slice(&self.locals),
            world: self.world,
            words: SmallVec::from_slice(&self.words),
            flights: SmallVec::from_slice(&self.flights),
        }
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
            locals: other.locals.iter().map(|local| local.value.clone()).collect(),
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
            locals: locals.map(|(store, local)| store.get(store.intern(local))).collect(),
            world: store.worlds.get(store.worlds.intern(world)),
            words: words.into(),
            flights: SmallVec::new(),
        };
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
        Self {
            store,
            locals: locals.map(|(store, number)| store.get(*number)).collect(),
            world: store.worlds.get(*world),
            words: SmallVec::from_slice(words),
            flights: flights.iter().map(|number| Flight(store.messages.get(*number))).collect(),
        }
    }

    pub(super) fn write(&self, row: &mut Vec<u32>) {
        row.clear();
        row.extend(self.locals.iter().map(|local| local.number));
        row.push(self.world.number);
        row.extend_from_slice(&self.words);
        row.extend(self.flights.iter().map(|flight| flight.number()));
    }

    /// The row of this state.
    pub fn row(&self) -> Vec<u32> {
        let mut row = Vec::new();
        self.write(&mut row);
        row
    }

    /// Made of marks only, so it is the same in every run with the same seed. A sum, since what is
    /// in flight has no order beyond that of its queues.
    pub(super) fn fingerprint(&self) -> u64 {
        const LOCAL: u64 = 0x9e37_79b9_7f4a_7c15;
        const WORD: u64 = 0xc2b2_ae3d_27d4_eb4f;
        const PLACE: u64 = 0x1656_67b1_9e37_79f9;
        let mut sum = mix(self.world.mark ^ WORD);
        for (local, n) in self.locals.iter().zip(1..) {
            sum = sum.wrapping_add(mix(local.mark.wrapping_add(LOCAL.wrapping_mul(n))));
        }
        for (&word, n) in self.words.iter().zip(1..) {
            let word = u64::from(word) ^ self.store.seed();
            sum = sum.wrapping_add(mix(word.wrapping_add(WORD.wrapping_mul(n))));
        }
        let (mut queue, mut place) = (None, 0);
        for flight in &self.flights {
            place = if queue == Some(flight.key()) { place + 1 } else { 1 };
            queue = Some(flight.key());
            sum = sum.wrapping_add(mix(flight.0.mark.wrapping_add(PLACE.wrapping_mul(place))));
        }
        mix(sum)
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

    pub(super) fn set_local(&mut self, actor: usize, number: u32) {
        self.locals[actor] = self.store.locals[actor].get(number);
    }

    pub(super) fn set_world(&mut self, number: u32) {
        self.world = self.store.worlds.get(number);
    }

    pub(super) fn set_word(&mut self, n: usize, word: u32) {
        self.words[n] = word;
    }

    /// Puts a message at the end of its queue.
    pub(super) fn put(&mut self, number: u32) {
        let flight = Flight(self.store.messages.get(number));
        let at = self.flights.iter().rposition(|other| other.key() <= flight.key());
        self.flights.insert(at.map_or(0, |at| at + 1), flight);
    }

    pub(super) fn remove(&mut self, at: usize) -> Flight<'a, S::Message> {
        self.flights.remove(at)
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(Flight<'a, S::Message>) -> bool) {
        self.flights.retain(|flight| keep(*flight));
    }
}
