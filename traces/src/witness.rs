//! What must have been seen in a scenario that can show it, else its green result means little.

use crate::action::{Action, Node};
use crate::message::{ClientAnswer, Envelope, Image, Message};
use crate::view::{BrokerView, Life, Progress, Role, World};

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

/// Something that must have been seen. The numbers index [`WITNESSES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "each is said in its row of `WITNESSES`")]
pub enum Witness {
    LagOfOneRound,
    Truncation,
    Error19,
    IsrShrunk,
    Diverging,
    Fenced,
    IsrExpanded,
    Error20,
    TimedOut,
    UnknownEpoch,
    BelowEpochStart,
    FrozenUnderMinIsr,
    TwoRounds,
    SameReElected,
    Coalesced,
    ElrElection,
    UncleanLeavesElr,
    RecordsLost,
    LastMemberStands,
    Acknowledged,
    ReadToTheEnd,
    AnsweredByAppend,
    RoundBehind,
    WaitedFor,
}

/// Every witness with its id and what it shows.
pub const WITNESSES: [(Witness, &str, &str); 24] = [
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
    (Witness::TimedOut, "error-7", "a waiting produce is answered 7, and its fate is open"),
    (
        Witness::UnknownEpoch,
        "unknown-epoch",
        "a request with a newer leader epoch than the receiver's is answered 75",
    ),
    (
        Witness::BelowEpochStart,
        "below-epoch-start",
        "a follower at the high watermark may not join, since the leader's epoch began above it",
    ),
    (
        Witness::FrozenUnderMinIsr,
        "hw-frozen",
        "every member of the ISR has a record, and it is not committed, since they are too few",
    ),
    (
        Witness::TwoRounds,
        "two-rounds",
        "a follower is told of an epoch it does not know, so that one cut may not be enough",
    ),
    (Witness::SameReElected, "same-re-elected", "a leader learns that it leads a newer epoch"),
    (
        Witness::Coalesced,
        "coalesced-leadership",
        "a broker applies metadata that skips a whole leadership",
    ),
    (Witness::ElrElection, "elr-election", "a leader is elected out of the ELR"),
    (
        Witness::UncleanLeavesElr,
        "unclean-leaves-elr",
        "a broker that was not shut down cleanly leaves the ELR when it registers",
    ),
    (Witness::RecordsLost, "records-lost", "a power loss takes records"),
    (
        Witness::LastMemberStands,
        "last-member-stands",
        "a later leader has everything committed, and every other broker is dead",
    ),
    (
        Witness::Acknowledged,
        "acknowledged",
        "an acks=all produce that waited is answered without an error",
    ),
    (
        Witness::ReadToTheEnd,
        "read-to-the-end",
        "consumers can read every record that the leader has, and are told that its log ends there",
    ),
    (
        Witness::AnsweredByAppend,
        "answered-by-append",
        "a produce is answered without an error as soon as the leader has the record",
    ),
    (
        Witness::RoundBehind,
        "round-behind",
        "a follower that is not at the log end is caught up again, since it has all there was at \
         its fetch before (B40)",
    ),
    (
        Witness::WaitedFor,
        "waited-for",
        "every member of a large enough maximal ISR has a record that is not committed yet, since \
         a follower is about to join",
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
        let (before, after) = (image(step.before), image(step.after));
        match self {
            Self::LagOfOneRound => lag_of_one_round(step.after),
            Self::Truncation => step.after.nodes().any(|b| {
                let kept = step.before.log(b);
                step.before.is_up(b) && step.after.is_up(b) && !step.after.log(b).starts_with(kept)
            }),
            Self::Error20 => step.answers.iter().any(|a| a.error == 20),
            Self::Error19 => step.answers.iter().any(|a| a.error == 19),
            Self::TimedOut => step.answers.iter().any(|a| a.error == 7),
            Self::IsrShrunk => before.isr.iter().any(|b| !after.isr.contains(b)),
            Self::IsrExpanded => after.isr.iter().any(|b| !before.isr.contains(b)),
            Self::Diverging => answered(step, |answer| answer.2.is_some()),
            Self::Fenced => answered(step, |answer| answer.1 == 74),
            Self::UnknownEpoch => answered(step, |answer| answer.1 == 75),
            Self::BelowEpochStart => below_epoch_start(step),
            Self::FrozenUnderMinIsr => step.after.nodes().any(|b| is_frozen(step.after, b)),
            Self::TwoRounds => answered(step, |(to, _, diverging)| {
                let epochs = &step.after.broker(to).epochs;
                diverging.is_some_and(|end| epochs.iter().all(|own| own.epoch != end))
            }),
            Self::SameReElected => applies(step, |old, new| {
                old.leads().is_some_and(|was| new.leads().is_some_and(|is| is > was))
            }),
            Self::Coalesced => applies(step, |old, new| {
                old.role.epoch().zip(new.role.epoch()).is_some_and(|(was, is)| is > was + 1)
            }),
            Self::ElrElection => after.leader.is_some_and(|leader| before.elr.contains(&leader)),
            Self::UncleanLeavesElr => match *step.action {
                Action::Restart { broker } => {
                    before.elr.contains(&broker) && !after.elr.contains(&broker)
                }
                _ => false,
            },
            Self::RecordsLost => match *step.action {
                Action::PowerLoss { broker, .. } => {
                    step.after.log(broker).len() < step.before.log(broker).len()
                }
                _ => false,
            },
            Self::LastMemberStands => last_member_stands(step.after),
            Self::Acknowledged => {
                let verdict = matches!(step.action, Action::Verdict { .. });
                verdict && step.answers.iter().any(|a| a.error == 0)
            }
            Self::ReadToTheEnd => step.after.nodes().any(|b| {
                let end = step.after.log(b).len();
                let told = step.after.told_end(b).is_some_and(|told| usize::from(told) == end);
                let read = usize::from(step.after.readable(b)) == end;
                end > 0 && step.after.leads_now(b) && read && told
            }),
            Self::AnsweredByAppend => {
                let append = matches!(step.action, Action::Produce { .. });
                append && step.answers.iter().any(|a| a.error == 0)
            }
            Self::RoundBehind => round_behind(step),
            Self::WaitedFor => waited_for(step),
        }
    }
}

