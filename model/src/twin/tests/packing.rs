//! Every reachable state survives the packer, and no two of them pack alike.

use std::collections::BTreeSet;

use super::pack::{Bits, Reader, Writer};
use super::*;

/// Numbers of every width beside each other, at every place in a word.
#[test]
fn bits_are_read_as_they_were_written() {
    for (one, other) in (0..=64).flat_map(|one| (0..=64).map(move |other| (one, other))) {
        let widths = [one, 3, other, 3, 64, 3];
        let number = |width: u32| 0xa5c3_96e1_78d2_b40f & u64::MAX.unbounded_shr(64 - width);
        let mut words = Vec::new();
        let mut writer = Writer::new(&mut words);
        for width in widths {
            let mut bits = Bits::default();
            bits.put(number(width), width);
            writer.put(bits);
        }
        writer.finish();
        assert_eq!(words.len(), pack::words(widths.iter().sum()));
        let mut reader = Reader::new(&words);
        for width in widths {
            let mut bits = reader.take(width);
            let half = width / 2;
            let read = bits.take(half) | bits.take(width - half) << half;
            assert_eq!(read, number(width), "{width} of {widths:?}");
        }
    }
}

fn twins() -> Vec<Twin> {
    let small = [(2, 1, 1, 0), (2, 1, 3, 1), (2, 2, 2, 1), (2, 2, 2, 2), (3, 1, 1, 1)];
    let of_all = MODULES.iter().flat_map(|module| small.map(|of| twin(module.name, of, None)));
    let large = [(2, 3, 3, 2), (2, 2, 2, 3), (3, 2, 2, 1), (4, 1, 1, 0)];
    let of_newest = large.map(|of| twin("kip320", of, None));
    let guards = Module::by_name("kip320").expect("a module").guards;
    let unguarded = guards.iter().map(|guard| twin("kip320", (2, 2, 2, 2), Some(*guard)));
    of_all.chain(of_newest).chain(unguarded).collect()
}

#[test]
fn every_state_is_unpacked_as_it_was_packed() {
    for twin in twins() {
        let mut seen = BTreeSet::new();
        let states = reachable(&twin);
        for state in &states {
            let mut words = Vec::new();
            twin.pack(state, &mut words);
            assert_eq!(words.len(), twin.words());
            assert_eq!(twin.unpack(&words), *state, "{words:x?}");
            seen.insert(words);
        }
        assert_eq!(seen.len(), states.len(), "{twin:?}");
    }
}

#[test]
fn every_state_of_async_isr_is_unpacked_as_it_was_packed() {
    let bounds = [(1, 2, 2), (2, 3, 3), (3, 2, 2), (4, 1, 1)];
    let twins =
        bounds.map(|(replicas, offset, version)| async_twin(replicas, offset, version, None));
    let unguarded = async_isr::Guard::ALL.map(|guard| async_twin(3, 2, 2, Some(guard)));
    for twin in twins.into_iter().chain(unguarded) {
        let mut next = BTreeSet::new();
        for state in reachable_async(twin) {
            next.insert(state);
            // The search may pack a state before it asks whether the state is admitted.
            twin.successors(&state, &mut |_, state| {
                next.insert(state);
            });
        }
        let mut seen = BTreeSet::new();
        for state in &next {
            let mut words = Vec::new();
            twin.pack(state, &mut words);
            assert_eq!(words.len(), twin.words());
            assert_eq!(twin.unpack(&words), *state, "{words:x?}");
            seen.insert(words);
        }
        assert_eq!(seen.len(), next.len(), "{twin:?}");
    }
}

/// States at the bounds of what fits, which no search reaches.
#[test]
fn the_largest_constants_fit() {
    let twin = twin("kip320", (5, 8, 15, 7), None);
    assert_eq!(twin.constants.check(), Ok(()));
    let mut state = twin.initial();
    for (epoch, id) in (0..8).zip((0..5).cycle()) {
        state.requests.push(Said { leader: Some(id), isr: Set::first(5).without(id) });
        state.quorum = Said { leader: Some(id), isr: Set::first(5) };
        let taken = state.requests.of(epoch).expect("just pushed");
        state = state.with(id, |replica| {
            replica.hw = 8;
            replica.take(epoch, taken);
        });
    }
    for id in 0..5 {
        for offset in 0..8 {
            let record = Record { id: offset + 7, epoch: offset };
            state = state.with(id, |replica| replica.log.push(record));
        }
    }
    state.next_record = 15;
    let mut words = vec![7];
    twin.pack(&state, &mut words);
    assert_eq!(words.len(), 1 + twin.words());
    assert_eq!(twin.unpack(&words[1..]), state);
}

#[test]
fn states_take_few_words() {
    assert_eq!(twin("kip320", (3, 2, 2, 2), None).words(), 2);
    assert_eq!(twin("kip320", (3, 3, 3, 3), None).words(), 3);
    assert_eq!(twin("kip320", (5, 8, 15, 7), None).words(), 11);
    assert_eq!(async_twin(3, 2, 2, None).words(), 1);
}

#[test]
fn constants_that_do_not_fit_are_named_with_their_range() {
    let says = |of| constants(of).check().map_err(|error| error.to_string());
    assert_eq!(says((1, 1, 1, 0)), Ok(()));
    for (of, error) in [
        ((0, 1, 1, 0), "--replicas must be 1 to 5, not 0"),
        ((6, 9, 1, 0), "--replicas must be 1 to 5, not 6"),
        ((5, 0, 1, 0), "--log-size must be 1 to 8, not 0"),
        ((5, 9, 1, 0), "--log-size must be 1 to 8, not 9"),
        ((5, 8, 0, 0), "--max-records must be 1 to 15, not 0"),
        ((5, 8, 16, 0), "--max-records must be 1 to 15, not 16"),
        ((5, 8, 15, 8), "--max-leader-epoch must be 0 to 7, not 8"),
    ] {
        assert_eq!(says(of), Err(error.to_string()));
    }
    let says = |replicas, offset, version| {
        async_twin(replicas, offset, version, None).check().map_err(|error| error.to_string())
    };
    assert_eq!(says(5, 15, 7), Ok(()));
    assert_eq!(says(0, 1, 1), Err("--replicas must be 1 to 5, not 0".to_string()));
    assert_eq!(says(5, 16, 1), Err("--max-offset must be 0 to 15, not 16".to_string()));
    assert_eq!(says(5, 1, 8), Err("--max-version must be 0 to 7, not 8".to_string()));
}
