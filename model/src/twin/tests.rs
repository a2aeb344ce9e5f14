//! TLC's own figures, by an exact search that keeps whole states.

mod engine;
mod holds;
mod labels;
mod packing;
mod refusals;
mod speed;
mod symmetry;

use std::collections::BTreeMap;

use super::*;
use crate::exact::{self, Counts};

/// Replicas, log size, records, largest leader epoch.
type Of = (u8, u8, u8, u8);
/// Distinct states and depth, the initial state counted as 1.
type Figure = Option<(usize, usize)>;

struct Found {
    counts: Counts,
    /// Steps of the shortest violation, by property.
    violated: BTreeMap<Property, usize>,
}

fn constants((replicas, log_size, max_records, max_leader_epoch): Of) -> Constants {
    Constants { replicas, log_size, max_records, max_leader_epoch }
}

/// Breadth first over the whole space, or up to the first violation of `goal`.
fn search(twin: &Twin, goal: Option<Property>) -> Found {
    let mut violated = BTreeMap::new();
    let look = |state: &State, depth| {
        for property in Property::ALL {
            if !violated.contains_key(&property) && !property.holds(state) {
                violated.insert(property, depth - 1);
            }
        }
        goal.is_none_or(|goal| !violated.contains_key(&goal))
    };
    let successors = |state: &State, each: &mut dyn FnMut(State)| {
        twin.successors(state, &mut |_, next| each(next));
    };
    let counts = exact::search(twin.initial(), State::clone, successors, look);
    Found { counts, violated }
}

/// Every reachable state, in the order of its depth.
fn reachable(twin: &Twin) -> Vec<State> {
    let mut all = Vec::new();
    let successors = |state: &State, each: &mut dyn FnMut(State)| {
        twin.successors(state, &mut |_, next| each(next));
    };
    let look = |state: &State, _| {
        all.push(*state);
        true
    };
    exact::search(twin.initial(), State::clone, successors, look);
    all
}

/// A key that states have in common if only the names of their replicas differ.
fn up_to_names(twin: &Twin) -> impl Fn(&State) -> Vec<u32> {
    let orders = twin.orders();
    move |state| {
        let packed = orders.iter().map(|order| {
            let mut words = Vec::with_capacity(twin.words());
            twin.pack(&state.permute(order), &mut words);
            words
        });
        packed.min().expect("an order")
    }
}

/// Every state of AsyncIsr that is admitted and reachable.
fn reachable_async(twin: async_isr::AsyncIsr) -> Vec<async_isr::State> {
    let mut all = Vec::new();
    let successors = |state: &async_isr::State, each: &mut dyn FnMut(async_isr::State)| {
        twin.successors(state, &mut |_, next| {
            if twin.admits(&next) {
                each(next);
            }
        });
    };
    let look = |state: &async_isr::State, _| {
        all.push(*state);
        true
    };
    exact::search(twin.initial(), Clone::clone, successors, look);
    all
}

fn twin(name: &str, of: Of, without: Option<Guard>) -> Twin {
    let module = Module::by_name(name).expect("a module");
    Twin { module, constants: constants(of), without }
}

#[test]
fn whole_spaces_have_the_states_and_the_depth_that_tlc_finds() {
    let rows: [(Of, [Figure; 5]); 6] = [
        (
            (2, 2, 2, 1),
            [
                Some((1_251, 16)),
                Some((1_177, 15)),
                Some((1_177, 15)),
                Some((1_165, 15)),
                Some((957, 15)),
            ],
        ),
        (
            (2, 2, 2, 2),
            [
                Some((10_131, 20)),
                Some((9_045, 18)),
                Some((9_027, 18)),
                Some((8_429, 18)),
                Some((5_973, 18)),
            ],
        ),
        (
            (3, 1, 1, 1),
            [Some((10_681, 17)), None, Some((9_841, 18)), Some((9_661, 18)), Some((6_787, 18))],
        ),
        (
            (3, 2, 2, 1),
            [None, Some((59_788, 22)), Some((60_106, 22)), Some((59_092, 22)), Some((39_619, 22))],
        ),
        ((2, 3, 3, 2), [None, None, Some((32_713, 21)), None, Some((21_493, 22))]),
        ((2, 2, 2, 3), [None, None, None, None, Some((28_939, 22))]),
    ];
    for (of, figures) in rows {
        for (module, figure) in MODULES.iter().zip(figures) {
            if let Some(figure) = figure {
                let found = search(&twin(module.name, of, None), None);
                assert_eq!(
                    (found.counts.unique, found.counts.depth),
                    figure,
                    "{} {of:?}",
                    module.name
                );
                let broken = module.holds.iter().find(|it| found.violated.contains_key(it));
                assert_eq!(broken, None, "{} {of:?}", module.name);
            }
        }
    }
}

