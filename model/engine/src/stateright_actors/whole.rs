//! A state as stateright has it, for its properties to look at.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Debug;
use std::hash::Hash;
use std::mem::swap;
use std::sync::Arc;

use stateright::actor::{Actor, ActorModelState, Envelope, Id, Network, RandomChoices, Timers};

use super::{Local, Mail};
use crate::system::{Seen, System};

/// A state that is changed into the next one that is looked at. One is much like the next, so only
/// what differs is touched.
pub struct Whole<A: Actor, H> {
    /// The state.
    pub state: ActorModelState<A, H>,
    /// The numbers of the actors' states in it; none yet if there are none.
    locals: Vec<u32>,
    world: u32,
    /// The numbers of what is in flight in it.
    flights: Vec<u32>,
    /// By actor.
    kept: Vec<Kept<A>>,
}

/// What is kept of an actor: what it takes to put a state of its own in.
struct Kept<A: Actor> {
    /// By number. Of the one that is in, what was there before.
    kits: Vec<Option<Kit<A>>>,
    timers: Shelf<BTreeSet<A::Timer>, Timers<A::Timer>>,
    random: Shelf<Randoms<A::Random>, RandomChoices<A::Random>>,
}

/// An actor's random choices, as they are interned.
type Randoms<R> = BTreeMap<String, Vec<R>>;

/// How many states of each actor are kept ready.
const KITS: usize = 1 << 14;

/// An actor's state as stateright has it, but for what is on shelves.
struct Kit<A: Actor> {
    state: Arc<A::State>,
    storage: Option<A::Storage>,
    crashed: bool,
    timers: u32,
    random: u32,
}

impl<A: Actor> Kit<A> {
    #[inline]
    fn swap<H>(&mut self, state: &mut ActorModelState<A, H>, n: usize) {
        swap(&mut self.state, &mut state.actor_states[n]);
        swap(&mut self.storage, &mut state.actor_storages[n]);
        swap(&mut self.crashed, &mut state.crashed[n]);
    }
}

/// Large parts of which many states of an actor have the same: they are moved only where they
/// differ.
struct Shelf<K, V> {
    /// What they are made of, by number.
    keys: Vec<K>,
    /// By number. Of the one that is in, what was there before.
    values: Vec<V>,
    /// Which is in.
    now: Option<u32>,
}

/// Among how many of the last it is looked for an equal one.
const LAST: usize = 64;

impl<K: Clone + PartialEq, V> Shelf<K, V> {
    fn new() -> Self {
        Self { keys: Vec::new(), values: Vec::new(), now: None }
    }

    /// The number of what is made of this.
    fn number(&mut self, key: &K, make: impl FnOnce(&K) -> V) -> u32 {
        let last = self.keys.len().saturating_sub(LAST);
        let known = self.keys[last..].iter().position(|known| known == key);
        let number = known.map_or(self.keys.len(), |n| last + n);
        if number == self.keys.len() {
            self.keys.push(key.clone());
            self.values.push(make(key));
        }
        number as u32
    }

    #[inline]
    fn put_in(&mut self, number: u32, place: &mut V) {
        if self.now != Some(number) {
            self.put_back(place);
            swap(&mut self.values[number as usize], place);
            self.now = Some(number);
        }
    }

    fn put_back(&mut self, place: &mut V) {
        if let Some(old) = self.now.take() {
            swap(&mut self.values[old as usize], place);
        }
    }
}

fn timers_of<T: Clone + Ord + Hash>(all: &BTreeSet<T>) -> Timers<T> {
    let mut timers = Timers::new();
    for timer in all {
        timers.set(timer.clone());
    }
    timers
}

fn random_of<R: Clone + Hash>(all: &Randoms<R>) -> RandomChoices<R> {
    let mut random = RandomChoices::default();
    for (key, choices) in all {
        random.insert(key.clone(), choices.clone());
    }
    random
}

