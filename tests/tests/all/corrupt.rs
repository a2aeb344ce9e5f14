//! A trace in which one value is another is refused, in the step where it stands.

use klog::disk::MemDisk;
use klog_conform::replay::{Doomed, Failure, replay};
use klog_trace::{Step, Trace};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::support::{Named, conforming};

/// Every value that differs from `value` in one number, which is one greater or, at its end,
/// smaller.
fn one_number_off<T: Serialize + DeserializeOwned>(value: &T) -> Vec<T> {
    let whole = serde_json::to_value(value).expect("plain data");
    let mut changed = Vec::new();
    for index in 0..numbers(&mut whole.clone(), None) {
        let mut copy = whole.clone();
        numbers(&mut copy, Some(index));
        changed.push(serde_json::from_value(copy).expect("still of its type"));
    }
    changed
}

/// Counts the numbers in a value and changes the one with this index.
fn numbers(value: &mut Value, change: Option<usize>) -> usize {
    fn walk(value: &mut Value, seen: &mut usize, change: Option<usize>) {
        match value {
            Value::Number(number) => {
                if change == Some(*seen) {
                    let old = number.as_i64().expect("a small number");
                    *value = Value::from(if old == 255 { 254 } else { old + 1 });
                }
                *seen += 1;
            }
            Value::Array(items) => items.iter_mut().for_each(|v| walk(v, seen, change)),
            Value::Object(fields) => fields.values_mut().for_each(|v| walk(v, seen, change)),
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
    let mut seen = 0;
    walk(value, &mut seen, change);
    seen
}

fn refused(trace: &Trace) -> Box<Failure> {
    replay::<MemDisk>(trace, Doomed::Once).expect_err("a changed trace must be refused")
}

/// Every step of the trace changed by `change` in each way it gives; each must be refused in that
/// very step. Returns how many there were.
fn each_is_refused(named: &Named, change: impl Fn(&Step) -> Vec<Step>) -> usize {
    let mut tried = 0;
    let mut trace = named.trace.clone();
    for (at, step) in named.trace.steps.iter().enumerate() {
        for changed in change(step) {
            assert_ne!(changed, *step, "{}", named.name);
            trace.steps[at] = changed;
            let failure = refused(&trace);
            let headline = failure.headline();
            assert_eq!(failure.step, step.step, "{}: {headline}", named.name);
            let told = format!("line {}: step {} (", step.step + 2, step.step);
            assert!(headline.starts_with(&told), "{headline}");
            tried += 1;
        }
        trace.steps[at] = step.clone();
    }
    tried
}

/// Runs [`each_is_refused`] over every trace; there must be something to refuse.
fn over_all_traces(change: impl Fn(&Step) -> Vec<Step>) {
    let tried: usize = conforming().map(|t| each_is_refused(&t, &change)).sum();
    assert!(tried > 0, "nothing was changed");
}

#[test]
fn any_other_number_in_a_broker_is_refused() {
    over_all_traces(|step| {
        let views = step.brokers.iter();
        let changed = views
            .flat_map(|(&id, view)| one_number_off(view).into_iter().map(move |view| (id, view)));
        let with = |(id, view)| {
            let mut step = step.clone();
            step.brokers.insert(id, view);
            step
        };
        changed.map(with).collect()
    });
}

#[test]
fn any_other_number_in_the_controller_is_refused() {
    over_all_traces(|step| {
        let views = step.controller.iter().flat_map(one_number_off);
        let with = |view| Step { controller: Some(view), ..step.clone() };
        views.map(with).collect()
    });
}

#[test]
fn any_other_number_in_a_message_is_refused() {
    over_all_traces(|step| {
        let with = |sent| Step { sent, ..step.clone() };
        one_number_off(&step.sent).into_iter().map(with).collect()
    });
}

#[test]
fn any_other_number_in_an_answer_is_refused() {
    over_all_traces(|step| {
        let with = |answers| Step { answers, ..step.clone() };
        one_number_off(&step.answers).into_iter().map(with).collect()
    });
}

#[test]
fn any_other_number_in_a_promise_is_refused() {
    over_all_traces(|step| {
        let with = |committed| Step { committed, ..step.clone() };
        one_number_off(&step.committed).into_iter().map(with).collect()
    });
}

#[test]
fn any_other_number_in_a_discarded_message_is_refused() {
    over_all_traces(|step| {
        // The ends may name brokers that do not exist, which is refused before any step.
        let with = |message| {
            let mut step = step.clone();
            step.discarded[0].envelope.message = message;
            step
        };
        let first = step.discarded.first();
        let messages = first.map_or(Vec::new(), |d| one_number_off(&d.envelope.message));
        messages.into_iter().map(with).collect()
    });
}

#[test]
fn a_broker_message_answer_or_promise_too_few_or_too_many_is_refused() {
    over_all_traces(|step| {
        let mut changed = Vec::new();
        let mut keep = |edit: &dyn Fn(&mut Step)| {
            let mut copy = step.clone();
            edit(&mut copy);
            if copy != *step {
                changed.push(copy);
            }
        };
        keep(&|s| drop(s.sent.pop()));
        keep(&|s| s.sent.extend(s.sent.last().cloned()));
        keep(&|s| s.sent.reverse());
        keep(&|s| s.answers.truncate(s.answers.len().saturating_sub(1)));
        keep(&|s| s.answers.extend(s.answers.last().copied()));
        keep(&|s| s.committed.truncate(s.committed.len().saturating_sub(1)));
        keep(&|s| s.controller = None);
        keep(&|s| drop(s.brokers.pop_first()));
        keep(&|s| s.idle = None);
        keep(&|s| s.published_to.truncate(s.published_to.len().saturating_sub(1)));
        keep(&|s| s.published_to.push(1));
        changed
    });
}

#[test]
fn a_start_with_another_number_is_refused_before_any_step() {
    for Named { name, trace } in conforming() {
        for start in one_number_off(&trace.start) {
            let changed = Trace { start, ..trace.clone() };
            let failure = refused(&changed);
            assert_eq!((failure.step, failure.line), (0, 2), "{name}");
        }
    }
}
