//! The known ways to break the protocol, each by replacing one rule.
//!
//! To add a fault: one entry in the list below (the compiler asks for each part of it): its name,
//! the public report, the rule, one sentence, what is put in the rule's place, and what catches it.

mod broken;

use klog_trace::Acks;
use klog_trace::progress::Progress::{CanSettle, Served};
use klog_trace::property::Property::{
    AcknowledgedHonestly, CandidatesComplete, CommittedSurvives, ConsistentRead, EndOffsetKept,
    EpochsOrdered, HwInLog, IsrSound, LeaderHwMonotone, LogsMatch, RefusedWritesNothing,
};
use klog_trace::view::Session;

use crate::rules::{
    Admission, Checked, Diverged, Fate, Join, Rules, follower as f, isr as i, leader as l,
};
use crate::search::Goal::{self, Lose, Violate};

/// What there is to say of a fault.
#[derive(Clone, Copy, Debug)]
pub struct FaultInfo {
    /// The name on the command line.
    pub name: &'static str,
    /// The public report it stands for.
    pub report: &'static str,
    /// The rule it breaks.
    pub rule: &'static str,
    /// One sentence.
    pub sentence: &'static str,
    /// Puts the broken decision in place of the right one.
    pub replace: fn(&mut Rules),
    /// What notices it.
    pub caught: Caught,
}

