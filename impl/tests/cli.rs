//! The binary `klog` as a person meets it: exit codes and messages.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn klog(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_klog")).args(arguments).output().unwrap()
}

fn golden(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn the_demo_prints_the_goldens() {
    let human = klog(&["replica-demo"]);
    assert_eq!((human.status.code(), stderr(&human)), (Some(0), String::new()));
    assert!(human.stdout == golden("replica-demo.txt"));
    let arguments =
        ["replica-demo", "--rounds", "4", "--min-isr", "2", "--now-ms", "1700000000000"];
    let json = klog(&[&arguments[..], &["--format", "json"]].concat());
    assert!(json.stdout == golden("replica-demo.json"));
    assert!(serde_json::from_slice::<serde_json::Value>(&json.stdout).is_ok());
}

#[test]
fn a_directory_is_filled_once_and_never_overwritten() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("new").join("logs");
    let argument = dir.to_str().unwrap();
    let first = klog(&["replica-demo", "--dir", argument]);
    assert_eq!(first.status.code(), Some(0));
    assert!(first.stdout == golden("replica-demo.txt"));
    let segment = dir.join("broker-2").join("orders-0").join("00000000000000000000.log");
    let before = fs::read(&segment).unwrap();
    assert!(!before.is_empty());
    let second = klog(&["replica-demo", "--dir", argument, "--rounds", "1"]);
    assert_eq!((second.status.code(), second.stdout.len()), (Some(2), 0));
    let expected = format!(
        "klog: --dir {argument}: the directory is not empty; name one that is empty or does not \
         exist\n"
    );
    assert_eq!(stderr(&second), expected);
    assert_eq!(fs::read(&segment).unwrap(), before);
}

#[test]
fn a_path_that_is_no_directory_is_one_line_with_a_remedy() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let output = klog(&["replica-demo", "--dir", file.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let text = stderr(&output);
    assert!(text.ends_with("; name a directory that can be made or written to\n"), "{text}");
    assert_eq!(text.lines().count(), 1);
}

#[test]
fn wrong_arguments_exit_with_2_and_say_what_is_right() {
    let cases: [(&[&str], &str); 7] = [
        (&["replica-demo", "--round", "4"], "'--rounds'"),
        (&["replica-dmo"], "'replica-demo'"),
        (&["replica-demo", "--rounds", "0"], "0 is not in 1..=10000"),
        (&["replica-demo", "--min-isr", "3"], "3 is not in 1..=2"),
        (&["replica-demo", "--now-ms=-1"], "-1 is not in 0..=253402300799999"),
        (&["replica-demo", "--format", "jso"], "'json'"),
        (&[], "Usage: klog"),
    ];
    for (arguments, expected) in cases {
        let output = klog(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
        assert_eq!(output.stdout, b"");
    }
}

#[test]
fn help_begins_with_an_example() {
    for arguments in [&["--help"][..], &["replica-demo", "--help"]] {
        let output = klog(arguments);
        assert_eq!(output.status.code(), Some(0));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with("Example: klog replica-demo "), "{text}");
    }
}
