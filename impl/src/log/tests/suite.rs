//! What the log does, on both disks.

use super::{
    BOUNDS, Epoch, FIRST_INDEX, FIRST_LOG, FsDisk, Log, LogConfig, LogError, MemDisk, Offset,
    Recovery, SMALL, TestDisk, contents, epochs, filled, on_both_disks, open, produced, put,
    replicated, shape, values,
};
use crate::log::batch::{self, BatchError};

on_both_disks! {
    a_new_log_is_empty_and_its_names_are_made
    what_is_appended_is_read_by_offset
    a_read_ends_before_its_limit_and_holds_whole_batches
    a_follower_takes_the_leaders_bytes_as_they_are
    a_refused_batch_writes_nothing
    truncation_works_at_every_offset
    a_log_starts_anew_where_it_is_told
    epochs_are_stored_before_records_and_cut_with_them
    epochs_that_were_stored_first_stay_as_they_are
}

fn a_new_log_is_empty_and_its_names_are_made<D: TestDisk>() {
    let (disk, _place) = D::fresh();
    let (mut log, recovery) = open(disk, LogConfig::default());
    assert_eq!(recovery, Recovery::default());
    let zero = Offset(0);
    assert_eq!((log.start(), log.leo(), log.flushed()), (zero, zero, zero));
    assert!(log.read(zero, zero, 100).unwrap().is_empty());
    assert_eq!(log.flush().unwrap(), zero);
    assert_eq!(log.disk().list().unwrap(), [FIRST_INDEX, FIRST_LOG]);
    let (log, recovery) = open(log.into_disk(), LogConfig::default());
    assert_eq!((recovery, log.leo()), (Recovery::default(), zero));
}

fn what_is_appended_is_read_by_offset<D: TestDisk>() {
    let (log, _place) = filled::<D>();
    let all = [(0, 1), (0, 2), (0, 3), (2, 4), (2, 5), (2, 6), (2, 7), (2, 8)];
    for from in 0..=8 {
        let first = BOUNDS.into_iter().rev().find(|base| *base <= from).unwrap();
        assert_eq!(values(&log, from), all[first as usize..], "from {from}");
    }
    let shapes = [shape(0, 1, 0), shape(1, 3, 0), shape(3, 6, 2), shape(6, 7, 2), shape(7, 8, 2)];
    assert_eq!(log.batches(Offset(0), Offset(8)).unwrap(), shapes);
    assert_eq!(log.batches(Offset(2), Offset(6)).unwrap(), shapes[1..3]);
    for bad in [9, u64::MAX] {
        let error = log.read(Offset(bad), Offset(8), 1).unwrap_err();
        assert!(matches!(error, LogError::OutOfRange { offset, .. } if offset == Offset(bad)));
    }
    let (again, recovery) = open(log.into_disk(), SMALL);
    assert_eq!(recovery, Recovery::default());
    assert_eq!(values(&again, 0), all);
}

fn a_read_ends_before_its_limit_and_holds_whole_batches<D: TestDisk>() {
    let (log, _place) = filled::<D>();
    let whole = log.read(Offset(0), Offset(8), u32::MAX).unwrap();
    let mut starts = vec![0];
    while starts[starts.len() - 1] < whole.len() {
        let at = starts[starts.len() - 1];
        starts.push(at + batch::verify(&whole[at..]).unwrap().bytes as usize);
    }
    assert_eq!(starts.len(), BOUNDS.len());
    for from in 0..=8 {
        for upto in 0..=10 {
            let first = BOUNDS.into_iter().rposition(|b| b <= from).unwrap();
            let end = BOUNDS.into_iter().rposition(|b| b <= upto).unwrap();
            for max in [0, 1, 68, 69, 70, 139, 140, 141, 200, 1000] {
                // The dumb way: one batch, then more as long as they fit.
                let mut last = first;
                while last < end && (last == first || starts[last + 1] - starts[first] <= max) {
                    last += 1;
                }
                let expected = if from < upto && first < end {
                    &whole[starts[first]..starts[last]]
                } else {
                    &[]
                };
                let read = log.read(Offset(from), Offset(upto), max as u32).unwrap();
                assert_eq!(read, expected, "from {from} upto {upto} max {max}");
            }
        }
    }
}

fn a_follower_takes_the_leaders_bytes_as_they_are<D: TestDisk>() {
    let (leader, _place) = filled::<D>();
    let bytes = leader.read(Offset(0), Offset(8), u32::MAX).unwrap();
    let (disk, _place) = D::fresh();
    let (mut follower, _) = open(disk, SMALL);
    assert_eq!(follower.append_follower(&[]).unwrap(), Offset(0));
    assert_eq!(follower.append_follower(&bytes).unwrap(), Offset(8));
    assert_eq!(follower.epochs(), leader.epochs());
    assert_eq!(contents(follower.disk()), contents(leader.disk()));
    let (disk, _place) = D::fresh();
    let (mut slow, _) = open(disk, SMALL);
    while slow.leo() < leader.leo() {
        let some = leader.read(slow.leo(), leader.leo(), 150).unwrap();
        slow.append_follower(&some).unwrap();
    }
    assert_eq!(contents(slow.disk()), contents(leader.disk()));
}

