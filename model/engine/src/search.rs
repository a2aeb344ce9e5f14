//! The search: level by level, each level in rounds of visit, insert, keep.
//!
//! All states of a level are visited before any of the next, and what is new is kept in the order
//! in which a single thread would have found it. So the first hit of a goal is a shortest one, and
//! counts, hits and paths are the same for any number of threads.

mod resume;
mod round;
mod store;

use std::time::Instant;

use crate::checkpoint::{Head, Log, Moment};
use crate::chunk::Setting;
use crate::disk::DiskError;
use crate::frontier::{Frontier, Queue};
use crate::graph::record::Recorder;
use crate::levels::Levels;
use crate::limits::Until;
use crate::outcome::{Bound, Counts, Hit, Outcome, Panic, Verdict};
use crate::space::{Goal, Memo, Sort, Space};
use crate::spill::Spilling;
use crate::table::Full;

pub use crate::options::Options;
pub use resume::{resume, resume_watched};

use round::Crew;
use store::{Fronts, Stop, Store};

/// How far a search is, for whoever watches it.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Levels begun.
    pub depth: u64,
    /// Distinct states.
    pub unique: u64,
    /// Generated states.
    pub generated: u64,
    /// States known and not expanded.
    pub queue: u64,
    /// Memory taken for states.
    pub bytes: u64,
    /// Wall time.
    pub seconds: f64,
}

/// Searches a space.
pub fn search<S: Space>(space: &S, options: &Options) -> Outcome {
    watched(space, options, &mut |_| {})
}

/// Searches a space, and tells how far it is after every round.
pub fn watched<S: Space>(
    space: &S,
    options: &Options,
    watch: &mut dyn FnMut(&Progress),
) -> Outcome {
    run(space, options, None, watch)
}

/// The same, and the graph is kept if there is a recorder.
pub(crate) fn run<'a, S: Space>(
    space: &'a S,
    options: &'a Options,
    graph: Option<&'a mut Recorder>,
    watch: &mut dyn FnMut(&Progress),
) -> Outcome {
    match Search::begin(space, options, graph) {
        Ok(mut search) => {
            let verdict = search.run(watch);
            search.outcome(verdict)
        }
        Err(stop) => nothing(space, stop),
    }
}

/// The outcome where there is no memory, or no folder, to begin with.
fn nothing<S: Space>(space: &S, stop: Stop) -> Outcome {
    let (by, disk) = match stop {
        Stop::Bound(by) => (by, None),
        Stop::Disk(error) => (Bound::Disk, Some(error)),
    };
    Outcome {
        verdict: Verdict::Bounded { by, left: 0 },
        unique: 0,
        depth: 0,
        counts: Counts::zero(space),
        goals: space.goals().into_iter().map(|goal| (goal, None)).collect(),
        panic: None,
        disk,
        seed: space.seed(),
        bytes: 0,
        spilled: 0,
        resumed: 0,
        memo: Memo::default(),
        levels: Levels::default(),
    }
}

struct Search<'a, S: Space> {
    space: &'a S,
    options: &'a Options,
    crew: Crew<S>,
    store: Store,
    goals: Vec<Goal>,
    hits: Vec<Option<Hit>>,
    counts: Counts,
    /// What keeps the graph, if it is wanted.
    graph: Option<&'a mut Recorder>,
    bytes: u64,
    panic: Option<Panic>,
    disk: Option<DiskError>,
    /// How many levels were taken from a checkpoint.
    resumed: u64,
    started: Instant,
}

impl<'a, S: Space> Search<'a, S> {
    fn new(space: &'a S, options: &'a Options, may_spill: bool) -> Result<Self, Stop> {
        let goals = space.goals();
        assert!(goals.len() <= 64, "a space has at most 64 goals");
        let counts = Counts::zero(space);
        Ok(Self {
            space,
            options,
            crew: Crew::new(space, options, &counts),
            store: Store::new(options, may_spill)?,
            hits: vec![None; goals.len()],
            goals,
            counts,
            graph: None,
            bytes: 0,
            panic: None,
            disk: None,
            resumed: 0,
            started: Instant::now(),
        })
    }

    /// A search from the start, with a checkpoint if it is wanted.
    /// A graph needs all of it in memory, in one go.
    fn begin(
        space: &'a S,
        options: &'a Options,
        graph: Option<&'a mut Recorder>,
    ) -> Result<Self, Stop> {
        let mut search = Self::new(space, options, graph.is_none())?;
        search.graph = graph;
        if let (Some(checkpoint), None) = (&options.checkpoint, &search.graph) {
            let head = Head::new(space, options.goals, checkpoint);
            search.store.log = Some(Log::begin(checkpoint, head)?);
        }
        Ok(search)
    }

