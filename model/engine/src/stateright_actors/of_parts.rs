//! What each part of a state makes possible: a message in flight, or an actor.

use std::fmt::Debug;
use std::hash::Hash;

use stateright::actor::{Actor, LossyNetwork};

use super::Stateright;
use super::parts::{Choice, Judge, Local, Mail};
use crate::system::{Apart, Seen};

/// Possible whatever the others are.
const ALWAYS: u32 = u32::MAX;

impl<A, C, H> Apart<Self> for Stateright<A, C, H>
where
    A: Actor + Sync,
    A::Msg: Ord + Send + Sync,
    A::Timer: Ord + Send + Sync,
    A::State: Send + Sync,
    A::Storage: Send + Sync,
    A::Random: Send + Sync,
    C: Sync,
    H: Clone + Debug + Hash + PartialEq + Send + Sync,
{
    fn of_message(
        &self,
        at: usize,
        mail: &Mail<A::Msg>,
        each: &mut dyn FnMut(Choice, Option<usize>),
    ) {
        let Mail::Sent(envelope) = mail else { return };
        if self.model.lossy_network == LossyNetwork::Yes {
            each(Choice::Drop(at as u16), None);
        }
        let to = usize::from(envelope.dst);
        if to < self.model.actors.len() {
            each(Choice::Deliver(at as u16, to as u16), Some(to));
        }
    }

    /// Nothing reaches who is down.
    fn hears(&self, local: &Local<A>) -> bool {
        !local.crashed
    }

    /// A crash is possible where few enough are down.
    fn of_actor(&self, actor: usize, local: &Local<A>, each: &mut dyn FnMut(Choice, u32)) {
        let n = actor as u16;
        for timer in 0..local.timers.len() as u16 {
            each(Choice::Timeout(n, timer), ALWAYS);
        }
        if local.crashed {
            each(Choice::Recover(n), ALWAYS);
        } else {
            let most = u32::try_from(self.model.max_crashes).unwrap_or(u32::MAX);
            each(Choice::Crash(n), most);
        }
        for (key, choices) in (0..).zip(local.random.values()) {
            for random in 0..choices.len() as u16 {
                each(Choice::Random(n, key, random), ALWAYS);
            }
        }
    }

    /// How many are down.
    fn weight(&self, local: &Local<A>) -> u32 {
        u32::from(local.crashed)
    }

    fn judge(&self, judge: &mut Judge<A, H>, seen: &Seen<'_, Self>, open: u64) -> u64 {
        self.hits(&mut judge.visited, seen, open)
    }
}
