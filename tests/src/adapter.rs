//! Drives real brokers and a real controller by the steps of a trace.
//!
//! What is here are facts of the network and the environment, the same as in the model: who hears
//! what, in which order, what a death takes away. Every decision of the protocol is made by the
//! real code, on bytes that the real code sent. More than the lag limit passes between any two
//! steps where the clock is slow; where it is exact, in its jumps alone.

mod bag;
mod budget;
mod clients;
mod decode;
mod doomed;
mod environment;
mod fault;
mod observe;
mod route;
mod storage;
mod time;

use std::collections::VecDeque;
use std::rc::Rc;

use klog::controller::{Controller, Elr, UncleanElection};
use klog::log::LogConfig;
use klog::node::{
    ClientId, ControllerNode, ControllerOutput, Node, NodeConfig, Outgoing, Peer, Way,
};
use klog::replica::io::MetadataImage;
use klog::replica::{Config, Role};
use klog::types::{BrokerEpoch, BrokerId};
use klog::wire::TopicId;
use klog_trace::action::{CONTROLLER, Node as Id};
use klog_trace::trace::{self, Bounds, Interleaving};
use klog_trace::{
    Acks, Action, BrokerView, ClientAnswer, Connection, ControllerView, Envelope, Life, Step,
};

use bag::{Bag, Channel, InFlight, Kind};
use budget::Budget;
use clients::Clients;
pub use fault::Fault;
use route::{Answering, Taken};
pub use storage::Storage;
use time::Time;

const TOPIC: &str = "orders";
const TOPIC_ID: TopicId = TopicId([7; 16]);
const PARTITION: i32 = 0;
const CLIENT: Peer = Peer::Client(ClientId(1));

/// What a step made visible beside the states of the nodes.
#[derive(Debug, Default)]
pub struct Seen {
    /// Messages sent, in order, also those that nobody will read.
    pub sent: Vec<Envelope>,
    /// What clients were told.
    pub answers: Vec<ClientAnswer>,
    /// The follower that read the answer just sent, since it makes it do nothing but ask again.
    pub idle: Option<Id>,
    /// The brokers that can apply the metadata published in this step alone.
    pub published_to: Vec<Id>,
}

/// Who says whether an answer is read in the step that sends it, since it makes its follower do
/// nothing but ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// The trace: where it agrees with the code, so does this.
    AsTold,
    /// The real code: where it parts from the trace, the answer may be another one.
    AsFound,
}

/// A broker: a running node, or what a dead one left.
enum Process<D> {
    Up(Box<Node<D>>),
    /// Its disk, and what a recovery over a copy of it finds.
    Down(D, Box<BrokerView>),
}

struct Broker<D> {
    /// `None` only while it changes from one to the other.
    process: Option<Process<D>>,
    /// Metadata it has not read, oldest first.
    unread: VecDeque<Rc<MetadataImage>>,
    /// The image it applied last in this life.
    applied: Option<Rc<MetadataImage>>,
}

/// Brokers 1 to n, a controller, and everything in flight between them.
pub struct Cluster<D: Storage> {
    brokers: Vec<Broker<D>>,
    controller: ControllerNode,
    budget: Budget,
    interleaving: Interleaving,
    bag: Bag,
    /// Messages that were removed as doomed, and could still arrive.
    doomed: Vec<(Connection, InFlight)>,
    clients: Clients,
    time: Time,
    /// Room for what a node sends in a step; empty between steps.
    out: Vec<Outgoing>,
    controller_out: Vec<ControllerOutput>,
    home: D::Home,
}

fn config(broker: Id, life: BrokerEpoch) -> NodeConfig {
    NodeConfig {
        id: BrokerId(broker.into()),
        topic: TOPIC.to_owned(),
        topic_id: TOPIC_ID,
        partition: PARTITION,
        replica: Config::new(life),
        log: LogConfig::default(),
    }
}

