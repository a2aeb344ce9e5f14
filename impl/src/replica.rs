//! One replica of one partition: the pure protocol core.
//!
//! [`Replica::step`] takes one [`Input`] and says what is to be done about it as a list of
//! [`Effect`]s. It reads no clock and no file, holds no record bytes, and does not fail: whatever
//! comes in is answered, or is no news. This file is the dispatch; each rule stands in a module of
//! its own under the name the field has for it.

pub mod epochs;
pub mod fetch;
mod follower;
mod image;
mod invariants;
pub mod io;
pub mod isr;
mod leader;
pub mod log_state;
pub mod pending;
pub mod progress;
mod registration;
pub mod truncation;
pub mod watermark;

use crate::types::{BrokerEpoch, BrokerId, Offset};
use fetch::Pass;
use io::{BrokerImage, Effect, Input, LogShape};
pub use leader::Leader;
use leader::Produce;
use log_state::LogState;
pub use registration::Registration;
use std::collections::BTreeMap;

/// What does not change during one life of the broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// This registered life of the broker. Metadata older than it is not acted on.
    pub broker_epoch: BrokerEpoch,
    /// `replica.lag.time.max.ms`: how long a follower may lag and stay in the ISR (C1).
    pub lag_max_ms: i64,
    /// `replica.fetch.max.bytes`: how much a follower asks for at once.
    pub fetch_max_bytes: u32,
}

impl Config {
    /// Kafka's defaults for this life of the broker: 30 s of lag, 1 MiB a fetch.
    pub fn new(broker_epoch: BrokerEpoch) -> Self {
        Self { broker_epoch, lag_max_ms: 30_000, fetch_max_bytes: 1 << 20 }
    }
}

/// What a replica is at present.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Neither: no metadata yet, or this broker is not in the assignment.
    Idle,
    /// It copies the registered leader, or waits for one.
    Follower,
    /// It leads the registered epoch.
    Leader(Leader),
    /// A write failed (D6): it serves nothing until it is restored.
    Failed,
}

/// The replica of one partition on one broker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Replica {
    id: BrokerId,
    config: Config,
    log: LogState,
    registration: Option<Registration>,
    brokers: BTreeMap<BrokerId, BrokerImage>,
    role: Role,
    /// The proposal that is on its way to the controller, also when it is void by now (S3).
    in_flight: Option<io::AlterPartitionRequest>,
}

/// Everything a replica holds, for one who watches it whole. A field that the replica gets must be
/// given out here too, or it does not compile.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// The broker it lives on.
    pub id: BrokerId,
    /// Its configuration.
    pub config: &'a Config,
    /// Log start, LEO, high watermark and epochs.
    pub log: &'a LogState,
    /// The registration it acts on.
    pub registration: Option<&'a Registration>,
    /// The brokers as its metadata knows them.
    pub brokers: &'a BTreeMap<BrokerId, BrokerImage>,
    /// Its role.
    pub role: &'a Role,
    /// The proposal that is on its way to the controller (S3).
    pub in_flight: Option<&'a io::AlterPartitionRequest>,
}

impl Replica {
    /// The replica after recovery, idle until metadata arrives. `hw_checkpoint` is a hint (D1).
    ///
    /// # Panics
    /// If the shape is not that of a log: recovery hands over what it has mended.
    pub fn restore(
        id: BrokerId,
        config: Config,
        shape: LogShape,
        hw_checkpoint: Option<Offset>,
    ) -> Self {
        let replica = Self {
            id,
            config,
            log: LogState::restore(shape, hw_checkpoint),
            registration: None,
            brokers: BTreeMap::new(),
            role: Role::Idle,
            in_flight: None,
        };
        replica.assert_invariants();
        replica
    }

    /// Take one input in. What is to be done about it is appended to `effects`, to be executed
    /// front to back.
    pub fn step(&mut self, input: Input, effects: &mut Vec<Effect>) {
        self.dispatch(input, effects);
        self.assert_invariants();
    }

    fn dispatch(&mut self, input: Input, effects: &mut Vec<Effect>) {
        match input {
            Input::Metadata { now_ms, image } => self.on_metadata(now_ms, image, effects),
            Input::Produce { now_ms, request, acks, records, timeout_ms } => {
                let produce = Produce { request, acks, records, timeout_ms };
                self.on_produce(now_ms, produce, effects);
            }
            Input::Fetch { now_ms, request, fetch } => {
                self.on_fetch(request, fetch, Pass::Arrival(now_ms), effects);
            }
            Input::Reread { request, fetch } => {
                self.on_fetch(request, fetch, Pass::Again, effects);
            }
            Input::FetchAnswer { now_ms: _, from, request, answer } => {
                self.on_fetch_answer(from, &request, answer, effects);
            }
            Input::FetchLost { from, request } => self.on_fetch_lost(from, &request, effects),
            Input::EndOffset { request, current_epoch, epoch } => {
                self.on_end_offset(request, current_epoch, epoch, effects);
            }
            Input::ListOffset { request, current_epoch, wanted } => {
                self.on_list_offset(request, current_epoch, wanted, effects);
            }
            Input::AlterPartitionAnswer { now_ms, proposal, answer } => {
                self.on_alter_partition_answer(now_ms, &proposal, answer);
            }
            Input::CompleteProduces { now_ms: _ } => self.complete_produces(effects),
            Input::CheckLag { now_ms } => self.on_check_lag(now_ms, effects),
            Input::ResendProposal { now_ms: _ } => self.resend_proposal(effects),
            Input::ExpireProduces { now_ms } => self.expire_produces(now_ms, effects),
            Input::AdvanceLogStart { to } => self.log.advance_start(to, effects),
            Input::Flushed { upto } => self.log.flushed(upto),
            Input::AppendFailed => self.on_append_failed(effects),
        }
    }

    /// D6: the log on disk is not what this core thinks it is.
    fn on_append_failed(&mut self, effects: &mut Vec<Effect>) {
        self.fail_produces(crate::types::ErrorCode::KafkaStorageError, effects);
        self.role = Role::Failed;
    }

    /// Everything it holds.
    pub fn parts(&self) -> Parts<'_> {
        let Self { id, config, log, registration, brokers, role, in_flight } = self;
        Parts {
            id: *id,
            config,
            log,
            registration: registration.as_ref(),
            brokers,
            role,
            in_flight: in_flight.as_ref(),
        }
    }

    /// The broker it lives on.
    pub fn id(&self) -> BrokerId {
        self.id
    }

    /// Its configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Log start, LEO, high watermark and epochs.
    pub fn log(&self) -> &LogState {
        &self.log
    }

    /// Log end offset: the offset of the next record.
    pub fn leo(&self) -> Offset {
        self.log.leo
    }

    /// High watermark (exclusive).
    pub fn hw(&self) -> Offset {
        self.log.hw
    }

    /// Its role, with the state that belongs to it.
    pub fn role(&self) -> &Role {
        &self.role
    }

    /// The leader's state, `None` unless this replica leads.
    pub fn leader(&self) -> Option<&Leader> {
        if let Role::Leader(leader) = &self.role { Some(leader) } else { None }
    }

    /// The registration it acts on, `None` before the first metadata.
    pub fn registration(&self) -> Option<&Registration> {
        self.registration.as_ref()
    }

    /// The brokers as its metadata knows them.
    pub fn brokers(&self) -> &BTreeMap<BrokerId, BrokerImage> {
        &self.brokers
    }

    /// The proposal that is on its way to the controller.
    pub fn in_flight(&self) -> Option<&io::AlterPartitionRequest> {
        self.in_flight.as_ref()
    }
}

#[cfg(test)]
mod tests;
