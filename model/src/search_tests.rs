//! The searches judged by other searches: a naive one, one without merged steps, and the table
//! of expectations.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use klog_trace::progress::Progress;
use klog_trace::property::{PROPERTIES, Property, WITNESSES};
use klog_trace::trace::{Bounds, Interleaving};
use levelwise::Bound;

use super::{Asked, Engine, Figures, Files, Found, Goal, Limits, search, search_with};
use crate::exact;
use crate::fault::Fault;
use crate::protocol::{LADDER, Protocol};
use crate::row::{Budgets, Row as _, Whole};
use crate::scenario;
use crate::system::{Partition, System};

fn explore(protocol: &Protocol, bounds: &Bounds, limits: &Limits) -> Found {
    search(&Arc::new(System::new(protocol.clone(), bounds.clone())), None, limits)
}

fn every_state(protocol: &Protocol, bounds: &Bounds) -> Found {
    explore(protocol, bounds, &Limits::default())
}

/// What a state is, whatever numbers its parts have.
fn text(row: &Whole<'_>) -> String {
    let nodes: Vec<_> = (0..row.actors()).map(|n| row.local(n)).collect();
    let flights: Vec<_> = row.flights().iter().map(|flight| flight.message()).collect();
    format!("{nodes:?} {flights:?} {:?} {:?}", row.budgets(), row.ghost())
}

/// Keys of states that are equal where the texts of their parts are. The text of a part is made
/// once.
#[derive(Default)]
struct Keys {
    /// By what part it is (an actor, the world, a message) and its number.
    parts: BTreeMap<(usize, u32), u32>,
    texts: BTreeMap<String, u32>,
}

impl Keys {
    fn of(&mut self, row: &Whole<'_>) -> Vec<u32> {
        let actors = row.actors();
        let mut key: Vec<u32> = (0..Budgets::WORDS).map(|n| row.word(n)).collect();
        for n in 0..actors {
            key.push(self.part(n, row.local_number(n), || format!("{:?}", row.local(n))));
        }
        key.push(self.part(actors, row.world_number(), || format!("{:?}", row.ghost())));
        for flight in row.flights() {
            let text = || format!("{:?}", flight.message());
            key.push(self.part(actors + 1, flight.number(), text));
        }
        key
    }

    fn part(&mut self, part: usize, number: u32, text: impl FnOnce() -> String) -> u32 {
        let (next, texts) = (self.texts.len() as u32, &mut self.texts);
        *self.parts.entry((part, number)).or_insert_with(|| *texts.entry(text()).or_insert(next))
    }
}

