//! One partition as a system of actors: who there is, and how they are looked at.

use std::borrow::Cow;

use klog_trace::action::Node;
use klog_trace::progress::PROGRESS;
use klog_trace::property::{PROPERTIES, Seen, WITNESSES};
use klog_trace::trace::Bounds;
use klog_trace::{Action, ClientAnswer, Envelope, Ghost};
use levelwise::Goal;
use levelwise::system::{Effect, React, Start, Step, Stimulus, System, Taken};
use smallvec::SmallVec;
use stateright::actor::{Actor, Command, Out};

use crate::network::{Flying, InFlight};
use crate::node::{Event, NodeActor, NodeState, Sends, id, node};
use crate::protocol::Protocol;
use crate::row::{Budgets, Row as _, RowView, Whole};

/// A partition's brokers, controller and clients under the rules of a protocol.
#[derive(Clone, Debug)]
pub struct Partition {
    pub(crate) bounds: Bounds,
    pub(crate) actor: NodeActor,
}

/// What reaches a node and is no message, or what a node lets another one do at once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Letter {
    /// Of what reaches a node: from whom. Of what a node does: to whom.
    pub peer: Node,
    /// The event.
    pub event: Event,
}

/// What a step makes visible.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Messages newly sent, in order, by their numbers.
    pub sent: SmallVec<[u32; 4]>,
    /// What clients were told.
    pub answers: Vec<ClientAnswer>,
    /// Messages removed since nobody would act on them, by their numbers.
    pub discarded: SmallVec<[u32; 4]>,
    /// The follower that read an answer at once, since it does nothing but ask again.
    pub idle: Option<Node>,
    /// The brokers for which the published metadata record is one of its own.
    pub published_to: SmallVec<[Node; 4]>,
    /// Whether the answer to a delivered request has nobody to read it.
    pub(super) unread: bool,
}

impl Partition {
    /// A protocol's actors within bounds.
    pub fn new(protocol: &Protocol, bounds: &Bounds) -> Self {
        let &Bounds { brokers, min_isr, clock, .. } = bounds;
        let (rules, policy) = (protocol.rules(), bounds.policy());
        let actor = NodeActor { rules, min_isr, policy, clock, brokers };
        Self { bounds: bounds.clone(), actor }
    }

    /// A state with what properties ask of it.
    pub fn view<'b, 'a>(&'b self, row: &'b Whole<'a>) -> RowView<'b, 'a> {
        RowView { row, partition: self }
    }

    /// The goal that is a tally of states outside the claim.
    pub const OUTSIDE_CLAIM: usize = PROPERTIES.len();

    /// The goal of the first witness; the others follow.
    pub const FIRST_WITNESS: usize = PROPERTIES.len() + 1;

    /// The goal that tallies where the first thing that must stay possible is done; the others
    /// follow.
    pub const FIRST_PROGRESS: usize = Self::FIRST_WITNESS + WITNESSES.len();

    /// What the actor's sends are to the system: a message, one record for each broker of a
    /// publication, or something that is not in flight (clients and registration: docs/limits.md).
    fn tell(&self, from: Node, sends: Sends, effects: &mut Vec<Effect<Flying, Letter>>) {
        for command in sends {
            let Command::Send(to, event) = command else { continue };
            match event {
                Event::Peer(message) => {
                    let message = InFlight::open(from, node(to), message);
                    effects.push(Effect::Send(Flying::Message(message)));
                }
                Event::Metadata(image) => {
                    let brokers = 1..=self.bounds.brokers;
                    let records = brokers.map(|n| Flying::Record(n, image.clone()));
                    effects.extend(records.map(Effect::Send));
                }
                event => effects.push(Effect::Event(Letter { peer: node(to), event })),
            }
        }
    }
}

impl System for Partition {
    type Local = NodeState;
    type Event = Letter;
    type Message = Flying;
    type World = Ghost;
    type Choice = Action;
    type Action = Action;
    type Told = Told;
    type Scratch = ();

    fn actors(&self) -> usize {
        usize::from(self.bounds.brokers) + 2
    }

    fn words(&self) -> usize {
        Budgets::WORDS
    }

    fn start(&self) -> Start<Self> {
        let (mut locals, mut effects) = (Vec::new(), Vec::new());
        for n in 0..=self.bounds.brokers + 1 {
            let mut out = Out::new();
            locals.push(self.actor.on_start(id(n), &None, &mut out));
            self.tell(n, out, &mut effects);
        }
        let messages = effects.into_iter().filter_map(|effect| match effect {
            Effect::Send(flying @ Flying::Message(_)) => Some(flying),
            _ => None,
        });
        let words = Budgets::of(&self.bounds).words().to_vec();
        Start { locals, world: Ghost::default(), words, messages: messages.collect() }
    }

