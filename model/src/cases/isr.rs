//! Faults of changes of the ISR.

use super::{Case, How};
use crate::fault::Fault;

/// The cases of this part.
pub const CASES: &[Case] = &[
    Case {
        code: "B32",
        title: "a follower joins the ISR at the high watermark of a new leader, which lags",
        report: "KAFKA-7128",
        how: How::Fault(Fault::JoinAtHwOnly),
    },
    Case {
        code: "B33",
        title: "a leader commits by a smaller ISR than the one the controller may have",
        report: "KAFKA-8836, KIP-497, RocketMQ #5663",
        how: How::Fault(Fault::IgnorePendingExpand),
    },
    Case {
        code: "B35",
        title: "the ISR has shrunk, and the high watermark is not tried for those who wait",
        report: "KAFKA-13091",
        how: How::Fault(Fault::NoHwUpdateOnIsrConfirm),
    },
    Case {
        code: "B36",
        title: "an answer is taken for another proposal's, or an equal version for a stale one",
        report: "KAFKA-12751, KAFKA-12686",
        how: How::Test(
            "impl/src/replica/tests/scenarios.rs::\
             b36_an_answer_is_for_its_own_proposal_and_an_equal_version_is_success",
        ),
    },
    Case {
        code: "B38",
        title: "a deposed controller calls a newer leader's proposal invalid",
        report: "KAFKA-14154",
        how: How::Test(
            "impl/src/controller/tests.rs::the_checks_of_a_proposal_come_in_their_order",
        ),
    },
    Case {
        code: "B39",
        title: "the high watermark waits for a replica that shuts down and may not join",
        report: "KAFKA-15021",
        how: How::Fault(Fault::WaitForIneligibleFollower),
    },
    Case {
        code: "B40",
        title: "an idle follower, or one that trails by a single fetch, is put out of the ISR",
        report: "KAFKA-7152, KAFKA-4485",
        how: How::Test("impl/src/replica/tests/progress.rs::either_place_or_time_is_enough"),
    },
    Case {
        code: "B41",
        title: "a new leader takes followers that have not fetched yet for laggards",
        report: "Fluss #3698, Fluss #3702",
        how: How::Test(
            "impl/src/replica/tests/isr.rs::\
             a_member_that_never_fetched_has_the_full_time_from_the_begin",
        ),
    },
    Case {
        code: "B42",
        title: "a shrink that is computed from an outdated ISR leaves the leader itself out",
        report: "Fluss #3927, Fluss #3920",
        how: How::Test(
            "impl/src/node/controller/tests.rs::\
             an_old_life_is_refused_as_a_whole_and_a_bad_proposal_alone",
        ),
    },
    Case {
        code: "B43",
        title: "leader and controller hold different sets under one version, and none gives way",
        report: "RocketMQ #6342",
        how: How::Test(
            "impl/src/replica/tests/scenarios.rs::\
             b43_one_version_of_the_registration_has_one_isr",
        ),
    },
    Case {
        code: "B45",
        title: "an ISR with members outside the assignment stops the leader, or brings them back",
        report: "KAFKA-9672",
        how: How::Test(
            "impl/src/replica/tests/follower.rs::an_image_that_no_controller_wrote_is_not_acted_on",
        ),
    },
];
