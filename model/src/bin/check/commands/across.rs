//! `--hosts`: one search by several processes.

use std::fs;
use std::time::Duration;

use klog_model::search::across::Met;
use klog_model::search::{Engine, Identity, Limits};
use klog_trace::usage::say;
use levelwise_timely::{Hosts, Meeting, Team};

use super::{Problem, threads};
use crate::args::{self, Across, Output};

/// A process of which nothing is heard for so long is lost.
const PATIENCE: Duration = Duration::from_secs(10);

/// Meets the other processes, if there is a hosts file. `identity` is all that decides what is
/// searched, but for the limits.
pub fn meet(
    across: &Across,
    output: &Output,
    identity: &Identity,
    limits: &mut Limits,
) -> Result<(), Problem> {
    let (Some(path), Some(process)) = (&across.hosts, across.process) else { return Ok(()) };
    if output.engine == args::Engine::Stateright {
        return Err("--hosts is for the engine timely; leave --engine out".into());
    }
    if output.audit {
        return Err("--audit is for one process; leave it out, or --hosts".into());
    }
    let name = path.display();
    let text = fs::read_to_string(path)
        .map_err(|e| format!("{name}: {e}; name a file with HOST:PORT in each line"))?;
    let hosts = Hosts::read(&text).map_err(|bad| format!("{name}: {bad}"))?;
    let limit = |limit: Option<u64>| limit.map_or_else(|| "none".to_owned(), |n| n.to_string());
    let (depth, states) = (limit(limits.depth.map(u64::from)), limit(limits.states));
    let question = format!("{identity}, max depth {depth}, max states {states}");
    let meeting = Meeting {
        hosts: &hosts,
        process,
        workers: threads(output.threads),
        question: &question,
        wait: Duration::from_secs(across.wait_seconds.into()),
        patience: PATIENCE,
    };
    let team = Team::meet(&meeting).map_err(|e| format!("{name}: {e}"))?;
    let processes = hosts.processes();
    say(&format!("check: {processes} processes have met; the search begins"));
    limits.engine = Engine::Timely;
    limits.met = Met::with(team);
    Ok(())
}
