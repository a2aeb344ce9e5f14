//! The checkpoint files: Kafka's layout, and every damage named.

use std::collections::BTreeMap;

use super::super::{epochs_file, hw_file, intent, shutdown_file};
use super::{LogError, Offset, epochs};
use crate::disk::{Disk, Fault, FaultOn, Faulty, MemDisk, Survives, Then};
use crate::types::BrokerEpoch;

fn with(name: &str, text: &[u8]) -> MemDisk {
    let mut disk = MemDisk::new();
    disk.replace(name, text).unwrap();
    disk
}

fn line_of(error: &LogError, file: &str) -> u64 {
    let LogError::CorruptText { file: path, line, remedy, .. } = error else { panic!("{error}") };
    assert!(path.ends_with(file), "{path}");
    assert!(remedy.contains("nothing was changed"), "{remedy}");
    *line
}

#[test]
fn epochs_are_written_as_kafka_writes_them() {
    let mut disk = MemDisk::new();
    assert!(epochs_file::read(&disk).unwrap().is_empty(), "a missing file is empty");
    let entries = epochs(&[(0, 0), (1, 5), (3, 6), (i32::MAX, i64::MAX as u64)]);
    for count in 0..=entries.len() {
        epochs_file::write(&mut disk, &entries[..count]).unwrap();
        assert_eq!(epochs_file::read(&disk).unwrap(), entries[..count]);
    }
    let text = disk.read_file(epochs_file::EPOCHS_FILE).unwrap().unwrap();
    let expected = "0\n4\n0 0\n1 5\n3 6\n2147483647 9223372036854775807\n";
    assert_eq!(std::str::from_utf8(&text).unwrap(), expected);
}

#[test]
fn a_damaged_epoch_file_is_an_error_that_names_the_line() {
    let cases: [(&[u8], u64); 19] = [
        (b"", 1),
        (b"1\n0\n", 1),
        (b"x\n0\n", 1),
        (b"0", 2),
        (b"0\n", 2),
        (b"0\n-1\n", 2),
        (b"0\n99999999999999999999\n", 2),
        (b"0\n1\n", 3),
        (b"0\n9223372036854775807\n0 0\n", 4),
        (b"0\n1\n0\n", 3),
        (b"0\n1\n0 0 0\n", 3),
        (b"0\n1\n0  0\n", 3),
        (b"0\n1\n-1 0\n", 3),
        (b"0\n1\n2147483648 0\n", 3),
        (b"0\n1\n0 9223372036854775808\n", 3),
        (b"0\n2\n1 0\n1 5\n", 4),
        (b"0\n2\n1 5\n2 5\n", 4),
        (b"0\n1\n0 0\n1 5\n", 4),
        (b"0\n1\n0 \xff\n", 3),
    ];
    for (text, line) in cases {
        let disk = with(epochs_file::EPOCHS_FILE, text);
        let error = epochs_file::read(&disk).unwrap_err();
        let shown = String::from_utf8_lossy(text);
        assert_eq!(line_of(&error, epochs_file::EPOCHS_FILE), line, "{shown:?}: {error}");
    }
    let disk = with(epochs_file::EPOCHS_FILE, b"0\n1\nfive 0\n");
    let text = epochs_file::read(&disk).unwrap_err().to_string();
    let start = "memory/leader-epoch-checkpoint: in line 3 expected an epoch and an offset, \
                 found \"five 0\"; ";
    assert!(text.starts_with(start), "{text}");
}

#[test]
fn high_watermarks_are_written_as_kafka_writes_them() {
    let mut disk = MemDisk::new();
    assert!(hw_file::read(&disk, hw_file::HW_FILE).unwrap().is_empty());
    let offsets: hw_file::Offsets = BTreeMap::from([
        (("orders".to_owned(), 10), Offset(5)),
        (("orders".to_owned(), 2), Offset(17)),
        (("a.b_c-d".to_owned(), 0), Offset(0)),
    ]);
    for name in [hw_file::HW_FILE, hw_file::RECOVERY_POINT_FILE] {
        hw_file::write(&mut disk, name, &offsets).unwrap();
        assert_eq!(hw_file::read(&disk, name).unwrap(), offsets);
        let text = disk.read_file(name).unwrap().unwrap();
        assert_eq!(*text, *b"0\n3\na.b_c-d 0 0\norders 2 17\norders 10 5\n");
    }
    for topic in ["", "a b", "a\nb"] {
        let bad = BTreeMap::from([((topic.to_owned(), 0), Offset(0))]);
        let error = hw_file::write(&mut disk, hw_file::HW_FILE, &bad).unwrap_err();
        assert!(matches!(error, LogError::TopicName(_)));
    }
}

