//! shares no decision with `klog`.
//!
//! The model of leader-follower log replication for one partition: brokers, a controller and
//! clients as stateright actors, with messages in flight, stale leaders, crashes and power
//! losses. A protocol is a value ([`rules::Rules`]); a known bug replaces one rule
//! ([`fault::Fault`]); a search ([`search`]) looks at every interleaving within the named
//! budgets of a scenario.

pub mod bench;
pub mod broker;
pub mod cases;
pub mod catalogue;
pub mod client;
pub mod controller;
mod enabled;
#[cfg(test)]
mod exact;
pub mod fault;
mod memory;
pub mod mutants;
pub mod network;
pub mod node;
pub mod protocol;
pub mod record;
mod reduce;
pub mod report;
pub mod row;
pub mod rules;
pub mod scenario;
pub mod scripts;
pub mod search;
pub mod suite;
pub mod svg;
pub mod system;
pub mod text;
pub mod twin;
