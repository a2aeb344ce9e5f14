//! A visit of one state: what it finds is counted, and what it leads to goes to who owns it.

use levelwise::fingerprint::mix;
use levelwise::{Counts, Sink};

use crate::portable::Portable;
use crate::told::{Batch, Head, Place};

/// States in a batch before it is sent.
const BATCH: usize = 1024;

/// Which worker of how many, and how many of them share a process.
#[derive(Clone, Copy, Debug)]
pub struct Crew {
    /// This worker.
    pub index: usize,
    /// All workers of all processes.
    pub workers: usize,
    /// Workers of one process.
    pub per_process: usize,
}

impl Crew {
    /// Who owns a state.
    pub fn owner(self, fingerprint: u64) -> usize {
        // Mixed, so that what one worker owns is spread over all of its table.
        (mix(fingerprint) % self.workers as u64) as usize
    }

    /// Whether rows mean the same to this worker and another one.
    pub fn shares(self, other: usize) -> bool {
        self.index / self.per_process == other / self.per_process
    }
}

/// What is on its way to each worker.
pub struct Outbox<S: Portable> {
    crew: Crew,
    told: Vec<S::Told>,
    batches: Vec<Batch>,
    full: Vec<(usize, Batch)>,
}

impl<S: Portable> Outbox<S> {
    pub fn new(crew: Crew) -> Self {
        Self {
            crew,
            told: (0..crew.workers).map(|_| S::Told::default()).collect(),
            batches: vec![Batch::default(); crew.workers],
            full: Vec::new(),
        }
    }

    fn put(&mut self, space: &S, row: &[u32], mut head: Head) {
        let to = self.crew.owner(head.fingerprint);
        let batch = &mut self.batches[to];
        if self.crew.shares(to) {
            batch.words.extend_from_slice(row);
            head.len = row.len() as u32;
        } else {
            let before = batch.bytes.len();
            space.pack(row, &mut self.told[to], &mut batch.bytes);
            head.len = (batch.bytes.len() - before) as u32;
        }
        batch.heads.push(head);
        if batch.heads.len() == BATCH {
            self.full.push((to, std::mem::take(batch)));
        }
    }

    /// The batches that are full.
    pub fn full(&mut self) -> impl Iterator<Item = (usize, Batch)> {
        self.full.drain(..)
    }

    /// All batches.
    pub fn rest(&mut self) -> impl Iterator<Item = (usize, Batch)> {
        let open = self.batches.iter_mut().enumerate();
        let open = open.filter(|(_, batch)| !batch.heads.is_empty());
        self.full.drain(..).chain(open.map(|(to, batch)| (to, std::mem::take(batch))))
    }
}

/// How the states of a level are visited.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Which goals are looked for, one bit each.
    pub open: u64,
    /// Which goals are counted, one bit each.
    pub tallies: u64,
    /// Whether successors are wanted.
    pub expands: bool,
}

/// Where a visit tells what it finds.
pub struct Visit<'a, S: Portable> {
    pub space: &'a S,
    pub setting: Setting,
    pub counts: &'a mut Counts,
    pub hits: &'a mut [Option<Place>],
    pub out: &'a mut Outbox<S>,
    /// The state that is visited.
    pub fingerprint: u64,
    /// Actions told so far.
    pub ordinal: u16,
}

impl<S: Portable> Visit<'_, S> {
    fn found(&mut self, goal: usize, ordinal: Option<u16>) {
        if self.setting.open & 1 << goal != 0 {
            let place = Place { fingerprint: self.fingerprint, ordinal };
            let first = self.hits[goal].map_or(place, |other| other.min(place));
            self.hits[goal] = Some(first);
        }
    }

    fn next_ordinal(&mut self) -> u16 {
        let ordinal = self.ordinal;
        self.ordinal = ordinal.checked_add(1).expect("a state has fewer than 65,535 actions");
        ordinal
    }
}

impl<S: Portable> Sink<S::Action> for Visit<'_, S> {
    fn open(&self) -> u64 {
        self.setting.open | self.setting.tallies
    }

    fn expands(&self) -> bool {
        self.setting.expands
    }

    fn hit(&mut self, goal: usize) {
        if self.setting.tallies & 1 << goal != 0 {
            self.counts.tallies[goal] += 1;
        } else {
            self.found(goal, None);
        }
    }

    fn start(&mut self, _: u64, _: &[u32]) {}

    fn step(&mut self, kind: usize, fingerprint: u64, row: &[u32], _: impl FnOnce() -> S::Action) {
        let ordinal = self.next_ordinal();
        self.counts.kinds[kind] += 1;
        self.counts.generated += 1;
        let head = Head { fingerprint, parent: self.fingerprint, ordinal, len: 0 };
        self.out.put(self.space, row, head);
    }

    fn stays(&mut self, kind: usize, _: impl FnOnce() -> S::Action) {
        self.next_ordinal();
        self.counts.kinds[kind] += 1;
    }

    fn leaves(&mut self, kind: usize, _: impl FnOnce() -> S::Action) {
        self.next_ordinal();
        self.counts.kinds[kind] += 1;
        self.counts.left_bounds += 1;
    }

    fn hit_step(&mut self, goal: usize) {
        let last = self.ordinal.checked_sub(1).expect("an action was told");
        self.found(goal, Some(last));
    }

    fn refused(&mut self, guard: usize) {
        self.counts.refused[guard] += 1;
    }
}

/// The initial states, in their order.
#[derive(Debug, Default)]
pub struct Starts(pub Vec<(u64, Vec<u32>)>);

impl<A> Sink<A> for Starts {
    fn start(&mut self, fingerprint: u64, row: &[u32]) {
        self.0.push((fingerprint, row.to_vec()));
    }

    fn step(&mut self, _: usize, _: u64, _: &[u32], _: impl FnOnce() -> A) {}

    fn stays(&mut self, _: usize, _: impl FnOnce() -> A) {}

    fn leaves(&mut self, _: usize, _: impl FnOnce() -> A) {}
}

/// Whether a state, or one of its actions, hits a goal.
#[derive(Debug)]
pub struct Judge {
    /// The goal.
    pub goal: usize,
    /// Which action; `None` if it is the state.
    pub ordinal: Option<u16>,
    /// Whether it does.
    pub hits: bool,
    told: usize,
}

impl Judge {
    pub fn new(goal: usize, ordinal: Option<u16>) -> Self {
        Self { goal, ordinal, hits: false, told: 0 }
    }
}

impl<A> Sink<A> for Judge {
    fn open(&self) -> u64 {
        1 << self.goal
    }

    fn expands(&self) -> bool {
        self.ordinal.is_some()
    }

    fn hit(&mut self, goal: usize) {
        self.hits |= goal == self.goal && self.ordinal.is_none();
    }

    fn start(&mut self, _: u64, _: &[u32]) {}

    fn step(&mut self, _: usize, _: u64, _: &[u32], _: impl FnOnce() -> A) {
        self.told += 1;
    }

    fn stays(&mut self, _: usize, _: impl FnOnce() -> A) {
        self.told += 1;
    }

    fn leaves(&mut self, _: usize, _: impl FnOnce() -> A) {
        self.told += 1;
    }

    fn hit_step(&mut self, goal: usize) {
        let last = self.ordinal.is_some_and(|ordinal| usize::from(ordinal) + 1 == self.told);
        self.hits |= goal == self.goal && last;
    }
}
