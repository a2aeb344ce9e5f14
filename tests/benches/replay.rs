//! How many steps of the committed traces are replayed in a second.
//!
//! `cargo bench -p klog-conform`. Each step takes real frames in and out, bytes encoded and
//! decoded, and compares the complete state of every node.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, Throughput};
use klog::disk::MemDisk;
use klog_conform::files;
use klog_conform::replay::{Doomed, replay};
use klog_trace::Trace;
use mimalloc::MiMalloc;

/// As in `conform`.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Steps a second that a replay must reach (conformance, row 3).
const WANTED: f64 = 100_000.0;

fn replay_all(traces: &[Trace]) -> usize {
    let steps = |trace| {
        let done = replay::<MemDisk>(black_box(trace), Doomed::Once);
        done.expect("every committed trace replays").steps
    };
    traces.iter().map(steps).sum()
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("in the workspace");
    let paths = files::committed(root).expect("traces are committed");
    let traces: Vec<Trace> = paths.iter().map(|path| files::read(path).expect("a trace")).collect();
    let steps = replay_all(&traces);

    let mut criterion = Criterion::default()
        // Beside what cargo builds, wherever the bench is started from.
        .output_directory(&root.join("target").join("criterion"))
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(5))
        .configure_from_args();
    let mut fastest = Duration::MAX;
    let mut group = criterion.benchmark_group("replay");
    group.throughput(Throughput::Elements(steps as u64));
    group.bench_function("every committed trace on memory", |bencher| {
        bencher.iter_custom(|rounds| {
            let began = std::time::Instant::now();
            for _ in 0..rounds {
                black_box(replay_all(&traces));
            }
            let took = began.elapsed();
            fastest = fastest.min(took / u32::try_from(rounds.max(1)).unwrap_or(u32::MAX));
            took
        });
    });
    group.finish();
    criterion.final_summary();
    if fastest < Duration::MAX {
        let rate = f64::from(u32::try_from(steps).expect("few steps")) / fastest.as_secs_f64();
        let verdict = if rate >= WANTED { "reached" } else { "MISSED" };
        println!(
            "{} traces, {steps} steps: {rate:.0} steps/s at best, {:.2} us a step; {WANTED:.0} \
             steps/s {verdict}",
            traces.len(),
            1e6 / rate
        );
    }
}