/// The lengths of the shortest paths to what was found, by name.
fn lengths(found: &Found) -> Vec<(&'static str, usize)> {
    found.paths.iter().map(|(goal, path)| (goal.row().0, path.len())).collect()
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

/// Unique, generated, depth, states outside the claim, and the length of the shortest path to each
/// property and witness, by a search that keeps whole states.
fn naive(system: &System) -> (u64, u64, u64, u64, Vec<(&'static str, usize)>) {
    let mut lengths: Vec<Option<usize>> = vec![None; PROPERTIES.len() + WITNESSES.len()];
    let mut outside = 0;
    let look = |row: &Vec<u32>, depth: usize| {
        let row = &system.state(row);
        outside += u64::from(row.ghost().outside_claim());
        for (n, (property, _, _)) in PROPERTIES.iter().enumerate() {
            if property.judge(&system.view(row)).is_some() {
                lengths[n].get_or_insert(depth - 1);
            }
        }
        let mut actions = Vec::new();
        system.enabled(row, &mut actions);
        for action in actions {
            let (_, shown) = system.judged_step(row, action);
            for n in (0..WITNESSES.len()).filter(|n| shown & 1 << n != 0) {
                lengths[PROPERTIES.len() + n].get_or_insert(depth);
            }
        }
        true
    };
    let successors = |before: &Vec<u32>, each: &mut dyn FnMut(Vec<u32>)| {
        let (row, mut actions) = (system.state(before), Vec::new());
        system.enabled(&row, &mut actions);
        let next = actions.into_iter().map(|action| system.step(&row, action).row.row());
        next.filter(|next| next != before).for_each(each);
    };
    let keys = RefCell::new(Keys::default());
    let key = |row: &Vec<u32>| keys.borrow_mut().of(&system.state(row));
    let counts = exact::search(system.initial().row(), key, successors, look);
    let rows = Goal::every_row().zip(lengths);
    let lengths = rows.filter_map(|(goal, length)| Some((goal.row().0, length?))).collect();
    let (unique, generated) = (counts.unique as u64, counts.generated as u64);
    (unique, generated, counts.depth as u64, outside, lengths)
}

#[test]
fn every_engine_counts_what_a_naive_search_counts() {
    for bounds in small() {
        for protocol in rungs() {
            let name = &protocol.name;
            let expected = naive(&System::new(protocol.clone(), bounds.clone()));
            for (engine, threads) in [
                (Engine::Levelwise, 1),
                (Engine::Levelwise, 3),
                (Engine::Timely, 3),
                (Engine::Stateright, 1),
            ] {
                let limits = Limits { threads, engine, ..Limits::default() };
                let found = explore(&protocol, &bounds, &limits);
                let Figures { unique, generated, depth, .. } = found.figures;
                let ours = (unique, generated, depth, found.outside_claim, lengths(&found));
                assert_eq!(ours, expected, "{engine:?} {name} {bounds:?}");
            }
        }
    }
}

/// A reaction that depended on anything but the actor's state and what reaches it would differ
/// from what is remembered of it.
#[test]
fn what_is_remembered_is_what_would_happen_again() {
    let bounds = small().swap_remove(2);
    let protocol = Protocol::by_name("kafka-0.10").expect("a rung");
    let system = System::new(protocol.clone(), bounds.clone());
    let mut edges = 0;
    let successors = |row: &Vec<u32>, each: &mut dyn FnMut(Vec<u32>)| {
        let (row, mut actions) = (system.state(row), Vec::new());
        system.enabled(&row, &mut actions);
        for action in actions {
            let next = system.step(&row, action).row;
            let forgetful = System::new(protocol.clone(), bounds.clone());
            let again = forgetful.step(&forgetful.state_like(&row), action).row;
            assert_eq!(text(&next), text(&again), "{action}");
            edges += 1;
            each(next.row());
        }
    };
    let key = |row: &Vec<u32>| text(&system.state(row));
    exact::search(system.initial().row(), key, successors, |_, depth| depth < 12);
    assert!(edges > 5_000, "only {edges} edges");
}

#[test]
fn threads_change_nothing() {
    let bounds = scenario::by_name("one-crash").expect("a scenario").bounds;
    let protocol = Protocol::by_name("kafka-0.10").expect("a rung");
    let found = [1, 2, 4].map(|threads| {
        let limits = Limits { threads, ..Limits::default() };
        let found = explore(&protocol, &bounds, &limits);
        let Figures { unique, generated, depth, actions, refused, .. } = found.figures;
        (unique, generated, depth, actions, refused, found.paths)
    });
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
}

#[test]
fn a_guard_is_counted_where_its_witness_is_seen() {
    let (mut refused, mut never) = (0, 0);
    for bounds in small() {
        for protocol in every_protocol() {
            let found = every_state(&protocol, &bounds);
            let limits = Limits { engine: Engine::Timely, threads: 2, ..Limits::default() };
            assert_eq!(explore(&protocol, &bounds, &limits).figures.refused, found.figures.refused);
            for (guard, witness) in [
                ("produce-19", "error-19"),
                ("produce-20", "error-20"),
                ("fetch-74", "fenced-epoch"),
            ] {
                let mut names = Partition::guard_names().into_iter();
                let n = names.position(|name| name == guard).expect("a guard");
                let count = found.figures.refused[n];
                let seen = lengths(&found).iter().any(|length| length.0 == witness);
                assert_eq!(count > 0, seen, "{guard} {protocol:?} {bounds:?}");
                refused += count;
                never += u64::from(count == 0);
            }
        }
    }
    assert!(refused > 0 && never > 0, "{refused} {never}");
}

#[test]
fn merged_steps_change_no_verdict() {
    for bounds in small() {
        let full = Bounds { interleaving: Interleaving::Full, ..bounds.clone() };
        for protocol in every_protocol() {
            let merged = every_state(&protocol, &bounds);
            let whole = every_state(&protocol, &full);
            assert_eq!((merged.figures.bound, whole.figures.bound), (None, None));
            assert!(merged.figures.unique <= whole.figures.unique);
            let names = |found: &Found| lengths(found).into_iter().map(|l| l.0).collect::<Vec<_>>();
            assert_eq!(names(&merged), names(&whole), "{protocol:?} {bounds:?}");
        }
    }
}

/// An answer outlives its sender, so the fetch that is sent in its place must as well.
#[test]
fn no_path_is_longer_in_merged_steps() {
    let mut compared = 0;
    for bounds in small() {
        let full = Bounds { interleaving: Interleaving::Full, ..bounds.clone() };
        for protocol in rungs() {
            let rung = &protocol.name;
            let (merged, whole) = (every_state(&protocol, &bounds), every_state(&protocol, &full));
            for goal in Goal::every_row() {
                let [merged, whole] = [&merged, &whole].map(|f| f.path(goal).map(Vec::len));
                assert!(merged <= whole, "{rung}, {goal:?}, {bounds:?}: {merged:?}, {whole:?}");
                compared += usize::from(whole.is_some());
            }
        }
    }
    assert!(compared > 20, "only {compared} paths");
}

/// The oldest rung, one from the middle, and the newest.
fn rungs() -> Vec<Protocol> {
    let rung = |name: &&str| Protocol::by_name(name).expect("a rung");
    ["kafka-0.10", "kafka-2.7", "klog"].iter().map(rung).collect()
}

fn every_protocol() -> Vec<Protocol> {
    let rungs = LADDER.iter().filter_map(|r| Protocol::by_name(r.0));
    // With an inactive leader the controller elects for ever, and its epochs have no end.
    let ends = |fault: &&Fault| **fault != Fault::ElectInactiveLastLeader;
    let faults = Fault::ALL.iter().filter(ends).map(|fault| Protocol::klog_with(&[*fault]));
    rungs.chain(faults).collect()
}

#[test]
fn a_limit_makes_a_search_bounded_and_says_which() {
    let bounds = scenario::by_name("one-crash").expect("a scenario").bounds;
    let by = |limits: &Limits| explore(&Protocol::klog(), &bounds, limits).figures;
    for engine in [Engine::Levelwise, Engine::Stateright] {
        let found = by(&Limits { engine, states: Some(100), ..Limits::default() });
        assert_eq!(found.bound, Some(Bound::States), "{engine:?}");
        assert!(found.left != Some(0) && found.unique < 200, "{engine:?}: {}", found.unique);
        let limits = Limits { engine, ..Limits::default() };
        limits.interrupted.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(by(&limits).bound, Some(Bound::Interruption), "{engine:?}");
    }
    let depth = by(&Limits { depth: Some(5), ..Limits::default() });
    assert_eq!((depth.bound, depth.depth), (Some(Bound::Depth), 5));
    let memory = by(&Limits { memory: Some(1 << 18), ..Limits::default() });
    assert_eq!(memory.bound, Some(Bound::Memory));
}

#[test]
fn a_counterexample_replays_to_a_state_that_violates_and_no_earlier_one_does() {
    let scenario = scenario::by_name("one-crash").expect("a scenario");
    let old = Protocol::by_name("kafka-0.10").expect("a rung");
    let system = Arc::new(System::new(old, scenario.bounds));
    let property = Property::CommittedSurvives;
    let goal = Goal::Violate(property);
    let found = search(&system, Some(goal), &Limits::default());
    let path = found.path(goal).expect("it loses a record");
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

#[test]
fn a_run_that_goes_round_is_told_with_its_round() {
    let faults = [Fault::SkipReconcileSameLeader, Fault::T5UsesLeaderEnd, Fault::KeepTrailingEntry];
    for (fault, steps) in faults.into_iter().zip([6, 8, 7]) {
        let bounds = scenario::by_name("fast-failover").expect("a scenario").bounds;
        let system = Arc::new(System::new(Protocol::klog_with(&[fault]), bounds));
        let goal = Goal::Lose(Progress::NoFairLivelock);
        let found = search(&system, Some(goal), &Limits::default());
        let path = found.path(goal).expect("it never settles");
        assert_eq!(path.len(), steps, "{fault:?}");
        let mut rows = vec![system.initial().row()];
        for action in path {
            let row = system.state(&rows[rows.len() - 1]);
            rows.push(system.step(&row, *action).row.row());
        }
        let last = rows.pop().expect("the last state");
        assert!(rows.contains(&last), "{fault:?} does not come round");
    }
}

#[test]
fn what_depends_on_states_beyond_the_bounds_is_open() {
    let fast = scenario::by_name("fast-failover").expect("a scenario").bounds;
    let open = |fault: Option<Fault>, leader_epochs: u8| {
        let protocol = Protocol::klog_with(fault.as_slice());
        let bounds = Bounds { leader_epochs, ..fast.clone() };
        let system = Arc::new(System::new(protocol, bounds));
        let files = Files::default();
        let found = search_with(&system, None, Asked::Progress, &Limits::default(), &files);
        let found = found.expect("without files it begins");
        assert!(found.figures.bound.is_none());
        let lost = |goal: &Goal| matches!(goal, Goal::Lose(Progress::NoFairLivelock));
        (found.open.iter().any(lost), found.paths.iter().any(|path| lost(&path.0)))
    };
    assert_eq!(open(None, 0), (false, false), "it holds");
    let reconciles_not = Some(Fault::SkipReconcileSameLeader);
    assert_eq!(open(reconciles_not, 0), (false, true), "it is lost");
    assert_eq!(open(reconciles_not, 2), (true, false), "what becomes of a run is out of bounds");
}
