//! Requests of peers, turned into inputs of the core.

use super::Node;
use super::effects::InHand;
use super::frames::{self, Listed, Produced};
use super::links::{Asked, Others, Question};
use super::peer::{Outgoing, Peer};
use super::records;
use crate::disk::Disk;
use crate::replica::io::{FetchRequest, Input, OffsetSpec};
use crate::types::{BrokerId, Epoch, ErrorCode, Offset};
use crate::wire::{self, CorrelationId, TopicId};

/// Most bytes of records in an answer: Kafka's `replica.fetch.response.max.bytes`.
const MAX_RECORD_BYTES: i32 = 10 * 1024 * 1024;

/// Largest batch of a producer, in bytes: Kafka's default of `message.max.bytes`.
const MAX_BATCH_BYTES: usize = 1_048_588;

/// Attribute bits of a batch that is part of a transaction (bit 4) or a marker of one (bit 5).
const TRANSACTION_BITS: i16 = 0x30;

/// Who asks, and under which number.
#[derive(Clone, Copy)]
pub(super) struct Asker {
    pub from: Peer,
    pub id: CorrelationId,
}

/// Takes this node's own partition out of a request. The rest is answered with an error: what
/// this node does not have with `unknown`, a second mention of what it has with 42.
fn split<K, T>(
    parts: impl Iterator<Item = (K, i32, T)>,
    is_ours: impl Fn(&K, i32) -> bool,
    unknown: ErrorCode,
) -> (Option<T>, Others<K>) {
    let (mut ours, mut others) = (None, Vec::new());
    for (topic, index, part) in parts {
        if !is_ours(&topic, index) {
            others.push((topic, index, unknown));
        } else if ours.is_some() {
            others.push((topic, index, ErrorCode::InvalidRequest));
        } else {
            ours = Some(part);
        }
    }
    (ours, others)
}

/// A producer's batch and the number of its records, or why nothing of it is appended.
fn check_batch(bytes: &[u8]) -> Result<(&[u8], u32), ErrorCode> {
    if bytes.len() > MAX_BATCH_BYTES {
        return Err(ErrorCode::InvalidRequest);
    }
    let header = records::produced(bytes).map_err(|_| ErrorCode::CorruptMessage)?;
    // Markers of transactions are the broker's to write, and parts of one need a coordinator.
    if header.attributes & TRANSACTION_BITS != 0 {
        return Err(ErrorCode::InvalidRequest);
    }
    Ok((bytes, header.records))
}

/// Which end of the log this asks for; 42 for every other question. Offsets by time need an index
/// that this log does not have. A follower of this crate learns both ends from its fetches; told a
/// consumer's end it would cut what is not committed yet.
fn wanted(follower: Option<BrokerId>, timestamp: i64) -> Result<OffsetSpec, ErrorCode> {
    match (follower, timestamp) {
        (None, wire::LATEST_TIMESTAMP) => Ok(OffsetSpec::Latest),
        (None, wire::EARLIEST_TIMESTAMP) => Ok(OffsetSpec::Earliest),
        _ => Err(ErrorCode::InvalidRequest),
    }
}

impl<D: Disk> Node<D> {
    pub(super) fn serve(
        &mut self,
        asker: Asker,
        request: wire::Request<'_>,
        now_ms: i64,
        out: &mut Vec<Outgoing>,
    ) {
        match request {
            wire::Request::Produce(produce) => self.serve_produce(asker, produce, now_ms, out),
            wire::Request::Fetch(fetch) => self.serve_fetch(asker, &fetch, now_ms, out),
            wire::Request::ListOffsets(offsets) => self.serve_list_offsets(asker, offsets, out),
            wire::Request::OffsetForLeaderEpoch(epochs) => {
                self.serve_end_offset(asker, epochs, out);
            }
            wire::Request::AlterPartition(_) => {
                out.push(Outgoing::response(asker.from, frames::not_controller(asker.id)));
            }
        }
    }

    fn serve_produce(
        &mut self,
        Asker { from, id }: Asker,
        produce: wire::ProduceRequest<'_>,
        now_ms: i64,
        out: &mut Vec<Outgoing>,
    ) {
        let wire::ProduceRequest { transactional_id, acks, timeout_ms, topics } = produce;
        let parts = topics.into_iter().flat_map(|topic| {
            let parts = topic.partitions.into_iter();
            parts.map(move |part| (topic.name.to_owned(), part.partition, part.records))
        });
        let is_ours =
            |topic: &String, index| *topic == self.config.topic && index == self.config.partition;
        let (ours, others) = split(parts, is_ours, ErrorCode::UnknownTopicOrPartition);
        let batch = match ours {
            None => Err(None),
            // Transactions are not spoken here.
            Some(_) if transactional_id.is_some() => Err(Some(ErrorCode::InvalidRequest)),
            Some(records) => check_batch(records.unwrap_or_default()).map_err(Some),
        };
        let (bytes, records) = match batch {
            Ok(batch) => batch,
            Err(_) if acks == 0 => return out.push(Outgoing::Close { to: from }),
            Err(error) => {
                let nothing = |error| Produced { error, base_offset: None, log_start: None };
                let frame = frames::produced(&self.config, id, error.map(nothing), &others);
                return out.push(Outgoing::response(from, frame));
            }
        };
        let question = Question::Produce { acks, others };
        let request = self.links.ask(Asked { from, correlation_id: id, question });
        let input = Input::Produce { now_ms, request, acks, records, timeout_ms };
        self.step(input, InHand::Produced(bytes), out);
        if acks == 0 {
            self.links.asked.remove(&request);
        } else if self.failure.is_some() {
            // Nobody else answers for a record that was not written.
            self.answer_produce(request, ErrorCode::KafkaStorageError, None, out);
        }
    }

