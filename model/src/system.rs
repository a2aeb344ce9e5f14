//! A protocol within bounds: a state and what can happen in it, one step at a time.
//!
//! [`Partition`] says what a step is; the search engine and everything here take steps by it.

mod act;
mod partition;
mod refusals;

use std::sync::{Arc, Mutex, PoisonError};

use klog_trace::action::Node;
use klog_trace::trace::Bounds;
use klog_trace::{Action, ClientAnswer, Envelope};
use levelwise::Space as _;
use levelwise::system::{Actors, System as _, Worker};

use crate::network::InFlight;
use crate::protocol::Protocol;
use crate::row::{RowView, Whole};

pub use partition::{Partition, Told};

/// A protocol within bounds.
pub struct System {
    /// The protocol.
    pub protocol: Protocol,
    /// What bounds it.
    pub bounds: Bounds,
    space: Arc<Actors<Partition>>,
    /// Remembers what actors did.
    worker: Mutex<Worker<Partition>>,
}

/// What one step did and made visible.
pub struct Outcome<'a> {
    /// The state after.
    pub row: Whole<'a>,
    /// Messages newly sent, in order.
    pub sent: Vec<Envelope>,
    /// What clients were told.
    pub answers: Vec<ClientAnswer>,
    /// Messages removed since nobody would act on them.
    pub discarded: Vec<InFlight>,
    /// The follower that read an answer at once, since it does nothing but ask again.
    pub idle: Option<Node>,
    /// The brokers for which the published metadata record is one of its own.
    pub published_to: Vec<Node>,
}

impl System {
    /// A protocol within bounds.
    pub fn new(protocol: Protocol, bounds: Bounds) -> Self {
        Self::with_seed(protocol, bounds, 0)
    }

    /// The same, with fingerprints made with another seed.
    pub fn with_seed(protocol: Protocol, bounds: Bounds, seed: u64) -> Self {
        let space = Arc::new(Actors::new(Partition::new(&protocol, &bounds), seed));
        let worker = Mutex::new(space.worker());
        Self { protocol, bounds, space, worker }
    }

    /// What a search looks at.
    pub fn space(&self) -> &Actors<Partition> {
        &self.space
    }

    /// The same, for threads that outlive this.
    pub fn shared_space(&self) -> Arc<Actors<Partition>> {
        Arc::clone(&self.space)
    }

    /// A state with what properties ask of it.
    pub fn view<'b, 'a>(&'b self, row: &'b Whole<'a>) -> RowView<'b, 'a> {
        self.space.system().view(row)
    }

    /// The one initial state.
    pub fn initial(&self) -> Whole<'_> {
        self.space.start()
    }

    /// The state of a row that a search knows.
    pub fn state(&self, row: &[u32]) -> Whole<'_> {
        self.space.state(row)
    }

    /// The same state of another system with the same actors.
    #[cfg(test)]
    pub(crate) fn state_like(&self, row: &Whole<'_>) -> Whole<'_> {
        self.space.copy_of(row)
    }

    /// Everything that can happen in `row`, in a fixed order.
    pub fn enabled(&self, row: &Whole<'_>, actions: &mut Vec<Action>) {
        self.space.system().choices(row, &mut |action| actions.push(action));
    }

    /// Whether the state of a row is within the bounds that no budget keeps. Where there are none,
    /// it is not unpacked for that.
    pub(crate) fn admits(&self, row: &[u32]) -> bool {
        self.bounds.leader_epochs == 0 || self.space.system().admits(&mut (), &self.state(row))
    }

    /// Lets one enabled thing happen, and takes out of flight what is doomed then.
    pub fn step(&self, before: &Whole<'_>, action: Action) -> Outcome<'_> {
        self.step_by(before, |partition, step| partition.take_step(step, action))
    }

    /// Lets one enabled thing happen, and takes the same out of flight as that step did.
    pub(crate) fn step_discarding(
        &self,
        before: &Whole<'_>,
        action: Action,
        discarded: &[InFlight],
    ) -> Outcome<'_> {
        self.step_by(before, |partition, step| {
            partition.step_keeping(step, action);
            step.retain(|flight| flight.message().message().is_none_or(|m| !discarded.contains(m)));
        })
    }

    /// The state after a step, and which witnesses the step shows, one bit each.
    pub(crate) fn judged_step(&self, before: &Whole<'_>, action: Action) -> (Whole<'_>, u64) {
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.space.state(&before.row());
        let mut after = before.clone();
        let mut step = self.space.step(&mut worker, &before, &mut after);
        let partition = self.space.system();
        partition.take_step(&mut step, action);
        let shown = partition.judge_step(&mut (), action, &step, u64::MAX);
        (self.space.state(&step.state.row()), shown >> Partition::FIRST_WITNESS)
    }

    fn step_by(
        &self,
        before: &Whole<'_>,
        by: impl FnOnce(&Partition, &mut levelwise::system::Step<'_, '_, Partition>),
    ) -> Outcome<'_> {
        // A panic of a rule poisons nothing: what is remembered is complete.
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.space.state(&before.row());
        let mut after = before.clone();
        let mut step = self.space.step(&mut worker, &before, &mut after);
        by(self.space.system(), &mut step);
        let told = std::mem::take(&mut step.told);
        let message = |number: &u32| step.message(*number).message().expect("a message").clone();
        Outcome {
            sent: told.sent.iter().map(|number| message(number).envelope).collect(),
            answers: told.answers,
            discarded: told.discarded.iter().map(message).collect(),
            idle: told.idle,
            published_to: told.published_to.to_vec(),
            row: self.space.state(&step.state.row()),
        }
    }
}
