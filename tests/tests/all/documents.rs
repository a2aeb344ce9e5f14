//! The documents say what the code does: each name, figure of the suite and command in them is
//! looked up.

use klog_model::fault::{Caught, Fault};
use klog_model::protocol::LADDER;
use klog_model::rules::Rules;
use klog_model::scenario::scenarios;
use klog_model::text::thousands;
use klog_trace::Action;
use klog_trace::property::{PROPERTIES, WITNESSES};
use serde_json::Value;

use crate::binaries::{DOCUMENT, ROW, RUN};
use crate::support::{Ran, root, run};
use crate::workspace::{files, golden, read};

/// The commands a newcomer is told, and the continuous integration runs.
const COMMANDS: [&str; 2] = ["cargo run --bin check", "cargo test"];

/// What stands in a document as code within a line, with its line.
fn code_spans(text: &str) -> Vec<(usize, &str)> {
    let mut in_block = false;
    let mut found = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            found.extend(line.split('`').skip(1).step_by(2).map(|code| (i + 1, code)));
        }
    }
    found
}

/// The lines of a document's code blocks.
fn code_lines(text: &str) -> Vec<&str> {
    let mut in_block = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            found.push(line.trim());
        }
    }
    found
}

/// Whether a source defines the item of this name, or a rule.
fn defines(source: &str, name: &str) -> bool {
    let rule = format!("    {name}: fn(");
    let is_rule = source.contains("rules! {") && source.contains(&rule);
    is_rule
        || ["fn", "struct", "enum", "trait", "const", "mod", "static"].iter().any(|kind| {
            let head = format!("{kind} {name}");
            let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            source.match_indices(&head).any(|(at, _)| ends(&source[at + head.len()..]))
        })
}

/// `path/to/file.rs::item` as its two parts.
fn item_of(code: &str) -> Option<(&str, &str)> {
    let (path, item) = code.split_once(".rs::")?;
    Some((&code[..path.len() + 3], item))
}

/// Whether a piece of code names a file of the project.
fn is_path(code: &str) -> bool {
    let endings = [".rs", ".md", ".toml", ".json", ".jsonl", ".svg"];
    let plain = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    code.contains('/') && code.chars().all(plain) && endings.iter().any(|e| code.ends_with(e))
}

#[test]
fn every_file_and_function_that_a_document_names_exists() {
    let mut items = 0;
    let mut gone = Vec::new();
    for document in files(".md") {
        let text = read(&document);
        for (line, code) in code_spans(&text) {
            let exists = |path: &str| root().join(path).is_file();
            let found = match item_of(code) {
                Some((path, item)) => {
                    items += 1;
                    exists(path) && defines(&read(path), item)
                }
                None => !is_path(code) || exists(code),
            };
            if !found {
                gone.push(format!("{document}:{line}: `{code}`"));
            }
        }
    }
    assert!(gone.is_empty(), "\n{}", gone.join("\n"));
    assert!(items > 50, "only {items} functions are named");
}

#[test]
fn a_name_that_is_gone_is_found() {
    let source = "pub fn advance_hw(\n) {}\nstruct Leader;\n";
    assert!(defines(source, "advance_hw") && defines(source, "Leader"));
    assert!(!defines(source, "advance") && !defines(source, "retreat_hw"));
    assert_eq!(item_of("impl/src/a.rs::f"), Some(("impl/src/a.rs", "f")));
    assert!(is_path("docs/limits.md") && !is_path("a/b") && !is_path("cargo run --bin x.rs"));
    let text = "a `b` c `d/e.rs::f`\n```\n`g`\n```\n";
    assert_eq!(code_spans(text), [(1, "b"), (1, "d/e.rs::f")]);
    assert_eq!(code_lines(text), ["`g`"]);
}

/// The cells of the table rows of a document.
fn table(text: &str) -> Vec<Vec<&str>> {
    let rows = text.lines().filter_map(|l| l.strip_prefix('|')?.strip_suffix('|'));
    rows.map(|row| row.split('|').map(str::trim).collect()).collect()
}

#[test]
fn the_table_of_the_protocol_has_every_fault_beside_the_property_that_notices() {
    let text = read("docs/protocol.md");
    let rows = table(&text);
    for fault in Fault::ALL {
        let info = fault.info();
        let name = format!("`{}`", info.name);
        let row = rows.iter().find(|row| row.iter().any(|cell| cell.contains(&name)));
        let row = row.unwrap_or_else(|| panic!("no row of docs/protocol.md has {name}"));
        let cell = row.last().expect("a row has cells");
        let (scenario, property) = match info.caught {
            Caught::By(scenario, goal, _) | Caught::With(_, scenario, goal, _) => {
                (scenario, goal.row().0)
            }
            Caught::Never(scenarios, _) => (scenarios[0], "nothing"),
        };
        let notices = cell.contains(&format!("`{property}`")) || property == "nothing";
        assert!(notices && cell.contains(&format!("`{scenario}`")), "{name}: {cell}");
    }
}

#[test]
fn every_rule_of_the_model_has_a_row_in_the_table_of_the_protocol() {
    let text = read("docs/protocol.md");
    for name in Rules::NAMES {
        let cell = format!("`model/src/rules.rs::{name}`");
        let rows = table(&text);
        let has = |row: &Vec<&str>| row.iter().any(|c| c.contains(&cell));
        assert!(rows.iter().any(has), "docs/protocol.md says nothing of {cell}");
    }
}

/// `B` and two or three digits: a public report.
fn report_codes(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| {
        word.strip_prefix('B').is_some_and(|digits| {
            (2..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
        })
    })
}

