//! The controller of one partition: registrations, elections, ISR changes (sections 18, 19).

use std::sync::Arc;

use klog_trace::action::Node;
use klog_trace::message::Member;
use klog_trace::view::{BrokerState, Session};
use klog_trace::{ControllerView, Image, Message};

use crate::node::{Event, NodeActor, Sends, id};
use crate::rules::{IsrChange, LogFate};

const INVALID_REQUEST: i16 = 42;
const FENCED_LEADER_EPOCH: i16 = 74;
const STALE_BROKER_EPOCH: i16 = 77;
const INVALID_UPDATE_VERSION: i16 = 95;
const INELIGIBLE_REPLICA: i16 = 107;

/// Every broker is registered, active and in sync; broker 1 leads in epoch 0.
pub fn initial(actor: &NodeActor) -> ControllerView {
    let all = 1..=actor.brokers;
    ControllerView {
        image: Image {
            leader: Some(1),
            leader_epoch: 0,
            partition_epoch: 0,
            isr: all.clone().collect(),
            elr: Vec::new(),
            brokers: all.map(|epoch| BrokerState { epoch, state: Session::Active }).collect(),
        },
        last_broker_epoch: actor.brokers,
    }
}

/// One reaction. Whatever changed is published as one metadata record.
pub fn on_event(
    actor: &NodeActor,
    k: &mut ControllerView,
    src: Node,
    event: Event,
    out: &mut Sends,
) {
    match event {
        Event::Peer(message) => {
            let Message::AlterPartition { broker_epoch, leader_epoch, partition_epoch, ref isr } =
                *message
            else {
                unreachable!("the controller is only asked")
            };
            let proposal = Proposal { broker_epoch, leader_epoch, partition_epoch, isr };
            alter_partition(actor, k, src, &proposal, out);
        }
        Event::Register(fate) => register(actor, k, src, fate, out),
        Event::Fence { broker } => fence(actor, k, broker, out),
        Event::Unfence { broker } => {
            state_of(k, broker).state = Session::Active;
            if k.image.leader.is_none() {
                let isr = k.image.isr.clone();
                change(actor, k, isr, &[], Elect::IfNeeded);
            }
            publish(k, out);
        }
        Event::Move { to } => {
            k.image.leader = Some(to);
            k.image.leader_epoch += 1;
            k.image.partition_epoch += 1;
            publish(k, out);
        }
        _ => unreachable!("the system sends the controller no {event:?}"),
    }
}

fn publish(k: &ControllerView, out: &mut Sends) {
    out.send(id(0), Event::Metadata(Arc::new(k.image.clone())));
}

fn state_of(k: &mut ControllerView, broker: Node) -> &mut BrokerState {
    &mut k.image.brokers[usize::from(broker) - 1]
}

/// Whether a change makes an election even if the leader could stay.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Elect {
    IfNeeded,
    /// The leader's present reign is over, though it may be elected again.
    Always,
}

/// One change record: a new ISR (and with it the ELR), and an election where one is due
/// (K1, O1, O2, O4, B7, Z1, Z2). Nothing is written if nothing changes.
fn change(
    actor: &NodeActor,
    k: &mut ControllerView,
    target: Vec<Node>,
    unclean: &[Node],
    elect: Elect,
) {
    let before = k.image.clone();
    let elr = (actor.rules.eligible_after)(IsrChange {
        isr: &before.isr,
        elr: &before.elr,
        target: &target,
        unclean,
        min_isr: actor.min_isr,
    });
    match elr {
        Some(elr) => (k.image.isr, k.image.elr) = (target, elr),
        // B7: without an ELR the last member is never removed.
        None if target.is_empty() => {}
        None => k.image.isr = target,
    }
    let leads_on = before.leader.is_some_and(|l| valid(&k.image, l));
    if elect == Elect::Always || !leads_on {
        let candidates = (1..=actor.brokers).filter(|b| valid(&k.image, *b));
        k.image.leader = if leads_on { before.leader } else { candidates.min() };
        if k.image.leader != before.leader || elect == Elect::Always {
            k.image.leader_epoch += 1;
        }
        if let (Some(leader), true) = (k.image.leader, k.image.isr.is_empty()) {
            k.image.isr = vec![leader];
            k.image.elr.retain(|b| *b != leader);
        }
    }
    if k.image != before {
        k.image.partition_epoch += 1;
    }
}

