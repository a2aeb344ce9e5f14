//! The `conform` binary: output and exit codes, by spawning it.

use std::fs;
use std::path::Path;

use klog_trace::{Action, Trace};
use tempfile::TempDir;

use crate::support::{Ran, conforming, root, run, run_in};

/// A trace to spoil.
fn sample() -> Trace {
    let mut traces: Vec<_> = conforming().map(|t| t.trace).collect();
    traces.sort_by_key(|trace| trace.steps.len());
    traces.pop().expect("a trace")
}

/// Replays this text as `x.jsonl` in a folder of its own.
fn replay_text(text: &str) -> Ran {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("x.jsonl"), text).expect("a file");
    run_in(folder.path(), "conform", &["replay", "x.jsonl", "--disk", "memory"])
}

/// One line of error that begins so and holds these words, and the exit code.
fn refused(ran: &Ran, code: i32, begins: &str, words: &[&str]) {
    assert_eq!(ran.code, Some(code), "{}{}", ran.out, ran.err);
    assert_eq!(ran.err.lines().count(), 1, "one line: {}", ran.err);
    assert!(ran.err.starts_with(begins), "{begins}: {}", ran.err);
    for word in words {
        assert!(ran.err.contains(word), "{word}: {}", ran.err);
    }
}

#[test]
fn the_committed_traces_replay() {
    let ran = run("conform", &["replay"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.err, "");
    let lines: Vec<_> = ran.out.lines().collect();
    let total = lines.last().expect("a line with totals");
    let count = lines.len() - 1;
    assert!(total.starts_with(&format!("{count} replays, ")), "{total}");
    assert!(total.ends_with(" steps, 0 failed"), "{total}");
    assert!(lines[0].starts_with("traces/conform/"), "{}", lines[0]);
    for disk in ["  memory  ", "  files  "] {
        let on_it = lines.iter().filter(|line| line.contains(disk));
        assert_eq!(on_it.count() * 2, count, "{disk}");
    }
    let below = run_in(&root().join("tests"), "conform", &["replay", "--disk", "memory"]);
    assert_eq!(below.code, Some(0), "found from a folder below: {}", below.err);
}

#[test]
fn the_document_says_the_same() {
    let args = ["replay", "--disk", "memory", "--format", "json"];
    let ran = run("conform", &args);
    let document: serde_json::Value = serde_json::from_str(&ran.out).expect("one document");
    assert_eq!(document["schema"], "klog-conform/1");
    assert_eq!((document["exit"].as_i64(), document["failed"].as_i64()), (Some(0), Some(0)));
    let replays = document["replays"].as_array().expect("a list");
    let steps: i64 = replays.iter().filter_map(|r| r["steps"].as_i64()).sum();
    assert_eq!(document["steps"].as_i64(), Some(steps));
    assert!(replays.iter().any(|r| r["parted"].is_number()));
    let again = run("conform", &args);
    assert_eq!(again.out, ran.out, "same input, same bytes");
}

#[test]
fn a_mismatch_says_where_and_how_it_came_there() {
    let mut trace = sample();
    let last = trace.steps.len();
    let sent = trace.steps.iter().rposition(|step| !step.brokers.is_empty());
    let at = sent.expect("a step that changes a broker");
    let view = trace.steps[at].brokers.values_mut().next().expect("a broker");
    view.hw_checkpoint += 9;
    let expected = view.hw_checkpoint;
    let ran = replay_text(&trace.to_text());
    assert_eq!(ran.code, Some(17), "{}", ran.err);
    let report: Vec<_> = ran.err.lines().collect();
    let step = &trace.steps[at];
    let begins = format!("x.jsonl: line {}: step {} ({}): b", at + 3, at + 1, step.action);
    assert!(report[0].starts_with(&begins), "{}", report[0]);
    let values =
        format!("hw_checkpoint is {expected} in the trace and {} in the code", expected - 9);
    assert!(report[0].ends_with(&values), "{}", report[0]);
    let told = report.iter().filter(|line| line.starts_with("  step ")).count();
    assert_eq!(told, (at + 1).min(5), "the last steps of {last}: {}", ran.err);
    let replay = "  replay: cargo run --bin conform -- replay x.jsonl --disk memory";
    assert_eq!(report.last(), Some(&replay));
    assert!(ran.out.ends_with("1 replays, ".to_owned().as_str()) || ran.out.contains("1 failed"));
}

#[test]
fn an_unreadable_trace_is_one_line_with_place_and_remedy() {
    let text = sample().to_text();
    let unknown = text.replacen("{\"step\":1,", "{\"step\":1,\"colour\":1,", 1);
    let begins = "x.jsonl: line 3, column 18: unknown field `colour`";
    refused(&replay_text(&unknown), 2, begins, &["; mend the line"]);
    let version = text.replacen("\"version\":1", "\"version\":9", 1);
    refused(&replay_text(&version), 2, "x.jsonl: line 1: version 9", &["; use the program"]);
    let cut = &text[..text.len() - 20];
    let last = format!("x.jsonl: line {}, column ", text.lines().count());
    refused(&replay_text(cut), 2, &last, &["; the line was cut"]);
    let fewer: String = text.lines().take(3).flat_map(|l| [l, "\n"]).collect();
    refused(&replay_text(&fewer), 2, "x.jsonl: line 3: 1 steps, but", &["; the file was cut"]);
    refused(&replay_text(""), 2, "x.jsonl: line 1: the file is empty", &["; record"]);
}

#[test]
fn a_trace_about_nobody_is_unreadable_too() {
    let mut trace = sample();
    trace.steps[1].action = Action::Crash { broker: 9 };
    refused(&replay_text(&trace.to_text()), 2, "x.jsonl: line 4: b9 is none of", &["; mend"]);
    let mut trace = sample();
    trace.header.bounds.min_isr = 0;
    refused(&replay_text(&trace.to_text()), 2, "x.jsonl: line 1: ", &["; mend the header"]);
    let mut trace = sample();
    trace.steps.clear();
    trace.header.steps = 0;
    refused(&replay_text(&trace.to_text()), 2, "x.jsonl: line 2: the trace has no steps", &[]);
}

#[test]
fn a_step_that_is_not_enabled_names_step_and_reason() {
    let disabled = [
        (Action::Restart { broker: 1 }, "b1 is up"),
        (Action::Fence { broker: 1 }, "b1 is not a dead broker in a session"),
        (Action::Unfence { broker: 1 }, "b1 is not fenced"),
        (Action::Move { to: 1 }, "b1 leads already"),
        (Action::PowerLoss { broker: 1, keep: 9 }, "b1 has only 0 records"),
        (Action::ApplyMetadata { broker: 1, records: 1 }, "b1 has 0 metadata records to read"),
        (Action::DeliverFetchAnswer { from: 1, to: 2 }, "no answer to a fetch is on its way"),
        (Action::DeliverAlterPartitionAnswer { to: 1 }, "no answer to an ISR proposal"),
    ];
    for (action, why) in disabled {
        let mut trace = sample();
        trace.header.bounds.power_losses = 1;
        trace.steps[0].action = action;
        trace.steps[0].published_to.clear();
        trace.steps[0].idle = None;
        let begins = format!("x.jsonl: line 3: step 1 ({action}) is not enabled: ");
        refused(&replay_text(&trace.to_text()), 18, &begins, &[why, "; record the trace anew"]);
    }
}

#[test]
fn no_trace_is_a_failure() {
    let folder = TempDir::new().expect("a folder");
    let empty = run_in(folder.path(), "conform", &["replay", "."]);
    refused(&empty, 2, ".: the folder has no trace", &["; record some"]);
    assert_eq!(empty.out, "");
    let nothing = run_in(folder.path(), "conform", &["replay"]);
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.err.contains("no traces/conform or traces/diverge here or above"));
    let missing = run_in(folder.path(), "conform", &["replay", "absent.jsonl"]);
    refused(&missing, 2, "absent.jsonl: ", &["; name a file that can be read"]);
}

