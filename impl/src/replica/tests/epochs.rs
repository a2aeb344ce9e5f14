//! Every cache of up to four entries, against a twin that writes down the epoch of each record.

use super::{CacheChange, EpochCache};
use crate::types::{Epoch, Offset};

/// A log as the plain list of its records' epochs, and an epoch that has begun without a record.
#[derive(Clone, Debug)]
struct Twin {
    first: u64,
    records: Vec<i32>,
    begun: Option<i32>,
}

impl Twin {
    fn of(entries: &[(Epoch, Offset)], leo: u64) -> Self {
        let first = entries.first().map_or(leo, |e| e.1.0);
        let covering = |at: u64| entries.iter().rev().find(|e| e.1.0 <= at).unwrap().0.0;
        let begun = entries.last().filter(|e| e.1.0 == leo).map(|e| e.0.0);
        Self { first, records: (first..leo).map(covering).collect(), begun }
    }

    fn leo(&self) -> u64 {
        self.first + self.records.len() as u64
    }

    fn epochs(&self) -> Vec<i32> {
        let mut all: Vec<i32> = self.records.iter().copied().chain(self.begun).collect();
        all.dedup();
        all
    }

    fn entries(&self) -> Vec<(Epoch, Offset)> {
        let mut entries: Vec<(Epoch, Offset)> = Vec::new();
        let offsets = self.first..=self.leo();
        for (&epoch, at) in self.records.iter().chain(&self.begun).zip(offsets) {
            if entries.last().is_none_or(|last| last.0.0 != epoch) {
                entries.push((Epoch(epoch), Offset(at)));
            }
        }
        entries
    }

    /// The largest epoch not above the asked one, and the first record above it, or the LEO.
    fn floor(&self, asked: i32) -> Option<(i32, u64)> {
        let found = self.epochs().into_iter().filter(|&e| e <= asked).max()?;
        let above = self.records.iter().position(|&e| e > asked);
        Some((found, above.map_or(self.leo(), |at| self.first + at as u64)))
    }

    /// The table of epoch look-ups, row by row.
    fn answer(&self, asked: i32) -> Option<(i32, u64)> {
        let epochs = self.epochs();
        match (epochs.first(), epochs.last()) {
            _ if asked == -1 => None,
            (_, Some(&latest)) if asked == latest => Some((asked, self.leo())),
            (None, _) => None,
            (_, Some(&latest)) if asked > latest => None,
            (Some(&first), _) if asked < first => Some((asked, self.first)),
            _ => self.floor(asked),
        }
    }

    fn without_records_from(&self, end: u64) -> Self {
        let mut twin = self.clone();
        if end <= self.leo() {
            twin.records.truncate(end.saturating_sub(self.first) as usize);
            twin.begun = None;
        }
        twin
    }
}

fn subsets(of: u32, size: u32) -> impl Iterator<Item = Vec<u32>> {
    let picked = move |mask: u32| (0..of).filter(|bit| mask >> bit & 1 == 1).collect();
    (0..1_u32 << of).filter(move |mask| mask.count_ones() == size).map(picked)
}

/// Every cache with epochs in 0..6 and starts in 0..6, with every LEO up to 6 that fits.
fn every_log(mut test: impl FnMut(&EpochCache, u64)) -> usize {
    let mut logs = 0;
    for size in 0..=4 {
        for epochs in subsets(6, size) {
            for starts in subsets(6, size) {
                let entry = |(&e, &s): (&u32, &u32)| (Epoch(e as i32), Offset(u64::from(s)));
                let entries: Vec<_> = epochs.iter().zip(&starts).map(entry).collect();
                let lowest = entries.last().map_or(0, |e| e.1.0);
                for leo in lowest..=6 {
                    test(&EpochCache::new(entries.clone()), leo);
                    logs += 1;
                }
            }
        }
    }
    logs
}

fn typed(found: Option<(i32, u64)>) -> Option<(Epoch, Offset)> {
    found.map(|(epoch, end)| (Epoch(epoch), Offset(end)))
}

#[test]
fn both_look_ups_agree_with_the_records() {
    let logs = every_log(|cache, leo| {
        let twin = Twin::of(cache.entries(), leo);
        assert_eq!(cache.entries(), twin.entries(), "the twin is not that log");
        for asked in -1..=7 {
            let (epoch, at) = (Epoch(asked), Offset(leo));
            let floor = cache.end_offset_for_epoch(epoch, at);
            assert_eq!(floor, typed(twin.floor(asked)), "floor of {asked} in {cache:?}, {leo}");
            let answer = cache.answer_end_offset(epoch, at);
            assert_eq!(answer, typed(twin.answer(asked)), "end of {asked} in {cache:?}, {leo}");
        }
    });
    assert!(logs > 1_500, "only {logs} logs");
}

