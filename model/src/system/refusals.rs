//! What nodes refuse: each error that a request can be answered with is a guard of the rules, and
//! a search counts how often it was given.

use klog_trace::{ClientAnswer, Message};
use levelwise::system::Step;

use super::Partition;

/// What was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Fetch,
    Proposal,
    Produce,
}

/// The errors that answer each request, by Kafka's code, and their names.
const GUARDS: [(Asked, i16, &str); 13] = [
    (Asked::Fetch, 1, "fetch-1"),
    (Asked::Fetch, 6, "fetch-6"),
    (Asked::Fetch, 74, "fetch-74"),
    (Asked::Fetch, 75, "fetch-75"),
    (Asked::Proposal, 42, "proposal-42"),
    (Asked::Proposal, 74, "proposal-74"),
    (Asked::Proposal, 77, "proposal-77"),
    (Asked::Proposal, 95, "proposal-95"),
    (Asked::Proposal, 107, "proposal-107"),
    (Asked::Produce, 6, "produce-6"),
    (Asked::Produce, 7, "produce-7"),
    (Asked::Produce, 19, "produce-19"),
    (Asked::Produce, 20, "produce-20"),
];

impl Partition {
    /// The names of the guards, in their order.
    pub fn guard_names() -> Vec<&'static str> {
        GUARDS.iter().map(|guard| guard.2).collect()
    }

    /// The guards that refused something in a step.
    pub(super) fn refused(step: &Step<'_, '_, Self>, each: &mut impl FnMut(usize)) {
        let mut tell = |asked, code| {
            let guard = GUARDS.iter().position(|guard| (guard.0, guard.1) == (asked, code));
            each(guard.expect("an error that the rules know"));
        };
        for number in &step.told.sent {
            let message = step.message(*number).message().expect("what is sent is a message");
            match *message.envelope.message {
                Message::FetchAnswer { error, .. } if error != 0 => tell(Asked::Fetch, error),
                Message::AlterPartitionAnswer { error, .. } if error != 0 => {
                    tell(Asked::Proposal, error);
                }
                _ => {}
            }
        }
        for ClientAnswer { error, .. } in &step.told.answers {
            if *error != 0 {
                tell(Asked::Produce, *error);
            }
        }
    }
}
