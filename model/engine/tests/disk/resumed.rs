//! A search that is gone on with ends as one that was never ended.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use levelwise::{Bound, Checkpoint, Kept, Limits, Options, Space, Until, Unusable};

use crate::spaces::{Grid, Tangle};
use crate::spilled::{TIGHTS, spilling, tight};
use crate::{THREADS, found, in_memory};

/// Writes when the search ends.
pub fn checkpoint(folder: &Path) -> Checkpoint {
    Checkpoint { time: None, ..Checkpoint::to(folder, "a space of the tests") }
}

/// Writes at the end of each level as well.
pub fn every_level(folder: &Path) -> Checkpoint {
    Checkpoint { levels: Some(1), ..checkpoint(folder) }
}

fn at_depth(depth: u32) -> Limits {
    Limits { depth: Some(depth), ..Limits::default() }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for file in fs::read_dir(from).expect("it is there") {
        let file = file.expect("a file");
        fs::copy(file.path(), to.join(file.file_name())).expect("room");
    }
}

/// Ends a search at each of its levels, and goes on with it: in memory, spilling, and in two parts.
fn same_from_every_level<S: Space>(space: &S, options: &Options)
where
    S::Action: std::fmt::Debug + PartialEq,
{
    let expected = in_memory(space, options);
    let folder = tempfile::tempdir().expect("a folder");
    for depth in 1..=expected.depth as u32 {
        let kept = folder.path().join(depth.to_string());
        let first = Options {
            threads: THREADS[depth as usize % 3],
            limits: at_depth(depth),
            checkpoint: Some(if depth % 3 == 0 { every_level(&kept) } else { checkpoint(&kept) }),
            ..options.clone()
        };
        let narrow = tight(depth as usize);
        let first = if depth % 2 == 0 { spilling(folder.path(), narrow, &first) } else { first };
        let outcome = levelwise::search(space, &first);
        assert_eq!((outcome.bound(), outcome.disk.clone()), (Some(Bound::Depth), None));
        for (n, threads) in THREADS.into_iter().chain(THREADS).enumerate() {
            let again = folder.path().join("again");
            copy(&kept, &again);
            let options =
                Options { threads, checkpoint: Some(checkpoint(&again)), ..options.clone() };
            let narrow = tight(n + depth as usize);
            let options = if n < 3 { options } else { spilling(folder.path(), narrow, &options) };
            let mut from = depth;
            if n % 2 == 1 && depth + 2 < expected.depth as u32 {
                from += 2;
                let limits = at_depth(from);
                let part = Options { limits, ..options.clone() };
                let outcome = levelwise::resume(space, &part).expect("a sound checkpoint");
                assert_eq!(outcome.bound(), Some(Bound::Depth));
            }
            let outcome = levelwise::resume(space, &options).expect("a sound checkpoint");
            assert_eq!((outcome.disk.clone(), outcome.resumed), (None, from.into()));
            assert_eq!(found(space, &outcome), expected, "depth {depth}, {threads} threads, {n}");
            // What is there now is of its end, and does as well.
            let outcome = levelwise::resume(space, &options).expect("a sound checkpoint");
            assert_eq!(found(space, &outcome), expected);
            fs::remove_dir_all(&again).expect("it was there");
        }
    }
}

#[test]
fn from_every_level_of_tangles() {
    same_from_every_level(&Tangle::new(1, 1500, 4), &Options::default());
    let space = Tangle { starts: 300, ..Tangle::new(5, 2000, 3) };
    same_from_every_level(&space, &Options { goals: 0b1011, ..Options::default() });
}

#[test]
fn from_every_level_of_a_grid() {
    same_from_every_level(&Grid { axes: 3, top: 6, seed: 4 }, &Options::default());
}

