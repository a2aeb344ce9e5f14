//! The scenarios: bounds with a purpose, and what can be seen in them.

mod deep;
mod isr;
mod lives;
mod three;

use klog_trace::property::Witness::{
    self, Acknowledged, Diverging, Fenced, IsrExpanded, IsrShrunk, LagOfOneRound, ReadToTheEnd,
    Truncation, UnknownEpoch,
};
use klog_trace::trace::Bounds;

/// Bounds with a purpose.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub sentence: &'static str,
    /// Its bounds.
    pub bounds: Bounds,
    /// Every witness that the correct protocol can show in it, so that it must.
    pub witnesses: Vec<Witness>,
    /// The smallest suite that has it.
    pub suite: Suite,
}

/// Which suite a scenario is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// What `check` runs without arguments: under a minute.
    Ci,
    /// What `check --suite deep` runs: under an hour.
    Deep,
    /// The same, down to this level and no further (the initial state's is the first).
    DeepTo(u32),
    /// No suite.
    None,
}

/// The bounds of two brokers and two records with no perturbation at all, to be widened.
const PLAIN: Bounds = {
    let mut bounds = Bounds::NOTHING;
    bounds.records = 2;
    bounds
};

/// What nearly every scenario shows.
const USUAL: [Witness; 9] = [
    Acknowledged,
    ReadToTheEnd,
    LagOfOneRound,
    Truncation,
    IsrShrunk,
    Diverging,
    Fenced,
    IsrExpanded,
    UnknownEpoch,
];

/// What a scenario shows: what is usual but for `not`, and `more`. That anything is answered and
/// read at all comes first, since nothing else is worth much without.
fn shows(not: &[Witness], more: &[Witness]) -> Vec<Witness> {
    let usual = USUAL.iter().filter(|witness| !not.contains(witness));
    let mut all: Vec<Witness> = usual.chain(more).copied().collect();
    all.sort_by_key(|witness| (!matches!(witness, Acknowledged | ReadToTheEnd), *witness));
    all
}

/// Every scenario.
pub fn scenarios() -> Vec<Scenario> {
    [lives::scenarios(), isr::scenarios(), three::scenarios(), deep::scenarios()].concat()
}

/// The scenario with this name.
pub fn by_name(name: &str) -> Option<Scenario> {
    scenarios().into_iter().find(|s| s.name == name)
}
