//! One run: every property and witness of a scenario under a protocol, with an honest verdict.

use std::sync::Arc;
use std::time::Instant;

use klog_trace::Action;
use klog_trace::property::{Kind, Witness};
use klog_trace::trace::Bounds;
use levelwise::{Bound, Unusable};
use serde::Serialize;

use crate::memory::peak_rss_bytes;
use crate::protocol::Protocol;
use crate::search::{Asked, Figures, Files, Goal, Identity, Limits, Panicked, search_with};
use crate::system::Partition;
use crate::system::System;

/// What to run.
#[derive(Clone, Debug)]
pub struct Job {
    /// The scenario's name, for the report.
    pub scenario: String,
    /// The protocol.
    pub protocol: Protocol,
    /// The bounds.
    pub bounds: Bounds,
    /// Search for this row alone, and end where it is violated or witnessed; the whole space and
    /// all rows if `None`.
    pub only: Option<&'static str>,
    /// Whether what must stay possible is asked too, where all rows are.
    pub asked: Asked,
    /// What is expected; `None` if nothing is.
    pub expected: Option<Expectation>,
}

/// What a run must show.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// What is violated or lost, each with the length of the shortest counterexample.
    pub violated: Vec<(Goal, usize)>,
    /// Witnesses that are seen.
    pub witnesses: Vec<Witness>,
}

impl Expectation {
    /// What a row must show, and in how many steps; `None` if nothing is expected of it.
    fn of(&self, goal: Goal) -> Option<(Outcome, Option<usize>)> {
        match goal {
            Goal::Violate(_) | Goal::Lose(_) => {
                let steps = self.violated.iter().find(|v| v.0 == goal).map(|v| v.1);
                Some((if steps.is_some() { Outcome::Violated } else { Outcome::Holds }, steps))
            }
            Goal::Witness(witness) => {
                self.witnesses.contains(&witness).then_some((Outcome::Witnessed, None))
            }
        }
    }
}

/// How a row fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// An always-property, and every state was looked at.
    Holds,
    /// An always-property with a counterexample.
    Violated,
    /// A witness with a path.
    Witnessed,
    /// No path was found: for a witness in an exhausted space there is none; in a bounded one
    /// nothing is proven either way, nor of progress where steps lead out of the bounds.
    NotFound,
}

/// One row of a report.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Property or witness id.
    pub id: &'static str,
    /// `always`, `witness` or `progress`.
    pub kind: &'static str,
    /// How it fared.
    pub result: Outcome,
    /// What was expected, if anything was.
    pub expected: Option<Outcome>,
    /// Length of the shortest path that was expected, in transitions.
    pub expected_steps: Option<usize>,
    /// Length of the shortest path, in transitions.
    pub steps: Option<usize>,
    /// The file the path was recorded to.
    pub trace: Option<String>,
    /// The path itself, where it can be recorded.
    #[serde(skip)]
    pub path: Option<Vec<Action>>,
    /// The path in sentences.
    #[serde(skip)]
    pub told: Option<Vec<String>>,
}

/// How often what has this name was done.
pub type Counts = std::collections::BTreeMap<&'static str, u64>;

/// The bounds of a run.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Within {
    /// Of a scenario.
    Scenario(Bounds),
    /// Of a module of the twin: each constant by its name.
    Twin(std::collections::BTreeMap<&'static str, u8>),
}

/// What a run is of.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The scenario's name.
    pub scenario: String,
    /// The protocol's name.
    pub protocol: String,
    /// Its broken rules, and those of somebody's own as `own:NAME`.
    pub faults: Vec<String>,
    /// The bounds.
    pub bounds: Within,
}

