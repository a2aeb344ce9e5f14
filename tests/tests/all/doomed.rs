//! Messages that nobody acts on (conformance, rule 7).

use klog::disk::MemDisk;
use klog_conform::replay::{Doomed, Why, replay};
use klog_trace::Connection;
use klog_trace::trace::Discarded;

use crate::support::{Named, committed, conforming};

#[test]
fn a_doomed_message_delivered_late_changes_nothing() {
    let mut tries = 0;
    for Named { name, trace } in committed() {
        let done = replay::<MemDisk>(&trace, Doomed::InEveryStep);
        let done = done.unwrap_or_else(|failure| panic!("{}", failure.report(&name, "memory")));
        tries += done.late_tries;
    }
    assert!(tries > 0, "no trace has a doomed message");
}

/// The first fetches of the followers are what everything begins with: none is doomed while its
/// sender waits for the answer.
#[test]
fn a_message_that_matters_is_not_doomed() {
    let mut tried = 0;
    for Named { name, mut trace } in conforming() {
        let Some(fetch) = trace.start.in_flight.first().cloned() else {
            continue;
        };
        let step = &mut trace.steps[0];
        let leads = trace.start.brokers[&fetch.to].leads().is_some();
        if !leads || !step.brokers.is_empty() && step.brokers.contains_key(&fetch.from) {
            continue;
        }
        let touched = step.discarded.iter().any(|d| d.envelope == fetch);
        if touched || is_about(step.action, fetch.from, fetch.to) {
            continue;
        }
        step.discarded.push(Discarded { connection: Connection::Open, envelope: fetch });
        let failure = replay::<MemDisk>(&trace, Doomed::Once).expect_err("it matters");
        assert!(
            matches!(&failure.why, Why::Hidden(what) if what.contains("called doomed, but")),
            "{name}: {}",
            failure.headline()
        );
        assert_eq!((failure.step, failure.exit_code()), (1, 17), "{name}");
        tried += 1;
    }
    assert!(tried > 0, "no trace begins with a fetch that is left alone");
}

/// Whether the action delivers that fetch, or kills one of its ends.
fn is_about(action: klog_trace::Action, from: u8, to: u8) -> bool {
    use klog_trace::Action::{Crash, DeliverFetch, PowerLoss};
    match action {
        DeliverFetch { from: sender, .. } => sender == from,
        Crash { broker } | PowerLoss { broker, .. } => broker == from || broker == to,
        _ => false,
    }
}

#[test]
fn a_message_that_was_never_sent_cannot_be_discarded() {
    let Named { mut trace, .. } = conforming().next().expect("a trace");
    let mut envelope = trace.start.in_flight[0].clone();
    std::mem::swap(&mut envelope.from, &mut envelope.to);
    trace.steps[0].discarded.push(Discarded { connection: Connection::Open, envelope });
    let failure = replay::<MemDisk>(&trace, Doomed::Once).expect_err("there is none");
    assert_eq!((failure.step, failure.exit_code()), (1, 18));
    assert!(failure.headline().contains("none can be discarded"));
}
