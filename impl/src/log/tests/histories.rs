//! Every short history against a dumb twin.

use super::{
    Disk, FsDisk, Log, LogConfig, MemDisk, Offset, Recovery, SMALL, TestDisk, epochs, open, put,
    replicated, shape, values,
};

/// What can happen.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// The leader appends a batch of so many records.
    Lead(u8),
    /// A new leader's two batches are replicated.
    Follow,
    /// So many records are cut off.
    Cut(u64),
    Restart(u64),
    Flush,
    /// The process dies.
    Crash,
    /// The power goes, and so many unflushed records survive.
    PowerLoss(u64),
}

/// A log as a list. Each batch: first offset, epoch, values.
#[derive(Clone, Debug, Default)]
struct Twin {
    start: u64,
    batches: Vec<(u64, i32, Vec<u8>)>,
    epoch: i32,
    counter: u8,
    /// The most that is known to be flushed. More may be, if segments are small.
    flushed: u64,
}

impl Twin {
    fn leo(&self) -> u64 {
        self.batches.last().map_or(self.start, |(base, _, values)| base + values.len() as u64)
    }

    fn push(&mut self, count: u8) -> Vec<u8> {
        let values: Vec<u8> = (self.counter..self.counter + count).collect();
        self.counter += count;
        self.batches.push((self.leo(), self.epoch, values.clone()));
        values
    }

    /// Drops the batches that reach beyond `to`.
    fn cut(&mut self, to: u64) {
        self.batches.retain(|(base, _, values)| base + values.len() as u64 <= to);
    }

    fn values(&self) -> Vec<(i32, u8)> {
        let each = |(_, epoch, values): &(u64, i32, Vec<u8>)| {
            values.iter().map(|value| (*epoch, *value)).collect::<Vec<_>>()
        };
        self.batches.iter().flat_map(each).collect()
    }

    fn epochs(&self) -> Vec<(i32, u64)> {
        let mut all: Vec<(i32, u64)> = Vec::new();
        for (base, epoch, _) in &self.batches {
            if all.last().is_none_or(|(last, _)| last != epoch) {
                all.push((*epoch, *base));
            }
        }
        all
    }
}

fn check<D: Disk>(log: &Log<D>, twin: &Twin, history: &[Op]) {
    assert_eq!((log.start().0, log.leo().0), (twin.start, twin.leo()), "{history:?}");
    assert!(log.flushed() <= log.leo(), "{history:?}");
    assert_eq!(values(log, twin.start), twin.values(), "{history:?}");
    assert_eq!(log.epochs(), epochs(&twin.epochs()), "{history:?}");
    let shapes = log.batches(log.start(), log.leo()).unwrap();
    let each = |(base, epoch, values): &(u64, i32, Vec<u8>)| {
        shape(*base, base + values.len() as u64, *epoch)
    };
    assert_eq!(shapes, twin.batches.iter().map(each).collect::<Vec<_>>(), "{history:?}");
}

/// What an operation does that both disks can do. False for a power loss.
fn apply<D: Disk>(op: Op, log: &mut Log<D>, twin: &mut Twin) -> bool {
    match op {
        Op::Lead(count) => {
            let values = twin.push(count);
            put(log, twin.epoch, &values);
        }
        Op::Follow => {
            twin.epoch += 1;
            let base = twin.leo();
            let mut bytes = replicated(base, twin.epoch, &twin.push(1));
            bytes.extend(replicated(base + 1, twin.epoch, &twin.push(2)));
            log.append_follower(&bytes).unwrap();
        }
        Op::Cut(count) => {
            let to = twin.leo().saturating_sub(count).max(twin.start);
            let before = twin.leo();
            twin.cut(to);
            if twin.leo() < before {
                twin.flushed = twin.leo();
            }
            assert_eq!(log.truncate_to(Offset(to)).unwrap(), Offset(twin.leo()));
            twin.epoch += 1;
        }
        Op::Restart(start) => {
            twin.batches.clear();
            (twin.start, twin.flushed) = (start, start);
            log.truncate_fully(Offset(start)).unwrap();
        }
        Op::Flush => {
            twin.flushed = twin.leo();
            assert_eq!(log.flush().unwrap(), log.leo());
        }
        Op::Crash | Op::PowerLoss(_) => return false,
    }
    assert!(log.flushed().0 >= twin.flushed);
    true
}

