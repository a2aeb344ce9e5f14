//! One worker's part of a search, level by level. What it hears and tells comes and goes in
//! parcels; it knows nothing of how they travel.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use levelwise::{Bound, Counts, Verdict, panic_message};

use crate::level::Level;
use crate::portable::Portable;
use crate::search::Wanted;
use crate::table::{Origin, Table};
use crate::told::{Batch, Hop, Parcel, Stop, Vote, What};
use crate::totals::Totals;
use crate::visit::{Crew, Outbox, Setting, Starts, Visit};

/// States that are visited before others have their turn.
const SLICE: usize = 512;

/// What a worker is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Its part of a level is visited.
    Search,
    /// What is left is counted.
    Settle(Bound),
    /// The ways to the hits are walked back.
    Trace,
    /// All is known.
    Ended,
}

/// Whether a worker has more to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// In this level.
    More,
    /// In the next level, when all that was told in this one has arrived.
    Level,
    /// No.
    Nothing,
}

/// The way back from a hit.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The goal that was hit; `None` for a panic.
    pub goal: Option<usize>,
    /// The ordinals so far, the last first.
    pub ordinals: Vec<u16>,
    /// The state to be asked for next; `None` at the end.
    at: Option<u64>,
}

/// One worker's part of a search.
pub struct Part<S: Portable> {
    space: Arc<S>,
    wanted: Wanted,
    crew: Crew,
    worker: S::Worker,
    stage: Stage,
    /// The level at hand, the initial states' being 0.
    pub at: u64,
    table: Table,
    level: Level,
    /// What arrived, by level.
    inbox: BTreeMap<u64, Vec<Parcel>>,
    learnt: Vec<S::Learnt>,
    out: Outbox<S>,
    sent: u64,
    scratch: Vec<u32>,
    vote: Vote,
    counts: Counts,
    /// What all workers know.
    pub totals: Totals,
    /// The ways back from the hits.
    pub chains: Vec<Chain>,
}

impl<S: Portable> Part<S> {
    pub fn new(space: Arc<S>, wanted: Wanted, crew: Crew) -> Self {
        let totals = Totals::new(&*space, &wanted);
        Self {
            worker: space.worker(),
            crew,
            stage: Stage::Search,
            at: 0,
            table: Table::default(),
            level: Level::default(),
            inbox: BTreeMap::new(),
            learnt: (0..crew.workers).map(|_| S::Learnt::default()).collect(),
            out: Outbox::new(crew),
            sent: 0,
            scratch: Vec::new(),
            vote: Vote::default(),
            counts: totals.counts.clone(),
            totals,
            chains: Vec::new(),
            space,
            wanted,
        }
    }

    /// Whether all is known.
    pub fn has_ended(&self) -> bool {
        self.stage == Stage::Ended
    }

    /// Something for this level arrived.
    pub fn receive(&mut self, level: u64, parcels: impl Iterator<Item = Parcel>) {
        self.inbox.entry(level).or_default().extend(parcels);
    }

    /// All that is told of the level before has arrived.
    pub fn begin(&mut self) {
        let mut parcels = self.inbox.remove(&self.at).unwrap_or_default();
        parcels.sort_by_key(|parcel| (parcel.from, parcel.number));
        let (mut votes, mut batches) = (Vec::new(), Vec::new());
        for Parcel { from, what, .. } in parcels {
            match what {
                What::States(batch) => batches.push((from as usize, batch)),
                What::Vote(vote) => votes.push(vote),
                What::Hop(hop) => self.hop(hop),
            }
        }
        self.vote = Vote { hits: vec![None; self.totals.hits.len()], ..Vote::default() };
        self.counts.clone_from(&self.totals.counts);
        let Counts { kinds, refused, tallies, .. } = &self.totals.counts;
        self.counts.reset(kinds.len(), refused.len(), tallies.len());
        match self.stage {
            Stage::Search if self.at == 0 => self.start(),
            Stage::Search => self.begin_level(votes, batches),
            Stage::Settle(by) => self.settle(by, votes),
            Stage::Trace | Stage::Ended => self.look_at_chains(),
        }
    }

