//! The leader's in-sync replicas: who is in, who is proposed, who keeps up (sections 6 to 8).

use super::io::{AlterPartitionRequest, BrokerImage, BrokerState};
use super::progress::{LeoChange, Observation, Progress};
use crate::types::{BrokerEpoch, BrokerId, Offset};
use std::collections::{BTreeMap, BTreeSet};

/// Whether the controller may still decide on a proposal for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Not decided as far as is known; sent again if it got lost (R4).
    Open,
    /// It may or may not have been applied by an earlier try; only metadata can tell (R3).
    Unknown,
}

/// The ISR as committed, and the one change of it that is proposed (I1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Membership {
    /// Nothing is proposed.
    Committed {
        /// The ISR.
        isr: BTreeSet<BrokerId>,
    },
    /// A change is on its way (E2, S2).
    Pending {
        /// The ISR last known to be committed.
        isr: BTreeSet<BrokerId>,
        /// The proposal, which is also its identity (R0).
        proposal: AlterPartitionRequest,
        /// What is known of its fate.
        outcome: Outcome,
    },
}

impl Membership {
    /// The committed ISR: what min ISR is measured on (A3, H1).
    pub fn committed(&self) -> &BTreeSet<BrokerId> {
        match self {
            Self::Committed { isr } | Self::Pending { isr, .. } => isr,
        }
    }

    /// Committed and proposed members together: all that may be in the controller's ISR whatever
    /// became of the proposal. The high watermark waits for each of them (H2).
    pub fn maximal(&self) -> BTreeSet<BrokerId> {
        let mut all = self.committed().clone();
        if let Self::Pending { proposal, .. } = self {
            all.extend(proposal.isr.iter().map(|&(member, _)| member));
        }
        all
    }
}

/// The size an ISR must have: no more than there are replicas (A3).
pub fn effective_min_isr(min_isr: u32, replicas: usize) -> u32 {
    min_isr.min(u32::try_from(replicas).unwrap_or(u32::MAX))
}

/// The in-sync replicas and the progress of every follower, for one leader epoch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IsrState {
    /// The replica that leads; not among the followers.
    pub leader: BrokerId,
    /// Committed or pending.
    pub membership: Membership,
    /// Every follower in the assignment.
    pub followers: BTreeMap<BrokerId, Progress>,
}

impl IsrState {
    /// The state at the begin of a leader epoch (L3). All progress is unknown, whoever led before
    /// (X1): what a follower acknowledged in an older epoch it may have truncated since.
    pub fn new(
        leader: BrokerId,
        followers: impl IntoIterator<Item = BrokerId>,
        isr: BTreeSet<BrokerId>,
        now_ms: i64,
    ) -> Self {
        let since = |id| Progress::unknown_since(isr.contains(&id).then_some(now_ms));
        let others = followers.into_iter().filter(|&id| id != leader);
        let followers = others.map(|id| (id, since(id))).collect();
        Self { leader, membership: Membership::Committed { isr }, followers }
    }

    /// A newer registration in the same leader epoch (L2, L4): its ISR is the committed one, a
    /// pending proposal is void (the controller refuses it with 95), followers come and go.
    pub(super) fn adopt(&mut self, replicas: &[BrokerId], isr: BTreeSet<BrokerId>) {
        self.followers.retain(|id, _| replicas.contains(id));
        for &id in replicas.iter().filter(|&&id| id != self.leader) {
            self.followers.entry(id).or_default();
        }
        self.membership = Membership::Committed { isr };
    }

    /// Take in a good fetch of a follower (U2, U3). A broker outside the assignment is no follower.
    pub fn observe(&mut self, follower: BrokerId, seen: Observation) -> LeoChange {
        self.followers.get_mut(&follower).map_or(LeoChange::Same, |p| p.observe(seen))
    }

    /// Whether the committed ISR is smaller than it has to be.
    pub fn under_min_isr(&self, effective_min_isr: u32) -> bool {
        self.membership.committed().len() < effective_min_isr as usize
    }

