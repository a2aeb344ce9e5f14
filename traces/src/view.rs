//! What can be seen of a node: its complete state in the shared vocabulary.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::Node;
use crate::bounds::{Elr, Unclean};
use crate::ghost::Ghost;
use crate::message::Member;

/// One record: the epoch of the leader that appended it, and its value (the n-th value that any
/// client ever produced is n).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(from = "(u8, u8)", into = "(u8, u8)")]
pub struct Record {
    /// Leader epoch.
    pub epoch: u8,
    /// Value.
    pub value: u8,
}

impl From<(u8, u8)> for Record {
    fn from((epoch, value): (u8, u8)) -> Self {
        Self { epoch, value }
    }
}

impl From<Record> for (u8, u8) {
    fn from(r: Record) -> Self {
        (r.epoch, r.value)
    }
}

/// An entry of the leader-epoch cache, or an answer made from it: an epoch and an offset.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(from = "(u8, u8)", into = "(u8, u8)")]
pub struct EpochStart {
    /// Leader epoch.
    pub epoch: u8,
    /// First offset of the epoch (in an answer: where the epoch ends, exclusive).
    pub offset: u8,
}

impl From<(u8, u8)> for EpochStart {
    fn from((epoch, offset): (u8, u8)) -> Self {
        Self { epoch, offset }
    }
}

impl From<EpochStart> for (u8, u8) {
    fn from(e: EpochStart) -> Self {
        (e.epoch, e.offset)
    }
}

/// A broker as the controller registered it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct BrokerState {
    /// Broker epoch of the registered life.
    pub epoch: u8,
    /// Fenced brokers are no members of an ISR and lead nothing.
    pub state: Session,
}

/// Whether the controller counts a broker in.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Session {
    /// It may lead and be a member.
    Active,
    /// It may not.
    Fenced,
    /// It is on its way down and may not (B5).
    ShuttingDown,
}

/// What a leader knows of one follower.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Which follower.
    pub broker: Node,
    /// Its LEO as its last good fetch of this epoch told; none: not heard in this epoch.
    pub leo: Option<u8>,
    /// The broker epoch that fetch carried.
    pub broker_epoch: Option<u8>,
    /// How recently it was heard; none where the clock is slow, since nothing is recent there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard: Option<Heard>,
}

/// What of a follower is recent, which is: since the clock last jumped past the lag limit.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Heard {
    /// Whether it was caught up recently (U2, second half of C1).
    pub caught_up: bool,
    /// The leader's LEO at its previous fetch; none if that fetch is not recent.
    pub previous: Option<u8>,
}

/// A change of the ISR that the leader proposed and whose outcome it does not know.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Proposal {
    /// The ISR it wants, ascending. Members count in the maximal ISR from now on (E2), and those
    /// that shall leave count still (S2).
    pub isr: Vec<Member>,
    /// What is known of its fate.
    pub outcome: Outcome,
}

/// What a leader knows of the fate of its proposal.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Not decided as far as is known; sent again if it got lost (R4).
    Open,
    /// An earlier try may have been applied; only metadata can tell (R3).
    Unknown,
}

/// An acks=all produce that waits for the high watermark.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Waiting {
    /// Offset of the record; it is committed when HW > offset.
    pub offset: u8,
    /// Its value.
    pub value: u8,
    /// The leader epoch it was appended in (B70).
    pub epoch: u8,
}

/// What a broker believes it is.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(tag = "is", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Role {
    /// It has applied no metadata since it started.
    None,
    /// It leads in `epoch`.
    Leader {
        /// Leader epoch.
        epoch: u8,
        /// Its LEO when the epoch began.
        epoch_start: u8,
        /// The committed ISR, ascending.
        isr: Vec<Node>,
        /// The proposal whose outcome is open.
        pending: Option<Proposal>,
        /// Every other replica, ascending.
        followers: Vec<Progress>,
        /// `min.insync.replicas` as the metadata it applied says.
        min_isr: u8,
        /// Every broker's registration as the metadata it applied says, broker 1 first.
        known: Vec<BrokerState>,
    },
    /// It follows `leader` (none: the partition has no leader) in `epoch`.
    Follower {
        /// Leader epoch.
        epoch: u8,
        /// Whom it fetches from.
        leader: Option<Node>,
    },
}

impl Role {
    /// The leader epoch; none before the first metadata of a life.
    pub fn epoch(&self) -> Option<u8> {
        match *self {
            Self::None => None,
            Self::Leader { epoch, .. } | Self::Follower { epoch, .. } => Some(epoch),
        }
    }
}

/// Whether a broker's process runs, and how it ended if not.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Life {
    /// It runs.
    Up,
    /// The process died; the machine runs on, so nothing written is lost.
    Crashed,
    /// The machine lost power; the unflushed end of the log may be lost.
    PowerLost,
    /// It was shut down; everything is on disk, and a marker with its broker epoch says so (D3).
    Stopped,
}

