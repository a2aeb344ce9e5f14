//! Replicas can be renamed: nothing depends on their numbers.

use std::collections::BTreeSet;

use super::*;

#[test]
fn renaming_before_a_step_is_renaming_after_it() {
    let of_all = MODULES
        .iter()
        .flat_map(|module| [(2, 2, 2, 1), (3, 1, 1, 1)].map(|of| twin(module.name, of, None)));
    for twin in of_all {
        for state in reachable(&twin) {
            for order in twin.orders() {
                let mut before = Vec::new();
                let mut after = Vec::new();
                twin.successors(&state.permute(&order), &mut |action, next| {
                    before.push((action, next));
                });
                twin.successors(&state, &mut |action, next| {
                    after.push((action.permute(&order), next.permute(&order)));
                });
                before.sort_unstable();
                after.sort_unstable();
                assert_eq!(before, after, "{twin:?} {order:?} {state:?}");
            }
        }
    }
}

#[test]
fn no_property_depends_on_names() {
    let twin = twin("hw", (3, 1, 1, 1), None);
    for state in reachable(&twin) {
        for order in twin.orders() {
            for property in Property::ALL {
                assert_eq!(property.holds(&state), property.holds(&state.permute(&order)));
            }
        }
    }
}

#[test]
fn followers_of_async_isr_can_be_renamed_too() {
    let twin = async_twin(3, 2, 2, None);
    for state in reachable_async(twin) {
        for order in twin.orders() {
            let mut before = Vec::new();
            let mut after = Vec::new();
            twin.successors(&state.permute(&order), &mut |action, next| {
                before.push((action, next));
            });
            twin.successors(&state, &mut |action, next| {
                after.push((action.permute(&order), next.permute(&order)));
            });
            before.sort_unstable();
            after.sort_unstable();
            assert_eq!(before, after, "{order:?} {state:?}");
        }
    }
}

#[test]
fn kip320_has_as_many_states_up_to_names_as_tlc_finds_by_symmetry() {
    let twin = twin("kip320", (3, 2, 2, 2), None);
    let successors = |state: &State, each: &mut dyn FnMut(State)| {
        twin.successors(state, &mut |_, next| each(next));
    };
    let counts = exact::search(twin.initial(), up_to_names(&twin), successors, |_, _| true);
    assert_eq!((counts.unique, counts.depth), (123_311, 26));
}

#[test]
fn orders_are_every_renaming_once() {
    let ids = |order: &Order, count| (0..count).map(|id| order.of(id)).collect::<Vec<_>>();
    assert_eq!(Order::all(0, 1), [Order::new(&[0])]);
    assert_eq!(Order::all(1, 3), [Order::new(&[0, 1, 2]), Order::new(&[0, 2, 1])]);
    let all = Order::all(0, 5);
    assert_eq!(ids(&all[0], 5), [0, 1, 2, 3, 4]);
    assert_eq!(all.iter().map(|order| ids(order, 5)).collect::<BTreeSet<_>>().len(), 120);
    assert!(all.iter().all(|order| order.of_set(Set::first(5)) == Set::first(5)));
    let order = Order::new(&[2, 0, 1]);
    assert_eq!(order.of_set(Set::first(2)), Set::EMPTY.with(2).with(0));
}