    fn queue(&self, flying: &Flying) -> Option<u64> {
        Some(flying.queue())
    }

    fn react(
        &self,
        actor: usize,
        local: &NodeState,
        stimulus: Stimulus<'_, Self>,
        effects: &mut Vec<Effect<Flying, Letter>>,
    ) -> React<NodeState> {
        let (src, event) = match stimulus {
            Stimulus::Message(Flying::Message(InFlight { envelope: e, .. })) => {
                (e.from, Event::Peer(e.message.clone()))
            }
            Stimulus::Message(Flying::Record(_, image)) => (0, Event::Metadata(image.clone())),
            Stimulus::Event(Letter { peer, event }) => (*peer, event.clone()),
        };
        let me = actor as Node;
        let (mut state, mut out) = (Cow::Borrowed(local), Out::new());
        self.actor.on_msg(id(me), &mut state, id(src), event, &mut out);
        self.tell(me, out, effects);
        let local = match state {
            Cow::Owned(state) => Some(state),
            Cow::Borrowed(_) => None,
        };
        React { local, flag: false }
    }

    fn choices(&self, state: &Whole<'_>, each: &mut impl FnMut(Action)) {
        self.enabled(state, each);
    }

    fn take(&self, step: &mut Step<'_, '_, Self>, action: Action) -> Taken {
        self.take_step(step, action);
        // A step that changes nothing leads nowhere new.
        if *step.state == *step.before { Taken::Stays } else { Taken::Leads }
    }

    fn action(&self, _: &Whole<'_>, action: Action) -> Action {
        action
    }

    fn kinds(&self) -> Vec<String> {
        Action::KINDS.map(String::from).to_vec()
    }

    fn kind(&self, action: Action) -> usize {
        action.kind_index()
    }

    fn guards(&self) -> Vec<String> {
        Self::guard_names().into_iter().map(String::from).collect()
    }

    fn refusals(&self, step: &Step<'_, '_, Self>, each: &mut impl FnMut(usize)) {
        Self::refused(step, each);
    }

    /// The properties, the tally of states outside the claim, the witnesses, the tallies of states
    /// in which what must stay possible is done.
    fn goals(&self) -> Vec<Goal> {
        let mut goals: Vec<Goal> = PROPERTIES.iter().map(|p| Goal::always(p.0.id())).collect();
        goals.push(Goal::tally("outside-claim"));
        goals.extend(WITNESSES.iter().map(|w| Goal::sometimes(w.0.id())));
        goals.extend(PROGRESS.iter().map(|p| Goal::tally(p.0.id())));
        goals
    }

    fn step_goals(&self) -> u64 {
        ((1 << WITNESSES.len()) - 1) << Self::FIRST_WITNESS
    }

    fn scratch(&self) {}

    fn admits(&self, (): &mut (), state: &Whole<'_>) -> bool {
        let most = self.bounds.leader_epochs;
        most == 0 || state.controller().image.leader_epoch < most
    }

    fn judge(&self, (): &mut (), state: &Whole<'_>, open: u64) -> u64 {
        let view = self.view(state);
        let mut hits = 0;
        for (n, (property, _, _)) in PROPERTIES.iter().enumerate() {
            if open & 1 << n != 0 && property.judge(&view).is_some() {
                hits |= 1 << n;
            }
        }
        if state.world().outside_claim() {
            hits |= 1 << Self::OUTSIDE_CLAIM;
        }
        for (n, (progress, _, _)) in (Self::FIRST_PROGRESS..).zip(&PROGRESS) {
            if open & 1 << n != 0 && progress.is_done(&view) {
                hits |= 1 << n;
            }
        }
        hits
    }

    fn judge_step(&self, (): &mut (), action: Action, step: &Step<'_, '_, Self>, open: u64) -> u64 {
        let envelope = |number: &u32| &step.message(*number).message().expect("sent").envelope;
        let sent: SmallVec<[&Envelope; 4]> = step.told.sent.iter().map(envelope).collect();
        let (before, after) = (self.view(step.before), self.view(step.state));
        let answers = &step.told.answers;
        let seen = Seen { before: &before, action: &action, after: &after, sent: &sent, answers };
        let mut hits = 0;
        for (n, (witness, _, _)) in (Self::FIRST_WITNESS..).zip(&WITNESSES) {
            if open & 1 << n != 0 && witness.seen(&seen) {
                hits |= 1 << n;
            }
        }
        hits
    }
}
