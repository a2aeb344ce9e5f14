//! stateright's models through stateright's `Checker`.

use std::borrow::Cow;

use levelwise::graph::Answer;
use levelwise::stateright_actors::Stateright;
use levelwise::system::Actors;
use levelwise::{Codec, Kept, Limits, Options, Plain, Sort, check, search};
use stateright::actor::{Actor, ActorModel, Id, LossyNetwork, Network, Out, model_timeout};
use stateright::report::WriteReporter;
use stateright::{Checker, Expectation, Model, Property};

/// Whether something panics.
fn panics(what: impl FnOnce()) -> bool {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(what)).is_err()
}

/// x and y count up, one at a time, modulo 16, until `a` x + `b` y is `c`.
#[derive(Clone)]
struct Sum {
    a: u8,
    b: u8,
    c: u8,
    properties: Vec<Property<Sum>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum More {
    X,
    Y,
    /// Nothing comes of it.
    Neither,
}

impl Model for Sum {
    type State = (u8, u8);
    type Action = More;

    fn init_states(&self) -> Vec<(u8, u8)> {
        vec![(0, 0)]
    }

    fn actions(&self, _: &(u8, u8), actions: &mut Vec<More>) {
        actions.extend([More::X, More::Y, More::Neither]);
    }

    fn next_state(&self, &(x, y): &(u8, u8), action: More) -> Option<(u8, u8)> {
        match action {
            More::X => Some(((x + 1) % 16, y)),
            More::Y => Some((x, (y + 1) % 16)),
            More::Neither => None,
        }
    }

    fn properties(&self) -> Vec<Property<Self>> {
        self.properties.clone()
    }

    fn within_boundary(&self, &(x, _): &(u8, u8)) -> bool {
        x < 15
    }
}

impl Codec for Sum {
    fn pack(&self, &(x, y): &(u8, u8), row: &mut Vec<u32>) {
        row.push(u32::from(x) << 8 | u32::from(y));
    }