fn explore(
    depth: usize,
    ops: &[Op],
    config: LogConfig,
    log: &Log<MemDisk>,
    twin: &Twin,
    history: &mut Vec<Op>,
) -> u64 {
    check(log, twin, history);
    // Whatever happened, a start finds the same log and has nothing to do.
    let (again, recovery) = open(log.clone().process_crash(), config);
    assert_eq!(recovery, Recovery::default(), "{history:?}");
    check(&again, twin, history);
    let durable = log.durable().unwrap();
    assert!(log.flushed() <= durable && durable <= log.leo(), "{history:?}");
    if depth == 0 {
        return 1;
    }
    let mut seen = 1;
    for op in ops {
        let (mut log, mut twin) = (log.clone(), twin.clone());
        history.push(*op);
        if !apply(*op, &mut log, &mut twin) {
            let disk = match *op {
                Op::PowerLoss(survive) => {
                    let keep = durable.0 + survive;
                    twin.cut(keep);
                    log.power_loss(Offset(keep)).unwrap()
                }
                _ => log.process_crash(),
            };
            // A process that dies forgets what it knew to be flushed; the disk does not.
            log = open(disk, config).0;
            twin.flushed = log.flushed().0;
            if matches!(op, Op::PowerLoss(_)) {
                assert_eq!(log.durable().unwrap(), log.leo(), "{history:?}");
            }
        }
        seen += explore(depth - 1, ops, config, &log, &twin, history);
        history.pop();
    }
    seen
}

const ALL: [Op; 12] = [
    Op::Lead(1),
    Op::Lead(2),
    Op::Follow,
    Op::Cut(0),
    Op::Cut(1),
    Op::Cut(3),
    Op::Restart(4),
    Op::Flush,
    Op::Crash,
    Op::PowerLoss(0),
    Op::PowerLoss(1),
    Op::PowerLoss(3),
];

const BIG: LogConfig = LogConfig { segment_bytes: 1 << 20, ..SMALL };

#[test]
fn every_history_of_four_steps_is_the_twins_in_one_segment() {
    let (log, _) = open(MemDisk::new(), BIG);
    let seen = explore(4, &ALL, BIG, &log, &Twin::default(), &mut Vec::new());
    assert_eq!(seen, (0..=4).map(|n| 12_u64.pow(n)).sum::<u64>());
}

#[test]
fn every_history_of_four_steps_is_the_twins_in_many_segments() {
    for segment_bytes in [1, 150] {
        let config = LogConfig { segment_bytes, ..SMALL };
        let (log, _) = open(MemDisk::new(), config);
        let seen = explore(4, &ALL, config, &log, &Twin::default(), &mut Vec::new());
        assert_eq!(seen, (0..=4).map(|n| 12_u64.pow(n)).sum::<u64>());
    }
}

#[test]
fn every_history_of_six_steps_of_few_kinds_is_the_twins() {
    let few = [Op::Lead(2), Op::Follow, Op::Cut(3), Op::Flush, Op::PowerLoss(1)];
    for config in [BIG, SMALL] {
        let (log, _) = open(MemDisk::new(), config);
        let seen = explore(6, &few, config, &log, &Twin::default(), &mut Vec::new());
        assert_eq!(seen, (0..=6).map(|n| 5_u64.pow(n)).sum::<u64>());
    }
}

#[test]
fn nothing_flushed_is_lost_and_nothing_cut_comes_back() {
    // The twin knows exactly what is flushed if there is one segment.
    let (mut log, _) = open(MemDisk::new(), BIG);
    put(&mut log, 0, &[1, 2]);
    log.flush().unwrap();
    put(&mut log, 0, &[3]);
    put(&mut log, 0, &[4]);
    assert_eq!((log.flushed(), log.durable().unwrap()), (Offset(2), Offset(2)));
    for (keep, left) in [(0, 2), (2, 2), (3, 3), (4, 4), (9, 4)] {
        let (lost, _) = open(log.clone().power_loss(Offset(keep)).unwrap(), BIG);
        assert_eq!(lost.leo(), Offset(left), "keep {keep}");
    }
    // B77: a cut is durable at once, so the tail cannot come back.
    log.truncate_to(Offset(2)).unwrap();
    let (log, _) = open(log.power_loss(Offset(9)).unwrap(), BIG);
    assert_eq!(values(&log, 0), [(0, 1), (0, 2)]);
}

/// The same histories on a real directory, fewer of them: each is played from its beginning.
#[test]
fn every_history_of_three_steps_is_the_twins_in_a_directory() {
    let ops = [Op::Lead(2), Op::Follow, Op::Cut(1), Op::Restart(4), Op::Flush, Op::Crash];
    for number in 0..ops.len().pow(3) {
        let history: Vec<Op> =
            [1, 6, 36].map(|weight| ops[number / weight % ops.len()]).into_iter().collect();
        let (disk, _place) = FsDisk::fresh();
        let (mut log, _) = open(disk, SMALL);
        let mut twin = Twin::default();
        for op in &history {
            if !apply(*op, &mut log, &mut twin) {
                let (again, recovery) = open(log.into_disk(), SMALL);
                assert_eq!(recovery, Recovery::default(), "{history:?}");
                log = again;
            }
            check(&log, &twin, &history);
        }
        let (log, recovery) = open(log.into_disk(), SMALL);
        assert_eq!(recovery, Recovery::default(), "{history:?}");
        check(&log, &twin, &history);
    }
}
