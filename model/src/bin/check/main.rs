//! `check`: does this replication rule lose a committed record under any interleaving?

mod args;
mod commands;
mod exit;

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;
use klog_trace::usage::{one_line, say};

/// A search allocates small vectors all the time; this took a fifth off its run time
/// (docs/decisions/0001).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) if error.use_stderr() => {
            say(&one_line("check", &error.to_string()));
            return exit::code(exit::USAGE);
        }
        // The help or the version was asked for.
        Err(error) => error.exit(),
    };
    let interrupted = Arc::new(AtomicBool::new(false));
    if args.searches() {
        let flag = Arc::clone(&interrupted);
        // Without a handler Ctrl-C simply ends the program: nothing is lost but the partial table.
        let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
    }
    match commands::dispatch(args, &interrupted) {
        Ok((code, text)) => {
            // A reader that has seen enough (`check | head`) is no failure.
            let mut out = std::io::stdout().lock();
            let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            match written {
                Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
                    say(&format!("check: cannot write the result: {e}; free some space"));
                    exit::code(exit::INTERNAL)
                }
                _ => exit::code(code),
            }
        }
        Err(problem) => {
            say(&format!("check: {problem}"));
            exit::code(exit::USAGE)
        }
    }
}
