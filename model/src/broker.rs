//! A broker: its log and epoch cache, and the dispatch over its roles.

use klog_trace::action::Node;
use klog_trace::view::{Life, Role};
use klog_trace::{BrokerView, EpochStart, Image, Message, Record};

use crate::node::{Event, NodeActor, Sends, id};
use crate::rules::LogFate;

pub mod follower;
pub mod leader;

/// The error of a request to a broker that does not lead (F2, V1).
pub const NOT_LEADER_OR_FOLLOWER: i16 = 6;

/// A broker that has applied the first metadata record: broker 1 leads in epoch 0, every other
/// one follows it and has sent its first fetch.
pub fn initial(actor: &NodeActor, me: Node, out: &mut Sends) -> BrokerView {
    let mut broker = BrokerView {
        life: Life::Up,
        broker_epoch: me,
        role: Role::None,
        partition_epoch: 0,
        log: Vec::new(),
        epochs: Vec::new(),
        hw: 0,
        hw_checkpoint: 0,
        proposed_at: None,
    };
    apply_metadata(actor, me, &mut broker, &crate::controller::initial(actor).image, out);
    broker
}

/// One reaction.
pub fn on_event(
    actor: &NodeActor,
    me: Node,
    broker: &mut BrokerView,
    src: Node,
    event: Event,
    out: &mut Sends,
) {
    match event {
        Event::Peer(message) => on_message(actor, me, broker, src, &message, out),
        Event::Metadata(image) => apply_metadata(actor, me, broker, &image, out),
        Event::Produce { acks, value, .. } => {
            leader::produce(actor, me, broker, acks, value, out);
        }
        Event::Verdict => leader::verdict(actor, broker, out),
        Event::LagCheck => leader::lag_check(me, broker, out),
        Event::Crash => die(broker, Life::Crashed, leo(broker)),
        Event::PowerLoss { keep } => die(broker, Life::PowerLost, keep),
        Event::Restart { .. } => {
            let kept = broker.life == Life::Crashed;
            let fate = if kept { LogFate::Kept } else { LogFate::MaybeLost };
            broker.life = Life::Up;
            // D1: the checkpoint is a hint and may be of a longer log.
            broker.hw = broker.hw_checkpoint.min(leo(broker));
            out.send(id(0), Event::Register(fate));
        }
        Event::Registered { epoch } => broker.broker_epoch = epoch,
        Event::Checkpoint => broker.hw_checkpoint = broker.hw,
        _ => unreachable!("the system sends a broker no {event:?}"),
    }
}

fn on_message(
    actor: &NodeActor,
    me: Node,
    broker: &mut BrokerView,
    src: Node,
    message: &Message,
    out: &mut Sends,
) {
    match *message {
        Message::Fetch { epoch, offset, last_epoch, broker_epoch } => {
            let fetch = leader::Fetch { epoch, offset, last_epoch, broker_epoch };
            let answer = leader::fetch(actor, me, broker, src, fetch, out);
            out.send(id(src), Event::Peer(answer.into()));
        }
        Message::FetchAnswer { of_epoch, of_offset, error, hw, ref records, diverging } => {
            let of = EpochStart { epoch: of_epoch, offset: of_offset };
            let answer = follower::Answer { of, error, hw, records, diverging };
            follower::fetch_answer(actor, broker, src, &answer, out);
        }
        Message::AlterPartitionAnswer {
            of_leader_epoch,
            of_partition_epoch,
            error,
            partition_epoch,
            ref isr,
            ..
        } => {
            let of = (of_leader_epoch, of_partition_epoch);
            leader::alter_partition_answer(actor, me, broker, of, error, partition_epoch, isr);
        }
        Message::AlterPartition { .. } => unreachable!("only the controller is asked"),
    }
}

/// Applies the newest of a run of metadata records (M6): sections 11 and 12.
fn apply_metadata(
    actor: &NodeActor,
    me: Node,
    broker: &mut BrokerView,
    image: &Image,
    out: &mut Sends,
) {
    let newer = epoch_of(&broker.role).is_none_or(|mine| image.leader_epoch > mine);
    if newer {
        leader::resign(actor, broker, out);
    }
    // L1: an answer to a proposal may have told more than this record does. What it says of the
    // brokers is news all the same.
    let stale = image.partition_epoch < broker.partition_epoch;
    if image.leader == Some(me) {
        if newer {
            leader::take_over(me, broker, image);
        } else if image.partition_epoch > broker.partition_epoch {
            leader::learn_isr(broker, image);
        }
        leader::learn_brokers(broker, image);
    } else if newer {
        follower::follow(actor, broker, image, out);
    }
    if !stale {
        broker.partition_epoch = image.partition_epoch;
    }
    leader::try_hw(actor, me, broker);
}

/// The leader epoch of a role; none before the first metadata of a life.
pub fn epoch_of(role: &Role) -> Option<u8> {
    match *role {
        Role::None => None,
        Role::Leader { epoch, .. } | Role::Follower { epoch, .. } => Some(epoch),
    }
}

/// The log end offset.
pub fn leo(broker: &BrokerView) -> u8 {
    broker.log.len() as u8
}

/// Cache rule `assign` (G2): a new epoch begins at `offset`; entries that contradict it
/// are dropped.
fn assign(cache: &mut Vec<EpochStart>, epoch: u8, offset: u8) {
    if cache.last().is_some_and(|last| last.epoch == epoch && last.offset <= offset) {
        return;
    }
    while cache.last().is_some_and(|e| e.epoch >= epoch || e.offset >= offset) {
        cache.pop();
    }
    cache.push(EpochStart { epoch, offset });
}

/// Appends records as they are; each new epoch gets its entry (G2).
fn append(broker: &mut BrokerView, records: &[Record]) {
    for record in records {
        let offset = leo(broker);
        assign(&mut broker.epochs, record.epoch, offset);
        broker.log.push(*record);
    }
}

/// T6: cuts the log to `to` records. A cut at or past the log end leaves the records alone but
/// still drops entries that have none (KAFKA-10706). The high watermark follows the log end down.
fn truncate(broker: &mut BrokerView, to: u8) {
    let to = to.min(leo(broker));
    broker.log.truncate(usize::from(to));
    broker.epochs.retain(|e| e.offset < to);
    broker.hw = broker.hw.min(to);
}

/// The process ends: all that is not on disk is gone, and of the log `keep` records are left. The
/// state is what a recovery finds, which drops epoch entries at or past the log end (D5).
fn die(broker: &mut BrokerView, life: Life, keep: u8) {
    broker.life = life;
    broker.role = Role::None;
    broker.partition_epoch = 0;
    truncate(broker, keep);
    broker.hw = 0;
    broker.proposed_at = None;
}

#[cfg(test)]
mod tests;
