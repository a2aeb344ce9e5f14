//! Faults of which it is known beforehand where they are.

use std::sync::Once;

use levelwise::graph::{Answer, Fair};
use levelwise::{
    Bound, Codec, Kept, Limits, Options, Plain, Space, Verdict, explore_graph, replay, search,
};
use stateright::{Model, Property};

use super::naive::breadth_first;
use super::small::{BAD, RED, Small};

/// Every list of bits up to a length, one bit more with each step.
#[derive(Clone, Copy)]
struct Bits {
    longest: u32,
    /// This list must not be.
    bad: (u32, u32),
    /// The model has no initial state but a panic.
    panics: bool,
}

impl Model for Bits {
    /// How many, and which.
    type State = (u32, u32);
    type Action = bool;

    fn init_states(&self) -> Vec<(u32, u32)> {
        assert!(!self.panics, "planted");
        vec![(0, 0)]
    }

    fn actions(&self, state: &(u32, u32), actions: &mut Vec<bool>) {
        if state.0 < self.longest {
            actions.extend([false, true]);
        }
    }

    fn next_state(&self, state: &(u32, u32), bit: bool) -> Option<(u32, u32)> {
        Some((state.0 + 1, state.1 << 1 | u32::from(bit)))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("not that one", |model, state| *state != model.bad)]
    }
}

impl Codec for Bits {
    fn pack(&self, state: &(u32, u32), row: &mut Vec<u32>) {
        row.extend([state.0, state.1]);
    }

    fn unpack(&self, row: &[u32]) -> (u32, u32) {
        (row[0], row[1])
    }
}

fn assert_found<S: Space<Action = bool>>(space: &S, bad: (u32, u32), longest: u32) {
    for threads in [1, 2, 4] {
        let outcome = search(space, &Options { threads, ..Options::default() });
        assert_eq!(outcome.unique, (2 << longest) - 1);
        let hit = outcome.hit("not that one").expect("it was planted");
        assert_eq!(hit.steps() as u32, bad.0);
        let path = outcome.path(space, hit).expect("a path").into_actions();
        let bits = path.into_iter().fold(0, |bits, bit| bits << 1 | u32::from(bit));
        assert_eq!(bits, bad.1);
        for (limit, is_seen) in [(bad.0, false), (bad.0 + 1, true)] {
            let limits = Limits { depth: Some(limit), ..Limits::default() };
            let options = Options { threads, limits, ..Options::default() };
            let seen = search(space, &options).hit("not that one").is_some();
            assert!(seen == is_seen || limit == 0, "a depth of {limit}");
        }
    }
}

#[test]
fn a_fault_is_found_at_the_depth_it_was_planted_in() {
    let longest = 13;
    for bad in [(0, 0), (1, 1), (2, 1), (5, 19), (9, 500), (12, 0), (13, 8191)] {
        let model = Bits { longest, bad, panics: false };
        assert_found(&Plain::new(model), bad, longest);
        assert_found(&Kept::new(model, 3), bad, longest);
    }
}

/// Says nothing of panics that are planted.
pub fn hush() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !info.to_string().contains("planted") {
                before(info);
            }
        }));
    });
}

#[test]
fn a_panic_of_the_model_is_told_with_its_path_and_nothing_is_claimed() {
    hush();
    let mut violations = 0;
    for seed in 0..300 {
        let mut space = Small::random(seed, 30);
        let whole = explore_graph(&space, &Options::default()).1;
        let found = breadth_first(&space);
        let number = (seed as usize * 7) % found.len();
        let (state, depth) = found[number];
        let after = seed as usize % (space.states[state].actions.len() + 1);
        space.panics = Some((state, after));
        for threads in [1, 2, 4] {
            let options = Options { threads, ..Options::default() };
            let (outcome, graph) = explore_graph(&space, &options);
            assert_eq!(outcome.bound(), Some(Bound::Panic));
            let panic = outcome.panic.clone().expect("a panic");
            assert!(panic.message.contains("planted"), "{}", panic.message);
            let at = panic.at.expect("a state");
            let path = outcome.path(&space, at).expect("a path");
            assert_eq!((path.steps.len(), path.last()[0] as usize), (depth, state));

            assert_eq!((graph.is_complete(), graph.expanded()), (false, number));
            let expanded = 0..number as u32;
            assert!(expanded.clone().all(|n| graph.edges(n).eq(whole.edges(n))));
            for (part, of_whole) in [
                (graph.eventually(RED, &Fair::none()), whole.eventually(RED, &Fair::none())),
                (graph.for_good(RED, &Fair::none()), whole.for_good(RED, &Fair::none())),
            ] {
                assert!(!part.holds());
                assert!(part.violation().is_none() || of_whole.violation().is_some());
                violations += usize::from(part.violation().is_some());
            }
            let (part, of_whole) = (graph.can_reach(RED, None), whole.can_reach(RED, None));
            assert!(!part.holds() && !graph.deadlock_free().holds());
            assert!(part.violation().is_none() || of_whole.violation().is_some());
            if outcome.goals[BAD].1.is_some() {
                assert!(found.iter().any(|(n, _)| space.states[*n].hits & 1 << BAD != 0));
            }
        }
    }
    assert!(violations > 50, "{violations}");
}

/// Counts up by one; the other action of a number panics.
struct OnlyTheFirst;

impl Model for OnlyTheFirst {
    type State = u32;
    type Action = bool;

    fn init_states(&self) -> Vec<u32> {
        vec![0]
    }

    fn actions(&self, _: &u32, actions: &mut Vec<bool>) {
        actions.extend([true, false]);
    }

    fn next_state(&self, number: &u32, goes: bool) -> Option<u32> {
        assert!(goes, "planted");
        Some(number + 1)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        Vec::new()
    }
}

#[test]
fn a_step_is_replayed_though_a_later_one_of_its_state_panics() {
    hush();
    let space = Kept::new(OnlyTheFirst, 0);
    let path = replay(&space, &[0, 0, 0]).expect("both steps are known before the panic");
    assert_eq!(path.into_actions(), [true, true]);
    let panics = std::panic::catch_unwind(|| replay(&Kept::new(OnlyTheFirst, 0), &[0, 0, 1]));
    assert!(panics.is_err(), "the step that panics is no step");
}

#[test]
fn a_panic_before_the_first_state_leaves_all_open() {
    hush();
    let space = Kept::new(Bits { longest: 3, bad: (9, 9), panics: true }, 0);
    let (outcome, graph) = explore_graph(&space, &Options::default());
    assert_eq!(outcome.verdict, Verdict::Bounded { by: Bound::Panic, left: 0 });
    assert_eq!(outcome.panic.expect("a panic").at, None);
    assert!(graph.is_empty() && !graph.is_complete());
    assert!(matches!(graph.deadlock_free(), Answer::Open(_)));
}
