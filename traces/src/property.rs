//! What must hold, and what must have been seen: one row each.

use crate::action::Node;
use crate::bounds::Elr;
use crate::view::{BrokerView, Role, World};
pub use crate::witness::{Seen, WITNESSES, Witness};

/// How a row is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Must hold in every state.
    Always,
    /// Must be seen in some step of a scenario that can show it.
    Witness,
    /// Must stay possible from every state.
    Progress,
}

impl Kind {
    /// The kind's name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Witness => "witness",
            Self::Progress => "progress",
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
    /// See [`PROPERTIES`].
    CandidatesComplete,
    /// See [`PROPERTIES`].
    AcknowledgedHonestly,
    /// See [`PROPERTIES`].
    OneLeaderPerEpoch,
    /// See [`PROPERTIES`].
    IsrSound,
    /// See [`PROPERTIES`].
    RefusedWritesNothing,
    /// See [`PROPERTIES`].
    EndOffsetKept,
}

/// Every property with its id and the sentence it claims.
pub const PROPERTIES: [(Property, &str, &str); 12] = [
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
    (
        Property::CandidatesComplete,
        "candidates-complete",
        "every member of ISR and ELR that runs in its registered life, or was shut down in it, \
         has every committed record",
    ),
    (
        Property::AcknowledgedHonestly,
        "acknowledged-honestly",
        "when acks=all succeeds, at least as many brokers as the minimum ISR have held the record, \
         and it is the producer's own",
    ),
    (Property::OneLeaderPerEpoch, "one-leader-per-epoch", "at most one broker leads in an epoch"),
    (
        Property::IsrSound,
        "isr-sound",
        "the leader is in the ISR, nobody in it is fenced or shuts down, it is empty only where \
         there is an ELR, which is apart from it and empty beside a full ISR, and a current \
         leader's maximal ISR covers the controller's",
    ),
    (
        Property::RefusedWritesNothing,
        "refused-writes-nothing",
        "a produce answered 19 or 21 left no record",
    ),
    (
        Property::EndOffsetKept,
        "end-offset-kept",
        "no current leader tells consumers an end of its log below any committed record, nor \
         beyond what they can read there",
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
        matches!(
            self,
            Self::CommittedSurvives
                | Self::CandidatesComplete
                | Self::LogsMatch
                | Self::ConsistentRead
                | Self::EndOffsetKept
        )
    }

    /// Judges a state: `None` if the property holds, else why not.
    pub fn judge<W: World>(self, world: &W) -> Option<Reason> {
        if self.within_claim_only() && world.ghost().outside_claim() {
            return None;
        }
        match self {
            Self::CommittedSurvives => committed_survives(world),
            Self::LogsMatch => logs_match(world),
            Self::ConsistentRead => world.ghost().read_differs.then_some(Reason::ReadDiffers),
            Self::LeaderHwMonotone => world.ghost().leader_hw_fell.then_some(Reason::HwFell),
            Self::HwInLog => hw_in_log(world),
            Self::EpochsOrdered => epochs_ordered(world),
            Self::CandidatesComplete => candidates_complete(world),
            Self::AcknowledgedHonestly => world.ghost().dishonest.then_some(Reason::Dishonest),
            Self::OneLeaderPerEpoch => one_leader_per_epoch(world),
            Self::IsrSound => isr_sound(world),
            Self::RefusedWritesNothing => {
                world.ghost().refused_written.then_some(Reason::RefusedWritten)
            }
            Self::EndOffsetKept => end_offset_kept(world),
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
    /// A member of ISR or ELR lacks a committed value.
    Incomplete { member: Node, offset: u8, value: u8 },
    /// A produce was acknowledged that too few brokers had held, or that was not there.
    Dishonest,
    /// Two brokers lead, or led, in one epoch.
    TwoLeaders,
    /// The leader is not in the ISR.
    LeaderOutside { leader: Node },
    /// A member of the ISR is fenced or shuts down.
    InactiveMember { member: Node },
    /// There is nobody in the ISR, and no ELR.
    EmptyIsr,
    /// A broker is in ISR and ELR, or there is an ELR beside a full ISR.
    ElrBesideIsr,
    /// A current leader does not reckon with a member of the controller's ISR.
    NotMaximal { leader: Node, member: Node },
    /// A refused produce was written.
    RefusedWritten,
    /// The end that a leader tells is below what is committed, or beyond what can be read.
    WrongEnd { leader: Node, told: u8, committed: u8, readable: u8 },
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
            Self::Incomplete { member, offset, value } => write!(
                f,
                "value {value} was committed at offset {offset} and b{member}, which may be \
                 elected, does not have it there"
            ),
            Self::Dishonest => write!(
                f,
                "a produce was acknowledged that fewer brokers than the minimum had ever held, or \
                 whose place another record took"
            ),
            Self::TwoLeaders => write!(f, "two brokers were leaders of one epoch"),
            Self::LeaderOutside { leader } => write!(f, "b{leader} leads and is not in the ISR"),
            Self::InactiveMember { member } => {
                write!(f, "b{member} is in the ISR and is fenced or shuts down")
            }
            Self::EmptyIsr => write!(f, "the ISR is empty, and there is no ELR"),
            Self::ElrBesideIsr => {
                write!(f, "a broker is in ISR and ELR, or there is an ELR beside a full ISR")
            }
            Self::NotMaximal { leader, member } => write!(
                f,
                "b{leader} leads and does not reckon with b{member}, which the controller has in \
                 the ISR"
            ),
            Self::WrongEnd { leader, told, committed, readable } => write!(
                f,
                "records below offset {committed} were committed, those below {readable} can be \
                 read at the current leader b{leader}, and it tells that its log ends at {told}"
            ),
            Self::RefusedWritten => write!(f, "a refused produce was written"),
        }
    }
}