    fn unpack(&self, row: &[u32]) -> (u8, u8) {
        ((row[0] >> 8) as u8, row[0] as u8)
    }
}

impl Sum {
    fn value(&self, (x, y): (u8, u8)) -> u8 {
        self.a.wrapping_mul(x).wrapping_add(self.b.wrapping_mul(y))
    }
}

fn solvable() -> Property<Sum> {
    Property::sometimes("solvable", |model, state| model.value(*state) == model.c)
}

fn never() -> Property<Sum> {
    Property::sometimes("never", |_, &(x, _)| x > 20)
}

fn small() -> Property<Sum> {
    Property::always("small", |_, &(x, y)| x + y < 4)
}

fn sum(properties: Vec<Property<Sum>>) -> Sum {
    Sum { a: 2, b: 10, c: 14, properties }
}

#[test]
fn figures_are_stateright_s_own_and_paths_as_short() {
    let model = sum(vec![solvable(), never(), small()]);
    let theirs = model.clone().checker().spawn_bfs().join();
    let theirs = (theirs.state_count(), theirs.unique_state_count(), theirs.max_depth());
    // stateright's first discovery is a shortest one, and the last one stays: so one at a time.
    let path = |property| sum(vec![property]).checker().spawn_bfs().join().discoveries();
    let mut paths = path(solvable());
    paths.extend(path(small()));
    let (kept, plain) = (Kept::new(model.clone(), 0), Plain::new(model));
    for threads in [1, 2, 4] {
        let options = Options { threads, ..Options::default() };
        let (kept, plain) = (check(&kept, &options), check(&plain, &options));
        let ours = (kept.state_count(), kept.unique_state_count(), kept.max_depth());
        assert_eq!((ours, kept.discoveries()), (theirs, paths.clone()));
        let ours = (plain.state_count(), plain.unique_state_count(), plain.max_depth());
        assert_eq!((ours, plain.discoveries()), (theirs, paths.clone()));
    }
}

#[test]
fn assertions_say_what_stateright_s_say() {
    let space = Kept::new(sum(vec![solvable(), never(), small()]), 0);
    let checked = check(&space, &Options::default());
    assert!(checked.is_done());
    checked.assert_discovery("solvable", vec![More::X, More::X, More::Y]);
    checked.assert_discovery("small", vec![More::Y; 4]);
    checked.assert_any_discovery("solvable");
    assert!(panics(|| checked.assert_discovery("solvable", vec![More::Y])));
    assert!(panics(|| checked.assert_no_discovery("small")));
    assert!(panics(|| drop(checked.assert_any_discovery("never"))));
    assert!(panics(|| checked.assert_properties()));
    let good = Kept::new(sum(vec![solvable()]), 0);
    check(&good, &Options::default()).join().assert_properties();
}

#[test]
fn what_was_cut_off_passes_no_assertion() {
    let all = || vec![Property::<Sum>::always("in range", |_, &(x, y)| x < 16 && y < 16)];
    let space = Plain::new(sum(all()));
    check(&space, &Options::default()).assert_properties();
    for limits in [
        Limits { depth: Some(20), ..Limits::default() },
        Limits { states: Some(50), ..Limits::default() },
        Limits { memory: Some(1), ..Limits::default() },
    ] {
        let checked = check(&space, &Options { limits, ..Options::default() });
        assert!(!checked.is_done());
        assert!(panics(|| checked.assert_properties()));
        assert!(panics(|| checked.assert_no_discovery("in range")));
        let mut text = Vec::new();
        let checked = checked.report(&mut WriteReporter::new(&mut text));
        assert!(String::from_utf8(text).expect("text").starts_with("Checking. states="));
        assert!(checked.outcome().bound().is_some());
    }
    // Nor does what was not asked.
    let checked = check(&space, &Options { goals: 0, ..Options::default() });
    assert!(checked.outcome().exhausted() && !checked.is_done());
    assert!(panics(|| checked.assert_properties()));
    // Nor a model without any property.
    let space = Plain::new(sum(Vec::new()));
    let limits = Limits { states: Some(50), ..Limits::default() };
    assert!(!check(&space, &Options { limits, ..Options::default() }).is_done());
}

#[test]
fn a_report_reads_as_stateright_s() {
    let model = sum(vec![solvable(), never()]);
    let mut theirs = Vec::new();
    let own = model.clone().checker().spawn_bfs();
    own.join().report(&mut WriteReporter::new(&mut theirs));
    let theirs = String::from_utf8(theirs).expect("text");
    let done = theirs.lines().find(|line| line.starts_with("Done.")).expect("it is done");
    let expected = format!(
        "{done}\nDiscovered \"solvable\" example Path[3]:\n- X\n- X\n- Y\n\
         Action index path: 0/0/0/1\n"
    );
    let space = Kept::new(model, 0);
    for join in [false, true] {
        let mut ours = Vec::new();
        let checked = check(&space, &Options::default());
        if join {
            checked.join_and_report(&mut WriteReporter::new(&mut ours));
        } else {
            checked.report(&mut WriteReporter::new(&mut ours));
        }
        assert_eq!(String::from_utf8(ours).expect("text"), expected);
    }
}

/// Paths, as a graph: the model of stateright's own tests of `eventually`.
#[derive(Clone)]
struct Paths(Vec<Vec<u8>>);

impl Model for Paths {
    type State = u8;
    type Action = u8;

    fn init_states(&self) -> Vec<u8> {
        let mut all: Vec<u8> = self.0.iter().map(|path| path[0]).collect();
        all.dedup();
        all
    }

    fn actions(&self, state: &u8, actions: &mut Vec<u8>) {
        let pairs = self.0.iter().flat_map(|path| path.windows(2));
        actions.extend(pairs.filter(|pair| pair[0] == *state).map(|pair| pair[1]));
    }

