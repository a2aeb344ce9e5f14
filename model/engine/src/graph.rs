//! The graph of a search: every state by its breadth-first number, and all that can happen in it.
//!
//! A search forgets which states it did not find first, so it can't tell what is possible from
//! everywhere, nor what may go on forever. The graph keeps just that: of every state the kinds of
//! its actions and where they lead, and the tallies that it hit. Rows are not kept; they can be
//! had again from the space ([`Graph::for_each_state`], [`Walk::replay`]).
//!
//! It takes 12 bytes a state, 6 an action, and a bit a state and tally. While the search goes on,
//! it takes 16 to 24 bytes a state more.

mod answer;
mod bits;
mod fair;
mod lasso;
mod numbers;
mod reach;
pub(crate) mod record;
mod region;
mod rows;
mod scc;
mod walk;

use std::ops::Range;

use crate::outcome::{Hit, Outcome};
use crate::search::{Options, Progress, run};
use crate::space::{Goal, Sort, Space};

pub use answer::{Answer, Open, Stuck};
pub use bits::Kinds;
pub use fair::Fair;
pub use lasso::{Lasso, Run};
pub use walk::{Step, Walk};

use bits::Bits;
use record::Recorder;

/// The target of an action that leads out of the model's bounds.
const OUTSIDE: u32 = u32::MAX;

/// Beside the kind of an action that leads nowhere else.
const STAYS: u16 = 1 << 15;

/// Searches a space and keeps its graph. It neither spills nor writes checkpoints, whatever the
/// options say: all of a graph is in memory.
pub fn explore_graph<S: Space>(space: &S, options: &Options) -> (Outcome, Graph) {
    explore_graph_watched(space, options, &mut |_| {})
}

/// Searches a space and keeps its graph, and tells how far it is after every round.
///
/// # Panics
///
/// If there are more than 32,768 kinds of action, or 4,294,967,294 states.
pub fn explore_graph_watched<S: Space>(
    space: &S,
    options: &Options,
    watch: &mut dyn FnMut(&Progress),
) -> (Outcome, Graph) {
    let kinds = space.kinds().len();
    assert!(kinds <= usize::from(STAYS), "a graph has at most 32,768 kinds of action");
    let goals = space.goals().into_iter().enumerate();
    let counted = goals.filter(|(_, goal)| goal.sort == Sort::Tally);
    let tallied = options.goals & counted.fold(0, |all, (n, _)| all | 1 << n);
    let mut recorder = Recorder::new(space, tallied);
    let outcome = run(space, options, Some(&mut recorder), watch);
    let graph = recorder.finish(outcome.exhausted());
    (outcome, graph)
}

/// States with their actions, by breadth-first number: the initial states come first.
///
/// The numbers are the same in every run, for any number of threads. Of a search that was ended
/// early the graph is incomplete: the first [`Self::expanded`] states have all their actions, the
/// others have none. Checks of it never say that something holds.
#[derive(Clone, Debug)]
pub struct Graph {
    kinds: Vec<String>,
    goals: Vec<Goal>,
    /// The goals that states are marked with, one bit each.
    tallied: u64,
    /// Of each initial state, which of those that the space tells it is.
    starts: Vec<u16>,
    /// Where the actions of each expanded state end.
    ends: Vec<u64>,
    /// How many states were known when each state had been expanded.
    known: Vec<u32>,
    /// The kind of each action.
    kinds_of: Vec<u16>,
    /// Where each action leads.
    targets: Vec<u32>,
    /// The states that hit each goal.
    marks: Vec<Bits>,
    complete: bool,
    scope: Scope,
}

/// Which of the actions that a visit tells exist, as far as checks are concerned.
#[derive(Clone, Copy, Debug, Default)]
struct Scope {
    /// Those that lead out of the bounds do not.
    closed: bool,
    /// Those that lead nowhere else do not.
    busy: bool,
}

/// An action of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Its kind, by its place in [`Graph::kinds`].
    pub kind: usize,
    /// Which of the state's actions it is, in the order in which a visit tells them.
    pub ordinal: u16,
    /// The state it leads to; `None` if it leads out of the model's bounds.
    pub target: Option<u32>,
    /// Whether the space says that it leads nowhere else. One that happens to lead back to the
    /// state it was taken in does not say so.
    pub stays: bool,
}

impl Graph {
    fn new(kinds: Vec<String>, goals: Vec<Goal>, tallied: u64) -> Self {
        Self {
            kinds,
            marks: vec![Bits::default(); goals.len()],
            goals,
            tallied,
            starts: Vec::new(),
            ends: Vec::new(),
            known: Vec::new(),
            kinds_of: Vec::new(),
            targets: Vec::new(),
            complete: false,
            scope: Scope::default(),
        }
    }

    fn mark(&mut self, state: usize, mut marks: u64) {
        while marks != 0 {
            self.marks[marks.trailing_zeros() as usize].insert(state);
            marks &= marks - 1;
        }
    }

    /// The next state has been expanded, and so many states are known.
    fn close(&mut self, known: u32) {
        self.ends.push(self.targets.len() as u64);
        self.known.push(known);
    }

    fn finish(&mut self, complete: bool) {
        self.complete = complete;
        self.ends.shrink_to_fit();
        self.known.shrink_to_fit();
        self.kinds_of.shrink_to_fit();
        self.targets.shrink_to_fit();
    }

