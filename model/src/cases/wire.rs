//! Faults of clocks and of what comes over the wire.

use super::{Case, How};

/// The cases of this part.
pub const CASES: &[Case] = &[
    Case {
        code: "B108",
        title: "a clock that jumps back keeps a lease fresh, or one who lags",
        report: "tikv #964, nebula #2723, hashicorp/raft #108, d-engine #158",
        how: How::Test(
            "impl/src/replica/tests/leader.rs::a_clock_that_jumps_back_keeps_no_one_in_sync",
        ),
    },
    Case {
        code: "B109",
        title: "memory is reserved by a count from the wire before its bytes are there",
        report: "KAFKA-2878, kafka-protocol-rs #152, kafka-go #1439, ydb #50358, mockforge #752",
        how: How::Test(
            "impl/src/wire/tests/hostile.rs::\
             the_bytes_of_b109_and_their_kind_are_refused_wherever_they_stand",
        ),
    },
    Case {
        code: "B111",
        title: "a follower appends damaged records, or stops fetching everything for their sake",
        report: "KAFKA-8722, KAFKA-4384",
        how: How::Test(
            "impl/src/node/tests.rs::damaged_records_are_not_appended_and_are_asked_for_again",
        ),
    },
];