#[test]
fn a_wrong_use_is_2() {
    for args in [&["replay", "--dsk"][..], &["reply"], &["replay", "--disk", "paper"], &[]] {
        let ran = run("conform", args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert_eq!(ran.out, "", "{args:?}");
    }
    let help = run("conform", &["-h"]);
    assert_eq!(help.code, Some(0));
    assert!(help.out.starts_with("Examples:\n"), "{}", help.out);
}

#[test]
fn the_worst_result_is_the_exit_code() {
    let folder = TempDir::new().expect("a folder");
    let mut parts = sample();
    parts.steps[0].sent.clear();
    parts.steps[0].answers.clear();
    parts.steps[0].brokers.clear();
    parts.steps[0].controller = None;
    let mut disabled = sample();
    disabled.steps[0].action = Action::Restart { broker: 1 };
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    put("a.jsonl", "nonsense\n");
    put("b.jsonl", &sample().to_text());
    let code = || run_in(folder.path(), "conform", &["replay", ".", "--disk", "memory"]).code;
    assert_eq!(code(), Some(2));
    put("c.jsonl", &disabled.to_text());
    assert_eq!(code(), Some(18));
    put("d.jsonl", &parts.to_text());
    assert_eq!(code(), Some(17));
    assert!(Path::new("a.jsonl").is_relative());
}
