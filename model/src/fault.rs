//! The known ways to break the protocol, each by replacing one rule.
//!
//! To add a fault: a variant here with its row in [`Fault::info`] (the compiler asks for it),
//! naming the rule it replaces and the scenario and property that catch it.

use klog_trace::EpochStart;
use klog_trace::property::Property;

use crate::rules::{IsrChange, LogFate, Rules};

/// One broken rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// A follower cuts its log at its own high watermark (KIP-101).
    TruncateToHw,
    /// The end of an epoch is where any later epoch starts (KIP-279).
    EpochLookupExact,
    /// Fetches are served whatever leader epoch they know (KIP-320).
    UnfencedFetch,
    /// Answers are matched by offset alone (KAFKA-18991).
    UnfencedFetchReply,
    /// The high watermark moves though the ISR is under its minimum (KAFKA-15583).
    HwUnderMinIsr,
    /// The last member of the ISR is never removed, whatever it lost (KIP-966).
    LastReplicaStanding,
    /// A broker that may have lost its log's end keeps its place (KAFKA-18635).
    UncleanCountsAsClean,
}

/// What there is to say of a fault.
#[derive(Clone, Copy, Debug)]
pub struct FaultInfo {
    /// The name on the command line.
    pub name: &'static str,
    /// The public report it stands for.
    pub report: &'static str,
    /// The rule it breaks.
    pub rule: &'static str,
    /// One sentence.
    pub sentence: &'static str,
    /// Puts the broken decision in place of the right one.
    pub replace: fn(&mut Rules),
    /// The scenario that catches it, and the property that breaks there.
    pub caught_by: (&'static str, Property),
    /// Name of the recorded trace that shows it.
    pub trace: &'static str,
}

impl Fault {
    /// Every fault.
    pub const ALL: [Fault; 7] = [
        Fault::TruncateToHw,
        Fault::EpochLookupExact,
        Fault::UnfencedFetch,
        Fault::UnfencedFetchReply,
        Fault::HwUnderMinIsr,
        Fault::LastReplicaStanding,
        Fault::UncleanCountsAsClean,
    ];

    /// The fault with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.info().name == name)
    }

    /// What there is to say of it.
    #[expect(clippy::too_many_lines, reason = "a table: one row after another")]
    pub fn info(self) -> FaultInfo {
        match self {
            Self::TruncateToHw => FaultInfo {
                name: "truncate-to-hw",
                report: "KIP-101, KAFKA-1211 (B01, B02)",
                rule: "F5, M4",
                sentence: "a follower cuts its log at its own high watermark, which lags",
                replace: |rules| {
                    rules.cut_on_following = |leo, hw| leo.min(hw);
                    // No leader compares epochs, so none can say where logs diverge.
                    rules.diverging = |_, _, _| Ok(None);
                },
                caught_by: ("one-crash", Property::CommittedSurvives),
                trace: "kip101-scenario-1",
            },
            Self::EpochLookupExact => FaultInfo {
                name: "epoch-lookup-exact",
                report: "KIP-279, KAFKA-6361 (B03)",
                rule: "epoch look-up",
                sentence: "the leader answers where the first later epoch starts, though it \
                           may never have known the asked one",
                replace: |rules| rules.epoch_end = epoch_end_exact,
                caught_by: ("fast-failover", Property::LogsMatch),
                trace: "kip279-a-b-a",
            },
            Self::UnfencedFetch => FaultInfo {
                name: "unfenced-fetch",
                report: "KIP-320, KAFKA-6880 (B04)",
                rule: "F1",
                sentence: "a leader serves, and counts, a fetch made in another epoch",
                replace: |rules| rules.fence = |_, _| None,
                caught_by: ("stale-fetch", Property::CommittedSurvives),
                trace: "unfenced-fetch",
            },
            Self::UnfencedFetchReply => FaultInfo {
                name: "unfenced-fetch-reply",
                report: "KAFKA-18991 (B07)",
                rule: "Q2",
                sentence: "a follower takes any answer whose offset is its log end",
                replace: |rules| rules.answer_is_mine = |of, mine| of.offset == mine.offset,
                caught_by: ("zombie", Property::EpochsOrdered),
                trace: "unfenced-fetch-reply",
            },
            Self::HwUnderMinIsr => FaultInfo {
                name: "hw-under-min-isr",
                report: "KAFKA-15583 (B55)",
                rule: "H1",
                sentence: "acks=1 records become readable though the ISR is under its minimum",
                replace: |rules| rules.hw_may_move = |_, _| true,
                caught_by: ("under-min-isr", Property::CommittedSurvives),
                trace: "hw-under-min-isr",
            },
            Self::LastReplicaStanding => FaultInfo {
                name: "last-replica-standing-without-elr",
                report: "KIP-966 (B54)",
                rule: "B7, Z1, Z2",
                sentence: "the last member stays in the ISR and is elected, whatever it lost",
                replace: |rules| rules.eligible_after = |_: IsrChange<'_>| None,
                caught_by: ("last-replica", Property::CommittedSurvives),
                trace: "last-replica-standing",
            },
            Self::UncleanCountsAsClean => FaultInfo {
                name: "unclean-counts-as-clean",
                report: "KAFKA-18635 (B56, B79)",
                rule: "B2",
                sentence: "a broker that lost its log's end stays in the ISR",
                replace: |rules| rules.keeps_place = |_: LogFate| true,
                caught_by: ("power-loss", Property::CommittedSurvives),
                trace: "unclean-counts-as-clean",
            },
        }
    }
}

/// KIP-101's answer before KIP-279: the asked epoch itself, ending where the first later one
/// starts.
fn epoch_end_exact(cache: &[EpochStart], leo: u8, asked: u8) -> Option<EpochStart> {
    let latest = cache.last()?.epoch;
    if asked >= latest {
        return (asked == latest).then_some(EpochStart { epoch: asked, offset: leo });
    }
    let next = cache.iter().find(|e| e.epoch > asked)?;
    Some(EpochStart { epoch: asked, offset: next.offset })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for fault in Fault::ALL {
            assert_eq!(Fault::by_name(fault.info().name), Some(fault));
        }
        assert_eq!(Fault::by_name("none"), None);
    }
}