    /// Searches from the start.
    fn run(&mut self, watch: &mut dyn FnMut(&Progress)) -> Verdict {
        let mut frontier = Frontier::default();
        let full = self.crew.start(self.space, &mut self.store.table);
        let started = self.take(full, &mut frontier).and_then(|()| self.look_at_goals());
        let mut end = started.err().map(|stop| self.ended(stop));
        let closed = self.close_level(end.is_none() && frontier.len() > 0);
        end = end.or(closed.err().map(|stop| self.ended(stop)));
        self.go_on(frontier, end, watch)
    }

    /// Searches from the last complete level, whose states are in `frontier`.
    fn go_on(
        &mut self,
        mut frontier: Frontier,
        mut end: Option<Bound>,
        watch: &mut dyn FnMut(&Progress),
    ) -> Verdict {
        loop {
            if let Some(by) = end {
                return Verdict::Bounded { by, left: frontier.len() };
            }
            if frontier.len() == 0 {
                self.store.levels.drop_last();
                return Verdict::Exhausted;
            }
            let mut next = Frontier::default();
            let (reached, left) = self.level(std::mem::take(&mut frontier), &mut next, watch);
            if let Some(by) = reached.or_else(|| self.at_last_level().then_some(Bound::Depth)) {
                if self.store.levels.open_len() > 0 {
                    let closed = self.close_level(false);
                    closed.err().map(|stop| self.ended(stop));
                }
                return Verdict::Bounded { by, left: left + next.len() };
            }
            end = self.close_level(next.len() > 0).err().map(|stop| self.ended(stop));
            frontier = next;
        }
    }

    /// Whether the level visited last is the last that may be.
    fn at_last_level(&self) -> bool {
        let levels = self.store.levels.len() as u64;
        self.options.limits.depth.is_some_and(|limit| levels >= u64::from(limit))
    }

    /// Visits all states of a level. Returns what ended it early, and how many states of the level
    /// were not expanded.
    fn level(
        &mut self,
        level: Frontier,
        next: &mut Frontier,
        watch: &mut dyn FnMut(&Progress),
    ) -> (Option<Bound>, u64) {
        let expands = !self.at_last_level();
        let (whole, mut queue) = (level.len(), level.into_queue());
        let mut end = None;
        while end.is_none() && queue.left() > 0 {
            let round = self.round(&mut queue, next, expands);
            let round = round.and_then(|()| self.look_at_goals());
            self.measure(queue.bytes() + next.bytes());
            watch(&self.progress(queue.left() + next.len()));
            let reached = || self.options.limits.reached(self.store.unique, self.bytes);
            end = match round {
                Ok(()) => reached(),
                Err(stop) => Some(self.ended(stop)),
            };
        }
        // Nothing is said about states that may be old ones.
        let confirmed = self.store.confirm(next, self.crew.pool());
        end = end.or(confirmed.err().map(|error| self.ended(error.into())));
        self.measure(queue.bytes() + next.bytes());
        match (end, self.panic.as_ref().and_then(|panic| panic.at)) {
            (None, _) => (None, if expands { 0 } else { whole }),
            (Some(Bound::Panic), Some(at)) => (end, whole - u64::from(at.index)),
            (Some(_), _) => (end, queue.left()),
        }
    }

    /// Visits so many states as are visited before the limits are looked at, whether it spills or
    /// not.
    fn round(&mut self, queue: &mut Queue, next: &mut Frontier, expands: bool) -> Result<(), Stop> {
        let setting = Setting {
            level: self.store.levels.len() as u32 - 1,
            open: self.open(),
            tallies: self.goals_of(|sort| sort == Sort::Tally),
            expands,
            keeps_graph: self.graph.is_some(),
        };
        let limits = &self.options.limits;
        let round = limits.round(self.store.unique) as u64;
        let left = queue.left().saturating_sub(round);
        while queue.left() > left {
            let room = (queue.left() - left) as usize;
            if self.store.spilling.is_some() {
                self.step_and_spill(queue, next, room, setting)?;
            } else {
                let mut parts = queue.parts(room);
                parts.truncate(self.crew.at_once());
                let full = self.crew.round(self.space, &mut self.store.table, &parts, setting);
                queue.advance(parts.iter().map(|part| part.range.len()).sum());
                self.take(full, next)?;
            }
        }
        self.store.confirm_near(limits, next, self.crew.pool())?;
        Ok(())
    }

