//! What one thread does at a time: it visits a block of states, and what they emit waits here until
//! the table has told which of it is new.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::edits::Edits;
use crate::frontier::{Block, Links, Part};
use crate::graph::record::{Told, Way};
use crate::outcome::{Counts, Hit, Panic};
use crate::recent::Recent;
use crate::space::{Sink, Space};
use crate::table::{Full, Open, SHARDS, Shard, shard_of};

/// States in a block of the next level, at most.
const BLOCK: usize = 1024;

/// Words in a row, at most.
const LONGEST: usize = u16::MAX as usize;

/// How many slots ahead of its use a cache line is asked for.
const AHEAD: usize = 12;

/// An emitted state's origin and place.
#[derive(Clone, Copy, Debug)]
struct Head {
    parent: u32,
    /// Where its words end.
    end: u32,
    ordinal: u16,
    /// Whether the words are edits of the parent's row.
    edited: bool,
}

/// Emitted states of one block of parents, in the order of emission, but for some that were emitted
/// before. Threads write to theirs all the time: no two share a cache line, nor two lines that are
/// fetched together.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Chunk {
    fingerprints: Vec<u64>,
    heads: Vec<Head>,
    words: Vec<u32>,
    /// How many words the rows of all of them have.
    rows: usize,
    /// One bit each: whether the table did not know it.
    fresh: Vec<u64>,
    /// What the visits counted.
    pub counts: Counts,
    /// First hits of goals.
    pub hits: Vec<(usize, Hit)>,
    /// What the model did instead of answering.
    pub panic: Option<Panic>,
    /// The states that are new, and where they come from.
    pub blocks: Vec<Block>,
    /// The links of `blocks`.
    pub links: Links,
    /// What is kept for the graph, if it is wanted.
    pub told: Told,
    /// What this block emitted just before; nothing if all is to be kept.
    recent: Recent,
    open: u64,
    tallies: u64,
    expands: bool,
    level: u32,
    parent: u32,
    ordinal: u16,
}

/// How states are to be visited.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Their level, the initial states' being 0.
    pub level: u32,
    /// Which goals are looked for, one bit each.
    pub open: u64,
    /// Which goals are counted, one bit each.
    pub tallies: u64,
    /// Whether successors are wanted.
    pub expands: bool,
    /// Whether the graph is wanted.
    pub keeps_graph: bool,
}

impl Chunk {
    /// Empties it; `zero` are counters of the right lengths.
    pub fn reset(&mut self, zero: &Counts) {
        self.fingerprints.clear();
        self.heads.clear();
        self.words.clear();
        self.rows = 0;
        self.hits.clear();
        self.blocks.clear();
        self.links = Links::default();
        self.counts.clone_from(zero);
    }

    /// Visits the states of a block. A panic of the model ends it and is kept.
    pub fn generate<S: Space>(
        &mut self,
        space: &S,
        worker: &mut S::Worker,
        part: &Part<'_>,
        setting: Setting,
    ) {
        (self.open, self.tallies) = (setting.open, setting.tallies);
        (self.expands, self.level) = (setting.expands, setting.level);
        self.told.reset(setting.keeps_graph, setting.expands);
        if setting.keeps_graph {
            self.recent.stop();
        } else {
            self.recent.start(part.range.len());
        }
        let visits = catch_unwind(AssertUnwindSafe(|| {
            for (n, place) in part.range.clone().zip(part.first..) {
                (self.parent, self.ordinal) = (place, 0);
                space.visit(worker, part.block.row(n), self);
                self.told.close();
            }
        }));
        if let Err(what) = visits {
            self.panic = Some(Panic::new(&*what, self.level, self.parent));
        }
        self.mark_nothing_fresh();
    }

    /// Takes the initial states.
    pub fn start<S: Space>(&mut self, space: &S, worker: &mut S::Worker) {
        (self.parent, self.ordinal, self.expands) = (0, 0, true);
        let start = catch_unwind(AssertUnwindSafe(|| space.initial(worker, self)));
        if let Err(what) = start {
            self.panic = Some(Panic::at_start(&*what));
        }
        self.mark_nothing_fresh();
    }

    fn mark_nothing_fresh(&mut self) {
        self.fresh.clear();
        self.fresh.resize(self.fingerprints.len().div_ceil(64), 0);
    }

