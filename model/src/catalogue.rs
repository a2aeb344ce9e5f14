//! The traces that are committed: which path of which protocol in which scenario.

use std::sync::Arc;

use klog_trace::property::{Property, WITNESSES};
use klog_trace::trace::Bounds;
use klog_trace::{Action, Trace};

use crate::fault::Fault;
use crate::protocol::Protocol;
use crate::record::{Purpose, record, record_corrected};
use crate::scenario;
use crate::scripts;
use crate::search::{Goal, Limits, Search};
use crate::system::System;

/// A trace to be recorded.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The file's name without its ending.
    pub name: String,
    /// The scenario.
    pub scenario: &'static str,
    /// Where the path comes from.
    pub path: PathOf,
    /// The protocol.
    pub protocol: Protocol,
    /// The property to violate, or the witness to show.
    pub row: &'static str,
    /// Whether the script is run as it was found or under the correct rules.
    pub rules: Under,
}

/// Where a path comes from.
#[derive(Clone, Debug)]
pub enum PathOf {
    /// The shortest one that a search of the scenario finds.
    Search,
    /// The steps of a public report, one by one, within bounds of their own.
    Script(Bounds, Vec<Action>),
}

/// Under which rules a script that was found is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Under {
    /// Those it was found under.
    Own,
    /// The correct ones.
    Correct,
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

/// Every trace that is committed. Each counterexample stands twice: as it was found, and as the
/// same script under the correct rules.
pub fn catalogue() -> Vec<Wanted> {
    let mut wanted = Vec::new();
    for (name, scenario, protocol, property) in searched() {
        wanted.extend(both(name, scenario, &protocol, property.id(), &PathOf::Search));
    }
    for (name, protocol, row, bounds, script) in scripts::scripts() {
        wanted.extend(both(name, "script", &protocol, row, &PathOf::Script(bounds, script)));
    }
    for scenario in scenario::scenarios() {
        for witness in scenario.witnesses {
            wanted.push(Wanted {
                name: format!("{}-{}", scenario.name, witness.id()),
                scenario: scenario.name,
                path: PathOf::Search,
                protocol: Protocol::klog(),
                row: witness.id(),
                rules: Under::Own,
            });
        }
    }
    wanted
}

/// A counterexample as it was found, and as the same script under the correct rules.
fn both(
    name: &str,
    scenario: &'static str,
    protocol: &Protocol,
    row: &'static str,
    path: &PathOf,
) -> [Wanted; 2] {
    let under = |rules, name| Wanted {
        name,
        scenario,
        path: path.clone(),
        protocol: protocol.clone(),
        row,
        rules,
    };
    [under(Under::Own, name.to_owned()), under(Under::Correct, format!("{name}-corrected"))]
}

impl Wanted {
    /// The folder it belongs to: the correct protocol's behaviours conform.
    pub fn folder(&self) -> &'static str {
        let correct = self.protocol.faults.is_empty() || self.rules == Under::Correct;
        if correct { "conform" } else { "diverge" }
    }

    /// Finds the path and records it; `None` if there is none.
    pub fn record(&self) -> Option<Trace> {
        let (bounds, path) = match &self.path {
            PathOf::Script(bounds, script) => (bounds.clone(), script.clone()),
            PathOf::Search => {
                let bounds = scenario::by_name(self.scenario)?.bounds;
                let system = Arc::new(System::new(self.protocol.clone(), bounds.clone()));
                let search = Search::new(system, Goal::of(self.row)?, Limits::default());
                (bounds, search.run_to_the_end().1?)
            }
        };
        let witness = WITNESSES.iter().any(|w| w.1 == self.row);
        let verdict = match (self.rules, witness) {
            (_, true) => "witnessed",
            (Under::Own, false) => "violated",
            (Under::Correct, false) => "holds",
        };
        let purpose = Purpose { scenario: self.scenario, property: self.row, verdict };
        let system = System::new(self.protocol.clone(), bounds);
        Some(match self.rules {
            Under::Own => record(&system, &path, &purpose),
            Under::Correct => record_corrected(&system, &path, &purpose),
        })
    }
}
