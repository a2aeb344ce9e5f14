//! The state that is visited, by its parts, and what may happen in it.

use super::System;
use super::guide::Visit;
use super::met::{Met, OTHER, OfLocal, Unmet, queue_bit};
use super::state::adds;

/// A state by its parts.
#[derive(Debug, Default)]
pub(super) struct AtHand {
    /// The sum of what its parts add to its fingerprint.
    pub sum: u64,
    /// Which queues are in use, one bit each as in [`queue_bit`].
    pub queues: u64,
    /// Where in its row the messages begin.
    pub first: usize,
    /// What its actors' states weigh.
    pub weight: u32,
    /// Its actors' states.
    pub here: Vec<OfLocal>,
    /// What may happen to its messages.
    pub things: Vec<Thing>,
}

/// Something that may happen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thing {
    /// The number of its recipe, or [`UNKNOWN`].
    pub recipe: u32,
    /// The actor that it reaches, or that does it; or [`NOBODY`].
    pub actor: u16,
    /// The place of the message, or [`OWN`].
    pub at: u16,
    /// How much less the sum of the parts is when the message is taken out.
    pub less: u64,
}

/// No recipe yet.
const UNKNOWN: u32 = u32::MAX;
const NOBODY: u16 = u16::MAX;
const OWN: u16 = u16::MAX;

impl Thing {
    /// What an actor can do or undergo by this recipe.
    #[inline]
    pub fn own(actor: usize, recipe: u32) -> Self {
        Self { recipe, actor: actor as u16, at: OWN, less: 0 }
    }

    /// The actor that it reaches, or that does it.
    #[inline]
    pub fn actor(self) -> Option<usize> {
        (self.actor != NOBODY).then_some(self.actor.into())
    }

    /// The place of the message.
    #[inline]
    pub fn at(self) -> Option<usize> {
        (self.at != OWN).then_some(self.at.into())
    }
}

impl AtHand {
    /// Where in its row the world is: behind its actors' states.
    #[inline]
    pub fn world_at(&self) -> usize {
        self.here.len()
    }

    /// Becomes the state that is visited, unless one of its parts was not met yet.
    #[inline]
    pub fn turn_to<S: System>(&mut self, visit: &Visit<'_, S>, met: &Met) -> Result<(), Unmet> {
        let (row, store, actors) = (visit.row, visit.store, met.locals.len());
        let (mut sum, mut weight) = (store.worlds.get(row[actors]).mark, 0);
        self.here.clear();
        for (actor, &number) in row[..actors].iter().enumerate() {
            let local = met.local(actor, number)?;
            sum = sum.wrapping_add(local.mark);
            weight += local.weight;
            self.here.push(*local);
        }
        let (words, flights) = row[actors + 1..].split_at(visit.system.words());
        for (n, word) in words.iter().enumerate() {
            sum = sum.wrapping_add(adds::word(n, *word, store.seed()));
        }
        (self.first, self.weight) = (actors + 1 + words.len(), weight);
        self.gather(row, flights, sum, met)
    }

    /// Finds what is in flight, and what may happen to it. `sum` is that of the other parts.
    #[inline]
    fn gather(
        &mut self,
        row: &[u32],
        flights: &[u32],
        mut sum: u64,
        met: &Met,
    ) -> Result<(), Unmet> {
        let Self { things, here, .. } = self;
        things.clear();
        let (mut queues, mut queue, mut ahead, mut of_queue) = (0, None, 0, 0);
        for (at, &number) in (0..).zip(flights) {
            let it = met.message(number)?;
            if queue == Some(it.key) {
                // When the first is taken out, it moves up.
                let (now, then) = (adds::flight(it.mark, ahead + 1), adds::flight(it.mark, ahead));
                for thing in &mut things[of_queue..] {
                    thing.less = thing.less.wrapping_add(now).wrapping_sub(then);
                }
                sum = sum.wrapping_add(now);
                ahead += 1;
                continue;
            }
            // Of equal messages and of a queue, something can happen to the first.
            (queue, ahead, of_queue) = (Some(it.key), 0, things.len());
            sum = sum.wrapping_add(it.mark);
            queues |= queue_bit(it.key);
            let reached = |map: u32| {
                let actor = match here.get(map as usize) {
                    Some(here) if here.hears => Some(map as usize),
                    Some(_) => return None,
                    None => None,
                };
                let (map, key) = met.place(row, actor, number);
                let recipe = met.recipes[map].get(key).map_or(UNKNOWN, |recipe| *recipe);
                let actor = actor.map_or(NOBODY, |actor| actor as u16);
                Some(Thing { recipe, actor, at, less: it.mark })
            };
            if it.reach == OTHER {
                things.extend(met.ends(number).iter().filter_map(|end| reached(end.map)));
            } else if let Some(thing) = reached(it.reach) {
                things.push(thing);
            }
        }
        (self.sum, self.queues) = (sum, queues);
        Ok(())
    }
}