impl<D: Storage> Cluster<D> {
    /// A new partition: broker 1 leads epoch 0, all are in the ISR and have applied the metadata
    /// that says so, and every follower has sent its first fetch.
    ///
    /// The bounds have at least one broker and a min ISR of at least 1.
    pub fn new(bounds: &Bounds) -> Result<Self, Fault> {
        let &Bounds { brokers, min_isr, interleaving, elr, unclean, clock, .. } = bounds;
        let home = D::home()?;
        let ids = (1..=brokers).map(|id| BrokerId(id.into())).collect();
        let elr = match elr {
            trace::Elr::On => Elr::On,
            trace::Elr::Off => Elr::Off,
        };
        let unclean = match unclean {
            trace::Unclean::Forbidden => UncleanElection::Forbidden,
            trace::Unclean::Allowed => UncleanElection::Allowed,
        };
        let controller = Controller::new(ids, min_isr.into(), elr).with_unclean_election(unclean);
        let image = Rc::new(controller.image());
        let mut cluster = Self {
            brokers: Vec::new(),
            controller: ControllerNode::new(controller, TOPIC_ID, PARTITION),
            budget: Budget::of(bounds),
            interleaving,
            bag: Bag::default(),
            doomed: Vec::new(),
            clients: Clients::new(),
            time: Time::new(clock),
            out: Vec::new(),
            controller_out: Vec::new(),
            home,
        };
        for id in 1..=brokers {
            let disk = D::fresh(&cluster.home, id)?;
            let (node, _) = Node::open(disk, config(id, BrokerEpoch(id.into())))?;
            cluster.brokers.push(Broker {
                process: Some(Process::Up(Box::new(node))),
                unread: VecDeque::from([Rc::clone(&image)]),
                applied: None,
            });
        }
        for id in 1..=brokers {
            cluster.apply_metadata(id, 1, &mut Seen::default())?;
        }
        Ok(cluster)
    }

    /// Takes one step: the action and, where steps are merged, the reading of an answer that makes
    /// its follower do nothing but ask again. What the step discards is left for
    /// [`Cluster::discard`].
    pub fn apply(&mut self, step: &Step, idle: Idle) -> Result<Seen, Fault> {
        self.time.begin_step();
        self.budget.spend(step.action)?;
        let mut seen = Seen::default();
        self.act(step.action, &mut seen)?;
        let reads = match idle {
            Idle::AsTold => step.idle.is_some(),
            Idle::AsFound => {
                self.interleaving == Interleaving::Merged && self.is_idle(step.action)?
            }
        };
        if reads {
            self.read_idle_answer(step.action, &mut seen)?;
        }
        self.publish(&mut seen)?;
        Ok(seen)
    }

