//! stateright's `Checker`, answered from a finished search.

use std::fmt::Debug;
use std::hash::Hash;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use stateright::report::{ReportData, ReportDiscovery, Reporter};
use stateright::{Checker, Expectation, Model, Path};

use crate::graph::{Answer, Lasso, explore_graph};
use crate::kept::Kept;
use crate::outcome::Outcome;
use crate::plain::{Codec, Plain};
use crate::replay::NoPath;
use crate::search::{Options, search};
use crate::space::Space;

/// A space that is made of a stateright model: its goals are the model's properties, in their
/// order, and its actions are the model's.
pub trait OfModel: Space<Action = <Self::Model as Model>::Action> {
    /// The model.
    type Model: Model;

    /// The model.
    fn model(&self) -> &Self::Model;

    /// The state that a row stands for.
    fn state(&self, row: &[u32]) -> <Self::Model as Model>::State;
}

impl<M> OfModel for Kept<M>
where
    M: Model + Sync,
    M::State: Clone + Hash + PartialEq + Send + Sync,
    M::Action: Clone + Send,
{
    type Model = M;

    fn model(&self) -> &M {
        Self::model(self)
    }

    fn state(&self, row: &[u32]) -> M::State {
        Self::state(self, row).clone()
    }
}

impl<M> OfModel for Plain<M>
where
    M: Codec + Sync,
    M::Action: Clone,
{
    type Model = M;

    fn model(&self) -> &M {
        Self::model(self)
    }

    fn state(&self, row: &[u32]) -> M::State {
        self.model().unpack(row)
    }
}

/// Searches a space, and judges all properties of its model, those that are `eventually` too. The
/// graph is kept only if there is one of them.
pub fn check<'a, S: OfModel>(space: &'a S, options: &Options) -> Checked<'a, S> {
    let properties = space.model().properties();
    let asked = |n: usize| options.goals & 1 << n != 0;
    let eventually = |(n, property): (usize, &stateright::Property<S::Model>)| {
        property.expectation == Expectation::Eventually && asked(n)
    };
    let all_asked = (0..properties.len()).all(asked);
    let started = Instant::now();
    let (outcome, eventually) = if properties.iter().enumerate().any(eventually) {
        let (outcome, graph) = explore_graph(space, options);
        (outcome, graph.check_eventually())
    } else {
        (search(space, options), Vec::new())
    };
    Checked { space, outcome, eventually, all_asked, time: started.elapsed() }
}

/// A finished search as stateright's `Checker`, so that `assert_properties`, `assert_discovery`
/// and `report` say what it found.
///
/// A search that was ended early is not done, and no assertion takes what it did not find for
/// something that is not there. `report` says so once, where stateright's own would wait for it.
///
/// A discovery of an `eventually` property goes once around its cycle, if it has one. stateright's
/// `assert_discovery` takes only those that end in a state without successors.
pub struct Checked<'a, S: OfModel> {
    space: &'a S,
    outcome: Outcome,
    eventually: Vec<(String, Answer<Lasso>)>,
    /// Whether no property was left out.
    all_asked: bool,
    time: Duration,
}

type StateOf<S> = <<S as OfModel>::Model as Model>::State;
type ActionOf<S> = <<S as OfModel>::Model as Model>::Action;
type PathOf<S> = Path<StateOf<S>, ActionOf<S>>;

impl<S: OfModel> Checked<'_, S> {
    /// What the search found.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Whether each `eventually` property holds, by name.
    pub fn eventually(&self) -> &[(String, Answer<Lasso>)] {
        &self.eventually
    }

    fn answer(&self, name: &str) -> Option<&Answer<Lasso>> {
        self.eventually.iter().find(|(other, _)| other == name).map(|(_, answer)| answer)
    }

    fn is_found(&self, name: &str) -> bool {
        let lasso = self.answer(name).and_then(Answer::violation);
        lasso.is_some() || self.outcome.hit(name).is_some()
    }

    fn path(&self, name: &str) -> Option<PathOf<S>>
    where
        StateOf<S>: PartialEq,
        ActionOf<S>: PartialEq,
    {
        let path = match self.answer(name) {
            Some(answer) => {
                let run = answer.violation()?.replay(self.space);
                run.map(|run| run.path).map_err(NoPath::from)
            }
            None => self.outcome.path(self.space, self.outcome.hit(name)?),
        };
        let path = path.unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
        let start = self.space.state(&path.start);
        let found = Path::from_actions(self.space.model(), start, &path.into_actions());
        Some(found.unwrap_or_else(|| panic!("{name}: the model does not go the same way twice")))
    }

    fn report_to<R: Reporter<S::Model>>(&self, reporter: &mut R)
    where
        ActionOf<S>: Debug + PartialEq + Clone,
        StateOf<S>: Debug + Hash + PartialEq + Clone,
    {
        reporter.report_checking(ReportData {
            total_states: self.state_count(),
            unique_states: self.unique_state_count(),
            max_depth: self.max_depth(),
            duration: self.time,
            done: self.is_done(),
        });
        let discovery = |(name, path)| {
            let classification = self.discovery_classification(name);
            (name, ReportDiscovery { path, classification })
        };
        let discoveries = self.discoveries().into_iter().map(discovery).collect();
        reporter.report_discoveries(self.space.model(), discoveries);
    }
}

impl<S: OfModel> Checker<S::Model> for Checked<'_, S> {
    fn model(&self) -> &S::Model {
        self.space.model()
    }

    fn state_count(&self) -> usize {
        self.outcome.counts.generated as usize
    }

    fn unique_state_count(&self) -> usize {
        self.outcome.unique as usize
    }

    fn max_depth(&self) -> usize {
        self.outcome.depth as usize
    }

    #[expect(clippy::disallowed_types, reason = "stateright's signature")]
    fn discoveries(&self) -> std::collections::HashMap<&'static str, PathOf<S>>
    where
        StateOf<S>: Clone + PartialEq,
        ActionOf<S>: Clone + PartialEq,
    {
        let names = self.model().properties().into_iter().map(|property| property.name);
        names.filter_map(|name| self.path(name).map(|path| (name, path))).collect()
    }

    fn handles(&mut self) -> Vec<JoinHandle<()>> {
        Vec::new()
    }

    /// Whether each property is judged: it has its discovery, or there is none.
    fn is_done(&self) -> bool {
        let open = |(_, answer): &(String, Answer<Lasso>)| matches!(answer, Answer::Open(_));
        let looked = self.all_asked && self.outcome.exhausted();
        let properties = self.model().properties();
        let all_found = properties.iter().all(|property| self.is_found(property.name));
        (looked && !self.eventually.iter().any(open)) || (all_found && !properties.is_empty())
    }

    fn report<R>(self, reporter: &mut R) -> Self
    where
        ActionOf<S>: Debug + PartialEq + Clone,
        StateOf<S>: Debug + Hash + PartialEq + Clone,
        R: Reporter<S::Model>,
    {
        self.report_to(reporter);
        self
    }

    fn join_and_report<R>(self, reporter: &mut R) -> Self
    where
        ActionOf<S>: Debug + PartialEq + Clone,
        StateOf<S>: Debug + Hash + PartialEq + Clone,
        Self: Send + Sync,
        R: Reporter<S::Model> + Send,
    {
        self.report_to(reporter);
        self
    }
}
