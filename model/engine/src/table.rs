//! The set of states already seen: a flat table of fingerprints with open addressing.
//!
//! It consists of [`SHARDS`] parts by the fingerprint's highest bits. Each grows on its own, by
//! half, so that no moment needs twice the memory; a slot is one word and between half and three
//! quarters of them are taken: 11 to 16 bytes a state.

use std::sync::Mutex;

use crate::memory::{Words, prefetch};

const SHARD_BITS: u32 = 4;

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

/// A fingerprint as it is kept: 0 marks an empty slot.
#[inline]
pub const fn stored(fingerprint: u64) -> u64 {
    if fingerprint == 0 { 1 } else { fingerprint }
}

impl Shard {
    fn new(capacity: usize) -> Result<Self, Full> {
        Ok(Self { slots: Words::zeroed(capacity).map_err(|_| Full)?, len: 0 })
    }

    /// Adds a fingerprint; whether it was new.
    #[inline]
    pub fn insert(&mut self, fingerprint: u64) -> Result<bool, Full> {
        self.reserve(1)?;
        let fresh = place(self.slots.as_mut_slice(), stored(fingerprint));
        self.len += usize::from(fresh);
        Ok(fresh)
    }

    /// Makes room for `more`, so that none of them makes it grow.
    #[inline]
    pub fn reserve(&mut self, more: usize) -> Result<(), Full> {
        while self.len + more > self.slots.as_slice().len() / 4 * 3 {
            self.grow()?;
        }
        Ok(())
    }

    /// Its slots, and how many are taken, for a caller that has made room.
    pub fn open(&mut self) -> Open<'_> {
        Open { slots: self.slots.as_mut_slice(), len: &mut self.len }
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

    /// How many slots it has when `more` were added.
    fn capacity_with(&self, more: usize) -> usize {
        let mut capacity = self.slots.as_slice().len();
        while self.len + more > capacity / 4 * 3 {
            capacity += capacity / 2;
        }
        capacity
    }

    /// Sorts what is in it. After that it can only be cleared.
    pub fn sort(&mut self) -> &[u64] {
        let slots = self.slots.as_mut_slice();
        let mut len = 0;
        for at in 0..slots.len() {
            slots[len] = slots[at];
            len += usize::from(slots[at] != 0);
        }
        slots[..len].sort_unstable();
        &slots[..len]
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.slots.as_mut_slice().fill(0);
        self.len = 0;
    }

    /// What is in it, in no particular order.
    pub fn fingerprints(&self) -> impl Iterator<Item = u64> {
        self.slots.as_slice().iter().copied().filter(|slot| *slot != 0)
    }

    fn bytes(&self) -> u64 {
        size_of_val(self.slots.as_slice()) as u64
    }
}

/// A shard that has room for what is to be added: looked up once, used many times.
#[derive(Debug)]
pub struct Open<'a> {
    slots: &'a mut [u64],
    len: &'a mut usize,
}

impl Open<'_> {
    /// Asks for the memory in which `fingerprint` is looked for.
    #[inline]
    pub fn prefetch(&self, fingerprint: u64) {
        prefetch(&self.slots[home(stored(fingerprint), self.slots.len())]);
    }

    /// Adds a fingerprint; whether it was new.
    #[inline]
    pub fn insert(&mut self, fingerprint: u64) -> bool {
        let fresh = place(self.slots, stored(fingerprint));
        *self.len += usize::from(fresh);
        fresh
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

    /// Adds a fingerprint; whether it was new.
    pub fn insert(&mut self, fingerprint: u64) -> Result<bool, Full> {
        let shard = self.shards[shard_of(fingerprint)].get_mut().expect("no holder panics");
        shard.insert(fingerprint)
    }

    /// How many fingerprints are in it.
    pub fn len(&self) -> usize {
        self.each(|shard| shard.len).sum()
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        self.each(Shard::bytes).sum()
    }

    /// How much memory it takes when so many were added to each shard, the most that is taken
    /// while `threads` shards grow included.
    pub fn bytes_with(&self, more: &[usize; SHARDS], threads: usize) -> u64 {
        let sizes = self.each(|shard| shard.slots.as_slice().len()).zip(more.iter().enumerate());
        let (mut sum, mut most) = (0, 0);
        for (now, (n, more)) in sizes {
            let then = self.shards[n].lock().expect("no holder panics").capacity_with(*more);
            sum += then;
            most = most.max(if then == now { 0 } else { then / 3 * 2 });
        }
        ((sum + most * threads.min(SHARDS)) * size_of::<u64>()) as u64
    }

    fn each<T>(&self, of: impl Fn(&Shard) -> T) -> impl Iterator<Item = T> {
        self.shards.iter().map(move |shard| of(&shard.lock().expect("no holder panics")))
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
            let fresh = plain.insert(fingerprint);
            if n % 2 == 0 {
                assert_eq!(shard.insert(fingerprint), Ok(fresh));
            } else {
                shard.reserve(1).expect("memory");
                shard.open().prefetch(fingerprint);
                assert_eq!(shard.open().insert(fingerprint), fresh);
            }
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
    fn it_foretells_its_size_and_sorts() {
        let mut table = Table::new().expect("memory");
        let all: Vec<u64> = (0..if cfg!(miri) { 2_000 } else { 50_000 }).map(mix).collect();
        let mut more = [0; SHARDS];
        for fingerprint in &all {
            more[shard_of(*fingerprint)] += 1;
        }
        let foretold = table.bytes_with(&more, 0);
        for fingerprint in &all {
            assert_eq!(table.insert(*fingerprint), Ok(true));
        }
        assert_eq!((foretold, table.len()), (table.bytes(), all.len()));
        assert_eq!(table.bytes_with(&[0; SHARDS], 64), table.bytes());
        let sorted: BTreeSet<u64> = all.iter().copied().map(stored).collect();
        let shards = table.shards_mut().flat_map(|shard| shard.sort().to_vec());
        assert_eq!(shards.collect::<Vec<_>>(), sorted.into_iter().collect::<Vec<_>>());
        table.shards_mut().for_each(Shard::clear);
        assert_eq!((table.len(), table.bytes()), (0, foretold));
        assert_eq!(table.insert(all[3]), Ok(true));
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
