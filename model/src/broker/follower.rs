//! The follower's side: following a leader, and what an answer does (sections 12 to 14).

use klog_trace::action::Node;
use klog_trace::view::Role;
use klog_trace::{BrokerView, EpochStart, Image, Message, Record};

use super::{append, leo, truncate};
use crate::node::{Event, NodeActor, Sends, id};

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
    broker.role = Role::Follower { epoch: image.leader_epoch, leader: image.leader };
    if image.leader.is_some() {
        let cut = (actor.rules.cut_on_following)(leo(broker), broker.hw);
        if cut < leo(broker) {
            truncate(broker, cut);
        }
    }
    send_fetch(actor, broker, out);
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
    if leader != Some(src) || !(actor.rules.answer_is_mine)(answer.of, mine) {
        return;
    }
    if answer.error == 0 {
        match answer.diverging {
            // Q3: the high watermark of a diverging answer is not for this log.
            Some(end) => {
                let cut = (actor.rules.cut_on_diverging)(&broker.epochs, leo(broker), end);
                truncate(broker, cut);
            }
            None => take_records(actor, broker, epoch, answer),
        }
    }
    send_fetch(actor, broker, out);
}

/// Q4: append, then the high watermark.
fn take_records(actor: &NodeActor, broker: &mut BrokerView, epoch: u8, answer: &Answer<'_>) {
    let taken = (actor.rules.takes)(answer.records, epoch);
    append(broker, &answer.records[..taken]);
    broker.hw = (actor.rules.follower_hw)(broker.hw, answer.hw, leo(broker));
}

/// Q1: a follower with a leader always has one fetch of its epoch outstanding.
fn send_fetch(actor: &NodeActor, broker: &BrokerView, out: &mut Sends) {
    let Role::Follower { epoch, leader: Some(leader) } = broker.role else {
        return;
    };
    let fetch = Message::Fetch {
        epoch,
        offset: leo(broker),
        last_epoch: (actor.rules.last_epoch)(&broker.epochs),
        broker_epoch: broker.broker_epoch,
    };
    out.send(id(leader), Event::Peer(fetch.into()));
}
