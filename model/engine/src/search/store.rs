//! What a search knows: the visited states and where they come from, in memory or beside it.

use rayon::ThreadPool;
use rayon::prelude::*;

use crate::checkpoint::{Log, Moment};
use crate::chunk::Chunk;
use crate::disk::DiskError;
use crate::frontier::{Frontier, Queue};
use crate::levels::Levels;
use crate::limits::Limits;
use crate::options::{MOST_THREADS, Options};
use crate::outcome::Bound;
use crate::spill::{Batch, Need, Spilling};
use crate::table::{Full, SHARDS, Shard, Table};

/// What ends a search from within.
#[derive(Debug)]
pub enum Stop {
    /// A bound.
    Bound(Bound),
    /// The disk.
    Disk(DiskError),
}

impl From<DiskError> for Stop {
    fn from(error: DiskError) -> Self {
        Self::Disk(error)
    }
}

impl From<Full> for Stop {
    fn from(Full: Full) -> Self {
        Self::Bound(Bound::Memory)
    }
}

/// States that were emitted and are to be added.
#[derive(Debug)]
pub struct Coming {
    /// How many belong to each shard.
    pub shards: [usize; SHARDS],
    /// How many there are.
    pub states: usize,
    /// How many words their rows have.
    pub words: usize,
    /// How much memory the chunks take in which they wait.
    pub crew: u64,
    /// How much memory is taken by what the search does not know.
    pub space: u64,
}

impl Coming {
    /// Nothing is to be added.
    pub fn nothing(space: u64) -> Self {
        Self { shards: [0; SHARDS], states: 0, words: 0, crew: 0, space }
    }
}

/// The level that is being visited and the one that is being found.
pub struct Fronts<'a> {
    /// What is left of the former.
    pub queue: &'a mut Queue,
    /// How many of its states are in use.
    pub used: usize,
    /// What is known of the latter.
    pub next: &'a mut Frontier,
}

/// The visited states, their links, and what keeps them on disk.
pub struct Store {
    /// Fingerprints of visited states; those that are in no run are all here.
    pub table: Table,
    /// The links of all states but uncertain ones.
    pub levels: Levels,
    /// How many states there are but uncertain ones.
    pub unique: u64,
    batch: Batch,
    /// Where to spill, if it may.
    pub spilling: Option<Spilling>,
    /// The checkpoint, if one is kept.
    pub log: Option<Log>,
    threads: usize,
}

impl Store {
    /// Nothing is known.
    pub fn new(options: &Options, may_spill: bool) -> Result<Self, Stop> {
        let spill = options.spill.as_ref().filter(|_| may_spill);
        let threads = options.threads.clamp(1, MOST_THREADS);
        let open = |spill| Spilling::new(spill, options.limits.memory, threads);
        Ok(Self {
            table: Table::new()?,
            levels: Levels::default(),
            unique: 0,
            batch: Batch::default(),
            spilling: spill.map(open).transpose()?,
            log: None,
            threads,
        })
    }

    /// Whether the table may take a state for new that is on disk.
    fn is_uncertain(&self) -> bool {
        self.spilling.as_ref().is_some_and(|spilling| !spilling.runs.is_empty())
    }

    /// Takes the states of a chunk that the table did not know.
    pub fn take(&mut self, chunk: &mut Chunk, next: &mut Frontier) -> Result<(), DiskError> {
        chunk.blocks.drain(..).for_each(|block| next.push(block));
        if self.is_uncertain() {
            self.batch.append(chunk.news(), &chunk.links);
            return Ok(());
        }
        self.unique += chunk.links.len() as u64;
        self.levels.append(&chunk.links);
        let Some(log) = &mut self.log else { return Ok(()) };
        chunk.news().zip(chunk.links.iter()).try_for_each(|(state, link)| log.push(state, link))
    }

    /// Asks the runs about uncertain states and forgets those that are there.
    pub fn confirm(
        &mut self,
        next: &mut Frontier,
        pool: Option<&ThreadPool>,
    ) -> Result<(), DiskError> {
        let Some(spilling) = &self.spilling else { return Ok(()) };
        if self.batch.len() == 0 {
            return Ok(());
        }
        let known = self.batch.ask(&spilling.runs, pool).inspect_err(|_| {
            // What nobody knows of is not told of.
            next.settle_some(|_| false);
            self.batch.clear();
        })?;
        self.levels.reserve(self.batch.len());
        let mut logged = Ok(());
        for (n, (fingerprint, link)) in self.batch.iter().enumerate() {
            if !known.has(n) {
                self.unique += 1;
                self.levels.push(link.0, link.1);
                if let (Some(log), true) = (&mut self.log, logged.is_ok()) {
                    logged = log.push(fingerprint, link);
                }
            }
        }
        next.settle_some(|n| !known.has(n));
        self.batch.clear();
        logged
    }

