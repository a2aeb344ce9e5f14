//! A few replicas, a controller, and a script that decides which message arrives when.
//!
//! Every effect is executed on a plain list of records, and after each step the list must have the
//! shape the core believes in: so a missing or misplaced effect shows at once.

use crate::controller::{Controller, ControllerEffect, ControllerInput, Elr};
use crate::replica::io::{
    AlterPartitionAnswer, AlterPartitionRequest, BatchShape, Effect, FetchAnswer, FetchRequest,
    Input, LogShape, MetadataImage, ReadRange, RequestId,
};
use crate::replica::{Config, Leader, Replica};
use crate::types::{BrokerId, Epoch, ErrorCode, Offset};
use std::collections::BTreeMap;

/// Time at the begin of each script.
pub const T0: i64 = 1_700_000_000_000;

/// A record: its epoch and the produce it came with.
pub type Record = (Epoch, u64);

/// The answer to a fetch, on its way.
#[derive(Clone, Debug)]
pub struct Reply {
    pub from: i32,
    pub request: FetchRequest,
    pub answer: FetchAnswer,
    pub records: Vec<Record>,
}

/// One broker: the core and what its effects have written.
#[derive(Debug)]
pub struct Node {
    pub replica: Replica,
    pub start: u64,
    pub records: Vec<Record>,
    stored_epochs: Vec<(Epoch, Offset)>,
    /// The newest fetch it sent, and to whom.
    pub fetch: Option<(i32, FetchRequest)>,
    pub fetches_sent: usize,
    /// What a leader answered and it has not read yet.
    pub reply: Option<Reply>,
}

/// All of them.
pub struct World {
    pub now: i64,
    pub controller: Controller,
    pub nodes: BTreeMap<i32, Node>,
    pub images: Vec<MetadataImage>,
    /// Sent to the controller and not read yet, oldest first.
    pub proposals: Vec<AlterPartitionRequest>,
    /// Answered by the controller and not read yet, oldest first.
    pub decisions: Vec<(AlterPartitionRequest, AlterPartitionAnswer)>,
    /// Produces answered so far.
    pub answered: BTreeMap<u64, (ErrorCode, Option<Offset>)>,
    last_request: u64,
}

/// What a reader was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    pub error: ErrorCode,
    pub hw: Option<Offset>,
    pub log_start: Option<Offset>,
    pub diverging: Option<(Epoch, Offset)>,
    pub read: Option<ReadRange>,
}

impl World {
    /// Brokers 1 to `brokers`, all in the ISR; 1 leads in epoch 0; all have applied that.
    pub fn new(brokers: i32, min_isr: u32) -> Self {
        Self::with_elr(brokers, min_isr, Elr::On)
    }

    pub fn with_elr(brokers: i32, min_isr: u32, elr: Elr) -> Self {
        Self::under(Controller::new((1..=brokers).map(BrokerId).collect(), min_isr, elr))
    }

    pub fn under(controller: Controller) -> Self {
        let brokers: Vec<i32> = controller.brokers().keys().map(|id| id.0).collect();
        let mut world = Self {
            now: T0,
            images: vec![controller.image()],
            controller,
            nodes: BTreeMap::new(),
            proposals: vec![],
            decisions: vec![],
            answered: BTreeMap::new(),
            last_request: 0,
        };
        for id in brokers {
            world.start(id, &[], 0);
            world.apply(id);
        }
        world
    }

    /// A broker starts with these records and this high watermark, in its newest registered life.
    pub fn start(&mut self, id: i32, records: &[Record], hw: u64) {
        let mut epochs: Vec<(Epoch, Offset)> = vec![];
        for (&(epoch, _), at) in records.iter().zip(0..) {
            if epochs.last().is_none_or(|last| last.0 != epoch) {
                epochs.push((epoch, Offset(at)));
            }
        }
        let (stored_epochs, leo) = (epochs.clone(), Offset(records.len() as u64));
        let life = self.controller.brokers()[&BrokerId(id)].epoch;
        let shape = LogShape { start: Offset(0), leo, epochs };
        let replica = Replica::restore(BrokerId(id), Config::new(life), shape, Some(Offset(hw)));
        let records = records.to_vec();
        let node = Node {
            replica,
            start: 0,
            records,
            stored_epochs,
            fetch: None,
            fetches_sent: 0,
            reply: None,
        };
        self.nodes.insert(id, node);
    }

    /// The process of a broker ends and starts again; everything written is still there.
    pub fn restart(&mut self, id: i32) {
        let node = &self.nodes[&id];
        let (records, hw) = (node.records.clone(), node.replica.hw().0);
        self.start(id, &records, hw);
    }

    /// The process of a broker dies, its session ends, and it comes back in a new life, fenced.
    pub fn crash(&mut self, id: i32) {
        self.fence(id);
        let (broker, clean_shutdown) = (BrokerId(id), None);
        self.control(ControllerInput::Register { broker, clean_shutdown });
        self.restart(id);
    }

