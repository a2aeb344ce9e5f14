//! Two brokers: followers lag, proposals get lost, the minimum changes.

use klog_trace::Acks;
use klog_trace::property::Witness::{
    AnsweredByAppend, BelowEpochStart, Coalesced, Diverging, ElrElection, Error19, Error20, Fenced,
    FrozenUnderMinIsr, LastMemberStands, RecordsLost, RoundBehind, SameReElected, TimedOut,
    Truncation, TwoRounds, UncleanLeavesElr, UnknownEpoch, WaitedFor,
};
use klog_trace::trace::{Bounds, Clock};

use super::{PLAIN, Scenario, Suite, shows};

/// Every scenario of this kind.
#[expect(clippy::too_many_lines, reason = "a table: one row after another")]
pub fn scenarios() -> Vec<Scenario> {
    let all = || vec![Acks::All];
    let both = || vec![Acks::Leader, Acks::All];
    vec![
        Scenario {
            name: "lag",
            sentence: "followers lag, leave the ISR and come back; the minimum is two",
            bounds: Bounds { min_isr: 2, acks: both(), lag_checks: 1, moves: 1, ..PLAIN },
            witnesses: shows(&[], &[Error19, Error20, FrozenUnderMinIsr, AnsweredByAppend]),
            suite: Suite::Ci,
        },
        Scenario {
            name: "under-min-isr",
            sentence: "a process dies, a follower lags, and acks=1 writes go on",
            bounds: Bounds { min_isr: 2, acks: both(), lag_checks: 1, crashes: 1, ..PLAIN },
            witnesses: shows(
                &[],
                &[
                    Error19,
                    Error20,
                    FrozenUnderMinIsr,
                    ElrElection,
                    UncleanLeavesElr,
                    LastMemberStands,
                    AnsweredByAppend,
                ],
            ),
            suite: Suite::Ci,
        },
        Scenario {
            name: "isr-race",
            sentence: "proposals and answers get lost with their connection, and a session expires",
            bounds: Bounds {
                min_isr: 1,
                records: 1,
                acks: all(),
                lag_checks: 1,
                fences: 1,
                resets: 1,
                ..PLAIN
            },
            witnesses: shows(&[], &[TwoRounds, SameReElected, Coalesced, ElrElection]),
            suite: Suite::Ci,
        },
        Scenario {
            name: "min-isr",
            sentence: "the minimum changes from one while proposals are under way",
            bounds: Bounds {
                records: 1,
                acks: all(),
                lag_checks: 1,
                fences: 1,
                min_isr_changes: 1,
                ..PLAIN
            },
            witnesses: shows(
                &[],
                &[
                    Error19,
                    Error20,
                    BelowEpochStart,
                    FrozenUnderMinIsr,
                    SameReElected,
                    Coalesced,
                    ElrElection,
                ],
            ),
            suite: Suite::Ci,
        },
        Scenario {
            name: "min-isr-of-two",
            sentence: "the minimum changes from two, with a broker in the ELR",
            bounds: Bounds {
                min_isr: 2,
                records: 1,
                acks: all(),
                lag_checks: 1,
                fences: 1,
                min_isr_changes: 1,
                ..PLAIN
            },
            witnesses: shows(
                &[],
                &[Error19, Error20, FrozenUnderMinIsr, SameReElected, Coalesced, ElrElection],
            ),
            suite: Suite::Ci,
        },
        Scenario {
            name: "reset",
            sentence: "a connection breaks, a follower lags, and a machine loses power",
            bounds: Bounds {
                records: 1,
                acks: all(),
                lag_checks: 1,
                power_losses: 1,
                resets: 1,
                ..PLAIN
            },
            witnesses: shows(
                &[],
                &[TwoRounds, Coalesced, UncleanLeavesElr, RecordsLost, LastMemberStands],
            ),
            suite: Suite::Ci,
        },
        Scenario {
            name: "elr",
            sentence: "everybody leaves the ISR: a process dies and a session expires",
            bounds: Bounds { min_isr: 2, records: 1, acks: all(), crashes: 1, fences: 1, ..PLAIN },
            witnesses: shows(
                &[],
                &[
                    Error19,
                    Error20,
                    BelowEpochStart,
                    FrozenUnderMinIsr,
                    TwoRounds,
                    SameReElected,
                    Coalesced,
                    ElrElection,
                    UncleanLeavesElr,
                    LastMemberStands,
                ],
            ),
            suite: Suite::Ci,
        },
        Scenario {
            name: "exact-clock",
            sentence: "the clock stands still, a process dies, and a session expires",
            bounds: Bounds {
                records: 1,
                acks: all(),
                crashes: 1,
                fences: 1,
                clock: Clock::Exact,
                ..PLAIN
            },
            witnesses: shows(
                &[],
                &[
                    TwoRounds,
                    SameReElected,
                    Coalesced,
                    ElrElection,
                    UncleanLeavesElr,
                    LastMemberStands,
                    WaitedFor,
                ],
            ),
            suite: Suite::Ci,
        },
        Scenario {
            name: "clock-jump",
            sentence: "an exact clock jumps past the lag limit and is set back; a process dies",
            bounds: Bounds {
                records: 1,
                acks: all(),
                crashes: 1,
                clock: Clock::Exact,
                clock_jumps: 1,
                clock_setbacks: 1,
                ..PLAIN
            },
            witnesses: shows(&[], &[Coalesced, UncleanLeavesElr, LastMemberStands, WaitedFor]),
            suite: Suite::Ci,
        },
        Scenario {
            name: "round-behind",
            sentence: "an exact clock jumps, and a follower asks for what was the log end before",
            bounds: Bounds { acks: all(), clock: Clock::Exact, clock_jumps: 1, ..PLAIN },
            witnesses: shows(
                &[Truncation, Diverging, Fenced, UnknownEpoch],
                &[RoundBehind, WaitedFor],
            ),
            suite: Suite::Ci,
        },
        Scenario {
            name: "timeout",
            sentence: "a produce waits too long, and the follower lags",
            bounds: Bounds { min_isr: 2, acks: all(), lag_checks: 1, timeouts: 1, ..PLAIN },
            witnesses: shows(
                &[Truncation, Diverging, Fenced, UnknownEpoch],
                &[Error19, Error20, TimedOut, FrozenUnderMinIsr],
            ),
            suite: Suite::Ci,
        },
    ]
}
