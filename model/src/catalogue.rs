//! The traces that are committed: which path of which protocol in which scenario.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use klog_trace::progress::Progress;
use klog_trace::property::{Property, Witness};
use klog_trace::trace::Bounds;
use klog_trace::{Action, Trace};

use crate::fault::{Caught, Fault};
use crate::protocol::Protocol;
use crate::record::{Purpose, diverges_at, record, record_corrected};
use crate::scenario::{self, Scenario, Suite};
use crate::scripts;
use crate::search::{Goal, Limits, search};
use crate::system::System;

/// A path to be recorded. A counterexample stands twice: as it was found, and as the same script
/// under the correct rules.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The file's name without its ending; the corrected one's ends with `-corrected`.
    pub name: String,
    /// The scenario.
    pub scenario: &'static str,
    /// Where the path comes from.
    pub path: PathOf,
    /// The protocol.
    pub protocol: Protocol,
    /// The property to violate, or the witness to show.
    pub row: &'static str,
}

/// A trace and where it belongs.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Its path below the folder of traces.
    pub file: String,
    /// The trace.
    pub trace: Trace,
}

/// Where a path comes from.
#[derive(Clone, Debug)]
pub enum PathOf {
    /// The shortest one that a search of the scenario finds.
    Search,
    /// The steps of a public report, one by one, within bounds of their own.
    Script(Bounds, Vec<Action>),
}

/// Counterexamples found by a search: name, scenario, protocol, property. One for each fault, as
/// its row says, and further ones of public reports.
fn searched() -> Vec<(&'static str, &'static str, Protocol, Goal)> {
    let of_fault = |fault: &Fault| {
        // What a broker shows to consumers is no part of a trace.
        if matches!(fault, Fault::ServeConsumerPastHw | Fault::EndOffsetBelowEpochStart) {
            return None;
        }
        let info = fault.info();
        let (faults, scenario, goal) = match info.caught {
            Caught::By(scenario, goal, _) => (vec![*fault], scenario, goal),
            Caught::With(other, scenario, goal, _) => (vec![*fault, other], scenario, goal),
            Caught::Never(..) => return None,
        };
        Some((info.name, scenario, Protocol::klog_with(&faults), goal))
    };
    let rung = |name| Protocol::by_name(name).expect("a rung of the ladder");
    let exact = Protocol::klog_with(&[Fault::EpochLookupExact]);
    let mut searched: Vec<_> = Fault::ALL.iter().filter_map(of_fault).collect();
    searched.extend([
        (
            "kip101-scenario-1",
            "one-crash",
            rung("kafka-0.10"),
            Goal::Violate(Property::CommittedSurvives),
        ),
        (
            "kip101-scenario-2",
            "both-lose-power",
            rung("kafka-0.10"),
            Goal::Violate(Property::LogsMatch),
        ),
        ("kip279-a-b-a", "fast-failover", exact, Goal::Violate(Property::LogsMatch)),
    ]);
    searched
}

/// How many scenarios have their shortest path to a witness recorded: the first that show it.
const OF_EACH_WITNESS: usize = 3;

/// Everything that is recorded and committed.
pub fn catalogue() -> Vec<Wanted> {
    let mut wanted = Vec::new();
    for (name, scenario, protocol, goal) in searched() {
        let (name, row) = (name.to_owned(), goal.row().0);
        wanted.push(Wanted { name, scenario, path: PathOf::Search, protocol, row });
    }
    for (name, protocol, row, bounds, script) in scripts::scripts() {
        let (name, path) = (name.to_owned(), PathOf::Script(bounds, script));
        wanted.push(Wanted { name, scenario: "script", path, protocol, row });
    }
    let mut recorded: BTreeMap<Witness, usize> = BTreeMap::new();
    let small = |scenario: &Scenario| scenario.suite == Suite::Ci;
    for scenario in scenario::scenarios().into_iter().filter(small) {
        for witness in scenario.witnesses {
            let times = recorded.entry(witness).or_default();
            *times += 1;
            if *times > OF_EACH_WITNESS {
                continue;
            }
            wanted.push(Wanted {
                name: format!("{}-{}", scenario.name, witness.id()),
                scenario: scenario.name,
                path: PathOf::Search,
                protocol: Protocol::klog(),
                row: witness.id(),
            });
        }
    }
    wanted
}

/// Lengthens the path to a state from which something is lost until the broken rule shows: by the
/// shortest way, of those the first, among the steps that ought to lead on.
fn shown(system: &System, progress: Progress, path: &mut Vec<Action>) {
    if diverges_at(system, path).is_some() {
        return;
    }
    let start = path.iter().fold(system.initial(), |row, action| system.step(&row, *action).row);
    let (mut ways, mut known) = (VecDeque::from([(start.row(), path.clone())]), BTreeSet::new());
    while let Some((row, way)) = ways.pop_front() {
        let (row, mut actions) = (system.state(&row), Vec::new());
        system.enabled(&row, &mut actions);
        for action in actions.into_iter().filter(|a| progress.by().contains(&a.kind())) {
            let longer: Vec<Action> = way.iter().copied().chain([action]).collect();
            // What shows may be that the state stays the same.
            if diverges_at(system, &longer).is_some() {
                *path = longer;
                return;
            }
            let next = system.step(&row, action).row.row();
            if known.insert(next.clone()) {
                ways.push_back((next, longer));
            }
        }
    }
}

impl Wanted {
    /// Finds the path, once, and records it; `None` if there is none.
    pub fn record(&self) -> Option<Vec<Recorded>> {
        let (bounds, path) = match &self.path {
            PathOf::Script(bounds, script) => (bounds.clone(), script.clone()),
            PathOf::Search => {
                let bounds = scenario::by_name(self.scenario)?.bounds;
                let system = Arc::new(System::new(self.protocol.clone(), bounds.clone()));
                let goal = Goal::of(self.row)?;
                let found = search(&system, Some(goal), &Limits::default());
                let mut path = found.path(goal)?.clone();
                if let Goal::Lose(progress) = goal {
                    shown(&system, progress, &mut path);
                }
                (bounds, path)
            }
        };
        let system = System::new(self.protocol.clone(), bounds);
        let purpose = |verdict| Purpose { scenario: self.scenario, property: self.row, verdict };
        let in_folder = |folder, ending, trace| Recorded {
            file: format!("{folder}/{}{ending}.jsonl", self.name),
            trace,
        };
        // The correct protocol's behaviours conform.
        let own = if self.protocol.is_correct() { "conform" } else { "diverge" };
        Some(match Goal::of(self.row)? {
            Goal::Witness(_) => {
                vec![in_folder(own, "", record(&system, &path, &purpose("witnessed")))]
            }
            Goal::Violate(_) | Goal::Lose(_) => vec![
                in_folder(own, "", record(&system, &path, &purpose("violated"))),
                in_folder(
                    "conform",
                    "-corrected",
                    record_corrected(&system, &path, &purpose("holds")),
                ),
            ],
        })
    }
}
