//! Which crate may know which. Model and implementation may share words, never a decision.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::workspace::{metadata, read};

/// What a member may take of its siblings, and of `stateright`, by kind of dependency. The
/// dependency of one world on the other exists in one place: a test dependency of the package
/// where they meet.
const ALLOWED: &[(&str, Kind, &[&str])] = &[
    ("klog", Kind::Normal, &[]),
    ("klog", Kind::Dev, &[]),
    ("klog-trace", Kind::Normal, &[]),
    ("klog-trace", Kind::Dev, &[]),
    ("klog-model", Kind::Normal, &["klog-trace", "levelwise", "levelwise-timely", "stateright"]),
    ("klog-model", Kind::Dev, &[]),
    ("levelwise", Kind::Normal, &["stateright"]),
    ("levelwise", Kind::Dev, &[]),
    ("levelwise-timely", Kind::Normal, &["levelwise"]),
    ("levelwise-timely", Kind::Dev, &["stateright"]),
    ("klog-conform", Kind::Normal, &["klog", "klog-trace"]),
    ("klog-conform", Kind::Dev, &["klog-model"]),
];

/// All that the shared vocabulary may depend on.
const TRACE_OUTSIDE: &[&str] = &["schemars", "serde", "serde_json", "thiserror"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Normal,
    Dev,
    Build,
}

/// Every edge: from, kind, to.
fn edges(metadata: &Value) -> BTreeSet<(String, Kind, String)> {
    let text = |v: &Value| v.as_str().expect("cargo names things").to_owned();
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let of_package = |package: &Value| {
        let from = text(&package["name"]);
        let all = package["dependencies"].as_array().expect("a list of dependencies");
        let edge = |d: &Value| {
            let kind = match d["kind"].as_str() {
                Some("dev") => Kind::Dev,
                Some("build") => Kind::Build,
                _ => Kind::Normal,
            };
            (from.clone(), kind, text(&d["name"]))
        };
        all.iter().map(edge).collect::<Vec<_>>()
    };
    packages.iter().flat_map(of_package).collect()
}

fn members(metadata: &Value) -> BTreeSet<String> {
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let name = |p: &Value| p["name"].as_str().map(str::to_owned);
    packages.iter().filter_map(name).collect()
}

/// What is wrong with the edges, one sentence each.
fn judge(metadata: &Value) -> Vec<String> {
    let members = members(metadata);
    let mut wrong = Vec::new();
    for (from, kind, to) in edges(metadata) {
        let watched = members.contains(&to) || to == "stateright";
        let rows = ALLOWED.iter().filter(|row| (row.0, row.1) == (from.as_str(), kind));
        let allowed = rows.flat_map(|row| row.2).any(|a| *a == to);
        if watched && !allowed {
            wrong.push(format!("{from} may not depend on {to} ({kind:?})"));
        }
        let outside = !watched && from == "klog-trace" && kind == Kind::Normal;
        if outside && !TRACE_OUTSIDE.contains(&to.as_str()) {
            wrong.push(format!("{from} takes {to}, which is more than it needs to describe"));
        }
    }
    wrong
}

#[test]
fn the_two_worlds_meet_in_one_place() {
    let metadata = metadata();
    assert_eq!(judge(&metadata), Vec::<String>::new());
    let known: BTreeSet<String> = ALLOWED.iter().map(|row| row.0.to_owned()).collect();
    assert_eq!(members(&metadata), known, "a member without a row in ALLOWED, or one too many");
    let edges = edges(&metadata);
    for (from, kind, all) in ALLOWED {
        for to in *all {
            let edge = ((*from).to_owned(), *kind, (*to).to_owned());
            assert!(edges.contains(&edge), "{from} does not use {to} any more");
        }
    }
}

#[test]
fn a_planted_edge_is_found() {
    let with = |from: &str, kind: Value, to: &str| {
        let package = |name: &str| {
            let edge = json!({"name": to, "kind": kind});
            let all = if name == from { vec![edge] } else { vec![] };
            json!({"name": name, "dependencies": all})
        };
        let names = ["klog", "klog-trace", "klog-model", "klog-conform"];
        json!({"packages": names.map(package)})
    };
    assert_eq!(judge(&with("klog-model", Value::Null, "klog-trace")).len(), 0);
    assert_eq!(judge(&with("klog-conform", json!("dev"), "klog-model")).len(), 0);
    assert_eq!(judge(&with("klog", Value::Null, "serde")).len(), 0);
    let forbidden = [
        ("klog", Value::Null, "klog-trace"),
        ("klog", json!("dev"), "klog-model"),
        ("klog", json!("build"), "stateright"),
        ("klog-model", json!("dev"), "klog"),
        ("klog-model", Value::Null, "klog-conform"),
        ("klog-trace", Value::Null, "klog-model"),
        ("klog-trace", Value::Null, "clap"),
        ("klog-conform", Value::Null, "klog-model"),
    ];
    for (from, kind, to) in forbidden {
        assert_eq!(judge(&with(from, kind, to)).len(), 1, "{from} -> {to}");
    }
}

/// The names under `[<table>]` or any table that ends so.
fn entries<'a>(manifest: &'a str, table: &str) -> Vec<(&'a str, &'a str)> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in manifest.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            inside = name == table || name.ends_with(&format!("-{table}"));
        } else if inside && let Some((name, value)) = line.split_once('=') {
            found.push((name.trim(), value.trim()));
        }
    }
    found
}

/// Whether a member's line takes the dependency from the workspace's table.
fn is_from_table(name: &str, value: &str) -> bool {
    (name.ends_with(".workspace") && value == "true") || value.contains("workspace = true")
}

#[test]
fn every_dependency_comes_from_the_table_of_the_workspace() {
    let mut used = BTreeSet::new();
    for folder in ["impl", "model", "model/across", "model/engine", "tests", "traces"] {
        let manifest = read(&format!("{folder}/Cargo.toml"));
        let all = entries(&manifest, "dependencies");
        assert!(!all.is_empty(), "{folder} depends on nothing?");
        for (name, value) in all {
            assert!(is_from_table(name, value), "{folder}: `{name} = {value}`");
            used.insert(name.trim_end_matches(".workspace").to_owned());
        }
    }
    let manifest = read("Cargo.toml");
    for (name, _) in entries(&manifest, "workspace.dependencies") {
        let own = name == "klog-conform";
        assert!(own || used.contains(name), "nobody uses `{name}` of the table");
    }
}

#[test]
fn a_dependency_outside_the_table_is_found() {
    let manifest = "[package]\nname = \"a\"\n[dependencies]\nserde.workspace = true\n\
                    rand = \"0.9\"\n[dev-dependencies]\nclap = { workspace = true }\n\
                    x = { path = \"y\" }\n";
    let outside: Vec<_> = entries(manifest, "dependencies")
        .into_iter()
        .filter(|(name, value)| !is_from_table(name, value))
        .map(|e| e.0)
        .collect();
    assert_eq!(outside, ["rand", "x"]);
}