impl<A: Actor> Kept<A>
where
    A::Timer: Ord,
{
    fn new() -> Self {
        Self { kits: Vec::new(), timers: Shelf::new(), random: Shelf::new() }
    }

    /// Makes a kit of an actor's state, if there are not too many.
    #[cold]
    fn meet(&mut self, number: usize, local: &Local<A>) {
        if number < KITS {
            if self.kits.len() <= number {
                self.kits.resize_with(number + 1, || None);
            }
            let (state, storage) = (Arc::clone(&local.state), local.storage.clone());
            let timers = self.timers.number(&local.timers, timers_of);
            let random = self.random.number(&local.random, random_of);
            self.kits[number] =
                Some(Kit { state, storage, crashed: local.crashed, timers, random });
        }
    }

    /// Puts an actor's state in that is not kept.
    #[cold]
    fn put_in<H>(&mut self, local: &Local<A>, state: &mut ActorModelState<A, H>, n: usize) {
        self.timers.put_back(&mut state.timers_set[n]);
        self.random.put_back(&mut state.random_choices[n]);
        state.actor_states[n] = Arc::clone(&local.state);
        state.actor_storages[n].clone_from(&local.storage);
        state.crashed[n] = local.crashed;
        state.timers_set[n] = timers_of(&local.timers);
        state.random_choices[n] = random_of(&local.random);
    }
}

