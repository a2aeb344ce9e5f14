//! The same search by stateright's own checker: one goal per search, one thread, no depth bound,
//! so that what it says can be believed (docs/decisions/0001). And what its Explorer shows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use klog_trace::Action;
use klog_trace::property::{PROPERTIES, Witness};
use levelwise::Bound;
use stateright::{Checker, Model, Path};

use super::{Figures, Found, Goal, Limits};
use crate::record::{Purpose, record, start_of, step_of};
use crate::row::{Row as _, Whole};
use crate::svg;
use crate::system::System;
use crate::text;

/// A state as stateright keeps it: a row of numbers of what the system has interned.
pub type Row = Vec<u32>;

/// Counters of a search. One thread writes them, so they are the same in every run.
#[derive(Debug, Default)]
struct Counters {
    actions: [AtomicU64; Action::KINDS.len()],
    /// Bit n: property n of [`PROPERTIES`] was violated in some state.
    violated: AtomicU64,
    /// Bit n: witness n of the witnesses was seen in some step.
    witnessed: AtomicU64,
    outside_claim: AtomicU64,
    /// Which of [`LIMITS`] ended the search, counted from 1; 0 if none.
    stopped: AtomicU64,
    generated: AtomicU64,
}

/// The limits that a search runs into.
const LIMITS: [Bound; 3] = [Bound::States, Bound::Time, Bound::Interruption];

/// A system with a goal: what stateright's checkers run on.
#[derive(Clone)]
pub struct Search {
    system: Arc<System>,
    /// `None`: every state, with a goal that is never reached, so that nothing ends it early.
    goal: Option<Goal>,
    limits: Limits,
    counters: Arc<Counters>,
}

/// Looks at every state and then for the shortest path to whatever was found in them; or, if there
/// is a goal, for the shortest path to it alone.
pub fn search(system: &Arc<System>, goal: Option<Goal>, limits: &Limits) -> Found {
    let one = |goal| Search::new(Arc::clone(system), goal, limits.clone()).run();
    let mut found = one(goal);
    if goal.is_none() {
        let hits = std::mem::take(&mut found.paths);
        for (goal, _) in hits {
            let shortest = one(Some(goal));
            // A limit that cuts the search for a path leaves a row unfinished.
            let cut = shortest.figures.bound.filter(|bound| *bound != Bound::Goal);
            found.figures.bound = found.figures.bound.or(cut);
            found.paths.extend(shortest.paths);
        }
    }
    found
}

impl Search {
    /// A search of `system` for `goal`.
    pub fn new(system: Arc<System>, goal: Option<Goal>, limits: Limits) -> Self {
        Self { system, goal, limits, counters: Arc::default() }
    }

    /// Runs it, breadth first. Without a goal, the paths of what was found are empty.
    fn run(self) -> Found {
        let (counters, goal) = (Arc::clone(&self.counters), self.goal);
        let system = Arc::clone(&self.system);
        let checker = self.clone().checker().threads(1).spawn_bfs().join();
        let path = checker.discoveries().into_values().next().map(Path::into_actions);
        let stopped = counters.stopped.load(Relaxed);
        let limit = (1..).zip(LIMITS).find(|(n, _)| *n == stopped).map(|(_, bound)| bound);
        let bound = if path.is_some() { Some(Bound::Goal) } else { limit };
        let hit = |goal: &Goal| match goal {
            Goal::Violate(p) => counters.violated.load(Relaxed) & 1 << *p as u64 != 0,
            Goal::Witness(w) => counters.witnessed.load(Relaxed) & 1 << *w as u64 != 0,
            // stateright's checker keeps no graph.
            Goal::Lose(_) => false,
        };
        let paths = match (goal, path) {
            (None, _) => Goal::every_row().filter(hit).map(|goal| (goal, Vec::new())).collect(),
            (Some(_), None) => Vec::new(),
            (Some(goal), Some(path)) => vec![(goal, self.ends(&system, goal, path))],
        };
        let figures = Figures {
            unique: checker.unique_state_count() as u64,
            generated: checker.state_count() as u64,
            depth: checker.max_depth() as u64,
            bound,
            left: bound.is_none().then_some(0),
            panic: None,
            actions: counters.actions.iter().map(|count| count.load(Relaxed)).collect(),
            refused: Vec::new(),
            memo: None,
            bytes: None,
            spilled: 0,
            resumed: 0,
            disk: None,
            trouble: None,
        };
        let outside_claim = counters.outside_claim.load(Relaxed);
        Found { paths, unled: Vec::new(), open: Vec::new(), outside_claim, figures }
    }

    /// The path of a witness ends with the step that shows it.
    fn ends(&self, system: &System, goal: Goal, mut path: Vec<Action>) -> Vec<Action> {
        if let Goal::Witness(witness) = goal {
            let mut row = system.initial();
            for action in &path {
                row = system.step(&row, *action).row;
            }
            path.extend(self.shows(&row, witness));
        }
        path
    }

