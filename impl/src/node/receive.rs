//! Frames on their way in, and the responses among them.

use super::effects::InHand;
use super::error::MAX_PARTITIONS;
use super::links::Sent;
use super::peer::{Outgoing, Peer, Way};
use super::serve::Asker;
use super::{Node, NodeError, records};
use crate::disk::Disk;
use crate::replica::io::{AlterPartitionAnswer, FetchAnswer, FetchRequest, Input};
use crate::types::{BrokerId, ErrorCode};
use crate::wire::{self, CorrelationId, DecodeError};

/// Refuses a request whose answer might not fit in a frame.
pub(super) fn within_limits(peer: Peer, request: &wire::Request<'_>) -> Result<(), NodeError> {
    match request.partitions() {
        0..=MAX_PARTITIONS => Ok(()),
        count => Err(NodeError::TooMany { peer, count }),
    }
}

impl<D: Disk> Node<D> {
    /// Takes in one whole frame, length prefix included. What is to be sent because of it is
    /// appended to `out`.
    pub fn receive(
        &mut self,
        from: Peer,
        way: Way,
        frame: &[u8],
        now_ms: i64,
        out: &mut Vec<Outgoing>,
    ) -> Result<(), NodeError> {
        let undecodable = |error: DecodeError| NodeError::Undecodable { peer: from, error };
        match way {
            Way::Request => {
                let (header, request) = wire::decode_request(frame).map_err(undecodable)?;
                within_limits(from, &request)?;
                let asker = Asker { from, id: header.correlation_id };
                self.serve(asker, request, now_ms, out);
                Ok(())
            }
            Way::Response => {
                let response = wire::decode_response(frame).map_err(undecodable)?;
                self.take_response(from, response, now_ms, out)
            }
        }
    }

    /// The request is forgotten only when its response is understood.
    fn take_response(
        &mut self,
        peer: Peer,
        response: wire::Response<'_>,
        now_ms: i64,
        out: &mut Vec<Outgoing>,
    ) -> Result<(), NodeError> {
        let correlation_id = response.correlation_id;
        let undecodable = |error: DecodeError| NodeError::Undecodable { peer, error };
        match self.links.sent.get(&correlation_id).filter(|sent| sent.to() == peer) {
            None => Err(NodeError::Unasked { peer, correlation_id }),
            Some(&Sent::Fetch { to, request }) => {
                let response = response.body().map_err(undecodable)?;
                let part = self.fetched_part(peer, correlation_id, response)?;
                self.links.sent.remove(&correlation_id);
                self.take_fetched(to, request, &part, now_ms, out)
            }
            Some(Sent::AlterPartition(proposal)) => {
                let proposal = proposal.clone();
                let response = response.body().map_err(undecodable)?;
                let answer = self.altered(peer, correlation_id, response)?;
                self.links.sent.remove(&correlation_id);
                let input = Input::AlterPartitionAnswer { now_ms, proposal, answer };
                self.step(input, InHand::Nothing, out);
                Ok(())
            }
        }
    }

    /// What a response says of this node's partition.
    fn fetched_part<'a>(
        &self,
        peer: Peer,
        correlation_id: CorrelationId,
        response: wire::FetchResponse<'a>,
    ) -> Result<wire::FetchedPartition<'a>, NodeError> {
        let topics = response.topics.into_iter();
        let parts = topics
            .filter(|topic| topic.topic_id == self.config.topic_id)
            .flat_map(|topic| topic.partitions);
        let mut parts = parts.filter(|part| part.partition == self.config.partition);
        match (response.error, parts.next()) {
            (ErrorCode::None, Some(part)) => Ok(part),
            (ErrorCode::None, None) => {
                let reason = "lacks the partition that was asked for";
                Err(NodeError::Unanswered { peer, correlation_id, reason })
            }
            (error, _) => Ok(wire::FetchedPartition {
                partition: self.config.partition,
                error,
                high_watermark: None,
                last_stable_offset: None,
                log_start_offset: None,
                aborted_transactions: None,
                preferred_read_replica: None,
                records: None,
                diverging_epoch: None,
                current_leader: wire::CurrentLeader::default(),
            }),
        }
    }

    fn take_fetched(
        &mut self,
        from: BrokerId,
        request: FetchRequest,
        part: &wire::FetchedPartition<'_>,
        now_ms: i64,
        out: &mut Vec<Outgoing>,
    ) -> Result<(), NodeError> {
        let bytes = part.records.unwrap_or_default();
        let (placed, damage) = match records::fetched(bytes) {
            Ok(placed) => (placed, None),
            Err(damage) => (Vec::new(), Some(damage)),
        };
        let error = if damage.is_some() { ErrorCode::CorruptMessage } else { part.error };
        let answer = FetchAnswer {
            error,
            hw: part.high_watermark,
            log_start: part.log_start_offset,
            diverging: part.diverging_epoch.map(|end| (end.epoch, end.end_offset)),
            batches: placed.iter().map(|batch| batch.shape).collect(),
        };
        let input = Input::FetchAnswer { now_ms, from, request, answer };
        self.step(input, InHand::Fetched { bytes, placed: &placed }, out);
        damage.map_or(Ok(()), |(position, error)| {
            Err(NodeError::CorruptBatch { peer: Peer::Broker(from), position, error })
        })
    }

    /// What a response says of a proposal.
    fn altered(
        &self,
        peer: Peer,
        correlation_id: CorrelationId,
        response: wire::AlterPartitionResponse,
    ) -> Result<AlterPartitionAnswer, NodeError> {
        if response.error != ErrorCode::None {
            return Ok(AlterPartitionAnswer::Refused(response.error));
        }
        let topics = response.topics.into_iter();
        let parts = topics
            .filter(|topic| topic.topic_id == self.config.topic_id)
            .flat_map(|topic| topic.partitions);
        let mut parts = parts.filter(|part| part.partition == self.config.partition);
        let unanswered = |reason| NodeError::Unanswered { peer, correlation_id, reason };
        let part = parts.next().ok_or(unanswered("lacks the partition that was asked for"))?;
        if part.error != ErrorCode::None {
            return Ok(AlterPartitionAnswer::Refused(part.error));
        }
        Ok(AlterPartitionAnswer::Accepted {
            leader: part.leader_id,
            leader_epoch: part.leader_epoch.ok_or(unanswered("lacks the leader epoch"))?,
            partition_epoch: part.partition_epoch,
            isr: part.isr.into_iter().collect(),
        })
    }
}
