//! Input nobody would send, and histories nobody thought of.

use super::harness::{Record, World};
use crate::controller::{Controller, ControllerEffect, ControllerInput, Elr, UncleanElection};
use crate::replica::io::{
    AlterPartitionAnswer, AlterPartitionRequest, BatchShape, BrokerImage, BrokerState, FetchAnswer,
    FetchRequest, Input, LogShape, MetadataImage, OffsetSpec, PartitionImage, RequestId,
};
use crate::replica::{Config, Replica, Role};
use crate::types::{BrokerEpoch, BrokerId, Epoch, ErrorCode, Offset, PartitionEpoch};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::{BTreeMap, BTreeSet};

/// Same seed, same cases.
fn config(cases: u32) -> ProptestConfig {
    let (rng_seed, failure_persistence) = (RngSeed::Fixed(8), None);
    ProptestConfig { cases, rng_seed, failure_persistence, ..ProptestConfig::default() }
}

/// Bytes as a source of choices; zeros when they run out.
struct Dice<'a>(std::slice::Iter<'a, u8>);

impl Dice<'_> {
    fn below(&mut self, n: u8) -> u8 {
        self.0.next().copied().unwrap_or(0) % n
    }

    fn one_in(&mut self, n: u8) -> bool {
        self.below(n) == 1
    }

    fn maybe<T>(&mut self, value: T) -> Option<T> {
        (!self.one_in(4)).then_some(value)
    }

    fn offset(&mut self) -> Offset {
        const FAR: [u64; 4] = [i64::MAX as u64 - 1, i64::MAX as u64, 1 << 63, u64::MAX];
        if self.one_in(16) {
            return Offset(FAR[usize::from(self.below(4))]);
        }
        Offset(u64::from(self.below(6)))
    }

    fn epoch(&mut self) -> Epoch {
        Epoch(i32::from(self.below(7)) - 1)
    }

    fn broker(&mut self) -> BrokerId {
        BrokerId(i32::from(self.below(4)))
    }

    fn life(&mut self) -> BrokerEpoch {
        BrokerEpoch(i64::from(self.below(3)))
    }

    fn now(&mut self) -> i64 {
        [i64::MIN, 0, 10, 30_011, 60_100, i64::MAX][usize::from(self.below(6))]
    }

    fn brokers(&mut self) -> BTreeSet<BrokerId> {
        let mask = self.below(16);
        (0..4).filter(|bit| mask >> bit & 1 == 1).map(BrokerId).collect()
    }

    fn error(&mut self) -> ErrorCode {
        ErrorCode::from_code(i16::from(self.below(110))).unwrap_or(ErrorCode::None)
    }
}

fn some_image(dice: &mut Dice<'_>) -> MetadataImage {
    let states = [BrokerState::Active, BrokerState::Fenced, BrokerState::ShuttingDown];
    let mut brokers = BTreeMap::new();
    for id in dice.brokers() {
        let (epoch, state) = (dice.life(), states[usize::from(dice.below(3))]);
        brokers.insert(id, BrokerImage { epoch, state });
    }
    if !dice.one_in(8) {
        let own = BrokerImage { epoch: BrokerEpoch(1), state: BrokerState::Active };
        brokers.insert(BrokerId(1), own);
    }
    let leader = dice.broker();
    let leader = dice.maybe(leader);
    let mut isr = dice.brokers();
    let mut replicas: Vec<BrokerId> = (0..4).map(BrokerId).collect();
    if !dice.one_in(8) {
        isr.extend(leader);
    } else if dice.one_in(2) {
        replicas.push(dice.broker());
    } else {
        replicas.truncate(usize::from(dice.below(4)));
    }
    let partition = PartitionImage {
        leader,
        leader_epoch: dice.epoch(),
        partition_epoch: PartitionEpoch(i32::from(dice.below(9)) - 1),
        replicas,
        isr,
        elr: dice.brokers(),
        last_leader: dice.one_in(4).then_some(BrokerId(1)),
        min_isr: u32::from(dice.below(4)),
    };
    MetadataImage { partition, brokers }
}

