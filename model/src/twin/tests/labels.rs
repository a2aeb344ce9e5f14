//! What an action is called.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

#[test]
fn an_action_says_which_state_is_next() {
    for module in &MODULES {
        let twin = twin(module.name, (2, 2, 2, 2), None);
        let mut kinds = BTreeSet::new();
        for state in reachable(&twin) {
            let mut by_action = BTreeMap::new();
            twin.successors(&state, &mut |action, next| {
                assert_eq!(*by_action.entry(action).or_insert(next), next, "{action}");
                kinds.insert(action.kind_index());
            });
        }
        let listed: BTreeSet<_> = module.actions.iter().map(|by| by.kind_index()).collect();
        assert_eq!(kinds, listed, "each action of {} is taken", module.name);
        assert_eq!(module.actions.len(), listed.len(), "{}", module.name);
    }
}

#[test]
fn an_action_of_async_isr_says_which_state_is_next() {
    let twin = async_twin(3, 2, 2, None);
    let mut kinds = BTreeSet::new();
    for state in reachable_async(twin) {
        let mut by_action = BTreeMap::new();
        twin.successors(&state, &mut |action, next| {
            assert_eq!(*by_action.entry(action).or_insert(next), next, "{action}");
            kinds.insert(action.kind_index());
        });
    }
    assert!(kinds.into_iter().eq(0..async_isr::Action::KINDS.len()));
}

#[test]
fn actions_are_shown_in_the_words_of_their_module() {
    let shown = |by, who| Action { by, who }.to_string();
    for (by, who, expected) in [
        (Published::ControllerElectLeader, Who::One(0), "ControllerElectLeader(r1)"),
        (Published::BecomeLeader, Who::InEpoch(1, 1), "BecomeLeader(r2, epoch 1)"),
        (
            Published::FencedLeaderShrinkIsr,
            Who::Member(0, 2),
            "FencedLeaderShrinkIsr(r1, member r3)",
        ),
        (Published::FollowerFetch, Who::Follower(1, 0), "FollowerFetch(r2 from r1)"),
        (
            Published::BecomeFollower,
            Who::FollowerInEpoch(1, 0, 2),
            "BecomeFollower(r2 of r1, epoch 2)",
        ),
    ] {
        assert_eq!(shown(by, who), expected);
    }
    let request = async_isr::Versioned { isr: Set::first(2), version: 0 };
    let action = async_isr::Action::ControllerHandleRequest(request);
    assert_eq!(action.to_string(), "ControllerHandleRequest({r1, r2} of version 0)");
    assert_eq!(async_isr::Action::FollowerReplicate(1).to_string(), "FollowerReplicate(r2)");
}
