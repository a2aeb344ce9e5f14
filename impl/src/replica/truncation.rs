//! Where a follower cuts its log when the leader says that the two part (T1 to T8).

use super::epochs::EpochCache;
use crate::types::{Epoch, Offset};

/// The offset to truncate to, given the leader's answer `(epoch, end)`: the largest epoch of the
/// leader's not above the one asked for, and its end there.
///
/// * T3: below every epoch of mine there is nothing to compare: the leader's end.
/// * T4: an epoch that both know ends at the smaller of the two ends.
/// * T5: an epoch that I lack: the end of my next smaller one. The leader's end is of no use,
///   since it belongs to records I never had; the next fetch may part again, further down.
///
/// An undefined answer (T1, T2) cannot come in: every record of klog has an epoch.
pub fn truncation_offset(
    leaders: (Epoch, Offset),
    own_epochs: &EpochCache,
    own_leo: Offset,
) -> Offset {
    let (epoch, end) = leaders;
    let cut = match own_epochs.answer_end_offset(epoch, own_leo) {
        None => end,
        Some((own_epoch, own_end)) if own_epoch == epoch => end.min(own_end),
        Some((_, own_end)) => own_end,
    };
    cut.min(own_leo)
}

#[cfg(test)]
#[path = "tests/truncation.rs"]
mod tests;
