//! The actors: brokers, the controller and the clients, as one stateright [`Actor`].
//!
//! An actor's reaction is a function of its own state and one event; nothing else is read and
//! nothing else is written. Who may do what, and what is in flight, is the system's affair
//! ([`crate::system`]).

use std::borrow::Cow;
use std::sync::Arc;

use klog_trace::action::{Acks, Node};
use klog_trace::trace::Clock;
use klog_trace::view::Policy;
use klog_trace::{BrokerView, ClientAnswer, ControllerView, Image, Message};
use serde::{Deserialize, Serialize};
use stateright::actor::{Actor, Id, Out};

use crate::rules::Rules;
use crate::{broker, client, controller};

/// What reaches an actor: a message of a peer, or an event of its environment.
#[expect(missing_docs, reason = "the fields are said in their variant's sentence")]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A message between nodes.
    Peer(Arc<Message>),
    /// Metadata records up to some point, applied as one; from the controller, also its
    /// publication.
    Metadata(Arc<Image>),
    /// Client: issue the next value to this broker. Broker: append this value.
    Produce { to: Node, acks: Acks, value: u8 },
    /// Broker to client: what became of a value.
    Answer(ClientAnswer),
    /// Leader: answer the waiting produces that are decided.
    Verdict,
    /// Leader: the shrink task runs, and everything heard is too old.
    LagCheck,
    /// Broker: the process dies.
    Crash,
    /// Broker: the machine loses power; this many records survive.
    PowerLoss { keep: u8 },
    /// Broker: the process ends in order, and leaves a marker of it.
    Stop,
    /// Broker: start again and register.
    Restart,
    /// Broker to controller within a restart: the broker epoch in the marker of a clean shutdown.
    Register { marker: Option<u8> },
    /// Controller to broker within a restart: the broker epoch of its new life.
    Registered { epoch: u8 },
    /// Controller: the broker's session expires.
    Fence { broker: Node },
    /// Controller: the broker has caught up.
    Unfence { broker: Node },
    /// Controller: move the leadership.
    Move { to: Node },
    /// Controller: the broker wants to go down in order.
    ShutDown { broker: Node },
    /// Controller: an operator changes the minimum ISR.
    ChangeMinIsr { to: u8 },
    /// Broker: write the high watermark checkpoint.
    Checkpoint,
    /// Broker: the connections between it and this node broke.
    Disconnected { from: Node },
    /// Leader: send the proposal that got lost again.
    Resend,
    /// Broker: the undecided produces have waited long enough.
    TimeOut,
    /// Follower: cut the log where the answer says.
    Truncate,
    /// Leader: the shrink task runs.
    Tick,
    /// Broker: more than the lag limit has passed.
    ClockJump,
    /// Broker: its clock was set back.
    ClockSetback,
}

/// One actor: which of the three it is, and the rules it goes by.
#[derive(Clone, Debug)]
pub struct NodeActor {
    /// The protocol's decisions.
    pub rules: Rules,
    /// `min.insync.replicas` at the start.
    pub min_isr: u8,
    /// How the controller elects.
    pub policy: Policy,
    /// How time passes.
    pub clock: Clock,
    /// Number of brokers: 0 is the controller, 1 to this are brokers, the next is the client.
    pub brokers: Node,
}

/// An actor's state.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum NodeState {
    /// The controller.
    Controller(ControllerView),
    /// A broker.
    Broker(BrokerView),
    /// The clients, as one.
    Client(client::Client),
}

/// Messages an actor sends in one reaction, in order.
pub type Sends = Out<NodeActor>;

/// The actor id of a node.
pub fn id(node: Node) -> Id {
    Id::from(usize::from(node))
}

/// The node of an actor id.
pub fn node(id: Id) -> Node {
    usize::from(id) as Node
}

impl Actor for NodeActor {
    type Msg = Event;
    type Timer = ();
    type State = NodeState;
    type Storage = ();
    type Random = ();

    fn on_start(&self, me: Id, _: &Option<()>, out: &mut Sends) -> NodeState {
        match node(me) {
            0 => NodeState::Controller(controller::initial(self)),
            n if n <= self.brokers => NodeState::Broker(broker::initial(self, n, out)),
            _ => NodeState::Client(client::Client::default()),
        }
    }

    fn on_msg(
        &self,
        me: Id,
        state: &mut Cow<'_, NodeState>,
        src: Id,
        event: Event,
        out: &mut Sends,
    ) {
        match state.to_mut() {
            NodeState::Controller(k) => controller::on_event(self, k, node(src), event, out),
            NodeState::Broker(b) => broker::on_event(self, node(me), b, node(src), event, out),
            NodeState::Client(c) => c.on_event(&event, out),
        }
    }
}
