//! States of actor systems, sent part by part: each part's value once, from then on its number.
//!
//! A row has numbers of interned values. They are sent as they are, and the first time that a
//! number is sent to a worker its value comes with it, as JSON. The receiver keeps the value in its
//! own store and remembers which number it has there.

use levelwise::fingerprint::mix;
use levelwise::system::{Actors, State, System};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::portable::{Garbled, Portable};
use crate::table::Map;

/// Which numbers of each slot were sent; a slot is an actor, the world, or the messages.
#[derive(Debug, Default)]
pub struct Told(Vec<Vec<u64>>);

impl Told {
    /// Whether this number is sent for the first time.
    fn is_first(&mut self, slot: usize, number: u32) -> bool {
        if self.0.len() <= slot {
            self.0.resize_with(slot + 1, Vec::new);
        }
        let (word, bit) = (number as usize / 64, 1 << (number % 64));
        let bits = &mut self.0[slot];
        if bits.len() <= word {
            bits.resize(word + 1, 0);
        }
        let first = bits[word] & bit == 0;
        bits[word] |= bit;
        first
    }
}

/// Which number of the other one, slot by slot, is which here.
#[derive(Debug, Default)]
pub struct Learnt(Map<u32>);

/// The key of a number in a slot; no two have the same.
fn key(slot: usize, number: u32) -> u64 {
    mix((slot as u64) << 32 | u64::from(number))
}

/// Writes a number, and its value if that was not sent before.
fn put(
    slot: usize,
    number: u32,
    told: &mut Told,
    out: &mut Vec<u8>,
    value: impl FnOnce() -> Vec<u8>,
) {
    let first = told.is_first(slot, number);
    out.extend_from_slice(&(number << 1 | u32::from(first)).to_le_bytes());
    if first {
        let value = value();
        out.extend_from_slice(&(value.len() as u32).to_le_bytes());
        out.extend_from_slice(&value);
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("a part of a state is plain data")
}

fn word(bytes: &mut &[u8]) -> Result<u32, Garbled> {
    let (word, rest) = bytes.split_first_chunk::<4>().ok_or(Garbled)?;
    *bytes = rest;
    Ok(u32::from_le_bytes(*word))
}

/// Reads a number, and keeps its value if that comes with it. Returns the number here.
fn take<T: DeserializeOwned>(
    slot: usize,
    bytes: &mut &[u8],
    learnt: &mut Learnt,
    keep: impl FnOnce(T) -> u32,
) -> Result<u32, Garbled> {
    let code = word(bytes)?;
    let theirs = code >> 1;
    if code & 1 == 0 {
        return learnt.0.get(&key(slot, theirs)).copied().ok_or(Garbled);
    }
    let len = word(bytes)? as usize;
    let (value, rest) = bytes.split_at_checked(len).ok_or(Garbled)?;
    *bytes = rest;
    let mine = keep(serde_json::from_slice(value).map_err(|_| Garbled)?);
    learnt.0.insert(key(slot, theirs), mine);
    Ok(mine)
}

impl<S> Portable for Actors<S>
where
    S: System + Send + 'static,
    S::Local: Serialize + DeserializeOwned,
    S::World: Serialize + DeserializeOwned,
    S::Message: Serialize + DeserializeOwned,
{
    type Told = Told;
    type Learnt = Learnt;

    fn pack(&self, row: &[u32], told: &mut Told, out: &mut Vec<u8>) {
        let (actors, words) = (self.system().actors(), self.system().words());
        // Only where something is told for the first time the state itself is looked at.
        let state = std::cell::OnceCell::new();
        let state = || -> &State<'_, S> { state.get_or_init(|| self.state(row)) };
        for (actor, &number) in row[..actors].iter().enumerate() {
            put(actor, number, told, out, || json(state().local(actor)));
        }
        put(actors, row[actors], told, out, || json(state().world()));
        let (plain, flights) = row[actors + 1..].split_at(words);
        for word in plain {
            out.extend_from_slice(&word.to_le_bytes());
        }
        for &number in flights {
            put(actors + 1, number, told, out, || json(state().message_of(number)));
        }
    }

    fn unpack(
        &self,
        mut bytes: &[u8],
        learnt: &mut Learnt,
        row: &mut Vec<u32>,
    ) -> Result<(), Garbled> {
        let (actors, words) = (self.system().actors(), self.system().words());
        let bytes = &mut bytes;
        row.clear();
        for actor in 0..actors {
            row.push(take(actor, bytes, learnt, |local| self.keep_local(actor, local))?);
        }
        row.push(take(actors, bytes, learnt, |world| self.keep_world(world))?);
        for _ in 0..words {
            row.push(word(bytes)?);
        }
        while !bytes.is_empty() {
            row.push(take(actors + 1, bytes, learnt, |message| self.keep_message(message))?);
        }
        Ok(())
    }

    fn fingerprint(&self, row: &[u32]) -> u64 {
        Actors::fingerprint(self, row)
    }
}
