//! What spilling and checkpoints cost: one space of ten million states, searched in memory, with
//! less memory than it takes, with checkpoints, and gone on with from one.
//!
//! `cargo run --release -p levelwise --example spill_cost -- THREADS [grid|random] [FOLDER]`

use std::path::PathBuf;
use std::time::{Duration, Instant};

use levelwise::fingerprint::{mix, of_words};
use levelwise::{Checkpoint, Goal, Limits, Options, Outcome, Sink, Space, Spill};

/// Either three counters up to 214, which gives 643 levels, or ten million states of which each
/// leads to three at random, which gives 18.
struct Synthetic {
    random: bool,
}

const STATES: u64 = 10_000_000;
const TOP: u32 = 214;

impl Space for Synthetic {
    type Action = u64;
    type Worker = ();

    fn worker(&self) {}

    fn seed(&self) -> u64 {
        1
    }

    fn kinds(&self) -> Vec<String> {
        vec!["step".to_owned()]
    }

    fn goals(&self) -> Vec<Goal> {
        vec![Goal::always("nothing")]
    }

    fn initial(&self, (): &mut (), sink: &mut impl Sink<u64>) {
        sink.start(of_words(&[0; 3], 1), &[0; 3]);
    }

    fn visit(&self, (): &mut (), row: &[u32], sink: &mut impl Sink<u64>) {
        for n in 0..3 {
            let mut next = [row[0], row[1], row[2]];
            if self.random {
                let state = u64::from(row[0]) + 1 + STATES * n;
                next = [(mix(state) % STATES) as u32; 3];
            } else if next[n as usize] < TOP {
                next[n as usize] += 1;
            } else {
                continue;
            }
            if sink.expands() {
                sink.step(0, of_words(&next, 1), &next, || n);
            }
        }
    }
}

/// Seconds of all processors that this process has used, where the system tells; machines that
/// others use as well make wall time a poor measure.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn mib(bytes: u64) -> u64 {
    bytes >> 20
}

fn main() {
    let mut args = std::env::args().skip(1);
    let threads = args.next().map_or(1, |n| n.parse().expect("a number of threads"));
    let space = Synthetic { random: args.next().as_deref() == Some("random") };
    let folder = args.next().map_or_else(std::env::temp_dir, PathBuf::from).join("spill_cost");
    let told = |what: &str, run: &dyn Fn() -> Outcome| {
        let (start, before) = (Instant::now(), cpu());
        let outcome = run();
        let (seconds, used) = (start.elapsed().as_secs_f64(), cpu() - before);
        let states = u32::try_from(outcome.unique).expect("ten million states");
        let per_second = f64::from(states) / used / 1e6;
        assert!(outcome.disk.is_none(), "{:?}", outcome.disk);
        println!(
            "{what:30} {} states {seconds:6.2} s, {used:6.2} of cpu: {per_second:5.2} M/s  \
                {:4} MiB  {:5} MiB written",
            outcome.unique,
            mib(outcome.bytes),
            mib(outcome.spilled),
        );
        outcome.bytes
    };
    let base = Options { threads, ..Options::default() };
    let most = told("in memory", &|| levelwise::search(&space, &base));
    let spilling = |memory| Options {
        limits: Limits { memory: Some(memory), ..Limits::default() },
        spill: Some(Spill::to(&folder)),
        ..base.clone()
    };
    told("spilling, memory that does", &|| levelwise::search(&space, &spilling(2 * most)));
    for part in [2, 4, 8] {
        let memory = (most / part).max(16 << 20);
        let what = format!("spilling, {} MiB", mib(memory));
        told(&what, &|| levelwise::search(&space, &spilling(memory)));
    }
    let checkpoint = Checkpoint {
        time: Some(Duration::from_secs(1)),
        ..Checkpoint::to(folder.join("kept"), "the example")
    };
    let keeping = Options { checkpoint: Some(checkpoint), ..base.clone() };
    let half = Limits { states: Some(STATES / 2), ..Limits::default() };
    let half = Options { limits: half, ..keeping.clone() };
    told("half of it, with checkpoints", &|| levelwise::search(&space, &half));
    told("gone on with", &|| levelwise::resume(&space, &keeping).expect("a sound checkpoint"));
    std::fs::remove_dir_all(&folder).expect("it was made");
    told("all of it, with checkpoints", &|| levelwise::search(&space, &keeping));
    std::fs::remove_dir_all(&folder).expect("it was made");
}
