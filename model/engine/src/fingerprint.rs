//! The numbers that stand for states and for their parts.
//!
//! Every function here has a fixed, published output for a given seed (XXH3, SipHash-1-3,
//! splitmix64), so that what is stored or compared between runs means the same in all of them.

use std::hash::{Hash, Hasher};

use siphasher::sip::SipHasher13;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The fingerprint of a packed state.
#[inline]
pub fn of_words(words: &[u32], seed: u64) -> u64 {
    xxh3_64_with_seed(bytemuck::cast_slice(words), seed)
}

/// Spreads every bit of `x` over all bits of the result (splitmix64's finalizer, a bijection).
#[inline]
pub const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The fingerprint of one value, from what its `Hash` writes. Unequal values whose `Hash` writes
/// the same have the same fingerprint; [`crate::intern`] tells them apart.
pub fn of_value<T: Hash + ?Sized>(value: &T, seed: u64) -> u64 {
    let mut hasher = Fixed(SipHasher13::new_with_keys(seed, mix(!seed)));
    value.hash(&mut hasher);
    hasher.finish()
}

/// Writes integers in one byte order and one size, whatever the machine.
struct Fixed(SipHasher13);

impl Hasher for Fixed {
    fn finish(&self) -> u64 {
        self.0.finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    fn write_u16(&mut self, n: u16) {
        self.0.write(&n.to_le_bytes());
    }

    fn write_u32(&mut self, n: u32) {
        self.0.write(&n.to_le_bytes());
    }

    fn write_u64(&mut self, n: u64) {
        self.0.write(&n.to_le_bytes());
    }

    fn write_u128(&mut self, n: u128) {
        self.0.write(&n.to_le_bytes());
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
}

/// An upper bound on the probability that any two of `states` distinct states have the same 64-bit
/// fingerprint: n² / 2⁶⁵.
#[expect(clippy::cast_precision_loss, reason = "a bound on a probability")]
pub fn collision_bound(states: u64) -> f64 {
    let n = states as f64;
    n * n / 2f64.powi(65)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_fixed() {
        assert_eq!(of_words(&[1, 2, 3], 7), of_words(&[1, 2, 3], 7));
        assert_ne!(of_words(&[1, 2, 3], 7), of_words(&[1, 2, 3], 8));
        assert_eq!(mix(1), 0x5692_161d_100b_05e5);
        let stored = (of_words(&[1, 2, 3], 7), of_value(&("a", 5_usize), 7));
        assert_eq!(stored, (0xc009_064f_93b7_b194, 0x5f07_22a8_c46a_d052));
    }

    #[test]
    fn the_bound_grows_with_the_square() {
        assert!(collision_bound(100_000_000) < 0.000_3);
        assert!((collision_bound(2_000) / collision_bound(1_000) - 4.0).abs() < 1e-9);
    }
}
