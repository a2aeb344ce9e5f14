//! States as few words: every field in as many bits as the constants need.
//!
//! What follows from the rest of a state is not packed. A replica's leader is that of the request
//! of its epoch, the quorum's leader that of the newest request, and a record's epoch is one per
//! record: it is packed beside the logs, which then hold ids only.

use super::{Constants, Record, Requests, Said, Set, State, Twin};

/// Numbers of few bits, one behind the other.
pub(super) struct Writer<'a> {
    words: &'a mut Vec<u32>,
    bits: u128,
    count: u32,
}

impl<'a> Writer<'a> {
    /// Writes behind what is there.
    pub fn new(words: &'a mut Vec<u32>) -> Self {
        Self { words, bits: 0, count: 0 }
    }

    /// Writes a number below 2 to the `width`, which is at most 64.
    pub fn put(&mut self, number: u64, width: u32) {
        self.bits |= u128::from(number) << self.count;
        self.count += width;
        while self.count >= u32::BITS {
            self.words.push(self.bits as u32);
            self.bits >>= u32::BITS;
            self.count -= u32::BITS;
        }
    }

    /// Ends the last word.
    pub fn finish(self) {
        if self.count > 0 {
            self.words.push(self.bits as u32);
        }
    }
}

/// The numbers that a writer wrote.
pub(super) struct Reader<'a> {
    words: std::slice::Iter<'a, u32>,
    bits: u128,
    count: u32,
}

impl<'a> Reader<'a> {
    /// Reads from the first.
    pub fn new(words: &'a [u32]) -> Self {
        Self { words: words.iter(), bits: 0, count: 0 }
    }

    /// The next number, of this width. A word that is missing reads as 0.
    pub fn take(&mut self, width: u32) -> u64 {
        while self.count < width {
            let word = self.words.next().copied().unwrap_or(0);
            self.bits |= u128::from(word) << self.count;
            self.count += u32::BITS;
        }
        let number = low(self.bits as u64, width);
        self.bits >>= width;
        self.count -= width;
        number
    }
}

/// The lowest bits of a number.
pub(super) fn low(number: u64, width: u32) -> u64 {
    number & u64::MAX.checked_shr(u64::BITS - width).unwrap_or(0)
}

/// How many bits the numbers from 0 to `most` need.
pub(super) fn width(most: u8) -> u32 {
    u8::BITS - most.leading_zeros()
}

/// How many words these bits need.
pub(super) fn words(bits: u32) -> usize {
    bits.div_ceil(u32::BITS) as usize
}

/// The bits of each field.
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
}

impl Widths {
    fn of(constants: Constants) -> Self {
        Self {
            offset: width(constants.log_size),
            record: width(constants.max_records),
            epoch: width(constants.max_leader_epoch),
            some_epoch: width(constants.max_leader_epoch + 1),
            leader: width(constants.replicas),
            set: constants.replicas.into(),
        }
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
        let Constants { replicas, log_size, max_records, max_leader_epoch } = self.constants;
        let widths = Widths::of(self.constants);
        let replica =
            u32::from(log_size) * widths.record + widths.offset + widths.some_epoch + widths.set;
        let requests = (u32::from(max_leader_epoch) + 1) * (widths.leader + widths.set);
        let epochs = u32::from(max_records) * widths.epoch;
        let rest = widths.record + widths.some_epoch + widths.set;
        words(u32::from(replicas) * replica + requests + epochs + rest)
    }

    /// Appends the words of a state that is reachable: as many for each.
    pub fn pack(&self, state: &State, out: &mut Vec<u32>) {
        let Constants { log_size, max_records, max_leader_epoch, .. } = self.constants;
        let widths = Widths::of(self.constants);
        let mut words = Writer::new(out);
        let mut epochs = 0;
        for replica in state.replicas() {
            let mut ids = 0;
            let mut at = 0;
            for record in replica.log.records() {
                ids |= (u64::from(record.id) + 1) << at;
                at += widths.record;
                epochs |= u64::from(record.epoch) << (u32::from(record.id) * widths.epoch);
            }
            words.put(ids, u32::from(log_size) * widths.record);
            words.put(replica.hw.into(), widths.offset);
            words.put(optional(replica.epoch), widths.some_epoch);
            words.put(replica.isr.bits().into(), widths.set);
        }
        words.put(epochs, u32::from(max_records) * widths.epoch);
        words.put(state.next_record.into(), widths.record);
        let mut requests = 0;
        let mut at = 0;
        for (_, said) in state.requests.iter() {
            requests |= (optional(said.leader) << widths.set | u64::from(said.isr.bits())) << at;
            at += widths.leader + widths.set;
        }
        words.put(requests, (u32::from(max_leader_epoch) + 1) * (widths.leader + widths.set));
        words.put(state.requests.count().into(), widths.some_epoch);
        words.put(state.quorum.isr.bits().into(), widths.set);
        words.finish();
    }

    /// The state that was packed into these words.
    pub fn unpack(&self, words: &[u32]) -> State {
        let Constants { log_size, max_records, max_leader_epoch, .. } = self.constants;
        let widths = Widths::of(self.constants);
        let mut words = Reader::new(words);
        let mut state = self.initial();
        let mut ids = [0; State::MOST_REPLICAS as usize];
        for (replica, ids) in state.replicas_mut().iter_mut().zip(&mut ids) {
            *ids = words.take(u32::from(log_size) * widths.record);
            replica.hw = words.take(widths.offset) as u8;
            replica.epoch = of_optional(words.take(widths.some_epoch));
            replica.isr = Set::of_bits(words.take(widths.set) as u8);
        }
        let epochs = words.take(u32::from(max_records) * widths.epoch);
        state.next_record = words.take(widths.record) as u8;
        let mut requests =
            words.take((u32::from(max_leader_epoch) + 1) * (widths.leader + widths.set));
        let count = words.take(widths.some_epoch);
        for _ in 0..count {
            let isr = Set::of_bits(low(requests, widths.set) as u8);
            let leader = of_optional(low(requests >> widths.set, widths.leader));
            state.requests.push(Said { leader, isr });
            requests >>= widths.leader + widths.set;
        }
        state.quorum.isr = Set::of_bits(words.take(widths.set) as u8);
        state.quorum.leader = state.requests.newest().and_then(|said| said.leader);
        let leader = |epoch, requests: &Requests| requests.of(epoch)?.leader;
        let requests = state.requests;
        for (replica, mut ids) in state.replicas_mut().iter_mut().zip(ids) {
            replica.leader = replica.epoch.and_then(|epoch| leader(epoch, &requests));
            while let Some(id) = of_optional(low(ids, widths.record)) {
                let epoch = low(epochs >> (u32::from(id) * widths.epoch), widths.epoch) as u8;
                replica.log.push(Record { id, epoch });
                ids >>= widths.record;
            }
        }
        state
    }
}
