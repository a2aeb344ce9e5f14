//! Two brokers: processes die, machines lose power, sessions end, the leadership moves.

use klog_trace::Acks;
use klog_trace::property::Witness::{
    Acknowledged, AnsweredByAppend, BelowEpochStart, Coalesced, ElrElection, Error19, Error20,
    FrozenUnderMinIsr, IsrExpanded, IsrShrunk, LastMemberStands, RecordsLost, SameReElected,
    TwoRounds, UncleanLeavesElr,
};
use klog_trace::trace::{Bounds, Elr, Unclean};

use super::{PLAIN, Scenario, Suite, shows};

/// Every scenario of this kind.
#[expect(clippy::too_many_lines, reason = "a table: one row after another")]
pub fn scenarios() -> Vec<Scenario> {
    let all = || vec![Acks::All];
    vec![
        Scenario {
            name: "one-crash",
            sentence: "a process dies and the leadership moves once: KIP-101, scenario 1",
            bounds: Bounds { acks: all(), moves: 1, crashes: 1, ..PLAIN },
            witnesses: shows(&[], &[TwoRounds, SameReElected, Coalesced, LastMemberStands]),
            suite: Suite::Ci,
        },
        Scenario {
            name: "both-lose-power",
            sentence: "both machines lose power, one of them a committed record: KIP-101, \
                       scenario 2",
            bounds: Bounds { min_isr: 2, acks: vec![Acks::Leader], power_losses: 2, ..PLAIN },
            witnesses: shows(
                &[Acknowledged],
                &[
                    BelowEpochStart,
                    FrozenUnderMinIsr,
                    TwoRounds,
                    Coalesced,
                    UncleanLeavesElr,
                    RecordsLost,
                    LastMemberStands,
                    AnsweredByAppend,
                ],
            ),
            suite: Suite::Ci,
        },
        Scenario {
            name: "power-loss",
            sentence: "a machine loses power with an unflushed log end, and the leadership moves",
            bounds: Bounds { min_isr: 2, acks: all(), power_losses: 1, moves: 1, ..PLAIN },
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
                    UncleanLeavesElr,
                    RecordsLost,
                    LastMemberStands,
                ],
            ),
            suite: Suite::Ci,
        },
        Scenario {
            name: "last-replica",
            sentence: "the last member of the ISR loses power after another one died",
            bounds: Bounds {
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
            name: "fast-failover",
            sentence: "the leadership moves away and back before anyone notices: KIP-279",
            bounds: Bounds { acks: all(), moves: 2, ..PLAIN },
            witnesses: shows(&[IsrShrunk, IsrExpanded], &[TwoRounds, SameReElected, Coalesced]),
            suite: Suite::Ci,
        },
        Scenario {
            name: "fenced",
            sentence: "a broker that runs loses its session, and the leadership moves",
            bounds: Bounds { acks: all(), fences: 1, moves: 1, ..PLAIN },
            witnesses: shows(&[], &[TwoRounds, SameReElected, Coalesced]),
            suite: Suite::Ci,
        },
        Scenario {
            name: "shutdown",
            sentence: "a broker shuts down in order, and a machine loses power",
            bounds: Bounds {
                min_isr: 2,
                records: 1,
                acks: all(),
                shutdowns: 1,
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
                    ElrElection,
                    UncleanLeavesElr,
                    RecordsLost,
                    LastMemberStands,
                ],
            ),
            suite: Suite::Ci,
        },
        Scenario {
            name: "no-elr",
            sentence: "without eligible leader replicas: a process dies, and a session expires",
            bounds: Bounds {
                min_isr: 2,
                records: 1,
                acks: all(),
                crashes: 1,
                fences: 1,
                elr: Elr::Off,
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
                    SameReElected,
                    Coalesced,
                    LastMemberStands,
                ],
            ),
            suite: Suite::Ci,
        },
        Scenario {
            name: "unclean",
            sentence: "unclean elections are allowed; a process dies and a machine loses power",
            bounds: Bounds {
                min_isr: 2,
                records: 1,
                acks: all(),
                crashes: 1,
                power_losses: 1,
                unclean: Unclean::Allowed,
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
            name: "checkpoint",
            sentence: "a machine loses power with a checkpoint of more than is left of its log",
            bounds: Bounds { acks: all(), power_losses: 1, checkpoints: 1, ..PLAIN },
            witnesses: shows(&[], &[RecordsLost, LastMemberStands]),
            suite: Suite::Ci,
        },
        Scenario {
            name: "three-records",
            sentence: "a process dies after a part of what it had cut off was written over",
            bounds: Bounds { records: 3, acks: all(), moves: 1, crashes: 1, ..PLAIN },
            witnesses: shows(&[], &[TwoRounds, SameReElected, Coalesced, LastMemberStands]),
            suite: Suite::Ci,
        },
    ]
}
