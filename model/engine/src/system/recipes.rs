//! What a step of one actor changes, remembered as a whole: the next one like it is told by its
//! fingerprint, and its state is only made if it is new.

use smallvec::SmallVec;

use super::at_hand::{AtHand, Thing};
use super::met::{Met, queue_bit};
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
    /// What the changes of the actor's state and its messages add to the sum of the state's parts,
    /// if none of the queues that they are put in is in use.
    sum: u64,
    /// The queues that its messages are put in, one bit each as in [`queue_bit`].
    queues: u64,
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

/// Where a step is taken: the state at hand, its row, what is known of its parts, and what happens.
type Place<'p> = (&'p AtHand, &'p [u32], &'p Met, Thing);

/// A message that a step puts in flight.
#[derive(Clone, Copy, Debug)]
struct Put {
    number: u32,
    key: u64,
    mark: u64,
}

/// What all recipes of a thread share.
#[derive(Debug, Default)]
pub(super) struct Recipes {
    /// All of them.
    pub all: Vec<Recipe>,
    puts: Vec<Put>,
    worlds: Vec<u64>,
}

impl Recipes {
    /// The number of a new recipe, of which this is known and nothing else.
    pub fn add(&mut self, kind: u32, below: u32) -> u32 {
        let kind = u8::try_from(kind).expect("a system has at most 256 kinds of choice");
        let (sum, queues, puts, worlds, put, changed) = (0, 0, 0, 0, 0, 0);
        let (local, way) = (SAME, Way::New);
        self.all.push(Recipe { sum, queues, local, puts, worlds, below, put, changed, way, kind });
        self.all.len() as u32 - 1
    }

    /// The sum of the parts of the state that a step leads to, and the number of its world;
    /// `None` if the world was never changed like that.
    #[expect(clippy::inline_always, reason = "it is done for every generated state")]
    #[inline(always)]
    pub fn follow<S: System>(
        &self,
        (store, memos): (&Store<S>, &Memos<S>),
        of @ (at_hand, row, _, thing): Place<'_>,
        recipe: &Recipe,
    ) -> Option<(u64, u32)> {
        let mut sum = at_hand.sum.wrapping_add(recipe.sum).wrapping_sub(thing.less);
        let before = row[at_hand.world_at()];
        let mut world = before;
        if recipe.changed > 0 {
            let whats = &self.worlds[recipe.worlds as usize..][..recipe.changed.into()];
            world = memos.world_after(before, whats)?;
            let mark = |number: u32| store.worlds.get(number).mark;
            sum = sum.wrapping_add(mark(world)).wrapping_sub(mark(before));
        }
        if recipe.queues & at_hand.queues != 0 {
            sum = sum.wrapping_add(self.queued(of, recipe));
        }
        Some((sum, world))
    }

    /// How much more a step adds than its recipe says, since what it puts in queues has others
    /// ahead of it there.
    fn queued(&self, (at_hand, row, met, thing): Place<'_>, recipe: &Recipe) -> u64 {
        let (flights, puts, mut more) = (&row[at_hand.first..], self.puts(recipe), 0_u64);
        for (n, put) in puts.iter().enumerate() {
            let of_queue = |number: &&u32| met.key(**number) == put.key;
            let taken = thing.at().and_then(|at| flights.get(at)).filter(of_queue);
            let there = flights.iter().filter(of_queue).count() - usize::from(taken.is_some());
            if there > 0 {
                let before = puts[..n].iter().filter(|other| other.key == put.key).count();
                more = more.wrapping_add(adds::flight(put.mark, there + before));
                more = more.wrapping_sub(adds::flight(put.mark, before));
            }
        }
        more
    }

    fn puts(&self, recipe: &Recipe) -> &[Put] {
        &self.puts[recipe.puts as usize..][..recipe.put.into()]
    }

    /// Edits the row as a step does that leads to a state with this world.
    #[inline]
    pub fn edit(
        &self,
        edits: &mut Edits<'_>,
        (at_hand, row, met, thing): Place<'_>,
        recipe: &Recipe,
        world: u32,
    ) {
        let flights = &row[at_hand.first..];
        if let (Some(actor), true) = (thing.actor(), recipe.local != SAME) {
            edits.set(actor, recipe.local);
        }
        if world != row[at_hand.world_at()] {
            edits.set(at_hand.world_at(), world);
        }
        let taken = thing.at().map(|at| {
            edits.remove(at_hand.first + at);
            met.key(flights[at])
        });
        let puts = self.puts(recipe);
        for (n, put) in puts.iter().enumerate() {
            // Sorted as they are, those of its queue stand just before its place.
            let ahead = |number: &&u32| met.key(**number) <= put.key;
            let mut place = flights.iter().take_while(ahead).count();
            place += puts[..n].iter().filter(|other| other.key <= put.key).count();
            place -= usize::from(taken.is_some_and(|taken| taken <= put.key));
            edits.insert(at_hand.first + place, put.number);
        }
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
            self.worlds.extend(&record.worlds);
            if let Some((actor, local)) = record.local {
                (recipe.sum, recipe.local) = (before.sum_with_local(actor, local), local);
            }
            for &number in &record.puts {
                let flight = before.flight(number);
                let put = Put { number, key: flight.key(), mark: flight.mark() };
                let mine = self.puts[recipe.puts as usize..].iter();
                let ahead = mine.filter(|other| other.key == put.key).count();
                recipe.sum = recipe.sum.wrapping_add(adds::flight(put.mark, ahead));
                recipe.queues |= queue_bit(put.key);
                self.puts.push(put);
            }
        }
    }
}
