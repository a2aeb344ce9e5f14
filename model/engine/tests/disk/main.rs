//! Searches that spill, and searches that are gone on with, against searches in memory: the same
//! counts, verdicts, hits and paths, or an error that says what is wrong.

mod damaged;
mod failing;
mod resumed;
mod spaces;
mod spilled;

use levelwise::{Options, Outcome, Path, Space};

/// Threads with which everything is tried.
const THREADS: [usize; 3] = [1, 2, 4];

/// All that must be the same, however a search is carried out.
#[derive(Debug, PartialEq)]
struct Found<A> {
    verdict: levelwise::Verdict,
    unique: u64,
    depth: u64,
    counts: levelwise::Counts,
    goals: Vec<(levelwise::Goal, Option<levelwise::Hit>)>,
    panic: Option<levelwise::Panic>,
    levels: Vec<usize>,
    paths: Vec<Path<A>>,
}

fn found<S: Space>(space: &S, outcome: &Outcome) -> Found<S::Action> {
    let hits = outcome.goals.iter().filter_map(|(_, hit)| *hit);
    let ends = hits.chain(outcome.panic.as_ref().and_then(|panic| panic.at));
    Found {
        verdict: outcome.verdict,
        unique: outcome.unique,
        depth: outcome.depth,
        counts: outcome.counts.clone(),
        goals: outcome.goals.clone(),
        panic: outcome.panic.clone(),
        levels: outcome.levels().collect(),
        paths: ends.map(|hit| outcome.path(space, hit).expect("a path")).collect(),
    }
}

/// What a search in memory finds, by one thread.
fn in_memory<S: Space>(space: &S, options: &Options) -> Found<S::Action> {
    let options = Options { threads: 1, spill: None, checkpoint: None, ..options.clone() };
    found(space, &levelwise::search(space, &options))
}
