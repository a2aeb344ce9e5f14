//! Replays a trace on the real code and compares everything that can be seen.
//!
//! After each step the complete state of every node is compared, also of those that should not
//! have changed, then what was sent and what clients were told. The ghost is advanced by what the
//! real code shows, and every property is judged on every state.

mod report;

use klog_trace::action::Node as Id;
use klog_trace::diff::{Difference, diff};
use klog_trace::property::PROPERTIES;
use klog_trace::trace::{Committed, Divergence};
use klog_trace::{
    Action, BrokerView, ControllerView, Envelope, Expect, Ghost, Step, Told, Trace, TraceError,
};
use serde::Serialize;

use crate::adapter::{Cluster, Fault, Idle, Seen, Storage};
pub use report::{Failure, Mismatch, NodeDifference, Why};

/// How often messages removed as doomed are tried out (conformance, rule 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doomed {
    /// In the step that removes them.
    Once,
    /// In every later step too.
    InEveryStep,
}

/// A replay that showed what it had to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// Steps taken on the real code.
    pub steps: usize,
    /// The step at which the code parted from the trace, as predicted; `None`: it agreed to the
    /// end.
    pub parted: Option<usize>,
    /// How many times a removed message was tried out in a step after its own.
    pub late_tries: usize,
}

/// Replays the trace on disks of the kind `D`.
pub fn replay<D: Storage>(trace: &Trace, doomed: Doomed) -> Result<Replayed, Box<Failure>> {
    check_shape(trace)?;
    let mut run = Run::<D>::start(trace)?;
    for step in &trace.steps {
        let before = run.observed.clone();
        let seen = run.take(step)?;
        let differences = run.compare(step, &seen);
        if differences.is_empty() && run.did_nothing(step, &before.brokers) {
            let what = "it changes nothing and nobody is told anything".to_owned();
            return Err(Failure::at(step.step, Some(step.action), Why::NotEnabled(what)));
        }
        let parted = judge_divergence(trace, step, differences)?;
        let made = run.count_promises(step, &seen, &before)?;
        if parted.is_some() {
            return Ok(run.replayed(parted));
        }
        run.compare_promises(step, &made)?;
        let discarded = run.cluster.discard(&step.discarded);
        discarded.map_err(|fault| Run::<D>::fault(step, fault))?;
        if doomed == Doomed::InEveryStep {
            let tried = run.cluster.try_doomed_again();
            run.late_tries += tried.map_err(|fault| Run::<D>::fault(step, fault))?;
        }
    }
    match &trace.header.expect {
        Expect::Conform => Ok(run.replayed(None)),
        Expect::Diverge(predicted) => Err(missing(trace, trace.steps.len(), predicted)),
    }
}

/// Refuses what no cluster can be built for: a trace made by a program may name anything.
fn check_shape(trace: &Trace) -> Result<(), Box<Failure>> {
    trace.check_shape().map_err(|error| {
        let TraceError { line, what, remedy, .. } = error;
        let mut failure = Failure::at(line.saturating_sub(2), None, Why::Invalid { what, remedy });
        failure.line = line;
        failure
    })
}

/// One replay under way.
struct Run<'t, D: Storage> {
    trace: &'t Trace,
    cluster: Cluster<D>,
    /// What the trace says of every node now.
    expected: Vec<&'t BrokerView>,
    expected_controller: &'t ControllerView,
    observed: Told,
    steps: usize,
    late_tries: usize,
}

impl<'t, D: Storage> Run<'t, D> {
    fn start(trace: &'t Trace) -> Result<Self, Box<Failure>> {
        let bounds = &trace.header.bounds;
        let fault = |fault| Failure::at(0, None, Why::from_fault(fault));
        let cluster = Cluster::new(bounds).map_err(fault)?;
        let controller = cluster.observe_controller().map_err(fault)?;
        let mut run = Self {
            trace,
            cluster,
            expected: trace.start.brokers.values().collect(),
            expected_controller: &trace.start.controller,
            observed: Told {
                brokers: Vec::new(),
                controller,
                policy: bounds.policy(),
                ghost: Ghost::default(),
            },
            steps: 0,
            late_tries: 0,
        };
        run.observe().map_err(fault)?;
        let mut differences = run.compare_nodes();
        // Between different ends the order of messages in flight means nothing.
        let sorted = |mut messages: Vec<Envelope>| {
            messages.sort();
            messages
        };
        let expected = sorted(trace.start.in_flight.clone());
        let found = sorted(run.cluster.in_flight().cloned().collect());
        compare_part("in_flight", 0, &expected, &found, &mut differences);
        if differences.is_empty() {
            Ok(run)
        } else {
            Err(Failure::at(0, None, Why::Differs(Mismatch::new(trace, 0, differences))))
        }
    }

    /// Takes the step on the real code and looks at every node.
    fn take(&mut self, step: &'t Step) -> Result<Seen, Box<Failure>> {
        let parts_here = predicted_at(self.trace, step).is_some();
        let idle = if parts_here { Idle::AsFound } else { Idle::AsTold };
        let seen = self.cluster.apply(step, idle).and_then(|seen| {
            self.observe()?;
            self.observed.controller = self.cluster.observe_controller()?;
            Ok(seen)
        });
        let seen = seen.map_err(|fault| Self::fault(step, fault))?;
        for (&id, view) in &step.brokers {
            self.expected[usize::from(id) - 1] = view;
        }
        if let Some(view) = &step.controller {
            self.expected_controller = view;
        }
        self.steps = step.step;
        Ok(seen)
    }

