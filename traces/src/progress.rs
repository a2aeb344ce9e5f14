//! What must stay possible: that the partition can be mended, and that who waits can be answered.
//!
//! A state cannot break these by itself; it breaks them by what can follow. So they are judged on
//! the graph of all states: from each, a state that is marked here must be reachable by steps of
//! these kinds, or be met by every run that is fair to them.

use crate::action::Node;
use crate::view::{Life, Progress as Known, Role, Session, World};

/// Something that must stay possible. The numbers index [`PROGRESS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Progress {
    /// See [`PROGRESS`].
    CanSettle,
    /// See [`PROGRESS`].
    Served,
    /// See [`PROGRESS`].
    NoFairLivelock,
}

/// Each with its id and the sentence it claims.
pub const PROGRESS: [(Progress, &str, &str); 3] = [
    (
        Progress::CanSettle,
        "can-settle",
        "from every state, restarts and whatever heals can bring every broker into the ISR, with \
         equal logs, everything committed and nobody waiting",
    ),
    (
        Progress::Served,
        "served",
        "wherever leader, controller, ISR and whoever is about to join it agree, and they are up \
         and enough, deliveries and the shrink task can answer every waiting acks=all produce",
    ),
    (
        Progress::NoFairLivelock,
        "no-fair-livelock",
        "no run goes on forever, or ends, without settling, if no restart, no delivery and nothing \
         else that heals is put off forever",
    ),
];

/// What is asked of the states that are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// From every state, steps of these kinds can lead to one.
    Possible,
    /// Every run meets one again and again that is weakly fair to each of these kinds, as far as
    /// its steps change anything.
    Fair,
}

/// Messages that are read, and what a leader does by itself.
const DELIVERIES: [&str; 8] = [
    "deliver-fetch",
    "deliver-fetch-answer",
    "deliver-alter-partition",
    "deliver-alter-partition-answer",
    "verdict",
    "resend",
    "truncate",
    "tick",
];

/// Deliveries and whatever heals.
const HEALING: [&str; 13] = [
    "deliver-fetch",
    "deliver-fetch-answer",
    "deliver-alter-partition",
    "deliver-alter-partition-answer",
    "verdict",
    "resend",
    "truncate",
    "apply-metadata",
    "restart",
    "fence",
    "unfence",
    "stop",
    "tick",
];

impl Progress {
    /// The id used on the command line and in files.
    pub fn id(self) -> &'static str {
        PROGRESS[self as usize].1
    }

    /// The one with this id.
    pub fn by_id(id: &str) -> Option<Self> {
        PROGRESS.iter().map(|row| row.0).find(|progress| progress.id() == id)
    }

    /// What is asked.
    pub fn asks(self) -> Asks {
        match self {
            Self::CanSettle | Self::Served => Asks::Possible,
            Self::NoFairLivelock => Asks::Fair,
        }
    }

    /// The kinds of step by which it must be possible, or come about.
    pub fn by(self) -> &'static [&'static str] {
        match self {
            Self::CanSettle | Self::NoFairLivelock => &HEALING,
            Self::Served => &DELIVERIES,
        }
    }

    /// Whether there is nothing left to do in a state, or nothing is claimed of it.
    pub fn is_done<W: World>(self, world: &W) -> bool {
        match self {
            Self::CanSettle | Self::NoFairLivelock => !is_claimed(world) || is_settled(world),
            Self::Served => match agreed_leader(world) {
                Some(leader) => world.broker(leader).waiting.is_empty(),
                None => true,
            },
        }
    }
}

/// That it can settle is claimed while an intact member of ISR or ELR exists.
fn is_claimed<W: World>(world: &W) -> bool {
    let image = &world.controller().image;
    let mut members = image.isr.iter().chain(&image.elr);
    !world.ghost().outside_claim() && members.any(|member| world.is_intact(*member))
}

fn is_settled<W: World>(world: &W) -> bool {
    let image = &world.controller().image;
    let Some(leader) = image.leader else { return false };
    let log = &world.broker(leader).log;
    world.leads_now(leader)
        && image.isr.len() == usize::from(world.brokers())
        && world.nodes().all(|n| {
            let view = world.broker(n);
            let whole = view.log == *log && usize::from(view.hw) == log.len();
            view.life == Life::Up && whole && view.waiting.is_empty()
        })
}

/// The leader, if it, the controller, every member of the ISR and everyone who may be about to join
/// it know the same, and they are up and the ISR is large enough.
fn agreed_leader<W: World>(world: &W) -> Option<Node> {
    let image = &world.controller().image;
    let leader = image.leader?;
    let view = world.broker(leader);
    let current = |n: Node| match world.broker(n).role {
        Role::Leader { epoch, .. } => n == leader && epoch == image.leader_epoch,
        Role::Follower { epoch, leader: followed } => {
            followed == Some(leader) && epoch == image.leader_epoch
        }
        Role::None => false,
    };
    let serves = |n: Node| {
        let registered = image.registered(n);
        let life = world.broker(n).broker_epoch == registered.epoch;
        world.is_up(n) && life && registered.state == Session::Active && current(n)
    };
    let agrees = view.partition_epoch == image.partition_epoch
        && view.known_min_isr(world.brokers()) == Some(world.min_isr());
    let enough = image.isr.len() >= usize::from(world.min_isr());
    // H2: the high watermark waits for whoever was caught up recently, and is eligible.
    let joins = |f: &Known| f.heard.is_some_and(|heard| heard.caught_up);
    let about_to_join = match &view.role {
        Role::Leader { followers, known, .. } => followers.iter().filter(|f| joins(f)).all(|f| {
            let registered = image.registered(f.broker);
            let is_known = known[usize::from(f.broker) - 1] == registered;
            let eligible =
                registered.state == Session::Active && f.broker_epoch == Some(registered.epoch);
            is_known && (!eligible || serves(f.broker))
        }),
        _ => false,
    };
    let isr_serves = image.isr.iter().all(|n| serves(*n));
    (agrees && enough && isr_serves && about_to_join).then_some(leader)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::Action;

    #[test]
    fn rows_stand_at_their_own_index_and_name_kinds_that_exist() {
        for (index, (progress, id, _)) in PROGRESS.iter().enumerate() {
            assert_eq!((*progress as usize, Progress::by_id(id)), (index, Some(*progress)));
            assert!(progress.by().iter().all(|kind| Action::KINDS.contains(kind)));
        }
        assert_eq!(Progress::by_id("logs-match"), None);
    }
}
