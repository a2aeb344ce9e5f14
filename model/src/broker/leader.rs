//! The leader's side: its reign, produces, serving fetches (sections 4 to 6, 10 and 11).

use klog_trace::action::{Acks, Node};
use klog_trace::trace::Clock;
use klog_trace::view::{Heard, Progress, Role, Waiting};
use klog_trace::{BrokerView, ClientAnswer, Image, Message, Record};

use super::isr::{maybe_expand, try_hw};
use super::{append, leo};
use crate::node::{Event, NodeActor, Sends, id};
use crate::rules::{
    Admission, Checked, LeaderLog, NOT_LEADER_OR_FOLLOWER, OFFSET_OUT_OF_RANGE, REQUEST_TIMED_OUT,
    Trigger,
};

/// A fetch request.
#[derive(Clone, Copy, Debug)]
pub struct Fetch {
    /// The leader epoch the follower knows.
    pub epoch: u8,
    /// Its log end.
    pub offset: u8,
    /// The newest epoch in its log.
    pub last_epoch: Option<u8>,
    /// The life that asks.
    pub broker_epoch: u8,
}

/// L3 to L5: a newer epoch starts at the log end and gets its cache entry even with no record.
pub fn take_over(actor: &NodeActor, me: Node, broker: &mut BrokerView, image: &Image) {
    let (rules, start) = (&actor.rules, leo(broker));
    let unknown = |broker| Progress { broker, leo: None, broker_epoch: None, heard: None };
    let known = |n: Node| match &broker.role {
        Role::Leader { followers, .. } => followers.iter().find(|f| f.broker == n).copied(),
        _ => None,
    };
    let kept =
        |known: Progress| (rules.progress_at_start)(known, image.isr.contains(&known.broker));
    let others = (1..=image.brokers.len() as Node).filter(|b| *b != me);
    // A member of the ISR gets the whole lag limit to show itself.
    let heard = |n| Heard { caught_up: image.isr.contains(&n), previous: None };
    let heard = |n| (actor.clock == Clock::Exact).then(|| heard(n));
    let begins = |n| Progress { heard: heard(n), ..known(n).map_or(unknown(n), kept) };
    let followers = others.map(begins).collect();
    let epochs = std::mem::take(&mut broker.epochs);
    broker.epochs = (rules.begin_epoch)(epochs, image.leader_epoch, start);
    broker.hw = (rules.hw_at_start)(broker.hw, start);
    broker.diverged = None;
    broker.role = Role::Leader {
        epoch: image.leader_epoch,
        epoch_start: start,
        isr: image.isr.clone(),
        pending: None,
        followers,
        min_isr: image.min_isr,
        known: Vec::new(),
    };
}

/// L2, L4: a registration of the same epoch settles the ISR and whatever was proposed.
pub fn learn_isr(broker: &mut BrokerView, image: &Image) {
    if let Role::Leader { isr, pending, .. } = &mut broker.role {
        isr.clone_from(&image.isr);
        *pending = None;
    }
}

/// The states of the other brokers and the configured minimum, as the metadata says.
pub fn learn_brokers(broker: &mut BrokerView, image: &Image) {
    if let Role::Leader { known, min_isr, .. } = &mut broker.role {
        known.clone_from(&image.brokers);
        *min_isr = image.min_isr;
    }
}

/// V1: the epoch in which produces wait is over.
pub fn resign(actor: &NodeActor, broker: &mut BrokerView, out: &mut Sends) {
    let ends = |w: &Waiting| (actor.rules.ends_with_reign)(*w);
    answer_those(actor, broker, ends, NOT_LEADER_OR_FOLLOWER, out);
}

/// A2 to A7.
pub fn produce(
    actor: &NodeActor,
    me: Node,
    broker: &mut BrokerView,
    acks: Acks,
    value: u8,
    out: &mut Sends,
) {
    let offset = leo(broker);
    let client = id(actor.brokers + 1);
    let answer = |error, offset| Event::Answer(ClientAnswer { value, error, offset });
    let min_isr = broker.known_min_isr(actor.brokers);
    let (Role::Leader { epoch, isr, .. }, Some(min_isr)) = (&broker.role, min_isr) else {
        out.send(client, answer(NOT_LEADER_OR_FOLLOWER, None));
        return;
    };
    let admission = match acks {
        Acks::All => (actor.rules.admits)(isr.len(), min_isr),
        Acks::None | Acks::Leader => Admission::Append,
    };
    if let Admission::Refuse(error) = admission {
        out.send(client, answer(error, None));
        return;
    }
    let epoch = *epoch;
    append(broker, &[Record { epoch, value }]);
    match (admission, acks) {
        (Admission::AppendAndRefuse(error), _) => out.send(client, answer(error, Some(offset))),
        (_, Acks::None) => {}
        (_, acks) if (actor.rules.waits)(acks) => {
            broker.waiting.push(Waiting { offset, value, epoch });
        }
        _ => out.send(client, answer(0, Some(offset))),
    }
    try_hw(actor, me, broker, Trigger::Append);
}

