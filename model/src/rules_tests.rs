//! Every pure rule against a deliberately dumb twin, over every small input.

use klog_trace::view::{BrokerState, Outcome};

use super::controller::*;
use super::follower::*;
use super::isr::*;
use super::leader::*;
use super::*;

/// A log as the list of its records' epochs, plus the epochs that began without a record.
struct Dumb {
    /// (epoch, first offset, one past its last record) of every epoch that ever began here.
    reigns: Vec<(u8, u8, u8)>,
}

impl Dumb {
    /// Walks the reigns of a log one by one, as a person would on paper.
    fn end_of(&self, asked: u8) -> Option<EpochStart> {
        let newest = self.reigns.last()?.0;
        if asked > newest {
            return None;
        }
        let mut best = None;
        for (i, &(epoch, start, end)) in self.reigns.iter().enumerate() {
            if i == 0 && asked < epoch {
                best = Some(EpochStart { epoch: asked, offset: start });
            }
            if epoch <= asked {
                best = Some(EpochStart { epoch, offset: end });
            }
        }
        best
    }
}

/// Every cache of up to three entries with epochs below 5 and starts below 4, each with every
/// LEO from its last start to 4.
fn caches() -> Vec<(Vec<EpochStart>, u8)> {
    let entries: Vec<EpochStart> =
        (0..5).flat_map(|epoch| (0..4).map(move |offset| EpochStart { epoch, offset })).collect();
    let mut all: Vec<Vec<EpochStart>> = vec![vec![]];
    for length in 0..3 {
        let longer: Vec<Vec<EpochStart>> = all
            .iter()
            .filter(|c| c.len() == length)
            .flat_map(|cache| {
                let after = |e: &&EpochStart| {
                    cache.last().is_none_or(|l| l.epoch < e.epoch && l.offset < e.offset)
                };
                entries.iter().filter(after).map(|e| [cache.clone(), vec![*e]].concat())
            })
            .collect();
        all.extend(longer);
    }
    all.into_iter()
        .flat_map(|cache| {
            let from = cache.last().map_or(0, |e| e.offset);
            (from..=4).map(move |leo| (cache.clone(), leo))
        })
        .collect()
}

fn dumb(cache: &[EpochStart], leo: u8) -> Dumb {
    let ends = cache.iter().skip(1).map(|e| e.offset).chain([leo]);
    Dumb { reigns: cache.iter().zip(ends).map(|(e, end)| (e.epoch, e.offset, end)).collect() }
}

#[test]
fn the_end_of_an_epoch_is_what_a_person_reads_off_the_log() {
    let all = caches();
    assert!(all.len() > 300, "only {} caches", all.len());
    for (cache, leo) in all {
        for asked in 0..6 {
            let expected = dumb(&cache, leo).end_of(asked);
            assert_eq!(epoch_end(&cache, leo, asked), expected, "{cache:?} leo {leo} e{asked}");
        }
    }
}

#[test]
fn the_published_example_of_the_epoch_table() {
    let cache: Vec<EpochStart> = vec![(2, 0).into(), (4, 6).into(), (7, 10).into()];
    let ask = |q| epoch_end(&cache, 12, q).map(|e| (e.epoch, e.offset));
    let answers: Vec<_> = (1..=8).map(ask).collect();
    let expected = [(1, 0), (2, 6), (2, 6), (4, 10), (4, 10), (4, 10), (7, 12)];
    let expected: Vec<_> = expected.into_iter().map(Some).chain([None]).collect();
    assert_eq!(answers, expected);
}

/// Two logs of which neither contradicts the other below their fork: what two brokers can hold.
#[test]
fn cutting_where_the_leader_says_never_cuts_what_both_have_and_ends_the_fork() {
    let logs = logs_of_two();
    assert!(logs.len() > 300, "only {} pairs", logs.len());
    for (leader, follower) in logs {
        let mut mine = follower.clone();
        let common = leader.iter().zip(&mine).take_while(|(a, b)| a == b).count();
        for round in 0.. {
            assert!(round <= follower.len(), "{leader:?} {follower:?}: no end of rounds");
            // Whoever leads has an entry for its reign, with or without a record (L3).
            let reign = EpochStart { epoch: 9, offset: leader.len() as u8 };
            let lead = [cache_of(&leader), vec![reign]].concat();
            let own = cache_of(&mine);
            let Some(last) = last_epoch(&own, AnswerTaken::None) else { break };
            let log = LeaderLog { cache: &lead, leo: leader.len() as u8, epoch_end };
            let Ok(Some(end)) = diverging(log, mine.len() as u8, last) else { break };
            let cut = cut_on_diverging(&own, mine.len() as u8, end);
            assert!(usize::from(cut) >= common, "{leader:?} {follower:?}: cut at {cut}");
            mine.truncate(usize::from(cut));
        }
        assert!(leader.starts_with(&mine), "{leader:?} {follower:?}: left {mine:?}");
    }
}

