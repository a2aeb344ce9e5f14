//! Sample models, small ones and one large: what tests, benchmarks and the example search.
//!
//! | module | a model of | what it exercises |
//! |---|---|---|
//! | [`beacons`] | stations that ask a beacon | several timers: set, renewed, cancelled, run out |
//! | [`tickets`] | machines that hand out numbers | crashes and recovery, what is stored |
//! | [`parcels`] | a depot that sends to doors | each network, lossy or not, equal messages |
//! | [`relay`] | teams that pass a baton | a history of what was sent and received |
//! | [`dice`] | players that throw dice | random choices: made, repeated, withdrawn |
//! | [`tides`] | neighbours that outbid each other | a boundary |
//! | [`election`] | servers that elect a leader | all of it at once, in any size |
//! | [`grid`] | counters | closed formulas for every count |
//! | [`jugs`] | two jugs and a tap | actions that change nothing |
//! | [`slide`] | a sliding puzzle | known counts, up to 181,440 |
//! | [`mutex`] | two processes and one resource | several initial states |
//!
//! The last four are plain [`Model`](stateright::Model)s, the others actor models.
//!
//! # Whose hashes tell states apart
//!
//! Stateright identifies a state by its hash alone, and its sets and maps
//! ([`HashableHashSet`](stateright::util::HashableHashSet)) hash their elements without their
//! number. So where two sets stand side by side, a hash does not say which one an element is in:
//! the timers of neighbouring actors are such sets, and so are their random choices. Two different
//! states can then be taken for one. Each actor model says whether this can happen to it.

pub mod beacons;
pub mod dice;
pub mod election;
pub mod grid;
pub mod jugs;
pub mod mutex;
pub mod parcels;
pub mod relay;
pub mod slide;
pub mod tickets;
pub mod tides;

use std::hash::Hash;

use stateright::actor::{LossyNetwork, Network};

/// How messages travel in a sample model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wire {
    /// In any order, any number of times.
    Duplicating,
    /// In any order, as often as sent.
    NonDuplicating,
    /// In the order sent, for each pair of sender and receiver, as often as sent.
    Ordered,
}

impl Wire {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Duplicating, Self::NonDuplicating, Self::Ordered];

    /// The network with nothing on it.
    pub fn network<M: Eq + Hash>(self) -> Network<M> {
        match self {
            Self::Duplicating => Network::new_unordered_duplicating([]),
            Self::NonDuplicating => Network::new_unordered_nonduplicating([]),
            Self::Ordered => Network::new_ordered([]),
        }
    }
}

fn lossy(yes: bool) -> LossyNetwork {
    if yes { LossyNetwork::Yes } else { LossyNetwork::No }
}
