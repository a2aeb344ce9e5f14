//! The controller of one partition: who leads, who is in sync, who is alive (sections 18 and 19).
//!
//! A pure step function like the replica's: no clock, no file, no socket. It writes no metadata log
//! of its own; each change is given out as the image that came of it, and the partition epoch
//! counts the change records (K1). It knows of no broker whether it kept its log: it goes by the
//! word of a clean shutdown that the broker found on its own disk (B1, B2).

mod alter;
mod brokers;
mod change;

use crate::replica::io::{
    AlterPartitionAnswer, AlterPartitionRequest, BrokerImage, BrokerState, MetadataImage,
    PartitionImage,
};
use crate::replica::isr::effective_min_isr;
use crate::types::{BrokerEpoch, BrokerId, Epoch, ErrorCode, PartitionEpoch};
use std::collections::{BTreeMap, BTreeSet};

/// Whether removed members may be remembered as eligible leaders (KIP-966).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Elr {
    /// They are, while the ISR is under its minimum (Z1, Z2).
    On,
    /// They are not; the last member of an ISR is never removed (B7).
    Off,
}

/// `unclean.leader.election.enable`: whether a replica that may lack committed records may lead
/// when no other can (O2, O6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UncleanElection {
    /// It may: the partition serves again, whatever is lost.
    Allowed,
    /// It may not: the partition waits for a replica that is complete.
    Forbidden,
}

/// Everything that can reach the controller. Times are milliseconds of any one clock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ControllerInput {
    /// A broker starts a new life (B1, B2). Refused while the life before has a session.
    Register {
        /// Which.
        broker: BrokerId,
        /// The life that ended in order, as its disk says (D3); `None` if none did. It counts only
        /// if it is the registered one.
        clean_shutdown: Option<BrokerEpoch>,
    },
    /// The session of a broker is over (B3).
    SessionExpired {
        /// Which.
        broker: BrokerId,
    },
    /// A fenced broker has caught up with the metadata (B4).
    Unfence {
        /// Which.
        broker: BrokerId,
        /// The life that says so; another one than the registered is not heard.
        epoch: BrokerEpoch,
    },
    /// A broker wants to go down in order (B5).
    ShutDown {
        /// Which.
        broker: BrokerId,
        /// The life that says so; another one than the registered is not heard.
        epoch: BrokerEpoch,
    },
    /// A broker shows that it lives.
    Heartbeat {
        /// The time.
        now_ms: i64,
        /// Which.
        broker: BrokerId,
        /// The life that says so; another one than the registered is not heard.
        epoch: BrokerEpoch,
    },
    /// Time passed: sessions end.
    Tick {
        /// The time.
        now_ms: i64,
    },
    /// A leader wants another ISR (proposal checks).
    AlterPartition {
        /// To whom the answer goes.
        from: BrokerId,
        /// What it wants.
        request: AlterPartitionRequest,
    },
    /// An operator moves the leadership.
    MoveLeader {
        /// To whom.
        to: BrokerId,
    },
    /// An operator changes `min.insync.replicas`. Zero is not heard.
    ChangeMinIsr {
        /// The new value.
        min_isr: u32,
    },
}

/// What became of a [`ControllerInput::MoveLeader`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MoveOutcome {
    /// Done.
    Moved,
    /// It leads already.
    NotNeeded,
    /// It may not lead: not in the ISR, or not active.
    NotAvailable,
}

/// What the shell has to do, in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ControllerEffect {
    /// Something changed: give this image to every broker.
    Metadata(MetadataImage),
    /// Answer a leader.
    AnswerAlterPartition {
        /// To whom.
        to: BrokerId,
        /// The very proposal.
        proposal: AlterPartitionRequest,
        /// The answer.
        answer: AlterPartitionAnswer,
    },
    /// Tell a broker its new life.
    Registered {
        /// Which.
        broker: BrokerId,
        /// Its life; larger than all before.
        epoch: BrokerEpoch,
    },
    /// Tell a broker that it has no new life (B1).
    RegistrationRefused {
        /// Which.
        broker: BrokerId,
        /// Why: the life before still has its session (101).
        error: ErrorCode,
    },
    /// Tell the operator.
    AnswerMoveLeader {
        /// To whom the leadership was to go.
        to: BrokerId,
        /// What became of it.
        outcome: MoveOutcome,
    },
}

