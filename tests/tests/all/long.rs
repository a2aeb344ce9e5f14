//! Long searches of `check`: with files when memory is short, with checkpoints, gone on with. They
//! print what a search in memory and in one go prints, or one line that says what is wrong.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::binaries::{MEASURED, in_need, refused};
use crate::support::{Ran, binary, root, run};

/// The least memory with which a search spills.
const LITTLE: [&str; 2] = ["--memory-limit", "16M"];

/// Needs more than that, and breaks three properties on its way.
const LARGE: [&str; 9] = [
    "run",
    "--scenario",
    "both-lose-power",
    "--protocol",
    "kafka-0.10",
    "--records",
    "3",
    "--max-depth",
    "18",
];
const TWIN: [&str; 3] = ["twin", "--module", "kip320"];
const SMALL: [&str; 5] = ["run", "--scenario", "fast-failover", "--protocol", "kafka-0.11"];

fn with<'a>(arguments: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [arguments, more].concat()
}

/// What a command says apart from measurements, and these.
struct Told {
    code: Option<i32>,
    document: String,
    spilled: u64,
    resumed: u64,
    bounded_by: Option<String>,
    /// The line on stderr.
    err: String,
}

fn told_by(Ran { code, out, err }: Ran) -> Told {
    let mut document: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {err}"));
    let run = document["runs"][0].as_object_mut().expect("one run");
    let number = |name: &str| run[name].as_u64().expect("a number");
    let (spilled, resumed) = (number("spilled_bytes"), number("resumed_levels"));
    let bounded_by = run["bounded_by"].as_str().map(str::to_owned);
    let error = run["disk"].as_str().map_or_else(String::new, |e| format!("check: {e}\n"));
    assert_eq!(error, err, "the report and stderr say the same");
    for name in MEASURED {
        assert!(run.remove(name).is_some(), "{name} is gone");
    }
    Told { code, document: document.to_string(), spilled, resumed, bounded_by, err }
}

fn told(arguments: &[&str]) -> Told {
    told_by(run("check", &with(arguments, &["--format", "json"])))
}

/// A run that was cut off says so, and that nothing holds.
fn proves_nothing(cut: &Told, by: &str, code: i32) {
    assert_eq!((cut.bounded_by.as_deref(), cut.code), (Some(by), Some(code)), "{}", cut.document);
    assert!(!cut.document.contains("\"result\":\"holds\""), "{}", cut.document);
}

fn folder() -> (TempDir, impl Fn(&str) -> String) {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().to_owned();
    (folder, move |name: &str| path.join(name).to_str().expect("UTF-8").to_owned())
}

fn copy(from: &str, to: &str) {
    fs::create_dir_all(to).expect("a folder");
    for file in fs::read_dir(from).expect("it is there") {
        let file = file.expect("a file");
        fs::copy(file.path(), Path::new(to).join(file.file_name())).expect("room");
    }
}

#[test]
fn a_search_that_spills_says_the_same() {
    let (_folder, path) = folder();
    let spill = path("spill");
    for arguments in [&TWIN[..], &LARGE] {
        let whole = told(arguments);
        assert_eq!((whole.spilled, whole.resumed), (0, 0));
        proves_nothing(
            &told(&with(arguments, &LITTLE)),
            "memory",
            if arguments == LARGE { 12 } else { 3 },
        );
        for threads in ["1", "2"] {
            let more = ["--spill", &spill, "--threads", threads];
            let spilled = told(&with(&with(arguments, &LITTLE), &more));
            assert!(spilled.spilled > 0, "16 MiB are enough, so this shows nothing");
            assert_eq!((spilled.code, &spilled.document), (whole.code, &whole.document));
            assert!(!Path::new(&spill).exists(), "the folder was made and is left");
        }
    }
    let human = run("check", &with(&with(&TWIN, &LITTLE), &["--spill", &spill]));
    assert!(human.out.contains("\nspilled to files: "), "{}", human.out);
}

