//! The twin of the public TLA+ ladder (hachikuji/kafka-specification): its modules as plain models,
//! so that counts, depths and verdicts can be compared with those of TLC.
//!
//! It is written from the published next-state relations and shares nothing with the actors of
//! this crate. There are no messages, no restarts and no acknowledgements in it: replicas read
//! each other's state, and the controller's requests are a set that never shrinks. What the
//! relations leave out, or get wrong, is left as published.

pub mod async_isr;
mod follow;
mod ladder;
mod leader;
mod properties;
#[cfg(test)]
mod tests;

pub use ladder::{Guard, MODULES, Module};
pub use properties::Property;

/// A replica's number, from 0.
pub type Id = u8;

/// A set of replicas, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Set(u8);

impl Set {
    /// Replicas 0 to `count` − 1.
    pub fn first(count: Id) -> Self {
        Self(((1_u16 << count) - 1) as u8)
    }

    /// Nobody.
    pub const EMPTY: Self = Self(0);

    /// Whether `id` is in it.
    pub fn has(self, id: Id) -> bool {
        self.0 & 1 << id != 0
    }

    /// With `id`.
    #[must_use]
    pub fn with(self, id: Id) -> Self {
        Self(self.0 | 1 << id)
    }

    /// Without `id`.
    #[must_use]
    pub fn without(self, id: Id) -> Self {
        Self(self.0 & !(1 << id))
    }

    /// With all of `other`.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The members in order.
    pub fn members(self) -> impl Iterator<Item = Id> {
        (0..8).filter(move |id| self.has(*id))
    }
}

/// The constants of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Constants {
    /// How many replicas.
    pub replicas: Id,
    /// How many records a log can hold.
    pub log_size: u8,
    /// How many records are ever written.
    pub max_records: u8,
    /// The largest leader epoch; the first is 0.
    pub max_leader_epoch: u8,
}

/// A record: its id, unique over all logs, and the leader epoch it was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Record {
    /// Its id.
    pub id: u8,
    /// Its leader epoch; a leader that knows none cannot write.
    pub epoch: u8,
}

/// One replica: its log and what it was told of the partition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Replica {
    /// The log.
    pub log: Vec<Record>,
    /// High watermark, exclusive.
    pub hw: u8,
    /// The newest leader epoch it was told.
    pub epoch: Option<u8>,
    /// The leader of that epoch.
    pub leader: Option<Id>,
    /// The ISR of that epoch; a leader keeps it up to date.
    pub isr: Set,
}

impl Replica {
    /// End offset of the log.
    pub fn end(&self) -> u8 {
        self.log.len() as u8
    }

    /// Follows, or leads by, this request.
    fn take(&mut self, epoch: u8, said: Said) {
        self.epoch = Some(epoch);
        self.leader = said.leader;
        self.isr = said.isr;
    }

    /// Cuts the log, and the high watermark with it.
    fn cut(&mut self, to: u8) {
        self.log.truncate(to.into());
        self.hw = self.hw.min(to);
    }

    /// The record at this offset.
    pub fn at(&self, offset: u8) -> Option<Record> {
        self.log.get(usize::from(offset)).copied()
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

/// One state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    /// Every replica.
    pub replicas: Vec<Replica>,
    /// The id of the next record.
    pub next_record: u8,
    /// The controller's requests, by leader epoch.
    pub requests: Vec<Said>,
    /// The quorum's word: the newest request, with the ISR as the leader has changed it since.
    pub quorum: Said,
}

impl State {
    /// The one initial state.
    pub fn initial(constants: &Constants) -> Self {
        let replica =
            Replica { log: Vec::new(), hw: 0, epoch: None, leader: None, isr: Set::EMPTY };
        Self {
            replicas: vec![replica; constants.replicas.into()],
            next_record: 0,
            requests: Vec::new(),
            quorum: Said { leader: None, isr: Set::first(constants.replicas) },
        }
    }

