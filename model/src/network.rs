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
        self.insert(message);
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

    /// A broker's process is gone. Nobody reads what was sent to it, but a follower whose fetch
    /// finds no leader tries again: its fetch stays under way. What the dead broker sent can still
    /// be read, but nobody hears the answer to its requests; what it was still trying to send to a
    /// broker that is down (`reaches` is false) never leaves it.
    pub fn cut_off(&mut self, broker: Node, reaches: impl Fn(Node) -> bool) {
        self.unread.retain(|r| r.0 != broker);
        let mut cut = Vec::new();
        self.messages.retain(|m| {
            let kind = Kind::of(&m.message);
            let open = m.connection == Connection::Open;
            if m.from == broker && open && matches!(kind, Kind::Fetch | Kind::AlterPartition) {
                if reaches(m.to) {
                    cut.push(m.clone());
                }
                return false;
            }
            m.to != broker || open && kind == Kind::Fetch
        });
        // What an earlier life sent stays ahead of what this one did.
        for m in cut {
            self.insert(InFlight { connection: Connection::Broken, ..m });
        }
    }

    fn insert(&mut self, message: InFlight) {
        let at = self.messages.partition_point(|m| m.channel() <= message.channel());
        self.messages.insert(at, message);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A random walk of the real code found this: a second death must not put the requests of the
    /// later life ahead of those of the earlier one.
    #[test]
    fn what_an_earlier_life_sent_is_read_first() {
        let fetch =
            |broker_epoch| Message::Fetch { epoch: 0, offset: 0, last_epoch: None, broker_epoch };
        let mut network = Network::default();
        for broker_epoch in [2, 3] {
            network.send(2, 1, fetch(broker_epoch).into());
            network.cut_off(2, |_| true);
        }
        assert_eq!(network.messages().len(), 2);
        let mut read = || network.take(2, 1, Connection::Broken, Kind::Fetch);
        assert_eq!(
            [read(), read(), read()].map(|m| m.as_deref().cloned()),
            [Some(fetch(2)), Some(fetch(3)), None]
        );
    }

    /// A follower tries again until its leader is back; one that dies meanwhile tries no more.
    #[test]
    fn a_fetch_outlives_its_leader_and_not_its_follower() {
        let mut network = Network::default();
        let fetch = Message::Fetch { epoch: 0, offset: 0, last_epoch: None, broker_epoch: 2 };
        network.send(2, 1, fetch.into());
        network.cut_off(1, |_| true);
        assert_eq!(network.messages().len(), 1);
        network.cut_off(2, |n| n != 1);
        assert_eq!(network.messages().len(), 0);
    }
}