/// A broker's complete state. A dead broker has role none, HW 0 and partition epoch 0; its log is
/// what a recovery would find.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct BrokerView {
    /// Whether the process runs.
    pub life: Life,
    /// Broker epoch of its present life (dead: of its last).
    pub broker_epoch: u8,
    /// What it believes it is.
    pub role: Role,
    /// Newest partition epoch it has learnt.
    pub partition_epoch: u8,
    /// The log, offset 0 first.
    pub log: Vec<Record>,
    /// Leader-epoch cache, ascending.
    pub epochs: Vec<EpochStart>,
    /// High watermark, exclusive.
    pub hw: u8,
    /// The checkpointed high watermark on disk.
    pub hw_checkpoint: u8,
    /// The proposal on its way to the controller, also when it is void by now (S3): the leader
    /// epoch and the partition epoch it was made at.
    pub proposed_at: Option<(u8, u8)>,
    /// acks=all produces that are not answered, oldest first.
    pub waiting: Vec<Waiting>,
    /// Where the leader's log ends the asked epoch, as long as this log is not cut there (only
    /// where a cut is a step of its own).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diverged: Option<EpochStart>,
    /// Records that were cut off the log and are still on the disk behind its end (only where a
    /// cut is not durable).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut_off: Vec<Record>,
}

impl BrokerView {
    /// The effective minimum size of the ISR as this leader of `brokers` replicas knows it.
    pub fn known_min_isr(&self, brokers: Node) -> Option<u8> {
        match self.role {
            Role::Leader { min_isr, .. } => Some(min_isr.min(brokers)),
            _ => None,
        }
    }

    /// The epoch this broker believes it leads in, if it does.
    pub fn leads(&self) -> Option<u8> {
        match self.role {
            Role::Leader { epoch, .. } => Some(epoch),
            _ => None,
        }
    }
}

/// The controller's complete state.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct ControllerView {
    /// What the newest metadata record says.
    pub image: crate::message::Image,
    /// The broker epoch it gave out last.
    pub last_broker_epoch: u8,
}

/// What a property may look at. A model state, a replayed cluster and a line of a trace each
/// implement it, so that one property judges all three.
pub trait World {
    /// How many brokers there are; they are numbered 1 to this.
    fn brokers(&self) -> Node;
    /// A broker's complete state.
    fn broker(&self, broker: Node) -> &BrokerView;
    /// The controller's complete state.
    fn controller(&self) -> &ControllerView;
    /// How the controller elects.
    fn policy(&self) -> Policy;
    /// What was promised so far.
    fn ghost(&self) -> &Ghost;

    /// Whether the broker's process runs.
    fn is_up(&self, broker: Node) -> bool {
        self.broker(broker).life == Life::Up
    }
    /// The broker's log, offset 0 first.
    fn log(&self, broker: Node) -> &[Record] {
        &self.broker(broker).log
    }
    /// The broker's high watermark, exclusive; 0 while it is down.
    fn hw(&self, broker: Node) -> u8 {
        self.broker(broker).hw
    }
    /// How far consumers may read there.
    fn readable(&self, broker: Node) -> u8 {
        self.hw(broker)
    }
    /// The end of the log that the broker tells a consumer who asks for it, if it leads and tells
    /// one (KIP-207).
    fn told_end(&self, broker: Node) -> Option<u8> {
        match self.broker(broker).role {
            Role::Leader { epoch_start, .. } if self.hw(broker) >= epoch_start => {
                Some(self.hw(broker))
            }
            _ => None,
        }
    }
    /// The epoch the broker believes it leads in, if it does.
    fn leads(&self, broker: Node) -> Option<u8> {
        self.broker(broker).leads()
    }
    /// Every broker's number.
    fn nodes(&self) -> std::ops::RangeInclusive<Node> {
        1..=self.brokers()
    }
    /// Whether the broker runs, or was shut down in order, in the life that the controller knows.
    fn is_intact(&self, broker: Node) -> bool {
        let BrokerView { life, broker_epoch, .. } = *self.broker(broker);
        let registered = self.controller().image.registered(broker).epoch;
        registered == broker_epoch && matches!(life, Life::Up | Life::Stopped)
    }
    /// Whether the broker runs and believes it leads in the controller's newest epoch.
    fn leads_now(&self, broker: Node) -> bool {
        self.is_up(broker) && self.leads(broker) == Some(self.controller().image.leader_epoch)
    }
    /// The minimum size of the ISR that the controller goes by: never more than there are replicas.
    fn min_isr(&self) -> u8 {
        self.controller().image.min_isr.min(self.brokers())
    }
}

/// What the controller is configured to do when it elects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Whether it keeps eligible leader replicas.
    pub elr: Elr,
    /// Whether it may elect uncleanly.
    pub unclean: Unclean,
}
