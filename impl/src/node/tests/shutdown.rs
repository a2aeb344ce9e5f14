//! How a life ends, and what the next one is told of it (D3).

use super::*;
use crate::log::shutdown_file::SHUTDOWN_FILE;

/// A leader with two records, one of them flushed and committed, on this disk.
fn written(disk: &mut Faulty<MemDisk>) -> Node<&mut Faulty<MemDisk>> {
    let (mut node, _) = Node::open(disk, config(1)).unwrap();
    let mut alone = image(1, 0, 0);
    alone.partition.min_isr = 1;
    alone.partition.isr = BTreeSet::from([BrokerId(1)]);
    node.metadata(alone, NOW, &mut Vec::new());
    for value in ["flushed", "written"] {
        let frame = produce_frame(1, &[("orders", 0, &batch(value))]);
        node.receive(CLIENT, Way::Request, &frame, NOW, &mut Vec::new()).unwrap();
        if value == "flushed" {
            node.flush(&mut Vec::new()).unwrap();
        }
    }
    assert_eq!((node.log().flushed(), node.replica().hw()), (Offset(1), Offset(2)));
    node
}

fn has_marker(disk: &MemDisk) -> bool {
    disk.len(SHUTDOWN_FILE).unwrap().is_some()
}

#[test]
fn a_life_that_ends_in_order_leaves_its_epoch_and_it_is_taken_once() {
    let mut disk = Faulty::default();
    written(&mut disk).shut_down().unwrap();
    let mut disk = disk.into_inner();
    disk.power_loss(|_| Survives::FLUSHED);
    assert_eq!(take_clean_shutdown(&mut disk).unwrap(), Some(BrokerEpoch(11)));
    disk.power_loss(|_| Survives::FLUSHED);
    assert_eq!(take_clean_shutdown(&mut disk).unwrap(), None, "it was taken");
    let (node, _) = Node::open(disk, config(1)).unwrap();
    assert_eq!((node.replica().leo(), node.replica().hw()), (Offset(2), Offset(2)));
}

#[test]
fn wherever_a_shutdown_breaks_the_marker_stands_only_over_a_whole_log() {
    let (mut with, mut without) = (0, 0);
    for after in 0.. {
        for survives in [Survives::FLUSHED, Survives::ALL, Survives::bytes(0)] {
            let mut disk = Faulty::default();
            let mut node = written(&mut disk);
            let (on, then) = (FaultOn::Change, Then::StaysBroken);
            node.disk_mut().arm(Fault { on, after, tear: 7, then });
            let done = node.shut_down().is_ok();
            let mut disk = disk.into_inner();
            disk.power_loss(|_| survives);
            assert!(!done || has_marker(&disk), "call {after}");
            if has_marker(&disk) {
                with += 1;
                assert_eq!(take_clean_shutdown(&mut disk).unwrap(), Some(BrokerEpoch(11)));
                let (node, recovery) = Node::open(disk, config(1)).unwrap();
                let at = (node.replica().leo(), node.replica().hw());
                assert_eq!((at, recovery.cut), ((Offset(2), Offset(2)), None), "call {after}");
            } else {
                without += 1;
                assert_eq!(take_clean_shutdown(&mut disk).unwrap(), None);
                Node::open(disk, config(1)).unwrap();
            }
            if done && survives == Survives::bytes(0) {
                assert!(with >= 3 && without > 10, "{with} with, {without} without");
                return;
            }
        }
    }
}

#[test]
fn a_life_whose_disk_failed_leaves_nothing() {
    let mut disk = Faulty::default();
    let mut node = written(&mut disk);
    let fault = Fault { on: FaultOn::Write, after: 0, tear: 0, then: Then::Works };
    node.disk_mut().arm(fault);
    let frame = produce_frame(1, &[("orders", 0, &batch("lost"))]);
    node.receive(CLIENT, Way::Request, &frame, NOW, &mut Vec::new()).unwrap();
    assert_eq!(node.replica().role(), &Role::Failed);
    assert!(matches!(node.shut_down(), Err(NodeError::Storage(LogError::Fenced))));
    assert!(!has_marker(disk.inner()));
}

#[test]
fn a_crash_leaves_nothing_and_a_start_leaves_no_marker_of_another() {
    let mut disk = Faulty::default();
    drop(written(&mut disk));
    assert!(!has_marker(disk.inner()));
    let (node, _) = Node::open(&mut disk, config(1)).unwrap();
    node.shut_down().unwrap();
    assert!(has_marker(disk.inner()));
    // Nobody asked for it: it is gone, durably, before the log is read.
    drop(Node::open(&mut disk, config(1)).unwrap());
    let mut disk = disk.into_inner();
    disk.power_loss(|_| Survives::FLUSHED);
    assert!(!has_marker(&disk));
    // Also when the log cannot be read at all.
    let (node, _) = Node::open(&mut disk, config(1)).unwrap();
    node.shut_down().unwrap();
    disk.flip("00000000000000000000.log", 20, 1);
    assert!(Node::open(&mut disk, config(1)).is_err());
    assert!(!has_marker(&disk));
}
