//! The workspace as a whole: its files, what cargo knows of it, goldens that can be rewritten.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::root;

/// The switch that makes goldens be rewritten instead of compared.
pub const UPDATE: &str = "UPDATE_GOLDEN";

/// The text of a file, named from the root.
pub fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Where the project's files stand; whatever else lies in the root is somebody's own.
const FOLDERS: [&str; 5] = ["docs", "impl", "model", "tests", "traces"];

/// Every file of the workspace with this ending, named from the root with `/`, in order: those of
/// its folders, and the documents and manifests beside them.
pub fn files(ending: &str) -> Vec<String> {
    let mut found: Vec<String> = names(root())
        .into_iter()
        .filter(|name| [".md", ".toml"].iter().any(|e| name.ends_with(e)))
        .collect();
    for folder in FOLDERS {
        walk(folder, &mut found);
    }
    found.retain(|name| name.ends_with(ending));
    found.sort();
    found
}

/// What stands in a folder, without hidden names.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let name = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.expect("a folder can be read to its end");
        entry.file_name().into_string().expect("names are UTF-8")
    };
    entries.map(name).filter(|name| !name.starts_with('.')).collect()
}

fn walk(folder: &str, found: &mut Vec<String>) {
    for name in names(&root().join(folder)) {
        let path = format!("{folder}/{name}");
        if root().join(&path).is_dir() {
            walk(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// What cargo knows of the members.
pub fn metadata() -> Value {
    let arguments = ["metadata", "--format-version", "1", "--no-deps"];
    let mut cargo = Command::new(env!("CARGO"));
    let output = cargo.args(arguments).current_dir(root()).output();
    let output = output.expect("cargo runs, since it ran this test");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}: {error}");
    serde_json::from_slice(&output.stdout).expect("cargo prints JSON")
}

/// Compares a text with a committed file; with `UPDATE_GOLDEN=1` writes the file instead.
pub fn golden(file: &str, text: &str) {
    let path = root().join(file);
    if std::env::var_os(UPDATE).is_some_and(|v| v == "1") {
        fs::write(&path, text).unwrap_or_else(|e| panic!("{file}: {e}"));
        return;
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == text,
        "{file} is not what the code writes; look at the difference after `{UPDATE}=1 cargo test`"
    );
}
