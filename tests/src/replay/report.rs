//! What a failed replay says.

use std::fmt::{self, Write as _};

use klog_trace::action::Node as Id;
use klog_trace::diff::Difference;
use klog_trace::trace::Divergence;
use klog_trace::{Action, Trace};

use crate::adapter::Fault;

/// How many steps are told on the way to a mismatch, the failing one included.
const STEPS_TOLD: usize = 5;

/// A differing field and whose it is. The left value is the trace's, the right one the code's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeDifference {
    /// The broker, or 0 for the controller and for what concerns clients.
    pub node: Id,
    /// The field and both values.
    pub difference: Difference,
}

impl NodeDifference {
    /// Whether it is the predicted one, to the value.
    pub fn is(&self, predicted: &Divergence) -> bool {
        let Divergence { step: _, node, field, faulty, correct } = predicted;
        let Difference { field: at, left, right } = &self.difference;
        (self.node, at, left, right) == (*node, field, faulty, correct)
    }
}

impl fmt::Display for NodeDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { field, left, right } = &self.difference;
        write!(f, "{}: {field} is {left} in the trace and {right} in the code", name(self.node))
    }
}

fn name(node: Id) -> String {
    match node {
        0 => "controller".to_owned(),
        broker => format!("b{broker}"),
    }
}

/// Trace and code differ in a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Every difference: brokers by number, the controller, messages sent, answers.
    pub differences: Vec<NodeDifference>,
    /// The steps up to this one, in words.
    pub last_steps: Vec<(usize, String)>,
    /// The difference that was predicted for this very step, if another one was.
    pub predicted: Option<Divergence>,
}

impl Mismatch {
    /// A mismatch in this step.
    ///
    /// # Panics
    /// Without a difference.
    pub(super) fn new(trace: &Trace, step: usize, differences: Vec<NodeDifference>) -> Self {
        assert!(!differences.is_empty(), "a mismatch has a difference");
        let upto = step.min(trace.steps.len());
        let steps = &trace.steps[upto.saturating_sub(STEPS_TOLD)..upto];
        Self {
            differences,
            last_steps: steps.iter().map(|s| (s.step, s.action.to_string())).collect(),
            predicted: None,
        }
    }

    /// The first difference.
    pub fn first(&self) -> &NodeDifference {
        &self.differences[0]
    }
}

/// Why a replay failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The trace cannot be replayed by anyone.
    Invalid {
        /// What is wrong with it.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Model and code differ.
    Differs(Mismatch),
    /// The real code holds or says something that no trace can say.
    Hidden(String),
    /// The real code broke a property.
    Broken {
        /// The property's id.
        property: &'static str,
        /// Why it does not hold.
        reason: String,
    },
    /// The real code cannot take the step.
    NotEnabled(String),
    /// The code agrees where it was predicted to part.
    NotParted {
        /// What was predicted.
        predicted: Divergence,
    },
    /// The disk or the adapter failed.
    Internal(String),
}

impl Why {
    pub(super) fn from_fault(fault: Fault) -> Self {
        match fault {
            Fault::NotEnabled(what) => Self::NotEnabled(what),
            Fault::Hidden(what) => Self::Hidden(what),
            Fault::Internal(what) => Self::Internal(what),
        }
    }
}

/// A failed replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The step; 0 is the start.
    pub step: usize,
    /// Its line in the file.
    pub line: usize,
    /// What was done.
    pub action: Option<Action>,
    /// Why it failed.
    pub why: Why,
}

impl Failure {
    pub(super) fn at(step: usize, action: Option<Action>, why: Why) -> Box<Self> {
        Box::new(Self { step, line: step + 2, action, why })
    }

    /// The exit code it asks for.
    pub fn exit_code(&self) -> u8 {
        match self.why {
            Why::Invalid { .. } => 2,
            Why::Differs(_) | Why::Hidden(_) | Why::Broken { .. } => 17,
            Why::NotEnabled(_) | Why::NotParted { .. } => 18,
            Why::Internal(_) => 70,
        }
    }

    /// One word for a table.
    pub fn result(&self) -> &'static str {
        match self.why {
            Why::Invalid { .. } => "invalid",
            Why::Differs(_) | Why::Hidden(_) => "differs",
            Why::Broken { .. } => "violates",
            Why::NotEnabled(_) => "not-enabled",
            Why::NotParted { .. } => "not-parted",
            Why::Internal(_) => "failed",
        }
    }

    /// The first line of the report: step, action, what, and what to do.
    pub fn headline(&self) -> String {
        let mut text = format!("line {}: ", self.line);
        let at = match (self.step, &self.action) {
            (0, _) => "the start".to_owned(),
            (step, Some(action)) => format!("step {step} ({action})"),
            (step, None) => format!("step {step}"),
        };
        let _ = match &self.why {
            Why::Invalid { what, remedy } => write!(text, "{what}; {remedy}"),
            Why::Differs(mismatch) => write!(text, "{at}: {}", mismatch.first()),
            Why::Hidden(what) => write!(text, "{at}: {what}; no trace can say so: mend the code"),
            Why::Broken { property, reason } => {
                write!(text, "{at}: the code breaks {property}: {reason}; mend the code")
            }
            Why::NotEnabled(what) => write!(
                text,
                "{at} is not enabled: {what}; record the trace anew with `check record`"
            ),
            Why::NotParted { predicted } => write!(
                text,
                "{at}: the code agrees, and {} of {} was predicted to part from the trace in step \
                 {}; record the trace anew with `check record`",
                predicted.field,
                name(predicted.node),
                predicted.step
            ),
            Why::Internal(what) => write!(
                text,
                "{at}: {what}; this is not the trace's fault: set TMPDIR to a folder with room, or \
                 use --disk memory"
            ),
        };
        text
    }

    /// The whole report on a trace, as it was named on the command line.
    pub fn report(&self, path: &str, disk: &str) -> String {
        let mut text = format!("{path}: {}\n", self.headline());
        if let Why::Differs(mismatch) = &self.why {
            tell(mismatch, &mut text);
            let _ =
                writeln!(text, "  replay: cargo run --bin conform -- replay {path} --disk {disk}");
        }
        text
    }
}

fn tell(mismatch: &Mismatch, text: &mut String) {
    if let Some(predicted) = &mismatch.predicted {
        let Divergence { node, field, faulty, correct, .. } = predicted;
        let _ = writeln!(
            text,
            "  predicted: {}: {field} is {faulty} in the trace and {correct} in the code",
            name(*node)
        );
    }
    for further in &mismatch.differences[1..] {
        let _ = writeln!(text, "  also: {further}");
    }
    for (step, action) in &mismatch.last_steps {
        let _ = writeln!(text, "  step {step}: {action}");
    }
}