#[test]
fn a_checkpoint_of_a_deep_grid() {
    let space = Grid { axes: 2, top: 150, seed: 4 };
    let expected = in_memory(&space, &Options::default());
    let folder = tempfile::tempdir().expect("a folder");
    for depth in [1, 150, 299, 301] {
        let kept = folder.path().join(depth.to_string());
        let checkpoint = Some(checkpoint(&kept));
        let first = Options { limits: at_depth(depth), checkpoint, ..Options::default() };
        levelwise::search(&space, &first);
        let options = Options { limits: Limits::default(), ..first };
        let outcome = levelwise::resume(&space, &options).expect("a sound checkpoint");
        assert_eq!(found(&space, &outcome), expected);
    }
}

#[test]
fn an_interrupted_search_is_gone_on_with_from_its_last_level() {
    let whole = Tangle { starts: 40_000, ..Tangle::new(12, 90_000, 4) };
    let expected = in_memory(&whole, &Options::default());
    for (n, at) in [3, 300, 33_000, 70_000].into_iter().enumerate() {
        let folder = tempfile::tempdir().expect("a folder");
        let flag = Arc::new(AtomicBool::new(false));
        let space = Tangle { interrupts: Some((at, Arc::clone(&flag))), ..whole.clone() };
        let limits = Limits { interrupted: Arc::clone(&flag), ..Limits::default() };
        let kept = folder.path().join("kept");
        let checkpoint = Some(checkpoint(&kept));
        let options = Options { threads: 2, limits, checkpoint, ..Options::default() };
        let narrow = levelwise::Tight { table: 20_000, kept: 9000, step: 5000, ..tight(0) };
        let options = if n % 2 == 0 { options } else { spilling(folder.path(), narrow, &options) };
        let outcome = levelwise::search(&space, &options);
        assert_eq!(outcome.bound(), Some(Bound::Interruption));
        let interrupted = levelwise::resume(&whole, &options).map(drop);
        assert!(matches!(interrupted, Err(Unusable::Interrupted { .. })), "{interrupted:?}");
        flag.store(false, Relaxed);
        let outcome = levelwise::resume(&whole, &options).expect("a sound checkpoint");
        assert_eq!(found(&whole, &outcome), expected);
    }
}

#[test]
fn after_other_limits_and_a_panic() {
    let whole = Tangle::new(21, 3000, 4);
    let expected = in_memory(&whole, &Options::default());
    let limits = [
        Limits { states: Some(1000), ..Limits::default() },
        Limits { memory: Some(300_000), ..Limits::default() },
        Limits { deadline: Some(std::time::Instant::now()), ..Limits::default() },
    ];
    let panics = Tangle { panics_at: Some(1500), ..whole.clone() };
    let cases = limits.map(|limits| (&whole, Options { limits, ..Options::default() }));
    for (space, options) in cases.into_iter().chain([(&panics, Options::default())]) {
        let folder = tempfile::tempdir().expect("a folder");
        let checkpoint = Some(checkpoint(folder.path()));
        let options = Options { checkpoint, ..options };
        assert!(levelwise::search(space, &options).bound().is_some());
        let options = Options { limits: Limits::default(), ..options };
        let outcome = levelwise::resume(&whole, &options).expect("a sound checkpoint");
        assert_eq!(found(&whole, &outcome), expected);
    }
}

#[test]
fn limits_and_goals_cut_a_resumed_search_off_at_the_same_state() {
    let space = Tangle::new(22, 3000, 4);
    let folder = tempfile::tempdir().expect("a folder");
    let states = |states| Limits { states: Some(states), ..Limits::default() };
    let far = Options { until: Until::AllHit, goals: 0b111_1100, ..Options::default() };
    let shallow = Options { limits: at_depth(4), ..Options::default() };
    let known = levelwise::search(&space, &shallow).unique;
    let cases =
        [known + 1, 1500, 2999].map(|n| Options { limits: states(n), ..Options::default() });
    for (n, case) in cases.into_iter().chain([far]).enumerate() {
        let expected = in_memory(&space, &case);
        for tightness in 0..TIGHTS {
            let kept = folder.path().join(format!("{n}-{tightness}"));
            let case = Options { checkpoint: Some(checkpoint(&kept)), ..case.clone() };
            levelwise::search(&space, &Options { limits: at_depth(4), ..case.clone() });
            let case = spilling(folder.path(), tight(tightness), &case);
            let outcome = levelwise::resume(&space, &case).expect("a sound checkpoint");
            assert_eq!(found(&space, &outcome), expected);
        }
    }
}

