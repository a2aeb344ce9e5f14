//! Two pure rules by themselves: the verdict on a waiting produce, and the end of an epoch.

use std::path::Path;

use super::answers::Produced;
use super::claims::{Claims, DemoError};
use super::report::{EpochAnswer, Epochs, Position, Settings, pair};
use super::scenes::position;
use super::stage::{Answer, ONE, Stage, TWO, Verdicts};
use crate::controller::ControllerInput;
use crate::replica::epochs::EpochCache;
use crate::replica::pending::{IsrGate, Verdict};
use crate::types::{Epoch, ErrorCode, Offset};

/// The three verdicts, from the pure gate and live. The third needs a shrink between the HW and
/// the verdict; a server decides after each step, so the verdict is held back here.
pub(super) fn verdicts(
    root: &Path,
    settings: Settings,
    claims: &mut Claims,
) -> Result<Vec<String>, DemoError> {
    let gate = |hw, maximal_isr| IsrGate { hw: Offset(hw), maximal_isr, min_isr: 2 };
    let verdicts = [gate(0, 2), gate(1, 2), gate(1, 1)].map(|gate| gate.verdict(Offset(1)));
    let due = [Verdict::NotYet, Verdict::Committed, Verdict::NotEnoughReplicasAfterAppend];
    claims.check("the gate knows three verdicts", &verdicts, &due)?;

    let mut stage = Stage::open(root, &[1, 2], 2, settings.now_ms)?;
    stage.verdicts = Verdicts::HeldBack;
    stage.produce(ONE, "order 1", -1)?;
    stage.fetch(TWO, ONE, Answer::Arrives)?;
    stage.fetch(TWO, ONE, Answer::Arrives)?;
    let there = Position { leo: 1, hw: 1 };
    claims.check("the HW is there", &position(&stage, ONE), &there)?;
    stage.control(ControllerInput::SessionExpired { broker: TWO })?;
    claims.check("the ISR shrinks before the verdict", &stage.isr(), &vec![1])?;
    claims.check("nothing is answered before the verdict", &stage.answered, &vec![])?;
    stage.verdicts = Verdicts::AfterEachStep;
    stage.tick(ONE)?;
    let error = ErrorCode::NotEnoughReplicasAfterAppend;
    let answers = vec![Produced { error, base_offset: None }];
    claims.check("the produce is answered with error 20", &stage.answered, &answers)?;
    Ok(verdicts.iter().map(|verdict| format!("{verdict:?}")).collect())
}

/// The look-up "largest epoch not above".
pub(super) fn epochs(claims: &mut Claims) -> Result<Epochs, DemoError> {
    let entries = vec![(0, 0), (1, 5), (3, 6)];
    let leo = 6;
    let typed = entries.iter().map(|&(epoch, start)| (Epoch(epoch), Offset(start)));
    let cache = EpochCache::new(typed.collect());
    let answers: Vec<_> = [0, 1, 2, 3, 4, -1]
        .into_iter()
        .map(|epoch| {
            let answer = cache.end_offset_for_epoch(Epoch(epoch), Offset(leo)).map(pair);
            EpochAnswer { epoch, answer }
        })
        .collect();
    let due = [Some((0, 5)), Some((1, 6)), Some((1, 6)), Some((3, 6)), Some((3, 6)), None];
    let got: Vec<_> = answers.iter().map(|answer| answer.answer).collect();
    claims.check("an epoch ends where the next one begins", &got, &due.to_vec())?;
    Ok(Epochs { entries, leo, answers })
}