fn some_fetch(dice: &mut Dice<'_>, replica: &Replica) -> FetchRequest {
    let known = replica.registration().map_or(Epoch(0), |known| known.leader_epoch);
    let (id, life, epoch, last) = (dice.broker(), dice.life(), dice.epoch(), dice.epoch());
    let (far, log_start) = (dice.offset(), dice.offset());
    FetchRequest {
        replica_id: dice.maybe(id),
        broker_epoch: dice.maybe(life),
        current_epoch: if dice.one_in(3) { dice.maybe(epoch) } else { Some(known) },
        offset: if dice.one_in(2) { far } else { replica.leo() },
        last_fetched_epoch: dice.maybe(last),
        log_start,
        max_bytes: 1,
    }
}

fn some_fetch_answer(dice: &mut Dice<'_>, replica: &Replica) -> FetchAnswer {
    let mut at = replica.leo();
    let mut batches = vec![];
    for _ in 0..dice.below(4) {
        let base = if dice.one_in(8) { dice.offset() } else { at };
        let next = Offset(base.0.wrapping_add(u64::from(dice.below(3))));
        let newest = replica.log().epochs.latest().unwrap_or(Epoch(0));
        let epoch = if dice.one_in(3) { dice.epoch() } else { newest };
        batches.push(BatchShape { base, next, epoch });
        at = next;
    }
    let (hw, log_start, parting) = (dice.offset(), dice.offset(), (dice.epoch(), dice.offset()));
    let diverging = dice.one_in(3).then_some(parting);
    let error = if dice.one_in(3) { dice.error() } else { ErrorCode::None };
    FetchAnswer { error, hw: dice.maybe(hw), log_start: dice.maybe(log_start), diverging, batches }
}

fn some_alter_answer(dice: &mut Dice<'_>, replica: &Replica) -> AlterPartitionAnswer {
    if dice.one_in(4) {
        return AlterPartitionAnswer::Lost;
    }
    if dice.one_in(2) {
        return AlterPartitionAnswer::Refused(dice.error());
    }
    let known = replica.registration();
    let (epoch, version) = known.map_or((Epoch(0), PartitionEpoch(0)), |known| {
        (known.leader_epoch, PartitionEpoch(known.partition_epoch.0 + 1))
    });
    let mut isr = dice.brokers();
    isr.extend(dice.maybe(BrokerId(1)));
    let leader = dice.maybe(BrokerId(1));
    let leader_epoch = if dice.one_in(4) { dice.epoch() } else { epoch };
    let partition_epoch = if dice.one_in(4) { PartitionEpoch(0) } else { version };
    AlterPartitionAnswer::Accepted { leader, leader_epoch, partition_epoch, isr }
}

fn some_input(dice: &mut Dice<'_>, replica: &Replica) -> Input {
    let now_ms = dice.now();
    match dice.below(16) {
        0..=2 => Input::Metadata { now_ms, image: some_image(dice) },
        3..=8 => some_request(dice, replica, now_ms),
        9..=12 => some_answer(dice, replica, now_ms),
        13 => Input::CompleteProduces { now_ms },
        14 => some_look_at_the_clock(dice, now_ms),
        _ if dice.one_in(12) => Input::AppendFailed,
        _ if dice.one_in(2) => Input::Flushed { upto: dice.offset() },
        _ => Input::AdvanceLogStart { to: dice.offset() },
    }
}

fn some_look_at_the_clock(dice: &mut Dice<'_>, now_ms: i64) -> Input {
    match dice.below(3) {
        0 => Input::CheckLag { now_ms },
        1 => Input::ResendProposal { now_ms },
        _ => Input::ExpireProduces { now_ms },
    }
}

