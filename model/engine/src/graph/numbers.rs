//! Which number the state with a fingerprint has: a flat table with open addressing, as the one of
//! the search itself, with 12 bytes a slot.

use crate::memory::{Words, prefetch};

/// A fingerprint in two halves, and the number. All zero if it is empty.
type Slot = [u32; 3];

/// Slots of a new table; an even number, as that of every table, so that they fill whole words.
const FIRST: usize = 1024;

/// The numbers of states.
pub struct Numbers {
    words: Words,
    len: usize,
}

fn slots(words: usize) -> usize {
    words / 3 * 2
}

/// In the order of fingerprints, so that growing walks memory forwards.
#[inline]
fn home(fingerprint: u64, slots: usize) -> usize {
    ((u128::from(fingerprint) * slots as u128) >> u64::BITS) as usize
}

/// The search can't tell a fingerprint of 0 from 1 either.
#[inline]
fn halves(fingerprint: u64) -> [u32; 2] {
    let stored = fingerprint.max(1);
    [stored as u32, (stored >> 32) as u32]
}

/// The slot of a fingerprint, or the empty one that it belongs to.
#[inline]
fn find(slots: &[Slot], fingerprint: u64) -> usize {
    let [low, high] = halves(fingerprint);
    let mut at = home(fingerprint, slots.len());
    while !matches!(slots[at], [0, 0, _]) && slots[at][..2] != [low, high] {
        at = if at + 1 == slots.len() { 0 } else { at + 1 };
    }
    at
}

impl Numbers {
    /// A table without any; the system's own error if it has no memory for it.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self { words: Words::zeroed(FIRST / 2 * 3)?, len: 0 })
    }

    fn slots(&self) -> &[Slot] {
        bytemuck::cast_slice(self.words.as_slice())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Makes room for so many more.
    pub fn reserve(&mut self, more: usize) -> std::io::Result<()> {
        let mut capacity = slots(self.words.as_slice().len());
        if self.len + more <= capacity / 4 * 3 {
            return Ok(());
        }
        while self.len + more > capacity / 4 * 3 {
            capacity = (capacity + capacity / 2).next_multiple_of(2);
        }
        let mut words = Words::zeroed(capacity / 2 * 3)?;
        let larger: &mut [Slot] = bytemuck::cast_slice_mut(words.as_mut_slice());
        for &[low, high, number] in self.slots().iter().filter(|slot| slot[..2] != [0, 0]) {
            let at = find(larger, u64::from(low) | u64::from(high) << 32);
            larger[at] = [low, high, number];
        }
        self.words = words;
        Ok(())
    }

    /// Gives the next number to a fingerprint that has none. There must be room for it.
    #[inline]
    pub fn add(&mut self, fingerprint: u64) -> u32 {
        let number = self.len as u32;
        let slots: &mut [Slot] = bytemuck::cast_slice_mut(self.words.as_mut_slice());
        let at = find(slots, fingerprint);
        let [low, high] = halves(fingerprint);
        slots[at] = [low, high, number];
        self.len += 1;
        number
    }

    /// The number of a fingerprint that has one.
    #[inline]
    pub fn get(&self, fingerprint: u64) -> u32 {
        let slots = self.slots();
        let [low, high, number] = slots[find(slots, fingerprint)];
        assert_eq!([low, high], halves(fingerprint), "a state that was found before");
        number
    }

    /// Asks for the memory in which a fingerprint is looked for.
    #[inline]
    pub fn prefetch(&self, fingerprint: u64) {
        let slots = self.slots();
        prefetch(&slots[home(fingerprint, slots.len())]);
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        size_of_val(self.words.as_slice()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint::mix;

    #[test]
    fn each_fingerprint_keeps_its_number() {
        let mut numbers = Numbers::new().expect("memory");
        // mix(0) is 0, which stands for 1.
        let fingerprints = || (0..10_000).map(mix).chain((2..100).map(|n| u64::MAX - n));
        for (n, fingerprint) in (0..).zip(fingerprints()) {
            numbers.reserve(1).expect("memory");
            assert_eq!(numbers.add(fingerprint), n);
        }
        for (n, fingerprint) in (0..).zip(fingerprints()) {
            numbers.prefetch(fingerprint);
            assert_eq!(numbers.get(fingerprint), n);
        }
        assert_eq!((numbers.get(1), numbers.len()), (0, 10_098));
    }
}