/// O1: who may lead.
fn valid(image: &Image, broker: Node) -> bool {
    let eligible = if image.isr.is_empty() { &image.elr } else { &image.isr };
    eligible.contains(&broker) && image.brokers[usize::from(broker) - 1].state == Session::Active
}

/// B3: the session is over; out of the ISR, and another leader if it led.
fn fence(actor: &NodeActor, k: &mut ControllerView, broker: Node, out: &mut Sends) {
    state_of(k, broker).state = Session::Fenced;
    let target = without(&k.image.isr, broker);
    change(actor, k, target, &[], Elect::IfNeeded);
    publish(k, out);
}

/// B1, B2 and klog's departure: a new life gets a new broker epoch. One that lost nothing keeps
/// its place, but never resumes an epoch; one that may have lost its log's end leaves ISR and
/// ELR and starts fenced.
fn register(
    actor: &NodeActor,
    k: &mut ControllerView,
    broker: Node,
    fate: LogFate,
    out: &mut Sends,
) {
    if (actor.rules.keeps_place)(fate) {
        if k.image.leader == Some(broker) {
            let isr = k.image.isr.clone();
            change(actor, k, isr, &[], Elect::Always);
        }
    } else {
        state_of(k, broker).state = Session::Fenced;
        let target = without(&k.image.isr, broker);
        let elr = without(&k.image.elr, broker);
        let elr_changed = elr != k.image.elr;
        k.image.elr = elr;
        let version = k.image.partition_epoch;
        change(actor, k, target, &[broker], Elect::IfNeeded);
        if elr_changed && k.image.partition_epoch == version {
            k.image.partition_epoch += 1;
        }
    }
    k.last_broker_epoch += 1;
    let epoch = k.last_broker_epoch;
    state_of(k, broker).epoch = epoch;
    out.send(id(broker), Event::Registered { epoch });
    publish(k, out);
}

fn without(set: &[Node], broker: Node) -> Vec<Node> {
    set.iter().copied().filter(|b| *b != broker).collect()
}

struct Proposal<'a> {
    broker_epoch: u8,
    leader_epoch: u8,
    partition_epoch: u8,
    isr: &'a [Member],
}

/// Section 18: the checks in their order, then one change record.
fn alter_partition(
    actor: &NodeActor,
    k: &mut ControllerView,
    src: Node,
    proposal: &Proposal<'_>,
    out: &mut Sends,
) {
    let error = check_proposal(k, src, proposal);
    if error == 0 {
        let target: Vec<Node> = proposal.isr.iter().map(|m| m.0).collect();
        change(actor, k, target, &[], Elect::IfNeeded);
        publish(k, out);
    }
    let answer = Message::AlterPartitionAnswer {
        of_leader_epoch: proposal.leader_epoch,
        of_partition_epoch: proposal.partition_epoch,
        error,
        leader_epoch: if error == 0 { k.image.leader_epoch } else { 0 },
        partition_epoch: if error == 0 { k.image.partition_epoch } else { 0 },
        isr: if error == 0 { k.image.isr.clone() } else { Vec::new() },
    };
    out.send(id(src), Event::Peer(answer.into()));
}

fn check_proposal(k: &ControllerView, src: Node, p: &Proposal<'_>) -> i16 {
    let image = &k.image;
    let registered = |b: Node| image.brokers[usize::from(b) - 1];
    let ineligible = |&(b, epoch): &Member| {
        registered(b).state != Session::Active || epoch.is_some_and(|e| e != registered(b).epoch)
    };
    if registered(src).epoch != p.broker_epoch {
        STALE_BROKER_EPOCH
    } else if p.leader_epoch < image.leader_epoch {
        FENCED_LEADER_EPOCH
    } else if image.leader != Some(src) {
        INVALID_REQUEST
    } else if p.partition_epoch < image.partition_epoch {
        INVALID_UPDATE_VERSION
    } else if !p.isr.iter().any(|m| m.0 == src) {
        INVALID_REQUEST
    } else if p.isr.iter().any(ineligible) {
        INELIGIBLE_REPLICA
    } else {
        0
    }
}
