//! Large scenarios: two brokers with much that goes wrong, three brokers with a little of each.

use klog_trace::Acks;
use klog_trace::property::Witness::{
    self, BelowEpochStart, Coalesced, ElrElection, Error19, Error20, FrozenUnderMinIsr,
    LastMemberStands, RecordsLost, RoundBehind, SameReElected, TwoRounds, UncleanLeavesElr,
    WaitedFor,
};
use klog_trace::trace::{Bounds, Clock, Elr, Flush, Unclean};

use super::{PLAIN, Scenario, Suite, shows};

/// Every scenario of this kind.
pub fn scenarios() -> Vec<Scenario> {
    [two_brokers(), three_brokers()].concat()
}

/// What all of these scenarios show beside the usual whose ISR can be under its minimum.
const UNDER_MIN: &[Witness] =
    &[Error19, Error20, BelowEpochStart, FrozenUnderMinIsr, TwoRounds, Coalesced];

fn deep(
    name: &'static str,
    sentence: &'static str,
    mut bounds: Bounds,
    more: &[&[Witness]],
) -> Scenario {
    bounds.acks = vec![Acks::All];
    let witnesses = shows(&[], &more.concat());
    Scenario { name, sentence, bounds, witnesses, suite: Suite::Deep }
}

#[expect(clippy::too_many_lines, reason = "a table: one row after another")]
fn two_brokers() -> Vec<Scenario> {
    let four_epochs = Bounds { min_isr: 2, leader_epochs: 4, ..PLAIN };
    vec![
        deep(
            "deep-lives",
            "two processes die and a machine loses power: four leader epochs",
            Bounds { crashes: 2, power_losses: 1, ..four_epochs.clone() },
            &[UNDER_MIN, &[UncleanLeavesElr, RecordsLost, LastMemberStands]],
        ),
        deep(
            "deep-sessions",
            "two power losses and two sessions that expire: four leader epochs",
            Bounds { records: 1, power_losses: 2, fences: 2, ..four_epochs.clone() },
            &[
                UNDER_MIN,
                &[UncleanLeavesElr, RecordsLost, LastMemberStands, ElrElection, SameReElected],
            ],
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
            &[UNDER_MIN, &[SameReElected, LastMemberStands]],
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
            &[
                UNDER_MIN,
                &[UncleanLeavesElr, RecordsLost, LastMemberStands, ElrElection, SameReElected],
            ],
        ),
        deep(
            "deep-clock",
            "an exact clock jumps; a process dies, and a session expires",
            Bounds { crashes: 1, fences: 1, clock: Clock::Exact, clock_jumps: 1, ..PLAIN },
            &[&[
                TwoRounds,
                SameReElected,
                Coalesced,
                ElrElection,
                UncleanLeavesElr,
                LastMemberStands,
                RoundBehind,
                WaitedFor,
            ]],
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
            &[UNDER_MIN, &[UncleanLeavesElr]],
        ),
        deep(
            "deep-power-fence",
            "three brokers, two records: a machine loses power, and a session expires",
            Bounds { power_losses: 1, fences: 1, ..three },
            &[UNDER_MIN, &[UncleanLeavesElr, RecordsLost]],
        ),
        deep(
            "deep-crash-power",
            "three brokers, two records: a process dies, and a machine loses power",
            Bounds { crashes: 1, power_losses: 1, ..three_epochs.clone() },
            &[UNDER_MIN, &[UncleanLeavesElr, RecordsLost, LastMemberStands]],
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
            &[UNDER_MIN, &[UncleanLeavesElr, RecordsLost, LastMemberStands, ElrElection]],
        ),
        Scenario {
            suite: Suite::DeepTo(15),
            ..deep(
                "deep-all",
                "three brokers, two records: a crash, a power loss, a fence, and a follower lags",
                Bounds { crashes: 1, power_losses: 1, fences: 1, lag_checks: 1, ..three_epochs },
                &[
                    UNDER_MIN,
                    &[UncleanLeavesElr, RecordsLost, LastMemberStands, ElrElection, SameReElected],
                ],
            )
        },
    ]
}
