//! `conform`: the real code against what the model says.

mod cli;

use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;

/// A replay makes and drops many small lists.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let args = cli::Args::parse();
    // A panic is an invariant of the real code or of this program that does not hold; the message
    // is on stderr already.
    let code = std::panic::catch_unwind(|| cli::run(&args)).unwrap_or(cli::INTERNAL);
    ExitCode::from(code)
}
