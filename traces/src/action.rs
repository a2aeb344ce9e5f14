//! What can happen, in words that both worlds understand.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A broker's number; brokers are 1, 2, 3, ... and [`CONTROLLER`] is 0.
pub type Node = u8;

/// The controller's number in an [`crate::Envelope`].
pub const CONTROLLER: Node = 0;

/// What a producer asks to wait for.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Acks {
    /// No answer (acks = 0).
    None,
    /// The leader's append (acks = 1).
    Leader,
    /// All of the in-sync set (acks = all, −1 on the wire).
    All,
}

impl Acks {
    /// As producers write it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::None => "0",
            Self::Leader => "1",
            Self::All => "all",
        }
    }
}

/// Which of two connections of the same pair a message travels on.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Connection {
    /// The connection of the sender's present life.
    #[default]
    Open,
    /// The connection broke after it was sent, or its sender died; the receiver may still read it,
    /// and nobody hears the answer.
    Broken,
}

impl Connection {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_open(&self) -> bool {
        *self == Self::Open
    }
}

/// One step of the system. What an action needs beyond its own fields (which message is the
/// oldest on a connection, say) is a function of the state it is taken in.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are said in their variant's sentence")]
pub enum Action {
    /// A client's produce of the next value reaches a broker that believes it leads (A1 to A7).
    Produce { broker: Node, acks: Acks },
    /// The oldest fetch on the connection reaches the broker it was sent to (F1 to F9, U1 to U4).
    DeliverFetch {
        from: Node,
        to: Node,
        #[serde(default, skip_serializing_if = "Connection::is_open")]
        connection: Connection,
    },
    /// The answer to a fetch reaches the follower, which sends its next fetch (Q1 to Q6).
    DeliverFetchAnswer { from: Node, to: Node },
    /// The leader answers every waiting acks=all produce that is decided (V1 to V3).
    Verdict { broker: Node },
    /// The broker applies the next `records` metadata records as one (M6).
    ApplyMetadata { broker: Node, records: u8 },
    /// More than the lag limit has passed since anything happened, and the leader's shrink task
    /// runs: every in-sync follower that is not at the leader's log end is proposed out (S1).
    LagCheck { broker: Node },
    /// The oldest AlterPartition of this broker reaches the controller (proposal checks).
    DeliverAlterPartition {
        from: Node,
        #[serde(default, skip_serializing_if = "Connection::is_open")]
        connection: Connection,
    },
    /// The controller's answer reaches the leader that asked (R0 to R4).
    DeliverAlterPartitionAnswer { to: Node },
    /// The process dies; what it wrote is kept.
    Crash { broker: Node },
    /// The machine loses power; of the log, `keep` records survive.
    PowerLoss { broker: Node, keep: u8 },
    /// The broker starts again, recovers its log and registers (B1, B2).
    Restart { broker: Node },
    /// The controller lets the session of a dead broker expire (B3).
    Fence { broker: Node },
    /// The controller lets the session of a running broker expire, which it cannot tell from a
    /// dead one (B3, KIP-841).
    FenceRunning { broker: Node },
    /// A registered broker that has caught up with the metadata becomes active (B4).
    Unfence { broker: Node },
    /// The controller moves the leadership to another valid member of the ISR.
    Move { to: Node },
    /// The broker writes its high watermark checkpoint (D1).
    Checkpoint { broker: Node },
    /// The broker begins a controlled shutdown: it leaves the ISR and leads nothing (B5).
    ShutDown { broker: Node },
    /// The process of a broker that shuts down, and leads nothing, ends: everything is on disk,
    /// and a marker with its broker epoch says so (D3).
    Stop { broker: Node },
    /// The connections between two nodes break (0 is the controller). Answers under way are lost;
    /// a request may have been read already, and nobody hears what becomes of it. A follower asks
    /// again.
    Reset { one: Node, other: Node },
    /// The leader sends a proposal again that got lost, the same to the byte (R4, P1).
    Resend { broker: Node },
    /// An operator sets `min.insync.replicas` (Z4, X3).
    ChangeMinIsr { to: u8 },
    /// The produces that wait at this broker and are undecided have waited long enough (V4).
    TimeOut { broker: Node },
    /// The follower cuts its log where the answer it read says that the logs diverge (T3 to T6);
    /// only where that is a step of its own.
    Truncate { broker: Node },
    /// The leader's shrink task runs at the time it is, which no step but a jump changes: who was
    /// not caught up recently is proposed out (S1), and the high watermark is tried (X5).
    Tick { broker: Node },
    /// More than the lag limit passes at once, for all brokers.
    ClockJump,
    /// The brokers' clock is set back, further than anyone remembers (B108).
    ClockSetback,
}

