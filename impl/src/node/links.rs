//! Who waits for whom: requests this node has sent, and requests it has not answered yet.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::peer::Peer;
use crate::replica::io::{AlterPartitionRequest, FetchRequest, RequestId};
use crate::types::{BrokerId, ErrorCode};
use crate::wire::{CorrelationId, TopicId};

/// A request this node has sent and has no response to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sent {
    /// A fetch.
    Fetch {
        /// The leader.
        to: BrokerId,
        /// The very request.
        request: FetchRequest,
    },
    /// An ISR change.
    AlterPartition(AlterPartitionRequest),
}

impl Sent {
    /// Whom it was sent to.
    pub fn to(&self) -> Peer {
        match self {
            Self::Fetch { to, .. } => Peer::Broker(*to),
            Self::AlterPartition(_) => Peer::Controller,
        }
    }
}

/// What a request asked beside this node's own partition, and the answer to that.
pub(super) type Others<T> = Vec<(T, i32, ErrorCode)>;

/// What a request asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Question {
    Produce { acks: i16, others: Others<String> },
    Fetch { max_bytes: u32, others: Others<TopicId> },
    EndOffset { others: Others<String> },
    ListOffset { others: Others<String> },
}

/// A request of a peer that is not answered yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Asked {
    pub from: Peer,
    pub correlation_id: CorrelationId,
    pub question: Question,
}

/// Both tables. Correlation ids count per node, and so do request ids: neither is used twice
/// while it waits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Links {
    next_correlation: i32,
    next_request: u64,
    pub sent: BTreeMap<CorrelationId, Sent>,
    pub asked: BTreeMap<RequestId, Asked>,
}

impl Links {
    /// Remembers a request that goes out, under a new correlation id.
    pub fn send(&mut self, sent: Sent) -> CorrelationId {
        loop {
            let id = CorrelationId(self.next_correlation);
            self.next_correlation = self.next_correlation.checked_add(1).unwrap_or(0);
            if let Entry::Vacant(free) = self.sent.entry(id) {
                free.insert(sent);
                return id;
            }
        }
    }

    /// Remembers a request that came in, under a new request id.
    pub fn ask(&mut self, asked: Asked) -> RequestId {
        let id = RequestId(self.next_request);
        self.next_request += 1;
        self.asked.insert(id, asked);
        id
    }
}
