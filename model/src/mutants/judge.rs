//! What notices a mutant: the scenarios of the suite, smallest first, until one does.

use std::fmt;
use std::sync::Arc;

use klog_trace::property::Witness;
use levelwise::Bound;

use super::survivors::reason;
use super::{DIFFERS, Mutant, Put};
use crate::protocol::Protocol;
use crate::rules::Rules;
use crate::scenario::{Scenario, by_name};
use crate::search::{Asked, Files, Found, Goal, Limits, search_with};
use crate::system::System;

/// The scenarios in which mutants are looked for, by the number of states under the correct rules:
/// all of the standard suite but the three largest.
pub const SCENARIOS: [&str; 26] = [
    "timeout",
    "fast-failover",
    "round-behind",
    "lag",
    "fenced",
    "one-crash",
    "min-isr-of-two",
    "isr-race",
    "elr",
    "min-isr",
    "no-elr",
    "checkpoint",
    "power-loss",
    "exact-clock",
    "last-replica",
    "unclean",
    "three-records",
    "clock-jump",
    "under-min-isr",
    "three-lag",
    "shutdown",
    "reset",
    "re-elected",
    "zombie",
    "stale-fetch",
    "both-lose-power",
];

/// Those of the standard suite in which they are not, since each takes too long.
pub const LEFT_OUT: [&str; 3] = ["three-under-min", "three-brokers", "three-power"];

/// The states after which a search ends. No scenario of [`SCENARIOS`] has as many under the
/// correct rules; a mutant may make it endless.
pub const STATES: u64 = 250_000;

/// What shows that a rule was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// This is violated, or lost, in so many steps and no fewer.
    Broken(Goal, usize),
    /// Nothing is, but what the scenario must show cannot be seen.
    Unseen(Witness),
    /// An assertion of the model fails, after so many steps.
    Panicked(String, usize),
}

/// How a mutant fared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Noticed first in this scenario.
    Noticed(&'static str, Notice),
    /// It answers as the rule does to every small question: it is no other rule.
    Same,
    /// It answers as the rule does to whatever is asked in these scenarios.
    NeverAsked,
    /// It answers otherwise, first in this scenario after so many steps, and nothing notices. Cut
    /// are the scenarios that were not looked at to their end.
    Survives {
        /// Where it first answers otherwise.
        differs: (&'static str, usize),
        /// The scenarios in which the limit ended the search.
        cut: Vec<&'static str>,
    },
}

/// A mutant and how it fared.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Its rule.
    pub rule: &'static str,
    /// Its name.
    pub name: String,
    /// How it fared.
    pub fate: Fate,
}

impl Verdict {
    /// Whether it survives without a reason, or has one though it does not.
    pub fn is_unexpected(&self) -> bool {
        let has_reason = reason(&self.name).is_some();
        match self.fate {
            Fate::Survives { .. } => !has_reason,
            Fate::NeverAsked => false,
            Fate::Noticed(..) | Fate::Same => has_reason,
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(goal @ Goal::Lose(_), steps) => {
                write!(f, "lost: {} in {steps}", goal.row().0)
            }
            Self::Broken(goal, steps) => write!(f, "violated: {} in {steps}", goal.row().0),
            Self::Unseen(witness) => write!(f, "not seen: {}", witness.id()),
            Self::Panicked(message, steps) => write!(f, "panic after {steps}: {message}"),
        }
    }
}

/// How a mutant fares in these scenarios, one after the other. One thread; nothing of it depends on
/// time.
pub fn judge(mutant: &Mutant, scenarios: &[&'static str], limits: &Limits) -> Verdict {
    let fate = if mutant.is_the_rule() { Fate::Same } else { fate(mutant, scenarios, limits) };
    Verdict { rule: mutant.rule, name: mutant.name.clone(), fate }
}

fn fate(mutant: &Mutant, scenarios: &[&'static str], limits: &Limits) -> Fate {
    let (mut differs, mut cut) = (None, Vec::new());
    for name in scenarios {
        let scenario = by_name(name).expect("a scenario");
        let watched = find(&mutant.with(Put::Watch), &scenario, Asked::Safety, limits);
        match &watched.figures.panic {
            Some(panic) => differs = differs.or(Some((*name, panic.path.len()))),
            // Where nobody asks what it would answer otherwise, it is the rule.
            None => continue,
        }
        match notice(&mutant.rules(), &scenario, limits) {
            Ok(Some(notice)) => return Fate::Noticed(name, notice),
            Ok(None) => {}
            Err(_) => cut.push(*name),
        }
    }
    differs.map_or(Fate::NeverAsked, |differs| Fate::Survives { differs, cut })
}

fn find(rules: &Rules, scenario: &Scenario, asked: Asked, limits: &Limits) -> Found {
    let rules = *rules;
    let protocol = Protocol::klog().with_own("mutant", move |own| *own = rules);
    let system = Arc::new(System::new(protocol, scenario.bounds.clone()));
    let found = search_with(&system, None, asked, limits, &Files::default());
    found.expect("a search without files begins")
}

/// What notices these rules in a scenario: safety first, then what must be seen, then what must
/// stay possible. It is an error if a limit ended the search and nothing was noticed before.
fn notice(rules: &Rules, scenario: &Scenario, limits: &Limits) -> Result<Option<Notice>, Bound> {
    let found = find(rules, scenario, Asked::Safety, limits);
    if let Some(notice) = broken(&found, |goal| matches!(goal, Goal::Violate(_))) {
        return Ok(Some(notice));
    }
    if let Some(panic) = found.figures.panic {
        let message = panic.message.lines().next().unwrap_or_default().to_owned();
        assert!(message != DIFFERS, "only a rule that is watched says so");
        return Ok(Some(Notice::Panicked(message, panic.path.len())));
    }
    if let Some(bound) = found.figures.bound {
        return Err(bound);
    }
    let seen = |witness: &&Witness| found.path(Goal::Witness(**witness)).is_some();
    if let Some(witness) = scenario.witnesses.iter().find(|witness| !seen(witness)) {
        return Ok(Some(Notice::Unseen(*witness)));
    }
    let found = find(rules, scenario, Asked::Progress, limits);
    Ok(broken(&found, |goal| matches!(goal, Goal::Lose(_))))
}

/// The shortest path to such a goal.
fn broken(found: &Found, such: impl Fn(Goal) -> bool) -> Option<Notice> {
    let paths = found.paths.iter().filter(|path| such(path.0));
    let (goal, path) = paths.min_by_key(|path| path.1.len())?;
    Some(Notice::Broken(*goal, path.len()))
}
