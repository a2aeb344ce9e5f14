//! The whole: actors, what is in flight, what the environment may still do, what was promised.
//!
//! A [`Row`] is one state of the whole. [`System::enabled`] lists what can happen in it and
//! [`System::step`] lets one thing happen. An environment event is an event to one actor or a
//! function of the row; perturbations have budgets, healing has none.

use std::borrow::Cow;
use std::sync::Arc;

use klog_trace::action::{Connection, Node};
use klog_trace::property::Seen;
use klog_trace::trace::{Bounds, Interleaving};
use klog_trace::view::Life;
use klog_trace::{Action, BrokerView, ClientAnswer, ControllerView, Envelope, Ghost};
use smallvec::SmallVec;
use stateright::actor::{Actor, Command, Out};

use crate::client::Client;
use crate::network::{InFlight, Kind, Network};
use crate::node::{Event, NodeActor, NodeState, Sends, id, node};
use crate::protocol::Protocol;
use crate::row::{Budgets, Row, RowView};

/// A protocol within bounds.
#[derive(Clone, Debug)]
pub struct System {
    /// The protocol.
    pub protocol: Protocol,
    /// What bounds it.
    pub bounds: Bounds,
    pub(crate) actor: NodeActor,
}

/// What one step did and made visible.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The state after.
    pub row: Row,
    /// Messages newly sent, in order.
    pub sent: Vec<Envelope>,
    /// What clients were told.
    pub answers: Vec<ClientAnswer>,
    /// Messages removed since nobody would act on them.
    pub discarded: Vec<InFlight>,
    /// The follower that read an answer at once, since it does nothing but ask again.
    pub idle: Option<Node>,
    /// The brokers for which the published metadata record is one of its own.
    pub published_to: Vec<Node>,
    /// Whether the answer to a delivered request still has a reader.
    reader: Connection,
}

impl Outcome {
    /// The step as a witness sees it.
    pub fn seen<'a>(
        &'a self,
        before: &'a RowView<'a>,
        action: &'a Action,
        after: &'a RowView<'a>,
    ) -> Seen<'a, RowView<'a>> {
        Seen { before, action, after, sent: &self.sent, answers: &self.answers }
    }
}

impl System {
    /// A protocol within bounds.
    pub fn new(protocol: Protocol, bounds: Bounds) -> Self {
        let actor = NodeActor {
            rules: protocol.rules(),
            min_isr: bounds.effective_min_isr(),
            brokers: bounds.brokers,
        };
        Self { protocol, bounds, actor }
    }

    /// The effective minimum size of the ISR.
    pub fn min_isr(&self) -> u8 {
        self.actor.min_isr
    }

    /// A row with what properties ask of it.
    pub fn view<'a>(&'a self, row: &'a Row) -> RowView<'a> {
        RowView { row, brokers: self.bounds.brokers, min_isr: self.actor.min_isr }
    }

    /// The one initial state.
    pub fn initial(&self) -> Row {
        let mut row = Row {
            nodes: SmallVec::new(),
            network: Network::default(),
            budgets: Budgets::of(&self.bounds),
            ghost: Arc::new(Ghost::default()),
        };
        for n in 0..=self.bounds.brokers + 1 {
            let mut out = Out::new();
            row.nodes.push(Arc::new(self.actor.on_start(id(n), &None, &mut out)));
            for command in out {
                if let Command::Send(to, Event::Peer(message)) = command {
                    row.network.send(n, node(to), message);
                }
            }
        }
        row
    }

    /// Lets one enabled thing happen, and takes out of flight what is doomed then.
    pub fn step(&self, before: &Row, action: Action) -> Outcome {
        let mut outcome = self.step_keeping(before, action);
        let row = &mut outcome.row;
        let nodes = &row.nodes;
        outcome.discarded = row.network.remove(|m| self.doomed(nodes, m));
        outcome
    }

