//! Damage: a cut and a flipped bit at every byte.

use super::{
    FIRST_INDEX, FIRST_LOG, Log, LogConfig, LogError, Offset, Recovery, TestDisk, contents, epochs,
    is_log, open, put, values,
};
use crate::disk::{Disk, FsDisk, MemDisk, Survives};

/// One segment, an index entry for each batch but the first.
const ONE_SEGMENT: LogConfig =
    LogConfig { segment_bytes: 1 << 20, index_interval_bytes: 1, recovery_point: Offset(0) };

/// Four batches in one segment, and where each begins and ends: (offset, byte).
fn four<D: TestDisk>() -> (D, D::Place, Vec<(u64, u64)>) {
    let (disk, place) = D::fresh();
    let (mut log, _) = open(disk, ONE_SEGMENT);
    let mut bounds = vec![(0, 0)];
    for (epoch, batch) in [(1, [1].as_slice()), (1, &[2, 3]), (3, &[4]), (3, &[5, 6])] {
        let leo = put(&mut log, epoch, batch);
        let bytes = log.disk().len(FIRST_LOG).unwrap().unwrap();
        bounds.push((leo.0, bytes));
    }
    (log.into_disk(), place, bounds)
}

const ALL: [(i32, u8); 6] = [(1, 1), (1, 2), (1, 3), (3, 4), (3, 5), (3, 6)];

fn a_tail_cut_at_every_byte_is_cut_to_the_batch_before<D: TestDisk>() {
    let (_, _place, bounds) = four::<D>();
    let [.., (kept, from), (_, to)] = bounds[..] else { unreachable!() };
    for end in from..=to {
        let (mut disk, _place, _) = four::<D>();
        disk.truncate(FIRST_LOG, end).unwrap();
        let (log, recovery) = open(disk, ONE_SEGMENT);
        let left = if end == to { 6 } else { kept };
        assert_eq!(log.leo(), Offset(left));
        assert_eq!(values(&log, 0), ALL[..left as usize], "file of {end} bytes");
        if end == from || end == to {
            assert_eq!(recovery.cut, None);
        } else {
            let cut = recovery.cut.expect("a torn tail");
            assert_eq!((cut.offset, cut.position), (Offset(kept), from));
            assert_eq!(cut.bytes, end - from);
            assert!(cut.file.ends_with(FIRST_LOG));
            assert_eq!(log.flushed(), log.leo(), "the cut was flushed");
        }
        let before = contents(log.disk());
        let (mut log, recovery) = open(log.into_disk(), ONE_SEGMENT);
        assert_eq!(recovery, Recovery::default(), "a second start changes nothing");
        assert_eq!(contents(log.disk()), before);
        put(&mut log, 3, &[9]);
        assert_eq!(values(&log, left), [(3, 9)]);
    }
}

#[test]
fn a_tail_cut_at_every_byte_is_cut_in_memory() {
    a_tail_cut_at_every_byte_is_cut_to_the_batch_before::<MemDisk>();
}

#[test]
fn a_tail_cut_at_every_byte_is_cut_in_a_directory() {
    a_tail_cut_at_every_byte_is_cut_to_the_batch_before::<FsDisk>();
}

#[test]
fn a_torn_tail_of_zeros_or_of_noise_is_cut_too() {
    for noise in [0_u8, 2, 0x5a, 0xff] {
        for length in [1, 11, 12, 60, 61, 62, 500] {
            let (mut disk, (), bounds) = four::<MemDisk>();
            disk.append(FIRST_LOG, &vec![noise; length]).unwrap();
            let (log, recovery) = open(disk, ONE_SEGMENT);
            let cut = recovery.cut.unwrap();
            assert_eq!((cut.position, cut.bytes), (bounds[4].1, length as u64));
            assert_eq!(values(&log, 0), ALL);
        }
    }
}

#[test]
fn a_cut_tail_does_not_come_back_with_a_power_loss() {
    let (mut disk, (), bounds) = four::<MemDisk>();
    disk.append(FIRST_LOG, &[7; 30]).unwrap();
    // The torn tail reached the platter.
    disk.power_loss(|_| Survives::ALL);
    let (log, recovery) = open(disk, ONE_SEGMENT);
    assert_eq!(recovery.cut.map(|cut| cut.position), Some(bounds[4].1));
    assert_eq!(log.durable().unwrap(), log.leo());
    let mut disk = log.into_disk();
    disk.power_loss(|_| Survives::FLUSHED);
    let (log, recovery) = open(disk, ONE_SEGMENT);
    assert_eq!(recovery, Recovery::default());
    assert_eq!(values(&log, 0), ALL);
}