fn a_refused_batch_writes_nothing<D: TestDisk>() {
    let (mut log, _place) = filled::<D>();
    let before = contents(log.disk());
    let mut refused = |bytes: &[u8]| log.append_follower(bytes).unwrap_err();
    let good = replicated(8, 2, &[9]);
    let two = |second: &[u8]| [good.as_slice(), second].concat();
    for base in [0, 7, 9] {
        let error = refused(&replicated(base, 2, &[9]));
        assert!(
            matches!(error, LogError::NotNext { expected: Offset(8), found } if found.0 == base)
        );
    }
    let gap = refused(&two(&replicated(10, 2, &[9])));
    assert!(matches!(gap, LogError::NotNext { expected: Offset(9), .. }));
    for older in [1, -1] {
        let error = refused(&replicated(8, older, &[9]));
        assert!(matches!(error, LogError::EpochWentBack { .. }), "{error}");
        let error = refused(&two(&replicated(9, older, &[9])));
        assert!(matches!(error, LogError::EpochWentBack { .. }), "{error}");
    }
    for byte in 16..good.len() {
        let mut bad = two(&replicated(9, 2, &[9]));
        bad[good.len() + byte] ^= 0x10;
        let error = refused(&bad);
        let at = good.len() as u64;
        assert!(matches!(error, LogError::BadBatch { position, .. } if position == at));
    }
    for cut in 1..good.len() {
        assert!(matches!(refused(&good[..cut]), LogError::BadBatch { position: 0, .. }));
    }
    let (leo, epoch) = (log.leo(), Epoch(2));
    let mut produce = |bytes: &[u8], base| log.append_leader(bytes, base, epoch).unwrap_err();
    assert!(matches!(produce(&good, Offset(7)), LogError::NotNext { .. }));
    let error = produce(&two(&good), leo);
    let trailing = BatchError::Trailing(good.len() as u64);
    assert!(matches!(error, LogError::BadBatch { error, .. } if error == trailing));
    let error = log.append_leader(&good, leo, Epoch(1)).unwrap_err();
    assert!(matches!(error, LogError::EpochWentBack { .. }));
    assert_eq!(contents(log.disk()), before);
    put(&mut log, 2, &[9]);
}

fn truncation_works_at_every_offset<D: TestDisk>() {
    for to in 0..10_u64 {
        for then in [1, 4] {
            let (mut log, _place) = filled::<D>();
            let all = values(&log, 0);
            let end = BOUNDS.into_iter().rev().find(|b| *b <= to).unwrap();
            assert_eq!(log.truncate_to(Offset(to)).unwrap(), Offset(end));
            assert_eq!(values(&log, 0), all[..end as usize], "to {to}");
            let kept = epochs(&[(0, 0), (2, 3)]);
            let kept = kept.into_iter().filter(|e| e.start.0 < end);
            assert_eq!(log.epochs(), kept.collect::<Vec<_>>());
            let (mut again, recovery) = open(log.into_disk(), SMALL);
            assert_eq!(recovery, Recovery::default(), "to {to}");
            assert_eq!(values(&again, 0), all[..end as usize], "to {to}");
            // New records lie where the old ones were, in an empty segment too (B87).
            for i in 0..then {
                put(&mut again, 5, &[100 + i]);
            }
            let new: Vec<_> = (0..then).map(|i| (5, 100 + i)).collect();
            let expected = [&all[..end as usize], &new].concat();
            let (last, recovery) = open(again.into_disk(), SMALL);
            assert_eq!(recovery, Recovery::default(), "to {to}");
            assert_eq!(values(&last, 0), expected, "to {to}");
        }
    }
}

fn a_log_starts_anew_where_it_is_told<D: TestDisk>() {
    for start in [0, 3, 5, 8, 1 << 40] {
        let (mut log, _place) = filled::<D>();
        assert_eq!(log.truncate_fully(Offset(start)).unwrap(), Offset(start));
        let check = |log: &Log<D>| {
            let at = Offset(start);
            assert_eq!((log.start(), log.leo(), log.flushed()), (at, at, at));
            assert!(log.epochs().is_empty());
        };
        check(&log);
        let (mut log, recovery) = open(log.into_disk(), SMALL);
        assert_eq!(recovery, Recovery::default());
        check(&log);
        put(&mut log, 7, &[1]);
        put(&mut log, 7, &[2]);
        assert_eq!(values(&log, start), [(7, 1), (7, 2)]);
        assert!(log.read(Offset(start.wrapping_sub(1)), log.leo(), 1).is_err());
        // Before the start: as truncate_fully.
        if start > 0 {
            assert_eq!(log.truncate_to(Offset(start - 1)).unwrap(), Offset(start - 1));
            assert_eq!(log.start(), Offset(start - 1));
        }
    }
}