/// Cuts a search off after so many levels, goes on with it, and goes on with what is there then.
fn same_from(levels: u64, arguments: &[&str], how: &[&str], whole: &Told) {
    let (_folder, path) = folder();
    let (kept, spill, depth) = (path("kept"), path("spill"), levels.to_string());
    let how: Vec<&str> = how.iter().map(|it| if *it == "SPILL" { &spill } else { *it }).collect();
    let first = with(&how, &["--checkpoint", &kept, "--max-depth", &depth]);
    let cut = told(&with(arguments, &first));
    proves_nothing(&cut, "depth", cut.code.filter(|code| *code == 12).unwrap_or(3));
    for first in [true, false] {
        let again = told(&with(arguments, &with(&how, &["--resume", &kept])));
        assert_eq!((again.code, &again.document), (whole.code, &whole.document), "{levels}");
        assert!(again.resumed == levels || !first, "{} of {levels}", again.resumed);
    }
}

#[test]
fn a_search_that_is_gone_on_with_says_the_same() {
    let whole = told(&SMALL);
    assert_eq!(whole.code, Some(12));
    for levels in [1, 2, 5, 9, 14, 20, 21] {
        same_from(levels, &SMALL, &[], &whole);
    }
    let goal = with(&SMALL, &["--property", "epochs-ordered"]);
    let whole = told(&goal);
    assert_eq!(whole.bounded_by.as_deref(), Some("goal"));
    for levels in [1, 6, 10] {
        same_from(levels, &goal, &[], &whole);
    }
    let clean = ["run", "--scenario", "power-loss"];
    let whole = told(&clean);
    assert_eq!(whole.code, Some(0));
    for levels in [2, 13, 27] {
        same_from(levels, &clean, &["--threads", "2"], &whole);
    }
    let two_replicas = with(&TWIN, &["--replicas", "2", "--symmetry"]);
    let async_isr = ["twin", "--module", "async-isr"];
    for arguments in [&two_replicas[..], &async_isr] {
        let whole = told(arguments);
        assert_eq!(whole.code, Some(0));
        for levels in [1, 4, 11] {
            same_from(levels, arguments, &[], &whole);
        }
    }
}

#[test]
fn a_search_that_spills_and_is_gone_on_with_says_the_same() {
    let whole = told(&TWIN);
    let little = with(&LITTLE, &["--spill", "SPILL"]);
    for levels in [12, 22] {
        same_from(levels, &TWIN, &little, &whole);
    }
    let (_folder, path) = folder();
    let kept = path("kept");
    let cut = told(&with(&with(&TWIN, &LITTLE), &["--checkpoint", &kept]));
    proves_nothing(&cut, "memory", 3);
    let again = told(&with(&TWIN, &["--resume", &kept]));
    assert_eq!((again.code, &again.document), (whole.code, &whole.document));
    let human = run("check", &with(&TWIN, &["--resume", &kept]));
    assert!(human.out.contains("\nresumed after level 26 of a checkpoint\n"), "{}", human.out);
}

