//! What a leader knows of one follower (U1 to U4) and whether that follower keeps up (C1).

use crate::types::{BrokerEpoch, Offset};

/// A follower as its fetches of this epoch show it. `None` is "not heard of in this epoch".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Progress {
    /// Its LEO: the offset it last asked for (Q7).
    pub leo: Option<Offset>,
    /// The largest LEO this leader had at any of its fetches.
    pub leader_leo_at_fetch: Option<Offset>,
    /// When it last fetched.
    pub last_fetch_ms: Option<i64>,
    /// When it last had everything the leader had.
    pub last_caught_up_ms: Option<i64>,
    /// The registered life that fetched last (KIP-903).
    pub broker_epoch: Option<BrokerEpoch>,
}

/// What one good fetch shows of a follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The offset it asked for.
    pub offset: Offset,
    /// Its registered life, if it said so.
    pub broker_epoch: Option<BrokerEpoch>,
    /// The leader's LEO at this moment.
    pub leader_leo: Offset,
    /// The time.
    pub now_ms: i64,
}

/// Whether the follower's LEO is another one than before (U4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeoChange {
    /// The same as before.
    Same,
    /// Another: up, down, or known for the first time.
    Changed,
}

impl Progress {
    /// Progress at the begin of a leadership (L3, X1): nothing is known; a member of the ISR gets
    /// the full lag time to show itself.
    pub(super) fn unknown_since(last_caught_up_ms: Option<i64>) -> Self {
        Self { last_caught_up_ms, ..Self::default() }
    }

    /// Take in a good fetch (U2, U3). A follower that asks for what the leader had at the previous
    /// fetch was caught up then: so one that is always a round behind stays in sync.
    pub fn observe(&mut self, seen: Observation) -> LeoChange {
        self.forget_future(seen.now_ms);
        let caught_up_ms = if seen.offset >= seen.leader_leo {
            Some(seen.now_ms)
        } else if self.leader_leo_at_fetch.is_some_and(|then| seen.offset >= then) {
            self.last_fetch_ms
        } else {
            None
        };
        let change =
            if self.leo == Some(seen.offset) { LeoChange::Same } else { LeoChange::Changed };
        *self = Self {
            leo: Some(seen.offset),
            leader_leo_at_fetch: self.leader_leo_at_fetch.max(Some(seen.leader_leo)),
            last_fetch_ms: Some(seen.now_ms),
            last_caught_up_ms: self.last_caught_up_ms.max(caught_up_ms),
            broker_epoch: seen.broker_epoch,
        };
        change
    }

    /// C1: at the leader's LEO (an idle partition never shrinks, KAFKA-7152), or caught up at or
    /// after `now_ms - lag_max_ms`.
    pub fn is_caught_up(&self, leader_leo: Offset, now_ms: i64, lag_max_ms: i64) -> bool {
        let cutoff = now_ms.saturating_sub(lag_max_ms);
        let recent = |stamp: i64| (cutoff..=now_ms).contains(&stamp);
        self.leo == Some(leader_leo) || self.last_caught_up_ms.is_some_and(recent)
    }

    /// A stamp later than now says that the clock went back. How long ago it was made cannot be
    /// known, so it proves nothing any more (B108).
    pub(super) fn forget_future(&mut self, now_ms: i64) {
        self.last_fetch_ms = self.last_fetch_ms.filter(|&stamp| stamp <= now_ms);
        self.last_caught_up_ms = self.last_caught_up_ms.filter(|&stamp| stamp <= now_ms);
    }
}

#[cfg(test)]
#[path = "tests/progress.rs"]
mod tests;
