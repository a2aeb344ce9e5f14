//! A row as its difference from another one: what a step changes is less than what it leaves.

/// What is done at a place of the row, in the two highest bits of a word; the place is in the rest.
const SET: u32 = 0;
const INSERT: u32 = 1 << 30;
const REMOVE: u32 = 2 << 30;
const PLACE: u32 = (1 << 30) - 1;

/// Changes of a row, one after another, in the making.
#[derive(Debug)]
pub struct Edits<'w> {
    words: &'w mut Vec<u32>,
    /// By how many words the row gets longer.
    grows: i32,
}

impl<'w> Edits<'w> {
    /// None yet; they are added to `words`.
    #[inline]
    pub fn new(words: &'w mut Vec<u32>) -> Self {
        Self { words, grows: 0 }
    }

    /// The word at this place becomes another one.
    #[inline]
    pub fn set(&mut self, at: usize, word: u32) {
        self.words.extend_from_slice(&[SET | at as u32, word]);
    }

    /// A word is put before the one at this place.
    #[inline]
    pub fn insert(&mut self, at: usize, word: u32) {
        self.words.extend_from_slice(&[INSERT | at as u32, word]);
        self.grows += 1;
    }

    /// The word at this place is taken out.
    #[inline]
    pub fn remove(&mut self, at: usize) {
        self.words.push(REMOVE | at as u32);
        self.grows -= 1;
    }

    /// How long a row of this length gets.
    #[inline]
    pub fn len_of(&self, row: usize) -> usize {
        row.wrapping_add_signed(self.grows as isize)
    }
}

/// Adds to `rows` the row that these edits make of `before`.
#[inline]
pub fn apply(edits: &[u32], before: &[u32], rows: &mut Vec<u32>) {
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
        let mut words = vec![5];
        let mut edits = Edits::new(&mut words);
        edits.set(0, 7);
        edits.remove(1);
        edits.insert(2, 9);
        edits.insert(0, 4);
        assert_eq!(edits.len_of(3), 4);
        let mut rows = vec![1];
        apply(&words[1..], &[1, 2, 3], &mut rows);
        assert_eq!((words[0], &rows[..]), (5, &[1, 4, 7, 3, 9][..]));
    }
}