    /// Lets one enabled thing happen; everything that is in flight stays there.
    pub(crate) fn step_keeping(&self, before: &Row, action: Action) -> Outcome {
        let mut outcome = Outcome {
            row: before.clone(),
            sent: Vec::new(),
            answers: Vec::new(),
            discarded: Vec::new(),
            idle: None,
            published_to: Vec::new(),
            reader: Connection::Open,
        };
        self.act(before, action, &mut outcome);
        if self.bounds.interleaving == Interleaving::Merged
            && let Action::DeliverFetch { from: follower, to: leader, .. } = action
        {
            self.read_idle_answer(&mut outcome, leader, follower);
        }
        self.remember(before, action, &mut outcome);
        outcome
    }

    fn act(&self, before: &Row, action: Action, outcome: &mut Outcome) {
        let controller = klog_trace::action::CONTROLLER;
        match action {
            Action::Produce { broker: to, acks } => {
                let client = self.bounds.brokers + 1;
                self.react(outcome, client, client, Event::Produce { to, acks, value: 0 });
            }
            Action::DeliverFetch { from, to, connection } => {
                self.deliver(outcome, from, to, connection, Kind::Fetch);
            }
            Action::DeliverFetchAnswer { from, to } => {
                self.deliver(outcome, from, to, Connection::Open, Kind::FetchAnswer);
            }
            Action::DeliverAlterPartition { from, connection } => {
                self.deliver(outcome, from, controller, connection, Kind::AlterPartition);
            }
            Action::DeliverAlterPartitionAnswer { to } => {
                let kind = Kind::AlterPartitionAnswer;
                self.deliver(outcome, controller, to, Connection::Open, kind);
            }
            Action::ApplyMetadata { broker, records } => {
                let applied = outcome.row.network.read(broker, records);
                let image = applied.expect("an enabled action applies at least one record");
                self.react(outcome, broker, controller, Event::Metadata(image));
            }
            Action::Verdict { broker } => self.react(outcome, broker, broker, Event::Verdict),
            Action::LagCheck { broker } => self.react(outcome, broker, broker, Event::LagCheck),
            Action::Checkpoint { broker } => {
                self.react(outcome, broker, broker, Event::Checkpoint);
            }
            Action::Crash { broker } => self.die(outcome, broker, Event::Crash),
            Action::PowerLoss { broker, keep } => {
                let ghost = Arc::make_mut(&mut outcome.row.ghost);
                ghost.power_lost(&self.view(before), broker, keep);
                self.die(outcome, broker, Event::PowerLoss { keep });
            }
            Action::Restart { broker } => {
                self.react(outcome, broker, broker, Event::Restart { broker });
            }
            Action::Fence { broker } => {
                self.react(outcome, controller, controller, Event::Fence { broker });
            }
            Action::Unfence { broker } => {
                self.react(outcome, controller, controller, Event::Unfence { broker });
            }
            Action::Move { to } => {
                self.react(outcome, controller, controller, Event::Move { to });
            }
        }
        outcome.row.budgets.spend(action);
    }

    fn die(&self, outcome: &mut Outcome, broker: Node, event: Event) {
        let row = &mut outcome.row;
        let nodes = &row.nodes;
        row.network.cut_off(broker, |n| is_up(nodes, n));
        self.react(outcome, broker, broker, event);
    }

    pub(crate) fn deliver(
        &self,
        outcome: &mut Outcome,
        from: Node,
        to: Node,
        on: Connection,
        kind: Kind,
    ) {
        let message = outcome.row.network.take(from, to, on, kind);
        let message = message.expect("an enabled action delivers a message");
        outcome.reader = on;
        self.react(outcome, to, from, Event::Peer(message));
    }

    /// One actor reacts, and what it sends is put on its way.
    fn react(&self, outcome: &mut Outcome, me: Node, src: Node, event: Event) {
        let old = Arc::clone(&outcome.row.nodes[usize::from(me)]);
        let mut state = Cow::Borrowed(&*old);
        let mut out = Out::new();
        self.actor.on_msg(id(me), &mut state, id(src), event, &mut out);
        if let Cow::Owned(new) = state
            && new != *old
        {
            outcome.row.nodes[usize::from(me)] = Arc::new(new);
        }
        self.send_all(outcome, me, out);
    }

