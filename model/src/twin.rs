//! The twin of the public TLA+ ladder (hachikuji/kafka-specification): its modules as plain models,
//! so that counts, depths and verdicts can be compared with those of TLC.
//!
//! It is written from the published next-state relations and shares nothing with the actors of
//! this crate. There are no messages, no restarts and no acknowledgements in it: replicas read
//! each other's state, and the controller's requests are a set that never shrinks. What the
//! relations leave out, or get wrong, is left as published.

mod action;
pub mod async_isr;
mod bounds;
mod controller;
mod follow;
mod ladder;
mod leader;
mod log;
mod model;
mod order;
mod pack;
mod properties;
pub mod run;
mod set;
mod state;
#[cfg(test)]
mod tests;

pub use action::{Action, Published, Who};
pub use bounds::{Constants, OutOfRange};
pub use ladder::{Guard, MODULES, Module};
pub use log::{Log, Record};
pub use order::Order;
pub use properties::Property;
pub use set::{Id, Set};
pub use state::{Replica, Requests, Said, State};

/// A module within constants, perhaps with a guard taken out.
#[derive(Clone, Copy, Debug)]
pub struct Twin {
    /// The module.
    pub module: &'static Module,
    /// The constants, which passed their check.
    pub constants: Constants,
    /// The guard that is taken out.
    pub without: Option<Guard>,
}

impl Twin {
    /// The one initial state.
    pub fn initial(&self) -> State {
        State::initial(&self.constants)
    }

    /// Every order of the replicas.
    pub fn orders(&self) -> Vec<Order> {
        Order::all(0, self.constants.replicas)
    }

    /// Whether a guard lets a step happen that everything else allows; if not, it is told to
    /// `refused`.
    #[inline]
    fn lets(&self, guard: Guard, holds: bool, refused: &mut impl FnMut(Guard)) -> bool {
        let lets = holds || self.without == Some(guard);
        if !lets {
            refused(guard);
        }
        lets
    }

    /// Every successor with the action that leads to it, once for each way. Equal actions lead to
    /// equal states.
    pub fn successors(&self, state: &State, each: &mut impl FnMut(Action, State)) {
        self.explore(state, each, &mut |_| ());
    }

    /// The same, and every step that everything but guards allows with the first of them that
    /// refuses it.
    pub fn explore(
        &self,
        state: &State,
        each: &mut impl FnMut(Action, State),
        refused: &mut impl FnMut(Guard),
    ) {
        for &by in self.module.actions {
            let each = &mut |who, next| each(Action { by, who }, next);
            match by {
                Published::ControllerElectLeader => controller::elect(self, state, each),
                Published::ControllerShrinkIsr => controller::shrink(self, state, each),
                Published::BecomeLeader => leader::become_leader(state, each),
                Published::LeaderWrite => leader::write(self, state, each),
                Published::LeaderExpandIsr => leader::expand_isr(self, state, each, refused),
                Published::LeaderShrinkIsr => leader::shrink_isr(self, state, each, refused),
                Published::LeaderIncHighWatermark => leader::move_hw(self, state, each),
                Published::BecomeFollowerTruncateToHighWatermark => follow::cut_at_hw(state, each),
                Published::BecomeFollowerTruncateKip101 => follow::cut_by_epoch(state, each),
                Published::BecomeFollowerTruncateKip279 => follow::cut_where_logs_part(state, each),
                Published::FollowerReplicate => leader::fetch_unfenced(state, each),
                Published::LeaderExpandIsrBetterFencing => {
                    leader::expand_isr_in_epoch(self, state, each, refused);
                }
                Published::LeaderShrinkIsrBetterFencing => {
                    leader::shrink_isr_in_epoch(self, state, each, refused);
                }
                Published::ImprovedLeaderIncHighWatermark => leader::move_hw_in_epoch(state, each),
                Published::BecomeFollower => follow::follow(state, each),
                Published::FollowerFetch => leader::fetch_after_same_epoch(state, each),
                Published::FollowerTruncate => leader::truncate_on_fetch(state, each),
                Published::FencedLeaderExpandIsr => {
                    leader::expand_isr_fenced(self, state, each, refused);
                }
                Published::FencedLeaderShrinkIsr => {
                    leader::shrink_isr_fenced(self, state, each, refused);
                }
                Published::FencedLeaderIncHighWatermark => {
                    leader::move_hw_fenced(self, state, each, refused);
                }
                Published::FencedBecomeFollowerAndTruncate => {
                    follow::cut_fenced(self, state, each, refused);
                }
                Published::FencedFollowerFetch => leader::fetch_fenced(self, state, each, refused),
            }
        }
    }
}
