//! Scenes of replication: each plays, looks at the brokers, and checks its claims.

use std::path::Path;

use super::answers::{Produced, Shipped};
use super::claims::{Claims, DemoError};
use super::report::{AcksAll, AcksOne, Fetched, Position, Round, Settings, Shrink, ShrinkCheck};
use super::stage::{Answer, ONE, Stage, TWO};
use crate::controller::ControllerInput;
use crate::disk::Disk;
use crate::types::{BrokerId, ErrorCode, Offset};

/// `replica.lag.time.max.ms`: the limit of the shrink.
const LAG_MAX_MS: i64 = 30_000;

pub(super) fn position(stage: &Stage, id: BrokerId) -> Position {
    let (leo, hw) = stage.position(id);
    Position::new(leo, hw)
}

/// One produce and one fetch, so many times.
pub(super) fn rounds(
    stage: &mut Stage,
    settings: Settings,
    claims: &mut Claims,
) -> Result<Vec<Round>, DemoError> {
    let mut rounds = Vec::new();
    for round in 1..=settings.rounds {
        let (leo, hw) = (u64::from(round), u64::from(round) - 1);
        let produced = stage.produce(ONE, &format!("order {round}"), 1)?;
        let accepted = Produced { error: ErrorCode::None, base_offset: Some(Offset(hw)) };
        claims.check("an acks=1 produce is answered at once", &produced, &Some(accepted))?;
        let shipped = stage.fetch(TWO, ONE, Answer::Arrives)?;
        let seen = Round {
            round,
            leader: position(stage, ONE),
            follower: position(stage, TWO),
            records_shipped: shipped.records,
            response_hw: told(shipped),
        };
        let here = Position { leo, hw };
        let (leader, follower) = (here, here);
        let due = Round { round, leader, follower, records_shipped: 1, response_hw: hw };
        claims.check("a round ships one record and commits the one before", &seen, &due)?;
        rounds.push(seen);
    }
    let (leaders, followers) = (stage.values(ONE)?, stage.values(TWO)?);
    claims.check("the follower's records are the leader's", &followers, &leaders)?;
    Ok(rounds)
}

fn told(shipped: Shipped) -> u64 {
    shipped.hw.map_or(0, |hw| hw.0)
}

/// What a follower knows is one fetch behind what it has.
pub(super) fn lag(
    root: &Path,
    settings: Settings,
    claims: &mut Claims,
) -> Result<Vec<Fetched>, DemoError> {
    let mut stage = Stage::open(root, &[1, 2], settings.min_isr, settings.now_ms)?;
    let answer = stage.produce(ONE, "order 1", -1)?;
    claims.check("an acks=all produce waits for the follower", &answer, &None)?;
    let mut fetches = Vec::new();
    for (hw, records_shipped) in [(0, 1), (1, 0)] {
        let answered = stage.answered.len();
        claims.check("an acks=all produce waits until the HW is there", &answered, &0)?;
        let shipped = stage.fetch(TWO, ONE, Answer::Arrives)?;
        let seen = Fetched {
            follower: position(&stage, TWO),
            leader_hw: position(&stage, ONE).hw,
            records_shipped: shipped.records,
        };
        let follower = Position { leo: 1, hw };
        let due = Fetched { follower, leader_hw: hw, records_shipped };
        claims.check("the second fetch commits what the first one shipped", &seen, &due)?;
        fetches.push(seen);
    }
    let committed = Produced { error: ErrorCode::None, base_offset: Some(Offset(0)) };
    claims.check("then the produce is answered", &stage.answered, &vec![committed])?;
    Ok(fetches)
}

/// The leader removes a follower that was last caught up more than the limit ago.
pub(super) fn shrink(
    stage: &mut Stage,
    settings: Settings,
    claims: &mut Claims,
) -> Result<Shrink, DemoError> {
    let check = |stage: &mut Stage, at: i64| {
        let isr = stage.isr();
        stage.set_now(at);
        stage.tick(ONE)?;
        let result = stage.isr() != isr;
        Ok::<_, DemoError>(ShrinkCheck { at, result, isr: stage.isr() })
    };
    let limit = settings.now_ms + LAG_MAX_MS;
    let before = check(stage, limit)?;
    let after = check(stage, limit + 1)?;
    let due = ShrinkCheck { at: limit, result: false, isr: vec![1, 2] };
    claims.check("at the limit the ISR stands", &before, &due)?;
    let due = ShrinkCheck { at: limit + 1, result: true, isr: vec![1] };
    claims.check("one millisecond later the ISR shrinks", &after, &due)?;
    let leader = stage.node(ONE).replica().leader();
    let under = leader.is_some_and(|leader| leader.isr.under_min_isr(settings.min_isr));
    claims.check("the ISR of one is under a minimum of 2", &under, &(settings.min_isr == 2))?;
    let ShrinkCheck { at, result, isr: isr_after } = after;
    Ok(Shrink { before, at, result, isr_after, under_min_isr: under })
}

