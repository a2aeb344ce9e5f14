//! Executing what the core decided, front to back.

use super::Node;
use super::frames::{self, Fetched, Listed, Produced};
use super::links::{Asked, Question, Sent};
use super::peer::{Outgoing, Peer};
use super::records::{self, Placed};
use crate::disk::Disk;
use crate::log::{EpochStart, LogError};
use crate::replica::io::{BatchShape, Effect, Input, ReadRange, RequestId};
use crate::types::{Epoch, ErrorCode, Offset};

/// Why a write failed, in words.
pub(super) struct Failure(pub String);

impl From<LogError> for Failure {
    fn from(error: LogError) -> Self {
        Self(error.to_string())
    }
}

/// The bytes that came with the input of a step. The core does not see them.
#[derive(Clone, Copy)]
pub(super) enum InHand<'a> {
    Nothing,
    /// The batch of a produce, checked.
    Produced(&'a [u8]),
    /// The records of a fetch answer, checked.
    Fetched {
        bytes: &'a [u8],
        placed: &'a [Placed],
    },
}

/// An answer to a fetch, and the records still to be read for it.
struct Answer {
    fetched: Fetched<'static>,
    read: Option<ReadRange>,
}

impl<D: Disk> Node<D> {
    /// One step of the core and all its effects. After a failed write the rest is dropped and the
    /// core is told (D6).
    pub(super) fn step(&mut self, input: Input, in_hand: InHand<'_>, out: &mut Vec<Outgoing>) {
        let mut effects = std::mem::take(&mut self.effects);
        self.replica.step(input, &mut effects);
        let done = effects.drain(..).try_for_each(|effect| self.execute(effect, in_hand, out));
        self.effects = effects;
        match done {
            Ok(()) => self.assert_log_is_the_cores(),
            Err(failure) => self.append_failed(failure, out),
        }
    }

    /// Tells the core that its log is not what it thinks. Nothing is written any more.
    pub(super) fn append_failed(&mut self, failure: Failure, out: &mut Vec<Outgoing>) {
        self.failure.get_or_insert(failure.0);
        let mut effects = Vec::new();
        self.replica.step(Input::AppendFailed, &mut effects);
        for effect in effects {
            // What a failed replica says are answers; one of them that would write is dropped.
            let _ = self.execute(effect, InHand::Nothing, out);
        }
    }

    fn execute(
        &mut self,
        effect: Effect,
        in_hand: InHand<'_>,
        out: &mut Vec<Outgoing>,
    ) -> Result<(), Failure> {
        match effect {
            Effect::Append { request: _, base, epoch } => self.append(base, epoch, in_hand)?,
            Effect::AppendReplicated { batches } => self.append_replicated(&batches, in_hand)?,
            Effect::Truncate { to } => self.truncate(to)?,
            Effect::TruncateFully { start_at } => {
                self.log.truncate_fully(start_at)?;
            }
            // Records below may be dropped, and need not: the core lets nobody read them.
            Effect::AdvanceLogStart { to: _ } => {}
            Effect::StoreEpochs { entries, when: _ } => {
                let start = |&(epoch, start)| EpochStart { epoch, start };
                self.log.store_epochs(&entries.iter().map(start).collect::<Vec<_>>())?;
            }
            Effect::SendFetch { to, fetch } => {
                let id = self.links.send(Sent::Fetch { to, request: fetch });
                let frame = frames::fetch(&self.config, id, &fetch);
                out.push(Outgoing::request(Peer::Broker(to), frame));
            }
            Effect::SendAlterPartition(proposal) => {
                let id = self.links.send(Sent::AlterPartition(proposal.clone()));
                let frame = frames::alter_partition(&self.config, id, &proposal);
                out.push(Outgoing::request(Peer::Controller, frame));
            }
            Effect::AnswerFetch { request, error, hw, log_start, diverging, read } => {
                let fetched = Fetched { error, hw, log_start, diverging, records: &[] };
                self.answer_fetch(request, &Answer { fetched, read }, out);
            }
            Effect::AnswerProduce { request, error, base_offset } => {
                self.answer_produce(request, error, base_offset, out);
            }
            Effect::AnswerEndOffset { request, error, end } => {
                self.answer_end_offset(request, (error, end), out);
            }
            Effect::AnswerListOffset { request, error, offset, epoch } => {
                self.answer_list_offset(request, Listed { error, offset, epoch }, out);
            }
        }
        Ok(())
    }

