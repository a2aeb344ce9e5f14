//! Change records: how an ISR change, an election and the ELR make one record (K1, O1 to O4, Z1 to
//! Z4).

use super::{Controller, Elr, MoveOutcome};
use crate::types::{BrokerId, Epoch, PartitionEpoch};
use std::collections::BTreeSet;

/// What a change does about the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Election {
    /// Leaves it alone.
    Keep,
    /// O2: the leader stays if it may, else the first in the assignment that may takes over.
    Online,
    /// The same, but the leader is set also if it stays: it begins a new epoch, since one that has
    /// restarted does not know what it promised in the old one.
    Restarted,
    /// To this broker, which may lead.
    To(BrokerId),
}

impl Controller {
    /// Write one change record, unless it would change nothing. `lost` is a broker whose log is
    /// not complete any more: it is in no ELR.
    pub(super) fn change(
        &mut self,
        target: BTreeSet<BrokerId>,
        lost: Option<BrokerId>,
        election: Election,
    ) {
        let mut isr = target;
        let mut elr = self.target_elr(&isr, lost);
        let old = self.partition.leader;
        let leader = match election {
            Election::Keep => old,
            Election::To(broker) => Some(broker),
            Election::Online | Election::Restarted => self.elect(&isr, &elr),
        };
        if let Some(leader) = leader.filter(|leader| !isr.contains(leader)) {
            // O4: elected out of the ELR.
            isr = BTreeSet::from([leader]);
            elr.remove(&leader);
            if isr.len() >= self.min_isr() {
                elr.clear();
            }
        }
        if isr.is_empty() && self.elr == Elr::Off {
            isr.clone_from(&self.partition.isr); // B7
        }
        let sets_leader = leader != old || election == Election::Restarted;
        if !sets_leader && isr == self.partition.isr && elr == self.partition.elr {
            return;
        }
        self.partition.leader = leader;
        self.partition.isr = isr;
        self.partition.elr = elr;
        self.count_record();
        if sets_leader {
            self.partition.leader_epoch = Epoch(self.partition.leader_epoch.0 + 1);
        }
    }

    fn count_record(&mut self) {
        self.partition.partition_epoch = PartitionEpoch(self.partition.partition_epoch.0 + 1);
    }

    /// Z1, Z2: while the ISR is under its minimum the high watermark stands still, so whoever
    /// leaves it then stays complete and is remembered. One whose log got lost is not.
    fn target_elr(&self, isr: &BTreeSet<BrokerId>, lost: Option<BrokerId>) -> BTreeSet<BrokerId> {
        if self.elr == Elr::Off || isr.len() >= self.min_isr() {
            return BTreeSet::new();
        }
        let known = self.partition.isr.union(&self.partition.elr);
        known.copied().filter(|id| !isr.contains(id) && Some(*id) != lost).collect()
    }

    /// O1, O2: the present leader if it may lead, else the first that may.
    fn elect(&self, isr: &BTreeSet<BrokerId>, elr: &BTreeSet<BrokerId>) -> Option<BrokerId> {
        let candidates = if isr.is_empty() { elr } else { isr };
        let may_lead = |id: &BrokerId| candidates.contains(id) && self.is_active(*id);
        let present = self.partition.leader.filter(may_lead);
        present.or_else(|| self.partition.replicas.iter().copied().find(may_lead))
    }

    /// Move the leadership to an active member of the ISR.
    pub(super) fn move_leader(&mut self, to: BrokerId) -> MoveOutcome {
        if self.partition.leader == Some(to) {
            return MoveOutcome::NotNeeded;
        }
        if !self.partition.isr.contains(&to) || !self.is_active(to) {
            return MoveOutcome::NotAvailable;
        }
        self.change(self.partition.isr.clone(), None, Election::To(to));
        MoveOutcome::Moved
    }

    /// Z4, X3: with another minimum the ELR means nothing any more and is cleared in the same
    /// record (KAFKA-16540). The record also voids every proposal made under the old minimum.
    pub(super) fn change_min_isr(&mut self, min_isr: u32) {
        if min_isr == 0 || min_isr == self.partition.min_isr {
            return;
        }
        self.partition.min_isr = min_isr;
        self.partition.elr.clear();
        self.count_record();
    }
}
