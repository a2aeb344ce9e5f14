//! Running a module of the twin: the same report as of any other run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use klog_trace::property::Kind;
use levelwise::{Hit, Outcome, Plain, Reduced, Symmetric, Until, Unusable, replay};

use super::async_isr::AsyncIsr;
use super::{Action, OutOfRange, Twin, async_isr};
use crate::report::{self, Report, Row, Subject, Within};
use crate::search::{Engine, Figures, Files, Identity, Limits, across};

/// A module, within bounds, perhaps with a guard taken out.
#[derive(Clone, Copy, Debug)]
pub enum Published {
    /// One of the ladder.
    Ladder(Twin),
    /// AsyncIsr.
    AsyncIsr(AsyncIsr),
}

/// What to run.
#[derive(Clone, Debug)]
pub struct Job {
    /// The module.
    pub module: Published,
    /// Search for a violation of this property alone, and end there; all that the module is
    /// expected to hold, and the whole space, if `None`.
    pub only: Option<&'static str>,
    /// Whether states that differ in the replicas' names only are taken as one.
    pub symmetry: bool,
}

impl Published {
    /// The name of AsyncIsr on the command line.
    pub const ASYNC_ISR: &'static str = "async-isr";

    /// Whether its states fit; if not, the first bound that is to blame.
    pub fn check(&self) -> Result<(), OutOfRange> {
        match self {
            Self::Ladder(twin) => twin.constants.check(),
            Self::AsyncIsr(twin) => twin.check(),
        }
    }

    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ladder(twin) => twin.module.name,
            Self::AsyncIsr(_) => Self::ASYNC_ISR,
        }
    }

    /// What it is expected to hold, without a guard taken out.
    fn holds(&self) -> Vec<&'static str> {
        match self {
            Self::Ladder(twin) => twin.module.holds.iter().map(|p| p.name()).collect(),
            Self::AsyncIsr(_) => AsyncIsr::HOLDS.iter().map(|p| p.name()).collect(),
        }
    }

    fn without(&self) -> Option<&'static str> {
        match self {
            Self::Ladder(twin) => twin.without.map(super::Guard::name),
            Self::AsyncIsr(twin) => twin.without.map(async_isr::Guard::name),
        }
    }

    fn constants(&self) -> BTreeMap<&'static str, u8> {
        match self {
            Self::Ladder(twin) => BTreeMap::from([
                ("replicas", twin.constants.replicas),
                ("log_size", twin.constants.log_size),
                ("max_records", twin.constants.max_records),
                ("max_leader_epoch", twin.constants.max_leader_epoch),
            ]),
            Self::AsyncIsr(twin) => BTreeMap::from([
                ("replicas", twin.replicas),
                ("max_offset", twin.max_offset),
                ("max_version", twin.max_version),
            ]),
        }
    }

    fn subject(&self) -> Subject {
        Subject {
            scenario: "twin".to_owned(),
            protocol: self.name().to_owned(),
            faults: self.without().map(|guard| format!("without-{guard}")).into_iter().collect(),
            bounds: Within::Twin(self.constants()),
        }
    }
}

impl Job {
    /// What it asks: checkpoints and processes of another question are refused.
    pub fn identity(&self) -> Identity {
        Identity::new(&self.module.subject(), self.only, self.symmetry)
    }
}

/// Runs a module. It is an error if the search could not begin.
pub fn run(job: &Job, limits: &Limits, files: &Files) -> Result<Report, Unusable> {
    run_with_seed(job, limits, files, 0)
}

/// Runs a module twice, with other fingerprints the second time, and says whether both found the
/// same.
pub fn run_twice(job: &Job, limits: &Limits, files: &Files) -> Result<Report, Unusable> {
    let first = run(job, limits, files)?;
    Ok(first.audited_by(&run_with_seed(job, limits, files, 1)?))
}

fn run_with_seed(job: &Job, limits: &Limits, files: &Files, seed: u64) -> Result<Report, Unusable> {
    let how = (limits, files, seed);
    match job.module {
        Published::Ladder(twin) => {
            let guards: Vec<_> = twin.module.guards.iter().map(|guard| guard.name()).collect();
            run_model(job, twin, (Action::KINDS, &guards), how)
        }
        Published::AsyncIsr(twin) => {
            let guards = [AsyncIsr::REFUSES.name()];
            run_model(job, twin, (async_isr::Action::KINDS, &guards), how)
        }
    }
}

