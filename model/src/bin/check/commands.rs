//! What each command does.

mod record;

use std::fs;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use klog_model::fault::Fault;
use klog_model::protocol::{LADDER, Protocol};
use klog_model::report::{Expectation, Job, Report, run};
use klog_model::scenario::{self, Scenario};
use klog_model::search::{Goal, Limits, Search};
use klog_model::system::System;
use klog_model::{svg, text};
use klog_trace::property::{PROPERTIES, WITNESSES};
use klog_trace::trace::{Bounds, Interleaving};
use klog_trace::{Action, Trace};
use serde::Serialize;
use stateright::Model;

use crate::args::{self, Args, Command, Format, List, Output, Show, ShowAs, Subject, What};
use crate::exit;

/// One line that says what is wrong and what to do.
type Problem = String;

/// Runs the command and returns the exit code.
pub fn dispatch(args: Args, interrupted: &Arc<AtomicBool>) -> Result<u8, Problem> {
    match args.command {
        None => suite(&args.output, interrupted),
        Some(Command::Run(command)) => run_one(&command, interrupted),
        Some(Command::List(command)) => list(&command),
        Some(Command::Record(command)) => record::record(&command),
        Some(Command::Show(command)) => show(&command),
        Some(Command::Explore(command)) => explore(&command),
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    runs: &'a [Report],
    exit: u8,
}

fn print_json(runs: &[Report], exit: u8) {
    let document = Document {
        schema: "klog-check/1",
        runs,
        exit,
    };
    let text = serde_json::to_string_pretty(&document).expect("a report is plain data");
    println!("{text}");
}

fn limits(output: &Output, interrupted: &Arc<AtomicBool>) -> Limits {
    Limits {
        states: output.max_states,
        deadline: output
            .max_seconds
            .map(|s| Instant::now() + Duration::from_secs(s)),
        interrupted: Arc::clone(interrupted),
    }
}

/// The standard suite. Each search has one thread; as many run side by side as there are cores.
fn suite(output: &Output, interrupted: &Arc<AtomicBool>) -> Result<u8, Problem> {
    let jobs: Vec<Job> = scenario::suite()
        .iter()
        .map(scenario::Expected::job)
        .collect();
    let limits = limits(output, interrupted);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // The largest first, so that nobody waits for it at the end; the table keeps its order.
    let queue = Mutex::new((0..jobs.len()).collect::<Vec<_>>());
    let slots: Vec<Mutex<Option<Report>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..cores.min(jobs.len()) {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().expect("no holder panics").pop();
                    let Some(index) = next else { return };
                    let report = run(&jobs[index], &limits);
                    *slots[index].lock().expect("no holder panics") = Some(report);
                }
            });
        }
    });
    let taken = slots
        .into_iter()
        .map(|s| s.into_inner().expect("no holder panics"));
    let reports: Vec<Report> = taken.map(|r| r.expect("every job ran")).collect();
    let code = exit::of_suite(&reports);
    match output.format {
        Format::Json => print_json(&reports, code),
        Format::Human => print_suite(&reports, code),
    }
    Ok(code)
}

fn print_suite(reports: &[Report], code: u8) {
    println!("{}", text::table(reports));
    let loss = reports.iter().find_map(|r| {
        let path = r
            .violated()
            .find(|row| row.id == "committed-survives")?
            .path
            .as_ref()?;
        Some((r, path))
    });
    if let Some((report, path)) = loss {
        println!(
            "The shortest interleaving in which {} loses a committed record ({} steps):\n\n{}",
            report.protocol,
            path.len(),
            text::path(path)
        );
    }
    let clean = reports
        .iter()
        .filter(|r| r.faults.is_empty() && r.exhausted());
    let states: u64 = clean.map(|r| r.unique).sum();
    println!(
        "klog: {} states in all, every one looked at.",
        text::thousands(states)
    );
    if code != exit::OK {
        println!("NOT everything is as expected or exhausted (exit {code}).");
    }
}

fn run_one(command: &args::Run, interrupted: &Arc<AtomicBool>) -> Result<u8, Problem> {
    let (scenario, protocol, bounds) = subject(&command.subject)?;
    let only = match &command.property {
        None => None,
        Some(id) => {
            let row = Goal::of(id).and_then(Goal::row);
            let known = Goal::every_row().filter_map(Goal::row).map(|r| r.0);
            Some(
                row.ok_or_else(|| unknown("property", id, known, "properties"))?
                    .0,
            )
        }
    };
    let as_defined = bounds == scenario.bounds && protocol.faults.is_empty();
    let expected = as_defined.then(|| Expectation {
        violated: Vec::new(),
        witnesses: scenario.witnesses.to_vec(),
    });
    let job = Job {
        scenario: scenario.name.to_owned(),
        protocol,
        bounds,
        only,
        expected,
    };
    let report = run(&job, &limits(&command.output, interrupted));
    let code = exit::of_run(&report);
    match command.output.format {
        Format::Json => print_json(&[report], code),
        Format::Human => {
            print!("{}", text::report(&report));
            for row in report.violated() {
                if let Some(path) = &row.path {
                    println!("\n{} is violated by:\n\n{}", row.id, text::path(path));
                }
            }
        }
    }
    Ok(code)
}

