//! A header that is not true of its lines, or whose bounds the steps exceed, is refused.

use klog::disk::MemDisk;
use klog_conform::replay::{Doomed, Failure, Why, replay};
use klog_trace::trace::Bounds;
use klog_trace::{Acks, Action, Step, Trace, check_header};

use crate::support::{committed, conforming};

fn refused(trace: &Trace) -> Box<Failure> {
    replay::<MemDisk>(trace, Doomed::Once).expect_err("must be refused")
}

/// The steps of a trace with this action.
fn steps_of(trace: &Trace, such: impl Fn(Action) -> bool) -> Vec<usize> {
    trace.steps.iter().filter(|s| such(s.action)).map(|s| s.step).collect()
}

type Budget = (fn(&mut Bounds) -> &mut u8, fn(Action) -> bool);

/// Those that a committed trace uses; `adapter/budget.rs` tests the fifth.
const BUDGETS: [Budget; 4] = [
    (|b| &mut b.moves, |a| matches!(a, Action::Move { .. })),
    (|b| &mut b.crashes, |a| matches!(a, Action::Crash { .. })),
    (|b| &mut b.power_losses, |a| matches!(a, Action::PowerLoss { .. })),
    (|b| &mut b.lag_checks, |a| matches!(a, Action::LagCheck { .. })),
];

#[test]
fn a_budget_smaller_than_its_use_is_refused_where_it_ends() {
    for (of, such) in BUDGETS {
        let mut tried = 0;
        for named in conforming() {
            let mut trace = named.trace;
            let used = steps_of(&trace, such);
            for (left, &step) in (0..).zip(&used) {
                *of(&mut trace.header.bounds) = left;
                let failure = refused(&trace);
                assert_eq!((failure.step, failure.exit_code()), (step, 18), "{}", named.name);
                tried += 1;
            }
        }
        assert!(tried > 0, "no trace uses this budget");
    }
}

#[test]
fn more_records_than_the_bounds_allow_are_refused() {
    let mut tried = 0;
    for named in conforming() {
        let mut trace = named.trace;
        let appended = |s: &&Step| {
            matches!(s.action, Action::Produce { .. })
                && s.answers.iter().all(|answer| answer.offset.is_some())
        };
        let steps: Vec<usize> = trace.steps.iter().filter(appended).map(|s| s.step).collect();
        for (left, &step) in (0..).zip(&steps) {
            trace.header.bounds.records = left;
            let failure = refused(&trace);
            assert!(matches!(failure.why, Why::NotEnabled(_)), "{}", failure.headline());
            assert!(failure.step <= step, "{}", named.name);
            tried += 1;
        }
    }
    assert!(tried > 0);
}

#[test]
fn acks_that_no_producer_of_the_bounds_asks_for_are_refused() {
    for named in conforming() {
        let mut trace = named.trace;
        let first = steps_of(&trace, |a| matches!(a, Action::Produce { .. }));
        trace.header.bounds.acks = vec![Acks::None];
        if let Some(&first) = first.first() {
            let failure = refused(&trace);
            assert_eq!((failure.step, failure.exit_code()), (first, 18), "{}", named.name);
        }
    }
}

#[test]
fn a_step_that_does_nothing_is_refused() {
    let does_nothing = [
        Action::Verdict { broker: 1 },
        Action::LagCheck { broker: 2 },
        Action::Checkpoint { broker: 1 },
    ];
    let mut trace = conforming().next().expect("a trace").trace;
    trace.header.bounds.lag_checks = 1;
    trace.header.bounds.checkpoints = 1;
    for action in does_nothing {
        let step = Step {
            step: 1,
            action,
            brokers: std::collections::BTreeMap::new(),
            controller: None,
            sent: Vec::new(),
            discarded: Vec::new(),
            idle: None,
            published_to: Vec::new(),
            answers: Vec::new(),
            committed: Vec::new(),
        };
        trace.steps = vec![step];
        let failure = refused(&trace);
        assert_eq!((failure.step, failure.exit_code()), (1, 18), "{action}");
    }
}

#[test]
fn every_committed_header_is_true_of_its_lines() {
    for named in committed() {
        let checked = check_header(&named.trace);
        assert_eq!(checked, Ok(()), "{}", named.name);
    }
}

/// With a fingerprint that fits, so that the claim itself is judged.
fn claim_of(trace: &mut Trace) -> Result<(), klog_trace::TraceError> {
    trace.header.fingerprint = trace.fingerprint();
    check_header(trace)
}

#[test]
fn a_claim_that_the_lines_do_not_show_is_refused() {
    for named in committed() {
        let mut trace = named.trace;
        let told = trace.header.verdict.clone();
        for verdict in ["violated", "holds", "witnessed", "lost"] {
            trace.header.verdict = verdict.to_owned();
            assert_eq!(claim_of(&mut trace).is_ok(), verdict == told, "{}: {verdict}", named.name);
        }
        trace.header.verdict = told;
        // A shortest path shows what it shows in its last step only, if it is in the lines.
        let shown = klog_trace::progress::Progress::by_id(&trace.header.property).is_none();
        if shown && trace.header.verdict != "holds" && trace.header.scenario != "script" {
            trace.steps.pop();
            let error = claim_of(&mut trace).expect_err("the last step is gone");
            assert_eq!(error.line, 1, "{}: {error}", named.name);
        }
        trace.header.property = "no-such-row".to_owned();
        assert!(claim_of(&mut trace).is_err());
    }
}

#[test]
fn a_changed_line_is_told_by_the_fingerprint() {
    let mut discards = 0;
    for named in committed() {
        let mut trace = named.trace;
        let Some(step) = trace.steps.iter_mut().find(|s| !s.discarded.is_empty()) else { continue };
        step.discarded.clear();
        let error = check_header(&trace).expect_err("a line was changed").to_string();
        assert!(error.starts_with("line 1: the fingerprint of this text is "), "{error}");
        discards += 1;
    }
    assert!(discards > 0);
}
