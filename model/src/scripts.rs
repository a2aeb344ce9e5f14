//! Public reports, step by step as they are told, in the actions of the model. A search finds
//! shorter ways to the same losses; these are the ones the field knows by heart.

use klog_trace::property::Property;
use klog_trace::trace::{Bounds, Interleaving};
use klog_trace::{Acks, Action, Connection};

use crate::fault::Fault;
use crate::protocol::Protocol;

/// Name, protocol, the property it violates, bounds, steps.
pub type Script = (&'static str, Protocol, &'static str, Bounds, Vec<Action>);

/// Every script.
pub fn scripts() -> Vec<Script> {
    let bounds = || Bounds {
        records: 3,
        acks: vec![Acks::Leader, Acks::All],
        moves: 2,
        crashes: 2,
        power_losses: 2,
        checkpoints: 1,
        interleaving: Interleaving::Full,
        ..Bounds::NOTHING
    };
    vec![
        (
            "kip101-scenario-1-as-told",
            Protocol::by_name("kafka-0.10").expect("a rung of the ladder"),
            Property::CommittedSurvives.id(),
            bounds(),
            kip101_scenario_1(),
        ),
        (
            "kip101-scenario-2-as-told",
            Protocol::by_name("kafka-0.10").expect("a rung of the ladder"),
            Property::LogsMatch.id(),
            Bounds { min_isr: 2, ..bounds() },
            kip101_scenario_2(),
        ),
        (
            "kip279-as-told",
            Protocol::klog_with(&[Fault::EpochLookupExact]),
            Property::LogsMatch.id(),
            bounds(),
            kip279(),
        ),
    ]
}

fn produce(broker: u8, acks: Acks) -> Action {
    Action::Produce { broker, acks }
}

fn fetch(from: u8, to: u8) -> Action {
    Action::DeliverFetch { from, to, connection: Connection::Open }
}

fn answer(from: u8, to: u8) -> Action {
    Action::DeliverFetchAnswer { from, to }
}

fn apply(broker: u8, records: u8) -> Action {
    Action::ApplyMetadata { broker, records }
}

/// B01: b1 leads. The follower holds m2 and does not know that it is committed; it restarts and
/// cuts m2 off; then the leader dies.
fn kip101_scenario_1() -> Vec<Action> {
    vec![
        produce(1, Acks::All),
        fetch(2, 1),
        answer(1, 2),
        fetch(2, 1),
        answer(1, 2),
        Action::Verdict { broker: 1 },
        produce(1, Acks::All),
        fetch(2, 1),
        answer(1, 2),
        // The follower asks for more, which tells the leader that m2 is everywhere.
        fetch(2, 1),
        Action::Verdict { broker: 1 },
        // It dies before the answer reaches it, and comes back.
        Action::Crash { broker: 2 },
        Action::Restart { broker: 2 },
        apply(2, 1),
        Action::Crash { broker: 1 },
        Action::Fence { broker: 1 },
        apply(2, 1),
    ]
}

/// B02: both lose power, b2 with an unflushed m2. b2 is up first, leads and takes m3 at the
/// offset of m2. b1 comes back with a high watermark that says there is nothing to cut.
fn kip101_scenario_2() -> Vec<Action> {
    vec![
        produce(1, Acks::Leader),
        fetch(2, 1),
        answer(1, 2),
        produce(1, Acks::Leader),
        fetch(2, 1),
        answer(1, 2),
        fetch(2, 1),
        Action::Checkpoint { broker: 1 },
        Action::PowerLoss { broker: 1, keep: 2 },
        Action::PowerLoss { broker: 2, keep: 1 },
        Action::Fence { broker: 1 },
        Action::Restart { broker: 2 },
        apply(2, 1),
        produce(2, Acks::Leader),
        Action::Restart { broker: 1 },
        apply(1, 1),
        fetch(1, 2),
        answer(2, 1),
    ]
}

/// B03: the leadership goes from b1 to b2 and back. b2's record of the reign that b1 never
/// noticed ends exactly where b1's next reign starts.
fn kip279() -> Vec<Action> {
    vec![
        produce(1, Acks::Leader),
        Action::Move { to: 2 },
        apply(2, 1),
        produce(2, Acks::Leader),
        Action::Crash { broker: 2 },
        Action::Fence { broker: 2 },
        // b1 never acts on the reign of b2: it learns of both changes at once.
        apply(1, 2),
        produce(1, Acks::Leader),
        Action::Restart { broker: 2 },
        apply(2, 1),
        fetch(2, 1),
        answer(1, 2),
        fetch(2, 1),
        answer(1, 2),
    ]
}
