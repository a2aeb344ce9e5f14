//! What the states of an actor model are made of, and what can happen in them.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::sync::Arc;

use stateright::actor::{Actor, Command, Envelope, Id, Out};

use super::whole::Whole;
use crate::system::Effect;

/// An actor as the model has it.
#[derive(Debug)]
pub struct Local<A: Actor> {
    pub(super) state: Arc<A::State>,
    pub(super) timers: BTreeSet<A::Timer>,
    pub(super) random: BTreeMap<String, Vec<A::Random>>,
    pub(super) crashed: bool,
    pub(super) storage: Option<A::Storage>,
}

impl<A: Actor> Clone for Local<A>
where
    A::Timer: Ord,
{
    fn clone(&self) -> Self {
        Self {
            state: Arc::clone(&self.state),
            timers: self.timers.clone(),
            random: self.random.clone(),
            crashed: self.crashed,
            storage: self.storage.clone(),
        }
    }
}

impl<A: Actor> PartialEq for Local<A> {
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state
            && self.timers == other.timers
            && self.random == other.random
            && self.crashed == other.crashed
            && self.storage == other.storage
    }
}

impl<A: Actor> Hash for Local<A> {
    fn hash<S: std::hash::Hasher>(&self, hasher: &mut S) {
        self.state.hash(hasher);
        self.timers.hash(hasher);
        self.random.hash(hasher);
        self.crashed.hash(hasher);
        self.storage.hash(hasher);
    }
}

/// What reaches an actor beside messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event<T, R> {
    /// A timer ran out.
    Timeout(T),
    /// The actor dies.
    Crash,
    /// It starts again.
    Recover,
    /// One of its random choices is made.
    Random(String, R),
}

/// Something in the network.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Mail<M> {
    /// A message that can be delivered.
    Sent(Envelope<M>),
    /// The message delivered last, which a duplicating network remembers.
    Last(Envelope<M>),
}

/// The number of a crash among what an actor's own state makes possible.
pub(super) const CRASH: u32 = 0;

/// The number of a restart.
pub(super) const RECOVER: u32 = 1;

/// The number of a timeout of the actor's n-th timer.
pub(super) fn timeout(n: u16) -> u32 {
    2 + u32::from(n)
}

/// The number of a choice of the actor's n-th random choice.
pub(super) fn random(key: u16, n: u16) -> u32 {
    assert!(key < 1 << 14 && n < 1 << 14, "at most 16,384 random choices");
    1 << 28 | u32::from(key) << 14 | u32::from(n)
}

/// One of the things that can happen: places and numbers in the state that it happens in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The message at this place is lost.
    Drop(u16),
    /// The message at this place is delivered to this actor.
    Deliver(u16, u16),
    /// The actor's n-th timer runs out.
    Timeout(u16, u16),
    /// The actor dies.
    Crash(u16),
    /// It starts again.
    Recover(u16),
    /// Of the actor's n-th random choice, this one.
    Random(u16, u16, u16),
}

impl Choice {
    /// The number of its kind.
    #[inline]
    pub(super) fn kind(self) -> usize {
        match self {
            Self::Drop(_) => 0,
            Self::Deliver(..) => 1,
            Self::Timeout(..) => 2,
            Self::Crash(_) => 3,
            Self::Recover(_) => 4,
            Self::Random(..) => 5,
        }
    }
}

type EffectOf<A> =
    Effect<Mail<<A as Actor>::Msg>, Event<<A as Actor>::Timer, <A as Actor>::Random>>;

/// What an actor commands is part of its own state, but for what it sends.
pub(super) fn obey<A: Actor>(
    local: &mut Local<A>,
    id: Id,
    out: Out<A>,
    effects: &mut Vec<EffectOf<A>>,
) where
    A::Timer: Ord,
{
    for command in out {
        match command {
            Command::Send(dst, msg) => {
                effects.push(Effect::Send(Mail::Sent(Envelope { src: id, dst, msg })));
            }
            Command::SetTimer(timer, _) => {
                local.timers.insert(timer);
            }
            Command::CancelTimer(timer) => {
                local.timers.remove(&timer);
            }
            Command::ChooseRandom(key, choices) if choices.is_empty() => {
                local.random.remove(&key);
            }
            Command::ChooseRandom(key, choices) => {
                local.random.insert(key, choices);
            }
            Command::Save(storage) => local.storage = Some(storage),
        }
    }
}

/// One of the choices of an actor's random choice, by their numbers.
pub(super) fn nth_random<A: Actor>(local: &Local<A>, key: u16, n: u16) -> (&String, &A::Random) {
    let (key, choices) = local.random.iter().nth(key.into()).expect("a random choice");
    (key, &choices[usize::from(n)])
}

/// Whether each state that is generated is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Boundary {
    /// The model was made with none.
    None,
    /// The user says that it has none; states that are visited are asked all the same.
    Promised,
    /// It may have one.
    Asked,
}

/// Two states to be looked at: the one that is visited, and one that it leads to.
pub struct Judge<A: Actor, H> {
    pub(super) visited: Whole<A, H>,
    pub(super) generated: Whole<A, H>,
    /// Where the numbers of a state are written.
    pub(super) row: Vec<u32>,
}
