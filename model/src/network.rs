//! What is in flight: one first-in-first-out connection per ordered pair and kind of request,
//! and per broker the metadata records it has not applied.

use std::sync::Arc;

use klog_trace::action::{Connection, Node};
use klog_trace::{Envelope, Image, Message};

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
        Envelope {
            from: self.from,
            to: self.to,
            message: Arc::clone(&self.message),
        }
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
    messages: Vec<InFlight>,
    /// Per broker (broker 1 first) the metadata records it has not applied, oldest first.
    pub metadata: Vec<Vec<Arc<Image>>>,
}

impl Network {
    /// Nothing in flight between this many brokers.
    pub fn new(brokers: Node) -> Self {
        Self {
            messages: Vec::new(),
            metadata: vec![Vec::new(); usize::from(brokers)],
        }
    }

    /// Every message in flight.
    pub fn messages(&self) -> &[InFlight] {
        &self.messages
    }

    /// The oldest message of each channel.
    pub fn heads(&self) -> impl Iterator<Item = &InFlight> {
        let first =
            |i: usize| i == 0 || self.messages[i - 1].channel() != self.messages[i].channel();
        self.messages
            .iter()
            .enumerate()
            .filter(move |(i, _)| first(*i))
            .map(|(_, m)| m)
    }

    /// Puts a message at the end of its channel.
    pub fn send(&mut self, from: Node, to: Node, message: Arc<Message>) {
        let connection = Connection::Open;
        let message = InFlight {
            from,
            to,
            connection,
            message,
        };
        let at = self
            .messages
            .partition_point(|m| m.channel() <= message.channel());
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
        self.metadata[usize::from(broker) - 1].clear();
    }

    /// Removes the messages for which `doomed` holds and returns them.
    pub fn remove(&mut self, doomed: impl Fn(&InFlight) -> bool) -> Vec<InFlight> {
        if !self.messages.iter().any(&doomed) {
            return Vec::new();
        }
        let (gone, kept) = std::mem::take(&mut self.messages)
            .into_iter()
            .partition(doomed);
        self.messages = kept;
        gone
    }
}