    /// Adds everything to the table, for a thread that has it for itself.
    pub fn insert_all(&mut self, shards: &mut [&mut Shard]) -> Result<(), Full> {
        let all = &self.fingerprints;
        let mut more = [0; SHARDS];
        self.tell_emitted(&mut more);
        shards.iter_mut().zip(more).try_for_each(|(shard, more)| shard.reserve(more))?;
        let mut shards: Vec<Open<'_>> = shards.iter_mut().map(|shard| shard.open()).collect();
        for &next in all.iter().take(AHEAD) {
            shards[shard_of(next)].prefetch(next);
        }
        let mut ahead = all.iter().skip(AHEAD);
        for (fresh, some) in self.fresh.iter_mut().zip(all.chunks(64)) {
            let mut bits = 0;
            for (n, &fingerprint) in some.iter().enumerate() {
                if let Some(&next) = ahead.next() {
                    shards[shard_of(next)].prefetch(next);
                }
                bits |= u64::from(shards[shard_of(fingerprint)].insert(fingerprint)) << n;
            }
            *fresh = bits;
        }
        Ok(())
    }

    /// Adds what belongs to these shards, the first of which is number `from`. Appends to `fresh`,
    /// one bit for each emitted state, which of those are new. `mine` is scratch.
    pub fn insert_some(
        &self,
        shards: &mut [impl std::ops::DerefMut<Target = Shard>],
        from: usize,
        (mine, fresh): (&mut Vec<u32>, &mut Vec<u64>),
    ) -> Result<(), Full> {
        debug_assert!(from + shards.len() <= SHARDS);
        mine.clear();
        let mut more = [0; SHARDS];
        for (n, fingerprint) in (0..).zip(&self.fingerprints) {
            let shard = shard_of(*fingerprint).wrapping_sub(from);
            if shard < shards.len() {
                more[shard] += 1;
                mine.push(n);
            }
        }
        shards.iter_mut().zip(more).try_for_each(|(shard, more)| shard.reserve(more))?;
        let mut shards: Vec<Open<'_>> = shards.iter_mut().map(|shard| shard.open()).collect();
        let first = fresh.len();
        fresh.resize(first + self.fresh.len(), 0);
        let fresh = &mut fresh[first..];
        for (at, &n) in mine.iter().enumerate() {
            if let Some(&next) = mine.get(at + AHEAD) {
                let next = self.fingerprints[next as usize];
                shards[shard_of(next) - from].prefetch(next);
            }
            let fingerprint = self.fingerprints[n as usize];
            let is_new = shards[shard_of(fingerprint) - from].insert(fingerprint);
            fresh[n as usize / 64] |= u64::from(is_new) << (n % 64);
        }
        Ok(())
    }

    /// Marks what [`Self::insert_some`] found new, which stands at the start of `fresh`, and takes
    /// it away from there.
    pub fn mark_fresh(&mut self, fresh: &mut &[u64]) {
        let (mine, others) = fresh.split_at(self.fresh.len().min(fresh.len()));
        self.fresh.iter_mut().zip(mine).for_each(|(all, mine)| *all |= mine);
        *fresh = others;
    }

    /// Keeps what is new, in the order in which it was emitted. `parents` are the states that were
    /// visited, unless these are the initial states.
    pub fn compact(&mut self, parents: Option<&Part<'_>>) {
        let fresh: u32 = self.fresh.iter().map(|bits| bits.count_ones()).sum();
        let mut left = fresh as usize;
        self.links.reserve(left);
        // Rows have about as many words as those of all that was emitted.
        let each = self.rows / self.heads.len().max(1) + 1;
        let room = |left: usize| Block::with_room(left.min(BLOCK), each);
        let mut block = room(left);
        for (&(mut fresh), first) in self.fresh.iter().zip((0..).step_by(64)) {
            while fresh != 0 {
                let n = first + fresh.trailing_zeros() as usize;
                fresh &= fresh - 1;
                let (from, head) = (self.start_of(n), self.heads[n]);
                let words = &self.words[from..head.end as usize];
                match parents.filter(|_| head.edited) {
                    None => block.push(words),
                    Some(parents) => block.push_edited(parents.row_of(head.parent), words),
                }
                self.links.push(head.parent, head.ordinal);
                if block.len() == BLOCK {
                    left -= BLOCK;
                    self.blocks.push(std::mem::replace(&mut block, room(left)));
                }
            }
        }
        self.blocks.push(block);
    }

    /// Where the words of the n-th emitted state begin.
    #[inline]
    fn start_of(&self, n: usize) -> usize {
        n.checked_sub(1).map_or(0, |before| self.heads[before].end as usize)
    }

    /// The fingerprints of the emitted states.
    pub fn fingerprints(&self) -> &[u64] {
        &self.fingerprints
    }

    /// Whether the table did not know the n-th of them.
    #[inline]
    pub fn is_fresh(&self, n: usize) -> bool {
        self.fresh[n / 64] & 1 << (n % 64) != 0
    }

