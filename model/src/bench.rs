//! What is measured, and against what: each case is one run of one search in a process of its own.

pub mod packed_log;

use std::sync::Arc;
use std::time::Instant;

use levelwise::stateright_actors::Stateright;
use levelwise::system::Actors;
use levelwise::{Options, Outcome, Plain, Space, samples::election};
use serde::{Deserialize, Serialize};
use stateright::{Checker, Model};

use crate::memory::peak_rss_bytes;
use crate::protocol::Protocol;
use crate::scenario;
use crate::search::{Engine, Limits, search};
use crate::system::System;
use crate::twin::{Constants, Module, Twin};

use packed_log::PackedLog;

/// A run that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// The election sample, an actor model with timers and crashes.
    Election(Searcher),
    /// Kip320 of the twin at (3,2,2,2).
    Kip320(Searcher),
    /// A replicated log in one word.
    PackedLog(Searcher),
    /// The partition of this project in the scenario `under-min-isr`.
    Partition(Searcher),
}

/// Who searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Searcher {
    /// This project's engine with so many threads.
    Ours(usize),
    /// stateright's breadth-first checker with one thread.
    Stateright,
}

/// What one run took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Distinct states.
    pub unique: u64,
    /// Generated states.
    pub generated: u64,
    /// Wall time.
    pub seconds: f64,
    /// Growth of the process's largest resident memory.
    pub bytes: u64,
}

/// What a run is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reference {
    /// Another run.
    Case(&'static str, Case),
    /// A figure that was measured elsewhere and can't be measured here.
    Figure(&'static str, Measured),
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bench {
    /// Its name.
    pub name: &'static str,
    /// What is measured.
    pub ours: Case,
    /// What it is compared with.
    pub reference: Reference,
}

/// Every comparison.
pub const BENCHES: [Bench; 6] = [
    Bench {
        name: "actors-1-thread",
        ours: Case::Election(Searcher::Ours(1)),
        reference: Reference::Case("stateright", Case::Election(Searcher::Stateright)),
    },
    Bench {
        name: "actors-2-threads",
        ours: Case::Election(Searcher::Ours(2)),
        reference: Reference::Case("1 thread", Case::Election(Searcher::Ours(1))),
    },
    Bench {
        name: "kip320-3-2-2-2",
        ours: Case::Kip320(Searcher::Ours(2)),
        // It was measured on two cores of the same kind; it needs Java and TLC.
        reference: Reference::Figure(
            "TLC, 2 workers",
            Measured { unique: 737_794, generated: 1_967_560, seconds: 57.9, bytes: 2_587_718_779 },
        ),
    },
    Bench {
        name: "packed-log-1-thread",
        ours: Case::PackedLog(Searcher::Ours(1)),
        reference: Reference::Case("stateright", Case::PackedLog(Searcher::Stateright)),
    },
    Bench {
        name: "packed-log-2-threads",
        ours: Case::PackedLog(Searcher::Ours(2)),
        reference: Reference::Case("1 thread", Case::PackedLog(Searcher::Ours(1))),
    },
    Bench {
        name: "partition-1-thread",
        ours: Case::Partition(Searcher::Ours(1)),
        reference: Reference::Case("stateright", Case::Partition(Searcher::Stateright)),
    },
];

impl Case {
    /// Its name, which [`Case::by_name`] reads back.
    pub fn name(self) -> String {
        let (what, who) = match self {
            Self::Election(who) => ("election", who),
            Self::Kip320(who) => ("kip320", who),
            Self::PackedLog(who) => ("packed-log", who),
            Self::Partition(who) => ("partition", who),
        };
        match who {
            Searcher::Ours(threads) => format!("{what}/{threads}"),
            Searcher::Stateright => format!("{what}/stateright"),
        }
    }

    /// Those that are compared, each once.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for bench in &BENCHES {
            let reference = match bench.reference {
                Reference::Case(_, reference) => Some(reference),
                Reference::Figure(..) => None,
            };
            for case in [Some(bench.ours), reference].into_iter().flatten() {
                if !all.contains(&case) {
                    all.push(case);
                }
            }
        }
        all
    }

    /// The case with this name, of those that are compared.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|case| case.name() == name)
    }

    /// Runs it.
    pub fn run(self) -> Measured {
        match self {
            Self::Election(who) => {
                let model = election::model(&election::Setup::large());
                match who {
                    Searcher::Stateright => by_stateright(model),
                    Searcher::Ours(threads) => {
                        ours(threads, || Actors::new(Stateright::new(model).unbounded(), 0))
                    }
                }
            }
            Self::Kip320(who) => {
                let constants =
                    Constants { replicas: 3, log_size: 2, max_records: 2, max_leader_epoch: 2 };
                let module = Module::by_name("kip320").expect("a module");
                plain(Twin { module, constants, without: None }, who)
            }
            Self::PackedLog(who) => plain(PackedLog, who),
            Self::Partition(who) => partition(who),
        }
    }
}

fn measured(run: impl FnOnce() -> (u64, u64)) -> Measured {
    let (before, started) = (peak_rss_bytes(), Instant::now());
    let (unique, generated) = run();
    let seconds = started.elapsed().as_secs_f64();
    Measured { unique, generated, seconds, bytes: peak_rss_bytes() - before }
}

fn ours<S: Space>(threads: usize, space: impl FnOnce() -> S) -> Measured {
    measured(|| {
        let options = Options { threads, ..Options::default() };
        let outcome: Outcome = levelwise::search(&space(), &options);
        assert!(outcome.exhausted(), "what is measured is searched to its end");
        (outcome.unique, outcome.counts.generated)
    })
}

fn by_stateright<M>(model: M) -> Measured
where
    M: Model + Send + Sync + 'static,
    M::State: std::hash::Hash + Clone + PartialEq + Send + Sync,
    M::Action: Clone + PartialEq,
{
    measured(|| {
        let checker = model.checker().threads(1).spawn_bfs().join();
        (checker.unique_state_count() as u64, checker.state_count() as u64)
    })
}

fn plain<M>(model: M, who: Searcher) -> Measured
where
    M: levelwise::Codec + Send + Sync + 'static,
    M::State: std::hash::Hash + Clone + PartialEq + Send + Sync,
    M::Action: Clone + PartialEq,
{
    match who {
        Searcher::Stateright => by_stateright(model),
        Searcher::Ours(threads) => ours(threads, || Plain::new(model)),
    }
}

fn partition(who: Searcher) -> Measured {
    let bounds = scenario::by_name("under-min-isr").expect("a scenario").bounds;
    let (engine, threads) = match who {
        Searcher::Ours(threads) => (Engine::Levelwise, threads),
        Searcher::Stateright => (Engine::Stateright, 1),
    };
    measured(|| {
        let system = Arc::new(System::new(Protocol::klog(), bounds));
        let limits = Limits { threads, engine, ..Limits::default() };
        let figures = search(&system, None, &limits).figures;
        (figures.unique, figures.generated)
    })
}

impl Measured {
    /// Distinct states a second.
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    pub fn unique_per_second(self) -> f64 {
        self.unique as f64 / self.seconds
    }

    /// Generated states a second.
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    pub fn generated_per_second(self) -> f64 {
        self.generated as f64 / self.seconds
    }

    /// Bytes of memory a distinct state.
    #[expect(clippy::cast_precision_loss, reason = "an average")]
    pub fn bytes_per_state(self) -> f64 {
        self.bytes as f64 / self.unique as f64
    }
}
