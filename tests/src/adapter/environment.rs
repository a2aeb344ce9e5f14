//! Deaths, restarts, and what an operator or the controller's sessions do.

use klog::controller::{ControllerInput, MoveOutcome};
use klog::node::{ControllerOutput, Node, Peer, take_clean_shutdown};
use klog::replica::io::BrokerState;
use klog::types::{BrokerEpoch, BrokerId, Offset};
use klog_trace::action::{CONTROLLER, Node as Id};
use klog_trace::{BrokerView, Connection, Life, Role};

use super::bag::{Channel, Kind};
use super::doomed::peer;
use super::fault::Fault;
use super::observe;
use super::{Alive, Broker, Cluster, Process, Seen, Storage, config, life_after};

impl<D: Storage> Cluster<D> {
    /// The process dies, or the machine loses power and keeps so many records of the log. Power may
    /// also go where the process is dead already.
    pub(super) fn die(&mut self, id: Id, keep: Option<u8>) -> Result<(), Fault> {
        let kept = keep.map(|keep| Offset(keep.into()));
        let (mut disk, life, kept) = match self.broker(id).process.take() {
            Some(Process::Up(node)) => {
                let life = node.replica().config().broker_epoch;
                let bytes = bytes_kept(&node, id, kept)?;
                (node.into_disk(), life, bytes)
            }
            Some(Process::Down(disk, view)) if view.life == Life::Crashed && kept.is_some() => {
                let life = BrokerEpoch(view.broker_epoch.into());
                let bytes = disk.with_copy(|copy| {
                    let (node, _) = Node::open(copy, config(id, life))?;
                    bytes_kept(&node, id, kept)
                })?;
                (disk, life, bytes)
            }
            _ => return Err(Fault::not_enabled(format!("b{id} is down"))),
        };
        if let Some(kept) = kept {
            disk.lose_power(&kept)?;
        }
        self.is_down(id, disk, life, life_after(keep))
    }

    /// The process of a broker that shuts down ends in order (B5, D3).
    pub(super) fn stop(&mut self, id: Id) -> Result<(), Fault> {
        let node = self.node(id)?;
        let leads = node.replica().leader().is_some();
        let broker = BrokerId(id.into());
        let leads = leads || self.controller.controller().partition().leader == Some(broker);
        if leads || self.session(id) != Some(BrokerState::ShuttingDown) {
            return Err(Fault::not_enabled(format!("b{id} may not stop yet")));
        }
        let Some(Process::Up(node)) = self.broker(id).process.take() else {
            return Err(Fault::Internal(format!("b{id} is gone")));
        };
        let life = node.replica().config().broker_epoch;
        let disk = node.shut_down()?;
        self.is_down(id, disk, life, Life::Stopped)
    }

    /// A process is gone, and this disk is left of it.
    fn is_down(&mut self, id: Id, disk: D, epoch: BrokerEpoch, life: Life) -> Result<(), Fault> {
        let view = disk.with_copy(|copy| found(copy, id, epoch, life))?;
        *self.broker(id) = Broker {
            process: Some(Process::Down(disk, Box::new(view))),
            unread: std::collections::VecDeque::new(),
            applied: None,
        };
        let up: Vec<Id> = (1..=self.brokers()).filter(|id| self.is_up(*id)).collect();
        self.bag.died(id, |to| to == CONTROLLER || up.contains(&to));
        self.clients.died(id);
        self.doomed_died(id);
        Ok(())
    }

    /// The connections between two running nodes break, and both ends hear of it.
    pub(super) fn reset(&mut self, one: Id, other: Id, seen: &mut Seen) -> Result<(), Fault> {
        self.bag.reset(one, other);
        self.doomed_reset(one, other);
        let now_ms = self.time.now_ms();
        for (me, from) in [(one, other), (other, one)] {
            if me != CONTROLLER {
                let lost = if from == CONTROLLER { Peer::Controller } else { peer(from) };
                self.with_node(me, seen, |node, out| node.disconnected(lost, now_ms, out))?;
            }
        }
        Ok(())
    }

    /// A new process over the same disk: it registers, learns its broker epoch and recovers.
    pub(super) fn restart(&mut self, id: Id) -> Result<(), Fault> {
        if self.is_up(id) {
            return Err(Fault::not_enabled(format!("b{id} is up")));
        }
        let Some(Process::Down(disk, view)) = self.broker(id).process.take() else {
            return Err(Fault::Internal(format!("b{id} is gone")));
        };
        let broker = BrokerId(id.into());
        let clean_shutdown = disk.with_copy(|mut copy| Ok(take_clean_shutdown(&mut copy)?))?;
        let register = ControllerInput::Register { broker, clean_shutdown };
        self.controller.step(register, &mut self.controller_out);
        let refusal = |output: &ControllerOutput| match output {
            ControllerOutput::RegistrationRefused { broker: to, .. } => *to == broker,
            _ => false,
        };
        if let Some(at) = self.controller_out.iter().position(refusal) {
            // The process goes on trying, with what it has read off its disk (B1).
            self.controller_out.remove(at);
            self.broker(id).process = Some(Process::Down(disk, view));
            return Ok(());
        }
        let mut disk = disk.reopened()?;
        take_clean_shutdown(&mut disk)?;
        let told = |output: &ControllerOutput| match *output {
            ControllerOutput::Registered { broker: to, epoch } if to == broker => Some(epoch),
            _ => None,
        };
        let at = self.controller_out.iter().position(|o| told(o).is_some());
        let output = at.map(|at| self.controller_out.remove(at));
        let unregistered = || Fault::hidden(format!("b{id} was not told its broker epoch"));
        let life = output.as_ref().and_then(told).ok_or_else(unregistered)?;
        let (node, _) = Node::open(disk, config(id, life))?;
        self.broker(id).process = Some(Process::Up(Box::new(node)));
        self.ask_again(id)
    }

