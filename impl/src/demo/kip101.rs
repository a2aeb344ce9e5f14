//! Scenario 1 of KIP-101: a follower that truncates to its own high watermark loses a record.
//!
//! The wrong truncation is done here by hand, on the follower's log between two starts. The code of
//! the broker never does it. The follower is back before its session has ended, so that nobody
//! notices; the leader's session ends, so it has to register when it comes back.

use std::path::Path;

use super::answers::Produced;
use super::claims::{Claims, DemoError};
use super::report::{EpochTruncation, HwTruncation, Kip101, Position, Settings, pair};
use super::stage::{Answer, ONE, Stage, TOPIC, TWO};
use crate::controller::ControllerInput;
use crate::disk::FsDisk;
use crate::log::{Log, LogConfig, hw_file};
use crate::node::NodeError;
use crate::replica::truncation::truncation_offset;
use crate::types::{ErrorCode, Offset};

/// How far the second record gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Three fetches: both brokers have it, nobody knows.
    NotCommitted,
    /// The KIP's own: a fourth fetch reaches the leader, its answer does not arrive. The leader
    /// has committed the record and said so; the follower does not know.
    Committed,
}

/// How a restarting follower truncates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Restart {
    /// To its own high watermark: wrong.
    ByHighWatermark,
    /// To where the leader says its newest epoch ends: right.
    ByEpoch,
}

pub(super) fn play(
    root: &Path,
    settings: Settings,
    claims: &mut Claims,
) -> Result<Kip101, DemoError> {
    let mut lost = |name: &str, form, restart| {
        let mut scene = Scene { stage: open(&root.join(name), settings)?, claims: &mut *claims };
        scene.play(form, restart)
    };
    let (first, _) = lost("1-by-hw", Form::NotCommitted, Restart::ByHighWatermark)?;
    let (second, _) = lost("2-by-hw", Form::Committed, Restart::ByHighWatermark)?;
    let (third, end) = lost("1-by-epoch", Form::NotCommitted, Restart::ByEpoch)?;
    let (fourth, _) = lost("2-by-epoch", Form::Committed, Restart::ByEpoch)?;
    claims.check("by the HW, a record not committed is lost", &first, &1)?;
    claims.check("by the HW, a committed record is lost", &second, &1)?;
    claims.check("by the epoch, nothing is lost", &(third, fourth), &(0, 0))?;
    let end_offset = end.unwrap_or_default();
    Ok(Kip101 {
        hw_truncation: HwTruncation { lost: first, committed_lost: second },
        epoch_truncation: EpochTruncation { end_offset, lost: third + fourth },
    })
}

fn open(root: &Path, settings: Settings) -> Result<Stage, DemoError> {
    Stage::open(root, &[1, 2], settings.min_isr, settings.now_ms)
}

struct Scene<'a> {
    stage: Stage,
    claims: &'a mut Claims,
}

impl Scene<'_> {
    /// Plays to the end. Answers the number of records that no broker has any more, and what the
    /// leader said about the end of epoch 0.
    fn play(
        &mut self,
        form: Form,
        restart: Restart,
    ) -> Result<(u64, Option<(i32, u64)>), DemoError> {
        self.produce_two(form)?;
        self.stage.checkpoint(TWO)?;
        self.stage.kill(TWO)?;
        if restart == Restart::ByHighWatermark {
            let dir = self.stage.dir_of(TWO);
            let leo = truncate_to_hw(FsDisk::open(dir)?)?;
            self.claims.check("the wrong truncation drops the second record", &leo, &Offset(1))?;
        }
        self.stage.resume(TWO)?;
        let end = match restart {
            Restart::ByHighWatermark => None,
            Restart::ByEpoch => Some(self.reconcile()?),
        };
        self.change_leader()?;
        let mut left = self.stage.values(ONE)?;
        let others = self.stage.values(TWO)?;
        self.claims.check("both brokers end with the same records", &left, &others)?;
        left.retain(|value| value == "m1" || value == "m2");
        Ok((2 - left.len() as u64, end))
    }

    /// m1 is committed and known to be; m2 is on both brokers.
    fn produce_two(&mut self, form: Form) -> Result<(), DemoError> {
        let stage = &mut self.stage;
        stage.produce(ONE, "m1", -1)?;
        stage.fetch(TWO, ONE, Answer::Arrives)?;
        stage.fetch(TWO, ONE, Answer::Arrives)?;
        stage.produce(ONE, "m2", -1)?;
        stage.fetch(TWO, ONE, Answer::Arrives)?;
        if form == Form::Committed {
            stage.fetch(TWO, ONE, Answer::IsLost)?;
        }
        let at = |(leo, hw)| Position::new(leo, hw);
        let (leader, follower) = (at(stage.position(ONE)), at(stage.position(TWO)));
        let committed = |base| Produced { error: ErrorCode::None, base_offset: Some(Offset(base)) };
        let (hw, answers) = match form {
            Form::NotCommitted => (1, vec![committed(0)]),
            Form::Committed => (2, vec![committed(0), committed(1)]),
        };
        self.claims.check("the leader has both records", &leader, &Position { leo: 2, hw })?;
        self.claims.check("so has the follower", &follower, &Position { leo: 2, hw: 1 })?;
        self.claims.check("m2 is acknowledged if it is committed", &stage.answered, &answers)
    }

    /// The follower learns from the leader where epoch 0 ends.
    fn reconcile(&mut self) -> Result<(i32, u64), DemoError> {
        let end = self.stage.end_offset(ONE, 0)?.map(|end| (end.epoch, end.end_offset));
        let log = self.stage.node(TWO).replica().log();
        let to = end.map(|end| truncation_offset(end, &log.epochs, log.leo));
        self.claims.check("epoch 0 ends at 2, so nothing is cut", &to, &Some(Offset(2)))?;
        self.stage.fetch(TWO, ONE, Answer::Arrives)?;
        let (leo, _) = self.stage.position(TWO);
        self.claims.check("the restarted follower keeps both records", &leo, &Offset(2))?;
        Ok(end.map(pair).unwrap_or_default())
    }

    /// The leader dies, the follower leads, and the old leader comes back and follows.
    fn change_leader(&mut self) -> Result<(), DemoError> {
        self.stage.kill(ONE)?;
        self.stage.control(ControllerInput::SessionExpired { broker: ONE })?;
        let epoch = self.stage.node(TWO).replica().registration().map(|known| known.leader_epoch.0);
        let leads = self.stage.node(TWO).replica().leader().is_some();
        self.claims.check("the follower leads epoch 1", &(leads, epoch), &(true, Some(1)))?;
        self.stage.register(ONE)?;
        self.stage.unfence(ONE)?;
        self.stage.fetch(ONE, TWO, Answer::Arrives)?;
        self.stage.fetch(ONE, TWO, Answer::Arrives)?;
        Ok(())
    }
}

/// What a broker must not do when it starts. Answers the log end after it.
fn truncate_to_hw(disk: FsDisk) -> Result<Offset, DemoError> {
    let (mut log, _) = Log::open(disk, LogConfig::default()).map_err(NodeError::from)?;
    let offsets = hw_file::read(log.disk(), hw_file::HW_FILE).map_err(NodeError::from)?;
    let hw = offsets.get(&(TOPIC.to_owned(), 0)).copied().unwrap_or_default();
    Ok(log.truncate_to(hw).map_err(NodeError::from)?)
}