    fn append(&mut self, base: Offset, epoch: Epoch, in_hand: InHand<'_>) -> Result<(), Failure> {
        let InHand::Produced(batch) = in_hand else {
            unreachable!("the core appends in the step of the produce")
        };
        self.log.append_leader(batch, base, epoch)?;
        Ok(())
    }

    fn append_replicated(
        &mut self,
        batches: &[BatchShape],
        in_hand: InHand<'_>,
    ) -> Result<(), Failure> {
        let InHand::Fetched { bytes, placed } = in_hand else {
            unreachable!("the core replicates in the step of the fetch answer")
        };
        let named = records::bytes_of(batches, placed, bytes);
        self.log.append_follower(named.expect("the core names batches it was shown"))?;
        Ok(())
    }

    /// Batches are cut whole, and two logs that part do so between batches. A leader that says
    /// otherwise leaves this log shorter than the core was told.
    fn truncate(&mut self, to: Offset) -> Result<(), Failure> {
        let leo = self.log.truncate_to(to)?;
        if leo == to {
            return Ok(());
        }
        Err(Failure(format!("asked to truncate to {to}, within a batch; the log ends at {leo}")))
    }

    fn answer_fetch(&mut self, request: RequestId, answer: &Answer, out: &mut Vec<Outgoing>) {
        let Some(asked) = self.links.asked.remove(&request) else {
            return;
        };
        let Question::Fetch { max_bytes, others } = asked.question else {
            return;
        };
        let read = answer.read.map(|read| self.log.read(read.from, read.upto, max_bytes));
        let ours = match &read {
            Some(Err(failed)) => {
                self.failure.get_or_insert_with(|| failed.to_string());
                Fetched::refused(ErrorCode::KafkaStorageError)
            }
            Some(Ok(records)) => Fetched { records, ..answer.fetched },
            None => answer.fetched,
        };
        let (id, whole) = (asked.correlation_id, ErrorCode::None);
        let frame = frames::fetched(&self.config, id, whole, Some(ours), others);
        out.push(Outgoing::response(asked.from, frame));
    }

    fn answer_end_offset(
        &mut self,
        request: RequestId,
        ours: (ErrorCode, Option<(Epoch, Offset)>),
        out: &mut Vec<Outgoing>,
    ) {
        let Some(asked) = self.links.asked.remove(&request) else {
            return;
        };
        let Question::EndOffset { others } = asked.question else {
            return;
        };
        let id = asked.correlation_id;
        let frame = frames::end_offset(&self.config, id, Some(ours), &others);
        out.push(Outgoing::response(asked.from, frame));
    }

    fn answer_list_offset(&mut self, request: RequestId, ours: Listed, out: &mut Vec<Outgoing>) {
        let Some(asked) = self.links.asked.remove(&request) else {
            return;
        };
        let Question::ListOffset { others } = asked.question else {
            return;
        };
        let frame = frames::listed(&self.config, asked.correlation_id, Some(ours), &others);
        out.push(Outgoing::response(asked.from, frame));
    }

    pub(super) fn answer_produce(
        &mut self,
        request: RequestId,
        error: ErrorCode,
        base_offset: Option<Offset>,
        out: &mut Vec<Outgoing>,
    ) {
        let Some(asked) = self.links.asked.remove(&request) else {
            return;
        };
        let Asked { from, correlation_id, question } = asked;
        let Question::Produce { acks, others } = question else {
            return;
        };
        if acks == 0 {
            out.push(Outgoing::Close { to: from });
            return;
        }
        let log_start = base_offset.map(|_| self.replica.log().start);
        let ours = Some(Produced { error, base_offset, log_start });
        let frame = frames::produced(&self.config, correlation_id, ours, &others);
        out.push(Outgoing::response(from, frame));
    }

    /// Core and log agree after every step, or one of them is wrong about what is stored.
    fn assert_log_is_the_cores(&self) {
        if self.failure.is_some() {
            return;
        }
        let (core, log) = (self.replica.log(), &self.log);
        assert_eq!(core.leo, log.leo(), "log end of core and log");
        let same = core.epochs.entries().iter().copied();
        assert!(
            same.eq(log.epochs().iter().map(|entry| (entry.epoch, entry.start))),
            "epochs of core {:?} and log {:?}",
            core.epochs.entries(),
            log.epochs()
        );
    }
}
