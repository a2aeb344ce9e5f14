//! The same search as a timely dataflow, by the workers of this process or of several.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use klog_trace::Action;
use levelwise::{Memo, Until, replay};
use levelwise_timely::{Outcome, Portable, Team, Wanted};

use super::{Asked, Figures, Found, Goal, Limits, Panicked};
use crate::system::{Partition, System};

/// The processes that were met for one search.
#[derive(Clone, Default)]
pub struct Met(Arc<Mutex<Option<Team>>>);

impl Met {
    /// This team.
    pub fn with(team: Team) -> Self {
        Self(Arc::new(Mutex::new(Some(team))))
    }

    /// The team, for the first who asks; from then on, and where nobody was met, the workers of
    /// this process alone.
    fn team(&self, workers: usize) -> Team {
        let met = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        met.unwrap_or_else(|| Team::alone(workers))
    }
}

impl fmt::Debug for Met {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Met")
    }
}

/// Searches a space for these goals, and takes each path once more to see that it leads there.
pub fn of_space<S>(space: &Arc<S>, goals: u64, until: Until, limits: &Limits) -> Outcome
where
    S: Portable,
{
    let limits_of_search = limits.options(goals, until).limits;
    let wanted = Wanted { goals, until, limits: limits_of_search };
    let outcome = levelwise_timely::search(space, limits.met.team(limits.threads), &wanted);
    outcome.verify(&**space).expect("a model answers the same");
    outcome
}

impl Figures {
    /// Of a search by a dataflow; `path` tells the path along ordinals in sentences.
    pub fn across(outcome: &Outcome, path: impl Fn(&[u16]) -> Vec<String>) -> Self {
        let panic = outcome.panic.as_ref().map(|panic| Panicked {
            message: panic.message.clone(),
            path: panic.ordinals.as_deref().map_or_else(Vec::new, path),
        });
        Self {
            unique: outcome.unique,
            generated: outcome.counts.generated,
            depth: outcome.depth,
            bound: outcome.bound(),
            left: Some(outcome.verdict.left()),
            panic,
            actions: outcome.counts.kinds.clone(),
            refused: outcome.counts.refused.clone(),
            memo: (outcome.memo != Memo::default()).then_some(outcome.memo),
            bytes: Some(outcome.bytes),
            spilled: 0,
            resumed: 0,
            disk: None,
            trouble: outcome.trouble.as_ref().map(ToString::to_string),
        }
    }
}

/// Looks at every state, or, if there is a goal, for the shortest path to it alone.
pub(super) fn search(system: &System, goal: Option<Goal>, limits: &Limits) -> Found {
    let (goals, until) = Goal::wanted(goal, Asked::Safety);
    let space = system.shared_space();
    let outcome = of_space(&space, goals, until, limits);
    let path = |ordinals: &[u16]| -> Vec<Action> {
        let path = replay(&*space, ordinals);
        path.expect("a step is a function of state and action").into_actions()
    };
    let told = |ordinals: &[u16]| path(ordinals).iter().map(ToString::to_string).collect();
    let (mut paths, mut unled) = (Vec::new(), Vec::new());
    for goal in Goal::every_row() {
        let Some(hit) = &outcome.goals[goal.number()].1 else { continue };
        match &hit.ordinals {
            Some(ordinals) => paths.push((goal, path(ordinals))),
            None => unled.push((goal, hit.steps)),
        }
    }
    let tally = outcome.counts.tallies.get(Partition::OUTSIDE_CLAIM);
    Found {
        paths,
        unled,
        open: Vec::new(),
        outside_claim: tally.copied().unwrap_or(0),
        figures: Figures::across(&outcome, told),
    }
}

#[cfg(test)]
#[path = "across_tests.rs"]
mod tests;
