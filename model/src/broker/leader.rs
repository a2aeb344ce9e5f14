//! The leader's side: produce, serving fetches, ISR, high watermark (sections 4 to 11).

use klog_trace::action::{Acks, Node};
use klog_trace::view::{Pending, Progress, Role, Waiting};
use klog_trace::{BrokerView, ClientAnswer, EpochStart, Image, Message, Record};

use super::{NOT_LEADER_OR_FOLLOWER, append, assign, epoch_of, leo};
use crate::node::{Event, NodeActor, Sends, id};
use crate::rules::{Join, LeaderLog, OFFSET_OUT_OF_RANGE};

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

/// L3 and klog's departure (X1): a newer epoch starts at the log end, gets its cache entry even
/// with no record, and knows nothing of any follower.
pub fn take_over(me: Node, broker: &mut BrokerView, image: &Image) {
    let start = leo(broker);
    assign(&mut broker.epochs, image.leader_epoch, start);
    let others = (1..=image.brokers.len() as Node).filter(|b| *b != me);
    broker.role = Role::Leader {
        epoch: image.leader_epoch,
        epoch_start: start,
        isr: image.isr.clone(),
        pending: None,
        followers: others
            .map(|broker| Progress { broker, leo: None, broker_epoch: None })
            .collect(),
        waiting: Vec::new(),
        known: Vec::new(),
    };
}

/// L2, L4 and klog's departure (X2): a newer registration of the same epoch settles the ISR and
/// whatever was proposed; one already learnt from an answer settles nothing.
pub fn learn_isr(broker: &mut BrokerView, image: &Image) {
    if let Role::Leader { isr, pending, .. } = &mut broker.role {
        isr.clone_from(&image.isr);
        *pending = None;
    }
}

/// The states of the other brokers, as the metadata says.
pub fn learn_brokers(broker: &mut BrokerView, image: &Image) {
    if let Role::Leader { known, .. } = &mut broker.role {
        known.clone_from(&image.brokers);
    }
}

/// V1 and KAFKA-20634: waiting produces belong to one epoch and end with it.
pub fn resign(actor: &NodeActor, broker: &mut BrokerView, out: &mut Sends) {
    if let Role::Leader { waiting, .. } = &mut broker.role {
        for w in waiting.drain(..) {
            answer_client(actor, w, NOT_LEADER_OR_FOLLOWER, out);
        }
    }
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
    let Role::Leader { epoch, isr, waiting, .. } = &mut broker.role else {
        out.send(client, answer(NOT_LEADER_OR_FOLLOWER, None));
        return;
    };
    if acks == Acks::All {
        if let Some(error) = (actor.rules.refuse_produce)(isr.len(), actor.min_isr) {
            out.send(client, answer(error, None));
            return;
        }
        waiting.push(Waiting { offset, value });
    }
    let record = Record { epoch: *epoch, value };
    append(broker, &[record]);
    if acks == Acks::Leader {
        out.send(client, answer(0, Some(offset)));
    }
    try_hw(actor, me, broker);
}

/// V1 to V3: every waiting produce below the high watermark is answered.
pub fn verdict(actor: &NodeActor, broker: &mut BrokerView, out: &mut Sends) {
    let hw = broker.hw;
    let Role::Leader { isr, pending, waiting, .. } = &mut broker.role else {
        return;
    };
    let maximal = (actor.rules.maximal_isr)(isr, pending.as_ref()).len();
    let error = (actor.rules.verdict)(maximal, actor.min_isr);
    let decided = waiting.partition_point(|w| w.offset < hw);
    for w in waiting.drain(..decided) {
        answer_client(actor, w, error, out);
    }
}

fn answer_client(actor: &NodeActor, waiting: Waiting, error: i16, out: &mut Sends) {
    let Waiting { value, offset } = waiting;
    let answer = ClientAnswer { value, error, offset: Some(offset) };
    out.send(id(actor.brokers + 1), Event::Answer(answer));
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
    let refused = check_fetch(actor, broker, src, fetch);
    let (error, diverging) = match refused {
        Err(error) => (error, None),
        Ok(diverging) => (0, diverging),
    };
    let good = refused == Ok(None);
    if good {
        // klog: progress first, so that the answer tells of what this very fetch committed.
        progress(actor, me, broker, src, fetch, out);
    }
    Message::FetchAnswer {
        of_epoch: fetch.epoch,
        of_offset: fetch.offset,
        error,
        hw: if error == 0 { broker.hw } else { 0 },
        records: if good { broker.log[usize::from(fetch.offset)..].to_vec() } else { Vec::new() },
        diverging,
    }
}

/// The checks in their order: F1, F2, F5, F7, U1. `Ok(Some(..))` is a diverging log.
fn check_fetch(
    actor: &NodeActor,
    broker: &BrokerView,
    src: Node,
    fetch: Fetch,
) -> Result<Option<EpochStart>, i16> {
    if let Some(error) = (actor.rules.fence)(fetch.epoch, epoch_of(&broker.role)) {
        return Err(error);
    }
    let Role::Leader { known, .. } = &broker.role else {
        return Err(NOT_LEADER_OR_FOLLOWER);
    };
    if let Some(last_epoch) = fetch.last_epoch {
        let (cache, epoch_end) = (&broker.epochs[..], actor.rules.epoch_end);
        let log = LeaderLog { cache, leo: leo(broker), epoch_end };
        let diverging = (actor.rules.diverging)(log, fetch.offset, last_epoch)?;
        if diverging.is_some() {
            return Ok(diverging);
        }
    }
    if fetch.offset > leo(broker) {
        return Err(OFFSET_OUT_OF_RANGE);
    }
    if known[usize::from(src) - 1].epoch > fetch.broker_epoch {
        return Err(NOT_LEADER_OR_FOLLOWER);
    }
    Ok(None)
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
    let Role::Leader { followers, .. } = &mut broker.role else {
        return;
    };
    let follower = followers.iter_mut().find(|f| f.broker == src).expect("every replica has one");
    follower.leo = Some(fetch.offset);
    follower.broker_epoch = Some(fetch.broker_epoch);
    let follower = *follower;
    maybe_expand(actor, me, broker, follower, out);
    try_hw(actor, me, broker);
}

