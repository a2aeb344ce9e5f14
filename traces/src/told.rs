//! What views tell, and whether a trace shows what its header says.
//!
//! A recorded line and a replayed step are both views of every node, so both are judged here.

use crate::action::{Action, Node};
use crate::ghost::Ghost;
use crate::message::ClientAnswer;
use crate::progress::Progress;
use crate::property::{Property, Seen, Witness};
use crate::trace::{RECORD_ANEW, Trace, TraceError};
use crate::view::{BrokerView, ControllerView, Policy, World};

/// Every node as its view tells it, and what was promised so far.
#[derive(Clone, Debug)]
pub struct Told {
    /// Brokers 1, 2, ...
    pub brokers: Vec<BrokerView>,
    /// The controller.
    pub controller: ControllerView,
    /// How the controller elects.
    pub policy: Policy,
    /// Promises.
    pub ghost: Ghost,
}

impl Told {
    /// Takes over into the ghost what a step from `before` to here shows.
    pub fn remember(&mut self, action: Action, before: &Self, answers: &[ClientAnswer]) {
        if let Some(ghost) = self.ghost.after(before, self, action, answers) {
            self.ghost = ghost;
        }
    }
}

impl World for Told {
    fn brokers(&self) -> Node {
        self.brokers.len() as Node
    }

    fn broker(&self, id: Node) -> &BrokerView {
        &self.brokers[usize::from(id) - 1]
    }

    fn controller(&self) -> &ControllerView {
        &self.controller
    }

    fn policy(&self) -> Policy {
        self.policy
    }

    fn ghost(&self) -> &Ghost {
        &self.ghost
    }
}

/// Whether the header of this trace is true of its lines, as far as they can tell it: the
/// fingerprint, and that the property or witness fares as the verdict says.
///
/// The start shows every broker of the bounds, and no step names another.
pub fn check_header(trace: &Trace) -> Result<(), TraceError> {
    let fail = |what| Err(TraceError { line: 1, column: 0, what, remedy: RECORD_ANEW });
    let header = &trace.header;
    let fingerprint = trace.fingerprint();
    if header.fingerprint != fingerprint {
        return fail(format!(
            "the fingerprint of this text is {fingerprint}, so it was changed after it was recorded"
        ));
    }
    let id = header.property.as_str();
    let verdict = match (Property::by_id(id), Witness::by_id(id)) {
        (Some(property), _) if violated(trace, property) => "violated",
        (Some(_), _) => "holds",
        (None, Some(witness)) if witnessed(trace, witness) => "witnessed",
        (None, Some(_)) => "not shown",
        // What can follow is not in the lines: only broken rules take it away.
        // What can follow is not in the lines.
        (None, None) if Progress::by_id(id).is_some() && header.faults.is_empty() => "holds",
        (None, None) if Progress::by_id(id).is_some() => "violated",
        (None, None) => return fail(format!("no property or witness is called `{id}`")),
    };
    if header.verdict == verdict {
        return Ok(());
    }
    fail(format!("the header says `{id}` {}, and by the steps it is {verdict}", header.verdict))
}

fn violated(trace: &Trace, property: Property) -> bool {
    any_step(trace, |seen| property.judge(seen.after).is_some())
}

fn witnessed(trace: &Trace, witness: Witness) -> bool {
    any_step(trace, |seen| witness.seen(seen))
}

/// Whether some step is such a one. Told step by step from the lines alone.
fn any_step(trace: &Trace, such: impl Fn(&Seen<'_, Told>) -> bool) -> bool {
    let mut before = Told {
        brokers: trace.start.brokers.values().cloned().collect(),
        controller: trace.start.controller.clone(),
        policy: trace.header.bounds.policy(),
        ghost: Ghost::default(),
    };
    trace.steps.iter().any(|step| {
        let mut after = before.clone();
        for (&id, view) in &step.brokers {
            after.brokers[usize::from(id) - 1] = view.clone();
        }
        if let Some(controller) = &step.controller {
            after.controller = controller.clone();
        }
        after.remember(step.action, &before, &step.answers);
        let (action, sent, answers) = (&step.action, step.sent.iter(), &step.answers);
        let sent = &sent.collect::<Vec<_>>();
        let found = such(&Seen { before: &before, action, after: &after, sent, answers });
        before = after;
        found
    })
}
