//! Three brokers.

use klog_trace::Acks;
use klog_trace::property::Witness::{
    AnsweredByAppend, BelowEpochStart, Coalesced, ElrElection, Error19, Error20, FrozenUnderMinIsr,
    IsrExpanded, IsrShrunk, LastMemberStands, RecordsLost, SameReElected, TwoRounds,
    UncleanLeavesElr,
};
use klog_trace::trace::Bounds;

use super::{PLAIN, Scenario, Suite, shows};

/// Every scenario of this kind.
#[expect(clippy::too_many_lines, reason = "a table: one row after another")]
pub fn scenarios() -> Vec<Scenario> {
    let all = || vec![Acks::All];
    let both = || vec![Acks::Leader, Acks::All];
    vec![
        Scenario {
            name: "zombie",
            sentence: "three brokers, and a fetch of an old reign is still under way",
            bounds: Bounds { brokers: 3, acks: all(), moves: 2, ..PLAIN },
            witnesses: shows(&[IsrShrunk, IsrExpanded], &[TwoRounds, SameReElected, Coalesced]),
            suite: Suite::Ci,
        },
        Scenario {
            name: "stale-fetch",
            sentence: "three brokers, and the leadership moves three times past an old fetch",
            bounds: Bounds { brokers: 3, records: 1, acks: all(), moves: 3, ..PLAIN },
            witnesses: shows(&[IsrShrunk, IsrExpanded], &[TwoRounds, SameReElected, Coalesced]),
            suite: Suite::Ci,
        },
        Scenario {
            name: "three-brokers",
            sentence: "three brokers, two records, three leader epochs, one crash, minimum two",
            bounds: Bounds { brokers: 3, min_isr: 2, acks: all(), moves: 1, crashes: 1, ..PLAIN },
            witnesses: shows(&[], &[BelowEpochStart, TwoRounds, SameReElected, Coalesced]),
            suite: Suite::Ci,
        },
        Scenario {
            name: "re-elected",
            sentence: "three brokers; the leadership moves, and its new leader loses its session",
            bounds: Bounds {
                brokers: 3,
                min_isr: 2,
                records: 1,
                acks: all(),
                moves: 1,
                fences: 1,
                ..PLAIN
            },
            witnesses: shows(&[], &[BelowEpochStart, TwoRounds, SameReElected, Coalesced]),
            suite: Suite::Ci,
        },
        Scenario {
            name: "three-lag",
            sentence: "three brokers; followers lag, and the leadership moves",
            bounds: Bounds {
                brokers: 3,
                records: 1,
                acks: all(),
                moves: 1,
                lag_checks: 1,
                ..PLAIN
            },
            witnesses: shows(&[], &[BelowEpochStart]),
            suite: Suite::Ci,
        },
        Scenario {
            name: "three-under-min",
            sentence: "three brokers; followers lag, and acks=1 writes go on under the minimum",
            bounds: Bounds {
                brokers: 3,
                min_isr: 2,
                records: 1,
                acks: both(),
                lag_checks: 1,
                fences: 1,
                ..PLAIN
            },
            witnesses: shows(
                &[],
                &[
                    Error19,
                    Error20,
                    BelowEpochStart,
                    FrozenUnderMinIsr,
                    ElrElection,
                    AnsweredByAppend,
                ],
            ),
            suite: Suite::Ci,
        },
        Scenario {
            name: "three-power",
            sentence: "three brokers; a process dies and a machine loses power",
            bounds: Bounds {
                brokers: 3,
                min_isr: 2,
                records: 1,
                acks: all(),
                crashes: 1,
                power_losses: 1,
                ..PLAIN
            },
            witnesses: shows(
                &[],
                &[
                    Error19,
                    Error20,
                    BelowEpochStart,
                    FrozenUnderMinIsr,
                    TwoRounds,
                    Coalesced,
                    UncleanLeavesElr,
                    RecordsLost,
                    LastMemberStands,
                ],
            ),
            suite: Suite::Ci,
        },
        Scenario {
            name: "big",
            sentence: "three-brokers with a record and a move more: more than a hundred million \
                       states",
            bounds: Bounds {
                brokers: 3,
                min_isr: 2,
                records: 3,
                acks: all(),
                moves: 2,
                crashes: 1,
                ..PLAIN
            },
            witnesses: Vec::new(),
            suite: Suite::None,
        },
    ]
}
