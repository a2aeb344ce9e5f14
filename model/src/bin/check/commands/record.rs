//! `check record`: the committed traces, written anew by searching for them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use klog_model::catalogue::{Wanted, catalogue};
use klog_trace::Trace;

use super::{Done, Problem};
use crate::args::Record;
use crate::exit;

/// Writes (or compares) every trace of the catalogue.
pub fn record(command: &Record) -> Done {
    let mut differing = 0;
    let mut text = String::new();
    let mut known = Vec::new();
    for wanted in catalogue() {
        let trace = wanted.record().ok_or_else(|| no_path(&wanted))?;
        let file = command.to.join(wanted.folder()).join(format!("{}.jsonl", wanted.name));
        let new = trace.to_text();
        let state = match fs::read(&file) {
            Ok(old) if old == new.as_bytes() => "unchanged",
            Ok(_) => "changed",
            Err(_) => "new",
        };
        if state != "unchanged" {
            differing += 1;
            if !command.check {
                write(&file, &new)?;
            }
        }
        let _ = writeln!(text, "{state:<10} {} ({})", file.display(), summary(&trace));
        known.push(file.display().to_string());
    }
    // It may be somebody's own: it is named and left alone.
    for file in trace_files(&command.to).unwrap_or_default() {
        if !known.contains(&file) {
            differing += 1;
            let _ = writeln!(text, "unknown    {file} (not in the catalogue; remove it)");
        }
    }
    let code = if command.check && differing > 0 { exit::UNEXPECTED } else { exit::OK };
    if code != exit::OK {
        let _ = writeln!(text, "{differing} traces differ; write them with `check record`");
    }
    Ok((code, text))
}

fn no_path(wanted: &Wanted) -> Problem {
    format!("{}: no path to {} in {}", wanted.name, wanted.row, wanted.scenario)
}

fn summary(trace: &Trace) -> String {
    let h = &trace.header;
    format!("{} {} in {} steps", h.property, h.verdict, h.steps)
}

/// The whole file or nothing: a full disk must not leave half a trace in place of an old one.
fn write(file: &Path, text: &str) -> Result<(), Problem> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let problem =
        |e: std::io::Error| format!("{}: {e}; choose a writable folder with --to", file.display());
    fs::create_dir_all(folder).map_err(problem)?;
    let unfinished = file.with_extension("jsonl.tmp");
    let written = fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, file));
    written.inspect_err(|_| drop(fs::remove_file(&unfinished))).map_err(problem)
}

/// Every trace file in the two folders below this one, in order.
pub fn trace_files(below: &Path) -> Result<Vec<String>, Problem> {
    let mut files = Vec::new();
    for folder in ["conform", "diverge"] {
        let path = below.join(folder);
        let entries = fs::read_dir(&path)
            .map_err(|e| format!("{}: {e}; run this in the project's root", path.display()))?;
        for entry in entries {
            let entry = entry.map_err(|e| format!("{}: {e}", path.display()))?;
            let path = entry.path();
            if path.extension().is_some_and(|e| e == "jsonl") {
                files.push(path.display().to_string());
            }
        }
    }
    files.sort();
    Ok(files)
}
