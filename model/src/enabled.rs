//! What can happen in a state: messages that can be read, and what clients, machines and the
//! controller's sessions can do within the budgets. Whatever heals needs none.

use klog_trace::action::Node;
use klog_trace::trace::{Budget, Clock, Flush, Metadata};
use klog_trace::view::{Life, Session};
use klog_trace::{Action, BrokerView, Envelope};

use crate::broker::isr;
use crate::network::{self, InFlight, Kind};
use crate::row::{Row, Whole};
use crate::system::Partition;

impl Partition {
    /// Everything that can happen in `row`, in a fixed order.
    pub(crate) fn enabled(&self, row: &Whole<'_>, each: &mut impl FnMut(Action)) {
        let read = network::heads(row).filter(|message| row.is_reachable(message.envelope.to));
        read.map(delivery).for_each(&mut *each);
        for n in 1..=self.bounds.brokers {
            let broker = row.broker(n);
            if broker.life == Life::Up {
                self.enabled_up(row, n, broker, each);
            } else {
                let registered = row.controller().image.registered(n).state;
                if (self.actor.rules.may_register)(registered) {
                    each(Action::Restart { broker: n });
                }
                // The process died, and then the machine.
                if broker.life == Life::Crashed {
                    self.enabled_power_losses(row, n, broker, each);
                }
            }
        }
        self.enabled_controller(row, each);
    }

    fn enabled_up(
        &self,
        row: &Whole<'_>,
        n: Node,
        broker: &BrokerView,
        each: &mut impl FnMut(Action),
    ) {
        let budgets = row.budgets();
        let unread = network::unread(row, n).count() as u8;
        let unread = match self.bounds.metadata {
            Metadata::Coalesced => unread,
            Metadata::OneByOne => unread.min(1),
        };
        (1..=unread).for_each(|records| each(Action::ApplyMetadata { broker: n, records }));
        if broker.leads().is_some() {
            if row.client().produced < self.bounds.records {
                let acks = self.bounds.acks.iter();
                acks.for_each(|&acks| each(Action::Produce { broker: n, acks }));
            }
            match self.bounds.clock {
                Clock::Exact => each(Action::Tick { broker: n }),
                Clock::Slow if budgets.has(Budget::LagChecks) && row.can_shrink(&self.actor, n) => {
                    each(Action::LagCheck { broker: n });
                }
                Clock::Slow => {}
            }
            if isr::lost_its_proposal(broker) {
                each(Action::Resend { broker: n });
            }
        }
        let decided = broker
            .waiting
            .iter()
            .filter(|w| (self.actor.rules.decides)(**w, broker.leads(), broker.hw));
        let decided = decided.count();
        if decided > 0 {
            each(Action::Verdict { broker: n });
        }
        if budgets.has(Budget::Timeouts) && decided < broker.waiting.len() {
            each(Action::TimeOut { broker: n });
        }
        if broker.diverged.is_some() {
            each(Action::Truncate { broker: n });
        }
        if budgets.has(Budget::Checkpoints) && broker.hw != broker.hw_checkpoint {
            each(Action::Checkpoint { broker: n });
        }
        if budgets.has(Budget::Crashes) {
            each(Action::Crash { broker: n });
        }
        self.enabled_power_losses(row, n, broker, each);
        if budgets.has(Budget::Resets) {
            let others = (0..n).filter(|other| row.is_reachable(*other));
            let busy = others.filter(|other| network::is_busy(row, *other, n));
            busy.for_each(|other| each(Action::Reset { one: other, other: n }));
        }
    }

    fn enabled_controller(&self, row: &Whole<'_>, each: &mut impl FnMut(Action)) {
        let (image, budgets) = (&row.controller().image, row.budgets());
        for n in 1..=self.bounds.brokers {
            let (broker, registered) = (row.broker(n), image.registered(n));
            let up = broker.life == Life::Up;
            let in_session = registered.state != Session::Fenced;
            let active = registered.state == Session::Active;
            if in_session && !up {
                each(Action::Fence { broker: n });
            }
            if in_session && up && budgets.has(Budget::Fences) {
                each(Action::FenceRunning { broker: n });
            }
            if !in_session && up && row.has_metadata(n) && registered.epoch == broker.broker_epoch {
                each(Action::Unfence { broker: n });
            }
            if active && up && budgets.has(Budget::Shutdowns) {
                each(Action::ShutDown { broker: n });
            }
            let leads = image.leader == Some(n) || broker.leads().is_some();
            if registered.state == Session::ShuttingDown && up && !leads {
                each(Action::Stop { broker: n });
            }
            let movable = active && image.isr.contains(&n) && image.leader.is_some_and(|l| l != n);
            if budgets.has(Budget::Moves) && movable {
                each(Action::Move { to: n });
            }
        }
        if budgets.has(Budget::MinIsrChanges) {
            let others = (1..=self.bounds.brokers).filter(|to| *to != image.min_isr);
            others.for_each(|to| each(Action::ChangeMinIsr { to }));
        }
        if self.bounds.clock == Clock::Exact {
            if budgets.has(Budget::ClockJumps) {
                each(Action::ClockJump);
            }
            if budgets.has(Budget::ClockSetbacks) {
                each(Action::ClockSetback);
            }
        }
    }

    /// The machine loses power and keeps a part of the log, also if the process is dead already.
    fn enabled_power_losses(
        &self,
        row: &Whole<'_>,
        n: Node,
        broker: &BrokerView,
        each: &mut impl FnMut(Action),
    ) {
        if row.budgets().has(Budget::PowerLosses) {
            let all = broker.log.len() as u8;
            let may_keep = |keep: &u8| match self.bounds.flush {
                Flush::Any => true,
                Flush::NoneOrAll => *keep == 0 || *keep == all,
            };
            let keeps = (0..=all).filter(may_keep);
            keeps.for_each(|keep| each(Action::PowerLoss { broker: n, keep }));
        }
    }
}

fn delivery(m: &InFlight) -> Action {
    let (&Envelope { from, to, .. }, connection) = (&m.envelope, m.connection);
    match m.kind() {
        Kind::Fetch => Action::DeliverFetch { from, to, connection },
        Kind::FetchAnswer => Action::DeliverFetchAnswer { from, to },
        Kind::AlterPartition => Action::DeliverAlterPartition { from, connection },
        Kind::AlterPartitionAnswer => Action::DeliverAlterPartitionAnswer { to },
    }
}
