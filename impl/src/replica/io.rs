//! What goes into the protocol core and what comes out of it.
//!
//! A shell feeds [`Input`]s to one [`Replica`](super::Replica) at a time and executes the
//! [`Effect`]s of a step front to back, before the next step. So "append, then reply" can be read
//! in the list. If an effect that writes fails, the shell drops the rest of the list and feeds
//! [`Input::AppendFailed`]: a reply is never sent for a record that was not written.

pub use super::image::{BrokerImage, BrokerState, MetadataImage, PartitionImage};
use crate::types::{BrokerEpoch, BrokerId, Epoch, ErrorCode, Offset, PartitionEpoch};
use std::collections::BTreeSet;

/// Name of a waiting client or follower request. The shell gives it out and never uses one twice
/// while the first is unanswered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// The shape of a log after recovery, without its records.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LogShape {
    /// Offset of the first record that is kept.
    pub start: Offset,
    /// Log end offset: offset of the next record.
    pub leo: Offset,
    /// The epoch cache: each epoch with its first offset, strictly increasing in both.
    pub epochs: Vec<(Epoch, Offset)>,
}

/// A fetch, of a follower or of a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FetchRequest {
    /// The follower, or `None` for a consumer (−1 on the wire).
    pub replica_id: Option<BrokerId>,
    /// The follower's registered life (KIP-903), `None` if it did not say.
    pub broker_epoch: Option<BrokerEpoch>,
    /// The leader epoch the sender believes in (KIP-320), `None` if it did not say.
    pub current_epoch: Option<Epoch>,
    /// First offset wanted. For a follower this is its LEO: an ack of everything below (Q7).
    pub offset: Offset,
    /// Epoch of the last record the sender holds (KIP-595), `None` if it did not say.
    pub last_fetched_epoch: Option<Epoch>,
    /// The sender's own log start.
    pub log_start: Offset,
    /// Most bytes wanted; for the shell, which cuts the read.
    pub max_bytes: u32,
}

/// The shape of one record batch: `base..next`, all of one epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchShape {
    /// Offset of the first record.
    pub base: Offset,
    /// Offset after the last record (exclusive).
    pub next: Offset,
    /// The leader epoch stamped into it.
    pub epoch: Epoch,
}

/// What a leader answered to a follower's fetch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FetchAnswer {
    /// The outcome; with an error the other fields but `log_start` mean nothing.
    pub error: ErrorCode,
    /// The leader's high watermark, `None` if it did not say.
    pub hw: Option<Offset>,
    /// The leader's log start, `None` if it did not say.
    pub log_start: Option<Offset>,
    /// Set when the logs part: the largest epoch not above the asked one and its end (F5).
    pub diverging: Option<(Epoch, Offset)>,
    /// The records, as whole batches in order.
    pub batches: Vec<BatchShape>,
}

/// An ISR change a leader asks for (P1). Sent again, it is the same to the byte.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AlterPartitionRequest {
    /// The leader that asks.
    pub broker: BrokerId,
    /// Its registered life.
    pub broker_epoch: BrokerEpoch,
    /// The epoch it leads in.
    pub leader_epoch: Epoch,
    /// The registration it knows.
    pub partition_epoch: PartitionEpoch,
    /// The ISR it wants, in ascending order, each member with the life the leader saw fetching;
    /// `None` for a member that never fetched in this epoch.
    pub isr: Vec<(BrokerId, Option<BrokerEpoch>)>,
}

/// What became of an ISR change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlterPartitionAnswer {
    /// In force; this is the registration that came out of it (R1).
    Accepted {
        /// Leader after the change.
        leader: Option<BrokerId>,
        /// Its epoch.
        leader_epoch: Epoch,
        /// Partition epoch after the change.
        partition_epoch: PartitionEpoch,
        /// ISR after the change.
        isr: BTreeSet<BrokerId>,
    },
    /// Refused with this code (R2, R3) or to be tried again (R4).
    Refused(ErrorCode),
    /// No answer will come: the connection broke or the request timed out (R4).
    Lost,
}

