//! The clients: producers that number their values 1, 2, 3, ... in the order of production.
//!
//! A produce and its answer travel at once: a request still under way is one not yet made, and
//! to judge an answer when it is sent is stricter than when it arrives.

use serde::{Deserialize, Serialize};

use crate::node::{Event, Sends, id};

/// What the clients remember.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Client {
    /// How many values were appended, or may have been.
    pub produced: u8,
}

impl Client {
    /// Reacts to the environment's wish to produce, or to an answer.
    pub fn on_event(&mut self, event: &Event, out: &mut Sends) {
        match *event {
            Event::Produce { to, acks, .. } => {
                self.produced += 1;
                out.send(id(to), Event::Produce { to, acks, value: self.produced });
            }
            // Refused before the append: the value is free for the next try.
            Event::Answer(answer) if answer.offset.is_none() && answer.value == self.produced => {
                self.produced -= 1;
            }
            _ => {}
        }
    }
}
