//! The mutants are what they say, and the page of the documents is true where that is quick to see.

use std::collections::{BTreeMap, BTreeSet};

use super::judge::{Fate, LEFT_OUT, Notice, SCENARIOS, STATES, Verdict, judge};
use super::survivors::SURVIVORS;
use super::{Mutant, page};
use crate::rules::Rules;
use crate::scenario::{Suite, scenarios};
use crate::search::Limits;

/// The scenarios that are run again here.
const QUICK: &[&str] = SCENARIOS.split_at(2).0;

fn page_of_the_documents() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/mutants.md");
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn limits() -> Limits {
    Limits { states: Some(STATES), ..Limits::default() }
}

#[test]
fn every_rule_has_mutants_and_every_mutant_a_name_of_its_own() {
    let mutants = Mutant::all();
    let names: BTreeSet<&str> = mutants.iter().map(|mutant| &mutant.name[..]).collect();
    assert_eq!(names.len(), mutants.len());
    for rule in Rules::NAMES {
        let others = mutants.iter().filter(|m| m.rule == *rule && !m.is_the_rule());
        assert!(others.count() >= 1, "{rule}");
    }
    for name in ["joins/join.follower.leo/none", "readable/result/leo", "refused/result/void"] {
        assert!(names.contains(name), "{name}");
    }
}

#[test]
fn a_mutant_that_is_the_rule_is_told_from_one_that_is_not() {
    let is_the_rule = |name: &str| {
        let mutant = Mutant::all().into_iter().find(|mutant| mutant.name == name);
        mutant.expect("a mutant").is_the_rule()
    };
    assert!(is_the_rule("readable/leo/zero") && is_the_rule("restarts_fetcher/result/true"));
    assert!(!is_the_rule("readable/hw/zero") && !is_the_rule("restarts_fetcher/result/not"));
}

#[test]
fn mutants_are_looked_for_in_the_standard_suite_but_for_what_is_left_out() {
    let suite = scenarios().into_iter().filter(|s| s.suite == Suite::Ci).map(|s| s.name);
    let tried: BTreeSet<&str> = SCENARIOS.iter().chain(&LEFT_OUT).copied().collect();
    assert_eq!(suite.collect::<BTreeSet<_>>(), tried);
}

#[test]
fn every_reason_is_of_a_mutant_and_stands_once() {
    let mutants = Mutant::all();
    let mut names = BTreeSet::new();
    for name in SURVIVORS.iter().flat_map(|row| row.0) {
        assert!(mutants.iter().any(|mutant| mutant.name == *name), "{name}");
        assert!(names.insert(name), "{name} stands twice");
    }
}

#[test]
fn a_survivor_without_a_reason_and_a_reason_without_a_survivor_are_unexpected() {
    let verdict = |name: &str, fate| Verdict { rule: "rule", name: name.to_owned(), fate };
    let survives = || Fate::Survives { differs: ("lag", 3), cut: Vec::new() };
    let noticed = || Fate::Noticed("lag", Notice::Panicked("no".into(), 1));
    let listed = SURVIVORS[0].0[0];
    assert!(verdict("rule/result/not", survives()).is_unexpected());
    assert!(verdict(listed, noticed()).is_unexpected());
    let good = [verdict(listed, survives()), verdict("rule/result/not", noticed())];
    assert!(!good.iter().any(Verdict::is_unexpected));
    let never = [verdict(listed, Fate::NeverAsked), verdict("rule", Fate::NeverAsked)];
    assert!(!never.iter().any(Verdict::is_unexpected));
    assert!(!page::human(&good).contains("UNEXPECTED"));
}

/// The names in one part of the page, each with the other cells of its row.
fn rows<'a>(page: &'a str, title: &str) -> BTreeMap<&'a str, Vec<&'a str>> {
    let part = page.split("\n## ").find(|part| part.starts_with(title)).expect("a part");
    let rows = part.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"));
    rows.map(|row| {
        let mut cells = row.split(" | ");
        (cells.next().expect("a name").trim_end_matches('`'), cells.collect())
    })
    .collect()
}

#[test]
fn what_the_smallest_scenarios_notice_is_what_the_page_says() {
    let page = page_of_the_documents();
    let noticed = rows(&page, "Noticed");
    let mut again = 0;
    for mutant in Mutant::all() {
        let name = &mutant.name[..];
        let said = noticed.get(name).filter(|cells| QUICK.contains(&cells[1]));
        let verdict = judge(&mutant, QUICK, &limits());
        let found = match &verdict.fate {
            Fate::Noticed(scenario, notice) => Some(vec![notice.to_string(), (*scenario).into()]),
            _ => None,
        };
        let said = said.map(|cells| cells.iter().map(|cell| (*cell).to_owned()).collect());
        assert_eq!(found, said, "{name}: docs/mutants.md is older than the rules");
        again += usize::from(found.is_some());
        assert!(page.contains(&format!("\n| `{name}` |")), "{name} is not on the page");
    }
    assert!(again > 100, "only {again} of the page were looked at again");
}
