//! The same counts, verdicts and lengths as the engine has, for any number of workers.

use std::sync::Arc;

use levelwise::{Bound, Counts, Limits, Options, Plain, Until, Verdict};
use levelwise_timely::{Outcome, Team, Wanted, search};

use crate::stairs::Stairs;

/// All that must be equal: of each goal, how many steps lead to its first hit.
#[derive(Debug, PartialEq)]
pub struct Told {
    verdict: Verdict,
    unique: u64,
    depth: u64,
    counts: Counts,
    steps: Vec<Option<usize>>,
}

/// What workers found.
pub fn across(outcome: &Outcome) -> Told {
    let steps = outcome.goals.iter().map(|(_, hit)| hit.as_ref().map(|hit| hit.steps));
    Told {
        verdict: outcome.verdict,
        unique: outcome.unique,
        depth: outcome.depth,
        counts: outcome.counts.clone(),
        steps: steps.collect(),
    }
}

/// What the engine finds.
pub fn by_engine(space: &Plain<Stairs>, wanted: &Wanted) -> Told {
    let Wanted { goals, until, limits } = wanted.clone();
    let options = Options { goals, until, limits, ..Options::default() };
    let outcome = levelwise::search(space, &options);
    let steps = outcome.goals.iter().map(|(_, hit)| hit.map(levelwise::Hit::steps));
    Told {
        verdict: outcome.verdict,
        unique: outcome.unique,
        depth: outcome.depth,
        counts: outcome.counts.clone(),
        steps: steps.collect(),
    }
}

fn for_each_number(wanted: &Wanted) -> Vec<Outcome> {
    let expected = by_engine(&Stairs::small().space(), wanted);
    let with = |workers| {
        let space = Arc::new(Stairs::small().space());
        let outcome = search(&space, Team::alone(workers), wanted);
        assert_eq!(across(&outcome), expected, "{workers} workers");
        outcome.verify(&*space).expect("each path leads to its goal");
        outcome
    };
    [1, 2, 3].map(with).to_vec()
}

#[test]
fn an_exhausted_search_is_that_of_the_engine() {
    let all = for_each_number(&Wanted::default());
    assert!(all.iter().all(Outcome::exhausted));
    let hit = |outcome: &Outcome| outcome.hit("never two twos").cloned();
    let first = hit(&all[0]).expect("it is violated");
    assert_eq!((first.steps, first.ordinals.as_ref().map(Vec::len)), (2, Some(3)));
    assert!(all.iter().all(|outcome| hit(outcome) == Some(first.clone())), "another path");
    assert_eq!(all[0].hit("never seen"), None);
}

#[test]
fn a_search_ends_with_the_level_of_its_goal() {
    let wanted = Wanted { goals: 1, until: Until::AllHit, ..Wanted::default() };
    let all = for_each_number(&wanted);
    assert!(all.iter().all(|outcome| outcome.bound() == Some(Bound::Goal)));
    // Nothing to look for is found at once.
    for_each_number(&Wanted { goals: 8, ..wanted });
}

#[test]
fn a_bound_on_depth_is_kept_and_is_no_proof() {
    for depth in 1..=14 {
        let limits = Limits { depth: Some(depth), ..Limits::default() };
        let all = for_each_number(&Wanted { limits, ..Wanted::default() });
        assert!(all.iter().all(|outcome| outcome.bound() == Some(Bound::Depth)));
    }
}

#[test]
fn a_bound_on_states_ends_between_levels() {
    let limits = Limits { states: Some(50), ..Limits::default() };
    let wanted = Wanted { limits, ..Wanted::default() };
    let space = Arc::new(Stairs::small().space());
    let [one, three] = [1, 3].map(|workers| search(&space, Team::alone(workers), &wanted));
    assert_eq!(across(&one), across(&three));
    assert_eq!(one.bound(), Some(Bound::States));
    assert!((50..300).contains(&one.unique), "{}", one.unique);
    // Just as many as there are leave nothing out.
    let whole = search(&space, Team::alone(1), &Wanted::default());
    let limits = Limits { states: Some(whole.unique), ..Limits::default() };
    let enough = search(&space, Team::alone(2), &Wanted { limits, ..Wanted::default() });
    assert_eq!(across(&enough), across(&whole));
    assert!(enough.exhausted());
}

#[test]
fn an_interruption_and_too_little_memory_bound_it() {
    let space = Arc::new(Stairs::small().space());
    let ended =
        |limits| search(&space, Team::alone(2), &Wanted { limits, ..Wanted::default() }).bound();
    let limits = Limits::default();
    limits.interrupted.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(ended(limits), Some(Bound::Interruption));
    let limits = Limits { memory: Some(64), ..Limits::default() };
    assert_eq!(ended(limits), Some(Bound::Memory));
}

#[test]
fn a_panic_of_the_model_is_told_with_the_path() {
    let trap = Stairs { trap: Some(vec![1, 1, 0, 1]), ..Stairs::small() };
    let space = Arc::new(trap.space());
    for workers in [1, 3] {
        let outcome = search(&space, Team::alone(workers), &Wanted::default());
        assert_eq!((outcome.bound(), outcome.trouble.clone()), (Some(Bound::Panic), None));
        let panic = outcome.panic.expect("a panic");
        assert!(panic.message.contains("it is a trap"), "{}", panic.message);
        assert_eq!(panic.ordinals.map(|ordinals| ordinals.len()), Some(4));
    }
}
