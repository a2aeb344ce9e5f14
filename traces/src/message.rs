//! What is in flight between nodes, and what a client is told.
//!
//! The fields are those a receiver decides on. Epochs, offsets and values are small numbers
//! here; the adapter checks that the real frames carry the same ones.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::Node;
use crate::view::{BrokerState, EpochStart, Record, Session};

/// The broker epochs of a proposal's members; `None` is a member that never fetched (P1).
pub type Member = (Node, Option<u8>);

/// A message between two nodes.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are said in their variant's sentence")]
pub enum Message {
    /// A follower's fetch: `offset` is its LEO, `epoch` the leader epoch it knows,
    /// `last_epoch` the newest epoch of its own log (none: nothing there).
    Fetch { epoch: u8, offset: u8, last_epoch: Option<u8>, broker_epoch: u8 },
    /// The answer to the fetch made at (`of_epoch`, `of_offset`).
    FetchAnswer {
        of_epoch: u8,
        of_offset: u8,
        error: i16,
        hw: u8,
        records: Vec<Record>,
        diverging: Option<EpochStart>,
    },
    /// A leader's proposal of a new ISR, made at (`leader_epoch`, `partition_epoch`).
    AlterPartition { broker_epoch: u8, leader_epoch: u8, partition_epoch: u8, isr: Vec<Member> },
    /// The controller's answer to the proposal made at (`of_leader_epoch`,
    /// `of_partition_epoch`); `isr` and `partition_epoch` count when `error` is 0.
    AlterPartitionAnswer {
        of_leader_epoch: u8,
        of_partition_epoch: u8,
        error: i16,
        leader_epoch: u8,
        partition_epoch: u8,
        isr: Vec<Node>,
    },
}

/// A message with its ends.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Envelope {
    /// Who sent it.
    pub from: Node,
    /// Who shall read it.
    pub to: Node,
    /// What it says.
    pub message: Arc<Message>,
}

/// The partition and the brokers as the metadata records up to some point say: what a broker
/// that applies them as one acts on (M6).
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// The leader, or none.
    pub leader: Option<Node>,
    /// Grows with each election.
    pub leader_epoch: u8,
    /// Grows with each change of the registration (K1).
    pub partition_epoch: u8,
    /// The in-sync set, ascending.
    pub isr: Vec<Node>,
    /// The eligible leader replicas (KIP-966), ascending.
    pub elr: Vec<Node>,
    /// Who led last, while nobody does (Z3).
    pub last_leader: Option<Node>,
    /// `min.insync.replicas` as configured.
    pub min_isr: u8,
    /// Each broker's registration, broker 1 first.
    pub brokers: Vec<BrokerState>,
}

/// What a producer is told of the value it sent.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct ClientAnswer {
    /// The value that was produced.
    pub value: u8,
    /// Kafka's error code; 0 is success.
    pub error: i16,
    /// Where the value stands, when it was appended.
    pub offset: Option<u8>,
}

impl Image {
    /// The broker's registration.
    pub fn registered(&self, broker: Node) -> BrokerState {
        self.brokers[usize::from(broker) - 1]
    }

    /// Whether the broker is registered and neither fenced nor shutting down.
    pub fn is_active(&self, broker: Node) -> bool {
        self.registered(broker).state == Session::Active
    }
}
