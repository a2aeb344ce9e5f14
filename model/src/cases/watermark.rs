//! Faults of the high watermark and of what clients see.

use super::{Case, How};
use crate::fault::Fault;

/// The cases of this part.
pub const CASES: &[Case] = &[
    Case {
        code: "B64",
        title: "an unknown follower takes the leader's high watermark back",
        report: "KAFKA-3978",
        how: How::Fault(Fault::HwGoesBack),
    },
    Case {
        code: "B65",
        title: "the checkpoint is rewritten without a partition, which later empties itself",
        report: "KAFKA-1647",
        how: How::Test(
            "impl/src/node/tests.rs::\
             b65_a_checkpoint_written_while_nobody_leads_keeps_the_watermark",
        ),
    },
    Case {
        code: "B66",
        title: "the end of the log that consumers are told goes back after an election",
        report: "KAFKA-2334, KIP-207",
        how: How::Fault(Fault::EndOffsetBelowEpochStart),
    },
    Case {
        code: "B67",
        title: "the high watermark lies in an older segment, and reads of the next have no end",
        report: "KAFKA-9196",
        how: How::Fault(Fault::ServeConsumerPastHw),
    },
    Case {
        code: "B68",
        title: "a growing file is measured twice, and a consumer reads what is not committed",
        report: "KAFKA-9835",
        how: How::Fault(Fault::ServeConsumerPastHw),
    },
    Case {
        code: "B69",
        title: "one fetch reads the high watermark twice, and a cut comes between",
        report: "KAFKA-9807, KAFKA-9838",
        how: How::NotHere {
            why: "there are no transactions, and one step reads the high watermark once",
            nearest: "serve-consumer-past-hw",
        },
    },
    Case {
        code: "B70",
        title: "a write that was cut off is acknowledged when another record gets to its offset",
        report: "KAFKA-20634",
        how: How::Fault(Fault::AcknowledgeByFollowerHw),
    },
    Case {
        code: "B72",
        title: "a consumer between high watermark and log end gets an error instead of nothing",
        report: "KAFKA-725, KAFKA-14255",
        how: How::Test(
            "impl/src/replica/tests/leader.rs::\
             a_consumer_reads_what_is_committed_and_a_follower_all",
        ),
    },
    Case {
        code: "B73",
        title: "a restart ends its index at the confirmed offset, and gives later ones out twice",
        report: "RocketMQ #6609, RocketMQ #7689",
        how: How::Test(
            "impl/src/log/tests/histories.rs::\
             every_history_of_three_steps_is_the_twins_in_a_directory",
        ),
    },
];
