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

/// Every file of the workspace with this ending, named from the root with `/`, in order. What a
/// build writes and hidden folders are no part of it.
pub fn files(ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    walk(root(), "", &mut found);
    found.retain(|name| name.ends_with(ending));
    found.sort();
    found
}

fn walk(folder: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let entry = entry.expect("a folder can be read to its end");
        let name = entry.file_name().into_string().expect("names are UTF-8");
        let is_build = prefix.is_empty() && name == "target";
        if name.starts_with('.') || is_build {
            continue;
        }
        let path = format!("{prefix}{name}");
        if entry.path().is_dir() {
            walk(&entry.path(), &format!("{path}/"), found);
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
