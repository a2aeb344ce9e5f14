//! Produces that wait for the in-sync replicas (V1 to V4).

use super::io::{Effect, RequestId};
use super::{Replica, Role, isr};
use crate::types::{Epoch, ErrorCode, Offset};
use std::collections::BTreeMap;

/// One acks=all produce that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Waiting {
    /// Offset of its first record.
    pub base: Offset,
    /// The high watermark it waits for: the offset after its last record (A5).
    pub required: Offset,
    /// The leader epoch it was appended in. In no other may it be called committed (B70).
    pub epoch: Epoch,
    /// When it is answered with 7 (V4).
    pub deadline_ms: i64,
}

/// What can be said of a waiting produce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// V2: the high watermark is not there yet.
    NotYet,
    /// V3: committed.
    Committed,
    /// V3: the high watermark is there, but the ISR is too small by now.
    NotEnoughReplicasAfterAppend,
}

/// The facts a verdict rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IsrGate {
    /// The leader's high watermark.
    pub hw: Offset,
    /// Size of the maximal ISR.
    pub maximal_isr: usize,
    /// The (effective) minimum.
    pub min_isr: u32,
}

impl IsrGate {
    /// The verdict on a produce that needs the high watermark at `required` (V2, V3).
    pub fn verdict(self, required: Offset) -> Verdict {
        if self.hw < required {
            Verdict::NotYet
        } else if self.maximal_isr < self.min_isr as usize {
            Verdict::NotEnoughReplicasAfterAppend
        } else {
            Verdict::Committed
        }
    }
}

impl Replica {
    /// The gate as it stands, `None` unless this replica leads.
    fn gate(&self) -> Option<IsrGate> {
        let (Role::Leader(leader), Some(known)) = (&self.role, &self.registration) else {
            return None;
        };
        Some(IsrGate {
            hw: self.log.hw,
            maximal_isr: leader.isr.membership.maximal().len(),
            min_isr: isr::effective_min_isr(known.min_isr, known.replicas.len()),
        })
    }

    /// Answer each waiting produce whose verdict is in.
    pub(super) fn complete_produces(&mut self, effects: &mut Vec<Effect>) {
        let Some(gate) = self.gate() else { return };
        let Role::Leader(leader) = &mut self.role else {
            return;
        };
        leader.waiting.retain(|&request, waiting| {
            let (error, base_offset) = match gate.verdict(waiting.required) {
                Verdict::NotYet => return true,
                Verdict::Committed => (ErrorCode::None, Some(waiting.base)),
                Verdict::NotEnoughReplicasAfterAppend => {
                    (ErrorCode::NotEnoughReplicasAfterAppend, None)
                }
            };
            effects.push(Effect::AnswerProduce { request, error, base_offset });
            false
        });
    }

    /// V4: what has waited long enough and is still undecided is answered with 7.
    pub(super) fn expire_produces(&mut self, now_ms: i64, effects: &mut Vec<Effect>) {
        let Some(gate) = self.gate() else { return };
        let Role::Leader(leader) = &mut self.role else {
            return;
        };
        leader.waiting.retain(|&request, waiting| {
            let undecided = gate.verdict(waiting.required) == Verdict::NotYet;
            let late = undecided && waiting.deadline_ms <= now_ms;
            if late {
                effects.push(refusal(request, ErrorCode::RequestTimedOut));
            }
            !late
        });
    }

    /// The leadership, or this epoch of it, is over: nothing that waits can be called committed
    /// any more, even if the high watermark gets there (V1, B70).
    pub(super) fn fail_produces(&mut self, error: ErrorCode, effects: &mut Vec<Effect>) {
        let Role::Leader(leader) = &mut self.role else {
            return;
        };
        let waiting = std::mem::take(&mut leader.waiting);
        effects.extend(waiting.into_keys().map(|request| refusal(request, error)));
    }
}

/// A produce answered with an error.
pub(super) fn refusal(request: RequestId, error: ErrorCode) -> Effect {
    Effect::AnswerProduce { request, error, base_offset: None }
}

/// The produces that wait, by request.
pub type WaitingProduces = BTreeMap<RequestId, Waiting>;

#[cfg(test)]
#[path = "tests/pending.rs"]
mod tests;
