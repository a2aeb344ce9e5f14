//! The follower's side: following a leader, and what an answer does (sections 12 to 14).

use klog_trace::action::Node;
use klog_trace::view::Role;
use klog_trace::{BrokerView, EpochStart, Image, Message, Record};

use super::{append, cut, leo};
use crate::node::{Event, NodeActor, Sends, id};
use crate::rules::{AnswerTaken, Diverged};

/// An answer to the fetch that was made at `of` (leader epoch, offset).
pub struct Answer<'a> {
    /// What the fetch said.
    pub of: EpochStart,
    /// Kafka's error code.
    pub error: i16,
    /// The leader's high watermark.
    pub hw: u8,
    /// Records from the fetch's offset on.
    pub records: &'a [Record],
    /// Where the leader's log ends the asked epoch, if the logs diverge.
    pub diverging: Option<EpochStart>,
}

/// M1 to M4: a newer epoch with another leader, or none; the fetcher starts anew.
pub fn follow(actor: &NodeActor, broker: &mut BrokerView, image: &Image, out: &mut Sends) {
    let same = |leader| image.leader.is_some() && image.leader == leader;
    let goes_on = matches!(broker.role, Role::Follower { leader, .. } if same(leader));
    if goes_on && !(actor.rules.restarts_fetcher)() {
        return;
    }
    broker.role = Role::Follower { epoch: image.leader_epoch, leader: image.leader };
    broker.diverged = None;
    if image.leader.is_some() {
        let to = (actor.rules.cut_on_following)(leo(broker), broker.hw);
        if to < leo(broker) {
            cut(actor, broker, to);
        }
    }
    send_fetch(actor, broker, AnswerTaken::None, out);
}

/// Q2 to Q6, then the next fetch at once (Q7).
pub fn fetch_answer(
    actor: &NodeActor,
    broker: &mut BrokerView,
    src: Node,
    answer: &Answer<'_>,
    out: &mut Sends,
) {
    let Role::Follower { epoch, leader } = broker.role else {
        return;
    };
    let mine = EpochStart { epoch, offset: leo(broker) };
    let rules = &actor.rules;
    let diverging = answer.diverging.filter(|_| answer.error == 0);
    let is_mine = if diverging.is_some() { rules.diverging_is_mine } else { rules.answer_is_mine };
    if leader != Some(src) || broker.diverged.is_some() || !is_mine(answer.of, mine) {
        return;
    }
    let mut taken = AnswerTaken::None;
    if let Some(end) = diverging {
        match (rules.on_diverging)(broker.hw, answer.hw, leo(broker)) {
            Diverged::CutAtOnce => agree(actor, broker, end),
            Diverged::CutLater(hw) => {
                broker.hw = hw;
                broker.diverged = Some(end);
                return;
            }
        }
        taken = AnswerTaken::Changed;
    } else if answer.error == 0 {
        let any = !answer.records.is_empty();
        take_records(actor, broker, epoch, answer);
        taken = if any { AnswerTaken::Changed } else { AnswerTaken::Empty };
    }
    send_fetch(actor, broker, taken, out);
}

/// The second step of a diverging answer, where it is one: cut, and ask again.
pub fn reconcile(actor: &NodeActor, broker: &mut BrokerView, out: &mut Sends) {
    if let Some(end) = broker.diverged.take() {
        agree(actor, broker, end);
        send_fetch(actor, broker, AnswerTaken::Changed, out);
    }
}

/// T3 to T5: the log ends where it agrees with the leader's, as far as the answer tells.
fn agree(actor: &NodeActor, broker: &mut BrokerView, end: EpochStart) {
    let to = (actor.rules.cut_on_diverging)(&broker.epochs, leo(broker), end);
    cut(actor, broker, to);
}

/// Q4: append, then the high watermark.
fn take_records(actor: &NodeActor, broker: &mut BrokerView, epoch: u8, answer: &Answer<'_>) {
    let taken = (actor.rules.takes)(answer.records, epoch);
    append(broker, &answer.records[..taken]);
    broker.hw = (actor.rules.follower_hw)(broker.hw, answer.hw, leo(broker));
}

/// Q1: a follower with a leader always has one fetch of its epoch outstanding.
pub fn send_fetch(actor: &NodeActor, broker: &BrokerView, after: AnswerTaken, out: &mut Sends) {
    let Role::Follower { epoch, leader: Some(leader) } = broker.role else {
        return;
    };
    let fetch = Message::Fetch {
        epoch,
        offset: leo(broker),
        last_epoch: (actor.rules.last_epoch)(&broker.epochs, after),
        broker_epoch: broker.broker_epoch,
    };
    out.send(id(leader), Event::Peer(fetch.into()));
}
