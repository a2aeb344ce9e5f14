//! The twin of AsyncIsr: ISR changes by request and update, with a leader that never changes.
//!
//! Requests and updates are sets that never shrink, so any of them can arrive late, often or never.

mod pack;
mod state;

use std::fmt;

use super::bounds::{OutOfRange, within};
use super::{Id, Order, Set};
pub use state::{Requests, State, Updates, Versioned};

/// The leader, as published a constant.
const LEADER: Id = 0;

/// A guard that can be taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guard {
    /// The high watermark counts the members that are asked for too.
    MaximalIsr,
    /// The controller takes a change of its newest version only.
    VersionCheck,
}

impl Guard {
    /// Every guard.
    pub const ALL: [Self; 2] = [Self::MaximalIsr, Self::VersionCheck];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::MaximalIsr => "maximal-isr",
            Self::VersionCheck => "version-check",
        }
    }
}

/// What the module claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Property {
    /// The controller's ISR has everything below the high watermark.
    ValidHighWatermark,
}

impl Property {
    /// Every property.
    pub const ALL: [Self; 1] = [Self::ValidHighWatermark];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::ValidHighWatermark => "valid-high-watermark",
        }
    }

    /// Whether the state has it.
    pub fn holds(self, twin: &AsyncIsr, state: &State) -> bool {
        match self {
            Self::ValidHighWatermark => {
                let hw = twin.high_watermark(state);
                state.controller.isr.members().all(|id| state.offset(id) >= hw)
            }
        }
    }
}

/// An action as it was taken, by its published name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// The controller takes a replica out of the ISR.
    ControllerShrinkIsr(Id),
    /// The controller takes a change that the leader asked for.
    ControllerHandleRequest(Versioned),
    /// The leader asks for an ISR without a replica.
    LeaderRequestShrinkIsr(Id),
    /// The leader asks for an ISR with a replica.
    LeaderRequestExpandIsr(Id),
    /// The leader appends a record.
    LeaderWrite,
    /// The leader learns of a version.
    LeaderHandleUpdate(Versioned),
    /// A follower copies a record.
    FollowerReplicate(Id),
}

impl Action {
    /// The kinds of actions.
    pub const KINDS: &[&str] = &[
        "controller-shrinks",
        "controller-handles-request",
        "leader-requests-shrink",
        "leader-requests-expand",
        "leader-writes",
        "leader-handles-update",
        "follower-replicates",
    ];

    /// The place of its kind in `KINDS`.
    pub fn kind_index(self) -> usize {
        match self {
            Self::ControllerShrinkIsr(_) => 0,
            Self::ControllerHandleRequest(_) => 1,
            Self::LeaderRequestShrinkIsr(_) => 2,
            Self::LeaderRequestExpandIsr(_) => 3,
            Self::LeaderWrite => 4,
            Self::LeaderHandleUpdate(_) => 5,
            Self::FollowerReplicate(_) => 6,
        }
    }

    /// The same action with the replicas' new names; the leader keeps its own.
    #[must_use]
    pub fn permute(self, order: &Order) -> Self {
        let to = |id| order.of(id);
        match self {
            Self::ControllerShrinkIsr(id) => Self::ControllerShrinkIsr(to(id)),
            Self::ControllerHandleRequest(it) => Self::ControllerHandleRequest(it.permute(order)),
            Self::LeaderRequestShrinkIsr(id) => Self::LeaderRequestShrinkIsr(to(id)),
            Self::LeaderRequestExpandIsr(id) => Self::LeaderRequestExpandIsr(to(id)),
            Self::LeaderWrite => Self::LeaderWrite,
            Self::LeaderHandleUpdate(it) => Self::LeaderHandleUpdate(it.permute(order)),
            Self::FollowerReplicate(id) => Self::FollowerReplicate(to(id)),
        }
    }
}

