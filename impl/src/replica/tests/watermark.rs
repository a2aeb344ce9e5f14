//! The high watermark against a twin that sorts a list.

use super::advance_hw;
use crate::types::{BrokerId, Offset};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn the_proposal_is_the_least_of_those_that_count() {
    let leos = [None, Some(0), Some(1), Some(2), Some(3)];
    let mut proposed = 0;
    for leader in 0..4 {
        for (second, third) in leos.into_iter().flat_map(|a| leos.map(|b| (a, b))) {
            for (counts, committed, min_isr) in (0..48).map(|n| (n % 4, n / 4 % 4, n as u32 / 16)) {
                let followers = BTreeMap::from([(BrokerId(2), second), (BrokerId(3), third)]);
                let followers: BTreeMap<_, _> =
                    followers.into_iter().map(|(id, leo)| (id, leo.map(Offset))).collect();
                let members = [(1, BrokerId(2)), (2, BrokerId(3))];
                let counted: BTreeSet<_> =
                    members.iter().filter(|m| counts & m.0 != 0).map(|m| m.1).collect();
                let mut list = vec![Some(leader)];
                list.extend((counts & 1 != 0).then_some(second));
                list.extend((counts & 2 != 0).then_some(third));
                list.sort_unstable(); // an unknown LEO (`None`) comes first
                let blocked = committed < min_isr as usize;
                let twin = if blocked { None } else { list[0].map(Offset) };
                let hw = advance_hw(Offset(leader), &followers, &counted, committed, min_isr);
                assert_eq!(hw, twin, "{leader} {followers:?} {counted:?} {committed}/{min_isr}");
                proposed += usize::from(hw.is_some());
            }
        }
    }
    assert!(proposed > 0);
}

#[test]
fn a_counted_broker_that_is_no_follower_blocks() {
    let counted = BTreeSet::from([BrokerId(9)]);
    assert_eq!(advance_hw(Offset(3), &BTreeMap::new(), &counted, 2, 1), None);
}
