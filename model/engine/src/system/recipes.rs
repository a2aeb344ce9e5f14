//! What a step of one actor changes, remembered as a whole: the next one like it is told by its
//! fingerprint, and its state is only made if it is new.

use smallvec::SmallVec;

use super::apart::Sent;
use super::state::adds;
use super::step::Memos;
use super::{State, Store, System, Taken};
use crate::edits::Edits;

/// What a step did, while it is taken for the first time.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The actor whose state changed, and the number of its new state.
    pub local: Option<(usize, u32)>,
    /// The place of the message that was taken out.
    pub removed: Option<usize>,
    /// The numbers of messages that were put in flight.
    pub puts: SmallVec<[u32; 4]>,
    /// What changed the world, as in [`super::Step::change_world`].
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

    /// Whether it did no more than a step of this actor, with the message at this place.
    fn is_of(&self, actor: Option<usize>, at: Option<usize>) -> bool {
        let short = |len: usize| u8::try_from(len).is_ok();
        !self.more
            && self.local.is_none_or(|(changed, _)| Some(changed) == actor)
            && self.removed == at
            && short(self.puts.len())
            && short(self.worlds.len())
    }
}

/// What is known of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Nothing yet.
    New,
    /// It changes nothing.
    Stays,
    /// It leads to a state.
    Leads,
    /// It has to be taken each time.
    Taken,
}

/// What a step of an actor changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recipe {
    /// What the change of the actor's state adds to the sum of the state's parts.
    sum: u64,
    /// The number of the actor's new state, or [`SAME`].
    local: u32,
    /// Where its messages begin among all of [`Recipes::puts`].
    puts: u32,
    /// Where its changes of the world begin among all of [`Recipes::worlds`].
    worlds: u32,
    /// It is possible where all weigh less than this.
    pub below: u32,
    put: u8,
    changed: u8,
    /// What is known.
    pub way: Way,
    /// Its kind.
    pub kind: u8,
}

const SAME: u32 = u32::MAX;

/// What all recipes of a thread share, and what of the state at hand they are followed from.
#[derive(Debug, Default)]
pub(super) struct Recipes {
    /// All of them.
    pub all: Vec<Recipe>,
    puts: Vec<Sent>,
    worlds: Vec<u64>,
    /// The sum of the parts of the state at hand.
    pub sum: u64,
    /// Where in its row the messages begin.
    pub first: usize,
    /// What the step that was followed last makes of its row.
    pub edits: Edits,
}

impl Recipes {
    /// The number of a new recipe, of which this is known and nothing else.
    pub fn add(&mut self, kind: u32, below: u32) -> u32 {
        let kind = u8::try_from(kind).expect("a system has at most 256 kinds of choice");
        let (puts, worlds, put, changed) = (0, 0, 0, 0);
        let (sum, local, way) = (0, SAME, Way::New);
        self.all.push(Recipe { sum, local, puts, worlds, below, put, changed, way, kind });
        self.all.len() as u32 - 1
    }

    /// Makes the edits of a step of this actor, with the message at this place, and the sum of the
    /// parts of the state that they lead to; `None` if the world was never changed like that.
    #[expect(clippy::inline_always, reason = "it is done for every generated state")]
    #[inline(always)]
    pub fn follow<S: System>(
        &mut self,
        (store, memos): (&Store<S>, &Memos<S>),
        (row, there): (&[u32], &[Sent]),
        (actor, at): (usize, Option<usize>),
        recipe: u32,
    ) -> Option<u64> {
        let recipe = &self.all[recipe as usize];
        let mut sum = self.sum.wrapping_add(recipe.sum);
        self.edits.clear();
        if recipe.local != SAME {
            self.edits.set(actor, recipe.local);
        }
        if recipe.changed > 0 {
            let whats = &self.worlds[recipe.worlds as usize..][..recipe.changed.into()];
            let place = store.locals.len();
            let world = memos.world_after(row[place], whats)?;
            if world != row[place] {
                let mark = |number: u32| store.worlds.get(number).mark;
                sum = sum.wrapping_add(mark(world)).wrapping_sub(mark(row[place]));
                self.edits.set(place, world);
            }
        }
        let taken = at.map(|at| {
            sum = sum.wrapping_sub(sum_without(there, at));
            self.edits.remove(self.first + at);
            there[at].key
        });
        let puts = &self.puts[recipe.puts as usize..][..recipe.put.into()];
        for (n, put) in puts.iter().enumerate() {
            // Sorted as they are, those of its queue stand just before its place.
            let place = there.iter().take_while(|other| other.key <= put.key).count();
            let before = there[..place].iter().rev().take_while(|other| other.key == put.key);
            let mut ahead = before.count();
            let mut at = place;
            for other in &puts[..n] {
                at += usize::from(other.key <= put.key);
                ahead += usize::from(other.key == put.key);
            }
            if let Some(taken) = taken {
                at -= usize::from(taken <= put.key);
                ahead -= usize::from(taken == put.key);
            }
            sum = sum.wrapping_add(adds::flight(put.mark, ahead));
            self.edits.insert(self.first + at, put.number);
        }
        Some(sum)
    }

    /// Remembers what a step of this actor did, with the message at this place.
    pub fn learn<S: System>(
        &mut self,
        recipe: u32,
        before: &State<'_, S>,
        (actor, at): (Option<usize>, Option<usize>),
        (taken, record): (Taken, &Record),
    ) {
        let recipe = &mut self.all[recipe as usize];
        recipe.way = match taken {
            Taken::Stays => Way::Stays,
            Taken::Leads if !record.is_of(actor, at) => Way::Taken,
            Taken::Leads => Way::Leads,
        };
        if recipe.way == Way::Leads {
            (recipe.puts, recipe.put) = (self.puts.len() as u32, record.puts.len() as u8);
            (recipe.worlds, recipe.changed) = (self.worlds.len() as u32, record.worlds.len() as u8);
            self.puts.extend(record.puts.iter().map(|&number| Sent::of(before.flight(number))));
            self.worlds.extend(&record.worlds);
            if let Some((actor, local)) = record.local {
                (recipe.sum, recipe.local) = (before.sum_with_local(actor, local), local);
            }
        }
    }
}

/// How much less the sum is if the message at this place is taken out.
#[inline]
fn sum_without(there: &[Sent], at: usize) -> u64 {
    let Sent { key, mark, .. } = there[at];
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
