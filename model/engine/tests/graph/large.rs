//! Spaces with many blocks and rounds, and one that is as deep as it has states.

use std::collections::VecDeque;

use levelwise::graph::{Answer, Edge, Fair, Graph};
use levelwise::{Options, explore_graph};

use super::planted::hush;
use super::small::{Action, Dice, RED, Small, State, To};

/// Two or three actions a state, and only few states that are not red.
fn random(len: usize) -> Small {
    let mut dice = Dice(5);
    let action = |dice: &mut Dice| Action {
        kind: dice.below(3),
        to: To::State(dice.below(len)),
        is_bad: false,
        refused: false,
    };
    let state = |_| {
        let red = !dice.one_in(4);
        let actions = (0..2 + dice.below(2)).map(|_| action(&mut dice)).collect();
        State { hits: u64::from(red) << RED, actions }
    };
    let states = (0..len).map(state).collect();
    Small { seed: 5, initial: vec![1, 0], states, kinds: 3, panics: None }
}

fn targets(space: &Small, state: usize) -> impl Iterator<Item = usize> {
    let to = |action: &Action| match action.to {
        To::State(to) => Some(to),
        To::Same | To::Outside => None,
    };
    space.states[state].actions.iter().filter_map(to)
}

/// The number of each state.
fn numbers(space: &Small) -> (Vec<Option<u32>>, Vec<usize>) {
    let (mut numbers, mut order) = (vec![None; space.states.len()], Vec::new());
    let mut queue = VecDeque::new();
    let mut add = |queue: &mut VecDeque<usize>, order: &mut Vec<usize>, state: usize| {
        if numbers[state].is_none() {
            numbers[state] = Some(order.len() as u32);
            order.push(state);
            queue.push_back(state);
        }
    };
    space.initial.iter().for_each(|state| add(&mut queue, &mut order, *state));
    while let Some(state) = queue.pop_front() {
        targets(space, state).for_each(|to| add(&mut queue, &mut order, to));
    }
    (numbers, order)
}

fn explore(space: &Small, threads: usize) -> Graph {
    let (outcome, graph) = explore_graph(space, &Options { threads, ..Options::default() });
    assert!(outcome.exhausted());
    graph
}

#[test]
fn numbers_are_those_of_a_queue_for_any_number_of_threads() {
    let space = random(60_000);
    let (numbers, order) = numbers(&space);
    for threads in [1, 2, 4] {
        let graph = explore(&space, threads);
        assert_eq!(graph.len(), order.len());
        for (n, state) in (0..).zip(&order) {
            let to = graph.edges(n).map(|edge: Edge| edge.target);
            assert!(to.eq(targets(&space, *state).map(|to| numbers[to])));
        }
        let mut rows = Vec::new();
        graph.for_each_state(&space, |_, row| rows.push(row[0] as usize)).expect("all rows");
        assert_eq!(rows, order);
        let last = graph.len() as u32 - 1;
        let path = graph.path_to(last).replay(&space).expect("a path");
        assert_eq!(path.last()[0] as usize, order[last as usize]);
    }
}

#[test]
fn what_is_visited_beside_a_panic_stays_out_of_the_graph() {
    hush();
    let whole = random(60_000);
    let (_, order) = numbers(&whole);
    let whole_graph = explore(&whole, 1);
    // In the first, the middle and the last block of a large level.
    let level = whole_graph.levels().max_by_key(ExactSizeIterator::len).expect("levels");
    for number in [level.start, level.start + level.len() as u32 / 2, level.end - 1] {
        let mut space = whole.clone();
        space.panics = Some((order[number as usize], 1));
        for threads in [1, 2, 4] {
            let options = Options { threads, ..Options::default() };
            let (outcome, graph) = explore_graph(&space, &options);
            assert_eq!(outcome.panic.and_then(|panic| panic.at), graph.place(number));
            assert_eq!((graph.expanded(), graph.is_complete()), (number as usize, false));
            assert!((0..number).all(|n| graph.edges(n).eq(whole_graph.edges(n))));
            assert!(graph.len() as u64 <= outcome.unique);
        }
    }
}

/// Whether, among states that are not red, one is on a cycle: what is left when, again and again,
/// all states without a successor among what is left are taken away.
fn has_cycle(space: &Small, order: &[usize]) -> bool {
    let mut left = vec![false; space.states.len()];
    for &state in order {
        left[state] = space.states[state].hits & 1 << RED == 0;
    }
    loop {
        let ended = |n: &&usize| left[**n] && !targets(space, **n).any(|to| left[to]);
        let gone: Vec<usize> = order.iter().filter(ended).copied().collect();
        if gone.is_empty() {
            return left.contains(&true);
        }
        for n in gone {
            left[n] = false;
        }
    }
}

#[test]
fn cycles_are_found_where_peeling_leaves_some() {
    let mut seen = [0, 0];
    for len in [200, 1_000, 3_000, 10_000, 30_000] {
        for part in 0..4 {
            let mut space = random(len);
            // The more states are red, the fewer cycles there are without one.
            let mut dice = Dice(part);
            for state in &mut space.states {
                state.hits = u64::from(!dice.one_in(3 + part as usize)) << RED;
            }
            let graph = explore(&space, 1);
            let cycle = has_cycle(&space, &numbers(&space).1);
            let answer = graph.again_and_again(RED, &Fair::none());
            assert_eq!(answer.violation().is_some(), cycle);
            assert_eq!(answer.holds(), !cycle);
            seen[usize::from(cycle)] += 1;
        }
    }
    assert!(seen.iter().all(|count| *count > 2), "{seen:?}");
}

/// States in a row, each with a way back to the start and one on; the last one only goes back.
fn row(len: usize) -> Small {
    let action = |kind, to| Action { kind, to: To::State(to), is_bad: false, refused: false };
    let state = |n| {
        let on = (n + 1 < len).then(|| action(1, n + 1));
        let actions = std::iter::once(action(0, 0)).chain(on).collect();
        State { hits: u64::from(n + 1 == len) << RED, actions }
    };
    Small {
        seed: 0,
        initial: vec![0],
        states: (0..len).map(state).collect(),
        kinds: 2,
        panics: None,
    }
}

#[test]
fn a_graph_as_deep_as_it_has_states_needs_no_deep_stack() {
    let len = 200_000;
    let graph = explore(&row(len), 1);
    assert_eq!(graph.path_to(len as u32 - 1).steps.len(), len - 1);
    assert_eq!(graph.can_reach(RED, None), Answer::Holds);
    // It can go back to the start all the time, but not if it must go on again and again.
    let answer = graph.eventually(RED, &Fair::none());
    assert_eq!(answer.violation().expect("a violation").walk.states().collect::<Vec<_>>(), [0, 0]);
    let kinds = graph.kinds_named(&["kind 1"]);
    let answer = graph.eventually(RED, &Fair::of(kinds));
    assert_eq!(answer.violation().expect("a violation").walk.steps.len(), 2);
    // Every state but the last has a way back; it alone is not left any more.
    let mut space = row(len);
    for state in &mut space.states {
        state.actions.retain(|action| action.kind == 1);
    }
    let graph = explore(&space, 1);
    assert_eq!(graph.for_good(RED, &Fair::none()), Answer::Holds);
    assert_eq!(graph.deadlocks().collect::<Vec<_>>(), [len as u32 - 1]);
}
