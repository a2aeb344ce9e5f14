//! What was promised to clients so far: the memory that properties judge by.
//!
//! No node can see it. It is advanced by what a step makes visible, in the same way in a model
//! and in a replay.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::Node;
use crate::view::World;

/// Promises, and the promises that were seen broken within a step.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Ghost {
    /// By offset: the value that was acknowledged with acks=all or readable below the high
    /// watermark of a broker that believed it led. The first value counts.
    pub committed: Vec<Option<u8>>,
    /// By offset: the first value that any live broker showed below its high watermark (N3).
    pub read: Vec<Option<u8>>,
    /// By offset: the brokers that lost the committed record there to a power loss, one bit each.
    pub lost: Vec<u8>,
    /// An offset showed two different values to readers.
    pub read_differs: bool,
    /// A leader's high watermark went back within one reign.
    pub leader_hw_fell: bool,
}

impl Ghost {
    /// Whether more was lost to power than the protocol promises to survive: as many brokers as
    /// the minimum ISR have lost one and the same committed record since it was committed. From
    /// then on the properties about committed records claim nothing.
    pub fn outside_claim(&self, min_isr: u8) -> bool {
        self.lost.iter().any(|brokers| brokers.count_ones() >= u32::from(min_isr.max(1)))
    }

    /// An acks=all produce succeeded: `value` stands at `offset` for good.
    pub fn acknowledged(&mut self, offset: u8, value: u8) {
        promise(&mut self.committed, offset, value);
    }

    /// The broker loses the records from `keep` on to a power loss.
    pub fn power_lost<W: World>(&mut self, world: &W, broker: Node, keep: u8) {
        let log = world.log(broker);
        for (offset, record) in log.iter().enumerate().skip(keep.into()) {
            if self.committed.get(offset).copied().flatten() == Some(record.value) {
                let offsets = self.lost.len().max(offset + 1);
                self.lost.resize(offsets, 0);
                self.lost[offset] |= 1 << (broker - 1);
            }
        }
    }

    /// A step changed `broker`: what it shows now is remembered, and judged against what it or
    /// others showed before. `was_leading` and `old_hw` are its state before the step.
    pub fn observe<W: World>(
        &mut self,
        world: &W,
        broker: Node,
        was_leading: Option<u8>,
        old_hw: u8,
    ) {
        if !world.is_up(broker) {
            return;
        }
        let (hw, leads) = (world.hw(broker), world.leads(broker));
        let claimed = !self.outside_claim(world.min_isr());
        if leads.is_some() && leads == was_leading && hw < old_hw {
            self.leader_hw_fell = true;
        }
        let readable = usize::from(hw).min(world.log(broker).len());
        for (offset, record) in world.log(broker)[..readable].iter().enumerate() {
            let first = promise(&mut self.read, offset as u8, record.value);
            if claimed && first != record.value {
                self.read_differs = true;
            }
            if leads.is_some() {
                promise(&mut self.committed, offset as u8, record.value);
            }
        }
    }
}

/// Remembers `value` at `offset` unless something is there; returns what is there.
fn promise(promised: &mut Vec<Option<u8>>, offset: u8, value: u8) -> u8 {
    let at = usize::from(offset);
    if promised.len() <= at {
        promised.resize(at + 1, None);
    }
    *promised[at].get_or_insert(value)
}
