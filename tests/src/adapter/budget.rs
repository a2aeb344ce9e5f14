//! What the bounds of a trace leave to the environment.

use klog_trace::trace::{self, Bounds};
use klog_trace::{Acks, Action};

use super::fault::Fault;

/// How often each kind of perturbation may still happen, and what clients may still ask.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    bounds: Bounds,
    left: [u8; trace::Budget::ALL.len()],
}

impl Budget {
    /// The whole of it.
    pub fn of(bounds: &Bounds) -> Self {
        Self { bounds: bounds.clone(), left: bounds.budgets() }
    }

    /// Takes an action from its budget, or says that it is spent. Whatever heals has none.
    pub fn spend(&mut self, action: Action) -> Result<(), Fault> {
        let Some(budget) = trace::Budget::of(action) else { return Ok(()) };
        let left = &mut self.left[budget as usize];
        let spent = || {
            let name = budget.words();
            Fault::not_enabled(format!("the {name} of the header's bounds are spent"))
        };
        *left = left.checked_sub(1).ok_or_else(spent)?;
        Ok(())
    }

    /// Whether clients may produce a further value, after `produced`, with these acks.
    pub fn check_produce(&self, produced: u16, acks: Acks) -> Result<(), Fault> {
        if produced >= u16::from(self.bounds.records) {
            Err(Fault::not_enabled("the records of the header's bounds are produced"))
        } else if !self.bounds.acks.contains(&acks) {
            Err(Fault::not_enabled("no producer of the header's bounds asks for these acks"))
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_budget_is_spent_by_its_own_kind_alone() {
        let broker = 1;
        let kinds = [
            Action::Move { to: broker },
            Action::Crash { broker },
            Action::PowerLoss { broker, keep: 0 },
            Action::LagCheck { broker },
            Action::Checkpoint { broker },
            Action::FenceRunning { broker },
            Action::ShutDown { broker },
            Action::Reset { one: broker, other: 2 },
            Action::ChangeMinIsr { to: 2 },
            Action::TimeOut { broker },
            Action::ClockJump,
            Action::ClockSetback,
        ];
        assert_eq!(kinds.len(), trace::Budget::ALL.len());
        let bounds = Bounds {
            records: 2,
            acks: vec![Acks::All],
            moves: 1,
            crashes: 1,
            power_losses: 1,
            lag_checks: 1,
            checkpoints: 1,
            fences: 1,
            shutdowns: 1,
            resets: 1,
            min_isr_changes: 1,
            timeouts: 1,
            clock_jumps: 1,
            clock_setbacks: 1,
            ..Bounds::NOTHING
        };
        let mut budget = Budget::of(&bounds);
        for action in kinds {
            assert_eq!(budget.spend(action), Ok(()), "{action}");
        }
        for action in kinds {
            assert!(matches!(budget.spend(action), Err(Fault::NotEnabled(_))), "{action}");
        }
        assert_eq!(budget.spend(Action::Restart { broker }), Ok(()), "healing costs nothing");
        assert_eq!(budget.check_produce(1, Acks::All), Ok(()));
        assert!(budget.check_produce(2, Acks::All).is_err(), "both records are produced");
        assert!(budget.check_produce(0, Acks::Leader).is_err(), "nobody asks for acks=1");
    }
}
