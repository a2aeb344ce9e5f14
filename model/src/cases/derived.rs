//! Faults that this project derived from Kafka's rules; no public report of them was found.

use super::{Case, How};
use crate::fault::Fault;

/// The cases of this part.
pub const CASES: &[Case] = &[
    Case {
        code: "X1",
        title: "a leader elected again counts what followers had before they cut their logs",
        report: "none found",
        how: How::Fault(Fault::KeepFollowerLeoOnReElection),
    },
    Case {
        code: "X2",
        title: "metadata that tells nothing new cancels a newer proposal under way",
        report: "none found",
        how: How::Fault(Fault::EqualPartitionEpochCancels),
    },
    Case {
        code: "X3",
        title: "the minimum grows while a shrink is under way, and one broker commits alone",
        report: "none found",
        how: How::Fault(Fault::MinIsrChangeWithoutEpoch),
    },
    Case {
        code: "X4",
        title: "a proposal is refused, and the high watermark is not tried for those who wait",
        report: "none found",
        how: How::Fault(Fault::NoHwAfterRevert),
    },
    Case {
        code: "X5",
        title: "a broker's state changes, and the high watermark is not tried for those who wait",
        report: "none found",
        how: How::Fault(Fault::NoHwOnEligibilityChange),
    },
    Case {
        code: "X6",
        title: "a proposal that was refused is accepted by an earlier try of it that came late",
        report: "none found",
        how: How::Fault(Fault::RefusalWithoutEpoch),
    },
];
