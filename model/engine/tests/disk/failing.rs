//! A disk that is full, and folders that are of no use: a bounded search, and one line that says
//! why.

use std::path::{Path, PathBuf};

use levelwise::{Bound, Checkpoint, Options, Outcome, Space, Spill, Tight, Verdict};

use crate::resumed::{checkpoint, every_level};
use crate::spaces::Tangle;
use crate::spilled::{spilling, tight};
use crate::{THREADS, found, in_memory};

fn space() -> Tangle {
    Tangle::new(51, 3000, 4)
}

fn is_told_well(outcome: &Outcome) -> String {
    assert_eq!(outcome.bound(), Some(Bound::Disk));
    let text = outcome.disk.as_ref().expect("an error").to_string();
    assert!(!text.contains('\n') && text.contains(": can't ") && text.contains("; "), "{text}");
    text
}

/// What is told of a search that was cut off is true of the whole.
fn tells_no_lies<S: Space>(space: &S, outcome: &Outcome)
where
    S::Action: std::fmt::Debug + PartialEq,
{
    let whole = in_memory(space, &Options::default());
    assert!(outcome.unique <= whole.unique);
    let levels: Vec<usize> = outcome.levels().collect();
    assert_eq!(levels.iter().sum::<usize>() as u64, outcome.unique);
    let complete = levels.len().saturating_sub(1);
    assert_eq!(levels[..complete], whole.levels[..complete]);
    assert!(outcome.counts.generated <= whole.counts.generated);
    let Verdict::Bounded { left, .. } = outcome.verdict else { panic!("a verdict") };
    assert!(left > 0 || outcome.unique == 0);
    for ((goal, hit), (_, first)) in outcome.goals.iter().zip(&whole.goals) {
        assert!(hit.is_none() || hit == first, "{goal:?}");
        if let Some(hit) = hit {
            outcome.path(space, *hit).expect("a path");
        }
    }
}

#[test]
fn a_disk_that_is_full_at_any_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let free = levelwise::search(&space(), &spilling(folder.path(), tight(0), &Options::default()));
    let step = (free.spilled / 40) as usize;
    for (n, quota) in (0..free.spilled).step_by(step).enumerate() {
        let tight = Tight { quota: Some(quota), ..tight(0) };
        let options = Options { threads: THREADS[n % 3], ..Options::default() };
        let options = spilling(folder.path(), tight, &options);
        let outcome = levelwise::search(&space(), &options);
        // The last links may stay in memory.
        if quota + 100_000 > free.spilled && outcome.exhausted() {
            continue;
        }
        let text = is_told_well(&outcome);
        assert!(text.ends_with("free space there, or name a folder on another disk"), "{text}");
        tells_no_lies(&space(), &outcome);
        drop(outcome);
        assert_eq!(folder.path().read_dir().expect("it is there").count(), 0, "files are left");
    }
}

#[test]
fn a_checkpoint_on_a_full_disk_ends_the_search_and_an_older_one_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let expected = in_memory(&space(), &Options::default());
    for (n, quota) in (0..60_000).step_by(2500).enumerate() {
        let kept = folder.path().join(n.to_string());
        let checkpoint = Checkpoint { quota: Some(quota), ..every_level(&kept) };
        let options = Options { checkpoint: Some(checkpoint), ..Options::default() };
        let outcome = levelwise::search(&space(), &options);
        if outcome.exhausted() {
            assert!(quota > 40_000, "{quota} bytes are too few for all states");
            continue;
        }
        is_told_well(&outcome);
        tells_no_lies(&space(), &outcome);
        let checkpoint = options.checkpoint.map(|it| Checkpoint { quota: None, ..it });
        let options = Options { checkpoint, ..Options::default() };
        match levelwise::resume(&space(), &options) {
            Ok(outcome) => assert_eq!(found(&space(), &outcome), expected),
            Err(error) => {
                assert!(matches!(error, levelwise::Unusable::Missing { .. }), "{error:?}");
                assert!(quota < 10_000, "{quota} bytes are enough for a level");
            }
        }
    }
}

