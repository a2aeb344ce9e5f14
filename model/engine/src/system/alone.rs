//! Steps of which the outcome depends on one actor alone: what such a step changes is remembered
//! as a whole, so that the next one like it is told by its fingerprint, and its state is only made
//! if it is new.

use smallvec::SmallVec;

use super::flat::Flat;
use super::state::{adds, fingerprint_of};
use super::step::Memos;
use super::{Flight, State, Step, System, Taken};
use crate::edits::Edits;
use crate::space::Memo;

/// What a step depends on, beside the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alone {
    /// The message at this place, which reaches the actor.
    Message {
        /// The actor.
        actor: usize,
        /// The place among the messages in flight.
        at: usize,
    },
    /// The actor's state and a number, as in [`Step::react_to_own_event`].
    Own {
        /// The actor.
        actor: usize,
        /// The number.
        own: u32,
    },
    /// The message at this place, which reaches nobody.
    Lost {
        /// The place among the messages in flight.
        at: usize,
    },
}

impl Alone {
    fn at(self) -> Option<usize> {
        match self {
            Self::Message { at, .. } | Self::Lost { at } => Some(at),
            Self::Own { .. } => None,
        }
    }
}

/// What a step did, while it is taken for the first time.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The actor whose state changed, and the number of its new state.
    pub local: Option<(usize, u32)>,
    /// The place of the message that was taken out.
    pub removed: Option<usize>,
    /// The numbers of messages that were put in flight.
    pub puts: SmallVec<[u32; 4]>,
    /// What changed the world, as in [`Step::change_world`].
    pub worlds: SmallVec<[u64; 4]>,
    /// Whether it did anything else, or in another order.
    pub more: bool,
}

impl Record {
    /// An actor's state changed.
    pub fn set_local(&mut self, actor: usize, number: u32) {
        self.more |= self.local.replace((actor, number)).is_some();
    }

    /// A message was taken out.
    pub fn remove(&mut self, at: usize) {
        self.more |= self.removed.replace(at).is_some() || !self.puts.is_empty();
    }
}

/// What is known of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Way {
    /// It changes nothing.
    #[default]
    Stays,
    /// It leads to a state.
    Leads,
    /// It has to be taken each time.
    Unknown,
}

/// What a step of an actor changes.
#[derive(Clone, Copy, Debug, Default)]
struct Recipe {
    /// What the change of the actor's state adds to the sum of the state's parts.
    sum: u64,
    /// The number of the actor's new state, or [`SAME`].
    local: u32,
    /// Where its messages begin among all of [`Recipes::puts`].
    puts: u32,
    /// Where its changes of the world begin among all of [`Recipes::worlds`].
    worlds: u32,
    put: u8,
    changed: u8,
    way: Way,
}

const SAME: u32 = u32::MAX;

/// A message that is in flight, or to be put there.
#[derive(Clone, Copy, Debug)]
struct Put {
    number: u32,
    key: u64,
    mark: u64,
}

impl Put {
    #[inline]
    fn of<M>(flight: Flight<'_, M>) -> Self {
        Self { number: flight.number(), key: flight.key(), mark: flight.mark() }
    }
}

/// What a thread remembers of steps.
#[derive(Debug, Default)]
pub(super) struct Recipes {
    /// By actor: by state and stimulus. The last is of messages that get lost.
    known: Vec<Flat<Recipe>>,
    puts: Vec<Put>,
    worlds: Vec<u64>,
    /// The numbers of the actors' states in the state at hand.
    locals: Vec<u32>,
    /// What is in flight in the state at hand.
    there: Vec<Put>,
    edits: Edits,
    fared: Memo,
}

/// What could be foretold of a step.
pub(super) enum Foretold<'r> {
    /// It changes nothing.
    Stays,
    /// It leads to the state with this fingerprint, which these edits make of the state at hand.
    Leads(u64, &'r Edits),
    /// It has to be taken.
    Nothing {
        /// Whether what it does is to be remembered.
        learns: bool,
    },
}

impl Recipes {
    pub fn new(actors: usize) -> Self {
        Self { known: (0..=actors).map(|_| Flat::default()).collect(), ..Self::default() }
    }

    pub fn fared(&self) -> Memo {
        self.fared
    }

    /// From now on it is about this state.
    pub fn turn_to<S: System>(&mut self, state: &State<'_, S>) {
        self.locals.clear();
        self.locals.extend((0..state.actors()).map(|actor| state.local_number(actor)));
        self.there.clear();
        self.there.extend(state.flights().iter().map(|flight| Put::of(*flight)));
    }

    /// Which map a step is looked up in, and by what.
    #[expect(clippy::inline_always, reason = "it is done for every generated state")]
    #[inline(always)]
    fn place(&self, alone: Alone) -> (usize, u64) {
        let message = |at: usize| u64::from(self.there[at].number) << 1;
        let local = |actor: usize| u64::from(self.locals[actor]) << 33;
        match alone {
            Alone::Message { actor, at } => (actor, local(actor) | message(at)),
            Alone::Own { actor, own } => (actor, local(actor) | u64::from(own) << 1 | 1),
            Alone::Lost { at } => (self.known.len() - 1, message(at)),
        }
    }