/// E1, E2: from now on the follower counts in the maximal ISR.
fn maybe_expand(
    actor: &NodeActor,
    me: Node,
    broker: &mut BrokerView,
    follower: Progress,
    out: &mut Sends,
) {
    let hw = broker.hw;
    let under_way = broker.proposed_at.is_some();
    let Role::Leader { epoch_start, isr, pending, known, .. } = &mut broker.role else {
        return;
    };
    if under_way || pending.is_some() || isr.contains(&follower.broker) {
        return;
    }
    let known = known[usize::from(follower.broker) - 1];
    if (actor.rules.joins)(Join { follower: &follower, known, hw, epoch_start: *epoch_start }) {
        *pending = Some(Pending::Expand(follower.broker));
        propose(me, broker, out);
    }
}

/// In-sync followers that are not at the leader's log end: out of sync once more than the lag
/// limit has passed since anything was heard (C1, S1).
pub fn laggards(broker: &BrokerView) -> Vec<Node> {
    let Role::Leader { isr, followers, .. } = &broker.role else {
        return Vec::new();
    };
    let lags = |f: &&Progress| isr.contains(&f.broker) && f.leo != Some(leo(broker));
    followers.iter().filter(lags).map(|f| f.broker).collect()
}

/// S1, S2: the laggards are proposed out and count until the controller says so.
pub fn lag_check(me: Node, broker: &mut BrokerView, out: &mut Sends) {
    let out_of_sync = laggards(broker);
    let under_way = broker.proposed_at.is_some();
    let Role::Leader { pending, .. } = &mut broker.role else {
        return;
    };
    if !under_way && pending.is_none() && !out_of_sync.is_empty() {
        *pending = Some(Pending::Shrink(out_of_sync));
        propose(me, broker, out);
    }
}

/// P1: the proposal with the broker epochs of the step that makes it. It holds the one slot until
/// it is answered, whatever becomes of the leadership meanwhile (S3).
fn propose(me: Node, broker: &mut BrokerView, out: &mut Sends) {
    let Role::Leader { epoch, isr, pending, followers, .. } = &broker.role else {
        return;
    };
    let mut target = isr.clone();
    match pending {
        Some(Pending::Expand(new)) => target.push(*new),
        Some(Pending::Shrink(gone)) => target.retain(|b| !gone.contains(b)),
        None => return,
    }
    target.sort_unstable();
    let epoch_of_member = |b: Node| {
        if b == me {
            return Some(broker.broker_epoch);
        }
        followers.iter().find(|f| f.broker == b).and_then(|f| f.broker_epoch)
    };
    let proposal = Message::AlterPartition {
        broker_epoch: broker.broker_epoch,
        leader_epoch: *epoch,
        partition_epoch: broker.partition_epoch,
        isr: target.into_iter().map(|b| (b, epoch_of_member(b))).collect(),
    };
    broker.proposed_at = Some((*epoch, broker.partition_epoch));
    out.send(id(0), Event::Peer(proposal.into()));
}

/// R0 to R3. `of` is the (leader epoch, partition epoch) the proposal was made at.
pub fn alter_partition_answer(
    actor: &NodeActor,
    me: Node,
    broker: &mut BrokerView,
    of: (u8, u8),
    error: i16,
    new_partition_epoch: u8,
    new_isr: &[Node],
) {
    if broker.proposed_at == Some(of) {
        broker.proposed_at = None;
    }
    let Role::Leader { epoch, isr, pending, .. } = &mut broker.role else {
        return;
    };
    if pending.is_none() || of != (*epoch, broker.partition_epoch) {
        return;
    }
    match error {
        0 => {
            *isr = new_isr.to_vec();
            *pending = None;
            broker.partition_epoch = new_partition_epoch;
        }
        // R2: proven not applied.
        55 | 107 => *pending = None,
        // R3: unknown; the metadata will tell.
        _ => return,
    }
    try_hw(actor, me, broker);
}

/// H1 to H4. The second disjunct of H2 (a caught-up replica that is about to join) never lowers
/// the minimum here: with the slow clock of this model only a replica at the log end is caught up.
pub fn try_hw(actor: &NodeActor, me: Node, broker: &mut BrokerView) {
    let end = leo(broker);
    let Role::Leader { isr, pending, followers, .. } = &broker.role else {
        return;
    };
    if !(actor.rules.hw_may_move)(isr.len(), actor.min_isr) {
        return;
    }
    let mut candidate = end;
    for member in (actor.rules.maximal_isr)(isr, pending.as_ref()) {
        if member == me {
            continue;
        }
        match followers.iter().find(|f| f.broker == member).and_then(|f| f.leo) {
            Some(leo) => candidate = candidate.min(leo),
            None => return,
        }
    }
    broker.hw = broker.hw.max(candidate);
}
