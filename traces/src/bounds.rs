//! What bounds the behaviours that are looked at: how many of everything, and how often each
//! perturbation may happen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::{Acks, Action, Node};
use crate::view::Policy;

/// What bounds the behaviours a trace is taken from. Budgets count perturbations; whatever heals
/// has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// Number of brokers.
    pub brokers: Node,
    /// `min.insync.replicas` at the start.
    pub min_isr: u8,
    /// Values that clients produce.
    pub records: u8,
    /// What the producers ask to wait for.
    pub acks: Vec<Acks>,
    /// Leadership moves by the controller.
    pub moves: u8,
    /// Process crashes.
    pub crashes: u8,
    /// Power losses.
    pub power_losses: u8,
    /// Clock jumps past the lag limit that make a leader propose a shrink.
    pub lag_checks: u8,
    /// High watermark checkpoints.
    pub checkpoints: u8,
    /// Sessions of running brokers that expire.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fences: u8,
    /// Controlled shutdowns.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shutdowns: u8,
    /// Connections between two running nodes that break.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resets: u8,
    /// Changes of `min.insync.replicas`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub min_isr_changes: u8,
    /// Produces that wait too long.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub timeouts: u8,
    /// Jumps of an exact clock past the lag limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub clock_jumps: u8,
    /// Times that an exact clock is set back.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub clock_setbacks: u8,
    /// Leader epochs that are looked at, from 0 on; 0 for any number.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub leader_epochs: u8,
    /// How time passes.
    #[serde(default, skip_serializing_if = "Clock::is_slow")]
    pub clock: Clock,
    /// What a power loss may leave of a log.
    #[serde(default, skip_serializing_if = "Flush::is_any")]
    pub flush: Flush,
    /// Whether the controller keeps eligible leader replicas (KIP-966).
    #[serde(default, skip_serializing_if = "Elr::is_on")]
    pub elr: Elr,
    /// Whether a broker outside ISR and ELR may be elected (`unclean.leader.election.enable`).
    #[serde(default, skip_serializing_if = "Unclean::is_forbidden")]
    pub unclean: Unclean,
    /// Whether a broker may apply several metadata records as one (M6).
    #[serde(default, skip_serializing_if = "Metadata::is_coalesced")]
    pub metadata: Metadata,
    /// Whether steps that nobody can tell apart are merged.
    pub interleaving: Interleaving,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(n: &u8) -> bool {
    *n == 0
}

/// How time passes (C1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// More than the lag limit may pass between any two steps: whoever is not at the leader's log
    /// end may be found lagging.
    #[default]
    Slow,
    /// It stands still, but for jumps past the lag limit, each a step of its own.
    Exact,
}

impl Clock {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_slow(&self) -> bool {
        *self == Self::Slow
    }
}

/// What a power loss may leave of a log (D2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Flush {
    /// Any part of it.
    #[default]
    Any,
    /// Nothing or all of it.
    NoneOrAll,
}

impl Flush {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_any(&self) -> bool {
        *self == Self::Any
    }
}

/// Whether members that left the ISR may be remembered as eligible leaders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Elr {
    /// They are, while the ISR is under its minimum (Z1, Z2).
    #[default]
    On,
    /// They are not; the last member of an ISR is never removed (B7).
    Off,
}

impl Elr {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_on(&self) -> bool {
        *self == Self::On
    }
}

/// Whether an election may take a broker that may lack committed records (O6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unclean {
    /// Only the last known leader, where there is an ELR (O2).
    #[default]
    Forbidden,
    /// Any active replica, if nobody better is there.
    Allowed,
}

impl Unclean {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_forbidden(&self) -> bool {
        *self == Self::Forbidden
    }
}

/// How metadata records reach a broker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metadata {
    /// Any number of records that were not applied yet can be applied as one (M6).
    #[default]
    Coalesced,
    /// Each record is applied by itself.
    OneByOne,
}

impl Metadata {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_coalesced(&self) -> bool {
        *self == Self::Coalesced
    }
}

/// Whether steps that nobody can tell apart are merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Interleaving {
    /// An answer that makes its follower do nothing but ask again is read at once, and a metadata
    /// record that tells a broker nothing it acts on is merged into the next one.
    #[default]
    Merged,
    /// Every message is read in a step of its own, every metadata record can be applied alone.
    Full,
}

