//! A row as its difference from another one: what a step changes is less than what it leaves.

/// What is done at a place of the row, in the two highest bits of a word; the place is in the rest.
const SET: u32 = 0;
const INSERT: u32 = 1 << 30;
const REMOVE: u32 = 2 << 30;
const PLACE: u32 = (1 << 30) - 1;

/// Words of edits that are kept in place.
const NEAR: usize = 12;

/// Changes of a row, one after another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// The first words, in a size that is copied at once.
    near: [u32; NEAR],
    /// All words, if they are more than that.
    far: Vec<u32>,
    len: usize,
    /// By how many words the row gets longer.
    grows: i32,
}

impl Edits {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.far.clear();
        (self.len, self.grows) = (0, 0);
    }

    #[inline]
    fn push(&mut self, word: u32) {
        if let Some(place) = self.near.get_mut(self.len) {
            *place = word;
        } else {
            self.push_far(word);
        }
        self.len += 1;
    }

    #[cold]
    fn push_far(&mut self, word: u32) {
        if self.far.is_empty() {
            self.far.extend_from_slice(&self.near);
        }
        self.far.push(word);
    }

    /// The word at this place becomes another one.
    #[inline]
    pub fn set(&mut self, at: usize, word: u32) {
        self.push(SET | at as u32);
        self.push(word);
    }

    /// A word is put before the one at this place.
    #[inline]
    pub fn insert(&mut self, at: usize, word: u32) {
        self.push(INSERT | at as u32);
        self.push(word);
        self.grows += 1;
    }

    /// The word at this place is taken out.
    #[inline]
    pub fn remove(&mut self, at: usize) {
        self.push(REMOVE | at as u32);
        self.grows -= 1;
    }

    fn words(&self) -> &[u32] {
        if self.len <= NEAR { &self.near[..self.len] } else { &self.far }
    }

    /// Adds them to `words`, for [`apply`].
    #[inline]
    pub(crate) fn append_to(&self, words: &mut Vec<u32>) {
        if self.len <= NEAR {
            let len = words.len() + self.len;
            words.extend_from_slice(&self.near);
            words.truncate(len);
        } else {
            words.extend_from_slice(&self.far);
        }
    }

    /// How long a row of this length gets.
    #[inline]
    pub(crate) fn len_of(&self, row: usize) -> usize {
        row.wrapping_add_signed(self.grows as isize)
    }

    /// Makes `row` of `before`.
    pub fn apply(&self, before: &[u32], row: &mut Vec<u32>) {
        row.clear();
        apply(self.words(), before, row);
    }
}

/// Adds to `rows` the row that these edits make of `before`.
#[inline]
pub(crate) fn apply(edits: &[u32], before: &[u32], rows: &mut Vec<u32>) {
    let start = rows.len();
    rows.extend_from_slice(before);
    let mut edits = edits.iter().copied();
    while let Some(edit) = edits.next() {
        let at = start + (edit & PLACE) as usize;
        match edit & !PLACE {
            REMOVE => {
                rows.remove(at);
            }
            INSERT => rows.insert(at, edits.next().unwrap_or_default()),
            _ => rows[at] = edits.next().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_made_of_another_one() {
        let mut edits = Edits::default();
        edits.set(0, 7);
        edits.remove(1);
        edits.insert(2, 9);
        edits.insert(0, 4);
        let mut row = vec![1];
        edits.apply(&[1, 2, 3], &mut row);
        assert_eq!((row.len(), edits.len_of(3)), (4, 4));
        assert_eq!(row, [4, 7, 3, 9]);
        apply(edits.words(), &[1, 2, 3], &mut row);
        assert_eq!(row, [4, 7, 3, 9, 4, 7, 3, 9]);
    }

    #[test]
    fn there_may_be_many() {
        let mut edits = Edits::default();
        for n in 0..50 {
            edits.insert(n as usize, n);
            let (mut row, mut words) = (Vec::new(), vec![1]);
            edits.apply(&[77], &mut row);
            assert_eq!(row, (0..=n).chain([77]).collect::<Vec<_>>());
            edits.append_to(&mut words);
            assert_eq!((words[0], &words[1..]), (1, edits.words()));
        }
        edits.clear();
        assert!(edits.words().is_empty());
    }
}
