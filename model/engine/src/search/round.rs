//! One round: the threads visit blocks, then each adds what falls to its part of the table, then
//! what is new is kept.

use std::sync::Mutex;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::Options;
use super::store::Coming;
use crate::chunk::{Chunk, Setting};
use crate::frontier::Part;
use crate::options::MOST_THREADS;
use crate::outcome::Counts;
use crate::space::{Memo, Space};
use crate::table::{Full, SHARDS, Shard, Table};

/// The threads and what they work with.
pub struct Crew<S: Space> {
    /// `None` for one thread, which is the caller's.
    pool: Option<ThreadPool>,
    /// Each made by its own thread, so that what two of them write to all the time does not lie
    /// side by side.
    workers: Vec<Mutex<Box<S::Worker>>>,
    /// One for each block of a round; those at the end may be unused.
    chunks: Vec<Chunk>,
    used: usize,
    /// Counters of the right lengths, all zero.
    zero: Counts,
}

impl<S: Space> Crew<S> {
    /// So many threads as the options say, within reason; a pool that the system refuses is a
    /// single thread.
    pub fn new(space: &S, options: &Options, zero: &Counts) -> Self {
        let threads = options.threads.clamp(1, MOST_THREADS);
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.ok().filter(|_| threads > 1);
        let worker = || Mutex::new(Box::new(space.worker()));
        let workers = match &pool {
            Some(pool) => pool.broadcast(|_| worker()),
            None => vec![worker()],
        };
        Self { pool, workers, chunks: Vec::new(), used: 0, zero: zero.clone() }
    }

    /// Emits the initial states and adds them.
    pub fn start(&mut self, space: &S, table: &mut Table) -> Result<(), Full> {
        self.use_chunks(1);
        let worker = self.workers[0].get_mut().expect("no holder panics");
        self.chunks[0].start(space, worker);
        let mut shards: Vec<&mut Shard> = table.shards_mut().collect();
        let full = self.chunks[0].insert_all(&mut shards);
        self.chunks[0].compact(None);
        full
    }

    /// How many blocks are best visited before what is new is kept: as many as there are for
    /// several threads, but one by one for one thread, which finds all of a block in its cache.
    pub fn at_once(&self) -> usize {
        if self.pool.is_some() { usize::MAX } else { 1 }
    }

