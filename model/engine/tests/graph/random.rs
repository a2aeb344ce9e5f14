//! Hundreds of random spaces, searched by the crate and plainly.

use levelwise::graph::{Fair, Graph};
use levelwise::{Hit, Limits, Options, Outcome, Until, Verdict, explore_graph, search};

use super::naive::{breadth_first, target};
use super::small::{BAD, BAD_STEP, BLUE, RED, Small, To, WITNESS};

const SPACES: u64 = 400;

pub fn spaces() -> impl Iterator<Item = Small> {
    (0..SPACES).map(|seed| Small::random(seed, if seed % 2 == 0 { 8 } else { 40 }))
}

pub fn explore(space: &Small) -> (Outcome, Graph) {
    explore_graph(space, &Options::default())
}

/// The states of the space by their numbers in the graph.
pub fn states(space: &Small) -> Vec<usize> {
    breadth_first(space).into_iter().map(|(state, _)| state).collect()
}

/// All that must be the same for any number of threads.
fn figures(outcome: &Outcome) -> impl PartialEq + std::fmt::Debug + use<> {
    (
        (outcome.verdict, outcome.unique, outcome.depth, outcome.counts.clone()),
        (outcome.goals.clone(), outcome.panic.clone(), outcome.levels().collect::<Vec<_>>()),
    )
}

fn edges(graph: &Graph) -> Vec<Vec<levelwise::graph::Edge>> {
    (0..graph.len() as u32).map(|state| graph.edges(state).collect()).collect()
}

#[test]
fn counts_levels_and_coverage_are_those_of_a_plain_search() {
    for space in spaces() {
        let found = breadth_first(&space);
        let (outcome, _) = explore(&space);
        assert_eq!(outcome.verdict, Verdict::Exhausted);
        assert_eq!(outcome.unique as usize, found.len());
        let levels = found.iter().map(|(_, depth)| depth + 1).max().unwrap_or(0);
        assert_eq!(outcome.depth as usize, levels);
        for (level, len) in outcome.levels().enumerate() {
            assert_eq!(len, found.iter().filter(|(_, depth)| *depth == level).count());
        }
        let actions: Vec<_> = found.iter().flat_map(|(n, _)| &space.states[*n].actions).collect();
        let count = |is_it: &dyn Fn(To) -> bool| actions.iter().filter(|a| is_it(a.to)).count();
        let generated = space.initial.len() + count(&|to| matches!(to, To::State(_)));
        assert_eq!(outcome.counts.generated as usize, generated);
        assert_eq!(outcome.counts.left_bounds as usize, count(&|to| to == To::Outside));
        for (kind, taken) in outcome.counts.kinds.iter().enumerate() {
            assert_eq!(*taken as usize, actions.iter().filter(|a| a.kind == kind).count());
        }
        let refused = actions.iter().filter(|action| action.refused).count();
        assert_eq!(outcome.counts.refused, [refused as u64]);
        for goal in [RED, BLUE] {
            let hit = found.iter().filter(|(n, _)| space.states[*n].hits & 1 << goal != 0);
            assert_eq!(outcome.counts.tallies[goal] as usize, hit.count());
        }
    }
}

