//! Replicas and sets of them.

use std::fmt;

/// A replica's number, from 0. Shown, they count from r1.
pub type Id = u8;

/// A set of replicas, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Set(u8);

impl Set {
    /// Replicas 0 to `count` − 1.
    #[inline]
    pub fn first(count: Id) -> Self {
        Self(((1_u16 << count) - 1) as u8)
    }

    /// Nobody.
    pub const EMPTY: Self = Self(0);

    /// Whether `id` is in it.
    #[inline]
    pub fn has(self, id: Id) -> bool {
        self.0 >> id & 1 != 0
    }

    /// With `id`.
    #[inline]
    #[must_use]
    pub fn with(self, id: Id) -> Self {
        Self(self.0 | 1 << id)
    }

    /// Without `id`.
    #[inline]
    #[must_use]
    pub fn without(self, id: Id) -> Self {
        Self(self.0 & !(1 << id))
    }

    /// With all of `other`.
    #[inline]
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The members in order.
    #[inline]
    pub fn members(self) -> impl Iterator<Item = Id> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let id = rest.trailing_zeros() as Id;
            rest &= rest.wrapping_sub(1);
            (id < 8).then_some(id)
        })
    }

    /// The set as a number, a bit for each replica.
    #[inline]
    pub(super) fn bits(self) -> u8 {
        self.0
    }

    /// The set that is this number.
    #[inline]
    pub(super) fn of_bits(bits: u8) -> Self {
        Self(bits)
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (place, id) in self.members().enumerate() {
            write!(f, "{}r{}", if place == 0 { "" } else { ", " }, id + 1)?;
        }
        f.write_str("}")
    }
}
