//! States as few words: every field in as many bits as the bounds need.
//!
//! What follows from requests and updates is not packed: what the controller holds, what the
//! leader knows but for its version, and what is pending.

use super::{AsyncIsr, LEADER, State, Versioned};
use crate::twin::pack::{Bits, Reader, Writer, width, words};
use crate::twin::{Id, Set};

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

impl Widths {
    /// Versions and offsets.
    fn first(&self, replicas: Id) -> u32 {
        2 * self.version + self.offset * u32::from(replicas)
    }

    /// What was asked for in place of a version, and the update to the next.
    fn of_version(&self) -> u32 {
        self.isrs + self.isr
    }
}

impl AsyncIsr {
    /// How many words a state is packed into.
    pub fn words(&self) -> usize {
        let widths = Widths::of(*self);
        let versions = u32::from(self.max_version) + 1;
        words(widths.first(self.replicas) + versions * widths.of_version())
    }

    /// Appends the words of a state that is admitted, or the successor of one: as many for each.
    pub fn pack(&self, state: &State, out: &mut Vec<u32>) {
        let widths = Widths::of(*self);
        let mut words = Writer::new(out);
        let mut bits = Bits::default();
        bits.put(state.controller.version.into(), widths.version);
        bits.put(state.leader.version.into(), widths.version);
        for offset in state.offsets() {
            bits.put((*offset).into(), widths.offset);
        }
        words.put(bits);
        for version in 0..=self.max_version {
            let mut bits = Bits::default();
            bits.put(state.requests.bits(version).into(), widths.isrs);
            let isr = state.updates.of(version + 1).unwrap_or(Set::EMPTY);
            bits.put((isr.bits() >> (LEADER + 1)).into(), widths.isr);
            words.put(bits);
        }
        words.finish();
    }

    /// The state that was packed into these words.
    pub fn unpack(&self, words: &[u32]) -> State {
        let widths = Widths::of(*self);
        let mut words = Reader::new(words);
        let mut state = self.initial();
        let mut bits = words.take(widths.first(self.replicas));
        let newest = bits.take(widths.version) as u8;
        let known = bits.take(widths.version) as u8;
        for offset in state.offsets_mut() {
            *offset = bits.take(widths.offset) as u8;
        }
        for version in 0..=self.max_version {
            let mut bits = words.take(widths.of_version());
            state.requests.add_bits(version, bits.take(widths.isrs) as u16);
            let others = bits.take(widths.isr) as u8;
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
