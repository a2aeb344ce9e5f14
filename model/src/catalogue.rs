//! The traces that are committed: which path of which protocol in which scenario.

use std::sync::Arc;

use klog_trace::property::{PROPERTIES, WITNESSES};
use klog_trace::{Action, Trace};

use crate::fault::Fault;
use crate::protocol::Protocol;
use crate::record::{Purpose, record, record_corrected};
use crate::report::witness_path;
use crate::scenario::{self, Scenario};
use crate::search::{Goal, Limits, Search};
use crate::system::System;

/// A trace to be recorded.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The file's name without its ending.
    pub name: String,
    /// The scenario.
    pub scenario: &'static str,
    /// The protocol.
    pub protocol: Protocol,
    /// The property to violate, or the witness to show.
    pub row: &'static str,
    /// Whether the script is run as it was found or under the correct rules.
    pub rules: Under,
}

/// Under which rules a script that was found is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Under {
    /// Those it was found under.
    Own,
    /// The correct ones.
    Correct,
}

/// Counterexamples that stand for a public report: name, scenario, protocol, property.
fn reports() -> Vec<(&'static str, &'static str, Protocol, &'static str)> {
    let broken = |fault| Protocol::klog_with(&[fault]);
    let old = || Protocol::by_name("kafka-0.10").expect("a rung of the ladder");
    vec![
        (
            "kip101-scenario-1",
            "one-crash",
            broken(Fault::TruncateToHw),
            "committed-survives",
        ),
        (
            "kip101-scenario-1-fork",
            "one-crash",
            broken(Fault::TruncateToHw),
            "logs-match",
        ),
        ("kip101-scenario-2", "both-lose-power", old(), "logs-match"),
        (
            "kip279-a-b-a",
            "fast-failover",
            broken(Fault::EpochLookupExact),
            "logs-match",
        ),
        (
            "hw-under-min-isr",
            "under-min-isr",
            broken(Fault::HwUnderMinIsr),
            "committed-survives",
        ),
        (
            "unclean-counts-as-clean",
            "power-loss",
            broken(Fault::UncleanCountsAsClean),
            "committed-survives",
        ),
        (
            "last-replica-standing",
            "last-replica",
            broken(Fault::LastReplicaStanding),
            "committed-survives",
        ),
    ]
}

/// Every trace that is committed. Each counterexample stands twice: as it was found, and as the
/// same script under the correct rules.
pub fn catalogue() -> Vec<Wanted> {
    let mut wanted = Vec::new();
    for (name, scenario, protocol, row) in reports() {
        let under = |rules, name| Wanted {
            name,
            scenario,
            protocol: protocol.clone(),
            row,
            rules,
        };
        wanted.push(under(Under::Own, name.to_owned()));
        wanted.push(under(Under::Correct, format!("{name}-corrected")));
    }
    for scenario in scenario::scenarios() {
        for witness in scenario.witnesses {
            wanted.push(Wanted {
                name: format!("{}-{}", scenario.name, witness.id()),
                scenario: scenario.name,
                protocol: Protocol::klog(),
                row: witness.id(),
                rules: Under::Own,
            });
        }
    }
    wanted
}

impl Wanted {
    /// The folder it belongs to: the correct protocol's behaviours conform.
    pub fn folder(&self) -> &'static str {
        let correct = self.protocol.faults.is_empty() || self.rules == Under::Correct;
        if correct { "conform" } else { "diverge" }
    }

    /// Searches for the shortest path and records it; `None` if there is none.
    pub fn record(&self) -> Option<Trace> {
        let Scenario { name, bounds, .. } = scenario::by_name(self.scenario)?;
        let system = Arc::new(System::new(self.protocol.clone(), bounds));
        let path = self.path(&system)?;
        let witness = WITNESSES.iter().any(|w| w.1 == self.row);
        let verdict = match (self.rules, witness) {
            (_, true) => "witnessed",
            (Under::Own, false) => "violated",
            (Under::Correct, false) => "holds",
        };
        let purpose = Purpose {
            scenario: name,
            property: self.row,
            verdict,
        };
        Some(match self.rules {
            Under::Own => record(&system, &path, &purpose),
            Under::Correct => record_corrected(&system, &path, &purpose),
        })
    }

    fn path(&self, system: &Arc<System>) -> Option<Vec<Action>> {
        let limits = Limits::default();
        if let Some((property, _, _)) = PROPERTIES.iter().find(|p| p.1 == self.row) {
            return Search::new(Arc::clone(system), Goal::Violate(*property), limits)
                .run()
                .path;
        }
        let (witness, _, _) = WITNESSES.iter().find(|w| w.1 == self.row)?;
        witness_path(system, &limits, *witness)
    }
}
