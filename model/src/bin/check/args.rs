//! The command line.

mod subject;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

pub use subject::Subject;
use subject::within;

const EXAMPLES: &str = "\
Examples:
  check                                             the standard suite, about a minute
  check --suite deep                                large scenarios, up to an hour
  check run --scenario one-crash --protocol kafka-0.10
                                                    the shortest way to lose a record
  check run --scenario one-crash --fault truncate-to-hw --format json
  check run --brokers 3 --records 2 --moves 1 --crashes 1 --min-isr 2
  check run --scenario one-crash --protocol kafka-0.10 --record out
                                                    the same, as traces for show and conform replay
  check run --scenario three-brokers --memory-limit 256M --spill big --checkpoint kept
                                                    with files when memory is short, and kept
  check run --scenario three-brokers --resume kept  the same search, another day
  check twin --module kip320 --replicas 3 --log-size 2 --max-records 2 --max-leader-epoch 2
                                                    the public TLA+ module, count for count
  check show traces/diverge/kip101-scenario-1.jsonl
  check explore --scenario one-crash --protocol kafka-0.10
";

/// Does a replication rule lose a committed record under any interleaving?
#[derive(Debug, Parser)]
#[command(
    name = "check",
    version,
    before_help = EXAMPLES,
    max_term_width = 100,
    args_conflicts_with_subcommands = true
)]
pub struct Args {
    /// What to do; without a command, the standard suite.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Which suite: the standard one takes a minute, the deep one up to an hour, on two cores with
    /// 16 GiB.
    #[arg(long, value_enum, default_value_t = Suite::Ci)]
    pub suite: Suite,
    /// Limits and output of the suite.
    #[command(flatten)]
    pub output: Output,
}

/// What `check` runs without a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// The ladder, every fault, and klog in each scenario that takes seconds.
    Ci,
    /// klog in large scenarios; what must stay possible is not asked there.
    Deep,
}

impl Args {
    /// Whether an interruption must still print what was found.
    pub fn searches(&self) -> bool {
        use Command::{Mutants, Run, Twin};
        matches!(self.command, None | Some(Run(_) | Twin(_) | Mutants(_)))
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Search one scenario under one protocol and judge the result.
    Run(Run),
    /// Search a module of the public TLA+ ladder, to be compared with TLC.
    Twin(Twin),
    /// Change each rule in each way, and tell what notices it.
    Mutants(Mutants),
    /// Measure the engine beside others.
    Bench(Bench),
    /// List what there is.
    List(List),
    /// Record counterexamples and witnesses as traces.
    Record(Record),
    /// Print a trace step by step, or draw it.
    Show(Show),
    /// Explore a scenario in the browser, with sequence diagrams.
    Explore(Explore),
}

/// How results are printed, and when a search ends early.
#[derive(Clone, Debug, ClapArgs)]
pub struct Output {
    /// How to print the result.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// End each search as soon as this many distinct states are known, and all that the last one
    /// leads to (exit 3).
    #[arg(long, value_name = "N", allow_negative_numbers = true,
        value_parser = count)]
    pub max_states: Option<u64>,
    /// End the whole run after this many seconds (exit 3).
    #[arg(long, value_name = "S", allow_negative_numbers = true,
        value_parser = clap::value_parser!(i64).range(1..=31_536_000))]
    pub max_seconds: Option<i64>,
    /// Look no further than this many levels, the initial state's being the first (exit 3).
    #[arg(long, value_name = "N", allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub max_depth: Option<u32>,
    /// End each search that needs more memory than this for its states, such as 512M or 16G
    /// (exit 3); with --spill it goes on.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = size)]
    pub memory_limit: Option<u64>,
    /// Threads: of one search, or of the suite, whose searches run side by side. Results are the
    /// same for any number.
    #[arg(long, value_name = "N", allow_negative_numbers = true,
        value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
    /// Who searches.
    #[arg(long, value_enum, default_value_t = Engine::Levelwise)]
    pub engine: Engine,
    /// Search again with other fingerprints, and compare (exit 70 if the two differ).
    #[arg(long)]
    pub audit: bool,
}

