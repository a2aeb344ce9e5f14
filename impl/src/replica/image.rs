//! What the metadata says of the partition and of the brokers.

use crate::types::{BrokerEpoch, BrokerId, Epoch, PartitionEpoch};
use std::collections::{BTreeMap, BTreeSet};

/// Where a broker stands with the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BrokerState {
    /// Registered and serving: may join an ISR and may lead.
    Active,
    /// Registered, but without a session or not yet caught up with the metadata (B3, B4).
    Fenced,
    /// On its way down: leads nothing and joins nothing (B5).
    ShuttingDown,
}

/// One broker as the metadata knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BrokerImage {
    /// Its newest registered life.
    pub epoch: BrokerEpoch,
    /// Its state.
    pub state: BrokerState,
}

/// The partition as the metadata knows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionImage {
    /// The leader, or `None` while there is none.
    pub leader: Option<BrokerId>,
    /// Grows with each change of `leader`, also to the same broker (K1).
    pub leader_epoch: Epoch,
    /// Grows by one with each change record (K1).
    pub partition_epoch: PartitionEpoch,
    /// The assignment, in order; the first is the preferred leader.
    pub replicas: Vec<BrokerId>,
    /// The in-sync replicas, as committed by the controller.
    pub isr: BTreeSet<BrokerId>,
    /// The eligible leader replicas (KIP-966).
    pub elr: BTreeSet<BrokerId>,
    /// Who led last, while nobody leads; the last resort of an election (O2, Z3). `None` without
    /// an ELR.
    pub last_leader: Option<BrokerId>,
    /// `min.insync.replicas` as configured, at least 1. It is part of the image because a change
    /// of it must be seen together with the partition epoch it bumps (X3).
    pub min_isr: u32,
}

/// One coalesced image of the metadata: the final state after any number of records (M6).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MetadataImage {
    /// The partition.
    pub partition: PartitionImage,
    /// Every registered broker.
    pub brokers: BTreeMap<BrokerId, BrokerImage>,
}
