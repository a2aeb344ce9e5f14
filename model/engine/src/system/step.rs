//! One step: the state it leads to in the making, and the memory of what actors did before.

use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashMap;

use super::recipes::Record;
use super::{Flight, React, State, System};
use crate::fingerprint::mix;
use crate::space::Memo;

/// What reaches an actor.
#[derive(Clone, Copy, Debug)]
pub enum Stimulus<'a, S: System> {
    /// A message.
    Message(&'a S::Message),
    /// Anything else.
    Event(&'a S::Event),
}

/// What an actor does beyond changing its state, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect<M, E> {
    /// It sends a message.
    Send(M),
    /// It lets something else happen, which the system knows how to deal with.
    Event(E),
}

/// What an actor did, remembered.
#[derive(Clone, Copy, Debug)]
pub struct Reaction {
    /// Its new state; `None` if it stays as it is.
    local: Option<u32>,
    effects: (u32, u32),
    /// The system's own mark of it.
    pub flag: bool,
}

impl Reaction {
    /// The numbers of its effects, for [`Step::effect`].
    pub fn effects(self) -> std::ops::Range<u32> {
        self.effects.0..self.effects.1
    }

    /// Whether the actor's state changed.
    pub fn changes(self) -> bool {
        self.local.is_some()
    }
}

/// A hasher for keys that are numbers already.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u8(&mut self, n: u8) {
        self.write_u64(n.into());
    }

    #[inline]
    fn write_u16(&mut self, n: u16) {
        self.write_u64(n.into());
    }

    #[inline]
    fn write_u32(&mut self, n: u32) {
        self.write_u64(n.into());
    }

    #[inline]
    fn write_u64(&mut self, n: u64) {
        self.0 = mix(self.0.rotate_left(5) ^ n);
    }

    #[inline]
    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }

    #[inline]
    fn write_isize(&mut self, n: isize) {
        self.write_u64(n as u64);
    }
}

type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mixed>>;

/// What a thread remembers of actors and worlds.
pub(super) struct Memos<S: System> {
    /// By actor: by state and stimulus.
    reactions: Vec<Map<u64, Reaction>>,
    effects: Vec<Effect<u32, S::Event>>,
    /// The numbers of events.
    events: Map<S::Event, u32>,
    /// By world and what changed it.
    worlds: Map<(u32, u64), u32>,
    /// By message and what became of it.
    messages: Map<(u32, u64), u32>,
    scratch: Vec<Effect<S::Message, S::Event>>,
    fared: Memo,
}

impl<S: System> Memos<S> {
    pub fn new(actors: usize) -> Self {
        Self {
            reactions: (0..actors).map(|_| Map::default()).collect(),
            effects: Vec::new(),
            events: Map::default(),
            worlds: Map::default(),
            messages: Map::default(),
            scratch: Vec::new(),
            fared: Memo::default(),
        }
    }

    pub fn fared(&self) -> Memo {
        self.fared
    }

    /// The world that these changes lead to; `None` if one of them was not made before.
    pub fn world_after(&self, world: u32, whats: &[u64]) -> Option<u32> {
        whats.iter().try_fold(world, |world, what| self.worlds.get(&(world, *what)).copied())
    }
}

/// A step in the making.
pub struct Step<'b, 'a, S: System> {
    system: &'a S,
    memos: &'b mut Memos<S>,
    /// The state it leads from.
    pub before: &'b State<'a, S>,
    /// The state it leads to.
    pub state: &'b mut State<'a, S>,
    /// What it makes visible.
    pub told: S::Told,
    /// What it did, if that is wanted.
    pub(super) record: Option<Box<Record>>,
}

impl<'b, 'a, S: System> Step<'b, 'a, S> {
    /// A step from `before`, of which `state` is a copy, or became another one by a step from it.
    #[inline]
    pub(super) fn new(
        system: &'a S,
        memos: &'b mut Memos<S>,
        before: &'b State<'a, S>,
        state: &'b mut State<'a, S>,
    ) -> Self {
        if state.changed {
            state.clone_from(before);
        }
        Self { system, memos, before, state, told: S::Told::default(), record: None }
    }

    #[inline]
    fn note(&mut self, note: impl FnOnce(&mut Record)) {
        if let Some(record) = &mut self.record {
            note(record);
        }
    }

    /// Lets a message reach an actor. Its state changes at once; what it does beyond that is for
    /// the caller to carry out.
    pub fn react_to_message(&mut self, actor: usize, message: Flight<'_, S::Message>) -> Reaction {
        let reaction = self.foresee(actor, message);
        self.adopt(actor, reaction)
    }

    /// What an actor would do if a message reached it.
    pub fn foresee(&mut self, actor: usize, message: Flight<'_, S::Message>) -> Reaction {
        self.remembered(actor, u64::from(message.number()) << 2, |step, effects| {
            let stimulus = Stimulus::Message(message.message());
            step.system.react(actor, step.state.local(actor), stimulus, effects)
        })
    }

