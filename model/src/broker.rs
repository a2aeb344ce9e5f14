//! A broker: its log and epoch cache, and the dispatch over its roles.

use klog_trace::action::Node;
use klog_trace::view::{Life, Role};
use klog_trace::{BrokerView, EpochStart, Image, Message, Record};

use crate::node::{Event, NodeActor, Sends, id};
use crate::rules::{AnswerTaken, Rules, Trigger};

pub mod follower;
pub mod isr;
pub mod leader;

/// A broker that has applied the first metadata record: broker 1 leads in epoch 0, every other
/// one follows it and has sent its first fetch. The same under every protocol.
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
        waiting: Vec::new(),
        diverged: None,
        cut_off: Vec::new(),
    };
    let correct = NodeActor { rules: Rules::correct(), ..actor.clone() };
    apply_metadata(&correct, me, &mut broker, &crate::controller::initial(actor).image, out);
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
        Event::TimeOut => leader::time_out(actor, broker, out),
        Event::LagCheck => isr::shrink(actor, me, broker, out),
        Event::Tick => {
            isr::shrink(actor, me, broker, out);
            isr::try_hw(actor, me, broker, Trigger::Tick);
        }
        Event::ClockJump => isr::age(broker, |_| false),
        Event::ClockSetback => isr::age(broker, actor.rules.recent_after_setback),
        Event::Resend => isr::resend(actor, me, broker, out),
        Event::Crash => die(actor, broker, Life::Crashed, leo(broker)),
        Event::PowerLoss { keep } => die(actor, broker, Life::PowerLost, keep),
        Event::Stop => {
            // D3: everything is on disk, the checkpoint too.
            broker.hw_checkpoint = broker.hw;
            die(actor, broker, Life::Stopped, leo(broker));
        }
        Event::Restart => {
            // D3: the marker is read, and gone before anything else is.
            let marker = (broker.life == Life::Stopped).then_some(broker.broker_epoch);
            broker.life = Life::Up;
            broker.hw = (actor.rules.hw_at_restart)(broker.hw_checkpoint, leo(broker));
            out.send(id(0), Event::Register { marker });
        }
        Event::Registered { epoch } => broker.broker_epoch = epoch,
        Event::Checkpoint => broker.hw_checkpoint = broker.hw,
        Event::Disconnected { from } => disconnected(actor, broker, from, out),
        Event::Truncate => follower::reconcile(actor, broker, out),
        _ => unreachable!("the system sends a broker no {event:?}"),
    }
}

/// The connections to and from a node broke: what was asked there is asked again, at once by a
/// follower, later by a leader (R4).
fn disconnected(actor: &NodeActor, broker: &mut BrokerView, from: Node, out: &mut Sends) {
    if from == 0 {
        isr::lose_proposal(actor, broker);
    } else if matches!(broker.role, Role::Follower { leader: Some(leader), .. } if leader == from) {
        follower::send_fetch(actor, broker, AnswerTaken::None, out);
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
            isr::alter_partition_answer(actor, me, broker, of, error, partition_epoch, isr);
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
    let newer = broker.role.epoch().is_none_or(|mine| image.leader_epoch > mine);
    if newer {
        leader::resign(actor, broker, out);
    }
    let settles = (actor.rules.settles)(image.partition_epoch, broker.partition_epoch);
    if image.leader == Some(me) {
        if newer {
            leader::take_over(actor, me, broker, image);
        } else if settles {
            leader::learn_isr(broker, image);
        }
        leader::learn_brokers(broker, image);
    } else if newer {
        follower::follow(actor, broker, image, out);
    }
    let registered = newer || image.partition_epoch > broker.partition_epoch;
    // L1: an answer to a proposal may have told more than this record does. What it says of the
    // brokers is news all the same.
    broker.partition_epoch = broker.partition_epoch.max(image.partition_epoch);
    let trigger = if registered { Trigger::Registration } else { Trigger::Brokers };
    isr::try_hw(actor, me, broker, trigger);
}

/// The log end offset.
pub fn leo(broker: &BrokerView) -> u8 {
    broker.log.len() as u8
}

/// Cache rule `assign` (G2): a new epoch begins at `offset`; entries that contradict it
/// are dropped.
pub(crate) fn assign(cache: &mut Vec<EpochStart>, epoch: u8, offset: u8) {
    if cache.last().is_some_and(|last| last.epoch == epoch && last.offset <= offset) {
        return;
    }
    while cache.last().is_some_and(|e| e.epoch >= epoch || e.offset >= offset) {
        cache.pop();
    }
    cache.push(EpochStart { epoch, offset });
}

/// Appends records as they are; each new epoch gets its entry (G2). They are written over what
/// was cut off there and may still be on the disk.
fn append(broker: &mut BrokerView, records: &[Record]) {
    let over = records.len().min(broker.cut_off.len());
    broker.cut_off.drain(..over);
    for record in records {
        let offset = leo(broker);
        assign(&mut broker.epochs, record.epoch, offset);
        broker.log.push(*record);
    }
}

/// T6: cuts the log, for good.
fn cut(actor: &NodeActor, broker: &mut BrokerView, to: u8) {
    let off = broker.log.get(usize::from(to)..).unwrap_or_default();
    if !off.is_empty() && !(actor.rules.cut_is_durable)() {
        broker.cut_off = [off, &broker.cut_off].concat();
    }
    truncate(actor, broker, to);
}

/// T6: cuts the log to `to` records, and its cache with it. The high watermark follows the log end
/// down.
fn truncate(actor: &NodeActor, broker: &mut BrokerView, to: u8) {
    let end = leo(broker);
    let to = to.min(end);
    broker.log.truncate(usize::from(to));
    broker.epochs = (actor.rules.cut_cache)(std::mem::take(&mut broker.epochs), to, end);
    broker.hw = broker.hw.min(to);
}

/// The process ends: all that is not on disk is gone, and of the log `keep` records are left. The
/// state is what a recovery finds, which drops epoch entries at or past the log end (D5), and
/// takes whatever is valid behind the log's end, if anything was left there (B77).
fn die(actor: &NodeActor, broker: &mut BrokerView, life: Life, keep: u8) {
    let left = std::mem::take(&mut broker.cut_off);
    let scans = life != Life::Stopped && keep == leo(broker);
    truncate(actor, broker, keep);
    broker.epochs.retain(|e| e.offset < keep);
    if scans {
        append(broker, &left);
    }
    broker.life = life;
    broker.role = Role::None;
    broker.partition_epoch = 0;
    broker.hw = 0;
    broker.proposed_at = None;
    broker.waiting.clear();
    broker.diverged = None;
}

#[cfg(test)]
mod tests;
