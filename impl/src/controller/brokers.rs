//! The lives of brokers: registration, sessions, shutdown (B1 to B7).

use super::change::Election;
use super::{Controller, Elr, LogFate};
use crate::replica::io::{BrokerImage, BrokerState};
use crate::types::{BrokerEpoch, BrokerId};
use std::collections::BTreeSet;

impl Controller {
    /// A broker starts a new life. klog's own rule: with its log kept it stays where it was, in ISR
    /// and ELR, fenced or not, but if it leads it begins a new epoch: a restarted broker never
    /// resumes one. With its log lost it leaves ISR and ELR first and comes back fenced (B2).
    pub(super) fn register(&mut self, broker: BrokerId, log: LogFate) -> BrokerEpoch {
        let epoch = BrokerEpoch(self.last_epoch.0 + 1);
        self.last_epoch = epoch;
        let state = match (log, self.brokers.get(&broker).map(|b| b.state)) {
            (LogFate::Kept, Some(BrokerState::Active)) => BrokerState::Active,
            _ => BrokerState::Fenced,
        };
        self.brokers.insert(broker, BrokerImage { epoch, state });
        self.sessions.remove(&broker);
        match log {
            LogFate::Lost => {
                // Without an ELR a lost log cannot be told from a kept one (B2, B7).
                let lost = (self.elr == Elr::On).then_some(broker);
                self.change(self.isr_without(broker), lost, Election::Online);
            }
            LogFate::Kept if self.partition.leader == Some(broker) => {
                self.change(self.partition.isr.clone(), None, Election::Restarted);
            }
            LogFate::Kept => {}
        }
        epoch
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