#[test]
fn a_damaged_high_watermark_file_is_an_error_that_names_the_line() {
    let cases: [(&[u8], u64); 6] = [
        (b"0\n1\norders 0\n", 3),
        (b"0\n1\norders 0 -1\n", 3),
        (b"0\n1\norders x 1\n", 3),
        (b"0\n1\n 0 1\n", 3),
        (b"0\n2\norders 0 1\norders 0 1\n", 4),
        (b"0\n2\norders 0 1\n", 4),
    ];
    for (text, line) in cases {
        let disk = with(hw_file::HW_FILE, text);
        let error = hw_file::read(&disk, hw_file::HW_FILE).unwrap_err();
        assert_eq!(line_of(&error, hw_file::HW_FILE), line, "{error}");
    }
}

#[test]
fn a_damaged_intent_stops_the_start() {
    for text in ["0\n1\nto\n", "0\n1\nto -1\n", "0\n1\nfrom 3\n", "0\n1\n"] {
        let disk = with(intent::INTENT_FILE, text.as_bytes());
        let before = disk.clone();
        let mut disk = disk;
        let error = super::Log::open(&mut disk, super::SMALL).unwrap_err();
        assert_eq!(line_of(&error, intent::INTENT_FILE), 3);
        assert_eq!(disk, before);
    }
}

#[test]
fn the_word_of_a_clean_shutdown_is_written_as_kafka_writes_it_and_taken_once() {
    let mut disk = MemDisk::new();
    assert_eq!(shutdown_file::take(&mut disk).unwrap(), None);
    for epoch in [0, 5, i64::MAX].map(BrokerEpoch) {
        shutdown_file::write(&mut disk, epoch).unwrap();
        let text = disk.read_file(".kafka_cleanshutdown").unwrap().unwrap();
        let expected = format!("{{\"version\":0,\"brokerEpoch\":{epoch}}}");
        assert_eq!(std::str::from_utf8(&text).unwrap(), expected);
        disk.power_loss(|_| Survives::FLUSHED);
        assert_eq!(shutdown_file::take(&mut disk).unwrap(), Some(epoch));
        disk.power_loss(|_| Survives::FLUSHED);
        assert_eq!(shutdown_file::take(&mut disk).unwrap(), None, "durably gone");
    }
}

#[test]
fn a_damaged_word_of_a_clean_shutdown_is_none_and_goes_too() {
    let cases: [&[u8]; 14] = [
        b"",
        b"{",
        b"5",
        b"null",
        b"{\"version\":0}",
        b"{\"brokerEpoch\":5}",
        b"{\"version\":1,\"brokerEpoch\":5}",
        b"{\"version\":0,\"brokerEpoch\":-1}",
        b"{\"version\":0,\"brokerEpoch\":5",
        b"{\"version\":0,\"brokerEpoch\":5}x",
        b"{\"version\":0,\"brokerEpoch\":\"5\"}",
        b"{\"version\":0,\"brokerEpoch\":9223372036854775808}",
        b"{\"version\":0,\"brokerEpoch\":5,\"brokerEpoch\":6}",
        b"\xff\0\0",
    ];
    for text in cases {
        let mut disk = with(shutdown_file::SHUTDOWN_FILE, text);
        let shown = String::from_utf8_lossy(text);
        assert_eq!(shutdown_file::take(&mut disk).unwrap(), None, "{shown}");
        assert_eq!(disk.list().unwrap(), [""; 0], "{shown}");
    }
    // Another writer's spaces and line ends are no damage.
    let spaced = b" { \"brokerEpoch\" : 7,\n \"version\" : 0 }\n";
    let mut disk = with(shutdown_file::SHUTDOWN_FILE, spaced);
    assert_eq!(shutdown_file::take(&mut disk).unwrap(), Some(BrokerEpoch(7)));
}

#[test]
fn the_word_of_a_clean_shutdown_is_not_given_before_it_is_durably_gone() {
    for on in [FaultOn::Change, FaultOn::Sync] {
        let mut disk = Faulty::new(MemDisk::new());
        shutdown_file::write(&mut disk, BrokerEpoch(5)).unwrap();
        disk.arm(Fault { on, after: 0, tear: 0, then: Then::Works });
        assert!(matches!(shutdown_file::take(&mut disk), Err(LogError::Disk(_))));
    }
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_a_parser_panic_and_no_count_makes_it_allocate(
        text in proptest::collection::vec(proptest::num::u8::ANY, 0..60),
        count in proptest::num::u64::ANY,
    ) {
        let counted = [format!("0\n{count}\n").as_bytes(), &text].concat();
        for text in [text, counted] {
            let disk = with("f", &text);
            let _ = hw_file::read(&disk, "f");
            let _ = epochs_file::read(&with(epochs_file::EPOCHS_FILE, &text));
            let _ = intent::read(&with(intent::INTENT_FILE, &text));
            let mut disk = with(shutdown_file::SHUTDOWN_FILE, &text);
            assert_eq!(shutdown_file::take(&mut disk).unwrap(), None);
        }
    }
}
