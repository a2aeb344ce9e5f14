//! Metadata: taking over an image, and the role that follows from it (sections 11 and 12).

use super::io::{Effect, MetadataImage, PartitionImage};
use super::isr::IsrState;
use super::leader::Leader;
use super::{Replica, Role};
use crate::types::{BrokerId, Epoch, ErrorCode, PartitionEpoch};
use std::collections::BTreeSet;

/// The registration this replica acts on. A leader may know a newer partition epoch than its
/// metadata, from the answer to its own ISR change (R1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Registration {
    /// The leader, `None` while there is none.
    pub leader: Option<BrokerId>,
    /// Its epoch.
    pub leader_epoch: Epoch,
    /// Version of the registration.
    pub partition_epoch: PartitionEpoch,
    /// The assignment.
    pub replicas: Vec<BrokerId>,
    /// `min.insync.replicas` as configured.
    pub min_isr: u32,
}

/// What an image says beside the registration already known.
enum News {
    /// Nothing, or nothing that can be believed.
    Nothing,
    /// A newer registration of the same leader epoch.
    SameReign,
    /// A newer leader epoch.
    NewReign,
}

impl Replica {
    /// Take over an image. Broker states always count, also when the partition is no news (X5).
    ///
    /// An image that does not hold this very life of the broker is older than its registration
    /// (or meant for a later life): acting on it could resume an epoch of the life before.
    pub(super) fn on_metadata(
        &mut self,
        now_ms: i64,
        image: MetadataImage,
        effects: &mut Vec<Effect>,
    ) {
        let MetadataImage { partition, brokers } = image;
        let own = brokers.get(&self.id).map(|b| b.epoch);
        if own != Some(self.config.broker_epoch) || !is_sound(&partition) {
            return;
        }
        let brokers_changed = self.brokers != brokers;
        self.brokers = brokers;
        match self.news_in(&partition) {
            News::Nothing if !brokers_changed => return,
            News::Nothing => {}
            News::SameReign => self.continue_reign(partition, effects),
            News::NewReign => self.begin_reign(now_ms, partition, effects),
        }
        self.recompute_hw(now_ms);
    }

    /// L1, M1, X2: an older partition epoch is ignored, an equal one tells nothing new. A broker
    /// never acts on an epoch below those in its log, and never leads in one it has seen before.
    fn news_in(&self, image: &PartitionImage) -> News {
        if let Some(known) = &self.registration {
            if image.partition_epoch <= known.partition_epoch
                || image.leader_epoch < known.leader_epoch
            {
                return News::Nothing;
            }
            if image.leader_epoch == known.leader_epoch {
                let same = image.leader == known.leader;
                return if same { News::SameReign } else { News::Nothing };
            }
        }
        let leads = image.leader == Some(self.id);
        match self.log.epochs.latest() {
            Some(seen) if image.leader_epoch < seen => News::Nothing,
            Some(seen) if image.leader_epoch == seen && leads => News::Nothing,
            _ => News::NewReign,
        }
    }

    /// L2, L4, M2: same leader, same epoch. Progress is kept and no fetch is sent anew, unless
    /// this broker joins the assignment only now.
    fn continue_reign(&mut self, image: PartitionImage, effects: &mut Vec<Effect>) {
        let (known, isr) = split(image);
        let assigned = known.replicas.contains(&self.id);
        if let Role::Leader(leader) = &mut self.role {
            leader.isr.adopt(&known.replicas, isr);
        }
        self.registration = Some(known);
        match self.role {
            Role::Idle if assigned => self.follow(effects),
            Role::Follower if !assigned => self.role = Role::Idle,
            _ => {}
        }
    }

    /// L3, M2, M4, X1: a newer epoch. What waited is over, progress is unknown again, a follower
    /// asks its leader at once and truncates only by what that one answers.
    fn begin_reign(&mut self, now_ms: i64, image: PartitionImage, effects: &mut Vec<Effect>) {
        let (known, isr) = split(image);
        let (epoch, leads) = (known.leader_epoch, known.leader == Some(self.id));
        let replicas = known.replicas.clone();
        self.registration = Some(known);
        if self.role == Role::Failed {
            return;
        }
        self.fail_produces(ErrorCode::NotLeaderOrFollower, effects);
        if leads {
            self.log.begin_epoch(epoch, effects);
            let isr = IsrState::new(self.id, replicas, isr, now_ms);
            self.role = Role::Leader(Leader::new(self.log.leo, isr));
        } else if replicas.contains(&self.id) {
            self.follow(effects);
        } else {
            self.role = Role::Idle;
        }
    }

    /// Follow the registered leader, if there is one.
    fn follow(&mut self, effects: &mut Vec<Effect>) {
        self.role = Role::Follower;
        self.send_fetch(effects);
    }
}

/// Whether a controller could have written this: it comes from the wire, so nothing is taken for
/// granted.
fn is_sound(image: &PartitionImage) -> bool {
    let replicas: BTreeSet<BrokerId> = image.replicas.iter().copied().collect();
    replicas.len() == image.replicas.len()
        && image.min_isr >= 1
        && image.leader_epoch >= Epoch(0)
        && image.partition_epoch >= PartitionEpoch(0)
        && image.isr.is_subset(&replicas)
        && image.leader.is_none_or(|leader| image.isr.contains(&leader))
}

fn split(image: PartitionImage) -> (Registration, BTreeSet<BrokerId>) {
    let PartitionImage { leader, leader_epoch, partition_epoch, replicas, isr, .. } = image;
    let min_isr = image.min_isr;
    (Registration { leader, leader_epoch, partition_epoch, replicas, min_isr }, isr)
}
