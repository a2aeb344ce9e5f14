//! The states that a worker owns: each with where it came from.

use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

/// Where a state came from first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The fingerprint of the state before; nothing for an initial state.
    pub parent: u64,
    /// Its level, the initial states' being 0.
    pub level: u32,
    /// Which action of that state leads here, or which initial state it is.
    pub ordinal: u16,
}

/// Keys are hashes already.
#[derive(Clone, Copy, Debug, Default)]
pub struct Already(u64);

impl Hasher for Already {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are of 64 bits");
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = n;
    }
}

/// A map whose keys are hashes already. Nobody goes by its order.
pub type Map<V> = HashMap<u64, V, BuildHasherDefault<Already>>;

/// The states of one worker.
#[derive(Debug, Default)]
pub struct Table(Map<Origin>);

impl Table {
    /// Adds a state, and says whether it is new. Of several ways to it in one level the smallest
    /// by state and action is kept, so that it does not matter who comes first.
    pub fn insert(&mut self, fingerprint: u64, origin: Origin) -> bool {
        match self.0.entry(fingerprint) {
            Entry::Vacant(place) => {
                place.insert(origin);
                true
            }
            Entry::Occupied(mut known) => {
                let old = *known.get();
                let smaller = (origin.parent, origin.ordinal) < (old.parent, old.ordinal);
                if old.level == origin.level && smaller {
                    known.insert(origin);
                }
                false
            }
        }
    }

    /// Where a state came from.
    pub fn get(&self, fingerprint: u64) -> Option<Origin> {
        self.0.get(&fingerprint).copied()
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        // At most seven eighths of the places are used, and each has one byte more.
        (self.0.capacity() * (size_of::<(u64, Origin)>() + 1) / 7 * 8) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_way_of_the_first_level_stays() {
        let mut table = Table::default();
        let from = |parent, level, ordinal| Origin { parent, level, ordinal };
        assert!(table.insert(7, from(5, 1, 1)));
        assert!(!table.insert(7, from(5, 1, 0)));
        assert!(!table.insert(7, from(6, 1, 0)));
        assert!(!table.insert(7, from(1, 2, 0)), "a later level is no way");
        assert_eq!(table.get(7), Some(from(5, 1, 0)));
        assert_eq!(table.get(8), None);
    }
}
