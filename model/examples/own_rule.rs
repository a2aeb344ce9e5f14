//! A rule of one's own in the place of one of klog's, and the shortest way to what it loses.
//!
//! `cargo run --example own_rule`; docs/your-own-rule.md says what it prints, and why.

use klog_model::protocol::Protocol;
use klog_model::report::{Job, Report, run};
use klog_model::rules::isr::{Join, joins};
use klog_model::search::{Asked, Files, Limits};
use klog_model::text;
use klog_trace::Acks;
use klog_trace::trace::Bounds;

/// The rule: who lacks one committed record is near enough to be in sync.
fn joins_within_one(join: Join) -> bool {
    joins(Join { hw: join.hw.saturating_sub(1), ..join })
}

/// The scenario: two brokers and one record; a follower may lag once, the leadership may move once.
fn bounds() -> Bounds {
    Bounds { records: 1, acks: vec![Acks::All], lag_checks: 1, moves: 1, ..Bounds::NOTHING }
}

/// Searches the scenario under a protocol, and says what was found and how far it came.
fn search(protocol: Protocol, limits: &Limits) -> Report {
    let job = Job {
        scenario: "one-laggard".into(),
        protocol,
        bounds: bounds(),
        only: None,
        asked: Asked::Safety,
        expected: None,
    };
    let report = run(&job, limits, &Files::default()).expect("a search without files begins");
    println!("{} under {}", report.scenario, text::protocol(&report));
    println!("  {}", text::findings(&report));
    println!("  {}: {} states", text::verdict(&report), text::thousands(report.unique));
    report
}

fn main() {
    let own = || Protocol::klog().with_own("joins-within-one", |r| r.joins = joins_within_one);
    let everything = Limits::default();
    search(Protocol::klog(), &everything);
    search(own(), &Limits { states: Some(50), ..everything.clone() });
    let report = search(own(), &everything);

    let lost = report.violated().find(|row| row.id == "committed-survives");
    let way = lost.and_then(|row| row.told.as_ref()).expect("the rule loses a record");
    print!("\nThe shortest way to lose a committed record:\n\n{}", text::path(way));
}
