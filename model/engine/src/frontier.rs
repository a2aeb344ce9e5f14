//! The states of one level, in blocks of packed rows, and the links to their parents.

use std::collections::VecDeque;
use std::ops::Range;

use crate::disk::{DiskError, Scratch, Sequence};
use crate::edits;
use crate::spill::Slot;

/// Consecutive states of a level.
#[derive(Clone, Debug, Default)]
pub struct Block {
    words: Vec<u32>,
    /// Where each row ends.
    ends: Vec<u32>,
}

impl Block {
    /// An empty one with room for so many rows of so many words.
    pub fn with_room(rows: usize, words: usize) -> Self {
        Self { words: Vec::with_capacity(rows * words), ends: Vec::with_capacity(rows) }
    }

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

    /// Adds the row that these edits make of another one.
    #[inline]
    pub fn push_edited(&mut self, before: &[u32], edits: &[u32]) {
        edits::apply(edits, before, &mut self.words);
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

    /// Keeps those states of which it is told so, by their numbers in the block.
    pub fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
        let all = std::mem::take(self);
        for n in (0..all.len()).filter(|n| keep(*n)) {
            self.push(all.row(n));
        }
    }

    /// What it consists of: where each row ends, and the words.
    pub fn parts(&self) -> (&[u32], &[u32]) {
        (&self.ends, &self.words)
    }

    /// A block of what [`Self::parts`] gave.
    pub fn of_parts(ends: Vec<u32>, words: Vec<u32>) -> Self {
        Self { words, ends }
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        (size_of::<u32>() * (self.words.capacity() + self.ends.capacity())) as u64
    }
}

/// The states of a level in the order in which they were found.
#[derive(Debug, Default)]
pub struct Frontier {
    slots: Vec<Slot>,
    len: u64,
    /// Memory of the slots' own.
    held: u64,
    /// How many slots are of states that are surely new.
    sure: usize,
    /// How many slots were written to the file.
    written: usize,
    file: Option<Sequence>,
}

/// A block with fewer states than this is joined to the one before it.
const SMALL: usize = 128;

impl Frontier {
    /// How many states it has.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// How many of them are in memory.
    pub fn states_in_memory(&self) -> usize {
        self.slots[self.written..].iter().map(Slot::len).sum()
    }

    /// Adds a block at its end.
    pub fn push(&mut self, block: Block) {
        self.len += block.len() as u64;
        let joins = self.slots.len() > self.sure;
        match self.slots.last_mut() {
            Some(Slot::Here(last)) if joins && last.len() + block.len() <= SMALL => {
                self.held -= last.bytes();
                last.append(&block);
                self.held += last.bytes();
            }
            _ if block.len() > 0 => {
                self.held += block.bytes();
                self.slots.push(Slot::Here(block));
            }
            _ => {}
        }
    }

    /// From here on it is uncertain whether states are new.
    pub fn settle(&mut self) {
        self.sure = self.slots.len();
    }

    /// Keeps of the states that were uncertain those of which it is told so, by their numbers among
    /// them; all states are certain then.
    pub fn settle_some(&mut self, mut keep: impl FnMut(usize) -> bool) {
        let uncertain = self.slots.split_off(self.sure);
        let (mut number, written) = (0, self.written);
        self.written = self.written.min(self.sure);
        for (at, mut slot) in (self.sure..).zip(uncertain) {
            let len = slot.len();
            self.held -= slot.bytes();
            self.len -= len as u64;
            slot.retain(|n| keep(number + n));
            number += len;
            match slot {
                Slot::Here(block) => self.push(block),
                Slot::There(place) if place.len() > 0 => {
                    self.len += place.len() as u64;
                    self.held += place.bytes();
                    self.written += usize::from(at < written);
                    self.slots.push(Slot::There(place));
                }
                Slot::There(_) => {}
            }
        }
        self.settle();
    }

    /// Writes what is in memory to disk.
    pub fn spill(&mut self, scratch: &Scratch) -> Result<(), DiskError> {
        for slot in &mut self.slots[self.written..] {
            self.held -= slot.bytes();
            slot.spill(scratch, &mut self.file)?;
            self.held += slot.bytes();
            self.written += 1;
        }
        Ok(())
    }

