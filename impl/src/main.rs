//! The binary `klog`.
//!
//! Exit codes: 0 done; 2 a wrong argument, or a log that cannot be read; 70 a claim of the demo did
//! not hold; 74 a disk failed, or standard output could not be written.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand, ValueEnum};
use klog::demo::{self, DemoError, Settings};
use klog::dump::{self, DumpError};

/// Nothing was asked for at all: the help is the answer.
const NO_COMMAND: ErrorKind = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;

const EXIT_USAGE: u8 = 2;
const EXIT_CLAIM: u8 = 70;
const EXIT_IO: u8 = 74;

#[derive(Parser)]
#[command(
    name = "klog",
    version,
    about = "A Kafka-shaped replicated log",
    before_help = "Example: klog replica-demo --rounds 4 --min-isr 2 --now-ms 1700000000000",
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Replicate one partition between two brokers, step by step, and check each claim
    #[command(
        before_help = "Example: klog replica-demo --rounds 4 --min-isr 2 --now-ms 1700000000000"
    )]
    ReplicaDemo(ReplicaDemo),
    /// Show what lies in the directory of a partition, and change nothing
    #[command(before_help = "Example: klog dump-log logs/broker-1/orders-0")]
    DumpLog(DumpLog),
}

#[derive(clap::Args)]
struct DumpLog {
    /// The directory
    dir: PathBuf,
    /// Text for people, or one JSON document
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

#[derive(clap::Args)]
struct ReplicaDemo {
    /// Rounds of one produce and one fetch
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: u32,
    /// min.insync.replicas; there are two replicas
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=2))]
    min_isr: u32,
    /// The time of the demo in milliseconds since 1970, up to the year 9999
    #[arg(
        long,
        default_value_t = 1_700_000_000_000,
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(i64).range(0..=253_402_300_799_999)
    )]
    now_ms: i64,
    /// Text for people, or one JSON document
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Keep the logs in this directory, which must be empty [default: a temporary one]
    #[arg(long)]
    dir: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Human,
    Json,
}

fn main() -> ExitCode {
    let command = match Cli::try_parse() {
        Ok(cli) => cli.command,
        Err(error) if error.use_stderr() && error.kind() != NO_COMMAND => {
            say(&wrong_use(&error.to_string()));
            return ExitCode::from(EXIT_USAGE);
        }
        // The help or the version was asked for, or is all there is to say.
        Err(error) => error.exit(),
    };
    let done = match command {
        Command::ReplicaDemo(arguments) => {
            replica_demo(&arguments).map_err(|error| (exit_code(&error), error.to_string()))
        }
        Command::DumpLog(arguments) => {
            dump_log(&arguments).map_err(|error| (EXIT_USAGE, error.to_string()))
        }
    };
    let text = match done {
        Ok(text) => text,
        Err((code, error)) => {
            say(&error);
            return ExitCode::from(code);
        }
    };
    match io::stdout().lock().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("cannot write to standard output: {error}; free some space"));
            ExitCode::from(EXIT_IO)
        }
    }
}

/// A line of diagnosis; who cannot be told is not told, and the exit code says it all the same.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "klog: {line}");
}

/// What the parser printed, as one line; the usage text is left to `--help`.
fn wrong_use(printed: &str) -> String {
    let what = printed.split("\n\nUsage:").next().unwrap_or(printed);
    let what = what.split("\n\nFor more information").next().unwrap_or(what);
    let parts: Vec<&str> = what.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let joined = parts.join("; ");
    let what = joined.strip_prefix("error: ").unwrap_or(&joined).replace(":; ", ": ");
    format!("{what}; see `klog --help`")
}

fn replica_demo(arguments: &ReplicaDemo) -> Result<String, DemoError> {
    let ReplicaDemo { rounds, min_isr, now_ms, .. } = *arguments;
    let settings = Settings { rounds, min_isr, now_ms };
    let report = match &arguments.dir {
        Some(dir) => demo::run(&demo::prepare(dir)?, settings)?,
        None => demo::run_in_temporary(settings)?,
    };
    Ok(match arguments.format {
        Format::Human => demo::human(&report),
        Format::Json => demo::json(&report),
    })
}

/// A torn tail is no error: it is what a crash leaves, and a start cuts it.
fn dump_log(arguments: &DumpLog) -> Result<String, DumpError> {
    let dump = dump::read(&arguments.dir)?;
    for note in dump.notes(&arguments.dir) {
        say(&format!("note: {note}"));
    }
    Ok(match arguments.format {
        Format::Human => dump::human(&dump),
        Format::Json => dump::json(&dump),
    })
}

fn exit_code(error: &DemoError) -> u8 {
    match error {
        DemoError::Directory { .. } => EXIT_USAGE,
        DemoError::Claim { .. } => EXIT_CLAIM,
        DemoError::Temporary { .. }
        | DemoError::Failed { .. }
        | DemoError::Disk(_)
        | DemoError::Node(_) => EXIT_IO,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use clap::CommandFactory;

    use super::{Cli, DemoError, exit_code};

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_failed_claim_has_an_exit_code_of_its_own() {
        let (expected, got) = (String::new(), String::new());
        let claim = DemoError::Claim { claim: "the follower lags", expected, got };
        assert_eq!(exit_code(&claim), 70);
        let (path, problem) = (PathBuf::new(), String::new());
        assert_eq!(exit_code(&DemoError::Directory { path, problem, remedy: "" }), 2);
        let source = std::io::ErrorKind::StorageFull.into();
        assert_eq!(exit_code(&DemoError::Temporary { source }), 74);
    }
}
