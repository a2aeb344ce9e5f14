//! The trace file: JSON Lines, a header, the start, then one step per line.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::{Action, CONTROLLER, Connection, Node};
pub use crate::bounds::{Bounds, Budget, Clock, Elr, Flush, Interleaving, Metadata, Unclean};
use crate::message::{ClientAnswer, Envelope};
use crate::view::{BrokerView, ControllerView};

/// The name in every header.
pub const FORMAT: &str = "klog-trace";
/// The version this crate writes, and the newest it reads.
pub const VERSION: u32 = 1;

/// Where the correct code must part from a trace of a faulty protocol, as predicted by running
/// both rule sets of the model on the script before any code ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Divergence {
    /// The step after which the observations differ.
    pub step: usize,
    /// The node they differ on (0 is the controller).
    pub node: Node,
    /// The first field that differs, by path.
    pub field: String,
    /// The faulty protocol's value, as JSON text.
    pub faulty: String,
    /// The correct protocol's value, as JSON text.
    pub correct: String,
}

/// What a replay of this trace on the correct code must show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Expect {
    /// Agreement in every step.
    Conform,
    /// Agreement up to a step, and there exactly this difference first.
    Diverge(Divergence),
}

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The protocol's name.
    pub protocol: String,
    /// The rules that are broken in it.
    pub faults: Vec<String>,
    /// The scenario's name.
    pub scenario: String,
    /// What it is bounded by.
    pub bounds: Bounds,
    /// The property or witness the trace shows.
    pub property: String,
    /// How the property fares in this trace: `violated`, `witnessed` or `holds`.
    pub verdict: String,
    /// What the correct code must do.
    pub expect: Expect,
    /// For a script taken over from another protocol: the actions that are not enabled here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Action>,
    /// Number of steps that follow; a file with fewer was cut.
    pub steps: usize,
    /// See [`Trace::fingerprint`]. A changed one says that the trace, and so the model that
    /// recorded it, is another.
    pub fingerprint: String,
}

/// The second line: every node before the first step, and what is in flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Every broker.
    pub brokers: BTreeMap<Node, BrokerView>,
    /// The controller.
    pub controller: ControllerView,
    /// Messages in flight.
    pub in_flight: Vec<Envelope>,
}

/// A message that no later state of its receiver would act on, removed in this step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Discarded {
    /// The connection it was on.
    #[serde(default)]
    pub connection: Connection,
    /// The message.
    pub envelope: Envelope,
}

/// A message value committed at an offset in this step.
pub type Committed = (u8, u8);

/// One step and everything it made visible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// 1 for the first.
    pub step: usize,
    /// What was done.
    pub action: Action,
    /// The complete state of every broker that changed.
    pub brokers: BTreeMap<Node, BrokerView>,
    /// The controller's complete state, if it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<ControllerView>,
    /// Messages newly sent, in order.
    pub sent: Vec<Envelope>,
    /// Messages removed since nobody would act on them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub discarded: Vec<Discarded>,
    /// The answer in `sent` was read at once, and made its follower do nothing but ask again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<Node>,
    /// Brokers that may apply the metadata record published in this step alone; for the others
    /// it counts as part of the next one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published_to: Vec<Node>,
    /// What clients were told.
    pub answers: Vec<ClientAnswer>,
    /// Promises made in this step: (offset, value).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub committed: Vec<Committed>,
}

/// A whole trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The first line.
    pub header: Header,
    /// The second line.
    pub start: Start,
    /// The steps.
    pub steps: Vec<Step>,
}

/// Why a file is no trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct TraceError {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1; 0 when the line as a whole is meant.
    pub column: usize,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub remedy: &'static str,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        if self.column > 0 {
            write!(f, ", column {}", self.column)?;
        }
        write!(f, ": {}; {}", self.what, self.remedy)
    }
}

pub(crate) const RECORD_ANEW: &str = "record it anew with `check record`";