/// What a search keeps in files.
#[derive(Clone, Debug, ClapArgs)]
pub struct Files {
    /// Go on with files in this folder when --memory-limit is reached, instead of ending. The
    /// result is the same.
    #[arg(long, value_name = "FOLDER")]
    pub spill: Option<PathBuf>,
    /// Keep a checkpoint in this folder, level by level, to go on with the search another time.
    #[arg(long, value_name = "FOLDER")]
    pub checkpoint: Option<PathBuf>,
    /// Go on with the checkpoint in this folder, and go on keeping it. The result is the same as
    /// in one go.
    #[arg(long, value_name = "FOLDER", conflicts_with = "checkpoint")]
    pub resume: Option<PathBuf>,
}

/// A number of states.
fn count(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("it is not in 1..={}", u64::MAX))
}

/// A number of bytes, with K, M or G for powers of 1024.
fn size(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.trim_end_matches(['i', 'B']).split_at_checked(text.len() - 1) {
        Some((digits, "K")) => (digits, 10),
        Some((digits, "M")) => (digits, 20),
        Some((digits, "G")) => (digits, 30),
        _ => (text, 0),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(1 << shift));
    let bytes = bytes.filter(|bytes| *bytes >= 1 << 20);
    let most = u64::MAX >> 30;
    bytes.ok_or_else(|| format!("say a number of bytes such as 512M or 16G, from 1M to {most}G"))
}

/// See [`klog_model::search::Engine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// This project's own.
    Levelwise,
    /// stateright's breadth-first checker, for comparison (not of `check twin`).
    Stateright,
    /// The same search as a timely dataflow (what --hosts uses).
    Timely,
}

/// Output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Human,
    /// One document.
    Json,
}

/// One search by several processes.
#[derive(Clone, Debug, ClapArgs)]
pub struct Across {
    /// Search together with other processes: a file with the HOST:PORT of each, one a line.
    #[arg(long, value_name = "FILE", requires = "process")]
    #[arg(conflicts_with_all = ["spill", "checkpoint", "resume"])]
    pub hosts: Option<PathBuf>,
    /// Which of the hosts this process is, from 0.
    #[arg(long, value_name = "N", requires = "hosts")]
    pub process: Option<usize>,
    /// How long to wait for the other processes to be there.
    #[arg(long, value_name = "S", default_value_t = 60, requires = "hosts")]
    pub wait_seconds: u16,
}

/// `check run`.
#[derive(Debug, ClapArgs)]
pub struct Run {
    #[command(flatten)]
    pub subject: Subject,
    /// Judge only this property or witness (`check list properties`).
    #[arg(long)]
    pub property: Option<String>,
    /// Check what must stay possible too: that the partition can settle, and that who waits can be
    /// answered. It keeps the graph of all states in memory.
    #[arg(long, conflicts_with_all = ["hosts", "spill", "checkpoint", "resume", "property"])]
    pub progress: bool,
    /// Record every path that is found as a trace in this folder.
    #[arg(long, value_name = "FOLDER")]
    pub record: Option<PathBuf>,
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub across: Across,
    #[command(flatten)]
    pub output: Output,
}

