//! What a leader and its followers do: write, fetch, high watermark, ISR.

use super::follow::common_end;
use super::{Constants, Guard, Id, Record, Set, State, Twin, Who};

/// Every replica that has a leader, with its leader. A leader is its own.
#[inline]
fn followers(state: &State) -> impl Iterator<Item = (Id, Id)> {
    (0..).zip(state.replicas()).filter_map(|(id, replica)| Some((id, replica.leader?)))
}

#[inline]
fn follows(state: &State, leader: Id, follower: Id) -> bool {
    state.replica(follower).leader == Some(leader)
}

/// Each believes that the one leads the other.
#[inline]
fn agree(state: &State, leader: Id, follower: Id) -> bool {
    state.presumes(leader) && follows(state, leader, follower)
}

/// Kip320: both are in the same epoch.
#[inline]
fn same_epoch(state: &State, leader: Id, follower: Id) -> bool {
    state.replica(leader).epoch == state.replica(follower).epoch
}

/// Up to KIP-279: both logs reach to `end`.
#[inline]
fn caught_up(state: &State, leader: Id, follower: Id, end: u8) -> bool {
    let reaches = |id| state.replica(id).end() >= end;
    follows(state, leader, follower) && reaches(leader) && reaches(follower)
}

/// Kip320FirstTry: they do, and hold records of the same epoch right below it.
#[inline]
fn caught_up_in_epoch(state: &State, leader: Id, follower: Id, end: u8) -> bool {
    let below = |id| end.checked_sub(1).map(|offset| state.replica(id).at(offset).map(|r| r.epoch));
    agree(state, leader, follower)
        && (end == 0 || below(leader) == below(follower) && below(leader) != Some(None))
}

/// A replica takes a request that makes it the leader, however old, if it is news to it.
pub fn become_leader(state: &State, each: &mut impl FnMut(Who, State)) {
    for (epoch, said) in state.requests.iter() {
        if let Some(id) = said.leader
            && state.replica(id).is_news(epoch)
        {
            let next = state.with(id, |replica| replica.take(epoch, said));
            each(Who::InEpoch(id, epoch), next);
        }
    }
}

/// A presumed leader appends a new record, if there is one and it has room.
pub fn write(twin: &Twin, state: &State, each: &mut impl FnMut(Who, State)) {
    let Constants { log_size, max_records, .. } = twin.constants;
    if state.next_record >= max_records {
        return;
    }
    for id in state.ids().filter(|id| state.presumes(*id)) {
        let replica = state.replica(id);
        if let Some(epoch) = replica.epoch
            && replica.end() < log_size
        {
            let record = Record { id: state.next_record, epoch };
            let mut next = state.with(id, |replica| replica.log.push(record));
            next.next_record += 1;
            each(Who::One(id), next);
        }
    }
}

/// Every pair that may fetch does: the next record of the leader's log, if there is one.
fn fetch(state: &State, mut may: impl FnMut(Id, Id) -> bool, each: &mut impl FnMut(Who, State)) {
    for (follower, leader) in followers(state) {
        let end = state.replica(follower).end();
        let Some(record) = state.replica(leader).at(end) else { continue };
        if may(leader, follower) {
            let leader_hw = state.replica(leader).hw;
            let next = state.with(follower, |replica| {
                replica.log.push(record);
                replica.hw = leader_hw.min(end + 1);
            });
            each(Who::Follower(follower, leader), next);
        }
    }
}

/// Up to KIP-279: from whoever believes that it leads.
pub fn fetch_unfenced(state: &State, each: &mut impl FnMut(Who, State)) {
    fetch(state, |leader, follower| agree(state, leader, follower), each);
}

/// Kip320FirstTry: only behind a record of the same epoch.
pub fn fetch_after_same_epoch(state: &State, each: &mut impl FnMut(Who, State)) {
    let end = |id| state.replica(id).end();
    fetch(state, |one, other| caught_up_in_epoch(state, one, other, end(other)), each);
}

