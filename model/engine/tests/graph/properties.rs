//! What the graphs of the same random spaces say of what may and will happen.

use levelwise::graph::{Answer, Fair, Graph, Kinds, Lasso, Open, Step};
use levelwise::{Bound, Limits, Options, Until, explore_graph};

use super::naive::{Question, Scope, closure, exists};
use super::random::{explore, spaces, states};
use super::small::{BAD, BLUE, RED, Small, To};

/// The ways to look at a graph, each with what it means for a plain search.
fn scoped(graph: Graph) -> [(Scope, Graph); 4] {
    let closed = graph.clone().with_closed_bounds();
    [
        (Scope { closed: true, busy: true }, closed.clone().without_idle_actions()),
        (Scope { closed: false, busy: true }, graph.clone().without_idle_actions()),
        (Scope { closed: true, busy: false }, closed),
        (Scope::default(), graph),
    ]
}

#[test]
fn deadlocks_are_the_states_without_actions() {
    let mut seen = [0, 0];
    for space in spaces() {
        let states = states(&space);
        for (scope, graph) in scoped(explore(&space).1) {
            let ended = |n: &u32| {
                let actions = &space.states[states[*n as usize]].actions;
                !actions.iter().any(|action| exists(action, scope))
            };
            let all: Vec<u32> = (0..states.len() as u32).filter(ended).collect();
            assert_eq!(graph.deadlocks().collect::<Vec<_>>(), all);
            match graph.deadlock_free() {
                Answer::Holds => assert!(all.is_empty()),
                Answer::Violated(stuck) => {
                    assert_eq!((stuck.first, stuck.count), (all[0], all.len() as u64));
                }
                Answer::Open(open) => panic!("{open:?}"),
            }
            seen[usize::from(all.is_empty())] += 1;
        }
    }
    assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
}

