//! Where things are: files of the workspace, its binaries, and goldens that can be rewritten.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;

/// The switch that makes goldens be rewritten instead of compared.
pub const UPDATE: &str = "UPDATE_GOLDEN";

/// The folder of the workspace.
pub fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package
        .parent()
        .expect("the package stands in the workspace")
}

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

fn cargo(arguments: &[&str]) -> Output {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(root())
        .output();
    let output = output.expect("cargo runs, since it runs this test");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "cargo {arguments:?} failed: {error}"
    );
    output
}

/// What cargo knows of the members.
pub fn metadata() -> Value {
    let output = cargo(&["metadata", "--format-version", "1", "--no-deps"]);
    serde_json::from_slice(&output.stdout).expect("cargo prints JSON")
}

/// The path of one of the workspace's binaries, built if need be.
pub fn binary(name: &str) -> &'static Path {
    static BINARIES: OnceLock<BTreeMap<String, PathBuf>> = OnceLock::new();
    let all = BINARIES.get_or_init(build);
    all.get(name)
        .unwrap_or_else(|| panic!("no binary `{name}`, only {:?}", all.keys()))
}

fn build() -> BTreeMap<String, PathBuf> {
    let output = cargo(&["build", "--workspace", "--bins", "--message-format=json"]);
    let lines = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    let messages = lines
        .lines()
        .map(|l| serde_json::from_str(l).expect("one JSON document per line"));
    messages
        .filter_map(|message: Value| {
            let path = message["executable"].as_str()?;
            let name = message["target"]["name"].as_str()?;
            Some((name.to_owned(), PathBuf::from(path)))
        })
        .collect()
}

/// Runs a binary in the root of the workspace.
pub fn run(name: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(binary(name));
    command.args(arguments).current_dir(root());
    command
        .output()
        .unwrap_or_else(|e| panic!("{name} {arguments:?}: {e}"))
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