/// Records to read for an answer: `from..upto`, whole batches, cut by the request's `max_bytes`
/// but never below one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReadRange {
    /// First offset.
    pub from: Offset,
    /// End (exclusive): the LEO for a follower, the high watermark for a consumer (F7).
    pub upto: Offset,
}

/// Which offset of a log is asked for (ListOffsets).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OffsetSpec {
    /// The first that can be read: the log start.
    Earliest,
    /// The end of what a consumer can read: the high watermark (N2).
    Latest,
}

/// When an epoch file must be on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StoreWhen {
    /// Written, flushed and renamed before the next effect.
    BeforeNext,
    /// At any later time: recovery mends a stale file by the log itself.
    Lazily,
}

/// Everything that can happen to a replica. Times are milliseconds of any one clock.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// The metadata moved on to this image. Images come in order; the shell may skip any.
    Metadata {
        /// The time.
        now_ms: i64,
        /// The final state.
        image: MetadataImage,
    },
    /// A producer's batch (A1 to A5).
    Produce {
        /// The time.
        now_ms: i64,
        /// To answer it by.
        request: RequestId,
        /// −1 (all), 0 or 1; anything else is refused.
        acks: i16,
        /// Records in the batch.
        records: u32,
        /// How long an acks=all produce may wait.
        timeout_ms: i32,
    },
    /// A fetch arrived (F1 to F8).
    Fetch {
        /// The time.
        now_ms: i64,
        /// To answer it by.
        request: RequestId,
        /// The fetch.
        fetch: FetchRequest,
    },
    /// A fetch that the shell parked is looked at again. All checks run, but it is no news of the
    /// follower's progress (F8, F10).
    Reread {
        /// To answer it by.
        request: RequestId,
        /// The fetch as it arrived.
        fetch: FetchRequest,
    },
    /// The answer to a fetch of this replica.
    FetchAnswer {
        /// The time.
        now_ms: i64,
        /// Who answered.
        from: BrokerId,
        /// The very request it answers (the shell keeps it by correlation id).
        request: FetchRequest,
        /// The answer.
        answer: FetchAnswer,
    },
    /// A fetch of this replica will never be answered: the connection broke or it timed out. Each
    /// [`Effect::SendFetch`] ends in one `FetchAnswer` or one `FetchLost`, unless the metadata
    /// moved to a newer leader epoch meanwhile.
    FetchLost {
        /// Whom it was sent to.
        from: BrokerId,
        /// The very request.
        request: FetchRequest,
    },
    /// Where does an epoch end? (OffsetForLeaderEpoch.)
    EndOffset {
        /// To answer it by.
        request: RequestId,
        /// The leader epoch the sender believes in, `None` if it did not say.
        current_epoch: Option<Epoch>,
        /// The epoch asked for.
        epoch: Epoch,
    },
    /// Where does the log begin or end, for a consumer? (ListOffsets, N2.)
    ListOffset {
        /// To answer it by.
        request: RequestId,
        /// The leader epoch the sender believes in, `None` if it did not say.
        current_epoch: Option<Epoch>,
        /// Which end.
        wanted: OffsetSpec,
    },
    /// What became of a proposal. Each [`Effect::SendAlterPartition`] ends in exactly one of these.
    AlterPartitionAnswer {
        /// The time.
        now_ms: i64,
        /// The very proposal it answers.
        proposal: AlterPartitionRequest,
        /// The answer.
        answer: AlterPartitionAnswer,
    },
    /// Decide on waiting produces. A step of its own (V1 to V3); the shell takes it after each
    /// other step.
    CompleteProduces {
        /// The time.
        now_ms: i64,
    },
    /// Time passed: are there followers that lag (S1)? The high watermark is tried too (X4, X5).
    CheckLag {
        /// The time.
        now_ms: i64,
    },
    /// Time passed: a proposal that got lost, or that nobody could judge, is sent again (R4).
    ResendProposal {
        /// The time.
        now_ms: i64,
    },
    /// Time passed: what has waited long enough is answered (V4).
    ExpireProduces {
        /// The time.
        now_ms: i64,
    },
    /// Records below this offset are to be forgotten (retention, DeleteRecords; G5). Ignored
    /// unless `log start < to <= HW`.
    AdvanceLogStart {
        /// The wanted log start.
        to: Offset,
    },
    /// The log is on stable storage up to here (exclusive). The shell lets no flush result cross
    /// a truncation.
    Flushed {
        /// End of what is stable.
        upto: Offset,
    },
    /// A write failed (D6): this replica appends nothing and leads nothing until it is restored.
    AppendFailed,
}

