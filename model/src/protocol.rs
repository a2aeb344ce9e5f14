//! The ladder: which rules which Kafka had. A rung is `klog` plus faults; the list gets shorter
//! with each KIP.

use std::fmt;
use std::sync::Arc;

use crate::fault::Fault;
use crate::rules::Rules;

/// A named set of rules.
#[derive(Clone, Debug)]
pub struct Protocol {
    /// The name of its rung; what was added to it stands in `faults` and `own` only.
    pub name: String,
    /// The broken rules.
    pub faults: Vec<Fault>,
    /// Rules of somebody's own, put in place after the faults.
    pub own: Vec<Own>,
}

/// Rules of somebody's own, in the place of those of the protocol.
#[derive(Clone)]
pub struct Own {
    name: String,
    replace: Arc<dyn Fn(&mut Rules) + Send + Sync>,
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Own({})", self.name)
    }
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
        Some(Self { name: name.into(), faults: faults.collect(), own: Vec::new() })
    }

    /// The correct protocol.
    pub fn klog() -> Self {
        Self::klog_with(&[])
    }

    /// The correct protocol with these rules broken.
    pub fn klog_with(faults: &[Fault]) -> Self {
        Self { name: "klog".into(), faults: faults.to_vec(), own: Vec::new() }
    }

    /// The same with rules of one's own in the place of others. `replace` is called each time the
    /// rules are asked for, after all faults and what was added before.
    ///
    /// Reports, traces and checkpoints know it by `own:NAME`, among the broken rules; nothing is
    /// expected of it. They do not know what it does: another rule needs another name.
    ///
    /// # Panics
    ///
    /// If the name is not of lower-case letters, digits and dashes.
    #[must_use]
    pub fn with_own(
        mut self,
        name: &str,
        replace: impl Fn(&mut Rules) + Send + Sync + 'static,
    ) -> Self {
        let fits = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
        assert!(!name.is_empty() && name.bytes().all(fits), "`{name}`: use a-z, 0-9 and -");
        self.own.push(Own { name: name.into(), replace: Arc::new(replace) });
        self
    }

    /// Whether no rule is broken or replaced.
    pub fn is_correct(&self) -> bool {
        self.faults.is_empty() && self.own.is_empty()
    }

    /// Its decisions.
    pub fn rules(&self) -> Rules {
        let mut rules = Rules::correct();
        for fault in &self.faults {
            (fault.info().replace)(&mut rules);
        }
        for own in &self.own {
            (own.replace)(&mut rules);
        }
        rules
    }

    /// The names of its faults, then those of rules of one's own, as `own:NAME`.
    pub fn fault_names(&self) -> Vec<String> {
        let faults = self.faults.iter().map(|f| f.info().name.to_owned());
        faults.chain(self.own.iter().map(|own| format!("own:{}", own.name))).collect()
    }
}

#[cfg(test)]
mod tests {
    use klog_trace::property::Property::CommittedSurvives;
    use klog_trace::trace::Expect;

    use super::*;
    use crate::record::{Purpose, record};
    use crate::report::{Job, run};
    use crate::rules::isr::{Join, joins};
    use crate::search::{Asked, Files, Goal, Limits};
    use crate::system::System;
    use crate::{scenario, suite, text};

    /// A follower joins wherever it is, as under the fault `join-isr-by-lag-time-only`.
    fn join_anywhere(protocol: Protocol) -> Protocol {
        protocol.with_own("join-anywhere", |r| {
            r.joins = |join| joins(Join { hw: 0, epoch_start: 0, ..join });
        })
    }

    fn job(protocol: Protocol) -> Job {
        let bounds = scenario::by_name("isr-race").expect("a scenario").bounds;
        let expected = suite::expectation("isr-race", &protocol, &bounds);
        let only = Some(Goal::Violate(CommittedSurvives).row().0);
        let asked = Asked::Safety;
        Job { scenario: "isr-race".into(), protocol, bounds, only, asked, expected }
    }

    #[test]
    fn own_rules_are_searched_and_recorded_and_never_taken_for_klog() {
        let own = job(join_anywhere(Protocol::klog()));
        assert!(!own.protocol.is_correct() && own.expected.is_none());
        assert!(job(Protocol::klog()).expected.is_some(), "the same bounds under klog have one");
        assert_ne!(own.identity(), job(Protocol::klog()).identity());

        let report = run(&own, &Limits::default(), &Files::default()).expect("it begins");
        assert_eq!(text::protocol(&report), "klog+own:join-anywhere");
        let fault = job(Protocol::klog_with(&[Fault::JoinByLagTimeOnly]));
        let by_fault = run(&fault, &Limits::default(), &Files::default()).expect("it begins");
        assert_eq!(report.properties[0].told, by_fault.properties[0].told);

        let path = report.properties[0].path.as_ref().expect("a path");
        let system = System::new(own.protocol, own.bounds);
        let purpose =
            Purpose { scenario: "isr-race", property: "committed-survives", verdict: "violated" };
        let trace = record(&system, path, &purpose);
        assert_eq!(trace.header.faults, ["own:join-anywhere"]);
        assert!(matches!(trace.header.expect, Expect::Diverge(_)));
        klog_trace::check_header(&trace).expect("the header is true");
    }

    #[test]
    fn own_rules_come_after_the_faults_and_stand_behind_the_rung() {
        let rung = join_anywhere(Protocol::by_name("kafka-4.x").expect("a rung"));
        let names = rung.fault_names();
        assert_eq!(names.last().map(String::as_str), Some("own:join-anywhere"));
        assert_eq!(names.len(), rung.faults.len() + 1);
        let report = job(rung);
        let limits = Limits { states: Some(10), ..Limits::default() };
        let report = run(&report, &limits, &Files::default()).expect("it begins");
        assert_eq!(text::protocol(&report), "kafka-4.x+own:join-anywhere");

        let min_isr = Protocol::klog_with(&[Fault::HwUnderMinIsr]);
        assert!((min_isr.rules().hw_may_move)(0, 0, 1));
        let mended = min_isr.with_own("mended", |r| r.hw_may_move = crate::rules::isr::hw_may_move);
        assert!(!(mended.rules().hw_may_move)(0, 0, 1));
    }

    #[test]
    #[should_panic(expected = "use a-z, 0-9 and -")]
    fn a_name_that_does_not_fit_on_a_line_is_refused() {
        let _ = Protocol::klog().with_own("two; names", |_| ());
    }
}
