//! What `check` and `klog` print, and with which code they end: the promises of
//! docs/checking.md.

use std::collections::BTreeSet;
use std::fs;

use klog_model::fault::Fault;
use klog_model::protocol::LADDER;
use klog_model::scenario::scenarios;
use klog_trace::progress::PROGRESS;
use klog_trace::property::{PROPERTIES, WITNESSES};
use serde_json::Value;

use crate::support::{Ran, run};
use crate::workspace::{files, read};

const LOSS: [&str; 5] = ["run", "--scenario", "one-crash", "--protocol", "kafka-0.10"];

fn check(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Ran { code, out, err } = run("check", arguments);
    (code, out, err)
}

/// The one line on stderr of a command that must be refused.
pub fn refused(arguments: &[&str]) -> String {
    let (code, out, err) = check(arguments);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}: {err}");
    assert_eq!(err.lines().count(), 1, "{arguments:?}: {err}");
    err
}

#[test]
fn an_unknown_flag_ends_with_2_and_a_suggestion() {
    for (arguments, meant) in [
        (["run", "--protocl", "klog"], "--protocol"),
        (["run", "--max-state", "5"], "--max-states"),
        (["shw", "x.jsonl", "--as"], "show"),
    ] {
        let (code, out, err) = check(&arguments);
        assert_eq!((code, out.as_str()), (Some(2), ""));
        assert!(err.contains("similar") && err.contains(meant), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
    }
}

#[test]
fn an_unknown_name_ends_with_2_and_names_the_known_ones() {
    let scenarios: Vec<&str> = scenarios().iter().map(|s| s.name).collect();
    let protocols: Vec<&str> = LADDER.iter().map(|r| r.0).collect();
    let faults: Vec<&str> = Fault::ALL.iter().map(|f| f.info().name).collect();
    let properties = PROPERTIES.iter().map(|p| p.1);
    let properties: Vec<&str> = properties.chain(WITNESSES.iter().map(|w| w.1)).collect();
    for (flag, known) in [
        ("--scenario", scenarios),
        ("--protocol", protocols),
        ("--fault", faults),
        ("--property", properties),
    ] {
        let err = refused(&["run", flag, "no-such-thing"]);
        assert!(err.contains("`no-such-thing`"), "{err}");
        for name in known {
            assert!(err.contains(name), "{flag} does not name {name}: {err}");
        }
    }
}

#[test]
fn a_number_out_of_range_ends_with_2_and_the_range() {
    for (arguments, range) in [
        (["run", "--brokers", "6"], "1..=5"),
        (["run", "--min-isr", "0"], "1..=5"),
        (["run", "--records", "21"], "0..=20"),
        (["run", "--max-states", "0"], "0"),
        (["run", "--max-seconds", "-1"], "1..=31536000"),
        (["run", "--moves", "-1"], "0..=20"),
    ] {
        let (code, out, err) = check(&arguments);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
        assert!(err.contains(range) && err.lines().count() == 1, "{err}");
    }
}

#[test]
fn a_loss_ends_with_12_and_shows_the_way_to_it() {
    let (code, out, err) = check(&LOSS);
    assert_eq!((code, err.as_str()), (Some(12), ""), "{out}");
    assert!(out.contains("committed-survives is violated by:\n\n   1  "), "{out}");
}

#[test]
fn a_clean_run_ends_with_0_and_says_that_it_saw_everything() {
    let (code, out, err) = check(&["run", "--scenario", "fast-failover"]);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    assert!(out.contains("exhausted: ") && out.contains("cut by any other bound: 0"), "{out}");
}

#[test]
fn a_loss_that_was_recorded_replays_on_the_real_code() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let to = folder.path().to_str().expect("UTF-8");
    let (code, out, err) = check(&[&LOSS[..], &["--record", to]].concat());
    assert_eq!((code, err.as_str()), (Some(12), ""), "{out}");
    let file = folder.path().join("one-crash-kafka-0.10-committed-survives.jsonl");
    assert!(out.contains(&format!("\nrecorded to {}\n", file.display())), "{out}");
    let ran = run("conform", &["replay", to]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    assert!(ran.out.contains("committed-survives.jsonl  files  6 steps  parts as predicted in "));

    let text = fs::read_to_string(&file).expect("recorded");
    fs::write(&file, "mine\n").expect("a file");
    let (code, out, err) = check(&[&LOSS[..], &["--record", to]].concat());
    assert_eq!((code, err.lines().count()), (Some(70), 1), "{err}");
    assert!(err.contains("is there already and says something else; choose"), "{err}");
    assert!(out.contains("committed-survives is violated by:"), "the result is lost: {out}");
    assert_eq!(fs::read_to_string(&file).expect("still there"), "mine\n");
    assert!(text.ends_with('\n') && text.contains("\"kafka-0.10\""));

    let below = file.join("traces");
    let below = below.to_str().expect("UTF-8");
    let err = refused(&[&LOSS[..], &["--record", below]].concat());
    assert!(err.contains("choose a writable folder with --record"), "{err}");
}

#[test]
fn a_run_that_was_cut_ends_with_3_and_proves_nothing() {
    let arguments = ["run", "--scenario", "fast-failover", "--max-states", "500"];
    let (code, out, _) = check(&arguments);
    assert_eq!(code, Some(3), "{out}");
    assert!(out.contains("bounded by states: "), "{out}");
    assert!(!out.contains("holds"), "a cut run claims that something holds: {out}");
}

#[test]
fn a_witness_is_not_expected_within_changed_bounds() {
    let (code, out, _) = check(&["run", "--scenario", "lag", "--lag-checks", "0"]);
    assert_eq!(code, Some(0), "changed bounds expect nothing: {out}");
    assert!(out.contains("not found: it cannot happen here"), "{out}");
}

#[test]
fn a_trace_that_cannot_be_read_ends_with_2_and_the_place() {
    let err = refused(&["show", "traces/diverge/missing.jsonl"]);
    assert!(err.contains("missing.jsonl: ") && err.contains("name a trace file"), "{err}");

    let whole = read("traces/diverge/kip101-scenario-1.jsonl");
    let last = whole.lines().count();
    let cut = whole.len() - 20;
    let field = "{\"step\":1,\"colour\":\"red\",";
    let cases = [
        (whole.replace("{\"step\":1,", field), "line 3, column ", "mend the line"),
        (whole.replace("\"version\":1", "\"version\":9"), "line 1: version 9", "use the program"),
        (whole[..cut].to_owned(), &format!("line {last}, column "), "the line was cut"),
        (whole.trim_end().to_owned(), &format!("line {last}: "), "the file was cut"),
        (String::new(), "line 1: the file is empty", "record it anew"),
    ];
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (i, (bad, place, remedy)) in cases.iter().enumerate() {
        let file = folder.path().join(format!("bad-{i}.jsonl"));
        fs::write(&file, bad).expect("a temporary file");
        let err = refused(&["show", file.to_str().expect("UTF-8")]);
        assert!(err.contains(place) && err.contains(remedy), "case {i}: {err}");
    }
}

#[test]
fn where_nothing_can_be_written_nothing_is_lost() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("notes.txt");
    fs::write(&file, "mine\n").expect("a temporary file");
    // A path below a regular file: not even root can write there.
    let below = file.join("traces");
    let (code, out, err) = check(&["record", "--to", below.to_str().expect("UTF-8")]);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
    assert!(err.contains("notes.txt") && err.contains("choose a writable folder"), "{err}");
    assert_eq!(err.lines().count(), 1, "{err}");
    assert_eq!(fs::read_to_string(&file).expect("still there"), "mine\n");
    assert_eq!(fs::read_dir(folder.path()).expect("still there").count(), 1);
}

