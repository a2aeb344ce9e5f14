//! The visit of a state whose parts tell what can happen. A thread asks once what a part makes
//! possible, and keeps it with what it leads to.

use super::apart::{Apart, Seen, Sent};
use super::flat::Flat;
use super::recipes::{Recipe, Recipes, Record, Way};
use super::state::{adds, fingerprint_of};
use super::step::Memos;
use super::{State, Step, Store, System, Taken, each_bit};
use crate::space::{Memo, Sink};

/// What a thread knows of the parts of states.
#[derive(Debug, Default)]
pub(super) struct Guide {
    /// By number.
    messages: Vec<OfMessage>,
    /// What can happen to messages, one after another.
    ends: Vec<End>,
    /// By actor, by number.
    locals: Vec<Vec<OfLocal>>,
    /// What actors can do, one state after another.
    owns: Vec<Own>,
    /// By actor: what a message leads to, by the actor's state and the message. The last is of
    /// messages that reach nobody.
    known: Vec<Flat<Recipe>>,
    recipes: Recipes,
    /// The actors' states in the state at hand.
    here: Vec<OfLocal>,
    /// What is in flight in it.
    sent: Vec<Sent>,
    row: Vec<u32>,
    fared: Memo,
}

/// What is known of a message.
#[derive(Clone, Copy, Debug)]
struct OfMessage {
    sent: Sent,
    /// Its part of [`Guide::ends`].
    ends: (u32, u32),
}

/// What is known of an actor's state.
#[derive(Clone, Copy, Debug)]
struct OfLocal {
    mark: u64,
    weight: u32,
    hears: bool,
    /// Its part of [`Guide::owns`].
    owns: (u32, u32),
}

/// No part of a list: nothing is known yet.
const UNMET: (u32, u32) = (u32::MAX, 0);

/// Something that can happen to a message.
#[derive(Clone, Copy, Debug)]
struct End {
    kind: u32,
    /// Which map of [`Guide::known`] it is in.
    map: u32,
}

/// Something that an actor can do or undergo.
#[derive(Clone, Copy, Debug)]
struct Own {
    recipe: Recipe,
    kind: u32,
    below: u32,
}

/// What is visited, and by whom.
pub(super) struct Visit<'v, S: System> {
    pub system: &'v S,
    pub apart: &'v dyn Apart<S>,
    pub store: &'v Store<S>,
    pub row: &'v [u32],
    pub memos: &'v mut Memos<S>,
}

/// One of the things that can happen in the state that is visited.
#[derive(Clone, Copy, Debug)]
struct Which {
    /// The actor that it reaches, or that does it.
    actor: Option<usize>,
    /// The place of the message.
    at: Option<usize>,
    /// Which of those of the message or the actor.
    nth: u32,
}

impl Guide {
    pub fn new(actors: usize) -> Self {
        Self {
            locals: vec![Vec::new(); actors],
            known: (0..=actors).map(|_| Flat::default()).collect(),
            ..Self::default()
        }
    }

    pub fn fared(&self) -> Memo {
        self.fared
    }

    /// Judges a state and emits its successors.
    pub fn visit<S: System>(
        &mut self,
        visit: &mut Visit<'_, S>,
        scratch: &mut S::Scratch,
        sink: &mut impl Sink<S::Action>,
    ) {
        let weight = self.turn_to(visit);
        let open = sink.open();
        if open != 0 {
            let Visit { store, row, .. } = *visit;
            let seen = Seen { store, row, sent: &self.sent };
            let hits = visit.apart.judge(scratch, &seen, open);
            each_bit(hits, |goal| sink.hit(goal));
        }
        if sink.expands() {
            let sent = std::mem::take(&mut self.sent);
            self.visit_messages(visit, &sent, sink);
            self.visit_actors(visit, (&sent, weight), sink);
            self.sent = sent;
        }
    }

