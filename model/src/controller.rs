//! The controller of one partition: registrations, elections, ISR changes (sections 18, 19).

use std::sync::Arc;

use klog_trace::action::Node;
use klog_trace::message::Member;
use klog_trace::trace::{Elr, Unclean};
use klog_trace::view::{BrokerState, Session};
use klog_trace::{ControllerView, Image, Message};

use crate::node::{Event, NodeActor, Sends, id};
use crate::rules::{Candidate, IsrChange, ProposalFacts};

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
            last_leader: None,
            min_isr: actor.min_isr,
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
        Event::Register { marker } => register(actor, k, src, marker, out),
        Event::Fence { broker } => retire(actor, k, broker, Session::Fenced, out),
        Event::ShutDown { broker } => retire(actor, k, broker, Session::ShuttingDown, out),
        Event::Unfence { broker } => {
            state_of(k, broker).state = Session::Active;
            if k.image.leader.is_none() {
                let isr = k.image.isr.clone();
                change(actor, k, isr, &[], Elect::IfNeeded);
            }
            publish(k, out);
        }
        Event::Move { to } => {
            let isr = k.image.isr.clone();
            change(actor, k, isr, &[], Elect::This(to));
            publish(k, out);
        }
        Event::ChangeMinIsr { to } => {
            change_min_isr(actor, k, to);
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

/// Who shall lead after a change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Elect {
    /// The leader, if it may, else another.
    IfNeeded,
    /// This one, which may.
    This(Node),
}

/// One change record: a new ISR (and with it the ELR), and an election where one is due
/// (K1, O1 to O5, B7, Z1 to Z3). Nothing is written if nothing changes.
fn change(
    actor: &NodeActor,
    k: &mut ControllerView,
    target: Vec<Node>,
    unclean: &[Node],
    elect: Elect,
) {
    let before = k.image.clone();
    let min_isr = before.min_isr.min(actor.brokers);
    let (isr, elr) = (&before.isr, &before.elr);
    let asked = IsrChange { isr, elr, target: &target, unclean, min_isr };
    let kept = match actor.policy.elr {
        Elr::On => (actor.rules.eligible_after)(asked),
        Elr::Off => None,
    };
    match kept {
        Some(elr) => (k.image.isr, k.image.elr) = (target, elr),
        // B7
        None if target.is_empty() && !(actor.rules.may_be_empty)() => {}
        None => k.image.isr = target,
    }
    let leader = match elect {
        Elect::This(broker) => Some(broker),
        Elect::IfNeeded => elected(actor, &k.image),
    };
    if let Some(leader) = leader.filter(|leader| !k.image.isr.contains(leader)) {
        // O4, O5: whoever is elected from outside the ISR is all of it. Of the ELR stays who may
        // be complete, which after an unclean election nobody is.
        let clean = k.image.elr.contains(&leader);
        k.image.isr = vec![leader];
        k.image.elr.retain(|b| clean && *b != leader && min_isr > 1);
    }
    if leader != before.leader {
        let last = before.leader.or(before.last_leader);
        if (actor.rules.begins_epoch)(before.leader, last, leader) {
            grow(&mut k.image.leader_epoch);
        }
        let remembers = leader.is_none() && actor.policy.elr == Elr::On;
        k.image.last_leader = last.filter(|_| remembers);
        k.image.leader = leader;
    }
    if k.image != before {
        grow(&mut k.image.partition_epoch);
    }
}

/// O2: the leader stays if it may; else the first that may; else the last known leader, where there
/// is an ELR and nobody is left in it nor in the ISR; else, where unclean elections are allowed,
/// anybody active.
fn elected(actor: &NodeActor, image: &Image) -> Option<Node> {
    let valid = |b: &Node| may_lead(actor, image, *b);
    let state = |b: Node| image.registered(b).state;
    let nobody_left = image.isr.is_empty() && image.elr.is_empty();
    let remembered = actor.policy.elr == Elr::On && nobody_left;
    let last = image.last_leader.filter(|_| remembered);
    let unclean = actor.policy.unclean == Unclean::Allowed;
    let anybody = || (1..=actor.brokers).find(|b| unclean && state(*b) == Session::Active);
    let present = image.leader.filter(valid);
    let first = || (1..=actor.brokers).find(valid);
    let last = || last.filter(|b| (actor.rules.last_leader_may)(state(*b)));
    present.or_else(first).or_else(last).or_else(anybody)
}