    pub fn unfence(&mut self, id: i32) {
        let broker = BrokerId(id);
        let epoch = self.controller.brokers()[&broker].epoch;
        self.control(ControllerInput::Unfence { broker, epoch });
    }

    pub fn node(&self, id: i32) -> &Node {
        &self.nodes[&id]
    }

    pub fn leader(&self, id: i32) -> &Leader {
        self.nodes[&id].replica.leader().expect("it leads")
    }

    /// LEO and high watermark.
    pub fn at(&self, id: i32) -> (u64, u64) {
        let replica = &self.nodes[&id].replica;
        (replica.leo().0, replica.hw().0)
    }

    /// One step of one core, its effects executed. Returns them.
    pub fn step(&mut self, id: i32, input: Input) -> Vec<Effect> {
        let mut effects = vec![];
        let in_hand = match &input {
            Input::FetchAnswer { .. } => self.nodes.get_mut(&id).expect("a broker").reply.take(),
            _ => None,
        };
        self.nodes.get_mut(&id).expect("a broker").replica.step(input, &mut effects);
        for effect in &effects {
            self.execute(id, effect, in_hand.as_ref());
        }
        let node = &self.nodes[&id];
        let log = node.replica.log();
        let leo = node.start + node.records.len() as u64;
        assert_eq!((log.start.0, log.leo.0), (node.start, leo), "{effects:?}");
        assert_eq!(log.epochs.entries(), node.stored_epochs, "{effects:?}");
        let leads = node.replica.leader().is_some();
        for (&(epoch, _), at) in node.records.iter().zip(node.start..) {
            assert_eq!(log.epochs.epoch_for_offset(Offset(at)), Some(epoch), "leads: {leads}");
        }
        effects
    }

    fn execute(&mut self, id: i32, effect: &Effect, in_hand: Option<&Reply>) {
        let node = self.nodes.get_mut(&id).expect("a broker");
        match effect {
            Effect::Append { request, base, epoch } => {
                assert_eq!(base.0, node.start + node.records.len() as u64);
                node.records.push((*epoch, request.0));
            }
            Effect::AppendReplicated { batches } => {
                let reply = in_hand.expect("an answer in hand");
                for batch in batches {
                    assert_eq!(batch.base.0, node.start + node.records.len() as u64);
                    let from = (batch.base.0 - reply.request.offset.0) as usize;
                    let count = (batch.next.0 - batch.base.0) as usize;
                    node.records.extend(&reply.records[from..from + count]);
                }
            }
            Effect::Truncate { to } => node.records.truncate((to.0 - node.start) as usize),
            Effect::TruncateFully { start_at } => {
                node.records.clear();
                node.start = start_at.0;
            }
            Effect::AdvanceLogStart { to } => {
                node.records.drain(..(to.0 - node.start) as usize);
                node.start = to.0;
            }
            Effect::StoreEpochs { entries, .. } => node.stored_epochs.clone_from(entries),
            Effect::SendFetch { to, fetch } => {
                node.fetch = Some((to.0, *fetch));
                node.fetches_sent += 1;
            }
            Effect::AnswerProduce { request, error, base_offset } => {
                let twice = self.answered.insert(request.0, (*error, *base_offset));
                assert_eq!(twice, None, "answered twice");
            }
            Effect::SendAlterPartition(proposal) => self.proposals.push(proposal.clone()),
            Effect::AnswerFetch { .. }
            | Effect::AnswerEndOffset { .. }
            | Effect::AnswerListOffset { .. } => {}
        }
    }

    /// One step of the controller; images and answers are kept.
    pub fn control(&mut self, input: ControllerInput) -> Vec<ControllerEffect> {
        let mut effects = vec![];
        self.controller.step(input, &mut effects);
        for effect in &effects {
            match effect {
                ControllerEffect::Metadata(image) => self.images.push(image.clone()),
                ControllerEffect::AnswerAlterPartition { proposal, answer, .. } => {
                    self.decisions.push((proposal.clone(), answer.clone()));
                }
                ControllerEffect::Registered { .. }
                | ControllerEffect::RegistrationRefused { .. }
                | ControllerEffect::AnswerMoveLeader { .. } => {}
            }
        }
        effects
    }

    pub fn move_leader(&mut self, to: i32) {
        self.control(ControllerInput::MoveLeader { to: BrokerId(to) });
    }

    pub fn fence(&mut self, id: i32) {
        self.control(ControllerInput::SessionExpired { broker: BrokerId(id) });
    }

    /// A broker applies the newest image, skipping any it has not seen (M6).
    pub fn apply(&mut self, id: i32) -> Vec<Effect> {
        let newest = self.images.len() - 1;
        self.apply_image(id, newest)
    }

    pub fn apply_image(&mut self, id: i32, nth: usize) -> Vec<Effect> {
        let image = self.images[nth].clone();
        self.step(id, Input::Metadata { now_ms: self.now, image })
    }

