//! Going on with a checkpoint: what was known is read, and the rows of the last level are had again
//! from the space, along the links of their ancestors.

mod rebuild;

use super::store::{Coming, Fronts, Stop};
use super::{Progress, Search};
use crate::checkpoint::{Checkpoint, Head, Log, Saved, Unusable};
use crate::frontier::{Frontier, Queue};
use crate::options::Options;
use crate::outcome::Outcome;
use crate::space::Space;
use crate::table::shard_of;

use rebuild::Marks;

/// Fingerprints that are read before memory is looked at.
const PIECE: usize = 16 * 1024;

/// Goes on with the search whose checkpoint the options name. Its outcome is that of a search that
/// was never ended, but for memory, memos and what `watch` is told. If it is to end when everything
/// was found, and everything was found before, it ends after a round.
///
/// The checkpoint is changed only when all of it was found sound, and grows from there on.
pub fn resume<S: Space>(space: &S, options: &Options) -> Result<Outcome, Unusable> {
    resume_watched(space, options, &mut |_| {})
}

/// The same, and tells how far it is after every round.
pub fn resume_watched<S: Space>(
    space: &S,
    options: &Options,
    watch: &mut dyn FnMut(&Progress),
) -> Result<Outcome, Unusable> {
    options.check()?;
    let checkpoint = options.checkpoint.as_ref().ok_or(Unusable::Unnamed)?;
    let head = Head::new(space, options.goals, checkpoint);
    let saved = Saved::open(checkpoint, &head)?;
    is_within(&saved, options)?;
    let failed = |stop| unusable(stop, checkpoint);
    let mut search = Search::new(space, options, true).map_err(failed)?;
    let frontier = search.restore(&saved, checkpoint)?;
    search.resumed = saved.levels.len() as u64;
    search.store.log = Some(Log::go_on(checkpoint, head, saved)?);
    let verdict = search.go_on(frontier, None, watch);
    Ok(search.outcome(verdict))
}

/// A search with these limits would have come so far.
fn is_within(saved: &Saved, options: &Options) -> Result<(), Unusable> {
    let states: u64 = saved.levels.iter().map(|level| level.states).sum();
    let depth = options.limits.depth.map(u64::from);
    // A level is only begun where there is room for one more state.
    let limits = [
        ("levels", depth, saved.levels.len() as u64),
        ("states", options.limits.states, states + 1),
    ];
    for (what, limit, got) in limits {
        if let Some(limit) = limit.filter(|limit| got > *limit) {
            let file = saved.manifest_path();
            let got = if what == "states" { states } else { got };
            return Err(Unusable::Beyond { file, what, limit, got });
        }
    }
    Ok(())
}

fn unusable(stop: Stop, checkpoint: &Checkpoint) -> Unusable {
    match stop {
        Stop::Disk(error) => error.into(),
        Stop::Bound(_) => Unusable::Memory { file: checkpoint.folder.clone() },
    }
}

impl<S: Space> Search<'_, S> {
    /// Takes up what is in a checkpoint. Returns the states of its last level.
    fn restore(&mut self, saved: &Saved, checkpoint: &Checkpoint) -> Result<Frontier, Unusable> {
        let failed = |stop| unusable(stop, checkpoint);
        for level in 0..saved.levels.len() {
            self.is_interrupted(saved)?;
            self.read_fingerprints(saved, level, checkpoint)?;
            self.read_links(saved, level)?;
            self.store.close_level(None)?;
            self.make_room(&Coming::nothing(self.space.bytes())).map_err(failed)?;
        }
        let states: u64 = saved.levels.iter().map(|level| level.states).sum();
        assert_eq!(self.store.unique, states, "every state was read");
        self.counts = saved.moment.counts.clone();
        self.hits.clone_from(&saved.moment.hits);
        let marks = Marks::of_ancestors(saved)?;
        self.bytes = self.bytes.max(self.store.bytes() + marks.bytes());
        self.rebuild(saved, &marks, checkpoint)
    }

    fn is_interrupted(&self, saved: &Saved) -> Result<(), Unusable> {
        if self.options.limits.interrupted.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(Unusable::Interrupted { file: saved.folder().to_owned() });
        }
        Ok(())
    }

    fn read_fingerprints(
        &mut self,
        saved: &Saved,
        level: usize,
        checkpoint: &Checkpoint,
    ) -> Result<(), Unusable> {
        let failed = |stop| unusable(stop, checkpoint);
        let mut records = saved.fingerprints(level)?;
        let mut piece = Vec::with_capacity(PIECE);
        loop {
            while piece.len() < PIECE
                && let Some(next) = records.fingerprint()?
            {
                piece.push(next);
            }
            if piece.is_empty() {
                return Ok(());
            }
            let mut coming = Coming { states: piece.len(), ..Coming::nothing(self.space.bytes()) };
            for fingerprint in &piece {
                coming.shards[shard_of(*fingerprint)] += 1;
            }
            self.make_room(&coming).map_err(failed)?;
            for fingerprint in piece.drain(..) {
                let new = self.store.table.insert(fingerprint).map_err(|f| failed(f.into()))?;
                if !new {
                    return Err(records.damaged("states, each once", "one of them twice"));
                }
                self.store.unique += 1;
            }
        }
    }

    fn read_links(&mut self, saved: &Saved, level: usize) -> Result<(), Unusable> {
        let parents = level.checked_sub(1).map_or(1, |before| saved.levels[before].states);
        let mut records = saved.links(level)?;
        let mut last = None;
        while let Some(link) = records.link()? {
            if u64::from(link.0) >= parents || last.is_some_and(|last| last >= link) {
                return Err(records.damaged("links in order", "a link out of place"));
            }
            self.store.levels.push(link.0, link.1);
            last = Some(link);
        }
        Ok(())
    }

    /// The same as in a search, where there are no levels yet.
    fn make_room(&mut self, coming: &Coming) -> Result<(), Stop> {
        let (mut queue, mut next) = (Queue::default(), Frontier::default());
        let mut fronts = Fronts { queue: &mut queue, used: 0, next: &mut next };
        let made = self.store.make_room(coming, &mut fronts, self.crew.pool());
        self.measure(0);
        made
    }
}
