//! The protocol core reads no clock, no file, no socket.
//!
//! `klog` is the real thing: the replica of one partition as a broker runs it. The core
//! ([`replica`], [`controller`]) decides; the log ([`log`]) and its disks ([`disk`]) store; the
//! codecs ([`wire`]) speak Kafka's own messages. A shell ([`node`]) puts them together; [`demo`]
//! shows them at work, and [`dump`] what they left on a disk.

pub mod controller;
pub mod demo;
pub mod disk;
pub mod dump;
pub mod log;
pub mod node;
pub mod replica;
pub mod types;
pub mod wire;
