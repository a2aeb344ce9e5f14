//! A map from numbers, for what is looked up for every generated state.

/// A map with open addressing: a power of two slots of which at most half are taken.
#[derive(Debug)]
pub(super) struct Flat<V> {
    /// Each key plus one, so that 0 marks an empty slot.
    slots: Vec<(u64, V)>,
    len: usize,
    shift: u32,
}

/// Slots of a new map.
const FIRST: u32 = 64;

impl<V: Copy + Default> Default for Flat<V> {
    fn default() -> Self {
        Self::with_slots(FIRST)
    }
}

impl<V: Copy + Default> Flat<V> {
    fn with_slots(slots: u32) -> Self {
        let shift = u64::BITS - slots.trailing_zeros();
        Self { slots: vec![(0, V::default()); slots as usize], len: 0, shift }
    }

    /// Where the slot of this key is, or the empty one where it belongs.
    #[inline]
    fn find(&self, key: u64) -> usize {
        // The high bits of a product depend on all bits of a number.
        let mut at = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize;
        while self.slots[at].0 != key + 1 && self.slots[at].0 != 0 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }

    /// What is known of a key, which is less than 2⁶⁴ - 1.
    #[inline]
    pub fn get(&self, key: u64) -> Option<&V> {
        let (there, value) = &self.slots[self.find(key)];
        (*there != 0).then_some(value)
    }

    /// Says what belongs to a key.
    pub fn insert(&mut self, key: u64, value: V) {
        if 2 * (self.len + 1) > self.slots.len() {
            let mut larger = Self::with_slots(2 * self.slots.len() as u32);
            for &(there, value) in self.slots.iter().filter(|slot| slot.0 != 0) {
                larger.insert(there - 1, value);
            }
            *self = larger;
        }
        let at = self.find(key);
        self.len += usize::from(self.slots[at].0 == 0);
        self.slots[at] = (key + 1, value);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::fingerprint::mix;

    #[test]
    fn it_answers_as_a_plain_map_does() {
        let (mut flat, mut plain) = (Flat::default(), BTreeMap::new());
        for n in 0..2_000 {
            // Keys that are near each other, and keys that are not.
            let key = if n % 2 == 0 { n << 33 } else { mix(n % 500) };
            assert_eq!(flat.get(key), plain.get(&key));
            flat.insert(key, n);
            plain.insert(key, n);
        }
        assert_eq!(flat.len, plain.len());
        assert!(plain.iter().all(|(key, value)| flat.get(*key) == Some(value)));
    }
}