    /// To where it is already is nowhere.
    fn next_state(&self, state: &u8, action: u8) -> Option<u8> {
        Some(action).filter(|next| next != state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::eventually("odd", |_, state| state % 2 == 1)]
    }
}

fn odd(paths: &[&[u8]]) -> Option<Vec<u8>> {
    let space = Kept::new(Paths(paths.iter().map(|path| path.to_vec()).collect()), 0);
    let checked = check(&space, &Options::default());
    assert!(checked.is_done());
    assert_eq!(checked.outcome().goals[0].0.sort, Sort::Tally);
    let found = checked.discovery("odd").map(stateright::Path::into_states);
    match &checked.eventually()[0].1 {
        Answer::Holds => assert_eq!(found, None),
        Answer::Violated(lasso) => {
            lasso.replay(&space).expect("a run");
            assert!(panics(|| checked.assert_properties()));
        }
        Answer::Open(open) => panic!("{open:?}"),
    }
    found
}

#[test]
fn eventually_holds_where_stateright_says_so() {
    assert_eq!(odd(&[&[1], &[2, 3], &[2, 6, 7], &[4, 9, 10]]), None);
    assert_eq!(odd(&[&[4, 9, 10]]), None);
}

#[test]
fn eventually_is_violated_where_stateright_says_so() {
    assert_eq!(odd(&[&[0, 1], &[0, 2]]), Some(vec![0, 2]));
    assert_eq!(odd(&[&[0, 1], &[2, 4]]), Some(vec![2, 4]));
    assert_eq!(odd(&[&[0, 1, 4, 6], &[2, 4, 8]]), Some(vec![2, 4, 6]));
}

#[test]
fn eventually_is_violated_also_where_stateright_misses_it() {
    let theirs = |paths: &[&[u8]]| {
        let model = Paths(paths.iter().map(|path| path.to_vec()).collect());
        model.checker().spawn_bfs().join().discovery("odd").map(stateright::Path::into_states)
    };
    let cycle: &[&[u8]] = &[&[0, 2, 4, 2]];
    assert_eq!((theirs(cycle), odd(cycle)), (None, Some(vec![0, 2, 4, 2])));
    let joined: &[&[u8]] = &[&[0, 2, 4], &[1, 4, 6]];
    assert_eq!((theirs(joined), odd(joined)), (None, Some(vec![0, 2, 4, 6])));
}

#[test]
fn an_action_that_is_ignored_is_no_step() {
    // From 0 to 0 is ignored: it neither goes on forever nor keeps 2 from being the end.
    assert_eq!(odd(&[&[0, 0, 1]]), None);
    assert_eq!(odd(&[&[0, 1], &[0, 2, 2]]), Some(vec![0, 2]));
}

#[test]
fn a_search_alone_does_not_judge_eventually() {
    let space = Kept::new(Paths(vec![vec![0, 2, 3]]), 0);
    let outcome = search(&space, &Options::default());
    assert_eq!((outcome.hit("odd"), outcome.counts.tallies[0]), (None, 1));
    assert!(!outcome.any_hit(Sort::Always));
    // Cut off, it is open whether the property holds, though nothing speaks against it.
    let limits = Limits { depth: Some(2), ..Limits::default() };
    let checked = check(&space, &Options { limits, ..Options::default() });
    assert!(matches!(checked.eventually()[0].1, Answer::Open(_)));
    assert!(!checked.is_done() && panics(|| checked.assert_properties()));
}

/// Sends a number back until it is high enough. The second sends nothing back that is too high.
#[derive(Clone)]
struct Pinger {
    to: Option<Id>,
    again: bool,
}

impl Actor for Pinger {
    type Msg = u8;
    type State = u8;
    type Timer = ();
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, out: &mut Out<Self>) -> u8 {
        if let Some(to) = self.to {
            out.send(to, 0);
            if self.again {
                out.set_timer((), model_timeout());
            }
        }
        0
    }

    fn on_msg(&self, _: Id, state: &mut Cow<'_, u8>, from: Id, msg: u8, out: &mut Out<Self>) {
        if msg == **state && msg < 4 {
            *state.to_mut() += 1;
            out.send(from, msg + u8::from(self.to.is_some()));
        }
    }

