//! Interning: a number for each value, whoever comes first.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Barrier;

use levelwise::intern::Interner;
use proptest::collection::vec;
use proptest::prelude::*;

/// A value whose hash tells only some of its values apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Poor {
    told: u8,
    untold: u8,
}

impl Hash for Poor {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.told.hash(hasher);
    }
}

fn poor() -> impl Strategy<Value = Poor> {
    (0..3_u8, 0..6_u8).prop_map(|(told, untold)| Poor { told, untold })
}

/// Each value's number and mark, after all were interned in this order. Panics if they are not as
/// they must be.
fn interned<T: Hash + Ord + Clone + std::fmt::Debug>(
    interner: &Interner<T>,
    values: &[T],
) -> BTreeMap<T, (u32, u64)> {
    let mut known = BTreeMap::new();
    for value in values {
        let number = interner.intern(value.clone());
        let kept = interner.get(number);
        assert_eq!((&kept.value, kept.number), (value, number));
        let before = known.insert(value.clone(), (number, kept.mark));
        assert!(before.is_none_or(|before| before == (number, kept.mark)), "it changed");
    }
    known
}

fn all_differ<T: Ord>(values: impl Iterator<Item = T>) -> bool {
    let mut values: Vec<T> = values.collect();
    values.sort();
    values.windows(2).all(|pair| pair[0] != pair[1])
}

proptest! {
    #[test]
    fn one_number_and_one_mark_for_each_value(values in vec("[a-c]{0,3}", 0..200)) {
        let interner = Interner::new(7);
        let known = interned(&interner, &values);
        prop_assert!(all_differ(known.values().map(|(number, _)| number)));
        prop_assert!(all_differ(known.values().map(|(_, mark)| mark)));
        prop_assert_eq!(interner.len(), known.len());
        prop_assert_eq!(interner.is_empty(), values.is_empty());
    }

    #[test]
    fn values_that_hash_alike_stay_apart(values in vec(poor(), 0..100)) {
        let interner = Interner::new(7);
        let known = interned(&interner, &values);
        prop_assert!(all_differ(known.values().map(|(number, _)| number)));
        prop_assert!(all_differ(known.values().map(|(_, mark)| mark)));
        prop_assert_eq!(interner.len(), known.len());
    }

    #[test]
    fn marks_depend_on_the_value_and_the_seed_alone(
        values in vec(any::<(u16, bool)>(), 1..100).prop_shuffle(),
        seed in any::<u64>(),
    ) {
        let forth = interned(&Interner::new(seed), &values);
        let back: Vec<_> = values.iter().rev().copied().collect();
        let back = interned(&Interner::new(seed), &back);
        let marks = |known: &BTreeMap<_, (u32, u64)>| -> Vec<u64> {
            known.values().map(|(_, mark)| *mark).collect()
        };
        prop_assert_eq!(marks(&forth), marks(&back));
        let other = interned(&Interner::new(!seed), &values);
        prop_assert!(marks(&forth).iter().zip(marks(&other)).all(|(one, other)| *one != other));
    }

    #[test]
    fn threads_that_intern_at_once_agree(
        lists in vec(vec(any::<u8>(), 0..200), 4),
        poor_lists in vec(vec(poor(), 0..50), 4),
    ) {
        let alone = interned(&Interner::new(7), &lists.concat());
        let together = at_once(&lists);
        prop_assert!(all_differ(together.values().map(|(number, _)| number)));
        for (value, (_, mark)) in &together {
            prop_assert_eq!(alone[value].1, *mark);
        }
        let together = at_once(&poor_lists);
        prop_assert!(all_differ(together.values().map(|(number, _)| number)));
        prop_assert!(all_differ(together.values().map(|(_, mark)| mark)));
    }
}

/// Interns lists on one thread each. Panics if two do not agree.
fn at_once<T>(lists: &[Vec<T>]) -> BTreeMap<T, (u32, u64)>
where
    T: Hash + Ord + Clone + std::fmt::Debug + Send + Sync,
{
    let interner = Interner::new(7);
    let all_there = Barrier::new(lists.len());
    let known: Vec<_> = std::thread::scope(|scope| {
        let intern = |list| {
            let (interner, all_there) = (&interner, &all_there);
            scope.spawn(move || {
                all_there.wait();
                interned(interner, list)
            })
        };
        let threads: Vec<_> = lists.iter().map(|list| intern(list.as_slice())).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread")).collect()
    });
    let mut merged = BTreeMap::new();
    for (value, number) in known.into_iter().flatten() {
        let before = merged.insert(value, number);
        assert!(before.is_none_or(|before| before == number), "two threads do not agree");
    }
    assert_eq!(interner.len(), merged.len());
    merged
}