impl<A, H> Whole<A, H>
where
    A: Actor,
    A::Msg: Ord,
    A::Timer: Ord,
    H: Clone + Debug + Hash,
{
    pub fn new(like: &ActorModelState<A, H>) -> Self {
        let mut state = like.clone();
        clear(&mut state.network);
        let kept = state.actor_states.iter().map(|_| Kept::new()).collect();
        Self { state, locals: Vec::new(), world: 0, flights: Vec::new(), kept }
    }

    /// Becomes this state.
    pub fn become_state<S>(&mut self, seen: &Seen<'_, S>)
    where
        S: System<Local = Local<A>, World = H, Message = Mail<A::Msg>>,
    {
        let first = self.locals.is_empty();
        if first {
            self.locals.resize(self.kept.len(), u32::MAX);
        }
        for n in 0..self.locals.len() {
            if self.locals[n] != seen.local_number(n) {
                self.set_local(n, seen);
            }
        }
        if first || self.world != seen.world_number() {
            self.world = seen.world_number();
            self.state.history = seen.world().clone();
        }
        self.set_network(seen);
    }

    /// Puts what is in the state back to where it is kept, and takes its like from there.
    fn set_local<S>(&mut self, n: usize, seen: &Seen<'_, S>)
    where
        S: System<Local = Local<A>, World = H, Message = Mail<A::Msg>>,
    {
        let new = seen.local_number(n) as usize;
        let old = std::mem::replace(&mut self.locals[n], new as u32) as usize;
        let (state, kept) = (&mut self.state, &mut self.kept[n]);
        if let Some(Some(kit)) = kept.kits.get_mut(old) {
            kit.swap(state, n);
        }
        if kept.kits.get(new).is_none_or(Option::is_none) {
            kept.meet(new, seen.local(n));
        }
        match kept.kits.get_mut(new) {
            Some(Some(kit)) => {
                kit.swap(state, n);
                kept.timers.put_in(kit.timers, &mut state.timers_set[n]);
                kept.random.put_in(kit.random, &mut state.random_choices[n]);
            }
            _ => kept.put_in(seen.local(n), state, n),
        }
    }

    /// Both lists are sorted by key; only where they differ, a queue or a kind of message is set.
    fn set_network<S>(&mut self, seen: &Seen<'_, S>)
    where
        S: System<Local = Local<A>, World = H, Message = Mail<A::Msg>>,
    {
        let (old, new) = (&self.flights[..], seen.flights());
        let mut of_old = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let mut of_new = of_old;
        while of_old < old.len() || of_new < new.len() {
            let (gone, there) = (old.get(of_old).copied(), new.get(of_new).copied());
            if gone == there {
                (of_old, of_new) = (of_old + 1, of_new + 1);
                continue;
            }
            let key_of = |number: u32| seen.key(number);
            let key = match (gone.map(key_of), there.map(key_of)) {
                (Some(gone), Some(there)) => gone.min(there),
                (gone, there) => gone.or(there).expect("one of them is there"),
            };
            let of_queue = |number: &&u32| seen.key(**number) == key;
            // Those of the queue that stand before are the same in both.
            let from = of_new - new[..of_new].iter().rev().take_while(of_queue).count();
            of_old += old[of_old..].iter().take_while(of_queue).count();
            of_new += new[of_new..].iter().take_while(of_queue).count();
            let there = &new[from..of_new];
            let some = there.first().copied().or(gone).expect("a queue is of a message");
            let there = there.iter().map(|number| seen.flight(*number).message());
            set(&mut self.state.network, seen.flight(some).message(), there);
        }
        self.flights.clear();
        self.flights.extend_from_slice(new);
    }
}

/// What a network has in it, in the order of its queues.
pub fn mail<M: Clone + Eq + Hash>(network: &Network<M>) -> Vec<Mail<M>> {
    let mail = |envelope: &Envelope<M>| Mail::Sent(envelope.clone());
    // Not `iter_all`: it tells a message that is there twice three times, and those of a queue
    // without end.
    let mut all: Vec<Mail<M>> = match network {
        Network::UnorderedDuplicating(set, _) => set.iter().map(mail).collect(),
        Network::UnorderedNonDuplicating(counts) => {
            counts.iter().flat_map(|(envelope, count)| vec![mail(envelope); *count]).collect()
        }
        Network::Ordered(queues) => {
            let queue = |(&(src, dst), queue): (&(Id, Id), &VecDeque<M>)| {
                let sent = |msg: &M| Mail::Sent(Envelope { src, dst, msg: msg.clone() });
                queue.iter().map(sent).collect::<Vec<_>>()
            };
            queues.iter().flat_map(queue).collect()
        }
    };
    if let Network::UnorderedDuplicating(_, Some(last)) = network {
        all.push(Mail::Last(last.clone()));
    }
    all
}

fn clear<M: Eq + Hash>(network: &mut Network<M>) {
    match network {
        Network::UnorderedDuplicating(set, last) => {
            set.clear();
            *last = None;
        }
        Network::UnorderedNonDuplicating(counts) => counts.clear(),
        Network::Ordered(queues) => queues.clear(),
    }
}

/// Sets what there is of the queue or of the kind of `some`.
fn set<'m, M>(
    network: &mut Network<M>,
    some: &Mail<M>,
    mut there: impl ExactSizeIterator<Item = &'m Mail<M>>,
) where
    M: Clone + Eq + Hash + 'm,
{
    match (network, some) {
        (Network::UnorderedDuplicating(set, _), Mail::Sent(envelope)) => {
            if there.len() == 0 {
                set.remove(envelope);
            } else {
                set.insert(envelope.clone());
            }
        }
        (Network::UnorderedDuplicating(_, last), Mail::Last(envelope)) => {
            *last = there.next().map(|_| envelope.clone());
        }
        (Network::UnorderedNonDuplicating(counts), Mail::Sent(envelope)) => {
            if there.len() == 0 {
                counts.remove(envelope);
            } else {
                counts.insert(envelope.clone(), there.len());
            }
        }
        (Network::Ordered(queues), Mail::Sent(Envelope { src, dst, .. })) => {
            if there.len() == 0 {
                queues.remove(&(*src, *dst));
                return;
            }
            let queue = queues.entry((*src, *dst)).or_default();
            queue.clear();
            queue.extend(there.filter_map(|mail| match mail {
                Mail::Sent(envelope) => Some(envelope.msg.clone()),
                Mail::Last(_) => None,
            }));
        }
        _ => {}
    }
}
