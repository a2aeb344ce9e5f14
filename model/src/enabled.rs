//! What can happen in a state: messages that can be read, and what clients, machines and the
//! controller's sessions can do within the budgets. Whatever heals needs none.

use klog_trace::action::Node;
use klog_trace::view::Life;
use klog_trace::{Action, BrokerView};

use crate::network::{InFlight, Kind};
use crate::row::Row;
use crate::system::System;

impl System {
    /// Everything that can happen in `row`, in a fixed order.
    pub fn enabled(&self, row: &Row, actions: &mut Vec<Action>) {
        let read = row.network.heads().filter(|message| row.is_reachable(message.to));
        actions.extend(read.map(delivery));
        for n in 1..=self.bounds.brokers {
            let broker = row.broker(n);
            if broker.life == Life::Up {
                self.enabled_up(row, n, broker, actions);
            } else {
                actions.push(Action::Restart { broker: n });
                // The process died, and then the machine.
                if broker.life == Life::Crashed {
                    enabled_power_losses(row, n, broker, actions);
                }
            }
        }
        self.enabled_controller(row, actions);
    }

    fn enabled_up(&self, row: &Row, n: Node, broker: &BrokerView, actions: &mut Vec<Action>) {
        let budgets = &row.budgets;
        let unread = row.network.unread(n) as u8;
        actions.extend((1..=unread).map(|records| Action::ApplyMetadata { broker: n, records }));
        if broker.leads().is_some() {
            if row.client().produced < self.bounds.records {
                let acks = self.bounds.acks.iter();
                actions.extend(acks.map(|&acks| Action::Produce { broker: n, acks }));
            }
            if row.has_verdict(n) {
                actions.push(Action::Verdict { broker: n });
            }
            if budgets.lag_checks > 0 && row.can_shrink(n) {
                actions.push(Action::LagCheck { broker: n });
            }
        }
        if budgets.checkpoints > 0 && broker.hw != broker.hw_checkpoint {
            actions.push(Action::Checkpoint { broker: n });
        }
        if budgets.crashes > 0 {
            actions.push(Action::Crash { broker: n });
        }
        enabled_power_losses(row, n, broker, actions);
    }

    fn enabled_controller(&self, row: &Row, actions: &mut Vec<Action>) {
        let image = &row.controller().image;
        for n in 1..=self.bounds.brokers {
            let broker = row.broker(n);
            let active = image.is_active(n);
            if active && broker.life != Life::Up {
                actions.push(Action::Fence { broker: n });
            }
            if !active && broker.life == Life::Up && row.has_metadata(n) {
                actions.push(Action::Unfence { broker: n });
            }
            let movable = active && image.isr.contains(&n) && image.leader.is_some_and(|l| l != n);
            if row.budgets.moves > 0 && movable {
                actions.push(Action::Move { to: n });
            }
        }
    }
}

/// The machine loses power and keeps any part of the log, also if the process is dead already.
fn enabled_power_losses(row: &Row, n: Node, broker: &BrokerView, actions: &mut Vec<Action>) {
    if row.budgets.power_losses > 0 {
        let keeps = 0..=broker.log.len() as u8;
        actions.extend(keeps.map(|keep| Action::PowerLoss { broker: n, keep }));
    }
}

fn delivery(m: &InFlight) -> Action {
    let InFlight { from, to, connection, .. } = *m;
    match Kind::of(&m.message) {
        Kind::Fetch => Action::DeliverFetch { from, to, connection },
        Kind::FetchAnswer => Action::DeliverFetchAnswer { from, to },
        Kind::AlterPartition => Action::DeliverAlterPartition { from, connection },
        Kind::AlterPartitionAnswer => Action::DeliverAlterPartitionAnswer { to },
    }
}
