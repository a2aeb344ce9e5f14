//! Describes and judges, never acts.
//!
//! The one vocabulary in which model and implementation are compared: what happened
//! ([`Action`]), what was seen ([`BrokerView`], [`ControllerView`], [`Message`]), what must hold
//! ([`property::PROPERTIES`]), and the file that carries all three ([`Trace`]). A property is
//! written once and judges a model state, a replayed step and a recorded line alike.

pub mod action;
pub mod bounds;
pub mod diff;
pub mod ghost;
pub mod message;
pub mod progress;
pub mod property;
pub mod told;
pub mod trace;
pub mod usage;
pub mod view;
pub mod witness;

pub use action::{Acks, Action, Connection};
pub use ghost::Ghost;
pub use message::{ClientAnswer, Envelope, Image, Message};
pub use told::{Told, check_header};
pub use trace::{Divergence, Expect, Header, Step, Trace, TraceError};
pub use view::{BrokerView, ControllerView, EpochStart, Life, Record, Role, World};
