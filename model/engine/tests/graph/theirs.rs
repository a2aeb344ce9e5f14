//! What the README says of stateright's own checkers, beside what is said here.

use std::hash::{Hash, Hasher};

use levelwise::{Bound, Kept, Limits, Options, check};
use stateright::{Checker, Model, Property};

use super::planted::hush;

/// A number whose hash leaves out all but its lowest bit.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Number(u32);

impl Hash for Number {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.0 % 2).hash(hasher);
    }
}

/// Counts up to 10 by one or two; `panics_at` is a number that it can't go on from.
struct Count<T> {
    number: fn(u32) -> T,
    value: fn(&T) -> u32,
    panics_at: u32,
}

impl<T: 'static> Model for Count<T> {
    type State = T;
    type Action = u32;

    fn init_states(&self) -> Vec<T> {
        vec![(self.number)(0)]
    }

    fn actions(&self, state: &T, actions: &mut Vec<u32>) {
        assert_ne!((self.value)(state), self.panics_at, "planted");
        actions.extend((1..=2).filter(|by| (self.value)(state) + by <= 10));
    }

    fn next_state(&self, state: &T, by: u32) -> Option<T> {
        Some((self.number)((self.value)(state) + by))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("below 4", |model, state| (model.value)(state) < 4),
            Property::always("below 9", |model, state| (model.value)(state) < 9),
            Property::always("below 99", |model, state| (model.value)(state) < 99),
        ]
    }
}

fn plain(panics_at: u32) -> Count<u32> {
    Count { number: |n| n, value: |n| *n, panics_at }
}

fn panics(what: impl FnOnce()) -> bool {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(what)).is_err()
}

#[test]
fn the_last_discovery_stays_theirs_and_the_first_ours() {
    let theirs = plain(99).checker().spawn_bfs().join().discovery("below 4").expect("it is not");
    assert_eq!(*theirs.last_state(), 10);
    let space = Kept::new(plain(99), 0);
    let ours = check(&space, &Options::default()).discovery("below 4").expect("it is not");
    assert_eq!((*ours.last_state(), ours.into_actions()), (4, vec![2, 2]));
}

#[test]
fn a_search_cut_off_by_depth_is_done_with_theirs_and_not_with_ours() {
    let cut = plain(99).checker().target_max_depth(2).spawn_bfs().join();
    cut.assert_no_discovery("below 9");
    cut.assert_properties();
    let space = Kept::new(plain(99), 0);
    let limits = Limits { depth: Some(2), ..Limits::default() };
    let cut = check(&space, &Options { limits, ..Options::default() });
    assert!(panics(|| cut.assert_no_discovery("below 9")));
    assert!(panics(|| cut.assert_properties()));
}

#[test]
fn a_panic_is_theirs_to_pass_on_and_ours_to_report() {
    hush();
    assert!(panics(|| drop(plain(3).checker().spawn_bfs().join())));
    let space = Kept::new(plain(3), 0);
    let checked = check(&space, &Options::default());
    let outcome = checked.outcome();
    assert_eq!(outcome.bound(), Some(Bound::Panic));
    let at = outcome.panic.as_ref().and_then(|panic| panic.at).expect("a state");
    assert_eq!(outcome.path(&space, at).expect("a path").into_actions(), [1, 2]);
    assert!(!checked.is_done() && panics(|| checked.assert_no_discovery("below 9")));
}

#[test]
fn states_that_hash_alike_are_one_of_theirs_and_all_of_ours() {
    let model = || Count { number: Number, value: |number| number.0, panics_at: 99 };
    let theirs = model().checker().spawn_bfs().join();
    assert_eq!(theirs.unique_state_count(), 2);
    theirs.assert_properties();
    let space = Kept::new(model(), 0);
    let ours = check(&space, &Options::default());
    assert_eq!(ours.unique_state_count(), 11);
    assert!(panics(|| ours.assert_properties()));
}
