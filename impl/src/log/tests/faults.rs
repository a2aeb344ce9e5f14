//! A disk that fails: the log says so, takes nothing more, and is whole when it is opened again.

use super::super::epochs_file::EPOCHS_FILE;
use super::super::intent::INTENT_FILE;
use super::{
    Disk, Epoch, FIRST_LOG, FsDisk, Log, LogConfig, LogError, MemDisk, Offset, SMALL, TestDisk,
    contents, open, produced, put, replicated, values,
};
use crate::disk::{Fault, FaultOn, Faulty, Survives, Then};

/// Six batches of one record in three segments, in epochs 0 and 1, all flushed.
fn six() -> Log<Faulty<MemDisk>> {
    let (mut log, _) = open(Faulty::new(MemDisk::new()), SMALL);
    for value in 0..6 {
        put(&mut log, i32::from(value > 3), &[value]);
    }
    log.flush().unwrap();
    log
}

fn fault(on: FaultOn, after: u32, tear: u64) -> Fault {
    Fault { on, after, tear, then: Then::StaysBroken }
}

/// How a crash ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// Of every file the same survives.
    Alike(Survives),
    /// Everything of this file survives, of the others only what was flushed.
    Only(&'static str),
    /// Of this file only what was flushed survives, of the others everything.
    AllBut(&'static str),
}

/// The process alone dies, or the power goes: nothing more, names only, some bytes, and the file
/// system wrote one file back before or after all others.
fn ends() -> Vec<End> {
    let names = [
        INTENT_FILE,
        EPOCHS_FILE,
        FIRST_LOG,
        "00000000000000000002.index",
        "00000000000000000002.log",
        "00000000000000000004.log",
        "00000000000000000020.log",
    ];
    let alike = [Survives::ALL, Survives::FLUSHED, Survives::bytes(0), Survives::bytes(80)];
    let mut ends = alike.map(End::Alike).to_vec();
    ends.extend(names.map(End::Only));
    ends.extend(names.map(End::AllBut));
    ends
}

impl End {
    fn survives(self, name: &str) -> Survives {
        match self {
            Self::Alike(survives) => survives,
            Self::Only(one) if name == one => Survives::ALL,
            Self::AllBut(one) if name != one => Survives::ALL,
            Self::Only(_) | Self::AllBut(_) => Survives::FLUSHED,
        }
    }
}

type Change = fn(&mut Log<Faulty<MemDisk>>) -> Result<(), LogError>;

/// Breaks `change` at each of its calls in turn, ends the process in each way, opens again.
/// Returns how many calls there were.
fn break_each(change: Change, judge: impl Fn(&Log<MemDisk>, u32)) -> u32 {
    for after in 0.. {
        for tear in [0, 1, 40, 1000] {
            for end in ends() {
                let mut log = six();
                log.disk_mut().arm(fault(FaultOn::Change, after, tear));
                match change(&mut log) {
                    Ok(()) => return after,
                    Err(error) => assert!(matches!(error, LogError::Disk(_)), "{error}"),
                }
                refuses_everything(&mut log);
                let mut disk = log.into_disk().into_inner();
                disk.power_loss(|file| end.survives(file.name));
                let (log, _) = open(disk, SMALL);
                judge(&log, after);
                let disk = log.clone().into_disk();
                let (mut again, recovery) = open(disk, SMALL);
                assert_eq!(recovery, super::Recovery::default(), "call {after}");
                assert_eq!(values(&again, again.start().0), values(&log, log.start().0));
                put(&mut again, 9, &[99]);
            }
        }
    }
    unreachable!("some number of calls is enough")
}

fn refuses_everything<D: Disk>(log: &mut Log<Faulty<D>>) {
    log.disk_mut().heal();
    let before = contents(log.disk());
    let leo = log.leo();
    let refused = [
        log.append_leader(&produced(&[1]), leo, Epoch(9)),
        log.append_follower(&replicated(leo.0, 9, &[1])),
        log.truncate_to(Offset(0)),
        log.truncate_fully(Offset(0)),
        log.flush(),
        log.assign_epoch(Epoch(9), leo).map(|()| leo),
    ];
    for refused in refused {
        assert!(matches!(refused, Err(LogError::Fenced)), "{refused:?}");
    }
    assert_eq!(contents(log.disk()), before);
}

fn six_values() -> Vec<(i32, u8)> {
    (0..6).map(|value| (i32::from(value > 3), value)).collect()
}

#[test]
fn a_truncation_over_segments_is_whole_wherever_it_breaks() {
    for to in 0..6_u64 {
        let change: Change = match to {
            0 => |log| log.truncate_to(Offset(0)).map(drop),
            1 => |log| log.truncate_to(Offset(1)).map(drop),
            2 => |log| log.truncate_to(Offset(2)).map(drop),
            3 => |log| log.truncate_to(Offset(3)).map(drop),
            4 => |log| log.truncate_to(Offset(4)).map(drop),
            _ => |log| log.truncate_to(Offset(5)).map(drop),
        };
        let calls = break_each(change, |log, after| {
            let left = values(log, 0);
            let all = six_values();
            let whole = left == all || left == all[..to as usize];
            assert!(whole, "to {to}, call {after}: {left:?}");
        });
        let several = if to < 4 { 10 } else { 3 };
        assert!(calls >= several, "to {to}: {calls} calls");
    }
}

#[test]
fn a_log_that_starts_anew_is_the_old_or_the_new_one_wherever_it_breaks() {
    let calls = break_each(
        |log| log.truncate_fully(Offset(20)).map(drop),
        |log, after| {
            let old = log.start() == Offset(0) && values(log, 0) == six_values();
            let at = Offset(20);
            let new = log.start() == at && log.leo() == at && log.epochs().is_empty();
            assert!(old || new, "call {after}: {log:?}");
        },
    );
    assert!(calls > 10, "{calls} calls");
}

#[test]
fn an_append_leaves_whole_batches_wherever_it_breaks() {
    let calls = break_each(
        |log| {
            let batches = (6..10).map(|i| replicated(i, 2, &[i as u8]));
            log.append_follower(&batches.collect::<Vec<_>>().concat()).map(drop)
        },
        |log, after| {
            let left = values(log, 0);
            let mut all = six_values();
            all.extend((6..10).map(|value| (2, value)));
            assert!(left.len() >= 6, "call {after}: what was flushed stays");
            assert_eq!(left, all[..left.len()], "call {after}");
        },
    );
    assert!(calls > 10, "{calls} calls");
}

#[test]
fn a_full_disk_leaves_no_hole() {
    for tear in 0..=produced(&[6]).len() as u64 {
        let (mut log, _) = open(Faulty::new(MemDisk::new()), LogConfig::default());
        put(&mut log, 0, &[5]);
        log.disk_mut().arm(Fault { on: FaultOn::Write, after: 0, tear, then: Then::Works });
        let leo = log.leo();
        let error = log.append_leader(&produced(&[6]), leo, Epoch(0)).unwrap_err();
        assert!(error.to_string().starts_with("cannot append to memory/"), "{error}");
        assert_eq!((log.leo(), values(&log, 0)), (leo, vec![(0, 5)]), "what was there is read");
        refuses_everything(&mut log);
        let (mut log, recovery) = open(log.into_disk(), LogConfig::default());
        let whole = tear == produced(&[6]).len() as u64;
        assert_eq!(recovery.cut.is_some(), tear > 0 && !whole);
        put(&mut log, 0, &[7]);
        let expected = if whole { vec![(0, 5), (0, 6), (0, 7)] } else { vec![(0, 5), (0, 7)] };
        assert_eq!(values(&log, 0), expected, "torn at {tear}");
    }
}

#[test]
fn a_failed_flush_claims_nothing() {
    let (mut log, _) = open(Faulty::new(MemDisk::new()), LogConfig::default());
    put(&mut log, 0, &[1]);
    log.flush().unwrap();
    put(&mut log, 0, &[2]);
    log.disk_mut().arm(fault(FaultOn::Sync, 0, 0));
    assert!(matches!(log.flush(), Err(LogError::Disk(_))));
    assert_eq!(log.flushed(), Offset(1));
    refuses_everything(&mut log);
    let mut disk = log.into_disk().into_inner();
    disk.power_loss(|_| Survives::FLUSHED);
    assert_eq!(values(&open(disk, LogConfig::default()).0, 0), [(0, 1)]);
}

#[test]
fn a_recovery_that_breaks_can_be_done_again() {
    let mut torn = six().into_disk().into_inner();
    torn.append("00000000000000000004.log", &[1; 30]).unwrap();
    torn.remove("00000000000000000002.index").unwrap();
    for after in 0.. {
        for end in ends() {
            let mut disk = Faulty::new(torn.clone());
            disk.arm(fault(FaultOn::Change, after, 1));
            let opened = Log::open(&mut disk, SMALL);
            if let Ok((log, recovery)) = opened {
                assert_eq!(values(&log, 0), six_values());
                assert!(recovery.cut.is_some() && recovery.indexes == [Offset(2)]);
                assert!(after > 5, "{after} calls");
                return;
            }
            let mut disk = disk.into_inner();
            disk.power_loss(|file| end.survives(file.name));
            assert_eq!(values(&open(disk, SMALL).0, 0), six_values(), "call {after}");
        }
    }
}

#[test]
fn a_real_directory_is_fenced_as_well() {
    let (disk, _place) = FsDisk::fresh();
    let (mut log, _) = open(Faulty::new(disk), SMALL);
    put(&mut log, 0, &[1]);
    log.disk_mut().arm(Fault { on: FaultOn::Write, after: 0, tear: 30, then: Then::Works });
    assert!(log.append_leader(&produced(&[2]), Offset(1), Epoch(0)).is_err());
    refuses_everything(&mut log);
    let (mut log, recovery) = open(log.into_disk(), SMALL);
    assert_eq!(recovery.cut.expect("a torn tail").bytes, 30);
    put(&mut log, 0, &[3]);
    assert_eq!(values(&log, 0), [(0, 1), (0, 3)]);
}
