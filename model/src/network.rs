//! What is in flight: one first-in-first-out connection per ordered pair and kind of request,
//! and per broker the metadata records it has not applied.

use std::sync::Arc;

use klog_trace::action::{Connection, Node};
use klog_trace::{Envelope, Image, Message};
use levelwise::system::{self, Step};
use serde::{Deserialize, Serialize};

use crate::row::{Row, Whole};
use crate::system::Partition;

/// A message in flight.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct InFlight {
    /// Whether the sender's life that sent it goes on.
    pub connection: Connection,
    /// The message with its ends, as traces show it.
    pub envelope: Envelope,
}

/// What waits to be read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Flying {
    /// A message between nodes.
    Message(InFlight),
    /// A metadata record that this broker has not applied.
    Record(Node, Arc<Image>),
}

/// A place in flight.
pub type Flight<'a> = system::Flight<'a, Flying>;

/// The kinds of message; a pair of nodes has a connection for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A fetch.
    Fetch,
    /// Its answer.
    FetchAnswer,
    /// An ISR proposal.
    AlterPartition,
    /// Its answer.
    AlterPartitionAnswer,
}

impl Kind {
    /// The kind of a message.
    pub fn of(message: &Message) -> Self {
        match message {
            Message::Fetch { .. } => Self::Fetch,
            Message::FetchAnswer { .. } => Self::FetchAnswer,
            Message::AlterPartition { .. } => Self::AlterPartition,
            Message::AlterPartitionAnswer { .. } => Self::AlterPartitionAnswer,
        }
    }
}

impl InFlight {
    /// A message whose sender lives on.
    pub fn open(from: Node, to: Node, message: Arc<Message>) -> Self {
        Self { connection: Connection::Open, envelope: Envelope { from, to, message } }
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        Kind::of(&self.envelope.message)
    }

    fn channel(&self) -> u64 {
        channel(self.envelope.from, self.envelope.to, self.connection, self.kind())
    }
}

/// The number of a connection. Messages are kept in the order of these.
fn channel(from: Node, to: Node, connection: Connection, kind: Kind) -> u64 {
    u64::from_be_bytes([0, 0, 0, 0, from, to, connection as u8, kind as u8])
}

/// Broker 1's records come first, after all messages.
fn records_of(broker: Node) -> u64 {
    u64::from_be_bytes([0, 0, 0, 1, 0, 0, 0, broker])
}

impl Flying {
    /// Where it waits.
    pub fn queue(&self) -> u64 {
        match self {
            Self::Message(message) => message.channel(),
            Self::Record(broker, _) => records_of(*broker),
        }
    }

    /// The message, if it is one.
    pub fn message(&self) -> Option<&InFlight> {
        match self {
            Self::Message(message) => Some(message),
            Self::Record(..) => None,
        }
    }
}

/// Every message in flight, in the order of connections, of each the oldest first.
pub fn messages<'a>(row: &Whole<'a>) -> impl Iterator<Item = &'a InFlight> {
    row.flights().iter().filter_map(|flight| flight.message().message())
}

/// The oldest message of each connection.
pub fn heads<'a>(row: &Whole<'a>) -> impl Iterator<Item = &'a InFlight> {
    let flights = row.flights();
    let first = |at: usize| at == 0 || flights[at - 1].key() != flights[at].key();
    let heads = flights.iter().enumerate().filter(move |(at, _)| first(*at));
    heads.filter_map(|(_, flight)| flight.message().message())
}

/// Takes the oldest message of a connection.
pub fn take<'a>(
    step: &mut Step<'_, 'a, Partition>,
    from: Node,
    to: Node,
    on: Connection,
    kind: Kind,
) -> Option<Flight<'a>> {
    let channel = channel(from, to, on, kind);
    let at = step.state.flights().iter().position(|flight| flight.key() == channel)?;
    Some(step.remove(at))
}