#[test]
fn only_ancestors_are_visited_again() {
    let visits = Arc::new(AtomicU64::new(0));
    let tangle = Tangle { visits: Arc::clone(&visits), ..Tangle::new(31, 3000, 4) };
    let whole = in_memory(&tangle, &Options::default());
    let folder = tempfile::tempdir().expect("a folder");
    let options = Options { checkpoint: Some(checkpoint(folder.path())), ..Options::default() };
    visits.store(0, Relaxed);
    levelwise::search(&tangle, &options);
    assert_eq!(visits.swap(0, Relaxed), whole.unique);
    levelwise::resume(&tangle, &options).expect("a sound checkpoint");
    let last = *whole.levels.last().expect("a level") as u64;
    let again = visits.load(Relaxed) - last;
    // The last level has few states, and each has one ancestor in a level.
    assert!(again <= last * whole.levels.len() as u64, "{again} visits for {last} states");
    assert!(again >= whole.levels.len() as u64 - 1);
}

#[test]
fn a_stateright_model_is_gone_on_with() {
    use stateright::Model;

    /// Two counters that go up, as strings, so that nothing but a hash stands for a state.
    struct Strings;
    impl Model for Strings {
        type State = (String, u8);
        type Action = u8;
        fn init_states(&self) -> Vec<Self::State> {
            vec![(String::new(), 0)]
        }
        fn actions(&self, state: &Self::State, actions: &mut Vec<u8>) {
            actions.extend((0..3).filter(|_| state.0.len() < 7));
        }
        fn next_state(&self, (text, n): &Self::State, action: u8) -> Option<Self::State> {
            Some((format!("{text}{action}"), (n + action) % 5))
        }
        fn properties(&self) -> Vec<stateright::Property<Self>> {
            let deep = |_: &Self, state: &Self::State| state.0 == "0120120";
            vec![stateright::Property::sometimes("deep", deep)]
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let expected = in_memory(&Kept::new(Strings, 5), &Options::default());
    let checkpoint = Some(checkpoint(folder.path()));
    let options = Options { limits: at_depth(5), checkpoint, ..Options::default() };
    levelwise::search(&Kept::new(Strings, 5), &options);
    // A new space numbers its states anew.
    let space = Kept::new(Strings, 5);
    let options = Options { limits: Limits::default(), threads: 2, ..options };
    let outcome = levelwise::resume(&space, &options).expect("a sound checkpoint");
    let got = found(&space, &outcome);
    assert_eq!((got.counts, got.levels), (expected.counts, expected.levels));
    assert_eq!(got.goals, expected.goals);
    let actions = |path: &levelwise::Path<u8>| path.clone().into_actions();
    assert_eq!(actions(&got.paths[0]), actions(&expected.paths[0]));
}

#[test]
fn a_model_whose_fingerprints_mean_something_else_in_each_run_has_no_checkpoint() {
    let folder = tempfile::tempdir().expect("a folder");
    let space = Tangle::new(1, 1500, 4);
    let options = Options { checkpoint: Some(checkpoint(folder.path())), ..Options::default() };
    levelwise::search(&space, &Options { limits: at_depth(4), ..options.clone() });
    space.ambiguous.store(true, Relaxed);
    let outcome = levelwise::resume(&space, &options).expect("it is found out later");
    assert_eq!(outcome.bound(), Some(Bound::Disk));
    let text = outcome.disk.expect("an error").to_string();
    assert!(text.contains("hash alike") && text.contains("let `Hash` write"), "{text}");
    let none = levelwise::resume(&space, &options).map(drop);
    assert!(matches!(none, Err(Unusable::Missing { .. })), "{none:?}");

    let outcome = levelwise::search(&space, &options);
    assert!(outcome.exhausted(), "nothing is wrong with a search in one go");
    assert!(outcome.disk.is_some_and(|error| error.to_string().contains("hash alike")));
    assert_eq!(folder.path().read_dir().expect("it is there").count(), 0);
}