/// `check twin`.
#[derive(Debug, ClapArgs)]
pub struct Twin {
    /// The module: hw, kip101, kip279, kip320-first-try, kip320 or async-isr.
    #[arg(long)]
    pub module: String,
    /// Number of replicas.
    #[arg(long, default_value_t = 3, allow_negative_numbers = true)]
    pub replicas: u8,
    /// Records that fit into a log [default: 2].
    #[arg(long, allow_negative_numbers = true)]
    pub log_size: Option<u8>,
    /// Records that are ever written [default: 2].
    #[arg(long, allow_negative_numbers = true)]
    pub max_records: Option<u8>,
    /// The largest leader epoch; the first is 0 [default: 2].
    #[arg(long, allow_negative_numbers = true)]
    pub max_leader_epoch: Option<u8>,
    /// async-isr: states with a larger offset are left out [default: 1].
    #[arg(long, allow_negative_numbers = true)]
    pub max_offset: Option<u8>,
    /// async-isr: states with a larger version are left out [default: 2].
    #[arg(long, allow_negative_numbers = true)]
    pub max_version: Option<u8>,
    /// Search for the shortest violation of this property alone.
    #[arg(long)]
    pub property: Option<String>,
    /// Take this guard out.
    #[arg(long, value_name = "GUARD")]
    pub without: Option<String>,
    /// Take states that differ in the replicas' names only as one.
    #[arg(long)]
    pub symmetry: bool,
    #[command(flatten)]
    pub files: Files,
    #[command(flatten)]
    pub across: Across,
    #[command(flatten)]
    pub output: Output,
}

/// `check mutants`.
#[derive(Debug, ClapArgs)]
pub struct Mutants {
    /// Only the mutants of this rule.
    #[arg(long, value_name = "NAME")]
    pub rule: Option<String>,
    /// How to print the result.
    #[arg(long, value_enum, default_value_t = MutantFormat::Human)]
    pub format: MutantFormat,
    /// Mutants that are judged side by side. The result is the same for any number.
    #[arg(long, value_name = "N", allow_negative_numbers = true,
        value_parser = clap::value_parser!(u16).range(1..=256))]
    pub threads: Option<u16>,
}

/// Output formats of `check mutants`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MutantFormat {
    /// For people.
    Human,
    /// The page of the documents.
    Markdown,
    /// One document.
    Json,
}

/// `check bench`.
#[derive(Debug, ClapArgs)]
pub struct Bench {
    /// Only this comparison.
    #[arg(long, value_name = "NAME")]
    pub only: Option<String>,
    /// Runs of each, of which the median is told.
    #[arg(long, default_value_t = 5, allow_negative_numbers = true, value_parser = within(1..=99))]
    pub runs: u8,
    /// How to print the result.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// One run of one side of a comparison in this process, such as election/1.
    #[arg(long, conflicts_with_all = ["only", "runs", "format"])]
    pub case: Option<String>,
}

/// `check list`.
#[derive(Debug, ClapArgs)]
pub struct List {
    /// What to list.
    #[arg(value_enum)]
    pub what: What,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// The ladder of Kafkas.
    Protocols,
    /// The rules that can be broken.
    Faults,
    /// Properties and witnesses.
    Properties,
    /// Kinds of action.
    Actions,
    /// Scenarios with their bounds.
    Scenarios,
    /// The committed traces.
    Traces,
    /// The public reports, and what became of each.
    Cases,
}

/// `check record`.
#[derive(Debug, ClapArgs)]
pub struct Record {
    /// The folder to write to; it gets `conform/` and `diverge/`.
    #[arg(long, default_value = "traces")]
    pub to: PathBuf,
    /// Only say which files differ from what would be written (exit 16 if any does).
    #[arg(long)]
    pub check: bool,
}

/// `check show`.
#[derive(Debug, ClapArgs)]
pub struct Show {
    /// The trace file.
    pub trace: PathBuf,
    /// How to show it.
    #[arg(long = "as", value_enum, default_value_t = ShowAs::Text)]
    pub show_as: ShowAs,
}

/// How a trace is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShowAs {
    /// Step by step, only what changed.
    Text,
    /// A sequence diagram.
    Svg,
}

/// `check explore`.
#[derive(Debug, ClapArgs)]
pub struct Explore {
    #[command(flatten)]
    pub subject: Subject,
    /// The address to serve on.
    #[arg(long, default_value = "127.0.0.1:3000")]
    pub address: std::net::SocketAddr,
}
