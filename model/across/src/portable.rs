//! Spaces whose states can be sent to another process.

use levelwise::fingerprint::of_words;
use levelwise::{Codec, Plain, Reduced, Space, Symmetric};

/// What arrived is no state of the space at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what another process sent is no state of this space")]
pub struct Garbled;

/// A space whose states another process can have.
///
/// A row may be made of numbers that mean something in one process only. So what is sent is what
/// another process needs to make a row of the same state; that row has the same fingerprint, and
/// visits of it emit the same in the same order.
pub trait Portable: Space + Send + 'static {
    /// What one worker has told one other so far.
    type Told: Default;

    /// What one worker has learnt from one other so far.
    type Learnt: Default;

    /// Appends what the other one needs to make this row, beyond what it was told before.
    fn pack(&self, row: &[u32], told: &mut Self::Told, out: &mut Vec<u8>);

    /// Makes the row of what was packed. Everything that was packed for this worker is unpacked in
    /// the same order.
    fn unpack(
        &self,
        bytes: &[u8],
        learnt: &mut Self::Learnt,
        row: &mut Vec<u32>,
    ) -> Result<(), Garbled>;

    /// The fingerprint of a row's state.
    fn fingerprint(&self, row: &[u32]) -> u64;
}

fn pack_words(row: &[u32], out: &mut Vec<u8>) {
    for word in row {
        out.extend_from_slice(&word.to_le_bytes());
    }
}

fn unpack_words(bytes: &[u8], row: &mut Vec<u32>) -> Result<(), Garbled> {
    let (words, rest) = bytes.as_chunks::<4>();
    row.clear();
    row.extend(words.iter().map(|word| u32::from_le_bytes(*word)));
    if rest.is_empty() { Ok(()) } else { Err(Garbled) }
}

/// The words of a packed state mean the same everywhere.
impl<M> Portable for Plain<M>
where
    M: Codec + Send + Sync + 'static,
    M::Action: Clone,
{
    type Told = ();
    type Learnt = ();

    fn pack(&self, row: &[u32], (): &mut (), out: &mut Vec<u8>) {
        pack_words(row, out);
    }

    fn unpack(&self, bytes: &[u8], (): &mut (), row: &mut Vec<u32>) -> Result<(), Garbled> {
        unpack_words(bytes, row)
    }

    fn fingerprint(&self, row: &[u32]) -> u64 {
        of_words(row, self.seed())
    }
}

/// So do those of the state that stands for all its renamings.
impl<M> Portable for Reduced<M>
where
    M: Symmetric + Send + Sync + 'static,
    M::Action: Clone,
{
    type Told = ();
    type Learnt = ();

    fn pack(&self, row: &[u32], (): &mut (), out: &mut Vec<u8>) {
        pack_words(row, out);
    }

    fn unpack(&self, bytes: &[u8], (): &mut (), row: &mut Vec<u32>) -> Result<(), Garbled> {
        unpack_words(bytes, row)
    }

    fn fingerprint(&self, row: &[u32]) -> u64 {
        of_words(row, self.seed())
    }
}
