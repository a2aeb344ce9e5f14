//! `klog dump-log`: what it shows of a log, whole, torn or damaged, and that it changes nothing.

use std::fs;
use std::path::{Path, PathBuf};

use klog::dump::{self, Dump};
use tempfile::TempDir;

use crate::support::{Ran, run};

const SEGMENT: &str = "00000000000000000000.log";

/// The logs that the demo leaves behind, and the directory of one partition among them.
fn logs() -> (TempDir, PathBuf) {
    let folder = TempDir::new().expect("a folder");
    let dir = folder.path().join("logs");
    let ran = run("klog", &["replica-demo", "--dir", dir.to_str().expect("UTF-8")]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let partition = dir.join("broker-1/orders-0");
    (folder, partition)
}

fn dump_log(dir: &Path, more: &[&str]) -> Ran {
    run("klog", &[&["dump-log", dir.to_str().expect("UTF-8")], more].concat())
}

/// Every file of a directory with its bytes.
fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(dir).expect("a directory");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = paths.map(|p| (p.clone(), fs::read(p).expect("a file"))).collect();
    files.sort();
    files
}

fn whole(dir: &Path) -> Dump {
    dump::read(dir).expect("a whole log")
}

#[test]
fn the_log_of_the_demo_is_shown_and_left_alone() {
    let (_folder, dir) = logs();
    let before = files(&dir);
    let Dump { start, leo, batches, epochs, torn, .. } = whole(&dir);
    assert_eq!((start, leo, torn), (0, 5, None));
    assert_eq!(epochs, [(0, 0)]);
    let length = fs::metadata(dir.join(SEGMENT)).expect("a segment").len();
    let mut next = (0, 0);
    for batch in &batches {
        assert_eq!((batch.base, batch.position), next);
        assert_eq!((batch.epoch, batch.records, batch.file.as_str()), (0, 1, SEGMENT));
        next = (batch.last + 1, batch.position + batch.bytes);
    }
    assert_eq!(next, (leo, length));

    let human = dump_log(&dir, &[]);
    assert_eq!((human.code, human.err.as_str()), (Some(0), ""));
    assert_eq!(human.out.lines().count(), 1 + batches.len() + 3, "{}", human.out);
    assert!(human.out.contains("\nlog start 0, LEO 5\nleader epochs: 0 from 0\n"), "{}", human.out);
    let json = dump_log(&dir, &["--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&json.out).expect("one document");
    assert_eq!(document["leo"], 5);
    assert_eq!(document["batches"].as_array().map(Vec::len), Some(batches.len()));
    assert_eq!(files(&dir), before, "something was changed");
}

#[test]
fn a_flipped_byte_before_the_last_batch_is_an_error_with_its_place() {
    let (_folder, dir) = logs();
    let batches = whole(&dir).batches;
    let segment = dir.join(SEGMENT);
    let good = fs::read(&segment).expect("a segment");
    let last = batches.last().expect("a batch").position as usize;
    for at in 0..last {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        fs::write(&segment, &bad).expect("a segment");
        let error = dump::read(&dir).expect_err("a flipped byte").to_string();
        let of = batches.iter().rev().find(|b| b.position as usize <= at).expect("a batch");
        let place = format!("{}: at byte {} expected ", segment.display(), of.position);
        // A leader epoch is not under the checksum, so it is found out by the one after.
        let later = of.position + of.bytes;
        let next = format!("{}: at byte {later} expected ", segment.display());
        assert!(error.starts_with(&place) || error.starts_with(&next), "byte {at}: {error}");
    }
    let mut bad = good;
    bad[70] ^= 1;
    fs::write(&segment, &bad).expect("a segment");
    let before = files(&dir);
    let ran = dump_log(&dir, &[]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    for words in [SEGMENT, "at byte 0 expected ", "found ", "move this directory away"] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    assert_eq!(files(&dir), before, "something was changed");
}

#[test]
fn a_tail_torn_at_any_byte_is_a_note_and_stays_as_it_is() {
    let (_folder, dir) = logs();
    let Dump { leo, batches, .. } = whole(&dir);
    let last = batches.last().expect("a batch");
    let segment = dir.join(SEGMENT);
    let good = fs::read(&segment).expect("a segment");
    for length in last.position + 1..last.position + last.bytes {
        fs::write(&segment, &good[..length as usize]).expect("a segment");
        let dump = whole(&dir);
        let torn = dump.torn.as_ref().expect("a torn tail");
        assert_eq!((dump.leo, dump.batches.len()), (leo - 1, batches.len() - 1));
        assert_eq!((torn.position, torn.bytes), (last.position, length - last.position));
    }
    let before = files(&dir);
    let ran = dump_log(&dir, &[]);
    assert_eq!((ran.code, ran.err.lines().count()), (Some(0), 1), "{}", ran.err);
    let place = format!("{}: from byte {} on, ", segment.display(), last.position);
    assert!(
        ran.err.contains(&place) && ran.err.contains("the next start cuts them"),
        "{}",
        ran.err
    );
    assert_eq!(files(&dir), before, "something was changed");
}

#[test]
fn committed_records_that_are_gone_are_told_of() {
    let (_folder, dir) = logs();
    let Dump { leo, batches, .. } = whole(&dir);
    let mark = dir.join("replication-offset-checkpoint");
    fs::write(&mark, format!("0\n1\norders 0 {leo}\n")).expect("a checkpoint");
    assert_eq!(dump_log(&dir, &[]).err, "", "all are there");
    let segment = dir.join(SEGMENT);
    let good = fs::read(&segment).expect("a segment");
    // At the end of a batch: nothing is torn.
    let last = batches.last().expect("a batch").position as usize;
    fs::write(&segment, &good[..last]).expect("a segment");
    let ran = dump_log(&dir, &[]);
    assert_eq!((ran.code, ran.err.lines().count()), (Some(0), 1), "{}", ran.err);
    let told = format!("checkpointed at {leo} and the log ends at {}, so committed", leo - 1);
    assert!(ran.err.contains(&told), "{}", ran.err);
}

#[test]
fn a_sound_batch_that_is_not_where_it_belongs_is_damage() {
    let (_folder, dir) = logs();
    fs::rename(dir.join(SEGMENT), dir.join("00000000000000000003.log")).expect("a segment");
    let ran = dump_log(&dir, &[]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    let told = "at byte 0 expected a batch at offset 3, found offset 0 (in a batch that is whole)";
    assert!(ran.err.contains(told), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn a_segment_may_be_a_link_and_other_files_are_not_read() {
    let (folder, dir) = logs();
    let elsewhere = folder.path().join("elsewhere.log");
    fs::rename(dir.join(SEGMENT), &elsewhere).expect("a segment");
    std::os::unix::fs::symlink(&elsewhere, dir.join(SEGMENT)).expect("a link");
    let huge = fs::File::create(dir.join("huge.bin")).expect("a file");
    huge.set_len(1 << 40).expect("a sparse file");
    assert_eq!(whole(&dir).leo, 5);
    fs::remove_file(&elsewhere).expect("gone");
    let ran = dump_log(&dir, &[]);
    assert_eq!((ran.code, ran.err.lines().count()), (Some(2), 1), "{}", ran.err);
    assert!(ran.err.contains(SEGMENT) && ran.err.contains("cannot read "), "{}", ran.err);
}

#[test]
fn what_is_no_log_is_refused_with_2() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("notes.txt");
    fs::write(&file, "mine\n").expect("a file");
    for (path, words) in [
        (folder.path().join("missing"), "cannot list "),
        (file.clone(), "cannot list "),
        (folder.path().to_owned(), "name the directory of a partition"),
    ] {
        let ran = dump_log(&path, &[]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
        assert!(ran.err.contains(words) && ran.err.lines().count() == 1, "{}", ran.err);
    }
    assert!(!folder.path().join("missing").exists(), "it was made");
    assert_eq!(files(folder.path()), [(file, b"mine\n".to_vec())]);
}