fn image<W: World>(world: &W) -> &Image {
    &world.controller().image
}

/// Whether a fetch was answered like this: to whom, error, the epoch in which the logs diverge.
fn answered<W>(step: &Seen<'_, W>, such: impl Fn((Node, i16, Option<u8>)) -> bool) -> bool {
    step.sent.iter().any(|envelope| match &*envelope.message {
        Message::FetchAnswer { error, diverging, .. } => {
            such((envelope.to, *error, diverging.map(|end| end.epoch)))
        }
        _ => false,
    })
}

/// Whether a broker applies metadata that changes it so.
fn applies<W: World>(step: &Seen<'_, W>, such: impl Fn(&BrokerView, &BrokerView) -> bool) -> bool {
    match *step.action {
        Action::ApplyMetadata { broker, .. } => {
            such(step.before.broker(broker), step.after.broker(broker))
        }
        _ => false,
    }
}

fn lag_of_one_round<W: World>(world: &W) -> bool {
    let committed = &world.ghost().committed;
    world.nodes().filter(|&b| world.is_up(b) && world.leads(b).is_none()).any(|b| {
        let log = world.log(b).iter().enumerate();
        log.skip(usize::from(world.hw(b)))
            .any(|(o, r)| committed.get(o).copied().flatten() == Some(r.value))
    })
}

/// A fetch has shown a follower that would join if the high watermark were all that counts.
fn below_epoch_start<W: World>(step: &Seen<'_, W>) -> bool {
    let Action::DeliverFetch { from, to, .. } = *step.action else { return false };
    let leader = step.after.broker(to);
    let Role::Leader { epoch_start, isr, pending: None, followers, .. } = &leader.role else {
        return false;
    };
    let waits = |p: &Progress| {
        p.broker == from && p.leo.is_some_and(|leo| (leader.hw..*epoch_start).contains(&leo))
    };
    !isr.contains(&from) && followers.iter().any(waits)
}

/// Whether the broker leads, and it and these of its followers have more than is committed.
fn have_more(view: &BrokerView, these: impl Fn(Node) -> bool) -> bool {
    let Role::Leader { followers, .. } = &view.role else { return false };
    let more = |leo: u8| leo > view.hw;
    let mut asked = followers.iter().filter(|p| these(p.broker));
    more(view.log.len() as u8) && asked.all(|p| p.leo.is_some_and(more))
}

/// The high watermark would move if the ISR were not under its minimum.
fn is_frozen<W: World>(world: &W, broker: Node) -> bool {
    let view = world.broker(broker);
    let Role::Leader { isr, .. } = &view.role else { return false };
    let under = view.known_min_isr(world.brokers()).is_some_and(|min| isr.len() < min.into());
    under && have_more(view, |n| isr.contains(&n))
}

/// A fetch from below the log end shows a follower caught up that was not.
fn round_behind<W: World>(step: &Seen<'_, W>) -> bool {
    let Action::DeliverFetch { from, to, .. } = *step.action else { return false };
    let known = |world: &W| match &world.broker(to).role {
        Role::Leader { followers, .. } => followers.iter().find(|p| p.broker == from).copied(),
        _ => None,
    };
    let caught_up = |p: &Progress| p.heard.is_some_and(|heard| heard.caught_up);
    let end = step.after.log(to).len();
    let behind = |p: &Progress| p.leo.is_some_and(|leo| usize::from(leo) < end);
    let was_behind = known(step.before).is_some_and(|p| !caught_up(&p));
    was_behind && known(step.after).is_some_and(|p| caught_up(&p) && behind(&p))
}

/// A member's fetch brought news, and the high watermark was tried and not raised.
fn waited_for<W: World>(step: &Seen<'_, W>) -> bool {
    let Action::DeliverFetch { to, .. } = *step.action else { return false };
    let view = step.after.broker(to);
    let Role::Leader { isr, pending, .. } = &view.role else { return false };
    let min = view.known_min_isr(step.after.brokers());
    let enough = min.is_some_and(|min| isr.len() >= min.into());
    let proposed = |n: Node| pending.iter().any(|p| p.isr.iter().any(|member| member.0 == n));
    let changed = step.before.broker(to) != view;
    enough && changed && have_more(view, |n| isr.contains(&n) || proposed(n))
}

fn last_member_stands<W: World>(world: &W) -> bool {
    let image = image(world);
    let Some(leader) = image.leader.filter(|_| image.leader_epoch > 0) else { return false };
    let dead = |n: Node| n == leader || world.broker(n).life != Life::Up;
    let promised = world.ghost().committed.iter().any(Option::is_some);
    promised && world.leads_now(leader) && world.nodes().all(dead)
}
