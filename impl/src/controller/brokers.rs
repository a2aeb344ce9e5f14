//! The lives of brokers: registration, sessions, shutdown (B1 to B7).

use super::change::Election;
use super::{Controller, Elr};
use crate::replica::io::{BrokerImage, BrokerState};
use crate::types::{BrokerEpoch, BrokerId, ErrorCode};
use std::collections::BTreeSet;

/// How a life ended (D3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shutdown {
    /// In order: everything it wrote is on its disk.
    Clean,
    /// Something it wrote may be gone.
    Unclean,
}

impl Controller {
    /// B1: a broker starts a new life, fenced. While the life before has a session, whoever asks
    /// is an impostor or too early, and nothing changes. Else the end of that life is dealt with
    /// before the new one begins: no record shows the new life in the place of the old.
    pub(super) fn register(
        &mut self,
        broker: BrokerId,
        clean_shutdown: Option<BrokerEpoch>,
    ) -> Result<BrokerEpoch, ErrorCode> {
        if let Some(old) = self.brokers.get(&broker).copied() {
            if old.state != BrokerState::Fenced {
                return Err(ErrorCode::DuplicateBrokerRegistration);
            }
            let clean = clean_shutdown == Some(old.epoch);
            self.end_life(broker, if clean { Shutdown::Clean } else { Shutdown::Unclean });
        }
        let epoch = BrokerEpoch(self.last_epoch.0 + 1);
        self.last_epoch = epoch;
        self.brokers.insert(broker, BrokerImage { epoch, state: BrokerState::Fenced });
        self.sessions.remove(&broker);
        Ok(epoch)
    }

    /// B2: who may have lost records is no member and not eligible to lead. Without an ELR an
    /// unclean end cannot be told from a clean one (B7).
    fn end_life(&mut self, broker: BrokerId, shutdown: Shutdown) {
        let lost = (shutdown == Shutdown::Unclean && self.elr == Elr::On).then_some(broker);
        self.change(self.isr_without(broker), lost, Election::Online);
    }

    /// B3: no session, so no member and no leader.
    pub(super) fn fence(&mut self, broker: BrokerId) {
        self.retire(broker, BrokerState::Fenced);
    }

    /// B5: going down, so no member and no leader.
    pub(super) fn shut_down(&mut self, broker: BrokerId) {
        if self.is_active(broker) {
            self.retire(broker, BrokerState::ShuttingDown);
        }
    }

    fn retire(&mut self, broker: BrokerId, state: BrokerState) {
        self.sessions.remove(&broker);
        let Some(image) = self.brokers.get_mut(&broker) else {
            return;
        };
        image.state = state;
        self.change(self.isr_without(broker), None, Election::Online);
    }

    /// B4: active again; it may lead if nobody does.
    pub(super) fn unfence(&mut self, broker: BrokerId) {
        let Some(image) = self.brokers.get_mut(&broker) else {
            return;
        };
        if image.state != BrokerState::Fenced {
            return;
        }
        image.state = BrokerState::Active;
        if self.partition.leader.is_none() {
            self.change(self.partition.isr.clone(), None, Election::Online);
        }
    }

    /// End the sessions that have run out, one broker at a time (KAFKA-13173). A broker not heard
    /// of yet, or heard of later than now because the clock went back, has its time from now on.
    pub(super) fn end_sessions(&mut self, now_ms: i64) {
        let unfenced =
            |(id, b): (&BrokerId, &BrokerImage)| (b.state != BrokerState::Fenced).then_some(*id);
        let unfenced: Vec<BrokerId> = self.brokers.iter().filter_map(unfenced).collect();
        for broker in unfenced {
            let heard = self.sessions.entry(broker).or_insert(now_ms);
            *heard = now_ms.min(*heard);
            if now_ms.saturating_sub(*heard) > self.session_timeout_ms {
                self.fence(broker);
            }
        }
    }

    fn isr_without(&self, broker: BrokerId) -> BTreeSet<BrokerId> {
        self.partition.isr.iter().copied().filter(|&id| id != broker).collect()
    }
}
