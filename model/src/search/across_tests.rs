//! Two processes, each with a store of its own, against the engine.

use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use klog_trace::trace::Bounds;
use levelwise_timely::{Hosts, Meeting, Team};

use super::Met;
use crate::protocol::Protocol;
use crate::scenario;
use crate::search::{Engine, Found, Goal, Limits, search};
use crate::system::System;

fn lengths(found: &Found) -> Vec<(Goal, usize)> {
    found.paths.iter().map(|(goal, path)| (*goal, path.len())).collect()
}

fn told(found: &Found) -> impl PartialEq + std::fmt::Debug + use<> {
    let figures = &found.figures;
    (
        (figures.unique, figures.generated, figures.depth, figures.bound, figures.left),
        (figures.actions.clone(), found.outside_claim, lengths(found), found.unled.clone()),
    )
}

fn together(protocol: &Protocol, bounds: &Bounds, goal: Option<Goal>) -> Vec<Found> {
    let free = || TcpListener::bind("127.0.0.1:0").expect("a free port");
    let [one, other] = [free(), free()].map(|it| it.local_addr().expect("bound").to_string());
    let hosts = Hosts::read(&format!("{one}\n{other}\n")).expect("good addresses");
    let process = |process| {
        let (wait, patience) = (Duration::from_secs(20), Duration::from_secs(10));
        let question = "the same";
        let meeting = Meeting { hosts: &hosts, process, workers: 1, question, wait, patience };
        let met = Met::with(Team::meet(&meeting).expect("they meet"));
        let system = Arc::new(System::new(protocol.clone(), bounds.clone()));
        search(&system, goal, &Limits { met, engine: Engine::Timely, ..Limits::default() })
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| process(1));
        vec![process(0), other.join().expect("no panic")]
    })
}

#[test]
fn states_that_are_sent_are_the_states_that_the_engine_finds() {
    let of = |scenario: &str, rung: &str| {
        let bounds = scenario::by_name(scenario).expect("a scenario").bounds;
        (Protocol::by_name(rung).expect("a rung"), bounds)
    };
    let loss = Goal::of("committed-survives");
    let cases = [
        (of("fast-failover", "kafka-0.11"), None),
        (of("fast-failover", "klog"), None),
        (of("one-crash", "kafka-0.10"), loss),
    ];
    for ((protocol, bounds), goal) in cases {
        let system = Arc::new(System::new(protocol.clone(), bounds.clone()));
        let alone = search(&system, goal, &Limits::default());
        assert!(alone.figures.unique > 1000);
        for found in together(&protocol, &bounds, goal) {
            assert_eq!(told(&found), told(&alone), "{}", protocol.name);
        }
    }
}
