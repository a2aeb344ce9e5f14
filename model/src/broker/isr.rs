//! A leader's ISR, what it proposes of it, and its high watermark (sections 8 and 9).

use klog_trace::action::Node;
use klog_trace::message::Member;
use klog_trace::view::{Outcome, Progress, Proposal, Role};
use klog_trace::{BrokerView, Message};

use super::leo;
use crate::node::{Event, NodeActor, Sends, id};
use crate::rules::{Counting, Fate, Join, Trigger};

/// E1, E2: from now on the follower counts in the maximal ISR.
pub fn maybe_expand(
    actor: &NodeActor,
    me: Node,
    broker: &mut BrokerView,
    follower: Progress,
    out: &mut Sends,
) {
    let hw = broker.hw;
    let Role::Leader { epoch_start, isr, known, .. } = &broker.role else {
        return;
    };
    if !may_propose(broker) || isr.contains(&follower.broker) {
        return;
    }
    let known = known[usize::from(follower.broker) - 1];
    if (actor.rules.joins)(Join { follower, known, hw, epoch_start: *epoch_start }) {
        let mut target = isr.clone();
        target.push(follower.broker);
        propose(me, broker, &target, out);
    }
}

/// In-sync followers that are not caught up (S1).
pub fn laggards(actor: &NodeActor, broker: &BrokerView) -> Vec<Node> {
    let Role::Leader { isr, followers, .. } = &broker.role else {
        return Vec::new();
    };
    let caught_up = |f: &Progress| (actor.rules.caught_up)(f.leo, leo(broker), f.heard);
    let lags = |f: &&Progress| isr.contains(&f.broker) && !caught_up(f);
    followers.iter().filter(lags).map(|f| f.broker).collect()
}

/// Time that is not passed step by step: what was recent is so no more, or as `stays` says.
pub fn age(broker: &mut BrokerView, stays: fn(bool) -> bool) {
    let Role::Leader { followers, .. } = &mut broker.role else {
        return;
    };
    for heard in followers.iter_mut().filter_map(|f| f.heard.as_mut()) {
        heard.caught_up = stays(heard.caught_up);
        heard.previous = heard.previous.filter(|_| stays(true));
    }
}

/// S3: nothing is proposed while an earlier proposal is open, or on its way though it is void.
pub fn may_propose(broker: &BrokerView) -> bool {
    let free = matches!(broker.role, Role::Leader { pending: None, .. });
    free && broker.proposed_at.is_none()
}

/// S1, S2: the laggards are proposed out and count until the controller says so.
pub fn shrink(actor: &NodeActor, me: Node, broker: &mut BrokerView, out: &mut Sends) {
    let out_of_sync = laggards(actor, broker);
    let Role::Leader { isr, .. } = &broker.role else {
        return;
    };
    if may_propose(broker) && !out_of_sync.is_empty() {
        let stays = isr.iter().copied().filter(|b| !out_of_sync.contains(b));
        let stays: Vec<Node> = stays.collect();
        propose(me, broker, &stays, out);
    }
}

/// P1: the members with the broker epochs of this step.
fn members(me: Node, broker: &BrokerView, target: &[Node]) -> Vec<Member> {
    let Role::Leader { followers, .. } = &broker.role else {
        return Vec::new();
    };
    let epoch_of_member = |b: Node| {
        if b == me {
            return Some(broker.broker_epoch);
        }
        followers.iter().find(|f| f.broker == b).and_then(|f| f.broker_epoch)
    };
    let mut members: Vec<Member> = target.iter().map(|b| (*b, epoch_of_member(*b))).collect();
    members.sort_unstable();
    members
}

/// E2, S2: the proposal with the broker epochs of the step that makes it.
fn propose(me: Node, broker: &mut BrokerView, target: &[Node], out: &mut Sends) {
    let proposal = members(me, broker, target);
    if let Role::Leader { pending, .. } = &mut broker.role {
        *pending = Some(Proposal { isr: proposal, outcome: Outcome::Open });
    }
    send_proposal(broker, out);
}

