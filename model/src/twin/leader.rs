//! What a leader and its followers do: fetch, high watermark, ISR.

use super::follow::common_end;
use super::{Guard, Id, Set, State, Twin};

fn pairs(state: &State) -> impl Iterator<Item = (Id, Id)> {
    state.ids().flat_map(|leader| state.ids().map(move |follower| (leader, follower)))
}

fn follows(state: &State, leader: Id, follower: Id) -> bool {
    state.replica(follower).leader == Some(leader)
}

/// Each believes that the one leads the other.
fn agree(state: &State, leader: Id, follower: Id) -> bool {
    state.presumes(leader) && follows(state, leader, follower)
}

/// Kip320: they do, and are in the same epoch.
fn agree_on_epoch(state: &State, leader: Id, follower: Id) -> bool {
    agree(state, leader, follower) && state.replica(leader).epoch == state.replica(follower).epoch
}

/// Kip320: the "following leader epoch" conjunct of an action, which may be taken out of it.
fn fenced(twin: &Twin, guard: Guard, state: &State, leader: Id, follower: Id) -> bool {
    if twin.guards(guard) {
        agree_on_epoch(state, leader, follower)
    } else {
        agree(state, leader, follower)
    }
}

/// Up to KIP-279: both logs reach to `end`.
fn caught_up(state: &State, leader: Id, follower: Id, end: u8) -> bool {
    let reaches = |id| state.replica(id).end() >= end;
    follows(state, leader, follower) && reaches(leader) && reaches(follower)
}

/// Kip320FirstTry: they do, and hold records of the same epoch right below it.
fn caught_up_in_epoch(state: &State, leader: Id, follower: Id, end: u8) -> bool {
    let below = |id| end.checked_sub(1).map(|offset| state.replica(id).at(offset).map(|r| r.epoch));
    agree(state, leader, follower)
        && (end == 0 || below(leader) == below(follower) && below(leader) != Some(None))
}

/// Every pair that may fetch does: the next record of the leader's log, if there is one.
fn fetch(state: &State, may: impl Fn(Id, Id) -> bool, each: &mut dyn FnMut(State)) {
    for (leader, follower) in pairs(state).filter(|(leader, follower)| may(*leader, *follower)) {
        let end = state.replica(follower).end();
        let Some(record) = state.replica(leader).at(end) else { continue };
        let leader_hw = state.replica(leader).hw;
        each(state.with(follower, |replica| {
            replica.log.push(record);
            replica.hw = leader_hw.min(end + 1);
        }));
    }
}

/// Up to KIP-279: from whoever believes that it leads.
pub fn fetch_unfenced(_: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    fetch(state, |leader, follower| agree(state, leader, follower), each);
}

/// Kip320FirstTry: only behind a record of the same epoch.
pub fn fetch_after_same_epoch(_: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    let end = |id| state.replica(id).end();
    fetch(state, |one, other| caught_up_in_epoch(state, one, other, end(other)), each);
}

/// Kip320: only in the leader's epoch.
pub fn fetch_fenced(twin: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    fetch(state, |one, other| fenced(twin, Guard::FenceFetch, state, one, other), each);
}

/// Kip320FirstTry: a follower finds that its log has parted, and cuts it.
pub fn truncate_on_fetch(_: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    for (leader, follower) in pairs(state) {
        let (own, leaders) = (state.replica(follower), state.replica(leader));
        let parted = || {
            let same =
                |offset| own.at(offset).map(|r| r.epoch) == leaders.at(offset).map(|r| r.epoch);
            own.end() > leaders.end() || own.end() > 0 && !same(own.end() - 1)
        };
        if agree(state, leader, follower) && parted() {
            let to = common_end(state, leader, follower);
            each(state.with(follower, |replica| replica.cut(to)));
        }
    }
}

/// Every leader whose high watermark may move by one.
fn moves_hw(state: &State, may: impl Fn(Id, u8) -> bool, each: &mut dyn FnMut(State)) {
    for leader in state.ids() {
        if may(leader, state.replica(leader).hw) {
            each(state.with(leader, |replica| replica.hw += 1));
        }
    }
}

