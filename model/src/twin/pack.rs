//! States as few words: every field in as many bits as the constants need.
//!
//! What follows from the rest of a state is not packed. A replica's leader is that of the request
//! of its epoch, the quorum's leader that of the newest request, and a record's epoch is one per
//! record: it is packed beside the logs, which then hold ids only.

use super::{Constants, Record, Said, Set, State, Twin};

/// Numbers of few bits, one behind the other: at most 64 in all.
#[derive(Clone, Copy, Default)]
pub(super) struct Bits {
    bits: u64,
    count: u32,
}

impl Bits {
    /// Adds a number of this width, with fewer than 64 bits before it.
    #[inline]
    pub fn put(&mut self, number: u64, width: u32) {
        self.bits |= number << self.count;
        self.count += width;
    }

    /// Takes out the first number, of this width, which is less than 64.
    #[inline]
    pub fn take(&mut self, width: u32) -> u64 {
        let number = low(self.bits, width);
        self.bits >>= width;
        number
    }
}

/// Bits as words.
pub(super) struct Writer<'a> {
    words: &'a mut Vec<u32>,
    /// Fewer than 64 bits.
    rest: Bits,
}

impl<'a> Writer<'a> {
    /// Writes behind what is there.
    pub fn new(words: &'a mut Vec<u32>) -> Self {
        Self { words, rest: Bits::default() }
    }

    /// Adds these bits, with nothing behind them.
    #[inline]
    pub fn put(&mut self, bits: Bits) {
        self.rest.put(bits.bits, bits.count);
        if let Some(count) = self.rest.count.checked_sub(u64::BITS) {
            self.words.push(self.rest.bits as u32);
            self.words.push((self.rest.bits >> u32::BITS) as u32);
            self.rest = Bits { bits: bits.bits.unbounded_shr(bits.count - count), count };
        }
    }

    /// Ends the last word.
    #[inline]
    pub fn finish(self) {
        let Bits { bits, count } = self.rest;
        if count > 0 {
            self.words.push(bits as u32);
        }
        if count > u32::BITS {
            self.words.push((bits >> u32::BITS) as u32);
        }
    }
}

/// The bits that a writer wrote.
pub(super) struct Reader<'a> {
    words: &'a [u32],
    /// Fewer than 64 bits.
    rest: Bits,
}

impl<'a> Reader<'a> {
    /// Reads from the first.
    pub fn new(words: &'a [u32]) -> Self {
        Self { words, rest: Bits::default() }
    }

    /// The next bits, as many as this; what stands behind them has no meaning. A word that is
    /// missing reads as 0.
    #[inline]
    pub fn take(&mut self, count: u32) -> Bits {
        let Bits { bits, count: had } = self.rest;
        if count <= had {
            self.rest = Bits { bits: bits >> count, count: had - count };
            return Bits { bits, count };
        }
        let (next, words) = match self.words {
            [low, high, words @ ..] => (u64::from(*low) | u64::from(*high) << u32::BITS, words),
            [low] => (u64::from(*low), &[][..]),
            [] => (0, &[][..]),
        };
        self.words = words;
        let more = count - had;
        self.rest = Bits { bits: next.unbounded_shr(more), count: u64::BITS - more };
        Bits { bits: bits | next << had, count }
    }
}

/// The lowest bits of a number, fewer than 64 of them.
fn low(number: u64, width: u32) -> u64 {
    number & ((1 << width) - 1)
}

/// How many bits the numbers from 0 to `most` need.
pub(super) fn width(most: u8) -> u32 {
    u8::BITS - most.leading_zeros()
}

/// How many words these bits need.
pub(super) fn words(bits: u32) -> usize {
    bits.div_ceil(u32::BITS) as usize
}

/// The bits of each field, and of some fields together.
struct Widths {
    /// An offset in a log, the end included; also a number of records in it.
    offset: u32,
    /// A record's id, or that there is none.
    record: u32,
    /// A leader epoch.
    epoch: u32,
    /// A leader epoch, or that there is none; also a number of requests.
    some_epoch: u32,
    /// A leader, or that there is none.
    leader: u32,
    /// A set of replicas.
    set: u32,
    /// A log.
    log: u32,
    /// A replica.
    replica: u32,
    /// The epochs of all records.
    epochs: u32,
    /// The requests.
    requests: u32,
}