    #[inline(never)]
    fn visit_messages<S: System>(
        &mut self,
        visit: &mut Visit<'_, S>,
        sent: &[Sent],
        sink: &mut impl Sink<S::Action>,
    ) {
        let (mut queue, nobody) = (None, self.here.len());
        for (at, &Sent { number, key, .. }) in sent.iter().enumerate() {
            // Of equal messages and of a queue, the first.
            if queue.replace(key) == Some(key) {
                continue;
            }
            let (from, to) = self.messages[number as usize].ends;
            for n in from..to {
                let End { kind, map } = self.ends[n as usize];
                let (mut actor, mut key) = (None, u64::from(number));
                if map as usize != nobody {
                    if !self.here[map as usize].hears {
                        continue;
                    }
                    actor = Some(map as usize);
                    key |= u64::from(visit.row[map as usize]) << 32;
                }
                let which = Which { actor, at: Some(at), nth: n - from };
                let Self { known, recipes, fared, .. } = self;
                let recipe = known[map as usize].get(key);
                fared.asked += 1;
                if !recipe.is_some_and(|it| recipes.tell(visit, sent, it, (kind, which), sink)) {
                    let recipe = recipe.copied();
                    let taken = self.take(visit, recipe, (kind, which), sink);
                    self.known[map as usize].insert(key, taken);
                }
            }
        }
    }

    #[inline(never)]
    fn visit_actors<S: System>(
        &mut self,
        visit: &mut Visit<'_, S>,
        (sent, weight): (&[Sent], u32),
        sink: &mut impl Sink<S::Action>,
    ) {
        for actor in 0..self.here.len() {
            let (from, to) = self.here[actor].owns;
            for n in from..to {
                let Own { ref recipe, kind, below } = self.owns[n as usize];
                if weight < below {
                    let which = Which { actor: Some(actor), at: None, nth: n - from };
                    self.fared.asked += 1;
                    if !self.recipes.tell(visit, sent, recipe, (kind, which), sink) {
                        let recipe = Some(*recipe);
                        let taken = self.take(visit, recipe, (kind, which), sink);
                        self.owns[n as usize].recipe = taken;
                    }
                }
            }
        }
    }

    /// Lets a thing happen. Returns what is known of it from now on.
    #[cold]
    fn take<S: System>(
        &mut self,
        visit: &mut Visit<'_, S>,
        recipe: Option<Recipe>,
        (kind, which): (u32, Which),
        sink: &mut impl Sink<S::Action>,
    ) -> Recipe {
        self.fared.computed += 1;
        let recipe = recipe.unwrap_or_default();
        let before = visit.state();
        let choice = visit.choice(&before, which);
        let mut after = before.clone();
        let mut step = Step::new(visit.system, visit.memos, &before, &mut after);
        step.record = (recipe.way == Way::New).then(Box::<Record>::default);
        let taken = visit.system.take(&mut step, choice);
        let record = step.record.take();
        match taken {
            Taken::Stays => sink.stays(kind as usize, || visit.action(which)),
            Taken::Leads => {
                after.write(&mut self.row);
                let action = || visit.action(which);
                sink.step(kind as usize, after.fingerprint(), &self.row, action);
            }
        }
        let of = (which.actor, which.at);
        record.map_or(recipe, |record| self.recipes.learn(&before, of, taken, &record))
    }

    /// From now on it is about this state. Returns what its actors' states weigh.
    fn turn_to<S: System>(&mut self, visit: &Visit<'_, S>) -> u32 {
        let (row, store, actors) = (visit.row, visit.store, self.locals.len());
        let (mut sum, mut weight) = (store.worlds.get(row[actors]).mark, 0);
        self.here.clear();
        for (actor, &number) in row[..actors].iter().enumerate() {
            let local = match self.locals[actor].get(number as usize) {
                Some(local) if local.owns != UNMET => *local,
                _ => self.meet_local(visit, actor, number),
            };
            sum = sum.wrapping_add(local.mark);
            weight += local.weight;
            self.here.push(local);
        }
        let (words, flights) = row[actors + 1..].split_at(visit.system.words());
        for (n, word) in words.iter().enumerate() {
            sum = sum.wrapping_add(adds::word(n, *word, store.seed()));
        }
        self.recipes.first = actors + 1 + words.len();
        self.sent.clear();
        self.sent.reserve(flights.len());
        let (mut queue, mut ahead) = (None, 0);
        for &number in flights {
            let sent = match self.messages.get(number as usize) {
                Some(message) if message.ends != UNMET => message.sent,
                _ => self.meet_message(visit, number),
            };
            ahead = if queue == Some(sent.key) { ahead + 1 } else { 0 };
            queue = Some(sent.key);
            sum = sum.wrapping_add(adds::flight(sent.mark, ahead));
            self.sent.push(sent);
        }
        self.recipes.sum = sum;
        weight
    }

