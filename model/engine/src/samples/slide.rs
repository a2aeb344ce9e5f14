//! A sliding puzzle: numbered tiles and one gap.

use stateright::{Model, Property};

/// The model, which starts solved.
///
/// Half of all arrangements can be reached, each gap equally often: 360 of 3 x 2, generated 841,
/// depth 22, and 181,440 of 3 x 3, generated 483,841, depth 32.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slide {
    /// Tiles in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// Where the gap goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gap {
    /// A row up.
    Up,
    /// A row down.
    Down,
    /// A tile to the left.
    Left,
    /// A tile to the right.
    Right,
}

impl Model for Slide {
    /// The tiles, row by row; the gap is 0.
    type State = Vec<u8>;
    type Action = Gap;

    fn init_states(&self) -> Vec<Vec<u8>> {
        vec![(0..(self.width * self.height) as u8).collect()]
    }

    fn actions(&self, _: &Vec<u8>, actions: &mut Vec<Gap>) {
        actions.extend([Gap::Up, Gap::Down, Gap::Left, Gap::Right]);
    }

    fn next_state(&self, last: &Vec<u8>, action: Gap) -> Option<Vec<u8>> {
        let from = last.iter().position(|tile| *tile == 0)?;
        let column = from % self.width;
        let to = match action {
            Gap::Up => from.checked_sub(self.width)?,
            Gap::Down => Some(from + self.width).filter(|to| *to < last.len())?,
            Gap::Left => Some(from).filter(|_| column > 0)? - 1,
            Gap::Right => Some(from).filter(|_| column + 1 < self.width)? + 1,
        };
        let mut next = last.clone();
        next.swap(from, to);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no two tiles alone are swapped", |_, state: &Vec<u8>| {
                let moved = (0..state.len()).filter(|i| usize::from(state[*i]) != *i);
                state[0] != 0 || moved.count() != 2
            }),
            Property::sometimes("the gap is in the last corner", |_, state: &Vec<u8>| {
                state.last() == Some(&0)
            }),
            Property::sometimes("the tiles go backwards behind the gap", |_, state: &Vec<u8>| {
                state[0] == 0 && state[1..].is_sorted_by(|a, b| a > b)
            }),
        ]
    }
}