    /// Every other broker is told that its connection to this one broke. It must ask again for what
    /// its fetch asked, if that is still its fetch, and for nothing else.
    ///
    /// Who has an answer of the former life yet to read has not seen the connection break.
    fn ask_again(&mut self, id: Id) -> Result<(), Fault> {
        let others = (1..=self.brokers()).filter(|other| *other != id);
        for other in others.filter(|other| self.is_up(*other)).collect::<Vec<_>>() {
            let line = |from, to, kind| Channel { from, to, connection: Connection::Open, kind };
            let answers = line(id, other, Kind::FetchAnswer);
            if !self.bag.is_empty(answers) || self.is_doomed_on(answers) {
                continue;
            }
            let lost = self.bag.take_all(line(other, id, Kind::Fetch));
            let lost: Vec<_> = lost.into_iter().map(|message| message.envelope).collect();
            let (now_ms, mut out) = (self.time.now_ms(), Vec::new());
            self.node(other)?.disconnected(peer(id), now_ms, &mut out);
            let mut seen = Seen::default();
            self.route(other, &mut out, None, &mut seen)?;
            if seen.sent != lost {
                let what = format!("b{other} lost {lost:?} and asks {:?} instead", seen.sent);
                return Err(Fault::hidden(what));
            }
        }
        Ok(())
    }

    pub(super) fn fence(&mut self, id: Id, alive: Alive) -> Result<(), Fault> {
        let fenced = self.session(id) == Some(BrokerState::Fenced);
        if fenced || self.is_up(id) != (alive == Alive::Yes) {
            let what = if alive == Alive::Yes { "running" } else { "dead" };
            return Err(Fault::not_enabled(format!("b{id} is not a {what} broker in a session")));
        }
        let broker = BrokerId(id.into());
        self.controller.step(ControllerInput::SessionExpired { broker }, &mut self.controller_out);
        Ok(())
    }

    pub(super) fn shut_down(&mut self, id: Id) -> Result<(), Fault> {
        let epoch = self.node(id)?.replica().config().broker_epoch;
        if self.session(id) != Some(BrokerState::Active) {
            return Err(Fault::not_enabled(format!("b{id} is not active")));
        }
        let broker = BrokerId(id.into());
        self.controller.step(ControllerInput::ShutDown { broker, epoch }, &mut self.controller_out);
        Ok(())
    }

    pub(super) fn change_min_isr(&mut self, to: u8) -> Result<(), Fault> {
        let min_isr = u32::from(to);
        if min_isr == 0 || self.controller.controller().partition().min_isr == min_isr {
            return Err(Fault::not_enabled(format!("{to} is no other minimum")));
        }
        let change = ControllerInput::ChangeMinIsr { min_isr };
        self.controller.step(change, &mut self.controller_out);
        Ok(())
    }

    pub(super) fn unfence(&mut self, id: Id) -> Result<(), Fault> {
        let epoch = self.node(id)?.replica().config().broker_epoch;
        if self.session(id) != Some(BrokerState::Fenced) {
            return Err(Fault::not_enabled(format!("b{id} is not fenced")));
        }
        let broker = BrokerId(id.into());
        self.controller.step(ControllerInput::Unfence { broker, epoch }, &mut self.controller_out);
        Ok(())
    }

    pub(super) fn move_leader(&mut self, to: Id) -> Result<(), Fault> {
        let broker = BrokerId(to.into());
        self.controller.step(ControllerInput::MoveLeader { to: broker }, &mut self.controller_out);
        let moved = |output: &ControllerOutput| match *output {
            ControllerOutput::LeaderMove { outcome, .. } => Some(outcome),
            _ => None,
        };
        let at = self.controller_out.iter().position(|o| moved(o).is_some());
        let output = at.map(|at| self.controller_out.remove(at));
        match output.as_ref().and_then(moved) {
            Some(MoveOutcome::Moved) => Ok(()),
            Some(MoveOutcome::NotNeeded) => Err(Fault::not_enabled(format!("b{to} leads already"))),
            Some(MoveOutcome::NotAvailable) | None => {
                Err(Fault::not_enabled(format!("b{to} may not lead")))
            }
        }
    }

    /// Where the broker stands with the controller.
    fn session(&self, id: Id) -> Option<BrokerState> {
        let brokers = self.controller.controller().brokers();
        brokers.get(&BrokerId(id.into())).map(|b| b.state)
    }
}

/// The bytes of each file that hold the records kept.
fn bytes_kept<D: Storage>(
    node: &Node<D>,
    id: Id,
    kept: Option<Offset>,
) -> Result<Option<Vec<(String, u64)>>, Fault> {
    let leo = node.replica().leo();
    if kept.is_some_and(|kept| kept > leo) {
        return Err(Fault::not_enabled(format!("b{id} has only {leo} records")));
    }
    Ok(kept.map(|kept| node.log().bytes_below(kept)).transpose()?)
}

/// What a dead broker shows: what a recovery over a copy of its disk finds, and no high watermark.
fn found<D: Storage>(copy: D, id: Id, epoch: BrokerEpoch, life: Life) -> Result<BrokerView, Fault> {
    let (node, _) = Node::open(copy, config(id, epoch))?;
    let view = observe::broker_view(&node, None, None)?;
    Ok(BrokerView { life, role: Role::None, partition_epoch: 0, hw: 0, ..view })
}