/// The controller of one partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Controller {
    elr: Elr,
    unclean: UncleanElection,
    session_timeout_ms: i64,
    partition: PartitionImage,
    brokers: BTreeMap<BrokerId, BrokerImage>,
    /// When each unfenced broker was last heard of.
    sessions: BTreeMap<BrokerId, i64>,
    last_epoch: BrokerEpoch,
}

impl Controller {
    /// A new partition: every replica registered in its order as life 1, 2, ... and active, all in
    /// the ISR, the first one leading in epoch 0.
    ///
    /// # Panics
    /// If there is no replica, one stands there twice, or `min_isr` is 0.
    pub fn new(replicas: Vec<BrokerId>, min_isr: u32, elr: Elr) -> Self {
        assert!(min_isr >= 1, "min ISR must be at least 1");
        let isr: BTreeSet<BrokerId> = replicas.iter().copied().collect();
        assert_eq!(isr.len(), replicas.len(), "a replica stands twice in {replicas:?}");
        let active = |life| BrokerImage { epoch: BrokerEpoch(life), state: BrokerState::Active };
        let brokers = replicas.iter().copied().zip((1..).map(active)).collect();
        let last_epoch = BrokerEpoch(replicas.len() as i64);
        let partition = PartitionImage {
            leader: Some(replicas[0]),
            leader_epoch: Epoch(0),
            partition_epoch: PartitionEpoch(0),
            replicas,
            isr,
            elr: BTreeSet::new(),
            last_leader: None,
            min_isr,
        };
        let (unclean, sessions) = (UncleanElection::Forbidden, BTreeMap::new());
        let session_timeout_ms = 9_000;
        Self { elr, unclean, session_timeout_ms, partition, brokers, sessions, last_epoch }
    }

    /// The same with another `unclean.leader.election.enable` than Kafka's false (O6).
    #[must_use]
    pub fn with_unclean_election(mut self, unclean: UncleanElection) -> Self {
        self.unclean = unclean;
        self
    }

    /// The same with another `broker.session.timeout.ms` than Kafka's 9 s.
    #[must_use]
    pub fn with_session_timeout_ms(mut self, timeout_ms: i64) -> Self {
        self.session_timeout_ms = timeout_ms;
        self
    }

    /// Take one input in. What is to be done about it is appended to `effects`.
    pub fn step(&mut self, input: ControllerInput, effects: &mut Vec<ControllerEffect>) {
        let before = (self.partition.clone(), self.brokers.clone());
        let mut answers = Vec::new();
        self.dispatch(input, &mut answers);
        self.assert_invariants();
        // A new life is told first: metadata of it means nothing to the broker before. Every other
        // answer goes out when the change stands.
        let is_life = |e: &ControllerEffect| matches!(e, ControllerEffect::Registered { .. });
        let (lives, answers): (Vec<_>, Vec<_>) = answers.into_iter().partition(is_life);
        effects.extend(lives);
        if (&before.0, &before.1) != (&self.partition, &self.brokers) {
            effects.push(ControllerEffect::Metadata(self.image()));
        }
        effects.extend(answers);
    }