fn corrupt_at(error: &LogError) -> u64 {
    let LogError::Corrupt { file, position, expected, found, remedy } = error else {
        panic!("{error}")
    };
    assert!(is_log(file.trim_start_matches("memory/")) || file.ends_with(FIRST_LOG), "{file}");
    assert!(!expected.is_empty() && !found.is_empty(), "{error}");
    assert!(remedy.contains("nothing was changed"), "{remedy}");
    *position
}

/// Flips each bit in `bytes` of the first segment and looks at what opening says.
fn flip_each<D: TestDisk>(
    disk: &mut D,
    bytes: std::ops::Range<u64>,
    bits: &[u8],
    mut judge: impl FnMut(&mut D, u64),
) {
    for byte in bytes {
        for bit in bits {
            disk.flip(FIRST_LOG, byte, 1 << bit);
            judge(disk, byte);
            disk.flip(FIRST_LOG, byte, 1 << bit);
        }
    }
}

fn a_flipped_bit_in_the_middle_is_an_error_and_changes_nothing<D: TestDisk>(bits: &[u8]) {
    let (mut disk, _place, bounds) = four::<D>();
    for batch in 0..3 {
        let (from, to) = (bounds[batch].1, bounds[batch + 1].1);
        flip_each(&mut disk, from..to, bits, |disk, byte| {
            let before = contents(disk);
            let error = Log::open(&mut *disk, ONE_SEGMENT).unwrap_err();
            assert_eq!(corrupt_at(&error), from, "byte {byte}: {error}");
            assert_eq!(contents(disk), before, "byte {byte}");
        });
    }
    let (log, recovery) = open(disk, ONE_SEGMENT);
    assert_eq!(recovery, Recovery::default());
    assert_eq!(values(&log, 0), ALL);
}

#[test]
fn every_flipped_bit_in_the_middle_is_an_error_in_memory() {
    let all = [0, 1, 2, 3, 4, 5, 6, 7];
    a_flipped_bit_in_the_middle_is_an_error_and_changes_nothing::<MemDisk>(&all);
}

#[test]
fn a_flipped_bit_at_every_byte_in_the_middle_is_an_error_in_a_directory() {
    a_flipped_bit_in_the_middle_is_an_error_and_changes_nothing::<FsDisk>(&[3]);
}

#[test]
fn every_flipped_bit_of_the_last_batch_is_cut_or_refused_and_nothing_else() {
    let (mut disk, (), bounds) = four::<MemDisk>();
    let all = [0, 1, 2, 3, 4, 5, 6, 7];
    flip_each(&mut disk, bounds[3].1..bounds[4].1, &all, |disk, byte| {
        // The base offset lies outside the checksum: records that are whole are never cut. A
        // negative one is no header at all.
        let negative = disk.read_at(FIRST_LOG, bounds[3].1, 1).unwrap()[0] >= 0x80;
        if byte < bounds[3].1 + 8 && !negative {
            let error = Log::open(disk.clone(), ONE_SEGMENT).unwrap_err();
            assert_eq!(corrupt_at(&error), bounds[3].1, "{error}");
            return;
        }
        let (log, recovery) = open(disk.clone(), ONE_SEGMENT);
        let cut = recovery.cut.unwrap_or_else(|| panic!("byte {byte}"));
        assert_eq!((cut.offset, cut.position), (Offset(bounds[3].0), bounds[3].1));
        assert_eq!(values(&log, 0), ALL[..4]);
        // What was known to be flushed cannot be a torn tail.
        let recovery_point = Offset(5);
        let config = LogConfig { recovery_point, ..ONE_SEGMENT };
        let error = Log::open(disk.clone(), config).unwrap_err();
        assert_eq!(corrupt_at(&error), bounds[3].1, "{error}");
    });
}

