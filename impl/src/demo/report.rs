//! What the demo found, as data. Its JSON is the contract of `--format json`.

use serde::Serialize;

use crate::types::{BrokerId, Epoch, Offset};

/// Everything the demo shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// One entry per round: one produce, then one fetch.
    pub rounds: Vec<Round>,
    /// One produce, then two fetches.
    pub lag: Vec<Fetched>,
    /// The leader removes a follower that lags.
    pub shrink: Shrink,
    /// The ISR at first, after the leader's removal, after the controller's removal.
    pub two_judges: Vec<Vec<i32>>,
    /// A produce with acks=all after the shrink.
    pub acks_all: AcksAll,
    /// A produce with acks=1 after that.
    pub acks_one: AcksOne,
    /// The names of the verdicts on a waiting produce, in the order not yet, committed, ISR too
    /// small.
    pub verdicts: Vec<String>,
    /// Scenario 1 of KIP-101.
    pub kip101: Kip101,
    /// Where leader epochs end.
    pub epochs: Epochs,
    /// Arguments of the run; not part of the document.
    #[serde(skip)]
    pub settings: Settings,
    /// How many claims were checked; not part of the document.
    #[serde(skip)]
    pub checked: u32,
}

/// The arguments of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Rounds of the first table, at least 1.
    pub rounds: u32,
    /// `min.insync.replicas`, 1 or 2.
    pub min_isr: u32,
    /// The time at which everything happens, in milliseconds.
    pub now_ms: i64,
}

/// How far a replica is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Position {
    /// Log end offset.
    pub leo: u64,
    /// High watermark.
    pub hw: u64,
}

impl Position {
    pub(super) fn new(leo: Offset, hw: Offset) -> Self {
        Self { leo: leo.0, hw: hw.0 }
    }
}

/// One round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Round {
    /// Number, from 1.
    pub round: u32,
    /// The leader after the round.
    pub leader: Position,
    /// The follower after the round.
    pub follower: Position,
    /// Records in the answer to the fetch.
    pub records_shipped: u64,
    /// High watermark in that answer.
    pub response_hw: u64,
}

/// One fetch of the lag test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Fetched {
    /// The follower after the fetch.
    pub follower: Position,
    /// The leader's high watermark after the fetch.
    pub leader_hw: u64,
    /// Records in the answer.
    pub records_shipped: u64,
}

/// A shrink of the ISR, and the same a millisecond too early.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shrink {
    /// The last moment at which nothing happens.
    pub before: ShrinkCheck,
    /// The time of the shrink.
    pub at: i64,
    /// Whether the ISR shrank.
    pub result: bool,
    /// The ISR after it.
    pub isr_after: Vec<i32>,
    /// Whether that is smaller than the minimum.
    pub under_min_isr: bool,
}

/// A check of the ISR.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShrinkCheck {
    /// The time.
    pub at: i64,
    /// Whether the ISR shrank.
    pub result: bool,
    /// The ISR after it.
    pub isr: Vec<i32>,
}

/// A produce with acks=all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AcksAll {
    /// Kafka's error code.
    pub error: i16,
    /// The leader's high watermark before.
    pub hw_before: u64,
    /// And after.
    pub hw_after: u64,
}

/// A produce with acks=1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AcksOne {
    /// Offset of its record.
    pub base_offset: u64,
    /// Kafka's error code.
    pub error: i16,
}

/// KIP-101, scenario 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Kip101 {
    /// Truncating to the high watermark.
    pub hw_truncation: HwTruncation,
    /// Truncating by the leader's epochs.
    pub epoch_truncation: EpochTruncation,
}

/// Records lost by truncating to the high watermark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HwTruncation {
    /// After three fetches: the record was not committed.
    pub lost: u64,
    /// With the KIP's fourth fetch, whose answer never arrives: it was committed.
    pub committed_lost: u64,
}

/// Records lost by truncating as the leader's epochs say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EpochTruncation {
    /// The leader's answer: epoch and end offset.
    pub end_offset: (i32, u64),
    /// Records lost, in both forms of the scenario together.
    pub lost: u64,
}

/// The look-up of epoch ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Epochs {
    /// Epoch and start offset of each entry.
    pub entries: Vec<(i32, u64)>,
    /// Log end offset.
    pub leo: u64,
    /// One answer per question, in the order asked.
    pub answers: Vec<EpochAnswer>,
}

/// One answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EpochAnswer {
    /// The epoch asked for.
    pub epoch: i32,
    /// The epoch found and where it ends, or null.
    pub answer: Option<(i32, u64)>,
}

pub(super) fn plain(isr: impl IntoIterator<Item = BrokerId>) -> Vec<i32> {
    isr.into_iter().map(|id| id.0).collect()
}

pub(super) fn pair((epoch, offset): (Epoch, Offset)) -> (i32, u64) {
    (epoch.0, offset.0)
}
