//! The same by the search engine: packed states, any number of threads, up to renaming.

use levelwise::{Hit, Options, Outcome, Plain, Reduced, Symmetric, search as by_engine};

use super::*;
use crate::twin::async_isr::{self, AsyncIsr};

/// What must be the same however it is searched: the goals' lengths, depth.
fn lengths(outcome: &Outcome) -> (Vec<Option<usize>>, u64) {
    let goals = outcome.goals.iter().map(|(_, hit)| hit.map(Hit::steps)).collect();
    (goals, outcome.depth)
}

/// Searches with one thread and with three, plain and up to renaming; the outcome of the plain one.
fn every_way<M>(model: M) -> Outcome
where
    M: Symmetric + Copy + Sync + std::fmt::Debug,
    M::State: PartialEq + std::fmt::Debug,
    M::Action: Clone + PartialEq,
{
    let space = Plain::new(model);
    let [one, three] =
        [1, 3].map(|threads| by_engine(&space, &Options { threads, ..Options::default() }));
    assert!(one.exhausted() && three.exhausted());
    assert_eq!((one.unique, &one.counts), (three.unique, &three.counts), "{model:?}");
    assert_eq!(one.goals, three.goals, "{model:?}");
    let reduced = Reduced::new(model, 7);
    let fewer = by_engine(&reduced, &Options { threads: 2, ..Options::default() });
    assert_eq!(lengths(&one), lengths(&fewer), "{model:?}");
    assert!(fewer.unique <= one.unique);
    for (n, (goal, hit)) in fewer.goals.iter().enumerate() {
        let Some(hit) = hit else { continue };
        let path = reduced.path(&fewer, *hit).expect("a path");
        let mut state = model.init_states().remove(0);
        for action in path {
            state = model.next_state(&state, action).expect("an action that is enabled");
        }
        let property = &model.properties()[n];
        assert!(!(property.condition)(&model, &state), "{} in {state:?}", goal.name);
    }
    one
}

#[test]
fn the_engine_finds_what_the_exact_search_finds() {
    let mut violations = 0;
    for of in [(2, 2, 2, 1), (2, 2, 2, 2), (3, 1, 1, 1), (2, 1, 2, 3)] {
        for module in &MODULES {
            let twin = twin(module.name, of, None);
            let (exact, found) = (search(&twin, None), every_way(twin));
            let counts = (found.unique as usize, found.counts.generated as usize);
            assert_eq!(counts, (exact.counts.unique, exact.counts.generated));
            assert_eq!(found.depth as usize, exact.counts.depth);
            for (property, (_, hit)) in Property::ALL.iter().zip(&found.goals) {
                assert_eq!(hit.map(Hit::steps), exact.violated.get(property).copied());
                violations += usize::from(hit.is_some());
            }
        }
    }
    assert!(violations > 15, "only {violations} violations");
}

#[test]
fn removed_guards_are_missed_after_as_many_steps_by_the_engine() {
    for (guard, steps) in [
        (Guard::FenceTruncate, 13),
        (Guard::FenceHw, 12),
        (Guard::FenceExpand, 14),
        (Guard::ExpandHw, 8),
    ] {
        let reduced = Reduced::new(twin("kip320", (3, 2, 2, 2), Some(guard)), 0);
        let strong_isr = Property::ALL.iter().position(|p| *p == Property::StrongIsr);
        let goals = 1 << strong_isr.expect("a property");
        let until = levelwise::Until::AllHit;
        let found = by_engine(&reduced, &Options { goals, until, ..Options::default() });
        assert_eq!(found.hit("strong-isr").map(Hit::steps), Some(steps), "{}", guard.name());
    }
}

#[test]
fn async_isr_is_the_same_by_the_engine() {
    let of = |max_offset, without| AsyncIsr { replicas: 3, max_offset, max_version: 2, without };
    for (max_offset, figure) in [(1, (1_460, 14)), (2, (4_088, 17))] {
        let found = every_way(of(max_offset, None));
        assert_eq!((found.unique, found.depth), figure);
        assert_eq!(found.hit("valid-high-watermark"), None);
    }
    for guard in async_isr::Guard::ALL {
        let found = every_way(of(2, Some(guard)));
        assert_eq!(found.hit("valid-high-watermark").map(Hit::steps), Some(6), "{}", guard.name());
    }
}