#[test]
fn a_search_that_fails_to_spill_keeps_its_checkpoint() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = folder.path().join("kept");
    let expected = in_memory(&space(), &Options::default());
    let checkpoint = Some(checkpoint(&kept));
    let options = Options { checkpoint, ..Options::default() };
    let narrow = Tight { quota: Some(60_000), ..tight(0) };
    let outcome = levelwise::search(&space(), &spilling(folder.path(), narrow, &options));
    is_told_well(&outcome);
    let outcome = levelwise::resume(&space(), &spilling(folder.path(), tight(0), &options));
    assert_eq!(found(&space(), &outcome.expect("a sound checkpoint")), expected);
}

#[test]
fn folders_of_no_use() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "x").expect("room");
    let mut of_no_use: Vec<PathBuf> = vec![file.join("under a file"), file];
    of_no_use.extend(cfg!(target_os = "linux").then(|| "/proc/no such folder".into()));
    for path in &of_no_use {
        let spill = Some(Spill { tight: Some(tight(0)), ..Spill::to(path) });
        let outcome = levelwise::search(&space(), &Options { spill, ..Options::default() });
        let text = is_told_well(&outcome);
        assert!(text.starts_with(&path.display().to_string()), "{text}");
        assert_eq!((outcome.unique, outcome.depth), (0, 0));
        let checkpoint = Some(checkpoint(path));
        let outcome = levelwise::search(&space(), &Options { checkpoint, ..Options::default() });
        let text = is_told_well(&outcome);
        assert!(text.starts_with(&path.display().to_string()), "{text}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_ends_the_search() {
    let folder = tempfile::tempdir().expect("a folder");
    let full = folder.path().join("links");
    std::os::unix::fs::symlink(Path::new("/dev/full"), &full).expect("a link");
    let options = |checkpoint| Options { checkpoint: Some(checkpoint), ..Options::default() };
    let outcome = levelwise::search(&space(), &options(checkpoint(folder.path())));
    assert!(outcome.exhausted(), "what is only written at the end can't change a verdict");
    assert!(outcome.disk.is_some());
    // What was never complete is in the way until somebody takes it away.
    let outcome = levelwise::search(&space(), &options(every_level(folder.path())));
    assert!(is_told_well(&outcome).contains("fingerprints: can't begin a checkpoint"));
    std::fs::remove_file(folder.path().join("fingerprints")).expect("it is there");
    let outcome = levelwise::search(&space(), &options(every_level(folder.path())));
    let text = is_told_well(&outcome);
    let expected = format!("{}: can't write links: No space left on device", full.display());
    assert!(text.starts_with(&expected), "{text}");
    tells_no_lies(&space(), &outcome);
    assert!(!folder.path().join("manifest").exists());
}

#[test]
fn folders_that_were_there_stay_and_those_that_were_made_go() {
    let folder = tempfile::tempdir().expect("a folder");
    let deep = folder.path().join("a").join("b");
    let spill = |path: &Path| Some(Spill { tight: Some(tight(0)), ..Spill::to(path) });
    let search = |path: &Path| {
        levelwise::search(&space(), &Options { spill: spill(path), ..Options::default() })
    };
    let outcome = search(&deep);
    assert!(outcome.exhausted() && outcome.spilled > 0);
    assert!(!folder.path().join("a").exists());
    // Paths are told from links that have no name any more.
    let hit = outcome.goals.iter().find_map(|(_, hit)| *hit).expect("a hit");
    outcome.clone().path(&space(), hit).expect("a path");
    std::fs::create_dir_all(&deep).expect("a folder");
    search(&deep);
    assert!(deep.exists());
    assert_eq!(deep.read_dir().expect("it is there").count(), 0);
}