fn cache_of(log: &[u8]) -> Vec<EpochStart> {
    let mut cache: Vec<EpochStart> = Vec::new();
    for (offset, &epoch) in log.iter().enumerate() {
        if cache.last().is_none_or(|e| e.epoch != epoch) {
            cache.push(EpochStart { epoch, offset: offset as u8 });
        }
    }
    cache
}

/// Pairs of logs (as lists of epochs) that two brokers can hold: epochs grow, and an epoch stands
/// in both at the same offsets as far as both have it, since one leader wrote it.
fn logs_of_two() -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut logs: Vec<Vec<u8>> = vec![vec![]];
    for length in 0..4 {
        let longer = logs.iter().filter(|l| l.len() == length).flat_map(|log| {
            let from = log.last().copied().unwrap_or(0);
            (from..4).map(|e| [log.clone(), vec![e]].concat())
        });
        let longer: Vec<Vec<u8>> = longer.collect();
        logs.extend(longer);
    }
    let start = |log: &[u8], e: u8| log.iter().position(|x| *x == e);
    let one_writer = |a: &[u8], b: &[u8]| {
        (0..4).all(|e| match (start(a, e), start(b, e)) {
            // What stands before a common epoch is common: its leader wrote it there.
            (Some(i), Some(j)) => i == j && a[..i] == b[..j],
            _ => true,
        })
    };
    logs.iter()
        .flat_map(|a| logs.iter().map(move |b| (a.clone(), b.clone())))
        .filter(|(a, b)| one_writer(a, b))
        .collect()
}