    /// S1: the ISR without its laggards, or `None` if there are none or a change is pending. The
    /// one place where a clock meets a cutoff: a member that was caught up at or after
    /// `now_ms - lag_max_ms` stays, and the leader always does.
    pub fn shrink_isr(
        &self,
        leader_leo: Offset,
        now_ms: i64,
        lag_max_ms: i64,
    ) -> Option<BTreeSet<BrokerId>> {
        let Membership::Committed { isr } = &self.membership else {
            return None;
        };
        let stays = |id: &BrokerId| {
            let progress = self.followers.get(id);
            *id == self.leader
                || progress.is_some_and(|p| p.is_caught_up(leader_leo, now_ms, lag_max_ms))
        };
        let kept: BTreeSet<BrokerId> = isr.iter().copied().filter(stays).collect();
        (kept != *isr).then_some(kept)
    }

    /// E1: the ISR with this follower, or `None` if it may not join now.
    pub fn expand_isr(
        &self,
        follower: BrokerId,
        brokers: &BTreeMap<BrokerId, BrokerImage>,
        floor: JoinFloor,
    ) -> Option<BTreeSet<BrokerId>> {
        let Membership::Committed { isr } = &self.membership else {
            return None;
        };
        let progress = self.followers.get(&follower)?;
        let reached = progress.leo.is_some_and(|leo| leo >= floor.hw && leo >= floor.epoch_start);
        let joins =
            reached && !isr.contains(&follower) && is_eligible(progress, brokers.get(&follower));
        joins.then(|| isr.iter().copied().chain([follower]).collect())
    }

    /// P1: the members with the life each was seen fetching in, the leader with its own.
    pub(super) fn with_epochs(
        &self,
        isr: &BTreeSet<BrokerId>,
        own_epoch: BrokerEpoch,
    ) -> Vec<(BrokerId, Option<BrokerEpoch>)> {
        let life = |id: BrokerId| {
            let follower = self.followers.get(&id);
            if id == self.leader { Some(own_epoch) } else { follower.and_then(|p| p.broker_epoch) }
        };
        isr.iter().map(|&id| (id, life(id))).collect()
    }

    /// The followers whose LEO bounds the high watermark (H2): the maximal ISR, and those that
    /// are about to join it, else they could never catch up with a busy leader. One that may not
    /// join holds nobody up (KAFKA-15021).
    pub(super) fn counted_for_hw(
        &self,
        brokers: &BTreeMap<BrokerId, BrokerImage>,
        leader_leo: Offset,
        now_ms: i64,
        lag_max_ms: i64,
    ) -> BTreeSet<BrokerId> {
        let joining = |(id, progress): (&BrokerId, &Progress)| {
            let joins = progress.is_caught_up(leader_leo, now_ms, lag_max_ms)
                && is_eligible(progress, brokers.get(id));
            joins.then_some(*id)
        };
        let mut counted = self.membership.maximal();
        counted.extend(self.followers.iter().filter_map(joining));
        counted.remove(&self.leader);
        counted
    }

    /// Forget stamps that a clock running backwards has made worthless (B108).
    pub(super) fn forget_future(&mut self, now_ms: i64) {
        self.followers.values_mut().for_each(|p| p.forget_future(now_ms));
    }
}

/// What a follower must have reached to join (E1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinFloor {
    /// The leader's high watermark.
    pub hw: Offset,
    /// Where the leader's epoch began. The high watermark of a new leader may be too low to judge
    /// by (KAFKA-7128).
    pub epoch_start: Offset,
}

/// E1: may this follower be in an ISR? Its broker is active, and the life that fetched is the one
/// the metadata knows (KIP-841, KIP-903).
pub fn is_eligible(progress: &Progress, broker: Option<&BrokerImage>) -> bool {
    let alive =
        |b: &BrokerImage| b.state == BrokerState::Active && progress.broker_epoch == Some(b.epoch);
    broker.is_some_and(alive)
}

#[cfg(test)]
#[path = "tests/isr.rs"]
mod tests;
