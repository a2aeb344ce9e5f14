//! One state of the whole, and what may be asked of it.

use klog_trace::action::Node;
use klog_trace::trace::Bounds;
use klog_trace::view::{Life, Role};
use klog_trace::{Action, BrokerView, ControllerView, EpochStart, Ghost, Image, Record, World};
use levelwise::system::State;

use crate::broker::{epoch_of, leader};
use crate::client::Client;
use crate::network;
use crate::node::NodeState;
use crate::system::Partition;

/// One state of the whole: the nodes (the controller, the brokers from 1 on, the clients), what is
/// in flight, the budgets, and as its world the ghost.
pub type Whole<'a> = State<'a, Partition>;

/// How often the environment may still perturb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// How many words of a state they take.
    pub const WORDS: usize = 2;

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

    /// As words of a state.
    pub fn words(self) -> [u32; Self::WORDS] {
        let Self { moves, crashes, power_losses, lag_checks, checkpoints } = self;
        [u32::from_le_bytes([moves, crashes, power_losses, lag_checks]), u32::from(checkpoints)]
    }

    /// Of the words of a state.
    pub fn of_words(first: u32, second: u32) -> Self {
        let [moves, crashes, power_losses, lag_checks] = first.to_le_bytes();
        let checkpoints = second as u8;
        Self { moves, crashes, power_losses, lag_checks, checkpoints }
    }
}

/// What may be asked of a state.
pub trait Row<'a> {
    /// The broker's state.
    fn broker(&self, n: Node) -> &'a BrokerView;

    /// The controller's state.
    fn controller(&self) -> &'a ControllerView;

    /// The clients' state.
    fn client(&self) -> &'a Client;

    /// What was promised.
    fn ghost(&self) -> &'a Ghost;

    /// What may still go wrong.
    fn budgets(&self) -> Budgets;

    /// Whether the node's process runs.
    fn is_reachable(&self, n: Node) -> bool;

    /// Whether a waiting produce of this broker is decided.
    fn has_verdict(&self, n: Node) -> bool;

    /// Whether a lag check would make this leader propose a shrink.
    fn can_shrink(&self, n: Node) -> bool;

    /// Whether the broker has applied metadata since it started.
    fn has_metadata(&self, n: Node) -> bool;

    /// The leader epoch of the newest record this broker can apply, or has applied.
    fn last_published(&self, n: Node) -> Option<u8>;
}

impl<'a> Row<'a> for Whole<'a> {
    fn broker(&self, n: Node) -> &'a BrokerView {
        match self.local(n.into()) {
            NodeState::Broker(broker) => broker,
            _ => unreachable!("{n} is a broker"),
        }
    }

    fn controller(&self) -> &'a ControllerView {
        match self.local(0) {
            NodeState::Controller(controller) => controller,
            _ => unreachable!("0 is the controller"),
        }
    }

    fn client(&self) -> &'a Client {
        match self.local(self.actors() - 1) {
            NodeState::Client(client) => client,
            _ => unreachable!("the last node is the client"),
        }
    }

    fn ghost(&self) -> &'a Ghost {
        self.world()
    }

    fn budgets(&self) -> Budgets {
        Budgets::of_words(self.word(0), self.word(1))
    }

    fn is_reachable(&self, n: Node) -> bool {
        n == klog_trace::action::CONTROLLER || self.broker(n).life == Life::Up
    }

    fn has_verdict(&self, n: Node) -> bool {
        let broker = self.broker(n);
        match &broker.role {
            Role::Leader { waiting, .. } => waiting.iter().any(|w| w.offset < broker.hw),
            _ => false,
        }
    }

    fn can_shrink(&self, n: Node) -> bool {
        let broker = self.broker(n);
        let free = matches!(&broker.role, Role::Leader { pending: None, .. });
        free && broker.proposed_at.is_none() && !leader::laggards(broker).is_empty()
    }

    fn has_metadata(&self, n: Node) -> bool {
        self.broker(n).role != Role::None
    }

    fn last_published(&self, n: Node) -> Option<u8> {
        let newest: Option<&Image> =
            network::unread(self, n).next_back().map(|record| network::image_of(record));
        newest.map(|image| image.leader_epoch).or_else(|| epoch_of(&self.broker(n).role))
    }
}

/// The broker's leader epoch, if it is newer than `epoch`.
pub(crate) fn newer_than(broker: &BrokerView, epoch: u8) -> Option<u8> {
    epoch_of(&broker.role).filter(|mine| *mine > epoch)
}

/// A state as properties see it.
#[derive(Clone, Copy)]
pub struct RowView<'b, 'a> {
    /// The state.
    pub row: &'b Whole<'a>,
    /// Number of brokers.
    pub brokers: Node,
    /// Effective minimum size of the ISR.
    pub min_isr: u8,
}

impl World for RowView<'_, '_> {
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
        self.row.world()
    }
}
