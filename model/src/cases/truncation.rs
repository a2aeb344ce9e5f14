//! Faults of truncation, leader epochs and fencing.

use super::{Case, How};
use crate::fault::Fault;

/// The cases of this part.
pub const CASES: &[Case] = &[
    Case {
        code: "B01",
        title: "a restarted follower cuts a committed record at its lagging high watermark",
        report: "KAFKA-1211, KIP-101 scenario 1",
        how: How::Script("kip101-scenario-1-as-told"),
    },
    Case {
        code: "B02",
        title: "two machines lose power, and their high watermarks hide that the logs differ",
        report: "KIP-101 scenario 2",
        how: How::Script("kip101-scenario-2-as-told"),
    },
    Case {
        code: "B03",
        title: "an epoch the leader never knew is said to end above the point where the logs part",
        report: "KAFKA-6361, KIP-279",
        how: How::Script("kip279-as-told"),
    },
    Case {
        code: "B04",
        title: "a follower unaware of a newer epoch goes on at its old offset, and is served",
        report: "KAFKA-6880, KIP-320",
        how: How::Fault(Fault::UnfencedFetch),
    },
    Case {
        code: "B06",
        title: "without fencing, a fetch or an answer of an older epoch still counts",
        report: "Kip320FirstTry.tla",
        how: How::Fault(Fault::UnfencedFetchReply),
    },
    Case {
        code: "B07",
        title: "a late answer of a former epoch makes a follower cut committed records",
        report: "KAFKA-18991",
        how: How::Fault(Fault::UnfencedTruncation),
    },
    Case {
        code: "B08",
        title: "records of the next epoch slip into an answer that was made in the one before",
        report: "KAFKA-18723",
        how: How::Fault(Fault::AppendHigherEpochFromReply),
    },
    Case {
        code: "B10",
        title: "a cut that was decided before the partition changed hands is still carried out",
        report: "KAFKA-13207",
        how: How::Test(
            "impl/src/replica/tests/scenarios.rs::\
             b10_a_broker_that_leads_by_now_is_not_cut_by_a_late_answer",
        ),
    },
    Case {
        code: "B11",
        title: "the leader's high watermark is applied to a fork before the fork is cut",
        report: "KAFKA-14704",
        how: How::Fault(Fault::HwBeforeTruncation),
    },
    Case {
        code: "B13",
        title: "only the first fetch of a session is checked for its epoch",
        report: "KAFKA-9338",
        how: How::Fault(Fault::UnfencedFetch),
    },
    Case {
        code: "B14",
        title: "a fetch from a log that diverges is stored as the follower's log end",
        report: "KAFKA-13141",
        how: How::Fault(Fault::DivergingFetchCountsAsAck),
    },
    Case {
        code: "B15",
        title: "a read that failed overwrites what the leader knew of the follower",
        report: "KAFKA-8400",
        how: How::Fault(Fault::FailedReadUpdatesProgress),
    },
    Case {
        code: "B16",
        title: "a fetch is checked in the wrong order and gets the wrong error",
        report: "KAFKA-13837, KAFKA-14078",
        how: How::Test(
            "impl/src/replica/tests/leader.rs::the_checks_of_a_fetch_come_in_their_order",
        ),
    },
    Case {
        code: "B18",
        title: "an epoch has no entry until its first record is written",
        report: "KAFKA-7415",
        how: How::Fault(Fault::NoEpochEntryWithoutRecords),
    },
    Case {
        code: "B19",
        title: "an epoch entry without records outlives every cut, and the follower cuts for ever",
        report: "KAFKA-10706",
        how: How::Fault(Fault::KeepTrailingEntry),
    },
    Case {
        code: "B20",
        title: "asked for the end of no epoch, a leader without epochs answers its log end",
        report: "KAFKA-6857",
        how: How::Test("impl/src/replica/tests/epochs.rs::both_look_ups_agree_with_the_records"),
    },
    Case {
        code: "B21",
        title: "a recovery takes epoch 0 for none and leaves it out of the rebuilt table",
        report: "KAFKA-10432",
        how: How::Test(
            "impl/src/log/tests/suite.rs::epochs_are_stored_before_records_and_cut_with_them",
        ),
    },
    Case {
        code: "B22",
        title: "a log that is swapped for its copy loses the epochs that have no records",
        report: "KAFKA-15608, KAFKA-20961",
        how: How::NotHere {
            why: "a broker has one log, and no copy of it is ever put in its place",
            nearest: "no-epoch-entry-without-records",
        },
    },
    Case {
        code: "B23",
        title: "a crash while the epoch table is cut leaves a torn file",
        report: "KAFKA-15046, KAFKA-16541",
        how: How::Test(
            "impl/src/log/tests/faults.rs::a_truncation_over_segments_is_whole_wherever_it_breaks",
        ),
    },
    Case {
        code: "B24",
        title: "a test double of the epoch table keeps entries that the real one drops",
        report: "KAFKA-10511",
        how: How::Test(
            "impl/src/replica/tests/epochs.rs::an_assigned_epoch_outdoes_what_contradicts_it",
        ),
    },
    Case {
        code: "B25",
        title: "a past epoch's end is told under the newest epoch, and a future one has an end too",
        report: "Redpanda #11864, Redpanda #12063",
        how: How::Test("impl/src/replica/tests/epochs.rs::examples_of_the_tables"),
    },
    Case {
        code: "B26",
        title: "a broker that does not lead tells where an epoch ends, from a log that lags",
        report: "Redpanda #5435, Redpanda #6400",
        how: How::Test(
            "impl/src/replica/tests/leader.rs::the_end_of_an_epoch_is_told_by_the_leader_only",
        ),
    },
    Case {
        code: "B27",
        title: "after clean moves of the leadership nobody looks for forks, and the ISR holds one",
        report: "Fluss #4269",
        how: How::Test(
            "impl/src/replica/tests/truncation.rs::a_follower_is_cut_exactly_where_the_logs_part",
        ),
    },
    Case {
        code: "B28",
        title: "a follower that its leader overtakes while it asks throws its whole log away",
        report: "KAFKA-2143",
        how: How::Test(
            "impl/src/replica/tests/scenarios.rs::\
             b28_a_leader_that_has_moved_past_me_is_no_reason_to_start_over",
        ),
    },
    Case {
        code: "B29",
        title: "a follower ahead of a leader that was elected uncleanly ends its process",
        report: "KAFKA-7414",
        how: How::Test(
            "impl/src/replica/tests/follower.rs::the_watermark_of_a_diverging_answer_is_not_taken",
        ),
    },
    Case {
        code: "B30",
        title: "a lost high watermark checkpoint falls back to an offset that is on no local disk",
        report: "KAFKA-16452",
        how: How::NotHere {
            why: "there is no tiered storage, so the log start is an offset on the disk",
            nearest: "impl/src/replica/tests/log_state.rs::the_checkpoint_is_moved_into_the_log",
        },
    },
];
