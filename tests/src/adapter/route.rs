//! Where the frames go that a node sends.

use std::rc::Rc;

use klog::disk::Disk;
use klog::node::{ControllerOutput, Node, NodeError, Outgoing, Peer, Way};
use klog::replica::io::MetadataImage;
use klog::types::BrokerId;
use klog_trace::action::{CONTROLLER, Node as Id};
use klog_trace::trace::Interleaving;
use klog_trace::{Connection, Envelope};

use super::bag::{InFlight, Kind};
use super::fault::Fault;
use super::{Cluster, Seen, Storage, decode};

/// The request that a node has in hand while it answers.
#[derive(Clone, Copy)]
pub(super) struct Answering<'a> {
    pub request: &'a InFlight,
    /// On a broken connection nobody hears the answer.
    pub connection: Connection,
}

/// A node that can be given a message in flight.
pub(super) trait Taken {
    /// Receives the frame of this message as its connection delivers it.
    fn take(
        &mut self,
        message: &InFlight,
        now_ms: i64,
        out: &mut Vec<Outgoing>,
    ) -> Result<(), NodeError>;
}

impl<D: Disk> Taken for Node<D> {
    fn take(
        &mut self,
        message: &InFlight,
        now_ms: i64,
        out: &mut Vec<Outgoing>,
    ) -> Result<(), NodeError> {
        let Envelope { from, message: says, .. } = &message.envelope;
        let peer = match *from {
            CONTROLLER => Peer::Controller,
            broker => Peer::Broker(BrokerId(broker.into())),
        };
        let way = match Kind::of(says) {
            Kind::Fetch | Kind::AlterPartition => Way::Request,
            Kind::FetchAnswer | Kind::AlterPartitionAnswer => Way::Response,
        };
        self.receive(peer, way, &message.frame, now_ms, out)
    }
}

/// The answer in this frame, with the ends of the request turned round.
pub(super) fn answer(answering: Answering<'_>, frame: Vec<u8>) -> Result<InFlight, Fault> {
    let request = answering.request;
    let (id, message) = decode::answer(&request.envelope.message, &frame)?;
    if id != request.id {
        let (asked, from) = (request.id, request.envelope.to);
        let what = format!("b{from} answered request {id} while it had request {asked} in hand");
        return Err(Fault::hidden(what));
    }
    let envelope =
        Envelope { from: request.envelope.to, to: request.envelope.from, message: message.into() };
    Ok(InFlight { envelope, id, frame })
}

impl<D: Storage> Cluster<D> {
    /// Sends what a broker put out, in order.
    pub(super) fn route(
        &mut self,
        from: Id,
        out: &mut Vec<Outgoing>,
        mut answering: Option<Answering<'_>>,
        seen: &mut Seen,
    ) -> Result<(), Fault> {
        for outgoing in out.drain(..) {
            match outgoing {
                Outgoing::Frame { to: Peer::Client(_), bytes, .. } => {
                    seen.answers.push(self.clients.answered(from, &bytes)?);
                }
                Outgoing::Frame { to, way: Way::Request, bytes } => {
                    let (id, message) = decode::request(from, &bytes)?;
                    let to = match to {
                        Peer::Broker(id) => decode::broker(id)?,
                        _ => CONTROLLER,
                    };
                    let message = message.into();
                    let envelope = Envelope { from, to, message };
                    let frame = bytes;
                    let message = InFlight { envelope, id, frame };
                    self.send(Connection::Open, message, seen);
                }
                Outgoing::Frame { way: Way::Response, bytes, .. } => {
                    let unasked = || Fault::hidden(format!("b{from} answered what nobody asked"));
                    let answering = answering.take().ok_or_else(unasked)?;
                    self.send(answering.connection, answer(answering, bytes)?, seen);
                }
                Outgoing::Close { .. } => {
                    let what = format!("b{from} closed the connection of an acks=0 produce");
                    return Err(Fault::hidden(what));
                }
            }
        }
        Ok(())
    }

    /// What is sent to a dead broker, or as an answer on a broken connection, is dropped; but a
    /// follower tries its fetch until the leader is back.
    fn send(&mut self, connection: Connection, message: InFlight, seen: &mut Seen) {
        seen.sent.push(message.envelope.clone());
        let to = message.envelope.to;
        let tries_again = Kind::of(&message.envelope.message) == Kind::Fetch;
        let heard = tries_again || to == CONTROLLER || self.is_up(to);
        if heard && connection == Connection::Open {
            self.bag.push(connection, message);
        }
    }

    /// Sends what the controller answered to a proposal.
    pub(super) fn route_controller_answer(
        &mut self,
        answering: Answering<'_>,
        seen: &mut Seen,
    ) -> Result<(), Fault> {
        let mut out = std::mem::take(&mut self.controller_out);
        let at = out.iter().position(|o| matches!(o, ControllerOutput::Send(_)));
        let sent = at.map(|at| out.remove(at));
        self.controller_out = out;
        let Some(ControllerOutput::Send(Outgoing::Frame { bytes, .. })) = sent else {
            return Err(Fault::hidden("the controller left a proposal unanswered"));
        };
        self.send(answering.connection, answer(answering, bytes)?, seen);
        Ok(())
    }

    /// Gives the metadata published in this step to those who can apply it alone. For all others
    /// it counts as part of the next one, which is a whole image and holds it.
    pub(super) fn publish(&mut self, seen: &mut Seen) -> Result<(), Fault> {
        let out = std::mem::take(&mut self.controller_out);
        let mut image: Option<Rc<MetadataImage>> = None;
        for output in out {
            match output {
                ControllerOutput::Metadata(published) => image = Some(Rc::new(published)),
                other => return Err(Fault::hidden(format!("the controller also put {other:?}"))),
            }
        }
        let Some(image) = image else {
            return Ok(());
        };
        for broker in 1..=self.brokers() {
            if self.is_up(broker) && self.can_apply_alone(broker, &image) {
                self.broker(broker).unread.push_back(Rc::clone(&image));
                seen.published_to.push(broker);
            }
        }
        Ok(())
    }

    /// Where steps are merged: the first record that a broker sees in its life, one of another
    /// leader epoch than the one before, and one that names it as leader (docs/decisions, 2).
    fn can_apply_alone(&self, id: Id, image: &MetadataImage) -> bool {
        let broker = &self.brokers[usize::from(id) - 1];
        let before = broker.unread.back().or(broker.applied.as_ref());
        self.interleaving == Interleaving::Full
            || image.partition.leader == Some(BrokerId(id.into()))
            || before
                .is_none_or(|before| before.partition.leader_epoch != image.partition.leader_epoch)
    }

    /// The broker applies the next so many records of metadata as one.
    pub(super) fn apply_metadata(
        &mut self,
        broker: Id,
        records: u8,
        seen: &mut Seen,
    ) -> Result<(), Fault> {
        self.node(broker)?;
        let unread = &mut self.broker(broker).unread;
        let upto = usize::from(records);
        if upto == 0 || upto > unread.len() {
            let what = format!("b{broker} has {} metadata records to read", unread.len());
            return Err(Fault::not_enabled(what));
        }
        let image = unread.drain(..upto).next_back();
        let image = image.expect("at least one was there");
        self.broker(broker).applied = Some(Rc::clone(&image));
        let now_ms = self.time.now_ms();
        self.with_node(broker, seen, |node, out| {
            node.metadata(MetadataImage::clone(&image), now_ms, out);
        })
    }
}
