//! The files of a log: names, segments, indexes, what is kept and what is not.

use super::super::hw_file;
use super::{
    FIRST_LOG, FsDisk, Log, LogConfig, LogError, MemDisk, Offset, Recovery, SMALL, TestDisk,
    contents, filled, is_log, on_both_disks, open, produced, put, replicated, values,
};
use crate::log::batch;

on_both_disks! {
    segments_and_indexes_are_kafkas
    a_recovery_point_spares_the_reading
    left_over_files_are_removed_and_others_are_kept
}

fn segments_and_indexes_are_kafkas<D: TestDisk>() {
    let (log, _place) = filled::<D>();
    let files = contents(log.disk());
    let bytes = log.read(Offset(0), Offset(8), u32::MAX).unwrap();
    let name = |base: u64, kind: &str| format!("{base:020}.{kind}");
    let logs: Vec<_> = files.keys().filter(|n| is_log(n)).collect();
    assert_eq!(logs, [&name(0, "log"), &name(3, "log"), &name(6, "log")]);
    let joined: Vec<u8> = logs.iter().flat_map(|n| files[*n].clone()).collect();
    assert_eq!(joined, bytes, "nothing but batches, in the order of their offsets");
    // The second batch of a segment has an entry: its last offset, relative, and its position.
    let first = batch::verify(&bytes).unwrap().bytes as u8;
    assert_eq!(files[&name(0, "index")], [0, 0, 0, 2, 0, 0, 0, first]);
    assert!(files[&name(3, "index")].is_empty());
    assert_eq!(files[&name(6, "index")], [0, 0, 0, 1, 0, 0, 0, first]);
    assert_eq!(files["leader-epoch-checkpoint"], b"0\n2\n0 0\n2 3\n");
}

fn a_recovery_point_spares_the_reading<D: TestDisk>() {
    for recovery_point in (0..=8).map(Offset) {
        let (log, _place) = filled::<D>();
        let all = values(&log, 0);
        let mut disk = log.into_disk();
        // The second byte of the first record's value length: only a checksum sees it.
        disk.flip(FIRST_LOG, 67, 1);
        let config = LogConfig { recovery_point, ..SMALL };
        let opened = Log::open(&mut disk, config);
        // The first segment ends at offset 3.
        if recovery_point < Offset(3) {
            assert!(matches!(opened, Err(LogError::Corrupt { .. })), "{recovery_point}");
        } else {
            let (log, recovery) = opened.unwrap();
            assert_eq!((recovery, log.leo()), (Recovery::default(), Offset(8)));
            assert_eq!(log.flushed(), recovery_point.max(Offset(6)));
            assert_eq!(values(&log, 3), all[3..]);
        }
        // A good log opens with any.
        disk.flip(FIRST_LOG, 67, 1);
        let (log, recovery) = open(disk, config);
        assert_eq!(recovery, Recovery::default());
        assert_eq!(values(&log, 0), all);
    }
}

fn left_over_files_are_removed_and_others_are_kept<D: TestDisk>() {
    let (log, _place) = filled::<D>();
    let all = values(&log, 0);
    let mut disk = log.into_disk();
    let others = ["notes.txt", "00000000000000000003.timeindex", "3.log"];
    let left_over = ["00000000000000000099.index", "leader-epoch-checkpoint.tmp"];
    for name in others.into_iter().chain(left_over) {
        disk.create(name).unwrap();
    }
    let offsets = hw_file::Offsets::from([(("orders".to_owned(), 0), Offset(4))]);
    hw_file::write(&mut disk, hw_file::HW_FILE, &offsets).unwrap();
    disk.remove("00000000000000000006.index").unwrap();
    let (log, recovery) = open(disk, SMALL);
    let mut removed = recovery.removed;
    removed.sort();
    assert_eq!(removed, left_over);
    assert_eq!(recovery.indexes, [Offset(6)]);
    assert_eq!(values(&log, 0), all);
    let names = log.disk().list().unwrap();
    assert!(others.iter().all(|name| names.contains(&(*name).to_owned())));
    assert!(!left_over.iter().any(|name| names.contains(&(*name).to_owned())));
    assert_eq!(hw_file::read(log.disk(), hw_file::HW_FILE).unwrap(), offsets);
    assert_eq!(open(log.into_disk(), SMALL).1, Recovery::default());
}

#[test]
fn a_big_batch_has_a_segment_of_its_own_and_any_setting_works() {
    for segment_bytes in [0, 1, 69, 70, 138, 139, 140, 141, 1000, u32::MAX] {
        for index_interval_bytes in [0, 1, 69, 70, 71, 150, u32::MAX] {
            let config =
                LogConfig { segment_bytes, index_interval_bytes, recovery_point: Offset(0) };
            let (mut log, _) = open(MemDisk::new(), config);
            let mut all = Vec::new();
            for i in 0..12 {
                let values = vec![i; 1 + usize::from(i % 4)];
                all.extend(values.iter().map(|v| (0, *v)));
                put(&mut log, 0, &values);
            }
            for from in 0..all.len() {
                let read = values(&log, from as u64);
                assert!(all.ends_with(&read) && read.len() >= all.len() - from);
            }
            let (again, recovery) = open(log.clone().into_disk(), config);
            assert_eq!(recovery, Recovery::default(), "the index is as a scan builds it");
            assert_eq!(again.bytes_below(Offset(9)).unwrap(), log.bytes_below(Offset(9)).unwrap());
        }
    }
}

#[test]
fn a_segment_never_spans_more_offsets_than_its_index_can_say() {
    // A compacted batch of one record may cover 2^31 offsets.
    let wide = |base: u64| {
        let mut bytes = replicated(base, 0, &[1]);
        bytes[23..27].copy_from_slice(&i32::MAX.to_be_bytes());
        let crc = crc_fast::crc32_iscsi(&bytes[21..]);
        bytes[17..21].copy_from_slice(&crc.to_be_bytes());
        bytes
    };
    let config = LogConfig { segment_bytes: 1 << 20, ..SMALL };
    let (mut log, _) = open(MemDisk::new(), config);
    let span = 1_u64 << 31;
    log.append_follower(&replicated(0, 0, &[1])).unwrap();
    log.append_follower(&[wide(1), wide(1 + span)].concat()).unwrap();
    assert_eq!(log.leo(), Offset(1 + 2 * span));
    let bases: Vec<_> = log.segments.iter().map(|s| s.base.0).collect();
    assert_eq!(bases, [0, 1, 1 + span]);
    let (log, recovery) = open(log.into_disk(), config);
    assert_eq!(recovery, Recovery::default());
    assert_eq!(log.batches(Offset(span), log.leo()).unwrap().len(), 2);
}

#[test]
fn an_entry_comes_when_more_bytes_than_the_interval_lie_before_the_batch() {
    let batch = produced(&[1]).len() as u32;
    for (interval, entries) in [(batch - 1, [1, 2, 3]), (batch, [2, 4, 6])] {
        let config = LogConfig { index_interval_bytes: interval, ..LogConfig::default() };
        let (mut log, _) = open(MemDisk::new(), config);
        for value in 0..7 {
            put(&mut log, 0, &[value]);
        }
        let lasts: Vec<u32> = log.segments[0].index.iter().map(|e| e.last).collect();
        assert_eq!(lasts[..3], entries, "interval {interval}");
    }
}