/// V1 to V3: every waiting produce that is decided is answered.
pub fn verdict(actor: &NodeActor, broker: &mut BrokerView, out: &mut Sends) {
    let min_isr = broker.known_min_isr(actor.brokers);
    let error = match (&broker.role, min_isr) {
        (Role::Leader { isr, pending, .. }, Some(min_isr)) => {
            let maximal = (actor.rules.maximal_isr)(isr, pending.as_ref()).len();
            (actor.rules.verdict)(maximal, min_isr)
        }
        _ => 0,
    };
    let (leads, hw) = (broker.leads(), broker.hw);
    let decided = |w: &Waiting| (actor.rules.decides)(*w, leads, hw);
    answer_those(actor, broker, decided, error, out);
}

/// V4: what is undecided has waited long enough.
pub fn time_out(actor: &NodeActor, broker: &mut BrokerView, out: &mut Sends) {
    let (leads, hw) = (broker.leads(), broker.hw);
    let undecided = |w: &Waiting| !(actor.rules.decides)(*w, leads, hw);
    answer_those(actor, broker, undecided, REQUEST_TIMED_OUT, out);
}

/// Answers these of the waiting produces, oldest first.
fn answer_those(
    actor: &NodeActor,
    broker: &mut BrokerView,
    those: impl Fn(&Waiting) -> bool,
    error: i16,
    out: &mut Sends,
) {
    broker.waiting.retain(|waiting| {
        let answered = those(waiting);
        if answered {
            let Waiting { value, offset, .. } = *waiting;
            let answer = ClientAnswer { value, error, offset: Some(offset) };
            out.send(id(actor.brokers + 1), Event::Answer(answer));
        }
        !answered
    });
}

/// F1 to F7: the answer to a follower's fetch, and the progress it makes.
pub fn fetch(
    actor: &NodeActor,
    me: Node,
    broker: &mut BrokerView,
    src: Node,
    fetch: Fetch,
    out: &mut Sends,
) -> Message {
    let checked = check_fetch(actor, broker, src, fetch);
    if (actor.rules.counts_as_progress)(checked) {
        // klog: progress first, so that the answer tells of what this very fetch committed.
        progress(actor, me, broker, src, fetch, out);
    }
    let good = checked == Checked::Good;
    let (error, diverging) = match checked {
        Checked::Good => (0, None),
        Checked::Diverging(end) => (0, Some(end)),
        Checked::OutOfRange => (OFFSET_OUT_OF_RANGE, None),
        Checked::Refused(error) => (error, None),
    };
    Message::FetchAnswer {
        of_epoch: fetch.epoch,
        of_offset: fetch.offset,
        error,
        hw: if error == 0 { broker.hw } else { 0 },
        records: if good { broker.log[usize::from(fetch.offset)..].to_vec() } else { Vec::new() },
        diverging,
    }
}

/// The checks in their order: F1, F2, F5, F7, U1.
fn check_fetch(actor: &NodeActor, broker: &BrokerView, src: Node, fetch: Fetch) -> Checked {
    let rules = &actor.rules;
    if let Some(error) = (rules.fence)(fetch.epoch, broker.role.epoch()) {
        return Checked::Refused(error);
    }
    let Role::Leader { known, .. } = &broker.role else {
        return Checked::Refused(NOT_LEADER_OR_FOLLOWER);
    };
    if let Some(last_epoch) = fetch.last_epoch {
        let (cache, epoch_end) = (&broker.epochs[..], rules.epoch_end);
        let log = LeaderLog { cache, leo: leo(broker), epoch_end };
        match (rules.diverging)(log, fetch.offset, last_epoch) {
            Ok(None) => {}
            Ok(Some(end)) => return Checked::Diverging(end),
            Err(OFFSET_OUT_OF_RANGE) => return Checked::OutOfRange,
            Err(error) => return Checked::Refused(error),
        }
    }
    if fetch.offset > leo(broker) {
        return Checked::OutOfRange;
    }
    let known = known[usize::from(src) - 1].epoch;
    if (rules.from_older_life)(fetch.broker_epoch, known) {
        return Checked::Refused(NOT_LEADER_OR_FOLLOWER);
    }
    Checked::Good
}

/// U2 to U4: the fetch offset is the follower's log end.
fn progress(
    actor: &NodeActor,
    me: Node,
    broker: &mut BrokerView,
    src: Node,
    fetch: Fetch,
    out: &mut Sends,
) {
    let leader_leo = leo(broker);
    let Role::Leader { followers, .. } = &mut broker.role else {
        return;
    };
    let follower = followers.iter_mut().find(|f| f.broker == src).expect("every replica has one");
    let changes = follower.leo != Some(fetch.offset);
    let before = follower.leo;
    follower.leo = Some(fetch.offset);
    follower.broker_epoch = Some(fetch.broker_epoch);
    if let Some(heard) = &mut follower.heard {
        heard.caught_up |= (actor.rules.shows_caught_up)(fetch.offset, leader_leo, heard.previous);
        heard.previous = Some(leader_leo);
    }
    let seen = Progress { leo: (actor.rules.joins_at)(before, follower.leo), ..*follower };
    maybe_expand(actor, me, broker, seen, out);
    if changes {
        try_hw(actor, me, broker, Trigger::Progress);
    }
}
