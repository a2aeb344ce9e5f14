//! The only place where the two worlds meet.
//!
//! A trace is what the model says. [`adapter::Cluster`] drives the real brokers and the real
//! controller through the same steps, on the frames that they send themselves, and
//! [`replay`] compares everything that can be seen after every step. [`exempt`] lists each field of
//! the real replica with what became of it in the comparison, so that nothing is left out by
//! accident.

pub mod adapter;
pub mod exempt;
pub mod files;
pub mod replay;
