//! What must hold, and what must have been seen: one row each.

use crate::action::{Action, Node};
use crate::message::{ClientAnswer, Envelope, Message};
use crate::view::World;

/// How a row is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Must hold in every state.
    Always,
    /// Must be seen in some step of a scenario that can show it.
    Witness,
}

impl Kind {
    /// The kind's name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Witness => "witness",
        }
    }
}

/// A property that must hold in every state. The numbers index [`PROPERTIES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Property {
    /// See [`PROPERTIES`].
    CommittedSurvives,
    /// See [`PROPERTIES`].
    LogsMatch,
    /// See [`PROPERTIES`].
    ConsistentRead,
    /// See [`PROPERTIES`].
    LeaderHwMonotone,
    /// See [`PROPERTIES`].
    HwInLog,
    /// See [`PROPERTIES`].
    EpochsOrdered,
}

/// Every property with its id and the sentence it claims.
pub const PROPERTIES: [(Property, &str, &str); 6] = [
    (
        Property::CommittedSurvives,
        "committed-survives",
        "every record acknowledged with acks=all or readable below a leader's high watermark \
         is at its offset in the log of every current leader",
    ),
    (
        Property::LogsMatch,
        "logs-match",
        "two logs agree below the smaller of their two high watermarks",
    ),
    (
        Property::ConsistentRead,
        "consistent-read",
        "no offset ever shows two different records to consumers",
    ),
    (
        Property::LeaderHwMonotone,
        "leader-hw-monotone",
        "within one reign the leader's high watermark never goes back",
    ),
    (
        Property::HwInLog,
        "hw-in-log",
        "the high watermark lies between log start and log end on every broker",
    ),
    (
        Property::EpochsOrdered,
        "epochs-ordered",
        "epochs in a log never decrease; cache entries grow in epoch and in start and agree \
         with the log",
    ),
];

impl Property {
    /// The id used on the command line and in files.
    pub fn id(self) -> &'static str {
        PROPERTIES[self as usize].1
    }

    /// The property with this id.
    pub fn by_id(id: &str) -> Option<Self> {
        PROPERTIES.iter().map(|row| row.0).find(|property| property.id() == id)
    }

    /// The sentence it claims.
    pub fn sentence(self) -> &'static str {
        PROPERTIES[self as usize].2
    }

    /// Whether it claims nothing once more was lost to power than is promised to survive.
    pub fn within_claim_only(self) -> bool {
        matches!(self, Self::CommittedSurvives | Self::LogsMatch | Self::ConsistentRead)
    }

    /// Judges a state: `None` if the property holds, else why not.
    pub fn judge<W: World>(self, world: &W) -> Option<Reason> {
        if self.within_claim_only() && world.ghost().outside_claim(world.min_isr()) {
            return None;
        }
        match self {
            Self::CommittedSurvives => committed_survives(world),
            Self::LogsMatch => logs_match(world),
            Self::ConsistentRead => world.ghost().read_differs.then_some(Reason::ReadDiffers),
            Self::LeaderHwMonotone => world.ghost().leader_hw_fell.then_some(Reason::HwFell),
            Self::HwInLog => hw_in_log(world),
            Self::EpochsOrdered => epochs_ordered(world),
        }
    }
}

/// Why a property does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the fields are said in their variant's sentence")]
pub enum Reason {
    /// The current leader lacks a committed value.
    Missing { leader: Node, offset: u8, value: u8 },
    /// Two brokers differ at an offset below both high watermarks.
    Differ { one: Node, other: Node, offset: u8 },
    /// A reader saw a second value at an offset.
    ReadDiffers,
    /// A leader's high watermark fell.
    HwFell,
    /// A high watermark is beyond the log end.
    HwBeyondLog { broker: Node, hw: u8, leo: u8 },
    /// Epochs decrease in a log, or log and cache disagree.
    EpochsDisorder { broker: Node },
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Missing { leader, offset, value } => write!(
                f,
                "value {value} was committed at offset {offset} and the current leader b{leader} \
                 does not have it there"
            ),
            Self::Differ { one, other, offset } => write!(
                f,
                "b{one} and b{other} hold different records at offset {offset}, below both high \
                 watermarks"
            ),
            Self::ReadDiffers => write!(f, "an offset showed two different values to readers"),
            Self::HwFell => write!(f, "a leader's high watermark went back within its reign"),
            Self::HwBeyondLog { broker, hw, leo } => {
                write!(f, "b{broker} has high watermark {hw} and log end {leo}")
            }
            Self::EpochsDisorder { broker } => {
                write!(f, "b{broker}'s log and leader-epoch cache are out of order")
            }
        }
    }
}

fn nodes<W: World>(world: &W) -> std::ops::RangeInclusive<Node> {
    1..=world.brokers()
}

fn committed_survives<W: World>(world: &W) -> Option<Reason> {
    let committed = &world.ghost().committed;
    nodes(world)
        .filter(|&b| world.is_up(b) && world.leads(b) == Some(world.leader_epoch()))
        .find_map(|leader| {
            let log = world.log(leader);
            let missing = committed.iter().enumerate().find_map(|(offset, value)| {
                value.filter(|v| log.get(offset).is_none_or(|r| r.value != *v)).map(|v| (offset, v))
            });
            missing.map(|(offset, value)| Reason::Missing { leader, offset: offset as u8, value })
        })
}

