//! A checkpoint that is not what was written, or of another search, is told of and not believed.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use levelwise::{Checkpoint, Limits, Options, Refused, Unusable};

use crate::resumed::checkpoint;
use crate::spaces::Tangle;
use crate::spilled::{spilling, tight};
use crate::{found, in_memory};

const FILES: [&str; 3] = ["manifest", "fingerprints", "links"];

fn space() -> Tangle {
    Tangle::new(41, 800, 4)
}

/// A checkpoint in the middle of a search of [`space`].
fn kept(folder: &Path) -> Options {
    let limits = Limits { depth: Some(6), ..Limits::default() };
    let first = Options { limits, checkpoint: Some(checkpoint(folder)), ..Options::default() };
    levelwise::search(&space(), &first);
    Options { limits: Limits::default(), ..first }
}

fn error(options: &Options) -> Unusable {
    levelwise::resume(&space(), options).map(|outcome| outcome.verdict).expect_err("a wrong file")
}

fn is_told_well(error: &Unusable) {
    let text = error.to_string();
    assert!(!text.contains('\n'), "{text}");
    assert!(text.contains(';'), "no remedy: {text}");
}

#[test]
fn every_byte_of_the_manifest_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = kept(folder.path());
    let path = folder.path().join("manifest");
    let sound = fs::read(&path).expect("it is there");
    for at in 0..sound.len() {
        for flip in [1, 0x20] {
            let mut bytes = sound.clone();
            bytes[at] ^= flip;
            fs::write(&path, &bytes).expect("room");
            let error = error(&options);
            let named = matches!(
                &error,
                Unusable::Damaged { file, .. } | Unusable::Version { file, .. } if *file == path
            );
            assert!(named, "byte {at}: {error:?}");
            is_told_well(&error);
        }
        fs::write(&path, &sound[..at]).expect("room");
        assert!(matches!(error(&options), Unusable::Damaged { .. }), "{at} bytes");
    }
    fs::write(&path, [&sound[..], b"\n"].concat()).expect("room");
    assert!(matches!(error(&options), Unusable::Damaged { .. }));
    fs::write(&path, &sound).expect("room");
    levelwise::resume(&space(), &options).expect("it is sound again");
}

#[test]
fn bytes_of_the_other_files_count() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = kept(folder.path());
    let expected = in_memory(&space(), &Options::default());
    for name in &FILES[1..] {
        let path = folder.path().join(name);
        let sound = fs::read(&path).expect("it is there");
        for at in (0..sound.len()).step_by(37) {
            for flip in [1, 0x80] {
                let mut bytes = sound.clone();
                bytes[at] ^= flip;
                fs::write(&path, &bytes).expect("room");
                for options in [&options, &spilling(folder.path(), tight(1), &options)] {
                    let error = error(options);
                    let named = matches!(&error, Unusable::Damaged { file, .. } if *file == path);
                    assert!(named, "byte {at} of {name}: {error:?}");
                    is_told_well(&error);
                }
            }
        }
        for len in [0, 1, sound.len() / 2, sound.len() - 1] {
            fs::write(&path, &sound[..len]).expect("room");
            let error = error(&options);
            assert!(matches!(&error, Unusable::Damaged { file, .. } if *file == path), "{error:?}");
        }
        fs::remove_file(&path).expect("it was there");
        let error = error(&options);
        match &error {
            Unusable::Missing { file } => assert_eq!((name, file), (&"manifest", &path)),
            Unusable::Damaged { file, .. } => assert_eq!(file, &path),
            _ => panic!("{error:?}"),
        }
        // The beginning of a level that was not complete is not of the checkpoint.
        fs::write(&path, [&sound[..], b"more"].concat()).expect("room");
    }
    let outcome = levelwise::resume(&space(), &options).expect("it is sound again");
    assert_eq!(found(&space(), &outcome), expected);
}

