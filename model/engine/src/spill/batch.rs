//! States that the table took for new and that the runs were not asked about yet.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::ThreadPool;
use rayon::prelude::*;

use super::Runs;
use crate::disk::DiskError;
use crate::frontier::{Links, grown};
use crate::table::stored;

/// Parts in which fingerprints are sorted and asked for, by their highest bits: a power of two.
const GROUPS: usize = 16;

/// Uncertain states in the order in which they were found.
#[derive(Debug, Default)]
pub struct Batch {
    fingerprints: Vec<u64>,
    links: Links,
}

/// Which states of a batch the runs know.
#[derive(Debug)]
pub struct Known(Vec<AtomicU64>);

impl Known {
    /// Whether they know the n-th.
    pub fn has(&self, n: usize) -> bool {
        self.0[n / 64].load(Relaxed) & 1 << (n % 64) != 0
    }
}

impl Batch {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.fingerprints.len()
    }

    /// Adds the next states.
    pub fn append(&mut self, fingerprints: impl Iterator<Item = u64>, links: &Links) {
        self.fingerprints.reserve(links.len());
        self.fingerprints.extend(fingerprints);
        self.links.append(links);
        debug_assert_eq!(self.len(), self.links.len());
    }

    /// Fingerprint and link of each.
    pub fn iter(&self) -> impl Iterator<Item = (u64, (u32, u16))> {
        self.fingerprints.iter().copied().zip(self.links.iter())
    }

    /// Asks the runs.
    pub fn ask(&self, runs: &Runs, pool: Option<&ThreadPool>) -> Result<Known, DiskError> {
        let known = (0..self.len().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let known = Known(known);
        let (order, ends) = self.by_group();
        let ask = |group: usize| {
            let from = if group == 0 { 0 } else { ends[group - 1] };
            self.ask_some(&order[from..ends[group]], runs, &known)
        };
        match pool {
            None => (0..GROUPS).try_for_each(ask)?,
            Some(pool) => {
                let all = (0..GROUPS).into_par_iter().with_max_len(1);
                pool.install(|| all.try_for_each(ask))?;
            }
        }
        Ok(known)
    }

    /// The numbers of the states group by group, and where each group ends.
    fn by_group(&self) -> (Vec<u32>, [usize; GROUPS]) {
        let group = |fingerprint: u64| (fingerprint >> (u64::BITS - GROUPS.ilog2())) as usize;
        let mut next = [0; GROUPS];
        for fingerprint in &self.fingerprints {
            next[group(*fingerprint)] += 1;
        }
        let mut before = 0;
        for start in &mut next {
            before += std::mem::replace(start, before);
        }
        let mut order = vec![0; self.len()];
        for (n, fingerprint) in (0..).zip(&self.fingerprints) {
            let place = &mut next[group(*fingerprint)];
            order[*place] = n;
            *place += 1;
        }
        (order, next)
    }

    fn ask_some(&self, some: &[u32], runs: &Runs, known: &Known) -> Result<(), DiskError> {
        let state = |&n: &u32| (stored(self.fingerprints[n as usize]), n);
        let mut wanted: Vec<(u64, u32)> = some.iter().map(state).collect();
        wanted.sort_unstable();
        runs.find(&wanted, &mut Vec::new(), |n| {
            known.0[n as usize / 64].fetch_or(1 << (n % 64), Relaxed);
        })
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// How much memory it takes when `more` were added, what asking takes included: a number and a
    /// fingerprint of each state of as many groups as there are threads, and a number and a bit of
    /// each.
    pub fn bytes_with(&self, more: usize, threads: usize) -> u64 {
        let capacity = grown(self.fingerprints.capacity(), self.len() + more);
        let each = size_of::<(u64, u32)>() * threads.min(GROUPS) / GROUPS + size_of::<u32>() + 1;
        let asking = (self.len() + more) * each;
        (capacity * size_of::<u64>() + asking) as u64 + self.links.bytes_with(more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{Quota, Scratch};
    use crate::fingerprint::mix;

    #[test]
    fn it_keeps_what_no_run_knows() {
        let folder = tempfile::tempdir().expect("a folder");
        let scratch = Scratch::open(folder.path(), Quota::default()).expect("a scratch folder");
        let mut runs = Runs::new(8);
        let mut thirds: Vec<u64> = (0..3000).step_by(3).map(mix).map(stored).collect();
        thirds.sort_unstable();
        runs.write([&thirds[..]].into_iter(), &scratch).expect("room");
        let mut batch = Batch::default();
        let mut links = Links::default();
        (0..3000).for_each(|n| links.push(n, 7));
        batch.append((0..3000).map(mix), &links);
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let pool = pool.ok().filter(|_| threads > 1);
            let known = batch.ask(&runs, pool.as_ref()).expect("runs");
            // mix(0) is 0, which the table keeps as 1.
            assert!((0..3000).all(|n| known.has(n) == (n % 3 == 0)));
        }
    }
}
