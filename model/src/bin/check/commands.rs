//! What each command does.

mod across;
mod bench;
mod files;
mod mutants;
mod record;
mod twin;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use klog_model::cases::{self, Case};
use klog_model::fault::{Caught, Fault, FaultInfo};
use klog_model::protocol::{LADDER, Protocol, Rung};
use klog_model::report::{Job, Report, run, run_twice};
use klog_model::scenario::{self, Scenario};
use klog_model::search::across::Met;
use klog_model::search::by_stateright::Search;
use klog_model::search::{Asked, Engine, Files, Goal, Limits};
use klog_model::system::System;
use klog_model::{suite, svg, text};
use klog_trace::progress::PROGRESS;
use klog_trace::property::{PROPERTIES, WITNESSES};
use klog_trace::trace::Bounds;
use klog_trace::usage::say;
use klog_trace::{Action, Trace};
use serde::Serialize;
use stateright::Model;

use crate::args::{self, Args, Command, Format, List, Output, Show, ShowAs, Subject, What};
use crate::exit;
use crate::side_by_side::{side_by_side, threads};

/// One line that says what is wrong and what to do.
type Problem = String;

/// The exit code, and what is to be printed.
type Done = Result<(u8, String), Problem>;

/// Runs the command.
pub fn dispatch(args: Args, interrupted: &Arc<AtomicBool>) -> Done {
    match args.command {
        None => fits_engine(&args.output).map(|()| match args.suite {
            args::Suite::Ci => run_suite(&args.output, interrupted),
            args::Suite::Deep => run_deep(&args.output, interrupted),
        }),
        Some(Command::Run(command)) => run_one(&command, interrupted),
        Some(Command::Twin(command)) => twin::twin(&command, interrupted),
        Some(Command::Mutants(command)) => mutants::mutants(&command, interrupted),
        Some(Command::Bench(command)) => bench::bench(&command),
        Some(Command::List(command)) => list(&command),
        Some(Command::Record(command)) => record::catalogued(&command),
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

fn json(runs: &[Report], exit: u8) -> String {
    let document = Document { schema: "klog-check/1", runs, exit };
    serde_json::to_string_pretty(&document).expect("a report is plain data")
        + "
"
}

fn limits(output: &Output, interrupted: &Arc<AtomicBool>) -> Limits {
    Limits {
        states: output.max_states,
        depth: output.max_depth,
        memory: output.memory_limit,
        threads: threads(output.threads),
        engine: match output.engine {
            args::Engine::Levelwise => Engine::Levelwise,
            args::Engine::Stateright => Engine::Stateright,
            args::Engine::Timely => Engine::Timely,
        },
        deadline: output
            .max_seconds
            .map(|s| Instant::now() + Duration::from_secs(s.unsigned_abs())),
        interrupted: Arc::clone(interrupted),
        met: Met::default(),
    }
}

/// The standard suite. Each search has one thread; as many run side by side as there are cores.
fn run_suite(output: &Output, interrupted: &Arc<AtomicBool>) -> (u8, String) {
    let jobs: Vec<Job> = suite::suite().iter().map(suite::Expected::job).collect();
    let limits = Limits { threads: 1, ..limits(output, interrupted) };
    let run = if output.audit { run_twice } else { run };
    let run = |job: &Job| run(job, &limits, &Files::default()).expect("without files it begins");
    // The largest first, so that nobody waits for it at the end.
    let order: Vec<usize> = (0..jobs.len()).rev().collect();
    let threads = threads(output.threads);
    let reports = side_by_side(threads, "suite", &order, |at| Some(run(&jobs[at])));
    suite_done(&reports, output.format)
}

/// The deep suite: its searches are large, so each has all threads and all memory to itself.
fn run_deep(output: &Output, interrupted: &Arc<AtomicBool>) -> (u8, String) {
    let limits = limits(output, interrupted);
    let run = if output.audit { run_twice } else { run };
    let mut reports = Vec::new();
    for row in suite::deep() {
        let depth = [limits.depth, row.levels].into_iter().flatten().min();
        let limits = Limits { depth, ..limits.clone() };
        let report = run(&row.job(), &limits, &Files::default()).expect("without files it begins");
        let report = Report { levels: row.levels, ..report };
        // It takes long: say on the way what is done.
        say(&format!("check: {}", text::brief(&report)));
        reports.push(report);
    }
    suite_done(&reports, output.format)
}

fn suite_done(reports: &[Report], format: Format) -> (u8, String) {
    let code = exit::of_suite(reports);
    let text = match format {
        Format::Json => json(reports, code),
        Format::Human => suite_text(reports, code),
    };
    (code, text)
}

fn suite_text(reports: &[Report], code: u8) -> String {
    let mut text = text::table(reports);
    text += "\noutside: states in which more went wrong than is promised to survive; there the \
             four\nproperties about committed records claim nothing\n";
    let loss = reports.iter().find_map(|r| {
        let path = r.violated().find(|row| row.id == "committed-survives")?.told.as_ref()?;
        Some((r, path))
    });
    if let Some((report, path)) = loss {
        let (who, steps, scenario) = (text::protocol(report), path.len(), &report.scenario);
        let path = text::path(path);
        let _ = writeln!(
            text,
            "\nThe shortest interleaving of {scenario} in which {who} loses a committed record \
             ({steps} steps):\n\n{path}"
        );
    }
    let klog = || reports.iter().filter(|r| r.faults.is_empty());
    let sum =
        |of: fn(&Report) -> u64| text::thousands(klog().filter(|r| r.exhausted()).map(of).sum());
    let (states, outside) = (sum(|r| r.unique), sum(|r| r.outside_claim));
    let _ = writeln!(
        text,
        "klog: {states} states in all where the search is exhausted, every one looked at, \
         {outside} of them outside the claim."
    );
    for r in klog().filter(|r| !r.exhausted()) {
        let _ = writeln!(text, "{}", text::brief(r));
    }
    if code != exit::OK {
        let _ = writeln!(text, "NOT everything is as expected and complete (exit {code}).");
    }
    text
}

/// stateright's fingerprints have no seed, and its checker knows no such limits.
fn fits_engine(output: &Output) -> Result<(), Problem> {
    let asked = [
        ("--audit", output.audit),
        ("--max-depth", output.max_depth.is_some()),
        ("--memory-limit", output.memory_limit.is_some()),
    ];
    match asked.into_iter().find(|(_, asked)| *asked) {
        Some((option, _)) if output.engine == args::Engine::Stateright => {
            Err(format!("{option} is for this project's own engine; leave --engine out"))
        }
        _ => Ok(()),
    }
}

/// What must stay possible is judged on the graph of all states, which one engine keeps, in memory.
fn fits_progress(command: &args::Run, only: Option<&str>, asked: Asked) -> Result<(), Problem> {
    let of_graph = matches!(only.and_then(Goal::of), Some(Goal::Lose(_)));
    if !of_graph && asked == Asked::Safety {
        return Ok(());
    }
    let files = &command.files;
    let kept = [&files.spill, &files.checkpoint, &files.resume].into_iter().any(Option::is_some);
    if command.output.engine == args::Engine::Levelwise && !kept && command.across.hosts.is_none() {
        return Ok(());
    }
    let what = "what must stay possible is judged on a graph in the memory of one process";
    Err(format!("{what}; leave --engine, --spill, --checkpoint, --resume and --hosts out"))
}

fn run_one(command: &args::Run, interrupted: &Arc<AtomicBool>) -> Done {
    fits_engine(&command.output)?;
    let (scenario, protocol, bounds) = subject(&command.subject)?;
    let only = match &command.property {
        None => None,
        Some(id) => {
            let row = Goal::of(id).map(Goal::row);
            let known = Goal::rows(Asked::Progress).map(|goal| goal.row().0);
            Some(row.ok_or_else(|| unknown("property", id, known, "properties"))?.0)
        }
    };
    let asked = if command.progress { Asked::Progress } else { Asked::Safety };
    fits_progress(command, only, asked)?;
    let expected = suite::expectation(scenario.name, &protocol, &bounds);
    let job = Job { scenario: scenario.name.to_owned(), protocol, bounds, only, asked, expected };
    let identity = job.identity();
    let files = files::files(&command.files, &command.output, &identity)?;
    if let Some(folder) = &command.record {
        record::prepare(folder)?;
    }
    let mut limits = limits(&command.output, interrupted);
    across::meet(&command.across, &command.output, &identity, &mut limits)?;
    let run = if command.output.audit { run_twice } else { run };
    files::reported(run(&job, &limits, &files), |mut report| {
        let mut code = exit::of_run(&report);
        say_trouble(&report);
        // A search may have taken hours: what it found is printed even if it cannot be recorded.
        if let Some(folder) = &command.record
            && let Err(problem) = record::paths_of(&job, &mut report, folder)
        {
            say(&format!("check: {problem}"));
            code = exit::INTERNAL;
        }
        (code, one_text(&report, command.output.format, code))
    })
}

fn one_text(report: &Report, format: Format, code: u8) -> String {
    match format {
        Format::Json => json(std::slice::from_ref(report), code),
        Format::Human => run_text(report),
    }
}

fn say_trouble(report: &Report) {
    if let Some(trouble) = &report.trouble {
        say(&format!("check: {trouble}"));
    }
}

fn run_text(report: &Report) -> String {
    let mut text = text::report(report);
    for row in report.violated() {
        if let Some(path) = &row.told {
            let _ = writeln!(text, "\n{} is violated by:\n\n{}", row.id, text::path(path));
        }
    }
    for file in report.properties.iter().filter_map(|row| row.trace.as_ref()) {
        let _ = writeln!(text, "recorded to {file}");
    }
    text
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
    let bounds = subject.change(scenario.bounds.clone());
    Ok((scenario, protocol, bounds))
}

fn unknown<'a>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
    list: &str,
) -> Problem {
    let known: Vec<&str> = known.collect();
    format!("unknown {what} `{name}`: known are {} (see `check list {list}`)", known.join(", "))
}

fn list(command: &List) -> Done {
    let lines: Vec<String> = match command.what {
        What::Protocols => LADDER.iter().map(rung_text).collect(),
        What::Faults => Fault::ALL.iter().map(|f| fault_text(&f.info())).collect(),
        What::Properties => {
            let always = PROPERTIES.iter().map(|p| format!("always   {:<20} {}", p.1, p.2));
            let seen = WITNESSES.iter().map(|w| format!("witness  {:<20} {}", w.1, w.2));
            let stays = PROGRESS.iter().map(|p| format!("progress {:<20} {}", p.1, p.2));
            always.chain(stays).chain(seen).collect()
        }
        What::Actions => Action::KINDS.iter().map(|kind| (*kind).to_owned()).collect(),
        What::Scenarios => {
            let all = scenario::scenarios();
            let line = |s: &Scenario| {
                format!("{:<16} {}\n{:<16} {}", s.name, s.sentence, "", text::within(&s.bounds))
            };
            all.iter().map(line).collect()
        }
        What::Traces => record::trace_files(Path::new("traces"))?,
        What::Cases => cases::cases().map(Case::line).collect(),
    };
    Ok((exit::OK, lines.join("\n") + "\n"))
}

fn rung_text((name, sentence, faults): &Rung) -> String {
    let broken: Vec<&str> = faults.iter().map(|f| f.info().name).collect();
    let broken = if broken.is_empty() { "nothing".into() } else { broken.join(", ") };
    format!("{name:<12} {sentence}\n{:<12} broken: {broken}", "")
}

fn fault_text(i: &FaultInfo) -> String {
    let caught = match i.caught {
        Caught::By(scenario, goal, steps) => {
            format!("caught by {} in {scenario}, {steps} steps", goal.row().0)
        }
        Caught::With(other, scenario, goal, steps) => {
            let (goal, other) = (goal.row().0, other.info().name);
            format!("caught with {other} by {goal} in {scenario}, {steps} steps")
        }
        Caught::Never(_, why) => format!("caught by nothing: {why}"),
    };
    let FaultInfo { name, sentence, report, rule, .. } = i;
    format!("{name:<42} {sentence} ({report}; breaks {rule}; {caught})")
}

fn show(command: &Show) -> Done {
    let path = &command.trace;
    let bytes = fs::read(path)
        .map_err(|e| format!("{}: {e}; name a trace file (`check list traces`)", path.display()))?;
    let trace = Trace::from_bytes(&bytes).map_err(|e| format!("{}: {e}", path.display()))?;
    if let Err(untrue) = klog_trace::check_header(&trace) {
        say(&format!("check: note: {}: {untrue}", path.display()));
    }
    let text = match command.show_as {
        ShowAs::Text => text::trace(&trace),
        ShowAs::Svg => svg::sequence(&trace),
    };
    Ok((exit::OK, text))
}

/// stateright's own Explorer on the model.
fn explore(command: &args::Explore) -> Done {
    let (_, protocol, bounds) = subject(&command.subject)?;
    let asked = command.address;
    // The Explorer binds by itself and panics where it cannot: find out first. Port 0 means any
    // that is free, and has a number after this.
    let free = std::net::TcpListener::bind(asked).and_then(|listener| listener.local_addr());
    let address =
        free.map_err(|e| format!("cannot listen on {asked}: {e}; choose another --address"))?;
    let line = format!("exploring on http://{address}/ (Ctrl-C ends it)\n");
    std::io::stdout()
        .write_all(line.as_bytes())
        .map_err(|e| format!("cannot print the address http://{address}/: {e}; free some space"))?;
    // A search for violations of the first property runs on demand behind the page.
    let goal = Some(Goal::Violate(PROPERTIES[0].0));
    let system = Arc::new(System::new(protocol, bounds));
    // The page lives until the process is told to end, so the default handling of Ctrl-C serves.
    let search = Search::new(system, goal, Limits::default());
    let server = std::thread::spawn(move || search.checker().serve(address));
    server.join().map_err(|_| format!("the Explorer on {address} ended"))?;
    Ok((exit::OK, String::new()))
}
