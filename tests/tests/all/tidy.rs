//! The house rules that a compiler does not check: sizes, line ends, first sentences, links.
//!
//! The length of a function is clippy's (`too_many_lines` in clippy.toml).

use std::fmt;

use crate::source::{is_test_file, without_tests};
use crate::support::root;
use crate::workspace::{files, read};

const MAX_LINES: usize = 400;
const MAX_WIDTH: usize = 100;

/// A house rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// A file fits in one's head: at most [`MAX_LINES`] lines without its tests.
    FileLength,
    /// A line fits on the screen: at most [`MAX_WIDTH`] characters.
    LineWidth,
    /// No white space before a line end, and a line end before the end of the file.
    LineEnd,
    /// Nothing is left for later in the sources.
    Unfinished,
    /// A module says in its first line what it is for.
    FirstSentence,
    /// A relative link in a document leads somewhere.
    Link,
}

/// Where a rule may be broken, and why. An entry that no file needs fails.
const EXEMPT: &[(&str, Rule, &str)] = &[];

/// A broken rule.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    file: String,
    line: usize,
    rule: Rule,
    what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {:?}: {}", self.file, self.line, self.rule, self.what)
    }
}

/// Words that mark what is not finished. They are put together here so that this file is clean.
fn unfinished_marks() -> [String; 6] {
    let words = [
        ("to", "do!"),
        ("unimple", "mented!"),
        ("FIX", "ME"),
        ("TO", "DO"),
        ("XX", "X"),
        ("db", "g!"),
    ];
    words.map(|(a, b)| format!("{a}{b}"))
}

fn check_text(file: &str, text: &str) -> Vec<Finding> {
    let finding = |line, rule, what: String| Finding { file: file.to_owned(), line, rule, what };
    let mut found = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if line.ends_with([' ', '\t', '\r']) {
            found.push(finding(i + 1, Rule::LineEnd, "white space at the end".into()));
        }
        let marks = unfinished_marks();
        if let Some(mark) = marks.iter().find(|m| line.contains(m.as_str())) {
            found.push(finding(i + 1, Rule::Unfinished, format!("`{mark}`")));
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        let last = text.lines().count();
        found.push(finding(last, Rule::LineEnd, "no line end".into()));
    }
    found
}

fn check_rust(file: &str, text: &str) -> Vec<Finding> {
    let mut found = check_text(file, text);
    let mut add = |line, rule, what| {
        found.push(Finding { file: file.to_owned(), line, rule, what });
    };
    for (i, line) in text.lines().enumerate() {
        let width = line.chars().count();
        if width > MAX_WIDTH {
            add(i + 1, Rule::LineWidth, format!("{width} characters"));
        }
    }
    if is_test_file(file) {
        return found;
    }
    let lines = without_tests(text).len();
    if lines > MAX_LINES {
        add(lines, Rule::FileLength, format!("{lines} lines without tests"));
    }
    let first = text.lines().next().unwrap_or_default();
    let says = first.strip_prefix("//! ").is_some_and(|s| !s.trim().is_empty());
    if !says {
        let what = "the first line is no `//!` sentence".to_owned();
        add(1, Rule::FirstSentence, what);
    }
    found
}

fn check_document(file: &str, text: &str, exists: &dyn Fn(&str) -> bool) -> Vec<Finding> {
    let mut found = check_text(file, text);
    for (line, target) in links(text) {
        let outside = ["http://", "https://", "mailto:"];
        if outside.iter().any(|o| target.starts_with(o)) {
            continue;
        }
        let (path, fragment) = target.split_once('#').unwrap_or((&target, ""));
        let leads = if path.is_empty() {
            headings(text).iter().any(|h| h == fragment)
        } else {
            exists(&resolve(file, path))
        };
        if !leads {
            found.push(Finding {
                file: file.to_owned(),
                line,
                rule: Rule::Link,
                what: format!("`{target}` leads nowhere"),
            });
        }
    }
    found
}

/// The targets of links and pictures outside code, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut in_code = false;
    for (i, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        // Every second piece between back ticks is code.
        let prose: Vec<&str> = line.split('`').step_by(2).collect();
        for (open, close) in [("](", ')'), ("src=\"", '"'), ("href=\"", '"')] {
            for rest in prose.join("`").split(open).skip(1) {
                let target = rest.split(close).next().unwrap_or_default();
                found.push((i + 1, target.to_owned()));
            }
        }
    }
    found
}

