//! What a person reads: the table of a suite, the report of a run, a trace step by step.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use klog_trace::action::Node;
use klog_trace::diff::diff;
use klog_trace::trace::{Bounds, Budget, Clock, Elr, Flush, Interleaving, Metadata, Unclean};
use klog_trace::{Acks, BrokerView, ControllerView, Record, Step, Trace};

use crate::report::{Audit, Outcome, Report, Row, Within};

/// The protocol of a report as one word: the rung, or `klog+fault`.
pub fn protocol(report: &Report) -> String {
    let rung = crate::protocol::Protocol::by_name(&report.protocol);
    let own = rung.map_or(0, |r| r.faults.len());
    let added = report.faults.iter().skip(own).map(|f| format!("+{f}"));
    std::iter::once(report.protocol.clone()).chain(added).collect()
}

/// A number with thousands separated.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Whether everything was looked at, or what ended the search.
pub fn verdict(report: &Report) -> String {
    match report.bounded_by {
        None => "exhausted".into(),
        Some("goal") => "ended at the goal".into(),
        Some(by) => format!("bounded by {by}"),
    }
}

/// What a run found, in a few words.
pub fn findings(report: &Report) -> String {
    let lost: Vec<String> = report
        .violated()
        .map(|r| format!("{} in {}", r.id, r.steps.map_or_else(|| "?".into(), |s| s.to_string())))
        .collect();
    if !lost.is_empty() {
        return format!("VIOLATED {}", lost.join(", "));
    }
    let held = report.properties.iter().filter(|r| r.result == Outcome::Holds).count();
    if held == 0 || report.properties.iter().any(Row::is_open) {
        return "no violation found".into();
    }
    format!("all {held} properties hold")
}

/// Whether a run shows what it must; of a search that was cut only what it found is known.
fn judgement(report: &Report) -> &'static str {
    let differs = |r: &Row| !r.as_expected() && r.result != Outcome::NotFound;
    if report.properties.iter().any(differs) {
        "NOT AS EXPECTED"
    } else if !report.as_far_as_asked() {
        "not finished"
    } else if !report.complete() {
        "no further, as asked"
    } else if report.as_expected() {
        "as expected"
    } else {
        "NOT AS EXPECTED"
    }
}

/// One line on a run: what was looked at, and what was found.
pub fn brief(report: &Report) -> String {
    let (states, outside) = (thousands(report.unique), thousands(report.outside_claim));
    format!(
        "{}: {}, {states} states to level {}, {outside} of them outside the claim; {} (within {})",
        report.scenario,
        verdict(report),
        report.depth,
        findings(report),
        within_of(report),
    )
}

/// The table of a suite: one line per run.
pub fn table(reports: &[Report]) -> String {
    let header =
        ["scenario", "protocol", "result", "states", "outside", "depth", "seconds", "search", ""];
    let mut rows = vec![header.map(String::from)];
    rows.extend(reports.iter().map(|r| {
        [
            r.scenario.clone(),
            protocol(r),
            findings(r),
            thousands(r.unique),
            thousands(r.outside_claim),
            r.depth.to_string(),
            format!("{:.1}", r.seconds),
            verdict(r),
            judgement(r).into(),
        ]
    }));
    align(&rows, &[3, 4, 5, 6])
}

