//! Processes that meet on loopback, or do not; here each is a thread with a space of its own.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use levelwise::{Bound, Limits, Until};
use levelwise_timely::{Hosts, Meeting, NotMet, Outcome, Team, Trouble, Wanted, search};

use crate::same::{across, by_engine};
use crate::stairs::Stairs;

/// As many addresses as processes, with ports that are free.
fn hosts(processes: usize) -> Hosts {
    let port = |_| TcpListener::bind("127.0.0.1:0").expect("a free port");
    let all: Vec<TcpListener> = (0..processes).map(port).collect();
    let line = |it: &TcpListener| format!("{}\n", it.local_addr().expect("bound"));
    Hosts::read(&all.iter().map(line).collect::<String>()).expect("good addresses")
}

fn meeting(hosts: &Hosts, process: usize) -> Meeting<'_> {
    let (wait, patience) = (Duration::from_secs(20), Duration::from_secs(10));
    Meeting { hosts, process, workers: 2, question: "stairs", wait, patience }
}

/// What each of so many processes does, given its number and its team.
fn each<T: Send>(processes: usize, act: impl Fn(usize, Team) -> T + Sync) -> Vec<T> {
    let hosts = hosts(processes);
    thread::scope(|scope| {
        let process = |n| {
            let (hosts, act) = (&hosts, &act);
            scope.spawn(move || act(n, Team::meet(&meeting(hosts, n)).expect("they meet")))
        };
        let all: Vec<_> = (0..processes).map(process).collect();
        all.into_iter().map(|process| process.join().expect("no panic")).collect()
    })
}

fn searched(wanted: &Wanted) -> impl Fn(usize, Team) -> Outcome + Sync {
    let wanted = wanted.clone();
    move |_, team| {
        let space = Arc::new(Stairs::small().space());
        let outcome = search(&space, team, &wanted);
        outcome.verify(&*space).expect("each path leads to its goal");
        outcome
    }
}

#[test]
fn two_and_three_processes_find_what_the_engine_finds() {
    let one = Wanted { goals: 1, until: Until::AllHit, ..Wanted::default() };
    let limits = Limits { depth: Some(4), ..Limits::default() };
    let shallow = Wanted { limits, ..Wanted::default() };
    for wanted in [Wanted::default(), one, shallow] {
        let space = Arc::new(Stairs::small().space());
        let expected = by_engine(&space, &wanted);
        let alone = search(&space, Team::alone(1), &wanted);
        for processes in [2, 3] {
            for outcome in each(processes, searched(&wanted)) {
                assert_eq!(across(&outcome), expected);
                assert_eq!((&outcome.trouble, &outcome.goals), (&None, &alone.goals));
            }
        }
    }
}

/// Whoever leaves is missed by all others, and what they say is no verdict.
#[test]
fn a_process_that_leaves_ends_the_search_of_all() {
    for processes in [2, 3] {
        let act = |n: usize, team: Team| match n {
            1 => {
                drop(team);
                None
            }
            _ => Some(searched(&Wanted::default())(n, team)),
        };
        for outcome in each(processes, act).into_iter().flatten() {
            assert_eq!(outcome.bound(), Some(Bound::Worker));
            let trouble = outcome.trouble.expect("trouble");
            let told = matches!(trouble, Trouble::GaveUp { .. } | Trouble::Lost { .. });
            assert!(told, "{trouble}");
        }
    }
}

#[test]
fn who_is_not_there_is_named() {
    let hosts = hosts(2);
    for (process, other) in [(0, 1), (1, 0)] {
        let wait = Duration::from_millis(100);
        let met = Team::meet(&Meeting { wait, ..meeting(&hosts, process) });
        let error = met.err().expect("nobody is there");
        assert!(matches!(&error, NotMet::NotThere { process, .. } if *process == other));
        let (text, address) = (error.to_string(), hosts.address(other));
        let begins = format!("process {other} ({address}) was not met within 0 s: ");
        assert!(text.starts_with(&begins) && text.contains("; start it"), "{text}");
    }
    let nobody = Team::meet(&meeting(&hosts, 2)).err().map(|error| error.to_string());
    assert_eq!(
        nobody.as_deref(),
        Some("there is no process 2: the hosts file has 2, counted from 0")
    );
}

#[test]
fn processes_that_ask_something_else_refuse_each_other() {
    let hosts = hosts(2);
    let other = |n, workers, question: &'static str| {
        let meeting = Meeting { workers, question, ..meeting(&hosts, n) };
        Team::meet(&meeting).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let both = |workers, question: &'static str| {
        thread::scope(|scope| {
            let one = scope.spawn(|| other(1, workers, question));
            [other(0, 2, "stairs"), one.join().expect("no panic")]
        })
    };
    for text in both(2, "ladders") {
        assert!(text.contains("has another question: `"), "{text}");
        assert!(text.contains(": ladders`") && text.contains(": stairs`"), "{text}");
        assert!(text.ends_with("; start all processes with the same flags"), "{text}");
    }
    for text in both(3, "stairs") {
        assert!(text.contains("has another number of workers: "), "{text}");
    }
}

#[test]
fn a_stranger_is_sent_away() {
    let hosts = hosts(2);
    let outcomes = thread::scope(|scope| {
        let first = scope.spawn(|| Team::meet(&meeting(&hosts, 0)).map(run));
        // The door is open when somebody can knock.
        let mut knocks = std::iter::repeat_with(|| TcpStream::connect(hosts.address(0)));
        let stranger = knocks.find_map(Result::ok).expect("a door");
        (&stranger).write_all(b"GET / HTTP/1.1\r\n\r\n").expect("an open door");
        let second = Team::meet(&meeting(&hosts, 1)).map(run);
        [first.join().expect("no panic"), second]
    });
    for outcome in outcomes {
        assert!(outcome.is_ok_and(|outcome| outcome.exhausted()));
    }
}

fn run(team: Team) -> Outcome {
    searched(&Wanted::default())(0, team)
}