/// What the shell has to do, in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Append the records of this produce at `base`, stamped with `epoch`.
    Append {
        /// Whose records.
        request: RequestId,
        /// Offset of the first one.
        base: Offset,
        /// The leader epoch.
        epoch: Epoch,
    },
    /// Append these batches of the fetch answer in hand, byte for byte. Those not named are
    /// dropped (Q4b).
    AppendReplicated {
        /// The batches to write, in order.
        batches: Vec<BatchShape>,
    },
    /// Drop every record at or above this offset (T6).
    Truncate {
        /// The new LEO.
        to: Offset,
    },
    /// Drop every record; the log is empty and begins here (T7).
    TruncateFully {
        /// The new log start and LEO.
        start_at: Offset,
    },
    /// Records below this offset may be dropped; reads below it are out of range.
    AdvanceLogStart {
        /// The new log start.
        to: Offset,
    },
    /// Replace the stored epoch cache.
    StoreEpochs {
        /// All entries.
        entries: Vec<(Epoch, Offset)>,
        /// How soon.
        when: StoreWhen,
    },
    /// Send a fetch. After an error answer the shell may wait a little first.
    SendFetch {
        /// The leader.
        to: BrokerId,
        /// The fetch.
        fetch: FetchRequest,
    },
    /// Answer a fetch. An empty one the shell may park instead (F9).
    AnswerFetch {
        /// Which.
        request: RequestId,
        /// The outcome.
        error: ErrorCode,
        /// High watermark; `None` unless this replica leads (−1 on the wire).
        hw: Option<Offset>,
        /// Log start; `None` unless this replica leads (−1 on the wire).
        log_start: Option<Offset>,
        /// Where the logs part (F5).
        diverging: Option<(Epoch, Offset)>,
        /// What to read, `None` when there is nothing.
        read: Option<ReadRange>,
    },
    /// Answer a produce. With acks 0 there is one only for an error: the shell closes the
    /// connection then, since there is no frame to answer in.
    AnswerProduce {
        /// Which.
        request: RequestId,
        /// The outcome.
        error: ErrorCode,
        /// Offset of its first record, `None` if nothing was written or its fate is not known.
        base_offset: Option<Offset>,
    },
    /// Answer a question for the end of an epoch.
    AnswerEndOffset {
        /// Which.
        request: RequestId,
        /// The outcome.
        error: ErrorCode,
        /// The epoch found and its end (exclusive), `None` if undefined (−1, −1 on the wire).
        end: Option<(Epoch, Offset)>,
    },
    /// Answer a question for the begin or the end of the log.
    AnswerListOffset {
        /// Which.
        request: RequestId,
        /// The outcome.
        error: ErrorCode,
        /// The offset, `None` beside an error.
        offset: Option<Offset>,
        /// The epoch it is known by: the leader's for the latest, that of the first record for
        /// the earliest.
        epoch: Option<Epoch>,
    },
    /// Ask the controller for an ISR change.
    SendAlterPartition(AlterPartitionRequest),
}
