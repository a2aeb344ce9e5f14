//! `check` by several processes on loopback: the same document as of one, and what is said when
//! one of them is lost.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Ran, binary, root, run};

/// A hosts file for so many processes, with ports that are free.
fn hosts(folder: &TempDir, processes: usize) -> PathBuf {
    let port = |_| TcpListener::bind("127.0.0.1:0").expect("a free port");
    let all: Vec<TcpListener> = (0..processes).map(port).collect();
    let line = |it: &TcpListener| format!("{}\n", it.local_addr().expect("bound"));
    let path = folder.path().join("hosts.txt");
    fs::write(&path, all.iter().map(line).collect::<String>()).expect("a file");
    path
}

/// A process that does not outlive the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    fn start(arguments: &[&str], hosts: &PathBuf, process: usize) -> Self {
        let mut command = Command::new(binary("check"));
        command.current_dir(root()).args(arguments).args(["--threads", "1", "--hosts"]).arg(hosts);
        command.args(["--process", &process.to_string()]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        Self(child.expect("the binary starts"))
    }

    /// Waits until the others were met.
    fn has_met(&mut self) -> impl BufRead + use<> {
        let mut lines = BufReader::new(self.0.stderr.take().expect("piped"));
        let mut line = String::new();
        lines.read_line(&mut line).expect("UTF-8");
        assert!(line.contains("have met; the search begins"), "{line}");
        lines
    }

    /// The code, and what was printed after the others were met.
    fn ends(mut self, mut err: impl BufRead) -> Ran {
        let (mut out, mut said) = (String::new(), String::new());
        let pipe = self.0.stdout.as_mut().expect("piped");
        pipe.read_to_string(&mut out).expect("UTF-8");
        err.read_to_string(&mut said).expect("UTF-8");
        Ran { code: self.0.wait().expect("it ends").code(), out, err: said }
    }
}

/// A document without what is measured.
fn document(out: &str) -> Value {
    let mut document: Value = serde_json::from_str(out).expect("one JSON document");
    for run in document["runs"].as_array_mut().expect("a list of runs") {
        for measured in ["seconds", "peak_rss_bytes", "memo_hit_rate"] {
            run[measured] = Value::Null;
        }
    }
    document
}

#[test]
fn two_processes_print_the_document_of_one() {
    let folder = TempDir::new().expect("a folder");
    let twin = ["twin", "--module", "kip320", "--replicas", "2", "--format", "json"];
    let symmetric = [
        &["twin", "--module", "kip101", "--symmetry", "--property", "strong-isr"][..],
        &["--format", "json"],
    ];
    let violated = [
        &["run", "--scenario", "fast-failover", "--protocol", "kafka-0.11"][..],
        &["--format", "json"],
    ];
    let bounded = ["run", "--scenario", "one-crash", "--max-depth", "8", "--format", "json"];
    for (arguments, code) in
        [(&twin[..], 0), (&symmetric.concat(), 12), (&violated.concat(), 12), (&bounded, 3)]
    {
        let one = run("check", arguments);
        let hosts = hosts(&folder, 2);
        let mut both = [0, 1].map(|n| Process::start(arguments, &hosts, n));
        let met = both.each_mut().map(Process::has_met);
        for (process, err) in both.into_iter().zip(met) {
            let ran = process.ends(err);
            assert_eq!((ran.code, ran.err.as_str()), (one.code, ""), "{arguments:?}");
            assert_eq!(document(&ran.out), document(&one.out), "{arguments:?}");
        }
        let alone = run("check", &[arguments, &["--engine", "timely", "--threads", "3"]].concat());
        assert_eq!(document(&alone.out), document(&one.out), "{arguments:?}");
        assert_eq!(one.code, Some(code), "{arguments:?}");
    }
}

