//! The standard suite: what `check` runs without arguments, and what each run must show.

use klog_trace::property::Property;
use klog_trace::trace::Bounds;

use crate::fault::{Caught, Fault};
use crate::protocol::Protocol;
use crate::report::{Expectation, Job};
use crate::scenario::{self, Scenario, Suite, by_name};
use crate::search::{Asked, Goal};

/// What a run must show: which properties are violated, each with the length of the shortest
/// counterexample. Every other property must hold with the space exhausted.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The scenario's name.
    pub scenario: &'static str,
    /// The protocol.
    pub protocol: Protocol,
    /// Violations with their shortest lengths (steps are transitions).
    pub violated: Vec<(Goal, usize)>,
    /// Search for this alone and end where it is violated.
    pub only: Option<Goal>,
    /// How much is asked of it.
    pub asked: Asked,
    /// Look no further than this level, the initial state's being the first.
    pub levels: Option<u32>,
}

impl Expected {
    /// The run that must show it.
    pub fn job(&self) -> Job {
        let scenario = by_name(self.scenario).expect("the suite names scenarios that exist");
        let klog = self.protocol.is_correct();
        Job {
            scenario: self.scenario.into(),
            protocol: self.protocol.clone(),
            bounds: scenario.bounds,
            only: self.only.map(|goal| goal.row().0),
            asked: self.asked,
            expected: Some(Expectation {
                violated: self.violated.clone(),
                witnesses: if klog { scenario.witnesses } else { Vec::new() },
            }),
        }
    }
}

/// What a run with these rules within these bounds must show, if the suite has such a row, or if
/// they are a scenario's own under the correct rules. Of somebody's own rules nothing is expected.
pub fn expectation(name: &str, protocol: &Protocol, bounds: &Bounds) -> Option<Expectation> {
    if !protocol.own.is_empty() {
        return None;
    }
    let scenario = by_name(name).filter(|scenario| scenario.bounds == *bounds)?;
    let same = |e: &Expected| {
        e.scenario == name && e.only.is_none() && e.protocol.faults == protocol.faults
    };
    let row = suite().iter().find(|row| same(row)).and_then(|row| row.job().expected);
    let klog = protocol.is_correct();
    let holds = || Expectation { violated: Vec::new(), witnesses: scenario.witnesses.clone() };
    row.or_else(|| klog.then(holds))
}

/// Every row: the ladder, `klog` in every scenario that is small enough, then each fault. The
/// lengths are golden: each is proven shortest by the breadth-first search that found it.
pub fn suite() -> Vec<Expected> {
    let mut rows = ladder();
    let klog = scenario::scenarios().into_iter().filter(|s| s.suite == Suite::Ci);
    rows.extend(klog.map(|scenario| of_klog(&scenario, Asked::Progress, None)));
    rows.extend(Fault::ALL.iter().flat_map(|fault| of_fault(*fault)));
    rows
}

/// The large scenarios under the correct rules, one after another. The graph that progress is
/// judged on does not fit, so they ask for safety alone.
pub fn deep() -> Vec<Expected> {
    let row = |scenario: Scenario| match scenario.suite {
        Suite::Deep => Some(of_klog(&scenario, Asked::Safety, None)),
        Suite::DeepTo(level) => Some(of_klog(&scenario, Asked::Safety, Some(level))),
        Suite::Ci | Suite::None => None,
    };
    scenario::scenarios().into_iter().filter_map(row).collect()
}

fn of_klog(scenario: &Scenario, asked: Asked, levels: Option<u32>) -> Expected {
    let protocol = Protocol::klog();
    Expected { scenario: scenario.name, protocol, violated: Vec::new(), only: None, asked, levels }
}

/// Each rung below `klog`, in a scenario in which it breaks.
fn ladder() -> Vec<Expected> {
    use Property::{CandidatesComplete, CommittedSurvives, IsrSound, LogsMatch};
    let rung = |name, scenario, property, steps| Expected {
        scenario,
        protocol: Protocol::by_name(name).expect("a rung of the ladder"),
        violated: vec![(Goal::Violate(property), steps)],
        only: Some(Goal::Violate(property)),
        asked: Asked::Safety,
        levels: None,
    };
    vec![
        rung("kafka-0.10", "one-crash", CommittedSurvives, 9),
        rung("kafka-0.10", "both-lose-power", LogsMatch, 9),
        rung("kafka-0.11", "fast-failover", LogsMatch, 11),
        rung("kafka-2.0", "zombie", CandidatesComplete, 15),
        rung("kafka-2.1", "isr-race", CandidatesComplete, 6),
        rung("kafka-2.7", "fenced", IsrSound, 4),
        rung("kafka-3.7", "last-replica", CommittedSurvives, 10),
        rung("kafka-4.x", "min-isr", CandidatesComplete, 5),
    ]
}

/// The runs by which a fault is judged.
pub fn of_fault(fault: Fault) -> Vec<Expected> {
    let row = |scenario, faults: &[Fault], violated: Option<(Goal, usize)>| Expected {
        scenario,
        protocol: Protocol::klog_with(faults),
        violated: violated.into_iter().collect(),
        only: violated.map(|v| v.0),
        asked: Asked::Safety,
        levels: None,
    };
    match fault.info().caught {
        Caught::By(scenario, goal, steps) => vec![row(scenario, &[fault], Some((goal, steps)))],
        Caught::With(other, scenario, goal, steps) => {
            vec![row(scenario, &[fault, other], Some((goal, steps)))]
        }
        Caught::Never(scenarios, _) => {
            scenarios.iter().map(|scenario| row(scenario, &[fault], None)).collect()
        }
    }
}
