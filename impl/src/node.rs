//! One broker's shell around one partition: real frames, a real log, and the core in between.
//!
//! [`Node`] holds the [`Replica`](crate::replica::Replica), its [`Log`], the checkpoint of the high
//! watermark and the tables of who waits for whom. It turns frames into inputs, executes the
//! effects of each step front to back before the next, and gives back frames to send. It opens no
//! connection and reads no clock: the caller carries the frames and says the time, in
//! milliseconds.
//!
//! Every fetch is answered at once; parking it (F9) is for the server around the node. Waiting
//! produces are decided in [`Node::complete_produces`] only, which a server calls after each step.
//!
//! A crash of the process is dropping the node and opening it again on the same disk. A life that
//! ends in order ends in [`Node::shut_down`], and the next one learns of it from
//! [`take_clean_shutdown`].

mod controller;
mod effects;
mod error;
mod frames;
mod links;
mod peer;
mod receive;
mod records;
mod serve;
#[cfg(test)]
mod tests;

pub use controller::{ControllerNode, ControllerOutput};
pub use error::NodeError;
pub use links::Sent;
pub use peer::{ClientId, Outgoing, Peer, Way};

use crate::disk::Disk;
use crate::log::{Log, LogConfig, LogError, Recovery, hw_file, shutdown_file};
use crate::replica::io::{Effect, Input, LogShape, MetadataImage, RequestId};
use crate::replica::{self, Replica};
use crate::types::{BrokerEpoch, BrokerId, Offset};
use crate::wire::{CorrelationId, TopicId};
use effects::{Failure, InHand};
use links::Links;

/// What does not change during one life of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeConfig {
    /// The broker.
    pub id: BrokerId,
    /// Name of the topic, as producers use it.
    pub topic: String,
    /// Id of the topic, as brokers use it.
    pub topic_id: TopicId,
    /// Index of the partition.
    pub partition: i32,
    /// Settings of the core, this life's broker epoch among them.
    pub replica: replica::Config,
    /// Settings of the log.
    pub log: LogConfig,
}

/// What this disk says of the life before: its broker epoch if it ended in order, `None` if it did
/// not or if there was none (D3). A starting broker asks before it opens anything and registers
/// with the answer (B1, B2). The word is taken off the disk, durably: a start that dies after this
/// was an unclean life.
pub fn take_clean_shutdown<D: Disk>(disk: &mut D) -> Result<Option<BrokerEpoch>, NodeError> {
    Ok(shutdown_file::take(disk)?)
}

/// One broker, for one partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node<D> {
    config: NodeConfig,
    replica: Replica,
    log: Log<D>,
    links: Links,
    /// Why the disk failed, if it did (D6).
    failure: Option<String>,
    /// Room for the effects of a step; empty between steps.
    effects: Vec<Effect>,
}

impl<D: Disk> Node<D> {
    /// Opens the log on this disk, mends what a crash left, and takes the checkpoint of the high
    /// watermark as a hint (D1, D4). The replica idles until metadata arrives: a start never
    /// resumes an epoch. A word of a clean shutdown that nobody has taken goes first of all: this
    /// life may write, so it is not true any more (D3).
    pub fn open(mut disk: D, config: NodeConfig) -> Result<(Self, Recovery), NodeError> {
        shutdown_file::take(&mut disk)?;
        let (log, recovery) = Log::open(disk, config.log)?;
        let mut checkpoints = hw_file::read(log.disk(), hw_file::HW_FILE)?;
        let hw = checkpoints.remove(&(config.topic.clone(), config.partition));
        let epochs = log.epochs().iter().map(|entry| (entry.epoch, entry.start));
        let shape = LogShape { start: log.start(), leo: log.leo(), epochs: epochs.collect() };
        let replica = Replica::restore(config.id, config.replica, shape, hw);
        let (links, failure, effects) = (Links::default(), None, Vec::new());
        Ok((Self { config, replica, log, links, failure, effects }, recovery))
    }

    /// The metadata moved on to this image (M6).
    pub fn metadata(&mut self, image: MetadataImage, now_ms: i64, out: &mut Vec<Outgoing>) {
        self.step(Input::Metadata { now_ms, image }, InHand::Nothing, out);
    }

    /// Decides on the produces that wait (V1 to V3).
    pub fn complete_produces(&mut self, now_ms: i64, out: &mut Vec<Outgoing>) {
        self.step(Input::CompleteProduces { now_ms }, InHand::Nothing, out);
    }

    /// Time passed: a proposal to send again, lagging followers, timeouts, in this order. What is
    /// on its way again keeps a shrink from being proposed.
    pub fn tick(&mut self, now_ms: i64, out: &mut Vec<Outgoing>) {
        self.resend_proposal(now_ms, out);
        self.check_lag(now_ms, out);
        self.expire_produces(now_ms, out);
    }

    /// Sends a proposal again that got lost, the same to the byte (R4).
    pub fn resend_proposal(&mut self, now_ms: i64, out: &mut Vec<Outgoing>) {
        self.step(Input::ResendProposal { now_ms }, InHand::Nothing, out);
    }

