//! What is said of the public reports: each name in the table is looked up.

use std::collections::BTreeSet;

use klog_model::cases::{self, Case, How, cases};
use klog_model::fault::{Caught, Fault};
use klog_model::scripts::scripts;

use crate::support::root;
use crate::workspace::{golden, read};

const LONGEST_TITLE: usize = 90;

/// Words by which a fault says where it comes from without a case of its own.
const ORIGINS: [&str; 9] = [
    "derived",
    "KAFKA-",
    "KIP-",
    "Kafka before ",
    ".tla",
    "#",
    "a public ",
    "the course ",
    "tlaplus",
];

/// Whether a source has a test of this name, also one that a macro runs on both disks.
fn has_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let begins = |line: &str| {
        let rest = line.strip_prefix("fn ").and_then(|rest| rest.strip_prefix(name));
        rest.is_some_and(|rest| rest.starts_with(['(', '<']))
    };
    let marked = lines.windows(2).any(|pair| pair[0] == "#[test]" && begins(pair[1]));
    let listed = source.split("on_both_disks! {").nth(1).and_then(|rest| rest.split('}').next());
    let listed = listed.is_some_and(|names| names.lines().any(|line| line.trim() == name));
    marked || listed && lines.iter().any(|line| begins(line))
}

/// Whether `path/to/file.rs::name` is a test of the real code.
fn is_test(named: &str) -> bool {
    let Some((path, name)) = named.split_once("::") else { return false };
    path.starts_with("impl/src/") && root().join(path).is_file() && has_test(&read(path), name)
}

fn is_script(name: &str) -> bool {
    scripts().iter().any(|script| script.0 == name)
}

/// What is wrong with a case, one by one.
fn wrong_with(case: &Case) -> Vec<String> {
    let Case { code, title, report, how } = case;
    let mut found = Vec::new();
    let mut check = |good: bool, what: &str| {
        if !good {
            found.push(format!("{code}: {what}"));
        }
    };
    let is_number = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit());
    let good = match code.split_at(1) {
        ("B", digits) => (2..=3).contains(&digits.len()) && is_number(digits),
        ("X", digits) => digits.len() == 1 && is_number(digits),
        _ => false,
    };
    check(good, "no such code");
    let said = |text: &str| !text.is_empty() && !text.contains(['|', '\n', '`']);
    check(said(title) && said(report), "title or report does not fit into a table");
    check(title.chars().count() <= LONGEST_TITLE, "a long title");
    match *how {
        How::Fault(fault) => {
            let seen = !matches!(fault.info().caught, Caught::Never(..));
            check(seen, "a fault that nothing notices shows nothing; name a test");
        }
        How::Script(name) => check(is_script(name), &format!("no script {name}")),
        How::Test(name) => check(is_test(name), &format!("no test {name}")),
        How::NotHere { why, nearest } => {
            check(said(why), "no reason");
            let is_case = cases().any(|other| other.code == nearest && other.code != *code);
            let known = Fault::by_name(nearest).is_some() || is_case || is_test(nearest);
            check(known, &format!("{nearest} is no fault, case or test"));
        }
    }
    found
}

#[test]
fn the_page_is_the_table() {
    golden("docs/cases.md", &cases::markdown());
}

#[test]
fn every_name_in_the_table_exists_and_every_absence_has_a_reason() {
    let found: Vec<String> = cases().flat_map(wrong_with).collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn a_case_that_says_nothing_true_is_found() {
    let case = |how| Case { code: "X0", title: "a title", report: "KAFKA-0", how };
    let test = "impl/src/log/tests/suite.rs::truncation_works_at_every_offset";
    let good = [
        How::Fault(Fault::TruncateToHw),
        How::Script("kip279-as-told"),
        How::Test(test),
        How::NotHere { why: "a reason", nearest: "truncate-to-hw" },
        How::NotHere { why: "a reason", nearest: "B01" },
        How::NotHere { why: "a reason", nearest: test },
    ];
    for how in good {
        assert_eq!(wrong_with(&case(how)), [""; 0]);
    }
    let bad = [
        How::Fault(Fault::ReplyMatchedByNothing),
        How::Script("kip279"),
        How::Test("impl/src/log/tests/suite.rs::put"),
        How::Test("impl/src/log/tests/suite.rs::truncation_works"),
        How::Test("impl/src/log/tests/gone.rs::truncation_works_at_every_offset"),
        How::Test("truncation_works_at_every_offset"),
        How::NotHere { why: "", nearest: "B01" },
        How::NotHere { why: "a reason", nearest: "X0" },
    ];
    for how in bad {
        assert_eq!(wrong_with(&case(how)).len(), 1, "{how:?}");
    }
    let (code, title, report) = ("B1", "x".repeat(LONGEST_TITLE + 1), "a|b");
    let case = Case { code, title: title.leak(), report, how: good[0] };
    assert_eq!(wrong_with(&case).len(), 3);
    let source = "#[test]\nfn one() {}\nfn two() {}\non_both_disks! {\n    three\n    four\n}\n\
                  fn three<D>() {}\n";
    let tests = ["one", "two", "three", "four"].map(|name| has_test(source, name));
    assert_eq!(tests, [true, false, true, false]);
}

#[test]
fn every_code_stands_once_and_in_its_order() {
    let mut codes = BTreeSet::new();
    for part in cases::PARTS {
        let number = |case: &Case| case.code[1..].parse::<u32>().expect("a number");
        let numbers: Vec<u32> = part.cases.iter().map(number).collect();
        assert!(numbers.is_sorted(), "{}: {numbers:?}", part.title);
        for case in part.cases {
            assert!(codes.insert(case.code), "{} stands twice", case.code);
        }
    }
}

#[test]
fn every_fault_of_the_model_stands_in_the_table_or_says_where_it_comes_from() {
    for fault in Fault::ALL {
        let info = fault.info();
        let is_it = |case: &Case| matches!(case.how, How::Fault(broken) if broken == *fault);
        let mut codes = info.report.split(|c: char| !c.is_ascii_alphanumeric());
        let has_case = |code: &str| cases().any(|case| case.code == code);
        let is_code = |word: &&str| {
            let digits = word.strip_prefix(['B', 'X']).unwrap_or_default();
            !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
        };
        let unknown = codes.clone().filter(is_code).find(|code| !has_case(code));
        assert_eq!(unknown, None, "{} names a case that is not there", info.name);
        let told = codes.any(has_case) || ORIGINS.iter().any(|from| info.report.contains(from));
        assert!(cases().any(is_it) || told, "{}: where does it come from?", info.name);
    }
}

#[test]
fn the_list_of_reports_says_what_the_table_says() {
    let listed = read("docs/reports.md");
    let rows = listed.lines().filter(|line| line.starts_with("| B"));
    let public = cases().filter(|case| case.code.starts_with('B'));
    let expected = public.map(|case| format!("| {} | {} |", case.code, case.report));
    assert_eq!(rows.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

#[test]
fn a_case_is_one_line_of_the_list() {
    for case in cases() {
        let line = case.line();
        assert!(line.starts_with(case.code) && !line.contains(['\n', '`']), "{line}");
        let words = ["fault", "script", "test", "not here"];
        let said = format!("{} ({}): ", case.title, case.report);
        let what = line.split_once(&said).map(|(_, what)| what);
        assert!(what.is_some_and(|what| words.iter().any(|w| what.starts_with(w))), "{line}");
    }
}
