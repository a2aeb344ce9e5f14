//! Brokers, a controller and the links between them, in one process and one thread.
//!
//! Frames wait in their link until the demo delivers them, so that it decides what happens first,
//! what never arrives, and who is dead by then.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use super::answers::{Produced, Shipped, body, produced, shipped};
use super::claims::DemoError;
use crate::controller::{Controller, ControllerInput, Elr};
use crate::disk::FsDisk;
use crate::log::LogConfig;
use crate::log::batch::{self, NewRecord};
use crate::node::{
    ClientId, ControllerNode, ControllerOutput, Node, NodeConfig, Outgoing, Peer, Way,
    take_clean_shutdown,
};
use crate::replica;
use crate::replica::io::MetadataImage;
use crate::types::{BrokerEpoch, BrokerId, Offset};
use crate::wire::{self, CorrelationId, TopicId};

/// The topic, of one partition.
pub(super) const TOPIC: &str = "orders";
/// The topic in Fetch and AlterPartition.
const TOPIC_ID: TopicId = TopicId(*b"kaen-log demo id");
const PARTITION: i32 = 0;
const CLIENT: Peer = Peer::Client(ClientId(0));

/// The two brokers of most scenes.
pub(super) const ONE: BrokerId = BrokerId(1);
/// See [`ONE`].
pub(super) const TWO: BrokerId = BrokerId(2);

/// Whether the answer to a fetch arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Arrives,
    IsLost,
}

/// When a broker decides on the produces that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdicts {
    /// After each step, as a server does.
    AfterEachStep,
    /// When the demo says so.
    HeldBack,
}

/// Frames under way, oldest first.
type Link = VecDeque<(Way, Vec<u8>)>;

/// One cluster.
pub(super) struct Stage {
    root: PathBuf,
    now_ms: i64,
    controller: ControllerNode,
    nodes: BTreeMap<BrokerId, Node<FsDisk>>,
    /// Frames under way, by sender and receiver.
    links: BTreeMap<(Peer, Peer), Link>,
    /// When verdicts fall.
    pub verdicts: Verdicts,
    /// Answers that producers got.
    pub answered: Vec<Produced>,
}

impl Stage {
    /// A new cluster of these brokers with logs under `root`. All are in the ISR, the first leads
    /// epoch 0, and each follower has a fetch under way.
    pub fn open(
        root: &Path,
        brokers: &[i32],
        min_isr: u32,
        now_ms: i64,
    ) -> Result<Self, DemoError> {
        let replicas = brokers.iter().map(|id| BrokerId(*id)).collect();
        let controller = Controller::new(replicas, min_isr, Elr::On);
        let mut stage = Self {
            root: root.to_owned(),
            now_ms,
            controller: ControllerNode::new(controller, TOPIC_ID, PARTITION),
            nodes: BTreeMap::new(),
            links: BTreeMap::new(),
            verdicts: Verdicts::AfterEachStep,
            answered: Vec::new(),
        };
        let image = stage.controller.controller().image();
        for (&id, broker) in &image.brokers {
            stage.open_node(id, broker.epoch)?;
        }
        stage.spread(&image)?;
        Ok(stage)
    }

    fn open_node(&mut self, id: BrokerId, epoch: BrokerEpoch) -> Result<(), DemoError> {
        let config = NodeConfig {
            id,
            topic: TOPIC.to_owned(),
            topic_id: TOPIC_ID,
            partition: PARTITION,
            replica: replica::Config::new(epoch),
            log: LogConfig::default(),
        };
        let disk = FsDisk::open(self.dir_of(id))?;
        let (node, _recovery) = Node::open(disk, config)?;
        self.nodes.insert(id, node);
        Ok(())
    }

    /// The directory of a broker's log.
    pub fn dir_of(&self, id: BrokerId) -> PathBuf {
        self.root.join(format!("broker-{id}")).join(format!("{TOPIC}-{PARTITION}"))
    }

    /// A broker that runs.
    pub fn node(&self, id: BrokerId) -> &Node<FsDisk> {
        &self.nodes[&id]
    }

    /// Log end offset and high watermark of a broker that runs.
    pub fn position(&self, id: BrokerId) -> (Offset, Offset) {
        let replica = self.node(id).replica();
        (replica.leo(), replica.hw())
    }

    /// The controller's word on the partition.
    pub fn isr(&self) -> Vec<i32> {
        super::report::plain(self.controller.controller().partition().isr.iter().copied())
    }

    /// Time moves on.
    pub fn set_now(&mut self, now_ms: i64) {
        self.now_ms = now_ms;
    }