/// The same answer with what stands in its sender's log now, where the records stood that were read
/// for it (B08). It goes out just before it is taken; a dead broker's is out already.
pub fn read_again<'a>(step: &mut Step<'_, 'a, Partition>, flight: Flight<'a>) -> Flight<'a> {
    let Flying::Message(m) = flight.message() else { return flight };
    let Envelope { from, to, ref message } = m.envelope;
    let mut answer = Message::clone(message);
    let Message::FetchAnswer { of_offset, records, .. } = &mut answer else { return flight };
    if records.is_empty() || !step.state.is_reachable(from) {
        return flight;
    }
    let now = step.state.broker(from).log.iter().skip((*of_offset).into());
    *records = now.take(records.len()).copied().collect();
    let sent = step.post(Flying::Message(InFlight::open(from, to, answer.into())));
    step.put(sent);
    let at = step.state.flights().iter().rposition(|flight| flight.number() == sent);
    step.remove(at.expect("it was put there"))
}

/// A broker's process is gone. Nobody reads what was sent to it, but a follower whose fetch
/// finds no leader tries again: its fetch stays under way. What the dead broker sent can still
/// be read, but nobody hears the answer to its requests; what it was still trying to send to a
/// broker that is down (`reaches` is false) never leaves it.
pub fn cut_off(step: &mut Step<'_, '_, Partition>, broker: Node, reaches: impl Fn(Node) -> bool) {
    let mut cut = Vec::new();
    step.retain(|flight| {
        let Flying::Message(m) = flight.message() else {
            return flight.key() != records_of(broker);
        };
        let Envelope { from, to, .. } = m.envelope;
        let open = m.connection == Connection::Open;
        if from == broker && open && matches!(m.kind(), Kind::Fetch | Kind::AlterPartition) {
            if reaches(to) {
                cut.push(flight.number());
            }
            return false;
        }
        to != broker || open && m.kind() == Kind::Fetch
    });
    put_broken(step, cut);
}

/// The connections between two running nodes break. Answers that were not read are lost. A request
/// may have been read, and then be handled at any later time; nobody hears what becomes of it.
pub fn reset(step: &mut Step<'_, '_, Partition>, one: Node, other: Node) {
    let mut cut = Vec::new();
    step.retain(|flight| {
        let Flying::Message(m) = flight.message() else { return true };
        let open = m.connection == Connection::Open;
        if !open || !between(m, one, other) {
            return true;
        }
        if matches!(m.kind(), Kind::Fetch | Kind::AlterPartition) {
            cut.push(flight.number());
        }
        false
    });
    put_broken(step, cut);
}

/// Whether anything is under way on the connections between two nodes.
pub fn is_busy(row: &Whole<'_>, one: Node, other: Node) -> bool {
    messages(row).any(|m| m.connection == Connection::Open && between(m, one, other))
}

fn between(m: &InFlight, one: Node, other: Node) -> bool {
    let Envelope { from, to, .. } = m.envelope;
    (from, to) == (one, other) || (to, from) == (one, other)
}

/// Puts these messages on a connection that broke. What an earlier life sent stays ahead of what
/// this one did.
fn put_broken(step: &mut Step<'_, '_, Partition>, cut: Vec<u32>) {
    for number in cut {
        let cut_message = step.remake(number, 0, |flying| {
            let m = flying.message().expect("only messages are cut off").clone();
            Flying::Message(InFlight { connection: Connection::Broken, ..m })
        });
        step.put(cut_message);
    }
}

/// The metadata records that this broker has not applied, oldest first.
pub fn unread<'a>(row: &Whole<'a>, broker: Node) -> impl DoubleEndedIterator<Item = Flight<'a>> {
    let mine = records_of(broker);
    row.flights().iter().copied().filter(move |flight| flight.key() == mine)
}

/// What a metadata record says.
pub fn image_of(record: Flight<'_>) -> &Image {
    match record.message() {
        Flying::Record(_, image) => image,
        Flying::Message(_) => unreachable!("a message is no record"),
    }
}

/// Takes this many of the broker's unread records and returns the newest of them.
pub fn read<'a>(
    step: &mut Step<'_, 'a, Partition>,
    broker: Node,
    records: u8,
) -> Option<Flight<'a>> {
    let newest = unread(step.state, broker).nth(usize::from(records).checked_sub(1)?)?;
    let mut left = records;
    step.retain(|flight| {
        let goes = left > 0 && flight.key() == newest.key();
        left -= u8::from(goes);
        !goes
    });
    Some(newest)
}
