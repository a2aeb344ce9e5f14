//! Systems of actors: each actor has a state of its own and reacts to messages and events; an
//! environment lets things happen; messages are in flight.
//!
//! A state of the whole is a short row of numbers: each actor's interned state, the interned rest
//! of the world, a few plain words, the interned messages in flight. What an actor does in a state
//! when something reaches it is computed once and remembered.

mod apart;
mod at_hand;
mod flat;
mod guide;
mod met;
mod recipes;
mod state;
mod step;
mod store;

use std::hash::Hash;

use crate::space::{Goal, Memo, Sink, Space};

pub use apart::{Apart, Seen};
pub use state::{Flight, State};
pub use step::{Effect, Reaction, Step, Stimulus};
pub use store::Store;

use guide::{Guide, Visit};
use step::Memos;

/// A system of actors, its environment, and what may still happen.
///
/// Nothing here may depend on anything but its arguments: what an actor does is remembered.
pub trait System: Sync + Sized {
    /// An actor's own state.
    type Local: Hash + PartialEq + Send + Sync;
    /// What reaches an actor and is no message.
    type Event: Hash + Eq + Clone + Send;
    /// A message in flight, with its ends.
    type Message: Hash + PartialEq + Send + Sync;
    /// What is neither an actor's nor in flight: a history, a ghost.
    type World: Hash + PartialEq + Send + Sync;
    /// One of the things that can happen in a state.
    type Choice: Copy + Send;
    /// The same, as it is shown.
    type Action;
    /// What a step makes visible beside the state it leads to.
    type Told: Default;
    /// What a thread keeps for judging.
    type Scratch: Send;

    /// How many actors there are.
    fn actors(&self) -> usize;

    /// How many plain words, such as budgets, are part of a state.
    fn words(&self) -> usize {
        0
    }

    /// The actors' states, the world, the plain words and the messages in flight at the start.
    fn start(&self) -> Start<Self>;

    /// Which queue a message waits in: those of one queue are kept in the order in which they were
    /// sent. `None` if it is in no order with any other.
    fn queue(&self, message: &Self::Message) -> Option<u64>;

    /// What an actor does. `None` if its state stays as it is.
    fn react(
        &self,
        actor: usize,
        local: &Self::Local,
        stimulus: Stimulus<'_, Self>,
        effects: &mut Vec<Effect<Self::Message, Self::Event>>,
    ) -> React<Self::Local>;

    /// Tells everything that can happen, in an order that depends on the state alone.
    fn choices(&self, state: &State<'_, Self>, each: &mut impl FnMut(Self::Choice));

    /// Lets one thing happen.
    fn take(&self, step: &mut Step<'_, '_, Self>, choice: Self::Choice) -> Taken;

    /// The same system where each part of a state alone tells what it makes possible: then
    /// [`Self::choices`] tells all that [`Apart::all`] does, and in that order.
    fn apart(&self) -> Option<&dyn Apart<Self>> {
        None
    }

    /// How a choice is shown.
    fn action(&self, state: &State<'_, Self>, choice: Self::Choice) -> Self::Action;

    /// The names of the kinds of choice.
    fn kinds(&self) -> Vec<String>;

    /// The kind of a choice.
    fn kind(&self, choice: Self::Choice) -> usize;

    /// The names of the guards that [`Self::refusals`] tells of.
    fn guards(&self) -> Vec<String> {
        Vec::new()
    }

    /// Tells which guards refused something in a step. Not asked of a system that
    /// [`Self::apart`] is of.
    fn refusals(&self, step: &Step<'_, '_, Self>, each: &mut impl FnMut(usize)) {
        let _ = (step, each);
    }

    /// What is looked for.
    fn goals(&self) -> Vec<Goal>;

    /// Which goals are judged on steps, one bit each; the others are judged on states.
    fn step_goals(&self) -> u64 {
        0
    }

    /// What a thread needs for judging.
    fn scratch(&self) -> Self::Scratch;

    /// Whether a state that a step leads to is within the bounds of the model.
    fn admits(&self, scratch: &mut Self::Scratch, state: &State<'_, Self>) -> bool {
        let _ = (scratch, state);
        true
    }

    /// Which of the open goals a state hits.
    fn judge(&self, scratch: &mut Self::Scratch, state: &State<'_, Self>, open: u64) -> u64;

    /// Which of the open goals a step hits.
    fn judge_step(
        &self,
        scratch: &mut Self::Scratch,
        choice: Self::Choice,
        step: &Step<'_, '_, Self>,
        open: u64,
    ) -> u64 {
        let _ = (scratch, choice, step, open);
        0
    }
}

/// The one state in which a system starts.
#[derive(Debug)]
pub struct Start<S: System> {
    /// Each actor's state.
    pub locals: Vec<S::Local>,
    /// The world.
    pub world: S::World,
    /// The plain words.
    pub words: Vec<u32>,
    /// The messages in flight, in the order in which they were sent.
    pub messages: Vec<S::Message>,
}

/// How an actor reacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct React<L> {
    /// Its new state; `None` if it stays as it is.
    pub local: Option<L>,
    /// A mark of the system's own, given back with the reaction.
    pub flag: bool,
}

/// What became of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It leads to a state.
    Leads,
    /// It changes nothing.
    Stays,
}

/// The space of a system.
#[derive(Debug)]
pub struct Actors<S: System> {
    system: S,
    store: Store<S>,
}

/// What a thread needs to search a system.
pub struct Worker<S: System> {
    memos: Memos<S>,
    guide: Guide,
    scratch: S::Scratch,
    choices: Vec<S::Choice>,
    row: Vec<u32>,
}

impl<S: System> Actors<S> {
    /// The space of `system`, with fingerprints made with `seed`.
    pub fn new(system: S, seed: u64) -> Self {
        let store = Store::new(system.actors(), seed);
        Self { system, store }
    }

