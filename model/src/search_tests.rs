//! The searches judged by other searches: a naive one, one without merged steps, and the table
//! of expectations.

use std::sync::Arc;

use klog_trace::property::{PROPERTIES, Property};
use klog_trace::trace::{Bounds, Interleaving};

use super::{Counters, Found, Goal, Limits, Search};
use crate::exact;
use crate::fault::Fault;
use crate::protocol::{LADDER, Protocol};
use crate::row::Row;
use crate::scenario;
use crate::system::System;

fn explore(protocol: &Protocol, bounds: &Bounds) -> (Found, Arc<Counters>) {
    let system = Arc::new(System::new(protocol.clone(), bounds.clone()));
    let search = Search::new(system, Goal::Explore, Limits::default());
    let counters = Arc::clone(&search.counters);
    (search.run(), counters)
}

fn small() -> Vec<Bounds> {
    let bounds = |name: &str| scenario::by_name(name).expect("a scenario").bounds;
    let one = |bounds: Bounds| Bounds { records: 1, ..bounds };
    vec![
        bounds("fast-failover"),
        bounds("lag"),
        one(bounds("one-crash")),
        // The leader dies with an answer under way, and is back.
        Bounds { crashes: 2, moves: 0, ..one(bounds("one-crash")) },
        one(bounds("power-loss")),
        Bounds { moves: 1, ..one(bounds("zombie")) },
    ]
}

/// Unique, generated, depth, and the violated properties as bits, without stateright.
fn naive(system: &System) -> (u64, u64, u64, u64) {
    let mut violated = 0;
    let successors = |row: &Row, each: &mut dyn FnMut(Row)| {
        let mut actions = Vec::new();
        system.enabled(row, &mut actions);
        let next = actions.into_iter().map(|action| system.step(row, action).row);
        next.filter(|next| next != row).for_each(each);
    };
    let look = |row: &Row, _| {
        for (property, _, _) in &PROPERTIES {
            if property.judge(&system.view(row)).is_some() {
                violated |= 1 << *property as u64;
            }
        }
        true
    };
    let counts = exact::search(system.initial(), |row| format!("{row:?}"), successors, look);
    (counts.unique as u64, counts.generated as u64, counts.depth as u64, violated)
}

#[test]
fn stateright_and_a_naive_search_count_the_same() {
    for bounds in small() {
        for (name, _, _) in LADDER {
            let protocol = Protocol::by_name(name).expect("a rung");
            let (found, counters) = explore(&protocol, &bounds);
            let violated = counters.violated.load(super::Relaxed);
            let ours = (found.unique, found.generated, found.depth, violated);
            assert_eq!(ours, naive(&System::new(protocol, bounds.clone())), "{name} {bounds:?}");
        }
    }
}

#[test]
fn merged_steps_change_no_verdict() {
    for bounds in small() {
        let full = Bounds { interleaving: Interleaving::Full, ..bounds.clone() };
        for protocol in every_protocol() {
            let (merged, m) = explore(&protocol, &bounds);
            let (whole, w) = explore(&protocol, &full);
            assert_eq!((merged.bound, whole.bound), (None, None));
            assert!(merged.unique <= whole.unique);
            let bits =
                |c: &Counters| (c.violated.load(super::Relaxed), c.witnessed.load(super::Relaxed));
            assert_eq!(bits(&m), bits(&w), "{protocol:?} {bounds:?}");
        }
    }
}

/// An answer outlives its sender, so the fetch that is sent in its place must as well.
#[test]
fn no_path_is_longer_in_merged_steps() {
    let mut compared = 0;
    for bounds in small() {
        let full = Bounds { interleaving: Interleaving::Full, ..bounds.clone() };
        for (rung, _, _) in LADDER {
            let protocol = Protocol::by_name(rung).expect("a rung");
            let length = |goal: Goal, bounds: &Bounds| {
                let system = Arc::new(System::new(protocol.clone(), bounds.clone()));
                Some(Search::new(system, goal, Limits::default()).run().path?.len())
            };
            for goal in Goal::every_row() {
                let (merged, whole) = (length(goal, &bounds), length(goal, &full));
                assert!(merged <= whole, "{rung}, {goal:?}, {bounds:?}: {merged:?}, {whole:?}");
                compared += usize::from(whole.is_some());
            }
        }
    }
    assert!(compared > 20, "only {compared} paths");
}

fn every_protocol() -> Vec<Protocol> {
    let rungs = LADDER.iter().filter_map(|r| Protocol::by_name(r.0));
    rungs.chain(Fault::ALL.iter().map(|f| Protocol::klog_with(&[*f]))).collect()
}

#[test]
fn a_limit_makes_a_search_bounded_and_says_which() {
    let scenario = scenario::by_name("one-crash").expect("a scenario");
    let system = Arc::new(System::new(Protocol::klog(), scenario.bounds));
    let limits = Limits { states: Some(100), ..Limits::default() };
    let search = Search::new(Arc::clone(&system), Goal::Explore, limits);
    let counters = Arc::clone(&search.counters);
    let found = search.run();
    assert_eq!(found.bound, Some(super::Bound::States));
    assert!(counters.cut.load(super::Relaxed) > 0 && found.unique < 200);
    let limits = Limits::default();
    limits.interrupted.store(true, super::Relaxed);
    let found = Search::new(system, Goal::Violate(Property::LogsMatch), limits).run();
    assert_eq!(found.bound, Some(super::Bound::Interruption));
}

#[test]
fn a_counterexample_replays_to_a_state_that_violates_and_no_earlier_one_does() {
    let scenario = scenario::by_name("one-crash").expect("a scenario");
    let old = Protocol::by_name("kafka-0.10").expect("a rung");
    let system = Arc::new(System::new(old, scenario.bounds));
    let property = Property::CommittedSurvives;
    let search = Search::new(Arc::clone(&system), Goal::Violate(property), Limits::default());
    let path = search.run().path.expect("it loses a record");
    let mut row = system.initial();
    for (i, action) in path.iter().enumerate() {
        assert!(property.judge(&system.view(&row)).is_none(), "violated before step {}", i + 1);
        let mut enabled = Vec::new();
        system.enabled(&row, &mut enabled);
        assert!(enabled.contains(action), "step {} is not enabled", i + 1);
        row = system.step(&row, *action).row;
    }
    assert!(property.judge(&system.view(&row)).is_some());
}
