//! A state of AsyncIsr: a small value without a heap.

use std::fmt;

use super::LEADER;
use crate::twin::{Id, Order, Set};

/// An ISR with its version: a request, an update, or what the controller holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Versioned {
    /// The ISR. The leader is always in it.
    pub isr: Set,
    /// Its version; of a request, the version that it changes.
    pub version: u8,
}

impl Versioned {
    /// The same with the replicas' new names.
    #[must_use]
    pub fn permute(self, order: &Order) -> Self {
        Self { isr: order.of_set(self.isr), ..self }
    }
}

impl fmt::Display for Versioned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of version {}", self.isr, self.version)
    }
}

/// How many versions the leader can know: all that the constraint admits.
const VERSIONS: usize = State::MOST_VERSION as usize + 1;

/// What the leader has ever asked for: by version, a bit for each ISR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Requests([u16; VERSIONS]);

impl Requests {
    const NONE: Self = Self([0; VERSIONS]);

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = Versioned> {
        (0..)
            .zip(self.0)
            .flat_map(|(version, isrs)| members(isrs).map(move |isr| Versioned { isr, version }))
    }

    /// The ISRs that were asked for in place of this version, a bit for each.
    pub(super) fn bits(&self, version: u8) -> u16 {
        self.0[usize::from(version)]
    }

    /// Adds those that [`Requests::bits`] gave.
    pub(super) fn add_bits(&mut self, version: u8, isrs: u16) {
        self.0[usize::from(version)] |= isrs;
    }

    /// All that were asked for in place of this version, in one set.
    pub(super) fn union(&self, version: u8) -> Set {
        members(self.bits(version)).fold(Set::EMPTY, Set::union)
    }
}

/// The place of an ISR among the bits: the leader, who is in every ISR, does not count.
fn place(isr: Set) -> u8 {
    isr.bits() >> (LEADER + 1)
}

/// The ISRs whose bits are set.
fn members(isrs: u16) -> impl Iterator<Item = Set> {
    let mut rest = isrs;
    std::iter::from_fn(move || {
        let place = (rest != 0).then(|| rest.trailing_zeros() as u8)?;
        rest &= rest - 1;
        Some(Set::of_bits(place << (LEADER + 1)).with(LEADER))
    })
}

/// What the controller has ever told: one ISR for each version from the first on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Updates {
    isrs: [Set; VERSIONS],
    count: u8,
}

impl Updates {
    const NONE: Self = Self { isrs: [Set::EMPTY; VERSIONS], count: 0 };

    /// Each of them, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Versioned> {
        let isrs = self.isrs[..self.count.into()].iter();
        (1..).zip(isrs).map(|(version, isr)| Versioned { isr: *isr, version })
    }

    /// The ISR of this version, if the controller told it.
    pub(super) fn of(&self, version: u8) -> Option<Set> {
        let isrs = &self.isrs[..self.count.into()];
        isrs.get(usize::from(version.checked_sub(1)?)).copied()
    }

    /// Adds the next. There is room for one version more than the constraint admits.
    pub(super) fn push(&mut self, isr: Set) {
        self.isrs[usize::from(self.count)] = isr;
        self.count += 1;
    }
}

/// One state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    /// What the controller holds: always the newest update.
    pub controller: Versioned,
    /// What the leader knows: always an update, or the first version.
    pub leader: Versioned,
    /// Members of ISRs that the leader has asked for: always those asked for in place of the
    /// version that it knows.
    pub pending: Set,
    /// The version that it asked to change: always the one it knows, if it asked.
    pub pending_version: Option<u8>,
    /// Of those that are not there, 0.
    offsets: [u8; Self::MOST_REPLICAS as usize],
    count: Id,
    /// What the leader has ever asked for.
    pub requests: Requests,
    /// What the controller has ever told.
    pub updates: Updates,
}

impl State {
    /// How many replicas there is room for.
    pub const MOST_REPLICAS: Id = 5;

    /// The largest offset that can be admitted.
    pub const MOST_OFFSET: u8 = 15;

    /// The largest version that can be admitted.
    pub const MOST_VERSION: u8 = 7;

    /// The one initial state.
    pub(super) fn initial(replicas: Id) -> Self {
        let all = Versioned { isr: Set::first(replicas), version: 0 };
        Self {
            controller: all,
            leader: all,
            pending: Set::EMPTY,
            pending_version: None,
            offsets: [0; Self::MOST_REPLICAS as usize],
            count: replicas,
            requests: Requests::NONE,
            updates: Updates::NONE,
        }
    }

    /// Each replica's end offset.
    pub fn offsets(&self) -> &[u8] {
        &self.offsets[..self.count.into()]
    }

    /// Each replica's end offset, to be changed.
    pub(super) fn offsets_mut(&mut self) -> &mut [u8] {
        &mut self.offsets[..self.count.into()]
    }

    /// A replica's end offset.
    pub fn offset(&self, id: Id) -> u8 {
        self.offsets[usize::from(id)]
    }

    /// With the controller's next version, which it tells.
    pub(super) fn controller_writes(&self, isr: Set) -> Self {
        let mut next = *self;
        next.controller = Versioned { isr, version: self.controller.version + 1 };
        next.updates.push(isr);
        next
    }

    /// With a request of the leader.
    pub(super) fn leader_asks(&self, isr: Set) -> Self {
        let mut next = *self;
        let version = self.leader.version;
        next.requests.add_bits(version, 1 << place(isr));
        next.pending = self.pending.union(isr);
        next.pending_version = Some(version);
        next
    }

    /// With an update that the leader has taken.
    pub(super) fn leader_takes(&self, update: Versioned) -> Self {
        let (pending, pending_version) = (Set::EMPTY, None);
        Self { leader: update, pending, pending_version, ..*self }
    }

    /// With a write of the leader, or a follower's copy of one.
    pub(super) fn moved(&self, id: Id) -> Self {
        let mut next = *self;
        next.offsets[usize::from(id)] += 1;
        next
    }

    /// The same state with the replicas' new names; the leader keeps its own.
    #[must_use]
    pub fn permute(&self, order: &Order) -> Self {
        let mut next = *self;
        next.controller = self.controller.permute(order);
        next.leader = self.leader.permute(order);
        next.pending = order.of_set(self.pending);
        for (id, offset) in (0..).zip(self.offsets()) {
            next.offsets[usize::from(order.of(id))] = *offset;
        }
        next.requests = Requests::NONE;
        for Versioned { isr, version } in self.requests.iter() {
            next.requests.add_bits(version, 1 << place(order.of_set(isr)));
        }
        for isr in &mut next.updates.isrs {
            *isr = order.of_set(*isr);
        }
        next
    }
}