/// The published name, then what it is about: `ControllerHandleRequest({r1, r2} of version 0)`.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ControllerShrinkIsr(id) => write!(f, "ControllerShrinkIsr(r{})", id + 1),
            Self::ControllerHandleRequest(it) => write!(f, "ControllerHandleRequest({it})"),
            Self::LeaderRequestShrinkIsr(id) => write!(f, "LeaderRequestShrinkIsr(r{})", id + 1),
            Self::LeaderRequestExpandIsr(id) => write!(f, "LeaderRequestExpandIsr(r{})", id + 1),
            Self::LeaderWrite => f.write_str("LeaderWrite"),
            Self::LeaderHandleUpdate(it) => write!(f, "LeaderHandleUpdate({it})"),
            Self::FollowerReplicate(id) => write!(f, "FollowerReplicate(r{})", id + 1),
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
    /// What is expected to hold within all bounds: the one claim that the module is published with.
    pub const HOLDS: &[Property] = &Property::ALL;

    /// Whether states within this constraint fit; if not, the first bound that is to blame.
    pub fn check(&self) -> Result<(), OutOfRange> {
        within("--replicas", self.replicas, 1..=State::MOST_REPLICAS)?;
        within("--max-offset", self.max_offset, 0..=State::MOST_OFFSET)?;
        within("--max-version", self.max_version, 0..=State::MOST_VERSION)
    }

    /// The one initial state.
    pub fn initial(&self) -> State {
        State::initial(self.replicas)
    }

    /// Whether the constraint admits the state. Who it does not admit is not counted, and nothing
    /// is looked for behind it.
    pub fn admits(&self, state: &State) -> bool {
        state.offsets().iter().all(|offset| *offset <= self.max_offset)
            && state.controller.version <= self.max_version
    }

    /// The smallest offset of the ISR that may be in force.
    pub fn high_watermark(&self, state: &State) -> u8 {
        let guarded = self.without != Some(Guard::MaximalIsr);
        let maximal =
            if guarded { state.leader.isr.union(state.pending) } else { state.leader.isr };
        let offsets = maximal.members().map(|id| state.offset(id));
        offsets.min().expect("the leader is in its ISR")
    }

    /// Every order of the replicas; the leader keeps its name.
    pub fn orders(&self) -> Vec<Order> {
        Order::all(LEADER + 1, self.replicas)
    }

    /// Every successor of a state that is admitted, admitted or not, with the action that leads to
    /// it, once for each way. Equal actions lead to equal states.
    pub fn successors(&self, state: &State, each: &mut impl FnMut(Action, State)) {
        self.explore(state, each, &mut || ());
    }

    /// The guard that refuses requests. The other one refuses nothing: it is in what the high
    /// watermark is.
    pub const REFUSES: Guard = Guard::VersionCheck;

    /// The same, and every request that [`Self::REFUSES`] refuses.
    pub fn explore(
        &self,
        state: &State,
        each: &mut impl FnMut(Action, State),
        refused: &mut impl FnMut(),
    ) {
        let Versioned { isr, version } = state.controller;
        for id in isr.without(LEADER).members() {
            each(Action::ControllerShrinkIsr(id), state.controller_writes(isr.without(id)));
        }
        let unchecked = self.without == Some(Guard::VersionCheck);
        for request in state.requests.iter() {
            if unchecked || request.version == version {
                let next = state.controller_writes(request.isr);
                each(Action::ControllerHandleRequest(request), next);
            } else {
                refused();
            }
        }
        self.leader_asks(state, each);
        each(Action::LeaderWrite, state.moved(LEADER));
        for update in state.updates.iter().filter(|it| it.version > state.leader.version) {
            each(Action::LeaderHandleUpdate(update), state.leader_takes(update));
        }
        let others = Set::first(self.replicas).without(LEADER);
        let end = state.offset(LEADER);
        for id in others.members().filter(|id| state.offset(*id) < end) {
            each(Action::FollowerReplicate(id), state.moved(id));
        }
    }

    fn leader_asks(self, state: &State, each: &mut impl FnMut(Action, State)) {
        let isr = state.leader.isr;
        for id in isr.without(LEADER).members() {
            each(Action::LeaderRequestShrinkIsr(id), state.leader_asks(isr.without(id)));
        }
        let hw = self.high_watermark(state);
        let outside = (0..self.replicas).filter(|id| !isr.has(*id));
        for id in outside.filter(|id| state.offset(*id) >= hw) {
            each(Action::LeaderRequestExpandIsr(id), state.leader_asks(isr.with(id)));
        }
    }
}
