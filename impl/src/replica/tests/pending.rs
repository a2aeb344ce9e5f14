//! The three verdicts, over every small gate.

use super::{IsrGate, Verdict};
use crate::types::Offset;

#[test]
fn a_verdict_needs_the_watermark_first_and_the_isr_then() {
    let mut counts = [0; 3];
    for (hw, required) in (0..16).map(|n| (n % 4, n / 4)) {
        for (maximal_isr, min_isr) in (0..16).map(|n| (n % 4, n as u32 / 4)) {
            let gate = IsrGate { hw: Offset(hw), maximal_isr, min_isr };
            let twin = match (required <= hw, min_isr <= maximal_isr as u32) {
                (false, _) => Verdict::NotYet,
                (true, true) => Verdict::Committed,
                (true, false) => Verdict::NotEnoughReplicasAfterAppend,
            };
            assert_eq!(gate.verdict(Offset(required)), twin);
            counts[twin as usize] += 1;
        }
    }
    assert!(counts.iter().all(|&n| n > 0));
}