/// What notices that a rule is broken.
#[derive(Clone, Copy, Debug)]
pub enum Caught {
    /// This breaks in this scenario, in so many steps and no fewer.
    By(&'static str, Goal, usize),
    /// Only together with another broken rule.
    With(Fault, &'static str, Goal, usize),
    /// Nothing does in these scenarios, each searched to its end, and this is why.
    Never(&'static [&'static str], &'static str),
}

macro_rules! faults {
    ($($fault:ident $name:literal $report:literal $rule:literal $sentence:literal
        $caught:expr; $replace:expr;)*) => {
        /// One broken rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Fault {
            $(#[doc = $sentence] $fault,)*
        }

        impl Fault {
            /// Every fault.
            pub const ALL: &'static [Self] = &[$(Self::$fault),*];

            /// What there is to say of it.
            pub fn info(self) -> FaultInfo {
                match self {
                    $(Self::$fault => FaultInfo {
                        name: $name,
                        report: $report,
                        rule: $rule,
                        sentence: $sentence,
                        replace: $replace,
                        caught: $caught,
                    },)*
                }
            }
        }
    };
}

use Caught::{By, Never, With};

faults! {
    // Truncation and epochs.
    TruncateToHw "truncate-to-hw" "KIP-101, KAFKA-1211 (B01, B02)" "F5, M4"
        "a follower cuts its log at its own high watermark, which lags"
        By("fast-failover", Violate(CandidatesComplete), 7);
        |r| {
            r.cut_on_following = |leo, hw| leo.min(hw);
            // No leader compares epochs, so none can say where logs diverge.
            r.diverging = |_, _, _| Ok(None);
        };
    EpochLookupExact "epoch-lookup-exact" "KIP-279, KAFKA-6361 (B03)" "epoch look-up"
        "the leader answers where a later epoch starts, though it may not have known the asked one"
        By("fast-failover", Violate(LogsMatch), 9);
        |r| r.epoch_end = broken::epoch_end_exact;
    NoEpochEntryWithoutRecords "no-epoch-entry-without-records" "KAFKA-7415 (B18)" "L3"
        "an epoch is remembered only with its first record"
        By("fast-failover", Lose(CanSettle), 3);
        |r| r.begin_epoch = |cache, _, _| cache;
    LookupBelowFirstUndefined "lookup-below-first-undefined" "KAFKA-7415 (B18)" "epoch look-up"
        "an epoch below the first one known is unknown to the leader"
        By("power-loss", Lose(CanSettle), 2);
        |r| r.epoch_end = broken::epoch_end_undefined_below;
    KeepTrailingEntry "keep-trailing-entry" "KAFKA-10706 (B19)" "T6"
        "a cut at or past the log end leaves an epoch entry without records"
        By("fast-failover", Lose(CanSettle), 5);
        |r| r.cut_cache = |cache, to, leo| {
            if to < leo { f::cut_cache(cache, to, leo) } else { cache }
        };
    T5UsesLeaderEnd "t5-uses-leader-end" "derived (T5)" "T5"
        "a follower that does not know the leader's epoch cuts at the leader's end of it"
        By("fast-failover", Lose(CanSettle), 6);
        |r| r.cut_on_diverging = |_, leo, leader| leader.offset.min(leo);
    ForgetLastFetchedEpoch "forget-last-fetched-epoch" "KAFKA-15510" "Q5"
        "an empty answer makes a follower forget its newest epoch"
        Never(&["fast-failover", "fenced", "power-loss"],
            "an empty answer has compared the epochs already, and within one epoch of one \
             leader nothing diverges again");
        |r| r.last_epoch = |cache, after| match after {
            crate::rules::AnswerTaken::Empty => None,
            after => f::last_epoch(cache, after),
        };
    TruncationNotDurable "truncation-not-durable" "RocketMQ #10666 (B77)" "T6"
        "what was cut off and not yet written over is back after the process died"
        By("three-records", Violate(EpochsOrdered), 11);
        |r| r.cut_is_durable = || false;
    HwBeforeTruncation "hw-before-truncation" "KAFKA-14704 (B11, B96)" "Q3"
        "a follower takes the high watermark of a diverging answer before it cuts its log"
        By("fenced", Violate(ConsistentRead), 7);
        |r| r.on_diverging = |own, answered, leo| {
            Diverged::CutLater(f::follower_hw(own, answered, leo))
        };

    // Fencing.
    UnfencedFetch "unfenced-fetch" "KIP-320, KAFKA-6880 (B04, B13)" "F1"
        "a leader serves, and counts, a fetch made in another epoch"
        By("re-elected", Violate(CandidatesComplete), 11);
        |r| r.fence = |_, _| None;
    UnfencedFetchReply "unfenced-fetch-reply" "KAFKA-18991 (B06, B07)" "Q2"
        "a follower takes any answer whose offset is its log end"
        By("fast-failover", Violate(EpochsOrdered), 10);
        |r| {
            r.answer_is_mine = |of, mine| of.offset == mine.offset;
            r.diverging_is_mine = r.answer_is_mine;
        };
    UnfencedTruncation "unfenced-truncation" "Kip320.tla, rule 2 (B07, B98)" "Q2"
        "a follower cuts its log by a diverging answer of another epoch"
        By("stale-fetch", Violate(CandidatesComplete), 20);
        |r| r.diverging_is_mine = |of, mine| of.offset == mine.offset;
    AppendHigherEpochFromReply "append-higher-epoch-from-reply" "KAFKA-18723 (B08)" "Q4b"
        "a follower appends records of an epoch that it did not ask in"
        With(Fault::AnswerReadAtSend, "zombie", Violate(EpochsOrdered), 13);
        |r| r.takes = |records, _| records.len();
    AnswerReadAtSend "answer-read-at-send" "KAFKA-18723 (B08)" "Q4b"
        "an answer is sent with what stands in the log by then, and not with what was read"
        Never(&["zombie", "re-elected"],
            "a log is written anew in a newer epoch only, and of that a follower takes nothing \
             (Q4b)");
        |r| r.sends_what_was_read = || false;
    SkipReconcileSameLeader "skip-reconcile-same-leader" "KAFKA-7164" "M2"
        "a follower whose leader begins a new epoch goes on as before"
        By("fast-failover", Lose(CanSettle), 5);
        |r| r.restarts_fetcher = || false;

    // What a fetch counts for.
    DivergingFetchCountsAsAck "diverging-fetch-counts-as-ack" "KAFKA-13141 (B14)" "F6"
        "a fetch from a log that diverges is taken for an acknowledgement"
        By("fast-failover", Violate(CandidatesComplete), 6);
        |r| r.counts_as_progress = |c| matches!(c, Checked::Good | Checked::Diverging(_));
    FailedReadUpdatesProgress "failed-read-updates-progress" "KAFKA-8400 (B15)" "F6"
        "a fetch that is refused is taken for news of its sender all the same"
        By("fast-failover", Violate(CandidatesComplete), 8);
        |r| r.counts_as_progress = |c| !matches!(c, Checked::Diverging(_) | Checked::OutOfRange);
    OutOfRangeCountsAsAck "out-of-range-counts-as-ack" "RocketMQ #3015 (B52)" "F7"
        "a fetch past the log end is taken for an acknowledgement"
        With(Fault::NoEpochEntryWithoutRecords, "fast-failover", Violate(CandidatesComplete), 6);
        |r| r.counts_as_progress = |c| matches!(c, Checked::Good | Checked::OutOfRange);
    NoBrokerEpochFenceOnProgress "no-broker-epoch-fence-on-progress" "KIP-903" "U1"
        "a fetch of a former life counts for the present one"
        By("power-loss", Violate(CandidatesComplete), 13);
        |r| r.from_older_life = |_, _| false;
    KeepFollowerLeoOnReElection "keep-follower-leo-on-re-election" "X1, Kafka as shipped" "L3"
        "a leader that is elected again keeps what it knew of its followers"
        By("re-elected", Violate(CandidatesComplete), 11);
        |r| r.progress_at_start = |before, _| before;
    KeepProgressOfNonIsr "keep-progress-of-non-isr" "Vanlightly/kafka-tlaplus" "L3"
        "a leader that is elected again keeps what it knew of those who are not in its ISR"
        Never(&["re-elected"],
            "it asks whether one may join at that one's own fetch only, which tells its log end");
        |r| {
            r.progress_at_start = |before, is_member| {
                if is_member { l::progress_at_start(before, is_member) } else { before }
            };
        };

    // Changes of the ISR.
    IgnorePendingExpand "isr-instead-of-maximal-isr-expand" "KAFKA-8836 (B33)" "I1"
        "a follower that is proposed into the ISR does not count before the answer"
        By("isr-race", Violate(CandidatesComplete), 6);
        |r| r.maximal_isr = |isr, _| isr.to_vec();
    CountPendingShrink "isr-instead-of-maximal-isr-shrink" "KIP-497, AsyncIsr.tla (B33, B102)" "S2"
        "a follower that is proposed out of the ISR does not count from then on"
        By("lag", Violate(CandidatesComplete), 2);
        |r| r.maximal_isr = broken::proposed_isr;
    EqualPartitionEpochCancels "equal-partition-epoch-cancels-pending" "X2, as shipped" "L1, L2"
        "metadata that repeats a partition epoch cancels a newer proposal"
        By("isr-race", Violate(CandidatesComplete), 7);
        |r| r.settles = |image, mine| image >= mine;
    JoinAtHwOnly "join-isr-at-hw-only" "KAFKA-7128 (B32)" "E1"
        "a follower joins at a high watermark that lags behind the start of the epoch"
        By("power-loss", Violate(CandidatesComplete), 12);
        |r| r.joins = |join| i::joins(Join { epoch_start: 0, ..join });
    JoinByLagTimeOnly "join-isr-by-lag-time-only" "a public broker in Rust" "E1"
        "a follower joins as soon as it fetches, wherever it is"
        By("isr-race", Violate(CandidatesComplete), 6);
        |r| r.joins = |join| i::joins(Join { hw: 0, epoch_start: 0, ..join });
    JoinWhileFenced "join-isr-while-fenced" "KIP-841, KAFKA-13916 (B49)" "E1, 18.13"
        "a fenced broker that fetches on joins the ISR"
        By("fenced", Violate(IsrSound), 4);
        |r| {
            r.joins = |mut join| {
                join.known.state = Session::Active;
                i::joins(join)
            };
            r.member_is_active = |_| true;
        };
    EligibilityInTwoReads "eligibility-in-two-reads" "KAFKA-15221 (B48)" "E1"
        "who joins is asked of the log end before a fetch and of the broker epoch after it"
        By("power-loss", Violate(CandidatesComplete), 12);
        |r| r.joins_at = |before, _| before;
    StaleBrokerEpochRejoins "stale-broker-epoch-rejoins" "KIP-903 (B47, B62)" "E1, 18.13"
        "a broker joins the ISR for what a former life of it had"
        By("last-replica", Violate(CandidatesComplete), 17);
        |r| r.member_lives = |_, _| true;
    UncheckedPartitionEpoch "alter-partition-unchecked-partition-epoch" "KIP-497" "18.8"
        "the controller accepts a proposal made at an older version of the registration"
        By("min-isr", Violate(CandidatesComplete), 5);
        |r| r.version_is_current = |_, _| true;
    RevertOnUnknownOutcome "revert-on-unknown-outcome" "KIP-497 (R3)" "R3"
        "a leader takes a refusal for a proof that nothing was applied"
        By("isr-race", Violate(CandidatesComplete), 10);
        |r| r.refused = |error| match i::refused(error) {
            Fate::Unknown => Fate::Void,
            fate => fate,
        };
    RevertOnLostAnswer "revert-on-lost-answer" "KAFKA-8836 (B33)" "R4"
        "a leader whose ISR change is not answered takes it for not applied"
        By("isr-race", Violate(CandidatesComplete), 7);
        |r| r.answer_lost = || Fate::Void;
    ReplyMatchedByNothing "reply-matched-by-nothing" "KAFKA-12686 (B36)" "R0"
        "any answer is taken for the answer to the open proposal"
        Never(&["isr-race", "reset"],
            "one proposal is on its way at a time (S3), and what is void by then is refused");
        |r| r.reply_is_mine = |_, _| true;
    RefusalWithoutEpoch "refusal-without-epoch" "X6, Kafka as shipped" "R2"
        "a proposal refused for an ineligible member can still be accepted by an earlier try of it"
        By("isr-race", Violate(CandidatesComplete), 12);
        |r| r.refusal_is_versioned = |_| false;
    ResendWithFreshBrokerEpochs "resend-with-fresh-broker-epochs" "derived (P1)" "P1, R4"
        "a proposal that got lost is sent again with the broker epochs of now"
        By("reset", Violate(CandidatesComplete), 16);
        |r| r.resent = |_, now| now;

    // The high watermark.
    HwUnderMinIsr "hw-under-min-isr" "KAFKA-15583 (B55)" "H1"
        "records become readable though the ISR is under its minimum"
        By("under-min-isr", Violate(CommittedSurvives), 7);
        |r| r.hw_may_move = |_, _, _| true;
    MinIsrOfMaximalIsr "min-isr-of-maximal-isr" "the course chapter's advance_hw" "H1"
        "a proposed member counts for the minimum before it is accepted"
        By("three-under-min", Violate(CandidatesComplete), 7);
        |r| r.hw_may_move = |_, maximal, min_isr| i::hw_may_move(maximal, maximal, min_isr);
    CheckpointPastLogEnd "checkpoint-past-log-end" "derived (D1)" "D1"
        "a broker that starts takes its checkpoint though its log is shorter"
        By("checkpoint", Violate(HwInLog), 8);
        |r| r.hw_at_restart = |checkpoint, _| checkpoint;
    HwGoesBack "hw-goes-back" "KAFKA-3978 (B64)" "H3"
        "a leader lowers its high watermark to the slowest follower"
        By("isr-race", Violate(LeaderHwMonotone), 6);
        |r| r.raised = |_, candidate| candidate;
    NewLeaderRaisesHwToLeo "new-leader-raises-hw-to-leo" "derived (L5)" "L5"
        "a new leader takes everything it has for committed"
        By("fast-failover", Violate(CandidatesComplete), 4);
        |r| r.hw_at_start = |_, leo| leo;
    HwOverAllReplicas "hw-over-all-replicas" "derived (H2)" "H2"
        "the high watermark waits for every replica"
        By("isr-race", Lose(Served), 3);
        |r| r.counts_for_hw = |_| true;
    NoHwUpdateOnIsrConfirm "no-hw-update-on-isr-confirm" "KAFKA-13091 (B35)" "H5"
        "the high watermark is not tried when a proposal is accepted"
        By("lag", Lose(Served), 9);
        |r| r.tries_hw_after_accept = || false;
    NoHwAfterRevert "no-hw-after-revert" "X4, Kafka as shipped" "H5"
        "the high watermark is not tried when a proposal is refused for good"
        With(Fault::RefusalWithoutEpoch, "reset", Lose(Served), 7);
        |r| r.tries_hw_after_refusal = || false;
    NoHwOnEligibilityChange "no-hw-on-eligibility-change" "X5, Kafka as shipped" "H5"
        "the high watermark is not tried when only a broker's state changes"
        By("exact-clock", Lose(Served), 8);
        |r| {
            r.tries_hw_on_brokers = || false;
            r.tries_hw_on_tick = || false;
        };
    WaitForIneligibleFollower "wait-for-ineligible-follower" "KAFKA-15021 (B39)" "H2"
        "the high watermark waits for a caught-up follower that may not join"
        By("exact-clock", Lose(Served), 4);
        |r| r.counts_for_hw = |counting| counting.caught_up || i::counts_for_hw(counting);
    ClockRegressionCountsAsFresh "clock-regression-counts-as-fresh" "nebula #2723 (B108)" "C1"
        "what was heard recently stays recent when the clock is set back"
        Never(&["clock-jump"],
            "it keeps a silent follower in the ISR for longer, and the high watermark waits for \
             it: nothing is lost, and whoever is silent for good is fenced");
        |r| r.recent_after_setback = |was| was;

    // Producers and consumers.
    AcknowledgeOnAppend "acknowledge-on-append" "derived (A5)" "A5"
        "acks=all is answered as soon as the leader has the record"
        By("fast-failover", Violate(AcknowledgedHonestly), 1);
        |r| r.waits = |_: Acks| false;
    AcknowledgeByFollowerHw "acknowledge-by-follower-hw" "KAFKA-20634 (B70)" "V1"
        "what waits at a former leader is answered by its high watermark as a follower"
        By("fenced", Violate(AcknowledgedHonestly), 10);
        |r| {
            r.ends_with_reign = |_| false;
            r.decides = |waiting, _, hw| waiting.offset < hw;
        };
    WaitersSurviveLostLeadership "waiters-survive-lost-leadership" "derived (V1, V5)" "V1"
        "what waits at a former leader is answered when it leads again"
        By("fenced", Violate(AcknowledgedHonestly), 10);
        |r| {
            r.ends_with_reign = |_| false;
            r.decides = |waiting, leads, hw| leads.is_some() && waiting.offset < hw;
        };
    MinIsrNotCheckedBeforeAppend "check-min-isr-not-before-append" "derived (A3)" "A3"
        "acks=all is appended before it is refused for want of replicas"
        By("elr", Violate(RefusedWritesNothing), 3);
        |r| r.admits = |isr, min_isr| match l::admits(isr, min_isr) {
            Admission::Refuse(error) => Admission::AppendAndRefuse(error),
            admission => admission,
        };
    ServeConsumerPastHw "serve-consumer-past-hw" "KAFKA-9196 (B67, B68)" "N1"
        "consumers read everything a broker has"
        By("fast-failover", Violate(ConsistentRead), 4);
        |r| r.readable = |_, leo| leo;
    EndOffsetBelowEpochStart "end-offset-below-epoch-start" "KIP-207, KAFKA-2334 (B66)" "N2"
        "a new leader tells its lagging high watermark for the end of its log"
        By("fast-failover", Violate(EndOffsetKept), 6);
        |r| r.told_end = |hw, _| Some(hw);

    // The controller.
    ElectOutsideIsr "elect-outside-isr" "Iggy #3824 (B78)" "O1"
        "any active replica may be elected"
        By("isr-race", Violate(CommittedSurvives), 6);
        |r| r.may_lead = |candidate| candidate.is_active;
    UncleanCountsAsClean "unclean-counts-as-clean" "KAFKA-18635 (B56, B61)" "B2"
        "a broker that lost its log's end stays in the ELR"
        By("last-replica", Violate(CommittedSurvives), 12);
        |r| r.is_clean = |_, _| true;
    ResumeEpochAfterRestart "resume-epoch-after-restart" "KIP-380 (B50, B79, B86)" "B1"
        "a broker that is back before its session is over goes on where its former life was"
        By("power-loss", Violate(CommittedSurvives), 7);
        |r| r.may_register = |_| true;
    NoEpochBumpOnReElection "no-epoch-bump-on-unclean-restart" "AutoMQ #1187 (B51)" "K1"
        "a leader that comes back goes on in the epoch it led before"
        By("last-replica", Violate(CandidatesComplete), 12);
        |r| r.begins_epoch = |was, last, now| was != now && now != last;
    LastReplicaStanding "last-replica-standing-without-elr" "KIP-966 (B54)" "B7, Z1, Z2"
        "the last member stays in the ISR and is elected, whatever it lost"
        By("last-replica", Violate(CommittedSurvives), 12);
        |r| r.eligible_after = |_| None;
    IsrWrittenEmpty "isr-written-empty" "KAFKA-708 (B59)" "B7"
        "the last member is removed though there is no ELR"
        By("no-elr", Violate(IsrSound), 3);
        |r| r.may_be_empty = || true;
    ElectInactiveLastLeader "elect-inactive-last-leader" "Kafka before 4.1" "O2"
        "the last known leader is elected though it is not active"
        By("last-replica", Violate(IsrSound), 6);
        |r| r.last_leader_may = |_| true;
    ElrKeptOnMinIsrChange "elr-kept-on-min-isr-change" "KAFKA-16540 (B58)" "Z4"
        "the ELR of another minimum is kept"
        By("min-isr-of-two", Violate(CandidatesComplete), 4);
        |r| r.elr_after_min_isr = |elr| elr;
    MinIsrChangeWithoutEpoch "min-isr-change-without-epoch" "X3, Kafka as shipped" "Z5"
        "a change of the minimum is no new version of the registration"
        By("min-isr", Violate(CandidatesComplete), 5);
        |r| r.min_isr_is_versioned = || false;
}

impl Fault {
    /// The fault with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|f| f.info().name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for fault in Fault::ALL {
            assert_eq!(Fault::by_name(fault.info().name), Some(*fault));
        }
        assert_eq!(Fault::by_name("none"), None);
    }
}
