//! The documents say what the code does: each name, figure of the suite and command in them is
//! looked up.

use klog_model::fault::Fault;
use klog_model::protocol::LADDER;
use klog_model::scenario::{scenarios, suite};
use klog_trace::Action;
use klog_trace::property::{PROPERTIES, WITNESSES};

use crate::cli::{DOCUMENT, ROW, RUN};
use crate::workspace::{files, golden, read, root, run};

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

/// Whether a source defines the item of this name.
fn defines(source: &str, name: &str) -> bool {
    ["fn", "struct", "enum", "trait", "const", "mod", "static"].iter().any(|kind| {
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
        let (scenario, property) = info.caught_by;
        let cell = row.last().expect("a row has cells");
        let notices = cell.contains(&format!("`{}`", property.id()));
        assert!(notices && cell.contains(&format!("`{scenario}`")), "{name}: {cell}");
    }
}

#[test]
fn every_rule_of_the_model_has_a_row_in_the_table_of_the_protocol() {
    let rules = read("model/src/rules.rs");
    let fields = rules.split("pub struct Rules {").nth(1).expect("the rules");
    let fields = fields.split("\n}").next().expect("their end");
    let names = fields.lines().filter_map(|l| l.trim().strip_prefix("pub ")?.split(':').next());
    let text = read("docs/protocol.md");
    let mut count = 0;
    for name in names {
        count += 1;
        let cell = format!("`model/src/rules.rs::{name}`");
        let rows = table(&text);
        let has = |row: &Vec<&str>| row.iter().any(|c| c.contains(&cell));
        assert!(rows.iter().any(has), "docs/protocol.md says nothing of {cell}");
    }
    assert!(count >= 15, "only {count} rules found");
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
fn the_readme_names_the_commands_that_are_run() {
    let readme = read("README.md");
    let ci = read(".ci/run");
    for command in COMMANDS {
        assert!(code_lines(&readme).contains(&command), "README.md does not name `{command}`");
        let runs = ci.lines().any(|l| l.trim().trim_start_matches("run ") == command);
        assert!(runs, ".ci/run does not run `{command}`");
    }
}

/// The protocol of a run as the table of `check` writes it.
fn label(protocol: &klog_model::protocol::Protocol) -> String {
    let names = protocol.fault_names();
    let added = if protocol.name == "klog" { &names[..] } else { &[] };
    added.iter().fold(protocol.name.clone(), |label, fault| format!("{label}+{fault}"))
}

#[test]
fn the_results_of_the_readme_are_those_of_the_standard_suite() {
    let readme = read("README.md");
    let rows = table(&readme);
    for expected in suite() {
        let head = [expected.scenario.to_owned(), label(&expected.protocol)];
        let row = rows.iter().find(|r| r.len() > 3 && r[..2] == head);
        let row = row.unwrap_or_else(|| panic!("README.md has no row for {head:?}"));
        let violations = expected.violated.iter().map(|(p, n)| format!("{} in {n}", p.id()));
        let held = format!("all {} properties hold", PROPERTIES.len());
        let mut result: Vec<String> = violations.collect();
        if result.is_empty() {
            result.push(held);
        }
        for part in result {
            assert!(row[2].contains(&part), "{head:?}: README.md says `{}`, not {part}", row[2]);
        }
    }
}

#[test]
fn the_picture_is_drawn_from_the_trace() {
    let trace = "traces/diverge/kip101-scenario-1.jsonl";
    let output = run("check", &["show", trace, "--as", "svg"]);
    let svg = String::from_utf8(output.stdout).expect("an SVG is UTF-8");
    assert!(svg.starts_with("<svg"));
    golden("docs/img/kip101-scenario-1.svg", &svg);
}
