//! The format against a known vector, against the `kafka-protocol` crate, and against damage.

use kafka_protocol::indexmap::IndexMap;
use kafka_protocol::protocol::StrBytes;
use kafka_protocol::records as oracle;

use super::{BatchError, BatchHeader, HEADER_BYTES, NewHeader, NewRecord, build, records};
use super::{checksum, stamp, verify};
use crate::log::varint;
use crate::types::{Epoch, Offset};

/// Every shape of key, value and headers that a format can get wrong.
fn shapes() -> Vec<NewRecord<'static>> {
    const LONG: &[u8] = &[7; 300];
    const HEADERS: [&[NewHeader<'static>]; 3] = [
        &[],
        &[NewHeader { key: b"a", value: None }],
        &[NewHeader { key: b"b", value: Some(b"") }, NewHeader { key: b"c", value: Some(LONG) }],
    ];
    let blobs = [None, Some(b"".as_slice()), Some(b"x"), Some(LONG)];
    let mut all = Vec::new();
    for key in blobs {
        for value in blobs {
            for headers in HEADERS {
                for timestamp in [0, 1_700_000_000_000, -5, i64::MAX] {
                    all.push(NewRecord { key, value, timestamp, headers });
                }
            }
        }
    }
    all
}

/// Batches of one, two and many of these records.
fn batches() -> Vec<Vec<NewRecord<'static>>> {
    let shapes = shapes();
    let mut all: Vec<_> = shapes.chunks(1).chain(shapes.chunks(2)).map(<[_]>::to_vec).collect();
    all.push(shapes);
    all
}