    fn start(&mut self) {
        let mut starts = Starts::default();
        let (space, worker) = (&*self.space, &mut self.worker);
        let told = catch_unwind(AssertUnwindSafe(|| space.initial(worker, &mut starts)));
        if let Err(what) = told {
            self.vote.stop = Some(Stop::Panic(None, panic_message(&*what)));
            return;
        }
        for (ordinal, (fingerprint, row)) in starts.0.into_iter().enumerate() {
            if self.crew.owner(fingerprint) == self.crew.index {
                self.counts.generated += 1;
                let ordinal = u16::try_from(ordinal).expect("at most 65,536 initial states");
                let origin = Origin { parent: 0, level: 0, ordinal };
                if self.table.insert(fingerprint, origin) {
                    self.level.push(fingerprint, &row);
                }
            }
        }
        self.vote.new = self.level.left();
        if self.totals.all_hit(&self.wanted) {
            self.stage = Stage::Settle(Bound::Goal);
        }
    }

    fn begin_level(&mut self, votes: Vec<Vote>, batches: Vec<(usize, Batch)>) {
        let before = self.at as u32 - 1;
        let unique = self.totals.unique;
        self.totals.add(before, votes);
        let end = self.totals.end(before, &self.wanted);
        if end.is_none() && self.totals.unique == unique {
            self.totals.verdict = Some(Verdict::Exhausted);
            return self.trace();
        }
        if self.insert(batches).is_err() {
            self.vote.stop = Some(Stop::Garbled);
        }
        self.vote.new = self.level.left();
        if let Some(by) = end {
            self.stage = Stage::Settle(by);
        }
    }

    /// Adds what arrived to the table; what is new is the level.
    fn insert(&mut self, batches: Vec<(usize, Batch)>) -> Result<(), crate::Garbled> {
        self.level = Level::default();
        let mut row = std::mem::take(&mut self.scratch);
        for (from, batch) in batches {
            let (mut words, mut bytes) = (&batch.words[..], &batch.bytes[..]);
            for head in &batch.heads {
                let len = head.len as usize;
                let native = self.crew.shares(from);
                if native {
                    let (first, rest) = words.split_at_checked(len).ok_or(crate::Garbled)?;
                    words = rest;
                    row.clear();
                    row.extend_from_slice(first);
                } else {
                    let (first, rest) = bytes.split_at_checked(len).ok_or(crate::Garbled)?;
                    bytes = rest;
                    self.space.unpack(first, &mut self.learnt[from], &mut row)?;
                }
                let (parent, ordinal) = (head.parent, head.ordinal);
                let origin = Origin { parent, level: self.at as u32, ordinal };
                if self.table.insert(head.fingerprint, origin) {
                    if !native && self.space.fingerprint(&row) != head.fingerprint {
                        return Err(crate::Garbled);
                    }
                    self.level.push(head.fingerprint, &row);
                }
            }
        }
        self.scratch = row;
        Ok(())
    }

    fn settle(&mut self, by: Bound, votes: Vec<Vote>) {
        let before = self.totals.left;
        self.totals.add(self.at as u32 - 1, votes);
        self.totals.left += before;
        let left = self.totals.left;
        // So many states as are allowed, and no more: nothing was left out.
        let all = by == Bound::States && left == 0;
        let bounded = Verdict::Bounded { by, left };
        self.totals.verdict = Some(if all { Verdict::Exhausted } else { bounded });
        self.trace();
    }

    /// From now on the ways to the hits are walked back.
    fn trace(&mut self) {
        self.stage = Stage::Trace;
        let hits = self.totals.hits.iter().enumerate();
        for (goal, hit) in hits {
            let Some(hit) = hit else { continue };
            let (at, ordinals) = (Some(hit.place.fingerprint), Vec::from_iter(hit.place.ordinal));
            self.chains.push(Chain { goal: Some(goal), ordinals, at });
        }
        if let Some((_, Stop::Panic(Some(at), _))) = self.totals.stop {
            self.chains.push(Chain { goal: None, ordinals: Vec::new(), at: Some(at) });
        }
        self.look_at_chains();
    }

    fn hop(&mut self, hop: Hop) {
        let chain = &mut self.chains[hop.chain as usize];
        chain.ordinals.push(hop.ordinal);
        chain.at = hop.parent;
    }

    fn look_at_chains(&mut self) {
        if self.chains.iter().all(|chain| chain.at.is_none()) {
            self.stage = Stage::Ended;
        }
    }

