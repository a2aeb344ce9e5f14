//! Strongly connected components: Tarjan's algorithm, without recursion.

use super::region::Region;
use super::{Graph, OUTSIDE};

/// A state whose component is complete.
const DONE: u32 = u32::MAX;

/// The components of a region.
pub struct Components<'a> {
    graph: &'a Graph,
    region: &'a Region<'a>,
    /// The order in which states were met, from 1; 0 before that, [`DONE`] in the end.
    met: Vec<u32>,
    /// The earliest state known to be in the same component; in the end the component's number.
    low: Vec<u32>,
    /// States that are met and not done, in the order in which they were met.
    stack: Vec<u32>,
    /// The states on the way here, each with its next action.
    way: Vec<(u32, usize)>,
    /// How many states were met, and how many components are complete.
    count: (u32, u32),
}

impl<'a> Components<'a> {
    /// Finds them, and tells each one's states as soon as it is complete.
    pub fn new(
        graph: &'a Graph,
        region: &'a Region<'a>,
        mut each: impl FnMut(&Self, &[u32]),
    ) -> Self {
        let zero = vec![0; graph.len()];
        let (stack, way) = (Vec::new(), Vec::new());
        let (met, low) = (zero.clone(), zero);
        let mut all = Self { graph, region, met, low, stack, way, count: (0, 0) };
        for &root in &region.states {
            if all.met[root as usize] == 0 {
                all.meet(root);
                all.walk(&mut each);
            }
        }
        all
    }

    /// Whether two states, both of complete components, are in the same one.
    pub fn same(&self, one: u32, other: u32) -> bool {
        let number = |n: u32| (self.met[n as usize] == DONE).then_some(self.low[n as usize]);
        number(one).is_some() && number(one) == number(other)
    }

    fn meet(&mut self, state: u32) {
        self.count.0 += 1;
        self.met[state as usize] = self.count.0;
        self.low[state as usize] = self.count.0;
        self.stack.push(state);
        self.way.push((state, self.graph.span(state).start));
    }

    fn walk(&mut self, each: &mut impl FnMut(&Self, &[u32])) {
        while let Some((state, at)) = self.way.last_mut() {
            let (state, now) = (*state, *at);
            if now < self.graph.span(state).end {
                *at += 1;
                let target = self.graph.targets[now];
                if target != OUTSIDE && self.region.contains(target) {
                    match self.met[target as usize] {
                        0 => self.meet(target),
                        DONE => {}
                        met => self.lower(state, met),
                    }
                }
            } else {
                self.way.pop();
                if let Some(&(parent, _)) = self.way.last() {
                    self.lower(parent, self.low[state as usize]);
                }
                if self.low[state as usize] == self.met[state as usize] {
                    self.complete(state, each);
                }
            }
        }
    }

    fn lower(&mut self, state: u32, met: u32) {
        let low = &mut self.low[state as usize];
        *low = met.min(*low);
    }

    fn complete(&mut self, root: u32, each: &mut impl FnMut(&Self, &[u32])) {
        let from = self.stack.iter().rposition(|state| *state == root).expect("it was met");
        self.count.1 += 1;
        for n in from..self.stack.len() {
            let state = self.stack[n] as usize;
            (self.met[state], self.low[state]) = (DONE, self.count.1);
        }
        let states = self.stack.split_off(from);
        each(self, &states);
    }
}
