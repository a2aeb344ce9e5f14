//! New names for replicas, for a search that takes states as one that differ in names only.

use super::{Id, Set, State};

const MOST: usize = State::MOST_REPLICAS as usize;

/// A new name for every replica. What each set becomes is worked out beforehand, since such a
/// search asks for it many times a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    ids: [Id; MOST],
    sets: [Set; 1 << MOST],
}

impl Order {
    /// Replica i is called `ids[i]`; no two are called alike. Who is not listed keeps its name.
    pub fn new(ids: &[Id]) -> Self {
        let kept = std::array::from_fn(|id| id as Id);
        let mut order = Self { ids: kept, sets: [Set::EMPTY; 1 << MOST] };
        order.ids[..ids.len()].copy_from_slice(ids);
        for bits in 0..1 << MOST {
            let members = Set::of_bits(bits).members().map(|id| order.ids[usize::from(id)]);
            order.sets[usize::from(bits)] = members.fold(Set::EMPTY, Set::with);
        }
        order
    }

    /// What the first `count` replicas are called.
    pub fn ids(&self, count: Id) -> Vec<Id> {
        self.ids[..count.into()].to_vec()
    }

    /// What the replica is called.
    #[inline]
    pub fn of(&self, id: Id) -> Id {
        self.ids[usize::from(id)]
    }

    /// What the members are called.
    #[inline]
    pub fn of_set(&self, set: Set) -> Set {
        self.sets[usize::from(set.bits()) % self.sets.len()]
    }

    /// Every order of `count` replicas that leaves the first `fixed` as they are. The first order
    /// leaves everybody.
    pub fn all(fixed: Id, count: Id) -> Vec<Self> {
        let mut all = vec![(0..fixed).collect::<Vec<_>>()];
        for _ in fixed..count {
            all = all.iter().flat_map(|ids| one_longer(ids, count)).collect();
        }
        all.iter().map(|ids| Self::new(ids)).collect()
    }
}

fn one_longer(ids: &[Id], count: Id) -> impl Iterator<Item = Vec<Id>> {
    let free = (0..count).filter(move |id| !ids.contains(id));
    free.map(move |id| ids.iter().copied().chain([id]).collect())
}
