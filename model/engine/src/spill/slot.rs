//! A block of states, in memory or on disk.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::disk::{DiskError, Scratch, Sequence};
use crate::frontier::Block;

/// A block of a level.
#[derive(Debug)]
pub enum Slot {
    /// It is in memory.
    Here(Block),
    /// It is in the level's file.
    There(Place),
}

/// Where a block is in the level's file.
#[derive(Debug)]
pub struct Place {
    offset: u64,
    states: u32,
    words: u32,
    check: u64,
    /// How many of its states are still wanted.
    left: u32,
    /// One bit each: which are not. `None` if all are.
    dropped: Option<Box<[u64]>>,
}

/// The checksum of a block.
fn check(ends: &[u32], words: &[u32]) -> u64 {
    let ends = xxh3_64_with_seed(bytemuck::cast_slice(ends), 0);
    xxh3_64_with_seed(bytemuck::cast_slice(words), ends)
}

impl Place {
    /// How many states it has.
    pub fn len(&self) -> usize {
        self.left as usize
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> u64 {
        self.dropped.as_ref().map_or(0, |dropped| size_of_val::<[u64]>(dropped)) as u64
    }

    /// Only called once: a state is told to be new or not at one time.
    fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
        assert!(self.dropped.is_none(), "a state is judged once");
        let mut dropped = vec![0; (self.states as usize).div_ceil(64)];
        for n in (0..self.states as usize).filter(|n| !keep(*n)) {
            dropped[n / 64] |= 1 << (n % 64);
            self.left -= 1;
        }
        self.dropped = (self.left < self.states).then(|| dropped.into());
    }

    fn read(&self, file: &Sequence) -> Result<Block, DiskError> {
        let (mut ends, mut words) = (vec![0; self.states as usize], vec![0; self.words as usize]);
        file.read(self.offset, bytemuck::cast_slice_mut(&mut ends))?;
        let after_ends = self.offset + size_of_val::<[u32]>(&ends) as u64;
        file.read(after_ends, bytemuck::cast_slice_mut(&mut words))?;
        if check(&ends, &words) != self.check {
            return Err(file.changed());
        }
        let mut block = Block::of_parts(ends, words);
        if let Some(dropped) = &self.dropped {
            block.retain(|n| dropped[n / 64] & 1 << (n % 64) == 0);
        }
        Ok(block)
    }
}

impl Slot {
    /// How many states it has.
    pub fn len(&self) -> usize {
        match self {
            Self::Here(block) => block.len(),
            Self::There(place) => place.len(),
        }
    }

    /// Keeps those states of which it is told so, by their numbers in the block.
    pub fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
        match self {
            Self::Here(block) if (0..block.len()).all(&mut keep) => {}
            Self::Here(block) => block.retain(keep),
            Self::There(place) => place.retain(keep),
        }
    }

    /// Brings it to memory.
    pub fn load(&mut self, file: Option<&Sequence>) -> Result<(), DiskError> {
        if let Self::There(place) = self {
            *self = Self::Here(place.read(file.expect("a block on disk has a file"))?);
        }
        Ok(())
    }

    /// Brings it to the end of the file, which is made if there is none.
    pub fn spill(
        &mut self,
        scratch: &Scratch,
        file: &mut Option<Sequence>,
    ) -> Result<(), DiskError> {
        let Self::Here(block) = self else { return Ok(()) };
        if file.is_none() {
            *file = Some(scratch.sequence("the states of a level")?);
        }
        let file = file.as_mut().expect("it was just made");
        let (ends, words) = block.parts();
        let place = Place {
            offset: file.len(),
            states: ends.len() as u32,
            words: words.len() as u32,
            check: check(ends, words),
            left: ends.len() as u32,
            dropped: None,
        };
        file.append(bytemuck::cast_slice(ends))?;
        file.append(bytemuck::cast_slice(words))?;
        *self = Self::There(place);
        Ok(())
    }

    /// How much memory it takes beside its own size.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Here(block) => block.bytes(),
            Self::There(place) => place.bytes(),
        }
    }
}