impl Widths {
    #[inline]
    fn of(constants: Constants) -> Self {
        let Constants { replicas, log_size, max_records, max_leader_epoch } = constants;
        let offset = width(log_size);
        let record = width(max_records);
        let epoch = width(max_leader_epoch);
        let some_epoch = width(max_leader_epoch + 1);
        let leader = width(replicas);
        let set = replicas.into();
        let log = record * u32::from(log_size);
        let replica = log + offset + some_epoch + set;
        let epochs = epoch * u32::from(max_records);
        let requests = (leader + set) * (u32::from(max_leader_epoch) + 1);
        Self { offset, record, epoch, some_epoch, leader, set, log, replica, epochs, requests }
    }

    /// What stands behind the requests.
    #[inline]
    fn rest(&self) -> u32 {
        self.epochs + self.record + self.some_epoch + self.set
    }
}

/// None as 0, and every number one higher.
fn optional(number: Option<u8>) -> u64 {
    number.map_or(0, |number| u64::from(number) + 1)
}

fn of_optional(number: u64) -> Option<u8> {
    number.checked_sub(1).map(|number| number as u8)
}

impl Twin {
    /// How many words a state is packed into.
    pub fn words(&self) -> usize {
        let widths = Widths::of(self.constants);
        let replicas = u32::from(self.constants.replicas) * widths.replica;
        words(replicas + widths.requests + widths.rest())
    }

    /// Appends the words of a state that is reachable: as many for each.
    pub fn pack(&self, state: &State, out: &mut Vec<u32>) {
        let widths = Widths::of(self.constants);
        let mut words = Writer::new(out);
        let mut epochs = 0;
        for replica in state.replicas() {
            let mut bits = Bits::default();
            for record in replica.log.records() {
                bits.put(u64::from(record.id) + 1, widths.record);
                epochs |= u64::from(record.epoch) << (u32::from(record.id) * widths.epoch);
            }
            bits.count = widths.log;
            bits.put(replica.hw.into(), widths.offset);
            bits.put(optional(replica.epoch), widths.some_epoch);
            bits.put(replica.isr.bits().into(), widths.set);
            words.put(bits);
        }
        let mut bits = Bits::default();
        for (_, said) in state.requests.iter() {
            bits.put(optional(said.leader), widths.leader);
            bits.put(said.isr.bits().into(), widths.set);
        }
        bits.count = widths.requests;
        words.put(bits);
        let mut bits = Bits::default();
        bits.put(epochs, widths.epochs);
        bits.put(state.next_record.into(), widths.record);
        bits.put(state.requests.count().into(), widths.some_epoch);
        bits.put(state.quorum.isr.bits().into(), widths.set);
        words.put(bits);
        words.finish();
    }

    /// The state that was packed into these words.
    pub fn unpack(&self, words: &[u32]) -> State {
        let widths = Widths::of(self.constants);
        let mut words = Reader::new(words);
        let mut replicas = [Bits::default(); State::MOST_REPLICAS as usize];
        for bits in &mut replicas[..self.constants.replicas.into()] {
            *bits = words.take(widths.replica);
        }
        let mut requests = words.take(widths.requests);
        let mut rest = words.take(widths.rest());
        let mut state = self.initial();
        let epochs = rest.take(widths.epochs);
        state.next_record = rest.take(widths.record) as u8;
        for _ in 0..rest.take(widths.some_epoch) {
            let leader = of_optional(requests.take(widths.leader));
            let isr = Set::of_bits(requests.take(widths.set) as u8);
            state.requests.push(Said { leader, isr });
        }
        state.quorum.isr = Set::of_bits(rest.take(widths.set) as u8);
        state.quorum.leader = state.requests.newest().and_then(|said| said.leader);
        let State { requests, .. } = state;
        for (replica, mut bits) in state.replicas_mut().iter_mut().zip(replicas) {
            let mut ids = Bits { bits: bits.take(widths.log), count: widths.log };
            while let Some(id) = of_optional(ids.take(widths.record)) {
                let epoch = low(epochs >> (u32::from(id) * widths.epoch), widths.epoch) as u8;
                replica.log.push(Record { id, epoch });
            }
            replica.hw = bits.take(widths.offset) as u8;
            replica.epoch = of_optional(bits.take(widths.some_epoch));
            replica.leader = replica.epoch.and_then(|epoch| requests.of(epoch)?.leader);
            replica.isr = Set::of_bits(bits.take(widths.set) as u8);
        }
        state
    }
}
