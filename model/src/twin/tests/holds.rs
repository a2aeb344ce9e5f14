//! What a module is not expected to hold, it breaks. That it holds the rest is asserted wherever a
//! whole space is searched.

use super::*;

/// A property, the constants that break it, and the steps of the shortest violation there.
type Break = (Property, Of, usize);

/// Steps of the shortest violation, looked for up to the names of replicas.
fn shortest(twin: &Twin, property: Property) -> Option<usize> {
    let successors = |state: &State, each: &mut dyn FnMut(State)| {
        twin.successors(state, &mut |_, next| each(next));
    };
    let mut steps = None;
    let look = |state: &State, depth| {
        if !property.holds(state) {
            steps = Some(depth - 1);
        }
        steps.is_none()
    };
    exact::search(twin.initial(), up_to_names(twin), successors, look);
    steps
}

#[test]
fn what_is_not_expected_to_hold_breaks() {
    use Property::{EpochsMonotone, HwAgree, LogMatching, StrongIsr, WeakIsr};
    let rows: [(&str, &[Break]); 4] = [
        (
            "hw",
            &[
                (WeakIsr, (2, 1, 1, 1), 8),
                (StrongIsr, (2, 1, 1, 1), 9),
                (EpochsMonotone, (2, 2, 2, 2), 9),
                (HwAgree, (2, 1, 2, 2), 14),
                (LogMatching, (2, 3, 3, 2), 12),
            ],
        ),
        (
            "kip101",
            &[
                (WeakIsr, (2, 2, 2, 2), 11),
                (StrongIsr, (2, 2, 2, 2), 11),
                (EpochsMonotone, (2, 2, 2, 2), 9),
                (HwAgree, (2, 3, 3, 2), 12),
                (LogMatching, (2, 3, 3, 2), 11),
            ],
        ),
        (
            "kip279",
            &[
                (WeakIsr, (3, 1, 1, 2), 10),
                (StrongIsr, (3, 1, 1, 1), 11),
                (EpochsMonotone, (2, 2, 2, 2), 9),
                (HwAgree, (3, 1, 2, 2), 17),
                (LogMatching, (3, 3, 3, 2), 12),
            ],
        ),
        (
            "kip320-first-try",
            &[
                (WeakIsr, (3, 1, 1, 2), 11),
                (StrongIsr, (3, 1, 1, 2), 12),
                (EpochsMonotone, (2, 2, 2, 2), 9),
                (HwAgree, (3, 1, 2, 3), 17),
            ],
        ),
    ];
    for (name, breaks) in rows {
        for &(property, of, steps) in breaks {
            let what = format!("{} of {name} {of:?}", property.name());
            assert_eq!(shortest(&twin(name, of, None), property), Some(steps), "{what}");
        }
        let holds = Module::by_name(name).expect("a module").holds;
        let broken = |it: &Property| breaks.iter().any(|(property, ..)| property == it);
        assert!(Property::ALL.iter().all(|it| holds.contains(it) != broken(it)), "{name}");
    }
    assert_eq!(Module::by_name("kip320").expect("a module").holds, Property::ALL);
}
