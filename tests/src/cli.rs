//! The command line.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand, ValueEnum};
use klog::disk::{FsDisk, MemDisk};
use klog_conform::adapter::Storage;
use klog_conform::files;
use klog_conform::replay::{Doomed, Failure, Replayed, Why, replay};
use klog_trace::usage::say;
use klog_trace::{Trace, check_header};
use serde::Serialize;

/// Exit code of a wrong use or an unreadable trace.
pub const USAGE: u8 = 2;
/// Exit code when this program itself fails.
pub const INTERNAL: u8 = 70;
/// Exit codes, the one that wins first.
const PRIORITY: [u8; 4] = [INTERNAL, 17, 18, USAGE];

const EXAMPLES: &str = "\
Examples:
  conform replay                            every committed trace, on memory and on real files
  conform replay traces/conform             a folder
  conform replay x.jsonl --disk memory      one trace, on memory alone
  conform replay --format json              one document for machines

Exit codes:
  0   every trace showed what it had to show
  2   wrong use, or a trace that cannot be read
  17  model and code differ
  18  a trace no longer replays: a step is not enabled, or a predicted difference is missing
  70  this program failed
";

/// Drives the real code by what the model says, and compares everything.
#[derive(Debug, Parser)]
#[command(name = "conform", version, before_help = EXAMPLES, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Replay traces on the real code.
    #[command(before_help = EXAMPLES)]
    Replay(Replay),
}

#[derive(Debug, clap::Args)]
struct Replay {
    /// Trace files, or folders of them; without any, every committed trace.
    traces: Vec<PathBuf>,
    /// Where the logs lie; without it, both.
    #[arg(long)]
    disk: Option<DiskKind>,
    /// How the results are printed.
    #[arg(long, default_value = "human")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DiskKind {
    /// Memory that loses what was not flushed.
    Memory,
    /// Files in a temporary directory, really flushed.
    Files,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line per trace.
    Human,
    /// One document.
    Json,
}

/// One replay, as it is printed.
#[derive(Debug, Serialize)]
struct Outcome {
    trace: String,
    disk: &'static str,
    /// Steps taken on the real code.
    steps: usize,
    result: &'static str,
    /// The step at which the code parted from the trace, as predicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    parted: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<Told>,
    exit: u8,
    /// The whole report, for a reader.
    #[serde(skip)]
    report: String,
}

/// A failure, for machines.
#[derive(Debug, Serialize)]
struct Told {
    step: usize,
    line: usize,
    what: String,
    differences: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    node: u8,
    field: String,
    trace: String,
    code: String,
}

#[derive(Debug, Serialize)]
struct Document {
    schema: &'static str,
    replays: Vec<Outcome>,
    steps: usize,
    failed: usize,
    exit: u8,
}

/// Runs the command and returns the exit code.
pub fn run(args: &Args) -> u8 {
    let Command::Replay(wanted) = &args.command;
    let found = if wanted.traces.is_empty() {
        std::env::current_dir()
            .map_err(|e| format!("the current directory: {e}; name the traces to replay"))
            .and_then(|here| committed_from(&here))
    } else {
        files::find(&wanted.traces)
    };
    let found = match found {
        Ok(found) => found,
        Err(what) => return complain(&what),
    };
    let mut outcomes = Vec::new();
    for path in found {
        let shown = path.display().to_string();
        match files::read(&path) {
            Ok(trace) => {
                let from = outcomes.len();
                outcomes.extend(replay_all(&shown, &trace, wanted.disk));
                // A difference says more than a header that is not true.
                if outcomes[from..].iter().all(|o| o.exit == 0)
                    && let Err(what) = check_header(&trace)
                {
                    outcomes.truncate(from);
                    outcomes.push(unreadable(shown.clone(), format!("{shown}: {what}")));
                }
            }
            Err(report) => outcomes.push(unreadable(shown, report)),
        }
    }
    let exit = exit_of(&outcomes);
    // Reports first: they are the result, and standard output may be closed already.
    for outcome in outcomes.iter().filter(|outcome| !outcome.report.is_empty()) {
        say(outcome.report.trim_end());
    }
    match print(outcomes, wanted.format, exit) {
        // Whoever reads no further wants no more.
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            say(&format!("standard output: {e}; give room to write to"));
            INTERNAL
        }
        _ => exit,
    }
}

