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
    /// By actor: the recipe of a message, by the actor's state and the message. The last is of
    /// messages that reach nobody.
    known: Vec<Flat<u32>>,
    recipes: Recipes,
    /// The actors' states in the state at hand.
    here: Vec<OfLocal>,
    /// What is in flight in it.
    sent: Vec<Sent>,
    /// What may happen in it.
    things: Vec<Thing>,
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
    /// The recipes of what it can do or undergo.
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

/// What is visited, and by whom.
pub(super) struct Visit<'v, S: System> {
    pub system: &'v S,
    pub apart: &'v dyn Apart<S>,
    pub store: &'v Store<S>,
    pub row: &'v [u32],
    pub memos: &'v mut Memos<S>,
}

/// Something that may happen in the state that is visited.
#[derive(Clone, Copy, Debug)]
struct Thing {
    recipe: u32,
    /// The actor that it reaches, or that does it; or [`NOBODY`].
    actor: u16,
    /// The place of the message, or [`OWN`].
    at: u16,
    /// Which of those of the message or the actor.
    nth: u32,
}

const NOBODY: u16 = u16::MAX;
const OWN: u16 = u16::MAX;

impl Thing {
    fn actor(self) -> Option<usize> {
        (self.actor != NOBODY).then_some(self.actor.into())
    }

    fn at(self) -> Option<usize> {
        (self.at != OWN).then_some(self.at.into())
    }
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
        if !sink.expands() {
            return;
        }
        self.gather(visit);
        let (sent, things) = (std::mem::take(&mut self.sent), std::mem::take(&mut self.things));
        for thing in &things {
            let recipe = &self.recipes.all[thing.recipe as usize];
            if weight >= recipe.below {
                continue;
            }
            self.fared.asked += 1;
            let (kind, action) = (recipe.kind.into(), || visit.action(*thing));
            match recipe.way {
                Way::Stays => {
                    sink.stays(kind, action);
                    continue;
                }
                Way::Leads => {
                    let known = (visit.store, &*visit.memos);
                    let place = (thing.actor.into(), thing.at());
                    let sum = self.recipes.follow(known, (visit.row, &sent), place, thing.recipe);
                    if let Some(sum) = sum {
                        let edits = (visit.row, &self.recipes.edits);
                        sink.edited(kind, fingerprint_of(sum), edits, action);
                        continue;
                    }
                }
                Way::New | Way::Taken => {}
            }
            self.take(visit, *thing, sink);
        }
        (self.sent, self.things) = (sent, things);
    }

    /// Finds what may happen in the state at hand.
    fn gather<S: System>(&mut self, visit: &Visit<'_, S>) {
        let (mut queue, nobody) = (None, self.here.len());
        self.things.clear();
        for (at, &Sent { number, key, .. }) in (0..).zip(&self.sent) {
            // Of equal messages and of a queue, the first.
            if queue == Some(key) {
                continue;
            }
            queue = Some(key);
            let (from, to) = self.messages[number as usize].ends;
            for (nth, &End { kind, map }) in (0..).zip(&self.ends[from as usize..to as usize]) {
                let (mut actor, mut key) = (NOBODY, u64::from(number));
                if map as usize != nobody {
                    if !self.here[map as usize].hears {
                        continue;
                    }
                    actor = map as u16;
                    key |= u64::from(visit.row[map as usize]) << 32;
                }
                let known = &mut self.known[map as usize];
                let recipe = known.get(key).copied().unwrap_or_else(|| {
                    let recipe = self.recipes.add(kind, u32::MAX);
                    known.insert(key, recipe);
                    recipe
                });
                self.things.push(Thing { recipe, actor, at, nth });
            }
        }
        for (actor, local) in (0..).zip(&self.here) {
            let (from, to) = local.owns;
            let own = |recipe| Thing { recipe, actor, at: OWN, nth: recipe - from };
            self.things.extend((from..to).map(own));
        }
    }

    /// Lets a thing happen, and remembers what it did if nothing is known of that yet.
    #[cold]
    fn take<S: System>(
        &mut self,
        visit: &mut Visit<'_, S>,
        thing: Thing,
        sink: &mut impl Sink<S::Action>,
    ) {
        self.fared.computed += 1;
        let Recipe { way, kind, .. } = self.recipes.all[thing.recipe as usize];
        let before = visit.state();
        let choice = visit.choice(&before, thing);
        let mut after = before.clone();
        let mut step = Step::new(visit.system, visit.memos, &before, &mut after);
        step.record = (way == Way::New).then(Box::<Record>::default);
        let taken = visit.system.take(&mut step, choice);
        let record = step.record.take();
        let action = || visit.system.action(&before, choice);
        match taken {
            Taken::Stays => sink.stays(kind.into(), action),
            Taken::Leads => {
                after.write(&mut self.row);
                sink.step(kind.into(), after.fingerprint(), &self.row, action);
            }
        }
        if let Some(record) = record {
            let of = (thing.actor(), thing.at());
            self.recipes.learn(thing.recipe, &before, of, (taken, &record));
        }
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
        let (kept, from) = (visit.store.locals[actor].get(number), self.recipes.all.len() as u32);
        visit.apart.of_actor(actor, &kept.value, &mut |choice, below| {
            self.recipes.add(visit.system.kind(choice) as u32, below);
        });
        let owns = (from, self.recipes.all.len() as u32);
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

impl<'v, S: System> Visit<'v, S> {
    fn state(&self) -> State<'v, S> {
        State::of_row(self.system, self.store, self.row)
    }

    fn choice(&self, state: &State<'_, S>, thing: Thing) -> S::Choice {
        let mut all = Vec::new();
        match (thing.at(), thing.actor()) {
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
        all[thing.nth as usize]
    }

    fn action(&self, thing: Thing) -> S::Action {
        let state = self.state();
        self.system.action(&state, self.choice(&state, thing))
    }
}