    fn on_timeout(&self, _: Id, state: &mut Cow<'_, u8>, (): &(), out: &mut Out<Self>) {
        if **state < 4 {
            out.send(self.to.expect("the first"), **state);
            out.set_timer((), model_timeout());
        }
    }
}

/// With how many messages there may be in the network.
type Pingers = ActorModel<Pinger, usize, ()>;

fn pingers(network: Network<u8>, lossy: LossyNetwork, again: bool) -> Pingers {
    let most = if matches!(network, Network::UnorderedDuplicating(..)) { 10 } else { 5 };
    ActorModel::new(most, ())
        .actor(Pinger { to: Some(Id::from(1)), again })
        .actor(Pinger { to: None, again: false })
        .init_network(network)
        .lossy_network(lossy)
        .property(Expectation::Always, "close", |_, state| {
            state.actor_states[0].abs_diff(*state.actor_states[1]) <= 1
        })
        .property(Expectation::Sometimes, "done", |_, state| *state.actor_states[0] == 4)
        .property(Expectation::Sometimes, "never", |_, state| *state.actor_states[0] == 5)
        .within_boundary(|most, state| state.network.len() <= *most)
}

#[test]
fn actor_models_are_checked_as_stateright_does() {
    let networks = [
        Network::new_ordered([]),
        Network::new_unordered_nonduplicating([]),
        Network::new_unordered_duplicating([]),
    ];
    for network in networks {
        for (lossy, again) in
            [(LossyNetwork::No, false), (LossyNetwork::Yes, false), (LossyNetwork::Yes, true)]
        {
            let model = pingers(network.clone(), lossy, again);
            let theirs = model.clone().checker().spawn_bfs().join();
            let mut alone = model.clone();
            alone.properties.retain(|property| property.name == "done");
            let alone = alone.checker().spawn_bfs().join();
            let space = Actors::new(Stateright::new(model), 0);
            for threads in [1, 2, 4] {
                let ours = check(&space, &Options { threads, ..Options::default() });
                let figures = (ours.state_count(), ours.unique_state_count(), ours.max_depth());
                let of_theirs =
                    (theirs.state_count(), theirs.unique_state_count(), theirs.max_depth());
                assert_eq!(figures, of_theirs);
                let found = ours.discovery("done").expect("it can be done");
                let of_theirs = alone.discovery("done").expect("it can be done");
                assert_eq!(found.clone().into_actions().len(), of_theirs.into_actions().len());
                assert_eq!(*found.last_state().actor_states[0], 4);
                ours.assert_discovery("done", found.into_actions());
                ours.assert_no_discovery("close");
                assert!(ours.discovery("never").is_none() && ours.is_done());
            }
        }
    }
}

#[test]
fn actor_models_have_eventually_too() {
    let property = |model: Pingers| {
        let done = |_: &Pingers, state: &stateright::actor::ActorModelState<Pinger, ()>| {
            *state.actor_states[0] == 4
        };
        model.property(Expectation::Eventually, "will be done", done)
    };
    let checked = |network, lossy, again| {
        let space = Actors::new(Stateright::new(property(pingers(network, lossy, again))), 0);
        let checked = check(&space, &Options::default());
        assert!(checked.is_done());
        checked.discovery("will be done").map(stateright::Path::into_actions)
    };
    // What is ignored, and delivered again and again, keeps nobody from going on.
    assert_eq!(checked(Network::new_unordered_nonduplicating([]), LossyNetwork::No, false), None);
    // What can be lost is lost.
    let lost = checked(Network::new_unordered_nonduplicating([]), LossyNetwork::Yes, false);
    assert_eq!(lost.expect("it may be lost").len(), 1);
    // Sent again, and lost again, forever; without fairness nothing forbids it.
    let lost = checked(Network::new_unordered_nonduplicating([]), LossyNetwork::Yes, true);
    assert!(lost.expect("it may be lost forever").len() >= 2);
}
