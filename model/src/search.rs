//! Searching a scenario with stateright's own checker: one goal per search, one thread, no
//! depth bound, so that what it says can be believed (docs/decisions/0001).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use klog_trace::Action;
use klog_trace::property::{Kind, PROPERTIES, Property, WITNESSES, Witness};
use stateright::{Checker, Model, Path};

use crate::record::{Purpose, record, start_of, step_of};
use crate::row::Row;
use crate::svg;
use crate::system::{Outcome, System};
use crate::text;

/// What one search is after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Every state: counts, and which properties fall and which witnesses show up at all.
    Explore,
    /// The shortest way to a state that violates a property.
    Violate(Property),
    /// The shortest way to a state from which one step shows a witness.
    Witness(Witness),
}

impl Goal {
    /// The goals of all rows: properties first, then witnesses.
    pub fn every_row() -> impl Iterator<Item = Self> {
        let properties = PROPERTIES.iter().map(|p| Self::Violate(p.0));
        properties.chain(WITNESSES.iter().map(|w| Self::Witness(w.0)))
    }

    /// The goal of the row with this id.
    pub fn of(id: &str) -> Option<Self> {
        let property = Property::by_id(id).map(Self::Violate);
        property.or_else(|| Witness::by_id(id).map(Self::Witness))
    }

    /// The row's id and kind.
    pub fn row(self) -> Option<(&'static str, Kind)> {
        match self {
            Self::Explore => None,
            Self::Violate(property) => Some((property.id(), Kind::Always)),
            Self::Witness(witness) => Some((witness.id(), Kind::Witness)),
        }
    }
}

/// Counters of a search. One thread writes them, so they are the same in every run.
#[derive(Debug, Default)]
pub struct Counters {
    /// How often each kind of action was taken.
    pub actions: [AtomicU64; Action::KINDS.len()],
    /// Bit n: property n of [`PROPERTIES`] was violated in some state.
    pub violated: AtomicU64,
    /// Bit n: witness n of [`WITNESSES`] was seen in some step.
    pub witnessed: AtomicU64,
    /// States in which more was lost to power than is promised to survive.
    pub outside_claim: AtomicU64,
    /// States that were generated after the search was told to end.
    pub cut: AtomicU64,
    /// Which [`Bound`] ended the search, 0 if none.
    pub stopped: AtomicU64,
    /// States generated.
    pub generated: AtomicU64,
}

/// When a search must end early.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Generated states.
    pub states: Option<u64>,
    /// Wall time.
    pub deadline: Option<Instant>,
    /// Set from outside: the user interrupts.
    pub interrupted: Arc<AtomicBool>,
}

/// Why a search ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Bound {
    /// The limit on generated states.
    States = 1,
    /// The limit on time.
    Time,
    /// The user.
    Interruption,
    /// What was searched for was found, and the search ended there.
    Goal,
}

impl Bound {
    /// Those that a search runs into.
    const LIMITS: [Bound; 3] = [Self::States, Self::Time, Self::Interruption];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::States => "states",
            Self::Time => "time",
            Self::Interruption => "interruption",
            Self::Goal => "goal",
        }
    }
}

/// A system with a goal: what stateright's checkers run on.
#[derive(Clone)]
pub struct Search {
    /// The system.
    pub system: Arc<System>,
    /// The goal.
    pub goal: Goal,
    /// When to end early.
    pub limits: Limits,
    /// Counters.
    pub counters: Arc<Counters>,
}

/// What one search found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The shortest path to the goal, if there is one.
    pub path: Option<Vec<Action>>,
    /// Distinct states.
    pub unique: u64,
    /// Generated states.
    pub generated: u64,
    /// Length of the longest shortest path, the initial state counted as 1.
    pub depth: u64,
    /// Why it ended early; `None` if every state was looked at.
    pub bound: Option<Bound>,
}

impl Search {
    /// A search of `system` for `goal`.
    pub fn new(system: Arc<System>, goal: Goal, limits: Limits) -> Self {
        Self { system, goal, limits, counters: Arc::default() }
    }

    /// Runs it, breadth first.
    pub fn run(self) -> Found {
        let counters = Arc::clone(&self.counters);
        let checker = self.checker().threads(1).spawn_bfs().join();
        let path = checker.discoveries().into_values().next().map(Path::into_actions);
        let stopped = counters.stopped.load(Relaxed);
        let limit = Bound::LIMITS.into_iter().find(|b| *b as u64 == stopped);
        let bound = if path.is_some() { Some(Bound::Goal) } else { limit };
        Found {
            path,
            unique: checker.unique_state_count() as u64,
            generated: checker.state_count() as u64,
            depth: checker.max_depth() as u64,
            bound,
        }
    }

    /// Runs it. The path of a witness ends with the step that shows it.
    pub fn run_to_the_end(self) -> (Found, Option<Vec<Action>>) {
        let found = self.clone().run();
        let mut path = found.path.clone();
        if let (Goal::Witness(witness), Some(path)) = (self.goal, &mut path) {
            let mut row = self.system.initial();
            for action in path.iter() {
                row = self.system.step(&row, *action).row;
            }
            path.extend(self.shows(&row, witness));
        }
        (found, path)
    }

