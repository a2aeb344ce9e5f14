//! A leader's own work: appends, follower progress, ISR changes (sections 4, 6 and 8).

use super::io::{AlterPartitionAnswer, AlterPartitionRequest, Effect, FetchRequest, RequestId};
use super::isr::{IsrState, JoinFloor, Membership, Outcome, effective_min_isr};
use super::pending::{Waiting, WaitingProduces, refusal};
use super::progress::{LeoChange, Observation};
use super::{Replica, Role};
use crate::types::{BrokerId, ErrorCode, Offset};
use std::collections::BTreeSet;

/// What a replica keeps for one leader epoch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Leader {
    /// LEO at the begin of the epoch; who joins the ISR must have reached it (E1).
    pub epoch_start: Offset,
    /// In-sync replicas and follower progress.
    pub isr: IsrState,
    /// acks=all produces of this epoch that are not answered yet.
    pub waiting: WaitingProduces,
}

/// One produce, as the rules see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Produce {
    pub request: RequestId,
    pub acks: i16,
    pub records: u32,
    pub timeout_ms: i32,
}

impl Leader {
    pub(super) fn new(epoch_start: Offset, isr: IsrState) -> Self {
        Self { epoch_start, isr, waiting: WaitingProduces::new() }
    }
}

impl Replica {
    /// A1 to A5. acks decides when the answer comes, never what is written.
    pub(super) fn on_produce(&mut self, now_ms: i64, produce: Produce, effects: &mut Vec<Effect>) {
        let Produce { request, acks, records, timeout_ms } = produce;
        if let Some(error) = self.refuse_produce(&produce) {
            return effects.push(refusal(request, error));
        }
        let (Role::Leader(leader), Some(known)) = (&mut self.role, &self.registration) else {
            return;
        };
        let epoch = known.leader_epoch;
        let base = self.log.append(request, records, epoch, effects);
        match acks {
            0 => {}
            1 => effects.push(Effect::AnswerProduce {
                request,
                error: ErrorCode::None,
                base_offset: Some(base),
            }),
            _ => {
                let deadline_ms = now_ms.saturating_add(timeout_ms.into());
                let required = self.log.leo;
                leader.waiting.insert(request, Waiting { base, required, epoch, deadline_ms });
            }
        }
        self.recompute_hw(now_ms);
    }

    /// Why a produce is refused before anything is written, in the order of the checks.
    fn refuse_produce(&self, produce: &Produce) -> Option<ErrorCode> {
        let Produce { request, acks, records, .. } = *produce;
        if !(-1..=1).contains(&acks) {
            return Some(ErrorCode::InvalidRequiredAcks);
        }
        let leader = match &self.role {
            Role::Leader(leader) => leader,
            Role::Failed => return Some(ErrorCode::KafkaStorageError),
            Role::Idle | Role::Follower => return Some(ErrorCode::NotLeaderOrFollower),
        };
        let known = self.registration.as_ref()?;
        let min_isr = effective_min_isr(known.min_isr, known.replicas.len());
        if acks == -1 && leader.isr.under_min_isr(min_isr) {
            return Some(ErrorCode::NotEnoughReplicas);
        }
        let fits = records > 0 && self.log.has_room_for(records);
        (!fits || leader.waiting.contains_key(&request)).then_some(ErrorCode::InvalidRequest)
    }

    /// U1: a fetch of a life the metadata has left behind. It must not speak for the new one.
    pub(super) fn is_from_an_older_life(&self, follower: BrokerId, fetch: &FetchRequest) -> bool {
        let newest = self.brokers.get(&follower).map(|b| b.epoch);
        fetch.broker_epoch.zip(newest).is_some_and(|(sender, newest)| sender < newest)
    }

    /// U2 to U4: store the progress, let the follower join, try the high watermark.
    pub(super) fn count_progress(
        &mut self,
        now_ms: i64,
        follower: BrokerId,
        fetch: &FetchRequest,
        effects: &mut Vec<Effect>,
    ) {
        let Role::Leader(leader) = &mut self.role else {
            return;
        };
        let change = leader.isr.observe(
            follower,
            Observation {
                offset: fetch.offset,
                broker_epoch: fetch.broker_epoch,
                leader_leo: self.log.leo,
                now_ms,
            },
        );
        let floor = JoinFloor { hw: self.log.hw, epoch_start: leader.epoch_start };
        if let Some(isr) = leader.isr.expand_isr(follower, &self.brokers, floor) {
            self.propose(&isr, effects);
        }
        if change == LeoChange::Changed {
            self.recompute_hw(now_ms);
        }
    }