/// The scenario, protocol and bounds that the flags name.
fn subject(subject: &Subject) -> Result<(Scenario, Protocol, Bounds), Problem> {
    let all = scenario::scenarios();
    let names = all.iter().map(|s| s.name);
    let scenario = scenario::by_name(&subject.scenario)
        .ok_or_else(|| unknown("scenario", &subject.scenario, names, "scenarios"))?;
    let rungs = LADDER.iter().map(|r| r.0);
    let mut protocol = Protocol::by_name(&subject.protocol)
        .ok_or_else(|| unknown("protocol", &subject.protocol, rungs, "protocols"))?;
    for name in &subject.faults {
        let known = Fault::ALL.iter().map(|f| f.info().name);
        let fault = Fault::by_name(name).ok_or_else(|| unknown("fault", name, known, "faults"))?;
        if !protocol.faults.contains(&fault) {
            protocol.faults.push(fault);
        }
    }
    let mut bounds = scenario.bounds.clone();
    let set = |field: &mut u8, flag: Option<u8>| *field = flag.unwrap_or(*field);
    set(&mut bounds.brokers, subject.brokers);
    set(&mut bounds.min_isr, subject.min_isr);
    set(&mut bounds.records, subject.records);
    set(&mut bounds.moves, subject.moves);
    set(&mut bounds.crashes, subject.crashes);
    set(&mut bounds.power_losses, subject.power_losses);
    set(&mut bounds.lag_checks, subject.lag_checks);
    set(&mut bounds.checkpoints, subject.checkpoints);
    bounds.interleaving = match subject.interleaving {
        Some(args::Interleaving::Full) => Interleaving::Full,
        Some(args::Interleaving::Merged) => Interleaving::Merged,
        None => bounds.interleaving,
    };
    Ok((scenario, protocol, bounds))
}

fn unknown<'a>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
    list: &str,
) -> Problem {
    let known: Vec<&str> = known.collect();
    format!(
        "unknown {what} `{name}`: known are {} (see `check list {list}`)",
        known.join(", ")
    )
}

fn list(command: &List) -> Result<u8, Problem> {
    match command.what {
        What::Protocols => {
            for (name, sentence, faults) in LADDER {
                let faults: Vec<&str> = faults.iter().map(|f| f.info().name).collect();
                println!("{name:<12} {sentence}");
                if !faults.is_empty() {
                    println!("{:<12} broken: {}", "", faults.join(", "));
                }
            }
        }
        What::Faults => {
            for fault in Fault::ALL {
                let i = fault.info();
                println!(
                    "{:<34} {} ({}; breaks {})",
                    i.name, i.sentence, i.report, i.rule
                );
            }
        }
        What::Properties => {
            for (_, id, sentence) in PROPERTIES {
                println!("always   {id:<20} {sentence}");
            }
            for (_, id, sentence) in WITNESSES {
                println!("witness  {id:<20} {sentence}");
            }
        }
        What::Actions => Action::KINDS.iter().for_each(|kind| println!("{kind}")),
        What::Scenarios => {
            for s in scenario::scenarios() {
                println!("{:<18} {}", s.name, s.sentence);
            }
        }
        What::Traces => {
            for file in record::trace_files()? {
                println!("{file}");
            }
        }
    }
    Ok(exit::OK)
}

fn show(command: &Show) -> Result<u8, Problem> {
    let path = &command.trace;
    let text = fs::read_to_string(path).map_err(|e| {
        format!(
            "{}: {e}; name a trace file (`check list traces`)",
            path.display()
        )
    })?;
    let trace = Trace::parse(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    match command.show_as {
        ShowAs::Text => print!("{}", text::trace(&trace)),
        ShowAs::Svg => print!("{}", svg::sequence(&trace)),
    }
    Ok(exit::OK)
}

/// stateright's own Explorer on the model.
fn explore(command: &args::Explore) -> Result<u8, Problem> {
    let (_, protocol, bounds) = subject(&command.subject)?;
    let address = command.address;
    // The Explorer binds by itself and panics where it cannot: find out first.
    let free = std::net::TcpListener::bind(address);
    free.map_err(|e| format!("cannot listen on {address}: {e}; choose another --address"))?;
    println!("exploring on http://{address}/ (Ctrl-C ends it)");
    // A search for violations of the first property runs on demand behind the page.
    let goal = Goal::Violate(PROPERTIES[0].0);
    let system = Arc::new(System::new(protocol, bounds));
    // The page lives until the process is told to end, so the default handling of Ctrl-C serves.
    let search = Search::new(system, goal, Limits::default());
    let server = std::thread::spawn(move || search.checker().serve(address));
    server
        .join()
        .map_err(|_| format!("the Explorer on {address} ended"))?;
    Ok(exit::OK)
}