impl Action {
    /// The kinds of action: the rows of a coverage table.
    pub const KINDS: [&'static str; 26] = [
        "produce",
        "deliver-fetch",
        "deliver-fetch-answer",
        "verdict",
        "apply-metadata",
        "lag-check",
        "deliver-alter-partition",
        "deliver-alter-partition-answer",
        "crash",
        "power-loss",
        "restart",
        "fence",
        "unfence",
        "move",
        "checkpoint",
        "fence-running",
        "shut-down",
        "stop",
        "reset",
        "resend",
        "change-min-isr",
        "time-out",
        "truncate",
        "tick",
        "clock-jump",
        "clock-setback",
    ];

    /// Index of this action's kind in [`Action::KINDS`].
    pub fn kind_index(&self) -> usize {
        match self {
            Self::Produce { .. } => 0,
            Self::DeliverFetch { .. } => 1,
            Self::DeliverFetchAnswer { .. } => 2,
            Self::Verdict { .. } => 3,
            Self::ApplyMetadata { .. } => 4,
            Self::LagCheck { .. } => 5,
            Self::DeliverAlterPartition { .. } => 6,
            Self::DeliverAlterPartitionAnswer { .. } => 7,
            Self::Crash { .. } => 8,
            Self::PowerLoss { .. } => 9,
            Self::Restart { .. } => 10,
            Self::Fence { .. } => 11,
            Self::Unfence { .. } => 12,
            Self::Move { .. } => 13,
            Self::Checkpoint { .. } => 14,
            Self::FenceRunning { .. } => 15,
            Self::ShutDown { .. } => 16,
            Self::Stop { .. } => 17,
            Self::Reset { .. } => 18,
            Self::Resend { .. } => 19,
            Self::ChangeMinIsr { .. } => 20,
            Self::TimeOut { .. } => 21,
            Self::Truncate { .. } => 22,
            Self::Tick { .. } => 23,
            Self::ClockJump => 24,
            Self::ClockSetback => 25,
        }
    }

    /// The nodes that the action names; twice the same if it is one, none if it names none.
    pub fn nodes(self) -> Option<[Node; 2]> {
        Some(match self {
            Self::Reset { one, other } => [one, other],
            Self::ChangeMinIsr { .. } | Self::ClockJump | Self::ClockSetback => return None,
            Self::DeliverFetch { from, to, .. } | Self::DeliverFetchAnswer { from, to } => {
                [from, to]
            }
            Self::DeliverAlterPartition { from: one, .. }
            | Self::DeliverAlterPartitionAnswer { to: one }
            | Self::Move { to: one }
            | Self::Produce { broker: one, .. }
            | Self::Verdict { broker: one }
            | Self::ApplyMetadata { broker: one, .. }
            | Self::LagCheck { broker: one }
            | Self::Crash { broker: one }
            | Self::PowerLoss { broker: one, .. }
            | Self::Restart { broker: one }
            | Self::Fence { broker: one }
            | Self::Unfence { broker: one }
            | Self::Checkpoint { broker: one }
            | Self::FenceRunning { broker: one }
            | Self::ShutDown { broker: one }
            | Self::Stop { broker: one }
            | Self::Resend { broker: one }
            | Self::TimeOut { broker: one }
            | Self::Truncate { broker: one }
            | Self::Tick { broker: one } => [one, one],
        })
    }