    fn serve_fetch(
        &mut self,
        Asker { from, id }: Asker,
        fetch: &wire::FetchRequest<'_>,
        now_ms: i64,
        out: &mut Vec<Outgoing>,
    ) {
        let parts = fetch.topics.iter().flat_map(|topic| {
            topic.partitions.iter().map(|part| (topic.topic_id, part.partition, part))
        });
        let is_ours = |topic: &TopicId, index| {
            *topic == self.config.topic_id && index == self.config.partition
        };
        let (ours, others) = split(parts, is_ours, ErrorCode::UnknownTopicId);
        // No fetch session was ever handed out.
        let known_session = fetch.session_id == 0;
        let whole = if known_session { ErrorCode::None } else { ErrorCode::InvalidRequest };
        let Some(part) = ours.filter(|_| known_session) else {
            let others = if known_session { others } else { Vec::new() };
            let frame = frames::fetched(&self.config, id, whole, None, others);
            return out.push(Outgoing::response(from, frame));
        };
        let max_bytes =
            fetch.max_bytes.min(part.partition_max_bytes).clamp(0, MAX_RECORD_BYTES).unsigned_abs();
        let question = Question::Fetch { max_bytes, others };
        let request = self.links.ask(Asked { from, correlation_id: id, question });
        let fetch = FetchRequest {
            replica_id: fetch.replica_state.replica_id,
            broker_epoch: fetch.replica_state.replica_epoch,
            current_epoch: part.current_leader_epoch,
            offset: part.fetch_offset,
            last_fetched_epoch: part.last_fetched_epoch,
            log_start: part.log_start_offset.unwrap_or(Offset(0)),
            max_bytes,
        };
        self.step(Input::Fetch { now_ms, request, fetch }, InHand::Nothing, out);
    }

    fn serve_end_offset(
        &mut self,
        Asker { from, id }: Asker,
        asked: wire::OffsetForLeaderEpochRequest<'_>,
        out: &mut Vec<Outgoing>,
    ) {
        let parts = asked.topics.into_iter().flat_map(|topic| {
            let parts = topic.partitions.into_iter();
            parts.map(move |part| (topic.topic.to_owned(), part.partition, part))
        });
        let is_ours =
            |topic: &String, index| *topic == self.config.topic && index == self.config.partition;
        let (ours, others) = split(parts, is_ours, ErrorCode::UnknownTopicOrPartition);
        let Some(part) = ours else {
            let frame = frames::end_offset(&self.config, id, None, &others);
            return out.push(Outgoing::response(from, frame));
        };
        let question = Question::EndOffset { others };
        let request = self.links.ask(Asked { from, correlation_id: id, question });
        let input = Input::EndOffset {
            request,
            current_epoch: part.current_leader_epoch,
            // The end of "no epoch" is undefined; the core knows no entry below epoch 0.
            epoch: part.leader_epoch.unwrap_or(Epoch(-1)),
        };
        self.step(input, InHand::Nothing, out);
    }

    fn serve_list_offsets(
        &mut self,
        Asker { from, id }: Asker,
        asked: wire::ListOffsetsRequest<'_>,
        out: &mut Vec<Outgoing>,
    ) {
        let follower = asked.replica_id;
        let parts = asked.topics.into_iter().flat_map(|topic| {
            let parts = topic.partitions.into_iter();
            parts.map(move |part| (topic.name.to_owned(), part.partition, part))
        });
        let is_ours =
            |topic: &String, index| *topic == self.config.topic && index == self.config.partition;
        let (ours, others) = split(parts, is_ours, ErrorCode::UnknownTopicOrPartition);
        let wanted = match ours.map(|part| (part, wanted(follower, part.timestamp))) {
            Some((part, Ok(wanted))) => Ok((part.current_leader_epoch, wanted)),
            Some((_, Err(error))) => Err(Some(Listed::refused(error))),
            None => Err(None),
        };
        let (current_epoch, wanted) = match wanted {
            Ok(wanted) => wanted,
            Err(refused) => {
                let frame = frames::listed(&self.config, id, refused, &others);
                return out.push(Outgoing::response(from, frame));
            }
        };
        let question = Question::ListOffset { others };
        let request = self.links.ask(Asked { from, correlation_id: id, question });
        let input = Input::ListOffset { request, current_epoch, wanted };
        self.step(input, InHand::Nothing, out);
    }
}