/// A kind of perturbation, each with its budget in [`Bounds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the field of that name")]
pub enum Budget {
    Moves,
    Crashes,
    PowerLosses,
    LagChecks,
    Checkpoints,
    Fences,
    Shutdowns,
    Resets,
    MinIsrChanges,
    Timeouts,
    ClockJumps,
    ClockSetbacks,
}

impl Budget {
    /// Every budget.
    pub const ALL: [Self; 12] = [
        Self::Moves,
        Self::Crashes,
        Self::PowerLosses,
        Self::LagChecks,
        Self::Checkpoints,
        Self::Fences,
        Self::Shutdowns,
        Self::Resets,
        Self::MinIsrChanges,
        Self::Timeouts,
        Self::ClockJumps,
        Self::ClockSetbacks,
    ];

    /// What it counts, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Moves => "moves",
            Self::Crashes => "crashes",
            Self::PowerLosses => "power losses",
            Self::LagChecks => "lag checks",
            Self::Checkpoints => "checkpoints",
            Self::Fences => "fences",
            Self::Shutdowns => "shutdowns",
            Self::Resets => "resets",
            Self::MinIsrChanges => "changes of the minimum",
            Self::Timeouts => "timeouts",
            Self::ClockJumps => "clock jumps",
            Self::ClockSetbacks => "clock setbacks",
        }
    }

    /// What an action takes something from; nothing if it heals.
    pub fn of(action: Action) -> Option<Self> {
        Some(match action {
            Action::Move { .. } => Self::Moves,
            Action::Crash { .. } => Self::Crashes,
            Action::PowerLoss { .. } => Self::PowerLosses,
            Action::LagCheck { .. } => Self::LagChecks,
            Action::Checkpoint { .. } => Self::Checkpoints,
            Action::FenceRunning { .. } => Self::Fences,
            Action::ShutDown { .. } => Self::Shutdowns,
            Action::Reset { .. } => Self::Resets,
            Action::ChangeMinIsr { .. } => Self::MinIsrChanges,
            Action::TimeOut { .. } => Self::Timeouts,
            Action::ClockJump => Self::ClockJumps,
            Action::ClockSetback => Self::ClockSetbacks,
            _ => return None,
        })
    }
}

impl Bounds {
    /// Two brokers, nothing produced and nothing perturbed: to be widened.
    pub const NOTHING: Self = Self {
        brokers: 2,
        min_isr: 1,
        records: 0,
        acks: Vec::new(),
        moves: 0,
        crashes: 0,
        power_losses: 0,
        lag_checks: 0,
        checkpoints: 0,
        fences: 0,
        shutdowns: 0,
        resets: 0,
        min_isr_changes: 0,
        timeouts: 0,
        clock_jumps: 0,
        clock_setbacks: 0,
        leader_epochs: 0,
        clock: Clock::Slow,
        flush: Flush::Any,
        elr: Elr::On,
        unclean: Unclean::Forbidden,
        metadata: Metadata::Coalesced,
        interleaving: Interleaving::Merged,
    };

    /// The minimum size of the ISR that is in force at the start: never more than there are
    /// replicas.
    pub fn effective_min_isr(&self) -> u8 {
        self.min_isr.min(self.brokers)
    }

    /// How the controller elects.
    pub fn policy(&self) -> Policy {
        Policy { elr: self.elr, unclean: self.unclean }
    }

    /// How much of a budget there is.
    pub fn budget(&self, budget: Budget) -> u8 {
        match budget {
            Budget::Moves => self.moves,
            Budget::Crashes => self.crashes,
            Budget::PowerLosses => self.power_losses,
            Budget::LagChecks => self.lag_checks,
            Budget::Checkpoints => self.checkpoints,
            Budget::Fences => self.fences,
            Budget::Shutdowns => self.shutdowns,
            Budget::Resets => self.resets,
            Budget::MinIsrChanges => self.min_isr_changes,
            Budget::Timeouts => self.timeouts,
            Budget::ClockJumps => self.clock_jumps,
            Budget::ClockSetbacks => self.clock_setbacks,
        }
    }

    /// Every budget, in the order of [`Budget::ALL`].
    pub fn budgets(&self) -> [u8; Budget::ALL.len()] {
        Budget::ALL.map(|budget| self.budget(budget))
    }
}
