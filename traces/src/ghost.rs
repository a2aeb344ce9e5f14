//! What was promised to clients so far: the memory that properties judge by.
//!
//! No node can see it. It is advanced by what a step makes visible, in the same way in a model
//! and in a replay.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::{Acks, Action, Node};
use crate::bounds::{Elr, Unclean};
use crate::message::{ClientAnswer, Image};
use crate::view::{BrokerView, Life, Policy, World};

/// Promises, and the promises that were seen broken within a step.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a promise of its own")]
pub struct Ghost {
    /// By offset: the value that was acknowledged with acks=all or readable below the high
    /// watermark of a broker that believed it led. The first value counts.
    pub committed: Vec<Option<u8>>,
    /// By offset: the minimum ISR as the leader knew it when the value there was committed; 0 if
    /// none was.
    pub floors: Vec<u8>,
    /// By offset: the first value that any live broker showed below its high watermark (N3).
    pub read: Vec<Option<u8>>,
    /// By offset: the brokers that lost the committed record there to a power loss, one bit each.
    pub lost: Vec<u8>,
    /// By value, 1 first: the brokers that held it at any time while an acks=all produce waits for
    /// it, one bit each.
    pub held: Vec<u8>,
    /// A leader was elected that may lack committed records, since nobody else was left.
    pub unclean: bool,
    /// An offset showed two different values to readers.
    pub read_differs: bool,
    /// A leader's high watermark went back within one reign.
    pub leader_hw_fell: bool,
    /// A produce was acknowledged that fewer brokers than the minimum ISR had ever held, or another
    /// record than the producer's stood there.
    pub dishonest: bool,
    /// A produce was refused, and its record was written all the same.
    pub refused_written: bool,
    /// Two brokers were leaders of one epoch.
    pub epoch_shared: bool,
}

impl Ghost {
    /// Whether more went wrong than the protocol promises to survive: a leader was elected
    /// uncleanly, or as many brokers as the minimum ISR have lost one and the same committed
    /// record since it was committed. From then on the properties about committed records claim
    /// nothing.
    pub fn outside_claim(&self) -> bool {
        let gone = |(lost, floor): (&u8, &u8)| lost.count_ones() >= u32::from((*floor).max(1));
        self.unclean || self.lost.iter().zip(&self.floors).any(gone)
    }

    /// What is remembered after a step, if that is more than before.
    pub fn after<W: World>(
        &self,
        before: &W,
        after: &W,
        action: Action,
        answers: &[ClientAnswer],
    ) -> Option<Self> {
        let brokers = 1..=after.brokers();
        let differs = |n: &Node| {
            let (old, new) = (before.broker(*n), after.broker(*n));
            !std::ptr::eq(old, new) && old != new
        };
        let changed: u8 = brokers.clone().filter(differs).map(|n| 1 << (n - 1)).sum();
        let (old, new) = (&before.controller().image, &after.controller().image);
        let elects = !std::ptr::eq(old, new) && old.leader_epoch != new.leader_epoch;
        let shares = !std::ptr::eq(old, new) && shares_epoch(old, new);
        let tells = !answers.is_empty() && answers_promise(action, answers);
        let changed = |n: &Node| changed & 1 << (n - 1) != 0;
        let concerns = |n: Node| changed(&n) && matters(before.broker(n), after.broker(n));
        if !elects && !shares && !tells && !brokers.clone().any(concerns) {
            return None;
        }
        let mut ghost = self.clone();
        if let Action::PowerLoss { broker, keep } = action {
            ghost.power_lost(before.broker(broker), broker, keep);
        }
        ghost.epoch_shared |= shares;
        ghost.unclean |= elects && is_unclean(old, new, forgotten(before, action), after.policy());
        ghost.told(before, after, action, answers);
        for n in brokers.filter(changed) {
            ghost.observe(after, n, before.broker(n));
        }
        ghost.hold(after);
        (ghost != *self).then_some(ghost)
    }

    /// What clients were told in a step.
    fn told<W: World>(&mut self, before: &W, after: &W, action: Action, answers: &[ClientAnswer]) {
        let (Action::Verdict { broker: acker }
        | Action::Produce { broker: acker, acks: Acks::All }) = action
        else {
            return;
        };
        for answer in answers {
            match (answer.error, answer.offset) {
                (0, Some(offset)) => {
                    // A leader that appends and answers at once has the record only afterwards.
                    let views = [before.broker(acker), after.broker(acker)];
                    self.acknowledged(after.brokers(), views, offset, answer.value);
                }
                (19 | 21, _) => {
                    let written = |n: Node| holds(after.broker(n), answer.value);
                    self.refused_written |= (1..=after.brokers()).any(written);
                }
                _ => {}
            }
        }
    }

    /// An acks=all produce succeeded: `value` stands at `offset` for good.
    fn acknowledged(&mut self, brokers: Node, acker: [&BrokerView; 2], offset: u8, value: u8) {
        let known = acker.iter().find_map(|view| view.known_min_isr(brokers)).unwrap_or(1);
        self.promise(offset, value, known);
        let held = self.held.get(usize::from(value) - 1).copied().unwrap_or(0);
        let own = |view: &&BrokerView| {
            view.log.get(usize::from(offset)).is_some_and(|record| record.value == value)
        };
        let everywhere = held.count_ones() >= u32::from(known);
        self.dishonest |= !everywhere || !acker.iter().any(own);
    }