#[test]
fn kip320_generates_as_many_states_as_tlc_prints() {
    for (of, unique, generated, depth) in [
        ((2, 2, 2, 1), 957, 1_819, 15),
        ((2, 2, 2, 2), 5_973, 11_839, 18),
        ((3, 2, 2, 1), 39_619, 104_488, 22),
        ((3, 2, 2, 2), 737_794, 1_967_560, 26),
    ] {
        let found = search(&twin("kip320", of, None), None);
        assert_eq!(found.counts, Counts { unique, generated, depth }, "{of:?}");
        assert_eq!(found.violated, BTreeMap::new(), "{of:?}");
    }
}

#[test]
fn strong_isr_breaks_after_as_many_steps_as_tlc_finds() {
    let rows: [(&str, &[(Of, usize)]); 4] = [
        ("hw", &[((2, 1, 1, 1), 9), ((2, 2, 2, 1), 9), ((2, 2, 2, 2), 9), ((3, 2, 2, 2), 8)]),
        (
            "kip101",
            &[((2, 2, 2, 2), 11), ((3, 2, 2, 1), 11), ((3, 1, 1, 2), 10), ((3, 2, 2, 2), 10)],
        ),
        (
            "kip279",
            &[((3, 1, 1, 1), 11), ((3, 2, 2, 1), 11), ((3, 1, 1, 2), 10), ((3, 2, 2, 2), 10)],
        ),
        ("kip320-first-try", &[((3, 1, 1, 2), 12), ((3, 1, 2, 2), 12), ((3, 2, 2, 2), 12)]),
    ];
    for (name, figures) in rows {
        for &(of, steps) in figures {
            let found = search(&twin(name, of, None), Some(Property::StrongIsr));
            assert_eq!(found.violated.get(&Property::StrongIsr), Some(&steps), "{name} {of:?}");
        }
    }
}

#[test]
fn strong_isr_holds_where_tlc_exhausts_it() {
    let rows: [(&str, &[Of]); 4] = [
        ("kip101", &[(2, 2, 2, 1), (2, 1, 2, 2), (2, 1, 2, 3), (2, 2, 1, 3), (2, 1, 1, 3)]),
        ("kip279", &[(2, 2, 2, 1), (2, 2, 2, 2), (2, 3, 3, 2)]),
        ("kip320-first-try", &[(2, 2, 2, 1), (2, 2, 2, 2), (3, 2, 2, 1)]),
        ("kip320", &[(2, 2, 2, 1), (2, 2, 2, 2), (3, 1, 1, 1), (3, 2, 2, 1), (2, 2, 2, 3)]),
    ];
    for (name, all) in rows {
        for &of in all {
            let found = search(&twin(name, of, None), None);
            assert!(!found.violated.contains_key(&Property::StrongIsr), "{name} {of:?}");
        }
    }
}

#[test]
fn without_a_guard_kip320_breaks_after_as_many_steps_as_tlc_finds() {
    for (guard, property, steps) in [
        (Guard::FenceTruncate, Property::StrongIsr, 13),
        (Guard::FenceHw, Property::StrongIsr, 12),
        (Guard::FenceExpand, Property::StrongIsr, 14),
        (Guard::ExpandHw, Property::StrongIsr, 8),
        (Guard::FenceFetch, Property::EpochsMonotone, 10),
    ] {
        let found = search(&twin("kip320", (3, 2, 2, 2), Some(guard)), Some(property));
        assert_eq!(found.violated.get(&property), Some(&steps), "{}", guard.name());
    }
}

#[test]
fn strong_isr_does_not_see_an_unfenced_fetch() {
    let found = search(&twin("kip320", (3, 2, 2, 2), Some(Guard::FenceFetch)), None);
    assert_eq!(found.counts.unique, 863_029);
    assert!(!found.violated.contains_key(&Property::StrongIsr));
}

fn async_twin(
    replicas: Id,
    max_offset: u8,
    max_version: u8,
    without: Option<async_isr::Guard>,
) -> async_isr::AsyncIsr {
    async_isr::AsyncIsr { replicas, max_offset, max_version, without }
}

/// Distinct states, depth, and the steps of the shortest violation.
fn search_async(twin: async_isr::AsyncIsr) -> (usize, usize, Option<usize>) {
    let mut violated = None;
    let successors = |state: &async_isr::State, each: &mut dyn FnMut(async_isr::State)| {
        twin.successors(state, &mut |_, next| {
            if twin.admits(&next) {
                each(next);
            }
        });
    };
    let look = |state: &async_isr::State, depth| {
        let valid = async_isr::Property::ValidHighWatermark.holds(&twin, state);
        if violated.is_none() && !valid {
            violated = Some(depth - 1);
        }
        true
    };
    let counts = exact::search(twin.initial(), Clone::clone, successors, look);
    (counts.unique, counts.depth, violated)
}

#[test]
fn async_isr_is_the_one_that_tlc_explores() {
    assert_eq!(search_async(async_twin(3, 1, 2, None)), (1_460, 14, None));
    assert_eq!(search_async(async_twin(3, 2, 2, None)), (4_088, 17, None));
    for guard in async_isr::Guard::ALL {
        let (_, _, violated) = search_async(async_twin(3, 2, 2, Some(guard)));
        assert_eq!(violated, Some(6), "{}", guard.name());
    }
}
