//! What is in flight: one first-in-first-out connection per ordered pair and kind of request,
//! and per broker the metadata records it has not applied.

use std::sync::Arc;

use klog_trace::action::{Connection, Node};
use klog_trace::{Envelope, Image, Message};
use smallvec::SmallVec;

/// A message in flight.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InFlight {
    /// Who sent it.
    pub from: Node,
    /// Who shall read it.
    pub to: Node,
    /// Whether the sender's life that sent it goes on.
    pub connection: Connection,
    /// What it says.
    pub message: Arc<Message>,
}

impl InFlight {
    /// The message with its ends, as traces show it.
    pub fn envelope(&self) -> Envelope {
        Envelope { from: self.from, to: self.to, message: Arc::clone(&self.message) }
    }

    fn channel(&self) -> (Node, Node, Connection, Kind) {
        (self.from, self.to, self.connection, Kind::of(&self.message))
    }
}

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

/// Everything in flight. Messages are kept in the order of their channels, within a channel in
/// the order they were sent, so that equal networks are equal values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Network {
    messages: Few<InFlight>,
    /// The metadata records that a broker has not applied: broker 1's first, each broker's
    /// oldest first.
    unread: Few<(Node, Arc<Image>)>,
}

/// A list that is short enough, nearly always, to stand in the state itself.
type Few<T> = SmallVec<[T; 6]>;

impl Network {
    /// Every message in flight.
    pub fn messages(&self) -> &[InFlight] {
        &self.messages
    }

    /// The oldest message of each channel.
    pub fn heads(&self) -> impl Iterator<Item = &InFlight> {
        let first =
            |i: usize| i == 0 || self.messages[i - 1].channel() != self.messages[i].channel();
        self.messages.iter().enumerate().filter(move |(i, _)| first(*i)).map(|(_, m)| m)
    }

    /// Puts a message at the end of its channel.
    pub fn send(&mut self, from: Node, to: Node, message: Arc<Message>) {
        let connection = Connection::Open;
        let message = InFlight { from, to, connection, message };
        let at = self.messages.partition_point(|m| m.channel() <= message.channel());
        self.messages.insert(at, message);
    }

    /// Takes the oldest message of a channel.
    pub fn take(
        &mut self,
        from: Node,
        to: Node,
        connection: Connection,
        kind: Kind,
    ) -> Option<Arc<Message>> {
        let channel = (from, to, connection, kind);
        let at = self.messages.iter().position(|m| m.channel() == channel)?;
        Some(self.messages.remove(at).message)
    }

    /// A broker's process is gone: nobody reads what was sent to it. What it sent can still be
    /// read, but nobody hears the answer to its requests.
    pub fn cut_off(&mut self, broker: Node) {
        self.messages.retain(|m| m.to != broker);
        for m in &mut self.messages {
            let request = matches!(Kind::of(&m.message), Kind::Fetch | Kind::AlterPartition);
            if m.from == broker && request {
                m.connection = Connection::Broken;
            }
        }
        self.messages.sort_by_key(InFlight::channel);
        self.unread.retain(|r| r.0 != broker);
    }

    /// How many metadata records this broker has not applied.
    pub fn unread(&self, broker: Node) -> usize {
        self.unread.iter().filter(|r| r.0 == broker).count()
    }

    /// The newest metadata record that this broker has not applied.
    pub fn newest_unread(&self, broker: Node) -> Option<&Image> {
        self.unread.iter().rev().find(|r| r.0 == broker).map(|r| &*r.1)
    }

    /// One more metadata record for this broker.
    pub fn publish(&mut self, broker: Node, image: Arc<Image>) {
        let at = self.unread.partition_point(|r| r.0 <= broker);
        self.unread.insert(at, (broker, image));
    }

    /// Takes this many of the broker's unread records and returns the newest of them.
    pub fn read(&mut self, broker: Node, records: u8) -> Option<Arc<Image>> {
        let from = self.unread.partition_point(|r| r.0 < broker);
        self.unread.drain(from..from + usize::from(records)).next_back().map(|r| r.1)
    }

    /// Removes the messages for which `doomed` holds and returns them.
    pub fn remove(&mut self, doomed: impl Fn(&InFlight) -> bool) -> Vec<InFlight> {
        if !self.messages.iter().any(&doomed) {
            return Vec::new();
        }
        let mut gone = Vec::new();
        self.messages.retain(|m| {
            let dead = doomed(m);
            if dead {
                gone.push(m.clone());
            }
            !dead
        });
        gone
    }
}