    /// Visits some states, spilling what has no room before their successors are added.
    fn step_and_spill(
        &mut self,
        queue: &mut Queue,
        next: &mut Frontier,
        room: usize,
        setting: Setting,
    ) -> Result<(), Stop> {
        let step = self.store.spilling.as_ref().map_or(room, Spilling::step).min(room);
        let loaded = queue.load(step)?;
        let parts = queue.parts(step);
        let visited = parts.iter().map(|part| part.range.len()).sum();
        self.crew.generate(self.space, &parts, setting);
        let coming = self.crew.emitted(self.space);
        self.measure(queue.bytes() + next.bytes());
        let mut fronts = Fronts { queue, used: visited, next };
        self.store.make_room(&coming, &mut fronts, self.crew.pool())?;
        let full = self.crew.insert(&mut self.store.table, &queue.parts(visited));
        queue.advance(visited);
        let taken = self.take(full, next);
        self.measure(queue.bytes() + next.bytes());
        let spilling = self.store.spilling.as_mut();
        if spilling.is_some_and(|spilling| spilling.adapt(coming.crew + loaded)) {
            self.crew.shrink();
        }
        taken
    }

    fn progress(&self, queue: u64) -> Progress {
        Progress {
            depth: self.store.levels.len() as u64,
            unique: self.store.unique,
            generated: self.counts.generated,
            queue,
            bytes: self.bytes,
            seconds: self.started.elapsed().as_secs_f64(),
        }
    }

    fn goals_of(&self, wanted: impl Fn(Sort) -> bool) -> u64 {
        let bits = self.goals.iter().enumerate().filter(|(_, goal)| wanted(goal.sort));
        self.options.goals & bits.fold(0, |all, (n, _)| all | 1 << n)
    }

    /// The goals that were not hit yet.
    fn open(&self) -> u64 {
        let hit = self.hits.iter().enumerate().filter(|(_, hit)| hit.is_some());
        self.goals_of(|sort| sort != Sort::Tally) & !hit.fold(0, |all, (n, _)| all | 1 << n)
    }

    /// Takes what the chunks hold, in their order. What comes after a panic is not taken, so that
    /// it does not matter how many states are visited at a time.
    fn take(&mut self, full: Result<(), Full>, next: &mut Frontier) -> Result<(), Stop> {
        for chunk in self.crew.chunks() {
            if let Some(graph) = &mut self.graph {
                graph.take(chunk, full.is_ok());
            }
            self.counts.add(&chunk.counts);
            for &(goal, hit) in &chunk.hits {
                self.hits[goal].get_or_insert(hit);
            }
            self.store.take(chunk, next)?;
            if let Some(panic) = chunk.panic.take() {
                self.panic = Some(panic);
                return Err(Stop::Bound(Bound::Panic));
            }
        }
        full?;
        // Places in a level are numbers of 32 bits.
        let fits = u32::try_from(next.len());
        if fits.is_ok() { Ok(()) } else { Err(Stop::Bound(Bound::Memory)) }
    }

    /// Whether to go on when so much was found.
    fn look_at_goals(&self) -> Result<(), Stop> {
        let all_hit = self.options.until == Until::AllHit && self.open() == 0;
        if all_hit { Err(Stop::Bound(Bound::Goal)) } else { Ok(()) }
    }

    /// The bound of what ended the search; an error is kept.
    fn ended(&mut self, stop: Stop) -> Bound {
        match stop {
            Stop::Bound(by) => by,
            Stop::Disk(error) => {
                self.disk.get_or_insert(error);
                Bound::Disk
            }
        }
    }

    /// A level is complete; `whole` is whether the search may be gone on with from its end.
    fn close_level(&mut self, whole: bool) -> Result<(), Stop> {
        if let Some(log) = self.store.log.take_if(|_| !self.space.is_repeatable()) {
            let error = log.abandon();
            // What was stored may be of other states than the fingerprints mean now.
            if self.resumed > 0 {
                return Err(Stop::Disk(error));
            }
            self.disk.get_or_insert(error);
        }
        let moment = || Moment { counts: self.counts.clone(), hits: self.hits.clone() };
        let moment = (whole && self.store.log.is_some()).then(moment);
        Ok(self.store.close_level(moment)?)
    }

    fn measure(&mut self, frontiers: u64) {
        let graph = self.graph.as_ref().map_or(0, |graph| graph.bytes());
        let others = frontiers + graph + self.space.bytes();
        let bytes = self.store.bytes() + self.crew.bytes() + others;
        self.bytes = self.bytes.max(bytes);
    }

    fn outcome(mut self, verdict: Verdict) -> Outcome {
        let written = self.store.log.as_mut().map_or(Ok(()), Log::write);
        let disk = self.disk.or(written.err());
        // What can't be written stays in memory.
        let _ = self.store.levels.finish();
        Outcome {
            verdict,
            unique: self.store.unique,
            depth: self.store.levels.len() as u64,
            counts: self.counts,
            goals: self.goals.into_iter().zip(self.hits).collect(),
            panic: self.panic,
            disk,
            seed: self.space.seed(),
            bytes: self.bytes,
            spilled: self.store.spilling.as_ref().map_or(0, |it| it.scratch.written()),
            resumed: self.resumed,
            memo: self.crew.memo(self.space),
            levels: self.store.levels,
        }
    }
}
