//! Sorted runs of fingerprints on disk.
//!
//! A run consists of blocks of fingerprints in ascending order. Of each block the first
//! fingerprint and a checksum are kept in memory: 1 byte for 1,024 on disk. Runs of one size are
//! merged when there are enough of them, so there are few, and each fingerprint is written but a
//! few times.

use xxhash_rust::xxh3::xxh3_64;

use crate::disk::{DiskError, Scratch, Sequence};

/// Fingerprints in a block.
const BLOCK: usize = 2048;

/// Blocks that are read at a time where many are needed.
const WINDOW: usize = 4;

/// Memory for reading a run in order or asking it.
const READER: u64 = (BLOCK * WINDOW * size_of::<u64>()) as u64;

#[derive(Clone, Copy, Debug)]
struct Mark {
    first: u64,
    check: u64,
}

/// One run.
#[derive(Debug)]
struct Run {
    file: Sequence,
    marks: Vec<Mark>,
    len: u64,
    /// How often its fingerprints were merged.
    tier: u32,
}

impl Run {
    /// Reads `count` blocks from number `block` on.
    fn read(&self, block: usize, count: usize, out: &mut Vec<u64>) -> Result<(), DiskError> {
        let from = (block * BLOCK) as u64;
        let len = (self.len - from).min((count * BLOCK) as u64);
        out.resize(len as usize, 0);
        file_read(&self.file, from, out)?;
        let mut blocks = out.chunks(BLOCK).zip(&self.marks[block..]);
        let sound = blocks.all(|(block, mark)| check(block) == mark.check);
        if sound { Ok(()) } else { Err(self.file.changed()) }
    }

    /// Tells which of the wanted fingerprints, which are in ascending order, are in it.
    fn find(
        &self,
        wanted: &[(u64, u32)],
        scratch: &mut Vec<u64>,
        found: &mut impl FnMut(u32),
    ) -> Result<(), DiskError> {
        let (Some(&(least, _)), Some(&(most, _))) = (wanted.first(), wanted.last()) else {
            return Ok(());
        };
        // The first block that may have the least of them, and the first that has none.
        let until = self.marks.partition_point(|mark| mark.first <= most);
        let mut block = self.marks.partition_point(|mark| mark.first <= least).saturating_sub(1);
        let many = wanted.len() >= until - block;
        let mut wanted = wanted;
        while block < until {
            let count = if many { WINDOW.min(until - block) } else { 1 };
            self.read(block, count, scratch)?;
            let next = self.marks.get(block + count).map_or(u64::MAX, |mark| mark.first);
            let here = wanted.partition_point(|(fingerprint, _)| *fingerprint < next);
            let is_end = block + count == self.marks.len();
            let (mine, rest) = wanted.split_at(if is_end { wanted.len() } else { here });
            merge_join(mine, scratch, found);
            let Some(&(least, _)) = rest.first() else { break };
            block += count;
            let ahead = &self.marks[block..until];
            block += ahead.partition_point(|mark| mark.first <= least).saturating_sub(1);
            wanted = rest;
        }
        Ok(())
    }
}

fn file_read(file: &Sequence, from: u64, out: &mut [u64]) -> Result<(), DiskError> {
    file.read(from * size_of::<u64>() as u64, bytemuck::cast_slice_mut(out))
}

fn check(block: &[u64]) -> u64 {
    xxh3_64(bytemuck::cast_slice(block))
}

/// Tells which of the wanted are there; both are in ascending order.
fn merge_join(wanted: &[(u64, u32)], there: &[u64], found: &mut impl FnMut(u32)) {
    let mut at = 0;
    for &(fingerprint, number) in wanted {
        // A few steps if they lie densely, a binary search if not.
        let mut stride = 1;
        while at + stride < there.len() && there[at + stride] < fingerprint {
            stride *= 2;
        }
        let window = &there[at..there.len().min(at + stride + 1)];
        at += window.partition_point(|it| *it < fingerprint);
        if there.get(at) == Some(&fingerprint) {
            found(number);
        }
    }
}

/// A run in the making.
struct Writer {
    run: Run,
    block: Vec<u64>,
}

