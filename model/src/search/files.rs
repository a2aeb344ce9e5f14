//! What a search keeps in files: what does not fit into memory, and what it takes to go on with it
//! another day.

use std::path::PathBuf;

use levelwise::{Checkpoint, Options, Outcome, Space, Spill, Unusable};

use super::Identity;

/// The files of a search; none by default. Not for stateright's checker.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The folder where it goes on when the limit on memory is reached.
    pub spill: Option<PathBuf>,
    /// Its checkpoint.
    pub kept: Option<Kept>,
}

/// The checkpoint of a search, written at the end of each level.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its folder.
    pub folder: PathBuf,
    /// What is searched.
    pub identity: Identity,
    /// Whether the search goes on with it, and does not begin it.
    pub resume: bool,
}

impl Files {
    /// Searches a space. It is an error if the search could not begin.
    pub fn search<S: Space>(&self, space: &S, options: Options) -> Result<Outcome, Unusable> {
        let spill = self.spill.as_ref().map(Spill::to);
        let checkpoint = self.kept.as_ref().map(Kept::checkpoint);
        let options = Options { spill, checkpoint, ..options };
        if options.spill.is_some() || options.checkpoint.is_some() {
            options.check()?;
        }
        match &self.kept {
            Some(kept) if kept.resume => {
                levelwise::resume(space, &options).map_err(|error| kept.identity.compared(error))
            }
            _ => begun(levelwise::search(space, &options)),
        }
    }
}

/// A search that could not begin has no state, but an error.
fn begun(outcome: Outcome) -> Result<Outcome, Unusable> {
    match outcome.disk {
        Some(error) if outcome.unique == 0 => Err(error.into()),
        _ => Ok(outcome),
    }
}

impl Kept {
    /// A level is dear beside what it takes to write it down.
    fn checkpoint(&self) -> Checkpoint {
        let checkpoint = Checkpoint::to(&self.folder, self.identity.to_string());
        Checkpoint { levels: Some(1), time: None, ..checkpoint }
    }
}