/// O1: who may lead.
fn may_lead(actor: &NodeActor, image: &Image, broker: Node) -> bool {
    (actor.rules.may_lead)(Candidate {
        in_isr: image.isr.contains(&broker),
        in_elr: image.elr.contains(&broker),
        isr_is_empty: image.isr.is_empty(),
        is_active: image.is_active(broker),
    })
}

/// B3, B5: the session is over, or the broker wants to go down; out of the ISR, and another leader
/// if it led.
fn retire(
    actor: &NodeActor,
    k: &mut ControllerView,
    broker: Node,
    state: Session,
    out: &mut Sends,
) {
    state_of(k, broker).state = state;
    let target = without(&k.image.isr, broker);
    change(actor, k, target, &[], Elect::IfNeeded);
    publish(k, out);
}

/// B1, B2: a new life gets a new broker epoch and starts fenced. Before that the old life is over:
/// if it was not shut down cleanly, where there is an ELR, it leaves that too.
fn register(
    actor: &NodeActor,
    k: &mut ControllerView,
    broker: Node,
    marker: Option<u8>,
    out: &mut Sends,
) {
    let old = *state_of(k, broker);
    // Only where the old session need not be over: the new life takes the place of the old one.
    if old.state == Session::Fenced {
        let clean = (actor.rules.is_clean)(marker, old.epoch);
        let unclean: &[Node] = if clean { &[] } else { &[broker] };
        let target = without(&k.image.isr, broker);
        change(actor, k, target, unclean, Elect::IfNeeded);
    }
    grow(&mut k.last_broker_epoch);
    let epoch = k.last_broker_epoch;
    state_of(k, broker).epoch = epoch;
    out.send(id(broker), Event::Registered { epoch });
    publish(k, out);
}

/// Z4, X3: another minimum.
fn change_min_isr(actor: &NodeActor, k: &mut ControllerView, to: u8) {
    k.image.min_isr = to;
    k.image.elr = (actor.rules.elr_after_min_isr)(std::mem::take(&mut k.image.elr));
    if (actor.rules.min_isr_is_versioned)() {
        grow(&mut k.image.partition_epoch);
    }
}

/// The next epoch. Numbers are small here, and must not begin anew.
fn grow(epoch: &mut u8) {
    *epoch = epoch.checked_add(1).expect("an epoch below 256: the space is endless");
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
    let error = (actor.rules.refuse_proposal)(facts(actor, k, src, proposal));
    let before = k.image.partition_epoch;
    if error == 0 {
        let target: Vec<Node> = proposal.isr.iter().map(|m| m.0).collect();
        change(actor, k, target, &[], Elect::IfNeeded);
    } else if (actor.rules.refusal_is_versioned)(error) {
        grow(&mut k.image.partition_epoch);
    }
    if k.image.partition_epoch != before {
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

/// What is true of a proposal as it arrives.
fn facts(actor: &NodeActor, k: &ControllerView, src: Node, p: &Proposal<'_>) -> ProposalFacts {
    let rules = &actor.rules;
    let image = &k.image;
    let lives = |&(b, said): &Member| (rules.member_lives)(said, image.registered(b).epoch);
    let is_active = |&(b, _): &Member| (rules.member_is_active)(image.registered(b).state);
    ProposalFacts {
        sender_lives: image.registered(src).epoch == p.broker_epoch,
        epoch_is_current: p.leader_epoch >= image.leader_epoch,
        sender_leads: image.leader == Some(src),
        version_is_current: (rules.version_is_current)(p.partition_epoch, image.partition_epoch),
        sender_is_member: p.isr.iter().any(|member| member.0 == src),
        members_are_active: p.isr.iter().all(is_active),
        members_live: p.isr.iter().all(lives),
    }
}
