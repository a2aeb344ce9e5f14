//! `check mutants`: each rule changed in each way, and what notices it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use klog_model::mutants::Mutant;
use klog_model::mutants::judge::{Fate, SCENARIOS, STATES, Verdict, judge};
use klog_model::mutants::page;
use klog_model::mutants::survivors::reason;
use klog_model::rules::Rules;
use klog_model::search::Limits;
use serde_json::json;

use super::{Done, unknown};
use crate::args::{MutantFormat, Mutants};
use crate::exit;
use crate::side_by_side::{side_by_side, threads};

/// Judges the mutants, as many side by side as there are threads. Results come in the order of the
/// list.
pub fn mutants(command: &Mutants, interrupted: &Arc<AtomicBool>) -> Done {
    let mut mutants = Mutant::all();
    if let Some(rule) = &command.rule {
        mutants.retain(|mutant| mutant.rule == *rule);
        if mutants.is_empty() {
            return Err(unknown("rule", rule, Rules::NAMES.iter().copied(), "rules"));
        }
    }
    let states = Some(STATES);
    let limits = Limits { states, interrupted: Arc::clone(interrupted), ..Limits::default() };
    keep_panics_quiet();
    let verdicts = judged(&mutants, command.threads, &limits);
    let code = if interrupted.load(Ordering::Relaxed) {
        exit::INTERRUPTED
    } else if verdicts.iter().any(Verdict::is_unexpected) {
        exit::UNEXPECTED
    } else {
        exit::OK
    };
    let text = match command.format {
        MutantFormat::Human => page::human(&verdicts),
        MutantFormat::Markdown => page::markdown(&verdicts),
        MutantFormat::Json => document(&verdicts, code),
    };
    Ok((code, text))
}

/// The name of the threads that judge.
const JUDGE: &str = "judge";

/// What a mutant panics with is a result, and stands in the table.
fn keep_panics_quiet() {
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() != Some(JUDGE) {
            told(panic);
        }
    }));
}

fn judged(mutants: &[Mutant], asked: Option<u16>, limits: &Limits) -> Vec<Verdict> {
    let order: Vec<usize> = (0..mutants.len()).collect();
    side_by_side(threads(asked), JUDGE, &order, |at| {
        let interrupted = limits.interrupted.load(Ordering::Relaxed);
        (!interrupted).then(|| judge(&mutants[at], &SCENARIOS, limits))
    })
}

fn document(verdicts: &[Verdict], code: u8) -> String {
    let mutant = |v: &Verdict| {
        let (result, scenario, by) = match &v.fate {
            Fate::Noticed(scenario, notice) => ("noticed", Some(scenario), Some(notice)),
            Fate::Same => ("same", None, None),
            Fate::NeverAsked => ("never-asked", None, None),
            Fate::Survives { differs, .. } => ("survives", Some(&differs.0), None),
        };
        let by = by.map(ToString::to_string);
        let reason = reason(&v.name);
        let (worth, why) = (reason.map(|row| row.1.word()), reason.map(|row| row.2));
        json!({ "mutant": v.name, "rule": v.rule, "result": result, "scenario": scenario,
            "by": by, "worth": worth, "why": why })
    };
    let mutants: Vec<_> = verdicts.iter().map(mutant).collect();
    let document = json!({ "schema": "klog-mutants/1", "states": STATES, "mutants": mutants,
        "exit": code });
    serde_json::to_string_pretty(&document).expect("plain data") + "\n"
}
