//! The model behind the space of an actor model.

use std::fmt::Debug;
use std::hash::Hash;

use stateright::actor::{Actor, ActorModel, ActorModelState};

use super::{Stateright, Whole};
use crate::checker::OfModel;
use crate::system::Actors;

impl<A, C, H> OfModel for Actors<Stateright<A, C, H>>
where
    A: Actor + Sync,
    A::Msg: Ord + Send + Sync,
    A::Timer: Ord + Send + Sync,
    A::State: Send + Sync,
    A::Storage: Send + Sync,
    A::Random: Send + Sync,
    C: Clone + Sync,
    H: Clone + Debug + Hash + PartialEq + Send + Sync,
{
    type Model = ActorModel<A, C, H>;

    fn model(&self) -> &ActorModel<A, C, H> {
        self.system().model()
    }

    fn state(&self, row: &[u32]) -> ActorModelState<A, H> {
        let mut whole = Whole::new(&self.system().start);
        whole.become_state(&Self::state(self, row).seen(&mut Vec::new()));
        whole.state
    }
}
