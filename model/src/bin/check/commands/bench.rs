//! `check bench`: this project's engine beside others, each run in a process of its own.

use std::fmt::Write as _;
use std::process::Command;

use klog_model::bench::{BENCHES, Bench, Case, Measured, Reference};
use serde::Serialize;

use super::{Done, Problem};
use crate::args::{self, Format};
use crate::exit;

#[derive(Serialize)]
struct Document {
    benches: Vec<Compared>,
    /// The system's load before each comparison, over a minute; none where it does not tell.
    load: Vec<Option<f64>>,
}

#[derive(Serialize)]
struct Compared {
    name: &'static str,
    ours: Figures,
    reference: Beside,
    ratio: f64,
}

#[derive(Serialize)]
struct Figures {
    unique: u64,
    generated: u64,
    seconds: f64,
    unique_per_second: f64,
    generated_per_second: f64,
    bytes_per_state: f64,
}

#[derive(Serialize)]
struct Beside {
    name: &'static str,
    #[serde(flatten)]
    figures: Figures,
}

/// Runs the command.
pub fn bench(command: &args::Bench) -> Done {
    if let Some(name) = &command.case {
        let case = Case::by_name(name).ok_or_else(|| {
            let names: Vec<String> = Case::all().into_iter().map(Case::name).collect();
            format!("there is no case `{name}`; choose one of {}", names.join(", "))
        })?;
        let measured = serde_json::to_string(&case.run()).expect("plain figures");
        return Ok((exit::OK, measured + "\n"));
    }
    let wanted = |bench: &&Bench| command.only.as_ref().is_none_or(|only| only == bench.name);
    let benches: Vec<&Bench> = BENCHES.iter().filter(wanted).collect();
    if benches.is_empty() {
        let names = BENCHES.map(|bench| bench.name).join(", ");
        return Err(format!("there is no such bench; choose one of {names}"));
    }
    let mut document = Document { benches: Vec::new(), load: Vec::new() };
    for bench in benches {
        document.load.push(load());
        document.benches.push(compare(bench, command.runs)?);
    }
    let text = match command.format {
        Format::Json => serde_json::to_string_pretty(&document).expect("plain figures") + "\n",
        Format::Human => table(&document, command.runs),
    };
    Ok((exit::OK, text))
}

/// Each in turn, so that what else the machine does falls on both.
fn compare(bench: &Bench, runs: u8) -> Result<Compared, Problem> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        ours.push(one_run(bench.ours)?);
        if let Reference::Case(_, case) = bench.reference {
            theirs.push(one_run(case)?);
        }
    }
    let (name, theirs) = match bench.reference {
        Reference::Case(name, _) => (name, median(theirs)),
        Reference::Figure(name, figure) => (name, figure),
    };
    let ours = median(ours);
    Ok(Compared {
        name: bench.name,
        ratio: ours.unique_per_second() / theirs.unique_per_second(),
        ours: figures(ours),
        reference: Beside { name, figures: figures(theirs) },
    })
}

fn one_run(case: Case) -> Result<Measured, Problem> {
    let failed = |what: String| format!("the run of {} failed: {what}", case.name());
    let this = std::env::current_exe().map_err(|e| failed(e.to_string()))?;
    let run = Command::new(this).args(["bench", "--case", &case.name()]).output();
    let run = run.map_err(|e| failed(e.to_string()))?;
    let stderr = String::from_utf8_lossy(&run.stderr);
    serde_json::from_slice(&run.stdout).map_err(|e| failed(format!("{e}; it said: {stderr}")))
}

/// By time.
fn median(mut runs: Vec<Measured>) -> Measured {
    runs.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    runs[runs.len() / 2]
}

fn figures(of: Measured) -> Figures {
    Figures {
        unique: of.unique,
        generated: of.generated,
        seconds: of.seconds,
        unique_per_second: of.unique_per_second(),
        generated_per_second: of.generated_per_second(),
        bytes_per_state: of.bytes_per_state(),
    }
}

fn load() -> Option<f64> {
    let told = std::fs::read_to_string("/proc/loadavg").ok()?;
    told.split(' ').next()?.parse().ok()
}

fn table(document: &Document, runs: u8) -> String {
    let mut text = format!("median of {runs} runs, each in a process of its own\n\n");
    for (bench, load) in document.benches.iter().zip(&document.load) {
        let _ = writeln!(text, "{}  (load {})", bench.name, load.unwrap_or(f64::NAN));
        let mut line = |who: &str, of: &Figures| {
            let _ = writeln!(
                text,
                "  {who:<16}{:>12} states  {:>8.3} s  {:>6.2} M unique/s  {:>6.2} M generated/s  \
                 {:>7.1} bytes a state",
                of.unique,
                of.seconds,
                of.unique_per_second / 1e6,
                of.generated_per_second / 1e6,
                of.bytes_per_state,
            );
        };
        line("ours", &bench.ours);
        line(bench.reference.name, &bench.reference.figures);
        let _ = writeln!(text, "  ratio {:.2}\n", bench.ratio);
    }
    text
}
