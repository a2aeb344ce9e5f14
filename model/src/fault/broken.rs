//! Broken decisions that take more than a line.

use klog_trace::EpochStart;
use klog_trace::action::Node;
use klog_trace::view::Proposal;

use crate::rules::leader::epoch_end;

/// KIP-101's answer before KIP-279: the asked epoch itself, ending where the first later one
/// starts.
pub fn epoch_end_exact(cache: &[EpochStart], leo: u8, asked: u8) -> Option<EpochStart> {
    let latest = cache.last()?.epoch;
    if asked >= latest {
        return (asked == latest).then_some(EpochStart { epoch: asked, offset: leo });
    }
    let next = cache.iter().find(|e| e.epoch > asked)?;
    Some(EpochStart { epoch: asked, offset: next.offset })
}

/// The look-up without its answer for epochs below the first one known.
pub fn epoch_end_undefined_below(cache: &[EpochStart], leo: u8, asked: u8) -> Option<EpochStart> {
    let first = cache.first()?;
    if asked < first.epoch { None } else { epoch_end(cache, leo, asked) }
}

/// A proposed ISR in place of the committed one, if it is smaller.
pub fn proposed_isr(isr: &[Node], pending: Option<&Proposal>) -> Vec<Node> {
    let Some(proposal) = pending else { return isr.to_vec() };
    let proposed: Vec<Node> = proposal.isr.iter().map(|member| member.0).collect();
    if proposed.len() < isr.len() { proposed } else { crate::rules::isr::maximal_isr(isr, pending) }
}
