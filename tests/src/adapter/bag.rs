//! What is in flight: the frames the real code sent, each with what it says.

use std::collections::{BTreeMap, VecDeque};

use klog::wire::CorrelationId;
use klog_trace::action::Node as Id;
use klog_trace::{Connection, Envelope, Message};

/// One frame between two nodes.
#[derive(Clone, Debug)]
pub struct InFlight {
    /// Its ends, and what the frame says.
    pub envelope: Envelope,
    /// The number by which request and answer find each other.
    pub id: CorrelationId,
    /// The bytes as they were sent.
    pub frame: Vec<u8>,
}

/// The kinds of message, each with a first-in-first-out line of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A follower's fetch.
    Fetch,
    /// Its answer.
    FetchAnswer,
    /// A leader's ISR proposal.
    AlterPartition,
    /// The controller's answer.
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

    /// Whether it is a request, which its receiver handles even if the sender is dead by then.
    pub fn outlives_its_sender(self) -> bool {
        matches!(self, Self::Fetch | Self::AlterPartition)
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::FetchAnswer => "answer to a fetch",
            Self::AlterPartition => "ISR proposal",
            Self::AlterPartitionAnswer => "answer to an ISR proposal",
        }
    }
}

/// One line of messages: oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Channel {
    /// The sender.
    pub from: Id,
    /// The receiver.
    pub to: Id,
    /// Whether the sender still lives as it did when it sent.
    pub connection: Connection,
    /// What travels on it.
    pub kind: Kind,
}

impl Channel {
    /// The line on which an envelope travels.
    pub fn of(envelope: &Envelope, connection: Connection) -> Self {
        Self { from: envelope.from, to: envelope.to, connection, kind: Kind::of(&envelope.message) }
    }
}

/// Every message in flight.
#[derive(Clone, Debug, Default)]
pub struct Bag {
    lines: BTreeMap<Channel, VecDeque<InFlight>>,
}

impl Bag {
    /// Sends a message.
    pub fn push(&mut self, connection: Connection, message: InFlight) {
        let channel = Channel::of(&message.envelope, connection);
        self.lines.entry(channel).or_default().push_back(message);
    }

    /// The oldest message on this line.
    pub fn pop(&mut self, channel: Channel) -> Option<InFlight> {
        self.lines.get_mut(&channel)?.pop_front()
    }

    /// The message on this line, if there is exactly one.
    pub fn only(&self, channel: Channel) -> Option<&InFlight> {
        let line = self.lines.get(&channel)?;
        line.front().filter(|_| line.len() == 1)
    }

    /// Takes out the first message on this line that says `message`.
    pub fn take(&mut self, channel: Channel, message: &Message) -> Option<InFlight> {
        let line = self.lines.get_mut(&channel)?;
        let at = line.iter().position(|m| *m.envelope.message == *message)?;
        line.remove(at)
    }

    /// The broker died: nobody reads what was sent to it, but who waits for the answer to a fetch
    /// will ask again. Nobody will hear the answer to what it asked, and what it was asking one
    /// that is down too (`reaches` is false) never leaves it. What it answered can still be read.
    pub fn died(&mut self, broker: Id, reaches: impl Fn(Id) -> bool) {
        let asks = |channel: &Channel| {
            channel.connection == Connection::Open && channel.kind == Kind::Fetch
        };
        self.lines.retain(|channel, _| {
            let lost = channel.from == broker && asks(channel) && !reaches(channel.to);
            (channel.to != broker || asks(channel)) && !lost
        });
        let asked = |channel: &Channel| {
            channel.from == broker
                && channel.connection == Connection::Open
                && channel.kind.outlives_its_sender()
        };
        let channels: Vec<Channel> = self.lines.keys().copied().filter(asked).collect();
        for channel in channels {
            let mut line = self.lines.remove(&channel).unwrap_or_default();
            let cut_off = Channel { connection: Connection::Broken, ..channel };
            self.lines.entry(cut_off).or_default().append(&mut line);
        }
    }

    /// The connections between two nodes broke. Answers are lost; a request may have been read, and
    /// nobody will hear the answer to it.
    pub fn reset(&mut self, one: Id, other: Id) {
        let open_between = |channel: &Channel| {
            let ends = (channel.from, channel.to);
            channel.connection == Connection::Open && (ends == (one, other) || ends == (other, one))
        };
        let channels: Vec<Channel> = self.lines.keys().copied().filter(open_between).collect();
        for channel in channels {
            let mut line = self.lines.remove(&channel).unwrap_or_default();
            if channel.kind.outlives_its_sender() {
                let cut_off = Channel { connection: Connection::Broken, ..channel };
                self.lines.entry(cut_off).or_default().append(&mut line);
            }
        }
    }