impl Writer {
    fn new(scratch: &Scratch, tier: u32) -> Result<Self, DiskError> {
        let file = scratch.sequence("a run of fingerprints")?;
        let run = Run { file, marks: Vec::new(), len: 0, tier };
        Ok(Self { run, block: Vec::with_capacity(BLOCK) })
    }

    /// Adds a fingerprint that is no less than those before it; not twice.
    fn push(&mut self, fingerprint: u64) -> Result<(), DiskError> {
        if self.block.len() == BLOCK {
            self.close_block()?;
        }
        self.block.push(fingerprint);
        Ok(())
    }

    fn close_block(&mut self) -> Result<(), DiskError> {
        let Some(&first) = self.block.first() else { return Ok(()) };
        self.run.marks.push(Mark { first, check: check(&self.block) });
        self.run.len += self.block.len() as u64;
        self.run.file.append(bytemuck::cast_slice(&self.block))?;
        self.block.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<Run, DiskError> {
        self.close_block()?;
        self.run.file.close()?;
        self.run.marks.shrink_to_fit();
        Ok(self.run)
    }
}

/// A run that is read in order.
struct Reader<'a> {
    run: &'a Run,
    /// The next block to read.
    block: usize,
    buffer: Vec<u64>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn new(run: &'a Run) -> Result<Self, DiskError> {
        let mut reader = Self { run, block: 0, buffer: Vec::new(), at: 0 };
        reader.refill()?;
        Ok(reader)
    }

    fn refill(&mut self) -> Result<(), DiskError> {
        self.at = 0;
        self.buffer.clear();
        if self.block < self.run.marks.len() {
            self.run.read(self.block, WINDOW, &mut self.buffer)?;
            self.block += WINDOW;
        }
        Ok(())
    }

    fn head(&self) -> Option<u64> {
        self.buffer.get(self.at).copied()
    }

    fn advance(&mut self) -> Result<(), DiskError> {
        self.at += 1;
        if self.at == self.buffer.len() { self.refill() } else { Ok(()) }
    }
}

/// All runs.
#[derive(Debug)]
pub struct Runs {
    /// Those merged most often come first.
    all: Vec<Run>,
    fan: usize,
    marks: u64,
}

impl Runs {
    /// No runs; so many of one size are merged.
    pub fn new(fan: usize) -> Self {
        Self { all: Vec::new(), fan, marks: 0 }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Writes a run of fingerprints, told shard by shard in ascending order.
    pub fn write<'a>(
        &mut self,
        shards: impl Iterator<Item = &'a [u64]>,
        scratch: &Scratch,
    ) -> Result<(), DiskError> {
        let mut writer = Writer::new(scratch, 0)?;
        for shard in shards {
            shard.iter().try_for_each(|fingerprint| writer.push(*fingerprint))?;
        }
        self.all.push(writer.finish()?);
        while let Some(last) = self.all.last()
            && self.all.iter().rev().take_while(|run| run.tier == last.tier).count() >= self.fan
        {
            self.merge(scratch)?;
        }
        self.marks = self.all.iter().map(|run| size_of_val::<[Mark]>(&run.marks) as u64).sum();
        Ok(())
    }

    /// Merges the last runs, which are of one size.
    fn merge(&mut self, scratch: &Scratch) -> Result<(), DiskError> {
        let from = self.all.len() - self.fan;
        let parts = &self.all[from..];
        let mut writer = Writer::new(scratch, parts[0].tier + 1)?;
        let mut readers = parts.iter().map(Reader::new).collect::<Result<Vec<_>, _>>()?;
        while let Some(least) = readers.iter().filter_map(Reader::head).min() {
            writer.push(least)?;
            for reader in &mut readers {
                if reader.head() == Some(least) {
                    reader.advance()?;
                }
            }
        }
        let merged = writer.finish()?;
        self.all.truncate(from);
        self.all.push(merged);
        Ok(())
    }

    /// Tells which of the wanted fingerprints, which are in ascending order, are in some run; if in
    /// several, more than once.
    pub fn find(
        &self,
        wanted: &[(u64, u32)],
        scratch: &mut Vec<u64>,
        mut found: impl FnMut(u32),
    ) -> Result<(), DiskError> {
        self.all.iter().try_for_each(|run| run.find(wanted, scratch, &mut found))
    }

