//! Who is at the other end of a connection, and what goes there.

use std::fmt;

use crate::types::BrokerId;

/// A connection of a client to this node. The caller numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

/// The other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Peer {
    /// Another broker.
    Broker(BrokerId),
    /// The controller.
    Controller,
    /// A producer or a consumer.
    Client(ClientId),
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broker(id) => write!(f, "broker {id}"),
            Self::Controller => f.write_str("the controller"),
            Self::Client(ClientId(number)) => write!(f, "client connection {number}"),
        }
    }
}

/// Which way a frame goes. Its bytes do not say it: two brokers have a connection each way, and a
/// frame is a response on the one that its receiver opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// From the one who opened the connection.
    Request,
    /// Back to the one who opened it.
    Response,
}

/// What a node wants to be done with a connection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outgoing {
    /// Send this frame.
    Frame {
        /// The receiver.
        to: Peer,
        /// Whether it asks or answers.
        way: Way,
        /// The frame, length prefix included.
        bytes: Vec<u8>,
    },
    /// Close the connection: a produce with acks=0 failed, and there is no answer to say so in.
    Close {
        /// The client.
        to: Peer,
    },
}

impl Outgoing {
    pub(super) fn request(to: Peer, bytes: Vec<u8>) -> Self {
        Self::Frame { to, way: Way::Request, bytes }
    }

    pub(super) fn response(to: Peer, bytes: Vec<u8>) -> Self {
        Self::Frame { to, way: Way::Response, bytes }
    }
}
