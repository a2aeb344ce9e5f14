//! Faults of other protocols: Raft, Viewstamped Replication, BookKeeper.

use super::{Case, How};
use crate::fault::Fault;

/// The cases of this part.
pub const CASES: &[Case] = &[
    Case {
        code: "B96",
        title: "an empty append makes a follower commit its own fork",
        report: "Copycat #265, Copycat #110, ScyllaDB #9965",
        how: How::Fault(Fault::HwBeforeTruncation),
    },
    Case {
        code: "B98",
        title: "a stale or repeated append looks like a fork, and committed entries are deleted",
        report: "openraft #511, raftos #26, akka-entity-replication #152, redisraft #53",
        how: How::Fault(Fault::UnfencedTruncation),
    },
    Case {
        code: "B100",
        title: "an entry of an older term is taken for committed once a majority holds it",
        report: "LogCabin #44, KAFKA-12619",
        how: How::NotHere {
            why: "no majority commits: every member of the ISR holds what is committed",
            nearest: "new-leader-raises-hw-to-leo",
        },
    },
    Case {
        code: "B101",
        title: "messages of a catch-up that is over cut committed entries",
        report: "NATS #7424, NATS #5957, NATS #5975",
        how: How::NotHere {
            why: "a follower has one fetch under way, and nothing else writes to its log",
            nearest: "unfenced-truncation",
        },
    },
    Case {
        code: "B102",
        title: "acknowledgements are counted in a membership that nobody else knows yet",
        report: "BookKeeper #1591",
        how: How::Fault(Fault::CountPendingShrink),
    },
    Case {
        code: "B103",
        title: "an old writer completes an entry that the recovery has found missing",
        report: "BookKeeper #2614, BookKeeper #2616",
        how: How::NotHere {
            why: "nobody writes to many replicas: followers pull, and each pull names its epoch",
            nearest: "unfenced-fetch",
        },
    },
    Case {
        code: "B105",
        title: "a view is acted in before it is durable, and a crash takes it back",
        report: "TigerBeetle #2295",
        how: How::Test(
            "impl/src/node/tests.rs::b105_an_epoch_is_on_the_disk_before_its_first_record",
        ),
    },
    Case {
        code: "B106",
        title: "a leader that is cut off never resigns",
        report: "KAFKA-15489",
        how: How::NotHere {
            why: "a leader has no lease and does not resign; it commits what its whole ISR holds",
            nearest: "isr-instead-of-maximal-isr-shrink",
        },
    },
];
