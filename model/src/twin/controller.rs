//! What the controller does, alike in all modules.

use super::{Said, Set, State, Twin, Who};

/// The controller sends a new request, if there is an epoch left.
fn say(twin: &Twin, state: &State, who: Who, said: Said, each: &mut impl FnMut(Who, State)) {
    if state.requests.count() <= twin.constants.max_leader_epoch {
        let mut next = *state;
        next.requests.push(said);
        next.quorum = said;
        each(who, next);
    }
}

/// Any other member of the ISR leads.
pub fn elect(twin: &Twin, state: &State, each: &mut impl FnMut(Who, State)) {
    let Said { leader, isr } = state.quorum;
    for id in isr.members().filter(|id| leader != Some(*id)) {
        say(twin, state, Who::One(id), Said { leader: Some(id), isr }, each);
    }
}

/// A broker fails: it leaves the ISR unless it is the last, and leads no more.
pub fn shrink(twin: &Twin, state: &State, each: &mut impl FnMut(Who, State)) {
    let Said { leader, isr } = state.quorum;
    for id in state.ids() {
        let rest = isr.without(id);
        if leader == Some(id) {
            let isr = if rest == Set::EMPTY && isr.has(id) { isr } else { rest };
            say(twin, state, Who::One(id), Said { leader: None, isr }, each);
        } else if isr.has(id) {
            say(twin, state, Who::One(id), Said { leader, isr: rest }, each);
        }
    }
}
