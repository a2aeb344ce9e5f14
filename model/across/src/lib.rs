//! The searches of `levelwise` on several machines, as a timely dataflow.

#![doc = include_str!("../README.md")]

mod actors;
mod hello;
mod hosts;
mod level;
mod net;
mod outcome;
mod part;
mod portable;
mod search;
mod table;
mod team;
mod told;
mod totals;
mod visit;
mod watch;

pub use hosts::{BadHosts, Hosts};
pub use outcome::{Hit, Outcome, Panic};
pub use portable::{Garbled, Portable};
pub use search::{Wanted, search};
pub use team::{Meeting, NotMet, Team};
pub use watch::Trouble;
