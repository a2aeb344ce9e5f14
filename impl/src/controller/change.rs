//! Change records: how an ISR change, an election and the ELR make one record (K1, O1 to O6, Z1 to
//! Z4).

use super::{Controller, Elr, MoveOutcome, UncleanElection};
use crate::types::{BrokerId, Epoch, PartitionEpoch};
use std::collections::BTreeSet;

/// What a change does about the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Election {
    /// Leaves it alone.
    Keep,
    /// O2: the leader stays if it may, else another takes over if one may.
    Online,
    /// To this broker, which may lead.
    To(BrokerId),
}

/// Who is to lead, and what it is known to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Elected {
    /// Nobody can.
    Nobody,
    /// One that holds every committed record.
    Clean(BrokerId),
    /// One that may lack some (O5).
    Unclean(BrokerId),
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
        let elected = match election {
            Election::Keep => old.map_or(Elected::Nobody, Elected::Clean),
            Election::To(broker) => Elected::Clean(broker),
            Election::Online => self.elect(&isr, &elr),
        };
        let leader = match elected {
            Elected::Nobody => None,
            Elected::Clean(leader) => {
                if !isr.contains(&leader) {
                    // O4: elected out of the ELR.
                    isr = BTreeSet::from([leader]);
                    elr.remove(&leader);
                    if isr.len() >= self.min_isr() {
                        elr.clear();
                    }
                }
                Some(leader)
            }
            Elected::Unclean(leader) => {
                // O5: nobody else is known to hold what this one will.
                isr = BTreeSet::from([leader]);
                elr.clear();
                Some(leader)
            }
        };
        if isr.is_empty() && self.elr == Elr::Off {
            isr.clone_from(&self.partition.isr); // B7
        }
        if leader == old && isr == self.partition.isr && elr == self.partition.elr {
            return;
        }
        self.partition.last_leader = self.last_known_leader(leader);
        self.partition.leader = leader;
        self.partition.isr = isr;
        self.partition.elr = elr;
        self.count_record();
        if leader != old {
            self.partition.leader_epoch = Epoch(self.partition.leader_epoch.0 + 1);
        }
    }

    /// Z3: who led is remembered from the change on that leaves the partition without a leader,
    /// until a change gives it one.
    fn last_known_leader(&self, next: Option<BrokerId>) -> Option<BrokerId> {
        if self.elr == Elr::Off || next.is_some() {
            return None;
        }
        self.partition.last_leader.or(self.partition.leader)
    }

    pub(super) fn count_record(&mut self) {
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

    /// O1, O2: the present leader if it may lead, else the first that may. If nobody is left of
    /// whom it is known that it is complete, the last known leader; if unclean elections are
    /// allowed (O6), the first that is there at all.
    fn elect(&self, isr: &BTreeSet<BrokerId>, elr: &BTreeSet<BrokerId>) -> Elected {
        let known = &self.partition;
        let candidates = if isr.is_empty() { elr } else { isr };
        let is_there = |id: &BrokerId| self.is_active(*id);
        let may_lead = |id: &BrokerId| candidates.contains(id) && is_there(id);
        let present = known.leader.filter(may_lead);
        if let Some(leader) = present.or_else(|| known.replicas.iter().copied().find(may_lead)) {
            return Elected::Clean(leader);
        }
        let nobody_left = self.elr == Elr::On && candidates.is_empty();
        let last_known = known.last_leader.filter(|id| nobody_left && is_there(id));
        let any = || match self.unclean {
            UncleanElection::Allowed => known.replicas.iter().copied().find(is_there),
            UncleanElection::Forbidden => None,
        };
        last_known.or_else(any).map_or(Elected::Nobody, Elected::Unclean)
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
    /// record (KAFKA-16540). The record also voids every proposal made under the old minimum. The
    /// last known leader stays known: it does not rest on a minimum.
    pub(super) fn change_min_isr(&mut self, min_isr: u32) {
        if min_isr == 0 || min_isr == self.partition.min_isr {
            return;
        }
        self.partition.min_isr = min_isr;
        self.partition.elr.clear();
        self.count_record();
    }
}