fn some_request(dice: &mut Dice<'_>, replica: &Replica, now_ms: i64) -> Input {
    let request = RequestId(u64::from(dice.below(8)));
    match dice.below(7) {
        0 | 1 => {
            let acks = i16::from(dice.below(5)) - 2;
            let records = if dice.one_in(16) { u32::MAX } else { u32::from(dice.below(3)) };
            let timeout_ms = if dice.one_in(2) { i32::MAX } else { -1 };
            Input::Produce { now_ms, request, acks, records, timeout_ms }
        }
        2 | 3 => Input::Fetch { now_ms, request, fetch: some_fetch(dice, replica) },
        4 => Input::Reread { request, fetch: some_fetch(dice, replica) },
        5 => {
            let wanted = [OffsetSpec::Earliest, OffsetSpec::Latest][usize::from(dice.below(2))];
            Input::ListOffset { request, current_epoch: Some(dice.epoch()), wanted }
        }
        _ => {
            let current_epoch = Some(dice.epoch());
            Input::EndOffset { request, current_epoch, epoch: dice.epoch() }
        }
    }
}

fn some_answer(dice: &mut Dice<'_>, replica: &Replica, now_ms: i64) -> Input {
    match dice.below(4) {
        0 | 1 => {
            let leader = replica.registration().and_then(|known| known.leader);
            let from = leader.filter(|_| !dice.one_in(4)).unwrap_or(BrokerId(3));
            let answer = some_fetch_answer(dice, replica);
            Input::FetchAnswer { now_ms, from, request: some_fetch(dice, replica), answer }
        }
        2 => Input::FetchLost { from: dice.broker(), request: some_fetch(dice, replica) },
        _ => {
            let answer = some_alter_answer(dice, replica);
            let made_up = AlterPartitionRequest {
                broker: BrokerId(1),
                broker_epoch: BrokerEpoch(1),
                leader_epoch: dice.epoch(),
                partition_epoch: PartitionEpoch(0),
                isr: vec![],
            };
            let proposal = replica.in_flight().cloned().unwrap_or(made_up);
            Input::AlterPartitionAnswer { now_ms, proposal, answer }
        }
    }
}

fn some_replica(dice: &mut Dice<'_>) -> Replica {
    let start = u64::from(dice.below(3));
    let leo = start + u64::from(dice.below(4));
    let epochs = vec![(Epoch(i32::from(dice.below(3))), Offset(start))];
    let hw = dice.offset();
    let shape = LogShape { start: Offset(start), leo: Offset(leo), epochs };
    Replica::restore(BrokerId(1), Config::new(BrokerEpoch(1)), shape, dice.maybe(hw))
}

/// Feeds whatever the bytes say; the core asserts its invariants itself. Returns the roles seen.
fn feed_nonsense(bytes: &[u8]) -> BTreeSet<&'static str> {
    let mut dice = Dice(bytes.iter());
    let mut replica = some_replica(&mut dice);
    let mut twin = replica.clone();
    let mut seen = BTreeSet::new();
    while dice.0.len() > 0 {
        let input = some_input(&mut dice, &replica);
        let (mut effects, mut again) = (vec![], vec![]);
        let before = replica.hw();
        let epoch = replica.leader().and(replica.registration().map(|known| known.leader_epoch));
        replica.step(input.clone(), &mut effects);
        twin.step(input, &mut again);
        assert_eq!((&replica, &effects), (&twin, &again), "same input, same step");
        let now = replica.leader().and(replica.registration().map(|known| known.leader_epoch));
        assert!(epoch.is_none() || epoch != now || before <= replica.hw(), "H3");
        seen.insert(match replica.role() {
            Role::Idle => "idle",
            Role::Follower => "follower",
            Role::Leader(leader) if !leader.waiting.is_empty() => "leader with waiting produces",
            Role::Leader(leader) if replica.in_flight().is_some() => {
                assert!(leader.isr.membership.committed().contains(&BrokerId(1)));
                "leader with a proposal"
            }
            Role::Leader(_) => "leader",
            Role::Failed => "failed",
        });
    }
    seen
}

