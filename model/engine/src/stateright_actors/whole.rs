//! A state as stateright has it, for its properties to look at.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use smallvec::SmallVec;
use stateright::actor::{Actor, ActorModelState, Envelope, Id, Network};

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

    /// A new one.
    pub fn of<S>(like: &ActorModelState<A, H>, state: &State<'_, S>) -> Self
    where
        S: System<Local = Local<A>, World = H, Message = Mail<A::Msg>>,
    {
        let mut whole = Self::new(like);
        whole.become_state(state);
        whole
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
        timers.cancel_all();
        for timer in &local.timers {
            timers.set(timer.clone());
        }
        let random = &mut self.state.random_choices[n].map;
        random.clear();
        for (key, choices) in &local.random {
            random.insert(key.clone(), choices.clone());
        }
    }

    fn set_network<S>(&mut self, state: &State<'_, S>)
    where
        S: System<Local = Local<A>, World = H, Message = Mail<A::Msg>>,
    {
        let new = state.flights();
        let same = |(old, new): (&(u64, u32), &Flight<'_, Mail<A::Msg>>)| old.1 == new.number();
        if self.flights.len() == new.len() && self.flights.iter().zip(new).all(same) {
            return;
        }
        if matches!(self.state.network, Network::Ordered(_)) {
            clear(&mut self.state.network);
            for flight in new {
                add(&mut self.state.network, flight.message());
            }
        } else {
            self.patch(state);
        }
        self.flights.clear();
        self.flights.extend(new.iter().map(|flight| (flight.key(), flight.number())));
    }

    /// Both lists are sorted by key, and equal messages stand side by side.
    fn patch<S>(&mut self, state: &State<'_, S>)
    where
        S: System<Local = Local<A>, World = H, Message = Mail<A::Msg>>,
    {
        let (old, new) = (&self.flights, state.flights());
        let (mut i, mut j) = (0, 0);
        while i < old.len() || j < new.len() {
            let next = new.get(j).map(|flight| (flight.key(), flight.number()));
            let known = old.get(i).copied();
            let first = known.into_iter().chain(next).min().expect("one of them is there");
            let gone = old[i..].iter().take_while(|other| **other == first).count();
            let there = new[j..].iter().take_while(|f| (f.key(), f.number()) == first).count();
            (i, j) = (i + gone, j + there);
            if gone != there {
                let message = &state.message_of(first.1);
                if there == 0 {
                    remove(&mut self.state.network, message);
                } else {
                    set_count(&mut self.state.network, message, there);
                }
            }
        }
    }
}

/// What a network has in it, in the order of its queues.
pub fn mail<M: Clone + Eq + Hash>(network: &Network<M>) -> Vec<Mail<M>> {
    let sent = |envelope: &Envelope<M>| Mail::Sent(envelope.clone());
    // Not `iter_all`: it tells a message that is there twice three times, and those of a queue
    // without end.
    let mut all: Vec<Mail<M>> = match network {
        Network::UnorderedDuplicating(messages, _) => messages.iter().map(sent).collect(),
        Network::UnorderedNonDuplicating(counts) => {
            counts.iter().flat_map(|(envelope, count)| vec![sent(envelope); *count]).collect()
        }
        Network::Ordered(queues) => {
            let queue = |(&(src, dst), queue): (&(Id, Id), &VecDeque<M>)| {
                let mail = |msg: &M| Mail::Sent(Envelope { src, dst, msg: msg.clone() });
                queue.iter().map(mail).collect::<Vec<_>>()
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
        (Network::UnorderedDuplicating(_, last), Mail::Last(envelope))
            if last.as_ref() == Some(envelope) =>
        {
            *last = None;
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
