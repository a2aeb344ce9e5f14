//! The search: level by level, each level in rounds of visit, insert, keep.
//!
//! All states of a level are visited before any of the next, and what is new is kept in the order
//! in which a single thread would have found it. So the first hit of a goal is a shortest one, and
//! counts, hits and paths are the same for any number of threads.

mod round;

use std::time::Instant;

use crate::chunk::Setting;
use crate::frontier::{Frontier, Links};
use crate::graph::record::Recorder;
use crate::limits::{Limits, Until};
use crate::outcome::{Bound, Counts, Hit, Outcome, Panic, Verdict};
use crate::space::{Goal, Memo, Sort, Space};
use crate::table::{Full, Table};

use round::Crew;

/// How to search.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads, at least 1.
    pub threads: usize,
    /// When to end early.
    pub limits: Limits,
    /// Which goals are looked for, one bit each.
    pub goals: u64,
    /// Whether to go on when something was found.
    pub until: Until,
}

impl Default for Options {
    fn default() -> Self {
        Self { threads: 1, limits: Limits::default(), goals: u64::MAX, until: Until::default() }
    }
}

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
    match Search::new(space, options) {
        Ok(mut search) => {
            search.graph = graph;
            let verdict = search.run(watch);
            search.outcome(verdict)
        }
        Err(Full) => nothing(space),
    }
}

/// The outcome where there is no memory to begin with.
fn nothing<S: Space>(space: &S) -> Outcome {
    Outcome {
        verdict: Verdict::Bounded { by: Bound::Memory, left: 0 },
        unique: 0,
        depth: 0,
        counts: Counts::default(),
        goals: space.goals().into_iter().map(|goal| (goal, None)).collect(),
        panic: None,
        seed: space.seed(),
        bytes: 0,
        memo: Memo::default(),
        levels: Vec::new(),
    }
}

struct Search<'a, S: Space> {
    space: &'a S,
    options: &'a Options,
    crew: Crew<S>,
    table: Table,
    goals: Vec<Goal>,
    hits: Vec<Option<Hit>>,
    counts: Counts,
    levels: Vec<Links>,
    /// What keeps the graph, if it is wanted.
    graph: Option<&'a mut Recorder>,
    /// Memory of complete levels' links.
    links_bytes: u64,
    unique: u64,
    bytes: u64,
    panic: Option<Panic>,
    started: Instant,
}

impl<'a, S: Space> Search<'a, S> {
    fn new(space: &'a S, options: &'a Options) -> Result<Self, Full> {
        let goals = space.goals();
        assert!(goals.len() <= 64, "a space has at most 64 goals");
        let mut counts = Counts::default();
        counts.reset(space.kinds().len(), space.guards().len(), goals.len());
        Ok(Self {
            space,
            options,
            crew: Crew::new(space, options, &counts),
            table: Table::new()?,
            hits: vec![None; goals.len()],
            goals,
            counts,
            levels: Vec::new(),
            graph: None,
            links_bytes: 0,
            unique: 0,
            bytes: 0,
            panic: None,
            started: Instant::now(),
        })
    }

    fn run(&mut self, watch: &mut dyn FnMut(&Progress)) -> Verdict {
        let mut frontier = Frontier::default();
        let mut links = Links::default();
        let full = self.crew.start(self.space, &mut self.table);
        let mut end = self.take(full, &mut frontier, &mut links).err();
        loop {
            links.close();
            self.links_bytes += links.bytes();
            self.levels.push(std::mem::take(&mut links));
            if let Some(by) = end {
                return Verdict::Bounded { by, left: frontier.len() };
            }
            if frontier.len() == 0 {
                self.levels.pop();
                return Verdict::Exhausted;
            }
            let level = std::mem::take(&mut frontier);
            let (reached, left) = self.level(level, &mut frontier, &mut links, watch);
            end = reached;
            if end.is_some() || self.at_last_level() {
                links.close();
                self.levels.extend((links.len() > 0).then(|| std::mem::take(&mut links)));
                let by = end.unwrap_or(Bound::Depth);
                return Verdict::Bounded { by, left: left + frontier.len() };
            }
        }
    }

    /// Whether the level visited last is the last that may be.
    fn at_last_level(&self) -> bool {
        self.options.limits.depth.is_some_and(|limit| self.levels.len() as u64 >= u64::from(limit))
    }

    /// Visits all states of a level. Returns what ended it early, and how many states of the level
    /// were not expanded.
    fn level(
        &mut self,
        level: Frontier,
        next: &mut Frontier,
        links: &mut Links,
        watch: &mut dyn FnMut(&Progress),
    ) -> (Option<Bound>, u64) {
        let expands = !self.at_last_level();
        let setting = |search: &Self| Setting {
            level: search.levels.len() as u32 - 1,
            open: search.open(),
            tallies: search.goals_of(|sort| sort == Sort::Tally),
            expands,
            keeps_graph: search.graph.is_some(),
        };
        let (whole, mut queue) = (level.len(), level.into_queue());
        while queue.left() > 0 {
            let parts = queue.parts(self.options.limits.round(self.unique));
            let setting = setting(self);
            let full = self.crew.round(self.space, &mut self.table, &parts, setting);
            let visited = parts.iter().map(|part| part.range.len()).sum();
            queue.advance(visited);
            let taken = self.take(full, next, links);
            self.measure(queue.bytes() + next.bytes() + links.bytes());
            watch(&self.progress(queue.left() + next.len()));
            let limits = &self.options.limits;
            if let Some(by) = taken.err().or_else(|| limits.reached(self.unique, self.bytes)) {
                return (Some(by), queue.left());
            }
        }
        (None, if expands { 0 } else { whole })
    }

    fn progress(&self, queue: u64) -> Progress {
        Progress {
            depth: self.levels.len() as u64,
            unique: self.unique,
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

    /// Takes what a round left in the chunks, in their order.
    fn take(
        &mut self,
        full: Result<(), Full>,
        next: &mut Frontier,
        links: &mut Links,
    ) -> Result<(), Bound> {
        let mut panicked = false;
        for chunk in self.crew.chunks() {
            if let Some(graph) = &mut self.graph {
                graph.take(chunk, full.is_ok());
            }
            self.counts.add(&chunk.counts);
            for &(goal, hit) in &chunk.hits {
                self.hits[goal].get_or_insert(hit);
            }
            self.unique += chunk.links.len() as u64;
            links.append(&chunk.links);
            chunk.blocks.drain(..).for_each(|block| next.push(block));
            if let Some(panic) = chunk.panic.take() {
                self.panic.get_or_insert(panic);
                panicked = true;
            }
        }
        if panicked {
            return Err(Bound::Panic);
        }
        full.map_err(|Full| Bound::Memory)?;
        let all_hit = self.options.until == Until::AllHit && self.open() == 0;
        if all_hit { Err(Bound::Goal) } else { Ok(()) }
    }

    fn measure(&mut self, frontiers: u64) {
        let bytes = self.table.bytes()
            + self.links_bytes
            + frontiers
            + self.crew.bytes()
            + self.graph.as_ref().map_or(0, |graph| graph.bytes())
            + self.space.bytes();
        self.bytes = self.bytes.max(bytes);
    }

    fn outcome(self, verdict: Verdict) -> Outcome {
        Outcome {
            verdict,
            unique: self.unique,
            depth: self.levels.len() as u64,
            counts: self.counts,
            goals: self.goals.into_iter().zip(self.hits).collect(),
            panic: self.panic,
            seed: self.space.seed(),
            bytes: self.bytes,
            memo: self.crew.memo(self.space),
            levels: self.levels,
        }
    }
}
