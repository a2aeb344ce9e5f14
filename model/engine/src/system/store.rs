//! Where the parts of states are kept, each once.

use std::hash::{Hash, Hasher};

use super::{Flight, System};
use crate::fingerprint::mix;
use crate::intern::Interner;

/// The interned parts of the states of a system.
pub struct Store<S: System> {
    seed: u64,
    /// Each actor's states. What is looked at all the time is the marks; the values lie elsewhere,
    /// so that the marks of many stay in the cache.
    pub(super) locals: Vec<Interner<Box<S::Local>>>,
    pub(super) worlds: Interner<S::World>,
    pub(super) messages: Interner<Posted<S::Message>>,
}

/// A message with its queue, which is looked up often.
#[derive(Debug)]
pub(super) struct Posted<M> {
    pub message: Box<M>,
    /// [`NO_QUEUE`] if it is in none.
    queue: u64,
}

const NO_QUEUE: u64 = u64::MAX;

impl<M> Posted<M> {
    #[inline]
    pub fn queue(&self) -> Option<u64> {
        (self.queue != NO_QUEUE).then_some(self.queue)
    }
}

impl<M: PartialEq> PartialEq for Posted<M> {
    fn eq(&self, other: &Self) -> bool {
        self.message == other.message
    }
}

impl<M: Hash> Hash for Posted<M> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.message.hash(hasher);
    }
}

impl<S: System> Store<S> {
    pub(super) fn new(actors: usize, seed: u64) -> Self {
        // Each with a seed of its own, so that the marks of equal values are different.
        let seeds = |n: usize| mix(seed.wrapping_add(mix(n as u64 + 1)));
        Self {
            seed,
            locals: (0..actors).map(|n| Interner::new(seeds(n + 2))).collect(),
            worlds: Interner::new(seeds(0)),
            messages: Interner::new(seeds(1)),
        }
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    pub(super) fn post(&self, system: &S, message: S::Message) -> u32 {
        let queue = system.queue(&message).unwrap_or(NO_QUEUE);
        self.messages.intern(Posted { message: Box::new(message), queue })
    }

    /// A message by its number.
    pub(super) fn flight(&self, number: u32) -> Flight<'_, S::Message> {
        Flight::of(self.messages.get(number))
    }

    pub(super) fn is_ambiguous(&self) -> bool {
        let locals = self.locals.iter().any(Interner::is_ambiguous);
        locals || self.worlds.is_ambiguous() || self.messages.is_ambiguous()
    }

    pub(super) fn bytes(&self) -> u64 {
        let locals: u64 = self.locals.iter().map(Interner::bytes).sum();
        locals + self.worlds.bytes() + self.messages.bytes()
    }
}

impl<S: System> std::fmt::Debug for Store<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let locals: Vec<usize> = self.locals.iter().map(Interner::len).collect();
        f.debug_struct("Store")
            .field("locals", &locals)
            .field("worlds", &self.worlds.len())
            .field("messages", &self.messages.len())
            .finish_non_exhaustive()
    }
}
