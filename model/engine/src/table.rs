//! The set of states already seen: a flat table of fingerprints with open addressing.
//!
//! It consists of [`SHARDS`] parts by the fingerprint's highest bits. Each grows on its own, by
//! half, so that no moment needs twice the memory; a slot is one word and between half and three
//! quarters of them are taken: 11 to 16 bytes a state.

use std::sync::Mutex;

use crate::memory::{Words, prefetch};

const SHARD_BITS: u32 = 6;

/// How many parts a table has.
pub const SHARDS: usize = 1 << SHARD_BITS;

/// Slots of a new shard.
const FIRST: usize = 512;

/// The system has no memory left for the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// One part of the table.
#[derive(Debug)]
pub struct Shard {
    slots: Words,
    len: usize,
}

/// Which shard a fingerprint belongs to.
#[inline]
pub const fn shard_of(fingerprint: u64) -> usize {
    (fingerprint >> (u64::BITS - SHARD_BITS)) as usize
}

/// Where in a shard of this capacity a fingerprint would be: in the order of fingerprints, so that
/// growing walks memory forwards.
#[inline]
const fn home(fingerprint: u64, capacity: usize) -> usize {
    (((fingerprint << SHARD_BITS) as u128 * capacity as u128) >> u64::BITS) as usize
}

/// 0 marks an empty slot.
#[inline]
const fn stored(fingerprint: u64) -> u64 {
    if fingerprint == 0 { 1 } else { fingerprint }
}

impl Shard {
    fn new(capacity: usize) -> Result<Self, Full> {
        Ok(Self { slots: Words::zeroed(capacity).map_err(|_| Full)?, len: 0 })
    }

    /// Asks for the memory in which `fingerprint` is looked for.
    #[inline]
    pub fn prefetch(&self, fingerprint: u64) {
        let slots = self.slots.as_slice();
        prefetch(&slots[home(stored(fingerprint), slots.len())]);
    }

    /// Adds a fingerprint; whether it was new.
    #[inline]
    pub fn insert(&mut self, fingerprint: u64) -> Result<bool, Full> {
        if self.len >= self.slots.as_slice().len() / 4 * 3 {
            self.grow()?;
        }
        let fresh = place(self.slots.as_mut_slice(), stored(fingerprint));
        self.len += usize::from(fresh);
        Ok(fresh)
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Full> {
        let capacity = self.slots.as_slice().len();
        let mut larger = Self::new(capacity + capacity / 2)?;
        let slots = larger.slots.as_mut_slice();
        for fingerprint in self.fingerprints() {
            place(slots, fingerprint);
        }
        larger.len = self.len;
        *self = larger;
        Ok(())
    }

    /// What is in it, in no particular order.
    pub fn fingerprints(&self) -> impl Iterator<Item = u64> {
        self.slots.as_slice().iter().copied().filter(|slot| *slot != 0)
    }

    fn bytes(&self) -> u64 {
        size_of_val(self.slots.as_slice()) as u64
    }
}

#[inline]
fn place(slots: &mut [u64], fingerprint: u64) -> bool {
    let mut at = home(fingerprint, slots.len());
    loop {
        match slots[at] {
            0 => {
                slots[at] = fingerprint;
                return true;
            }
            there if there == fingerprint => return false,
            _ => at = if at + 1 == slots.len() { 0 } else { at + 1 },
        }
    }
}

/// The whole set.
#[derive(Debug)]
pub struct Table {
    shards: Vec<Mutex<Shard>>,
}

impl Table {
    /// An empty set.
    pub fn new() -> Result<Self, Full> {
        let shards = (0..SHARDS).map(|_| Shard::new(FIRST).map(Mutex::new));
        Ok(Self { shards: shards.collect::<Result<_, _>>()? })
    }

    /// The shards, by [`shard_of`]. Each is locked by whoever works on it.
    pub fn shards(&self) -> &[Mutex<Shard>] {
        &self.shards
    }

    /// The shards, where nobody else works on them.
    pub fn shards_mut(&mut self) -> impl Iterator<Item = &mut Shard> {
        self.shards.iter_mut().map(|shard| shard.get_mut().expect("no holder panics"))
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.lock().expect("no holder panics").bytes()).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::fingerprint::mix;

    #[test]
    fn it_tells_new_from_known_as_a_plain_set_does() {
        let table = Table::new().expect("memory");
        let mut plain = BTreeSet::new();
        for n in 0..if cfg!(miri) { 2_000 } else { 300_000 } {
            let fingerprint = mix(n % 200_000);
            let mut shard = table.shards()[shard_of(fingerprint)].lock().expect("a shard");
            shard.prefetch(fingerprint);
            assert_eq!(shard.insert(fingerprint), Ok(plain.insert(fingerprint)));
        }
        let all = table
            .shards()
            .iter()
            .flat_map(|shard| shard.lock().expect("a shard").fingerprints().collect::<Vec<_>>());
        // mix(0) is 0, which is stored as 1.
        let plain: BTreeSet<u64> = plain.into_iter().map(stored).collect();
        assert_eq!(all.collect::<BTreeSet<_>>(), plain);
    }

    #[test]
    fn fingerprints_that_want_the_last_slot_go_round() {
        let mut shard = Shard::new(FIRST).expect("memory");
        for n in 0..300 {
            assert_eq!(shard.insert(u64::MAX - n), Ok(true));
            assert_eq!(shard.insert(u64::MAX - n), Ok(false));
        }
    }
}