    /// E2, S2, P1: propose this ISR. The broker epochs are read now and never again. Nothing is
    /// proposed while an earlier proposal is on its way, even a void one (S3).
    fn propose(&mut self, wanted: &BTreeSet<BrokerId>, effects: &mut Vec<Effect>) {
        let (Role::Leader(leader), Some(known)) = (&mut self.role, &self.registration) else {
            return;
        };
        if self.in_flight.is_some() {
            return;
        }
        let proposal = AlterPartitionRequest {
            broker: self.id,
            broker_epoch: self.config.broker_epoch,
            leader_epoch: known.leader_epoch,
            partition_epoch: known.partition_epoch,
            isr: leader.isr.with_epochs(wanted, self.config.broker_epoch),
        };
        let isr = leader.isr.membership.committed().clone();
        let outcome = Outcome::Open;
        leader.isr.membership = Membership::Pending { isr, proposal: proposal.clone(), outcome };
        self.send_proposal(proposal, effects);
    }

    fn send_proposal(&mut self, proposal: AlterPartitionRequest, effects: &mut Vec<Effect>) {
        self.in_flight = Some(proposal.clone());
        effects.push(Effect::SendAlterPartition(proposal));
    }

    /// R0 to R4: what became of a proposal.
    pub(super) fn on_alter_partition_answer(
        &mut self,
        now_ms: i64,
        answered: &AlterPartitionRequest,
        answer: AlterPartitionAnswer,
    ) {
        if self.in_flight.as_ref() == Some(answered) {
            self.in_flight = None;
        }
        let (Role::Leader(leader), Some(known)) = (&mut self.role, &mut self.registration) else {
            return;
        };
        let Membership::Pending { isr, proposal, outcome } = &mut leader.isr.membership else {
            return;
        };
        if proposal != answered {
            return;
        }
        let committed = match answer {
            AlterPartitionAnswer::Accepted { leader: _, leader_epoch, partition_epoch, isr } => {
                let member = |id: &BrokerId| known.replicas.contains(id);
                if leader_epoch != known.leader_epoch
                    || partition_epoch < known.partition_epoch
                    || !isr.contains(&self.id)
                    || !isr.iter().all(member)
                {
                    *outcome = Outcome::Unknown;
                    return;
                }
                known.partition_epoch = partition_epoch;
                isr
            }
            AlterPartitionAnswer::Refused(ErrorCode::IneligibleReplica) => std::mem::take(isr),
            AlterPartitionAnswer::Refused(error) if proves_nothing(error) => {
                *outcome = Outcome::Unknown;
                return;
            }
            AlterPartitionAnswer::Refused(_) | AlterPartitionAnswer::Lost => return,
        };
        leader.isr.membership = Membership::Committed { isr: committed };
        self.recompute_hw(now_ms);
    }

    /// R4: a proposal that got lost, or that the controller could not judge, is sent again here
    /// and not at once, so that two who cannot agree do not keep each other busy. It is the same
    /// to the byte: the controller may hold the first one still.
    pub(super) fn resend_proposal(&mut self, effects: &mut Vec<Effect>) {
        let Role::Leader(leader) = &self.role else {
            return;
        };
        let again = match &leader.isr.membership {
            Membership::Pending { proposal, outcome: Outcome::Open, .. } => proposal.clone(),
            _ => return,
        };
        if self.in_flight.is_none() {
            self.send_proposal(again, effects);
        }
    }

    /// S1: propose the ISR without its laggards. Then try the high watermark: of those that were
    /// about to join, one may not be by now (X4, X5).
    pub(super) fn on_check_lag(&mut self, now_ms: i64, effects: &mut Vec<Effect>) {
        let Role::Leader(leader) = &mut self.role else {
            return;
        };
        leader.isr.forget_future(now_ms);
        let (leo, lag) = (self.log.leo, self.config.lag_max_ms);
        if let Some(isr) = leader.isr.shrink_isr(leo, now_ms, lag) {
            self.propose(&isr, effects);
        }
        self.recompute_hw(now_ms);
    }
}

/// R3: an earlier try of the same proposal may have been applied; only metadata can tell. So the
/// maximal ISR stays wide.
fn proves_nothing(error: ErrorCode) -> bool {
    matches!(
        error,
        ErrorCode::UnknownTopicOrPartition
            | ErrorCode::UnknownTopicId
            | ErrorCode::FencedLeaderEpoch
            | ErrorCode::InvalidUpdateVersion
            | ErrorCode::InvalidRequest
            | ErrorCode::NewLeaderElected
    )
}