/// The report of one run. `seconds`, `peak_rss_bytes`, `memo_hit_rate` and `spilled_bytes` are
/// measurements, and `resumed_levels` says how it was run; all else is the same in every run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The scenario's name.
    pub scenario: String,
    /// The protocol's name.
    pub protocol: String,
    /// Its broken rules, and those of somebody's own as `own:NAME`.
    pub faults: Vec<String>,
    /// The bounds.
    pub bounds: Within,
    /// `exhausted` or `bounded`.
    pub verdict: &'static str,
    /// What ended a bounded search.
    pub bounded_by: Option<&'static str>,
    /// Generated states, the initial one included.
    pub generated: u64,
    /// Distinct states.
    pub unique: u64,
    /// Length of the longest shortest path, the initial state counted as 1.
    pub depth: u64,
    /// Wall time.
    pub seconds: f64,
    /// Largest resident memory of the process so far; 0 where the system does not tell.
    pub peak_rss_bytes: u64,
    /// Every property and witness.
    pub properties: Vec<Row>,
    /// Transitions by kind of action.
    pub actions: Counts,
    /// What each guard refused; none if the engine does not tell.
    pub refused: Counts,
    /// States that are known and were not looked behind, since a limit was reached: none, or the
    /// search is bounded. Stateright's checker does not tell how many.
    pub boundary_cut: Option<u64>,
    /// States in which more went wrong than is promised to survive.
    pub outside_claim: u64,
    /// Bound on the probability that two distinct states were taken for one: n² / 2⁶⁵.
    pub collision_probability: f64,
    /// The share of actors' reactions that were known already (measured: threads remember each for
    /// itself); none if the engine remembers nothing.
    pub memo_hit_rate: Option<f64>,
    /// Whether a second search with other fingerprints found the same, if there was one.
    pub audit: Option<Audit>,
    /// A panic of the model, which ended the search.
    pub panic: Option<Panicked>,
    /// Bytes written to files where memory was short (measured).
    pub spilled_bytes: u64,
    /// Levels taken from a checkpoint; 0 if the search was not gone on with.
    pub resumed_levels: u64,
    /// What went wrong with files. It ended the search if that is the bound; otherwise the
    /// checkpoint is older than the search.
    pub disk: Option<String>,
    /// Why workers on several machines did not come to the end.
    #[serde(skip)]
    pub trouble: Option<String>,
    /// The level that it was to look no further than, if there was one of its own.
    #[serde(skip)]
    pub levels: Option<u32>,
}

/// What a second search with other fingerprints tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Audit {
    /// Both found the same states, depth and lengths.
    Same,
    /// They did not: two states were taken for one, or the model does not answer the same twice.
    Differs,
    /// A limit cut one of them, so they cannot be compared.
    Cut,
}

/// Runs a job: the whole space, with the shortest path to whatever is found in it. For a single
/// row, a search that ends at the row's shortest path.
/// It is an error if the search could not begin, which no search without files is.
pub fn run(job: &Job, limits: &Limits, files: &Files) -> Result<Report, Unusable> {
    run_with_seed(job, limits, files, 0)
}

/// Runs a job twice, with other fingerprints the second time, and says whether both found the same.
pub fn run_twice(job: &Job, limits: &Limits, files: &Files) -> Result<Report, Unusable> {
    let first = run(job, limits, files)?;
    Ok(first.audited_by(&run_with_seed(job, limits, files, 1)?))
}

impl Job {
    fn subject(&self) -> Subject {
        Subject {
            scenario: self.scenario.clone(),
            protocol: self.protocol.name.clone(),
            faults: self.protocol.fault_names(),
            bounds: Within::Scenario(self.bounds.clone()),
        }
    }

    /// What it asks: checkpoints and processes of another question are refused.
    pub fn identity(&self) -> Identity {
        Identity::new(&self.subject(), self.only, false)
    }
}

fn run_with_seed(job: &Job, limits: &Limits, files: &Files, seed: u64) -> Result<Report, Unusable> {
    let started = Instant::now();
    let system = System::with_seed(job.protocol.clone(), job.bounds.clone(), seed);
    let system = Arc::new(system);
    let only = job.only.and_then(Goal::of);
    let mut found = search_with(&system, only, job.asked, limits, files)?;
    let paths = std::mem::take(&mut found.paths);
    let unled = std::mem::take(&mut found.unled);
    let of = |goal: Goal| {
        let path = paths.iter().find(|hit| hit.0 == goal).map(|hit| hit.1.clone());
        let unled = || unled.iter().find(|hit| hit.0 == goal).map(|hit| hit.1);
        (path.as_ref().map(Vec::len).or_else(unled), path)
    };
    let goals: Vec<Goal> = only.map_or_else(|| Goal::rows(job.asked).collect(), |only| vec![only]);
    let every = found.figures.bound.is_none();
    let settled = |goal: &Goal| every && !found.open.contains(goal);
    let rows = goals.into_iter().map(|goal| row(job, goal, of(goal), settled(&goal)));
    let properties = rows.collect();
    let names = (&Action::KINDS[..], &Partition::guard_names()[..]);
    let report = Report::new(job.subject(), found.figures, names, properties, started);
    Ok(Report { outside_claim: found.outside_claim, ..report })
}

fn row(
    job: &Job,
    goal: Goal,
    (steps, path): (Option<usize>, Option<Vec<Action>>),
    settled: bool,
) -> Row {
    let (id, kind) = goal.row();
    let expected = job.expected.as_ref().and_then(|e| e.of(goal));
    Row {
        id,
        kind: kind.name(),
        result: Outcome::of(kind, steps.is_some(), settled),
        expected: expected.map(|e| e.0),
        expected_steps: expected.and_then(|e| e.1),
        steps,
        trace: None,
        told: path.as_ref().map(|path| path.iter().map(ToString::to_string).collect()),
        path,
    }
}

