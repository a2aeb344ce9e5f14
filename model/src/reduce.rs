//! What makes the space smaller without losing a behaviour: messages that nobody would act on,
//! answers that change nothing, metadata records that tell nothing.
//!
//! Each is derived from the rules in force, so that a fault which makes someone act keeps what he
//! acts on. The last two are off under [`Interleaving::Full`]; tests compare both.

use std::borrow::Cow;
use std::sync::Arc;

use klog_trace::action::{Connection, Node};
use klog_trace::trace::Interleaving;
use klog_trace::{EpochStart, Image, Life, Message};
use stateright::actor::{Actor, Out};

use crate::broker::epoch_of;
use crate::network::{InFlight, Kind};
use crate::node::{Event, NodeState, id};
use crate::row::{Row, newer_than};
use crate::system::{Outcome, System, broker_of, controller_of};

impl System {
    /// Reads the answer of `leader` at once if it changes nothing at `follower` but lets it ask
    /// again. Nothing else can tell the state in between from the one after: the follower waits
    /// for this answer alone, and a fetch that is asked again can be read as late as anyone likes.
    pub(crate) fn read_idle_answer(&self, outcome: &mut Outcome, leader: Node, follower: Node) {
        let row = &outcome.row;
        let answers = row.network.messages().iter().filter(|m| {
            (m.from, m.to) == (leader, follower) && Kind::of(&m.message) == Kind::FetchAnswer
        });
        let mut answers = answers.fuse();
        let (Some(answer), None) = (answers.next(), answers.next()) else { return };
        let state = &Arc::clone(&row.nodes[usize::from(follower)]);
        let mut after = Cow::Borrowed(&**state);
        let mut out = Out::new();
        let event = Event::Peer(Arc::clone(&answer.message));
        self.actor.on_msg(id(follower), &mut after, id(leader), event, &mut out);
        if *after == **state && !out.is_empty() {
            drop(after);
            outcome.row.network.take(leader, follower, Connection::Open, Kind::FetchAnswer);
            outcome.idle = Some(follower);
            self.send_all(outcome, follower, out);
        }
    }

    /// Whether a broker must be able to apply this record alone: the first it sees, a change of
    /// leader, and whatever concerns a leader. To a follower any other record tells nothing it
    /// acts on.
    pub(crate) fn concerns(&self, row: &Row, n: Node, image: &Image) -> bool {
        let before = row.last_published(n);
        self.bounds.interleaving == Interleaving::Full
            || image.leader == Some(n)
            || before != Some(image.leader_epoch)
    }

    /// Whether no later state of the message's receiver acts on it, nor anyone on the answer.
    /// Derived from the rules in force: where a fault takes a fence away, nothing is removed.
    pub(crate) fn doomed(&self, nodes: &[Arc<NodeState>], m: &InFlight) -> bool {
        let rules = &self.actor.rules;
        match *m.message {
            Message::Fetch { epoch, .. } => {
                let newer = |n: Node| newer_than(broker_of(nodes, n), epoch);
                let fenced = |mine| (rules.fence)(epoch, Some(mine)).is_some();
                let given_up = newer(m.from).is_some();
                // A follower with news does not try the dead leader again.
                let unsent = given_up && broker_of(nodes, m.to).life != Life::Up;
                let nobody_waits = m.connection == Connection::Broken || given_up;
                unsent || nobody_waits && newer(m.to).is_some_and(fenced)
            }
            Message::FetchAnswer { of_epoch, of_offset, .. } => {
                let of = EpochStart { epoch: of_epoch, offset: of_offset };
                newer_than(broker_of(nodes, m.to), of_epoch).is_some_and(|mine| {
                    let at_best = EpochStart { epoch: mine, offset: of_offset };
                    !(rules.answer_is_mine)(of, at_best)
                })
            }
            // A live leader's slot is held until the answer comes (S3).
            Message::AlterPartition { partition_epoch, .. } => {
                let void = partition_epoch < controller_of(nodes).image.partition_epoch;
                m.connection == Connection::Broken && void
            }
            Message::AlterPartitionAnswer { .. } => false,
        }
    }
}

impl Row {
    /// The leader epoch of the newest record this broker can apply, or has applied.
    fn last_published(&self, n: Node) -> Option<u8> {
        let unread = self.network.newest_unread(n);
        unread.map(|i| i.leader_epoch).or_else(|| epoch_of(&self.broker(n).role))
    }
}
