//! Every field of the real replica's state, and what becomes of it in a comparison.
//!
//! The table is made by a macro that also takes each struct apart without `..`, so a field that the
//! replica gets breaks the build here until somebody has said what it is.

use klog::replica::io::{AlterPartitionRequest, BrokerImage};
use klog::replica::isr::{IsrState, Membership};
use klog::replica::log_state::LogState;
use klog::replica::pending::Waiting;
use klog::replica::progress::Progress;
use klog::replica::{Config, Leader, Parts, Registration, Role};

/// What becomes of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stands in a view, under this path.
    Compared(&'static str),
    /// It must follow from what the adapter knows; if it does not, the replay fails.
    Checked(&'static str),
    /// It is not looked at, for this reason.
    Exempt(&'static str),
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The struct or variant.
    pub of: &'static str,
    /// The field.
    pub field: &'static str,
    /// What becomes of it.
    pub fate: Fate,
}

macro_rules! fates {
    ($($of:ty as $pattern:path { $($field:tt: $fate:ident($why:literal)),* $(,)? })*) => {
        /// The table, in the order in which a replica is taken apart.
        pub const FIELDS: &[Row] = &[$($(Row {
            of: stringify!($pattern),
            field: stringify!($field),
            fate: Fate::$fate($why),
        }),*),*];

        $(const _: fn(&$of) = |value| match value {
            $pattern { $($field: _),* } => {}
            #[allow(unreachable_patterns, reason = "a struct has one pattern, an enum more")]
            _ => {}
        };)*
    };
}

fates! {
    Parts<'_> as Parts {
        id: Checked("the leader's own number in its ISR state is this one"),
        config: Compared("see Config"),
        log: Compared("see LogState"),
        registration: Compared("see Registration"),
        brokers: Checked("as in the image applied last; a leader's stand in role.known too"),
        role: Compared("role"),
        in_flight: Compared("proposed_at; the whole of it stands in the message that carries it"),
    }
    Config as Config {
        broker_epoch: Compared("broker_epoch"),
        lag_max_ms: Exempt("configuration; no rule changes it"),
        fetch_max_bytes: Exempt("configuration; no rule changes it"),
    }
    LogState as LogState {
        start: Checked("0: nothing is deleted in a trace"),
        leo: Checked("the number of records in log"),
        hw: Compared("hw"),
        epochs: Compared("epochs"),
        flushed: Exempt("no rule of the protocol waits for it (D2)"),
    }
    Registration as Registration {
        leader: Compared("role.leader"),
        leader_epoch: Compared("role.epoch"),
        partition_epoch: Compared("partition_epoch"),
        replicas: Checked("equal to those of the image applied last"),
        min_isr: Compared("role.min_isr of a leader; equal to that of the image applied last"),
    }
    BrokerImage as BrokerImage {
        epoch: Compared("role.known.epoch"),
        state: Compared("role.known.state"),
    }
    Role as Role::Leader {
        0: Compared("see Leader"),
    }
    Leader as Leader {
        epoch_start: Compared("role.epoch_start"),
        isr: Compared("see IsrState"),
        waiting: Compared("waiting"),
    }
    IsrState as IsrState {
        leader: Checked("the replica's own number"),
        membership: Compared("see Membership"),
        followers: Compared("role.followers"),
    }
    Membership as Membership::Committed {
        isr: Compared("role.isr"),
    }
    Membership as Membership::Pending {
        isr: Compared("role.isr"),
        proposal: Compared("role.pending, and whole in the message that carries it"),
        outcome: Compared("role.pending.outcome"),
    }
    AlterPartitionRequest as AlterPartitionRequest {
        broker: Checked("the replica's own number"),
        broker_epoch: Checked("the replica's own life"),
        leader_epoch: Checked("that of the registration"),
        partition_epoch: Checked("that of the registration"),
        isr: Compared("role.pending.isr"),
    }
    Progress as Progress {
        leo: Compared("role.followers.leo"),
        leader_leo_at_fetch: Compared("role.followers.heard.previous, with an exact clock"),
        last_fetch_ms: Compared("role.followers.heard.previous: recent or not"),
        last_caught_up_ms: Compared(
            "role.followers.heard.caught_up: recent or not; with the slow clock nothing is, since \
             more than the lag limit passes between two steps (first half of C1)"
        ),
        broker_epoch: Compared("role.followers.broker_epoch"),
    }
    Waiting as Waiting {
        base: Compared("waiting.offset"),
        required: Checked("base + 1: a produce has one record"),
        epoch: Compared("waiting.epoch"),
        deadline_ms: Exempt("over whenever the environment says so, and not asked before (V4)"),
    }
}
