//! From a path to a trace: every step with all it made visible, and, for a faulty protocol, the
//! step and field at which the correct code must part from it.

use std::collections::BTreeMap;

use klog_trace::action::{CONTROLLER, Node};
use klog_trace::diff::{Difference, diff};
use klog_trace::trace::{Discarded, Divergence, Expect, FORMAT, Header, Start, VERSION};
use klog_trace::{Action, Step, Trace};

use crate::network;
use crate::protocol::Protocol;
use crate::row::{Row as _, Whole};
use crate::system::{Outcome, System};

/// What a trace is recorded for.
#[derive(Clone, Debug)]
pub struct Purpose<'a> {
    /// The scenario's name.
    pub scenario: &'a str,
    /// The property or witness.
    pub property: &'a str,
    /// How it fares: `violated`, `witnessed` or `holds`.
    pub verdict: &'a str,
}

/// The trace of `path`. If the protocol has faults, the correct protocol is run on the same
/// script to predict where the code parts from it.
pub fn record(system: &System, path: &[Action], purpose: &Purpose<'_>) -> Trace {
    let start = system.initial();
    let mut steps = Vec::new();
    let mut row = start.clone();
    for action in path {
        let outcome = system.step(&row, *action);
        steps.push(step_of(system, steps.len() + 1, &row, *action, &outcome));
        row = outcome.row;
    }
    let expect = match diverges_at(system, path) {
        Some(divergence) => Expect::Diverge(divergence),
        None => Expect::Conform,
    };
    assemble(system, purpose, expect, start_of(system, &start), steps)
}

/// The trace of the same script under the correct protocol. Actions of the script that are not
/// enabled there are left out and named in the header.
pub fn record_corrected(system: &System, path: &[Action], purpose: &Purpose<'_>) -> Trace {
    let correct = System::new(Protocol::klog(), system.bounds.clone());
    let mut row = correct.initial();
    let (mut taken, mut skipped) = (Vec::new(), Vec::new());
    for action in path {
        let mut enabled = Vec::new();
        correct.enabled(&row, &mut enabled);
        if enabled.contains(action) {
            row = correct.step(&row, *action).row;
            taken.push(*action);
        } else {
            skipped.push(*action);
        }
    }
    let mut trace = record(&correct, &taken, purpose);
    trace.header.skipped = skipped;
    trace.header.fingerprint = trace.fingerprint();
    trace
}

fn assemble(
    system: &System,
    purpose: &Purpose<'_>,
    expect: Expect,
    start: Start,
    steps: Vec<Step>,
) -> Trace {
    let header = Header {
        format: FORMAT.into(),
        version: VERSION,
        protocol: system.protocol.name.clone(),
        faults: system.protocol.fault_names(),
        scenario: purpose.scenario.into(),
        bounds: system.bounds.clone(),
        property: purpose.property.into(),
        verdict: purpose.verdict.into(),
        expect,
        skipped: Vec::new(),
        steps: steps.len(),
        fingerprint: String::new(),
    };
    let mut trace = Trace { header, start, steps };
    trace.header.fingerprint = trace.fingerprint();
    trace
}

pub(crate) fn start_of(system: &System, row: &Whole<'_>) -> Start {
    Start {
        brokers: brokers(system).map(|n| (n, row.broker(n).clone())).collect(),
        controller: row.controller().clone(),
        in_flight: network::messages(row).map(|m| m.envelope.clone()).collect(),
    }
}

fn brokers(system: &System) -> std::ops::RangeInclusive<Node> {
    1..=system.bounds.brokers
}

/// One step with all it makes visible.
pub(crate) fn step_of(
    system: &System,
    step: usize,
    before: &Whole<'_>,
    action: Action,
    after: &Outcome<'_>,
) -> Step {
    let row = &after.row;
    let changed = brokers(system).filter(|n| before.broker(*n) != row.broker(*n));
    let promised = |r: &Whole<'_>, o: usize| r.ghost().committed.get(o).copied().flatten();
    let committed = (0..row.ghost().committed.len())
        .filter(|o| promised(before, *o).is_none())
        .filter_map(|o| Some((o as u8, promised(row, o)?)));
    Step {
        step,
        action,
        brokers: changed.map(|n| (n, row.broker(n).clone())).collect::<BTreeMap<_, _>>(),
        controller: (before.controller() != row.controller()).then(|| row.controller().clone()),
        sent: after.sent.clone(),
        discarded: after
            .discarded
            .iter()
            .map(|m| Discarded { connection: m.connection, envelope: m.envelope.clone() })
            .collect(),
        idle: after.idle,
        published_to: after.published_to.clone(),
        answers: after.answers.clone(),
        committed: committed.collect(),
    }
}

/// The first step and field in which the correct protocol parts from this one on the script;
/// `None` if it never does.
///
/// What is discarded is part of the script: where a fault makes someone act on a message, that
/// message stays, also for the correct protocol, which then ignores it.
pub fn diverges_at(system: &System, path: &[Action]) -> Option<Divergence> {
    let correct = System::new(Protocol::klog(), system.bounds.clone());
    let (mut faulty_row, mut correct_row) = (system.initial(), correct.initial());
    for (index, action) in path.iter().enumerate() {
        let faulty = system.step(&faulty_row, *action);
        let right = correct.step_discarding(&correct_row, *action, &faulty.discarded);
        if let Some((node, d)) = first_difference(system, &faulty, &right) {
            let Difference { field, left, right } = d;
            return Some(Divergence { step: index + 1, node, field, faulty: left, correct: right });
        }
        (faulty_row, correct_row) = (faulty.row, right.row);
    }
    None
}

/// Brokers first, then the controller, then what was sent, then what clients were told: the
/// order in which a replay compares.
fn first_difference(
    system: &System,
    faulty: &Outcome<'_>,
    right: &Outcome<'_>,
) -> Option<(Node, Difference)> {
    let first = |mut rows: Vec<Difference>| (!rows.is_empty()).then(|| rows.remove(0));
    let broker = brokers(system).find_map(|n| {
        let (a, b) = (faulty.row.broker(n), right.row.broker(n));
        (a != b).then(|| first(diff(a, b)).map(|d| (n, d))).flatten()
    });
    let controller = || {
        let rows = diff(faulty.row.controller(), right.row.controller());
        first(rows).map(|d| (CONTROLLER, d))
    };
    let sent = || {
        let named = |mut d: Difference| {
            d.field = format!("sent{}", d.field);
            let sender = faulty.sent.first().or(right.sent.first()).map_or(CONTROLLER, |e| e.from);
            (sender, d)
        };
        first(diff(&faulty.sent, &right.sent)).map(named)
    };
    let answers = || {
        let named = |mut d: Difference| {
            d.field = format!("answers{}", d.field);
            (CONTROLLER, d)
        };
        first(diff(&faulty.answers, &right.answers)).map(named)
    };
    broker.or_else(controller).or_else(sent).or_else(answers)
}