#[test]
fn every_report_that_a_source_names_can_be_looked_up() {
    let listed = read("docs/reports.md");
    let listed: Vec<&str> = report_codes(&listed).collect();
    let mut named = std::collections::BTreeSet::new();
    for file in files(".rs").iter().chain(&files(".md")).filter(|f| *f != "docs/reports.md") {
        for code in report_codes(&read(file)) {
            assert!(listed.contains(&code), "{file} names {code}, docs/reports.md does not");
            named.insert(code.to_owned());
        }
    }
    let unused = listed.iter().find(|code| !named.contains(**code));
    assert_eq!(unused, None, "docs/reports.md lists a code that nobody names");
}

#[test]
fn the_reading_guide_knows_every_word_of_a_report() {
    let text = read("docs/checking.md");
    let scenarios = scenarios();
    let words = PROPERTIES.iter().map(|p| p.1);
    let words = words.chain(WITNESSES.iter().map(|w| w.1));
    let words = words.chain(DOCUMENT).chain(RUN).chain(ROW).chain(Action::KINDS);
    let words = words.chain(scenarios.iter().map(|s| s.name)).chain(LADDER.iter().map(|r| r.0));
    for word in words {
        assert!(text.contains(&format!("`{word}`")), "docs/checking.md does not know `{word}`");
    }
    let exit = read("model/src/bin/check/exit.rs");
    let codes = exit.lines().filter_map(|l| l.strip_prefix("pub const ")?.split("u8 = ").nth(1));
    for code in codes {
        let cell = format!("| {} |", code.trim_end_matches(';'));
        assert!(text.contains(&cell), "docs/checking.md does not know exit code {cell}");
    }
}

#[test]
fn the_description_of_a_trace_knows_every_field_of_its_lines() {
    let text = read("docs/traces.md");
    let schema: Value = serde_json::from_str(&read("docs/trace.schema.json")).expect("JSON");
    for kind in ["header", "start", "step", "BrokerView"] {
        let fields = schema["$defs"][kind]["properties"].as_object().expect("an object");
        assert!(!fields.is_empty());
        for field in fields.keys() {
            let known = text.contains(&format!("| `{field}` |"));
            assert!(known, "docs/traces.md does not know `{field}` of {kind}");
        }
    }
}

#[test]
fn the_readme_names_the_commands_that_are_run() {
    let readme = read("README.md");
    let ci = read(".ci/run");
    for command in COMMANDS {
        assert!(code_lines(&readme).contains(&command), "README.md does not name `{command}`");
        let runs = ci.lines().any(|l| l.trim().trim_start_matches("run ") == command);
        assert!(runs, ".ci/run does not run `{command}`");
    }
}

/// The cells of a run in the README's table, but for its seconds.
fn cells(run: &Value) -> Vec<String> {
    let text = |v: &Value| v.as_str().expect("a text").to_owned();
    let number = |v: &Value| thousands(v.as_u64().expect("a number"));
    let rows = run["properties"].as_array().expect("a list of rows");
    let violated: Vec<String> = rows
        .iter()
        .filter(|r| r["result"] == "violated")
        .map(|r| format!("{} in {}", text(&r["id"]), r["steps"]))
        .collect();
    let held = rows.iter().filter(|r| r["result"] == "holds").count();
    let result = if violated.is_empty() {
        format!("all {held} properties hold")
    } else {
        format!("violated: {}", violated.join(", "))
    };
    let search = match run["bounded_by"].as_str() {
        None => "exhausted",
        Some("goal") => "ended at the goal",
        Some(by) => panic!("a run of the suite is bounded by {by}"),
    };
    let faults = run["faults"].as_array().expect("a list of names");
    let named = if run["protocol"] == "klog" { &faults[..] } else { &[] };
    let protocol = named.iter().fold(text(&run["protocol"]), |p, f| format!("{p}+{}", text(f)));
    let (states, outside) = (number(&run["unique"]), number(&run["outside_claim"]));
    let (scenario, depth) = (text(&run["scenario"]), run["depth"].to_string());
    vec![scenario, protocol, result, states, outside, depth, search.into()]
}

/// The kinds of action that no run took.
fn never_taken(runs: &[Value]) -> Vec<&'static str> {
    let taken = |kind: &&str| runs.iter().any(|run| run["actions"][*kind].as_u64() > Some(0));
    Action::KINDS.into_iter().filter(|kind| !taken(kind)).collect()
}

#[test]
fn the_results_of_the_readme_are_those_of_the_standard_suite() {
    let Ran { code, out, err } = run("check", &["--format", "json"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let document: Value = serde_json::from_str(&out).expect("one JSON document");
    let runs = document["runs"].as_array().expect("a list of runs");
    let has_fault = |run: &&Value| {
        let faults = run["faults"].as_array().expect("a list of names");
        run["protocol"] == "klog" && !faults.is_empty()
    };
    let (faults, others): (Vec<&Value>, Vec<&Value>) = runs.iter().partition(has_fault);
    assert!(faults.len() > 40 && others.len() > 20);
    assert_eq!(never_taken(runs), Vec::<&str>::new());
    for (document, runs) in [("README.md", others), ("docs/results.md", faults)] {
        let text = read(document);
        let mut rows: Vec<Vec<&str>> = table(&text);
        rows.retain(|row| row.len() == 8);
        assert_eq!(rows.len(), runs.len() + 2, "{document}: a head, a rule, a row for each run");
        for (row, run) in rows[2..].iter_mut().zip(runs) {
            row.remove(6);
            assert_eq!(*row, cells(run), "{document} is older than the suite");
        }
    }
}

#[test]
fn the_picture_is_drawn_from_the_trace() {
    let trace = "traces/diverge/kip101-scenario-1.jsonl";
    let svg = run("check", &["show", trace, "--as", "svg"]).out;
    assert!(svg.starts_with("<svg"));
    golden("docs/img/kip101-scenario-1.svg", &svg);
}
