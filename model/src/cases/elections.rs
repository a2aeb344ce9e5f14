//! Faults of elections, eligible replicas and unclean restarts.

use super::{Case, How};
use crate::fault::Fault;

/// The cases of this part.
pub const CASES: &[Case] = &[
    Case {
        code: "B54",
        title: "the last replica standing loses the end of its log and is elected all the same",
        report: "KIP-966",
        how: How::Fault(Fault::LastReplicaStanding),
    },
    Case {
        code: "B55",
        title: "acks=1 writes become readable under the minimum; an eligible replica lacks them",
        report: "KAFKA-15583, KIP-966",
        how: How::Fault(Fault::HwUnderMinIsr),
    },
    Case {
        code: "B56",
        title: "an unclean restart is no longer told from a clean one",
        report: "KAFKA-18635",
        how: How::Fault(Fault::UncleanCountsAsClean),
    },
    Case {
        code: "B58",
        title: "the minimum is lowered, and who was eligible under the old one still is",
        report: "KAFKA-16540",
        how: How::Fault(Fault::ElrKeptOnMinIsrChange),
    },
    Case {
        code: "B59",
        title: "the last member leaves, and the ISR is written empty",
        report: "KAFKA-708, KAFKA-1097, KAFKA-1170",
        how: How::Fault(Fault::IsrWrittenEmpty),
    },
    Case {
        code: "B60",
        title: "a node that forgot an entry says it never had it, and the ledger is closed without",
        report: "BookKeeper BP-44",
        how: How::NotHere {
            why: "no reader closes a log by what replicas lack: one leader says what is in it",
            nearest: "unclean-counts-as-clean",
        },
    },
    Case {
        code: "B61",
        title: "a recovering replica helps to choose a leader, though its promises may be lost",
        report: "tapir #15",
        how: How::Fault(Fault::UncleanCountsAsClean),
    },
    Case {
        code: "B62",
        title: "a replica with a wiped disk helps one to lead that lacks committed records",
        report: "NATS #7038",
        how: How::Fault(Fault::StaleBrokerEpochRejoins),
    },
];
