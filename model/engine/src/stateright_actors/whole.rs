//! A state as stateright has it, for its properties to look at.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::hash::Hash;
use std::mem::swap;
use std::sync::Arc;

use stateright::actor::{Actor, ActorModelState, Envelope, Id, Network, RandomChoices, Timers};

use super::{Local, Mail};
use crate::system::{Seen, Sent, System};

/// A state that is changed into the next one that is looked at. One is much like the next, so only
/// what differs is touched.
pub struct Whole<A: Actor, H> {
    /// The state.
    pub state: ActorModelState<A, H>,
    /// The numbers of the actors' states in it; none yet if there are none.
    locals: Vec<u32>,
    world: u32,
    flights: Vec<Sent>,
    /// By actor and number: what it takes to put an actor's state in, or what was there before if
    /// it is in.
    kits: Vec<Vec<Option<Kit<A>>>>,
}

/// How many states of each actor are kept ready.
const KITS: usize = 1 << 14;

/// An actor's state as stateright has it.
struct Kit<A: Actor> {
    state: Arc<A::State>,
    timers: Timers<A::Timer>,
    random: RandomChoices<A::Random>,
    storage: Option<A::Storage>,
    crashed: bool,
}

impl<A: Actor> Kit<A>
where
    A::Timer: Ord,
{
    fn of(local: &Local<A>) -> Self {
        let mut timers = Timers::new();
        for timer in &local.timers {
            timers.set(timer.clone());
        }
        let mut random = RandomChoices::default();
        for (key, choices) in &local.random {
            random.insert(key.clone(), choices.clone());
        }
        let (state, storage) = (Arc::clone(&local.state), local.storage.clone());
        Self { state, timers, random, storage, crashed: local.crashed }
    }

    fn swap<H>(&mut self, state: &mut ActorModelState<A, H>, n: usize) {
        swap(&mut self.state, &mut state.actor_states[n]);
        swap(&mut self.timers, &mut state.timers_set[n]);
        swap(&mut self.random, &mut state.random_choices[n]);
        swap(&mut self.storage, &mut state.actor_storages[n]);
        swap(&mut self.crashed, &mut state.crashed[n]);
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
        let kits = state.actor_states.iter().map(|_| Vec::new()).collect();
        Self { state, locals: Vec::new(), world: 0, flights: Vec::new(), kits }
    }

    /// Becomes this state.
    pub fn become_state<S>(&mut self, seen: &Seen<'_, S>)
    where
        S: System<Local = Local<A>, World = H, Message = Mail<A::Msg>>,
    {
        let first = self.locals.is_empty();
        if first {
            self.locals.resize(self.kits.len(), u32::MAX);
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
        let new = seen.local_number(n);
        let old = std::mem::replace(&mut self.locals[n], new);
        let kits = &mut self.kits[n];
        if let Some(Some(kit)) = kits.get_mut(old as usize) {
            kit.swap(&mut self.state, n);
        }
        if let Some(Some(kit)) = kits.get_mut(new as usize) {
            kit.swap(&mut self.state, n);
            return;
        }
        let mut kit = Kit::of(seen.local(n));
        kit.swap(&mut self.state, n);
        let new = new as usize;
        if new < KITS {
            if kits.len() <= new {
                kits.resize_with(new + 1, || None);
            }
            kits[new] = Some(kit);
        }
    }

    /// Both lists are sorted by key; only where they differ, a queue or a kind of message is set.
    fn set_network<S>(&mut self, seen: &Seen<'_, S>)
    where
        S: System<Local = Local<A>, World = H, Message = Mail<A::Msg>>,
    {
        let differ = differing(&self.flights, seen.sent());
        let (mut old, mut new) =
            (&self.flights[differ.0..differ.1], &seen.sent()[differ.0..differ.2]);
        while let Some(key) = first_key(old, new) {
            let (gone, there) = (split_first(&mut old, key), split_first(&mut new, key));
            if !gone.iter().map(|it| it.number).eq(there.iter().map(|it| it.number)) {
                let some = there.first().or(gone.first()).expect("a key is of a message");
                let mail = seen.message_of(some.number);
                let there = there.iter().map(|it| seen.message_of(it.number));
                set(&mut self.state.network, mail, there);
            }
        }
        self.flights.truncate(differ.0);
        self.flights.extend_from_slice(&seen.sent()[differ.0..]);
    }
}

/// Where two sorted lists start to differ, and where each ends to, whole queues.
fn differing(old: &[Sent], new: &[Sent]) -> (usize, usize, usize) {
    let same = |(old, new): &(&Sent, &Sent)| old.number == new.number;
    let start = old.iter().zip(new).take_while(same).count();
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(same).count();
    let (mut start, mut old_end, mut new_end) = (start, old.len() - end, new.len() - end);
    // What stands beside the difference may be of a queue that differs.
    while new_end < new.len()
        && (start < old_end && old[old_end - 1].key == new[new_end].key
            || start < new_end && new[new_end - 1].key == new[new_end].key)
    {
        (old_end, new_end) = (old_end + 1, new_end + 1);
    }
    while start > 0
        && (start < old_end && old[start].key == new[start - 1].key
            || start < new_end && new[start].key == new[start - 1].key)
    {
        start -= 1;
    }
    (start, old_end, new_end)
}

/// The first key of two sorted lists.
#[inline]
fn first_key(old: &[Sent], new: &[Sent]) -> Option<u64> {
    match (old.first(), new.first()) {
        (Some(old), Some(new)) => Some(old.key.min(new.key)),
        (old, new) => old.or(new).map(|it| it.key),
    }
}

/// Takes those with this key from the start of a sorted list.
#[inline]
fn split_first<'s>(list: &mut &'s [Sent], key: u64) -> &'s [Sent] {
    let (first, rest) = list.split_at(list.iter().take_while(|it| it.key == key).count());
    *list = rest;
    first
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
