//! One replica of one partition: the pure protocol core.

pub mod io;
