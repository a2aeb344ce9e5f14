//! A trace in which one value is another is refused, in the step where it stands.

use klog::disk::MemDisk;
use klog_conform::replay::{Doomed, Failure, replay};
use klog_trace::{Step, Trace};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::support::{Named, conforming};

/// Words that stand for one of several things in a trace.
const WORDS: [&str; 11] = [
    "up",
    "crashed",
    "power-lost",
    "none",
    "leader",
    "follower",
    "active",
    "fenced",
    "open",
    "broken",
    "all",
];

/// Every value of the type that differs from `value` in one place: a number that is one greater
/// (at its end, smaller) or gone, a word that is another, nothing where 0 could be, a list with one
/// item too few or one twice.
fn one_place_off<T: Serialize + DeserializeOwned + PartialEq>(value: &T) -> Vec<T> {
    let whole = serde_json::to_value(value).expect("plain data");
    let mut changed = Vec::new();
    for place in 0..places(&mut whole.clone(), &mut |_, _| {}) {
        let mut others = Vec::new();
        places(&mut whole.clone(), &mut |at, found| {
            if at == place {
                others = other_than(found);
            }
        });
        for other in others {
            let mut copy = whole.clone();
            places(&mut copy, &mut |at, found| {
                if at == place {
                    *found = other.clone();
                }
            });
            // Another shape is no value of the type, and the parser refuses it.
            let copy = serde_json::from_value(copy).ok();
            changed.extend(copy.filter(|copy| copy != value));
        }
    }
    changed
}

/// Shows every place of a value, parents before children, and counts them.
fn places(value: &mut Value, show: &mut impl FnMut(usize, &mut Value)) -> usize {
    fn walk(value: &mut Value, seen: &mut usize, show: &mut impl FnMut(usize, &mut Value)) {
        show(*seen, value);
        *seen += 1;
        match value {
            Value::Array(items) => items.iter_mut().for_each(|v| walk(v, seen, show)),
            Value::Object(fields) => fields.values_mut().for_each(|v| walk(v, seen, show)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut seen = 0;
    walk(value, &mut seen, show);
    seen
}

/// What could stand in this place instead.
fn other_than(value: &Value) -> Vec<Value> {
    match value {
        Value::Number(number) => {
            let old = number.as_i64().expect("a small number");
            vec![Value::from(if old == 255 { 254 } else { old + 1 }), Value::Null]
        }
        Value::String(_) => WORDS.map(Value::from).to_vec(),
        Value::Null => vec![Value::from(0)],
        Value::Bool(old) => vec![Value::from(!old)],
        Value::Array(items) => {
            let Some((last, others)) = items.split_last() else { return Vec::new() };
            let twice = items.iter().chain([last]).cloned().collect();
            vec![Value::Array(others.to_vec()), Value::Array(twice)]
        }
        Value::Object(_) => Vec::new(),
    }
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
fn anything_else_in_a_broker_is_refused() {
    over_all_traces(|step| {
        let views = step.brokers.iter();
        let changed = views
            .flat_map(|(&id, view)| one_place_off(view).into_iter().map(move |view| (id, view)));
        let with = |(id, view)| {
            let mut step = step.clone();
            step.brokers.insert(id, view);
            step
        };
        changed.map(with).collect()
    });
}

#[test]
fn anything_else_in_the_controller_is_refused() {
    over_all_traces(|step| {
        let views = step.controller.iter().flat_map(one_place_off);
        let with = |view| Step { controller: Some(view), ..step.clone() };
        views.map(with).collect()
    });
}

#[test]
fn anything_else_in_a_message_is_refused() {
    over_all_traces(|step| {
        let with = |sent| Step { sent, ..step.clone() };
        one_place_off(&step.sent).into_iter().map(with).collect()
    });
}

#[test]
fn anything_else_in_an_answer_is_refused() {
    over_all_traces(|step| {
        let with = |answers| Step { answers, ..step.clone() };
        one_place_off(&step.answers).into_iter().map(with).collect()
    });
}

#[test]
fn anything_else_in_a_promise_is_refused() {
    over_all_traces(|step| {
        let with = |committed| Step { committed, ..step.clone() };
        one_place_off(&step.committed).into_iter().map(with).collect()
    });
}

#[test]
fn anything_else_in_a_discarded_message_is_refused() {
    over_all_traces(|step| {
        // The ends may name brokers that do not exist, which is refused before any step.
        let with = |message| {
            let mut step = step.clone();
            step.discarded[0].envelope.message = message;
            step
        };
        let first = step.discarded.first();
        let messages = first.map_or(Vec::new(), |d| one_place_off(&d.envelope.message));
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
fn a_start_with_anything_else_is_refused_before_any_step() {
    for Named { name, trace } in conforming() {
        for start in one_place_off(&trace.start) {
            let changed = Trace { start, ..trace.clone() };
            let failure = refused(&changed);
            assert_eq!((failure.step, failure.line), (0, 2), "{name}");
        }
    }
}
