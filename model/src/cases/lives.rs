//! Faults of brokers that come back as another life.

use super::{Case, How};
use crate::fault::Fault;

/// The cases of this part.
pub const CASES: &[Case] = &[
    Case {
        code: "B47",
        title: "a broker that lost its disk enters the ISR by a proposal for its former life",
        report: "KAFKA-14139, KAFKA-14617, KIP-903",
        how: How::Fault(Fault::StaleBrokerEpochRejoins),
    },
    Case {
        code: "B48",
        title: "whether a follower may join is read piece by piece, from two of its lives",
        report: "KAFKA-15221",
        how: How::Fault(Fault::EligibilityInTwoReads),
    },
    Case {
        code: "B49",
        title: "a fenced broker that goes on fetching is let into the ISR",
        report: "KAFKA-13916, KIP-841",
        how: How::Fault(Fault::JoinWhileFenced),
    },
    Case {
        code: "B50",
        title: "a restarted broker acts on an order that was meant for its former life",
        report: "KIP-380, KAFKA-9839, KAFKA-9539",
        how: How::Fault(Fault::ResumeEpochAfterRestart),
    },
    Case {
        code: "B51",
        title: "the leadership moves away and back at once, and the leader keeps its old epoch",
        report: "AutoMQ #1187",
        how: How::Fault(Fault::NoEpochBumpOnReElection),
    },
    Case {
        code: "B52",
        title: "a stray connection claims an offset beyond the log, and it counts as replicated",
        report: "RocketMQ #3015",
        how: How::Fault(Fault::OutOfRangeCountsAsAck),
    },
];
