//! What guards refuse: the steps that are there once a guard is taken out.

use std::collections::BTreeMap;

use super::*;

/// Guards that nothing is asked after in any of their actions.
const LAST: [Guard; 4] =
    [Guard::FenceTruncate, Guard::FenceFetch, Guard::FenceHw, Guard::FenceIsrWrite];

#[test]
fn a_guard_refuses_what_is_possible_without_it() {
    for module in &MODULES {
        let whole = twin(module.name, (2, 2, 2, 2), None);
        let steps = |twin: &Twin, state: &State| {
            let mut steps = 0;
            twin.successors(state, &mut |_, _| steps += 1);
            steps
        };
        let mut all = BTreeMap::new();
        for state in reachable(&whole) {
            let mut refused = BTreeMap::new();
            whole.explore(&state, &mut |_, _| (), &mut |guard| {
                *refused.entry(guard).or_insert(0) += 1;
            });
            for guard in module.guards {
                let told = refused.remove(guard).unwrap_or(0);
                let without = Twin { without: Some(*guard), ..whole };
                let more = steps(&without, &state) - steps(&whole, &state);
                // Of several that would refuse a step, the first is told.
                let fits = if LAST.contains(guard) { told == more } else { told >= more };
                assert!(fits, "{} {}: {told}, {more}", module.name, guard.name());
                *all.entry(guard).or_insert(0) += told;
            }
            assert!(refused.is_empty(), "{}: a guard of another module", module.name);
        }
        assert!(all.values().all(|told| *told > 0), "{}: {all:?}", module.name);
    }
}

#[test]
fn the_version_check_refuses_what_is_possible_without_it() {
    let whole = async_twin(3, 2, 2, None);
    let without = async_isr::AsyncIsr { without: Some(async_isr::AsyncIsr::REFUSES), ..whole };
    let mut all = 0;
    for state in reachable_async(whole) {
        let (mut steps, mut refused, mut more) = (0, 0, 0);
        whole.explore(&state, &mut |_, _| steps += 1, &mut || refused += 1);
        without.successors(&state, &mut |_, _| more += 1);
        assert_eq!(steps + refused, more);
        all += refused;
    }
    assert!(all > 0);
}
