//! Plain searches: slow, short, and nothing in common with those of the crate.

use super::small::{Action, RED, Small, To};

/// What the checks of the crate may be told: what of the actions exists.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope {
    pub closed: bool,
    pub busy: bool,
}

/// All states in the order in which a queue finds them, each with its depth.
pub fn breadth_first(space: &Small) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let add = |found: &mut Vec<(usize, usize)>, state, depth| {
        if !found.iter().any(|(known, _)| *known == state) {
            found.push((state, depth));
        }
    };
    space.initial.iter().for_each(|state| add(&mut found, *state, 0));
    let mut next = 0;
    while next < found.len() {
        let (state, depth) = found[next];
        for action in &space.states[state].actions {
            if let To::State(to) = action.to {
                add(&mut found, to, depth + 1);
            }
        }
        next += 1;
    }
    found
}

/// Who reaches whom, in any number of steps and none, by Floyd and Warshall.
pub fn closure(space: &Small, allowed: impl Fn(&Action) -> bool) -> Vec<Vec<bool>> {
    let len = space.states.len();
    let mut reaches = vec![vec![false; len]; len];
    for (n, state) in space.states.iter().enumerate() {
        reaches[n][n] = true;
        for action in state.actions.iter().filter(|action| allowed(action)) {
            if let To::State(to) = action.to {
                reaches[n][to] = true;
            }
        }
    }
    for by in 0..len {
        for from in 0..len {
            for to in 0..len {
                reaches[from][to] |= reaches[from][by] && reaches[by][to];
            }
        }
    }
    reaches
}

pub fn exists(action: &Action, scope: Scope) -> bool {
    match action.to {
        To::State(_) => true,
        To::Same => !scope.busy,
        To::Outside => !scope.closed,
    }
}

/// Where an action leads, if it leads to a state.
pub fn target(from: usize, action: &Action) -> Option<usize> {
    match action.to {
        To::State(to) => Some(to),
        To::Same => Some(from),
        To::Outside => None,
    }
}

/// A question about fair runs.
pub struct Question<'a> {
    pub scope: Scope,
    pub fair: &'a [usize],
    pub changing: bool,
    /// Where the part of the run begins that avoids RED.
    pub begins: &'a dyn Fn(usize) -> bool,
    pub avoids_red: bool,
    /// Whether a state without RED must recur.
    pub lacks_red: bool,
}

impl Question<'_> {
    pub fn is_red(space: &Small, state: usize) -> bool {
        space.states[state].hits & 1 << RED != 0
    }

    fn may(&self, space: &Small, state: usize) -> bool {
        !(self.avoids_red && Self::is_red(space, state))
    }

    /// How far it is to each state in which a run may be caught: the depth where it begins, and
    /// from there on through states that may be. Found by trying all actions until nothing changes.
    pub fn distances(&self, space: &Small) -> Vec<Option<usize>> {
        let mut far = vec![None; space.states.len()];
        for (state, depth) in breadth_first(space) {
            if (self.begins)(state) && self.may(space, state) {
                far[state] = Some(depth);
            }
        }
        loop {
            let before = far.clone();
            for (n, state) in space.states.iter().enumerate() {
                for to in state.actions.iter().filter_map(|action| target(n, action)) {
                    if let Some(next) = far[n].map(|depth| depth + 1)
                        && self.may(space, to)
                        && far[to].is_none_or(|known| next < known)
                    {
                        far[to] = Some(next);
                    }
                }
            }
            if before == far {
                return far;
            }
        }
    }

    /// Whether a run that repeats just these states, with all actions among them, is a violation.
    pub fn is_violation(&self, space: &Small, states: &[usize]) -> bool {
        let inside = |n: usize| {
            let all = space.states[n].actions.iter().filter(|action| exists(action, self.scope));
            all.filter_map(move |action| target(n, action).map(|to| (action, to)))
                .filter(|(_, to)| states.contains(to))
        };
        let goes_on = states.iter().any(|n| inside(*n).next().is_some());
        // One state after the other: from the first to all, and from all to the first.
        let mut reached = vec![states[0]];
        let mut reaching = vec![states[0]];
        for _ in states {
            for &n in states {
                for (_, to) in inside(n) {
                    if reached.contains(&n) && !reached.contains(&to) {
                        reached.push(to);
                    }
                    if reaching.contains(&to) && !reaching.contains(&n) {
                        reaching.push(n);
                    }
                }
            }
        }
        let connected = reached.len() == states.len() && reaching.len() == states.len();
        let counts = |n: usize, action: &Action| {
            exists(action, self.scope) && !(self.changing && target(n, action) == Some(n))
        };
        let fair = self.fair.iter().all(|kind| {
            let taken = |n: &usize| inside(*n).any(|(a, _)| a.kind == *kind && counts(*n, a));
            let without = |n: &usize| {
                !space.states[*n].actions.iter().any(|a| a.kind == *kind && counts(*n, a))
            };
            states.iter().any(taken) || states.iter().any(without)
        });
        let lacks = !self.lacks_red || states.iter().any(|n| !Self::is_red(space, *n));
        goes_on && connected && fair && lacks
    }

    /// The length of the shortest way to a violation: every set of states is tried.
    pub fn nearest_violation(&self, space: &Small) -> Option<usize> {
        let far = self.distances(space);
        let able: Vec<usize> = (0..far.len()).filter(|n| far[*n].is_some()).collect();
        let ends = able.iter().filter(|n| {
            let ended = !space.states[**n].actions.iter().any(|a| exists(a, self.scope));
            ended && (!self.lacks_red || !Self::is_red(space, **n))
        });
        let mut nearest = ends.filter_map(|n| far[*n]).min();
        for set in 1_usize..1 << able.len() {
            let states: Vec<usize> =
                (0..able.len()).filter(|n| set & 1 << n != 0).map(|n| able[n]).collect();
            let distance = states.iter().filter_map(|n| far[*n]).min();
            if distance < nearest.or(Some(usize::MAX)) && self.is_violation(space, &states) {
                nearest = distance;
            }
        }
        nearest
    }
}
