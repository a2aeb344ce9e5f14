//! Interning: each distinct value is kept once, and a small number stands for it.
//!
//! Many threads may intern at once. The number of a value depends on who came first; its *mark*
//! does not, so that fingerprints, orders and everything else that must be the same in each run
//! are made of marks.

use std::hash::Hash;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use hashbrown::HashTable;

use crate::fingerprint::{mix, of_value};

const SHARDS: usize = 32;

/// A value as it is kept.
#[derive(Debug)]
pub struct Kept<T> {
    /// The value.
    pub value: T,
    /// Its mark: a fingerprint of the value alone, unless another value's `Hash` writes the same.
    pub mark: u64,
    /// Its number.
    pub number: u32,
}

/// Values of one type, each once.
#[derive(Debug)]
pub struct Interner<T> {
    seed: u64,
    numbers: Vec<Mutex<HashTable<(u64, u32)>>>,
    kept: boxcar::Vec<Kept<T>>,
    ambiguous: AtomicBool,
}

fn number_of(place: usize) -> u32 {
    let number = u32::try_from(place).ok().filter(|number| number >> 31 == 0);
    number.expect("fewer than 2,147,483,648 distinct values")
}

impl<T: Hash + PartialEq> Interner<T> {
    /// An empty interner whose marks are made with this seed.
    pub fn new(seed: u64) -> Self {
        let numbers = (0..SHARDS).map(|_| Mutex::default()).collect();
        let (kept, ambiguous) = (boxcar::Vec::new(), AtomicBool::new(false));
        Self { seed, numbers, kept, ambiguous }
    }

    /// The number of a value.
    ///
    /// Values that are unequal but hash alike get different marks, in the order in which they come.
    /// So a `Hash` that leaves something out costs determinism of marks, never a state.
    pub fn intern(&self, value: T) -> u32 {
        let hash = of_value(&value, self.seed);
        let shard = &self.numbers[hash as usize % SHARDS];
        let mut numbers = shard.lock().expect("no holder panics");
        let is_it = |&(h, n): &(u64, u32)| h == hash && self.get(n).value == value;
        if let Some(&(_, number)) = numbers.find(mix(hash), is_it) {
            return number;
        }
        let alike = numbers.iter_hash(mix(hash)).filter(|known| known.0 == hash).count() as u64;
        if alike > 0 {
            self.ambiguous.store(true, Relaxed);
        }
        let mark = if alike == 0 { hash } else { mix(hash ^ alike.wrapping_mul(0x9e37_79b9)) };
        let number = self.kept.push_with(|at| Kept { value, mark, number: number_of(at) });
        let number = number_of(number);
        numbers.insert_unique(mix(hash), (hash, number), |known| mix(known.0));
        number
    }

    /// The value with this number, which [`Self::intern`] gave.
    #[inline]
    pub fn get(&self, number: u32) -> &Kept<T> {
        &self.kept[number as usize]
    }

    /// Whether some of its marks depend on which value came first.
    pub fn is_ambiguous(&self) -> bool {
        self.ambiguous.load(Relaxed)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.kept.count()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How much memory they take, without what they own elsewhere.
    pub fn bytes(&self) -> u64 {
        (self.len() * (size_of::<Kept<T>>() + 2 * size_of::<(u64, u32)>())) as u64
    }
}