    /// A produce of one record that may wait two minutes; returns its request.
    pub fn produce(&mut self, id: i32, acks: i16) -> u64 {
        self.last_request += 1;
        let (now_ms, request) = (self.now, RequestId(self.last_request));
        let produce = Input::Produce { now_ms, request, acks, records: 1, timeout_ms: 120_000 };
        self.step(id, produce);
        self.last_request
    }

    /// The verdict step; what is answered is in `answered`.
    pub fn complete(&mut self, id: i32) {
        self.step(id, Input::CompleteProduces { now_ms: self.now });
    }

    pub fn error_of(&mut self, id: i32, request: u64) -> Option<ErrorCode> {
        self.complete(id);
        self.answered.get(&request).map(|answer| answer.0)
    }

    /// All that time does, in the order a shell takes it.
    pub fn tick(&mut self, id: i32) -> Vec<Effect> {
        let now_ms = self.now;
        let inputs = [
            Input::ResendProposal { now_ms },
            Input::CheckLag { now_ms },
            Input::ExpireProduces { now_ms },
        ];
        inputs.into_iter().flat_map(|input| self.step(id, input)).collect()
    }

    /// A fetch arrives at a broker.
    pub fn ask(&mut self, id: i32, fetch: FetchRequest) -> Told {
        self.last_request += 1;
        let request = RequestId(self.last_request);
        let effects = self.step(id, Input::Fetch { now_ms: self.now, request, fetch });
        told(&effects)
    }

    /// A consumer's fetch, with nothing said of epochs.
    pub fn consume(&mut self, id: i32, offset: u64) -> Told {
        let fetch = FetchRequest {
            replica_id: None,
            broker_epoch: None,
            current_epoch: None,
            offset: Offset(offset),
            last_fetched_epoch: None,
            log_start: Offset(0),
            max_bytes: 1 << 20,
        };
        self.ask(id, fetch)
    }

    /// The fetch a follower has sent arrives; the answer is on its way back.
    pub fn deliver_fetch(&mut self, follower: i32) -> Told {
        let (to, request) = self.nodes.get_mut(&follower).unwrap().fetch.take().expect("a fetch");
        let told = self.ask(to, request);
        let leader = &self.nodes[&to];
        let range = told.read.map_or(0..0, |r| r.from.0..r.upto.0);
        let records: Vec<Record> =
            range.clone().map(|at| leader.records[(at - leader.start) as usize]).collect();
        let shape = |(&(epoch, _), at): (&Record, u64)| BatchShape {
            base: Offset(at),
            next: Offset(at + 1),
            epoch,
        };
        let batches = records.iter().zip(range).map(shape).collect();
        let Told { error, hw, log_start, diverging, .. } = told;
        let answer = FetchAnswer { error, hw, log_start, diverging, batches };
        let reply = Some(Reply { from: to, request, answer, records });
        self.nodes.get_mut(&follower).unwrap().reply = reply;
        told
    }

    /// A follower reads the answer that has come back.
    pub fn deliver_reply(&mut self, follower: i32) -> Vec<Effect> {
        let reply = self.nodes[&follower].reply.clone().expect("an answer");
        let Reply { from, request, answer, .. } = reply;
        let (now_ms, from) = (self.now, BrokerId(from));
        self.step(follower, Input::FetchAnswer { now_ms, from, request, answer })
    }

    /// A whole round of a follower.
    pub fn round(&mut self, follower: i32) -> Told {
        let told = self.deliver_fetch(follower);
        self.deliver_reply(follower);
        told
    }

    /// The controller reads the oldest proposal.
    pub fn decide(&mut self) {
        let request = self.proposals.remove(0);
        self.control(ControllerInput::AlterPartition { from: request.broker, request });
    }

    /// The leader reads the oldest decision.
    pub fn hear(&mut self, leader: i32) -> AlterPartitionAnswer {
        let (proposal, answer) = self.decisions.remove(0);
        self.hear_of(leader, proposal, answer.clone());
        answer
    }

    pub fn hear_of(
        &mut self,
        leader: i32,
        proposal: AlterPartitionRequest,
        answer: AlterPartitionAnswer,
    ) -> Vec<Effect> {
        let now_ms = self.now;
        self.step(leader, Input::AlterPartitionAnswer { now_ms, proposal, answer })
    }

    /// A laggard is taken out of the ISR: proposed, decided, heard.
    pub fn shrink(&mut self, leader: i32) {
        self.now += 30_001;
        self.tick(leader);
        self.decide();
        self.hear(leader);
    }
}

/// The answer to the fetch among these effects.
pub fn told(effects: &[Effect]) -> Told {
    let answer = |effect: &Effect| match *effect {
        Effect::AnswerFetch { error, hw, log_start, diverging, read, .. } => {
            Some(Told { error, hw, log_start, diverging, read })
        }
        _ => None,
    };
    effects.iter().find_map(answer).expect("each fetch is answered")
}