    fn count(&self, row: &Whole<'_>) {
        if row.ghost().outside_claim() {
            self.counters.outside_claim.fetch_add(1, Relaxed);
        }
    }

    fn explore(&self, row: &Whole<'_>) {
        let view = self.system.view(row);
        let known = self.counters.violated.load(Relaxed);
        for (property, _, _) in &PROPERTIES {
            let bit = 1 << *property as u64;
            if known & bit == 0 && property.judge(&view).is_some() {
                self.counters.violated.fetch_or(bit, Relaxed);
            }
        }
    }

    /// Whether some step from here shows the witness; such a step, if there is one.
    fn shows(&self, row: &Whole<'_>, witness: Witness) -> Option<Action> {
        let mut actions = Vec::new();
        self.system.enabled(row, &mut actions);
        let bit = 1 << witness as u64;
        actions.into_iter().find(|action| self.witnesses(row, *action).1 & bit != 0)
    }

    /// The state after a step, and which witnesses the step shows, one bit each.
    fn witnesses(&self, row: &Whole<'_>, action: Action) -> (Whole<'_>, u64) {
        self.system.judged_step(row, action)
    }

    fn state(&self, row: &Row) -> Whole<'_> {
        self.system.state(row)
    }
}

impl Limits {
    /// Which of [`LIMITS`] is reached, counted from 1.
    fn reached(&self, generated: u64) -> u64 {
        // A look at the clock costs more than a state.
        let look = generated.is_multiple_of(1024);
        if self.interrupted.load(Relaxed) {
            3
        } else if self.states.is_some_and(|limit| generated > limit) {
            1
        } else if look && self.deadline.is_some_and(|d| Instant::now() >= d) {
            2
        } else {
            0
        }
    }
}

impl Model for Search {
    type State = Row;
    type Action = Action;

    fn init_states(&self) -> Vec<Row> {
        vec![self.system.initial().row()]
    }

    fn actions(&self, row: &Row, actions: &mut Vec<Action>) {
        self.system.enabled(&self.state(row), actions);
    }

    fn next_state(&self, before: &Row, action: Action) -> Option<Row> {
        self.counters.actions[action.kind_index()].fetch_add(1, Relaxed);
        let (after, shown) = self.witnesses(&self.state(before), action);
        if self.goal.is_none() {
            self.counters.witnessed.fetch_or(shown, Relaxed);
        }
        // A step that changes nothing leads nowhere new.
        Some(after.row()).filter(|after| after != before)
    }

    fn as_svg(&self, path: Path<Row, Action>) -> Option<String> {
        let purpose = Purpose { scenario: "path", property: "this path", verdict: "shown" };
        Some(svg::sequence(&record(&self.system, &path.into_actions(), &purpose)))
    }

    /// What the step changes, in the words of `check show`.
    fn format_step(&self, before: &Row, action: Action) -> Option<String> {
        let before = self.state(before);
        let outcome = self.system.step(&before, action);
        let step = step_of(&self.system, 1, &before, action, &outcome);
        let mut start = start_of(&self.system, &before);
        Some(text::step_changes(&step, &mut start.brokers, &mut start.controller))
    }

    fn format_action(&self, action: &Action) -> String {
        action.to_string()
    }

    fn properties(&self) -> Vec<stateright::Property<Self>> {
        vec![match self.goal {
            None | Some(Goal::Lose(_)) => {
                stateright::Property::sometimes("explored", |search, row| {
                    let row = search.state(row);
                    search.count(&row);
                    search.explore(&row);
                    false
                })
            }
            Some(Goal::Violate(property)) => {
                stateright::Property::always(property.id(), |search, row| {
                    let row = search.state(row);
                    search.count(&row);
                    let Some(Goal::Violate(property)) = search.goal else {
                        return true;
                    };
                    property.judge(&search.system.view(&row)).is_none()
                })
            }
            Some(Goal::Witness(witness)) => {
                stateright::Property::sometimes(witness.id(), |search, row| {
                    let row = search.state(row);
                    search.count(&row);
                    let Some(Goal::Witness(witness)) = search.goal else {
                        return false;
                    };
                    search.shows(&row, witness).is_some()
                })
            }
        }]
    }

    /// The bounds that no budget keeps; else this only ends a search that reached a limit.
    fn within_boundary(&self, row: &Row) -> bool {
        let generated = self.counters.generated.fetch_add(1, Relaxed) + 1;
        let mut stopped = self.counters.stopped.load(Relaxed);
        if stopped == 0 {
            stopped = self.limits.reached(generated);
            self.counters.stopped.store(stopped, Relaxed);
        }
        stopped == 0 && self.system.admits(row)
    }
}
