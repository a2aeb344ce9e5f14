//! The log's shape: what recovery, flushes and truncations do to its offsets.

use super::*;

fn log(start: u64, leo: u64, hw: Option<u64>) -> LogState {
    let epochs = vec![(Epoch(0), Offset(start))];
    let shape = LogShape { start: Offset(start), leo: Offset(leo), epochs };
    LogState::restore(shape, hw.map(Offset))
}

#[test]
fn the_checkpoint_is_moved_into_the_log() {
    for (checkpoint, hw) in [(None, 2), (Some(0), 2), (Some(3), 3), (Some(5), 5), (Some(9), 5)] {
        assert_eq!(log(2, 5, checkpoint).hw, Offset(hw), "checkpoint {checkpoint:?} (D1)");
    }
}

#[test]
fn a_flush_says_nothing_of_records_that_are_not_there() {
    let mut log = log(2, 5, None);
    assert_eq!(log.flushed, Offset(2), "nothing is known after recovery");
    for (upto, flushed) in [(3, 3), (2, 3), (9, 5)] {
        log.flushed(Offset(upto));
        assert_eq!(log.flushed, Offset(flushed));
    }
    log.truncate(Offset(4), &mut vec![]);
    assert_eq!(log.flushed, Offset(4), "what comes there next is not flushed");
    log.truncate_fully(Offset(7), &mut vec![]);
    assert_eq!((log.start, log.leo, log.hw, log.flushed), {
        let at = Offset(7);
        (at, at, at, at)
    });
}

#[test]
fn a_truncation_lowers_only_what_lies_above_it() {
    for (hw, to) in (2..=5).flat_map(|hw| (2..=6).map(move |to| (hw, to))) {
        let mut log = log(2, 5, Some(hw));
        let mut effects = vec![];
        log.truncate(Offset(to), &mut effects);
        assert_eq!((log.leo, log.hw), (Offset(to.min(5)), Offset(hw.min(to))));
        let cut = effects.contains(&Effect::Truncate { to: Offset(to) });
        assert_eq!(cut, to < 5, "nothing to cut at or above the LEO");
    }
}

#[test]
fn an_offset_beyond_the_wire_is_never_reached() {
    let mut log = log(0, MAX_OFFSET - 3, None);
    assert!(log.has_room_for(3) && !log.has_room_for(4) && !log.has_room_for(u32::MAX));
    let base = log.append(RequestId(1), 3, Epoch(0), &mut vec![]);
    assert_eq!((base, log.leo), (Offset(MAX_OFFSET - 3), Offset(MAX_OFFSET)));
    assert!(log.has_room_for(0) && !log.has_room_for(1));
}
