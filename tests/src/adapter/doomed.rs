//! Messages that nobody will act on, and the proof that nobody does (conformance, rule 7).

use klog::node::{ControllerOutput, Outgoing, Peer};
use klog::types::BrokerId;
use klog_trace::Connection;
use klog_trace::action::{CONTROLLER, Node as Id};
use klog_trace::trace::Discarded;

use super::bag::{Channel, InFlight, Kind};
use super::fault::Fault;
use super::observe;
use super::route::{self, Answering, Taken};
use super::{Cluster, Process, Storage};

impl<D: Storage> Cluster<D> {
    /// Removes the messages that a step calls doomed, after it was tried out that they are: each
    /// is delivered to a twin of its receiver, which must not change and must answer nothing that
    /// anyone acts on.
    pub fn discard(&mut self, discarded: &[Discarded]) -> Result<(), Fault> {
        for Discarded { connection, envelope } in discarded {
            let channel = Channel::of(envelope, *connection);
            let message = self.bag.take(channel, &envelope.message);
            let message = message.ok_or_else(|| {
                let (kind, from, to) = (channel.kind.name(), envelope.from, envelope.to);
                Fault::not_enabled(format!(
                    "no such {kind} is on its way from b{from} to b{to}, so none can be discarded"
                ))
            })?;
            self.prove_doomed(*connection, &message)?;
            // What is still being tried on a dead broker has not been sent, and never is.
            if envelope.to == CONTROLLER || self.is_up(envelope.to) {
                self.doomed.push((*connection, message));
            }
        }
        Ok(())
    }

    /// Whether a message that was removed from this line could still arrive.
    pub(super) fn is_doomed_on(&self, channel: Channel) -> bool {
        self.doomed.iter().any(|(on, message)| Channel::of(&message.envelope, *on) == channel)
    }

    /// Tries out again every message that was ever removed and could still arrive.
    pub fn try_doomed_again(&self) -> Result<usize, Fault> {
        for (connection, message) in &self.doomed {
            self.prove_doomed(*connection, message)?;
        }
        Ok(self.doomed.len())
    }

    /// A death takes away what was still to be read by the dead, and breaks its connections.
    pub(super) fn doomed_died(&mut self, broker: Id) {
        self.doomed.retain(|(_, message)| message.envelope.to != broker);
        for (connection, message) in &mut self.doomed {
            let kind = Kind::of(&message.envelope.message);
            if message.envelope.from == broker && kind.outlives_its_sender() {
                *connection = Connection::Broken;
            }
        }
    }

    /// A reset takes away the answers between two nodes and breaks the connections of requests.
    pub(super) fn doomed_reset(&mut self, one: Id, other: Id) {
        let between = |connection: Connection, message: &InFlight| {
            let ends = (message.envelope.from, message.envelope.to);
            connection == Connection::Open && (ends == (one, other) || ends == (other, one))
        };
        let request = |m: &InFlight| Kind::of(&m.envelope.message).outlives_its_sender();
        self.doomed.retain(|(on, message)| !between(*on, message) || request(message));
        for (connection, message) in &mut self.doomed {
            if between(*connection, message) {
                *connection = Connection::Broken;
            }
        }
    }

    fn prove_doomed(&self, connection: Connection, message: &InFlight) -> Result<(), Fault> {
        let proven = match Kind::of(&message.envelope.message) {
            Kind::Fetch => self.try_request(connection, message),
            Kind::AlterPartition => self.try_proposal(connection, message),
            Kind::FetchAnswer | Kind::AlterPartitionAnswer => self.try_answer(message),
        };
        proven.map_err(|fault| match fault {
            Fault::Hidden(what) => {
                let (from, to) = (message.envelope.from, message.envelope.to);
                let kind = Kind::of(&message.envelope.message).name();
                Fault::Hidden(format!(
                    "the {kind} from b{from} to b{to} is called doomed, but {what}"
                ))
            }
            other => other,
        })
    }

    /// Gives the message to a twin of its receiver, which must not change, and returns what that
    /// sends.
    pub(super) fn take_in_twin(&self, message: &InFlight) -> Result<Vec<Outgoing>, Fault> {
        let id = message.envelope.to;
        let broker = &self.brokers[usize::from(id) - 1];
        let Some(Process::Up(node)) = &broker.process else {
            return Ok(Vec::new());
        };
        let mut twin = node.over(node.log().disk().in_memory()?);
        let image = broker.applied.as_deref();
        let before = observe::broker_view(&twin, image, self.time.exact_ms())?;
        let mut out = Vec::new();
        twin.take(message, self.time.now_ms(), &mut out)?;
        if observe::broker_view(&twin, image, self.time.exact_ms())? == before {
            Ok(out)
        } else {
            Err(Fault::hidden(format!("it changes b{id}")))
        }
    }

    fn try_answer(&self, message: &InFlight) -> Result<(), Fault> {
        if self.take_in_twin(message)?.is_empty() {
            Ok(())
        } else {
            let id = message.envelope.to;
            Err(Fault::hidden(format!("b{id} sends something because of it")))
        }
    }

    /// A fetch may be answered, if its sender makes nothing of the answer.
    fn try_request(&self, connection: Connection, message: &InFlight) -> Result<(), Fault> {
        let id = message.envelope.to;
        let out = self.take_in_twin(message)?;
        if out.is_empty() {
            return Ok(());
        }
        match <[Outgoing; 1]>::try_from(out) {
            Ok([Outgoing::Frame { to, bytes, .. }]) if to == peer(message.envelope.from) => {
                self.try_answer_to(connection, message, bytes)
            }
            _ => Err(Fault::hidden(format!("b{id} sends more than an answer"))),
        }
    }

    /// A proposal may be refused, if its sender makes nothing of the answer.
    fn try_proposal(&self, connection: Connection, message: &InFlight) -> Result<(), Fault> {
        let mut twin = self.controller.clone();
        let mut out = Vec::new();
        let from = BrokerId(message.envelope.from.into());
        twin.receive(from, &message.frame, &mut out)?;
        if twin != self.controller {
            return Err(Fault::hidden("it changes the controller"));
        }
        match <[ControllerOutput; 1]>::try_from(out) {
            Ok([ControllerOutput::Send(Outgoing::Frame { bytes, .. })]) => {
                self.try_answer_to(connection, message, bytes)
            }
            _ => Err(Fault::hidden("the controller does more than answer")),
        }
    }

    fn try_answer_to(
        &self,
        connection: Connection,
        request: &InFlight,
        bytes: Vec<u8>,
    ) -> Result<(), Fault> {
        if connection == Connection::Broken || !self.is_up(request.envelope.from) {
            return Ok(());
        }
        let answering = Answering { request, connection };
        self.try_answer(&route::answer(answering, bytes)?)
    }
}

pub(super) fn peer(broker: Id) -> Peer {
    Peer::Broker(BrokerId(broker.into()))
}