    fn act(&mut self, action: Action, seen: &mut Seen) -> Result<(), Fault> {
        match action {
            Action::Produce { broker, acks } => self.produce(broker, acks, seen),
            Action::DeliverFetch { from, to, connection } => {
                self.deliver((from, to, connection, Kind::Fetch), seen)
            }
            Action::DeliverFetchAnswer { from, to } => {
                self.deliver((from, to, Connection::Open, Kind::FetchAnswer), seen)
            }
            Action::Verdict { broker } => {
                let now_ms = self.time.now_ms();
                self.with_node(broker, seen, |node, out| {
                    node.complete_produces(now_ms, out);
                })
            }
            Action::ApplyMetadata { broker, records } => self.apply_metadata(broker, records, seen),
            Action::LagCheck { broker } | Action::Tick { broker } => {
                self.time.check(action)?;
                let now_ms = self.time.now_ms();
                self.with_node(broker, seen, |node, out| node.check_lag(now_ms, out))
            }
            Action::Resend { broker } => {
                let now_ms = self.time.now_ms();
                self.with_node(broker, seen, |node, out| node.resend_proposal(now_ms, out))
            }
            Action::TimeOut { broker } => {
                // However the clock was set, they have waited long enough.
                self.with_node(broker, seen, |node, out| node.expire_produces(i64::MAX, out))
            }
            Action::DeliverAlterPartition { from, connection } => {
                self.deliver((from, CONTROLLER, connection, Kind::AlterPartition), seen)
            }
            Action::DeliverAlterPartitionAnswer { to } => {
                let kind = Kind::AlterPartitionAnswer;
                self.deliver((CONTROLLER, to, Connection::Open, kind), seen)
            }
            Action::Crash { broker } => self.die(broker, None),
            Action::PowerLoss { broker, keep } => self.die(broker, Some(keep)),
            Action::Restart { broker } => self.restart(broker),
            Action::Stop { broker } => self.stop(broker),
            Action::Reset { one, other } => self.reset(one, other, seen),
            Action::Fence { broker } => self.fence(broker, Alive::No),
            Action::FenceRunning { broker } => self.fence(broker, Alive::Yes),
            Action::ShutDown { broker } => self.shut_down(broker),
            Action::ChangeMinIsr { to } => self.change_min_isr(to),
            Action::Truncate { broker } => Err(Fault::not_enabled(format!(
                "b{broker} has cut its log already: here a cut is no step of its own"
            ))),
            Action::ClockJump | Action::ClockSetback => self.time.take(action),
            Action::Unfence { broker } => self.unfence(broker),
            Action::Move { to } => self.move_leader(to),
            Action::Checkpoint { broker } => self.node(broker)?.checkpoint_hw().map_err(Into::into),
        }
    }

    fn produce(&mut self, broker: Id, acks: Acks, seen: &mut Seen) -> Result<(), Fault> {
        self.budget.check_produce(self.clients.produced(), acks)?;
        let now_ms = self.time.now_ms();
        let node = self.node(broker)?;
        if !matches!(node.replica().role(), Role::Leader(_)) {
            return Err(Fault::not_enabled(format!(
                "b{broker} does not lead, so no client asks it"
            )));
        }
        let sending = self.clients.send(acks)?;
        let mut out = std::mem::take(&mut self.out);
        let node = self.node(broker)?;
        let before = node.replica().leo();
        node.receive(CLIENT, Way::Request, &sending.frame, now_ms, &mut out)?;
        let appended = (node.replica().leo() > before).then_some(before);
        self.clients.taken(broker, &sending, appended)?;
        self.route(broker, &mut out, None, seen)?;
        self.out = out;
        Ok(())
    }

    /// Delivers the oldest message of a line.
    fn deliver(
        &mut self,
        (from, to, connection, kind): (Id, Id, Connection, Kind),
        seen: &mut Seen,
    ) -> Result<(), Fault> {
        let channel = Channel { from, to, connection, kind };
        let nothing = || {
            let name = kind.name();
            Fault::not_enabled(format!("no {name} is on its way from b{from} to b{to}"))
        };
        let message = self.bag.pop(channel).ok_or_else(nothing)?;
        match kind {
            Kind::Fetch | Kind::FetchAnswer | Kind::AlterPartitionAnswer => {
                let mut out = std::mem::take(&mut self.out);
                let now_ms = self.time.now_ms();
                self.node(to)?.take(&message, now_ms, &mut out)?;
                let answering = Answering { request: &message, connection };
                self.route(to, &mut out, Some(answering), seen)?;
                self.out = out;
            }
            Kind::AlterPartition => {
                let mut out = std::mem::take(&mut self.controller_out);
                let sender = BrokerId(from.into());
                self.controller.receive(sender, &message.frame, &mut out)?;
                self.controller_out = out;
                let answering = Answering { request: &message, connection };
                self.route_controller_answer(answering, seen)?;
            }
        }
        Ok(())
    }

