//! `check twin`: a module of the public ladder, judged as any other run.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use klog_model::twin::async_isr::{self, AsyncIsr};
use klog_model::twin::run::{Job, Published, run, run_twice};
use klog_model::twin::{Constants, MODULES, Module, Property, Twin};

use super::{Done, Problem, across, files, limits, one_text, say_trouble};
use crate::args::{self, Engine};
use crate::exit;

/// Runs the command.
pub fn twin(command: &args::Twin, interrupted: &Arc<AtomicBool>) -> Done {
    let output = &command.output;
    if output.engine == Engine::Stateright {
        return Err("the twin is searched by this project's own engine; leave --engine out".into());
    }
    let job = job(command)?;
    let mut limits = limits(output, interrupted);
    let identity = job.identity();
    let files = files::files(&command.files, output, &identity)?;
    across::meet(&command.across, output, &identity, &mut limits)?;
    let run = if output.audit { run_twice } else { run };
    files::reported(run(&job, &limits, &files), |report| {
        let code = exit::of_run(&report);
        say_trouble(&report);
        (code, one_text(&report, output.format, code))
    })
}

fn job(command: &args::Twin) -> Result<Job, Problem> {
    let module = published(command)?;
    module.check().map_err(|out_of_range| out_of_range.to_string())?;
    let known: Vec<&'static str> = match module {
        Published::Ladder(_) => Property::ALL.iter().map(|p| p.name()).collect(),
        Published::AsyncIsr(_) => async_isr::Property::ALL.iter().map(|p| p.name()).collect(),
    };
    let only = match &command.property {
        None => None,
        Some(name) => Some(one_of("property", name, &known, |known| known)?),
    };
    Ok(Job { module, only: only.copied(), symmetry: command.symmetry })
}

/// The module with its constants. A constant of another module is no constant of this one.
fn published(command: &args::Twin) -> Result<Published, Problem> {
    let (module, replicas) = (command.module.as_str(), command.replicas);
    let of_ladder = [
        ("--log-size", command.log_size),
        ("--max-records", command.max_records),
        ("--max-leader-epoch", command.max_leader_epoch),
    ];
    let of_async_isr =
        [("--max-offset", command.max_offset), ("--max-version", command.max_version)];
    let foreign = |flags: &[(&str, Option<u8>)], own: &str| {
        let given = flags.iter().find(|flag| flag.1.is_some());
        given.map_or(Ok(()), |(flag, _)| Err(format!("{flag} is not for {module}; it has {own}")))
    };
    if module == Published::ASYNC_ISR {
        foreign(&of_ladder, "--replicas, --max-offset and --max-version")?;
        let guards = async_isr::Guard::ALL;
        let without = removed(command, &guards, |guard| guard.name())?;
        let [max_offset, max_version] =
            [command.max_offset.unwrap_or(1), command.max_version.unwrap_or(2)];
        return Ok(Published::AsyncIsr(AsyncIsr { replicas, max_offset, max_version, without }));
    }
    let Some(module) = Module::by_name(module) else {
        let names = MODULES.iter().map(|m| m.name).chain([Published::ASYNC_ISR]);
        let names = names.collect::<Vec<_>>().join(", ");
        return Err(format!("there is no module `{module}`; choose one of {names}"));
    };
    let own = "--replicas, --log-size, --max-records and --max-leader-epoch";
    foreign(&of_async_isr, own)?;
    let without = removed(command, module.guards, |guard| guard.name())?;
    let [log_size, max_records, max_leader_epoch] = of_ladder.map(|flag| flag.1.unwrap_or(2));
    let constants = Constants { replicas, log_size, max_records, max_leader_epoch };
    Ok(Published::Ladder(Twin { module, constants, without }))
}

fn removed<G: Copy>(
    command: &args::Twin,
    guards: &[G],
    name: impl Fn(&G) -> &'static str,
) -> Result<Option<G>, Problem> {
    let Some(wanted) = &command.without else { return Ok(None) };
    one_of("guard", wanted, guards, name).map(|guard| Some(*guard))
}

fn one_of<'a, T>(
    what: &str,
    wanted: &str,
    all: &'a [T],
    name: impl Fn(&'a T) -> &'static str,
) -> Result<&'a T, Problem> {
    all.iter().find(|one| name(one) == wanted).ok_or_else(|| {
        let names = all.iter().map(name).collect::<Vec<_>>().join(", ");
        format!("this module has no {what} `{wanted}`; it has {names}")
    })
}