    /// The fingerprints of the states that are new, in the order of [`Self::blocks`].
    pub fn news(&self) -> impl Iterator<Item = u64> {
        let all = self.fingerprints.iter().enumerate();
        all.filter(|(n, _)| self.is_fresh(*n)).map(|(_, fingerprint)| *fingerprint)
    }

    /// Adds to what was emitted for each shard. Returns how many words it was.
    pub fn tell_emitted(&self, shards: &mut [usize; SHARDS]) -> usize {
        for fingerprint in &self.fingerprints {
            shards[shard_of(*fingerprint)] += 1;
        }
        self.rows
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        let each = |capacity: usize, size: usize| (capacity * size) as u64;
        each(self.fingerprints.capacity(), size_of::<u64>())
            + each(self.heads.capacity(), size_of::<Head>())
            + each(self.words.capacity(), size_of::<u32>())
            + self.recent.bytes()
            + self.told.bytes()
    }

    fn found(&mut self, goal: usize, ordinal: Option<u16>) {
        if self.open & 1 << goal != 0 {
            self.open &= !(1 << goal);
            self.hits.push((goal, Hit { level: self.level, index: self.parent, ordinal }));
        }
    }

    /// What was emitted before is counted and nothing else.
    #[inline]
    fn repeat(&mut self) {
        self.next_ordinal();
        self.counts.generated += 1;
    }

    /// Its words were added; its row has so many.
    #[inline]
    fn emit(&mut self, fingerprint: u64, row: usize, edited: bool) {
        let ordinal = self.next_ordinal();
        self.counts.generated += 1;
        self.fingerprints.push(fingerprint);
        assert!(row <= LONGEST, "a row has at most 65,535 words");
        let end = self.words.len() as u32;
        self.heads.push(Head { parent: self.parent, end, ordinal, edited });
        self.rows += row;
    }

    #[inline]
    fn next_ordinal(&mut self) -> u16 {
        let ordinal = self.ordinal;
        self.ordinal = ordinal.checked_add(1).expect("a state has fewer than 65,535 actions");
        ordinal
    }
}

impl<A> Sink<A> for Chunk {
    #[inline]
    fn open(&self) -> u64 {
        self.open | self.tallies
    }

    #[inline]
    fn expands(&self) -> bool {
        self.expands
    }

    fn hit(&mut self, goal: usize) {
        if self.tallies & 1 << goal != 0 {
            self.counts.tallies[goal] += 1;
            self.told.hit(goal);
        } else {
            self.found(goal, None);
        }
    }

    fn start(&mut self, fingerprint: u64, row: &[u32]) {
        self.words.extend_from_slice(row);
        self.emit(fingerprint, row.len(), false);
    }

    #[inline]
    fn step(&mut self, kind: usize, fingerprint: u64, row: &[u32], _: impl FnOnce() -> A) {
        self.counts.kinds[kind] += 1;
        self.told.action(kind, Way::Leads);
        if self.recent.meets(fingerprint) {
            return self.repeat();
        }
        self.words.extend_from_slice(row);
        self.emit(fingerprint, row.len(), false);
    }

    #[expect(clippy::inline_always, reason = "it is done for every generated state")]
    #[inline(always)]
    fn edited(
        &mut self,
        kind: usize,
        fingerprint: u64,
        (before, edit): (&[u32], impl FnOnce(&mut Edits<'_>)),
        _: impl FnOnce() -> A,
    ) {
        self.counts.kinds[kind] += 1;
        self.told.action(kind, Way::Leads);
        if self.recent.meets(fingerprint) {
            return self.repeat();
        }
        let mut edits = Edits::new(&mut self.words);
        edit(&mut edits);
        let row = edits.len_of(before.len());
        self.emit(fingerprint, row, true);
    }

    #[inline]
    fn stays(&mut self, kind: usize, _: impl FnOnce() -> A) {
        self.next_ordinal();
        self.counts.kinds[kind] += 1;
        self.told.action(kind, Way::Stays);
    }

    #[inline]
    fn leaves(&mut self, kind: usize, _: impl FnOnce() -> A) {
        self.next_ordinal();
        self.counts.kinds[kind] += 1;
        self.told.action(kind, Way::Leaves);
        self.counts.left_bounds += 1;
    }

    fn hit_step(&mut self, goal: usize) {
        let last = self.ordinal.checked_sub(1).expect("an action was told");
        self.found(goal, Some(last));
    }

    #[inline]
    fn refused(&mut self, guard: usize) {
        self.counts.refused[guard] += 1;
    }
}
