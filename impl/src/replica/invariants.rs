//! What holds after every step, whatever came in. Asserted in release builds too: a replica that
//! has lost its own rules must stop before it answers.

use super::isr::Membership;
use super::log_state::{LogState, MAX_OFFSET};
use super::{Leader, Registration, Replica, Role};

impl Replica {
    /// # Panics
    /// If an invariant does not hold: that is a fault of this program, never of an input.
    pub(super) fn assert_invariants(&self) {
        assert_log(&self.log);
        match (&self.role, &self.registration) {
            (Role::Leader(leader), Some(known)) => self.assert_leader(leader, known),
            (Role::Follower, Some(known)) => {
                assert!(known.leader != Some(self.id), "a follower of itself");
                assert!(known.replicas.contains(&self.id), "a follower outside the assignment");
                let newest = self.log.epochs.latest();
                assert!(newest <= Some(known.leader_epoch), "records of an epoch to come (Q4b)");
            }
            (Role::Leader(_) | Role::Follower, None) => panic!("a role without a registration"),
            (Role::Idle | Role::Failed, _) => {}
        }
    }

    fn assert_leader(&self, leader: &Leader, known: &Registration) {
        let (log, isr) = (&self.log, &leader.isr);
        assert_eq!(known.leader, Some(self.id), "leads what another is registered to lead");
        assert_eq!(log.epochs.latest(), Some(known.leader_epoch), "epoch without an entry (L3)");
        assert!(leader.epoch_start <= log.leo, "epoch begins above the LEO");
        let committed = isr.membership.committed();
        assert!(committed.contains(&self.id), "leader outside its ISR");
        assert!(isr.membership.maximal().is_superset(committed), "maximal ISR too small (I1)");
        let assigned = |id| known.replicas.contains(id);
        assert!(isr.membership.maximal().iter().all(assigned), "ISR outside the assignment");
        let others = known.replicas.iter().filter(|id| **id != self.id);
        assert!(others.clone().all(|id| isr.followers.contains_key(id)), "follower forgotten");
        assert_eq!(others.count(), isr.followers.len(), "follower outside the assignment");
        let leos = isr.followers.values().filter_map(|p| p.leo);
        assert!(leos.max() <= Some(log.leo), "a follower ahead of its leader (B52)");
        if let Membership::Pending { proposal, .. } = &isr.membership {
            let epochs = (proposal.leader_epoch, proposal.partition_epoch);
            assert_eq!(epochs, (known.leader_epoch, known.partition_epoch), "void proposal kept");
        }
        for waiting in leader.waiting.values() {
            assert_eq!(waiting.epoch, known.leader_epoch, "a produce of another epoch (B70)");
            assert!(waiting.base < waiting.required && waiting.required <= log.leo);
        }
    }
}

fn assert_log(log: &LogState) {
    let LogState { start, leo, hw, epochs, flushed } = log;
    assert!(start <= hw && hw <= leo, "not log start {start} <= HW {hw} <= LEO {leo}");
    assert!(flushed <= leo, "flushed {flushed} above LEO {leo}");
    assert!(leo.0 <= MAX_OFFSET, "LEO {leo} does not fit the wire");
    assert!(epochs.is_ordered(), "epoch cache out of order: {epochs:?}");
    let entries = epochs.entries();
    assert!(entries.last().is_none_or(|last| last.1 <= *leo), "epoch above the LEO: {epochs:?}");
    // T1: a log with records has an epoch for each of them, so nothing is ever truncated to a
    // high watermark for want of one.
    let covered = entries.first().is_some_and(|first| first.1 <= *start);
    assert!(covered || start == leo, "records without an epoch from {start} on: {epochs:?}");
}