impl Trace {
    /// [`Trace::parse`] of the bytes of a file, which must be UTF-8.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TraceError> {
        let text = std::str::from_utf8(bytes).map_err(|e| {
            let line = bytes[..e.valid_up_to()].split(|byte| *byte == b'\n').count();
            let what = "not UTF-8 text".to_owned();
            TraceError { line, column: 0, what, remedy: "name a trace written by `check record`" }
        })?;
        Self::parse(text)
    }

    /// Reads a trace. Every line must be complete; unknown fields, another format or version, a
    /// step out of order and a missing or surplus line are errors.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let fail = |line, what: String, remedy| TraceError { line, column: 0, what, remedy };
        let cut = "the file was cut: restore it, or record it anew with `check record`";
        let mut lines = text.lines().enumerate().map(|(i, l)| (i + 1, l));
        let (_, first) =
            lines.next().ok_or_else(|| fail(1, "the file is empty".into(), RECORD_ANEW))?;
        let header = parse_header(first)?;
        let (_, second) =
            lines.next().ok_or_else(|| fail(2, "the start line is missing".into(), cut))?;
        let start: Start = parse_line(2, second)?;
        let mut steps = Vec::new();
        for (number, line) in lines {
            let step: Step = parse_line(number, line)?;
            if step.step != steps.len() + 1 {
                let what = format!("step {} stands where {} belongs", step.step, steps.len() + 1);
                return Err(fail(number, what, "restore the order of the lines"));
            }
            steps.push(step);
        }
        if steps.len() != header.steps || !text.ends_with('\n') {
            let what = format!("{} steps, but the header says {}", steps.len(), header.steps);
            let ends = "the last line has no line end".to_owned();
            let what = if steps.len() == header.steps { ends } else { what };
            return Err(fail(steps.len() + 2, what, cut));
        }
        let trace = Self { header, start, steps };
        trace.check_shape()?;
        Ok(trace)
    }

    /// Whether the trace is about the brokers of its bounds and about no other.
    pub fn check_shape(&self) -> Result<(), TraceError> {
        let fail = |line, what| {
            let remedy =
                if line == 1 { "mend the header" } else { "mend the line, or record it anew" };
            Err(TraceError { line, column: 0, what, remedy })
        };
        let Bounds { brokers, min_isr, .. } = self.header.bounds;
        if brokers == 0 || min_isr == 0 {
            return fail(1, "a partition needs a broker and a min ISR of at least 1".to_owned());
        }
        if !self.start.brokers.keys().copied().eq(1..=brokers) {
            return fail(2, format!("the start does not show brokers 1 to {brokers}"));
        }
        if self.steps.is_empty() {
            return fail(2, "the trace has no steps".to_owned());
        }
        for (line, step) in (3..).zip(&self.steps) {
            let of_step = step.published_to.iter().chain(step.brokers.keys()).copied();
            let reset = matches!(step.action, Action::Reset { .. });
            let named = step.action.nodes().into_iter().flatten();
            let mut named = named.filter(|id| !reset || *id != CONTROLLER).chain(of_step);
            if let Some(id) = named.find(|id| !(1..=brokers).contains(id)) {
                return fail(line, format!("b{id} is none of {brokers} brokers"));
            }
        }
        Ok(())
    }

    /// FNV-1a of the whole text with an empty `fingerprint` in its header, as 16 hexadecimal
    /// digits.
    pub fn fingerprint(&self) -> String {
        let header = Header { fingerprint: String::new(), ..self.header.clone() };
        let mut text = line(&header);
        self.write_body(&mut text);
        format!("{:016x}", fnv1a(&text))
    }

    /// The text of the file: the same trace gives the same bytes.
    pub fn to_text(&self) -> String {
        let mut text = line(&self.header);
        self.write_body(&mut text);
        text
    }

    fn write_body(&self, text: &mut String) {
        *text += &line(&self.start);
        for step in &self.steps {
            *text += &line(step);
        }
    }
}

fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("a trace is plain data") + "\n"
}

fn parse_header(line: &str) -> Result<Header, TraceError> {
    // Version first: a newer header may well have fields that this crate does not know.
    #[derive(Deserialize)]
    struct Kind {
        format: String,
        version: u32,
    }
    if let Ok(kind) = serde_json::from_str::<Kind>(line) {
        let fail = |what, remedy| Err(TraceError { line: 1, column: 0, what, remedy });
        if kind.format != FORMAT {
            let what = format!("format `{}`, expected `{FORMAT}`", kind.format);
            return fail(what, "name a trace written by `check record`");
        }
        if kind.version != VERSION {
            let what = format!("version {}, this program reads version {VERSION}", kind.version);
            return fail(what, "use the program that wrote it, or record it anew");
        }
    }
    parse_line(1, line)
}

fn parse_line<T: for<'a> Deserialize<'a>>(number: usize, line: &str) -> Result<T, TraceError> {
    serde_json::from_str(line).map_err(|e| {
        let remedy = if e.is_eof() {
            "the line was cut: restore it, or record the trace anew"
        } else {
            "mend the line, or record the trace anew"
        };
        // serde_json appends its own place, which is always line 1 here.
        let what = e.to_string();
        let what = what.rsplit_once(" at line ").map_or(what.as_str(), |(w, _)| w).to_owned();
        TraceError { line: number, column: e.column(), what, remedy }
    })
}

/// FNV-1a with 64 bits: a hash with a fixed published output, for fingerprints that are stored.
pub fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