    /// Reads the answer just sent at once. That its follower does nothing but ask again is seen
    /// in the comparison after the step, in which it has not changed and has sent one fetch.
    fn read_idle_answer(&mut self, action: Action, seen: &mut Seen) -> Result<(), Fault> {
        let channel = answered_on(action).filter(|channel| self.bag.only(*channel).is_some());
        let nothing = || Fault::not_enabled("there is no answer to read at once");
        let Channel { from, to, connection, kind } = channel.ok_or_else(nothing)?;
        seen.idle = Some(to);
        self.deliver((from, to, connection, kind), seen)
    }

    /// Whether the follower does nothing but ask again when it reads the answer just sent. Tried
    /// out on a twin.
    fn is_idle(&self, action: Action) -> Result<bool, Fault> {
        let Some(channel) = answered_on(action) else { return Ok(false) };
        let Some(answer) = self.bag.only(channel) else { return Ok(false) };
        let leader = Peer::Broker(BrokerId(channel.from.into()));
        match self.take_in_twin(answer).as_deref() {
            Ok([Outgoing::Frame { to, way: Way::Request, .. }]) => Ok(*to == leader),
            Ok(_) | Err(Fault::Hidden(_)) => Ok(false),
            Err(fault) => Err(fault.clone()),
        }
    }

    /// Runs a node that is up, and carries what it sends.
    fn with_node(
        &mut self,
        broker: Id,
        seen: &mut Seen,
        run: impl FnOnce(&mut Node<D>, &mut Vec<Outgoing>),
    ) -> Result<(), Fault> {
        let mut out = std::mem::take(&mut self.out);
        run(self.node(broker)?, &mut out);
        self.route(broker, &mut out, None, seen)?;
        self.out = out;
        Ok(())
    }

    fn broker(&mut self, id: Id) -> &mut Broker<D> {
        &mut self.brokers[usize::from(id) - 1]
    }

    /// The node of a broker that is up.
    fn node(&mut self, id: Id) -> Result<&mut Node<D>, Fault> {
        match &mut self.broker(id).process {
            Some(Process::Up(node)) => Ok(node),
            _ => Err(Fault::not_enabled(format!("b{id} is down"))),
        }
    }

    fn is_up(&self, id: Id) -> bool {
        let broker = &self.brokers[usize::from(id) - 1];
        matches!(broker.process, Some(Process::Up(_)))
    }

    /// How many brokers there are.
    pub fn brokers(&self) -> Id {
        self.brokers.len() as Id
    }

    /// The complete state of a broker.
    pub fn observe(&self, id: Id) -> Result<BrokerView, Fault> {
        let broker = &self.brokers[usize::from(id) - 1];
        match &broker.process {
            Some(Process::Up(node)) => {
                let image = broker.applied.as_deref();
                observe::broker_view(node, image, self.time.exact_ms()).map_err(|fault| match fault
                {
                    Fault::Hidden(what) => Fault::Hidden(format!("b{id}: {what}")),
                    other => other,
                })
            }
            Some(Process::Down(_, view)) => Ok(BrokerView::clone(view)),
            None => Err(Fault::Internal(format!("b{id} was lost in a failed step"))),
        }
    }

    /// The complete state of the controller.
    pub fn observe_controller(&self) -> Result<ControllerView, Fault> {
        observe::controller_view(&self.controller)
    }

    /// Every message in flight.
    pub fn in_flight(&self) -> impl Iterator<Item = &Envelope> {
        self.bag.messages().map(|message| &message.envelope)
    }
}

/// The line on which the answer to a delivered fetch goes.
fn answered_on(action: Action) -> Option<Channel> {
    let Action::DeliverFetch { from, to, .. } = action else { return None };
    let (from, to) = (to, from);
    Some(Channel { from, to, connection: Connection::Open, kind: Kind::FetchAnswer })
}

/// Whether a broker's process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alive {
    Yes,
    No,
}

/// Whether a broker that died lost anything.
fn life_after(keep: Option<u8>) -> Life {
    if keep.is_some() { Life::PowerLost } else { Life::Crashed }
}
