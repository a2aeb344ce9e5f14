//! The documented exit codes. Of several that apply the first of 70, 130, 12, 16, 15, 3 wins; of
//! a search that was cut, a witness not found is not yet missing.

use std::process::ExitCode;

use klog_model::report::{Outcome, Report};

/// All as expected and exhausted.
pub const OK: u8 = 0;
/// Usage, or unreadable input.
pub const USAGE: u8 = 2;
/// A limit ended the search and nothing was violated.
pub const INCOMPLETE: u8 = 3;
/// A safety property is violated.
pub const VIOLATION: u8 = 12;
/// A witness was not found.
pub const NO_WITNESS: u8 = 15;
/// A verdict differs from the expected one.
pub const UNEXPECTED: u8 = 16;
/// Internal error.
pub const INTERNAL: u8 = 70;
/// Interrupted by the user.
pub const INTERRUPTED: u8 = 130;

/// The process exit code.
pub fn code(code: u8) -> ExitCode {
    ExitCode::from(code)
}

fn interrupted(reports: &[Report]) -> bool {
    reports.iter().any(|r| r.bounded_by == Some("interruption"))
}

/// `check run`: judges the result itself; a loss is a loss even where the ladder expects it.
pub fn of_run(report: &Report) -> u8 {
    let missing = |r: &klog_model::report::Row| {
        r.expected == Some(Outcome::Witnessed) && r.result == Outcome::NotFound
    };
    if interrupted(std::slice::from_ref(report)) {
        INTERRUPTED
    } else if report.violated().next().is_some() {
        VIOLATION
    } else if !report.complete() {
        INCOMPLETE
    } else if report.properties.iter().any(missing) {
        NO_WITNESS
    } else {
        OK
    }
}

/// `check` without a command: a violation as expected counts as met.
pub fn of_suite(reports: &[Report]) -> u8 {
    // In a search that was cut nothing is known to differ but what was found.
    let differs = |r: &Report| {
        let found =
            |row: &&klog_model::report::Row| r.complete() || row.result == Outcome::Violated;
        r.properties.iter().filter(found).any(|row| !row.as_expected())
    };
    if interrupted(reports) {
        INTERRUPTED
    } else if reports.iter().any(differs) {
        UNEXPECTED
    } else if reports.iter().any(|r| !r.complete()) {
        INCOMPLETE
    } else {
        OK
    }
}
