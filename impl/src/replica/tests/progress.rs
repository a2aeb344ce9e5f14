//! Caught-up time (U2) against a twin that looks through the whole history of fetches.

use super::{LeoChange, Observation, Progress};
use crate::types::{BrokerEpoch, Offset};

fn seen(offset: u64, leader_leo: u64, now_ms: i64) -> Observation {
    Observation {
        offset: Offset(offset),
        broker_epoch: Some(BrokerEpoch(1)),
        leader_leo: Offset(leader_leo),
        now_ms,
    }
}

/// The newest time at which the follower is known to have had all that the leader had then.
fn caught_up_by_hand(fetches: &[Observation]) -> Option<i64> {
    let known_at = |nth: usize| {
        let fetch = fetches[nth];
        let leader_before = fetches[..nth].iter().map(|f| f.leader_leo).max();
        if fetch.offset >= fetch.leader_leo {
            Some(fetch.now_ms)
        } else if leader_before.is_some_and(|leo| fetch.offset >= leo) {
            Some(fetches[nth - 1].now_ms)
        } else {
            None
        }
    };
    (0..fetches.len()).filter_map(known_at).max()
}

#[test]
fn caught_up_time_is_that_of_the_history() {
    let mut histories: Vec<Vec<Observation>> = vec![vec![]];
    for _ in 0..5 {
        let longer = |history: &Vec<Observation>| {
            let (leo, now) = history.last().map_or((0, 0), |f| (f.leader_leo.0, f.now_ms));
            let mut all = Vec::new();
            for leader_leo in leo..=2 {
                for offset in 0..=leader_leo {
                    for now_ms in [now, now + 10] {
                        let next = seen(offset, leader_leo, now_ms);
                        all.push([&history[..], &[next]].concat());
                    }
                }
            }
            all
        };
        histories = histories.iter().flat_map(longer).collect();
    }
    assert!(histories.len() > 5_000);
    for history in histories {
        let mut progress = Progress::default();
        for (nth, &fetch) in history.iter().enumerate() {
            let before = progress.leo;
            let change = progress.observe(fetch);
            assert_eq!(change == LeoChange::Changed, before != Some(fetch.offset));
            assert_eq!(progress.leo, Some(fetch.offset), "also down (U3)");
            assert_eq!(progress.last_caught_up_ms, caught_up_by_hand(&history[..=nth]));
            let most = history[..=nth].iter().map(|f| f.leader_leo).max();
            assert_eq!(progress.leader_leo_at_fetch, most);
        }
    }
}

#[test]
fn a_follower_always_one_round_behind_stays_caught_up() {
    let mut progress = Progress::default();
    for round in 0..100 {
        progress.observe(seen(round, round + 1, 20_000 * round as i64));
    }
    let now = 20_000 * 100;
    assert!(!progress.is_caught_up(Offset(100), now, 30_000), "last known at round 98");
    assert!(progress.is_caught_up(Offset(100), now - 10_000, 30_000));
}

#[test]
fn either_place_or_time_is_enough() {
    let mut progress = Progress::default();
    progress.observe(seen(3, 3, 1_000));
    for (leader_leo, now_ms, expected) in [
        (3, 1_000, true),
        (3, 900_000, true),
        (4, 31_000, true),
        (4, 31_001, false),
        (4, i64::MAX, false),
    ] {
        let is = progress.is_caught_up(Offset(leader_leo), now_ms, 30_000);
        assert_eq!(is, expected, "leader at {leader_leo}, now {now_ms}");
    }
    assert!(!Progress::default().is_caught_up(Offset(0), 0, 30_000), "never heard of");
}

#[test]
fn a_clock_that_runs_backwards_makes_no_one_fresh() {
    let mut progress = Progress::default();
    progress.observe(seen(3, 3, 1_000_000));
    assert!(!progress.is_caught_up(Offset(4), 999_999, 30_000), "a stamp of the future");
    assert!(!progress.is_caught_up(Offset(4), i64::MIN, 30_000));
    // The stamp does not come alive again when the clock gets there the second time.
    progress.forget_future(999_999);
    assert!(!progress.is_caught_up(Offset(4), 1_000_000, 30_000));
    // A fetch under the new clock counts as ever, one that reaches nothing proves nothing.
    let mut late = progress;
    late.observe(seen(3, 4, 5_000));
    assert_eq!(late.last_caught_up_ms, None, "caught up at a time that is no more");
    progress.observe(seen(4, 4, 5_000));
    assert!(progress.is_caught_up(Offset(5), 35_000, 30_000));
}