    #[cold]
    fn meet_local<S: System>(
        &mut self,
        visit: &Visit<'_, S>,
        actor: usize,
        number: u32,
    ) -> OfLocal {
        let (kept, from) = (visit.store.locals[actor].get(number), self.owns.len() as u32);
        visit.apart.of_actor(actor, &kept.value, &mut |choice, below| {
            let kind = visit.system.kind(choice) as u32;
            self.owns.push(Own { recipe: Recipe::default(), kind, below });
        });
        let owns = (from, self.owns.len() as u32);
        let (weight, hears) = (visit.apart.weight(&kept.value), visit.apart.hears(&kept.value));
        let met = OfLocal { mark: kept.mark, weight, hears, owns };
        put(&mut self.locals[actor], number, OfLocal { owns: UNMET, ..met }, met);
        met
    }

    #[cold]
    fn meet_message<S: System>(&mut self, visit: &Visit<'_, S>, number: u32) -> Sent {
        let flight = visit.store.flight(number);
        let (from, nobody) = (self.ends.len() as u32, self.locals.len());
        visit.apart.of_message(0, flight.message(), &mut |choice, actor| {
            let kind = visit.system.kind(choice) as u32;
            self.ends.push(End { kind, map: actor.unwrap_or(nobody) as u32 });
        });
        let sent = Sent::of(flight);
        let met = OfMessage { sent, ends: (from, self.ends.len() as u32) };
        put(&mut self.messages, number, OfMessage { sent, ends: UNMET }, met);
        sent
    }
}

/// Sets what is known of this number, and nothing of those before it that were not met.
fn put<T: Clone>(known: &mut Vec<T>, number: u32, unmet: T, met: T) {
    let number = number as usize;
    if known.len() <= number {
        known.resize(number + 1, unmet);
    }
    known[number] = met;
}

impl Recipes {
    /// Tells where a thing leads. Returns whether that is known.
    #[expect(clippy::inline_always, reason = "it is done for every generated state")]
    #[inline(always)]
    fn tell<S: System>(
        &mut self,
        visit: &Visit<'_, S>,
        sent: &[Sent],
        recipe: &Recipe,
        (kind, which): (u32, Which),
        sink: &mut impl Sink<S::Action>,
    ) -> bool {
        match recipe.way {
            Way::Stays => {
                sink.stays(kind as usize, || visit.action(which));
                true
            }
            Way::Leads => {
                let known = (visit.store, &*visit.memos);
                let place = (which.actor.unwrap_or_default(), which.at);
                let sum = self.follow(known, (visit.row, sent), place, recipe);
                if let Some(sum) = sum {
                    let edits = (visit.row, &self.edits);
                    let action = || visit.action(which);
                    sink.edited(kind as usize, fingerprint_of(sum), edits, action);
                }
                sum.is_some()
            }
            Way::New | Way::Taken => false,
        }
    }
}

impl<'v, S: System> Visit<'v, S> {
    fn state(&self) -> State<'v, S> {
        State::of_row(self.system, self.store, self.row)
    }

    fn choice(&self, state: &State<'_, S>, which: Which) -> S::Choice {
        let mut all = Vec::new();
        match (which.at, which.actor) {
            (Some(at), _) => {
                let message = state.flights()[at].message();
                self.apart.of_message(at, message, &mut |choice, _| all.push(choice));
            }
            (None, actor) => {
                let actor = actor.expect("an actor does it where no message is");
                let local = state.local(actor);
                self.apart.of_actor(actor, local, &mut |choice, _| all.push(choice));
            }
        }
        all[which.nth as usize]
    }

    fn action(&self, which: Which) -> S::Action {
        let state = self.state();
        self.system.action(&state, self.choice(&state, which))
    }
}