fn logs_match<W: World>(world: &W) -> Option<Reason> {
    let below_hw = |b: Node| {
        let log = world.log(b);
        &log[..usize::from(world.hw(b)).min(log.len())]
    };
    nodes(world).find_map(|one| {
        (one + 1..=world.brokers()).find_map(|other| {
            let mut pairs = below_hw(one).iter().zip(below_hw(other));
            let offset = pairs.position(|(a, b)| a != b)?;
            Some(Reason::Differ { one, other, offset: offset as u8 })
        })
    })
}

fn hw_in_log<W: World>(world: &W) -> Option<Reason> {
    nodes(world).find_map(|broker| {
        let (hw, leo) = (world.hw(broker), world.log(broker).len() as u8);
        (hw > leo).then_some(Reason::HwBeyondLog { broker, hw, leo })
    })
}

fn epochs_ordered<W: World>(world: &W) -> Option<Reason> {
    nodes(world).find_map(|broker| {
        let (log, cache) = (world.log(broker), world.epochs(broker));
        let in_order = log.windows(2).all(|w| w[0].epoch <= w[1].epoch)
            && cache.windows(2).all(|w| w[0].epoch < w[1].epoch && w[0].offset < w[1].offset)
            // A reign that has written nothing yet begins at the log end.
            && cache.last().is_none_or(|last| usize::from(last.offset) <= log.len());
        // The entry that covers an offset is the last one that starts at or before it.
        let agree = log.iter().enumerate().all(|(offset, record)| {
            let entry = cache.iter().rev().find(|e| usize::from(e.offset) <= offset);
            entry.is_some_and(|e| e.epoch == record.epoch)
        });
        (!in_order || !agree).then_some(Reason::EpochsDisorder { broker })
    })
}

/// A step as a witness sees it.
pub struct Seen<'a, W> {
    /// The state before.
    pub before: &'a W,
    /// What was done.
    pub action: &'a Action,
    /// The state after.
    pub after: &'a W,
    /// Messages newly sent.
    pub sent: &'a [&'a Envelope],
    /// What clients were told.
    pub answers: &'a [ClientAnswer],
}

/// Something that must have been seen in a scenario that can show it, else the scenario is too
/// small for its green result to mean much. The numbers index [`WITNESSES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Witness {
    /// See [`WITNESSES`].
    LagOfOneRound,
    /// See [`WITNESSES`].
    Truncation,
    /// See [`WITNESSES`].
    Error19,
    /// See [`WITNESSES`].
    IsrShrunk,
    /// See [`WITNESSES`].
    Diverging,
    /// See [`WITNESSES`].
    Fenced,
    /// See [`WITNESSES`].
    IsrExpanded,
    /// See [`WITNESSES`].
    Error20,
}

/// Every witness with its id and what it shows.
pub const WITNESSES: [(Witness, &str, &str); 8] = [
    (
        Witness::LagOfOneRound,
        "lag-of-one-round",
        "a live follower holds a committed record and does not know that it is committed",
    ),
    (Witness::Truncation, "truncation", "a live broker cuts records off its log"),
    (
        Witness::Error19,
        "error-19",
        "acks=all is refused before the append, since the ISR is under its minimum",
    ),
    (Witness::IsrShrunk, "isr-shrunk", "the controller takes a member out of the ISR"),
    (Witness::Diverging, "diverging-answer", "a leader tells a follower where its log diverges"),
    (Witness::Fenced, "fenced-epoch", "a request with an older leader epoch is answered 74"),
    (Witness::IsrExpanded, "isr-expanded", "the controller takes a member into the ISR"),
    (
        Witness::Error20,
        "error-20",
        "a record below the high watermark is answered 20, since the ISR shrank before the verdict",
    ),
];

impl Witness {
    /// The id used on the command line and in files.
    pub fn id(self) -> &'static str {
        WITNESSES[self as usize].1
    }

    /// The witness with this id.
    pub fn by_id(id: &str) -> Option<Self> {
        WITNESSES.iter().map(|row| row.0).find(|witness| witness.id() == id)
    }

    /// What it shows.
    pub fn sentence(self) -> &'static str {
        WITNESSES[self as usize].2
    }

    /// Whether this step shows it.
    pub fn seen<W: World>(self, step: &Seen<'_, W>) -> bool {
        match self {
            Self::LagOfOneRound => lag_of_one_round(step.after),
            Self::Truncation => nodes(step.after).any(|b| {
                let kept = step.before.log(b);
                step.before.is_up(b) && step.after.is_up(b) && !step.after.log(b).starts_with(kept)
            }),
            Self::Error20 => step.answers.iter().any(|a| a.error == 20),
            Self::Error19 => step.answers.iter().any(|a| a.error == 19),
            Self::IsrShrunk => step.before.isr().iter().any(|b| !step.after.isr().contains(b)),
            Self::IsrExpanded => step.after.isr().iter().any(|b| !step.before.isr().contains(b)),
            Self::Diverging => step
                .sent
                .iter()
                .any(|e| matches!(*e.message, Message::FetchAnswer { diverging: Some(_), .. })),
            Self::Fenced => step
                .sent
                .iter()
                .any(|e| matches!(*e.message, Message::FetchAnswer { error: 74, .. })),
        }
    }
}

fn lag_of_one_round<W: World>(world: &W) -> bool {
    let committed = &world.ghost().committed;
    nodes(world).filter(|&b| world.is_up(b) && world.leads(b).is_none()).any(|b| {
        let log = world.log(b).iter().enumerate();
        log.skip(usize::from(world.hw(b)))
            .any(|(o, r)| committed.get(o).copied().flatten() == Some(r.value))
    })
}

#[cfg(test)]
#[path = "property_tests.rs"]
mod tests;