/// What acks=all and acks=1 get while the ISR is the leader alone.
pub(super) fn after_the_shrink(
    stage: &mut Stage,
    settings: Settings,
    claims: &mut Claims,
) -> Result<(AcksAll, AcksOne), DemoError> {
    let under = settings.min_isr == 2;
    Ok((acks_all(stage, under, claims)?, acks_one(stage, under, claims)?))
}

fn acks_all(stage: &mut Stage, under: bool, claims: &mut Claims) -> Result<AcksAll, DemoError> {
    let (before, bytes_before) = (position(stage, ONE), segment_bytes(stage)?);
    let answer = stage.produce(ONE, "order with acks=all", -1)?;
    let (after, bytes_after) = (position(stage, ONE), segment_bytes(stage)?);
    let error = answer.map(|answer| answer.error);
    let due = if under { ErrorCode::NotEnoughReplicas } else { ErrorCode::None };
    claims.check("acks=all is refused under the minimum, and only there", &error, &Some(due))?;
    claims.check("a refused produce writes nothing", &(bytes_after == bytes_before), &under)?;
    claims.check("a refused produce moves no offset", &(after == before), &under)?;
    Ok(AcksAll { error: due.code(), hw_before: before.hw, hw_after: after.hw })
}

fn acks_one(stage: &mut Stage, under: bool, claims: &mut Claims) -> Result<AcksOne, DemoError> {
    let before = position(stage, ONE);
    let answer = stage.produce(ONE, "order with acks=1", 1)?;
    let accepted = Produced { error: ErrorCode::None, base_offset: Some(Offset(before.leo)) };
    claims.check("acks=1 is accepted at the log end", &answer, &Some(accepted))?;
    let leo = before.leo + 1;
    let due = Position { leo, hw: if under { before.hw } else { leo } };
    let after = position(stage, ONE);
    claims.check("the HW stands still under the minimum, and only there", &after, &due)?;
    let values = stage.values(ONE)?;
    let stored = values.last().is_some_and(|value| value == "order with acks=1");
    claims.check("the acks=1 record is on disk", &stored, &true)?;
    Ok(AcksOne { base_offset: before.leo, error: ErrorCode::None.code() })
}

/// Bytes of the leader's segment files.
fn segment_bytes(stage: &Stage) -> Result<u64, DemoError> {
    let disk = stage.node(ONE).log().disk();
    let mut bytes = 0;
    for name in disk.list()? {
        if Path::new(&name).extension().is_some_and(|extension| extension == "log") {
            bytes += disk.len(&name)?.unwrap_or(0);
        }
    }
    Ok(bytes)
}

/// Broker 3 sends heartbeats and does not fetch: the leader removes it. Broker 2 fetches and sends
/// no heartbeat: the controller removes it.
pub(super) fn two_judges(
    root: &Path,
    settings: Settings,
    claims: &mut Claims,
) -> Result<Vec<Vec<i32>>, DemoError> {
    let three = BrokerId(3);
    let Settings { min_isr, now_ms, .. } = settings;
    let mut stage = Stage::open(root, &[1, 2, 3], min_isr, now_ms)?;
    for id in [ONE, TWO, three] {
        stage.heartbeat(id)?;
    }
    let mut isrs = vec![stage.isr()];
    stage.produce(ONE, "order 1", 1)?;
    stage.fetch(TWO, ONE, Answer::Arrives)?;
    stage.set_now(now_ms + LAG_MAX_MS + 1);
    stage.fetch(TWO, ONE, Answer::Arrives)?;
    stage.heartbeat(ONE)?;
    stage.heartbeat(three)?;
    stage.tick(ONE)?;
    isrs.push(stage.isr());
    stage.control(ControllerInput::Tick { now_ms: now_ms + LAG_MAX_MS + 1 })?;
    isrs.push(stage.isr());
    let due = vec![vec![1, 2, 3], vec![1, 2], vec![1]];
    claims.check("the leader removes the laggard, the controller the silent one", &isrs, &due)?;
    let committed = stage
        .node(ONE)
        .replica()
        .leader()
        .map(|leader| super::report::plain(leader.isr.membership.committed().iter().copied()));
    claims.check("the leader learns what the controller did", &committed, &Some(vec![1]))?;
    Ok(isrs)
}
