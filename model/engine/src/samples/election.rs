//! Servers that elect a leader for a term: the large sample, and the one that is measured.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use stateright::Expectation;
use stateright::actor::{
    Actor, ActorModel, ActorModelState, Id, Out, majority, model_peers, model_timeout,
};

use super::{Wire, lossy};

/// The parameters of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// How many servers there are.
    pub servers: usize,
    /// The last term in which somebody can stand for election.
    pub terms: u8,
    /// How many rounds of heartbeats a leader sends after the first.
    pub beats: u8,
    /// How many servers can be down at a time.
    pub crashes: usize,
    /// Whether servers forget in a crash whom they have voted for.
    pub forgetful: bool,
    /// How messages travel.
    pub wire: Wire,
    /// Whether messages get lost.
    pub lossy: bool,
}

impl Setup {
    /// Three servers of which one can be down: the smallest cluster that survives a crash.
    pub fn three(terms: u8, beats: u8) -> Self {
        let wire = Wire::NonDuplicating;
        Self { servers: 3, terms, beats, crashes: 1, forgetful: false, wire, lossy: false }
    }

    /// What is measured: two terms, two of the three servers down at a time, searched to its end.
    ///
    /// It has 1,317,869 states, generates 4,983,115 and is 27 deep.
    pub fn large() -> Self {
        Self { crashes: 2, ..Self::three(2, 0) }
    }
}

/// One of the servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    peers: Vec<Id>,
    setup: Setup,
}

/// What a server knows while it is up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    /// The newest term it has heard of.
    pub term: u8,
    /// Whom it has voted for in this term.
    pub vote: Option<Id>,
    /// What it is in this term.
    pub role: Role,
    /// Whom it believes to lead this term.
    pub leader: Option<Id>,
}

/// What a server is in its term.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Waits for a leader, with the number of the last heartbeat.
    Follower(u8),
    /// Has these votes.
    Candidate(BTreeSet<Id>),
    /// Sends heartbeats.
    Leader {
        /// The number of the last heartbeat.
        beat: u8,
        /// The last heartbeat that each of the others has confirmed.
        heard: BTreeMap<Id, u8>,
    },
}

/// What survives a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stored {
    term: u8,
    vote: Option<Id>,
}

/// What is sent, with the term of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Msg {
    /// The term of the sender.
    pub term: u8,
    /// What it says.
    pub body: Body,
}

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Body {
    /// Vote for me.
    Canvass,
    /// You have my vote.
    Vote,
    /// I lead, and this is my heartbeat of that number.
    Beat(u8),
    /// I have heard the heartbeat of that number.
    Heard(u8),
}

/// The timers of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// Nobody leads any more: set unless the server leads.
    Election,
    /// Time for a heartbeat: set while it leads.
    Beat,
    /// Nobody may have confirmed a heartbeat for long: set while it leads.
    Silence,
}

impl Actor for Server {
    type Msg = Msg;
    type Timer = Timer;
    type State = State;
    type Storage = Stored;
    type Random = ();

    fn on_start(&self, _: Id, stored: &Option<Stored>, o: &mut Out<Self>) -> State {
        let Stored { term, vote } = stored.unwrap_or(Stored { term: 0, vote: None });
        o.set_timer(Timer::Election, model_timeout());
        State { term, vote, role: Role::Follower(0), leader: None }
    }

    fn on_msg(&self, id: Id, state: &mut Cow<State>, src: Id, msg: Msg, o: &mut Out<Self>) {
        if msg.term < state.term {
            return;
        }
        if msg.term > state.term {
            let state = state.to_mut();
            Self::follow(state, o);
            state.term = msg.term;
            (state.vote, state.leader) = (None, None);
            self.save(state, o);
        }
        match msg.body {
            Body::Canvass => self.on_canvass(state, src, o),
            Body::Vote => self.on_vote(id, state, src, o),
            Body::Beat(beat) => Self::on_beat(state, src, beat, o),
            Body::Heard(beat) => Self::on_heard(state, src, beat),
        }
    }

    fn on_timeout(&self, id: Id, state: &mut Cow<State>, timer: &Timer, o: &mut Out<Self>) {
        match timer {
            Timer::Election => self.stand(id, state, o),
            Timer::Beat => {
                let last = matches!(state.role, Role::Leader { beat, .. }
                    if beat == self.setup.beats);
                if let (false, Role::Leader { beat, .. }) = (last, &mut state.to_mut().role) {
                    *beat += 1;
                    let beat = *beat;
                    self.tell(state, Body::Beat(beat), o);
                }
                o.set_timer(Timer::Beat, model_timeout());
            }
            Timer::Silence => {
                let alone = matches!(&state.role, Role::Leader { heard, .. }
                    if heard.len() + 1 < majority(self.setup.servers));
                if alone {
                    Self::follow(state.to_mut(), o);
                } else {
                    o.set_timer(Timer::Silence, model_timeout());
                }
            }
        }
    }
}

