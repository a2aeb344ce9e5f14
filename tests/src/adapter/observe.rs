//! The complete state of a real node, in the words of a trace.
//!
//! [`crate::exempt`] says of each field of the real replica whether it is compared here, checked
//! against something that is compared, or exempt, and why.

use klog::disk::Disk;
use klog::log::hw_file;
use klog::node::{ControllerNode, Node};
use klog::replica::io::{
    AlterPartitionRequest, BrokerImage, BrokerState, MetadataImage, PartitionImage,
};
use klog::replica::isr::{IsrState, Membership, Outcome};
use klog::replica::pending::Waiting;
use klog::replica::progress::Progress;
use klog::replica::{self, Leader, Parts, Registration};
use klog::types::{BrokerEpoch, BrokerId, Offset};
use klog_trace::message::{Image, Member};
use klog_trace::view::{self, BrokerState as State, Session};
use klog_trace::{BrokerView, ControllerView, Life, Record, Role};

use super::decode::{broker, epoch, epoch_start, life, offset, record};
use super::fault::{Fault, small};
use super::{PARTITION, TOPIC};

/// Holds, or the replica contradicts what it was told.
fn check(holds: bool, what: &str) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(Fault::hidden(what)) }
}

/// The state of a broker that is up, and that applied this metadata image last in this life. What
/// is recent is said by an exact clock only, so by its time, or none where it is slow.
pub fn broker_view<D: Disk>(
    node: &Node<D>,
    image: Option<&MetadataImage>,
    now_ms: Option<i64>,
) -> Result<BrokerView, Fault> {
    if let Some(why) = node.failure() {
        return Err(Fault::Internal(why.to_owned()));
    }
    let parts = node.replica().parts();
    check_hidden(&parts, image)?;
    let log = log(node)?;
    check(parts.log.start == Offset(0), "the log start is another than 0")?;
    check(parts.log.leo.0 == log.len() as u64, "the LEO is another than the number of records")?;
    let registration = parts.registration;
    let epochs = parts.log.epochs.entries().iter();
    Ok(BrokerView {
        life: Life::Up,
        broker_epoch: life(parts.config.broker_epoch)?,
        role: role(&parts, now_ms)?,
        partition_epoch: registration
            .map_or(Ok(0), |known| small("partition epoch", known.partition_epoch.0))?,
        epochs: epochs
            .map(|&(epoch, start)| epoch_start(epoch, start))
            .collect::<Result<_, _>>()?,
        hw: offset(parts.log.hw)?,
        hw_checkpoint: hw_checkpoint(node.log().disk())?,
        proposed_at: parts.in_flight.map(proposed_at).transpose()?,
        waiting: waiting(&parts, &log)?,
        diverged: None,
        cut_off: Vec::new(),
        log,
    })
}

/// Every record of the log, read from the disk.
fn log<D: Disk>(node: &Node<D>) -> Result<Vec<Record>, Fault> {
    let log = node.log();
    let mut records = Vec::with_capacity(log.leo().0 as usize);
    let mut strange = None;
    log.for_each_record(log.start(), log.leo(), |stamp, found| match record(stamp, found) {
        Ok(found) => records.push(found),
        Err(fault) => strange = strange.take().or(Some(fault)),
    })?;
    strange.map_or(Ok(records), Err)
}

/// The checkpointed high watermark; 0 if there is none.
fn hw_checkpoint<D: Disk>(disk: &D) -> Result<u8, Fault> {
    let offsets = hw_file::read(disk, hw_file::HW_FILE)?;
    let ours = offsets
        .into_iter()
        .find(|((topic, partition), _)| topic == TOPIC && *partition == PARTITION);
    ours.map_or(Ok(0), |(_, hw)| offset(hw))
}

/// What has no word in a trace, and must follow from what has.
fn check_hidden(parts: &Parts<'_>, image: Option<&MetadataImage>) -> Result<(), Fault> {
    let Some(image) = image else {
        return check(
            parts.registration.is_none() && parts.brokers.is_empty(),
            "it knows metadata that it did not apply in this life",
        );
    };
    check(
        *parts.brokers == image.brokers,
        "it knows the brokers otherwise than its metadata does",
    )?;
    parts.registration.map_or(Ok(()), |registration| {
        let Registration { leader: _, leader_epoch: _, partition_epoch: _, replicas, min_isr } =
            registration;
        check(
            *replicas == image.partition.replicas && *min_isr == image.partition.min_isr,
            "it knows the assignment otherwise than its metadata does",
        )
    })
}

/// Where a proposal was made: leader epoch and partition epoch.
fn proposed_at(proposal: &AlterPartitionRequest) -> Result<(u8, u8), Fault> {
    let partition_epoch = small("partition epoch", proposal.partition_epoch.0)?;
    Ok((epoch(proposal.leader_epoch)?, partition_epoch))
}

fn role(parts: &Parts<'_>, now_ms: Option<i64>) -> Result<Role, Fault> {
    match (parts.role, parts.registration) {
        (replica::Role::Idle, _) => Ok(Role::None),
        (replica::Role::Follower, Some(known)) => Ok(Role::Follower {
            epoch: epoch(known.leader_epoch)?,
            leader: known.leader.map(broker).transpose()?,
        }),
        (replica::Role::Leader(leading), Some(known)) => leader(parts, known, leading, now_ms),
        (replica::Role::Failed, _) => Err(Fault::Internal("a write failed".to_owned())),
        (_, None) => Err(Fault::hidden("a role without a registration")),
    }
}