#[test]
fn no_input_breaks_a_replica() {
    let mut runner = proptest::test_runner::TestRunner::new(config(4_000));
    let seen = std::cell::RefCell::new(BTreeSet::new());
    let bytes = prop::collection::vec(any::<u8>(), 0..600);
    let run = runner.run(&bytes, |bytes| {
        seen.borrow_mut().extend(feed_nonsense(&bytes));
        Ok(())
    });
    run.unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(seen.borrow().len(), 6, "{:?}", seen.borrow());
}

/// A history of a whole partition and what has been promised in it.
struct History {
    w: World,
    brokers: i32,
    may_lose: bool,
    /// Brokers whose log got shorter and that have not been in the ISR since.
    lost: BTreeSet<i32>,
    /// Which image each broker has applied.
    applied: BTreeMap<i32, usize>,
    /// Records that were acknowledged with acks=all or readable below a leader's watermark.
    promised: BTreeMap<u64, Record>,
    /// Whether promises still bind: not after an election of one that may lack what was promised.
    binding: bool,
    seen: Seen,
}

/// How often something happened in a history.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    promised: usize,
    elections: usize,
    unclean_elections: usize,
    refused_registrations: usize,
    /// Lives that ended in order and left their broker in the ELR.
    kept_places: usize,
}

/// How a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// In order, with everything on its disk.
    InOrder,
    /// Killed; what it wrote is on its disk.
    Killed,
    /// With its power; some of what it wrote is gone.
    PowerLost,
}

impl History {
    fn new(Setting { brokers, min_isr, elr, unclean }: Setting) -> Self {
        let controller = Controller::new((1..=brokers).map(BrokerId).collect(), min_isr, elr);
        let w = World::under(controller.with_unclean_election(unclean));
        let applied = (1..=brokers).map(|id| (id, 0)).collect();
        // The claim: fewer than min ISR brokers lose records to a power loss.
        let may_lose = min_isr > 1 && elr == Elr::On;
        let (lost, promised, seen) = (BTreeSet::new(), BTreeMap::new(), Seen::default());
        Self { w, brokers, may_lose, lost, applied, promised, binding: true, seen }
    }

    fn act(&mut self, dice: &mut Dice<'_>) {
        let id = 1 + i32::from(dice.below(self.brokers as u8));
        let broker = BrokerId(id);
        match dice.below(24) {
            0..=2 if self.w.node(id).replica.leader().is_some() => {
                let acks = if dice.one_in(3) { 1 } else { -1 };
                self.w.produce(id, acks);
            }
            3..=7 if self.w.node(id).fetch.is_some() => drop(self.w.deliver_fetch(id).read),
            8..=12 if self.w.node(id).reply.is_some() => drop(self.w.deliver_reply(id)),
            13 if !self.w.proposals.is_empty() => self.w.decide(),
            14 if !self.w.decisions.is_empty() => self.hear(!dice.one_in(4)),
            15 | 16 => {
                let from = self.applied[&id];
                let nth = from + usize::from(dice.below((self.w.images.len() - from) as u8));
                self.w.apply_image(id, nth);
                self.applied.insert(id, nth);
            }
            17 => self.w.move_leader(id),
            18 => drop(self.control(ControllerInput::SessionExpired { broker })),
            19 => self.unfence(broker),
            20 => {
                self.w.now += i64::from(dice.below(4)) * 15_001;
                let look = some_look_at_the_clock(dice, self.w.now);
                self.w.step(id, look);
            }
            21 => self.w.complete(id),
            22 if dice.one_in(3) => {
                let ends = [End::InOrder, End::Killed];
                self.restart(id, ends[usize::from(dice.below(2))]);
            }
            23 if self.may_lose && dice.one_in(3) => {
                self.may_lose = false;
                let kept = dice.below(4);
                let node = self.w.nodes.get_mut(&id).unwrap();
                node.records.truncate(usize::from(kept));
                self.restart(id, End::PowerLost);
                self.lost.insert(id);
            }
            _ => {}
        }
    }

