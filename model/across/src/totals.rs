//! What all workers know of the search: the votes on its levels, added up.

use levelwise::{Bound, Counts, Memo, Sort, Space, Until, Verdict};

use crate::search::Wanted;
use crate::told::{Place, Stop, Vote};

/// The first hit of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// The level of the state, the initial states' being 0.
    pub level: u32,
    /// The state, and its action.
    pub place: Place,
}

/// The sums of all votes so far. They are the same in all workers at the same level.
#[derive(Clone, Debug)]
pub struct Totals {
    /// Distinct states.
    pub unique: u64,
    /// Levels.
    pub depth: u64,
    /// What visits counted.
    pub counts: Counts,
    /// The same, before the visits of the last level.
    pub before: Counts,
    /// By goal: its first hit.
    pub hits: Vec<Option<At>>,
    /// Most memory taken for states, of all workers together.
    pub bytes: u64,
    /// How the memos fared.
    pub memo: Memo,
    /// States known and not expanded.
    pub left: u64,
    /// States of the last level, of which nobody knows what they lead to before it is over.
    pub last: u64,
    /// Why workers did not go on.
    pub stop: Option<(usize, Stop)>,
    /// Which goals are looked for and not counted.
    sought: u64,
    /// Which goals are counted.
    pub tallies: u64,
    /// How far it came.
    pub verdict: Option<Verdict>,
}

impl Totals {
    pub fn new<S: Space>(space: &S, wanted: &Wanted) -> Self {
        let goals = space.goals();
        let mut counts = Counts::default();
        counts.reset(space.kinds().len(), space.guards().len(), goals.len());
        let tallies = goals.iter().enumerate().filter(|(_, goal)| goal.sort == Sort::Tally);
        let tallies = tallies.fold(0, |all, (n, _)| all | 1 << n);
        let all = 1_u64.checked_shl(goals.len() as u32).map_or(u64::MAX, |bit| bit - 1);
        Self {
            unique: 0,
            depth: 0,
            before: counts.clone(),
            counts,
            hits: vec![None; goals.len()],
            bytes: 0,
            memo: Memo::default(),
            left: 0,
            last: 0,
            stop: None,
            sought: wanted.goals & all & !tallies,
            tallies: wanted.goals & tallies,
            verdict: None,
        }
    }

    /// The goals that are looked for and were not hit yet.
    pub fn open(&self) -> u64 {
        let hit = self.hits.iter().enumerate().filter(|(_, hit)| hit.is_some());
        self.sought & !hit.fold(0, |all, (n, _)| all | 1 << n)
    }

    /// Adds the votes on a level, one of each worker in their order.
    pub fn add(&mut self, level: u32, votes: Vec<Vote>) {
        let new: u64 = votes.iter().map(|vote| vote.new).sum();
        self.before.clone_from(&self.counts);
        self.unique += new;
        self.last = new;
        if new > 0 {
            self.depth = u64::from(level) + 1;
        }
        self.bytes = self.bytes.max(votes.iter().map(|vote| vote.bytes).sum());
        self.left = votes.iter().map(|vote| vote.left).sum();
        self.memo = Memo::default();
        for (worker, vote) in votes.into_iter().enumerate() {
            let (asked, computed) = vote.memo;
            self.memo = self.memo.plus(Memo { asked, computed });
            self.counts.add(&vote.counts.into());
            if let Some(stop) = vote.stop
                && self.stop.as_ref().is_none_or(|(_, known)| stop < *known)
            {
                self.stop = Some((worker, stop));
            }
            for (hit, place) in self.hits.iter_mut().zip(vote.hits) {
                let Some(place) = place else { continue };
                // An earlier level's hit stays; of one level the smallest counts.
                let at = At { level, place };
                let stays = |old: &At| old.level < level || old.place < place;
                *hit = hit.filter(stays).or(Some(at));
            }
        }
    }

    /// What ends the search after this level.
    pub fn end(&self, level: u32, wanted: &Wanted) -> Option<Bound> {
        let stop = self.stop.as_ref().map(|(_, stop)| match stop {
            Stop::Garbled | Stop::Unrepeatable => Bound::Worker,
            Stop::Panic(..) => Bound::Panic,
            Stop::Interruption => Bound::Interruption,
            Stop::Memory => Bound::Memory,
            Stop::Time => Bound::Time,
        });
        let limits = &wanted.limits;
        let full = limits.states.is_some_and(|limit| self.unique >= limit);
        // Where nothing is left, the level was empty, and the search went to its end.
        let last = self.left > 0 && limits.depth.is_some_and(|limit| level + 1 >= limit);
        stop.filter(|by| matches!(by, Bound::Worker | Bound::Panic))
            .or(self.all_hit(wanted).then_some(Bound::Goal))
            .or(stop.filter(|by| *by == Bound::Interruption))
            .or(full.then_some(Bound::States))
            .or(stop)
            .or(last.then_some(Bound::Depth))
    }

    /// Whether nothing is looked for any more.
    pub fn all_hit(&self, wanted: &Wanted) -> bool {
        wanted.until == Until::AllHit && self.open() == 0
    }
}
