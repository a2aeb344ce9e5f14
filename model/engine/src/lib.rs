//! A level-wise checker for stateright models, usable by anyone.

#![doc = include_str!("../README.md")]

mod checker;
mod checkpoint;
mod chunk;
mod disk;
mod edits;
pub mod fingerprint;
mod frontier;
pub mod graph;
pub mod intern;
mod kept;
mod levels;
mod limits;
mod memory;
mod options;
mod outcome;
mod plain;
mod recent;
mod replay;
pub mod samples;
mod search;
mod space;
mod spill;
pub mod stateright_actors;
mod symmetry;
pub mod system;
mod table;

pub use checker::{Checked, OfModel, check};
pub use checkpoint::{Checkpoint, Unusable};
pub use disk::DiskError;
pub use edits::Edits;
pub use graph::{Answer, Graph, explore_graph};
pub use kept::Kept;
pub use limits::{Limits, Until};
pub use options::{Options, Refused};
pub use outcome::{Bound, Counts, Hit, Outcome, Panic, Verdict, panic_message};
pub use plain::{Codec, Plain};
pub use replay::{NoPath, Path, Unrepeatable, replay};
pub use search::{Progress, resume, resume_watched, search, watched};
pub use space::{Goal, Memo, Sink, Sort, Space};
pub use spill::{Spill, Tight};
pub use symmetry::{Reduced, Symmetric};
