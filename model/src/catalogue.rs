//! The traces that are committed: which path of which protocol in which scenario.

use std::sync::Arc;

use klog_trace::property::Property;
use klog_trace::trace::Bounds;
use klog_trace::{Action, Trace};

use crate::fault::Fault;
use crate::protocol::Protocol;
use crate::record::{Purpose, record, record_corrected};
use crate::scenario;
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
fn searched() -> Vec<(&'static str, &'static str, Protocol, Property)> {
    let of_fault = |fault: Fault| {
        let info = fault.info();
        let (scenario, property) = info.caught_by;
        (info.trace, scenario, Protocol::klog_with(&[fault]), property)
    };
    let fork = Protocol::klog_with(&[Fault::TruncateToHw]);
    let old = Protocol::by_name("kafka-0.10").expect("a rung of the ladder");
    let mut searched: Vec<_> = Fault::ALL.into_iter().map(of_fault).collect();
    searched.push(("kip101-scenario-1-fork", "one-crash", fork, Property::LogsMatch));
    searched.push(("kip101-scenario-2", "both-lose-power", old, Property::LogsMatch));
    searched
}

/// Everything that is recorded and committed.
pub fn catalogue() -> Vec<Wanted> {
    let mut wanted = Vec::new();
    for (name, scenario, protocol, property) in searched() {
        let (name, row) = (name.to_owned(), property.id());
        wanted.push(Wanted { name, scenario, path: PathOf::Search, protocol, row });
    }
    for (name, protocol, row, bounds, script) in scripts::scripts() {
        let (name, path) = (name.to_owned(), PathOf::Script(bounds, script));
        wanted.push(Wanted { name, scenario: "script", path, protocol, row });
    }
    for scenario in scenario::scenarios() {
        for witness in scenario.witnesses {
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
                (bounds, found.path(goal)?.clone())
            }
        };
        let system = System::new(self.protocol.clone(), bounds);
        let purpose = |verdict| Purpose { scenario: self.scenario, property: self.row, verdict };
        let in_folder = |folder, ending, trace| Recorded {
            file: format!("{folder}/{}{ending}.jsonl", self.name),
            trace,
        };
        // The correct protocol's behaviours conform.
        let own = if self.protocol.faults.is_empty() { "conform" } else { "diverge" };
        Some(match Property::by_id(self.row) {
            None => vec![in_folder(own, "", record(&system, &path, &purpose("witnessed")))],
            Some(_) => vec![
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