    /// A replica.
    pub fn replica(&self, id: Id) -> &Replica {
        &self.replicas[usize::from(id)]
    }

    fn ids(&self) -> std::ops::Range<Id> {
        0..self.replicas.len() as Id
    }

    /// The leader epoch in the quorum.
    pub fn epoch(&self) -> Option<u8> {
        self.requests.len().checked_sub(1).map(|epoch| epoch as u8)
    }

    /// Whether the replica believes that it leads.
    pub fn presumes(&self, id: Id) -> bool {
        self.replica(id).leader == Some(id)
    }

    /// Whether it believes so and the quorum agrees.
    pub fn truly_leads(&self, id: Id) -> bool {
        self.presumes(id)
            && self.quorum.leader == Some(id)
            && self.replica(id).epoch == self.epoch()
    }

    /// The same state with one replica changed.
    fn with(&self, id: Id, change: impl FnOnce(&mut Replica)) -> Self {
        let mut next = self.clone();
        change(&mut next.replicas[usize::from(id)]);
        next
    }
}

/// A module within constants, perhaps with a guard taken out.
#[derive(Clone, Copy, Debug)]
pub struct Twin {
    /// The module.
    pub module: &'static Module,
    /// The constants.
    pub constants: Constants,
    /// The guard that is taken out.
    pub without: Option<Guard>,
}

impl Twin {
    /// Whether this guard is in force.
    fn guards(&self, guard: Guard) -> bool {
        self.without != Some(guard)
    }

    /// Every successor, once for each way that leads to it.
    pub fn successors(&self, state: &State, each: &mut dyn FnMut(State)) {
        self.controller_elects(state, each);
        self.controller_shrinks(state, each);
        becomes_leader(state, each);
        self.leader_writes(state, each);
        for action in self.module.actions {
            action(self, state, each);
        }
    }

    /// The controller sends a new request, if there is an epoch left.
    fn controller_says(&self, state: &State, said: Said, each: &mut dyn FnMut(State)) {
        if state.requests.len() <= self.constants.max_leader_epoch.into() {
            let mut next = state.clone();
            next.requests.push(said);
            next.quorum = said;
            each(next);
        }
    }

    /// Any other member of the ISR.
    fn controller_elects(&self, state: &State, each: &mut dyn FnMut(State)) {
        let Said { leader, isr } = state.quorum;
        for id in isr.members().filter(|id| leader != Some(*id)) {
            self.controller_says(state, Said { leader: Some(id), isr }, each);
        }
    }

    /// A broker fails: it leaves the ISR unless it is the last, and leads no more.
    fn controller_shrinks(&self, state: &State, each: &mut dyn FnMut(State)) {
        let Said { leader, isr } = state.quorum;
        for id in state.ids() {
            let rest = isr.without(id);
            if leader == Some(id) {
                let isr = if rest == Set::EMPTY && isr.has(id) { isr } else { rest };
                self.controller_says(state, Said { leader: None, isr }, each);
            } else if isr.has(id) {
                self.controller_says(state, Said { leader, isr: rest }, each);
            }
        }
    }

    fn leader_writes(&self, state: &State, each: &mut dyn FnMut(State)) {
        let Constants { log_size, max_records, .. } = self.constants;
        for id in state.ids().filter(|id| state.presumes(*id)) {
            let replica = state.replica(id);
            if let Some(epoch) = replica.epoch
                && state.next_record < max_records
                && replica.end() < log_size
            {
                let record = Record { id: state.next_record, epoch };
                let mut next = state.with(id, |replica| replica.log.push(record));
                next.next_record += 1;
                each(next);
            }
        }
    }
}

/// A replica takes a request that makes it the leader, however old, if it is news to it.
fn becomes_leader(state: &State, each: &mut dyn FnMut(State)) {
    for (epoch, &said) in (0..).zip(&state.requests) {
        if let Some(id) = said.leader
            && state.replica(id).epoch < Some(epoch)
        {
            each(state.with(id, |replica| replica.take(epoch, said)));
        }
    }
}