#[test]
fn another_search_is_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = kept(folder.path());
    let differs = |space: &Tangle, options: &Options| {
        let error = levelwise::resume(space, options).map(drop).expect_err("another search");
        is_told_well(&error);
        match error {
            Unusable::Foreign { what, .. } => what,
            other => panic!("{other:?}"),
        }
    };
    let named = Checkpoint { identity: "another".to_owned(), ..checkpoint(folder.path()) };
    let named = Options { checkpoint: Some(named), ..options.clone() };
    assert_eq!(differs(&space(), &named), "identity");
    assert_eq!(differs(&Tangle { seed: 42, ..space() }, &options), "seed");
    assert_eq!(differs(&space(), &Options { goals: 1, ..options.clone() }), "wanted");
    // A model that was changed under the same name.
    let changed = Tangle { states: 801, ..space() };
    assert!(differs(&changed, &options).starts_with("state "));
    let changed = Tangle { changed_at: Some(first_state()), ..space() };
    let error = levelwise::resume(&changed, &options).map(drop).expect_err("another state");
    let Unusable::Foreign { what, expected, got, .. } = error else { panic!("{error:?}") };
    assert!(what.ends_with(" of level 1"), "{what}");
    assert!(expected != got && [expected, got].iter().all(|it| it.len() == 16), "fingerprints");
    let changed = Tangle { starts: 1, ..space() };
    assert_eq!(differs(&changed, &options), "state 1 of level 0");
    let panics = Tangle { panics_at: Some(first_state()), ..space() };
    let error = levelwise::resume(&panics, &options).map(drop).expect_err("a panic");
    assert!(error.to_string().contains("a panic: state"), "{error}");
    levelwise::resume(&space(), &options).expect("nothing was changed by all this");
}

/// An initial state, all of which have descendants in every level.
fn first_state() -> u64 {
    let space = space();
    let limits = Limits { depth: Some(1), ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let outcome = levelwise::search(&space, &options);
    let hit = levelwise::Hit { level: 0, index: 0, ordinal: None };
    u64::from(outcome.path(&space, hit).expect("a path").start[0])
}

#[test]
fn other_formats_limits_and_folders_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = kept(folder.path());
    let path = folder.path().join("manifest");
    let sound = fs::read_to_string(&path).expect("it is there");
    fs::write(&path, sound.replacen("checkpoint 1", "checkpoint 2", 1)).expect("room");
    let newer = error(&options);
    assert!(matches!(&newer, Unusable::Version { got, .. } if got == "levelwise checkpoint 2"));
    is_told_well(&newer);
    fs::write(&path, &sound).expect("room");

    let limited = |limits| Options { limits, ..options.clone() };
    let shallow = error(&limited(Limits { depth: Some(5), ..Limits::default() }));
    assert!(matches!(shallow, Unusable::Beyond { what: "levels", limit: 5, got: 6, .. }));
    let few = error(&limited(Limits { states: Some(3), ..Limits::default() }));
    assert!(matches!(few, Unusable::Beyond { what: "states", limit: 3, .. }));
    is_told_well(&few);

    let nowhere = Some(checkpoint(&folder.path().join("nowhere")));
    let nowhere = error(&Options { checkpoint: nowhere, ..options.clone() });
    assert!(matches!(nowhere, Unusable::Missing { .. }));
    assert_eq!(error(&Options { checkpoint: None, ..options.clone() }), Unusable::Unnamed);
    let none = Options { threads: 0, ..options.clone() };
    let refused = Unusable::Options(Refused::Zero("the number of threads"));
    assert_eq!(error(&none), refused);

    // A new search does not write over it.
    let outcome = levelwise::search(&space(), &options);
    let text = outcome.disk.expect("an error").to_string();
    assert!(text.ends_with("there is one already; resume it, or name another folder"), "{text}");
    assert_eq!(
        outcome.verdict,
        levelwise::Verdict::Bounded { by: levelwise::Bound::Disk, left: 0 }
    );
    assert_eq!(fs::read_to_string(&path).expect("it is there"), sound);
}

#[test]
fn two_searches_do_not_write_to_one_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = kept(folder.path());
    let other = fs::File::open(folder.path().join("fingerprints")).expect("it is there");
    other.lock().expect("nobody else has it");
    let error = error(&options);
    assert!(error.to_string().contains("another search uses it"), "{error}");
    is_told_well(&error);
    drop(other);
    levelwise::resume(&space(), &options).expect("it is free");
}

#[test]
fn a_model_that_changed_where_no_ancestor_is_goes_unnoticed_but_tells_no_lie_about_paths() {
    // Only what is visited again can be compared; the identity is for the rest.
    let folder = tempfile::tempdir().expect("a folder");
    let options = kept(folder.path());
    let changed = Tangle { changed_at: Some(77), visits: Arc::default(), ..space() };
    match levelwise::resume(&changed, &options) {
        Err(Unusable::Foreign { what, .. }) => assert!(what.starts_with("state "), "{what}"),
        Err(other) => panic!("{other:?}"),
        Ok(outcome) => {
            for hit in outcome.goals.iter().filter_map(|(_, hit)| *hit) {
                outcome.path(&changed, hit).expect("a path of the model as it is");
            }
        }
    }
}