impl Server {
    /// Becomes a follower, of nobody in particular.
    fn follow(state: &mut State, o: &mut Out<Self>) {
        if matches!(state.role, Role::Leader { .. }) {
            o.cancel_timer(Timer::Beat);
            o.cancel_timer(Timer::Silence);
        }
        o.set_timer(Timer::Election, model_timeout());
        state.role = Role::Follower(0);
        state.leader = None;
    }

    fn stand(&self, id: Id, state: &mut Cow<State>, o: &mut Out<Self>) {
        if state.term < self.setup.terms {
            let state = state.to_mut();
            state.term += 1;
            state.vote = Some(id);
            state.leader = None;
            state.role = Role::Candidate(BTreeSet::from([id]));
            self.save(state, o);
            self.tell(state, Body::Canvass, o);
        }
        o.set_timer(Timer::Election, model_timeout());
    }

    fn on_canvass(&self, state: &mut Cow<State>, src: Id, o: &mut Out<Self>) {
        if state.vote.is_none_or(|vote| vote == src) {
            if state.vote.is_none() {
                state.to_mut().vote = Some(src);
                self.save(state, o);
            }
            o.set_timer(Timer::Election, model_timeout());
            o.send(src, Msg { term: state.term, body: Body::Vote });
        }
    }

    fn on_vote(&self, id: Id, state: &mut Cow<State>, src: Id, o: &mut Out<Self>) {
        let Role::Candidate(votes) = &state.role else { return };
        if votes.contains(&src) {
            return;
        }
        let state = state.to_mut();
        let Role::Candidate(votes) = &mut state.role else { return };
        votes.insert(src);
        if votes.len() >= majority(self.setup.servers) {
            state.role = Role::Leader { beat: 0, heard: BTreeMap::new() };
            state.leader = Some(id);
            o.cancel_timer(Timer::Election);
            o.set_timer(Timer::Beat, model_timeout());
            o.set_timer(Timer::Silence, model_timeout());
            self.tell(state, Body::Beat(0), o);
        }
    }

    fn on_beat(state: &mut Cow<State>, src: Id, beat: u8, o: &mut Out<Self>) {
        let known = match state.role {
            Role::Follower(last) => state.leader == Some(src) && last >= beat,
            Role::Candidate(_) => false,
            Role::Leader { .. } => return,
        };
        if !known {
            let state = state.to_mut();
            state.role = Role::Follower(beat);
            state.leader = Some(src);
        }
        o.set_timer(Timer::Election, model_timeout());
        o.send(src, Msg { term: state.term, body: Body::Heard(beat) });
    }

    fn on_heard(state: &mut Cow<State>, src: Id, beat: u8) {
        let Role::Leader { heard, .. } = &state.role else { return };
        if heard.get(&src).is_none_or(|last| *last < beat) {
            let Role::Leader { heard, .. } = &mut state.to_mut().role else { return };
            heard.insert(src, beat);
        }
    }

    fn save(&self, state: &State, o: &mut Out<Self>) {
        let vote = state.vote.filter(|_| !self.setup.forgetful);
        o.save(Stored { term: state.term, vote });
    }

    fn tell(&self, state: &State, body: Body, o: &mut Out<Self>) {
        o.broadcast(&self.peers, &Msg { term: state.term, body });
    }
}

/// The model.
///
/// Stateright's hashes tell its states apart: which timers a server has set can be read off its
/// role and whether it is down.
pub fn model(setup: &Setup) -> ActorModel<Server, Setup> {
    let count = setup.servers;
    let server = |id| Server { peers: model_peers(id, count), setup: setup.clone() };
    ActorModel::new(setup.clone(), ())
        .actors((0..count).map(server))
        .init_network(setup.wire.network())
        .lossy_network(lossy(setup.lossy))
        .max_crashes(setup.crashes)
        .property(Expectation::Always, "a term has one leader", |_, state| {
            let terms: Vec<u8> = leaders(state).map(|leader| leader.term).collect();
            (1..terms.len()).all(|i| !terms[..i].contains(&terms[i]))
        })
        .property(Expectation::Always, "there is one leader at a time", |_, state| {
            leaders(state).count() <= 1
        })
        .property(Expectation::Sometimes, "everybody follows", |model, state| {
            let heard = |leader: &State| match &leader.role {
                Role::Leader { heard, .. } => heard.len() + 1 == model.cfg.servers,
                _ => false,
            };
            leaders(state).any(heard)
        })
}

/// Those who believe that they lead; the last thought of a server that is down counts.
fn leaders(state: &ActorModelState<Server>) -> impl Iterator<Item = &State> {
    let states = state.actor_states.iter().map(|state| &**state);
    states.filter(|state| matches!(state.role, Role::Leader { .. }))
}
