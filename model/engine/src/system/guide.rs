//! The visit of a state whose parts tell what can happen. A thread asks once what a part makes
//! possible, and keeps it with what it leads to.

use super::apart::{Apart, Seen};
use super::at_hand::{AtHand, Thing};
use super::met::Met;
use super::recipes::{Recipe, Recipes, Record, Way};
use super::state::fingerprint_of;
use super::step::Memos;
use super::{State, Step, Store, System, Taken, each_bit};
use crate::edits::Edits;
use crate::space::{Memo, Sink};

/// What a thread knows of a system whose parts tell what can happen.
#[derive(Debug)]
pub(super) struct Guide {
    at_hand: AtHand,
    known: Known,
}

/// What does not depend on the state at hand.
#[derive(Debug)]
struct Known {
    met: Met,
    recipes: Recipes,
    row: Vec<u32>,
    fared: Memo,
}

/// What is visited, and by whom.
pub(super) struct Visit<'v, S: System> {
    pub system: &'v S,
    pub apart: &'v dyn Apart<S>,
    pub store: &'v Store<S>,
    pub row: &'v [u32],
    pub memos: &'v mut Memos<S>,
}

impl Guide {
    pub fn new(actors: usize) -> Self {
        let (met, recipes) = (Met::new(actors), Recipes::default());
        let known = Known { met, recipes, row: Vec::new(), fared: Memo::default() };
        Self { at_hand: AtHand::default(), known }
    }

    pub fn fared(&self) -> Memo {
        self.known.fared
    }

    /// Judges a state and emits its successors.
    pub fn visit<S: System>(
        &mut self,
        visit: &mut Visit<'_, S>,
        scratch: &mut S::Scratch,
        sink: &mut impl Sink<S::Action>,
    ) {
        let Self { at_hand, known } = self;
        while let Err(unmet) = at_hand.turn_to(visit, &known.met) {
            known.met.meet(&mut known.recipes, visit, unmet);
        }
        let open = sink.open();
        if open != 0 {
            let (store, row, first) = (visit.store, visit.row, at_hand.first);
            let seen = Seen { store, row, first, met: Some(&known.met) };
            let hits = visit.apart.judge(scratch, &seen, open);
            each_bit(hits, |goal| sink.hit(goal));
        }
        if !sink.expands() {
            return;
        }
        for &thing in &at_hand.things {
            known.tell(visit, at_hand, thing, sink);
        }
        for (actor, local) in at_hand.here.iter().enumerate() {
            for recipe in local.owns.0..local.owns.1 {
                known.tell(visit, at_hand, Thing::own(actor, recipe), sink);
            }
        }
    }
}

impl Known {
    /// Tells what happens, where it is possible.
    #[expect(clippy::inline_always, reason = "it is done for every generated state")]
    #[inline(always)]
    fn tell<S: System>(
        &mut self,
        visit: &mut Visit<'_, S>,
        at_hand: &AtHand,
        thing: Thing,
        sink: &mut impl Sink<S::Action>,
    ) {
        let Some(recipe) = self.recipes.all.get(thing.recipe as usize) else {
            return self.meet(visit, at_hand, thing, sink);
        };
        if at_hand.weight >= recipe.below {
            return;
        }
        self.fared.asked += 1;
        let action = || visit.action(at_hand, thing);
        match recipe.way {
            Way::Stays => return sink.stays(recipe.kind.into(), action),
            Way::Leads => {
                let known = (visit.store, &*visit.memos);
                let of = (at_hand, visit.row, &self.met, thing);
                if let Some((sum, world)) = self.recipes.follow(known, of, recipe) {
                    let edit = |edits: &mut Edits<'_>| self.recipes.edit(edits, of, recipe, world);
                    let (kind, fingerprint) = (recipe.kind.into(), fingerprint_of(sum));
                    return sink.edited(kind, fingerprint, (visit.row, edit), action);
                }
            }
            Way::New | Way::Taken => {}
        }
        self.take(visit, at_hand, thing, sink);
    }

    /// Lets a message reach an actor in a state in which it did not before.
    #[cold]
    fn meet<S: System>(
        &mut self,
        visit: &mut Visit<'_, S>,
        at_hand: &AtHand,
        thing: Thing,
        sink: &mut impl Sink<S::Action>,
    ) {
        self.fared.asked += 1;
        let at = thing.at().expect("an actor's own recipes are met with its state");
        let message = visit.row[at_hand.first + at];
        let recipe = self.met.add(&mut self.recipes, visit.row, thing.actor(), message);
        self.take(visit, at_hand, Thing { recipe, ..thing }, sink);
    }

    /// Lets a thing happen, and remembers what it did if nothing is known of that yet.
    #[cold]
    fn take<S: System>(
        &mut self,
        visit: &mut Visit<'_, S>,
        at_hand: &AtHand,
        thing: Thing,
        sink: &mut impl Sink<S::Action>,
    ) {
        self.fared.computed += 1;
        let Recipe { way, kind, .. } = self.recipes.all[thing.recipe as usize];
        let before = visit.state();
        let choice = visit.choice(at_hand, thing);
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
}

impl<'v, S: System> Visit<'v, S> {
    fn state(&self) -> State<'v, S> {
        State::of_row(self.system, self.store, self.row)
    }

    fn action(&self, at_hand: &AtHand, thing: Thing) -> S::Action {
        self.system.action(&self.state(), self.choice(at_hand, thing))
    }

    /// What there is to choose where this happens.
    fn choice(&self, at_hand: &AtHand, thing: Thing) -> S::Choice {
        let (state, mut chosen, mut nth) = (self.state(), None, 0);
        match (thing.at(), thing.actor()) {
            (Some(at), actor) => {
                let message = state.flights()[at].message();
                self.apart.of_message(at, message, &mut |choice, to| {
                    chosen = chosen.or((to == actor).then_some(choice));
                });
            }
            (None, actor) => {
                let actor = actor.expect("an actor does it where no message is");
                let first = at_hand.here[actor].owns.0;
                self.apart.of_actor(actor, state.local(actor), &mut |choice, _| {
                    chosen = chosen.or((first + nth == thing.recipe).then_some(choice));
                    nth += 1;
                });
            }
        }
        chosen.expect("what a part told once it tells each time")
    }
}
