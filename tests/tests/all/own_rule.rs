//! The example of a rule of one's own: what docs/your-own-rule.md shows is what it is and prints.

use std::fs;
use std::sync::Arc;

use klog_model::protocol::Protocol;
use klog_model::record::{Purpose, record};
use klog_model::rules::isr::{Join, joins};
use klog_model::search::{Goal, Limits, search};
use klog_model::system::System;
use klog_trace::Acks;
use klog_trace::property::Property;
use klog_trace::trace::Bounds;

use crate::support::run;
use crate::workspace::read;

const DOCUMENT: &str = "docs/your-own-rule.md";
const EXAMPLE: &str = "model/examples/own_rule.rs";

/// The code blocks of a document in this language, each as its lines.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let blocks = text.split("```").skip(1).step_by(2);
    blocks.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n')).collect()
}

/// Whether the lines of a snippet stand in a source one after another, however far they are set in.
fn stands_in(source: &str, snippet: &str) -> bool {
    let trimmed = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    trimmed(source).contains(&trimmed(snippet))
}

#[test]
fn the_document_shows_what_the_example_prints() {
    let ran = run("own_rule", &[]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let text = read(DOCUMENT);
    let shown = blocks(&text, "text");
    assert!(shown.contains(&ran.out.as_str()), "{DOCUMENT} does not show:\n{}", ran.out);
}

#[test]
fn the_document_shows_the_example_as_it_is_and_it_is_short() {
    let (text, example) = (read(DOCUMENT), read(EXAMPLE));
    let snippets = blocks(&text, "rust");
    assert_eq!(snippets.len(), 3);
    for snippet in snippets {
        assert!(stands_in(&example, snippet), "{EXAMPLE} has no\n{snippet}");
    }
    let lines = example.lines().count();
    assert!(lines < 60, "{EXAMPLE} has {lines} lines");
}

#[test]
fn a_changed_block_is_found() {
    let text = "a\n```rust\none\n```\nb\n```text\ntwo\n\nthree\n```\n";
    assert_eq!(blocks(text, "rust"), ["one\n"]);
    assert_eq!(blocks(text, "text"), ["two\n\nthree\n"]);
    assert!(stands_in("x\n    one\n  two\n", "one\ntwo\n"));
    assert!(!stands_in("one\n\ntwo\n", "one\ntwo\n") && !stands_in("one\n", "on3\n"));
}

#[test]
fn the_real_code_parts_from_a_rule_of_ones_own_where_its_trace_says() {
    let protocol = Protocol::klog().with_own("joins-within-one", |r| {
        r.joins = |join| joins(Join { hw: join.hw.saturating_sub(1), ..join });
    });
    let one = Bounds { records: 1, acks: vec![Acks::All], ..Bounds::NOTHING };
    let bounds = Bounds { lag_checks: 1, moves: 1, ..one };
    let system = Arc::new(System::new(protocol, bounds));
    let goal = Goal::Violate(Property::CommittedSurvives);
    let found = search(&system, Some(goal), &Limits::default());
    let path = found.path(goal).expect("it loses a record");
    let (scenario, property, verdict) = ("one-laggard", "committed-survives", "violated");
    let trace = record(&system, path, &Purpose { scenario, property, verdict });

    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("own.jsonl"), trace.to_text()).expect("a file");
    let ran = run("conform", &["replay", folder.path().to_str().expect("UTF-8")]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    assert_eq!(ran.out.matches("parts as predicted").count(), 2, "{}", ran.out);
}
