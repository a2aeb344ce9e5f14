//! The search as a dataflow: one operator, whose output comes back to it one level later.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use levelwise::{Limits, Until};
use timely::communication::{Allocator, initialize_from};
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::{Capability, ConnectLoop, Feedback};
use timely::worker::Worker;

use crate::outcome::Outcome;
use crate::part::{Chain, Next, Part};
use crate::portable::Portable;
use crate::team::Team;
use crate::told::Parcel;
use crate::totals::Totals;
use crate::visit::Crew;
use crate::watch::{Leaves, Watch};

/// A worker that has nothing to do looks this often whether another one was lost.
const LOOK: Duration = Duration::from_millis(20);

/// What is looked for, and when the search ends early.
///
/// Limits are looked at between levels, but for time, memory and interruption. Memory is that of
/// one process. Any process may end the search for all.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Which goals, one bit each.
    pub goals: u64,
    /// Whether to go on when something was found.
    pub until: Until,
    /// When to end early.
    pub limits: Limits,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { goals: u64::MAX, until: Until::default(), limits: Limits::default() }
    }
}

/// What a worker knows at its end.
pub(crate) struct Known {
    pub totals: Totals,
    pub chains: Vec<Chain>,
    /// Whether the search came to its end, whatever ended it.
    pub ended: bool,
}

/// Searches a space together with the other processes of a team. All of them must search the same
/// space for the same, and all get the same outcome.
pub fn search<S>(space: &Arc<S>, mut team: Team, wanted: &Wanted) -> Outcome
where
    S: Portable,
{
    let builders = std::mem::take(&mut team.builders);
    let (per_process, processes) = (team.per_process, team.processes);
    let watch = Arc::clone(&team.watch);
    let workers = per_process * processes;
    let nobody = Known { totals: Totals::new(&**space, wanted), chains: Vec::new(), ended: false };
    let run = {
        let (space, wanted, watch) = (Arc::clone(space), wanted.clone(), Arc::clone(&watch));
        move |allocator: Allocator| {
            // Dropped last, also where it panics: a lost connection waits for it.
            let _leaves = Leaves::new(&watch);
            let mut worker = Worker::new(timely::WorkerConfig::default(), allocator, now());
            let crew = Crew { index: worker.index(), workers, per_process };
            let part = Part::new(Arc::clone(&space), wanted.clone(), crew);
            work(&mut worker, part, &watch)
        }
    };
    watch.expect_workers(builders.len());
    let joined = match initialize_from(builders, Box::new(()), run) {
        Ok(guards) => guards.join(),
        Err(error) => {
            watch.broke(&error);
            Vec::new()
        }
    };
    let known = joined.into_iter().filter_map(Result::ok);
    let known = known.max_by_key(|known| (known.ended, known.totals.depth)).unwrap_or(nobody);
    watch.part(known.ended);
    Outcome::new(&**space, known, &watch, per_process)
}

#[expect(clippy::unnecessary_wraps, reason = "timely takes an option")]
fn now() -> Option<Instant> {
    Some(Instant::now())
}

/// Takes part until all is known, or somebody was lost.
fn work<S: Portable>(worker: &mut Worker, part: Part<S>, watch: &Watch) -> Known {
    let part = Rc::new(RefCell::new(part));
    flow(worker, &part);
    while worker.has_dataflows() && !watch.is_troubled() {
        worker.step_or_park(Some(LOOK));
    }
    for dataflow in worker.installed_dataflows() {
        worker.drop_dataflow(dataflow);
    }
    let mut part = part.borrow_mut();
    let ended = part.has_ended();
    Known { totals: part.totals.clone(), chains: std::mem::take(&mut part.chains), ended }
}

/// The dataflow: what is told at a level goes to whom it is for, and arrives one level later.
fn flow<S: Portable>(worker: &mut Worker, part: &Rc<RefCell<Part<S>>>) {
    let part = Rc::clone(part);
    worker.dataflow::<u64, _, _>(|scope| {
        let (back, told) = scope.feedback::<Vec<Parcel>>(1);
        let by_receiver = Exchange::new(|parcel: &Parcel| u64::from(parcel.to));
        let told = told.unary_frontier(by_receiver, "level", |capability, info| {
            let again = scope.activator_for(info.address);
            let mut capability: Option<Capability<u64>> = Some(capability);
            let mut begun = false;
            move |(input, frontier), output| {
                let mut part = part.borrow_mut();
                input.for_each(|time, parcels| {
                    let level = *time.least().expect("a parcel is told at a level");
                    part.receive(level, parcels.drain(..));
                });
                while let Some(mut at) = capability.take() {
                    if !begun {
                        // All of the level before must be here.
                        if frontier.less_equal(at.time()) {
                            capability = Some(at);
                            return;
                        }
                        part.begin();
                        begun = true;
                    }
                    let mut session = output.session(&at);
                    let next = part.work(&mut |parcel| session.give(parcel));
                    drop(session);
                    match next {
                        Next::Nothing => return,
                        Next::More => {
                            capability = Some(at);
                            return again.activate();
                        }
                        Next::Level => {
                            part.at += 1;
                            at.downgrade(&part.at);
                            capability = Some(at);
                            begun = false;
                        }
                    }
                }
            }
        });
        told.connect_loop(back);
    });
}
