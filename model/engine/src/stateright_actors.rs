//! stateright's [`ActorModel`] as a [`System`]: the same states and steps, counted the same.

mod of_model;
mod of_parts;
mod parts;
mod whole;

use std::borrow::Cow;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use stateright::Model;
use stateright::actor::{
    Actor, ActorModel, ActorModelAction, Envelope, Id, Network, Out, is_no_op, is_no_op_with_timer,
};

use crate::plain::{goal, is_hit};
use crate::space::Goal;
use crate::system::{Apart, Effect, React, Seen, Start, State, Step, Stimulus, System, Taken};

use parts::{Boundary, CRASH, Judge, RECOVER, nth_random, obey, random, timeout};
pub use parts::{Choice, Event, Local, Mail};
use whole::Whole;

/// An actor model. Make a space of it with [`crate::system::Actors`].
///
/// A state of stateright's is its actors' states, timers, storages, random choices and crash
/// flags, the network and the history. All of them are compared as values: a `Hash` that leaves
/// something out merges nothing here.
pub struct Stateright<A, C, H>
where
    A: Actor,
    A::Msg: Ord,
    A::Timer: Ord,
    H: Clone + Debug + Hash,
{
    model: ActorModel<A, C, H>,
    start: stateright::actor::ActorModelState<A, H>,
    boundary: Boundary,
    ordered: bool,
    duplicating: bool,
}

/// The queue of the message delivered last.
const LAST: u64 = 0;

type ModelOf<A, C, H> = ActorModel<A, C, H>;

impl<A, C, H> Stateright<A, C, H>
where
    A: Actor,
    A::Msg: Ord,
    A::Timer: Ord,
    C: Clone,
    H: Clone + Debug + Hash,
{
    /// The system of `model`. An `eventually` property of it is a tally, which a search counts and
    /// does not judge; [`crate::Graph::check_eventually`] does.
    pub fn new(model: ModelOf<A, C, H>) -> Self {
        let plain = ModelOf::<A, C, H>::new(model.cfg.clone(), model.init_history.clone());
        // Two copies of one function may have two addresses: then the boundary is asked in vain.
        let none = std::ptr::fn_addr_eq(model.within_boundary, plain.within_boundary);
        let boundary = if none { Boundary::None } else { Boundary::Asked };
        let start = model.init_states().pop().expect("an actor model has one initial state");
        let ordered = matches!(model.init_network, Network::Ordered(_));
        let duplicating = matches!(model.init_network, Network::UnorderedDuplicating(..));
        Self { model, start, boundary, ordered, duplicating }
    }

    /// The same, for a model whose `within_boundary` always says yes: generated states are not
    /// asked for it, which takes half the time of some models. The search panics, and says so, if
    /// it visits a state that is out of bounds after all.
    #[must_use]
    pub fn unbounded(self) -> Self {
        let known = self.boundary == Boundary::None;
        let boundary = if known { Boundary::None } else { Boundary::Promised };
        Self { boundary, ..self }
    }

    /// The model.
    pub fn model(&self) -> &ModelOf<A, C, H> {
        &self.model
    }
}

type Envelop<A> = Envelope<<A as Actor>::Msg>;

