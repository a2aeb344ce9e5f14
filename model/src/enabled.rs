//! What can happen in a state: messages that can be read, and what clients, machines and the
//! controller's sessions can do within the budgets. Whatever heals needs none.

use klog_trace::action::Node;
use klog_trace::view::Life;
use klog_trace::{Action, BrokerView, Envelope};

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
                each(Action::Restart { broker: n });
                // The process died, and then the machine.
                if broker.life == Life::Crashed {
                    enabled_power_losses(row, n, broker, each);
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
        (1..=unread).for_each(|records| each(Action::ApplyMetadata { broker: n, records }));
        if broker.leads().is_some() {
            if row.client().produced < self.bounds.records {
                let acks = self.bounds.acks.iter();
                acks.for_each(|&acks| each(Action::Produce { broker: n, acks }));
            }
            if row.has_verdict(n) {
                each(Action::Verdict { broker: n });
            }
            if budgets.lag_checks > 0 && row.can_shrink(n) {
                each(Action::LagCheck { broker: n });
            }
        }
        if budgets.checkpoints > 0 && broker.hw != broker.hw_checkpoint {
            each(Action::Checkpoint { broker: n });
        }
        if budgets.crashes > 0 {
            each(Action::Crash { broker: n });
        }
        enabled_power_losses(row, n, broker, each);
    }

    fn enabled_controller(&self, row: &Whole<'_>, each: &mut impl FnMut(Action)) {
        let (image, moves) = (&row.controller().image, row.budgets().moves);
        for n in 1..=self.bounds.brokers {
            let broker = row.broker(n);
            let active = image.is_active(n);
            if active && broker.life != Life::Up {
                each(Action::Fence { broker: n });
            }
            if !active && broker.life == Life::Up && row.has_metadata(n) {
                each(Action::Unfence { broker: n });
            }
            let movable = active && image.isr.contains(&n) && image.leader.is_some_and(|l| l != n);
            if moves > 0 && movable {
                each(Action::Move { to: n });
            }
        }
    }
}

/// The machine loses power and keeps any part of the log, also if the process is dead already.
fn enabled_power_losses(
    row: &Whole<'_>,
    n: Node,
    broker: &BrokerView,
    each: &mut impl FnMut(Action),
) {
    if row.budgets().power_losses > 0 {
        let keeps = 0..=broker.log.len() as u8;
        keeps.for_each(|keep| each(Action::PowerLoss { broker: n, keep }));
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