/// Lines of cells in columns; the columns in `right` are flushed right.
fn align<const N: usize>(rows: &[[String; N]], right: &[usize]) -> String {
    let width = |c: usize| rows.iter().map(|r| r[c].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (c, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[c] - cell.chars().count());
            let (before, after) =
                if right.contains(&c) { (pad, String::new()) } else { (String::new(), pad) };
            let _ = write!(line, "{before}{cell}{after}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The whole report of one run.
pub fn report(report: &Report) -> String {
    let mut text = format!("{} under {}\n\n", report.scenario, protocol(report));
    let rows: Vec<[String; 4]> = report
        .properties
        .iter()
        .map(|r| {
            let unknown = r.result == Outcome::NotFound && !report.complete();
            let note = if unknown || r.as_expected() { "" } else { "NOT AS EXPECTED" };
            [r.kind.into(), r.id.into(), row_text(r, report.exhausted()), note.into()]
        })
        .collect();
    text += &align(&rows, &[]);
    text.push('\n');
    text += &figures(report);
    text += &notes(report);
    if report.properties.iter().all(|r| r.expected.is_none()) {
        text +=
            "nothing was expected of this run: the suite has none with these rules and bounds\n";
    }
    text
}

fn row_text(row: &Row, exhausted: bool) -> String {
    let at = match row.steps {
        Some(n) => format!(" at step {n}"),
        None => ", the shortest way not searched to the end".into(),
    };
    match row.result {
        Outcome::Violated => format!("VIOLATED{at}"),
        Outcome::Witnessed => format!("witnessed{at}"),
        Outcome::Holds => "holds".into(),
        Outcome::NotFound if exhausted && row.is_open() => {
            "not found, and open: steps lead out of the bounds".into()
        }
        Outcome::NotFound if exhausted => "not found: it cannot happen here".into(),
        Outcome::NotFound => "not found so far".into(),
    }
}

/// What was searched, within what, and what was left out: where a green result can lie.
fn figures(report: &Report) -> String {
    let taken = report.actions.iter().filter(|a| *a.1 > 0);
    let taken: Vec<String> = taken.map(|(k, n)| format!("{k} {}", thousands(*n))).collect();
    let never = report.actions.iter().filter(|a| *a.1 == 0);
    let never: Vec<&str> = never.map(|a| *a.0).collect();
    let refused = report.refused.iter().map(|(guard, n)| format!("{guard} {}", thousands(*n)));
    let refused: Vec<String> = refused.collect();
    format!(
        "{}: {} states, {} generated, depth {}, {:.1} s, {} MiB\n\
         within: {}\n\
         cut by any other bound: {}; outside the claim: {}; two states taken for one with \
         probability at most {:.1e}\n\
         actions taken: {}\n\
         never taken: {}\n\
         refused by guard: {}\n",
        verdict(report),
        thousands(report.unique),
        thousands(report.generated),
        report.depth,
        report.seconds,
        report.peak_rss_bytes >> 20,
        within_of(report),
        report.boundary_cut.map_or_else(|| "not counted".into(), thousands),
        thousands(report.outside_claim),
        report.collision_probability,
        taken.join(", "),
        if never.is_empty() { "none".into() } else { never.join(", ") },
        if refused.is_empty() { "not counted".into() } else { refused.join(", ") },
    )
}

/// What else there is to say of a run.
fn notes(report: &Report) -> String {
    let mut text = String::new();
    if let Some(rate) = report.memo_hit_rate {
        let _ = writeln!(text, "actors' reactions known already: {:.3} %", rate * 100.0);
    }
    let _ = match report.audit {
        None => Ok(()),
        Some(Audit::Same) => writeln!(text, "audit: the same with other fingerprints"),
        Some(Audit::Differs) => writeln!(text, "audit: NOT the same with other fingerprints"),
        Some(Audit::Cut) => writeln!(text, "audit: a limit cut it, so nothing is compared"),
    };
    if report.spilled_bytes > 0 {
        let _ = writeln!(text, "spilled to files: {} bytes", thousands(report.spilled_bytes));
    }
    if report.resumed_levels > 0 {
        let _ = writeln!(text, "resumed after level {} of a checkpoint", report.resumed_levels);
    }
    if let Some(panic) = &report.panic {
        let (message, path) = (&panic.message, path(&panic.path));
        let _ = writeln!(
            text,
            "the model PANICKED: {message}; the path to the state it looked at:\n{path}"
        );
    }
    text
}

fn within_of(report: &Report) -> String {
    match &report.bounds {
        Within::Scenario(bounds) => within(bounds),
        Within::Twin(constants) => {
            let each = constants.iter().map(|(name, value)| format!("{name} {value}"));
            each.collect::<Vec<_>>().join(", ")
        }
    }
}

/// Bounds in words, budgets that are 0 left out; a minimum that no ISR can reach is the number of
/// brokers.
pub fn within(b: &Bounds) -> String {
    let acks: Vec<&str> = b.acks.iter().map(Acks::word).collect();
    let asked =
        if b.min_isr > b.brokers { format!(" ({} asked)", b.min_isr) } else { String::new() };
    let min_isr = b.effective_min_isr();
    let mut words = vec![
        format!("{} brokers", b.brokers),
        format!("min ISR {min_isr}{asked}"),
        format!("{} records", b.records),
        format!("acks {}", acks.join(" or ")),
    ];
    let budgets = Budget::ALL.into_iter().filter(|budget| b.budget(*budget) > 0);
    words.extend(budgets.map(|budget| format!("{} {}", b.budget(budget), budget.words())));
    if b.leader_epochs > 0 {
        words.push(format!("{} leader epochs", b.leader_epochs));
    }
    let options = [
        (b.clock == Clock::Exact, "exact clock"),
        (b.flush == Flush::NoneOrAll, "power losses leave nothing or all"),
        (b.elr == Elr::Off, "no ELR"),
        (b.unclean == Unclean::Allowed, "unclean elections"),
        (b.metadata == Metadata::OneByOne, "metadata one by one"),
        (b.interleaving == Interleaving::Full, "full interleaving"),
    ];
    words.extend(options.into_iter().filter(|option| option.0).map(|option| option.1.to_owned()));
    words.join(", ")
}

/// A path as numbered sentences.
pub fn path(sentences: &[String]) -> String {
    let numbered = sentences.iter().enumerate();
    let lines: Vec<String> = numbered.map(|(i, a)| format!("{:>4}  {a}", i + 1)).collect();
    lines.join("\n") + "\n"
}

/// A log as one word per record: `e0:1 e1:2` is value 1 of epoch 0, then value 2 of epoch 1.
pub fn log(records: &[Record]) -> String {
    let words: Vec<String> = records.iter().map(|r| format!("e{}:{}", r.epoch, r.value)).collect();
    format!("[{}]", words.join(" "))
}

/// A trace: at each step only what changed.
pub fn trace(trace: &Trace) -> String {
    let h = &trace.header;
    let faults = if h.faults.is_empty() { "none".into() } else { h.faults.join(", ") };
    let mut text = format!(
        "{} under {} (broken rules: {faults})\n{}: {}, {} steps\n\n",
        h.scenario, h.protocol, h.property, h.verdict, h.steps
    );
    let mut brokers = trace.start.brokers.clone();
    let mut controller = trace.start.controller.clone();
    for step in &trace.steps {
        let _ = writeln!(text, "{:>4}  {}", step.step, step.action);
        text += &step_changes(step, &mut brokers, &mut controller);
    }
    match &h.expect {
        klog_trace::Expect::Conform => text += "\nthe real code must agree in every step\n",
        klog_trace::Expect::Diverge(d) => {
            let who = if d.node == 0 { "the controller".into() } else { format!("b{}", d.node) };
            let _ = writeln!(
                text,
                "\nthe real code parts from this at step {}: {who}'s {} is {} here and {} there",
                d.step, d.field, d.faulty, d.correct
            );
        }
    }
    text
}

/// What a step changes and makes visible; `brokers` and `controller` are the state before, and
/// after the call the one after.
pub fn step_changes(
    step: &Step,
    brokers: &mut BTreeMap<Node, BrokerView>,
    controller: &mut ControllerView,
) -> String {
    let mut text = String::new();
    for (n, view) in &step.brokers {
        let old = brokers.insert(*n, view.clone());
        text += &changes(&format!("b{n}"), old.as_ref(), view);
    }
    if let Some(new) = &step.controller {
        text += &controller_changes(controller, new);
        controller.clone_from(new);
    }
    for answer in &step.answers {
        let _ = writeln!(text, "        client: value {} {}", answer.value, told(*answer));
    }
    for (offset, value) in &step.committed {
        let _ = writeln!(text, "        committed: value {value} at offset {offset}");
    }
    text
}

fn told(answer: klog_trace::ClientAnswer) -> String {
    match (answer.error, answer.offset) {
        (0, Some(offset)) => format!("acknowledged at offset {offset}"),
        (error, _) => format!("refused or given up with error {error}"),
    }
}

fn changes(who: &str, old: Option<&BrokerView>, new: &BrokerView) -> String {
    let Some(old) = old else { return String::new() };
    let mut text = String::new();
    if old.log != new.log {
        let _ = writeln!(text, "        {who} log {} -> {}", log(&old.log), log(&new.log));
    }
    for row in diff(old, new).iter().filter(|r| r.field != "log") {
        let _ = writeln!(text, "        {who} {} {} -> {}", row.field, row.left, row.right);
    }
    text
}

fn controller_changes(old: &ControllerView, new: &ControllerView) -> String {
    let rows = diff(old, new);
    let line = |r: &klog_trace::diff::Difference| {
        let field = r.field.trim_start_matches("image.");
        format!("        controller {field} {} -> {}\n", r.left, r.right)
    };
    rows.iter().map(line).collect()
}
