//! What the modules claim.

use super::{Id, Set, State};

/// A property of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Property {
    /// The ISR that a leader believes in has its log up to its high watermark.
    WeakIsr,
    /// The quorum's ISR has the log of every presumed leader up to its high watermark.
    StrongIsr,
    /// There is no leader, or it is in the ISR.
    LeaderInIsr,
    /// Epochs in a log never decrease.
    EpochsMonotone,
    /// Two replicas hold the same records below the smaller of their high watermarks.
    HwAgree,
    /// Two logs with the same epoch at an offset agree up to it.
    LogMatching,
    /// No high watermark lies beyond its log's end.
    HwWithinLog,
}

impl Property {
    /// Every property.
    pub const ALL: [Self; 7] = [
        Self::WeakIsr,
        Self::StrongIsr,
        Self::LeaderInIsr,
        Self::EpochsMonotone,
        Self::HwAgree,
        Self::LogMatching,
        Self::HwWithinLog,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::WeakIsr => "weak-isr",
            Self::StrongIsr => "strong-isr",
            Self::LeaderInIsr => "leader-in-isr",
            Self::EpochsMonotone => "epochs-monotone",
            Self::HwAgree => "hw-agree",
            Self::LogMatching => "log-matching",
            Self::HwWithinLog => "hw-within-log",
        }
    }

    /// Whether the state has it.
    pub fn holds(self, state: &State) -> bool {
        match self {
            Self::WeakIsr => each_leader(state, |leader| state.replica(leader).isr),
            Self::StrongIsr => each_leader(state, |_| state.quorum.isr),
            Self::LeaderInIsr => state.quorum.leader.is_none_or(|id| state.quorum.isr.has(id)),
            Self::EpochsMonotone => state
                .replicas()
                .iter()
                .all(|replica| replica.log.records().is_sorted_by_key(|record| record.epoch)),
            Self::HwAgree => each_pair(state, |one, other| {
                let hw = state.replica(one).hw.min(state.replica(other).hw);
                same_below(state, one, other, hw)
            }),
            Self::LogMatching => each_pair(state, |one, other| {
                let ends = state.replica(one).end().min(state.replica(other).end());
                let epoch = |id, offset| state.replica(id).at(offset).map(|record| record.epoch);
                (0..ends)
                    .filter(|offset| epoch(one, *offset) == epoch(other, *offset))
                    .all(|offset| same_below(state, one, other, offset + 1))
            }),
            Self::HwWithinLog => state.replicas().iter().all(|replica| replica.hw <= replica.end()),
        }
    }
}

/// Whether each presumed leader's log below its high watermark is that of all these.
fn each_leader(state: &State, isr: impl Fn(Id) -> Set) -> bool {
    state.ids().filter(|id| state.presumes(*id)).all(|leader| {
        let hw = state.replica(leader).hw;
        isr(leader).members().all(|member| same_below(state, leader, member, hw))
    })
}

fn each_pair(state: &State, holds: impl Fn(Id, Id) -> bool) -> bool {
    state.ids().all(|one| (one + 1..state.ids().end).all(|other| holds(one, other)))
}

/// Whether both hold records at every offset below `end`, and the same ones.
fn same_below(state: &State, one: Id, other: Id, end: u8) -> bool {
    let (one, other) = (state.replica(one).log, state.replica(other).log);
    one.end() >= end && one.below(end) == other.below(end)
}
