//! What the controller does, alike in all modules.

use super::{Said, Set, State, Twin, Who};

/// Whether there is an epoch left for a new request.
#[inline]
fn may_say(twin: &Twin, state: &State) -> bool {
    state.requests.count() <= twin.constants.max_leader_epoch
}

/// The controller sends a new request.
fn say(state: &State, said: Said) -> State {
    let mut next = *state;
    next.requests.push(said);
    next.quorum = said;
    next
}

/// Any other member of the ISR leads.
pub fn elect(twin: &Twin, state: &State, each: &mut impl FnMut(Who, State)) {
    if !may_say(twin, state) {
        return;
    }
    let Said { leader, isr } = state.quorum;
    for id in isr.members().filter(|id| leader != Some(*id)) {
        each(Who::One(id), say(state, Said { leader: Some(id), isr }));
    }
}

/// A broker fails: it leaves the ISR unless it is the last, and leads no more.
pub fn shrink(twin: &Twin, state: &State, each: &mut impl FnMut(Who, State)) {
    if !may_say(twin, state) {
        return;
    }
    let Said { leader, isr } = state.quorum;
    for id in state.ids() {
        let rest = isr.without(id);
        if leader == Some(id) {
            let isr = if rest == Set::EMPTY && isr.has(id) { isr } else { rest };
            each(Who::One(id), say(state, Said { leader: None, isr }));
        } else if isr.has(id) {
            each(Who::One(id), say(state, Said { leader, isr: rest }));
        }
    }
}
