//! A level-wise checker for stateright models, usable by anyone.

#![doc = include_str!("../README.md")]

mod checker;
mod chunk;
pub mod fingerprint;
mod frontier;
pub mod graph;
pub mod intern;
mod kept;
mod limits;
mod memory;
mod outcome;
mod plain;
mod replay;
pub mod samples;
mod search;
mod space;
pub mod stateright_actors;
mod symmetry;
pub mod system;
mod table;

pub use checker::{Checked, OfModel, check};
pub use graph::{Answer, Graph, explore_graph};
pub use kept::Kept;
pub use limits::{Limits, Until};
pub use outcome::{Bound, Counts, Hit, Outcome, Panic, Verdict};
pub use plain::{Codec, Plain};
pub use replay::{Path, Unrepeatable, replay};
pub use search::{Options, Progress, search, watched};
pub use space::{Goal, Memo, Sink, Sort, Space};
pub use symmetry::{Reduced, Symmetric};
