//! The ladder: which rules which Kafka had. A rung is `klog` plus faults; the list gets shorter
//! with each KIP.

use crate::fault::Fault;
use crate::rules::Rules;

/// A named set of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// Its name; faults that a user added stand in `faults` only.
    pub name: String,
    /// The broken rules.
    pub faults: Vec<Fault>,
}

/// A rung: name, what it models, the faults that the next rung mends.
pub type Rung = (&'static str, &'static str, &'static [Fault]);

/// Every rung, oldest first: it has its own faults and those of every later one. What each leaves
/// out stands in docs/limits.md.
pub const LADDER: [Rung; 8] = [
    ("kafka-0.10", "truncation to the high watermark, no fencing", &[Fault::TruncateToHw]),
    (
        "kafka-0.11",
        "truncation by leader epoch (KIP-101), exact look-up",
        &[Fault::EpochLookupExact],
    ),
    (
        "kafka-2.0",
        "look-up of the largest epoch not above (KIP-279), no fencing",
        &[Fault::UnfencedFetch, Fault::ResumeEpochAfterRestart],
    ),
    (
        "kafka-2.1",
        "fencing by leader epoch (KIP-320), the ISR written directly",
        &[Fault::RevertOnLostAnswer],
    ),
    (
        "kafka-2.7",
        "ISR changes as proposals with a maximal ISR (KIP-497), truncation on fetch",
        &[Fault::JoinWhileFenced, Fault::StaleBrokerEpochRejoins],
    ),
    (
        "kafka-3.7",
        "no fenced members (KIP-841), no stale lives (KIP-903)",
        &[Fault::LastReplicaStanding, Fault::HwUnderMinIsr, Fault::UnfencedFetchReply],
    ),
    (
        "kafka-4.x",
        "eligible leader replicas, the minimum holds the high watermark (KIP-966)",
        &[
            Fault::KeepFollowerLeoOnReElection,
            Fault::EqualPartitionEpochCancels,
            Fault::MinIsrChangeWithoutEpoch,
            Fault::RefusalWithoutEpoch,
            Fault::NoHwAfterRevert,
            Fault::NoHwOnEligibilityChange,
            Fault::AcknowledgeByFollowerHw,
        ],
    ),
    ("klog", "every rule in place", &[]),
];

impl Protocol {
    /// The rung with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        let at = LADDER.iter().position(|rung| rung.0 == name)?;
        let faults = LADDER[at..].iter().flat_map(|rung| rung.2).copied();
        Some(Self { name: name.into(), faults: faults.collect() })
    }

    /// The correct protocol.
    pub fn klog() -> Self {
        Self { name: "klog".into(), faults: Vec::new() }
    }

    /// The correct protocol with these rules broken.
    pub fn klog_with(faults: &[Fault]) -> Self {
        Self { name: "klog".into(), faults: faults.to_vec() }
    }

    /// Its decisions.
    pub fn rules(&self) -> Rules {
        let mut rules = Rules::correct();
        for fault in &self.faults {
            (fault.info().replace)(&mut rules);
        }
        rules
    }

    /// The names of its faults.
    pub fn fault_names(&self) -> Vec<String> {
        self.faults.iter().map(|f| f.info().name.to_owned()).collect()
    }
}