    /// What an actor sends is put on its way.
    pub(crate) fn send_all(&self, outcome: &mut Outcome, me: Node, out: Sends) {
        for command in out {
            if let Command::Send(to, event) = command {
                self.send(outcome, me, node(to), event);
            }
        }
    }

    fn send(&self, outcome: &mut Outcome, from: Node, to: Node, event: Event) {
        match event {
            Event::Peer(message) => {
                outcome.sent.push(Envelope { from, to, message: Arc::clone(&message) });
                let is_answer =
                    matches!(Kind::of(&message), Kind::FetchAnswer | Kind::AlterPartitionAnswer);
                let unread = is_answer && outcome.reader == Connection::Broken;
                let tries_again = Kind::of(&message) == Kind::Fetch;
                if !unread && (tries_again || outcome.row.is_reachable(to)) {
                    outcome.row.network.send(from, to, message);
                }
            }
            // The controller's publication: one more record for every broker that runs.
            Event::Metadata(image) => {
                for n in 1..=self.bounds.brokers {
                    if outcome.row.is_reachable(n) && self.concerns(&outcome.row, n, &image) {
                        outcome.row.network.publish(n, image.clone());
                        outcome.published_to.push(n);
                    }
                }
            }
            Event::Answer(answer) => {
                outcome.answers.push(answer);
                self.react(outcome, to, from, event);
            }
            // Clients and registration are not in flight: see docs/limits.md.
            event => self.react(outcome, to, from, event),
        }
    }

    /// The ghost sees what the step shows.
    fn remember(&self, before: &Row, action: Action, outcome: &mut Outcome) {
        let mut ghost = Arc::clone(&outcome.row.ghost);
        if matches!(action, Action::Verdict { .. }) {
            for answer in &outcome.answers {
                if let (0, Some(offset)) = (answer.error, answer.offset) {
                    Arc::make_mut(&mut ghost).acknowledged(offset, answer.value);
                }
            }
        }
        for n in 1..=self.bounds.brokers {
            let (old, new) = (before.broker(n), outcome.row.broker(n));
            if shows_more(old, new) {
                let was = (old.leads(), old.hw);
                Arc::make_mut(&mut ghost).observe(&self.view(&outcome.row), n, was.0, was.1);
            }
        }
        outcome.row.ghost = ghost;
    }
}

/// Whether a step may have shown something of this broker that was not seen before.
fn shows_more(old: &BrokerView, new: &BrokerView) -> bool {
    let readable = |b: &BrokerView| usize::from(b.hw).min(b.log.len());
    old.hw != new.hw
        || old.leads() != new.leads()
        || old.log[..readable(old)] != new.log[..readable(new)]
}

pub(crate) fn broker_of(nodes: &[Arc<NodeState>], n: Node) -> &BrokerView {
    match &*nodes[usize::from(n)] {
        NodeState::Broker(broker) => broker,
        _ => unreachable!("{n} is a broker"),
    }
}

fn is_up(nodes: &[Arc<NodeState>], n: Node) -> bool {
    n == klog_trace::action::CONTROLLER || broker_of(nodes, n).life == Life::Up
}

pub(crate) fn controller_of(nodes: &[Arc<NodeState>]) -> &ControllerView {
    match &*nodes[0] {
        NodeState::Controller(controller) => controller,
        _ => unreachable!("0 is the controller"),
    }
}

impl Row {
    /// The broker's state.
    pub fn broker(&self, n: Node) -> &BrokerView {
        broker_of(&self.nodes, n)
    }

    /// The controller's state.
    pub fn controller(&self) -> &ControllerView {
        controller_of(&self.nodes)
    }

    /// The clients' state.
    pub fn client(&self) -> &Client {
        match self.nodes.last().map(|n| &**n) {
            Some(NodeState::Client(client)) => client,
            _ => unreachable!("the last node is the client"),
        }
    }

    pub(crate) fn is_reachable(&self, n: Node) -> bool {
        is_up(&self.nodes, n)
    }
}
