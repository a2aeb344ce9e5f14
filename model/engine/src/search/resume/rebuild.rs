//! The rows of the last level, from those of the first.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::super::Search;
use super::super::store::{Coming, Fronts};
use super::unusable;
use crate::checkpoint::{Checkpoint, Saved, Unusable};
use crate::frontier::{Block, Frontier, Part, Queue};
use crate::options::MOST_THREADS;
use crate::outcome::Panic;
use crate::space::{Sink, Space};

/// States that are visited by a thread before memory is looked at.
const STEP: usize = 4096;

/// Which states of each level are ancestors of states of the last: one bit each.
pub struct Marks(Vec<Vec<u64>>);

impl Marks {
    /// From the last level back to the first.
    pub fn of_ancestors(saved: &Saved) -> Result<Self, Unusable> {
        let words = saved.levels.iter().map(|level| (level.states as usize).div_ceil(64));
        let mut marks = Self(words.map(|words| vec![0; words]).collect());
        let last = saved.levels.len() - 1;
        for (n, states) in marks.0[last].iter_mut().zip((0..saved.levels[last].states).step_by(64))
        {
            *n = u64::MAX >> (64 - (saved.levels[last].states - states).min(64));
        }
        for level in (1..=last).rev() {
            let mut links = saved.links(level)?;
            let mut place = 0;
            while let Some((parent, _)) = links.link()? {
                if marks.has(level, place) {
                    marks.0[level - 1][parent as usize / 64] |= 1 << (parent % 64);
                }
                place += 1;
            }
        }
        Ok(marks)
    }

    fn has(&self, level: usize, place: u32) -> bool {
        self.0[level][place as usize / 64] & 1 << (place % 64) != 0
    }

    /// The places of a level that are marked, in ascending order.
    fn places(&self, level: usize) -> impl Iterator<Item = u32> {
        let words = self.0[level].iter().zip((0_u32..).step_by(64));
        words.flat_map(|(&word, first)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(first + bit)
            })
        })
    }

    /// How much memory they take.
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|level| size_of_val::<[u64]>(level) as u64).sum()
    }
}

/// A state that is to be had again.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    place: u32,
    parent: u32,
    ordinal: u16,
    fingerprint: u64,
}

/// The marked states of a level, in order.
fn wanted<'a>(
    saved: &'a Saved,
    marks: &'a Marks,
    level: usize,
) -> Result<impl FnMut() -> Result<Option<Wanted>, Unusable> + use<'a>, Unusable> {
    let (mut links, mut fingerprints) = (saved.links(level)?, saved.fingerprints(level)?);
    let mut places = 0..;
    Ok(move || {
        while let (Some(link), Some(fingerprint)) = (links.link()?, fingerprints.fingerprint()?) {
            let place = places.next().expect("a level has fewer than 2³² states");
            if marks.has(level, place) {
                return Ok(Some(Wanted { place, parent: link.0, ordinal: link.1, fingerprint }));
            }
        }
        Ok(None)
    })
}

/// What is there instead of a state that was wanted.
struct Wrong {
    place: u32,
    expected: u64,
    got: String,
}

/// A sink that keeps the rows of the states that are wanted.
struct Picker<'a> {
    wanted: std::slice::Iter<'a, Wanted>,
    ordinal: u16,
    parent: u32,
    block: Block,
    wrong: Option<Wrong>,
}

impl<'a> Picker<'a> {
    fn new(wanted: &'a [Wanted]) -> Self {
        let wanted = wanted.iter();
        Self { wanted, ordinal: 0, parent: 0, block: Block::default(), wrong: None }
    }

    fn told(&mut self, state: Option<(u64, &[u32])>) {
        let ordinal = self.ordinal;
        self.ordinal = ordinal.saturating_add(1);
        let next = self.wanted.as_slice().first().filter(|it| it.parent == self.parent);
        let Some(next) = next.filter(|it| it.ordinal == ordinal) else { return };
        match state {
            Some((fingerprint, row)) if fingerprint == next.fingerprint => self.block.push(row),
            Some((fingerprint, _)) => self.fail(next, format!("{fingerprint:016x}")),
            None => self.fail(next, "no state".to_owned()),
        }
        self.wanted.next();
    }

    fn fail(&mut self, wanted: &Wanted, got: String) {
        let (place, expected) = (wanted.place, wanted.fingerprint);
        self.wrong.get_or_insert(Wrong { place, expected, got });
    }

    /// What was wanted of one state was told.
    fn close(&mut self) {
        if let Some(next) = self.wanted.as_slice().first().filter(|it| it.parent <= self.parent) {
            self.fail(next, "nothing".to_owned());
        }
    }

    fn result(self, panic: Option<Panic>) -> Result<Block, Wrong> {
        let (wrong, next) = (self.wrong, self.wanted.as_slice().first());
        let panicked = panic.zip(next).map(|(panic, next)| {
            let got = format!("a panic: {}", panic.message.escape_default());
            Wrong { place: next.place, expected: next.fingerprint, got }
        });
        wrong.or(panicked).map_or(Ok(self.block), Err)
    }
}

