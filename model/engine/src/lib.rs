//! knows nothing about logs: a checker for stateright models, usable by anyone.

pub mod samples;