#[test]
fn the_look_up_and_the_answer_differ_in_three_rows() {
    every_log(|cache, leo| {
        let (first, latest) = (cache.entries().first(), cache.latest());
        for asked in (-1..=7).map(Epoch) {
            let floor = cache.end_offset_for_epoch(asked, Offset(leo));
            let answer = cache.answer_end_offset(asked, Offset(leo));
            if latest.is_some_and(|latest| asked > latest) {
                // Newer than all: the look-up finds the newest, a peer hears "undefined".
                assert_eq!((floor.map(|f| f.0), answer), (latest, None));
            } else if let Some(&(_, start)) = first.filter(|f| asked >= Epoch(0) && asked < f.0) {
                // Older than all: the look-up finds none, a peer hears its own epoch echoed.
                assert_eq!((floor, answer), (None, Some((asked, start))));
            } else {
                // Everything else, −1 and the empty cache included: the same.
                assert_eq!(floor, answer, "{asked} in {cache:?}, LEO {leo}");
            }
        }
    });
}

#[test]
fn examples_of_the_tables() {
    let cache = |entries: &[(i32, u64)]| {
        EpochCache::new(entries.iter().map(|&(e, s)| (Epoch(e), Offset(s))).collect())
    };
    let chapter = cache(&[(0, 0), (1, 5), (3, 6)]);
    let rows = [Some((0, 5)), Some((1, 6)), Some((1, 6)), Some((3, 6)), Some((3, 6))];
    for (asked, row) in (0..).zip(rows) {
        assert_eq!(chapter.end_offset_for_epoch(Epoch(asked), Offset(6)), typed(row));
    }
    assert_eq!(chapter.end_offset_for_epoch(Epoch(-1), Offset(6)), None);
    let wire = cache(&[(2, 0), (4, 6), (7, 10)]);
    let rows = [(1, 0), (2, 6), (2, 6), (4, 10), (4, 10), (4, 10), (7, 12)];
    for (asked, row) in (1..).zip(rows) {
        assert_eq!(wire.answer_end_offset(Epoch(asked), Offset(12)), typed(Some(row)));
    }
    assert_eq!(wire.answer_end_offset(Epoch(8), Offset(12)), None);
    assert_eq!(wire.answer_end_offset(Epoch(-1), Offset(12)), None);
    let late = cache(&[(5, 10)]);
    assert_eq!(late.answer_end_offset(Epoch(4), Offset(10)), typed(Some((4, 10))));
}

#[test]
fn an_offset_has_the_epoch_of_its_record() {
    every_log(|cache, leo| {
        let twin = Twin::of(cache.entries(), leo);
        for at in 0..leo {
            let record = at.checked_sub(twin.first).map(|nth| twin.records[nth as usize]);
            assert_eq!(cache.epoch_for_offset(Offset(at)), record.map(Epoch));
        }
    });
}

#[test]
fn truncation_leaves_the_epochs_of_what_remains() {
    every_log(|cache, leo| {
        let twin = Twin::of(cache.entries(), leo);
        for at in 0..=7 {
            let mut cut = cache.clone();
            let change = cut.truncate_from_end(Offset(at));
            assert_eq!(cut.entries(), twin.without_records_from(at).entries(), "{cache:?} to {at}");
            assert_eq!(change == CacheChange::Changed, cut != *cache);
        }
        for at in 0..=leo {
            let mut cut = cache.clone();
            let change = cut.truncate_from_start(Offset(at));
            let mut kept = twin.clone();
            if at > twin.first {
                kept.records.drain(..(at - twin.first) as usize);
                kept.first = at;
                // An empty log still knows its newest epoch.
                kept.begun = kept.begun.or(twin.epochs().last().copied().filter(|_| at == leo));
            }
            assert_eq!(cut.entries(), kept.entries(), "{cache:?} from {at}");
            assert_eq!(change == CacheChange::Changed, cut != *cache);
        }
    });
}

#[test]
fn an_assigned_epoch_outdoes_what_contradicts_it() {
    every_log(|cache, leo| {
        for (epoch, at) in (0..=7).flat_map(|e| (0..=leo).map(move |at| (Epoch(e), Offset(at)))) {
            let mut assigned = cache.clone();
            let change = assigned.assign(epoch, at);
            let known = cache.entries().last().is_some_and(|l| l.0 == epoch && l.1 <= at);
            let older = |e: &&(Epoch, Offset)| e.0 < epoch && e.1 < at;
            let mut twin: Vec<_> = cache.entries().iter().filter(older).copied().collect();
            twin.push((epoch, at));
            let expected = if known { cache.entries().to_vec() } else { twin };
            assert_eq!(assigned.entries(), expected, "({epoch}, {at}) into {cache:?}");
            assert!(assigned.is_ordered());
            assert_eq!(change == CacheChange::Changed, !known);
        }
    });
}
