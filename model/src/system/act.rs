//! What a step does: who reacts, what is put on its way, what the ghost remembers.
//!
//! An environment event is an event to one actor or a function of the row; perturbations have
//! budgets, healing has none.

use klog_trace::action::{CONTROLLER, Connection, Node};
use klog_trace::trace::Interleaving;
use klog_trace::{Action, World as _};
use levelwise::system::{Effect, Reaction, Step};
use smallvec::SmallVec;

use super::partition::{Letter, Partition};
use crate::network::{self, Flying, Kind};
use crate::node::Event;
use crate::row::{Budgets, Row};

type Making<'b, 'a> = Step<'b, 'a, Partition>;

impl Partition {
    /// Lets one enabled thing happen, and takes out of flight what is doomed then.
    pub(crate) fn take_step(&self, step: &mut Making<'_, '_>, action: Action) {
        self.step_keeping(step, action);
        let flights = step.state.flights().iter().enumerate();
        let doomed = flights.filter(|(_, flight)| {
            flight.message().message().is_some_and(|m| self.doomed(step.state, m))
        });
        let doomed: SmallVec<[usize; 4]> = doomed.map(|(at, _)| at).collect();
        for (gone, at) in doomed.into_iter().enumerate() {
            let discarded = step.remove(at - gone);
            step.told.discarded.push(discarded.number());
        }
    }

    /// Lets one enabled thing happen; everything that is in flight stays there.
    pub(crate) fn step_keeping(&self, step: &mut Making<'_, '_>, action: Action) {
        self.act(step, action);
        if self.bounds.interleaving == Interleaving::Merged
            && let Action::DeliverFetch { from: follower, to: leader, .. } = action
        {
            self.read_idle_answer(step, leader, follower);
        }
        self.remember(step, action);
    }

    fn act(&self, step: &mut Making<'_, '_>, action: Action) {
        match action {
            Action::Produce { broker: to, acks } => {
                let client = self.bounds.brokers + 1;
                self.react(step, client, client, Event::Produce { to, acks, value: 0 });
            }
            Action::DeliverFetch { from, to, connection } => {
                self.deliver(step, from, to, connection, Kind::Fetch);
            }
            Action::DeliverFetchAnswer { from, to } => {
                self.deliver(step, from, to, Connection::Open, Kind::FetchAnswer);
            }
            Action::DeliverAlterPartition { from, connection } => {
                self.deliver(step, from, CONTROLLER, connection, Kind::AlterPartition);
            }
            Action::DeliverAlterPartitionAnswer { to } => {
                let kind = Kind::AlterPartitionAnswer;
                self.deliver(step, CONTROLLER, to, Connection::Open, kind);
            }
            Action::ApplyMetadata { broker, records } => {
                let newest = network::read(step, broker, records);
                let newest = newest.expect("an enabled action applies at least one record");
                let reaction = step.react_to_message(broker.into(), newest);
                self.send_all(step, broker, reaction);
            }
            Action::Verdict { broker } => self.react(step, broker, broker, Event::Verdict),
            Action::LagCheck { broker } => self.react(step, broker, broker, Event::LagCheck),
            Action::Checkpoint { broker } => self.react(step, broker, broker, Event::Checkpoint),
            Action::Crash { broker } => self.die(step, broker, Event::Crash),
            Action::PowerLoss { broker, keep } => {
                self.die(step, broker, Event::PowerLoss { keep });
            }
            Action::Stop { broker } => self.die(step, broker, Event::Stop),
            Action::Restart { broker } => {
                let registered = step.before.controller().image.registered(broker);
                // B1: else it is refused (101), and tries again.
                if (self.actor.rules.may_register)(registered.state) {
                    self.react(step, broker, broker, Event::Restart);
                }
            }
            Action::Resend { broker } => self.react(step, broker, broker, Event::Resend),
            Action::TimeOut { broker } => self.react(step, broker, broker, Event::TimeOut),
            Action::Truncate { broker } => self.react(step, broker, broker, Event::Truncate),
            Action::Reset { one, other } => self.reset(step, one, other),
            Action::Fence { broker } | Action::FenceRunning { broker } => {
                self.react_controller(step, Event::Fence { broker });
            }
            Action::Unfence { broker } => self.react_controller(step, Event::Unfence { broker }),
            Action::ShutDown { broker } => self.react_controller(step, Event::ShutDown { broker }),
            Action::Move { to } => self.react_controller(step, Event::Move { to }),
            Action::ChangeMinIsr { to } => self.react_controller(step, Event::ChangeMinIsr { to }),
            Action::Tick { broker } => self.react(step, broker, broker, Event::Tick),
            Action::ClockJump => self.react_brokers(step, &Event::ClockJump),
            Action::ClockSetback => self.react_brokers(step, &Event::ClockSetback),
        }
        let mut budgets: Budgets = step.state.budgets();
        budgets.spend(action);
        for (n, word) in budgets.words().into_iter().enumerate() {
            step.set_word(n, word);
        }
    }