/// The proposal holds the one slot until it is answered, whatever becomes of the leadership
/// meanwhile (S3).
fn send_proposal(broker: &mut BrokerView, out: &mut Sends) {
    let Role::Leader { epoch, pending: Some(proposal), .. } = &broker.role else {
        return;
    };
    let message = Message::AlterPartition {
        broker_epoch: broker.broker_epoch,
        leader_epoch: *epoch,
        partition_epoch: broker.partition_epoch,
        isr: proposal.isr.clone(),
    };
    broker.proposed_at = Some((*epoch, broker.partition_epoch));
    out.send(id(0), Event::Peer(message.into()));
}

/// The connection broke on which a proposal went, or its answer came.
pub fn lose_proposal(actor: &NodeActor, broker: &mut BrokerView) {
    if broker.proposed_at.take().is_none() {
        return;
    }
    if let Role::Leader { pending, .. } = &mut broker.role
        && (actor.rules.answer_lost)() == Fate::Void
    {
        *pending = None;
    }
}

/// Whether a proposal is open and got lost.
pub fn lost_its_proposal(broker: &BrokerView) -> bool {
    let Role::Leader { pending: Some(proposal), .. } = &broker.role else {
        return false;
    };
    proposal.outcome == Outcome::Open && broker.proposed_at.is_none()
}

/// R4: a proposal that got lost is sent again.
pub fn resend(actor: &NodeActor, me: Node, broker: &mut BrokerView, out: &mut Sends) {
    if !lost_its_proposal(broker) {
        return;
    }
    let Role::Leader { pending: Some(proposal), .. } = &broker.role else {
        return;
    };
    let made = proposal.isr.clone();
    let target: Vec<Node> = made.iter().map(|member| member.0).collect();
    let now = members(me, broker, &target);
    if let Role::Leader { pending: Some(proposal), .. } = &mut broker.role {
        proposal.isr = (actor.rules.resent)(made, now);
    }
    send_proposal(broker, out);
}

/// R0 to R4. `of` is the (leader epoch, partition epoch) the proposal was made at.
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
    let Some(proposal) = pending else {
        return;
    };
    if !(actor.rules.reply_is_mine)(of, (*epoch, broker.partition_epoch)) {
        return;
    }
    let trigger = match (error, (actor.rules.refused)(error)) {
        (0, _) => {
            *isr = new_isr.to_vec();
            *pending = None;
            broker.partition_epoch = new_partition_epoch;
            Trigger::Accepted
        }
        (_, Fate::Void) => {
            *pending = None;
            Trigger::Refused
        }
        // R3: the metadata will tell.
        (_, Fate::Unknown) => {
            proposal.outcome = Outcome::Unknown;
            return;
        }
        (_, Fate::Again) => return,
    };
    try_hw(actor, me, broker, trigger);
}

/// H1 to H5.
pub fn try_hw(actor: &NodeActor, me: Node, broker: &mut BrokerView, trigger: Trigger) {
    let rules = &actor.rules;
    let min_isr = broker.known_min_isr(actor.brokers);
    let (Role::Leader { isr, pending, followers, known, .. }, Some(min_isr)) =
        (&broker.role, min_isr)
    else {
        return;
    };
    let maximal = (rules.maximal_isr)(isr, pending.as_ref());
    let tries = match trigger {
        Trigger::Append | Trigger::Progress | Trigger::Registration => true,
        Trigger::Accepted => (rules.tries_hw_after_accept)(),
        Trigger::Refused => (rules.tries_hw_after_refusal)(),
        Trigger::Brokers => (rules.tries_hw_on_brokers)(),
        Trigger::Tick => (rules.tries_hw_on_tick)(),
    };
    if !tries || !(rules.hw_may_move)(isr.len(), maximal.len(), min_isr) {
        return;
    }
    let mut candidate = leo(broker);
    for &follower in followers.iter().filter(|f| f.broker != me) {
        let place = usize::from(follower.broker).checked_sub(1);
        let known = place.and_then(|place| known.get(place)).copied();
        let caught_up = (rules.caught_up)(follower.leo, leo(broker), follower.heard);
        if (rules.counts_for_hw)(Counting { follower, maximal: &maximal, known, caught_up }) {
            match follower.leo {
                Some(leo) => candidate = candidate.min(leo),
                // H4: nothing is known of it in this epoch.
                None => return,
            }
        }
    }
    broker.hw = (rules.raised)(broker.hw, candidate);
}
