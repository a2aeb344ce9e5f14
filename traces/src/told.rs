//! What views tell, and whether a trace shows what its header says.
//!
//! A recorded line and a replayed step are both views of every node, so both are judged here.

use crate::action::{Action, Node};
use crate::ghost::Ghost;
use crate::property::{Property, Seen, Witness};
use crate::trace::{Committed, RECORD_ANEW, Trace, TraceError};
use crate::view::{BrokerView, ControllerView, EpochStart, Life, Record, World};

/// Every node as its view tells it, and what was promised so far.
#[derive(Clone, Debug)]
pub struct Told {
    /// Brokers 1, 2, ...
    pub brokers: Vec<BrokerView>,
    /// The controller.
    pub controller: ControllerView,
    /// Effective minimum size of the ISR.
    pub min_isr: u8,
    /// Promises.
    pub ghost: Ghost,
}

impl Told {
    /// Takes over into the ghost what a step shows. `before` are the brokers before the step,
    /// `promised` is what acks=all produces that succeeded in it were promised.
    pub fn remember(
        &mut self,
        action: Action,
        before: &mut Vec<BrokerView>,
        promised: impl IntoIterator<Item = Committed>,
    ) {
        let mut ghost = std::mem::take(&mut self.ghost);
        if let Action::PowerLoss { broker, keep } = action {
            std::mem::swap(&mut self.brokers, before);
            ghost.power_lost(self, broker, keep);
            std::mem::swap(&mut self.brokers, before);
        }
        for (offset, value) in promised {
            ghost.acknowledged(offset, value);
        }
        for (id, old) in (1..).zip(before.iter()) {
            if old != self.broker(id) {
                ghost.observe(self, id, old.leads(), old.hw);
            }
        }
        self.ghost = ghost;
    }

    fn broker(&self, id: Node) -> &BrokerView {
        &self.brokers[usize::from(id) - 1]
    }
}

impl World for Told {
    fn brokers(&self) -> Node {
        self.brokers.len() as Node
    }

    fn is_up(&self, broker: Node) -> bool {
        self.broker(broker).life == Life::Up
    }

    fn log(&self, broker: Node) -> &[Record] {
        &self.broker(broker).log
    }

    fn epochs(&self, broker: Node) -> &[EpochStart] {
        &self.broker(broker).epochs
    }

    fn hw(&self, broker: Node) -> u8 {
        self.broker(broker).hw
    }

    fn leads(&self, broker: Node) -> Option<u8> {
        self.broker(broker).leads()
    }

    fn leader_epoch(&self) -> u8 {
        self.controller.image.leader_epoch
    }

    fn isr(&self) -> &[Node] {
        &self.controller.image.isr
    }

    fn min_isr(&self) -> u8 {
        self.min_isr
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
        min_isr: trace.header.bounds.effective_min_isr(),
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
        let acknowledged = step.answers.iter().filter_map(|answer| {
            let verdict = matches!(step.action, Action::Verdict { .. }) && answer.error == 0;
            answer.offset.filter(|_| verdict).map(|offset| (offset, answer.value))
        });
        after.remember(step.action, &mut before.brokers.clone(), acknowledged);
        let (action, sent, answers) = (&step.action, step.sent.iter(), &step.answers);
        let sent = &sent.collect::<Vec<_>>();
        let found = such(&Seen { before: &before, action, after: &after, sent, answers });
        before = after;
        found
    })
}
