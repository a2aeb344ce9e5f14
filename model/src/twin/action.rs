//! What leads from a state to the next, in the words of the published modules.

use std::fmt;

use super::{Id, Order};

/// An action by its published name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Published {
    /// KafkaReplication: the controller makes another member of the ISR the leader.
    ControllerElectLeader,
    /// KafkaReplication: the controller takes a broker out of the ISR that failed.
    ControllerShrinkIsr,
    /// KafkaReplication: a replica takes a request that makes it the leader.
    BecomeLeader,
    /// KafkaReplication: a presumed leader appends a new record.
    LeaderWrite,
    /// KafkaReplication: the true leader takes a replica into the ISR.
    LeaderExpandIsr,
    /// KafkaReplication: the true leader takes a replica out of the ISR.
    LeaderShrinkIsr,
    /// KafkaReplication: a presumed leader moves its high watermark by one.
    LeaderIncHighWatermark,
    /// KafkaReplication: a follower copies the next record of a presumed leader.
    FollowerReplicate,
    /// KafkaTruncateToHighWatermark: a replica follows and cuts its log at its high watermark.
    BecomeFollowerTruncateToHighWatermark,
    /// Kip101: a replica follows and cuts its log by the epoch of its last record.
    BecomeFollowerTruncateKip101,
    /// Kip279: a replica follows and cuts its log where it parts from the leader's.
    BecomeFollowerTruncateKip279,
    /// Kip320FirstTry: as `LeaderExpandIsr`, with the epochs of records compared.
    LeaderExpandIsrBetterFencing,
    /// Kip320FirstTry: as `LeaderShrinkIsr`, with the epochs of records compared.
    LeaderShrinkIsrBetterFencing,
    /// Kip320FirstTry: as `LeaderIncHighWatermark`, with the epochs of records compared.
    ImprovedLeaderIncHighWatermark,
    /// Kip320FirstTry: a replica follows and cuts nothing.
    BecomeFollower,
    /// Kip320FirstTry: as `FollowerReplicate`, behind a record of the same epoch only.
    FollowerFetch,
    /// Kip320FirstTry: a follower cuts its log where it parts from the leader's.
    FollowerTruncate,
    /// Kip320: as `LeaderExpandIsr`, within one leader epoch.
    FencedLeaderExpandIsr,
    /// Kip320: as `LeaderShrinkIsr`, for another leader epoch too.
    FencedLeaderShrinkIsr,
    /// Kip320: as `LeaderIncHighWatermark`, within one leader epoch.
    FencedLeaderIncHighWatermark,
    /// Kip320: as `BecomeFollowerTruncateKip279`, within one leader epoch.
    FencedBecomeFollowerAndTruncate,
    /// Kip320: as `FollowerReplicate`, within one leader epoch.
    FencedFollowerFetch,
}

impl Published {
    /// The place of its kind in [`Action::KINDS`]. Two actions of one module differ in kind.
    pub fn kind_index(self) -> usize {
        match self {
            Self::ControllerElectLeader => 0,
            Self::ControllerShrinkIsr => 1,
            Self::BecomeLeader => 2,
            Self::LeaderWrite => 3,
            Self::LeaderExpandIsr
            | Self::LeaderExpandIsrBetterFencing
            | Self::FencedLeaderExpandIsr => 4,
            Self::LeaderShrinkIsr
            | Self::LeaderShrinkIsrBetterFencing
            | Self::FencedLeaderShrinkIsr => 5,
            Self::LeaderIncHighWatermark
            | Self::ImprovedLeaderIncHighWatermark
            | Self::FencedLeaderIncHighWatermark => 6,
            Self::BecomeFollowerTruncateToHighWatermark
            | Self::BecomeFollowerTruncateKip101
            | Self::BecomeFollowerTruncateKip279
            | Self::BecomeFollower
            | Self::FencedBecomeFollowerAndTruncate => 7,
            Self::FollowerReplicate | Self::FollowerFetch | Self::FencedFollowerFetch => 8,
            Self::FollowerTruncate => 9,
        }
    }
}

/// Who takes part in an action, and in which leader epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Who {
    /// One replica.
    One(Id),
    /// One by the request of this epoch.
    InEpoch(Id, u8),
    /// A leader, and whom it takes into the ISR or out of it.
    Member(Id, Id),
    /// A follower, and whom it follows.
    Follower(Id, Id),
    /// A follower, and whom it follows by the request of this epoch.
    FollowerInEpoch(Id, Id, u8),
}

/// An action as it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Action {
    /// Which.
    pub by: Published,
    /// By whom.
    pub who: Who,
}

impl Action {
    /// The kinds of actions. A module has one action of each, but for the last: only
    /// kip320-first-try has it.
    pub const KINDS: &[&str] = &[
        "controller-elects",
        "controller-shrinks",
        "becomes-leader",
        "leader-writes",
        "expands-isr",
        "shrinks-isr",
        "moves-hw",
        "becomes-follower",
        "fetches",
        "truncates",
    ];

    /// The place of its kind in `KINDS`.
    pub fn kind_index(self) -> usize {
        self.by.kind_index()
    }

    /// The same action with the replicas' new names.
    #[must_use]
    pub fn permute(self, order: &Order) -> Self {
        let to = |id| order.of(id);
        let who = match self.who {
            Who::One(id) => Who::One(to(id)),
            Who::InEpoch(id, epoch) => Who::InEpoch(to(id), epoch),
            Who::Member(leader, id) => Who::Member(to(leader), to(id)),
            Who::Follower(id, leader) => Who::Follower(to(id), to(leader)),
            Who::FollowerInEpoch(id, leader, epoch) => {
                Who::FollowerInEpoch(to(id), to(leader), epoch)
            }
        };
        Self { who, ..self }
    }
}

/// The published name, then the replicas: `FencedFollowerFetch(r2 from r1)`.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({})", self.by, self.who)
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::One(id) => write!(f, "r{}", id + 1),
            Self::InEpoch(id, epoch) => write!(f, "r{}, epoch {epoch}", id + 1),
            Self::Member(leader, id) => write!(f, "r{}, member r{}", leader + 1, id + 1),
            Self::Follower(id, leader) => write!(f, "r{} from r{}", id + 1, leader + 1),
            Self::FollowerInEpoch(id, leader, epoch) => {
                write!(f, "r{} of r{}, epoch {epoch}", id + 1, leader + 1)
            }
        }
    }
}
