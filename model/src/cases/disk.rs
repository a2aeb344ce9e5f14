//! Faults of storage: power losses, torn tails, segments.

use super::{Case, How};
use crate::fault::Fault;

/// The cases of this part.
pub const CASES: &[Case] = &[
    Case {
        code: "B74",
        title: "a crash during the start leaves the mark of a clean shutdown on a dirty log",
        report: "KAFKA-10471",
        how: How::Test(
            "impl/src/node/tests/shutdown.rs::\
             a_crash_leaves_nothing_and_a_start_leaves_no_marker_of_another",
        ),
    },
    Case {
        code: "B75",
        title: "a recovery takes for flushed what it has only read",
        report: "KAFKA-10101",
        how: How::Test(
            "impl/src/log/tests/histories.rs::\
             every_history_of_four_steps_is_the_twins_in_many_segments",
        ),
    },
    Case {
        code: "B76",
        title: "a flushed file is gone after a power loss, for its name was not durable",
        report: "KAFKA-3968, KAFKA-1539",
        how: How::Test(
            "impl/src/log/tests/faults.rs::an_append_leaves_whole_batches_wherever_it_breaks",
        ),
    },
    Case {
        code: "B77",
        title: "records that were cut off are back after a crash",
        report: "RocketMQ #10666, RocketMQ #10816",
        how: How::Fault(Fault::TruncationNotDurable),
    },
    Case {
        code: "B78",
        title: "a new primary that lacks a committed operation drops it and reuses its number",
        report: "Iggy #3946, Iggy #3824",
        how: How::Fault(Fault::ElectOutsideIsr),
    },
    Case {
        code: "B79",
        title: "a server that lost power too briefly to be missed stays in the ISR",
        report: "Fluss #671, Fluss #662",
        how: How::Fault(Fault::ResumeEpochAfterRestart),
    },
    Case {
        code: "B80",
        title: "a torn last record keeps the server from starting",
        report: "Fluss #2941, Fluss #3009, etcd #6515, etcd #5230",
        how: How::Test(
            "impl/src/log/tests/recovery.rs::a_tail_cut_at_every_byte_is_cut_in_a_directory",
        ),
    },
    Case {
        code: "B81",
        title: "a follower acknowledges records that it has not flushed",
        report: "KAFKA-10533",
        how: How::NotHere {
            why: "what is written counts, as in Kafka; who may have lost some leaves ISR and ELR",
            nearest: "unclean-counts-as-clean",
        },
    },
    Case {
        code: "B83",
        title: "after a failed write the next one succeeds and leaves a hole",
        report: "KAFKA-10778",
        how: How::Test("impl/src/log/tests/faults.rs::a_full_disk_leaves_no_hole"),
    },
    Case {
        code: "B86",
        title: "acknowledged writes wait to be flushed, and a short loss of power takes them",
        report: "NATS #7564, NATS #7567",
        how: How::Fault(Fault::ResumeEpochAfterRestart),
    },
    Case {
        code: "B87",
        title: "a cut at the start of a segment leaves a second one of its name, or a bad index",
        report: "KAFKA-19407, KAFKA-6492, KAFKA-12153",
        how: How::Test("impl/src/log/tests/suite.rs::truncation_works_at_every_offset"),
    },
    Case {
        code: "B89",
        title: "one flipped bit takes all records behind it away, and nobody is told",
        report: "NATS #7549",
        how: How::Test(
            "impl/src/log/tests/recovery.rs::every_flipped_bit_in_the_middle_is_an_error_in_memory",
        ),
    },
];