/// Every committed trace is recorded anew, which takes every search of the catalogue; among them
/// stand one that was changed and one that nobody records.
#[test]
fn the_committed_traces_are_what_the_model_records() {
    const OLD: &str = "conform/old.jsonl";
    const CHANGED: &str = "diverge/kip101-scenario-1.jsonl";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let to = folder.path().to_str().expect("UTF-8");
    let committed = traces();
    for (file, text) in &committed {
        let copy = folder.path().join(file.strip_prefix("traces/").expect("below traces"));
        fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder");
        fs::write(copy, text).expect("a copy");
    }
    fs::write(folder.path().join(OLD), "of an older catalogue\n").expect("a file");
    fs::write(folder.path().join(CHANGED), [0xff]).expect("a file");
    let (code, out, err) = check(&["record", "--check", "--to", to]);
    assert_eq!((code, err.as_str()), (Some(16), ""), "{out}");

    let with = |state: &str| -> BTreeSet<String> {
        let files =
            out.lines().filter_map(|l| l.strip_prefix(state)?.trim_start().split(' ').next());
        files.map(|f| f.replacen(to, "traces", 1)).collect()
    };
    let mut expected: BTreeSet<String> = committed.iter().map(|t| t.0.clone()).collect();
    expected.remove(&format!("traces/{CHANGED}"));
    assert_eq!(with("unchanged "), expected, "a trace differs, or is not committed: {out}");
    assert_eq!(with("changed "), [format!("traces/{CHANGED}")].into());
    assert_eq!(with("unknown "), [format!("traces/{OLD}")].into());
    assert_eq!(with("new "), BTreeSet::new());
    assert!(out.contains("\n2 traces differ; ") && out.contains(&format!(" --to {to}`")), "{out}");
    let changed = fs::read(folder.path().join(CHANGED));
    assert_eq!(changed.expect("still there"), [0xff], "--check wrote something");
    assert!(folder.path().join(OLD).exists());
}

