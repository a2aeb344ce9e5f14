//! Searching a scenario: what is looked for, by which engine, and what was found.

pub mod across;
pub mod by_stateright;
mod files;
mod identity;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use klog_trace::Action;
use klog_trace::progress::{Asks, PROGRESS, Progress};
use klog_trace::property::{Kind, PROPERTIES, Property, WITNESSES, Witness};
use levelwise::graph::{Answer, Fair, Graph, Walk};
use levelwise::{Bound, Hit, Memo, Options, Outcome, Until, Unusable};

use crate::system::{Partition, System};
use across::Met;

pub use files::{Files, Kept};
pub use identity::Identity;

/// A row of a report: what is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A state that violates a property.
    Violate(Property),
    /// A step that shows a witness.
    Witness(Witness),
    /// A state from which something is no longer possible that must stay so.
    Lose(Progress),
}

/// How much is asked of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asked {
    /// Every property and every witness.
    #[default]
    Safety,
    /// What must stay possible too. The graph of all states is kept in memory for it.
    Progress,
}

impl Goal {
    /// The goals of all rows: properties first, then witnesses.
    pub fn every_row() -> impl Iterator<Item = Self> {
        let properties = PROPERTIES.iter().map(|p| Self::Violate(p.0));
        properties.chain(WITNESSES.iter().map(|w| Self::Witness(w.0)))
    }

    /// The goals of all rows of what must stay possible.
    pub fn every_progress() -> impl Iterator<Item = Self> {
        PROGRESS.iter().map(|p| Self::Lose(p.0))
    }

    /// The goals of the rows that are asked for.
    pub fn rows(asked: Asked) -> impl Iterator<Item = Self> {
        let progress = (asked == Asked::Progress).then(Self::every_progress);
        Self::every_row().chain(progress.into_iter().flatten())
    }

    /// The goal of the row with this id.
    pub fn of(id: &str) -> Option<Self> {
        let property = Property::by_id(id).map(Self::Violate);
        let witness = || Witness::by_id(id).map(Self::Witness);
        property.or_else(witness).or_else(|| Progress::by_id(id).map(Self::Lose))
    }

    /// The row's id and kind.
    pub fn row(self) -> (&'static str, Kind) {
        match self {
            Self::Violate(property) => (property.id(), Kind::Always),
            Self::Witness(witness) => (witness.id(), Kind::Witness),
            Self::Lose(progress) => (progress.id(), Kind::Progress),
        }
    }

    /// Its number among the goals of a [`Partition`].
    fn number(self) -> usize {
        match self {
            Self::Violate(property) => property as usize,
            Self::Witness(witness) => Partition::FIRST_WITNESS + witness as usize,
            Self::Lose(progress) => Partition::FIRST_PROGRESS + progress as usize,
        }
    }

    /// What a search looks for: every row that is asked for, or this one and the states outside
    /// the claim until it is hit. What must stay possible is known at the end only.
    fn wanted(goal: Option<Self>, asked: Asked) -> (u64, Until) {
        let tally = 1 << Partition::OUTSIDE_CLAIM;
        let every = || Self::rows(asked).fold(tally, |all, goal| all | 1 << goal.number());
        let goals = goal.map_or_else(every, |goal| 1 << goal.number() | tally);
        let until = match goal {
            None | Some(Self::Lose(_)) => Until::Exhausted,
            Some(_) => Until::AllHit,
        };
        (goals, until)
    }

    /// Whether it needs the graph of all states.
    fn is_of_graph(goal: Option<Self>, asked: Asked) -> bool {
        goal.map_or(asked == Asked::Progress, |goal| matches!(goal, Self::Lose(_)))
    }
}

/// Who searches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The engine of this project.
    #[default]
    Levelwise,
    /// stateright's own breadth-first checker, one goal at a time.
    Stateright,
    /// The same search as a timely dataflow, by one process or several.
    Timely,
}

/// When a search must end early, and with how many threads it runs.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Distinct states; of stateright's checker, generated ones.
    pub states: Option<u64>,
    /// Levels, that of the initial state counted as 1. Not for stateright's checker.
    pub depth: Option<u32>,
    /// Bytes that the search may take for states. Not for stateright's checker.
    pub memory: Option<u64>,
    /// Wall time.
    pub deadline: Option<Instant>,
    /// Set from outside: the user interrupts.
    pub interrupted: Arc<AtomicBool>,
    /// Threads; stateright's checker has one.
    pub threads: usize,
    /// Who searches.
    pub engine: Engine,
    /// The processes that search together, of a dataflow.
    pub met: Met,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            states: None,
            depth: None,
            memory: None,
            deadline: None,
            interrupted: Arc::default(),
            threads: 1,
            engine: Engine::default(),
            met: Met::default(),
        }
    }
}

/// A panic of the model.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Panicked {
    /// What it said.
    pub message: String,
    /// The path to the state that was looked at, in sentences.
    pub path: Vec<String>,
}

/// What one search found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The shortest path to each goal that was hit. That of a witness ends with the step that
    /// shows it.
    pub paths: Vec<(Goal, Vec<Action>)>,
    /// The lengths of the shortest paths to goals that were hit when a worker was lost, so that
    /// the paths are not known.
    pub unled: Vec<(Goal, usize)>,
    /// Goals that are not known to be missed, though every state was looked at: it depends on what
    /// is beyond the bounds.
    pub open: Vec<Goal>,
    /// States in which more went wrong than is promised to survive.
    pub outside_claim: u64,
    /// How far it came.
    pub figures: Figures,
}

