//! A state of the ladder: a small value without a heap.

use super::{Constants, Id, Log, Order, Record, Set};

/// One replica: its log and what it was told of the partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Replica {
    /// The log.
    pub log: Log,
    /// High watermark, exclusive.
    pub hw: u8,
    /// The newest leader epoch it was told.
    pub epoch: Option<u8>,
    /// The leader of that epoch: always the one in the request of that epoch.
    pub leader: Option<Id>,
    /// The ISR of that epoch; a leader keeps it up to date.
    pub isr: Set,
}

impl Replica {
    const NEW: Self = Self { log: Log::EMPTY, hw: 0, epoch: None, leader: None, isr: Set::EMPTY };

    /// End offset of the log.
    #[inline]
    pub fn end(&self) -> u8 {
        self.log.end()
    }

    /// Whether it was told of no epoch as late as this.
    #[inline]
    pub(super) fn is_news(&self, epoch: u8) -> bool {
        self.epoch.is_none_or(|newest| newest < epoch)
    }

    /// Follows, or leads by, this request.
    #[inline]
    pub(super) fn take(&mut self, epoch: u8, said: Said) {
        self.epoch = Some(epoch);
        self.leader = said.leader;
        self.isr = said.isr;
    }

    /// Cuts the log, and the high watermark with it.
    #[inline]
    pub(super) fn cut(&mut self, to: u8) {
        self.log = self.log.below(to);
        self.hw = self.hw.min(to);
    }

    /// The record at this offset.
    #[inline]
    pub fn at(&self, offset: u8) -> Option<Record> {
        self.log.at(offset)
    }

    fn permute(&self, order: &Order) -> Self {
        let leader = self.leader.map(|id| order.of(id));
        Self { leader, isr: order.of_set(self.isr), ..*self }
    }
}

/// What the controller says of the partition. Its leader epoch is its place among the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Said {
    /// The leader, if there is one.
    pub leader: Option<Id>,
    /// The ISR.
    pub isr: Set,
}

impl Said {
    const NOTHING: Self = Self { leader: None, isr: Set::EMPTY };

    fn permute(self, order: &Order) -> Self {
        let leader = self.leader.map(|id| order.of(id));
        Self { leader, isr: order.of_set(self.isr) }
    }
}

/// The controller's requests, one for each leader epoch there was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Requests {
    said: [Said; Self::ROOM as usize],
    count: u8,
}

impl Requests {
    /// How many there is room for.
    pub const ROOM: u8 = 8;

    /// No request.
    pub const NONE: Self = Self { said: [Said::NOTHING; Self::ROOM as usize], count: 0 };

    /// How many there are.
    #[inline]
    pub fn count(&self) -> u8 {
        self.count
    }

    /// The newest.
    #[inline]
    pub fn newest(&self) -> Option<Said> {
        self.of(self.count.checked_sub(1)?)
    }

    /// The one of this epoch.
    #[inline]
    pub fn of(&self, epoch: u8) -> Option<Said> {
        self.said[..self.count.into()].get(usize::from(epoch)).copied()
    }

    /// Each with its epoch.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (u8, Said)> {
        (0..).zip(self.said[..self.count.into()].iter().copied())
    }

    /// Adds one in the next epoch. There is room for it.
    #[inline]
    pub fn push(&mut self, said: Said) {
        self.said[usize::from(self.count)] = said;
        self.count += 1;
    }
}

/// One state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    /// Those that are not there are as new.
    replicas: [Replica; Self::MOST_REPLICAS as usize],
    count: Id,
    /// The id of the next record.
    pub next_record: u8,
    /// The controller's requests, by leader epoch.
    pub requests: Requests,
    /// The quorum's word: the newest request, with the ISR as the leader has changed it since.
    pub quorum: Said,
}

impl State {
    /// How many replicas there is room for.
    pub const MOST_REPLICAS: Id = 5;

    /// The one initial state.
    pub fn initial(constants: &Constants) -> Self {
        Self {
            replicas: [Replica::NEW; Self::MOST_REPLICAS as usize],
            count: constants.replicas,
            next_record: 0,
            requests: Requests::NONE,
            quorum: Said { leader: None, isr: Set::first(constants.replicas) },
        }
    }

    /// Every replica.
    #[inline]
    pub fn replicas(&self) -> &[Replica] {
        &self.replicas[..self.count.into()]
    }

    /// Every replica, to be changed.
    #[inline]
    pub(super) fn replicas_mut(&mut self) -> &mut [Replica] {
        &mut self.replicas[..self.count.into()]
    }

    /// A replica.
    #[inline]
    pub fn replica(&self, id: Id) -> &Replica {
        &self.replicas[usize::from(id)]
    }

    #[inline]
    pub(super) fn ids(&self) -> std::ops::Range<Id> {
        0..self.count
    }

    /// The leader epoch in the quorum.
    #[inline]
    pub fn epoch(&self) -> Option<u8> {
        self.requests.count.checked_sub(1)
    }

    /// Whether the replica believes that it leads.
    #[inline]
    pub fn presumes(&self, id: Id) -> bool {
        self.replica(id).leader == Some(id)
    }

    /// Whether it believes so and the quorum agrees.
    #[inline]
    pub fn truly_leads(&self, id: Id) -> bool {
        self.presumes(id)
            && self.quorum.leader == Some(id)
            && self.replica(id).epoch == self.epoch()
    }

    /// The same state with one replica changed.
    #[inline]
    pub(super) fn with(&self, id: Id, change: impl FnOnce(&mut Replica)) -> Self {
        let mut next = *self;
        change(&mut next.replicas[usize::from(id)]);
        next
    }

    /// The same state with the replicas' new names.
    #[must_use]
    pub fn permute(&self, order: &Order) -> Self {
        let mut next = *self;
        for (id, replica) in (0..).zip(self.replicas()) {
            next.replicas[usize::from(order.of(id))] = replica.permute(order);
        }
        for said in &mut next.requests.said[..self.requests.count.into()] {
            *said = said.permute(order);
        }
        next.quorum = self.quorum.permute(order);
        next
    }
}
