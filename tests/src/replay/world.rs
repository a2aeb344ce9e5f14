//! The real cluster as a property sees it.

use klog_trace::action::Node as Id;
use klog_trace::{BrokerView, ControllerView, EpochStart, Ghost, Life, Record, World};

/// Every node as last observed, and what was promised so far.
pub struct Observed {
    pub brokers: Vec<BrokerView>,
    pub controller: ControllerView,
    pub min_isr: u8,
    pub ghost: Ghost,
}

fn of(brokers: &[BrokerView], id: Id) -> &BrokerView {
    &brokers[usize::from(id) - 1]
}

impl World for Observed {
    fn brokers(&self) -> Id {
        self.brokers.len() as Id
    }

    fn is_up(&self, broker: Id) -> bool {
        of(&self.brokers, broker).life == Life::Up
    }

    fn log(&self, broker: Id) -> &[Record] {
        &of(&self.brokers, broker).log
    }

    fn epochs(&self, broker: Id) -> &[EpochStart] {
        &of(&self.brokers, broker).epochs
    }

    fn hw(&self, broker: Id) -> u8 {
        of(&self.brokers, broker).hw
    }

    fn leads(&self, broker: Id) -> Option<u8> {
        of(&self.brokers, broker).leads()
    }

    fn leader_epoch(&self) -> u8 {
        self.controller.image.leader_epoch
    }

    fn isr(&self) -> &[Id] {
        &self.controller.image.isr
    }

    fn min_isr(&self) -> u8 {
        self.min_isr
    }

    fn ghost(&self) -> &Ghost {
        &self.ghost
    }
}