impl<A, C, H> Stateright<A, C, H>
where
    A: Actor + Sync,
    A::Msg: Ord + Send + Sync,
    A::Timer: Ord + Send + Sync,
    A::State: Send + Sync,
    A::Storage: Send + Sync,
    A::Random: Send + Sync,
    C: Sync,
    H: Clone + Debug + Hash + PartialEq + Send + Sync,
{
    /// Carries out what an actor sent, and remembers it in the history.
    fn carry_out(&self, step: &mut Step<'_, '_, Self>, reaction: crate::system::Reaction) {
        for n in reaction.effects() {
            let Effect::Send(number) = step.effect(n) else { continue };
            let sent = step.message(number);
            let Mail::Sent(envelope) = sent else { unreachable!("an actor sends messages") };
            self.record(step, number, 1, envelope, self.model.record_msg_out);
            let known =
                |flight: &crate::system::Flight<'_, Mail<A::Msg>>| flight.number() == number;
            if !(self.duplicating && step.state.flights().iter().any(known)) {
                step.put(number);
            }
        }
    }

    fn record(
        &self,
        step: &mut Step<'_, '_, Self>,
        number: u32,
        direction: u64,
        envelope: &Envelop<A>,
        record: fn(&C, &H, Envelope<&A::Msg>) -> Option<H>,
    ) {
        if size_of::<H>() > 0 {
            let Envelope { src, dst, ref msg } = *envelope;
            step.change_world(u64::from(number) << 1 | direction, |history| {
                record(&self.model.cfg, history, Envelope { src, dst, msg })
            });
        }
    }

    fn deliver(&self, step: &mut Step<'_, '_, Self>, at: usize) -> Taken {
        let flight = step.state.flights()[at];
        let Mail::Sent(envelope) = flight.message() else {
            unreachable!("what is delivered was sent")
        };
        let actor = usize::from(envelope.dst);
        let reaction = step.react_to_message(actor, flight);
        let ignored = reaction.flag;
        if ignored && !self.ordered {
            return Taken::Stays;
        }
        self.record(step, flight.number(), 0, envelope, self.model.record_msg_in);
        if self.duplicating {
            step.retain(|flight| matches!(flight.message(), Mail::Sent(_)));
            let last = step.post(Mail::Last(envelope.clone()));
            step.put(last);
        } else {
            step.remove(at);
        }
        self.carry_out(step, reaction);
        Taken::Leads
    }

    /// Which of the open properties a state violates, or is an example of.
    fn hits(&self, whole: &mut Whole<A, H>, seen: &Seen<'_, Self>, open: u64) -> u64 {
        whole.become_state(seen);
        let within = || (self.model.within_boundary)(&self.model.cfg, &whole.state);
        assert!(
            self.boundary != Boundary::Promised || within(),
            "the model has a boundary: leave out `unbounded`"
        );
        let properties = self.model.properties.iter().enumerate();
        let hits = properties.filter(|(n, property)| {
            open & 1 << n != 0 && is_hit(property, &self.model, &whole.state)
        });
        hits.fold(0, |all, (n, _)| all | 1 << n)
    }

    /// Lets an event reach an actor; `own` tells it from all others in the actor's state.
    fn event(
        &self,
        step: &mut Step<'_, '_, Self>,
        actor: u16,
        own: u32,
        event: impl FnOnce(&Local<A>) -> Event<A::Timer, A::Random>,
    ) -> Taken {
        let reaction = step.react_to_own_event(actor.into(), own, event);
        if reaction.flag {
            return Taken::Stays;
        }
        self.carry_out(step, reaction);
        Taken::Leads
    }
}