    /// The same, where it may be near the limit on states, so that it ends the search just where it
    /// would without spilling.
    pub fn confirm_near(
        &mut self,
        limits: &Limits,
        next: &mut Frontier,
        pool: Option<&ThreadPool>,
    ) -> Result<(), DiskError> {
        let most = self.unique + self.batch.len() as u64;
        if limits.is_near(most) { self.confirm(next, pool) } else { Ok(()) }
    }

    /// Writes the table as a run, and empties it.
    fn flush(&mut self, next: &mut Frontier, pool: Option<&ThreadPool>) -> Result<(), DiskError> {
        self.confirm(next, pool)?;
        let spilling = self.spilling.as_mut().expect("only a search that spills runs short");
        let mut shards: Vec<&mut Shard> = self.table.shards_mut().collect();
        let sorted: Vec<&[u64]> = match pool {
            None => shards.iter_mut().map(|shard| shard.sort()).collect(),
            Some(pool) => {
                pool.install(|| shards.par_iter_mut().map(|shard| shard.sort()).collect())
            }
        };
        spilling.runs.write(sorted.into_iter(), &spilling.scratch)?;
        self.table.shards_mut().for_each(Shard::clear);
        next.settle();
        Ok(())
    }

    /// Spills until what is coming has room, or nothing is left to spill.
    pub fn make_room(
        &mut self,
        coming: &Coming,
        fronts: &mut Fronts<'_>,
        pool: Option<&ThreadPool>,
    ) -> Result<(), Stop> {
        if self.spilling.is_none() {
            return Ok(());
        }
        let need = self.need(coming, fronts);
        let spilling = self.spilling.as_mut().expect("just looked");
        if spilling.table_is_full(&need) && spilling.is_worth_a_run(self.table.len()) {
            self.flush(fronts.next, pool)?;
        }
        if self.fits(coming, fronts) {
            return Ok(());
        }
        self.spill_cold(fronts)?;
        if self.fits(coming, fronts) {
            return Ok(());
        }
        self.confirm(fronts.next, pool)?;
        self.spill_cold(fronts)?;
        let spilling = self.spilling.as_ref().expect("just looked");
        if self.fits(coming, fronts) || !spilling.is_worth_a_run(self.table.len()) {
            return Ok(());
        }
        self.flush(fronts.next, pool)?;
        if !self.fits(coming, fronts) {
            self.table = Table::new()?;
        }
        Ok(())
    }

    /// Spills what is written once and read once: it costs least.
    fn spill_cold(&mut self, fronts: &mut Fronts<'_>) -> Result<(), DiskError> {
        let scratch = &self.spilling.as_ref().expect("only a search that spills").scratch;
        self.levels.spill(scratch)?;
        fronts.next.spill(scratch)?;
        fronts.queue.spill(fronts.used, scratch)
    }

    fn fits(&self, coming: &Coming, fronts: &Fronts<'_>) -> bool {
        let need = self.need(coming, fronts);
        self.spilling.as_ref().is_none_or(|spilling| spilling.fits(&need))
    }

    /// What it takes if all that is coming is new.
    fn need(&self, coming: &Coming, fronts: &Fronts<'_>) -> Need {
        let table = self.table.bytes_with(&coming.shards, self.threads);
        // A block's vectors have up to twice the capacity that they need.
        let rows = 2 * size_of::<u32>() * (coming.words + coming.states);
        Need {
            states: self.table.len() + coming.states,
            table,
            grows: table > self.table.bytes(),
            kept: if self.spilling.as_ref().is_some_and(Spilling::is_tight) {
                fronts.next.states_in_memory() + self.levels.links_in_memory()
            } else {
                0
            },
            uncertain: self.batch.len(),
            crew: coming.crew,
            others: self.bytes_with(coming.states)
                + fronts.queue.bytes()
                + fronts.next.bytes()
                + rows as u64
                + coming.space,
        }
    }

    fn bytes_with(&self, more: usize) -> u64 {
        let certain = self.batch.len() + more;
        let uncertain = if self.is_uncertain() { more } else { 0 };
        self.levels.bytes_with(certain)
            + self.batch.bytes_with(uncertain, self.threads)
            + self.spilling.as_ref().map_or(0, |spilling| spilling.runs.bytes(self.threads))
            + self.log.as_ref().map_or(0, Log::bytes)
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        self.table.bytes() + self.bytes_with(0)
    }

    /// A level is complete. With what was known at its end, it can be gone on with from there.
    pub fn close_level(&mut self, moment: Option<Moment>) -> Result<(), DiskError> {
        self.levels.close(self.spilling.as_ref().map(|spilling| &spilling.scratch))?;
        match (&mut self.log, moment) {
            (Some(log), Some(moment)) => log.close(moment),
            _ => Ok(()),
        }
    }
}