    fn dispatch(&mut self, input: ControllerInput, answers: &mut Vec<ControllerEffect>) {
        match input {
            ControllerInput::Register { broker, clean_shutdown } => {
                answers.push(match self.register(broker, clean_shutdown) {
                    Ok(epoch) => ControllerEffect::Registered { broker, epoch },
                    Err(error) => ControllerEffect::RegistrationRefused { broker, error },
                });
            }
            ControllerInput::SessionExpired { broker } => self.fence(broker),
            ControllerInput::Unfence { broker, epoch } if self.is_life_of(broker, epoch) => {
                self.unfence(broker);
            }
            ControllerInput::ShutDown { broker, epoch } if self.is_life_of(broker, epoch) => {
                self.shut_down(broker);
            }
            ControllerInput::Heartbeat { now_ms, broker, epoch }
                if self.is_life_of(broker, epoch) =>
            {
                self.sessions.insert(broker, now_ms);
            }
            ControllerInput::Unfence { .. }
            | ControllerInput::ShutDown { .. }
            | ControllerInput::Heartbeat { .. } => {}
            ControllerInput::Tick { now_ms } => self.end_sessions(now_ms),
            ControllerInput::AlterPartition { from, request } => {
                let answer = self.alter_partition(&request);
                let proposal = request;
                let to = from;
                answers.push(ControllerEffect::AnswerAlterPartition { to, proposal, answer });
            }
            ControllerInput::MoveLeader { to } => {
                let outcome = self.move_leader(to);
                answers.push(ControllerEffect::AnswerMoveLeader { to, outcome });
            }
            ControllerInput::ChangeMinIsr { min_isr } => self.change_min_isr(min_isr),
        }
    }

    /// The metadata as it stands.
    pub fn image(&self) -> MetadataImage {
        MetadataImage { partition: self.partition.clone(), brokers: self.brokers.clone() }
    }

    /// The registration of the partition.
    pub fn partition(&self) -> &PartitionImage {
        &self.partition
    }

    /// The registered brokers.
    pub fn brokers(&self) -> &BTreeMap<BrokerId, BrokerImage> {
        &self.brokers
    }

    /// The broker epoch it gave out last; no life has a larger one.
    pub fn last_broker_epoch(&self) -> BrokerEpoch {
        self.last_epoch
    }

    fn is_life_of(&self, broker: BrokerId, epoch: BrokerEpoch) -> bool {
        self.brokers.get(&broker).is_some_and(|b| b.epoch == epoch)
    }

    fn is_active(&self, broker: BrokerId) -> bool {
        self.brokers.get(&broker).is_some_and(|b| b.state == BrokerState::Active)
    }

    fn min_isr(&self) -> usize {
        effective_min_isr(self.partition.min_isr, self.partition.replicas.len()) as usize
    }

    /// What holds after every step in release builds too.
    fn assert_invariants(&self) {
        let PartitionImage { leader, replicas, isr, elr, last_leader, .. } = &self.partition;
        assert!(leader.is_none_or(|l| isr.contains(&l)), "leader outside the ISR");
        assert!(leader.is_none_or(|l| self.is_active(l)), "leader not active");
        assert!(isr.union(elr).all(|id| replicas.contains(id)), "member outside the assignment");
        assert!(isr.is_disjoint(elr), "in ISR and ELR at once");
        assert!(isr.len() < self.min_isr() || elr.is_empty(), "ELR beside a full ISR (Z1)");
        assert!(self.elr == Elr::On || elr.is_empty(), "ELR is off");
        let inactive = isr.iter().any(|&id| !self.is_active(id));
        match self.elr {
            Elr::On => {
                assert!(!inactive, "inactive member (B3)");
                assert_eq!(leader.is_none(), isr.is_empty(), "members without a leader (O2)");
                let remembered = last_leader.is_some();
                assert_eq!(remembered, leader.is_none(), "last known leader beside one (Z3)");
                assert!(last_leader.is_none_or(|l| replicas.contains(&l)), "an unknown leader");
            }
            Elr::Off => {
                let waits = isr.len() == 1 && leader.is_none();
                assert!(!inactive || waits, "inactive member, and not the last (B7)");
                assert_eq!(leader.is_none(), inactive, "members without a leader (O2)");
                assert!(!isr.is_empty(), "ISR emptied (B7)");
                assert_eq!(*last_leader, None, "a last known leader goes with the ELR (Z3)");
            }
        }
    }
}

#[cfg(test)]
mod tests;