    fn die(&self, step: &mut Making<'_, '_>, broker: Node, event: Event) {
        // Nobody but the broker itself is reached less than before this step.
        let before = step.before;
        network::cut_off(step, broker, |n| before.is_reachable(n));
        self.react(step, broker, broker, event);
    }

    fn reset(&self, step: &mut Making<'_, '_>, one: Node, other: Node) {
        network::reset(step, one, other);
        for (me, from) in [(one, other), (other, one)] {
            if me != CONTROLLER {
                self.react(step, me, me, Event::Disconnected { from });
            }
        }
    }

    fn deliver(&self, step: &mut Making<'_, '_>, from: Node, to: Node, on: Connection, kind: Kind) {
        let message = network::take(step, from, to, on, kind);
        let message = message.expect("an enabled action delivers a message");
        let message = if (self.actor.rules.sends_what_was_read)() {
            message
        } else {
            network::read_again(step, message)
        };
        step.told.unread = on == Connection::Broken;
        let reaction = step.react_to_message(to.into(), message);
        self.send_all(step, to, reaction);
    }

    /// One actor reacts, and what it sends is put on its way.
    fn react(&self, step: &mut Making<'_, '_>, me: Node, src: Node, event: Event) {
        let reaction = step.react_to_event(me.into(), &Letter { peer: src, event });
        self.send_all(step, me, reaction);
    }

    /// Every broker reacts, and nobody sends anything.
    fn react_brokers(&self, step: &mut Making<'_, '_>, event: &Event) {
        (1..=self.bounds.brokers).for_each(|n| self.react(step, n, n, event.clone()));
    }

    fn react_controller(&self, step: &mut Making<'_, '_>, event: Event) {
        self.react(step, CONTROLLER, CONTROLLER, event);
    }

    /// What an actor sends is put on its way.
    pub(crate) fn send_all(&self, step: &mut Making<'_, '_>, me: Node, reaction: Reaction) {
        for n in reaction.effects() {
            match step.effect(n) {
                Effect::Send(number) => self.send(step, number),
                Effect::Event(Letter { peer, event }) => {
                    if let Event::Answer(answer) = event {
                        step.told.answers.push(answer);
                    }
                    self.react(step, peer, me, event);
                }
            }
        }
    }

    fn send(&self, step: &mut Making<'_, '_>, number: u32) {
        match step.message(number) {
            Flying::Message(message) => {
                step.told.sent.push(number);
                let kind = message.kind();
                let is_answer = matches!(kind, Kind::FetchAnswer | Kind::AlterPartitionAnswer);
                let unread = is_answer && step.told.unread;
                let tries_again = kind == Kind::Fetch;
                let reached = || step.state.is_reachable(message.envelope.to);
                if !unread && (tries_again || reached()) {
                    step.put(number);
                }
            }
            // The controller's publication: one more record for every broker that runs.
            Flying::Record(n, image) => {
                if step.state.is_reachable(*n) && self.concerns(step.state, *n, image) {
                    step.put(number);
                    step.told.published_to.push(*n);
                }
            }
        }
    }

    /// The ghost sees what the step shows.
    fn remember(&self, step: &mut Making<'_, '_>, action: Action) {
        let (before, after) = (self.view(step.before), self.view(step.state));
        let ghost = before.ghost().after(&before, &after, action, &step.told.answers);
        if let Some(ghost) = ghost {
            step.set_world(ghost);
        }
    }
}