#[test]
fn can_reach_is_what_the_closure_says() {
    let mut seen = [0; 3];
    for space in spaces() {
        let states = states(&space);
        for (scope, graph) in scoped(explore(&space).1) {
            for by in [None, Some(vec![]), Some(vec![0]), Some(vec![1, 2])] {
                let allowed = |kind| by.as_ref().is_none_or(|by| by.contains(&kind));
                let reaches = closure(&space, |action| allowed(action.kind));
                let red = |n: usize| space.states[n].hits & 1 << RED != 0;
                let leaves = |n: usize| {
                    let mut all = space.states[n].actions.iter();
                    !scope.closed && all.any(|a| a.to == To::Outside && allowed(a.kind))
                };
                let some = |n: usize, is_it: &dyn Fn(usize) -> bool| {
                    (0..space.states.len()).any(|to| reaches[n][to] && is_it(to))
                };
                let unable = |n: &usize| !some(states[*n], &red);
                let stuck = |n: &usize| unable(n) && !some(states[*n], &leaves);
                let (unable, stuck): (Vec<usize>, Vec<usize>) = (
                    (0..states.len()).filter(unable).collect(),
                    (0..states.len()).filter(stuck).collect(),
                );
                let kinds = by.as_ref().map(|by| by.iter().copied().collect::<Kinds>());
                match graph.can_reach(RED, kinds.as_ref()) {
                    Answer::Holds => {
                        assert!(unable.is_empty());
                        seen[0] += 1;
                    }
                    Answer::Violated(found) => {
                        let expected = (stuck[0] as u32, stuck.len() as u64);
                        assert_eq!((found.first, found.count), expected);
                        seen[1] += 1;
                    }
                    Answer::Open(open) => {
                        assert!(stuck.is_empty() && !unable.is_empty() && !scope.closed);
                        let leaving = states.iter().filter(|n| leaves(**n)).count() as u64;
                        assert_eq!(open, Open { unexpanded: 0, leaving });
                        seen[2] += 1;
                    }
                }
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
}

/// A lasso must be one in the space, and what it repeats must be a violation.
fn assert_is_violation(space: &Small, graph: &Graph, question: &Question<'_>, lasso: &Lasso) {
    let run = lasso.replay(space).expect("a run");
    assert_eq!((run.stem, run.path.steps.len()), (lasso.stem, lasso.walk.steps.len()));
    let by_number = states(space);
    for (step, (action, row)) in lasso.walk.steps.iter().zip(&run.path.steps) {
        let Step { from, kind, ordinal, to } = *step;
        assert_eq!(*action, (by_number[from as usize], ordinal.into()));
        assert_eq!(row[0] as usize, by_number[to as usize]);
        assert!(graph.edges(from).any(|e| (e.kind, e.target) == (kind, Some(to))));
    }
    let all: Vec<usize> = lasso.walk.states().map(|n| by_number[n as usize]).collect();
    assert!(space.initial.contains(&all[0]));
    let is_red = |n: &usize| Question::is_red(space, *n);
    let mut caught: Vec<usize> = all[lasso.stem..].to_vec();
    assert!(!question.avoids_red || !caught.iter().any(is_red), "it must avoid RED");
    let begins = (0..=lasso.stem).rev();
    let mut begins = begins.take_while(|n| !question.avoids_red || !is_red(&all[*n]));
    assert!(begins.any(|n| (question.begins)(all[n])), "it must begin where it is asked");
    caught.sort_unstable();
    caught.dedup();
    if lasso.cycle().is_empty() {
        let actions = &space.states[caught[0]].actions;
        assert!(!actions.iter().any(|action| exists(action, question.scope)));
        assert!(!question.lacks_red || !is_red(&caught[0]));
        return;
    }
    // Not all actions among these states are taken, so fairness is judged by those that are.
    let taken: Vec<_> = lasso.cycle().iter().collect();
    assert_eq!(taken[0].from, taken[taken.len() - 1].to);
    assert!(taken.windows(2).all(|pair| pair[0].to == pair[1].from));
    let action = |step: &&Step| {
        space.states[by_number[step.from as usize]].actions[usize::from(step.ordinal)]
    };
    assert!(taken.iter().all(|step| exists(&action(step), question.scope)));
    let counts = |from: Option<u32>, to: Option<u32>| !(question.changing && from == to);
    for kind in question.fair {
        let is_taken = taken.iter().any(|s| s.kind == *kind && counts(Some(s.from), Some(s.to)));
        let without = |step: &&Step| {
            let mut all = graph.edges(step.to).filter(|edge| edge.kind == *kind);
            !all.any(|edge| {
                let gone = question.scope.busy && edge.stays
                    || question.scope.closed && edge.target.is_none();
                !gone && counts(Some(step.to), edge.target)
            })
        };
        assert!(is_taken || taken.iter().any(without), "not fair to {kind}");
    }
    assert!(!question.lacks_red || !caught.iter().all(is_red));
    assert!(question.is_violation(space, &caught));
}

/// One of the four properties: its name, how the crate is asked, where the run begins that avoids
/// RED, and whether it avoids RED or must be without it again and again.
type Form = (&'static str, fn(&Graph, &Fair) -> Answer<Lasso>, fn(&Small, usize) -> bool, bool);

const FORMS: [Form; 4] = [
    ("eventually", |g, fair| g.eventually(RED, fair), |s, n| s.initial.contains(&n), true),
    ("again and again", |g, fair| g.again_and_again(RED, fair), |_, _| true, true),
    ("for good", |g, fair| g.for_good(RED, fair), |s, n| s.initial.contains(&n), false),
    (
        "leads to",
        |g, fair| g.leads_to(BLUE, RED, fair),
        |s, n| s.states[n].hits & 1 << BLUE != 0,
        true,
    ),
];

#[test]
fn fair_runs_are_those_that_trying_all_sets_of_states_finds() {
    let mut seen = [[0; 3]; 4];
    for space in spaces().step_by(2) {
        let states = states(&space);
        for (scope, graph) in scoped(explore(&space).1) {
            for (form, (name, ask, begins, avoids_red)) in FORMS.into_iter().enumerate() {
                for (fair, changing) in
                    [(vec![], false), (vec![0], false), (vec![0, 1, 2], false), (vec![0, 1], true)]
                {
                    let fair: Vec<usize> = fair.into_iter().filter(|k| *k < space.kinds).collect();
                    let question = Question {
                        scope,
                        fair: &fair,
                        changing,
                        begins: &|n| begins(&space, n),
                        avoids_red,
                        lacks_red: !avoids_red,
                    };
                    let kinds: Kinds = fair.iter().copied().collect();
                    let wanted = if changing { Fair::changing(kinds) } else { Fair::of(kinds) };
                    let nearest = question.nearest_violation(&space);
                    let distances = question.distances(&space);
                    let concerned = |n: &&usize| name != "eventually" || distances[**n].is_some();
                    let leaves = |n: &&usize| {
                        let mut all = space.states[**n].actions.iter();
                        all.any(|action| action.to == To::Outside)
                    };
                    let leaving = states.iter().filter(concerned).filter(leaves).count() as u64;
                    match ask(&graph, &wanted) {
                        Answer::Violated(lasso) => {
                            assert_eq!(Some(lasso.stem), nearest, "{name}: {space:?}");
                            assert_is_violation(&space, &graph, &question, &lasso);
                            seen[form][0] += 1;
                        }
                        Answer::Holds => {
                            assert_eq!(nearest, None, "{name}: {space:?}");
                            assert!(scope.closed || leaving == 0);
                            seen[form][1] += 1;
                        }
                        Answer::Open(open) => {
                            assert_eq!(nearest, None, "{name}: {space:?}");
                            assert_eq!(open, Open { unexpanded: 0, leaving });
                            assert!(!scope.closed && leaving > 0);
                            seen[form][2] += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(seen.iter().flatten().all(|count| *count > 20), "{seen:?}");
}

#[test]
fn stateright_s_eventually_is_without_fairness_bounds_and_idle_actions() {
    for space in spaces() {
        let (_, graph) = explore(&space);
        let answers = graph.check_eventually();
        let scoped = graph.with_closed_bounds().without_idle_actions();
        let expected = [("red", RED), ("blue", BLUE)]
            .map(|(name, goal)| (name.to_owned(), scoped.eventually(goal, &Fair::none())));
        assert_eq!(answers, expected);
    }
}

#[test]
fn what_a_search_that_was_cut_off_says_is_true_of_the_whole() {
    let (mut violated, mut open) = (0, 0);
    for space in spaces() {
        for (scoped_whole, limits) in [
            (false, Limits { depth: Some(2), ..Limits::default() }),
            (true, Limits { depth: Some(4), ..Limits::default() }),
            (true, Limits { states: Some(6), ..Limits::default() }),
        ] {
            let (outcome, part) = explore_graph(&space, &Options { limits, ..Options::default() });
            let (_, whole) = explore(&space);
            let (part, whole) = if scoped_whole {
                (part.with_closed_bounds(), whole.with_closed_bounds())
            } else {
                (part, whole)
            };
            assert_eq!(part.is_complete(), outcome.exhausted());
            assert_eq!(part.len() as u64, outcome.unique);
            let same = (0..part.len() as u32).take(part.expanded());
            assert!(same.clone().all(|n| part.edges(n).eq(whole.edges(n))));
            assert!(same.clone().all(|n| part.marks(n) == whole.marks(n)));
            let mut answers = vec![
                (
                    part.can_reach(RED, None).violation().is_some(),
                    !whole.can_reach(RED, None).holds(),
                ),
                (part.deadlock_free().violation().is_some(), !whole.deadlock_free().holds()),
            ];
            let fair = Fair::of((0..space.kinds).collect());
            for (_, ask, ..) in FORMS {
                let answer = ask(&part, &fair);
                assert!(outcome.exhausted() || !answer.holds());
                if let Some(lasso) = answer.violation() {
                    lasso.replay(&space).expect("a run");
                }
                answers
                    .push((answer.violation().is_some(), ask(&whole, &fair).violation().is_some()));
            }
            assert!(outcome.exhausted() || !part.can_reach(RED, None).holds());
            for (said, is_so) in answers {
                assert!(!said || is_so);
                *(if said { &mut violated } else { &mut open }) += 1;
            }
            let mut rows = 0;
            part.for_each_state(&space, |n, _| {
                assert_eq!(n, rows);
                rows += 1;
            })
            .expect("all rows");
            assert_eq!(rows as usize, part.len());
        }
    }
    assert!(violated > 500 && open > 500, "{violated} {open}");
}

#[test]
fn a_search_that_ends_at_its_goal_claims_nothing_of_the_rest() {
    for space in spaces() {
        let options =
            Options { until: Until::AllHit, goals: 1 << BAD | 1 << RED, ..Options::default() };
        let (outcome, graph) = explore_graph(&space, &options);
        assert_eq!(outcome.hit("bad").is_some(), outcome.bound() == Some(Bound::Goal));
        assert_eq!(graph.is_complete(), outcome.hit("bad").is_none());
    }
}
