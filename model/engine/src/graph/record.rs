//! Keeping the graph while the search goes on.
//!
//! A round's states get their numbers in the order in which they were found, so when its chunks
//! are taken in order, every fingerprint that a chunk emitted stands for a state with a number.
//! Nothing but the numbers is kept of a chunk.

use super::numbers::Numbers;
use super::{Graph, OUTSIDE, STAYS};
use crate::chunk::Chunk;
use crate::space::Space;

/// Where an action leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To a state that was emitted.
    Leads,
    /// Nowhere else.
    Stays,
    /// Out of the model's bounds.
    Leaves,
}

/// What the visits of a chunk told beside states; nothing unless the graph is wanted.
#[derive(Debug, Default)]
pub struct Told {
    on: bool,
    /// Whether the visits were asked for successors.
    expands: bool,
    /// The actions in the order in which they were told.
    actions: Vec<(u16, Way)>,
    /// Of each visit that came to its end: where its actions end, and which tallies it hit.
    visits: Vec<(u32, u64)>,
    marks: u64,
}

impl Told {
    /// Empties it; `on` is whether the graph is wanted.
    pub fn reset(&mut self, on: bool, expands: bool) {
        (self.on, self.expands, self.marks) = (on, expands, 0);
        self.actions.clear();
        self.visits.clear();
    }

    /// The state that is visited has this action.
    #[inline]
    pub fn action(&mut self, kind: usize, way: Way) {
        if self.on {
            self.actions.push((kind as u16, way));
        }
    }

    /// The state that is visited hits this tally.
    #[inline]
    pub fn hit(&mut self, goal: usize) {
        self.marks |= 1 << goal;
    }

    /// The visit came to its end.
    #[inline]
    pub fn close(&mut self) {
        if self.on {
            self.visits.push((self.actions.len() as u32, self.marks));
            self.marks = 0;
        }
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        (self.actions.capacity() * size_of::<(u16, Way)>()
            + self.visits.capacity() * size_of::<(u32, u64)>()) as u64
    }
}

/// How many states ahead of its use a cache line is asked for.
const AHEAD: usize = 12;

/// A graph in the making.
pub struct Recorder {
    graph: Graph,
    /// The states by their fingerprints; `None` where there is no memory for them.
    numbers: Option<Numbers>,
    /// How many states were visited; those of the last level are not expanded if depth is limited.
    visited: usize,
    started: bool,
}

impl Recorder {
    /// An empty graph of `space`; `tallied` are the goals that states are marked with.
    pub fn new<S: Space>(space: &S, tallied: u64) -> Self {
        let graph = Graph::new(space.kinds(), space.goals(), tallied);
        Self { graph, numbers: Numbers::new().ok(), visited: 0, started: false }
    }

    /// Takes a chunk: first that of the initial states, then what all states told, in their order.
    /// `whole` is whether the table had room for all.
    ///
    /// Where something is missing, it ends there for good: nothing after it has its number.
    pub fn take(&mut self, chunk: &Chunk, whole: bool) {
        let Some(mut numbers) = self.numbers.take().filter(|_| whole) else { return };
        let fresh = (0..chunk.fingerprints().len()).filter(|n| chunk.is_fresh(*n)).count();
        let room = numbers.len() + fresh < OUTSIDE as usize && numbers.reserve(fresh).is_ok();
        if !room {
            return;
        }
        if std::mem::replace(&mut self.started, true) {
            self.visits(chunk, &mut numbers);
        } else {
            self.start(chunk, &mut numbers);
        }
        // What a visit told before it panicked stays out.
        self.numbers = Some(numbers).filter(|_| chunk.panic.is_none());
    }

    fn start(&mut self, chunk: &Chunk, numbers: &mut Numbers) {
        for (ordinal, (n, fingerprint)) in (0..).zip(chunk.fingerprints().iter().enumerate()) {
            if chunk.is_fresh(n) {
                numbers.add(*fingerprint);
                self.graph.starts.push(ordinal);
            }
        }
    }

    fn visits(&mut self, chunk: &Chunk, numbers: &mut Numbers) {
        let fingerprints = chunk.fingerprints();
        let (mut emitted, mut from) = (0, 0);
        for &(to, marks) in &chunk.told.visits {
            self.graph.mark(self.visited, marks);
            let state = self.visited as u32;
            self.visited += 1;
            if !chunk.told.expands {
                continue;
            }
            for &(kind, way) in &chunk.told.actions[from..to as usize] {
                let target = match way {
                    Way::Leads => {
                        if let Some(next) = fingerprints.get(emitted + AHEAD) {
                            numbers.prefetch(*next);
                        }
                        let (n, fingerprint) = (emitted, fingerprints[emitted]);
                        emitted += 1;
                        if chunk.is_fresh(n) {
                            numbers.add(fingerprint)
                        } else {
                            numbers.get(fingerprint)
                        }
                    }
                    Way::Stays => state,
                    Way::Leaves => OUTSIDE,
                };
                let stays = if way == Way::Stays { STAYS } else { 0 };
                self.graph.kinds_of.push(kind | stays);
                self.graph.targets.push(target);
            }
            from = to as usize;
            self.graph.close(numbers.len() as u32);
        }
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        self.graph.bytes() + self.numbers.as_ref().map_or(0, Numbers::bytes)
    }

    /// The graph. `exhausted` is whether every reachable state was looked at.
    pub fn finish(self, exhausted: bool) -> Graph {
        let mut graph = self.graph;
        graph.finish(exhausted && self.numbers.is_some());
        graph
    }
}
