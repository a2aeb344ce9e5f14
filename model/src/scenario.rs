//! The scenarios: bounds with a purpose, and what can be seen in them.

mod deep;
mod isr;
mod lives;
mod three;

use klog_trace::property::Witness;
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
    pub witnesses: &'static [Witness],
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

/// Every scenario.
pub fn scenarios() -> Vec<Scenario> {
    [lives::scenarios(), isr::scenarios(), three::scenarios(), deep::scenarios()].concat()
}

/// The scenario with this name.
pub fn by_name(name: &str) -> Option<Scenario> {
    scenarios().into_iter().find(|s| s.name == name)
}
