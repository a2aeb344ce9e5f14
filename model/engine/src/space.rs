//! What the search needs of a model: a [`Space`] of packed states.

use crate::edits::{self, Edits};

/// What is looked for, or counted, in states or steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// Its name in reports.
    pub name: String,
    /// What a hit means.
    pub sort: Sort,
}

/// What a hit of a goal means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// A state or step that must not be: the first hit is a shortest counterexample.
    Always,
    /// A state or step that must be seen: the first hit is a shortest witness.
    Sometimes,
    /// States are counted, all of them, and remembered where the graph is kept.
    Tally,
}

impl Goal {
    /// A property that must always hold.
    pub fn always(name: impl Into<String>) -> Self {
        Self { name: name.into(), sort: Sort::Always }
    }

    /// Something that must be seen.
    pub fn sometimes(name: impl Into<String>) -> Self {
        Self { name: name.into(), sort: Sort::Sometimes }
    }

    /// States to be counted.
    pub fn tally(name: impl Into<String>) -> Self {
        Self { name: name.into(), sort: Sort::Tally }
    }
}

/// A model as the search sees it: rows of words, and who comes after whom.
///
/// Two states are one if their fingerprints are equal; a row needs not be canonical as long as its
/// fingerprint depends on the state alone. What a visit emits, and in which order, depends on the
/// row alone, never on the worker or on what it did before.
pub trait Space: Sync {
    /// What leads from one state to the next.
    type Action;

    /// What a thread keeps to itself: memos and scratch.
    type Worker: Send;

    /// A new worker.
    fn worker(&self) -> Self::Worker;

    /// The seed that its fingerprints are made with.
    fn seed(&self) -> u64;

    /// The names of the kinds of action.
    fn kinds(&self) -> Vec<String>;

    /// The names of guards whose refusals are counted.
    fn guards(&self) -> Vec<String> {
        Vec::new()
    }

    /// What is looked for; at most 64.
    fn goals(&self) -> Vec<Goal>;

    /// Tells every initial state to `sink.start`.
    fn initial(&self, worker: &mut Self::Worker, sink: &mut impl Sink<Self::Action>);

    /// Judges a state and, if `sink.expands()`, emits its successors.
    fn visit(&self, worker: &mut Self::Worker, row: &[u32], sink: &mut impl Sink<Self::Action>);

    /// How much memory the space itself takes.
    fn bytes(&self) -> u64 {
        0
    }

    /// Whether the fingerprint of a state is the same in every run, as far as can be told. Without
    /// that, a search can't be gone on with in another run.
    fn is_repeatable(&self) -> bool {
        true
    }

    /// How often a worker's memo was asked, and how often it knew.
    fn memo(&self, worker: &Self::Worker) -> Memo {
        let _ = worker;
        Memo::default()
    }
}

/// How a memo of actors' reactions fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memo {
    /// How often a reaction was asked for.
    pub asked: u64,
    /// How often it had to be computed.
    pub computed: u64,
}

impl Memo {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { asked: self.asked + other.asked, computed: self.computed + other.computed }
    }

    /// The share of questions that were answered from memory; 1 if there was none.
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    pub fn hit_rate(self) -> f64 {
        1.0 - self.computed as f64 / self.asked.max(1) as f64
    }
}

/// Where a visit tells what it finds. As it stands it wants successors and judges nothing.
pub trait Sink<A> {
    /// Which goals are still looked for, one bit each.
    fn open(&self) -> u64 {
        0
    }

    /// Whether successors are wanted; otherwise the state is only judged.
    fn expands(&self) -> bool {
        true
    }

    /// The state that is visited hits a goal.
    fn hit(&mut self, goal: usize) {
        let _ = goal;
    }

    /// This is an initial state.
    fn start(&mut self, fingerprint: u64, row: &[u32]);

    /// An action of this kind leads to this state.
    fn step(&mut self, kind: usize, fingerprint: u64, row: &[u32], action: impl FnOnce() -> A);

    /// An action of this kind leads to the state that some edits make of the row of the visited
    /// one, `before`. They are only asked for if the state may be new.
    fn edited(
        &mut self,
        kind: usize,
        fingerprint: u64,
        (before, edit): (&[u32], impl FnOnce(&mut Edits<'_>)),
        action: impl FnOnce() -> A,
    ) {
        let (mut words, mut row) = (Vec::new(), Vec::new());
        edit(&mut Edits::new(&mut words));
        edits::apply(&words, before, &mut row);
        self.step(kind, fingerprint, &row, action);
    }

    /// An action of this kind leads nowhere else.
    fn stays(&mut self, kind: usize, action: impl FnOnce() -> A);

    /// An action of this kind leads out of the bounds of the model.
    fn leaves(&mut self, kind: usize, action: impl FnOnce() -> A);

    /// The action that was told last hits a goal.
    fn hit_step(&mut self, goal: usize) {
        let _ = goal;
    }

    /// A guard refused an action.
    fn refused(&mut self, guard: usize) {
        let _ = guard;
    }
}
