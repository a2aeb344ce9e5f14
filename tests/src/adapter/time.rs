//! How time passes for the real code.

use klog_trace::Action;
use klog_trace::trace::Clock;

use super::Fault;

/// More than `replica.lag.time.max.ms`: where this is between two steps, only a follower exactly
/// at the leader's log end is caught up.
const JUMP_MS: i64 = 60_000;

/// More than all jumps together: what was stamped before a setback stays in the future.
const SETBACK_MS: i64 = 1 << 40;

/// The one clock that every broker reads.
pub(super) struct Time {
    clock: Clock,
    now_ms: i64,
}

impl Time {
    /// The time at the start.
    pub fn new(clock: Clock) -> Self {
        Self { clock, now_ms: 0 }
    }

    /// The time.
    pub fn now_ms(&self) -> i64 {
        self.now_ms
    }

    /// The time, where it says what is recent: with the slow clock nothing is.
    pub fn exact_ms(&self) -> Option<i64> {
        (self.clock == Clock::Exact).then_some(self.now_ms)
    }

    /// A step begins.
    pub fn begin_step(&mut self) {
        if self.clock == Clock::Slow {
            self.now_ms += JUMP_MS;
        }
    }

    /// The step is one of the clock.
    pub fn take(&mut self, action: Action) -> Result<(), Fault> {
        self.check(action)?;
        self.now_ms += if action == Action::ClockJump { JUMP_MS } else { -SETBACK_MS };
        Ok(())
    }

    /// Whether this clock can do this.
    pub fn check(&self, action: Action) -> Result<(), Fault> {
        let slow = matches!(action, Action::LagCheck { .. });
        if slow == (self.clock == Clock::Slow) {
            return Ok(());
        }
        let clock = if slow { "exact" } else { "slow" };
        Err(Fault::not_enabled(format!("the clock of the header's bounds is {clock}")))
    }
}