    fn count(&self, row: &Row) {
        if row.ghost.outside_claim(self.system.min_isr()) {
            self.counters.outside_claim.fetch_add(1, Relaxed);
        }
    }

    fn explore(&self, row: &Row) {
        let view = self.system.view(row);
        let known = self.counters.violated.load(Relaxed);
        for (property, _, _) in &PROPERTIES {
            let bit = 1 << *property as u64;
            if known & bit == 0 && property.judge(&view).is_some() {
                self.counters.violated.fetch_or(bit, Relaxed);
            }
        }
    }

    fn look_for_witnesses(&self, before: &Row, action: Action, outcome: &Outcome) {
        let known = self.counters.witnessed.load(Relaxed);
        let (view, after) = (self.system.view(before), self.system.view(&outcome.row));
        let seen = outcome.seen(&view, &action, &after);
        for (witness, _, _) in &WITNESSES {
            let bit = 1 << *witness as u64;
            if known & bit == 0 && witness.seen(&seen) {
                self.counters.witnessed.fetch_or(bit, Relaxed);
            }
        }
    }

    /// Whether some step from here shows the witness; such a step, if there is one.
    fn shows(&self, row: &Row, witness: Witness) -> Option<Action> {
        let mut actions = Vec::new();
        self.system.enabled(row, &mut actions);
        actions.into_iter().find(|action| {
            let outcome = self.system.step(row, *action);
            let (view, after) = (self.system.view(row), self.system.view(&outcome.row));
            witness.seen(&outcome.seen(&view, action, &after))
        })
    }
}

impl Limits {
    fn reached(&self, generated: u64) -> Option<Bound> {
        // A look at the clock costs more than a state.
        let look = generated.is_multiple_of(1024);
        if self.interrupted.load(Relaxed) {
            Some(Bound::Interruption)
        } else if self.states.is_some_and(|limit| generated > limit) {
            Some(Bound::States)
        } else if look && self.deadline.is_some_and(|d| Instant::now() >= d) {
            Some(Bound::Time)
        } else {
            None
        }
    }
}

impl Model for Search {
    type State = Row;
    type Action = Action;

    fn init_states(&self) -> Vec<Row> {
        vec![self.system.initial()]
    }

    fn actions(&self, row: &Row, actions: &mut Vec<Action>) {
        self.system.enabled(row, actions);
    }

    fn next_state(&self, before: &Row, action: Action) -> Option<Row> {
        let outcome = self.system.step(before, action);
        self.counters.actions[action.kind_index()].fetch_add(1, Relaxed);
        if self.goal == Goal::Explore {
            self.look_for_witnesses(before, action, &outcome);
        }
        // A step that changes nothing leads nowhere new.
        (outcome.row != *before).then_some(outcome.row)
    }

    fn as_svg(&self, path: Path<Row, Action>) -> Option<String> {
        let purpose = Purpose { scenario: "path", property: "this path", verdict: "shown" };
        Some(svg::sequence(&record(&self.system, &path.into_actions(), &purpose)))
    }

    /// What the step changes, in the words of `check show`.
    fn format_step(&self, before: &Row, action: Action) -> Option<String> {
        let outcome = self.system.step(before, action);
        let step = step_of(&self.system, 1, before, action, &outcome);
        let mut start = start_of(&self.system, before);
        Some(text::step_changes(&step, &mut start.brokers, &mut start.controller))
    }

    fn format_action(&self, action: &Action) -> String {
        action.to_string()
    }

    fn properties(&self) -> Vec<stateright::Property<Self>> {
        vec![match self.goal {
            Goal::Explore => stateright::Property::sometimes("explored", |search, row| {
                search.count(row);
                search.explore(row);
                false
            }),
            Goal::Violate(property) => {
                stateright::Property::always(property.id(), |search, row| {
                    search.count(row);
                    let Goal::Violate(property) = search.goal else {
                        return true;
                    };
                    property.judge(&search.system.view(row)).is_none()
                })
            }
            Goal::Witness(witness) => {
                stateright::Property::sometimes(witness.id(), |search, row| {
                    search.count(row);
                    let Goal::Witness(witness) = search.goal else {
                        return false;
                    };
                    search.shows(row, witness).is_some()
                })
            }
        }]
    }

    /// No bound on depth or anything else of the state: this only ends a search that reached a
    /// limit, and whatever it refuses is counted.
    fn within_boundary(&self, _: &Row) -> bool {
        let generated = self.counters.generated.fetch_add(1, Relaxed) + 1;
        let mut stopped = self.counters.stopped.load(Relaxed);
        if stopped == 0
            && let Some(bound) = self.limits.reached(generated)
        {
            stopped = bound as u64;
            self.counters.stopped.store(stopped, Relaxed);
        }
        if stopped != 0 {
            self.counters.cut.fetch_add(1, Relaxed);
        }
        stopped == 0
    }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
