//! Does the engine count what an exact search counts, on every sample model, whoever searches?

use std::fmt::Debug;
use std::hash::Hash;

use levelwise::stateright_actors::Stateright;
use levelwise::system::Actors;
use levelwise::{Hit, Kept, Limits, Options, Outcome, Space, search};
use stateright::Model;
use stateright::actor::{Actor, ActorModel};

use crate::counts::{self, Judge, Known};
use crate::naive::{Counts, Found};

/// Searches with one thread and with three.
#[derive(Default)]
struct Engine {
    models: usize,
}

fn found(outcome: &Outcome) -> Found {
    let first = |hit: Hit| hit.steps() + 1;
    let firsts = outcome.goals.iter().filter_map(|(goal, hit)| Some((&*goal.name, first((*hit)?))));
    // The names live as long as the models: they are literals.
    let firsts = firsts.map(|(name, first)| (&*name.to_owned().leak(), first)).collect();
    let counts = Counts {
        unique: outcome.unique as usize,
        generated: outcome.counts.generated as usize,
        depth: outcome.depth as usize,
    };
    Found { counts, firsts }
}

impl Engine {
    fn judge<S: Space>(&mut self, known: &Known, expected: &Found, space: impl Fn(u64) -> S) {
        self.models += 1;
        let depth = known.max_depth.map(|depth| depth as u32);
        let mut outcomes = [(1, 0), (3, 0), (1, 1)].map(|(threads, seed)| {
            let limits = Limits { depth, ..Limits::default() };
            let space = space(seed);
            let outcome = search(&space, &Options { threads, limits, ..Options::default() });
            assert_eq!(&found(&outcome), expected, "{} {threads} {seed}", known.name);
            assert_eq!(outcome.exhausted(), depth.is_none(), "{}", known.name);
            for (goal, hit) in &outcome.goals {
                let Some(hit) = *hit else { continue };
                let path = outcome.path(&space, hit).expect("a path");
                assert_eq!(path.steps.len(), hit.steps(), "{}: {}", known.name, goal.name);
            }
            outcome
        });
        let [one, three, _] = &mut outcomes;
        assert_eq!((&one.counts, &one.goals), (&three.counts, &three.goals), "{}", known.name);
    }
}

impl Judge for Engine {
    fn plain<M>(&mut self, known: &Known, model: M)
    where
        M: Model + Clone + Debug + Send + Sync + 'static,
        M::State: Clone + Debug + Ord + Hash + Send + Sync,
        M::Action: Clone + Debug + Ord + Hash + Send + Sync,
    {
        let expected = known.found(&model);
        self.judge(known, &expected, |seed| Kept::new(model.clone(), seed));
    }

    fn actors<A, C, H>(&mut self, known: &Known, model: ActorModel<A, C, H>)
    where
        A: Actor + Clone + Debug + Send + Sync + 'static,
        A::Msg: Ord + Send + Sync,
        A::Timer: Ord + Send + Sync,
        A::State: Ord + Send + Sync,
        A::Storage: Ord + Send + Sync,
        A::Random: Send + Sync,
        C: Clone + Debug + Send + Sync + 'static,
        H: Clone + Debug + Ord + Hash + Send + Sync + 'static,
    {
        let expected = known.found(&model);
        self.judge(known, &expected, |seed| Actors::new(Stateright::new(model.clone()), seed));
    }
}

#[test]
fn the_engine_counts_what_an_exact_search_counts_on_every_sample() {
    let mut engine = Engine::default();
    counts::each(&mut engine);
    assert!(engine.models > 40, "only {} models", engine.models);
}
