//! What a block of states emitted just before: about half of all that is emitted is met here, and
//! needs not be looked up in the table.

use crate::table::stored;

/// How many fingerprints are remembered, at most: as many as the first-level cache holds.
const MOST: usize = 4096;

/// Fingerprints by their lowest bits, each the last with those. The length is a power of two, or 0.
#[derive(Debug, Default)]
pub struct Recent(Vec<u64>);

impl Recent {
    /// Forgets all, and remembers nothing from now on.
    pub fn stop(&mut self) {
        self.0.clear();
    }

    /// Forgets all, and makes room for what so many states emit.
    pub fn start(&mut self, states: usize) {
        self.0.clear();
        self.0.resize((4 * states.next_power_of_two()).min(MOST), 0);
    }

    /// Whether this was met before, as far as is remembered. `false` says nothing.
    #[inline]
    pub fn meets(&mut self, fingerprint: u64) -> bool {
        // Never 0, which stands for nothing.
        let fingerprint = stored(fingerprint);
        let at = fingerprint as usize & self.0.len().wrapping_sub(1);
        match self.0.get_mut(at) {
            Some(slot) => std::mem::replace(slot, fingerprint) == fingerprint,
            None => false,
        }
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        (self.0.capacity() * size_of::<u64>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::fingerprint::mix;

    #[test]
    fn it_never_meets_what_did_not_come() {
        let mut recent = Recent::default();
        assert!(!recent.meets(7) && !recent.meets(7));
        for states in [1, 3, 100, 5000] {
            recent.start(states);
            let (mut came, mut met) = (BTreeSet::new(), 0);
            // 0 and 1 are stored alike, as they are in the table.
            for fingerprint in (0..20_000).map(|n| mix(n % 700)).chain([0, 0]) {
                let meets = recent.meets(fingerprint);
                assert!(!meets || came.contains(&fingerprint));
                came.insert(fingerprint);
                met += u64::from(meets);
            }
            assert!(met > 0);
            recent.start(states);
            assert!(!recent.meets(mix(5)));
        }
        recent.stop();
        assert!(!recent.meets(7) && !recent.meets(7));
    }
}