/// Visits what is to be visited, and says what became of the wanted.
fn pick(wanted: &[Wanted], visit: impl FnOnce(&mut Picker<'_>)) -> Result<Block, Wrong> {
    let mut picker = Picker::new(wanted);
    let visited = catch_unwind(AssertUnwindSafe(|| visit(&mut picker)));
    picker.result(visited.err().map(|what| Panic::at_start(&*what)))
}

impl<S: Space> Search<'_, S> {
    /// The states of the last level.
    pub(super) fn rebuild(
        &mut self,
        saved: &Saved,
        marks: &Marks,
        checkpoint: &Checkpoint,
    ) -> Result<Frontier, Unusable> {
        let mut frontier = self.rebuild_first(saved, marks)?;
        for level in 1..saved.levels.len() {
            let mut queue = std::mem::take(&mut frontier).into_queue();
            let (mut parents, mut next) = (marks.places(level - 1), wanted(saved, marks, level)?);
            let mut ahead = next()?;
            while queue.left() > 0 {
                self.is_interrupted(saved)?;
                let step = STEP * self.options.threads.clamp(1, MOST_THREADS);
                queue.load(step)?;
                let parts = queue.parts(step);
                let mut jobs = Vec::with_capacity(parts.len());
                for part in &parts {
                    let places: Vec<u32> = parents.by_ref().take(part.range.len()).collect();
                    let last = places.last().copied().unwrap_or_default();
                    let mut mine = Vec::new();
                    while let Some(it) = ahead.filter(|it| it.parent <= last) {
                        mine.push(it);
                        ahead = next()?;
                    }
                    jobs.push((part, places, mine));
                }
                let visited = parts.iter().map(|part| part.range.len()).sum();
                for block in self.pick_all(jobs) {
                    frontier.push(block.map_err(|wrong| foreign(saved, level, &wrong))?);
                }
                queue.advance(visited);
                self.make_room_for(&mut queue, &mut frontier, marks)
                    .map_err(|stop| unusable(stop, checkpoint))?;
            }
        }
        Ok(frontier)
    }

    fn pick_all(
        &mut self,
        jobs: Vec<(&Part<'_>, Vec<u32>, Vec<Wanted>)>,
    ) -> Vec<Result<Block, Wrong>> {
        let space = self.space;
        self.crew.each(jobs, |worker, (part, places, wanted)| {
            pick(&wanted, |picker| {
                for (n, place) in part.range.clone().zip(places) {
                    (picker.parent, picker.ordinal) = (place, 0);
                    space.visit(worker, part.block.row(n), picker);
                    picker.close();
                }
            })
        })
    }

    /// The states of the first level that are ancestors.
    fn rebuild_first(&mut self, saved: &Saved, marks: &Marks) -> Result<Frontier, Unusable> {
        let (mut next, mut all) = (wanted(saved, marks, 0)?, Vec::new());
        while let Some(wanted) = next()? {
            all.push(wanted);
        }
        let space = self.space;
        let picked = self.crew.each(vec![all], |worker, all| {
            pick(&all, |picker| {
                space.initial(worker, picker);
                picker.close();
            })
        });
        let mut frontier = Frontier::default();
        for block in picked {
            frontier.push(block.map_err(|wrong| foreign(saved, 0, &wrong))?);
        }
        Ok(frontier)
    }

    fn make_room_for(
        &mut self,
        queue: &mut Queue,
        next: &mut Frontier,
        marks: &Marks,
    ) -> Result<(), super::super::store::Stop> {
        let coming = Coming::nothing(self.space.bytes() + marks.bytes());
        let mut fronts = Fronts { queue, used: 0, next };
        let made = self.store.make_room(&coming, &mut fronts, self.crew.pool());
        self.measure(queue.bytes() + next.bytes() + marks.bytes());
        made
    }
}

fn foreign(saved: &Saved, level: usize, wrong: &Wrong) -> Unusable {
    Unusable::Foreign {
        file: saved.fingerprints_path(),
        what: format!("state {} of level {level}", wrong.place),
        expected: wrong.got.clone(),
        got: format!("{:016x}", wrong.expected),
    }
}

impl<A> Sink<A> for Picker<'_> {
    fn start(&mut self, fingerprint: u64, row: &[u32]) {
        self.told(Some((fingerprint, row)));
    }

    fn step(&mut self, _: usize, fingerprint: u64, row: &[u32], _: impl FnOnce() -> A) {
        self.told(Some((fingerprint, row)));
    }

    fn stays(&mut self, _: usize, _: impl FnOnce() -> A) {
        self.told(None);
    }

    fn leaves(&mut self, _: usize, _: impl FnOnce() -> A) {
        self.told(None);
    }
}
