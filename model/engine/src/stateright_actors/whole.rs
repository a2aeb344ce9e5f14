//! A state as stateright has it, for its properties to look at.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use smallvec::SmallVec;
use stateright::actor::{Actor, ActorModelState, Envelope, Id, Network, Timers};

use super::{Local, Mail};
use crate::system::{Flight, State, System};

/// A state that is changed into the next one that is looked at. One is much like the next, so only
/// what differs is touched.
pub struct Whole<A: Actor, H> {
    /// The state.
    pub state: ActorModelState<A, H>,
    /// The numbers of what it is made of; none yet if there are no locals.
    locals: SmallVec<[u32; 6]>,
    world: u32,
    /// The messages by key and number.
    flights: Vec<(u64, u32)>,
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
        Self { state, locals: SmallVec::new(), world: 0, flights: Vec::new() }
    }

    /// Becomes this state.
    pub fn become_state<S>(&mut self, state: &State<'_, S>)
    where
        S: System<Local = Local<A>, World = H, Message = Mail<A::Msg>>,
    {
        let first = self.locals.is_empty();
        let actors = self.state.actor_states.len();
        self.locals.resize(actors, 0);
        for n in 0..actors {
            let number = state.local_number(n);
            if first || self.locals[n] != number {
                self.locals[n] = number;
                self.set_local(n, state.local(n));
            }
        }
        if first || self.world != state.world_number() {
            self.world = state.world_number();
            self.state.history = state.world().clone();
        }
        self.set_network(state);
    }

    fn set_local(&mut self, n: usize, local: &Local<A>) {
        self.state.actor_states[n] = Arc::clone(&local.state);
        self.state.crashed[n] = local.crashed;
        self.state.actor_storages[n].clone_from(&local.storage);
        let timers = &mut self.state.timers_set[n];
        let same = |timers: &Timers<A::Timer>| timers.iter().all(|it| local.timers.contains(it));
        if timers.iter().count() != local.timers.len() || !same(timers) {
            timers.cancel_all();
            for timer in &local.timers {
                timers.set(timer.clone());
            }
        }
        let random = &mut self.state.random_choices[n].map;
        if !(random.is_empty() && local.random.is_empty()) {
            random.clear();
            for (key, choices) in &local.random {
                random.insert(key.clone(), choices.clone());
            }
        }
    }

    fn set_network<S>(&mut self, state: &State<'_, S>)
    where
        S: System<Local = Local<A>, World = H, Message = Mail<A::Msg>>,
    {
        let new = state.flights();
        let start = common_start(&self.flights, new);
        if start == new.len() && start == self.flights.len() {
            return;
        }
        if matches!(self.state.network, Network::Ordered(_)) {
            clear(&mut self.state.network);
            for flight in new {
                add(&mut self.state.network, flight.message());
            }
        } else {
            self.patch(state, start);
        }
        self.flights.truncate(start);
        self.flights.extend(new[start..].iter().map(|flight| (flight.key(), flight.number())));
    }

    /// Both lists are sorted by key, equal messages stand side by side, and as many as `start` at
    /// the beginning of both are the same.
    fn patch<S>(&mut self, state: &State<'_, S>, start: usize)
    where
        S: System<Local = Local<A>, World = H, Message = Mail<A::Msg>>,
    {
        let (mut start, new) = (start, state.flights());
        // Of the last kind of message of those one list may have more than the other.
        let last = start.checked_sub(1).map(|last| self.flights[last]);
        while start > 0 && Some(self.flights[start - 1]) == last {
            start -= 1;
        }
        let (mut old, mut new) = (&self.flights[start..], &new[start..]);
        let network = &mut self.state.network;
        while let Some(first) = first_of(old, new) {
            let gone = old.iter().take_while(|it| **it == first).count();
            let there = new.iter().take_while(|it| it.number() == first.1).count();
            (old, new) = (&old[gone..], &new[there..]);
            if gone != there {
                let message = state.message_of(first.1);
                if there == 0 {
                    remove(network, message);
                } else {
                    set_count(network, message, there);
                }
            }
        }
    }
}

/// With how many equal messages both lists start; one state is much like the next.
fn common_start<M>(old: &[(u64, u32)], new: &[Flight<'_, M>]) -> usize {
    old.iter().zip(new).take_while(|(old, new)| old.1 == new.number()).count()
}

/// The first message of two sorted lists.
#[inline]
fn first_of<M>(old: &[(u64, u32)], new: &[Flight<'_, M>]) -> Option<(u64, u32)> {
    let next = || new.first().map(|flight| (flight.key(), flight.number()));
    match (old.first(), next()) {
        (Some(old), Some(new)) => Some(new.min(*old)),
        (old, new) => old.copied().or(new),
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

fn add<M: Clone + Eq + Hash>(network: &mut Network<M>, mail: &Mail<M>) {
    if let (Network::Ordered(queues), Mail::Sent(Envelope { src, dst, msg })) = (network, mail) {
        queues.entry((*src, *dst)).or_default().push_back(msg.clone());
    }
}

fn remove<M: Clone + Eq + Hash>(network: &mut Network<M>, mail: &Mail<M>) {
    match (network, mail) {
        (Network::UnorderedDuplicating(set, _), Mail::Sent(envelope)) => {
            set.remove(envelope);
        }
        (Network::UnorderedDuplicating(_, last), Mail::Last(envelope)) => {
            last.take_if(|last| last == envelope);
        }
        (Network::UnorderedNonDuplicating(counts), Mail::Sent(envelope)) => {
            counts.remove(envelope);
        }
        _ => {}
    }
}

fn set_count<M: Clone + Eq + Hash>(network: &mut Network<M>, mail: &Mail<M>, count: usize) {
    match (network, mail) {
        (Network::UnorderedDuplicating(set, _), Mail::Sent(envelope)) => {
            set.insert(envelope.clone());
        }
        (Network::UnorderedDuplicating(_, last), Mail::Last(envelope)) => {
            *last = Some(envelope.clone());
        }
        (Network::UnorderedNonDuplicating(counts), Mail::Sent(envelope)) => {
            counts.insert(envelope.clone(), count);
        }
        _ => {}
    }
}
