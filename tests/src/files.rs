//! Finding and reading trace files.

use std::fs;
use std::path::{Path, PathBuf};

use klog_trace::Trace;

/// The folders below a folder of recorded traces.
const FOLDERS: [&str; 2] = ["conform", "diverge"];

/// The folders of committed traces, from the workspace root.
const COMMITTED: [&str; 2] = ["traces/conform", "traces/diverge"];

/// Suffix of a trace file.
const SUFFIX: &str = "jsonl";

/// Every trace under these paths: a file is itself, a folder is its `*.jsonl` files by name, or
/// those of the folders `conform` and `diverge` in it. An
/// error is one line that names the path and the remedy; a folder without traces is one.
pub fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            // What `check record` writes: the two folders below count as this one.
            let below = FOLDERS.map(|name| path.join(name));
            let below: Vec<_> = below.into_iter().filter(|folder| folder.is_dir()).collect();
            let folders = if below.is_empty() { std::slice::from_ref(path) } else { &below };
            for folder in folders {
                found.extend(traces_in(folder)?);
            }
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

/// The committed traces, found from this folder or one above it.
pub fn committed(here: &Path) -> Result<Vec<PathBuf>, String> {
    let is_root = |folder: &&Path| COMMITTED.iter().any(|name| folder.join(name).is_dir());
    let root = here.ancestors().find(is_root).ok_or_else(|| {
        format!(
            "{}: no {} here or above; name the traces to replay",
            here.display(),
            COMMITTED.join(" or ")
        )
    })?;
    find(&COMMITTED.map(|name| root.join(name)))
}

fn traces_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let unreadable = |e| format!("{}: {e}; name a folder that can be read", folder.display());
    let mut traces = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|suffix| suffix == SUFFIX) {
            traces.push(path);
        }
    }
    traces.sort();
    if traces.is_empty() {
        let path = folder.display();
        return Err(format!(
            "{path}: the folder has no trace (*.{SUFFIX}); record some with `check record`"
        ));
    }
    Ok(traces)
}

/// Reads a trace. An error is one line: path, line, column, what and remedy.
pub fn read(path: &Path) -> Result<Trace, String> {
    let shown = path.display();
    let bytes =
        fs::read(path).map_err(|e| format!("{shown}: {e}; name a file that can be read"))?;
    Trace::from_bytes(&bytes).map_err(|error| format!("{shown}: {error}"))
}
