//! Faults of retries and idempotent producers.

use super::{Case, How};

/// The cases of this part.
pub const CASES: &[Case] = &[
    Case {
        code: "B90",
        title: "a producer's state changes before an append that then fails",
        report: "KAFKA-6683",
        how: How::NotHere {
            why: "there are no idempotent producers: an append changes nothing beside the log",
            nearest: "impl/src/log/tests/suite.rs::a_refused_batch_writes_nothing",
        },
    },
    Case {
        code: "B91",
        title: "a follower without a producer's state refuses the leader's batches for ever",
        report: "KAFKA-6003",
        how: How::NotHere {
            why: "there are no idempotent producers: a follower looks at offsets and epochs only",
            nearest: "impl/src/log/tests/suite.rs::a_follower_takes_the_leaders_bytes_as_they_are",
        },
    },
    Case {
        code: "B92",
        title: "the retry of a failed write is taken for a duplicate and dropped",
        report: "Pulsar #5218",
        how: How::NotHere {
            why: "there are no idempotent producers: a retry is a new record",
            nearest: "check-min-isr-not-before-append",
        },
    },
    Case {
        code: "B94",
        title: "a sequence that nobody can judge is called a fatal gap",
        report: "KAFKA-7298, KAFKA-5793, KAFKA-14920",
        how: How::NotHere {
            why: "there are no idempotent producers: nobody looks at sequences",
            nearest: "B92",
        },
    },
];
