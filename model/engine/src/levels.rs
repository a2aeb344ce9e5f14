//! The links of all levels, in memory or, where that is short, in a file.

use std::sync::Arc;

use crate::disk::{DiskError, Scratch, Sequence};
use crate::frontier::Links;

/// Links that are encoded at a time.
const PIECE: usize = 4096;

/// Where each state of each level comes from.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    complete: Vec<Level>,
    /// The end of the level that is being found, as far as it is in memory.
    open: Links,
    /// How many links of the open level are in the file, which ends with them.
    open_there: usize,
    /// Complete levels in memory come after all that are in the file.
    here: u64,
    file: Option<Arc<Sequence>>,
}

#[derive(Clone, Debug)]
enum Level {
    Here(Links),
    There { offset: u64, len: usize },
}

impl Levels {
    /// Adds links to the level that is being found.
    pub fn append(&mut self, links: &Links) {
        self.open.append(links);
    }

    /// Makes room for `more` links in it.
    pub fn reserve(&mut self, more: usize) {
        self.open.reserve(more);
    }

    /// Adds a link to it.
    pub fn push(&mut self, parent: u32, ordinal: u16) {
        self.open.push(parent, ordinal);
    }

    /// The level that was being found is complete; a new one begins.
    pub fn close(&mut self, scratch: Option<&Scratch>) -> Result<(), DiskError> {
        if self.open_there > 0 {
            self.spill_open(scratch.expect("it was spilled to somewhere"))?;
            let len = std::mem::take(&mut self.open_there);
            let end = self.file.as_ref().map_or(0, |file| file.len());
            let offset = end - (len * Links::EACH) as u64;
            self.complete.push(Level::There { offset, len });
            return Ok(());
        }
        self.open.close();
        self.here += self.open.bytes();
        self.complete.push(Level::Here(std::mem::take(&mut self.open)));
        Ok(())
    }

    /// Forgets the last complete level, which is empty.
    pub fn drop_last(&mut self) {
        let last = self.complete.pop();
        debug_assert!(last.is_some_and(|last| last.len() == 0));
    }

    /// How many levels are complete.
    pub fn len(&self) -> usize {
        self.complete.len()
    }

    /// How many states each complete level has.
    pub fn sizes(&self) -> impl Iterator<Item = usize> {
        self.complete.iter().map(Level::len)
    }

    /// How many states are known of the level that is being found.
    pub fn open_len(&self) -> usize {
        self.open_there + self.open.len()
    }

    /// How many links could be spilled.
    pub fn links_in_memory(&self) -> usize {
        self.here as usize / Links::EACH + self.open.len()
    }

    /// Parent and ordinal of a state.
    pub fn get(&self, level: usize, place: u32) -> Result<(u32, u16), DiskError> {
        match &self.complete[level] {
            Level::Here(links) => Ok(links.get(place as usize)),
            Level::There { offset, .. } => {
                let file = self.file.as_ref().expect("a level on disk has a file");
                let mut bytes = [0; Links::EACH];
                file.read(offset + u64::from(place) * Links::EACH as u64, &mut bytes)?;
                Ok(decode(bytes))
            }
        }
    }

    /// Writes everything to the file.
    pub fn spill(&mut self, scratch: &Scratch) -> Result<(), DiskError> {
        if self.here > 0 {
            for level in &mut self.complete {
                if let Level::Here(links) = level {
                    let len = links.len();
                    let offset = append(&mut self.file, scratch, links)?;
                    *level = Level::There { offset, len };
                }
            }
            self.here = 0;
        }
        self.spill_open(scratch)
    }

    fn spill_open(&mut self, scratch: &Scratch) -> Result<(), DiskError> {
        if self.open.len() > 0 {
            append(&mut self.file, scratch, &self.open)?;
            self.open_there += self.open.len();
            self.open = Links::default();
        }
        Ok(())
    }

    /// No more levels come.
    pub fn finish(&mut self) -> Result<(), DiskError> {
        self.file.as_mut().map_or(Ok(()), |file| sole(file).close())
    }

    /// How much memory it takes when `more` links were added.
    pub fn bytes_with(&self, more: usize) -> u64 {
        let levels = (self.complete.capacity() * size_of::<Level>()) as u64;
        let buffer = self.file.as_ref().map_or(0, |file| file.bytes());
        self.here + levels + buffer + self.open.bytes_with(more)
    }
}

impl Level {
    fn len(&self) -> usize {
        match self {
            Self::Here(links) => links.len(),
            Self::There { len, .. } => *len,
        }
    }
}

fn sole(file: &mut Arc<Sequence>) -> &mut Sequence {
    Arc::get_mut(file).expect("nobody has a copy before the end")
}

/// Writes links at the end of the file, which is made if there is none. Returns where.
fn append(
    file: &mut Option<Arc<Sequence>>,
    scratch: &Scratch,
    links: &Links,
) -> Result<u64, DiskError> {
    if file.is_none() {
        *file = Some(Arc::new(scratch.sequence("the links of states")?));
    }
    let file = sole(file.as_mut().expect("it was just made"));
    let offset = file.len();
    encode(links, |bytes| file.append(bytes)).map(|()| offset)
}

/// Tells links as bytes: each its parent and its ordinal, the lower bytes first.
pub fn encode(
    links: &Links,
    mut to: impl FnMut(&[u8]) -> Result<(), DiskError>,
) -> Result<(), DiskError> {
    let mut bytes = Vec::with_capacity(PIECE.min(links.len()) * Links::EACH);
    let mut links = links.iter().peekable();
    while links.peek().is_some() {
        bytes.clear();
        for (parent, ordinal) in links.by_ref().take(PIECE) {
            bytes.extend_from_slice(&encode_one(parent, ordinal));
        }
        to(&bytes)?;
    }
    Ok(())
}

/// One link as bytes.
pub fn encode_one(parent: u32, ordinal: u16) -> [u8; Links::EACH] {
    let mut bytes = [0; Links::EACH];
    let (left, right) = bytes.split_at_mut(size_of::<u32>());
    left.copy_from_slice(&parent.to_le_bytes());
    right.copy_from_slice(&ordinal.to_le_bytes());
    bytes
}

/// One link of such bytes.
pub fn decode(bytes: [u8; Links::EACH]) -> (u32, u16) {
    let [parent @ .., low, high] = bytes;
    (u32::from_le_bytes(parent), u16::from_le_bytes([low, high]))
}
