//! `klog replica-demo`: one partition, two brokers, real logs and real frames, step by step.
//!
//! Every figure shown is read off the brokers, and every claim about it is checked on the way: a
//! claim that fails ends the demo. The clock is an argument, and nothing printed depends on the
//! directory or the machine: the same arguments give the same bytes.

mod answers;
mod claims;
mod format;
mod kip101;
mod report;
mod rules;
mod scenes;
mod stage;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use claims::DemoError;
pub use format::{human, json};
pub use report::{
    AcksAll, AcksOne, EpochAnswer, EpochTruncation, Epochs, Fetched, HwTruncation, Kip101,
    Position, Report, Round, Settings, Shrink, ShrinkCheck,
};

use claims::Claims;
use stage::Stage;

/// Plays all scenes on logs under `root`, which must be an empty directory.
///
/// Errors: [`DemoError::Claim`] if something that the demo claims did not happen, else an error of
/// the disk.
///
/// # Panics
/// If the settings are outside the ranges that [`Settings`] gives.
pub fn run(root: &Path, settings: Settings) -> Result<Report, DemoError> {
    assert!(settings.rounds >= 1 && (1..=2).contains(&settings.min_isr), "{settings:?}");
    let Settings { min_isr, now_ms, .. } = settings;
    let mut claims = Claims::default();
    let mut main = Stage::open(root, &[1, 2], min_isr, now_ms)?;
    let rounds = scenes::rounds(&mut main, settings, &mut claims)?;
    let lag = scenes::lag(&root.join("lag-test"), settings, &mut claims)?;
    let shrink = scenes::shrink(&mut main, settings, &mut claims)?;
    let (acks_all, acks_one) = scenes::after_the_shrink(&mut main, settings, &mut claims)?;
    let two_judges = scenes::two_judges(&root.join("two-judges"), settings, &mut claims)?;
    let verdicts = rules::verdicts(&root.join("verdicts"), settings, &mut claims)?;
    let kip101 = kip101::play(&root.join("kip-101"), settings, &mut claims)?;
    let epochs = rules::epochs(&mut claims)?;
    Ok(Report {
        rounds,
        lag,
        shrink,
        two_judges,
        acks_all,
        acks_one,
        verdicts,
        kip101,
        epochs,
        settings,
        checked: claims.checked,
    })
}

/// Plays all scenes on logs in a temporary directory, which is removed afterwards.
pub fn run_in_temporary(settings: Settings) -> Result<Report, DemoError> {
    let dir = tempfile::tempdir().map_err(|source| DemoError::Temporary { source })?;
    run(dir.path(), settings)
}

/// A directory that the demo may fill: made if it is not there, refused if anything is in it.
pub fn prepare(dir: &Path) -> Result<PathBuf, DemoError> {
    let refuse =
        |problem: String, remedy| DemoError::Directory { path: dir.to_owned(), problem, remedy };
    let unusable = |error: io::Error| {
        refuse(error.to_string(), "name a directory that can be made or written to")
    };
    fs::create_dir_all(dir).map_err(unusable)?;
    if fs::read_dir(dir).map_err(unusable)?.next().is_some() {
        let problem = "the directory is not empty".to_owned();
        return Err(refuse(problem, "name one that is empty or does not exist"));
    }
    tempfile::tempfile_in(dir).map_err(unusable)?;
    Ok(dir.to_owned())
}