/// Comes back when a process has been busy for half a second.
#[cfg(target_os = "linux")]
fn has_worked(process: u32) {
    let busy = || {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
        let (_, figures) = stat.rsplit_once(')').expect("the name stands in brackets");
        // The time in user mode, in hundredths of a second.
        figures.split_whitespace().nth(11).expect("a figure").parse::<u64>().expect("a number")
    };
    while busy() < 50 {
        std::thread::yield_now();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_is_killed_is_missed_and_nothing_holds() {
    let folder = TempDir::new().expect("a folder");
    // More than could be searched before the kill.
    let large = ["--log-size", "3", "--max-records", "3", "--max-leader-epoch", "3"];
    let twin = ["twin", "--module", "kip320", "--format", "json", "--max-seconds", "60"];
    let arguments = [&twin[..], &large].concat();
    for victim in [0, 1] {
        let hosts = hosts(&folder, 2);
        let mut both = [0, 1].map(|n| Process::start(&arguments, &hosts, n));
        let [met_0, met_1] = both.each_mut().map(Process::has_met);
        let [zero, one] = both;
        let (mut killed, left, err) =
            if victim == 0 { (zero, one, met_1) } else { (one, zero, met_0) };
        has_worked(killed.0.id());
        killed.0.kill().expect("it runs");
        let ran = left.ends(err);
        let begins = format!("check: process {victim} (127.0.0.1:");
        assert!(ran.err.starts_with(&begins) && ran.err.contains(") was lost: "), "{}", ran.err);
        assert!(ran.err.ends_with("; start all processes again\n"), "{}", ran.err);
        assert_eq!((ran.err.lines().count(), ran.code), (1, Some(3)), "{}", ran.err);
        let run = &document(&ran.out)["runs"][0];
        assert_eq!((&run["verdict"], &run["bounded_by"]), (&"bounded".into(), &"worker".into()));
        let rows = run["properties"].as_array().expect("a list of rows");
        assert!(!rows.is_empty() && rows.iter().all(|row| row["result"] == "not-found"));
        // All is told as of the last level that was complete.
        let depth = run["depth"].to_string();
        assert_ne!(depth, "0", "it was killed too early");
        let twin = [&arguments[..], &["--max-depth", &depth]].concat();
        let shallow = &document(&self::run("check", &twin).out)["runs"][0];
        for key in ["unique", "generated", "boundary_cut", "actions", "refused"] {
            assert_eq!(run[key], shallow[key], "{key} at depth {depth}");
        }
    }
}

/// A limit on depth that is reached with nothing left ends nothing.
#[test]
fn the_depth_may_be_just_enough() {
    let run = |depth: &str, engine: &[&str]| {
        let arguments = ["run", "--scenario", "fast-failover", "--max-depth", depth];
        let ran = run("check", &[&arguments[..], &["--format", "json"], engine].concat());
        (ran.code, document(&ran.out))
    };
    // The space is 16 deep.
    for (depth, code) in [("15", 3), ("16", 3), ("17", 0), ("18", 0)] {
        let (one, timely) = (run(depth, &[]), run(depth, &["--engine", "timely"]));
        assert_eq!((one.0, &one), (Some(code), &timely), "{depth}");
    }
}

#[test]
fn what_is_wrong_with_hosts_is_told_in_one_line() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("hosts.txt");
    let refused = |text: &str, more: &[&str]| {
        fs::write(&path, text).expect("a file");
        let file = path.to_str().expect("UTF-8");
        let ran = run("check", &[&["run", "--hosts", file], more].concat());
        assert_eq!((ran.code, ran.out.as_str(), ran.err.lines().count()), (Some(2), "", 1));
        ran.err
    };
    let has = |text: &str, part: &str| assert!(text.contains(part), "{text}");
    has(&refused("a:1\n\nfoo\n", &["--process", "0"]), "hosts.txt: line 3: `foo` is not HOST:PORT");
    has(&refused("", &["--process", "0"]), "hosts.txt: there is no address in it; write");
    has(&refused("a:1\nb:2\n", &["--process", "2"]), "there is no process 2: the hosts file has 2");
    has(&refused("a:1\n", &[]), "--process");
    has(&refused("a:1\n", &["--process", "0", "--audit"]), "--audit is for one process; leave");
    let stateright = ["--process", "0", "--engine", "stateright"];
    has(&refused("a:1\n", &stateright), "--hosts is for the engine timely; leave --engine out");
}
