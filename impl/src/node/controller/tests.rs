use super::*;
use crate::controller::Elr;
use crate::types::Epoch;
use crate::wire::{
    AlterPartition, AlterPartitionResponse, AlterTopic, AlteredPartition, IsrMember, Reason,
};

const TOPIC: TopicId = TopicId([7; 16]);

fn node() -> ControllerNode {
    let replicas = vec![BrokerId(1), BrokerId(2)];
    ControllerNode::new(Controller::new(replicas, 1, Elr::On), TOPIC, 0)
}

fn proposal(partition: i32, isr: &[i32]) -> AlterPartition {
    let member = |&id: &i32| IsrMember { broker_id: BrokerId(id), broker_epoch: None };
    AlterPartition {
        partition,
        leader_epoch: Epoch(0),
        new_isr: isr.iter().map(member).collect(),
        leader_recovery_state: LeaderRecoveryState::Recovered,
        partition_epoch: PartitionEpoch(0),
    }
}

fn frame(broker_epoch: i64, topics: Vec<(TopicId, Vec<AlterPartition>)>) -> Vec<u8> {
    let topics = topics.into_iter();
    let topics = topics.map(|(topic_id, partitions)| AlterTopic { topic_id, partitions }).collect();
    let (broker_id, broker_epoch) = (BrokerId(1), BrokerEpoch(broker_epoch));
    let mut frame = Vec::new();
    let request = wire::AlterPartitionRequest { broker_id, broker_epoch, topics };
    wire::encode_request(&mut frame, CorrelationId(9), None, &request);
    frame
}

/// The images put out, and the answer.
fn receive(
    node: &mut ControllerNode,
    frame: &[u8],
) -> (Vec<MetadataImage>, AlterPartitionResponse) {
    let mut out = Vec::new();
    node.receive(BrokerId(1), frame, &mut out).unwrap();
    let Some(ControllerOutput::Send(Outgoing::Frame { to, way, bytes })) = out.pop() else {
        panic!("{out:?}")
    };
    assert_eq!((to, way), (Peer::Broker(BrokerId(1)), super::super::Way::Response));
    let response = wire::decode_response(&bytes).unwrap();
    assert_eq!(response.correlation_id, CorrelationId(9));
    let images = out.into_iter().map(|output| match output {
        ControllerOutput::Metadata(image) => image,
        other => panic!("{other:?}"),
    });
    (images.collect(), response.body().unwrap())
}

fn errors(response: &AlterPartitionResponse) -> Vec<(TopicId, i32, ErrorCode)> {
    let topics = response.topics.iter();
    let parts = topics.flat_map(|topic| topic.partitions.iter().map(|part| (topic.topic_id, part)));
    parts.map(|(topic, part)| (topic, part.partition, part.error)).collect()
}

#[test]
fn an_accepted_proposal_comes_back_as_the_registration_it_made() {
    let mut node = node();
    let (images, response) = receive(&mut node, &frame(1, vec![(TOPIC, vec![proposal(0, &[1])])]));
    assert_eq!(images, [node.controller().image()]);
    assert_eq!(images[0].partition.partition_epoch, PartitionEpoch(1));
    assert_eq!((response.error, response.topics.len()), (ErrorCode::None, 1));
    let expected = AlteredPartition {
        partition: 0,
        error: ErrorCode::None,
        leader_id: Some(BrokerId(1)),
        leader_epoch: Some(Epoch(0)),
        isr: vec![BrokerId(1)],
        leader_recovery_state: LeaderRecoveryState::Recovered,
        partition_epoch: PartitionEpoch(1),
    };
    assert_eq!(response.topics[0].partitions, [expected]);
}

#[test]
fn an_old_life_is_refused_as_a_whole_and_a_bad_proposal_alone() {
    let mut node = node();
    let (images, response) = receive(&mut node, &frame(9, vec![(TOPIC, vec![proposal(0, &[1])])]));
    assert_eq!((images.len(), response.error), (0, ErrorCode::StaleBrokerEpoch));
    assert_eq!(response.topics, []);
    let (images, response) = receive(&mut node, &frame(1, vec![(TOPIC, vec![proposal(0, &[2])])]));
    assert_eq!((images.len(), response.error), (0, ErrorCode::None));
    assert_eq!(errors(&response), [(TOPIC, 0, ErrorCode::InvalidRequest)]);
}

#[test]
fn what_is_not_controlled_here_is_answered_beside_what_is() {
    let mut node = node();
    let elsewhere = TopicId([8; 16]);
    let recovering = AlterPartition {
        leader_recovery_state: LeaderRecoveryState::Recovering,
        ..proposal(0, &[1])
    };
    let request = vec![
        (elsewhere, vec![proposal(0, &[1])]),
        (TOPIC, vec![proposal(5, &[1]), recovering, proposal(0, &[1])]),
    ];
    let (images, response) = receive(&mut node, &frame(1, request));
    assert_eq!(images, []);
    assert_eq!(
        errors(&response),
        [
            (elsewhere, 0, ErrorCode::UnknownTopicId),
            (TOPIC, 5, ErrorCode::UnknownTopicOrPartition),
            (TOPIC, 0, ErrorCode::InvalidRequest),
            (TOPIC, 0, ErrorCode::InvalidRequest),
        ]
    );
    let (_, response) = receive(&mut node, &frame(1, vec![]));
    assert_eq!((response.error, response.topics), (ErrorCode::None, vec![]));
}

#[test]
fn other_frames_are_errors_and_change_nothing() {
    let mut node = node();
    let before = node.clone();
    let mut out = Vec::new();
    let mut fetch = Vec::new();
    let request = wire::OffsetForLeaderEpochRequest { replica_id: None, topics: vec![] };
    wire::encode_request(&mut fetch, CorrelationId(1), None, &request);
    let error = node.receive(BrokerId(1), &fetch, &mut out).unwrap_err();
    let text = "request from broker 1: OffsetForLeaderEpoch is not for a controller";
    assert_eq!(error.to_string(), text);
    let error = node.receive(BrokerId(1), &fetch[..9], &mut out).unwrap_err();
    assert!(matches!(
        error,
        NodeError::Undecodable { error: DecodeError { reason: Reason::Truncated { .. }, .. }, .. }
    ));
    assert_eq!((node, out), (before, vec![]));
}

#[test]
fn lives_and_moves_are_put_out() {
    let mut node = node();
    let mut out = Vec::new();
    node.step(ControllerInput::MoveLeader { to: BrokerId(2) }, &mut out);
    let moved = ControllerOutput::LeaderMove { to: BrokerId(2), outcome: MoveOutcome::Moved };
    assert_eq!(out, [ControllerOutput::Metadata(node.controller().image()), moved]);
    out.clear();
    let (broker, clean_shutdown) = (BrokerId(1), Some(BrokerEpoch(1)));
    let register = ControllerInput::Register { broker, clean_shutdown };
    node.step(register.clone(), &mut out);
    let error = ErrorCode::DuplicateBrokerRegistration;
    assert_eq!(out, [ControllerOutput::RegistrationRefused { broker, error }]);
    node.step(ControllerInput::SessionExpired { broker }, &mut out);
    out.clear();
    node.step(register, &mut out);
    let life = ControllerOutput::Registered { broker, epoch: BrokerEpoch(3) };
    assert_eq!(out, [life, ControllerOutput::Metadata(node.controller().image())]);
}
