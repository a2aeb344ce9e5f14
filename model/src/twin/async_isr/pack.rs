//! States as few words: every field in as many bits as the bounds need.
//!
//! What follows from requests and updates is not packed: what the controller holds, what the
//! leader knows but for its version, and what is pending.

use super::{AsyncIsr, LEADER, State, Versioned};
use crate::twin::Set;
use crate::twin::pack::{Reader, Writer, width, words};

/// The bits of each field. The constraint looks at states that it leaves out, so they fit too.
struct Widths {
    offset: u32,
    version: u32,
    /// An ISR, which has the leader.
    isr: u32,
    /// A set of ISRs.
    isrs: u32,
}

impl Widths {
    fn of(twin: AsyncIsr) -> Self {
        let isr = u32::from(twin.replicas) - 1;
        Self {
            offset: width(twin.max_offset + 1),
            version: width(twin.max_version + 1),
            isr,
            isrs: 1 << isr,
        }
    }
}

impl AsyncIsr {
    /// How many words a state is packed into.
    pub fn words(&self) -> usize {
        let widths = Widths::of(*self);
        let versions = u32::from(self.max_version) + 1;
        let told = versions * (widths.isr + widths.isrs);
        words(2 * widths.version + u32::from(self.replicas) * widths.offset + told)
    }

    /// Appends the words of a state that is admitted, or the successor of one: as many for each.
    pub fn pack(&self, state: &State, out: &mut Vec<u32>) {
        let widths = Widths::of(*self);
        let mut words = Writer::new(out);
        words.put(state.controller.version.into(), widths.version);
        words.put(state.leader.version.into(), widths.version);
        for offset in state.offsets() {
            words.put((*offset).into(), widths.offset);
        }
        for version in 0..=self.max_version {
            words.put(state.requests.bits(version).into(), widths.isrs);
            let isr = state.updates.of(version + 1).unwrap_or(Set::EMPTY);
            words.put((isr.bits() >> (LEADER + 1)).into(), widths.isr);
        }
        words.finish();
    }

    /// The state that was packed into these words.
    pub fn unpack(&self, words: &[u32]) -> State {
        let widths = Widths::of(*self);
        let mut words = Reader::new(words);
        let mut state = self.initial();
        let newest = words.take(widths.version) as u8;
        let known = words.take(widths.version) as u8;
        for offset in state.offsets_mut() {
            *offset = words.take(widths.offset) as u8;
        }
        for version in 0..=self.max_version {
            state.requests.add_bits(version, words.take(widths.isrs) as u16);
            let others = words.take(widths.isr) as u8;
            if version < newest {
                state.updates.push(Set::of_bits(others << (LEADER + 1)).with(LEADER));
            }
        }
        let all = state.controller.isr;
        let of = |version| Versioned { isr: state.updates.of(version).unwrap_or(all), version };
        (state.controller, state.leader) = (of(newest), of(known));
        state.pending = state.requests.union(known);
        state.pending_version = (state.pending != Set::EMPTY).then_some(known);
        state
    }
}
