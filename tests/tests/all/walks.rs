//! Random walks through the model, recorded as traces and replayed on the real code.
//!
//! The committed traces show what somebody thought of; these go where nobody looked. What the
//! model does reaches the code as the text of a trace file and in no other way. Same seed, same
//! walks.

use klog::disk::MemDisk;
use klog_conform::replay::{Doomed, Failure, replay};
use klog_model::fault::Fault;
use klog_model::protocol::Protocol;
use klog_model::record::{Purpose, record};
use klog_model::row::Row as _;
use klog_model::system::{Outcome, System};
use klog_trace::trace::{Bounds, Clock, Elr, Interleaving, Metadata, Unclean};
use klog_trace::{Acks, Action, Expect, Trace};

/// Steps of one walk at most.
const LENGTH: usize = 60;

/// A stream of numbers that depends on its seed alone (xorshift, Marsaglia 2003).
struct Stream(u64);

impl Stream {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
}

fn bounds(brokers: u8, min_isr: u8, interleaving: Interleaving) -> Bounds {
    Bounds {
        brokers,
        min_isr,
        records: 6,
        acks: vec![Acks::None, Acks::Leader, Acks::All],
        moves: 4,
        crashes: 3,
        power_losses: 2,
        lag_checks: 4,
        checkpoints: 2,
        fences: 2,
        shutdowns: 2,
        resets: 3,
        min_isr_changes: 2,
        timeouts: 2,
        clock_jumps: 2,
        clock_setbacks: 1,
        interleaving,
        ..Bounds::NOTHING
    }
}

/// Every combination of size, minimum and interleaving that is walked, and each policy of the
/// controller.
fn all_bounds() -> Vec<Bounds> {
    let mut all = Vec::new();
    for interleaving in [Interleaving::Merged, Interleaving::Full] {
        for (brokers, min_isr) in [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3), (4, 2)] {
            all.push(bounds(brokers, min_isr, interleaving));
        }
        let three = || bounds(3, 2, interleaving);
        all.push(Bounds { elr: Elr::Off, ..three() });
        all.push(Bounds { unclean: Unclean::Allowed, ..three() });
        all.push(Bounds { elr: Elr::Off, unclean: Unclean::Allowed, ..three() });
        all.push(Bounds { metadata: Metadata::OneByOne, ..three() });
        all.push(Bounds { clock: Clock::Exact, ..three() });
        all.push(Bounds { clock: Clock::Exact, ..bounds(2, 1, interleaving) });
    }
    all
}

/// A walk that both protocols can take: up to the first step in which they can be told apart, or
/// for one protocol to the end.
fn walk(system: &System, stream: &mut Stream) -> Vec<Action> {
    let correct = System::new(Protocol::klog(), system.bounds.clone());
    let (mut row, mut twin) = (system.initial(), correct.initial());
    let (mut path, mut enabled) = (Vec::new(), Vec::new());
    while path.len() < LENGTH {
        enabled.clear();
        system.enabled(&row, &mut enabled);
        let mut also = Vec::new();
        correct.enabled(&twin, &mut also);
        enabled.retain(|action| also.contains(action));
        if enabled.is_empty() {
            break;
        }
        let mut action = enabled[stream.below(enabled.len())];
        // A death in every third step would leave nothing to look at.
        if matches!(action, Action::Crash { .. } | Action::PowerLoss { .. }) && stream.below(4) > 0
        {
            action = enabled[stream.below(enabled.len())];
        }
        let (outcome, right) = (system.step(&row, action), correct.step(&twin, action));
        let same = is_same(system, &outcome, &right);
        if same && outcome.discarded != right.discarded {
            // From here on the two have other messages in flight, and nobody can see it.
            break;
        }
        path.push(action);
        if !same {
            break;
        }
        (row, twin) = (outcome.row, right.row);
    }
    path
}

/// Whether a step made the same visible.
fn is_same(system: &System, one: &Outcome<'_>, other: &Outcome<'_>) -> bool {
    (1..=system.bounds.brokers).all(|n| one.row.broker(n) == other.row.broker(n))
        && one.row.controller() == other.row.controller()
        && (&one.sent, &one.answers) == (&other.sent, &other.answers)
}

/// The trace of a walk, as its file would be read.
fn recorded(system: &System, path: &[Action]) -> Trace {
    let purpose = Purpose { scenario: "walk", property: "none", verdict: "holds" };
    let text = record(system, path, &purpose).to_text();
    Trace::parse(&text).expect("a trace reads back")
}

fn told(trace: &Trace, seed: u64, failure: &Failure) -> String {
    let bounds = &trace.header.bounds;
    let faults = &trace.header.faults;
    format!("seed {seed}, {faults:?}, {bounds:?}\n{}", failure.report("walk", "memory"))
}

/// Walks of each bounds with each seed; returns steps replayed and how many walks parted.
fn replayed(protocol: &Protocol, seeds: u64, doomed: Doomed) -> (usize, usize) {
    let (mut steps, mut parted) = (0, 0);
    for bounds in all_bounds() {
        let system = System::new(protocol.clone(), bounds);
        for seed in 1..=seeds {
            let path = walk(&system, &mut Stream(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            let trace = recorded(&system, &path);
            let done = replay::<MemDisk>(&trace, doomed);
            let done = done.unwrap_or_else(|failure| panic!("{}", told(&trace, seed, &failure)));
            steps += done.steps;
            parted += usize::from(done.parted.is_some());
        }
    }
    (steps, parted)
}

#[test]
fn the_code_does_what_the_model_does_wherever_it_walks() {
    let (steps, parted) = replayed(&Protocol::klog(), 200, Doomed::Once);
    assert!(steps > 100_000, "{steps} steps");
    assert_eq!(parted, 0);
}

#[test]
fn what_the_model_drops_as_doomed_never_matters_later() {
    let (steps, _) = replayed(&Protocol::klog(), 20, Doomed::InEveryStep);
    assert!(steps > 10_000, "{steps} steps");
}

/// Faults that so few walks do not show: each needs a rare coincidence, and has a trace of its own;
/// what a broker shows to consumers is no part of a trace.
const TOO_RARE: [&str; 10] = [
    "unfenced-truncation",
    "append-higher-epoch-from-reply",
    "answer-read-at-send",
    "out-of-range-counts-as-ack",
    "reply-matched-by-nothing",
    "resend-with-fresh-broker-epochs",
    "no-hw-on-eligibility-change",
    "serve-consumer-past-hw",
    "end-offset-below-epoch-start",
    "resume-epoch-after-restart",
];

/// The negative control at large: wherever a broken rule shows, the code parts from the model
/// exactly as the model said it would.
#[test]
fn the_code_parts_from_every_fault_exactly_as_predicted() {
    let parted = |fault: Fault| replayed(&Protocol::klog_with(&[fault]), 25, Doomed::Once).1 > 0;
    let mut never = Fault::ALL.iter().filter(|fault| !parted(**fault));
    let never: Vec<&str> = never.by_ref().map(|fault| fault.info().name).collect();
    assert_eq!(never, TOO_RARE);
}

#[test]
fn a_walk_is_the_same_every_time() {
    for bounds in all_bounds() {
        let system = System::new(Protocol::klog(), bounds);
        let texts = [(); 2].map(|()| recorded(&system, &walk(&system, &mut Stream(7))).to_text());
        assert_eq!(texts[0], texts[1]);
        let trace = Trace::parse(&texts[0]).expect("a trace");
        assert_eq!(trace.header.expect, Expect::Conform);
    }
}