    /// Takes everything off this line.
    pub fn take_all(&mut self, channel: Channel) -> VecDeque<InFlight> {
        self.lines.remove(&channel).unwrap_or_default()
    }

    /// Whether nothing is on this line.
    pub fn is_empty(&self, channel: Channel) -> bool {
        self.lines.get(&channel).is_none_or(VecDeque::is_empty)
    }

    /// Every message, line by line.
    pub fn messages(&self) -> impl Iterator<Item = &InFlight> {
        self.lines.values().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(from: Id, to: Id, offset: u8) -> InFlight {
        let message = Message::Fetch { epoch: 0, offset, last_epoch: None, broker_epoch: from };
        InFlight {
            envelope: Envelope { from, to, message: message.into() },
            id: CorrelationId(offset.into()),
            frame: Vec::new(),
        }
    }

    fn answered(from: Id, to: Id) -> InFlight {
        let message = Message::FetchAnswer {
            of_epoch: 0,
            of_offset: 0,
            error: 0,
            hw: 0,
            records: Vec::new(),
            diverging: None,
        };
        InFlight { envelope: Envelope { from, to, message: message.into() }, ..sent(from, to, 0) }
    }

    fn fetches(bag: &mut Bag, from: Id, to: Id, connection: Connection) -> Vec<i32> {
        let channel = Channel::of(&sent(from, to, 0).envelope, connection);
        std::iter::from_fn(|| bag.pop(channel)).map(|m| m.id.0).collect()
    }

    #[test]
    fn a_line_is_first_in_first_out() {
        let mut bag = Bag::default();
        for offset in 0..3 {
            bag.push(Connection::Open, sent(2, 1, offset));
        }
        assert_eq!(fetches(&mut bag, 2, 1, Connection::Open), [0, 1, 2]);
        assert_eq!(fetches(&mut bag, 2, 1, Connection::Open).len(), 0);
    }

    #[test]
    fn a_death_breaks_requests_keeps_answers_and_drops_what_is_unread() {
        let mut bag = Bag::default();
        bag.push(Connection::Broken, sent(2, 1, 7));
        bag.push(Connection::Open, sent(2, 1, 8));
        bag.push(Connection::Open, answered(2, 3));
        bag.push(Connection::Open, sent(3, 2, 9));
        bag.died(2, |_| true);
        assert_eq!(fetches(&mut bag, 2, 1, Connection::Open).len(), 0);
        assert_eq!(fetches(&mut bag, 2, 1, Connection::Broken), [7, 8]);
        assert_eq!(fetches(&mut bag, 3, 2, Connection::Open), [9], "b3 asks again");
        assert_eq!(bag.messages().count(), 1, "the answer of the dead broker");
    }

    #[test]
    fn a_reset_breaks_requests_and_loses_answers_between_the_two_alone() {
        let mut bag = Bag::default();
        bag.push(Connection::Open, sent(2, 1, 7));
        bag.push(Connection::Open, answered(1, 2));
        bag.push(Connection::Open, answered(2, 3));
        bag.push(Connection::Open, sent(3, 1, 8));
        bag.reset(1, 2);
        assert_eq!(fetches(&mut bag, 2, 1, Connection::Open).len(), 0);
        assert_eq!(fetches(&mut bag, 2, 1, Connection::Broken), [7]);
        assert_eq!(fetches(&mut bag, 3, 1, Connection::Open), [8]);
        assert_eq!(bag.messages().count(), 1, "b2's answer to b3");
    }

    #[test]
    fn who_dies_asks_a_dead_one_no_more() {
        let mut bag = Bag::default();
        bag.push(Connection::Open, sent(2, 1, 7));
        bag.died(1, |_| true);
        bag.died(2, |id| id != 1);
        assert_eq!(bag.messages().count(), 0);
    }

    #[test]
    fn the_named_message_is_taken_and_no_other() {
        let mut bag = Bag::default();
        for offset in 0..3 {
            bag.push(Connection::Open, sent(2, 1, offset));
        }
        let wanted = sent(2, 1, 1).envelope;
        let channel = Channel::of(&wanted, Connection::Open);
        assert!(bag.take(channel, &wanted.message).is_some());
        assert!(bag.take(channel, &wanted.message).is_none());
        assert_eq!(fetches(&mut bag, 2, 1, Connection::Open), [0, 2]);
    }
}