    fn hear(&mut self, arrives: bool) {
        let (proposal, answer) = self.w.decisions.remove(0);
        let answer = if arrives { answer } else { AlterPartitionAnswer::Lost };
        self.w.hear_of(proposal.broker.0, proposal, answer);
    }

    fn unfence(&mut self, broker: BrokerId) {
        let epoch = self.w.controller.brokers()[&broker].epoch;
        self.control(ControllerInput::Unfence { broker, epoch });
    }

    /// One event of the controller, and what its election means for the promises. The last known
    /// leader holds them all, unless its log got shorter since.
    fn control(&mut self, input: ControllerInput) -> Vec<ControllerEffect> {
        let before = self.w.controller.partition().clone();
        let effects = self.w.control(input);
        let after = self.w.controller.partition();
        if let Some(leader) = after.leader
            && !before.isr.contains(&leader)
            && !before.elr.contains(&leader)
        {
            self.seen.unclean_elections += 1;
            self.binding &= before.last_leader == Some(leader) && !self.lost.contains(&leader.0);
        }
        self.lost.retain(|&id| !after.isr.contains(&BrokerId(id)));
        effects
    }

    /// The process ends and a new one registers, at first perhaps before the old one's session is
    /// over.
    fn restart(&mut self, id: i32, end: End) {
        let broker = BrokerId(id);
        let epoch = self.w.node(id).replica.config().broker_epoch;
        if end == End::InOrder {
            self.control(ControllerInput::ShutDown { broker, epoch });
        }
        let clean_shutdown = (end == End::InOrder).then_some(epoch);
        let register = ControllerInput::Register { broker, clean_shutdown };
        let mut effects = self.control(register.clone());
        if matches!(effects[..], [ControllerEffect::RegistrationRefused { .. }]) {
            self.seen.refused_registrations += 1;
            self.control(ControllerInput::SessionExpired { broker });
            effects = self.control(register);
        }
        assert!(matches!(effects[0], ControllerEffect::Registered { .. }), "{effects:?}");
        let keeps = self.w.controller.partition().elr.contains(&broker);
        assert!(end == End::InOrder || !keeps, "an unclean life stays eligible (B2)");
        self.seen.kept_places += usize::from(keeps);
        self.w.restart(id);
    }

    /// What was promised so far, and whether it is kept.
    fn check(&mut self) {
        if !self.binding {
            return;
        }
        for node in self.w.nodes.values() {
            if node.replica.leader().is_none() {
                continue;
            }
            let committed = node.records.iter().take(node.replica.hw().0 as usize);
            for (at, record) in (0..).zip(committed) {
                let promised = self.promised.entry(at).or_insert(*record);
                assert_eq!(promised, record, "two records at {at}");
            }
        }
        let newest = self.w.controller.partition();
        for node in self.w.nodes.values() {
            let known = node.replica.registration().map(|known| known.leader_epoch);
            if node.replica.leader().is_some() && known == Some(newest.leader_epoch) {
                for (&at, record) in &self.promised {
                    assert_eq!(node.records.get(at as usize), Some(record), "lost at {at}");
                }
            }
            let below = node.records.iter().take(node.replica.hw().0 as usize);
            for (at, record) in (0..).zip(below) {
                assert_eq!(self.promised.get(&at), Some(record), "not committed at {at}");
            }
        }
    }

