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

/// A rung: name, what it models, its faults.
pub type Rung = (&'static str, &'static str, &'static [Fault]);

/// Every rung, oldest first. What each leaves out stands in docs/limits.md.
pub const LADDER: [Rung; 4] = [
    (
        "kafka-0.10",
        "truncation to the high watermark, no fencing",
        &[
            Fault::TruncateToHw,
            Fault::UnfencedFetch,
            Fault::UnfencedFetchReply,
            Fault::HwUnderMinIsr,
            Fault::LastReplicaStanding,
            Fault::UncleanCountsAsClean,
        ],
    ),
    (
        "kafka-0.11",
        "truncation by leader epoch (KIP-101), exact look-up",
        &[
            Fault::EpochLookupExact,
            Fault::UnfencedFetch,
            Fault::UnfencedFetchReply,
            Fault::HwUnderMinIsr,
            Fault::LastReplicaStanding,
            Fault::UncleanCountsAsClean,
        ],
    ),
    (
        "kafka-2.0",
        "look-up of the largest epoch not above (KIP-279), no fencing",
        &[
            Fault::UnfencedFetch,
            Fault::UnfencedFetchReply,
            Fault::HwUnderMinIsr,
            Fault::LastReplicaStanding,
            Fault::UncleanCountsAsClean,
        ],
    ),
    ("klog", "every rule in place", &[]),
];

impl Protocol {
    /// The rung with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        let (name, _, faults) = LADDER.into_iter().find(|rung| rung.0 == name)?;
        Some(Self { name: name.into(), faults: faults.to_vec() })
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