impl Outcome {
    /// How a row fared; `settled`: whether it is known for good, since every state was looked at
    /// and nothing depends on what is beyond the bounds.
    pub fn of(kind: Kind, hit: bool, settled: bool) -> Self {
        match (kind, hit) {
            (Kind::Always | Kind::Progress, true) => Self::Violated,
            (Kind::Witness, true) => Self::Witnessed,
            (Kind::Always | Kind::Progress, false) if settled => Self::Holds,
            (_, false) => Self::NotFound,
        }
    }
}

impl Report {
    /// The report of a search that began at `started`, of whose actions these are the kinds, and
    /// these the guards that refuse them.
    pub fn new(
        subject: Subject,
        figures: Figures,
        (kinds, guards): (&[&'static str], &[&'static str]),
        properties: Vec<Row>,
        started: Instant,
    ) -> Self {
        let Subject { scenario, protocol, faults, bounds } = subject;
        let counts = |names: &[&'static str], counts: &[u64]| -> Counts {
            names.iter().copied().zip(counts.iter().copied()).collect()
        };
        Self {
            scenario,
            protocol,
            faults,
            bounds,
            verdict: if figures.bound.is_some() { "bounded" } else { "exhausted" },
            bounded_by: figures.bound.map(Bound::name),
            generated: figures.generated,
            unique: figures.unique,
            depth: figures.depth,
            seconds: started.elapsed().as_secs_f64(),
            peak_rss_bytes: peak_rss_bytes(),
            properties,
            actions: counts(kinds, &figures.actions),
            refused: counts(guards, &figures.refused),
            boundary_cut: figures.left,
            outside_claim: 0,
            collision_probability: levelwise::fingerprint::collision_bound(figures.unique),
            memo_hit_rate: figures.memo.map(levelwise::Memo::hit_rate),
            audit: None,
            panic: figures.panic,
            spilled_bytes: figures.spilled,
            resumed_levels: figures.resumed,
            disk: figures.disk,
            trouble: figures.trouble,
            levels: None,
        }
    }

    /// The same, compared with a second search that has other fingerprints.
    #[must_use]
    pub fn audited_by(self, second: &Self) -> Self {
        // Where a limit on time or memory cut them, they need not have come equally far.
        let comparable = self.complete() && second.complete();
        let same = (self.unique, self.generated, self.depth, self.lengths())
            == (second.unique, second.generated, second.depth, second.lengths());
        let audit = match (comparable, same) {
            (false, _) => Audit::Cut,
            (true, true) => Audit::Same,
            (true, false) => Audit::Differs,
        };
        Self {
            audit: Some(audit),
            seconds: self.seconds + second.seconds,
            spilled_bytes: self.spilled_bytes + second.spilled_bytes,
            disk: self.disk.or_else(|| second.disk.clone()),
            ..self
        }
    }
}

impl Report {
    /// Whether every row is as expected (rows nothing is expected of count as met).
    pub fn as_expected(&self) -> bool {
        self.properties.iter().all(Row::as_expected)
    }

    fn lengths(&self) -> Vec<(&'static str, Option<usize>)> {
        self.properties.iter().map(|row| (row.id, row.steps)).collect()
    }

    /// Whether every state within the budgets was looked at.
    pub fn exhausted(&self) -> bool {
        self.bounded_by.is_none()
    }

    /// Whether nothing was left undone: all states were looked at, or the one thing that was
    /// searched for was found.
    pub fn complete(&self) -> bool {
        self.exhausted() || self.bounded_by == Some(Bound::Goal.name())
    }

    /// Whether nothing that was asked for was left undone: it is complete, or came to the level
    /// that it was to look no further than.
    pub fn as_far_as_asked(&self) -> bool {
        let at_level = self.bounded_by == Some(Bound::Depth.name());
        self.complete() || at_level && self.levels.map(u64::from) == Some(self.depth)
    }

    /// The violated rows, in the order of the properties.
    pub fn violated(&self) -> impl Iterator<Item = &Row> {
        self.properties.iter().filter(|r| r.result == Outcome::Violated)
    }
}

impl Row {
    /// Whether it is a claim of which nothing is known: neither that it holds nor that it does not.
    pub fn is_open(&self) -> bool {
        self.kind != Kind::Witness.name() && self.result == Outcome::NotFound
    }

    /// Whether this row is as expected. A length that was not searched to the end differs from
    /// none.
    pub fn as_expected(&self) -> bool {
        let length =
            self.steps.is_none() || self.expected_steps.is_none_or(|s| Some(s) == self.steps);
        self.expected.is_none_or(|e| e == self.result) && length
    }
}
