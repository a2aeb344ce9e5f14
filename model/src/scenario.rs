//! The scenarios: bounds with a purpose, and what every protocol is expected to do in them.

use klog_trace::Acks;
use klog_trace::property::{Property, WITNESSES, Witness};
use klog_trace::trace::{Bounds, Interleaving};

use crate::fault::Fault;
use crate::protocol::Protocol;
use crate::report::{Expectation, Job};

/// Bounds with a purpose.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub sentence: &'static str,
    /// Its bounds.
    pub bounds: Bounds,
    /// Every witness that the correct protocol can show in it, so that it must.
    pub witnesses: &'static [Witness],
}

/// The bounds of two brokers with no perturbation at all, to be widened.
const PLAIN: Bounds = Bounds {
    brokers: 2,
    min_isr: 1,
    records: 2,
    acks: Vec::new(),
    moves: 0,
    crashes: 0,
    power_losses: 0,
    lag_checks: 0,
    checkpoints: 0,
    interleaving: Interleaving::Merged,
};

/// Where an ISR can be under its minimum, everything can be seen.
const EVERY: [Witness; WITNESSES.len()] = {
    let mut every = [Witness::Truncation; WITNESSES.len()];
    let mut i = 0;
    while i < WITNESSES.len() {
        every[i] = WITNESSES[i].0;
        i += 1;
    }
    every
};

/// Every scenario.
#[expect(clippy::too_many_lines, reason = "a table: one row after another")]
pub fn scenarios() -> Vec<Scenario> {
    use Witness::{Diverging, Fenced, IsrExpanded, IsrShrunk, LagOfOneRound, Truncation};
    let all = || vec![Acks::All];
    let both = || vec![Acks::Leader, Acks::All];
    vec![
        Scenario {
            name: "one-crash",
            sentence: "a process dies and the leadership moves once: KIP-101, scenario 1",
            bounds: Bounds { acks: all(), moves: 1, crashes: 1, ..PLAIN },
            witnesses: &[LagOfOneRound, Truncation, Diverging, IsrShrunk, IsrExpanded, Fenced],
        },
        Scenario {
            name: "both-lose-power",
            sentence: "both machines lose power, one of them a committed record: KIP-101, \
                       scenario 2",
            bounds: Bounds { min_isr: 2, acks: vec![Acks::Leader], power_losses: 2, ..PLAIN },
            witnesses: &[LagOfOneRound, Truncation, Diverging, IsrShrunk, IsrExpanded, Fenced],
        },
        Scenario {
            name: "fast-failover",
            sentence: "the leadership moves away and back before anyone notices: KIP-279",
            bounds: Bounds { acks: all(), moves: 2, ..PLAIN },
            witnesses: &[LagOfOneRound, Truncation, Diverging, Fenced],
        },
        Scenario {
            name: "lag",
            sentence: "followers lag, leave the ISR and come back; the minimum is two",
            bounds: Bounds { min_isr: 2, acks: both(), lag_checks: 1, moves: 1, ..PLAIN },
            witnesses: &EVERY,
        },
        Scenario {
            name: "under-min-isr",
            sentence: "a process dies, a follower lags, and acks=1 writes go on",
            bounds: Bounds { min_isr: 2, acks: both(), lag_checks: 1, crashes: 1, ..PLAIN },
            witnesses: &EVERY,
        },
        Scenario {
            name: "power-loss",
            sentence: "a machine loses power with an unflushed log end, and the leadership moves",
            bounds: Bounds { min_isr: 2, acks: all(), power_losses: 1, moves: 1, ..PLAIN },
            witnesses: &EVERY,
        },
        Scenario {
            name: "last-replica",
            sentence: "the last member of the ISR loses power after another one died",
            bounds: Bounds {
                min_isr: 2,
                records: 1,
                acks: all(),
                crashes: 1,
                power_losses: 1,
                ..PLAIN
            },
            witnesses: &EVERY,
        },
        Scenario {
            name: "zombie",
            sentence: "three brokers, and a fetch of an old reign is still under way",
            bounds: Bounds { brokers: 3, acks: all(), moves: 2, ..PLAIN },
            witnesses: &[LagOfOneRound, Truncation, Diverging, Fenced],
        },
        Scenario {
            name: "stale-fetch",
            sentence: "three brokers, and the leadership moves three times past an old fetch",
            bounds: Bounds { brokers: 3, records: 1, acks: all(), moves: 3, ..PLAIN },
            witnesses: &[LagOfOneRound, Truncation, Diverging, Fenced],
        },
        Scenario {
            name: "three-brokers",
            sentence: "three brokers, two records, three leader epochs, one crash, minimum two",
            bounds: Bounds { brokers: 3, min_isr: 2, acks: all(), moves: 1, crashes: 1, ..PLAIN },
            witnesses: &[LagOfOneRound, Truncation, Diverging, IsrShrunk, IsrExpanded, Fenced],
        },
        Scenario {
            name: "big",
            sentence: "three-brokers with a record and a move more: more than a hundred million \
                       states",
            bounds: Bounds {
                brokers: 3,
                min_isr: 2,
                records: 3,
                acks: all(),
                moves: 2,
                crashes: 1,
                ..PLAIN
            },
            // Whatever can be seen in it is seen in the smaller one, and in seconds.
            witnesses: &[],
        },
    ]
}