    /// How much memory they take: the marks, and what merging or asking takes at a time.
    pub fn bytes(&self, threads: usize) -> u64 {
        let readers = (self.fan + 1).max(threads) as u64;
        if self.is_empty() { 0 } else { self.marks + readers * READER }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::disk::Quota;
    use crate::fingerprint::mix;

    /// Writes the numbers `mix(n)` in runs of `each`, and some of them twice.
    fn written(runs: &mut Runs, scratch: &Scratch, count: u64, each: u64) -> BTreeSet<u64> {
        let mut all = BTreeSet::new();
        for from in (0..count).step_by(each as usize) {
            let twice = (from / 2..from).step_by(2).take(100);
            let some: BTreeSet<u64> = (from..from + each).chain(twice).map(mix).collect();
            let sorted: Vec<u64> = some.iter().copied().collect();
            let (low, high) = sorted.split_at(sorted.len() / 3);
            runs.write([low, high].into_iter(), scratch).expect("room");
            all.extend(some);
        }
        all
    }

    fn found(runs: &Runs, wanted: &[u64]) -> BTreeSet<u64> {
        let mut wanted: Vec<(u64, u32)> = wanted.iter().copied().zip(0..).collect();
        wanted.sort_unstable();
        let by_number: std::collections::BTreeMap<u32, u64> =
            wanted.iter().map(|(f, n)| (*n, *f)).collect();
        let mut found = BTreeSet::new();
        runs.find(&wanted, &mut Vec::new(), |n| {
            found.insert(by_number[&n]);
        })
        .expect("runs");
        found
    }

    #[test]
    fn they_know_what_a_plain_set_knows() {
        let folder = tempfile::tempdir().expect("a folder");
        let scratch = Scratch::open(folder.path(), Quota::default()).expect("a scratch folder");
        for (fan, count, each) in [(2, 900, 100), (3, 60_000, 5_000), (8, 40_000, 20_000)] {
            let mut runs = Runs::new(fan);
            let all = written(&mut runs, &scratch, count, each);
            for sparse in [1, 7, 1000, 50_000] {
                let wanted: Vec<u64> = (0..2 * count).step_by(sparse).map(mix).collect();
                let known = wanted.iter().copied().filter(|wanted| all.contains(wanted));
                assert_eq!(found(&runs, &wanted), known.collect(), "{fan} {sparse}");
            }
            let ends = [0, 1, *all.first().expect("some"), *all.last().expect("some"), u64::MAX];
            assert!(found(&runs, &ends).len() >= 2);
            assert!(found(&runs, &[]).is_empty());
        }
    }

    #[test]
    fn the_greatest_fingerprint_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let scratch = Scratch::open(folder.path(), Quota::default()).expect("a scratch folder");
        let mut runs = Runs::new(8);
        let all: Vec<u64> = (0..3 * BLOCK as u64).rev().map(|n| u64::MAX - n).collect();
        runs.write([&all[..]].into_iter(), &scratch).expect("room");
        assert_eq!(found(&runs, &all).len(), all.len());
    }

    #[test]
    fn merging_keeps_runs_few_and_fingerprints_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let scratch = Scratch::open(folder.path(), Quota::default()).expect("a scratch folder");
        let mut runs = Runs::new(2);
        let all = written(&mut runs, &scratch, 3200, 100);
        assert_eq!(runs.all.len(), 1);
        assert_eq!(runs.all[0].len, all.len() as u64);
    }

    #[test]
    fn a_run_that_was_changed_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let scratch = Scratch::open(folder.path(), Quota::default()).expect("a scratch folder");
        let mut runs = Runs::new(8);
        runs.write([&[1, 2, 3][..]].into_iter(), &scratch).expect("room");
        runs.all[0].marks[0].check ^= 1;
        let asked = runs.find(&[(2, 0)], &mut Vec::new(), |_| {});
        let error = asked.expect_err("it is not what was written").to_string();
        assert!(error.contains("can't trust a run of fingerprints"), "{error}");
    }
}