fn exit_of(outcomes: &[Outcome]) -> u8 {
    let wins = |code: &u8| outcomes.iter().any(|o| o.exit == *code);
    PRIORITY.into_iter().find(wins).unwrap_or(0)
}

/// The committed traces, by their short names where they lie below `here`.
fn committed_from(here: &Path) -> Result<Vec<PathBuf>, String> {
    let shorten = |path: PathBuf| path.strip_prefix(here).map_or(path.clone(), Path::to_owned);
    Ok(files::committed(here)?.into_iter().map(shorten).collect())
}

fn complain(what: &str) -> u8 {
    say(what);
    USAGE
}

fn replay_all(path: &str, trace: &Trace, only: Option<DiskKind>) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    if only != Some(DiskKind::Files) {
        outcomes.push(replay_one::<MemDisk>(path, trace));
    }
    if only != Some(DiskKind::Memory) {
        outcomes.push(replay_one::<FsDisk>(path, trace));
    }
    outcomes
}

fn replay_one<D: Storage>(path: &str, trace: &Trace) -> Outcome {
    let outcome = Outcome {
        trace: path.to_owned(),
        disk: D::NAME,
        steps: 0,
        result: "agrees",
        parted: None,
        failure: None,
        exit: 0,
        report: String::new(),
    };
    match replay::<D>(trace, Doomed::Once) {
        Ok(Replayed { steps, parted, .. }) => Outcome {
            steps,
            result: if parted.is_some() { "parts as predicted" } else { "agrees" },
            parted,
            ..outcome
        },
        Err(failure) => Outcome {
            steps: failure.step,
            result: failure.result(),
            exit: failure.exit_code(),
            report: failure.report(path, D::NAME),
            failure: Some(told(&failure)),
            ..outcome
        },
    }
}

fn told(failure: &Failure) -> Told {
    let differences = match &failure.why {
        Why::Differs(mismatch) => &mismatch.differences[..],
        _ => &[],
    };
    let row = |d: &klog_conform::replay::NodeDifference| Row {
        node: d.node,
        field: d.difference.field.clone(),
        trace: d.difference.left.clone(),
        code: d.difference.right.clone(),
    };
    Told {
        step: failure.step,
        line: failure.line,
        what: failure.headline(),
        differences: differences.iter().map(row).collect(),
    }
}

fn unreadable(trace: String, report: String) -> Outcome {
    Outcome {
        trace,
        disk: "none",
        steps: 0,
        result: "unreadable",
        parted: None,
        failure: Some(Told { step: 0, line: 0, what: report.clone(), differences: Vec::new() }),
        exit: USAGE,
        report: report + "\n",
    }
}

/// Prints the results on standard output.
fn print(replays: Vec<Outcome>, format: Format, exit: u8) -> io::Result<()> {
    let failed = replays.iter().filter(|o| o.exit != 0).count();
    let steps = replays.iter().map(|o| o.steps).sum();
    let mut out = io::stdout().lock();
    if format == Format::Human {
        for Outcome { trace, disk, steps, result, parted, .. } in &replays {
            let at = parted.map_or(String::new(), |step| format!(" in step {step}"));
            writeln!(out, "{trace}  {disk}  {steps} steps  {result}{at}")?;
        }
        let count = replays.len();
        writeln!(out, "{count} replays, {steps} steps, {failed} failed")?;
    } else {
        let document = Document { schema: "klog-conform/1", replays, steps, failed, exit };
        serde_json::to_writer(&mut out, &document)?;
        writeln!(out)?;
    }
    out.flush()
}
