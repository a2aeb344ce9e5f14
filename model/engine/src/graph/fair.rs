//! Runs that go on forever and are fair: what will happen, not only what may.
//!
//! A *run* begins in an initial state and takes one action after the other; if it gets to a state
//! in which nothing can happen, it stays there forever. Every action that a visit tells can be
//! taken, also one that changes nothing: taking it over and over is a run like any other.
//!
//! A run is *weakly fair* to a kind of action if it takes actions of this kind again and again, or
//! if again and again it is in a state that has none: □◇taken ∨ □◇¬enabled, the same as
//! ◇□enabled → □◇taken. Several actions of one kind are one here: who wants each of them treated
//! fairly gives each a kind of its own.
//!
//! A graph has a fair run that violates one of the properties below if and only if it has one that
//! is a *lasso*: a walk to a cycle that is repeated forever. It is looked for among the strongly
//! connected components of the states in which such a run could be caught.

use super::bits::{Bits, Kinds};
use super::lasso::Lasso;
use super::region::Region;
use super::scc::Components;
use super::walk::Step;
use super::{Answer, Edge, Graph, Open, Scope};
use crate::space::Sort;

/// What must not be put off forever.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fair {
    kinds: Kinds,
    changing: bool,
}

impl Fair {
    /// Nothing: any run counts.
    pub fn none() -> Self {
        Self::default()
    }

    /// Actions of these kinds. One that changes nothing is enabled and taken as any other: so a run
    /// that takes nothing but idle actions of a kind is fair to it, though another action of the
    /// kind, always possible, would lead on.
    ///
    /// A check panics if there are more than 63 kinds.
    pub fn of(kinds: Kinds) -> Self {
        Self { kinds, changing: false }
    }

    /// Actions of these kinds that change the state (TLA+'s `WF_vars`). One that changes nothing is
    /// neither enabled nor taken, as far as fairness is concerned: so fewer runs are fair.
    ///
    /// A check panics if there are more than 63 kinds.
    pub fn changing(kinds: Kinds) -> Self {
        Self { kinds, changing: true }
    }
}

/// Where the part of a run begins that a property speaks of.
#[derive(Clone, Copy, Debug)]
enum From {
    Initial,
    Anywhere,
    Marked(usize),
}

/// A property, as what its violation is: a fair run that from somewhere on avoids the states of a
/// tally, or that again and again is in a state without one.
struct Question<'a> {
    from: From,
    avoids: Option<&'a Bits>,
    lacks: Option<&'a Bits>,
    fair: &'a Fair,
    scope: Scope,
}

impl Graph {
    /// Whether every fair run meets a state that hits the tally `goal`: ◇goal in LTL.
    ///
    /// A violation never meets one, from its initial state on.
    ///
    /// # Panics
    ///
    /// If `goal` is no tally of this graph; so for the others.
    pub fn eventually(&self, goal: usize, fair: &Fair) -> Answer<Lasso> {
        let avoids = Some(self.marked(goal));
        self.ask(&Question { from: From::Initial, avoids, lacks: None, fair, scope: self.scope })
    }

    /// Whether every fair run meets such states again and again: □◇goal.
    ///
    /// A violation may meet some on its way, and none once it is in its cycle.
    pub fn again_and_again(&self, goal: usize, fair: &Fair) -> Answer<Lasso> {
        let avoids = Some(self.marked(goal));
        self.ask(&Question { from: From::Anywhere, avoids, lacks: None, fair, scope: self.scope })
    }

    /// Whether every fair run gets to a point from which on all its states hit the tally `goal`:
    /// ◇□goal.
    ///
    /// A violation has a state in its cycle that does not.
    pub fn for_good(&self, goal: usize, fair: &Fair) -> Answer<Lasso> {
        let lacks = Some(self.marked(goal));
        self.ask(&Question { from: From::Initial, avoids: None, lacks, fair, scope: self.scope })
    }

    /// Whether in every fair run each state that hits `cause` hits `effect` as well or is followed
    /// by one that does: □(cause → ◇effect).
    pub fn leads_to(&self, cause: usize, effect: usize, fair: &Fair) -> Answer<Lasso> {
        let avoids = Some(self.marked(effect));
        self.ask(&Question {
            from: From::Marked(cause),
            avoids,
            lacks: None,
            fair,
            scope: self.scope,
        })
    }

    /// What stateright calls `eventually`, for every tally, with its name: whether every run, fair
    /// or not, meets it. As stateright has it, the bounds are part of the model and an action
    /// that is ignored is none: a run that could only leave or be ignored is at its end.
    ///
    /// stateright's own checkers look at ends only, and not at all of them; so what holds here
    /// holds there, and not the other way round.
    pub fn check_eventually(&self) -> Vec<(String, Answer<Lasso>)> {
        let tallies = self.goals.iter().enumerate().filter(|(_, goal)| goal.sort == Sort::Tally);
        let looked_at = tallies.filter(|(n, _)| self.tallied & 1 << n != 0);
        let (fair, scope) = (Fair::none(), Scope { closed: true, busy: true });
        let answer = |n| {
            let avoids = Some(self.marked(n));
            let from = From::Initial;
            self.ask(&Question { from, avoids, lacks: None, fair: &fair, scope })
        };
        looked_at.map(|(n, goal)| (goal.name.clone(), answer(n))).collect()
    }

