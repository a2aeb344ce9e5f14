//! A divergence is accepted exactly where it was predicted.

use klog::disk::MemDisk;
use klog_conform::replay::{Doomed, replay};
use klog_trace::trace::Divergence;
use klog_trace::{Expect, Trace};

use crate::support::{Named, committed, is_conform};

/// Every trace that the code parts from, with its prediction.
fn diverging() -> Vec<(Named, Divergence)> {
    let all = committed().into_iter().filter(|t| !is_conform(&t.trace));
    let with = |named: Named| match named.trace.header.expect.clone() {
        Expect::Diverge(predicted) => (named, predicted),
        Expect::Conform => unreachable!("filtered"),
    };
    all.map(with).collect()
}

fn exit_code(trace: &Trace, predicted: Divergence) -> u8 {
    let mut trace = trace.clone();
    trace.header.expect = Expect::Diverge(predicted);
    replay::<MemDisk>(&trace, Doomed::Once).map_or_else(|failure| failure.exit_code(), |_| 0)
}

#[test]
fn another_step_is_rejected() {
    for (Named { name, trace }, predicted) in diverging() {
        let at = |step| Divergence { step, ..predicted.clone() };
        assert_eq!(exit_code(&trace, at(predicted.step)), 0, "{name}");
        for later in predicted.step + 1..=trace.steps.len() + 1 {
            assert_eq!(exit_code(&trace, at(later)), 17, "{name}: parts too early");
        }
        for earlier in 1..predicted.step {
            assert_eq!(exit_code(&trace, at(earlier)), 18, "{name}: agrees there");
        }
        assert_ne!(exit_code(&trace, at(0)), 0, "{name}: there is no step 0");
    }
}

#[test]
fn another_node_field_or_value_is_rejected() {
    for (Named { name, trace }, predicted) in diverging() {
        let changes: [fn(&mut Divergence); 5] = [
            |d| d.node += 1,
            |d| d.field = if d.field == "hw" { "log".into() } else { "hw".into() },
            |d| d.field.push('x'),
            |d| d.faulty.push('0'),
            |d| d.correct.push('0'),
        ];
        for (number, change) in changes.iter().enumerate() {
            let mut other = predicted.clone();
            change(&mut other);
            assert_eq!(exit_code(&trace, other), 17, "{name}: change {number}");
        }
        let swapped = Divergence {
            faulty: predicted.correct.clone(),
            correct: predicted.faulty.clone(),
            ..predicted
        };
        assert_eq!(exit_code(&trace, swapped), 17, "{name}: values swapped");
    }
}

#[test]
fn a_trace_of_a_fault_does_not_conform() {
    for (Named { name, mut trace }, predicted) in diverging() {
        trace.header.expect = Expect::Conform;
        let failure = replay::<MemDisk>(&trace, Doomed::Once).expect_err("the code is correct");
        assert_eq!((failure.step, failure.exit_code()), (predicted.step, 17), "{name}");
    }
}

#[test]
fn agreement_to_the_end_is_no_divergence() {
    for Named { name, trace } in committed().into_iter().filter(|t| is_conform(&t.trace)) {
        for step in 1..=trace.steps.len() + 1 {
            let predicted = Divergence {
                step,
                node: 1,
                field: "hw".into(),
                faulty: "1".into(),
                correct: "0".into(),
            };
            assert_eq!(exit_code(&trace, predicted), 18, "{name}: step {step}");
        }
    }
}