/// How far a search came.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Distinct states.
    pub unique: u64,
    /// Generated states.
    pub generated: u64,
    /// Length of the longest shortest path, the initial state counted as 1.
    pub depth: u64,
    /// Why it ended early; `None` if every state was looked at.
    pub bound: Option<Bound>,
    /// States known and not expanded.
    pub left: Option<u64>,
    /// A panic of the model, which ended the search.
    pub panic: Option<Panicked>,
    /// How often each kind of action was taken.
    pub actions: Vec<u64>,
    /// What guards refused, by guard; nothing if the engine does not tell.
    pub refused: Vec<u64>,
    /// How the memory of reactions fared.
    pub memo: Option<Memo>,
    /// Memory taken for states, by the search's own count.
    pub bytes: Option<u64>,
    /// Bytes written where memory was short.
    pub spilled: u64,
    /// Levels taken from a checkpoint; 0 if it was not gone on with.
    pub resumed: u64,
    /// What went wrong with files.
    pub disk: Option<String>,
    /// Why workers did not come to the end, of a dataflow.
    pub trouble: Option<String>,
}

impl Figures {
    /// Of a search by the engine of this project; `path` tells the path to a state in sentences.
    pub fn of(outcome: &Outcome, path: impl Fn(Hit) -> Vec<String>) -> Self {
        let panic = outcome.panic.as_ref().map(|panic| Panicked {
            message: panic.message.clone(),
            path: panic.at.map_or_else(Vec::new, path),
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
            spilled: outcome.spilled,
            resumed: outcome.resumed,
            disk: outcome.disk.as_ref().map(ToString::to_string),
            trouble: None,
        }
    }
}

impl Found {
    /// The path to a goal.
    pub fn path(&self, goal: Goal) -> Option<&Vec<Action>> {
        self.paths.iter().find(|(hit, _)| *hit == goal).map(|(_, path)| path)
    }
}

impl Limits {
    /// How the engine of this project is to search.
    pub fn options(&self, goals: u64, until: Until) -> Options {
        Options {
            threads: self.threads,
            limits: levelwise::Limits {
                depth: self.depth,
                states: self.states,
                memory: self.memory,
                deadline: self.deadline,
                interrupted: Arc::clone(&self.interrupted),
            },
            goals,
            until,
            ..Options::default()
        }
    }
}

/// Looks at every state, or, if there is a goal, for the shortest path to it alone.
pub fn search(system: &Arc<System>, goal: Option<Goal>, limits: &Limits) -> Found {
    let found = search_with(system, goal, Asked::Safety, limits, &Files::default());
    found.expect("a search without files begins")
}

/// The same with files. It is an error if the search could not begin.
pub fn search_with(
    system: &Arc<System>,
    goal: Option<Goal>,
    asked: Asked,
    limits: &Limits,
    files: &Files,
) -> Result<Found, Unusable> {
    match limits.engine {
        Engine::Levelwise if Goal::is_of_graph(goal, asked) => {
            let (goals, until) = Goal::wanted(goal, asked);
            let options = limits.options(goals, until);
            let (outcome, graph) = levelwise::explore_graph(system.space(), &options);
            Ok(on_graph(system, goal, &outcome, &graph))
        }
        Engine::Stateright => Ok(by_stateright::search(system, goal, limits)),
        Engine::Timely => Ok(across::search(system, goal, limits)),
        Engine::Levelwise => {
            let (goals, until) = Goal::wanted(goal, asked);
            let outcome = files.search(system.space(), limits.options(goals, until))?;
            Ok(found(system, &outcome))
        }
    }
}

fn found(system: &System, outcome: &Outcome) -> Found {
    let hit = |goal: Goal| Some((goal, outcome.goals[goal.number()].1?));
    let path = |(goal, hit)| (goal, path_to(system, outcome, hit));
    let told = |hit| path_to(system, outcome, hit).iter().map(ToString::to_string).collect();
    Found {
        paths: Goal::every_row().filter_map(hit).map(path).collect(),
        unled: Vec::new(),
        open: Vec::new(),
        outside_claim: outcome.counts.tallies.get(Partition::OUTSIDE_CLAIM).copied().unwrap_or(0),
        figures: Figures::of(outcome, told),
    }
}

/// What is found where the graph of all states is kept.
fn on_graph(system: &System, goal: Option<Goal>, outcome: &Outcome, graph: &Graph) -> Found {
    let mut found = found(system, outcome);
    for lost in Goal::every_progress().filter(|lost| goal.is_none_or(|goal| goal == *lost)) {
        let Goal::Lose(progress) = lost else { continue };
        match lost_by(graph, progress, lost.number()) {
            Answer::Holds => {}
            Answer::Violated(walk) => {
                let path = walk.replay(system.space());
                let path = path.expect("a step is a function of state and action");
                found.paths.push((lost, path.into_actions()));
            }
            Answer::Open(_) => found.open.push(lost),
        }
    }
    found
}

/// The shortest way to a state from which it is no longer possible; of a run that goes on forever,
/// the way to where it goes round, and one round.
fn lost_by(graph: &Graph, progress: Progress, goal: usize) -> Answer<Walk> {
    let kinds = graph.kinds_named(progress.by());
    match progress.asks() {
        Asks::Possible => {
            graph.can_reach(goal, Some(&kinds)).map(|stuck| graph.path_to(stuck.first))
        }
        Asks::Fair => graph.again_and_again(goal, &Fair::changing(kinds)).map(|lasso| lasso.walk),
    }
}

fn path_to(system: &System, outcome: &Outcome, hit: Hit) -> Vec<Action> {
    let path = outcome.path(system.space(), hit);
    path.expect("a step is a function of state and action").into_actions()
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
