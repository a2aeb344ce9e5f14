//! Large scenarios: two brokers with much that goes wrong, three brokers with a little of each.

use klog_trace::Acks;
use klog_trace::property::Witness::{
    self, Acknowledged, BelowEpochStart, Coalesced, Diverging, ElrElection, Error19, Error20,
    Fenced, FrozenUnderMinIsr, IsrExpanded, IsrShrunk, LagOfOneRound, LastMemberStands,
    ReadToTheEnd, RecordsLost, RoundBehind, SameReElected, Truncation, TwoRounds, UncleanLeavesElr,
    UnknownEpoch, WaitedFor,
};
use klog_trace::trace::{Bounds, Clock, Elr, Flush, Unclean};

use super::{PLAIN, Scenario, Suite};

/// Every scenario of this kind.
pub fn scenarios() -> Vec<Scenario> {
    [two_brokers(), three_brokers()].concat()
}

/// What can be seen, from what nearly all of these scenarios show to what few do: most show the
/// first so many.
const SEEN: &[Witness] = &[
    Acknowledged,
    ReadToTheEnd,
    LagOfOneRound,
    Truncation,
    Error19,
    IsrShrunk,
    Diverging,
    Fenced,
    IsrExpanded,
    Error20,
    UnknownEpoch,
    BelowEpochStart,
    FrozenUnderMinIsr,
    TwoRounds,
    Coalesced,
    UncleanLeavesElr,
    RecordsLost,
    LastMemberStands,
    ElrElection,
    SameReElected,
];

/// What can be seen without an ELR.
const SEEN_WITHOUT_ELR: &[Witness] = &[
    Acknowledged,
    ReadToTheEnd,
    LagOfOneRound,
    Truncation,
    Error19,
    IsrShrunk,
    Diverging,
    Fenced,
    IsrExpanded,
    Error20,
    UnknownEpoch,
    BelowEpochStart,
    FrozenUnderMinIsr,
    TwoRounds,
    SameReElected,
    Coalesced,
    LastMemberStands,
];

/// What can be seen where no ISR is under its minimum.
const SEEN_ABOVE_MIN: &[Witness] = &[
    Acknowledged,
    ReadToTheEnd,
    LagOfOneRound,
    Truncation,
    IsrShrunk,
    Diverging,
    Fenced,
    IsrExpanded,
    UnknownEpoch,
    TwoRounds,
    SameReElected,
    Coalesced,
    ElrElection,
    UncleanLeavesElr,
    LastMemberStands,
    RoundBehind,
    WaitedFor,
];

fn deep(
    name: &'static str,
    sentence: &'static str,
    mut bounds: Bounds,
    witnesses: &'static [Witness],
) -> Scenario {
    bounds.acks = vec![Acks::All];
    Scenario { name, sentence, bounds, witnesses, suite: Suite::Deep }
}

fn two_brokers() -> Vec<Scenario> {
    let four_epochs = Bounds { min_isr: 2, leader_epochs: 4, ..PLAIN };
    vec![
        deep(
            "deep-lives",
            "two processes die and a machine loses power: four leader epochs",
            Bounds { crashes: 2, power_losses: 1, ..four_epochs.clone() },
            &SEEN[..18],
        ),
        deep(
            "deep-sessions",
            "two power losses and two sessions that expire: four leader epochs",
            Bounds { records: 1, power_losses: 2, fences: 2, ..four_epochs.clone() },
            SEEN,
        ),
        deep(
            "deep-no-elr",
            "without eligible leader replicas: three records, two crashes, a fence, a move",
            Bounds {
                records: 3,
                crashes: 2,
                fences: 1,
                moves: 1,
                elr: Elr::Off,
                ..four_epochs.clone()
            },
            SEEN_WITHOUT_ELR,
        ),
        deep(
            "deep-unclean",
            "unclean elections are allowed: a crash, a power loss, and a session expires",
            Bounds {
                crashes: 1,
                power_losses: 1,
                fences: 1,
                unclean: Unclean::Allowed,
                ..four_epochs
            },
            SEEN,
        ),
        deep(
            "deep-clock",
            "an exact clock jumps; a process dies, and a session expires",
            Bounds { crashes: 1, fences: 1, clock: Clock::Exact, clock_jumps: 1, ..PLAIN },
            SEEN_ABOVE_MIN,
        ),
    ]
}

fn three_brokers() -> Vec<Scenario> {
    let three = Bounds { brokers: 3, min_isr: 2, flush: Flush::NoneOrAll, ..PLAIN };
    let three_epochs = Bounds { leader_epochs: 3, ..three.clone() };
    vec![
        deep(
            "deep-crash-fence",
            "three brokers, two records: a process dies, and a session expires",
            Bounds { crashes: 1, fences: 1, ..three.clone() },
            &SEEN[..16],
        ),
        deep(
            "deep-power-fence",
            "three brokers, two records: a machine loses power, and a session expires",
            Bounds { power_losses: 1, fences: 1, ..three },
            &SEEN[..17],
        ),
        deep(
            "deep-crash-power",
            "three brokers, two records: a process dies, and a machine loses power",
            Bounds { crashes: 1, power_losses: 1, ..three_epochs.clone() },
            &SEEN[..18],
        ),
        deep(
            "deep-lag",
            "three brokers, one record: a crash, a power loss, and a follower lags",
            Bounds {
                records: 1,
                crashes: 1,
                power_losses: 1,
                lag_checks: 1,
                ..three_epochs.clone()
            },
            &SEEN[..19],
        ),
        Scenario {
            suite: Suite::DeepTo(15),
            ..deep(
                "deep-all",
                "three brokers, two records: a crash, a power loss, a fence, and a follower lags",
                Bounds { crashes: 1, power_losses: 1, fences: 1, lag_checks: 1, ..three_epochs },
                SEEN,
            )
        },
    ]
}