/// Kip320: only in the leader's epoch.
pub fn fetch_fenced(
    twin: &Twin,
    state: &State,
    each: &mut impl FnMut(Who, State),
    refused: &mut impl FnMut(Guard),
) {
    let may = |leader, follower| {
        agree(state, leader, follower)
            && twin.lets(Guard::FenceFetch, same_epoch(state, leader, follower), refused)
    };
    fetch(state, may, each);
}

/// Kip320FirstTry: a follower finds that its log has parted, and cuts it.
pub fn truncate_on_fetch(state: &State, each: &mut impl FnMut(Who, State)) {
    for (follower, leader) in followers(state) {
        let (own, leaders) = (state.replica(follower), state.replica(leader));
        let parted = || {
            let same =
                |offset| own.at(offset).map(|r| r.epoch) == leaders.at(offset).map(|r| r.epoch);
            own.end() > leaders.end() || own.end() > 0 && !same(own.end() - 1)
        };
        if agree(state, leader, follower) && parted() {
            let to = common_end(state, leader, follower);
            let next = state.with(follower, |replica| replica.cut(to));
            each(Who::Follower(follower, leader), next);
        }
    }
}

/// Every leader whose high watermark may move by one.
fn moves_hw(state: &State, mut may: impl FnMut(Id, u8) -> bool, each: &mut impl FnMut(Who, State)) {
    for leader in state.ids() {
        if may(leader, state.replica(leader).hw) {
            each(Who::One(leader), state.with(leader, |replica| replica.hw += 1));
        }
    }
}

/// Up to KIP-279: its ISR follows and has the record.
pub fn move_hw(twin: &Twin, state: &State, each: &mut impl FnMut(Who, State)) {
    let has = |leader: Id, id: Id, hw| follows(state, leader, id) && state.replica(id).end() > hw;
    let may = |leader: Id, hw| {
        let isr = state.replica(leader).isr;
        hw < twin.constants.log_size
            && state.presumes(leader)
            && isr.members().all(|id| has(leader, id, hw))
    };
    moves_hw(state, may, each);
}

/// Kip320FirstTry: its ISR holds a record of the same epoch there.
pub fn move_hw_in_epoch(state: &State, each: &mut impl FnMut(Who, State)) {
    let may = |leader: Id, hw| {
        let replica = state.replica(leader);
        state.presumes(leader)
            && replica.end() > hw
            && replica.isr.members().all(|id| caught_up_in_epoch(state, leader, id, hw + 1))
    };
    moves_hw(state, may, each);
}

/// Kip320: its ISR is in its epoch and has the record.
pub fn move_hw_fenced(
    twin: &Twin,
    state: &State,
    each: &mut impl FnMut(Who, State),
    refused: &mut impl FnMut(Guard),
) {
    let may = |leader: Id, hw| {
        let isr = state.replica(leader).isr;
        let has = |id: Id| agree(state, leader, id) && state.replica(id).end() > hw;
        let in_epoch = || isr.members().all(|id| same_epoch(state, leader, id));
        state.replica(leader).end() > hw
            && isr.members().all(has)
            && twin.lets(Guard::FenceHw, in_epoch(), refused)
    };
    moves_hw(state, may, each);
}

/// The leader writes another ISR into the quorum.
#[inline]
fn write_isr(state: &State, leader: Id, isr: Set) -> State {
    let mut next = state.with(leader, |replica| replica.isr = isr);
    next.quorum.isr = isr;
    next
}

/// Takes out each member, once for each reason there is.
fn shrink(
    twin: &Twin,
    state: &State,
    reasons: impl Fn(Id, Id, u8) -> usize,
    each: &mut impl FnMut(Who, State),
    refused: &mut impl FnMut(Guard),
) {
    for leader in state.ids().filter(|id| state.presumes(*id)) {
        let (isr, end) = (state.replica(leader).isr, state.replica(leader).end());
        let leads = state.truly_leads(leader);
        for id in isr.without(leader).members() {
            for _ in 0..reasons(leader, id, end) {
                if twin.lets(Guard::FenceIsrWrite, leads, refused) {
                    each(Who::Member(leader, id), write_isr(state, leader, isr.without(id)));
                }
            }
        }
    }
}