    /// Gives an image to every broker that runs.
    fn spread(&mut self, image: &MetadataImage) -> Result<(), DemoError> {
        let ids: Vec<BrokerId> = self.nodes.keys().copied().collect();
        for id in ids {
            self.run(id, |node, now_ms, out| {
                node.metadata(image.clone(), now_ms, out);
            })?;
        }
        Ok(())
    }

    /// One step of a broker, then the verdicts on what waits, unless they are held back. A broker
    /// whose disk failed goes on without its log, but nothing that a scene shows would be true.
    fn run(
        &mut self,
        id: BrokerId,
        step: impl FnOnce(&mut Node<FsDisk>, i64, &mut Vec<Outgoing>),
    ) -> Result<(), DemoError> {
        let Some(node) = self.nodes.get_mut(&id) else {
            return Ok(());
        };
        let mut out = Vec::new();
        step(node, self.now_ms, &mut out);
        if self.verdicts == Verdicts::AfterEachStep {
            node.complete_produces(self.now_ms, &mut out);
        }
        if let Some(reason) = node.failure() {
            return Err(DemoError::Failed { broker: id, reason: reason.to_owned() });
        }
        self.send(Peer::Broker(id), out);
        Ok(())
    }

    fn send(&mut self, from: Peer, out: Vec<Outgoing>) {
        for outgoing in out {
            match outgoing {
                Outgoing::Frame { to: CLIENT, bytes, .. } => self.answered.extend(produced(&bytes)),
                Outgoing::Frame { to, way, bytes } => {
                    self.links.entry((from, to)).or_default().push_back((way, bytes));
                }
                Outgoing::Close { .. } => {}
            }
        }
    }

    /// Sends one record to a broker; the answer, if it came at once.
    pub fn produce(
        &mut self,
        to: BrokerId,
        value: &str,
        acks: i16,
    ) -> Result<Option<Produced>, DemoError> {
        let record = NewRecord {
            value: Some(value.as_bytes()),
            timestamp: self.now_ms,
            ..NewRecord::default()
        };
        let batch = batch::build(&[record]).expect("one small record makes a batch");
        let partitions =
            vec![wire::ProducePartition { partition: PARTITION, records: Some(&batch) }];
        let request = wire::ProduceRequest {
            transactional_id: None,
            acks,
            timeout_ms: 30_000,
            topics: vec![wire::ProduceTopic { name: TOPIC, partitions }],
        };
        let mut frame = Vec::new();
        wire::encode_request(&mut frame, CorrelationId(0), Some("demo"), &request);
        let before = self.answered.len();
        self.receive(to, CLIENT, Way::Request, &frame)?;
        Ok(self.answered.get(before).copied())
    }

    /// Asks a broker where an epoch ends, as a follower would in a frame of its own.
    pub fn end_offset(
        &mut self,
        to: BrokerId,
        epoch: i32,
    ) -> Result<Option<wire::EpochEnd>, DemoError> {
        let partitions = vec![wire::AskedEpoch {
            partition: PARTITION,
            current_leader_epoch: None,
            leader_epoch: Some(crate::types::Epoch(epoch)),
        }];
        let topics = vec![wire::AskedTopic { topic: TOPIC, partitions }];
        let request = wire::OffsetForLeaderEpochRequest { replica_id: None, topics };
        let mut frame = Vec::new();
        wire::encode_request(&mut frame, CorrelationId(0), Some("demo"), &request);
        let Some(node) = self.nodes.get_mut(&to) else {
            return Ok(None);
        };
        let mut out = Vec::new();
        node.receive(CLIENT, Way::Request, &frame, self.now_ms, &mut out)?;
        let Some(Outgoing::Frame { bytes, .. }) = out.pop() else {
            return Ok(None);
        };
        let response = body::<wire::OffsetForLeaderEpochResponse<'_>>(&bytes);
        Ok(response.topics[0].partitions[0].end)
    }

    fn receive(
        &mut self,
        to: BrokerId,
        from: Peer,
        way: Way,
        frame: &[u8],
    ) -> Result<(), DemoError> {
        let mut result = Ok(());
        self.run(to, |node, now_ms, out| {
            result = node.receive(from, way, frame, now_ms, out);
        })?;
        Ok(result?)
    }

    /// Delivers the fetch that `follower` has under way to `leader`, then the answer.
    pub fn fetch(
        &mut self,
        follower: BrokerId,
        leader: BrokerId,
        answer: Answer,
    ) -> Result<Shipped, DemoError> {
        let (there, back) = (Peer::Broker(leader), Peer::Broker(follower));
        let nothing = Shipped { records: 0, hw: None };
        let Some(request) = self.take(back, there, Way::Request) else {
            return Ok(nothing);
        };
        self.receive(leader, back, Way::Request, &request)?;
        let Some(response) = self.take(there, back, Way::Response) else {
            return Ok(nothing);
        };
        if answer == Answer::Arrives {
            self.receive(follower, there, Way::Response, &response)?;
        }
        Ok(shipped(&response))
    }

