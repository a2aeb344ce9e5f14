//! A search that tests believe: breadth first, whole states compared whole, no fingerprint.

use std::collections::{BTreeSet, VecDeque};

/// What was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Distinct states.
    pub unique: usize,
    /// States generated, the initial one included.
    pub generated: usize,
    /// Depth of the last state looked at, the initial one counted as 1.
    pub depth: usize,
}

/// Looks at every state reachable from `start`, with its depth, until `look` says that it has seen
/// enough. Two states are one if their keys are.
pub fn search<S, K: Ord>(
    start: S,
    key: impl Fn(&S) -> K,
    mut successors: impl FnMut(&S, &mut dyn FnMut(S)),
    mut look: impl FnMut(&S, usize) -> bool,
) -> Counts {
    let mut seen = BTreeSet::from([key(&start)]);
    let mut queue = VecDeque::from([(start, 1)]);
    let mut counts = Counts { unique: 0, generated: 1, depth: 0 };
    while let Some((state, depth)) = queue.pop_front() {
        counts.depth = depth;
        if !look(&state, depth) {
            break;
        }
        successors(&state, &mut |next| {
            counts.generated += 1;
            if seen.insert(key(&next)) {
                queue.push_back((next, depth + 1));
            }
        });
    }
    counts.unique = seen.len();
    counts
}
