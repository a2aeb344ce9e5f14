//! `conform`: the real code against what the model says.

mod cli;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use klog_trace::usage::{one_line, say};
use mimalloc::MiMalloc;

/// A replay makes and drops many small lists.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Nothing was asked for at all: the help is the answer.
const NO_COMMAND: ErrorKind = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;

fn main() -> ExitCode {
    let args = match cli::Args::try_parse() {
        Ok(args) => args,
        Err(error) if error.use_stderr() && error.kind() != NO_COMMAND => {
            let is_command = |word: &String| cli::Args::command().find_subcommand(word).is_some();
            let asked = std::env::args().nth(1).filter(is_command);
            say(&one_line("conform", asked.as_deref(), &error.to_string()));
            return ExitCode::from(cli::USAGE);
        }
        // The help or the version was asked for, or is all there is to say.
        Err(error) => error.exit(),
    };
    // A panic is an invariant of the real code or of this program that does not hold; the message
    // is on stderr already.
    let code = std::panic::catch_unwind(|| cli::run(&args)).unwrap_or(cli::INTERNAL);
    ExitCode::from(code)
}