#[test]
fn the_elr_is_who_left_complete_while_the_isr_is_under_its_minimum() {
    let sets: Vec<Vec<Node>> =
        (0..8_u8).map(|m| (1..=3).filter(|b| m & 1 << (b - 1) != 0).collect()).collect();
    for isr in &sets {
        for elr in sets.iter().filter(|e| e.iter().all(|b| !isr.contains(b))) {
            for target in &sets {
                for unclean in &sets {
                    for min_isr in 1..=3 {
                        let change = IsrChange { isr, elr, target, unclean, min_isr };
                        let new = eligible_after(change).expect("this protocol has an ELR");
                        for b in 1..=3 {
                            let was = isr.contains(&b) || elr.contains(&b);
                            let under = target.len() < usize::from(min_isr);
                            let stays = was && under && !target.contains(&b);
                            assert_eq!(new.contains(&b), stays && !unclean.contains(&b));
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_follower_joins_only_complete_active_and_in_the_life_that_fetched() {
    let states = [Session::Active, Session::Fenced];
    let optional = || [None, Some(0), Some(1), Some(2)];
    for (leo, life) in optional().into_iter().flat_map(|a| optional().map(|b| (a, b))) {
        for state in states {
            for (hw, epoch_start) in (0..3).flat_map(|a| (0..3).map(move |b| (a, b))) {
                let follower = Progress { broker: 2, leo, broker_epoch: life, heard: None };
                let known = BrokerState { epoch: 1, state };
                let joined = joins(Join { follower, known, hw, epoch_start });
                let complete = leo.is_some_and(|l| l >= hw && l >= epoch_start);
                let right = complete && state == Session::Active && life == Some(1);
                assert_eq!(joined, right, "{follower:?} {state:?} hw {hw} start {epoch_start}");
            }
        }
    }
}

#[test]
fn the_small_rules_at_every_small_value() {
    for (a, b) in (0..4_u8).flat_map(|a| (0..4_u8).map(move |b| (a, b))) {
        let fenced = if a < b { Some(74) } else { (a > b).then_some(75) };
        assert_eq!(fence(a, Some(b)), fenced);
        assert_eq!(fence(a, None), Some(75));
        let refused = Admission::Refuse(19);
        assert_eq!(admits(usize::from(a), b), if a < b { refused } else { Admission::Append });
        assert!((0..4).all(|maximal| hw_may_move(usize::from(a), maximal, b) == (a >= b)));
        assert_eq!((raised(a, b), hw_at_start(a, b), readable(a, b)), (a.max(b), a, a));
        assert_eq!((settles(a, b), from_older_life(a, b)), (a > b, a < b));
        let waiting = Waiting { offset: a, value: 1, epoch: 2 };
        assert_eq!(decides(waiting, Some(2), b), a < b);
        assert!(!decides(waiting, Some(1), b) && !decides(waiting, None, b));
        assert_eq!(is_clean(Some(a), b), a == b);
        assert_eq!(verdict(usize::from(a), b), if a >= b { 0 } else { 20 });
        assert_eq!((cut_on_following(a, b), hw_at_restart(a, b)), (a, a.min(b)));
        assert_eq!(shows_caught_up(a, b, None), a >= b);
        assert!((0..4).all(|then| shows_caught_up(a, b, Some(then)) == (a >= b || a >= then)));
        let heard = |caught_up| Some(Heard { caught_up, previous: None });
        assert_eq!(caught_up(Some(a), b, None), a == b);
        assert_eq!(caught_up(Some(a), b, heard(false)), a == b);
        assert!(caught_up(Some(a), b, heard(true)) && caught_up(None, b, heard(true)));
        assert!(!caught_up(None, b, None) && !recent_after_setback(true));
        for leo in 0..4 {
            let hw = follower_hw(a, b, leo);
            assert!(hw >= a && (hw == a || hw <= leo && hw <= b));
        }
    }
    let records: Vec<Record> = vec![(1, 1).into(), (3, 2).into(), (2, 3).into()];
    assert_eq!([0, 1, 2, 3].map(|epoch| takes(&records, epoch)), [0, 1, 1, 3]);
    assert!(!is_clean(None, 1));
    assert!(version_is_current(1, 1) && version_is_current(2, 1) && !version_is_current(0, 1));
    assert!(member_lives(None, 1) && member_lives(Some(1), 1) && !member_lives(Some(0), 1));
    let states = [Session::Active, Session::ShuttingDown, Session::Fenced];
    assert_eq!(states.map(may_register), [false, false, true]);
    assert_eq!(states.map(last_leader_may), [true, false, false]);
    assert_eq!(states.map(member_is_active), [true, false, false]);
    let fates = [3, 42, 55, 74, 77, 95, 100, 107, 108, 41].map(refused);
    let [void, unknown, again] = [Fate::Void, Fate::Unknown, Fate::Again];
    let expected = [unknown, unknown, void, unknown, again, unknown, unknown, void, unknown, again];
    assert_eq!(fates, expected);
    let of = |epoch, offset| EpochStart { epoch, offset };
    assert!(answer_is_mine(of(1, 2), of(1, 2)));
    assert!(!answer_is_mine(of(0, 2), of(1, 2)) && !answer_is_mine(of(1, 1), of(1, 2)));
    let proposal = |isr: &[Node]| Proposal {
        isr: isr.iter().map(|n| (*n, None)).collect(),
        outcome: Outcome::Open,
    };
    assert_eq!(maximal_isr(&[1, 3], Some(&proposal(&[1, 2, 3]))), [1, 2, 3]);
    assert_eq!(maximal_isr(&[1, 3], Some(&proposal(&[1]))), [1, 3]);
    assert_eq!(maximal_isr(&[1, 3], None), [1, 3]);
}

/// The checks in their order: the first that fails gives the error, whatever follows.
#[test]
fn the_first_failing_check_of_a_proposal_gives_the_error() {
    for bits in 0..128_u8 {
        let fact = |n: u8| bits & 1 << n != 0;
        let facts = ProposalFacts {
            sender_lives: fact(0),
            epoch_is_current: fact(1),
            sender_leads: fact(2),
            version_is_current: fact(3),
            sender_is_member: fact(4),
            members_are_active: fact(5),
            members_live: fact(6),
        };
        let errors = [77, 74, 42, 95, 42, 107, 107];
        let first = (0..7).find(|n| !fact(*n)).map_or(0, |n| errors[usize::from(n)]);
        assert_eq!(refuse_proposal(facts), first, "{facts:?}");
    }
}

#[test]
fn an_active_member_leads_and_the_elr_only_where_the_isr_is_empty() {
    for bits in 0..16_u8 {
        let fact = |n: u8| bits & 1 << n != 0;
        let [in_isr, in_elr, isr_is_empty, is_active] = [0, 1, 2, 3].map(fact);
        let candidate = Candidate { in_isr, in_elr, isr_is_empty, is_active };
        let member = in_isr || in_elr && isr_is_empty;
        assert_eq!(may_lead(candidate), member && is_active, "{candidate:?}");
    }
}

#[test]
fn a_cut_takes_every_entry_at_or_past_it() {
    for (cache, leo) in caches() {
        for to in 0..=leo {
            let cut = cut_cache(cache.clone(), to, leo);
            let kept: Vec<_> = cache.iter().copied().filter(|e| e.offset < to).collect();
            assert_eq!(cut, kept);
        }
    }
}

#[test]
fn no_rule_stands_twice_and_each_has_its_name() {
    let mut names = Rules::NAMES.to_vec();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Rules::NAMES.len());
    assert!(names.contains(&"fence") && names.len() > 40, "{names:?}");
}
