//! A search that tests believe: breadth first, whole states compared whole; and stateright's own,
//! counted to its end.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use levelwise::samples::grid::Grid;
use levelwise::samples::slide::Slide;
use siphasher::sip::SipHasher13;
use stateright::{Checker, Expectation, Model, Property};

/// What was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Distinct states.
    pub unique: usize,
    /// Initial states, and each step to a state within the boundary, whether it is new or not.
    pub generated: usize,
    /// The states on the longest of the shortest paths: 1 if there are only initial states.
    pub depth: usize,
}

/// What a search has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What was counted.
    pub counts: Counts,
    /// For each property that is violated (`always`) or witnessed (`sometimes`), the states on a
    /// shortest path to where it is. `eventually` is not looked at.
    pub firsts: BTreeMap<&'static str, usize>,
}

/// The distinct states, in the order in which they were found.
struct Seen<S> {
    states: Vec<S>,
    /// Where in `states` those with a hash are. States whose hashes are equal need not be equal.
    by_hash: BTreeMap<u64, Vec<usize>>,
}

impl<S: PartialEq + Hash> Seen<S> {
    fn insert(&mut self, state: S) {
        // Equal states have equal hashes, in any hasher; what stateright's sets leave out when
        // they are hashed only makes these lists longer.
        let mut hasher = SipHasher13::new();
        state.hash(&mut hasher);
        let alike = self.by_hash.entry(hasher.finish()).or_default();
        if alike.iter().all(|i| self.states[*i] != state) {
            alike.push(self.states.len());
            self.states.push(state);
        }
    }
}

/// Looks at every state within `max_depth`, of which the initial states have 1. States at that
/// depth are counted and looked at, but not left again.
///
/// An initial state that is listed twice is left once; stateright leaves it twice.
pub fn search<M: Model>(model: &M, max_depth: Option<usize>) -> Found
where
    M::State: PartialEq + Hash,
{
    let inside = |state: &M::State| model.within_boundary(state);
    let mut seen = Seen { states: Vec::new(), by_hash: BTreeMap::new() };
    let mut counts = Counts { unique: 0, generated: 0, depth: 0 };
    for state in model.init_states().into_iter().filter(inside) {
        counts.generated += 1;
        seen.insert(state);
    }
    let mut firsts = BTreeMap::new();
    let mut actions = Vec::new();
    while counts.unique < seen.states.len() {
        let level = counts.unique..seen.states.len();
        counts.depth += 1;
        counts.unique = level.end;
        for at in level {
            judge(model, &seen.states[at], counts.depth, &mut firsts);
            if max_depth == Some(counts.depth) {
                continue;
            }
            model.actions(&seen.states[at], &mut actions);
            for action in actions.drain(..) {
                let next = model.next_state(&seen.states[at], action);
                if let Some(next) = next.filter(inside) {
                    counts.generated += 1;
                    seen.insert(next);
                }
            }
        }
    }
    Found { counts, firsts }
}

fn judge<M: Model>(
    model: &M,
    state: &M::State,
    depth: usize,
    firsts: &mut BTreeMap<&'static str, usize>,
) {
    for property in model.properties() {
        let wanted = match property.expectation {
            Expectation::Always => false,
            Expectation::Sometimes => true,
            Expectation::Eventually => continue,
        };
        if (property.condition)(model, state) == wanted {
            firsts.entry(property.name).or_insert(depth);
        }
    }
}

/// A model with nothing but a property that never comes true, so that no discovery ends a search.
struct Endless<M>(M);

impl<M: Model> Model for Endless<M> {
    type State = M::State;
    type Action = M::Action;

    fn init_states(&self) -> Vec<M::State> {
        self.0.init_states()
    }

    fn actions(&self, state: &M::State, actions: &mut Vec<M::Action>) {
        self.0.actions(state, actions);
    }

    fn next_state(&self, last: &M::State, action: M::Action) -> Option<M::State> {
        self.0.next_state(last, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::sometimes("never", |_, _| false)]
    }

    fn within_boundary(&self, state: &M::State) -> bool {
        self.0.within_boundary(state)
    }
}

/// What stateright's own breadth-first search counts on one thread, to its end or to `max_depth`.
pub fn stateright_counts<M>(model: M, max_depth: Option<usize>) -> Counts
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + PartialEq + Hash + Send + Sync,
    M::Action: Clone + PartialEq,
{
    let mut checker = Endless(model).checker().threads(1);
    if let Some(max_depth) = max_depth {
        checker = checker.target_max_depth(max_depth);
    }
    let checker = checker.spawn_bfs().join();
    Counts {
        unique: checker.unique_state_count(),
        generated: checker.state_count(),
        depth: checker.max_depth(),
    }
}

#[test]
fn the_naive_search_counts_what_formulas_say() {
    for (counters, top) in [(1, 1), (1, 9), (2, 4), (3, 3), (5, 2)] {
        let side = usize::from(top) + 1;
        let steps = counters * usize::from(top) * side.pow(counters as u32 - 1);
        let expected = Counts {
            unique: side.pow(counters as u32),
            generated: 1 + steps,
            depth: 1 + counters * usize::from(top),
        };
        let grid = Grid { counters, top, sum: u32::MAX };
        assert_eq!(search(&grid, None).counts, expected, "{grid:?}");
    }
    // Half of all arrangements; the gap has four moves in the middle, three at a side, two in a
    // corner, and is in each place equally often.
    let expected = Counts { unique: 360, generated: 1 + 60 * (4 * 2 + 2 * 3), depth: 22 };
    assert_eq!(search(&Slide { width: 3, height: 2 }, None).counts, expected);
}

#[test]
fn a_bound_cuts_both_searches_alike() {
    // Two counters: a level has one state more than the one before, reached by twice as many
    // steps as there were states.
    let grid = Grid { counters: 2, top: 9, sum: u32::MAX };
    for depth in 1..=10 {
        let unique = depth * (depth + 1) / 2;
        let generated = 1 + (depth - 1) * depth;
        let found = search(&grid, Some(depth));
        assert_eq!(found.counts, Counts { unique, generated, depth });
        assert_eq!(stateright_counts(grid.clone(), Some(depth)), found.counts);
        // The state at the bound is looked at.
        let at_end = found.firsts.get("the first counter is not at its end");
        assert_eq!(at_end, Some(&10).filter(|_| depth == 10));
    }
}

/// Starts twice in 0, and in 9, which is outside; goes one up or stays where it is.
struct Doubled;

impl Model for Doubled {
    type State = u8;
    type Action = u8;

    fn init_states(&self) -> Vec<u8> {
        vec![0, 0, 9]
    }

    fn actions(&self, _: &u8, actions: &mut Vec<u8>) {
        actions.extend([0, 1]);
    }

    fn next_state(&self, last: &u8, up: u8) -> Option<u8> {
        Some(last + up)
    }

    fn within_boundary(&self, state: &u8) -> bool {
        *state <= 2
    }
}

#[test]
fn what_is_listed_twice_or_outside_is_counted_as_stateright_does_or_once() {
    let counts = search(&Doubled, None).counts;
    // Two initial states; 0, 0 to 1, 1, 1 to 2, and 2.
    assert_eq!(counts, Counts { unique: 3, generated: 7, depth: 3 });
    // Stateright leaves the initial state twice: two steps more.
    assert_eq!(stateright_counts(Doubled, None), Counts { generated: 9, ..counts });
}