/// Up to KIP-279: its ISR follows and has the record.
pub fn move_hw(twin: &Twin, state: &State, each: &mut dyn FnMut(State)) {
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
pub fn move_hw_in_epoch(_: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    let may = |leader: Id, hw| {
        let replica = state.replica(leader);
        state.presumes(leader)
            && replica.end() > hw
            && replica.isr.members().all(|id| caught_up_in_epoch(state, leader, id, hw + 1))
    };
    moves_hw(state, may, each);
}

/// Kip320: its ISR is in its epoch and has the record.
pub fn move_hw_fenced(twin: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    let may = |leader: Id, hw| {
        let replica = state.replica(leader);
        let counts = |id: Id| {
            fenced(twin, Guard::FenceHw, state, leader, id) && state.replica(id).end() > hw
        };
        replica.end() > hw && replica.isr.members().all(counts)
    };
    moves_hw(state, may, each);
}

/// The leader writes another ISR into the quorum, which takes it from the true leader only.
fn write_isr(twin: &Twin, state: &State, leader: Id, isr: Set, each: &mut dyn FnMut(State)) {
    let unfenced = !twin.guards(Guard::FenceIsrWrite) && state.presumes(leader);
    if state.truly_leads(leader) || unfenced {
        let mut next = state.with(leader, |replica| replica.isr = isr);
        next.quorum.isr = isr;
        each(next);
    }
}

/// Takes out each member, once for each reason there is.
fn shrink(
    twin: &Twin,
    state: &State,
    reasons: impl Fn(Id, Id, u8) -> usize,
    each: &mut dyn FnMut(State),
) {
    for leader in state.ids() {
        let (isr, end) = (state.replica(leader).isr, state.replica(leader).end());
        for id in isr.without(leader).members() {
            for _ in 0..reasons(leader, id, end) {
                write_isr(twin, state, leader, isr.without(id), each);
            }
        }
    }
}

/// Takes in each other replica that may join.
fn expand(
    twin: &Twin,
    state: &State,
    may_join: impl Fn(Id, Id, u8) -> bool,
    each: &mut dyn FnMut(State),
) {
    for leader in state.ids() {
        let (isr, hw) = (state.replica(leader).isr, state.replica(leader).hw);
        for id in state.ids().filter(|id| !isr.has(*id) && may_join(leader, *id, hw)) {
            write_isr(twin, state, leader, isr.with(id), each);
        }
    }
}

/// The leader knows that nothing of an earlier reign is committed beyond its high watermark.
fn hw_in_own_epoch(state: &State, leader: Id) -> bool {
    let replica = state.replica(leader);
    let at_hw = replica.at(replica.hw).map(|record| record.epoch);
    replica.hw == replica.end() || at_hw.is_some() && at_hw == replica.epoch
}

/// Up to KIP-279.
pub fn shrink_isr(twin: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    shrink(twin, state, |leader, id, end| (!caught_up(state, leader, id, end)).into(), each);
}

/// Up to KIP-279.
pub fn expand_isr(twin: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    expand(twin, state, |leader, id, hw| caught_up(state, leader, id, hw), each);
}

/// Kip320FirstTry.
pub fn shrink_isr_in_epoch(twin: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    let lags = |leader, id, end| (!caught_up_in_epoch(state, leader, id, end)).into();
    shrink(twin, state, lags, each);
}

/// Kip320FirstTry.
pub fn expand_isr_in_epoch(twin: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    let may = |leader, id, hw| {
        caught_up_in_epoch(state, leader, id, hw)
            && (hw_in_own_epoch(state, leader) || !twin.guards(Guard::EpochHw))
    };
    expand(twin, state, may, each);
}

/// Kip320. As published, another epoch and a shorter log are two ways to the same state.
pub fn shrink_isr_fenced(twin: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    let reasons = |leader, id, end| {
        let (elsewhere, behind) =
            (!agree_on_epoch(state, leader, id), state.replica(id).end() < end);
        usize::from(elsewhere) + usize::from(behind)
    };
    shrink(twin, state, reasons, each);
}

/// Kip320.
pub fn expand_isr_fenced(twin: &Twin, state: &State, each: &mut dyn FnMut(State)) {
    let may = |leader: Id, id: Id, hw: u8| {
        fenced(twin, Guard::FenceExpand, state, leader, id)
            && (state.replica(id).end() >= hw || !twin.guards(Guard::ExpandHw))
            && (hw_in_own_epoch(state, leader) || !twin.guards(Guard::EpochHw))
    };
    expand(twin, state, may, each);
}