    /// The same graph, with the bounds taken as part of the model: an action that leads out of
    /// them does not exist. Checks then speak of the bounded model alone; otherwise they leave
    /// open what depends on what is behind its bounds.
    #[must_use]
    pub fn with_closed_bounds(self) -> Self {
        let scope = Scope { closed: true, ..self.scope };
        Self { scope, ..self }
    }

    /// The same graph without actions that lead nowhere else, as stateright has it: an action that
    /// is ignored is no step. Checks then do not take a state in which something is ignored for
    /// one in which something goes on forever; a state with nothing else is a deadlock.
    #[must_use]
    pub fn without_idle_actions(self) -> Self {
        let scope = Scope { busy: true, ..self.scope };
        Self { scope, ..self }
    }

    /// How many states it has. If the model panicked or there was no memory for more, the search
    /// may know of states that are not here.
    pub fn len(&self) -> usize {
        self.known.last().map_or(self.starts.len(), |known| *known as usize)
    }

    /// Whether it has no state.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether these are all reachable states, with all their actions.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// How many states have their actions: those with the lowest numbers.
    pub fn expanded(&self) -> usize {
        self.ends.len()
    }

    /// How many states are initial: those with the lowest numbers.
    pub fn initial(&self) -> usize {
        self.starts.len()
    }

    /// The names of the kinds of action.
    pub fn kinds(&self) -> &[String] {
        &self.kinds
    }

    /// The kinds with these names.
    ///
    /// # Panics
    ///
    /// If there is no kind with one of the names.
    pub fn kinds_named(&self, names: &[&str]) -> Kinds {
        let number = |name: &&str| self.kinds.iter().position(|kind| kind == name);
        let number = |name| number(name).unwrap_or_else(|| panic!("no kind is named {name}"));
        names.iter().map(number).collect()
    }

    /// The number of the tally with this name, if states are marked with it.
    pub fn tally(&self, name: &str) -> Option<usize> {
        let all = self.goals.iter().enumerate();
        let mut named = all.filter(|(n, goal)| goal.name == name && self.tallied & 1 << n != 0);
        named.next().map(|(n, _)| n)
    }

    /// The tallies that a state hit, one bit each.
    pub fn marks(&self, state: u32) -> u64 {
        let hit = self.marks.iter().map(|marks| u64::from(marks.contains(state as usize)));
        hit.enumerate().fold(0, |all, (n, hit)| all | hit << n)
    }

    /// The states that hit a tally.
    fn marked(&self, goal: usize) -> &Bits {
        assert!(goal < 64 && self.tallied & 1 << goal != 0, "goal {goal} is no tally of the graph");
        &self.marks[goal]
    }

    /// Where the actions of a state are; nowhere if it was not expanded.
    #[inline]
    fn span(&self, state: u32) -> Range<usize> {
        let state = state as usize;
        let Some(&end) = self.ends.get(state) else { return 0..0 };
        let start = if state == 0 { 0 } else { self.ends[state - 1] };
        start as usize..end as usize
    }

    /// The actions of a state, in the order in which a visit tells them.
    pub fn edges(&self, state: u32) -> impl Iterator<Item = Edge> {
        (0..).zip(self.span(state)).map(|(ordinal, at)| Edge {
            kind: (self.kinds_of[at] & !STAYS).into(),
            ordinal,
            stays: self.kinds_of[at] & STAYS != 0,
            target: Some(self.targets[at]).filter(|target| *target != OUTSIDE),
        })
    }

    /// The actions that exist.
    fn existing(&self, state: u32, scope: Scope) -> impl Iterator<Item = Edge> {
        let gone = move |e: &Edge| scope.closed && e.target.is_none() || scope.busy && e.stays;
        self.edges(state).filter(move |edge| !gone(edge))
    }

    /// Whether nothing can happen in a state.
    fn is_terminal(&self, state: u32, scope: Scope) -> bool {
        (state as usize) < self.expanded() && self.existing(state, scope).next().is_none()
    }

    /// Whether something that can happen in a state leads out of the model's bounds.
    fn is_leaving(&self, state: u32) -> bool {
        self.targets[self.span(state)].contains(&OUTSIDE)
    }

    /// The states of each level, by number. The last may be in part only.
    pub fn levels(&self) -> impl Iterator<Item = Range<u32>> {
        let mut next = 0..self.starts.len() as u32;
        std::iter::from_fn(move || {
            let level = next.clone();
            let expanded = (level.end as usize).min(self.expanded());
            let known = expanded.checked_sub(1).map_or(0, |last| self.known[last]);
            next = level.end..known.max(level.end);
            (!level.is_empty()).then_some(level)
        })
    }

    /// Where a state stands in the outcome of the same search, as [`Outcome::path`] takes it.
    pub fn place(&self, state: u32) -> Option<Hit> {
        let (level, states) = (0..).zip(self.levels()).find(|(_, all)| all.contains(&state))?;
        Some(Hit { level, index: state - states.start, ordinal: None })
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        let own = self.ends.capacity() * size_of::<u64>()
            + self.known.capacity() * size_of::<u32>()
            + self.kinds_of.capacity() * size_of::<u16>()
            + self.targets.capacity() * size_of::<u32>();
        own as u64 + self.marks.iter().map(Bits::bytes).sum::<u64>()
    }
}
