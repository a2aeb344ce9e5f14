//! The flags of long searches: where they go on when memory is short, and another day.

use klog_model::report::Report;
use klog_model::search::{Files, Identity, Kept};
use klog_trace::usage::say;
use levelwise::Unusable;

use super::{Done, Problem};
use crate::args::{self, Engine, Output};
use crate::exit;

/// The files that the flags name, for a search of this identity.
pub fn files(given: &args::Files, output: &Output, identity: &Identity) -> Result<Files, Problem> {
    let kept = match (&given.checkpoint, &given.resume) {
        (Some(folder), _) => Some(("--checkpoint", folder, false)),
        (None, Some(folder)) => Some(("--resume", folder, true)),
        (None, None) => None,
    };
    let flag = kept.map(|(flag, ..)| flag);
    let spill = given.spill.as_ref().map(|_| "--spill");
    if let (Some(flag), true) = (flag.or(spill), output.engine != Engine::Levelwise) {
        return Err(format!("{flag} is for this project's own engine; leave --engine out"));
    }
    if let (Some(flag), true) = (flag, output.audit) {
        return Err(format!("--audit searches twice, {flag} is of one search; leave one out"));
    }
    if given.spill.is_some() && output.memory_limit.is_none() {
        return Err("--spill goes on where --memory-limit ends; give that as well".to_owned());
    }
    let kept = kept.map(|(_, folder, resume)| Kept {
        folder: folder.clone(),
        identity: identity.clone(),
        resume,
    });
    Ok(Files { spill: given.spill.clone(), kept })
}

/// What is printed of a search; of one that could not begin, one line that says why.
pub fn reported(
    ran: Result<Report, Unusable>,
    printed: impl FnOnce(Report) -> (u8, String),
) -> Done {
    match ran {
        Ok(report) => {
            if let Some(error) = &report.disk {
                say(&format!("check: {error}"));
            }
            Ok(printed(report))
        }
        Err(error @ Unusable::Interrupted { .. }) => {
            say(&format!("check: {error}"));
            Ok((exit::INTERRUPTED, String::new()))
        }
        Err(error) => Err(error.to_string()),
    }
}
