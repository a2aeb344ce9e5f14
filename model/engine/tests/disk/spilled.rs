//! Spilling changes nothing but where things are kept.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use levelwise::{Bound, Limits, Options, Space, Spill, Tight, Until};

use crate::resumed::checkpoint;
use crate::spaces::{Grid, Tangle};
use crate::{THREADS, found, in_memory};

pub fn tight(n: usize) -> Tight {
    let all = [
        Tight { table: 500, kept: 100, uncertain: 200, step: 64, runs: 2, quota: None },
        Tight { table: 64, kept: 0, uncertain: 0, step: 7, runs: 2, quota: None },
        Tight { table: 900, kept: 100_000, uncertain: 100_000, step: 300, runs: 3, quota: None },
        Tight { table: 100_000, kept: 30, uncertain: 30, step: 4096, runs: 8, quota: None },
        Tight { table: 200, kept: 50, uncertain: 100_000, step: 1, runs: 8, quota: None },
    ];
    all[n % all.len()]
}

pub const TIGHTS: usize = 5;

pub fn spilling(folder: &Path, tight: Tight, options: &Options) -> Options {
    let spill = Some(Spill { folder: folder.join("spill"), tight: Some(tight) });
    Options { spill, ..options.clone() }
}

fn same_when_spilled<S: Space>(space: &S, options: &Options)
where
    S::Action: std::fmt::Debug + PartialEq,
{
    let expected = in_memory(space, options);
    let folder = tempfile::tempdir().expect("a folder");
    for threads in THREADS {
        for n in 0..TIGHTS {
            let options = Options { threads, ..spilling(folder.path(), tight(n), options) };
            let outcome = levelwise::search(space, &options);
            assert_eq!(outcome.disk, None);
            assert!(outcome.spilled > 0 || expected.unique <= 200 || n == 2, "nothing was spilled");
            assert_eq!(found(space, &outcome), expected, "{threads} threads, tight {n}");
            drop(outcome);
            assert_eq!(folder.path().read_dir().expect("it is there").count(), 0);
        }
    }
}

#[test]
fn tangles_are_the_same() {
    for (seed, states, degree) in [(1, 3000, 4), (2, 5000, 3), (3, 400, 9), (4, 40, 2)] {
        same_when_spilled(&Tangle::new(seed, states, degree), &Options::default());
    }
    same_when_spilled(&Tangle { starts: 700, ..Tangle::new(5, 3000, 3) }, &Options::default());
    same_when_spilled(&Tangle { starts: 0, ..Tangle::new(6, 3000, 3) }, &Options::default());
}

#[test]
fn grids_are_the_same() {
    same_when_spilled(&Grid { axes: 3, top: 13, seed: 9 }, &Options::default());
    same_when_spilled(&Grid { axes: 2, top: 60, seed: 9 }, &Options::default());
}

#[test]
fn limits_cut_off_at_the_same_state() {
    let space = Tangle::new(7, 4000, 4);
    for states in [1, 2, 3, 50, 777, 1500, 2999, 4000] {
        let limits = Limits { states: Some(states), ..Limits::default() };
        same_when_spilled(&space, &Options { limits, ..Options::default() });
    }
    for depth in [1, 2, 3, 5, 8] {
        let limits = Limits { depth: Some(depth), ..Limits::default() };
        same_when_spilled(&space, &Options { limits, ..Options::default() });
    }
}

#[test]
fn ends_at_goals_are_the_same() {
    let space = Tangle::new(8, 4000, 4);
    for goals in [1 << 1, 1 << 2 | 1, 1 << 2 | 1 << 3, 0b111_1100] {
        same_when_spilled(&space, &Options { goals, until: Until::AllHit, ..Options::default() });
    }
}

#[test]
fn levels_of_several_rounds_are_the_same() {
    let space = Tangle { starts: 42_000, ..Tangle::new(13, 150_000, 3) };
    let folder = tempfile::tempdir().expect("a folder");
    let narrow = Tight { table: 30_000, kept: 5000, uncertain: 9000, step: 3000, ..tight(0) };
    let states = |states| Limits { states: Some(states), ..Limits::default() };
    let all_hit = Options { goals: 0b1111 << 1, until: Until::AllHit, ..Options::default() };
    let mut cases = vec![Options::default(), all_hit];
    cases.extend(
        [60_000, 90_000, 130_000]
            .map(|limit| Options { limits: states(limit), ..Options::default() }),
    );
    for case in cases {
        let expected = in_memory(&space, &case);
        for threads in THREADS {
            let options = Options { threads, ..spilling(folder.path(), narrow, &case) };
            let outcome = levelwise::search(&space, &options);
            assert!(outcome.spilled > 0);
            assert_eq!(found(&space, &outcome), expected);
        }
    }
}