/// Starts a search, and waits until it has a checkpoint.
fn started(arguments: &[&str], kept: &str) -> Child {
    let mut command = Command::new(binary("check"));
    command.current_dir(root()).args(arguments).args(["--checkpoint", kept, "--format", "json"]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    while !Path::new(kept).join("manifest").exists() {
        assert_eq!(child.try_wait().expect("a child"), None, "it ended without a checkpoint");
        std::thread::yield_now();
    }
    child
}

#[cfg(unix)]
#[test]
fn whoever_ends_a_search_can_go_on_with_it() {
    let clean = ["run", "--scenario", "both-lose-power"];
    let whole = told(&clean);
    assert_eq!(whole.code, Some(0));
    for signal in ["TERM", "INT", "KILL"] {
        let (_folder, path) = folder();
        let kept = path("kept");
        let child = started(&clean, &kept);
        let kill = format!("kill -{signal} {}", child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().expect("a shell").success());
        let ran = Ran::from(child.wait_with_output().expect("it ends"));
        if signal == "KILL" {
            assert_eq!((ran.code, ran.out.as_str()), (None, ""));
        } else {
            proves_nothing(&told_by(ran), "interruption", 130);
        }
        let again = told(&with(&clean, &["--resume", &kept]));
        assert_eq!((again.code, &again.document), (whole.code, &whole.document), "{signal}");
        assert!(again.resumed > 0);
    }
}

#[test]
fn flags_that_do_not_go_together_are_refused() {
    let none = "no-such-folder";
    let many = ["--memory-limit", "1G"];
    for (arguments, words) in [
        (with(&SMALL, &["--spill", none]), "give that as well"),
        (with(&TWIN, &["--spill", none]), "give that as well"),
        (with(&SMALL, &["--spill", none, "--memory-limit", "1M"]), "give 16777216 or more"),
        (with(&SMALL, &["--checkpoint", none, "--resume", none]), "cannot be used with"),
        (with(&SMALL, &["--checkpoint", none, "--audit"]), "leave one out"),
        (with(&TWIN, &["--resume", none, "--audit"]), "leave one out"),
        (with(&SMALL, &["--spill", ""]), "a value is required"),
        (vec!["--spill", none], "unexpected argument '--spill'"),
        (vec!["--checkpoint", none], "unexpected argument '--checkpoint'"),
        (vec!["bench", "--resume", none], "unexpected argument '--resume'"),
    ] {
        let err = refused(&arguments);
        assert!(err.contains(words), "{err}");
    }
    for flag in ["--spill", "--checkpoint", "--resume"] {
        for command in [&SMALL[..], &TWIN] {
            for engine in ["stateright", "timely"] {
                // The twin says so before it looks at the flags.
                let flags = [flag, none, "--engine", engine];
                let err = refused(&with(command, &with(&flags, &many)));
                assert!(err.contains("leave --engine out"), "{err}");
            }
            let across = [flag, none, "--hosts", none, "--process", "0"];
            let err = refused(&with(command, &with(&across, &many)));
            assert!(err.contains("cannot be used with"), "{err}");
        }
    }
    assert!(!root().join(none).exists(), "a refused command made a folder");
}

/// Its checker knows no such limits, and a run that drops one is no bounded run.
#[test]
fn stateright_is_asked_for_nothing_that_it_cannot_do() {
    for option in [&["--max-depth", "2"][..], &["--memory-limit", "1M"], &["--audit"]] {
        for command in [&SMALL[..], &[]] {
            let err = refused(&with(command, &with(option, &["--engine", "stateright"])));
            assert!(err.contains(option[0]) && err.contains("leave --engine out"), "{err}");
        }
    }
}

#[test]
fn an_audit_may_spill() {
    let (_folder, path) = folder();
    let more = ["--memory-limit", "16M", "--audit", "--spill", &path("spill")];
    let (whole, spilled) = (told(&with(&TWIN, &["--audit"])), told(&with(&TWIN, &more)));
    assert!(whole.document.contains("\"audit\":\"same\"") && spilled.spilled > 0);
    assert_eq!((spilled.code, &spilled.document), (Some(0), &whole.document));
}

#[test]
fn folders_of_no_use_are_refused() {
    let (_folder, path) = folder();
    let (file, empty) = (path("file"), path("empty"));
    fs::write(&file, "mine\n").expect("room");
    fs::create_dir(&empty).expect("room");
    let (below, nowhere) = (path("file/below"), path("nowhere"));
    let spill = |at: &str| refused(&with(&SMALL, &["--memory-limit", "1G", "--spill", at]));
    let checkpoint = |at: &str| refused(&with(&SMALL, &["--checkpoint", at]));
    let resume = |at: &str| refused(&with(&SMALL, &["--resume", at]));
    let mut lines = vec![
        (&file, spill(&file)),
        (&below, spill(&below)),
        (&file, checkpoint(&file)),
        (&below, checkpoint(&below)),
        (&file, resume(&file)),
        (&empty, resume(&empty)),
        (&nowhere, resume(&nowhere)),
    ];
    // Not even root makes a folder there.
    let nobodys = "/proc/no-such-folder".to_owned();
    if cfg!(target_os = "linux") {
        lines.extend([(&nobodys, spill(&nobodys)), (&nobodys, checkpoint(&nobodys))]);
    }
    for (at, line) in &lines {
        assert!(line.starts_with(&format!("check: {at}")) && line.contains("; "), "{line}");
    }
    assert!(!Path::new(&nowhere).exists());
    for name in ["fingerprints", "links", "manifest.new"] {
        let (others, theirs) = (path(name), Path::new(&path(name)).join(name));
        fs::create_dir(&others).expect("room");
        fs::write(&theirs, "not yours\n").expect("room");
        let line = checkpoint(&others);
        assert!(line.contains(&*theirs.to_string_lossy()) && line.contains("; name "), "{line}");
        assert_eq!(fs::read_to_string(&theirs).expect("still there"), "not yours\n");
    }
    assert_eq!(fs::read_to_string(&file).expect("still there"), "mine\n");
}

/// A checkpoint of some levels, and what the whole search says.
fn kept(path: &impl Fn(&str) -> String) -> (String, Told) {
    let kept = path("kept");
    told(&with(&SMALL, &["--max-depth", "9", "--checkpoint", &kept]));
    (kept, told(&SMALL))
}

#[test]
fn a_checkpoint_of_another_search_is_refused_with_what_differs() {
    let (_folder, path) = folder();
    let (kept, whole) = kept(&path);
    let resume = |arguments: &[&str]| refused(&with(arguments, &["--resume", &kept]));
    let lag = ["run", "--scenario", "lag", "--protocol", "kafka-0.11"];
    for (err, differs) in [
        (resume(&lag), "scenario is fast-failover there and lag here"),
        (resume(&SMALL[..3]), "protocol is kafka-0.11 there and klog here"),
        (resume(&TWIN), "scenario is fast-failover there and twin here"),
        (resume(&with(&SMALL, &["--moves", "1"])), "moves is 2 there and 1 here"),
        (resume(&with(&SMALL, &["--property", "logs-match"])), "property is all there and logs-"),
        (resume(&with(&SMALL, &["--fault", "truncate-to-hw"])), "faults is epoch-lookup-exact"),
        (resume(&with(&SMALL, &["--interleaving", "full"])), "interleaving is merged there and"),
        (resume(&with(&SMALL, &["--max-depth", "8"])), "it has 9 levels, the limit is 8; raise"),
    ] {
        assert!(err.starts_with(&format!("check: {kept}/manifest: ")), "{err}");
        assert!(err.contains(differs) && err.contains(", or search anew"), "{err}");
    }
    let taken = refused(&with(&SMALL, &["--checkpoint", &kept]));
    assert!(taken.contains("there is one already; resume it, or name another"), "{taken}");
    let again = told(&with(&SMALL, &["--resume", &kept]));
    assert_eq!((again.document, again.resumed), (whole.document, 9), "it was not left alone");
}

#[test]
fn a_damaged_checkpoint_is_refused_with_the_file() {
    let (_folder, path) = folder();
    let (kept, whole) = kept(&path);
    let bad = path("bad");
    let resume = || refused(&with(&SMALL, &["--resume", &bad]));
    for name in ["manifest", "fingerprints", "links"] {
        copy(&kept, &bad);
        let file = PathBuf::from(&bad).join(name);
        let sound = fs::read(&file).expect("it is there");
        let place = format!("check: {}: ", file.display());
        for at in [0, 7, sound.len() / 3, sound.len() / 2, sound.len() - 1] {
            let mut bytes = sound.clone();
            bytes[at] ^= 4;
            fs::write(&file, &bytes).expect("room");
            let flipped = resume();
            fs::write(&file, &sound[..at]).expect("room");
            for err in [flipped, resume()] {
                assert!(err.starts_with(&place) && err.contains(" damaged: "), "{at}: {err}");
                assert!(err.contains("restore the folder from a copy, or search anew"), "{err}");
            }
        }
        fs::remove_file(&file).expect("it was there");
        let missing = match name {
            "manifest" => "there is no checkpoint; search without resuming\n",
            _ => {
                "the checkpoint is damaged: a file expected, none found; restore the folder from a \
                 copy, or search anew\n"
            }
        };
        assert_eq!(resume(), format!("{place}{missing}"));
    }
    copy(&kept, &bad);
    let manifest = PathBuf::from(&bad).join("manifest");
    let text = fs::read_to_string(&manifest).expect("it is there");
    fs::write(&manifest, text.replacen("checkpoint 1", "checkpoint 2", 1)).expect("room");
    let err = resume();
    assert!(
        err.contains("\"levelwise checkpoint 2\" is not") && err.contains("; use the"),
        "{err}"
    );
    let again = told(&with(&SMALL, &["--resume", &kept]));
    assert_eq!(again.document, whole.document);
}

/// Runs `check` where no file may grow beyond some ten thousand bytes.
#[cfg(target_os = "linux")]
fn on_a_small_disk(arguments: &[&str]) -> Told {
    let arguments = format!("{} --format json", arguments.join(" "));
    told_by(in_need("check", "ulimit -f 100;", &arguments))
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_bounds_a_search_and_keeps_its_checkpoint() {
    let (_folder, path) = folder();
    let (spill, kept, full) = (path("spill"), path("kept"), path("full"));
    let whole = told(&TWIN);
    let flags = with(&LITTLE, &["--spill", &spill, "--checkpoint", &kept]);
    for (cut, place) in [
        (on_a_small_disk(&with(&TWIN, &with(&LITTLE, &["--spill", &spill]))), &spill),
        (on_a_small_disk(&with(&TWIN, &flags)), &kept),
    ] {
        proves_nothing(&cut, "disk", 3);
        assert!(cut.err.starts_with(&format!("check: {place}")), "{}", cut.err);
        assert!(cut.err.contains(": can't write ") && cut.err.contains("; raise the limit on"));
        assert_eq!(cut.err.lines().count(), 1);
    }
    let again = told(&with(&TWIN, &["--resume", &kept]));
    assert_eq!((again.code, &again.document), (whole.code, &whole.document));
    assert!(again.resumed > 0);
    // A violation that was found stands.
    let violated = on_a_small_disk(&with(&LARGE, &["--checkpoint", &path("large")]));
    proves_nothing(&violated, "disk", 12);
    fs::create_dir(&full).expect("room");
    std::os::unix::fs::symlink("/dev/full", path("full/links")).expect("a link");
    let cut = told(&with(&SMALL, &["--checkpoint", &full]));
    proves_nothing(&cut, "disk", 3);
    let place = format!("check: {full}/links: can't write links: No space left on device");
    assert!(cut.err.starts_with(&place) && cut.err.contains("; free space there"), "{}", cut.err);
    // What was never complete is in the way of the next one until its user says otherwise.
    let err = refused(&with(&SMALL, &["--checkpoint", &full]));
    assert!(err.contains("full/fingerprints: can't begin a checkpoint"), "{err}");
    fs::remove_file(path("full/fingerprints")).expect("it is there");
    let human = run("check", &with(&SMALL, &["--checkpoint", &full]));
    assert_eq!((human.code, human.err.as_str()), (Some(3), cut.err.as_str()));
    assert!(human.out.contains("\nbounded by disk: ") && !human.out.contains(" holds"));
}
