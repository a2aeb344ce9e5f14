//! Scripts over whole replicas, and input nobody would send.

mod departures;
mod follower;
mod harness;
mod leader;
mod robustness;
mod scenarios;
