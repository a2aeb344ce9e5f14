//! The leader's high watermark (H1 to H5).

use super::{Replica, Role, isr};
use crate::types::{BrokerId, Offset};
use std::collections::{BTreeMap, BTreeSet};

/// Proposes a high watermark: the smallest LEO of the leader and of the followers that count.
///
/// * H1: `None` while the committed ISR is under the (effective) minimum.
/// * H4: `None` while the LEO of a follower that counts is unknown.
///
/// It cannot see the present value, so whether the proposal is any news is for the caller.
pub fn advance_hw(
    leader_leo: Offset,
    follower_leos: &BTreeMap<BrokerId, Option<Offset>>,
    counted: &BTreeSet<BrokerId>,
    committed_isr: usize,
    min_isr: u32,
) -> Option<Offset> {
    if committed_isr < min_isr as usize {
        return None;
    }
    let known = counted.iter().map(|id| follower_leos.get(id).copied().flatten());
    known.into_iter().try_fold(leader_leo, |least, leo| leo.map(|leo| least.min(leo)))
}

impl Replica {
    /// Tries the high watermark and takes a proposal only if it is greater (H3).
    ///
    /// Tried at each append, change of a follower's LEO, begin of a leadership and accepted ISR
    /// change (H5), and, so that the last waiting record cannot stall, after a refused one (X4),
    /// after a change of a broker in the metadata (X5) and at each look for laggards.
    pub(super) fn recompute_hw(&mut self, now_ms: i64) {
        let (Role::Leader(leader), Some(known)) = (&self.role, &self.registration) else {
            return;
        };
        let (leo, lag) = (self.log.leo, self.config.lag_max_ms);
        let counted = leader.isr.counted_for_hw(&self.brokers, leo, now_ms, lag);
        let leos = leader.isr.followers.iter().map(|(&id, p)| (id, p.leo)).collect();
        let committed = leader.isr.membership.committed().len();
        let min_isr = isr::effective_min_isr(known.min_isr, known.replicas.len());
        if let Some(hw) = advance_hw(leo, &leos, &counted, committed, min_isr) {
            self.log.hw = self.log.hw.max(hw);
        }
    }
}

#[cfg(test)]
#[path = "tests/watermark.rs"]
mod tests;