    /// The broker loses the records from `keep` on to a power loss.
    fn power_lost(&mut self, view: &BrokerView, broker: Node, keep: u8) {
        for (offset, record) in view.log.iter().enumerate().skip(keep.into()) {
            if self.committed.get(offset).copied().flatten() == Some(record.value) {
                let offsets = self.lost.len().max(offset + 1);
                self.lost.resize(offsets, 0);
                self.lost[offset] |= 1 << (broker - 1);
            }
        }
    }

    /// A step changed `broker`: what it shows now is remembered, and judged against what it or
    /// others showed before. `old` is its state before the step.
    fn observe<W: World>(&mut self, world: &W, broker: Node, old: &BrokerView) {
        if !world.is_up(broker) {
            return;
        }
        let view = world.broker(broker);
        let leads = view.leads();
        let claimed = !self.outside_claim();
        if leads.is_some() && leads == old.leads() && view.hw < old.hw {
            self.leader_hw_fell = true;
        }
        let upto = |offset: u8| view.log.iter().take(offset.into()).enumerate();
        for (offset, record) in upto(world.readable(broker)) {
            let first = promise(&mut self.read, offset as u8, record.value);
            if claimed && first != record.value {
                self.read_differs = true;
            }
        }
        if let Some(known) = view.known_min_isr(world.brokers()) {
            for (offset, record) in upto(view.hw) {
                self.promise(offset as u8, record.value, known);
            }
        }
    }

    fn promise(&mut self, offset: u8, value: u8, min_isr: u8) {
        let at = usize::from(offset);
        if self.committed.get(at).copied().flatten().is_none() {
            promise(&mut self.committed, offset, value);
            self.floors.resize(self.committed.len(), 0);
            self.floors[at] = min_isr;
        }
    }

    /// Who holds the values that an acks=all produce waits for. Forgotten once nobody waits.
    fn hold<W: World>(&mut self, world: &W) {
        let brokers = || (1..=world.brokers()).map(|n| (n, world.broker(n)));
        let waiting = brokers().flat_map(|(_, view)| view.waiting.iter().map(|w| w.value));
        let waiting: u32 = waiting.fold(0, |values, value| values | 1 << value);
        let mut held = Vec::new();
        for value in (1..32).take_while(|value| waiting >> value != 0) {
            let mut by = 0;
            if waiting & 1 << value != 0 {
                by = self.held.get(usize::from(value) - 1).copied().unwrap_or(0);
                let now = brokers().filter(|(_, view)| holds(view, value));
                by |= now.map(|(n, _)| 1u8 << (n - 1)).sum::<u8>();
            }
            held.push(by);
        }
        self.held = held;
    }
}

fn holds(view: &BrokerView, value: u8) -> bool {
    view.log.iter().any(|record| record.value == value)
}

/// Whether what clients were told is any promise, or a refusal to be held against its broker.
fn answers_promise(action: Action, answers: &[ClientAnswer]) -> bool {
    let asks = matches!(action, Action::Verdict { .. } | Action::Produce { acks: Acks::All, .. });
    asks && answers.iter().any(|answer| matches!(answer.error, 0 | 19 | 21))
}

/// Whether a step may have shown something of this broker that was not seen before.
fn matters(old: &BrokerView, new: &BrokerView) -> bool {
    old.hw != new.hw
        || old.leads() != new.leads()
        || old.log != new.log
        || old.waiting != new.waiting
}

/// Whether another leader takes over the epoch of a leader.
fn shares_epoch(old: &Image, new: &Image) -> bool {
    let changes = old.leader != new.leader && old.leader_epoch == new.leader_epoch;
    changes && old.leader.or(old.last_leader).is_some_and(|l| new.leader.is_some_and(|n| n != l))
}

/// The broker that registers in this step and may have lost its log's end: it is no member any more
/// (B2).
fn forgotten<W: World>(before: &W, action: Action) -> Option<Node> {
    let Action::Restart { broker } = action else { return None };
    let BrokerView { life, broker_epoch, .. } = *before.broker(broker);
    let registered = before.controller().image.registered(broker).epoch;
    (life != Life::Stopped || broker_epoch != registered).then_some(broker)
}

/// Whether an election took one that may lack committed records, and was allowed to: nobody who
/// is still in ISR or ELR could lead (O2, O6).
fn is_unclean(old: &Image, new: &Image, gone: Option<Node>, policy: Policy) -> bool {
    let members = || old.isr.iter().chain(&old.elr).filter(|member| Some(**member) != gone);
    let Some(leader) = new.leader.filter(|leader| !members().any(|member| member == leader)) else {
        return false;
    };
    let may = |n: &Node| new.is_active(*n);
    if members().any(may) {
        return false;
    }
    let last = policy.elr == Elr::On && old.last_leader == Some(leader);
    policy.unclean == Unclean::Allowed || last && members().next().is_none()
}

/// Remembers `value` at `offset` unless something is there; returns what is there.
fn promise(promised: &mut Vec<Option<u8>>, offset: u8, value: u8) -> u8 {
    let at = usize::from(offset);
    if promised.len() <= at {
        promised.resize(at + 1, None);
    }
    *promised[at].get_or_insert(value)
}
