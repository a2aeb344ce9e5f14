//! What several modules need: the workspace, its binaries, its traces.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use klog_conform::files;
use klog_trace::{Expect, Trace};

/// The root of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace")
}

/// A binary of the workspace by its name (`klog`, `check`, `conform`), or an example. All are built
/// once, in the profile and the target folder of this test run; cargo says where they are.
pub fn binary(name: &str) -> &'static Path {
    static BUILT: OnceLock<BTreeMap<String, PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(build);
    built.get(name).unwrap_or_else(|| panic!("no binary {name} among {:?}", built.keys()))
}

fn build() -> BTreeMap<String, PathBuf> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(root()).args(["build", "--bins", "--examples", "--message-format=json"]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let output = cargo.output().expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the binaries build: {errors}");
    let messages = String::from_utf8(output.stdout).expect("cargo speaks UTF-8");
    let messages = messages
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a JSON line"));
    messages
        .filter_map(|message| {
            let path = message["executable"].as_str()?;
            Some((message["target"]["name"].as_str()?.to_owned(), path.into()))
        })
        .collect()
}

/// Runs a binary from the root of the workspace.
pub fn run(name: &str, args: &[&str]) -> Ran {
    run_in(root(), name, args)
}

/// Runs a binary from this folder.
pub fn run_in(folder: &Path, name: &str, args: &[&str]) -> Ran {
    let mut command = Command::new(binary(name));
    let output = command.current_dir(folder).args(args).output();
    Ran::from(output.expect("the binary starts"))
}

/// What a binary did.
pub struct Ran {
    /// Exit code.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// A committed trace with its file name.
pub struct Named {
    pub name: String,
    pub trace: Trace,
}

/// Every committed trace. There is at least one of each kind, or the test fails.
pub fn committed() -> Vec<Named> {
    let paths = files::committed(root()).expect("traces are committed");
    let read = |path: PathBuf| {
        let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
        let trace = files::read(&path).unwrap_or_else(|error| panic!("{error}"));
        Named { name, trace }
    };
    let traces: Vec<Named> = paths.into_iter().map(read).collect();
    for conform in [true, false] {
        assert!(
            traces.iter().any(|t| is_conform(&t.trace) == conform),
            "no trace to agree with, or none to part from"
        );
    }
    traces
}

/// Whether the code must agree with the trace to the end.
pub fn is_conform(trace: &Trace) -> bool {
    trace.header.expect == Expect::Conform
}

/// The committed traces that the code must agree with.
pub fn conforming() -> impl Iterator<Item = Named> {
    committed().into_iter().filter(|t| is_conform(&t.trace))
}
