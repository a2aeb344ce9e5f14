//! The twin of AsyncIsr: ISR changes by request and update, with a leader that never changes.
//!
//! Requests and updates are sets that never shrink, so any of them can arrive late, often or never.

use std::collections::BTreeSet;

use super::{Id, Set};

/// The leader, as published a constant.
const LEADER: Id = 0;

/// An ISR with its version: a request, an update, or what the controller holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Versioned {
    /// The ISR.
    pub isr: Set,
    /// Its version; of a request, the version that it changes.
    pub version: u8,
}

/// One state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    /// What the controller holds.
    pub controller: Versioned,
    /// What the leader knows.
    pub leader: Versioned,
    /// Members of ISRs that the leader has asked for.
    pub pending: Set,
    /// The version that it asked to change.
    pub pending_version: Option<u8>,
    /// Each replica's end offset.
    pub offsets: Vec<u8>,
    /// What the leader has ever asked for.
    pub requests: BTreeSet<Versioned>,
    /// What the controller has ever told.
    pub updates: BTreeSet<Versioned>,
}

/// A guard that can be taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guard {
    /// The high watermark counts the members that are asked for too.
    MaximalIsr,
    /// The controller takes a change of its newest version only.
    VersionCheck,
}

impl Guard {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::MaximalIsr => "maximal-isr",
            Self::VersionCheck => "version-check",
        }
    }
}

/// The module within its constraint, perhaps with a guard taken out.
#[derive(Clone, Copy, Debug)]
pub struct AsyncIsr {
    /// How many replicas.
    pub replicas: Id,
    /// States with a larger offset are left out.
    pub max_offset: u8,
    /// States with a larger version are left out.
    pub max_version: u8,
    /// The guard that is taken out.
    pub without: Option<Guard>,
}

impl AsyncIsr {
    /// The one initial state.
    pub fn initial(&self) -> State {
        let all = Versioned { isr: Set::first(self.replicas), version: 0 };
        State {
            controller: all,
            leader: all,
            pending: Set::EMPTY,
            pending_version: None,
            offsets: vec![0; self.replicas.into()],
            requests: BTreeSet::new(),
            updates: BTreeSet::new(),
        }
    }

    /// Whether the constraint admits the state. Who it does not admit is not counted, and nothing
    /// is looked for behind it.
    pub fn admits(&self, state: &State) -> bool {
        state.offsets.iter().all(|offset| *offset <= self.max_offset)
            && state.controller.version <= self.max_version
    }

    /// The smallest offset of the ISR that may be in force.
    pub fn high_watermark(&self, state: &State) -> u8 {
        let guarded = self.without != Some(Guard::MaximalIsr);
        let counts = |id: &Id| state.leader.isr.has(*id) || guarded && state.pending.has(*id);
        let offsets = (0..self.replicas).filter(counts).map(|id| state.offsets[usize::from(id)]);
        offsets.min().expect("the leader is in its ISR")
    }

    /// ValidHighWatermark: the controller's ISR has everything below the high watermark.
    pub fn is_valid(&self, state: &State) -> bool {
        let hw = self.high_watermark(state);
        state.controller.isr.members().all(|id| state.offsets[usize::from(id)] >= hw)
    }

    /// Every successor, once for each way that leads to it.
    pub fn successors(&self, state: &State, each: &mut dyn FnMut(State)) {
        let others = || (0..self.replicas).filter(|id| *id != LEADER);
        let end = |id: Id| state.offsets[usize::from(id)];
        for id in others().filter(|id| state.controller.isr.has(*id)) {
            each(controller_writes(state, state.controller.isr.without(id)));
        }
        for request in &state.requests {
            let newest = request.version == state.controller.version;
            if newest || self.without == Some(Guard::VersionCheck) {
                each(controller_writes(state, request.isr));
            }
        }
        for id in others().filter(|id| state.leader.isr.has(*id)) {
            each(leader_asks(state, state.leader.isr.without(id)));
        }
        let hw = self.high_watermark(state);
        for id in (0..self.replicas).filter(|id| !state.leader.isr.has(*id) && end(*id) >= hw) {
            each(leader_asks(state, state.leader.isr.with(id)));
        }
        each(moved(state, LEADER));
        for update in state.updates.iter().filter(|u| u.version > state.leader.version) {
            let (pending, pending_version) = (Set::EMPTY, None);
            each(State { leader: *update, pending, pending_version, ..state.clone() });
        }
        for id in others().filter(|id| end(*id) < end(LEADER)) {
            each(moved(state, id));
        }
    }
}

/// The controller's next version, which it tells.
fn controller_writes(state: &State, isr: Set) -> State {
    let mut next = state.clone();
    next.controller = Versioned { isr, version: state.controller.version + 1 };
    next.updates.insert(next.controller);
    next
}

fn leader_asks(state: &State, isr: Set) -> State {
    let mut next = state.clone();
    let version = state.leader.version;
    next.requests.insert(Versioned { isr, version });
    next.pending = state.pending.union(isr);
    next.pending_version = Some(version);
    next
}

/// A write of the leader, or a follower's copy of one.
fn moved(state: &State, id: Id) -> State {
    let mut next = state.clone();
    next.offsets[usize::from(id)] += 1;
    next
}
