//! The documented exit codes. Of several that apply the first of 70, 130, 12, 16, 15, 3 wins; of
//! a search that was cut, a witness not found is not yet missing.

use std::process::ExitCode;

use klog_model::report::{Audit, Outcome, Report, Row};

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

/// The model panicked, or two searches with other fingerprints differ.
fn failed(report: &Report) -> bool {
    report.panic.is_some() || report.audit == Some(Audit::Differs)
}

/// `check run`: judges the result itself; a loss is a loss even where the ladder expects it.
pub fn of_run(report: &Report) -> u8 {
    let missing = |r: &Row| r.expected == Some(Outcome::Witnessed) && r.result == Outcome::NotFound;
    if failed(report) {
        INTERNAL
    } else if interrupted(std::slice::from_ref(report)) {
        INTERRUPTED
    } else if report.violated().next().is_some() {
        VIOLATION
    } else if !report.complete() || report.properties.iter().any(Row::is_open) {
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
        let found = |row: &&Row| r.complete() || row.result == Outcome::Violated;
        r.properties.iter().filter(found).any(|row| !row.as_expected())
    };
    if reports.iter().any(failed) {
        INTERNAL
    } else if interrupted(reports) {
        INTERRUPTED
    } else if reports.iter().any(differs) {
        UNEXPECTED
    } else if reports.iter().any(|r| !r.as_far_as_asked()) {
        INCOMPLETE
    } else {
        OK
    }
}

#[cfg(test)]
mod tests {
    use klog_model::protocol::Protocol;
    use klog_model::report::{Expectation, Job, run};
    use klog_model::scenario;
    use klog_model::search::{Asked, Files, Limits};
    use klog_trace::property::Witness;

    use super::*;

    /// A small scenario in which error 19 cannot happen, run with these expectations.
    fn report(witnesses: &[Witness], limits: &Limits) -> Report {
        let scenario = scenario::by_name("fast-failover").expect("a scenario");
        let expected = Expectation { violated: Vec::new(), witnesses: witnesses.to_vec() };
        let job = Job {
            scenario: scenario.name.to_owned(),
            protocol: Protocol::klog(),
            bounds: scenario.bounds,
            only: None,
            asked: Asked::Safety,
            expected: Some(expected),
        };
        run(&job, limits, &Files::default()).expect("without files it begins")
    }

    #[test]
    fn an_expected_witness_that_is_not_seen_fails_the_run_and_the_suite() {
        let seen = report(&[Witness::Truncation], &Limits::default());
        assert_eq!((of_run(&seen), of_suite(&[seen])), (OK, OK));
        let missing = report(&[Witness::Truncation, Witness::Error19], &Limits::default());
        assert_eq!((of_run(&missing), of_suite(&[missing])), (NO_WITNESS, UNEXPECTED));
    }

    #[test]
    fn a_witness_that_was_not_seen_before_the_end_is_not_missing() {
        let limits = Limits { states: Some(10), ..Limits::default() };
        let cut = report(&[Witness::Error19], &limits);
        assert_eq!((of_run(&cut), of_suite(&[cut])), (INCOMPLETE, INCOMPLETE));
    }

    #[test]
    fn an_interruption_wins() {
        let limits = Limits::default();
        limits.interrupted.store(true, std::sync::atomic::Ordering::Relaxed);
        let ended = report(&[Witness::Error19], &limits);
        assert_eq!((of_run(&ended), of_suite(&[ended])), (INTERRUPTED, INTERRUPTED));
    }
}