fn epochs_are_stored_before_records_and_cut_with_them<D: TestDisk>() {
    let (disk, _place) = D::fresh();
    let (mut log, _) = open(disk, SMALL);
    log.assign_epoch(Epoch(1), Offset(0)).unwrap();
    log.assign_epoch(Epoch(1), Offset(9)).unwrap();
    assert_eq!(log.epochs(), epochs(&[(1, 0)]), "known already");
    log.assign_epoch(Epoch(2), Offset(0)).unwrap();
    assert_eq!(log.epochs(), epochs(&[(2, 0)]), "the empty one before gives way");
    put(&mut log, 2, &[1]);
    log.assign_epoch(Epoch(4), Offset(1)).unwrap();
    assert_eq!(log.epochs(), epochs(&[(2, 0), (4, 1)]));
    // An entry without a record does not outlive a truncation at its place (KAFKA-10706) ...
    log.truncate_to(Offset(1)).unwrap();
    assert_eq!(log.epochs(), epochs(&[(2, 0)]));
    // ... nor a start (KAFKA-16541).
    log.assign_epoch(Epoch(4), Offset(1)).unwrap();
    let (mut log, recovery) = open(log.into_disk(), SMALL);
    assert_eq!(recovery.stale_epochs, epochs(&[(4, 1)]));
    assert_eq!(log.epochs(), epochs(&[(2, 0)]));
    log.append_follower(&[replicated(1, 3, &[2]), replicated(2, 5, &[3])].concat()).unwrap();
    assert_eq!(log.epochs(), epochs(&[(2, 0), (3, 1), (5, 2)]));
    log.store_epochs(&epochs(&[(2, 0), (3, 1), (5, 2), (8, 3)])).unwrap();
    let mut disk = log.into_disk();
    // Without the file, the batches say it, epoch 0 and all (B21).
    disk.remove("leader-epoch-checkpoint").unwrap();
    let (log, recovery) = open(disk, SMALL);
    assert_eq!(recovery.found_epochs, epochs(&[(2, 0), (3, 1), (5, 2)]));
    let (log, recovery) = open(log.into_disk(), SMALL);
    assert_eq!(recovery, Recovery::default());
    assert_eq!(log.epochs(), epochs(&[(2, 0), (3, 1), (5, 2)]));
    let (disk, _place) = D::fresh();
    let (mut zero, _) = open(disk, SMALL);
    put(&mut zero, 0, &[1]);
    let mut disk = zero.into_disk();
    disk.remove("leader-epoch-checkpoint").unwrap();
    assert_eq!(open(disk, SMALL).0.epochs(), epochs(&[(0, 0)]));
}

#[test]
fn the_last_offsets_there_are_can_be_used() {
    let last = i64::MAX as u64;
    let (mut log, _) = open(MemDisk::new(), SMALL);
    log.truncate_fully(Offset(last - 2)).unwrap();
    assert!(log.append_leader(&produced(&[1, 2, 3]), Offset(last - 2), Epoch(0)).is_err());
    assert_eq!(put(&mut log, 0, &[1, 2]), Offset(last));
    assert!(log.append_leader(&produced(&[1]), Offset(last), Epoch(0)).is_err());
    let (log, _) = open(log.into_disk(), SMALL);
    assert_eq!(values(&log, last - 2), [(0, 1), (0, 2)]);
}

/// The core stores the epochs of all batches in an answer before any of them is appended. The
/// first batch goes on with an epoch that began before it.
fn epochs_that_were_stored_first_stay_as_they_are<D: TestDisk>() {
    let (disk, _place) = D::fresh();
    let (mut log, _) = open(disk, SMALL);
    log.append_follower(&replicated(0, 2, &[1])).unwrap();
    let stored = epochs(&[(2, 0), (3, 2), (5, 3)]);
    log.store_epochs(&stored).unwrap();
    let answer = [replicated(1, 2, &[2]), replicated(2, 3, &[3]), replicated(3, 5, &[4])];
    log.append_follower(&answer.concat()).unwrap();
    assert_eq!(log.epochs(), stored);
    let (log, recovery) = open(log.into_disk(), SMALL);
    assert_eq!((log.epochs(), recovery), (&stored[..], Recovery::default()));
}