#[test]
fn a_changed_trace_is_shown_with_a_note() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("x.jsonl");
    let text = read("traces/diverge/kip101-scenario-1.jsonl");
    fs::write(&file, text.replace("\"committed-survives\"", "\"hw-in-log\"")).expect("a file");
    let (code, out, err) = check(&["show", file.to_str().expect("UTF-8")]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("hw-in-log: violated"), "{out}");
    assert!(err.contains("line 1: the fingerprint of this text is ") && err.lines().count() == 1);
}

fn traces() -> Vec<(String, String)> {
    let names = files(".jsonl").into_iter();
    let names = names.filter(|f| f.starts_with("traces/"));
    names.map(|f| (f.clone(), read(&f))).collect()
}

#[test]
fn every_trace_can_be_shown_and_drawn() {
    for (file, _) in traces() {
        let (code, out, err) = check(&["show", &file]);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{file}");
        assert!(out.contains("\nthe real code "), "{file}: {out}");
        let (code, out, err) = check(&["show", &file, "--as", "svg"]);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{file}");
        assert!(out.starts_with("<svg") && out.ends_with("</svg>\n"), "{file}");
    }
}

/// The keys of the document, of a run and of a row; docs/checking.md says what each means.
pub const DOCUMENT: [&str; 3] = ["schema", "runs", "exit"];
pub const RUN: [&str; 23] = [
    "scenario",
    "protocol",
    "faults",
    "bounds",
    "verdict",
    "bounded_by",
    "generated",
    "unique",
    "depth",
    "seconds",
    "peak_rss_bytes",
    "properties",
    "actions",
    "refused",
    "boundary_cut",
    "outside_claim",
    "collision_probability",
    "memo_hit_rate",
    "audit",
    "panic",
    "spilled_bytes",
    "resumed_levels",
    "disk",
];
pub const ROW: [&str; 7] = ["id", "kind", "result", "expected", "expected_steps", "steps", "trace"];
/// What differs from run to run, or with where the run kept its states.
pub const MEASURED: [&str; 5] =
    ["seconds", "peak_rss_bytes", "memo_hit_rate", "spilled_bytes", "resumed_levels"];

fn keys(value: &Value) -> BTreeSet<&str> {
    let object = value.as_object().expect("an object");
    object.keys().map(String::as_str).collect()
}

/// The document of a run without its measurements, as it was printed otherwise.
fn document(arguments: &[&str]) -> Value {
    let arguments = [arguments, &["--format", "json"]].concat();
    let (_, out, err) = check(&arguments);
    assert_eq!(err, "");
    let mut document: Value = serde_json::from_str(&out).expect("one JSON document");
    for run in document["runs"].as_array_mut().expect("a list of runs") {
        for name in MEASURED {
            let measured = run.as_object_mut().expect("an object").remove(name);
            assert!(measured.is_some_and(|v| v.is_number()), "{name} is not measured");
        }
    }
    document
}

#[test]
fn the_document_has_exactly_its_documented_keys() {
    let document = document(&LOSS);
    assert_eq!(document["schema"], "klog-check/1");
    assert_eq!(document["exit"], 12);
    assert_eq!(keys(&document), BTreeSet::from(DOCUMENT));
    let run = &document["runs"][0];
    let mut expected = BTreeSet::from(RUN);
    expected.retain(|key| !MEASURED.contains(key));
    assert_eq!(keys(run), expected);
    assert_eq!(run["verdict"], "exhausted");
    assert_eq!(run["bounded_by"], Value::Null);
    let rows = run["properties"].as_array().expect("a list of rows");
    assert_eq!(rows.len(), PROPERTIES.len() + WITNESSES.len());
    for row in rows {
        assert_eq!(keys(row), BTreeSet::from(ROW));
    }
    let first = &rows[0];
    assert_eq!(
        (&first["id"], &first["result"]),
        (&"committed-survives".into(), &"violated".into())
    );
    assert!(first["steps"].as_u64().is_some_and(|n| n > 0));
}