#[test]
fn panics_of_the_model_are_the_same() {
    for panics_at in [0, 5, 500, 2500] {
        let space = Tangle { panics_at: Some(panics_at), ..Tangle::new(11, 3000, 4) };
        let expected = in_memory(&space, &Options::default());
        assert!(expected.panic.is_some(), "{panics_at}");
        same_when_spilled(&space, &Options::default());
        for threads in THREADS {
            let options = Options { threads, ..Options::default() };
            assert_eq!(found(&space, &levelwise::search(&space, &options)), expected);
        }
    }
}

#[test]
fn an_interrupted_search_tells_only_of_what_is_certain() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = in_memory(&Tangle::new(12, 3000, 4), &Options::default());
    for at in [3, 300, 1500, 2900] {
        let flag = Arc::new(AtomicBool::new(false));
        let interrupts = Some((at, Arc::clone(&flag)));
        let space = Tangle { interrupts, ..Tangle::new(12, 3000, 4) };
        let limits = Limits { interrupted: Arc::clone(&flag), ..Limits::default() };
        let options = Options { limits, ..Options::default() };
        let outcome = levelwise::search(&space, &spilling(folder.path(), tight(0), &options));
        assert_eq!(outcome.bound(), Some(Bound::Interruption));
        assert!(outcome.unique <= whole.unique);
        assert_eq!(outcome.unique, outcome.levels().sum::<usize>() as u64);
        flag.store(false, Relaxed);
        // A search in memory that looks at the flag as often sees the same.
        let again = in_memory(&space, &options);
        assert_eq!(found(&space, &outcome), again);
    }
}

#[test]
fn memory_stays_within_its_limit() {
    // 2.2 million states, and levels that are shorter than memory is.
    let space = Grid { axes: 3, top: 130, seed: 3 };
    let free = levelwise::search(&space, &Options::default());
    let folder = tempfile::tempdir().expect("a folder");
    for (threads, memory) in [(1, 16 << 20), (4, 20 << 20)] {
        let limits = Limits { memory: Some(memory), ..Limits::default() };
        let spill = Some(Spill::to(folder.path()));
        let options = Options { threads, limits, spill, ..Options::default() };
        options.check().expect("sensible options");
        let outcome = levelwise::search(&space, &options);
        assert_eq!(found(&space, &outcome), found(&space, &free));
        assert!(outcome.bytes <= memory, "{} of {memory}", outcome.bytes);
        assert!(outcome.spilled > 8 * outcome.unique / 2, "{}", outcome.spilled);
        assert!(free.bytes > memory, "{} would have fit", free.bytes);
    }
}

#[test]
fn memory_stays_within_its_limit_where_a_search_is_gone_on_with() {
    let space = Grid { axes: 3, top: 120, seed: 3 };
    let free = levelwise::search(&space, &Options::default());
    let folder = tempfile::tempdir().expect("a folder");
    let memory = 16 << 20;
    let limits = Limits { memory: Some(memory), depth: Some(230), ..Limits::default() };
    let first = Options {
        limits,
        threads: 2,
        spill: Some(Spill::to(folder.path().join("spill"))),
        checkpoint: Some(checkpoint(&folder.path().join("kept"))),
        ..Options::default()
    };
    levelwise::search(&space, &first);
    let limits = Limits { depth: None, ..first.limits.clone() };
    let options = Options { limits, ..first };
    let outcome = levelwise::resume(&space, &options).expect("a sound checkpoint");
    assert_eq!(found(&space, &outcome), found(&space, &free));
    assert!(outcome.bytes <= memory && outcome.spilled > 0, "{} of {memory}", outcome.bytes);
}

#[test]
fn what_can_not_be_spilled_still_ends_the_search() {
    struct Fat(Grid);
    impl Space for Fat {
        type Action = usize;
        type Worker = Vec<u32>;
        fn worker(&self) -> Vec<u32> {
            Vec::new()
        }
        fn seed(&self) -> u64 {
            0
        }
        fn kinds(&self) -> Vec<String> {
            self.0.kinds()
        }
        fn goals(&self) -> Vec<levelwise::Goal> {
            self.0.goals()
        }
        fn initial(&self, worker: &mut Vec<u32>, sink: &mut impl levelwise::Sink<usize>) {
            self.0.initial(worker, sink);
        }
        fn visit(
            &self,
            worker: &mut Vec<u32>,
            row: &[u32],
            sink: &mut impl levelwise::Sink<usize>,
        ) {
            self.0.visit(worker, row, sink);
        }
        fn bytes(&self) -> u64 {
            17 << 20
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let limits = Limits { memory: Some(16 << 20), ..Limits::default() };
    let spill = Some(Spill::to(folder.path()));
    let options = Options { limits, spill, ..Options::default() };
    let outcome = levelwise::search(&Fat(Grid { axes: 3, top: 20, seed: 3 }), &options);
    assert_eq!(outcome.bound(), Some(Bound::Memory));
}
