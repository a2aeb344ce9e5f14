//! Small spaces with everything in them that a search has to get right.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use levelwise::fingerprint::{mix, of_words};
use levelwise::{Goal, Memo, Sink, Space};

/// A graph made of a seed: every state leads to a few others, stays as it is, and leaves.
#[derive(Clone, Debug, Default)]
pub struct Tangle {
    pub seed: u64,
    pub states: u64,
    pub starts: u64,
    pub degree: u64,
    /// Visiting this state is a panic.
    pub panics_at: Option<u64>,
    /// States whose visits set a flag.
    pub interrupts: Option<(u64, Arc<AtomicBool>)>,
    /// How many visits there were.
    pub visits: Arc<AtomicU64>,
    /// A model that was changed leads elsewhere from this state.
    pub changed_at: Option<u64>,
    /// What the space says of its fingerprints.
    pub ambiguous: Arc<AtomicBool>,
}

impl Tangle {
    pub fn new(seed: u64, states: u64, degree: u64) -> Self {
        Self { seed, states, starts: 3, degree, ..Self::default() }
    }

    fn row(&self, state: u64) -> (u64, Vec<u32>) {
        let mut row = vec![state as u32];
        row.extend((0..state % 7).map(|n| (state + n) as u32));
        (of_words(&row, self.seed), row)
    }

    fn random(&self, a: u64, b: u64) -> u64 {
        mix(mix(self.seed ^ a.wrapping_mul(0x9e37_79b9)).wrapping_add(b))
    }

    /// Neighbours that keep the graph deep: most are near.
    fn neighbour(&self, state: u64, n: u64) -> u64 {
        let random = self.random(state + 1, n);
        let far = random >> 8;
        let far = if random.is_multiple_of(97) { far } else { far % (self.states / 20) };
        (state + far) % self.states
    }
}

impl Space for Tangle {
    type Action = (u64, u64);
    type Worker = ();

    fn worker(&self) {}

    fn seed(&self) -> u64 {
        self.seed
    }

    fn kinds(&self) -> Vec<String> {
        ["goes", "stays", "leaves"].map(String::from).to_vec()
    }

    fn guards(&self) -> Vec<String> {
        vec!["even".to_owned()]
    }

    fn goals(&self) -> Vec<Goal> {
        let mut goals = vec![Goal::tally("thirds"), Goal::always("no step of\nthis sort")];
        goals.extend((1..6).map(|n| Goal::always(format!("not {n}"))));
        goals.push(Goal::sometimes("never"));
        goals
    }

    fn initial(&self, (): &mut (), sink: &mut impl Sink<(u64, u64)>) {
        for n in 0..self.starts {
            // Every second initial state is told twice.
            for _ in 0..=n % 2 {
                let (fingerprint, row) = self.row(self.random(0, n) % self.states);
                sink.start(fingerprint, &row);
            }
        }
    }

    fn visit(&self, (): &mut (), row: &[u32], sink: &mut impl Sink<(u64, u64)>) {
        let state = u64::from(row[0]);
        self.visits.fetch_add(1, Relaxed);
        if let Some((at, flag)) = &self.interrupts
            && *at == state
        {
            flag.store(true, Relaxed);
        }
        if state % 3 == 0 {
            sink.hit(0);
        }
        for goal in 2..7 {
            if state % 1009 == self.random(7, goal as u64) % 1009 {
                sink.hit(goal);
            }
        }
        if !sink.expands() {
            return;
        }
        for n in 0..self.degree {
            assert!(n != 2 || self.panics_at != Some(state), "state {state} is too much");
            if (state + n) % 11 == 0 {
                sink.stays(1, || (state, n));
            } else if (state + n) % 13 == 0 {
                sink.leaves(2, || (state, n));
            } else {
                let changed = u64::from(self.changed_at == Some(state));
                let (fingerprint, row) = self.row(self.neighbour(state, n) ^ changed);
                sink.step(0, fingerprint, &row, || (state, n));
                if fingerprint % 499 == 7 {
                    sink.hit_step(1);
                }
            }
            if (state ^ n) % 2 == 0 {
                sink.refused(0);
            }
        }
    }

    fn is_repeatable(&self) -> bool {
        !self.ambiguous.load(Relaxed)
    }

    fn memo(&self, (): &()) -> Memo {
        Memo::default()
    }
}

/// Counters that go up to a limit: a wide space of many levels.
#[derive(Clone, Debug)]
pub struct Grid {
    pub axes: usize,
    pub top: u32,
    pub seed: u64,
}

impl Space for Grid {
    type Action = usize;
    type Worker = Vec<u32>;

    fn worker(&self) -> Vec<u32> {
        Vec::new()
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn kinds(&self) -> Vec<String> {
        vec!["up".to_owned(), "turn".to_owned()]
    }

    fn goals(&self) -> Vec<Goal> {
        vec![Goal::sometimes("the far corner"), Goal::always("never two and three")]
    }

    fn initial(&self, _: &mut Vec<u32>, sink: &mut impl Sink<usize>) {
        let row = vec![0; self.axes];
        sink.start(of_words(&row, self.seed), &row);
    }

    fn visit(&self, next: &mut Vec<u32>, row: &[u32], sink: &mut impl Sink<usize>) {
        if row.iter().all(|n| *n == self.top) {
            sink.hit(0);
        }
        if row[..2] == [2, 3] {
            sink.hit(1);
        }
        if !sink.expands() {
            return;
        }
        for axis in 0..self.axes {
            next.clear();
            next.extend_from_slice(row);
            if next[axis] == self.top {
                sink.leaves(0, || axis);
            } else {
                next[axis] += 1;
                sink.step(0, of_words(next, self.seed), next, || axis);
            }
        }
        next.clear();
        next.extend(row[1..].iter().chain(&row[..1]));
        sink.step(1, of_words(next, self.seed), next, || self.axes);
    }
}