    /// What a step from the state at hand leads to, as far as it is known.
    #[expect(clippy::inline_always, reason = "it is done for every generated state")]
    #[inline(always)]
    pub fn foretell<S: System>(
        &mut self,
        memos: &Memos<S>,
        before: &State<'_, S>,
        alone: Alone,
    ) -> Foretold<'_> {
        let (map, key) = self.place(alone);
        self.fared.asked += 1;
        let Some(&recipe) = self.known[map].get(key) else {
            self.fared.computed += 1;
            return Foretold::Nothing { learns: true };
        };
        match recipe.way {
            Way::Stays => Foretold::Stays,
            Way::Unknown => Foretold::Nothing { learns: false },
            Way::Leads => match self.follow(memos, before, alone, recipe, map) {
                Some(sum) => Foretold::Leads(fingerprint_of(sum), &self.edits),
                None => Foretold::Nothing { learns: false },
            },
        }
    }

    /// Makes the edits, and the sum of the parts of the state that they lead to; `None` if the
    /// world was never changed like that.
    #[expect(clippy::inline_always, reason = "it is done for every generated state")]
    #[inline(always)]
    fn follow<S: System>(
        &mut self,
        memos: &Memos<S>,
        before: &State<'_, S>,
        alone: Alone,
        recipe: Recipe,
        actor: usize,
    ) -> Option<u64> {
        let mut sum = before.sum.wrapping_add(recipe.sum);
        self.edits.clear();
        if recipe.local != SAME {
            self.edits.set(actor, recipe.local);
        }
        if recipe.changed > 0 {
            let whats = &self.worlds[recipe.worlds as usize..][..recipe.changed.into()];
            let world = memos.world_after(before.world_number(), whats)?;
            if world != before.world_number() {
                sum = sum.wrapping_add(before.sum_with_world(world));
                self.edits.set(before.actors(), world);
            }
        }
        let (there, first) = (&self.there[..], before.place_of_flights());
        let taken = alone.at().map(|at| {
            sum = sum.wrapping_sub(sum_without(there, at));
            self.edits.remove(first + at);
            there[at].key
        });
        let puts = &self.puts[recipe.puts as usize..][..recipe.put.into()];
        for (n, put) in puts.iter().enumerate() {
            // Sorted as they are, those of its queue stand just before its place.
            let ahead_of = |others: &[Put]| others.iter().filter(|it| it.key == put.key).count();
            let place = there.iter().take_while(|other| other.key <= put.key).count();
            let mut ahead = ahead_of(&there[..place]) + ahead_of(&puts[..n]);
            let mut at = place + puts[..n].iter().filter(|other| other.key <= put.key).count();
            if let Some(taken) = taken {
                at -= usize::from(taken <= put.key);
                ahead -= usize::from(taken == put.key);
            }
            sum = sum.wrapping_add(adds::flight(put.mark, ahead));
            self.edits.insert(first + at, put.number);
        }
        Some(sum)
    }

    /// Remembers what a step did.
    #[cold]
    pub fn learn<S: System>(
        &mut self,
        step: &Step<'_, '_, S>,
        alone: Alone,
        taken: Taken,
        record: &Record,
    ) {
        let before = step.before;
        let (map, key) = self.place(alone);
        let (puts, worlds) = (self.puts.len() as u32, self.worlds.len() as u32);
        let (put, changed) = (record.puts.len() as u8, record.worlds.len() as u8);
        let stays = Recipe { local: SAME, puts, worlds, ..Recipe::default() };
        let recipe = match (taken, record.local) {
            (Taken::Stays, _) => stays,
            _ if !record.is_of(alone) => Recipe { way: Way::Unknown, ..stays },
            (Taken::Leads, None) => Recipe { put, changed, way: Way::Leads, ..stays },
            (Taken::Leads, Some((actor, local))) => {
                let sum = before.sum_with_local(actor, local);
                Recipe { sum, local, put, changed, way: Way::Leads, ..stays }
            }
        };
        if recipe.way == Way::Leads {
            self.puts.extend(record.puts.iter().map(|&number| Put::of(before.flight(number))));
            self.worlds.extend(&record.worlds);
        }
        self.known[map].insert(key, recipe);
    }
}

/// How much less the sum is if the message at this place is taken out.
#[inline]
fn sum_without(there: &[Put], at: usize) -> u64 {
    let Put { key, mark, .. } = there[at];
    let ahead = there[..at].iter().rev().take_while(|other| other.key == key).count();
    let mut less = adds::flight(mark, ahead);
    let behind = there[at + 1..].iter().take_while(|other| other.key == key);
    for (ahead, moved) in (ahead..).zip(behind) {
        // It moves up.
        less = less.wrapping_add(adds::flight(moved.mark, ahead + 1));
        less = less.wrapping_sub(adds::flight(moved.mark, ahead));
    }
    less
}

impl Record {
    /// Whether a step that depends on this alone can be remembered.
    fn is_of(&self, alone: Alone) -> bool {
        let actor = match alone {
            Alone::Message { actor, .. } | Alone::Own { actor, .. } => Some(actor),
            Alone::Lost { .. } => None,
        };
        let short = |len: usize| u8::try_from(len).is_ok();
        !self.more
            && self.local.is_none_or(|(changed, _)| Some(changed) == actor)
            && self.removed == alone.at()
            && short(self.puts.len())
            && short(self.worlds.len())
    }
}