fn leader(
    parts: &Parts<'_>,
    registration: &Registration,
    leading: &Leader,
    now_ms: Option<i64>,
) -> Result<Role, Fault> {
    let Leader { epoch_start, isr, waiting: _ } = leading;
    let IsrState { leader, membership, followers } = isr;
    check(*leader == parts.id, "another leads in its place")?;
    let committed = membership.committed().iter().copied();
    Ok(Role::Leader {
        epoch: epoch(registration.leader_epoch)?,
        epoch_start: offset(*epoch_start)?,
        isr: committed.map(broker).collect::<Result<_, _>>()?,
        pending: pending(parts, registration, membership)?,
        followers: followers
            .iter()
            .map(|(id, progress)| follower(parts, *id, progress, now_ms))
            .collect::<Result<_, _>>()?,
        min_isr: small("min ISR", registration.min_isr)?,
        known: states(parts.brokers.iter())?,
    })
}

fn follower(
    parts: &Parts<'_>,
    id: BrokerId,
    progress: &Progress,
    now_ms: Option<i64>,
) -> Result<view::Progress, Fault> {
    let Progress { leo, leader_leo_at_fetch, last_fetch_ms, last_caught_up_ms, broker_epoch } =
        *progress;
    let heard = |now_ms: i64| -> Result<view::Heard, Fault> {
        let limit_ms = parts.config.lag_max_ms;
        let recent =
            |at: Option<i64>| at.is_some_and(|at| (now_ms - limit_ms..=now_ms).contains(&at));
        let previous = leader_leo_at_fetch.filter(|_| recent(last_fetch_ms));
        Ok(view::Heard {
            caught_up: recent(last_caught_up_ms),
            previous: previous.map(offset).transpose()?,
        })
    };
    Ok(view::Progress {
        broker: broker(id)?,
        leo: leo.map(offset).transpose()?,
        broker_epoch: broker_epoch.map(life).transpose()?,
        heard: now_ms.map(heard).transpose()?,
    })
}

/// The produces that wait; only a leader's do.
fn waiting(parts: &Parts<'_>, log: &[Record]) -> Result<Vec<view::Waiting>, Fault> {
    let (replica::Role::Leader(leading), Some(known)) = (parts.role, parts.registration) else {
        return Ok(Vec::new());
    };
    leading.waiting.values().map(|produce| waits(known, produce, log)).collect()
}

fn waits(
    registration: &Registration,
    produce: &Waiting,
    log: &[Record],
) -> Result<view::Waiting, Fault> {
    let Waiting { base, required, epoch: of, deadline_ms: _ } = *produce;
    check(
        required.0 == base.0 + 1 && of == registration.leader_epoch,
        "a waiting produce of another epoch, or of more than one record",
    )?;
    let at = offset(base)?;
    let record = log.get(usize::from(at));
    let lost = || Fault::hidden("a produce waits for a record that is not in the log");
    let value = record.ok_or_else(lost)?.value;
    Ok(view::Waiting { offset: at, value, epoch: epoch(of)? })
}

/// The open proposal.
fn pending(
    parts: &Parts<'_>,
    registration: &Registration,
    membership: &Membership,
) -> Result<Option<view::Proposal>, Fault> {
    let Membership::Pending { isr: _, proposal, outcome } = membership else {
        return Ok(None);
    };
    let AlterPartitionRequest {
        broker: proposer,
        broker_epoch,
        leader_epoch,
        partition_epoch,
        isr: wanted,
    } = proposal;
    check(
        (*proposer, *broker_epoch) == (parts.id, parts.config.broker_epoch)
            && (*leader_epoch, *partition_epoch)
                == (registration.leader_epoch, registration.partition_epoch),
        "an open proposal of another life or epoch",
    )?;
    let member = |&(id, of): &(BrokerId, Option<BrokerEpoch>)| -> Result<Member, Fault> {
        Ok((broker(id)?, of.map(life).transpose()?))
    };
    Ok(Some(view::Proposal {
        isr: wanted.iter().map(member).collect::<Result<_, _>>()?,
        outcome: match outcome {
            Outcome::Open => view::Outcome::Open,
            Outcome::Unknown => view::Outcome::Unknown,
        },
    }))
}

/// The registrations, broker 1 first.
fn states<'a>(
    brokers: impl Iterator<Item = (&'a BrokerId, &'a BrokerImage)>,
) -> Result<Vec<State>, Fault> {
    (1..)
        .zip(brokers)
        .map(|(number, (id, image))| {
            check(broker(*id)? == number, "a broker is not registered")?;
            let BrokerImage { epoch, state } = *image;
            let state = match state {
                BrokerState::Active => Session::Active,
                BrokerState::Fenced => Session::Fenced,
                BrokerState::ShuttingDown => Session::ShuttingDown,
            };
            Ok(State { epoch: life(epoch)?, state })
        })
        .collect()
}

/// The state of the controller.
pub fn controller_view(node: &ControllerNode) -> Result<ControllerView, Fault> {
    let controller = node.controller();
    let PartitionImage {
        leader,
        leader_epoch,
        partition_epoch,
        replicas: _,
        isr,
        elr,
        last_leader,
        min_isr,
    } = controller.partition();
    let brokers = |ids: &std::collections::BTreeSet<BrokerId>| {
        ids.iter().copied().map(broker).collect::<Result<_, _>>()
    };
    Ok(ControllerView {
        image: Image {
            leader: leader.map(broker).transpose()?,
            leader_epoch: epoch(*leader_epoch)?,
            partition_epoch: small("partition epoch", partition_epoch.0)?,
            isr: brokers(isr)?,
            elr: brokers(elr)?,
            last_leader: last_leader.map(broker).transpose()?,
            min_isr: small("min ISR", *min_isr)?,
            brokers: states(controller.brokers().iter())?,
        },
        last_broker_epoch: life(controller.last_broker_epoch())?,
    })
}