    /// The kind's name, as in the `kind` field of a trace.
    pub fn kind(&self) -> &'static str {
        Self::KINDS[self.kind_index()]
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let late = |c: &Connection| {
            if *c == Connection::Broken { " (on a connection that broke)" } else { "" }
        };
        match self {
            Self::Produce { broker, acks } => {
                write!(f, "client produces to b{broker}, acks={}", acks.word())
            }
            Self::DeliverFetch { from, to, connection } => {
                write!(f, "b{from}'s fetch reaches b{to}{}", late(connection))
            }
            Self::DeliverFetchAnswer { from, to } => write!(f, "b{from}'s answer reaches b{to}"),
            Self::Verdict { broker } => write!(f, "b{broker} answers waiting produces"),
            Self::ApplyMetadata { broker, records: 1 } => {
                write!(f, "b{broker} applies the next metadata record")
            }
            Self::ApplyMetadata { broker, records } => {
                write!(f, "b{broker} applies {records} metadata records as one")
            }
            Self::LagCheck { broker } => write!(f, "b{broker} checks for lag and finds it"),
            Self::DeliverAlterPartition { from, connection } => {
                write!(f, "b{from}'s ISR proposal reaches the controller{}", late(connection))
            }
            Self::DeliverAlterPartitionAnswer { to } => {
                write!(f, "the controller's answer reaches b{to}")
            }
            Self::Crash { broker } => write!(f, "b{broker}'s process dies"),
            Self::PowerLoss { broker, keep } => {
                write!(f, "b{broker} loses power and keeps {keep} records")
            }
            Self::Restart { broker } => write!(f, "b{broker} restarts and registers"),
            Self::Fence { broker } => write!(f, "controller fences b{broker}"),
            Self::Unfence { broker } => write!(f, "controller unfences b{broker}"),
            Self::Move { to } => write!(f, "controller moves the leadership to b{to}"),
            Self::Checkpoint { broker } => write!(f, "b{broker} checkpoints its high watermark"),
            Self::FenceRunning { broker } => {
                write!(f, "controller fences b{broker}, which runs on")
            }
            Self::ShutDown { broker } => write!(f, "b{broker} begins a controlled shutdown"),
            Self::Stop { broker } => write!(f, "b{broker} stops cleanly"),
            Self::Reset { one: CONTROLLER, other } => {
                write!(f, "the connection between b{other} and the controller breaks")
            }
            Self::Reset { one, other } => {
                write!(f, "the connections between b{one} and b{other} break")
            }
            Self::Resend { broker } => write!(f, "b{broker} sends its ISR proposal again"),
            Self::ChangeMinIsr { to } => write!(f, "min.insync.replicas is set to {to}"),
            Self::TimeOut { broker } => write!(f, "b{broker}'s waiting produces time out"),
            Self::Truncate { broker } => write!(f, "b{broker} cuts its log as it was told"),
            Self::Tick { broker } => write!(f, "b{broker}'s shrink task runs"),
            Self::ClockJump => write!(f, "more than the lag limit passes"),
            Self::ClockSetback => write!(f, "the clock is set back"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_in_json_is_the_kind_in_the_table() {
        let samples = [
            Action::Produce { broker: 1, acks: Acks::All },
            Action::DeliverFetch { from: 2, to: 1, connection: Connection::Open },
            Action::DeliverFetchAnswer { from: 1, to: 2 },
            Action::Verdict { broker: 1 },
            Action::ApplyMetadata { broker: 1, records: 1 },
            Action::LagCheck { broker: 1 },
            Action::DeliverAlterPartition { from: 1, connection: Connection::Broken },
            Action::DeliverAlterPartitionAnswer { to: 1 },
            Action::Crash { broker: 1 },
            Action::PowerLoss { broker: 1, keep: 0 },
            Action::Restart { broker: 1 },
            Action::Fence { broker: 1 },
            Action::Unfence { broker: 1 },
            Action::Move { to: 1 },
            Action::Checkpoint { broker: 1 },
            Action::FenceRunning { broker: 1 },
            Action::ShutDown { broker: 1 },
            Action::Stop { broker: 1 },
            Action::Reset { one: 0, other: 1 },
            Action::Resend { broker: 1 },
            Action::ChangeMinIsr { to: 2 },
            Action::TimeOut { broker: 1 },
            Action::Truncate { broker: 1 },
            Action::Tick { broker: 1 },
            Action::ClockJump,
            Action::ClockSetback,
        ];
        assert_eq!(samples.len(), Action::KINDS.len());
        for (index, action) in samples.iter().enumerate() {
            let json = serde_json::to_value(action).unwrap();
            assert_eq!(action.kind_index(), index);
            assert_eq!(json["kind"], action.kind());
            assert_eq!(serde_json::from_value::<Action>(json).unwrap(), *action);
        }
    }

    #[test]
    fn an_unknown_field_or_kind_is_refused() {
        for text in [
            r#"{"kind":"crash","broker":1,"keep":2}"#,
            r#"{"kind":"explode","broker":1}"#,
            r#"{"kind":"crash"}"#,
        ] {
            assert!(serde_json::from_str::<Action>(text).is_err(), "{text}");
        }
    }
}
