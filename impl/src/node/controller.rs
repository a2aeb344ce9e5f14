//! The controller's shell: AlterPartition frames in, answers and metadata out.

use super::NodeError;
use super::peer::{Outgoing, Peer};
use super::receive::within_limits;
use crate::controller::{Controller, ControllerEffect, ControllerInput, MoveOutcome};
use crate::replica::io::{AlterPartitionAnswer, AlterPartitionRequest, MetadataImage};
use crate::types::{BrokerEpoch, BrokerId, ErrorCode, PartitionEpoch};
use crate::wire::{self, CorrelationId, DecodeError, LeaderRecoveryState, TopicId};

/// What a step of the controller gives to the world, in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ControllerOutput {
    /// Send this frame to a broker.
    Send(Outgoing),
    /// Give this image to every broker ([`Node::metadata`](super::Node::metadata)). A broker may
    /// miss any image but the last (M6).
    Metadata(MetadataImage),
    /// A broker's new life.
    Registered {
        /// Which.
        broker: BrokerId,
        /// Its broker epoch.
        epoch: BrokerEpoch,
    },
    /// A broker gets no new life (B1).
    RegistrationRefused {
        /// Which.
        broker: BrokerId,
        /// Why.
        error: ErrorCode,
    },
    /// What became of an operator's move of the leadership.
    LeaderMove {
        /// To whom it was to go.
        to: BrokerId,
        /// What became of it.
        outcome: MoveOutcome,
    },
}

/// The controller of one partition, speaking frames.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ControllerNode {
    controller: Controller,
    topic_id: TopicId,
    partition: i32,
}

/// A proposal in a request: the ISR change, and whether it can be one of klog's.
type Proposal = (AlterPartitionRequest, LeaderRecoveryState);

impl ControllerNode {
    /// The shell around this controller, for the partition it controls.
    pub fn new(controller: Controller, topic_id: TopicId, partition: i32) -> Self {
        Self { controller, topic_id, partition }
    }

    /// The core.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// Takes in what does not come as a frame: lives, sessions, time, an operator's wishes.
    pub fn step(&mut self, input: ControllerInput, out: &mut Vec<ControllerOutput>) {
        let answer = self.run(input, out);
        assert!(answer.is_none(), "a proposal comes as a frame: {answer:?}");
    }

    /// Takes in one request frame of a broker and appends the answer to `out`, after the metadata
    /// that came of it. An error changes nothing.
    pub fn receive(
        &mut self,
        from: BrokerId,
        frame: &[u8],
        out: &mut Vec<ControllerOutput>,
    ) -> Result<(), NodeError> {
        let peer = Peer::Broker(from);
        let undecodable = |error: DecodeError| NodeError::Undecodable { peer, error };
        let (header, request) = wire::decode_request(frame).map_err(undecodable)?;
        within_limits(peer, &request)?;
        let wire::Request::AlterPartition(request) = request else {
            return Err(NodeError::Misplaced { peer, api: header.api });
        };
        let (ours, mut topics) = self.split(request);
        let mut error = ErrorCode::None;
        if let Some((proposal, recovery)) = ours {
            // A leader elected uncleanly counts as recovered at once (O5): nobody is recovering.
            let answer = match recovery {
                LeaderRecoveryState::Recovered => {
                    let input = ControllerInput::AlterPartition { from, request: proposal };
                    self.run(input, out).expect("every proposal is answered")
                }
                LeaderRecoveryState::Recovering => {
                    AlterPartitionAnswer::Refused(ErrorCode::InvalidRequest)
                }
            };
            if answer == AlterPartitionAnswer::Refused(ErrorCode::StaleBrokerEpoch) {
                (error, topics) = (ErrorCode::StaleBrokerEpoch, Vec::new());
            } else {
                let part = altered(self.partition, answer);
                add(&mut topics, self.topic_id, part);
            }
        }
        let frame = answer_frame(header.correlation_id, error, topics);
        out.push(ControllerOutput::Send(Outgoing::response(peer, frame)));
        Ok(())
    }

