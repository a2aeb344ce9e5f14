//! Sets of small numbers.

/// A set of states.
#[derive(Clone, Debug, Default)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// Adds a number; whether it was new.
    pub fn insert(&mut self, n: usize) -> bool {
        if self.0.len() <= n / 64 {
            self.0.resize(n / 64 + 1, 0);
        }
        let (word, bit) = (&mut self.0[n / 64], 1 << (n % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Whether it is there.
    #[inline]
    pub fn contains(&self, n: usize) -> bool {
        self.0.get(n / 64).is_some_and(|word| word & 1 << (n % 64) != 0)
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        (self.0.capacity() * size_of::<u64>()) as u64
    }
}

/// A set of kinds of action, by their places in [`crate::Space::kinds`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kinds(Vec<bool>);

impl Kinds {
    /// No kind.
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether a kind is in it.
    #[inline]
    pub fn contains(&self, kind: usize) -> bool {
        self.0.get(kind).copied().unwrap_or(false)
    }

    /// Its kinds, in their order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().filter(|(_, there)| **there).map(|(kind, _)| kind)
    }

    /// All kinds from 0 to `kinds` that are not in it.
    #[must_use]
    pub fn others(&self, kinds: usize) -> Self {
        (0..kinds).filter(|kind| !self.contains(*kind)).collect()
    }
}

impl FromIterator<usize> for Kinds {
    fn from_iter<I: IntoIterator<Item = usize>>(kinds: I) -> Self {
        let mut set = Self::default();
        for kind in kinds {
            if set.0.len() <= kind {
                set.0.resize(kind + 1, false);
            }
            set.0[kind] = true;
        }
        set
    }
}