    fn take(&mut self, from: Peer, to: Peer, way: Way) -> Option<Vec<u8>> {
        let link = self.links.get_mut(&(from, to))?;
        let at = link.iter().position(|(sent, _)| *sent == way)?;
        link.remove(at).map(|(_, frame)| frame)
    }

    /// A broker looks at the clock. Its ISR change, if it wants one, goes to the controller and
    /// the answer comes back.
    pub fn tick(&mut self, id: BrokerId) -> Result<(), DemoError> {
        self.run(id, Node::tick)?;
        while let Some(frame) = self.take(Peer::Broker(id), Peer::Controller, Way::Request) {
            let mut out = Vec::new();
            self.controller.receive(id, &frame, &mut out)?;
            self.carry_out(out)?;
            while let Some(answer) = self.take(Peer::Controller, Peer::Broker(id), Way::Response) {
                self.receive(id, Peer::Controller, Way::Response, &answer)?;
            }
        }
        Ok(())
    }

    /// The controller takes something in; whatever follows reaches every broker.
    pub fn control(&mut self, input: ControllerInput) -> Result<(), DemoError> {
        let mut out = Vec::new();
        self.controller.step(input, &mut out);
        self.carry_out(out)
    }

    /// A broker shows the controller that it lives.
    pub fn heartbeat(&mut self, broker: BrokerId) -> Result<(), DemoError> {
        let (now_ms, epoch) = (self.now_ms, self.life_of(broker));
        self.control(ControllerInput::Heartbeat { now_ms, broker, epoch })
    }

    /// A broker has caught up with the metadata and may serve again.
    pub fn unfence(&mut self, broker: BrokerId) -> Result<(), DemoError> {
        let epoch = self.life_of(broker);
        self.control(ControllerInput::Unfence { broker, epoch })
    }

    fn life_of(&self, broker: BrokerId) -> BrokerEpoch {
        self.node(broker).config().replica.broker_epoch
    }

    fn carry_out(&mut self, outputs: Vec<ControllerOutput>) -> Result<(), DemoError> {
        for output in outputs {
            match output {
                ControllerOutput::Send(outgoing) => self.send(Peer::Controller, vec![outgoing]),
                ControllerOutput::Metadata(image) => self.spread(&image)?,
                ControllerOutput::Registered { broker, epoch } => self.open_node(broker, epoch)?,
                ControllerOutput::LeaderMove { .. }
                | ControllerOutput::RegistrationRefused { .. } => {}
            }
        }
        Ok(())
    }

    /// The process of a broker dies; what it wrote stays. Frames from it and to it are gone.
    pub fn kill(&mut self, id: BrokerId) -> Result<(), DemoError> {
        self.nodes.remove(&id);
        let gone = Peer::Broker(id);
        self.links.retain(|(from, to), _| *from != gone && *to != gone);
        let peers: Vec<BrokerId> = self.nodes.keys().copied().collect();
        for peer in peers {
            self.run(peer, |node, now_ms, out| {
                node.disconnected(gone, now_ms, out);
            })?;
        }
        Ok(())
    }

    /// A broker that was killed starts again and registers. What it says of the life before is
    /// what that one left on the disk.
    pub fn register(&mut self, broker: BrokerId) -> Result<(), DemoError> {
        let mut disk = FsDisk::open(self.dir_of(broker))?;
        let clean_shutdown = take_clean_shutdown(&mut disk)?;
        self.control(ControllerInput::Register { broker, clean_shutdown })
    }

    /// A broker that was killed is back before its session has ended, and nobody has noticed: it
    /// goes on in the life it was registered with, as brokers did in the releases that KIP-101
    /// speaks of.
    pub fn resume(&mut self, broker: BrokerId) -> Result<(), DemoError> {
        let image = self.controller.controller().image();
        self.open_node(broker, image.brokers[&broker].epoch)?;
        self.run(broker, |node, now_ms, out| node.metadata(image, now_ms, out))
    }

    /// A broker writes its checkpoint of the high watermark.
    pub fn checkpoint(&mut self, id: BrokerId) -> Result<(), DemoError> {
        if let Some(node) = self.nodes.get_mut(&id) {
            node.checkpoint_hw()?;
        }
        Ok(())
    }

    /// The values of a broker's records, in order.
    pub fn values(&self, id: BrokerId) -> Result<Vec<String>, DemoError> {
        let log = self.node(id).log();
        let mut values = Vec::new();
        log.for_each_record(log.start(), log.leo(), |_, record| {
            values.push(String::from_utf8_lossy(record.value.unwrap_or_default()).into_owned());
        })
        .map_err(crate::node::NodeError::from)?;
        Ok(values)
    }
}