    fn observe(&mut self) -> Result<(), Fault> {
        let cluster = &self.cluster;
        let views = (1..=cluster.brokers()).map(|id| cluster.observe(id));
        self.observed.brokers = views.collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Brokers by number, then the controller.
    fn compare_nodes(&self) -> Vec<NodeDifference> {
        let mut differences = Vec::new();
        let pairs = self.expected.iter().zip(&self.observed.brokers);
        for (id, (expected, found)) in (1..).zip(pairs) {
            compare_part("", id, *expected, found, &mut differences);
        }
        let controller = &self.observed.controller;
        compare_part("", 0, self.expected_controller, controller, &mut differences);
        differences
    }

    /// Every difference: the nodes, then what was sent, then what clients were told.
    fn compare(&self, step: &Step, seen: &Seen) -> Vec<NodeDifference> {
        let mut differences = self.compare_nodes();
        let sender = step.sent.first().or(seen.sent.first());
        let sender = sender.map_or(0, |e| e.from);
        compare_part("sent", sender, &step.sent, &seen.sent, &mut differences);
        compare_part("answers", 0, &step.answers, &seen.answers, &mut differences);
        compare_part("idle", sender, &step.idle, &seen.idle, &mut differences);
        let (told, found) = (&step.published_to, &seen.published_to);
        compare_part("published_to", 0, told, found, &mut differences);
        differences
    }

    /// Whether an action that is only enabled if it does something did nothing. Every other one
    /// takes at least a message, a metadata record or a budget.
    fn did_nothing(&self, step: &Step, before: &[BrokerView]) -> bool {
        use Action::{Checkpoint, LagCheck, Resend, Restart, TimeOut, Verdict};
        let must = matches!(step.action, Verdict { .. } | LagCheck { .. } | Checkpoint { .. });
        (must || matches!(step.action, Resend { .. } | TimeOut { .. } | Restart { .. }))
            && step.sent.is_empty()
            && step.answers.is_empty()
            && before == self.observed.brokers
    }

    /// Advances the ghost by what the real code shows, and judges the state. Returns what was
    /// promised in this step: offset and value.
    fn count_promises(
        &mut self,
        step: &Step,
        seen: &Seen,
        before: &Told,
    ) -> Result<Vec<Committed>, Box<Failure>> {
        let world = &mut self.observed;
        let known = world.ghost.committed.clone();
        world.remember(step.action, before, &seen.answers);
        let broken =
            PROPERTIES.iter().find_map(|(property, ..)| Some((*property, property.judge(world)?)));
        if let Some((property, reason)) = broken {
            let why = Why::Broken { property: property.id(), reason: reason.to_string() };
            return Err(Failure::at(step.step, Some(step.action), why));
        }
        let made = (0..).zip(&world.ghost.committed).filter_map(|(at, value)| {
            let is_new = known.get(usize::from(at)).copied().flatten().is_none();
            value.filter(|_| is_new).map(|value| (at, value))
        });
        Ok(made.collect())
    }

    fn compare_promises(&self, step: &Step, made: &Vec<Committed>) -> Result<(), Box<Failure>> {
        let mut differences = Vec::new();
        compare_part("committed", 0, &step.committed, made, &mut differences);
        if differences.is_empty() {
            return Ok(());
        }
        let mismatch = Mismatch::new(self.trace, step.step, differences);
        let why = Why::Differs(mismatch);
        Err(Failure::at(step.step, Some(step.action), why))
    }

    fn fault(step: &Step, fault: Fault) -> Box<Failure> {
        Failure::at(step.step, Some(step.action), Why::from_fault(fault))
    }

    fn replayed(&self, parted: Option<usize>) -> Replayed {
        Replayed { steps: self.steps, parted, late_tries: self.late_tries }
    }
}

/// Compares as values; only what differs is looked at field by field.
fn compare_part<T: PartialEq + Serialize>(
    part: &str,
    node: Id,
    expected: &T,
    found: &T,
    differences: &mut Vec<NodeDifference>,
) {
    if expected == found {
        return;
    }
    let rows = diff(expected, found).into_iter();
    differences.extend(rows.map(|row| NodeDifference {
        node,
        difference: Difference { field: format!("{part}{}", row.field), ..row },
    }));
}

/// The divergence that is predicted for this very step.
fn predicted_at<'t>(trace: &'t Trace, step: &Step) -> Option<&'t Divergence> {
    match &trace.header.expect {
        Expect::Diverge(predicted) if predicted.step == step.step => Some(predicted),
        _ => None,
    }
}

/// What the differences of a step mean under the header's prediction: the step's number if the
/// code parts here as predicted, `None` if it agrees and may.
fn judge_divergence(
    trace: &Trace,
    step: &Step,
    differences: Vec<NodeDifference>,
) -> Result<Option<usize>, Box<Failure>> {
    let predicted = predicted_at(trace, step);
    match (predicted, differences.first()) {
        (None, None) => Ok(None),
        (Some(predicted), None) => Err(missing(trace, step.step, predicted)),
        (Some(predicted), Some(first)) if first.is(predicted) => Ok(Some(step.step)),
        (predicted, Some(_)) => {
            let mut mismatch = Mismatch::new(trace, step.step, differences);
            mismatch.predicted = predicted.cloned();
            Err(Failure::at(step.step, Some(step.action), Why::Differs(mismatch)))
        }
    }
}

/// The code did not part from the trace where it should have.
fn missing(trace: &Trace, step: usize, predicted: &Divergence) -> Box<Failure> {
    let predicted = predicted.clone();
    let action = step.checked_sub(1).and_then(|at| trace.steps.get(at));
    Failure::at(step, action.map(|s| s.action), Why::NotParted { predicted })
}
