//! The rows of all states, made again.

use super::Graph;
use crate::replay::Unrepeatable;
use crate::space::{Sink, Space};

/// Rows of consecutive states.
#[derive(Debug, Default)]
struct Rows {
    words: Vec<u32>,
    ends: Vec<usize>,
}

impl Rows {
    fn push(&mut self, row: &[u32]) {
        self.words.extend_from_slice(row);
        self.ends.push(self.words.len());
    }

    fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.words[start..end])
    }
}

impl Graph {
    /// Tells every state with its row, by number. It expands the states anew, so it takes the time
    /// of a search with one thread and the memory of two levels.
    ///
    /// # Errors
    ///
    /// If the space does not do again what it did when the graph was made; the step is the level.
    pub fn for_each_state<S: Space>(
        &self,
        space: &S,
        mut each: impl FnMut(u32, &[u32]),
    ) -> Result<(), Unrepeatable> {
        let mut worker = space.worker();
        let mut level = Rows::default();
        let starts: Vec<usize> = self.starts.iter().map(|n| usize::from(*n)).collect();
        let mut keeper = Keeper { wanted: &starts, told: 0, kept: 0, rows: &mut level };
        space.initial(&mut worker, &mut keeper);
        let mut wrong = keeper.kept != starts.len();
        let (mut state, mut wanted) = (0, Vec::new());
        for depth in 0.. {
            if wrong {
                return Err(Unrepeatable { step: depth });
            }
            let mut next = Rows::default();
            for row in level.iter() {
                each(state, row);
                self.first_found(state, &mut wanted);
                if !wanted.is_empty() {
                    let rows = &mut next;
                    let mut keeper = Keeper { wanted: &wanted, told: 0, kept: 0, rows };
                    space.visit(&mut worker, row, &mut keeper);
                    wrong |= keeper.kept != wanted.len();
                }
                state += 1;
            }
            level = next;
            if level.ends.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// Which of a state's actions are the first that led to their targets.
    fn first_found(&self, state: u32, ordinals: &mut Vec<usize>) {
        ordinals.clear();
        let before = (state as usize).checked_sub(1).and_then(|n| self.known.get(n).copied());
        let mut next = if state == 0 { Some(self.starts.len() as u32) } else { before };
        for (ordinal, at) in self.span(state).enumerate() {
            if Some(self.targets[at]) == next {
                ordinals.push(ordinal);
                next = next.map(|next| next + 1);
            }
        }
    }
}

/// A sink that keeps the rows of some of the states that it is told.
struct Keeper<'a> {
    wanted: &'a [usize],
    told: usize,
    kept: usize,
    rows: &'a mut Rows,
}

impl Keeper<'_> {
    fn told(&mut self, row: Option<&[u32]>) {
        if self.wanted.get(self.kept) == Some(&self.told)
            && let Some(row) = row
        {
            self.rows.push(row);
            self.kept += 1;
        }
        self.told += 1;
    }
}

impl<A> Sink<A> for Keeper<'_> {
    fn start(&mut self, _: u64, row: &[u32]) {
        self.told(Some(row));
    }

    fn step(&mut self, _: usize, _: u64, row: &[u32], _: impl FnOnce() -> A) {
        self.told(Some(row));
    }

    fn stays(&mut self, _: usize, _: impl FnOnce() -> A) {
        self.told(None);
    }

    fn leaves(&mut self, _: usize, _: impl FnOnce() -> A) {
        self.told(None);
    }
}
