//! A replicated log in one word: three replicas that hold a few entries, of which only the epoch
//! matters. It is here to measure the search, not to claim anything of a protocol.

use levelwise::Codec;
use stateright::{Model, Property};

/// Entries of a log, at most.
const ENTRIES: u64 = 7;
/// The largest epoch; the first is 1, and 0 marks an empty place.
const LAST_EPOCH: u64 = 3;
const REPLICAS: u64 = 3;
const WIDTH: u64 = 2 * ENTRIES + 6;

/// A state: 20 bits a replica.
pub type State = u64;

/// One replica: two bits an entry, three for the high watermark, two for the epoch, one for
/// whether it leads.
#[derive(Clone, Copy)]
struct Replica(u64);

impl Replica {
    fn of(state: State, id: u64) -> Self {
        Self(state >> (id * WIDTH) & ((1 << WIDTH) - 1))
    }

    fn put(self, state: State, id: u64) -> State {
        state & !(((1 << WIDTH) - 1) << (id * WIDTH)) | self.0 << (id * WIDTH)
    }

    fn new(log: u64, hw: u64, epoch: u64, leads: bool) -> Self {
        Self(
            log | hw << (2 * ENTRIES)
                | epoch << (2 * ENTRIES + 3)
                | u64::from(leads) << (WIDTH - 1),
        )
    }

    fn log(self) -> u64 {
        self.0 & ((1 << (2 * ENTRIES)) - 1)
    }

    fn end(self) -> u64 {
        (u64::from(u64::BITS - self.log().leading_zeros())).div_ceil(2)
    }

    fn hw(self) -> u64 {
        self.0 >> (2 * ENTRIES) & 7
    }

    fn epoch(self) -> u64 {
        self.0 >> (2 * ENTRIES + 3) & 3
    }

    fn leads(self) -> bool {
        self.0 >> (WIDTH - 1) != 0
    }
}

/// The log up to an offset.
fn below(log: u64, offset: u64) -> u64 {
    log & ((1 << (2 * offset)) - 1)
}

/// What can happen; the numbers are replicas'.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The first takes over, and the second, whose log is no longer, knows.
    Elect(u8, u8),
    /// A leader appends an entry.
    Append(u8),
    /// A follower takes the first entry in which its log and the leader's differ.
    Copy(u8, u8),
    /// A follower that has all entries takes the leader's high watermark.
    Tell(u8, u8),
    /// A leader commits an entry that two replicas have.
    Commit(u8),
}

/// The model.
#[derive(Clone, Copy, Debug)]
pub struct PackedLog;

fn successors(state: State, each: &mut impl FnMut(Action, State)) {
    let replica = |id| Replica::of(state, id);
    let newest = (0..REPLICAS).map(|id| replica(id).epoch()).max().unwrap_or(0);
    for id in 0..REPLICAS {
        let own = replica(id);
        if newest < LAST_EPOCH {
            for other in (0..REPLICAS).filter(|other| *other != id) {
                let voter = replica(other);
                if voter.end() <= own.end() {
                    let leader = Replica::new(own.log(), own.hw(), newest + 1, true);
                    let voter = Replica::new(voter.log(), voter.hw(), newest + 1, false);
                    let next = voter.put(leader.put(state, id), other);
                    each(Action::Elect(id as u8, other as u8), next);
                }
            }
        }
        if own.leads() {
            lead(state, id, own, each);
        }
    }
}

fn lead(state: State, id: u64, own: Replica, each: &mut impl FnMut(Action, State)) {
    let end = own.end();
    if end < ENTRIES {
        let log = own.log() | own.epoch() << (2 * end);
        let next = Replica::new(log, own.hw(), own.epoch(), true).put(state, id);
        each(Action::Append(id as u8), next);
    }
    for other in (0..REPLICAS).filter(|other| *other != id) {
        let follower = Replica::of(state, other);
        if follower.epoch() > own.epoch() {
            continue;
        }
        let differs = own.log() ^ follower.log();
        if differs != 0 {
            let at = u64::from(differs.trailing_zeros()) / 2;
            let (log, hw) = (below(own.log(), at + 1), follower.hw().min(at));
            let next = Replica::new(log, hw, own.epoch(), false).put(state, other);
            each(Action::Copy(other as u8, id as u8), next);
        } else if follower.hw() < own.hw() {
            let next = Replica::new(follower.log(), own.hw(), own.epoch(), false).put(state, other);
            each(Action::Tell(other as u8, id as u8), next);
        }
    }
    let to = own.hw() + 1;
    let has = |id: &u64| below(Replica::of(state, *id).log(), to) == below(own.log(), to);
    if to <= end && (0..REPLICAS).filter(has).count() > 1 {
        let next = Replica::new(own.log(), to, own.epoch(), true).put(state, id);
        each(Action::Commit(id as u8), next);
    }
}

impl Model for PackedLog {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![0]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        successors(*state, &mut |action, _| actions.push(action));
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut found = None;
        successors(*state, &mut |taken, next| {
            if taken == action {
                found = Some(next);
            }
        });
        found
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("watermarks-in-logs", |_, state| {
            (0..REPLICAS).all(|id| {
                let replica = Replica::of(*state, id);
                replica.hw() <= replica.end()
            })
        })]
    }
}

impl Codec for PackedLog {
    fn pack(&self, state: &State, row: &mut Vec<u32>) {
        row.extend_from_slice(&[*state as u32, (state >> 32) as u32]);
    }

    fn unpack(&self, row: &[u32]) -> State {
        u64::from(row[0]) | u64::from(row[1]) << 32
    }

    fn kinds(&self) -> Vec<String> {
        ["elect", "append", "copy", "tell", "commit"].map(String::from).to_vec()
    }

    fn kind(&self, action: &Action) -> usize {
        match action {
            Action::Elect(..) => 0,
            Action::Append(_) => 1,
            Action::Copy(..) => 2,
            Action::Tell(..) => 3,
            Action::Commit(_) => 4,
        }
    }

    fn steps(
        &self,
        state: &State,
        each: &mut impl FnMut(Action, Option<State>),
        _: &mut impl FnMut(usize),
    ) {
        successors(*state, &mut |action, next| each(action, Some(next)));
    }
}