#[test]
fn two_runs_print_the_same_but_for_what_they_measure() {
    assert_eq!(document(&LOSS).to_string(), document(&LOSS).to_string());
}

#[test]
fn one_property_alone_is_judged_as_among_all() {
    let all = document(&LOSS);
    let one = document(&[&LOSS[..], &["--property", "logs-match"]].concat());
    let rows = one["runs"][0]["properties"].as_array().expect("a list of rows");
    assert_eq!(rows.len(), 1);
    let among = all["runs"][0]["properties"].as_array().expect("a list of rows");
    assert!(among.contains(&rows[0]));
}

#[test]
fn the_lists_name_what_there_is() {
    for (what, count) in [
        ("faults", Fault::ALL.len()),
        ("properties", PROPERTIES.len() + PROGRESS.len() + WITNESSES.len()),
        ("cases", klog_model::cases::cases().count()),
        ("scenarios", scenarios().len()),
        ("actions", klog_trace::Action::KINDS.len()),
        ("traces", traces().len()),
    ] {
        let (code, out, err) = check(&["list", what]);
        assert_eq!((code, err.as_str()), (Some(0), ""));
        // What is said further of a thing is set in.
        let things = out.lines().filter(|line| !line.starts_with(' '));
        assert_eq!(things.count(), count, "{what}: {out}");
    }
}

#[test]
fn the_demo_prints_the_same_bytes_five_times() {
    let arguments =
        ["replica-demo", "--rounds", "4", "--min-isr", "2", "--now-ms", "1700000000000"];
    for format in ["human", "json"] {
        let arguments = [&arguments[..], &["--format", format]].concat();
        let first = run("klog", &arguments);
        assert_eq!(first.code, Some(0));
        assert!(!first.out.is_empty() && first.err.is_empty());
        for _ in 0..4 {
            assert!(run("klog", &arguments).out == first.out, "{format} differs");
        }
    }
}

#[test]
fn the_demo_refuses_what_it_cannot_do_with_2() {
    for (arguments, meant) in [
        (&["replica-demo", "--round", "4"][..], "--rounds"),
        (&["replica-demo", "--min-isr", "3"], "1..=2"),
        (&["replica-demo", "--now-ms", "-5"], "0..=253402300799999"),
        (&["replica-dmo"], "replica-demo"),
        (&["replica-demo", "--dir", "Cargo.toml/logs"], "name a directory"),
    ] {
        let Ran { code, out, err } = run("klog", arguments);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
        assert!(err.contains(meant) && err.lines().count() == 1, "{err}");
    }
}

/// Runs a command line in a shell that lets no file grow beyond a few hundred bytes, or gives it
/// a full device to print to.
#[cfg(target_os = "linux")]
pub fn in_need(name: &str, before: &str, arguments: &str) -> Ran {
    let program = crate::support::binary(name).display().to_string();
    let line = format!("{before} exec '{program}' {arguments}");
    let output = std::process::Command::new("sh")
        .current_dir(crate::support::root())
        .args(["-c", &line])
        .output();
    Ran::from(output.expect("a shell"))
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fails_under_the_demo_ends_it_with_74() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = folder.path().join("logs");
    let arguments = format!("replica-demo --rounds 40 --dir '{}'", dir.display());
    let ran = in_need("klog", "trap '' XFSZ; ulimit -f 1;", &arguments);
    assert_eq!((ran.code, ran.out.as_str()), (Some(74), ""), "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    assert!(ran.err.contains("the disk of broker ") && ran.err.contains("--dir"), "{}", ran.err);
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_printed_is_no_success() {
    for (name, arguments, code) in [
        ("check", "list faults > /dev/full", 70),
        ("conform", "replay traces/diverge --disk memory > /dev/full", 70),
        ("klog", "replica-demo > /dev/full", 74),
    ] {
        let ran = in_need(name, "", arguments);
        assert_eq!(ran.code, Some(code), "{name}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{name}: {}", ran.err);
    }
}
