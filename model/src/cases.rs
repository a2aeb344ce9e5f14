//! The public reports of faults in replicated logs, and what became of each here.
//!
//! To add a report: an entry in its part, and a row in docs/reports.md. docs/cases.md is written
//! from the table by `UPDATE_GOLDEN=1 cargo test -p klog-conform cases`.

mod derived;
mod disk;
mod elections;
mod isr;
mod lives;
mod relatives;
mod retries;
mod truncation;
mod watermark;
mod wire;

use std::fmt::Write as _;

use crate::fault::{Caught, Fault};

/// A fault that a replicated log had, or may have.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its code: `B` and a number for a public report, `X` for what this project derived.
    pub code: &'static str,
    /// What goes wrong.
    pub title: &'static str,
    /// Where it was reported.
    pub report: &'static str,
    /// What became of it here.
    pub how: How,
}

/// What became of a case here.
#[derive(Clone, Copy, Debug)]
pub enum How {
    /// It is this broken rule of the model; what notices it stands with the rule.
    Fault(Fault),
    /// Its steps are those of the script with this name ([`crate::scripts`]).
    Script(&'static str),
    /// A test of the real code shows that it comes out right: `impl/src/...rs::function`.
    Test(&'static str),
    /// It cannot be said here.
    NotHere {
        /// Why not.
        why: &'static str,
        /// The nearest thing that can: a fault's name, another case's code, or a test.
        nearest: &'static str,
    },
}

/// Cases that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// What they have in common.
    pub title: &'static str,
    /// The cases, in the order of their codes.
    pub cases: &'static [Case],
}

/// Every part.
pub const PARTS: [Part; 10] = [
    Part { title: "Truncation, epochs, fencing", cases: truncation::CASES },
    Part { title: "Changes of the ISR", cases: isr::CASES },
    Part { title: "Lives of brokers", cases: lives::CASES },
    Part { title: "Elections and eligible replicas", cases: elections::CASES },
    Part { title: "High watermark and clients", cases: watermark::CASES },
    Part { title: "Storage", cases: disk::CASES },
    Part { title: "Retries", cases: retries::CASES },
    Part { title: "Other protocols", cases: relatives::CASES },
    Part { title: "Clocks and the wire", cases: wire::CASES },
    Part { title: "Derived here", cases: derived::CASES },
];

/// Every case, part by part.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    PARTS.iter().flat_map(|part| part.cases)
}

impl Case {
    /// The case in one line.
    pub fn line(&self) -> String {
        let Self { code, title, report, how } = self;
        format!("{code:<5} {title} ({report}): {}", how.told(str::to_owned))
    }

    /// The case as a row of a table.
    fn row(&self) -> String {
        let Self { code, title, report, how } = self;
        format!("| {code} | {title} | {report} | {} |", how.told(|name| format!("`{name}`")))
    }
}

impl How {
    /// What became of it in a few words, each name in them as `shown`.
    fn told(self, shown: impl Fn(&str) -> String) -> String {
        let fault = |fault: Fault| shown(fault.info().name);
        match self {
            Self::Fault(broken) => match broken.info().caught {
                Caught::By(scenario, goal, steps) => {
                    let (property, scenario) = (shown(goal.row().0), shown(scenario));
                    format!("fault {}: {property} in {scenario}, {steps} steps", fault(broken))
                }
                Caught::With(other, scenario, goal, steps) => {
                    let (property, scenario) = (shown(goal.row().0), shown(scenario));
                    let both = format!("{} with {}", fault(broken), fault(other));
                    format!("fault {both}: {property} in {scenario}, {steps} steps")
                }
                Caught::Never(_, why) => {
                    format!("fault {}: caught by nothing: {why}", fault(broken))
                }
            },
            Self::Script(name) => format!("script {}", shown(name)),
            Self::Test(name) => format!("test {}", shown(name)),
            Self::NotHere { why, nearest } => {
                format!("not here: {why}; nearest: {}", shown(nearest))
            }
        }
    }
}

/// What stands above the tables of [`markdown`].
const HEAD: &str = "\
# Public faults, and what became of each here

Faults that replicated logs had, as they were reported, and a few that this project derived. The
page is written by `model/src/cases.rs::markdown`; `check list cases` prints the same.

- **fault**: a rule of the model that can be broken so. Behind it stand the property that notices,
  in which scenario, and after how many steps at the earliest (`check list faults`).
- **script**: the steps of the report, one by one, played to the model and to the code.
- **test**: a test of the code that shows it come out right.
- **not here**: why it cannot be said here ([limits.md](limits.md)), and what comes nearest.

Where to look a report up says [reports.md](reports.md).

";

/// The page docs/cases.md: how many cases there are, and one table for each part.
pub fn markdown() -> String {
    let count = |is: fn(&How) -> bool| cases().filter(|case| is(&case.how)).count();
    let faults = count(|how| matches!(how, How::Fault(_)));
    let scripts = count(|how| matches!(how, How::Script(_)));
    let tests = count(|how| matches!(how, How::Test(_)));
    let absent = count(|how| matches!(how, How::NotHere { .. }));
    let mut page = HEAD.to_owned();
    let all = cases().count();
    let _ = writeln!(
        page,
        "{all} cases: {faults} faults, {scripts} scripts, {tests} tests, {absent} not here."
    );
    for Part { title, cases } in PARTS {
        let _ = writeln!(page, "\n## {title}\n\n| code | what goes wrong | report | here |");
        page.push_str("|---|---|---|---|\n");
        for case in cases {
            page.push_str(&case.row());
            page.push('\n');
        }
    }
    page
}
