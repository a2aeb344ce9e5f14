//! The part of a graph in which a run may be caught.

use super::Graph;
use super::bits::Bits;
use super::walk::{Step, Walk};

/// No state.
const NONE: u32 = u32::MAX;

/// States that can be reached without leaving the region, nearest first.
pub struct Region<'a> {
    graph: &'a Graph,
    /// The states in the order of how long the shortest way there is.
    pub states: Vec<u32>,
    /// The place of each state in this order.
    ranks: Vec<u32>,
    /// The state that each state was reached from, if it is not one in which the region begins.
    parents: Vec<u32>,
}

impl<'a> Region<'a> {
    /// All that can be reached from states of which `begins` says so, through states that are not
    /// in `avoided`. Where it begins, it may have been reached through any state.
    pub fn new(graph: &'a Graph, avoided: Option<&Bits>, begins: impl Fn(u32) -> bool) -> Self {
        let none = vec![NONE; graph.len()];
        let mut region = Self { graph, states: Vec::new(), ranks: none.clone(), parents: none };
        let may = |state: u32| avoided.is_none_or(|avoided| !avoided.contains(state as usize));
        let mut levels = graph.levels();
        let mut from = 0;
        loop {
            // A state of level n is n steps away, wherever it was reached from.
            let level = levels.next();
            let ends = level.is_none() && from == region.states.len();
            for state in level.into_iter().flatten().filter(|s| may(*s) && begins(*s)) {
                region.add(state, NONE);
            }
            if ends {
                return region;
            }
            let to = region.states.len();
            for n in from..to {
                let state = region.states[n];
                for step in graph.steps(state).filter(|step| may(step.to)) {
                    region.add(step.to, state);
                }
            }
            from = to;
        }
    }

    fn add(&mut self, state: u32, parent: u32) {
        let rank = &mut self.ranks[state as usize];
        if *rank == NONE {
            *rank = self.states.len() as u32;
            self.states.push(state);
            self.parents[state as usize] = parent;
        }
    }

    /// Whether a state is in it.
    #[inline]
    pub fn contains(&self, state: u32) -> bool {
        self.ranks[state as usize] != NONE
    }

    /// The place of a state in the order.
    #[inline]
    pub fn rank(&self, state: u32) -> u32 {
        self.ranks[state as usize]
    }

    /// The shortest walk to a state of it that, once in the region, stays there.
    pub fn path_to(&self, state: u32) -> Walk {
        let (mut steps, mut at): (Vec<Step>, _) = (Vec::new(), state);
        while self.parents[at as usize] != NONE {
            let parent = self.parents[at as usize];
            let step = self.graph.steps(parent).find(|step| step.to == at);
            steps.push(step.expect("a state was reached by an action"));
            at = parent;
        }
        let mut walk = self.graph.path_to(at);
        walk.steps.extend(steps.into_iter().rev());
        walk
    }
}
