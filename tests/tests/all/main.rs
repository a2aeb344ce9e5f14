//! Every test that needs more than one crate, in one binary.
//!
//! The index, in the order in which a reader would ask:
//!
//! - [`tidy`]: do the sources keep the house rules?
//! - [`dependencies`]: which crate may know which?
//! - [`clocks`]: does anything read a clock, a random source or a hash order?
//! - [`documents`]: do the documents say what the code does?
//! - [`schema`]: is the published format of a trace the one the code reads?
//! - [`cli`]: what do the binaries print, and with which code do they end?
//!
//! [`workspace`] finds files and binaries for all of them, [`source`] takes Rust apart into code
//! and tests.

mod cli;
mod clocks;
mod dependencies;
mod documents;
mod schema;
mod source;
mod tidy;
mod workspace;
