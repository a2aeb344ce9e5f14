use super::*;
use crate::action::Acks;
use crate::message::{Image, Message};
use crate::view::{BrokerState, Life, Role, Session};

fn sample() -> Trace {
    let view = BrokerView {
        life: Life::Up,
        broker_epoch: 1,
        role: Role::Follower { epoch: 0, leader: Some(1) },
        partition_epoch: 0,
        log: vec![(0, 1).into()],
        epochs: vec![(0, 0).into()],
        hw: 0,
        hw_checkpoint: 0,
        proposed_at: None,
        waiting: vec![],
        diverged: None,
        cut_off: Vec::new(),
    };
    let image = Image {
        leader: Some(1),
        leader_epoch: 0,
        partition_epoch: 0,
        isr: vec![1],
        elr: vec![],
        last_leader: None,
        min_isr: 1,
        brokers: vec![BrokerState { epoch: 1, state: Session::Active }],
    };
    let fetch = Message::Fetch { epoch: 0, offset: 0, last_epoch: None, broker_epoch: 1 };
    let envelope = Envelope { from: 1, to: 2, message: fetch.into() };
    let step = Step {
        step: 1,
        action: Action::Produce { broker: 1, acks: Acks::All },
        brokers: BTreeMap::from([(1, view.clone())]),
        controller: None,
        sent: vec![envelope.clone()],
        discarded: vec![Discarded { connection: Connection::Broken, envelope: envelope.clone() }],
        idle: Some(2),
        published_to: vec![1],
        answers: vec![ClientAnswer { value: 1, error: 19, offset: None }],
        committed: vec![(0, 1)],
    };
    Trace {
        header: header(),
        start: Start {
            brokers: BTreeMap::from([(1, view)]),
            controller: ControllerView { image, last_broker_epoch: 1 },
            in_flight: vec![envelope],
        },
        steps: vec![step.clone(), Step { step: 2, ..step }],
    }
}

fn header() -> Header {
    Header {
        format: FORMAT.into(),
        version: VERSION,
        protocol: "klog".into(),
        faults: vec![],
        scenario: "sample".into(),
        bounds: Bounds {
            brokers: 1,
            records: 1,
            acks: vec![Acks::All],
            interleaving: Interleaving::Full,
            ..Bounds::NOTHING
        },
        property: "error-19".into(),
        verdict: "witnessed".into(),
        expect: Expect::Conform,
        skipped: vec![],
        steps: 2,
        fingerprint: "0".into(),
    }
}

fn error(text: &str) -> String {
    Trace::parse(text).unwrap_err().to_string()
}

#[test]
fn a_trace_reads_back_as_it_was_written() {
    let trace = sample();
    let text = trace.to_text();
    assert_eq!(text.lines().count(), 4);
    let back = Trace::parse(&text).unwrap();
    assert_eq!(back, trace);
    assert_eq!(back.to_text(), text);
}

#[test]
fn a_file_cut_at_any_byte_is_refused() {
    let text = sample().to_text();
    for length in 0..text.len() {
        assert!(Trace::parse(&text[..length]).is_err(), "cut at byte {length}");
    }
}

#[test]
fn errors_name_the_line_and_the_remedy() {
    let text = sample().to_text();
    let unknown = text.replacen("\"step\":1", "\"colour\":1,\"step\":1", 1);
    let message = error(&unknown);
    assert!(message.starts_with("line 3, column 9: unknown field `colour`"), "{message}");
    let version = error(&text.replace("\"version\":1", "\"version\":2"));
    assert!(version.starts_with("line 1: version 2, this program reads version 1"), "{version}");
    let format = error(&text.replace("klog-trace", "other"));
    assert!(format.starts_with("line 1: format `other`"), "{format}");
    let missing: String = text.lines().take(3).map(|l| l.to_owned() + "\n").collect();
    assert!(error(&missing).starts_with("line 3: 1 steps, but the header says 2"));
    let swapped = text.replace("\"step\":2", "\"step\":3");
    assert!(error(&swapped).starts_with("line 4: step 3 stands where 2 belongs"));
    assert!(error("").starts_with("line 1: the file is empty"));
}

#[test]
fn the_hash_of_fingerprints_is_the_published_one() {
    assert_eq!(fnv1a(""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(fnv1a("a"), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(fnv1a("foobar"), 0x8594_4171_f739_67e8);
}
