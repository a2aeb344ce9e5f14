//! The states of one level that a worker owns, in the order in which they are visited.

/// A worker's states of one level.
#[derive(Debug, Default)]
pub struct Level {
    /// The fingerprint and the number of words of each.
    states: Vec<(u64, u32)>,
    words: Vec<u32>,
    /// How many were visited, and how many words they have.
    next: usize,
    from: usize,
}

impl Level {
    /// Adds a state.
    pub fn push(&mut self, fingerprint: u64, row: &[u32]) {
        self.words.extend_from_slice(row);
        self.states.push((fingerprint, row.len() as u32));
    }

    /// How many were not visited.
    pub fn left(&self) -> u64 {
        (self.states.len() - self.next) as u64
    }

    /// The state that is next: its fingerprint and its row.
    pub fn first(&self) -> Option<(u64, &[u32])> {
        let (fingerprint, len) = *self.states.get(self.next)?;
        Some((fingerprint, &self.words[self.from..self.from + len as usize]))
    }

    /// The state that is next was visited.
    pub fn advance(&mut self) {
        self.from += self.states[self.next].1 as usize;
        self.next += 1;
    }

    /// How much memory they take.
    pub fn bytes(&self) -> u64 {
        let states = self.states.capacity() * size_of::<(u64, u32)>();
        (states + self.words.capacity() * size_of::<u32>()) as u64
    }
}
