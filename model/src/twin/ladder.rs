//! The modules: which action each of them has in place of which.

use super::{Property, Published};

/// A module of the ladder.
#[derive(Debug)]
pub struct Module {
    /// Its name on the command line.
    pub name: &'static str,
    /// The name of the published module.
    pub published: &'static str,
    /// Its actions, in the order of its next-state relation.
    pub actions: &'static [Published],
    /// Guards that can be taken out.
    pub guards: &'static [Guard],
    /// What is expected to hold within all constants.
    ///
    /// Only Kip320 is published with claims: LeaderInIsr, WeakIsr and StrongIsr are its theorems.
    /// Of Kip320FirstTry it is published that StrongIsr fails. All else was settled by exhaustion:
    /// a property is left out where any configuration breaks it, however large, and stays where
    /// none did that was exhausted: those of TLC's figures, and up to four replicas, three records
    /// or four leader epochs. Each property that is left out has its shortest violation among the
    /// tests.
    pub holds: &'static [Property],
}

/// What breaks in no module.
const EVERYWHERE: &[Property] = &[Property::LeaderInIsr, Property::HwWithinLog];

/// A guard that can be taken out of a module to see what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guard {
    /// A follower asks for its truncation offset in the leader's epoch.
    FenceTruncate,
    /// A follower fetches in the leader's epoch.
    FenceFetch,
    /// Members of the ISR are in the leader's epoch when the high watermark moves.
    FenceHw,
    /// Who joins the ISR is in the leader's epoch.
    FenceExpand,
    /// Nobody joins before the high watermark has reached the leader's own epoch.
    EpochHw,
    /// Who joins has reached the high watermark.
    ExpandHw,
    /// Only the true leader writes the ISR.
    FenceIsrWrite,
}

/// Every module, oldest first.
pub const MODULES: [Module; 5] = [
    Module {
        name: "hw",
        published: "KafkaTruncateToHighWatermark",
        actions: &[
            Published::ControllerElectLeader,
            Published::ControllerShrinkIsr,
            Published::BecomeLeader,
            Published::LeaderExpandIsr,
            Published::LeaderShrinkIsr,
            Published::LeaderWrite,
            Published::LeaderIncHighWatermark,
            Published::BecomeFollowerTruncateToHighWatermark,
            Published::FollowerReplicate,
        ],
        guards: &[Guard::FenceIsrWrite],
        holds: EVERYWHERE,
    },
    Module {
        name: "kip101",
        published: "Kip101",
        actions: &[
            Published::ControllerElectLeader,
            Published::ControllerShrinkIsr,
            Published::BecomeLeader,
            Published::LeaderExpandIsr,
            Published::LeaderShrinkIsr,
            Published::LeaderWrite,
            Published::LeaderIncHighWatermark,
            Published::BecomeFollowerTruncateKip101,
            Published::FollowerReplicate,
        ],
        guards: &[Guard::FenceIsrWrite],
        holds: EVERYWHERE,
    },
    Module {
        name: "kip279",
        published: "Kip279",
        actions: &[
            Published::ControllerElectLeader,
            Published::ControllerShrinkIsr,
            Published::BecomeLeader,
            Published::LeaderExpandIsr,
            Published::LeaderShrinkIsr,
            Published::LeaderWrite,
            Published::LeaderIncHighWatermark,
            Published::BecomeFollowerTruncateKip279,
            Published::FollowerReplicate,
        ],
        guards: &[Guard::FenceIsrWrite],
        holds: EVERYWHERE,
    },
    Module {
        name: "kip320-first-try",
        published: "Kip320FirstTry",
        actions: &[
            Published::ControllerElectLeader,
            Published::ControllerShrinkIsr,
            Published::BecomeLeader,
            Published::LeaderExpandIsrBetterFencing,
            Published::LeaderShrinkIsrBetterFencing,
            Published::LeaderWrite,
            Published::ImprovedLeaderIncHighWatermark,
            Published::BecomeFollower,
            Published::FollowerFetch,
            Published::FollowerTruncate,
        ],
        guards: &[Guard::EpochHw, Guard::FenceIsrWrite],
        holds: &[Property::LeaderInIsr, Property::LogMatching, Property::HwWithinLog],
    },
    Module {
        name: "kip320",
        published: "Kip320",
        actions: &[
            Published::ControllerElectLeader,
            Published::ControllerShrinkIsr,
            Published::BecomeLeader,
            Published::FencedLeaderExpandIsr,
            Published::FencedLeaderShrinkIsr,
            Published::LeaderWrite,
            Published::FencedLeaderIncHighWatermark,
            Published::FencedBecomeFollowerAndTruncate,
            Published::FencedFollowerFetch,
        ],
        guards: &[
            Guard::FenceTruncate,
            Guard::FenceFetch,
            Guard::FenceHw,
            Guard::FenceExpand,
            Guard::EpochHw,
            Guard::ExpandHw,
            Guard::FenceIsrWrite,
        ],
        holds: &Property::ALL,
    },
];

impl Module {
    /// The module with this name.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        static LADDER: &[Module] = &MODULES;
        LADDER.iter().find(|module| module.name == name)
    }
}

impl Guard {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::FenceTruncate => "fence-truncate",
            Self::FenceFetch => "fence-fetch",
            Self::FenceHw => "fence-hw",
            Self::FenceExpand => "fence-expand",
            Self::EpochHw => "epoch-hw",
            Self::ExpandHw => "expand-hw",
            Self::FenceIsrWrite => "fence-isr-write",
        }
    }
}
