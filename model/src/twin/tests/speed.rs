//! What a step costs. To be run by hand, and alone:
//! `cargo test -p klog-model --lib twin::tests::speed -- --ignored --nocapture`.

use std::hint::black_box;
use std::time::Instant;

use super::*;

/// Prints the best time of a few runs for each of the things that a run says it did.
fn best(what: &str, mut run: impl FnMut() -> u32) {
    let times = (0..9).map(|_| {
        let start = Instant::now();
        let count = run();
        (start.elapsed(), count)
    });
    let (least, count) = times.min().expect("nine runs");
    let each = least.as_secs_f64() * 1e9 / f64::from(count);
    println!("{what}: {each:.1} ns each, {least:.1?} for {count}");
}

#[test]
#[ignore = "prints times"]
fn of_all_steps_of_kip320() {
    let twin = twin("kip320", (3, 2, 2, 2), None);
    let states = reachable(&twin);
    println!("{} bytes a state, {} words packed", size_of::<State>(), twin.words());
    let step = |state: &State| {
        let mut count = 0;
        twin.successors(state, &mut |action, next| {
            black_box((action, &next));
            count += 1;
        });
        count
    };
    best("successors", || states.iter().map(step).sum());
    let mut packed = Vec::with_capacity(twin.words() * states.len());
    for state in &states {
        twin.pack(state, &mut packed);
    }
    drop(states);
    let rows = || packed.chunks_exact(twin.words());
    best("successors of unpacked", || rows().map(|words| step(&twin.unpack(words))).sum());
    let mut out = Vec::with_capacity(64 * twin.words());
    best("packed successors of unpacked", || {
        let mut count = 0;
        for words in rows() {
            out.clear();
            twin.successors(&twin.unpack(words), &mut |_, next| {
                twin.pack(&next, &mut out);
                count += 1;
            });
            black_box(&out);
        }
        count
    });
}

/// On few states, so that memory does not count.
#[test]
#[ignore = "prints times"]
fn of_the_parts() {
    let twin = twin("kip320", (3, 2, 2, 2), None);
    let sample: Vec<_> = reachable(&twin).into_iter().step_by(200).collect();
    let each = |what: &str, run: &mut dyn FnMut(&State)| {
        best(what, || {
            sample.iter().for_each(&mut *run);
            sample.len() as u32
        });
    };
    let mut words = Vec::with_capacity(twin.words());
    each("pack", &mut |state| {
        words.clear();
        twin.pack(state, &mut words);
        black_box(&words);
    });
    each("pack and unpack", &mut |state| {
        words.clear();
        twin.pack(state, &mut words);
        black_box(twin.unpack(&words));
    });
    let order = Order::new(&[2, 0, 1]);
    each("permute", &mut |state| {
        black_box(state.permute(&order));
    });
    for property in Property::ALL {
        each(property.name(), &mut |state| {
            black_box(property.holds(state));
        });
    }
}
