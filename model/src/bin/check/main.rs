//! `check`: does this replication rule lose a committed record under any interleaving?

mod args;
mod commands;
mod exit;
mod side_by_side;

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{CommandFactory, Parser};
use klog_trace::usage::{one_line, say};

/// A search allocates small vectors all the time; this took a fifth off its run time
/// (docs/decisions/0001).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) if error.use_stderr() => {
            let is_command = |word: &String| args::Args::command().find_subcommand(word).is_some();
            let asked = std::env::args().nth(1).filter(is_command);
            say(&one_line("check", asked.as_deref(), &error.to_string()));
            return exit::code(exit::USAGE);
        }
        // The help or the version was asked for.
        Err(error) => return print(&error.to_string(), exit::OK),
    };
    let interrupted = Arc::new(AtomicBool::new(false));
    if args.searches() {
        hear_signals(&interrupted);
    }
    match commands::dispatch(args, &interrupted) {
        Ok((code, text)) => print(&text, code),
        Err(problem) => {
            say(&format!("check: {problem}"));
            exit::code(exit::USAGE)
        }
    }
}

/// Prints a result, and ends with `code` if it can be read.
fn print(text: &str, code: u8) -> ExitCode {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // A reader that has seen enough (`check | head`) is no failure.
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            say(&format!("check: cannot write the result: {e}; free some space"));
            exit::code(exit::INTERNAL)
        }
        _ => exit::code(code),
    }
}

/// From now on whoever tells the program to end is told what was found so far. Without a handler
/// that is all that is lost.
fn hear_signals(interrupted: &Arc<AtomicBool>) {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let hear = |signal, flag: &Arc<AtomicBool>| {
        let _ = signal_hook::flag::register(signal, Arc::clone(flag));
    };
    hear(SIGINT, interrupted);
    hear(SIGTERM, interrupted);
    #[cfg(unix)]
    {
        hear(signal_hook::consts::SIGHUP, interrupted);
        // A file that may not grow any more (`ulimit -f`) is like a full disk: the write fails.
        hear(signal_hook::consts::SIGXFSZ, &Arc::default());
    }
}