/// The scenario with this name.
pub fn by_name(name: &str) -> Option<Scenario> {
    scenarios().into_iter().find(|s| s.name == name)
}

/// What a run must show: which properties are violated, each with the length of the shortest
/// counterexample. Every other property must hold with the space exhausted.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The scenario's name.
    pub scenario: &'static str,
    /// The protocol.
    pub protocol: Protocol,
    /// Violations with their shortest lengths (steps are transitions).
    pub violated: Vec<(Property, usize)>,
    /// Search for this property alone and end where it is violated: for protocols that break
    /// early in a space too large to look at whole.
    pub only: Option<Property>,
}

impl Expected {
    /// The run that must show it.
    pub fn job(&self) -> Job {
        let scenario = by_name(self.scenario).expect("the suite names scenarios that exist");
        let klog = self.protocol.faults.is_empty();
        Job {
            scenario: self.scenario.into(),
            protocol: self.protocol.clone(),
            bounds: scenario.bounds,
            only: self.only.map(Property::id),
            expected: Some(Expectation {
                violated: self.violated.clone(),
                witnesses: if klog { scenario.witnesses.to_vec() } else { Vec::new() },
            }),
        }
    }
}

fn rung(scenario: &'static str, name: &str, violated: &[(Property, usize)]) -> Expected {
    let protocol = Protocol::by_name(name).expect("a rung of the ladder");
    Expected { scenario, protocol, violated: violated.to_vec(), only: None }
}

fn fault(scenario: &'static str, fault: Fault, violated: &[(Property, usize)]) -> Expected {
    let protocol = Protocol::klog_with(&[fault]);
    Expected { scenario, protocol, violated: violated.to_vec(), only: None }
}

/// What a run with these rules within these bounds must show, if the suite has such a row, or if
/// they are a scenario's own under the correct rules.
pub fn expectation(name: &str, protocol: &Protocol, bounds: &Bounds) -> Option<Expectation> {
    let scenario = by_name(name).filter(|scenario| scenario.bounds == *bounds)?;
    let same = |e: &Expected| {
        e.scenario == name && e.only.is_none() && e.protocol.faults == protocol.faults
    };
    let row = suite().iter().find(|row| same(row)).and_then(|row| row.job().expected);
    let klog = protocol.faults.is_empty();
    let holds = || Expectation { violated: Vec::new(), witnesses: scenario.witnesses.to_vec() };
    row.or_else(|| klog.then(holds))
}

/// The standard suite: what `check` runs without arguments. The lengths are golden: each is
/// proven shortest by the breadth-first search that found it.
pub fn suite() -> Vec<Expected> {
    use Property::{CommittedSurvives, ConsistentRead, EpochsOrdered, LogsMatch};
    vec![
        rung(
            "one-crash",
            "kafka-0.10",
            &[(CommittedSurvives, 9), (LogsMatch, 12), (ConsistentRead, 12), (EpochsOrdered, 18)],
        ),
        rung("one-crash", "klog", &[]),
        rung(
            "both-lose-power",
            "kafka-0.10",
            &[(CommittedSurvives, 7), (LogsMatch, 9), (ConsistentRead, 8)],
        ),
        rung("both-lose-power", "klog", &[]),
        rung(
            "fast-failover",
            "kafka-0.11",
            &[(LogsMatch, 11), (ConsistentRead, 11), (EpochsOrdered, 10)],
        ),
        rung("fast-failover", "klog", &[]),
        Expected {
            only: Some(EpochsOrdered),
            ..rung("zombie", "kafka-2.0", &[(EpochsOrdered, 10)])
        },
        Expected {
            only: Some(EpochsOrdered),
            ..fault("zombie", Fault::UnfencedFetchReply, &[(EpochsOrdered, 10)])
        },
        rung("zombie", "klog", &[]),
        rung("stale-fetch", "klog", &[]),
        rung("lag", "klog", &[]),
        fault(
            "under-min-isr",
            Fault::HwUnderMinIsr,
            &[(CommittedSurvives, 7), (ConsistentRead, 8)],
        ),
        rung("under-min-isr", "klog", &[]),
        fault(
            "power-loss",
            Fault::UncleanCountsAsClean,
            &[(CommittedSurvives, 7), (ConsistentRead, 14)],
        ),
        rung("power-loss", "klog", &[]),
        fault("last-replica", Fault::LastReplicaStanding, &[(CommittedSurvives, 11)]),
        rung("last-replica", "klog", &[]),
        rung("three-brokers", "klog", &[]),
    ]
}