    /// The same states, to be visited.
    pub fn into_queue(self) -> Queue {
        let tail = self.slots.len() - self.written;
        let Self { slots, len, held, file, .. } = self;
        Queue { slots: slots.into(), from: 0, first: 0, left: len, held, tail, file }
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        let slots = self.slots.capacity() * size_of::<Slot>();
        self.held + slots as u64 + self.file.as_ref().map_or(0, Sequence::bytes)
    }
}

/// The states of a level that were not visited yet.
#[derive(Debug, Default)]
pub struct Queue {
    slots: VecDeque<Slot>,
    /// The first state of the first block that was not visited.
    from: usize,
    /// Its place in the level.
    first: u32,
    left: u64,
    /// Memory of the slots' own.
    held: u64,
    /// How many slots at the end were never on disk.
    tail: usize,
    file: Option<Sequence>,
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

impl Part<'_> {
    /// The row of the state at this place in the level.
    #[inline]
    pub fn row_of(&self, place: u32) -> &[u32] {
        self.block.row(self.range.start + (place - self.first) as usize)
    }
}

impl Queue {
    /// How many states are left.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Reads the next states from disk, no fewer than `room`. Returns how much memory they take.
    pub fn load(&mut self, room: usize) -> Result<u64, DiskError> {
        let (mut room, mut bytes) = (room + self.from, 0);
        for slot in &mut self.slots {
            self.held -= slot.bytes();
            let loaded = slot.load(self.file.as_ref());
            self.held += slot.bytes();
            loaded?;
            bytes += slot.bytes();
            if slot.len() >= room {
                break;
            }
            room -= slot.len();
        }
        Ok(bytes)
    }

    /// Writes to disk what was never there, but for the blocks of the next `keep` states.
    pub fn spill(&mut self, keep: usize, scratch: &Scratch) -> Result<(), DiskError> {
        let (mut kept, mut states) = (0, 0);
        while kept < self.slots.len() && states < self.from + keep {
            states += self.slots[kept].len();
            kept += 1;
        }
        let kept = kept.max(self.slots.len().saturating_sub(self.tail));
        for slot in self.slots.range_mut(kept..) {
            self.held -= slot.bytes();
            slot.spill(scratch, &mut self.file)?;
            self.held += slot.bytes();
        }
        self.tail = 0;
        Ok(())
    }

    /// The next states, no more than `room`, block by block, as far as they are in memory.
    pub fn parts(&self, room: usize) -> Vec<Part<'_>> {
        let (mut parts, mut room) = (Vec::new(), room);
        let (mut from, mut first) = (self.from, self.first);
        for slot in &self.slots {
            let Slot::Here(block) = slot else { break };
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
        while let Some(slot) = self.slots.front()
            && self.from >= slot.len()
        {
            self.from -= slot.len();
            self.held -= slot.bytes();
            self.slots.pop_front();
        }
        self.tail = self.tail.min(self.slots.len());
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        let slots = self.slots.capacity() * size_of::<Slot>();
        self.held + slots as u64 + self.file.as_ref().map_or(0, Sequence::bytes)
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
    /// Bytes that a link takes, in memory and in files.
    pub const EACH: usize = size_of::<u32>() + size_of::<u16>();

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
    pub fn get(&self, n: usize) -> (u32, u16) {
        (self.parents[n], self.ordinals[n])
    }

    /// Parent and ordinal of each state.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u16)> {
        self.parents.iter().copied().zip(self.ordinals.iter().copied())
    }

    /// How much memory it takes when `more` were added.
    pub fn bytes_with(&self, more: usize) -> u64 {
        let capacity = grown(self.parents.capacity(), self.len() + more);
        (capacity * Self::EACH) as u64
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

/// The capacity of a vector after it grew to this length.
pub fn grown(capacity: usize, len: usize) -> usize {
    if len <= capacity { capacity } else { len.max(2 * capacity) }
}