    /// The system.
    pub fn system(&self) -> &S {
        &self.system
    }

    /// The state in which it starts.
    pub fn start(&self) -> State<'_, S> {
        State::start(&self.system, &self.store)
    }

    /// The state of a row.
    pub fn state(&self, row: &[u32]) -> State<'_, S> {
        State::of_row(&self.system, &self.store, row)
    }

    /// The same state as one of another space of the same system.
    pub fn copy_of(&self, state: &State<'_, S>) -> State<'_, S>
    where
        S::Local: Clone,
        S::World: Clone,
        S::Message: Clone,
    {
        State::copied(&self.system, &self.store, state)
    }

    /// The fingerprint of a row's state.
    pub fn fingerprint(&self, row: &[u32]) -> u64 {
        self.state(row).fingerprint()
    }

    /// The number of an actor's state in rows, for a state that comes from elsewhere.
    pub fn keep_local(&self, actor: usize, local: S::Local) -> u32 {
        self.store.locals[actor].intern(Box::new(local))
    }

    /// The number of a world in rows.
    pub fn keep_world(&self, world: S::World) -> u32 {
        self.store.worlds.intern(world)
    }

    /// The number of a message in rows.
    pub fn keep_message(&self, message: S::Message) -> u32 {
        self.store.post(&self.system, message)
    }

    /// A step from a state, outside of a search. `after` is a copy of that state, which becomes
    /// the one that the step leads to.
    pub fn step<'b, 'a>(
        &'a self,
        worker: &'b mut Worker<S>,
        before: &'b State<'a, S>,
        after: &'b mut State<'a, S>,
    ) -> Step<'b, 'a, S> {
        Step::new(&self.system, &mut worker.memos, before, after)
    }
}

impl<S: System> Space for Actors<S> {
    type Action = S::Action;
    type Worker = Worker<S>;

    fn worker(&self) -> Worker<S> {
        Worker {
            memos: Memos::new(self.system.actors()),
            guide: Guide::new(self.system.actors()),
            scratch: self.system.scratch(),
            choices: Vec::new(),
            row: Vec::new(),
        }
    }

    fn seed(&self) -> u64 {
        self.store.seed()
    }

    fn kinds(&self) -> Vec<String> {
        self.system.kinds()
    }

    fn guards(&self) -> Vec<String> {
        self.system.guards()
    }

    fn goals(&self) -> Vec<Goal> {
        self.system.goals()
    }

    fn initial(&self, worker: &mut Worker<S>, sink: &mut impl Sink<S::Action>) {
        let start = self.start();
        if self.system.admits(&mut worker.scratch, &start) {
            start.write(&mut worker.row);
            sink.start(start.fingerprint(), &worker.row);
        }
    }

    fn visit(&self, worker: &mut Worker<S>, row: &[u32], sink: &mut impl Sink<S::Action>) {
        let Worker { memos, guide, scratch, choices, row: out } = worker;
        let (system, store) = (&self.system, &self.store);
        if let Some(apart) = system.apart() {
            return guide.visit(&mut Visit { system, apart, store, row, memos }, scratch, sink);
        }
        let before = self.state(row);
        let step_goals = system.step_goals();
        let open = sink.open() & !step_goals;
        if open != 0 {
            each_bit(system.judge(scratch, &before, open), |goal| sink.hit(goal));
        }
        if !sink.expands() {
            return;
        }
        choices.clear();
        system.choices(&before, &mut |choice| choices.push(choice));
        let mut after = before.clone();
        for &choice in choices.iter() {
            let kind = system.kind(choice);
            let action = || system.action(&before, choice);
            let mut step = Step::new(system, memos, &before, &mut after);
            match system.take(&mut step, choice) {
                Taken::Leads if !system.admits(scratch, step.state) => sink.leaves(kind, action),
                Taken::Leads => {
                    step.state.write(out);
                    sink.step(kind, step.state.fingerprint(), out, action);
                }
                Taken::Stays => sink.stays(kind, action),
            }
            system.refusals(&step, &mut |guard| sink.refused(guard));
            let open = sink.open() & step_goals;
            if open != 0 {
                let hits = system.judge_step(scratch, choice, &step, open);
                each_bit(hits, |goal| sink.hit_step(goal));
            }
        }
    }

    fn bytes(&self) -> u64 {
        self.store.bytes()
    }

    fn is_repeatable(&self) -> bool {
        !self.store.is_ambiguous()
    }

    fn memo(&self, worker: &Worker<S>) -> Memo {
        worker.memos.fared().plus(worker.guide.fared())
    }
}

fn each_bit(mut bits: u64, mut each: impl FnMut(usize)) {
    while bits != 0 {
        each(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}