#[test]
fn a_lost_epoch_file_leaves_only_the_epoch_of_the_last_batches_unchecked() {
    let (mut disk, (), bounds) = four::<MemDisk>();
    disk.remove("leader-epoch-checkpoint").unwrap();
    let all = [0, 1, 2, 3, 4, 5, 6, 7];
    flip_each(&mut disk, bounds[0].1..bounds[1].1, &all, |disk, byte| {
        match Log::open(disk.clone(), ONE_SEGMENT) {
            Err(error) => assert_eq!(corrupt_at(&error), bounds[0].1.max(corrupt_at(&error))),
            // Epoch 1 became 0: nothing contradicts it.
            Ok(_) => assert_eq!(byte, 15),
        }
    });
}

#[test]
fn damage_below_the_last_segment_is_never_a_torn_tail() {
    let small = super::SMALL;
    let (mut log, _) = open(MemDisk::new(), small);
    for value in 0..6 {
        put(&mut log, 0, &[value]);
    }
    let whole = log.into_disk();
    let logs: Vec<_> = whole.list().unwrap().into_iter().filter(|n| is_log(n)).collect();
    assert_eq!(logs.len(), 3);
    for name in &logs[..2] {
        let bytes = whole.len(name).unwrap().unwrap();
        for end in 0..bytes {
            let mut disk = whole.clone();
            disk.truncate(name, end).unwrap();
            let before = disk.clone();
            let error = Log::open(&mut disk, small).unwrap_err();
            assert!(error.to_string().contains(name.as_str()), "{error}");
            assert!(corrupt_at(&error) <= end);
            assert_eq!(disk, before);
        }
        let mut disk = whole.clone();
        disk.remove(name).unwrap();
        let before = disk.clone();
        let missing_first = name == &logs[0];
        match Log::open(&mut disk, small) {
            // The log then begins later; only the leader knows whether that is all right.
            Ok((log, recovery)) => {
                assert!(missing_first && log.start() == Offset(2));
                assert_eq!(recovery.stale_epochs, epochs(&[(0, 0)]));
                assert_eq!(log.epochs(), epochs(&[(0, 2)]), "the epoch that covers the start");
            }
            Err(error) => {
                assert!(!missing_first && corrupt_at(&error) > 0);
                assert_eq!(disk, before);
            }
        }
    }
}

#[test]
fn the_error_of_a_damaged_segment_can_be_understood() {
    let (mut disk, (), bounds) = four::<MemDisk>();
    disk.flip(FIRST_LOG, bounds[1].1 + 64, 1);
    let text = Log::open(disk, ONE_SEGMENT).unwrap_err().to_string();
    let start = format!("memory/{FIRST_LOG}: at byte {} expected CRC-32C 0x", bounds[1].1);
    assert!(text.starts_with(&start), "{text}");
    assert!(text.contains(&format!("(and a good batch after it at byte {})", bounds[2].1)));
    assert!(text.ends_with("or restore the file from a backup"), "{text}");
}

#[test]
fn a_wrong_index_is_written_anew_whatever_is_in_it() {
    let (disk, (), _) = four::<MemDisk>();
    let good = disk.read_file(FIRST_INDEX).unwrap().unwrap().into_owned();
    assert_eq!(good.len(), 24);
    let mut bad: Vec<Vec<u8>> = (0..24).map(|cut| good[..cut].to_vec()).collect();
    bad.push([good.as_slice(), &[0; 8]].concat());
    bad.push(vec![0; 4096]);
    bad.push(vec![0xff; 24]);
    for byte in 0..24 {
        let mut flipped = good.clone();
        flipped[byte] ^= 4;
        bad.push(flipped);
    }
    for bad in bad {
        for recovery_point in [0, 4, 6] {
            let mut disk = disk.clone();
            disk.replace(FIRST_INDEX, &bad).unwrap();
            let recovery_point = Offset(recovery_point);
            let config = LogConfig { recovery_point, ..ONE_SEGMENT };
            let (log, recovery) = open(disk, config);
            for from in 0..6 {
                let read = values(&log, from);
                assert!(ALL.ends_with(&read) && read.len() as u64 >= 6 - from, "{bad:?}");
            }
            // Below the recovery point it is trusted as far as its last entry shows.
            if recovery_point < Offset(6) {
                assert_eq!(recovery.indexes, [Offset(0)], "{bad:?}");
                assert_eq!(*log.disk().read_file(FIRST_INDEX).unwrap().unwrap(), *good);
            }
        }
    }
}