fn run_model<M>(
    job: &Job,
    model: M,
    names: (&[&'static str], &[&'static str]),
    (limits, files, seed): (&Limits, &Files, u64),
) -> Result<Report, Unusable>
where
    M: Symmetric + Send + Sync + Clone + 'static,
    M::Renaming: 'static,
    M::Action: Clone + std::fmt::Display,
{
    let started = Instant::now();
    let judged = job.only.map_or_else(|| job.module.holds(), |only| vec![only]);
    let properties = model.properties();
    let is_judged = |(n, property): (usize, &stateright::Property<M>)| {
        if judged.contains(&property.name) { 1 << n } else { 0 }
    };
    let goals: u64 = properties.iter().enumerate().map(is_judged).sum();
    let until = if job.only.is_some() { Until::AllHit } else { Until::Exhausted };
    let options = limits.options(goals, until);
    let sentences = |path: Vec<M::Action>| path.iter().map(ToString::to_string).collect::<Vec<_>>();
    let judging = Judging { job, judged, names, started };
    if limits.engine == Engine::Timely && job.symmetry {
        let space = Arc::new(Reduced::new(model, seed));
        let outcome = across::of_space(&space, goals, until, limits);
        let path = |ordinals: &[u16]| space.path_along(ordinals);
        let told = |ordinals: &[u16]| sentences(path(ordinals).expect(ANSWERS_ALIKE));
        Ok(judging.across(&outcome, told))
    } else if limits.engine == Engine::Timely {
        let space = Arc::new(Plain::new(model).with_seed(seed));
        let outcome = across::of_space(&space, goals, until, limits);
        let path = |ordinals: &[u16]| replay(&*space, ordinals).expect(ANSWERS_ALIKE);
        Ok(judging.across(&outcome, |ordinals| sentences(path(ordinals).into_actions())))
    } else if job.symmetry {
        let space = Reduced::new(model, seed);
        let outcome = files.search(&space, options)?;
        let told = |hit| sentences(space.path(&outcome, hit).expect(ANSWERS_ALIKE));
        Ok(judging.report(&outcome, told))
    } else {
        let space = Plain::new(model).with_seed(seed);
        let outcome = files.search(&space, options)?;
        let path = |hit| outcome.path(&space, hit).expect(ANSWERS_ALIKE);
        Ok(judging.report(&outcome, |hit| sentences(path(hit).into_actions())))
    }
}

const ANSWERS_ALIKE: &str = "a model answers the same";

/// What a report is made of beside the outcome.
struct Judging<'a> {
    job: &'a Job,
    judged: Vec<&'static str>,
    /// The kinds of action, and the guards that refuse them.
    names: (&'a [&'static str], &'a [&'static str]),
    started: Instant,
}

impl Judging<'_> {
    /// Of a search by the engine of this project.
    fn report(&self, outcome: &Outcome, told: impl Fn(Hit) -> Vec<String>) -> Report {
        let hit = |id: &str| outcome.hit(id).map(|hit| (hit.steps(), Some(told(hit))));
        self.assemble(Figures::of(outcome, &told), hit)
    }

    /// Of a search by a dataflow.
    fn across(
        &self,
        outcome: &levelwise_timely::Outcome,
        told: impl Fn(&[u16]) -> Vec<String>,
    ) -> Report {
        let hit = |id: &str| {
            let hit = outcome.hit(id)?;
            Some((hit.steps, hit.ordinals.as_deref().map(&told)))
        };
        self.assemble(Figures::across(outcome, &told), hit)
    }

    /// `hit` has the length of the path to a violation, and the path if it is known.
    fn assemble(
        &self,
        figures: Figures,
        hit: impl Fn(&str) -> Option<(usize, Option<Vec<String>>)>,
    ) -> Report {
        let expects = self.job.module.without().is_none();
        let holds = self.job.module.holds();
        let row = |&id: &&'static str| {
            let hit = hit(id);
            let expected = expects && holds.contains(&id);
            Row {
                id,
                kind: Kind::Always.name(),
                result: report::Outcome::of(Kind::Always, hit.is_some(), figures.bound.is_none()),
                expected: expected.then_some(report::Outcome::Holds),
                expected_steps: None,
                steps: hit.as_ref().map(|hit| hit.0),
                trace: None,
                path: None,
                told: hit.and_then(|hit| hit.1),
            }
        };
        let rows = self.judged.iter().map(row).collect();
        Report::new(self.job.module.subject(), figures, self.names, rows, self.started)
    }
}