impl<A, C, H> System for Stateright<A, C, H>
where
    A: Actor + Sync,
    A::Msg: Ord + Send + Sync,
    A::Timer: Ord + Send + Sync,
    A::State: Send + Sync,
    A::Storage: Send + Sync,
    A::Random: Send + Sync,
    C: Sync,
    H: Clone + Debug + Hash + PartialEq + Send + Sync,
{
    type Local = Local<A>;
    type Event = Event<A::Timer, A::Random>;
    type Message = Mail<A::Msg>;
    type World = H;
    type Choice = Choice;
    type Action = ActorModelAction<A::Msg, A::Timer, A::Random>;
    type Told = ();
    type Scratch = Judge<A, H>;

    fn actors(&self) -> usize {
        self.model.actors.len()
    }

    fn start(&self) -> Start<Self> {
        let state = &self.start;
        let local = |n: usize| Local {
            state: Arc::clone(&state.actor_states[n]),
            timers: state.timers_set[n].iter().cloned().collect(),
            random: state.random_choices[n]
                .map
                .iter()
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect(),
            crashed: state.crashed[n],
            storage: state.actor_storages[n].clone(),
        };
        Start {
            locals: (0..self.actors()).map(local).collect(),
            world: state.history.clone(),
            words: Vec::new(),
            messages: whole::mail(&state.network),
        }
    }

    fn queue(&self, mail: &Mail<A::Msg>) -> Option<u64> {
        match mail {
            Mail::Last(_) => Some(LAST),
            Mail::Sent(Envelope { src, dst, .. }) => {
                let ends = (usize::from(*src) as u64) << 32 | usize::from(*dst) as u64;
                self.ordered.then_some(ends + 1)
            }
        }
    }

    fn react(
        &self,
        actor: usize,
        local: &Local<A>,
        stimulus: Stimulus<'_, Self>,
        effects: &mut Vec<Effect<Mail<A::Msg>, Self::Event>>,
    ) -> React<Local<A>> {
        let (who, id) = (&self.model.actors[actor], Id::from(actor));
        let mut state = Cow::Borrowed(&*local.state);
        let mut out = Out::new();
        let mut next = local.clone();
        let mut flag = false;
        match stimulus {
            Stimulus::Message(Mail::Last(_)) => unreachable!("it was delivered"),
            Stimulus::Message(Mail::Sent(envelope)) => {
                who.on_msg(id, &mut state, envelope.src, envelope.msg.clone(), &mut out);
                flag = is_no_op(&state, &out);
            }
            Stimulus::Event(Event::Timeout(timer)) => {
                who.on_timeout(id, &mut state, timer, &mut out);
                flag = is_no_op_with_timer(&state, &out, timer);
                next.timers.remove(timer);
            }
            Stimulus::Event(Event::Crash) => {
                next.timers.clear();
                next.random.clear();
                next.crashed = true;
            }
            Stimulus::Event(Event::Recover) => {
                state = Cow::Owned(who.on_start(id, &local.storage, &mut out));
                next.crashed = false;
            }
            Stimulus::Event(Event::Random(key, random)) => {
                who.on_random(id, &mut state, random, &mut out);
                next.random.remove(key);
            }
        }
        if let Cow::Owned(state) = state {
            next.state = Arc::new(state);
        }
        obey(&mut next, id, out, effects);
        React { local: Some(next), flag }
    }

    fn choices(&self, state: &State<'_, Self>, each: &mut impl FnMut(Choice)) {
        self.all(state, each);
    }

    fn take(&self, step: &mut Step<'_, '_, Self>, choice: Choice) -> Taken {
        match choice {
            Choice::Drop(at) => {
                step.remove(at.into());
                Taken::Leads
            }
            Choice::Deliver(at, _) => self.deliver(step, at.into()),
            Choice::Timeout(actor, n) => self.event(step, actor, timeout(n), |local| {
                let timer = local.timers.iter().nth(n.into());
                Event::Timeout(timer.expect("a timer that is set").clone())
            }),
            Choice::Crash(actor) => self.event(step, actor, CRASH, |_| Event::Crash),
            Choice::Recover(actor) => self.event(step, actor, RECOVER, |_| Event::Recover),
            Choice::Random(actor, key, n) => self.event(step, actor, random(key, n), |local| {
                let (key, random) = nth_random(local, key, n);
                Event::Random(key.clone(), random.clone())
            }),
        }
    }

    /// What is sent over a duplicating network depends on what is in flight, and a boundary may
    /// look at everything.
    fn apart(&self) -> Option<&dyn Apart<Self>> {
        (!self.duplicating && self.boundary != Boundary::Asked).then_some(self)
    }

    fn action(&self, state: &State<'_, Self>, choice: Choice) -> Self::Action {
        let envelope = |at: u16| match state.flights()[usize::from(at)].message() {
            Mail::Sent(envelope) | Mail::Last(envelope) => envelope.clone(),
        };
        let id = |actor: u16| Id::from(usize::from(actor));
        match choice {
            Choice::Drop(at) => ActorModelAction::Drop(envelope(at)),
            Choice::Deliver(at, _) => {
                let Envelope { src, dst, msg } = envelope(at);
                ActorModelAction::Deliver { src, dst, msg }
            }
            Choice::Timeout(actor, n) => {
                let timer = state.local(actor.into()).timers.iter().nth(n.into());
                ActorModelAction::Timeout(id(actor), timer.expect("a timer that is set").clone())
            }
            Choice::Crash(actor) => ActorModelAction::Crash(id(actor)),
            Choice::Recover(actor) => ActorModelAction::Recover(id(actor)),
            Choice::Random(actor, key, n) => {
                let (key, random) = nth_random(state.local(actor.into()), key, n);
                let (key, random) = (key.clone(), random.clone());
                ActorModelAction::SelectRandom { actor: id(actor), key, random }
            }
        }
    }

    fn kinds(&self) -> Vec<String> {
        ["drop", "deliver", "timeout", "crash", "recover", "random"].map(String::from).into()
    }

    fn kind(&self, choice: Choice) -> usize {
        choice.kind()
    }

    fn goals(&self) -> Vec<Goal> {
        self.model.properties.iter().map(goal).collect()
    }

    fn scratch(&self) -> Judge<A, H> {
        let whole = || Whole::new(&self.start);
        Judge { visited: whole(), generated: whole(), row: Vec::new() }
    }

    fn admits(&self, judge: &mut Judge<A, H>, state: &State<'_, Self>) -> bool {
        if self.boundary != Boundary::Asked {
            return true;
        }
        let Judge { generated, row, .. } = judge;
        generated.become_state(&state.seen(row));
        (self.model.within_boundary)(&self.model.cfg, &generated.state)
    }

    fn judge(&self, judge: &mut Judge<A, H>, state: &State<'_, Self>, open: u64) -> u64 {
        let Judge { visited, row, .. } = judge;
        self.hits(visited, &state.seen(row), open)
    }
}