    /// Looks for followers that lag, and tries the high watermark (S1, X4, X5).
    pub fn check_lag(&mut self, now_ms: i64, out: &mut Vec<Outgoing>) {
        self.step(Input::CheckLag { now_ms }, InHand::Nothing, out);
    }

    /// Answers the produces that have waited long enough (V4).
    pub fn expire_produces(&mut self, now_ms: i64, out: &mut Vec<Outgoing>) {
        self.step(Input::ExpireProduces { now_ms }, InHand::Nothing, out);
    }

    /// Makes the log durable and tells the core. A failed flush counts as a failed write (D6).
    pub fn flush(&mut self, out: &mut Vec<Outgoing>) -> Result<Offset, NodeError> {
        match self.log.flush() {
            Ok(upto) => {
                self.step(Input::Flushed { upto }, InHand::Nothing, out);
                Ok(upto)
            }
            Err(error) => {
                self.append_failed(Failure(error.to_string()), out);
                Err(error.into())
            }
        }
    }

    /// Writes the high watermark to Kafka's `replication-offset-checkpoint`, durably (D1). An
    /// error does no harm: the checkpoint is a hint.
    pub fn checkpoint_hw(&mut self) -> Result<(), NodeError> {
        let partition = (self.config.topic.clone(), self.config.partition);
        let offsets = hw_file::Offsets::from([(partition, self.replica.hw())]);
        Ok(hw_file::write(self.log.disk_mut(), hw_file::HW_FILE, &offsets)?)
    }

    /// Ends this life in order (D3): everything written is flushed, then the high watermark is
    /// checkpointed, then the broker epoch of this life is left on the disk. The process may end
    /// when this has succeeded. After an error it must end too, as a life that ended uncleanly;
    /// the epoch is on the disk then only if everything before it is durable.
    pub fn shut_down(mut self) -> Result<D, NodeError> {
        if self.failure.is_some() {
            return Err(LogError::Fenced.into());
        }
        self.log.flush()?;
        self.checkpoint_hw()?;
        let epoch = self.config.replica.broker_epoch;
        shutdown_file::write(self.log.disk_mut(), epoch)?;
        Ok(self.into_disk())
    }

    /// The request with this correlation id will never be answered: its connection broke. Does
    /// nothing if no such request waits.
    pub fn lost(&mut self, id: CorrelationId, now_ms: i64, out: &mut Vec<Outgoing>) {
        let input = match self.links.sent.remove(&id) {
            None => return,
            Some(Sent::Fetch { to: from, request }) => Input::FetchLost { from, request },
            Some(Sent::AlterPartition(proposal)) => {
                let answer = replica::io::AlterPartitionAnswer::Lost;
                Input::AlterPartitionAnswer { now_ms, proposal, answer }
            }
        };
        self.step(input, InHand::Nothing, out);
    }

    /// The connections to and from this peer broke: what was sent there is lost, and what was
    /// asked from there needs no answer any more.
    pub fn disconnected(&mut self, peer: Peer, now_ms: i64, out: &mut Vec<Outgoing>) {
        self.links.asked.retain(|_, asked| asked.from != peer);
        let gone = self.links.sent.iter().filter(|(_, sent)| sent.to() == peer);
        for id in gone.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.lost(id, now_ms, out);
        }
    }

    /// Forgets a request without telling the core, which no longer waits for its answer: the
    /// metadata has moved to a newer leader epoch since. The response, if one comes, is an error.
    pub fn forget(&mut self, id: CorrelationId) {
        self.links.sent.remove(&id);
    }

    /// The configuration.
    pub fn config(&self) -> &NodeConfig {
        &self.config
    }

    /// The core.
    pub fn replica(&self) -> &Replica {
        &self.replica
    }

    /// The log.
    pub fn log(&self) -> &Log<D> {
        &self.log
    }

    /// The disk, for tests that arm a fault.
    pub fn disk_mut(&mut self) -> &mut D {
        self.log.disk_mut()
    }

    /// The same node over another disk, which must hold the same bytes: for one who wants to try
    /// something on it and leave this one as it is.
    pub fn over<E: Disk>(&self, disk: E) -> Node<E> {
        let Self { config, replica, log, links, failure, effects: _ } = self;
        Node {
            config: config.clone(),
            replica: replica.clone(),
            log: log.over(disk),
            links: links.clone(),
            failure: failure.clone(),
            effects: Vec::new(),
        }
    }

    /// Closes the node without a flush, as a crash of the process does.
    pub fn into_disk(self) -> D {
        self.log.into_disk()
    }

    /// Why the disk failed, in words; `None` while it is sound (D6).
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Requests that were sent and are not answered, by correlation id.
    pub fn sent(&self) -> impl Iterator<Item = (CorrelationId, &Sent)> {
        self.links.sent.iter().map(|(id, sent)| (*id, sent))
    }

    /// Who asked the request that the core calls by this id, while it is not answered.
    pub fn asker(&self, request: RequestId) -> Option<(Peer, CorrelationId)> {
        self.links.asked.get(&request).map(|asked| (asked.from, asked.correlation_id))
    }
}
