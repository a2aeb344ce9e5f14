//! What makes the space smaller without losing a behaviour: messages that nobody would act on,
//! answers that change nothing, metadata records that tell nothing.
//!
//! Each is derived from the rules in force, so that a fault which makes someone act keeps what he
//! acts on. The last two are off under [`Interleaving::Full`]; tests compare both.

use klog_trace::action::{Connection, Node};
use klog_trace::trace::Interleaving;
use klog_trace::{Envelope, EpochStart, Image, Life, Message};
use levelwise::system::Step;

use crate::network::{InFlight, Kind};
use crate::row::{Row, Whole, newer_than};
use crate::system::Partition;

impl Partition {
    /// Reads the answer of `leader` at once if it changes nothing at `follower` but lets it ask
    /// again. Nothing else can tell the state in between from the one after: the follower waits
    /// for this answer alone, and a fetch that is asked again can be read as late as anyone likes.
    pub(crate) fn read_idle_answer(
        &self,
        step: &mut Step<'_, '_, Self>,
        leader: Node,
        follower: Node,
    ) {
        let flights = step.state.flights().iter().enumerate();
        let mut answers = flights.filter(|(_, flight)| {
            flight.message().message().is_some_and(|m| {
                let Envelope { from, to, .. } = m.envelope;
                (from, to) == (leader, follower) && m.kind() == Kind::FetchAnswer
            })
        });
        let (Some((at, &answer)), None) = (answers.next(), answers.next()) else { return };
        let reaction = step.foresee(follower.into(), answer);
        if !reaction.changes() && !reaction.effects().is_empty() {
            step.remove(at);
            step.told.idle = Some(follower);
            self.send_all(step, follower, reaction);
        }
    }

    /// Whether a broker must be able to apply this record alone: the first it sees, a change of
    /// leader, and whatever concerns a leader. To a follower any other record tells nothing it
    /// acts on.
    pub(crate) fn concerns(&self, row: &Whole<'_>, n: Node, image: &Image) -> bool {
        self.bounds.interleaving == Interleaving::Full
            || image.leader == Some(n)
            || row.last_published(n) != Some(image.leader_epoch)
    }

    /// Whether no later state of the message's receiver acts on it, nor anyone on the answer.
    /// Derived from the rules in force: where a fault takes a fence away, nothing is removed.
    pub(crate) fn doomed(&self, row: &Whole<'_>, m: &InFlight) -> bool {
        let rules = &self.actor.rules;
        let Envelope { from, to, ref message } = m.envelope;
        match **message {
            Message::Fetch { epoch, .. } => {
                let newer = |n: Node| newer_than(row.broker(n), epoch);
                let fenced = |mine| (rules.fence)(epoch, Some(mine)).is_some();
                let given_up = newer(from).is_some();
                // A follower with news does not try the dead leader again.
                let unsent = given_up && row.broker(to).life != Life::Up;
                let nobody_waits = m.connection == Connection::Broken || given_up;
                unsent || nobody_waits && newer(to).is_some_and(fenced)
            }
            Message::FetchAnswer { of_epoch, of_offset, diverging, .. } => {
                let of = EpochStart { epoch: of_epoch, offset: of_offset };
                let is_mine = match diverging {
                    Some(_) => rules.diverging_is_mine,
                    None => rules.answer_is_mine,
                };
                newer_than(row.broker(to), of_epoch)
                    .is_some_and(|mine| !is_mine(of, EpochStart { epoch: mine, offset: of_offset }))
            }
            // A live leader's slot is held until the answer comes (S3).
            Message::AlterPartition { partition_epoch, .. } => {
                let void = partition_epoch < row.controller().image.partition_epoch;
                m.connection == Connection::Broken && void
            }
            Message::AlterPartitionAnswer { .. } => false,
        }
    }
}