/// The anchors of the headings: lower case, words joined by `-`.
fn headings(text: &str) -> Vec<String> {
    let heads = text.lines().filter(|l| l.starts_with('#'));
    let anchor = |head: &str| {
        let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        let words: String = head.trim_start_matches('#').trim().chars().filter(kept).collect();
        words.to_lowercase().replace(' ', "-")
    };
    heads.map(anchor).collect()
}

/// A relative path, seen from the folder of `file`, named from the root.
fn resolve(file: &str, path: &str) -> String {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

fn sweep() -> Vec<Finding> {
    let exists = |path: &str| root().join(path).exists();
    let mut found = Vec::new();
    for file in files("") {
        let text = || read(&file);
        match file.rsplit('.').next().unwrap_or_default() {
            "rs" => found.extend(check_rust(&file, &text())),
            "md" => found.extend(check_document(&file, &text(), &exists)),
            "toml" | "svg" | "json" | "jsonl" => found.extend(check_text(&file, &text())),
            _ => {}
        }
    }
    found.extend(check_text(".ci/run", &read(".ci/run")));
    found
}

#[test]
fn the_house_rules_are_kept() {
    let found = sweep();
    let is_exempt = |f: &&Finding| EXEMPT.iter().any(|e| e.0 == f.file && e.1 == f.rule);
    let broken: Vec<String> =
        found.iter().filter(|f| !is_exempt(f)).map(ToString::to_string).collect();
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
    for (file, rule, reason) in EXEMPT {
        let needed = found.iter().any(|f| f.file == *file && f.rule == *rule);
        assert!(needed, "{file} needs no exemption from {rule:?} any more ({reason})");
    }
}

#[test]
fn the_sweep_sees_the_sources() {
    let rust = files(".rs");
    for file in ["impl/src/replica.rs", "model/src/rules.rs", "tests/tests/all/tidy.rs"] {
        assert!(rust.iter().any(|f| f == file), "{file} is not swept");
    }
    let documents = files(".md");
    for file in ["README.md", "docs/protocol.md"] {
        assert!(documents.iter().any(|f| f == file), "{file} is not swept");
    }
    assert!(documents.iter().all(|f| !f.starts_with("target/")));
}

#[test]
fn a_planted_offence_is_found() {
    let rules = |found: Vec<Finding>| found.iter().map(|f| (f.line, f.rule)).collect::<Vec<_>>();
    let good = "//! Says what it is for.\n\nfn a() {}\n";
    assert_eq!(check_rust("model/src/a.rs", good), []);
    let mark = unfinished_marks()[0].clone();
    let wide = "x".repeat(MAX_WIDTH + 1);
    let bad = format!("fn a() {{ {mark}() }} \n// {wide}");
    let expected = [
        (1, Rule::LineEnd),
        (1, Rule::Unfinished),
        (2, Rule::LineEnd),
        (2, Rule::LineWidth),
        (1, Rule::FirstSentence),
    ];
    assert_eq!(rules(check_rust("model/src/a.rs", &bad)), expected);
    let long = format!("//! Long.\n{}", "// x\n".repeat(MAX_LINES));
    let expected = [(MAX_LINES + 1, Rule::FileLength)];
    assert_eq!(rules(check_rust("model/src/a.rs", &long)), expected);
    assert_eq!(check_rust("model/src/a_tests.rs", &long), []);
    let tests =
        format!("//! Long.\n#[cfg(test)]\nmod tests {{\n{}}}\n", "// x\n".repeat(MAX_LINES));
    assert_eq!(check_rust("model/src/a.rs", &tests), []);
}

#[test]
fn a_broken_link_is_found() {
    let exists = |path: &str| path == "docs/limits.md";
    let text = "# One head\n[a](limits.md) [b](../docs/limits.md#x) [c](#one-head) \
                [d](https://e.org) `[e](none.md)`\n```\n[f](none.md)\n```\n\
                [g](gone.md)\n![h](img/gone.svg) [i](#two)\n";
    let found = check_document("docs/a.md", text, &exists);
    let lines: Vec<_> = found.iter().map(|f| (f.line, f.rule)).collect();
    assert_eq!(lines, [(6, Rule::Link), (7, Rule::Link), (7, Rule::Link)]);
}
