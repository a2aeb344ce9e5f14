//! What a step costs. To be run by hand: `cargo test --release -p klog-model --lib -- --ignored
//! --nocapture twin::tests::speed`.

use std::hint::black_box;
use std::time::Instant;

use super::*;

/// Runs it five times and prints the best time for each of `count`.
fn best(what: &str, count: u32, mut run: impl FnMut()) {
    let times = (0..5).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    let least = times.min().expect("five runs");
    println!(
        "{what}: {:.1} ns each, {least:.1?} for {count}",
        least.as_secs_f64() * 1e9 / f64::from(count)
    );
}

#[test]
#[ignore = "prints times"]
fn of_kip320() {
    let count = 737_794;
    let twin = twin("kip320", (3, 2, 2, 2), None);
    let states = reachable(&twin);
    assert_eq!(states.len(), count as usize);
    println!("{} bytes per state, {} words packed", size_of::<State>(), twin.words());
    let mut generated = 0;
    best("successors", 1_967_559, || {
        generated = 0;
        for state in &states {
            twin.successors(state, &mut |action, next| {
                black_box((action, &next));
                generated += 1;
            });
        }
    });
    assert_eq!(generated, 1_967_559);
    let mut words = Vec::with_capacity(twin.words() * states.len());
    best("pack", count, || {
        words.clear();
        for state in &states {
            twin.pack(state, &mut words);
        }
    });
    best("unpack", count, || {
        for words in words.chunks_exact(twin.words()) {
            black_box(twin.unpack(words));
        }
    });
    best("permute", count, || {
        for state in &states {
            black_box(state.permute(&[2, 0, 1]));
        }
    });
    for property in Property::ALL {
        best(property.name(), count, || {
            for state in &states {
                black_box(property.holds(state));
            }
        });
    }
}