    fn ask(&self, question: &Question<'_>) -> Answer<Lasso> {
        let region = self.region(question);
        let needs = Needs::new(self, question);
        let ends = |state: &u32| {
            let met = needs.met_in(*state) == needs.all;
            met && self.is_terminal(*state, question.scope)
        };
        let end = region.states.iter().copied().find(ends).map(|state| region.rank(state));
        let mut cycle = None;
        let components = Components::new(self, &region, |components, states| {
            if needs.are_met(components, states) {
                let first = states.iter().map(|state| region.rank(*state)).min();
                cycle = [cycle, first].into_iter().flatten().min();
            }
        });
        let nearest = [end, cycle].into_iter().flatten().min();
        let Some(rank) = nearest else { return self.not_violated(question, &region) };
        let entry = region.states[rank as usize];
        let mut walk = region.path_to(entry);
        let stem = walk.steps.len();
        if nearest != end {
            walk.steps.extend(needs.cycle(&components, entry));
        }
        Answer::Violated(Lasso { walk, stem })
    }

    fn region(&self, question: &Question<'_>) -> Region<'_> {
        let begins = |state: u32| match question.from {
            From::Initial => (state as usize) < self.starts.len(),
            From::Anywhere => true,
            From::Marked(goal) => self.marked(goal).contains(state as usize),
        };
        Region::new(self, question.avoids, begins)
    }

    fn not_violated(&self, question: &Question<'_>, region: &Region<'_>) -> Answer<Lasso> {
        // A run that met what it must meet once may go wherever it likes.
        let concerns = |state: &u32| match question.from {
            From::Initial => region.contains(*state),
            From::Anywhere | From::Marked(_) => true,
        };
        let leaves = |state: &u32| !question.scope.closed && self.is_leaving(*state);
        let states = 0..self.expanded() as u32;
        let leaving = states.filter(|state| concerns(state) && leaves(state)).count() as u64;
        if self.complete && leaving == 0 {
            Answer::Holds
        } else {
            Answer::Open(Open { unexpanded: self.unexpanded(), leaving })
        }
    }
}

/// What a cycle must show for a run that repeats it to be a violation, one bit each.
pub struct Needs<'a> {
    graph: &'a Graph,
    /// The bit of each kind; 0 if the run needs not be fair to it.
    bits: Vec<u64>,
    /// The bits of all kinds.
    kinds: u64,
    /// The bit of a state without this tally.
    lacks: Option<(u64, &'a Bits)>,
    changing: bool,
    scope: Scope,
    all: u64,
}

impl<'a> Needs<'a> {
    fn new(graph: &'a Graph, question: &Question<'a>) -> Self {
        let mut bits = vec![0; graph.kinds.len()];
        let mut next = 1_u64;
        for kind in question.fair.kinds.iter() {
            bits[kind] = next;
            next = next.checked_shl(1).filter(|next| *next != 0).expect("at most 63 fair kinds");
        }
        let kinds = next - 1;
        let lacks = question.lacks.map(|marks| (next, marks));
        let all = kinds | lacks.map_or(0, |(bit, _)| bit);
        let (changing, scope) = (question.fair.changing, question.scope);
        Self { graph, bits, kinds, lacks, changing, scope, all }
    }

    /// What being in a state meets: kinds of which it has no action, and that it lacks the tally.
    ///
    /// An action that leads out of bounds that are no part of the model is enabled: a run that has
    /// no other must leave some time, so it is no violation.
    fn met_in(&self, state: u32) -> u64 {
        let counts = |edge: &Edge| !self.changing || edge.target != Some(state);
        let edges = self.graph.existing(state, self.scope).filter(counts);
        let enabled = edges.fold(0, |all, edge| all | self.bits[edge.kind]);
        let lacks = self.lacks.filter(|(_, marks)| !marks.contains(state as usize));
        self.kinds & !enabled | lacks.map_or(0, |(bit, _)| bit)
    }

    /// What taking an action and being in the state it leads to meets.
    fn met_by(&self, step: &Step) -> u64 {
        let counts = !self.changing || step.from != step.to;
        let taken = if counts { self.bits[step.kind] } else { 0 };
        taken | self.met_in(step.to)
    }

    /// The actions of a state that lead to a state of the same component.
    fn inside(&self, components: &Components<'_>, from: u32) -> impl Iterator<Item = Step> {
        let steps = self.graph.existing(from, self.scope).filter_map(move |e| Step::of(from, e));
        steps.filter(move |step| components.same(from, step.to))
    }

    /// Whether a component has a cycle that meets all. If it has one, one that goes through all of
    /// it does.
    fn are_met(&self, components: &Components<'_>, states: &[u32]) -> bool {
        let (mut met, mut goes_on) = (0, false);
        for &state in states {
            for step in self.inside(components, state) {
                (met, goes_on) = (met | self.met_by(&step), true);
            }
            if goes_on && met == self.all {
                return true;
            }
        }
        false
    }

    /// A cycle from a state of such a component that meets all. No shortest one: it goes to what is
    /// nearest of what is missing, again and again, and then back.
    fn cycle(&self, components: &Components<'_>, entry: u32) -> Vec<Step> {
        let inside = |from| self.inside(components, from);
        let mut missing = self.all & !self.met_in(entry);
        let (mut steps, mut at) = (Vec::new(), entry);
        while missing != 0 || at != entry || steps.is_empty() {
            let way = super::lasso::nearest(at, inside, |step| {
                if missing == 0 { step.to == entry } else { self.met_by(step) & missing != 0 }
            });
            for step in way {
                missing &= !self.met_by(&step);
                at = step.to;
                steps.push(step);
            }
        }
        steps
    }
}