/// The first committed offset and value that this broker does not have.
fn missing<W: World>(world: &W, broker: Node) -> Option<(u8, u8)> {
    let log = world.log(broker);
    world.ghost().committed.iter().enumerate().find_map(|(offset, value)| {
        let value = value.filter(|v| log.get(offset).is_none_or(|r| r.value != *v))?;
        Some((offset as u8, value))
    })
}

fn committed_survives<W: World>(world: &W) -> Option<Reason> {
    world.nodes().filter(|&b| world.leads_now(b)).find_map(|leader| {
        let (offset, value) = missing(world, leader)?;
        Some(Reason::Missing { leader, offset, value })
    })
}

/// Whatever any leader ever told was committed, so what is told never goes back.
fn end_offset_kept<W: World>(world: &W) -> Option<Reason> {
    let last = world.ghost().committed.iter().rposition(Option::is_some);
    let committed = last.map_or(0, |last| last as u8 + 1);
    world.nodes().filter(|&b| world.leads_now(b)).find_map(|leader| {
        let (told, readable) = (world.told_end(leader)?, world.readable(leader));
        let wrong = told < committed || told > readable;
        wrong.then_some(Reason::WrongEnd { leader, told, committed, readable })
    })
}

fn candidates_complete<W: World>(world: &W) -> Option<Reason> {
    let image = &world.controller().image;
    let members = image.isr.iter().chain(&image.elr).copied();
    members.filter(|member| world.is_intact(*member)).find_map(|member| {
        let (offset, value) = missing(world, member)?;
        Some(Reason::Incomplete { member, offset, value })
    })
}

fn one_leader_per_epoch<W: World>(world: &W) -> Option<Reason> {
    let led = |n: Node| world.leads(n).filter(|_| world.is_up(n));
    let twice = |one: Node| {
        (one + 1..=world.brokers()).any(|other| led(one).is_some() && led(one) == led(other))
    };
    (world.ghost().epoch_shared || world.nodes().any(twice)).then_some(Reason::TwoLeaders)
}

fn isr_sound<W: World>(world: &W) -> Option<Reason> {
    let image = &world.controller().image;
    if let Some(leader) = image.leader.filter(|leader| !image.isr.contains(leader)) {
        return Some(Reason::LeaderOutside { leader });
    }
    // B7: without an ELR the last member stays, though nobody leads.
    if world.policy().elr == Elr::Off && image.isr.is_empty() {
        return Some(Reason::EmptyIsr);
    }
    let last = world.policy().elr == Elr::Off && image.isr.len() == 1 && image.leader.is_none();
    let inactive = |member: &Node| !image.is_active(*member) && !last;
    if let Some(member) = image.isr.iter().copied().find(inactive) {
        return Some(Reason::InactiveMember { member });
    }
    let full = image.isr.len() >= usize::from(world.min_isr());
    if image.elr.iter().any(|member| full || image.isr.contains(member)) {
        return Some(Reason::ElrBesideIsr);
    }
    world.nodes().filter(|&b| world.leads_now(b)).find_map(|leader| {
        let Role::Leader { isr, pending, .. } = &world.broker(leader).role else { return None };
        let proposed = || pending.iter().flat_map(|proposal| &proposal.isr);
        let reckoned = |n: &Node| isr.contains(n) || proposed().any(|member| member.0 == *n);
        let member = image.isr.iter().copied().find(|n| !reckoned(n))?;
        Some(Reason::NotMaximal { leader, member })
    })
}

fn logs_match<W: World>(world: &W) -> Option<Reason> {
    let below_hw = |b: Node| {
        let log = world.log(b);
        &log[..usize::from(world.hw(b)).min(log.len())]
    };
    world.nodes().find_map(|one| {
        (one + 1..=world.brokers()).find_map(|other| {
            let mut pairs = below_hw(one).iter().zip(below_hw(other));
            let offset = pairs.position(|(a, b)| a != b)?;
            Some(Reason::Differ { one, other, offset: offset as u8 })
        })
    })
}

fn hw_in_log<W: World>(world: &W) -> Option<Reason> {
    world.nodes().find_map(|broker| {
        let (hw, leo) = (world.hw(broker), world.log(broker).len() as u8);
        (hw > leo).then_some(Reason::HwBeyondLog { broker, hw, leo })
    })
}

fn epochs_ordered<W: World>(world: &W) -> Option<Reason> {
    world.nodes().find_map(|broker| {
        let BrokerView { log, epochs: cache, .. } = world.broker(broker);
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

#[cfg(test)]
#[path = "property_tests.rs"]
mod tests;
