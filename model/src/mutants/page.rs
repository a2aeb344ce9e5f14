//! The table of mutants: what notices each, or why nothing does.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::judge::{Fate, LEFT_OUT, Notice, STATES, Verdict};
use super::survivors::{Worth, reason};
use crate::search::Goal;
use crate::text::thousands;

const HEAD: &str = "\
# Mutants of the specification

Each rule of `model/src/rules.rs::Rules` with one argument, or its result, changed in one way, and
what of the suite notices it. This page is written by `model/src/mutants/page.rs::markdown`:

```text
cargo run --bin check -- mutants --format markdown > docs/mutants.md
```

A name is rule, place and way: in `readable/result/leo` the argument `leo` is the result, in
`joins/join.hw/zero` the high watermark that the rule is told is 0. The scenarios are tried one
after the other, the smallest first: properties, then what must be seen, then what must stay
possible. The first that notices stands in the table. *Never asked* is a mutant that answers as the
rule does to whatever is asked in all these scenarios.

What survives is worth one of three: *no difference*, since another rule sees to it or the case
cannot be; *safe*, since nothing is broken that the protocol promises; *WEAK*, where something
should notice and nothing does yet. The reasons stand in
`model/src/mutants/survivors.rs::SURVIVORS`.
";

fn told(verdict: &Verdict) -> (String, &'static str) {
    match &verdict.fate {
        Fate::Noticed(scenario, notice) => (notice.to_string(), scenario),
        Fate::Same => ("the same rule".into(), "-"),
        Fate::NeverAsked => ("never asked".into(), "-"),
        Fate::Survives { differs: (scenario, steps), cut } => {
            let what = if cut.is_empty() {
                format!("not noticed; answers otherwise after {steps}")
            } else {
                let cut = cut.join(", ");
                format!("not noticed; answers otherwise after {steps}; cut in {cut}")
            };
            (what, scenario)
        }
    }
}

/// How many of what.
pub fn figures(verdicts: &[Verdict]) -> String {
    let count = |such: fn(&Fate) -> bool| verdicts.iter().filter(|v| such(&v.fate)).count();
    let rules: BTreeSet<&str> = verdicts.iter().map(|v| v.rule).collect();
    let same = count(|fate| *fate == Fate::Same);
    let noticed = count(|fate| matches!(fate, Fate::Noticed(..)));
    let by = |of: fn(&Notice) -> bool| {
        let by = |v: &&Verdict| matches!(&v.fate, Fate::Noticed(_, notice) if of(notice));
        verdicts.iter().filter(by).count()
    };
    format!(
        "{} mutants of {} rules: {noticed} noticed (a property {}, what must be seen {}, what must \
         stay possible {}, a panic {}), {} never asked, {} survive; beside them {same} ways that \
         make no other rule",
        verdicts.len() - same,
        rules.len(),
        by(|notice| matches!(notice, Notice::Broken(Goal::Violate(_), _))),
        by(|notice| matches!(notice, Notice::Unseen(_))),
        by(|notice| matches!(notice, Notice::Broken(Goal::Lose(_), _))),
        by(|notice| matches!(notice, Notice::Panicked(..))),
        count(|fate| *fate == Fate::NeverAsked),
        count(|fate| matches!(fate, Fate::Survives { .. })),
    ) + &weak(verdicts)
}

/// How many of the survivors should not.
fn weak(verdicts: &[Verdict]) -> String {
    let survives = |v: &&Verdict| matches!(v.fate, Fate::Survives { .. });
    let is_weak = |v: &&Verdict| reason(&v.name).is_some_and(|row| row.1 == Worth::Weak);
    match verdicts.iter().filter(survives).filter(is_weak).count() {
        0 => String::new(),
        weak => format!("; {weak} survivors show a weakness of the suite"),
    }
}

fn within() -> String {
    let (left, last) = (&LEFT_OUT[..LEFT_OUT.len() - 1], LEFT_OUT[LEFT_OUT.len() - 1]);
    format!(
        "Looked at: each scenario of the standard suite but {} and {last}, and {} states of each \
         at most, which no scenario has under the correct rules.",
        left.join(", "),
        thousands(STATES),
    )
}

/// What was unexpected, one line each.
fn unexpected(verdicts: &[Verdict]) -> impl Iterator<Item = String> {
    verdicts.iter().filter(|v| v.is_unexpected()).map(|v| match v.fate {
        Fate::Survives { .. } => format!("{} survives and has no reason", v.name),
        _ => format!("{} has a reason to survive, and does not", v.name),
    })
}

/// For people.
pub fn human(verdicts: &[Verdict]) -> String {
    let mut text = String::new();
    let survives = |v: &&Verdict| matches!(v.fate, Fate::Survives { .. });
    let (last, first): (Vec<&Verdict>, Vec<&Verdict>) =
        verdicts.iter().filter(|v| v.fate != Fate::Same).partition(survives);
    for verdict in first.iter().chain(&last) {
        let (what, scenario) = told(verdict);
        let _ = writeln!(text, "{:<46} {what:<50} {scenario}", verdict.name);
        if let Some((_, worth, why)) = reason(&verdict.name) {
            let _ = writeln!(text, "{:<46} {}: {why}", "", worth.word());
        }
    }
    let _ = writeln!(text, "\n{}\n{}", within(), figures(verdicts));
    for line in unexpected(verdicts) {
        let _ = writeln!(text, "UNEXPECTED: {line}");
    }
    text
}

/// The page of the documents.
pub fn markdown(verdicts: &[Verdict]) -> String {
    let mut text = format!("{HEAD}\n{}\n\n**{}.**\n", within(), figures(verdicts));
    let mut part = |title: &str, columns: &[&str], such: fn(&Fate) -> bool| {
        let _ = write!(text, "\n## {title}\n\n| {} |\n", columns.join(" | "));
        let _ = writeln!(text, "|{}", "---|".repeat(columns.len()));
        for verdict in verdicts.iter().filter(|v| such(&v.fate)) {
            let _ = writeln!(text, "| {} |", cells(verdict, columns).join(" | "));
        }
    };
    let survives = |fate: &Fate| matches!(fate, Fate::Survives { .. });
    let noticed = |fate: &Fate| matches!(fate, Fate::Noticed(..));
    part("Not noticed", &["mutant", "result", "scenario", "worth", "why"], survives);
    part("Never asked", &["mutant", "worth", "why"], |fate| *fate == Fate::NeverAsked);
    part("Noticed", &["mutant", "result", "scenario"], noticed);
    part("The same rule", &["mutant"], |fate| *fate == Fate::Same);
    text
}

/// A mutant's row.
fn cells(verdict: &Verdict, columns: &[&str]) -> Vec<String> {
    let (result, scenario) = told(verdict);
    let (worth, why) =
        reason(&verdict.name).map_or(("-", "-"), |(_, worth, why)| (worth.word(), why));
    let cell = |column: &&str| match *column {
        "mutant" => format!("`{}`", verdict.name),
        "result" => result.clone(),
        "scenario" => scenario.to_owned(),
        "worth" => worth.to_owned(),
        _ => why.to_owned(),
    };
    columns.iter().map(cell).collect()
}
