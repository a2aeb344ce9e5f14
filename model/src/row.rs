//! One state of the whole, and what may be asked of it.

use std::sync::Arc;

use klog_trace::action::Node;
use klog_trace::trace::Bounds;
use klog_trace::view::{Life, Role};
use klog_trace::{Action, BrokerView, EpochStart, Ghost, Record, World};

use smallvec::SmallVec;

use crate::broker::{epoch_of, leader};
use crate::network::Network;
use crate::node::NodeState;

/// How often the environment may still perturb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Budgets {
    /// Leadership moves.
    pub moves: u8,
    /// Process crashes.
    pub crashes: u8,
    /// Power losses.
    pub power_losses: u8,
    /// Clock jumps past the lag limit.
    pub lag_checks: u8,
    /// High watermark checkpoints.
    pub checkpoints: u8,
}

impl Budgets {
    /// The whole budget.
    pub fn of(bounds: &Bounds) -> Self {
        Self {
            moves: bounds.moves,
            crashes: bounds.crashes,
            power_losses: bounds.power_losses,
            lag_checks: bounds.lag_checks,
            checkpoints: bounds.checkpoints,
        }
    }

    /// Takes a perturbation from its budget; healing takes nothing.
    pub fn spend(&mut self, action: Action) {
        let budget = match action {
            Action::Move { .. } => &mut self.moves,
            Action::Crash { .. } => &mut self.crashes,
            Action::PowerLoss { .. } => &mut self.power_losses,
            Action::LagCheck { .. } => &mut self.lag_checks,
            Action::Checkpoint { .. } => &mut self.checkpoints,
            _ => return,
        };
        *budget -= 1;
    }
}

/// One state of the whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// The controller, the brokers from 1 on, the clients.
    pub nodes: SmallVec<[Arc<NodeState>; 5]>,
    /// What is in flight.
    pub network: Network,
    /// What may still go wrong.
    pub budgets: Budgets,
    /// What was promised.
    pub ghost: Arc<Ghost>,
}

impl Row {
    /// Whether a waiting produce of this broker is decided.
    pub fn has_verdict(&self, n: Node) -> bool {
        let broker = self.broker(n);
        match &broker.role {
            Role::Leader { waiting, .. } => waiting.iter().any(|w| w.offset < broker.hw),
            _ => false,
        }
    }

    /// Whether a lag check would make this leader propose a shrink.
    pub fn can_shrink(&self, n: Node) -> bool {
        let broker = self.broker(n);
        let free = matches!(&broker.role, Role::Leader { pending: None, .. });
        free && broker.proposed_at.is_none() && !leader::laggards(broker).is_empty()
    }

    /// Whether the broker has applied metadata since it started.
    pub fn has_metadata(&self, n: Node) -> bool {
        self.broker(n).role != Role::None
    }
}

/// The broker's leader epoch, if it is newer than `epoch`.
pub(crate) fn newer_than(broker: &BrokerView, epoch: u8) -> Option<u8> {
    epoch_of(&broker.role).filter(|mine| *mine > epoch)
}

/// A row as properties see it.
#[derive(Clone, Copy)]
pub struct RowView<'a> {
    /// The state.
    pub row: &'a Row,
    /// Number of brokers.
    pub brokers: Node,
    /// Effective minimum size of the ISR.
    pub min_isr: u8,
}

impl World for RowView<'_> {
    fn brokers(&self) -> Node {
        self.brokers
    }
    fn is_up(&self, broker: Node) -> bool {
        self.row.broker(broker).life == Life::Up
    }
    fn log(&self, broker: Node) -> &[Record] {
        &self.row.broker(broker).log
    }
    fn epochs(&self, broker: Node) -> &[EpochStart] {
        &self.row.broker(broker).epochs
    }
    fn hw(&self, broker: Node) -> u8 {
        self.row.broker(broker).hw
    }
    fn leads(&self, broker: Node) -> Option<u8> {
        self.row.broker(broker).leads()
    }
    fn leader_epoch(&self) -> u8 {
        self.row.controller().image.leader_epoch
    }
    fn isr(&self) -> &[Node] {
        &self.row.controller().image.isr
    }
    fn min_isr(&self) -> u8 {
        self.min_isr
    }
    fn ghost(&self) -> &Ghost {
        &self.row.ghost
    }
}
