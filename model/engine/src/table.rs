//! The set of states already seen: a flat table of fingerprints with open addressing.
//!
//! It consists of [`SHARDS`] parts by the fingerprint's highest bits. Each grows on its own, by
//! half and in place as long as there are addresses behind it, so that no moment needs twice the
//! memory; a slot is one word and between half and three quarters of them are taken: 11 to 16
//! bytes a state.

use std::sync::Mutex;

use crate::memory::{Words, prefetch};

const SHARD_BITS: u32 = 4;

/// How many parts a table has.
pub const SHARDS: usize = 1 << SHARD_BITS;

/// Slots of a new shard.
const FIRST: usize = 512;

/// Slots for which a new shard takes addresses. They cost no memory until they are used.
const RESERVED: usize = 1 << 17;

/// A shard that needs more takes so many times the addresses.
const MORE: usize = 8;

/// The system has no memory left for the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// One part of the table.
#[derive(Debug)]
pub struct Shard {
    /// Those from `capacity` on are not in use, and zero.
    words: Words,
    capacity: usize,
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
        let words = Words::zeroed(capacity.max(RESERVED)).map_err(|_| Full)?;
        Ok(Self { words, capacity, len: 0 })
    }

    #[inline]
    fn slots(&self) -> &[u64] {
        &self.words.as_slice()[..self.capacity]
    }

    #[inline]
    fn slots_mut(&mut self) -> &mut [u64] {
        &mut self.words.as_mut_slice()[..self.capacity]
    }

    /// Adds a fingerprint; whether it was new.
    #[inline]
    pub fn insert(&mut self, fingerprint: u64) -> Result<bool, Full> {
        self.reserve(1)?;
        let fresh = place(self.slots_mut(), stored(fingerprint));
        self.len += usize::from(fresh);
        Ok(fresh)
    }

    /// Makes room for `more`, so that none of them makes it grow.
    #[inline]
    pub fn reserve(&mut self, more: usize) -> Result<(), Full> {
        while self.len + more > self.capacity / 4 * 3 {
            self.grow()?;
        }
        Ok(())
    }

    /// Its slots, and how many are taken, for a caller that has made room.
    pub fn open(&mut self) -> Open<'_> {
        Open { slots: &mut self.words.as_mut_slice()[..self.capacity], len: &mut self.len }
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Full> {
        let (before, capacity) = (self.capacity, self.capacity + self.capacity / 2);
        if capacity > self.words.as_slice().len() {
            let words = Words::zeroed(capacity.saturating_mul(MORE));
            let mut words = words.or_else(|_| Words::zeroed(capacity)).map_err(|_| Full)?;
            words.uses(capacity);
            words.as_mut_slice()[..before].copy_from_slice(self.slots());
            self.words = words;
        }
        self.words.uses(capacity);
        self.capacity = capacity;
        let (slots, mut rest) = (self.slots_mut(), Vec::new());
        // From the end, so that each goes to where all that stood there has gone on. At the start
        // some would go back, among those that have not; they wait, and so do those that would
        // have to go round.
        for at in (0..before).rev() {
            let fingerprint = std::mem::take(&mut slots[at]);
            if fingerprint != 0 {
                let mut to = home(fingerprint, capacity);
                if to >= at {
                    while to < capacity && slots[to] != 0 {
                        to += 1;
                    }
                }
                match slots.get_mut(to).filter(|_| to >= at) {
                    Some(slot) => *slot = fingerprint,
                    None => rest.push(fingerprint),
                }
            }
        }
        for fingerprint in rest {
            place(slots, fingerprint);
        }
        Ok(())
    }

    /// How many slots it has when `more` were added.
    fn capacity_with(&self, more: usize) -> usize {
        let mut capacity = self.capacity;
        while self.len + more > capacity / 4 * 3 {
            capacity += capacity / 2;
        }
        capacity
    }

    /// Sorts what is in it. After that it can only be cleared.
    pub fn sort(&mut self) -> &[u64] {
        let slots = self.slots_mut();
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
        self.slots_mut().fill(0);
        self.len = 0;
    }

    fn bytes(&self) -> u64 {
        size_of_val(self.slots()) as u64
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
    /// while `threads` shards move included.
    pub fn bytes_with(&self, more: &[usize; SHARDS], threads: usize) -> u64 {
        let (mut sum, mut most) = (0, 0);
        for (shard, more) in self.shards.iter().zip(more) {
            let shard = shard.lock().expect("no holder panics");
            let then = shard.capacity_with(*more);
            sum += then;
            let moves = then > shard.words.as_slice().len();
            most = most.max(if moves { then / 3 * 2 } else { 0 });
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
        let of = |shard: &Mutex<Shard>| shard.lock().expect("a shard").slots().to_vec();
        let all = table.shards().iter().flat_map(of).filter(|slot| *slot != 0);
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
