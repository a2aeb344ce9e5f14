//! `check record`: the committed traces, written anew by searching for them.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use klog_model::catalogue::{Recorded, Wanted, catalogue};
use klog_model::record::{Purpose, record};
use klog_model::report::{Job, Report};
use klog_model::system::System;
use klog_model::text;
use klog_trace::Trace;
use klog_trace::property::Kind;

use super::{Done, Problem};
use crate::args::Record;
use crate::exit;

/// Writes (or compares) every trace of the catalogue.
pub fn catalogued(command: &Record) -> Done {
    let mut differing = 0;
    let mut text = String::new();
    let mut known = Vec::new();
    let of = |wanted: &Wanted| wanted.record().ok_or_else(|| no_path(wanted));
    for recorded in catalogue().iter().map(of) {
        for Recorded { file, trace } in recorded? {
            let file = command.to.join(file);
            let new = trace.to_text();
            let state = match fs::read(&file) {
                Ok(old) if old == new.as_bytes() => "unchanged",
                Ok(_) => "changed",
                Err(_) => "new",
            };
            if state != "unchanged" {
                differing += 1;
                if !command.check {
                    write(&file, &new, "--to")?;
                }
            }
            let _ = writeln!(text, "{state:<10} {} ({})", file.display(), summary(&trace));
            known.push(file.display().to_string());
        }
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
        let to = command.to.display();
        let _ = writeln!(
            text,
            "{differing} traces differ; `check record --to {to}` writes those that it knows"
        );
    }
    Ok((code, text))
}

/// Makes the folder: before a long search, not after it.
pub fn prepare(folder: &Path) -> Result<(), Problem> {
    fs::create_dir_all(folder)
        .map_err(|e| format!("{}: {e}; choose a writable folder with --record", folder.display()))
}

/// Records every path of a report, and names the files in it. A file that is there already and says
/// something else stays as it is; the first such problem is returned when all others are recorded.
pub fn paths_of(job: &Job, report: &mut Report, folder: &Path) -> Result<(), Problem> {
    let system = System::new(job.protocol.clone(), job.bounds.clone());
    let protocol = text::protocol(report);
    let mut done = Ok(());
    for row in &mut report.properties {
        let Some(path) = &row.path else { continue };
        let verdict = if row.kind == Kind::Witness.name() { "witnessed" } else { "violated" };
        let purpose = Purpose { scenario: &job.scenario, property: row.id, verdict };
        let text = record(&system, path, &purpose).to_text();
        let file = folder.join(format!("{}-{protocol}-{}.jsonl", job.scenario, row.id));
        match keep(&file, &text) {
            Ok(()) => row.trace = Some(file.display().to_string()),
            Err(problem) => done = done.and(Err(problem)),
        }
    }
    done
}

/// Writes the file, unless it is there already.
fn keep(file: &Path, text: &str) -> Result<(), Problem> {
    match fs::read(file) {
        Ok(there) if there == text.as_bytes() => Ok(()),
        Ok(_) => {
            let what = "is there already and says something else";
            Err(format!("{} {what}; choose another folder with --record", file.display()))
        }
        Err(_) => write(file, text, "--record"),
    }
}

fn no_path(wanted: &Wanted) -> Problem {
    format!("{}: no path to {} in {}", wanted.name, wanted.row, wanted.scenario)
}

fn summary(trace: &Trace) -> String {
    let h = &trace.header;
    format!("{} {} in {} steps", h.property, h.verdict, h.steps)
}

/// The whole file or nothing: a full disk must not leave half a trace in place of an old one. A
/// file of somebody else with the name of the unfinished one stays.
fn write(file: &Path, text: &str, flag: &str) -> Result<(), Problem> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let unfinished = file.with_extension("jsonl.tmp");
    let problem = |at: &Path, e: std::io::Error| {
        let at = at.display();
        if e.kind() == std::io::ErrorKind::AlreadyExists {
            format!("{at} is there already; move it away, or choose another folder with {flag}")
        } else {
            format!("{at}: {e}; choose a writable folder with {flag}")
        }
    };
    fs::create_dir_all(folder).map_err(|e| problem(file, e))?;
    let mut new = File::create_new(&unfinished).map_err(|e| problem(&unfinished, e))?;
    let written = new.write_all(text.as_bytes()).and_then(|()| fs::rename(&unfinished, file));
    written.inspect_err(|_| drop(fs::remove_file(&unfinished))).map_err(|e| problem(file, e))
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
