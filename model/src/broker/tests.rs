//! What searches found wrong in this model once.

use std::borrow::Cow;
use std::sync::Arc;

use klog_trace::trace::{Bounds, Clock};

use klog_trace::view::{Outcome, Proposal, Role};
use klog_trace::{Acks, BrokerView, Message};
use stateright::actor::{Actor, Out};

use crate::node::{Event, NodeActor, NodeState, id};
use crate::rules::Rules;

fn leader_of_three() -> (NodeActor, NodeState) {
    let policy = Bounds::NOTHING.policy();
    let actor =
        NodeActor { rules: Rules::correct(), min_isr: 2, policy, clock: Clock::Slow, brokers: 3 };
    let state = actor.on_start(id(1), &None, &mut Out::new());
    (actor, state)
}

fn react(actor: &NodeActor, state: &mut NodeState, from: u8, event: Event) {
    let mut cow = Cow::Borrowed(&*state);
    actor.on_msg(id(1), &mut cow, id(from), event, &mut Out::new());
    let new = cow.into_owned();
    *state = new;
}

fn broker(state: &NodeState) -> &BrokerView {
    match state {
        NodeState::Broker(broker) => broker,
        _ => panic!("b1 is a broker"),
    }
}

/// L1: a metadata record older than what an answer already told must not take the partition
/// epoch back, or the next one cancels a newer proposal and the high watermark runs ahead.
#[test]
fn an_older_metadata_record_takes_nothing_back() {
    let (actor, mut state) = leader_of_three();
    let image = crate::controller::initial(&actor).image;
    let produce = Event::Produce { to: 1, acks: Acks::All, value: 1 };
    react(&actor, &mut state, 4, produce);
    react(&actor, &mut state, 1, Event::LagCheck);
    let accepted = |of, isr: Vec<u8>| {
        Event::Peer(Arc::new(Message::AlterPartitionAnswer {
            of_leader_epoch: 0,
            of_partition_epoch: of,
            error: 0,
            leader_epoch: 0,
            partition_epoch: of + 1,
            isr,
        }))
    };
    let fetch = |broker_epoch| {
        let (epoch, offset, last_epoch) = (0, 0, None);
        Event::Peer(Arc::new(Message::Fetch { epoch, offset, last_epoch, broker_epoch }))
    };
    react(&actor, &mut state, 0, accepted(0, vec![1]));
    react(&actor, &mut state, 2, fetch(2));
    react(&actor, &mut state, 0, accepted(1, vec![1, 2]));
    react(&actor, &mut state, 3, fetch(3));
    let before = broker(&state).clone();
    assert_eq!(before.partition_epoch, 2);
    for (partition_epoch, isr) in [(1, vec![1]), (2, vec![1, 2])] {
        let late = klog_trace::Image { partition_epoch, isr, ..image.clone() };
        react(&actor, &mut state, 0, Event::Metadata(late.into()));
        assert_eq!(*broker(&state), before, "partition epoch {partition_epoch}");
    }
    let Role::Leader { pending, .. } = &broker(&state).role else { panic!("b1 leads") };
    let isr = vec![(1, Some(1)), (2, Some(2)), (3, Some(3))];
    assert_eq!(*pending, Some(Proposal { isr, outcome: Outcome::Open }));
}

/// S3: while a proposal is on its way nothing else is proposed, even if the metadata has settled
/// the ISR meanwhile.
#[test]
fn a_void_proposal_holds_the_slot_until_it_is_answered() {
    let (actor, mut state) = leader_of_three();
    let image = crate::controller::initial(&actor).image;
    react(&actor, &mut state, 4, Event::Produce { to: 1, acks: Acks::Leader, value: 1 });
    react(&actor, &mut state, 1, Event::LagCheck);
    assert_eq!(broker(&state).proposed_at, Some((0, 0)));
    let settled = klog_trace::Image { partition_epoch: 1, isr: vec![1, 2], ..image };
    react(&actor, &mut state, 0, Event::Metadata(settled.into()));
    react(&actor, &mut state, 1, Event::LagCheck);
    let Role::Leader { pending, .. } = &broker(&state).role else { panic!("b1 leads") };
    assert_eq!((pending, broker(&state).proposed_at), (&None, Some((0, 0))));
}
