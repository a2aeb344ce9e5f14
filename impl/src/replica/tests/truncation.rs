//! Every pair of logs that one history can leave behind: the rounds end, and they end exactly
//! where the two logs part.

use super::truncation_offset;
use crate::replica::epochs::EpochCache;
use crate::types::{Epoch, Offset};

/// Every log of up to `most` records over the epochs 0..`epochs`.
fn logs(most: usize, epochs: i32) -> Vec<Vec<i32>> {
    let mut all = vec![vec![]];
    let mut last = all.clone();
    for _ in 0..most {
        let longer = |log: &Vec<i32>| {
            let from = log.last().copied().unwrap_or(0);
            (from..epochs).map(|e| [&log[..], &[e]].concat()).collect::<Vec<_>>()
        };
        last = last.iter().flat_map(longer).collect();
        all.extend(last.clone());
    }
    all
}

fn start_of(epoch: i32, log: &[i32]) -> Option<usize> {
    log.iter().position(|&e| e == epoch)
}

/// One leader wrote each epoch, on top of one log: where both logs hold an epoch, it begins at
/// the same offset on the same records.
fn of_one_history(a: &[i32], b: &[i32]) -> bool {
    a.iter().all(|&epoch| match (start_of(epoch, a), start_of(epoch, b)) {
        (Some(at), Some(there)) => at == there && a[..at] == b[..at],
        _ => true,
    })
}

fn common_prefix(a: &[i32], b: &[i32]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

fn cache_of(log: &[i32]) -> EpochCache {
    let mut cache = EpochCache::default();
    for (&epoch, at) in log.iter().zip(0..) {
        cache.assign(Epoch(epoch), Offset(at));
    }
    cache
}

/// The fetch rounds until the leader no longer answers that the logs part (F5, T3 to T6). Returns
/// where the follower ends and how many rounds it took.
fn reconcile(leader: &[i32], mut follower: EpochCache, leo: usize) -> (usize, usize) {
    let (leaders, leaders_leo) = (cache_of(leader), Offset(leader.len() as u64));
    let mut leo = Offset(leo as u64);
    for round in 0..10 {
        let Some(last) = follower.latest() else {
            return (leo.0 as usize, round);
        };
        let (epoch, end) = leaders.answer_end_offset(last, leaders_leo).expect("F5: a known epoch");
        if epoch == last && end >= leo {
            return (leo.0 as usize, round);
        }
        leo = truncation_offset((epoch, end), &follower, leo);
        follower.truncate_from_end(leo);
    }
    panic!("no end of {follower:?} at {leo} under {leader:?}");
}

#[test]
fn a_follower_is_cut_exactly_where_the_logs_part() {
    let (mut pairs, mut most_rounds) = (0, 0);
    // The leader's own epoch is above all of them, as L3 makes it.
    let leaders = logs(4, 4).into_iter().map(|log| [log, vec![4]].concat());
    for leader in leaders {
        for follower in logs(5, 4) {
            if !of_one_history(&leader, &follower) {
                continue;
            }
            let (end, rounds) = reconcile(&leader, cache_of(&follower), follower.len());
            assert_eq!(end, common_prefix(&leader, &follower), "{follower:?} under {leader:?}");
            let mut epochs = follower.clone();
            epochs.dedup();
            assert!(rounds <= epochs.len(), "{rounds} rounds of {follower:?} under {leader:?}");
            pairs += 1;
            most_rounds = most_rounds.max(rounds);
        }
    }
    assert!(pairs > 1_000, "only {pairs} pairs");
    assert_eq!(most_rounds, 2, "a truncation in two rounds (T5)");
}

#[test]
fn an_epoch_entry_without_records_goes_in_at_most_one_round() {
    for log in logs(4, 3) {
        // The follower led epoch 3 and wrote nothing; the leader leads epoch 4.
        let mut follower = cache_of(&log);
        follower.assign(Epoch(3), Offset(log.len() as u64));
        let leader = [&log[..], &[4]].concat();
        // Below the leader's first epoch there is nothing to part from: the first record that
        // comes replaces the entry.
        let rounds = usize::from(!log.is_empty());
        assert_eq!(reconcile(&leader, follower, log.len()), (log.len(), rounds), "{log:?}");
    }
}

#[test]
fn the_seven_textbook_cases() {
    let rows: [(&str, &[i32], &[i32], usize); 7] = [
        ("A: same epoch, shorter", &[1, 1, 1, 4], &[1, 1], 2),
        ("B: leader has a later epoch", &[1, 1, 2, 4], &[1, 1], 2),
        ("C: same latest epoch, longer", &[1, 1, 4], &[1, 1, 1], 2),
        ("D: records of an epoch the leader lacks", &[1, 1, 3, 4], &[1, 1, 2], 2),
        ("E: a fork after a common prefix", &[1, 1, 3, 3, 4], &[1, 1, 2, 2, 2], 2),
        ("F: a fork, the leader's common epoch is longer", &[1, 1, 1, 3, 4], &[1, 1, 2], 2),
        ("G: no epoch in common", &[2, 2, 4], &[1, 1, 1], 0),
    ];
    for (name, leader, follower, end) in rows {
        assert_eq!(reconcile(leader, cache_of(follower), follower.len()).0, end, "{name}");
    }
}

#[test]
fn the_end_of_an_epoch_i_lack_says_nothing_of_my_log() {
    // The leader: 1, 2, ...; the follower: 1, 1, 1, 3. Asked for the end of 3, it answers (2, 2).
    let own = cache_of(&[1, 1, 1, 3]);
    for end in [1, 2, 3, 9] {
        let cut = truncation_offset((Epoch(2), Offset(end)), &own, Offset(4));
        assert_eq!(cut, Offset(3), "T5: the end of my own epoch 1");
    }
}