    /// Visits these parts of a level, and adds what they emit.
    pub fn round(
        &mut self,
        space: &S,
        table: &mut Table,
        parts: &[Part<'_>],
        setting: Setting,
    ) -> Result<(), Full> {
        if self.pool.is_some() {
            self.generate(space, parts, setting);
            return self.insert(table, parts);
        }
        // Block by block, so that what a block emits is still in the cache when it is added.
        self.use_chunks(parts.len());
        let worker = self.workers[0].get_mut().expect("no holder panics");
        let mut shards: Vec<&mut Shard> = table.shards_mut().collect();
        let mut full = Ok(());
        for (chunk, part) in self.chunks.iter_mut().zip(parts) {
            chunk.generate(space, worker, part, setting);
            full = full.and(chunk.insert_all(&mut shards));
            chunk.compact(Some(part));
        }
        full
    }

    /// Visits these parts of a level.
    pub fn generate(&mut self, space: &S, parts: &[Part<'_>], setting: Setting) {
        self.use_chunks(parts.len());
        let chunks = &mut self.chunks[..self.used];
        let Some(pool) = &self.pool else {
            let worker = self.workers[0].get_mut().expect("no holder panics");
            let each = chunks.iter_mut().zip(parts);
            return each.for_each(|(chunk, part)| chunk.generate(space, worker, part, setting));
        };
        let workers = &self.workers;
        pool.install(|| {
            chunks.par_iter_mut().with_max_len(1).zip(parts).for_each(|(chunk, part)| {
                let me = rayon::current_thread_index().expect("a thread of the pool");
                let mut worker = workers[me].lock().expect("no holder panics");
                chunk.generate(space, &mut worker, part, setting);
            });
        });
    }

    /// Adds what these parts emitted.
    pub fn insert(&mut self, table: &mut Table, parts: &[Part<'_>]) -> Result<(), Full> {
        let chunks = &mut self.chunks[..self.used];
        let Some(pool) = &self.pool else {
            let mut shards: Vec<&mut Shard> = table.shards_mut().collect();
            let full = chunks.iter_mut().try_for_each(|chunk| chunk.insert_all(&mut shards));
            let each = chunks.iter_mut().zip(parts);
            each.for_each(|(chunk, part)| chunk.compact(Some(part)));
            return full;
        };
        let each = SHARDS.div_ceil(self.workers.len());
        pool.install(|| {
            let groups = table.shards().par_chunks(each).enumerate().with_max_len(1);
            let found = groups.map(|(group, shards)| {
                let locked = shards.iter().map(|shard| shard.lock().expect("no holder panics"));
                let mut locked: Vec<_> = locked.collect();
                let (mut mine, mut fresh) = (Vec::new(), Vec::new());
                let full = chunks.iter().try_for_each(|chunk| {
                    chunk.insert_some(&mut locked, group * each, (&mut mine, &mut fresh))
                });
                (fresh, full)
            });
            let found: Vec<(Vec<u64>, Result<(), Full>)> = found.collect();
            for (fresh, _) in &found {
                let mut fresh = &fresh[..];
                for chunk in &mut *chunks {
                    chunk.mark_fresh(&mut fresh);
                }
            }
            let each = chunks.par_iter_mut().with_max_len(1).zip(parts);
            each.for_each(|(chunk, part)| chunk.compact(Some(part)));
            found.into_iter().try_for_each(|(_, full)| full)
        })
    }

    /// Does jobs, each with some worker. What they give comes in their order.
    pub fn each<J: Send, R: Send>(
        &mut self,
        jobs: Vec<J>,
        job: impl Fn(&mut S::Worker, J) -> R + Sync,
    ) -> Vec<R> {
        let Some(pool) = &self.pool else {
            let worker = self.workers[0].get_mut().expect("no holder panics");
            return jobs.into_iter().map(|it| job(worker, it)).collect();
        };
        let workers = &self.workers;
        pool.install(|| {
            let jobs = jobs.into_par_iter().with_max_len(1);
            let done = jobs.map(|it| {
                let me = rayon::current_thread_index().expect("a thread of the pool");
                job(&mut workers[me].lock().expect("no holder panics"), it)
            });
            done.collect()
        })
    }

    /// What was emitted.
    pub fn emitted(&self, space: &S) -> Coming {
        let mut coming = Coming { crew: self.bytes(), ..Coming::nothing(space.bytes()) };
        for chunk in &self.chunks[..self.used] {
            coming.words += chunk.tell_emitted(&mut coming.shards);
        }
        coming.states = coming.shards.iter().sum();
        coming
    }

    /// The threads, if there is more than one.
    pub fn pool(&self) -> Option<&ThreadPool> {
        self.pool.as_ref()
    }

    /// Gives the memory of the chunks back.
    pub fn shrink(&mut self) {
        (self.chunks, self.used) = (Vec::new(), 0);
    }

    fn use_chunks(&mut self, used: usize) {
        self.used = used;
        if self.chunks.len() < used {
            self.chunks.resize_with(used, Chunk::default);
        }
        for chunk in &mut self.chunks[..used] {
            chunk.reset(&self.zero);
        }
    }

    /// What the blocks of the last round left, in their order.
    pub fn chunks(&mut self) -> &mut [Chunk] {
        &mut self.chunks[..self.used]
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        self.chunks.iter().map(Chunk::bytes).sum()
    }

    /// How the memos fared.
    pub fn memo(&self, space: &S) -> Memo {
        let of =
            |worker: &Mutex<Box<S::Worker>>| space.memo(&worker.lock().expect("no holder panics"));
        self.workers.iter().map(of).fold(Memo::default(), Memo::plus)
    }
}