#[test]
fn first_hits_are_shortest_and_their_paths_lead_there() {
    for space in spaces() {
        let found = breadth_first(&space);
        let (outcome, graph) = explore(&space);
        for goal in [BAD, WITNESS] {
            let first = found.iter().position(|(n, _)| space.states[*n].hits & 1 << goal != 0);
            let hit = outcome.goals[goal].1;
            assert_eq!(hit, first.and_then(|n| graph.place(n as u32)));
            if let (Some(hit), Some(first)) = (hit, first) {
                assert_eq!(hit.steps(), found[first].1);
                let path = outcome.path(&space, hit).expect("a path");
                assert_eq!(
                    (path.steps.len(), path.last()[0] as usize),
                    (hit.steps(), found[first].0)
                );
            }
        }
        let bad_step = found.iter().enumerate().find_map(|(n, (state, _))| {
            let ordinal = space.states[*state].actions.iter().position(|action| action.is_bad)?;
            let hit = graph.place(n as u32).expect("a state");
            Some((Hit { ordinal: Some(ordinal as u16), ..hit }, (*state, ordinal)))
        });
        assert_eq!(outcome.goals[BAD_STEP].1, bad_step.map(|(hit, _)| hit));
        if let Some((hit, action)) = bad_step {
            let path = outcome.path(&space, hit).expect("a path");
            assert_eq!(path.into_actions().last(), Some(&action));
        }
        assert_eq!((outcome.goals[RED].1, outcome.goals[BLUE].1), (None, None));
    }
}

#[test]
fn the_graph_has_every_state_action_and_mark() {
    for space in spaces() {
        let found = breadth_first(&space);
        let (outcome, graph) = explore(&space);
        assert_eq!((graph.len(), graph.expanded()), (found.len(), found.len()));
        assert!(graph.is_complete());
        for (n, (state, depth)) in (0..).zip(&found) {
            let actions = &space.states[*state].actions;
            assert_eq!(graph.edges(n).count(), actions.len());
            for (ordinal, (edge, action)) in (0..).zip(graph.edges(n).zip(actions)) {
                let to = edge.target.map(|to| found[to as usize].0);
                assert_eq!((edge.kind, edge.ordinal), (action.kind, ordinal));
                assert_eq!((to, edge.stays), (target(*state, action), action.to == To::Same));
            }
            assert_eq!(graph.marks(n), space.states[*state].hits & (1 << RED | 1 << BLUE));
            let walk = graph.path_to(n);
            assert_eq!((walk.last(), walk.steps.len()), (n, *depth));
            let path = walk.replay(&space).expect("a path");
            assert_eq!(path.last()[0] as usize, *state);
            let place = graph.place(n).expect("a place");
            assert_eq!(outcome.path(&space, place).expect("a path"), path);
        }
        let mut rows = Vec::new();
        graph.for_each_state(&space, |n, row| rows.push((n, row[0] as usize))).expect("all rows");
        assert!(rows.into_iter().eq((0..).zip(states(&space))));
    }
}

#[test]
fn a_tally_that_is_not_looked_for_marks_nothing() {
    let space = Small::random(3, 8);
    let options = Options { goals: !(1 << RED), ..Options::default() };
    let (_, graph) = explore_graph(&space, &options);
    assert_eq!((graph.tally("red"), graph.tally("blue")), (None, Some(BLUE)));
    assert_eq!((graph.tally("bad"), graph.tally("nothing")), (None, None));
    let asked = || graph.can_reach(RED, None);
    assert!(std::panic::catch_unwind(asked).is_err(), "it must not answer");
}

#[test]
fn threads_and_the_graph_change_no_figure() {
    for space in spaces().step_by(3) {
        let limits = [
            Limits::default(),
            Limits { depth: Some(3), ..Limits::default() },
            Limits { states: Some(9), ..Limits::default() },
        ];
        for (limits, until) in
            limits.into_iter().zip([Until::Exhausted, Until::Exhausted, Until::AllHit])
        {
            let options =
                |threads| Options { threads, until, limits: limits.clone(), ..Options::default() };
            let (outcome, graph) = explore_graph(&space, &options(1));
            assert_eq!(figures(&outcome), figures(&search(&space, &options(1))));
            for threads in [2, 4] {
                let (other, other_graph) = explore_graph(&space, &options(threads));
                assert_eq!(figures(&outcome), figures(&other));
                assert_eq!(edges(&graph), edges(&other_graph));
                assert_eq!(
                    graph.eventually(RED, &Fair::none()),
                    other_graph.eventually(RED, &Fair::none())
                );
            }
        }
    }
}