    /// Deliver everything, let everybody live: all must end in the ISR with the same log, all of
    /// it committed and nobody waiting.
    fn settle(&mut self) {
        for _ in 0..60 {
            for id in 1..=self.brokers {
                self.unfence(BrokerId(id));
                self.w.apply(id);
            }
            assert_ne!(self.w.controller.partition().leader, None, "one of them can lead");
            for id in 1..=self.brokers {
                if self.w.node(id).reply.is_some() {
                    self.w.deliver_reply(id);
                }
                if self.w.node(id).fetch.is_some() {
                    self.w.deliver_fetch(id);
                }
                self.w.tick(id);
                self.w.complete(id);
            }
            while !self.w.proposals.is_empty() {
                self.w.decide();
            }
            while !self.w.decisions.is_empty() {
                self.hear(true);
            }
            self.check();
            if self.is_settled() {
                return;
            }
        }
        panic!("not settled: {:#?}", self.w.nodes);
    }

    fn is_settled(&self) -> bool {
        let (leo, records) = (self.w.node(1).replica.leo(), &self.w.node(1).records);
        self.w.controller.partition().isr.len() == self.brokers as usize
            && self.w.nodes.values().all(|node| {
                let idle = node.replica.leader().is_none_or(|l| l.waiting.is_empty());
                let same = node.replica.leo() == leo && node.records == *records;
                idle && same && node.replica.hw() == leo
            })
    }
}

/// What a history is played in.
#[derive(Clone, Copy)]
struct Setting {
    brokers: i32,
    min_isr: u32,
    elr: Elr,
    unclean: UncleanElection,
}

fn run_histories(setting: Setting) -> Seen {
    const CASES: u32 = 400;
    let mut runner = proptest::test_runner::TestRunner::new(config(CASES));
    let totals = std::cell::RefCell::new(Seen::default());
    let run = runner.run(&prop::collection::vec(any::<u8>(), 0..900), |bytes| {
        let mut dice = Dice(bytes.iter());
        let mut history = History::new(setting);
        while dice.0.len() > 0 {
            history.act(&mut dice);
            history.check();
        }
        history.settle();
        let mut totals = totals.borrow_mut();
        totals.promised += history.promised.len();
        totals.elections += history.w.controller.partition().leader_epoch.0 as usize;
        totals.unclean_elections += history.seen.unclean_elections;
        totals.refused_registrations += history.seen.refused_registrations;
        totals.kept_places += history.seen.kept_places;
        Ok(())
    });
    run.unwrap_or_else(|failure| panic!("{failure}"));
    let seen = *totals.borrow();
    let binding = setting.unclean == UncleanElection::Forbidden;
    assert!(seen.promised > CASES as usize || !binding, "{seen:?}");
    assert!(seen.elections > CASES as usize, "{seen:?}");
    assert!(seen.refused_registrations > 50, "{seen:?}");
    seen
}

const ELR_ON: Setting =
    Setting { brokers: 3, min_isr: 2, elr: Elr::On, unclean: UncleanElection::Forbidden };

#[test]
fn histories_of_three_brokers_keep_their_promises_and_settle() {
    let seen = run_histories(ELR_ON);
    assert!(seen.kept_places > 10 && seen.unclean_elections > 10, "{seen:?}");
}

#[test]
fn histories_of_two_brokers_keep_their_promises_and_settle() {
    let seen = run_histories(Setting { brokers: 2, min_isr: 1, ..ELR_ON });
    assert!(seen.kept_places > 10 && seen.unclean_elections > 10, "{seen:?}");
}

#[test]
fn histories_without_an_elr_keep_their_promises_and_settle() {
    let seen = run_histories(Setting { min_isr: 1, elr: Elr::Off, ..ELR_ON });
    assert_eq!((seen.kept_places, seen.unclean_elections), (0, 0), "{seen:?}");
}

#[test]
fn histories_with_unclean_elections_settle() {
    for elr in [Elr::On, Elr::Off] {
        let unclean = UncleanElection::Allowed;
        let seen = run_histories(Setting { elr, unclean, ..ELR_ON });
        assert!(seen.unclean_elections > 50, "{seen:?}");
    }
}
