//! What is possible from everywhere, and where nothing is.

use super::bits::{Bits, Kinds};
use super::{Answer, Graph, Open, Stuck};

impl Graph {
    /// The states in which nothing can happen: a run that gets there stays there for good. A state
    /// with an action that changes nothing is none of them, unless such actions do not exist.
    pub fn deadlocks(&self) -> impl Iterator<Item = u32> {
        (0..self.expanded() as u32).filter(|state| self.is_terminal(*state, self.scope))
    }

    /// Whether there is no state in which nothing can happen. Where the bounds are not part of the
    /// model, an action that leads out of them counts as something that can happen.
    pub fn deadlock_free(&self) -> Answer<Stuck> {
        let mut all = self.deadlocks();
        match all.next() {
            Some(first) => Answer::Violated(Stuck { first, count: 1 + all.count() as u64 }),
            None if self.complete => Answer::Holds,
            None => Answer::Open(Open { unexpanded: self.unexpanded(), leaving: 0 }),
        }
    }

    /// Whether a state that hits the tally `goal` can be reached from every reachable state: AG EF
    /// in CTL. It says nothing of what will happen, only of what may.
    ///
    /// With `by`, only actions of these kinds lead there; the states from which it must be possible
    /// are still all reachable ones. So "whatever went wrong, repairs alone can mend it" is asked
    /// with the kinds that are repairs.
    ///
    /// # Panics
    ///
    /// If `goal` is no tally of this graph.
    pub fn can_reach(&self, goal: usize, by: Option<&Kinds>) -> Answer<Stuck> {
        let allowed = |kind: usize| by.is_none_or(|by| by.contains(kind));
        let back = Back::new(self, allowed);
        let marked = self.marked(goal);
        let mut seen = Bits::default();
        let states = 0..self.len() as u32;
        let mut able =
            back.close(&mut seen, states.clone().filter(|n| marked.contains(*n as usize)));
        if self.complete && able == self.len() {
            return Answer::Holds;
        }
        // Of these nobody knows what can be reached.
        let leaves = |state| {
            let mut all = self.edges(state);
            !self.scope.closed && all.any(|edge| edge.target.is_none() && allowed(edge.kind))
        };
        let unknown = |state: &u32| *state as usize >= self.expanded() || leaves(*state);
        able += back.close(&mut seen, states.clone().filter(unknown));
        if let Some(first) = states.clone().find(|state| !seen.contains(*state as usize)) {
            return Answer::Violated(Stuck { first, count: (self.len() - able) as u64 });
        }
        let leaving = states.filter(|state| leaves(*state)).count() as u64;
        Answer::Open(Open { unexpanded: self.unexpanded(), leaving })
    }

    /// Known states that were not expanded.
    pub(super) fn unexpanded(&self) -> u64 {
        (self.len() - self.expanded()) as u64
    }
}

/// The graph backwards: where each state can be reached from.
struct Back {
    /// Where the sources of each state start, and where those of the last one end.
    starts: Vec<u64>,
    sources: Vec<u32>,
}

impl Back {
    fn new(graph: &Graph, allowed: impl Fn(usize) -> bool) -> Self {
        let states = || 0..graph.expanded() as u32;
        let steps = |from| graph.steps(from).filter(|step| allowed(step.kind));
        let mut starts = vec![0; graph.len() + 1];
        states().flat_map(steps).for_each(|step| starts[step.to as usize] += 1);
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        // So far these are ends; each source put before them makes them starts.
        let mut sources = vec![0; sum as usize];
        for step in states().flat_map(steps) {
            let at = &mut starts[step.to as usize];
            *at -= 1;
            sources[*at as usize] = step.from;
        }
        Self { starts, sources }
    }

    fn of(&self, state: u32) -> &[u32] {
        let state = state as usize;
        &self.sources[self.starts[state] as usize..self.starts[state + 1] as usize]
    }

    /// Adds to `seen` these states and all from which they can be reached; how many are new.
    fn close(&self, seen: &mut Bits, states: impl Iterator<Item = u32>) -> usize {
        let (mut stack, mut new) = (Vec::new(), 0);
        for state in states {
            stack.push(state);
            while let Some(state) = stack.pop() {
                if seen.insert(state as usize) {
                    new += 1;
                    stack.extend_from_slice(self.of(state));
                }
            }
        }
        new
    }
}