/// The oracle's sums of timestamps may overflow, ours wrap.
fn tame(batch: &[NewRecord<'_>]) -> bool {
    batch.iter().all(|record| record.timestamp != i64::MAX)
}

fn value(text: &'static str) -> NewRecord<'static> {
    NewRecord { value: Some(text.as_bytes()), ..NewRecord::default() }
}

#[test]
fn the_checksum_is_crc_32c() {
    // The check value of CRC-32/ISCSI, and the four vectors of RFC 3720, B.4.
    assert_eq!(checksum(b"123456789"), 0xe306_9283);
    assert_eq!(checksum(&[0; 32]), 0x8a91_36aa);
    assert_eq!(checksum(&[0xff; 32]), 0x62a8_ab43);
    let up: Vec<u8> = (0..32).collect();
    assert_eq!(checksum(&up), 0x46dd_794e);
    let down: Vec<u8> = (0..32).rev().collect();
    assert_eq!(checksum(&down), 0x113f_db5c);
}

#[test]
fn the_bytes_of_one_small_batch() {
    let bytes = build(&[NewRecord { key: Some(b"k"), timestamp: 5, ..value("v") }]).unwrap();
    let mut expected = vec![0; 8];
    expected.extend([0, 0, 0, 58, 0xff, 0xff, 0xff, 0xff, 2]);
    expected.extend(checksum(&bytes[21..]).to_be_bytes());
    expected.extend([0, 0, 0, 0, 0, 0]);
    expected.extend([0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 5]);
    expected.extend([0xff; 14]);
    expected.extend([0, 0, 0, 1]);
    expected.extend([16, 0, 0, 0, 2, b'k', 2, b'v', 0]);
    assert_eq!(bytes, expected);
}

#[test]
fn what_is_built_reads_back() {
    for batch in batches() {
        let mut bytes = build(&batch).unwrap();
        stamp(&mut bytes, Offset(40), Epoch(3));
        let header = verify(&bytes).unwrap();
        assert_eq!(header.bytes, bytes.len() as u64);
        assert_eq!((header.base_offset, header.leader_epoch), (Offset(40), Some(Epoch(3))));
        assert_eq!(header.next_offset(), Offset(40 + batch.len() as u64));
        let read: Vec<_> = records(&bytes).unwrap().map(Result::unwrap).collect();
        assert_eq!(read.len(), batch.len());
        for (offset, (read, put)) in (40..).zip(read.iter().zip(&batch)) {
            assert_eq!(read.offset, Offset(offset));
            assert_eq!((read.key, read.value), (put.key, put.value));
            assert_eq!(read.timestamp, put.timestamp);
            let headers: Vec<_> = read.headers.clone().map(|h| (h.key, h.value)).collect();
            assert_eq!(headers, put.headers.iter().map(|h| (h.key, h.value)).collect::<Vec<_>>());
        }
    }
}

#[test]
fn the_oracle_reads_what_is_built() {
    for batch in batches().into_iter().filter(|batch| tame(batch)) {
        let mut bytes = build(&batch).unwrap();
        stamp(&mut bytes, Offset(7), Epoch(2));
        let set = oracle::RecordBatchDecoder::decode(&mut bytes.as_slice()).unwrap();
        assert_eq!(set.records.len(), batch.len());
        for (offset, (read, put)) in (7..).zip(set.records.iter().zip(&batch)) {
            assert_eq!(read.offset, offset);
            assert_eq!(read.partition_leader_epoch, 2);
            assert_eq!((read.producer_id, read.producer_epoch), (-1, -1));
            assert_eq!((read.key.as_deref(), read.value.as_deref()), (put.key, put.value));
            assert_eq!(read.timestamp, put.timestamp);
            let headers = read.headers.iter().map(|(k, v)| (k.as_bytes(), v.as_deref()));
            assert!(headers.eq(put.headers.iter().map(|h| (h.key, h.value))));
        }
    }
}

fn oracle_record(offset: i64, put: &NewRecord<'_>) -> oracle::Record {
    let text = |key: &[u8]| StrBytes::from_string(String::from_utf8(key.to_vec()).unwrap());
    let headers = put.headers.iter().map(|h| (text(h.key), h.value.map(|v| v.to_vec().into())));
    oracle::Record {
        transactional: false,
        control: false,
        delete_horizon: false,
        partition_leader_epoch: 9,
        producer_id: 1234,
        producer_epoch: 5,
        timestamp_type: oracle::TimestampType::Creation,
        offset,
        sequence: 70 + offset as i32,
        timestamp: put.timestamp,
        key: put.key.map(|key| key.to_vec().into()),
        value: put.value.map(|value| value.to_vec().into()),
        headers: headers.collect::<IndexMap<_, _>>(),
    }
}

#[test]
fn what_the_oracle_writes_reads_here() {
    let mut seen = 0;
    for batch in batches().into_iter().filter(|batch| tame(batch)) {
        let put: Vec<_> = (0..).zip(&batch).map(|(o, r)| oracle_record(o, r)).collect();
        let options =
            oracle::RecordEncodeOptions { version: 2, compression: oracle::Compression::None };
        let mut bytes = Vec::new();
        oracle::RecordBatchEncoder::encode(&mut bytes, &put, &options).unwrap();
        let header = verify(&bytes).unwrap();
        assert_eq!(header.leader_epoch, Some(Epoch(9)));
        assert_eq!((header.producer_id, header.producer_epoch), (1234, 5));
        assert_eq!(header.base_sequence, 70);
        let read: Vec<_> = records(&bytes).unwrap().map(Result::unwrap).collect();
        assert_eq!(read.len(), batch.len());
        for (read, put) in read.iter().zip(&batch) {
            assert_eq!((read.key, read.value), (put.key, put.value));
            assert_eq!(read.timestamp, put.timestamp);
            assert!(
                read.headers
                    .clone()
                    .eq(put.headers.iter().map(|h| super::Header { key: h.key, value: h.value }))
            );
        }
        seen += 1;
    }
    assert!(seen > 100, "{seen} batches");
}

#[test]
fn repeated_header_keys_stay_apart() {
    let headers = [NewHeader { key: b"h", value: Some(b"1") }; 3];
    let bytes = build(&[NewRecord { headers: &headers, ..value("v") }]).unwrap();
    let record = records(&bytes).unwrap().next().unwrap().unwrap();
    assert_eq!(record.headers.count(), 3);
}

#[test]
fn a_stamp_changes_only_what_the_checksum_does_not_cover() {
    let before = build(&[value("a"), value("b")]).unwrap();
    let mut after = before.clone();
    stamp(&mut after, Offset(i64::MAX as u64 - 2), Epoch(i32::MAX));
    let changed = (0..before.len()).filter(|i| before[*i] != after[*i]);
    assert!(changed.clone().all(|i| i < 8 || (12..16).contains(&i)));
    assert!(changed.count() > 0);
    verify(&after).unwrap();
}

#[test]
fn every_flipped_bit_under_the_checksum_and_every_cut_is_noticed() {
    let good = build(&[value("one"), value("two")]).unwrap();
    for bit in 0..good.len() * 8 {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        let header = verify(&bad);
        match bit / 8 {
            // Outside the checksum: noticed by the log, which knows what to expect.
            0..8 | 12..16 => {
                let same = |h: BatchHeader| h.base_offset == Offset(0) && h.leader_epoch.is_none();
                let noticed = header.map_or(true, |header| !same(header));
                // An epoch of −1 with a flipped bit that is not the sign is still "none".
                assert!(noticed || (12..16).contains(&(bit / 8)), "bit {bit}");
            }
            _ => assert!(header.is_err(), "bit {bit}"),
        }
    }
    for cut in 0..good.len() {
        let need = if cut < HEADER_BYTES { HEADER_BYTES } else { good.len() } as u64;
        assert_eq!(verify(&good[..cut]), Err(BatchError::Short { have: cut as u64, need }));
    }
}

/// A batch around these record bytes, with a right length and checksum.
fn around(records: &[u8], count: i32, last_delta: i32) -> Vec<u8> {
    let mut bytes = build(&[value("")]).unwrap();
    bytes.truncate(HEADER_BYTES);
    bytes.extend_from_slice(records);
    bytes[23..27].copy_from_slice(&last_delta.to_be_bytes());
    bytes[57..61].copy_from_slice(&count.to_be_bytes());
    let length = bytes.len() as i32 - 12;
    bytes[8..12].copy_from_slice(&length.to_be_bytes());
    let crc = checksum(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    bytes
}

fn all(bytes: &[u8]) -> Result<usize, BatchError> {
    records(bytes)?.try_fold(0, |n, record| record.map(|_| n + 1))
}

fn numbers(all: &[i64]) -> Vec<u8> {
    let mut out = Vec::new();
    for number in all {
        varint::put(&mut out, *number);
    }
    out
}

fn bad(index: u32, field: &'static str) -> Result<usize, BatchError> {
    Err(BatchError::Record { index, field })
}

/// Length, attributes, timestamp, offset, key, value, headers.
const ONE: [i64; 7] = [6, 0, 0, 0, -1, -1, 0];

#[test]
fn a_good_checksum_does_not_make_a_bad_record_good() {
    const MANY: i64 = i32::MAX as i64;
    assert_eq!(all(&around(&numbers(&ONE), 1, 0)), Ok(1));
    let cases: [(&[i64], _); 11] = [
        (&[1 << 30], bad(0, "length")),
        (&[-1], bad(0, "length")),
        (&[7, 0, 0, 0, -1, -1, 0, 0], bad(0, "length")),
        (&[5, 0, 0, 0, -1, -1, 0], bad(0, "header count")),
        (&[6, 0, 0, 1, -1, -1, 0], bad(0, "offset")),
        (&[6, 0, 0, -1, -1, -1, 0], bad(0, "offset")),
        (&[6, 0, 0, 0, -2, -1, 0], bad(0, "key")),
        (&[6, 0, 0, 0, 9, -1, 0], bad(0, "key")),
        (&[10, 0, 0, 0, -1, -1, MANY], bad(0, "header key")),
        (&[11, 0, 0, 0, -1, -1, MANY, 0], bad(0, "header value")),
        (&[8, 0, 0, 0, -1, -1, 1, -1, -1], bad(0, "header key")),
    ];
    for (bytes, expected) in cases {
        assert_eq!(all(&around(&numbers(bytes), 1, 0)), expected, "{bytes:?}");
    }
}

#[test]
fn counts_are_held_against_the_bytes_and_the_offsets() {
    let one = numbers(&ONE);
    // Compaction leaves fewer records than offsets.
    assert_eq!(all(&around(&one, 1, 5)), Ok(1));
    assert_eq!(all(&around(&one, 1, i32::MAX)), Ok(1));
    let twice = [one.clone(), one.clone()].concat();
    assert_eq!(all(&around(&twice, 2, 1)), bad(1, "offset"));
    let trailing = Err(BatchError::Trailing(one.len() as u64));
    assert_eq!(all(&around(&twice, 1, 1)), trailing);
    assert_eq!(all(&around(&one, 2, 1)), bad(1, "length"));
    let many = around(&one, i32::MAX, i32::MAX - 1);
    assert_eq!(all(&many), bad(1, "length"));
    let count = |records, offsets| Err(BatchError::Count { records, offsets });
    assert_eq!(all(&around(&one, 2, 0)), count(2, 1));
    assert_eq!(all(&around(&one, 0, 0)), count(0, 1));
    assert_eq!(all(&around(&one, -1, 0)), count(-1, 1));
    let (base, last_delta) = (0, -1);
    let offsets = Err(BatchError::Offsets { base, last_delta });
    assert_eq!(all(&around(&one, 1, -1)), offsets);
}

#[test]
fn a_batch_needs_a_record_and_compressed_ones_are_not_looked_into() {
    assert_eq!(build(&[]), Err(BatchError::Size));
    let mut bytes = around(&[], 1, 0);
    bytes[22] = 4;
    assert_eq!(records(&bytes).unwrap_err(), BatchError::Compressed(4));
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_a_decoder_panic(
        noise in proptest::collection::vec(proptest::num::u8::ANY, 0..120),
        count in proptest::num::i32::ANY,
    ) {
        let _ = verify(&noise);
        let _ = all(&noise);
        let _ = all(&around(&noise, count, i32::MAX));
        let _ = all(&around(&noise, 3, 2));
    }
}