    /// One step; the answer to a proposal is given back and not put out.
    fn run(
        &mut self,
        input: ControllerInput,
        out: &mut Vec<ControllerOutput>,
    ) -> Option<AlterPartitionAnswer> {
        let mut effects = Vec::new();
        self.controller.step(input, &mut effects);
        let mut given = None;
        for effect in effects {
            out.push(match effect {
                ControllerEffect::Metadata(image) => ControllerOutput::Metadata(image),
                ControllerEffect::AnswerAlterPartition { answer, .. } => {
                    given = Some(answer);
                    continue;
                }
                ControllerEffect::Registered { broker, epoch } => {
                    ControllerOutput::Registered { broker, epoch }
                }
                ControllerEffect::RegistrationRefused { broker, error } => {
                    ControllerOutput::RegistrationRefused { broker, error }
                }
                ControllerEffect::AnswerMoveLeader { to, outcome } => {
                    ControllerOutput::LeaderMove { to, outcome }
                }
            });
        }
        given
    }

    /// The proposal for this controller's partition, and the answers to all others: 100 or 3 for
    /// what it does not control, 42 for a second proposal in one request.
    fn split(
        &self,
        request: wire::AlterPartitionRequest,
    ) -> (Option<Proposal>, Vec<wire::AlteredTopic>) {
        let (mut ours, mut others) = (None, Vec::new());
        for topic in request.topics {
            for part in topic.partitions {
                let error = if topic.topic_id != self.topic_id {
                    ErrorCode::UnknownTopicId
                } else if part.partition != self.partition {
                    ErrorCode::UnknownTopicOrPartition
                } else if ours.is_some() {
                    ErrorCode::InvalidRequest
                } else {
                    let members = part.new_isr.iter();
                    let proposal = AlterPartitionRequest {
                        broker: request.broker_id,
                        broker_epoch: request.broker_epoch,
                        leader_epoch: part.leader_epoch,
                        partition_epoch: part.partition_epoch,
                        isr: members.map(|part| (part.broker_id, part.broker_epoch)).collect(),
                    };
                    ours = Some((proposal, part.leader_recovery_state));
                    continue;
                };
                let refused = AlterPartitionAnswer::Refused(error);
                add(&mut others, topic.topic_id, altered(part.partition, refused));
            }
        }
        (ours, others)
    }
}

fn altered(partition: i32, answer: AlterPartitionAnswer) -> wire::AlteredPartition {
    let nothing = |error| wire::AlteredPartition {
        partition,
        error,
        leader_id: None,
        leader_epoch: None,
        isr: Vec::new(),
        leader_recovery_state: LeaderRecoveryState::Recovered,
        partition_epoch: PartitionEpoch(0),
    };
    match answer {
        AlterPartitionAnswer::Accepted { leader, leader_epoch, partition_epoch, isr } => {
            wire::AlteredPartition {
                leader_id: leader,
                leader_epoch: Some(leader_epoch),
                isr: isr.into_iter().collect(),
                partition_epoch,
                ..nothing(ErrorCode::None)
            }
        }
        AlterPartitionAnswer::Refused(error) => nothing(error),
        AlterPartitionAnswer::Lost => unreachable!("the controller answers"),
    }
}

fn add(topics: &mut Vec<wire::AlteredTopic>, topic_id: TopicId, part: wire::AlteredPartition) {
    match topics.iter_mut().find(|topic| topic.topic_id == topic_id) {
        Some(topic) => topic.partitions.push(part),
        None => topics.push(wire::AlteredTopic { topic_id, partitions: vec![part] }),
    }
}

fn answer_frame(id: CorrelationId, error: ErrorCode, topics: Vec<wire::AlteredTopic>) -> Vec<u8> {
    let mut frame = Vec::with_capacity(64);
    let response = wire::AlterPartitionResponse { throttle_time_ms: 0, error, topics };
    wire::encode_response(&mut frame, id, &response);
    frame
}

#[cfg(test)]
mod tests;
