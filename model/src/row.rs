//! One state of the whole, and what may be asked of it.

use klog_trace::action::Node;
use klog_trace::trace::{Bounds, Budget};
use klog_trace::view::{Life, Policy, Role};
use klog_trace::{Action, BrokerView, ControllerView, Ghost, Image, World};
use levelwise::system::State;

use crate::broker::isr;
use crate::client::Client;
use crate::network;
use crate::node::{NodeActor, NodeState};
use crate::system::Partition;

/// One state of the whole: the nodes (the controller, the brokers from 1 on, the clients), what is
/// in flight, the budgets, and as its world the ghost.
pub type Whole<'a> = State<'a, Partition>;

/// How often the environment may still perturb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budgets([u8; Budgets::BYTES]);

impl Budgets {
    /// How many words of a state they take.
    pub const WORDS: usize = Budget::ALL.len().div_ceil(4);
    const BYTES: usize = Self::WORDS * 4;

    /// The whole budget.
    pub fn of(bounds: &Bounds) -> Self {
        let mut left = [0; Self::BYTES];
        left[..Budget::ALL.len()].copy_from_slice(&bounds.budgets());
        Self(left)
    }

    /// Whether something is left of one.
    pub fn has(&self, budget: Budget) -> bool {
        self.0[budget as usize] > 0
    }

    /// Takes a perturbation from its budget; healing takes nothing.
    pub fn spend(&mut self, action: Action) {
        if let Some(budget) = Budget::of(action) {
            self.0[budget as usize] -= 1;
        }
    }

    /// As words of a state.
    pub fn words(self) -> [u32; Self::WORDS] {
        let mut words = [0; Self::WORDS];
        for (word, bytes) in words.iter_mut().zip(self.0.chunks_exact(4)) {
            *word = u32::from_le_bytes(bytes.try_into().expect("a chunk of four"));
        }
        words
    }

    /// Of the words of a state.
    pub fn of_words(words: impl Fn(usize) -> u32) -> Self {
        let mut left = [0; Self::BYTES];
        for (n, bytes) in left.chunks_exact_mut(4).enumerate() {
            bytes.copy_from_slice(&words(n).to_le_bytes());
        }
        Self(left)
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

    /// Whether a lag check would make this leader propose a shrink.
    fn can_shrink(&self, actor: &NodeActor, n: Node) -> bool;

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
        Budgets::of_words(|n| self.word(n))
    }

    fn is_reachable(&self, n: Node) -> bool {
        n == klog_trace::action::CONTROLLER || self.broker(n).life == Life::Up
    }

    fn can_shrink(&self, actor: &NodeActor, n: Node) -> bool {
        let broker = self.broker(n);
        isr::may_propose(broker) && !isr::laggards(actor, broker).is_empty()
    }

    fn has_metadata(&self, n: Node) -> bool {
        self.broker(n).role != Role::None
    }

    fn last_published(&self, n: Node) -> Option<u8> {
        let newest: Option<&Image> =
            network::unread(self, n).next_back().map(|record| network::image_of(record));
        newest.map(|image| image.leader_epoch).or_else(|| self.broker(n).role.epoch())
    }
}

/// The broker's leader epoch, if it is newer than `epoch`.
pub(crate) fn newer_than(broker: &BrokerView, epoch: u8) -> Option<u8> {
    broker.role.epoch().filter(|mine| *mine > epoch)
}

/// A state as properties see it.
#[derive(Clone, Copy)]
pub struct RowView<'b, 'a> {
    /// The state.
    pub row: &'b Whole<'a>,
    /// Whose state it is.
    pub partition: &'b Partition,
}

impl World for RowView<'_, '_> {
    fn brokers(&self) -> Node {
        self.partition.bounds.brokers
    }
    fn broker(&self, broker: Node) -> &BrokerView {
        self.row.broker(broker)
    }
    fn controller(&self) -> &ControllerView {
        self.row.controller()
    }
    fn policy(&self) -> Policy {
        self.partition.actor.policy
    }
    fn ghost(&self) -> &Ghost {
        self.row.world()
    }
    fn readable(&self, broker: Node) -> u8 {
        let BrokerView { hw, log, .. } = self.row.broker(broker);
        (self.partition.actor.rules.readable)(*hw, log.len() as u8)
    }
    fn told_end(&self, broker: Node) -> Option<u8> {
        let BrokerView { hw, role, .. } = self.row.broker(broker);
        match *role {
            Role::Leader { epoch_start, .. } => {
                (self.partition.actor.rules.told_end)(*hw, epoch_start)
            }
            _ => None,
        }
    }
}