    /// Goes on for a while; what others must know is given to `send`.
    pub fn work(&mut self, send: &mut impl FnMut(Parcel)) -> Next {
        let more = self.stage == Stage::Search && self.vote.stop.is_none() && self.visit();
        let from = self.crew.index as u32;
        let mut parcel = |to: usize, what: What| {
            send(Parcel { to: to as u32, from, number: self.sent, what });
            self.sent += 1;
        };
        let everyone = 0..self.crew.workers;
        match self.stage {
            Stage::Ended => Next::Nothing,
            Stage::Trace => {
                for (n, chain) in self.chains.iter().enumerate() {
                    let Some(at) = chain.at else { continue };
                    if self.crew.owner(at) == self.crew.index {
                        let hop = hop_from(&self.table, n, at);
                        everyone.clone().for_each(|to| parcel(to, What::Hop(hop)));
                    }
                }
                Next::Level
            }
            Stage::Settle(_) => {
                self.vote.left = self.vote.new;
                let vote = self.closed();
                self.tell_all(&vote, send);
                Next::Level
            }
            Stage::Search => {
                for (to, batch) in self.out.full() {
                    parcel(to, What::States(batch));
                }
                if more {
                    return Next::More;
                }
                for (to, batch) in self.out.rest() {
                    parcel(to, What::States(batch));
                }
                let vote = self.closed();
                self.tell_all(&vote, send);
                Next::Level
            }
        }
    }

    fn tell_all(&mut self, vote: &Vote, send: &mut impl FnMut(Parcel)) {
        let from = self.crew.index as u32;
        for to in 0..self.crew.workers as u32 {
            send(Parcel { to, from, number: self.sent, what: What::Vote(vote.clone()) });
            self.sent += 1;
        }
    }

    /// The vote on a level that is done.
    fn closed(&mut self) -> Vote {
        let mut vote = std::mem::take(&mut self.vote);
        vote.counts = std::mem::take(&mut self.counts).into();
        if vote.left == 0 {
            vote.left = if self.expands() { self.level.left() } else { vote.new };
        }
        if vote.stop.is_none() && !self.space.is_repeatable() {
            vote.stop = Some(Stop::Unrepeatable);
        }
        vote.bytes = self.bytes();
        let memo = self.space.memo(&self.worker);
        vote.memo = (memo.asked, memo.computed);
        vote
    }

    /// Whether states of this level are expanded.
    fn expands(&self) -> bool {
        self.wanted.limits.depth.is_none_or(|limit| self.at + 1 < u64::from(limit))
    }

    /// Visits some states. Returns whether there are more to be visited.
    fn visit(&mut self) -> bool {
        let (open, tallies) = (self.totals.open(), self.totals.tallies);
        let setting = Setting { open, tallies, expands: self.expands() };
        for _ in 0..SLICE {
            let Some((fingerprint, row)) = self.level.first() else { break };
            let mut sink = Visit {
                space: &*self.space,
                setting,
                counts: &mut self.counts,
                hits: &mut self.vote.hits,
                out: &mut self.out,
                fingerprint,
                ordinal: 0,
            };
            let worker = &mut self.worker;
            let visit = || self.space.visit(worker, row, &mut sink);
            if let Err(what) = catch_unwind(AssertUnwindSafe(visit)) {
                self.vote.stop = Some(Stop::Panic(Some(fingerprint), panic_message(&*what)));
                return false;
            }
            self.level.advance();
        }
        self.vote.stop = self.reached();
        self.vote.stop.is_none() && self.level.left() > 0
    }

    /// The limit that ends the visits of this level.
    fn reached(&self) -> Option<Stop> {
        let limits = &self.wanted.limits;
        let share = |limit: u64| limit / self.crew.per_process as u64;
        if limits.interrupted.load(Relaxed) {
            Some(Stop::Interruption)
        } else if limits.memory.is_some_and(|limit| self.bytes() > share(limit)) {
            Some(Stop::Memory)
        } else if limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Some(Stop::Time)
        } else {
            None
        }
    }

    /// Memory taken for states; a process's first worker counts what its space takes.
    fn bytes(&self) -> u64 {
        let first = self.crew.index.is_multiple_of(self.crew.per_process);
        let space = if first { self.space.bytes() } else { 0 };
        self.table.bytes() + self.level.bytes() + space
    }
}

fn hop_from(table: &Table, chain: usize, at: u64) -> Hop {
    let Origin { parent, level, ordinal } = table.get(at).expect("an owner knows its states");
    Hop { chain: chain as u32, parent: (level > 0).then_some(parent), ordinal }
}
