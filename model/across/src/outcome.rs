//! What a search on several workers found, and how far it came.

use levelwise::{Bound, Counts, Goal, Memo, Space, Unrepeatable, Verdict, replay};

use crate::part::Chain;
use crate::search::Known;
use crate::told::Stop;
use crate::totals::At;
use crate::visit::Judge;
use crate::watch::{Trouble, Watch};

/// The first hit of a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The length of its path, in steps; no path to the goal is shorter.
    pub steps: usize,
    /// The path, for [`levelwise::replay`]: which initial state, then which action of each state.
    /// `None` if a worker was lost before it was known.
    pub ordinals: Option<Vec<u16>>,
}

/// A panic of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    /// What it said.
    pub message: String,
    /// The path to the state that was visited; `None` if there was none yet, or it is not known.
    pub ordinals: Option<Vec<u16>>,
}

/// What a search found. All but `bytes` and `memo` is the same in all processes and for any number
/// of workers, unless time, memory, the user or trouble ended it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How far it came.
    pub verdict: Verdict,
    /// Distinct states.
    pub unique: u64,
    /// How many levels there are, that of the initial states included.
    pub depth: u64,
    /// What was counted.
    pub counts: Counts,
    /// The goals, each with its first hit: of the hits at the smallest depth that of the smallest
    /// fingerprint.
    pub goals: Vec<(Goal, Option<Hit>)>,
    /// A panic of the model, if it ended the search.
    pub panic: Option<Panic>,
    /// Why it did not come to its end; then counts are those of the last level that was complete,
    /// and the verdict is bounded by [`Bound::Worker`].
    pub trouble: Option<Trouble>,
    /// The seed of its fingerprints.
    pub seed: u64,
    /// Most memory taken for states at a time, of all workers together.
    pub bytes: u64,
    /// How the memos of the workers fared.
    pub memo: Memo,
}

impl Outcome {
    pub(crate) fn new<S: Space>(
        space: &S,
        known: Known,
        watch: &Watch,
        per_process: usize,
    ) -> Self {
        let Known { totals, chains, ended } = known;
        let lost = (!ended).then(|| watch.first_trouble()).flatten();
        let by = Bound::Worker;
        let verdict = totals.verdict.filter(|_| ended);
        let verdict = verdict.unwrap_or(Verdict::Bounded { by, left: totals.last });
        let way = |goal: Option<usize>| {
            let chain = chains.iter().find(|chain: &&Chain| chain.goal == goal)?;
            Some(chain.ordinals.iter().rev().copied().collect::<Vec<u16>>())
        };
        let hit = |(goal, at): (usize, At)| Hit {
            steps: at.level as usize + usize::from(at.place.ordinal.is_some()),
            ordinals: way(Some(goal)).filter(|_| ended),
        };
        let hits = totals.hits.iter().enumerate().map(|(goal, at)| at.map(|at| hit((goal, at))));
        let panic = match &totals.stop {
            Some((_, Stop::Panic(at, message))) => Some(Panic {
                message: message.clone(),
                ordinals: at.and_then(|_| way(None)).filter(|_| ended),
            }),
            _ => None,
        };
        let process = |worker: usize| worker / per_process;
        let stopped = totals.stop.as_ref().and_then(|(worker, stop)| match stop {
            Stop::Garbled => Some(Trouble::Garbled { process: process(*worker) }),
            Stop::Unrepeatable => Some(Trouble::Unrepeatable { process: process(*worker) }),
            _ => None,
        });
        // What the last level leads to was not sorted out: its steps are not counted, as if it had
        // been the last that may be visited.
        let counts = if ended {
            totals.counts
        } else {
            Counts { tallies: totals.counts.tallies, ..totals.before }
        };
        Self {
            verdict,
            unique: totals.unique,
            depth: totals.depth,
            goals: space.goals().into_iter().zip(hits).collect(),
            counts,
            panic,
            trouble: lost.or(stopped),
            seed: space.seed(),
            bytes: totals.bytes,
            memo: totals.memo,
        }
    }

    /// The first hit of the goal with this name.
    pub fn hit(&self, name: &str) -> Option<&Hit> {
        self.goals.iter().find(|(goal, _)| goal.name == name)?.1.as_ref()
    }

    /// Whether every reachable state was looked at.
    pub fn exhausted(&self) -> bool {
        self.verdict == Verdict::Exhausted
    }

    /// What ended it early.
    pub fn bound(&self) -> Option<Bound> {
        self.verdict.bound()
    }

    /// Takes the paths of all hits once more, and says whether each ends in its goal.
    pub fn verify<S: Space>(&self, space: &S) -> Result<(), Unrepeatable> {
        for (n, (_, hit)) in self.goals.iter().enumerate() {
            let Some(Hit { steps, ordinals: Some(ordinals) }) = hit else { continue };
            // A path has an initial state and one action a step. The row before the last action
            // is judged where an action hits.
            let is_action = replay(space, ordinals)?.steps.len() == *steps;
            let states = |len: usize| replay(space, &ordinals[..len]);
            let hits = |len: usize, ordinal| {
                let mut judge = Judge::new(n, ordinal);
                let path = states(len)?;
                space.visit(&mut space.worker(), path.last(), &mut judge);
                Ok(judge.hits)
            };
            let last = ordinals.last().copied();
            let at_state = hits(ordinals.len(), None)?;
            let at_action = ordinals.len() > 1 && hits(ordinals.len() - 1, last)?;
            if !is_action || !(at_state || at_action) {
                return Err(Unrepeatable { step: *steps });
            }
        }
        Ok(())
    }
}
