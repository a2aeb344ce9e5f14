//! The states of one level, in blocks of packed rows, and the links to their parents.

use std::collections::VecDeque;
use std::ops::Range;

/// Consecutive states of a level.
#[derive(Clone, Debug, Default)]
pub struct Block {
    words: Vec<u32>,
    /// Where each row ends.
    ends: Vec<u32>,
}

impl Block {
    /// How many states it has.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds a row.
    #[inline]
    pub fn push(&mut self, row: &[u32]) {
        self.words.extend_from_slice(row);
        self.ends.push(self.words.len() as u32);
    }

    /// The row of its n-th state.
    #[inline]
    pub fn row(&self, n: usize) -> &[u32] {
        let start = if n == 0 { 0 } else { self.ends[n - 1] };
        &self.words[start as usize..self.ends[n] as usize]
    }

    fn append(&mut self, other: &Self) {
        let shift = self.words.len() as u32;
        self.words.extend_from_slice(&other.words);
        self.ends.extend(other.ends.iter().map(|end| end + shift));
    }

    fn bytes(&self) -> u64 {
        (size_of::<u32>() * (self.words.capacity() + self.ends.capacity())) as u64
    }
}

/// The states of a level in the order in which they were found.
#[derive(Clone, Debug, Default)]
pub struct Frontier {
    blocks: Vec<Block>,
    len: u64,
}

/// A block with fewer states than this is joined to the one before it.
const SMALL: usize = 128;

impl Frontier {
    /// How many states it has.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Adds a block at its end.
    pub fn push(&mut self, block: Block) {
        self.len += block.len() as u64;
        match self.blocks.last_mut() {
            Some(last) if last.len() + block.len() <= SMALL => last.append(&block),
            _ if block.len() > 0 => self.blocks.push(block),
            _ => {}
        }
    }

    /// The same states, to be visited.
    pub fn into_queue(self) -> Queue {
        Queue { blocks: self.blocks.into(), from: 0, first: 0, left: self.len }
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        self.blocks.iter().map(Block::bytes).sum()
    }
}

/// The states of a level that were not visited yet.
#[derive(Debug)]
pub struct Queue {
    blocks: VecDeque<Block>,
    /// The first state of the first block that was not visited.
    from: usize,
    /// Its place in the level.
    first: u32,
    left: u64,
}

/// Consecutive states of one block.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// The block.
    pub block: &'a Block,
    /// Which of its states.
    pub range: Range<usize>,
    /// The place of the range's first state in the level.
    pub first: u32,
}

impl Queue {
    /// How many states are left.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The next states, no more than `room`, block by block.
    pub fn parts(&self, room: usize) -> Vec<Part<'_>> {
        let (mut parts, mut room) = (Vec::new(), room);
        let (mut from, mut first) = (self.from, self.first);
        for block in &self.blocks {
            let to = block.len().min(from + room);
            parts.push(Part { block, range: from..to, first });
            room -= to - from;
            first += (to - from) as u32;
            from = 0;
            if room == 0 {
                break;
            }
        }
        parts
    }

    /// Forgets the next `visited` states.
    pub fn advance(&mut self, visited: usize) {
        self.left -= visited as u64;
        self.first += visited as u32;
        self.from += visited;
        while let Some(block) = self.blocks.front()
            && self.from >= block.len()
        {
            self.from -= block.len();
            self.blocks.pop_front();
        }
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        self.blocks.iter().map(Block::bytes).sum()
    }
}

/// Where each state of a level comes from: 6 bytes a state.
#[derive(Clone, Debug, Default)]
pub struct Links {
    /// Its parent's place in the level before.
    parents: Vec<u32>,
    /// Which of the parent's actions leads to it, in the order in which a visit tells them.
    ordinals: Vec<u16>,
}

impl Links {
    /// How many states the level has.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Makes room for so many more.
    pub fn reserve(&mut self, more: usize) {
        self.parents.reserve_exact(more);
        self.ordinals.reserve_exact(more);
    }

    /// Adds the next state of the level.
    #[inline]
    pub fn push(&mut self, parent: u32, ordinal: u16) {
        self.parents.push(parent);
        self.ordinals.push(ordinal);
    }

    /// Adds those of the next states.
    pub fn append(&mut self, other: &Self) {
        self.parents.extend_from_slice(&other.parents);
        self.ordinals.extend_from_slice(&other.ordinals);
    }

    /// Parent and ordinal of the n-th state.
    pub fn get(&self, n: u32) -> (u32, u16) {
        (self.parents[n as usize], self.ordinals[n as usize])
    }

    /// Gives back what is not needed when the level is complete.
    pub fn close(&mut self) {
        self.parents.shrink_to_fit();
        self.ordinals.shrink_to_fit();
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        (size_of::<u32>() * self.parents.capacity() + size_of::<u16>() * self.ordinals.capacity())
            as u64
    }
}