    /// Lets an event reach an actor.
    pub fn react_to_event(&mut self, actor: usize, event: &S::Event) -> Reaction {
        let next = self.memos.events.len() as u32;
        let number = match self.memos.events.get(event) {
            Some(number) => *number,
            None => *self.memos.events.entry(event.clone()).or_insert(next),
        };
        let reaction = self.remembered(actor, u64::from(number) << 2 | 1, |step, effects| {
            let stimulus = Stimulus::Event(event);
            step.system.react(actor, step.state.local(actor), stimulus, effects)
        });
        self.adopt(actor, reaction)
    }

    /// Lets an event reach an actor that its own state and a small number tell, so that there is no
    /// need to make the event where the reaction is known.
    pub fn react_to_own_event(
        &mut self,
        actor: usize,
        own: u32,
        event: impl FnOnce(&S::Local) -> S::Event,
    ) -> Reaction {
        let reaction = self.remembered(actor, u64::from(own) << 2 | 2, |step, effects| {
            let event = event(step.state.local(actor));
            let stimulus = Stimulus::Event(&event);
            step.system.react(actor, step.state.local(actor), stimulus, effects)
        });
        self.adopt(actor, reaction)
    }

    fn adopt(&mut self, actor: usize, reaction: Reaction) -> Reaction {
        if let Some(local) = reaction.local {
            self.note(|record| record.set_local(actor, local));
            self.state.set_local(actor, local);
        }
        reaction
    }

    fn remembered(
        &mut self,
        actor: usize,
        stimulus: u64,
        compute: impl FnOnce(&Self, &mut Vec<Effect<S::Message, S::Event>>) -> React<S::Local>,
    ) -> Reaction {
        let key = u64::from(self.state.local_number(actor)) << 33 | stimulus;
        self.memos.fared.asked += 1;
        match self.memos.reactions[actor].get(&key) {
            Some(known) => *known,
            None => self.compute(actor, key, compute),
        }
    }

    #[cold]
    fn compute(
        &mut self,
        actor: usize,
        key: u64,
        compute: impl FnOnce(&Self, &mut Vec<Effect<S::Message, S::Event>>) -> React<S::Local>,
    ) -> Reaction {
        let mut effects = std::mem::take(&mut self.memos.scratch);
        let React { local, flag } = compute(self, &mut effects);
        let store = self.state.store();
        let local = local.map(|local| store.locals[actor].intern(Box::new(local)));
        let local = local.filter(|local| *local != self.state.local_number(actor));
        let from = self.memos.effects.len() as u32;
        self.memos.effects.extend(effects.drain(..).map(|effect| match effect {
            Effect::Send(message) => Effect::Send(store.post(self.system, message)),
            Effect::Event(event) => Effect::Event(event),
        }));
        let reaction = Reaction { local, effects: (from, self.memos.effects.len() as u32), flag };
        self.memos.scratch = effects;
        self.memos.reactions[actor].insert(key, reaction);
        self.memos.fared.computed += 1;
        reaction
    }

    /// One of a reaction's effects. A message is told as its number.
    pub fn effect(&self, n: u32) -> Effect<u32, S::Event> {
        self.memos.effects[n as usize].clone()
    }

    /// A message by its number.
    pub fn message(&self, number: u32) -> &'a S::Message {
        &self.state.store().messages.get(number).value.message
    }

    /// Puts a message at the end of its queue.
    pub fn put(&mut self, number: u32) {
        self.note(|record| record.puts.push(number));
        self.state.put(number);
    }

    /// The number of a message that is made by the environment.
    pub fn post(&mut self, message: S::Message) -> u32 {
        self.state.store().post(self.system, message)
    }

    /// The number of a message made of another one and of what `what` stands for, which is
    /// remembered.
    pub fn remake(
        &mut self,
        message: u32,
        what: u64,
        make: impl FnOnce(&S::Message) -> S::Message,
    ) -> u32 {
        let (system, store) = (self.system, self.state.store());
        let memo = self.memos.messages.entry((message, what));
        *memo
            .or_insert_with(|| store.post(system, make(&store.messages.get(message).value.message)))
    }

    /// Takes the message at this place among those in flight.
    pub fn remove(&mut self, at: usize) -> Flight<'a, S::Message> {
        self.note(|record| record.remove(at));
        self.state.remove(at)
    }

    /// Keeps only some of what is in flight.
    pub fn retain(&mut self, keep: impl FnMut(Flight<'a, S::Message>) -> bool) {
        self.note(|record| record.more = true);
        self.state.retain(keep);
    }

    /// Sets a plain word.
    pub fn set_word(&mut self, n: usize, word: u32) {
        self.note(|record| record.more = true);
        self.state.set_word(n, word);
    }

    /// Sets the world.
    pub fn set_world(&mut self, world: S::World) {
        self.note(|record| record.more = true);
        let number = self.state.store().worlds.intern(world);
        self.state.set_world(number);
    }

    /// Changes the world by a function of it and of what `what` stands for, which is remembered;
    /// `None` leaves it as it is.
    pub fn change_world(&mut self, what: u64, change: impl FnOnce(&S::World) -> Option<S::World>) {
        self.note(|record| record.worlds.push(what));
        let (store, before) = (self.state.store(), self.state.world_number());
        let memo = self.memos.worlds.entry((before, what));
        let number = *memo.or_insert_with(|| {
            let changed = change(&store.worlds.get(before).value);
            changed.map_or(before, |world| store.worlds.intern(world))
        });
        self.state.set_world(number);
    }
}