/// Takes in each other replica that may join.
fn expand<R: FnMut(Guard)>(
    twin: &Twin,
    state: &State,
    may_join: impl Fn(Id, Id, u8, &mut R) -> bool,
    each: &mut impl FnMut(Who, State),
    refused: &mut R,
) {
    for leader in state.ids().filter(|id| state.presumes(*id)) {
        let (isr, hw) = (state.replica(leader).isr, state.replica(leader).hw);
        let leads = state.truly_leads(leader);
        for id in state.ids().filter(|id| !isr.has(*id)) {
            if may_join(leader, id, hw, refused) && twin.lets(Guard::FenceIsrWrite, leads, refused)
            {
                each(Who::Member(leader, id), write_isr(state, leader, isr.with(id)));
            }
        }
    }
}

/// The leader knows that nothing of an earlier reign is committed beyond its high watermark.
#[inline]
fn hw_in_own_epoch(state: &State, leader: Id) -> bool {
    let replica = state.replica(leader);
    let at_hw = replica.at(replica.hw).map(|record| record.epoch);
    replica.hw == replica.end() || at_hw.is_some() && at_hw == replica.epoch
}

/// Up to KIP-279.
pub fn shrink_isr(
    twin: &Twin,
    state: &State,
    each: &mut impl FnMut(Who, State),
    refused: &mut impl FnMut(Guard),
) {
    let lags = |leader, id, end| (!caught_up(state, leader, id, end)).into();
    shrink(twin, state, lags, each, refused);
}

/// Up to KIP-279.
pub fn expand_isr<R: FnMut(Guard)>(
    twin: &Twin,
    state: &State,
    each: &mut impl FnMut(Who, State),
    refused: &mut R,
) {
    let may = |leader, id, hw, _: &mut R| caught_up(state, leader, id, hw);
    expand(twin, state, may, each, refused);
}

/// Kip320FirstTry.
pub fn shrink_isr_in_epoch(
    twin: &Twin,
    state: &State,
    each: &mut impl FnMut(Who, State),
    refused: &mut impl FnMut(Guard),
) {
    let lags = |leader, id, end| (!caught_up_in_epoch(state, leader, id, end)).into();
    shrink(twin, state, lags, each, refused);
}

/// Kip320FirstTry.
pub fn expand_isr_in_epoch<R: FnMut(Guard)>(
    twin: &Twin,
    state: &State,
    each: &mut impl FnMut(Who, State),
    refused: &mut R,
) {
    let may = |leader, id, hw, refused: &mut R| {
        caught_up_in_epoch(state, leader, id, hw)
            && twin.lets(Guard::EpochHw, hw_in_own_epoch(state, leader), refused)
    };
    expand(twin, state, may, each, refused);
}

/// Kip320. As published, another epoch and a shorter log are two ways to the same state.
pub fn shrink_isr_fenced(
    twin: &Twin,
    state: &State,
    each: &mut impl FnMut(Who, State),
    refused: &mut impl FnMut(Guard),
) {
    let reasons = |leader, id, end| {
        let together = agree(state, leader, id) && same_epoch(state, leader, id);
        usize::from(!together) + usize::from(state.replica(id).end() < end)
    };
    shrink(twin, state, reasons, each, refused);
}

/// Kip320.
pub fn expand_isr_fenced<R: FnMut(Guard)>(
    twin: &Twin,
    state: &State,
    each: &mut impl FnMut(Who, State),
    refused: &mut R,
) {
    let may = |leader: Id, id: Id, hw: u8, refused: &mut R| {
        agree(state, leader, id)
            && twin.lets(Guard::FenceExpand, same_epoch(state, leader, id), refused)
            && twin.lets(Guard::ExpandHw, state.replica(id).end() >= hw, refused)
            && twin.lets(Guard::EpochHw, hw_in_own_epoch(state, leader), refused)
    };
    expand(twin, state, may, each, refused);
}
