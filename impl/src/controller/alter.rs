//! Checking a leader's ISR change (proposal checks).

use super::Controller;
use super::change::Election;
use crate::replica::io::{AlterPartitionAnswer, AlterPartitionRequest, BrokerImage, BrokerState};
use crate::types::{BrokerEpoch, BrokerId, ErrorCode};
use std::collections::BTreeSet;

impl Controller {
    /// Check the proposal and put it in force. One that changes nothing is accepted without a
    /// record. One that is refused for a member gets a record all the same, which voids whatever
    /// else was proposed at this partition epoch.
    pub(super) fn alter_partition(
        &mut self,
        request: &AlterPartitionRequest,
    ) -> AlterPartitionAnswer {
        let isr = request.isr.iter().map(|&(member, _)| member).collect();
        if let Some(error) = self.refuse(request, &isr) {
            if error == ErrorCode::IneligibleReplica {
                // The leader takes this for final (R2). An earlier try of the same proposal may
                // still be on its way, and the member may be eligible when it arrives (X6).
                self.count_record();
            }
            return AlterPartitionAnswer::Refused(error);
        }
        self.change(isr, None, Election::Keep);
        AlterPartitionAnswer::Accepted {
            leader: self.partition.leader,
            leader_epoch: self.partition.leader_epoch,
            partition_epoch: self.partition.partition_epoch,
            isr: self.partition.isr.clone(),
        }
    }

    /// The checks, in their order.
    fn refuse(
        &self,
        request: &AlterPartitionRequest,
        isr: &BTreeSet<BrokerId>,
    ) -> Option<ErrorCode> {
        let mine = &self.partition;
        let assigned = |id: &BrokerId| mine.replicas.contains(id);
        let member_may_join = |&(id, epoch): &(BrokerId, Option<BrokerEpoch>)| {
            let may = |b: &BrokerImage| {
                b.state == BrokerState::Active && epoch.is_none_or(|epoch| epoch == b.epoch)
            };
            self.brokers.get(&id).is_some_and(may)
        };
        let checks = [
            (self.is_life_of(request.broker, request.broker_epoch), ErrorCode::StaleBrokerEpoch),
            (request.leader_epoch <= mine.leader_epoch, ErrorCode::NotController),
            (request.partition_epoch <= mine.partition_epoch, ErrorCode::NotController),
            (request.leader_epoch >= mine.leader_epoch, ErrorCode::FencedLeaderEpoch),
            (mine.leader == Some(request.broker), ErrorCode::InvalidRequest),
            (request.partition_epoch >= mine.partition_epoch, ErrorCode::InvalidUpdateVersion),
            (isr.len() == request.isr.len(), ErrorCode::InvalidRequest),
            (isr.iter().all(assigned), ErrorCode::InvalidRequest),
            (isr.contains(&request.broker), ErrorCode::InvalidRequest),
            (request.isr.iter().all(member_may_join), ErrorCode::IneligibleReplica),
        ];
        checks.into_iter().find(|(passed, _)| !passed).map(|(_, error)| error)
    }
}
