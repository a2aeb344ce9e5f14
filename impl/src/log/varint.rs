//! Zigzag varints: how a record writes its small numbers.

/// Appends a zigzag varint of one to ten bytes. A number of 32 bits is written the same way.
pub(crate) fn put(out: &mut Vec<u8>, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        out.push((rest as u8) | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// How many bytes [`put`] writes, one to ten.
pub(crate) fn size(value: i64) -> usize {
    let zigzag = ((value << 1) ^ (value >> 63)) as u64;
    (64 - (zigzag | 1).leading_zeros() as usize).div_ceil(7)
}

/// Takes a zigzag varint of 64 bits off the front. `None`: the bytes end too early, or say more
/// than 64 bits.
pub(crate) fn take_i64(bytes: &mut &[u8]) -> Option<i64> {
    let zigzag = take(bytes, 64)?;
    Some((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
}

/// Takes a zigzag varint of 32 bits off the front. `None`: the bytes end too early, or say more
/// than 32 bits.
pub(crate) fn take_i32(bytes: &mut &[u8]) -> Option<i32> {
    let zigzag = take(bytes, 32)? as u32;
    Some((zigzag >> 1) as i32 ^ -((zigzag & 1) as i32))
}

fn take(bytes: &mut &[u8], bits: u32) -> Option<u64> {
    let mut value = 0_u64;
    let mut shift = 0;
    loop {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        // The last group may hold only the bits that are left.
        if bits - shift < 7 && part >> (bits - shift) != 0 {
            return None;
        }
        value |= part << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
        shift += 7;
        if shift >= bits {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{put, size, take_i32, take_i64};

    fn edges() -> impl Iterator<Item = i64> {
        let powers = (0..63).map(|bit| 1_i64 << bit).chain([i64::MAX]);
        powers.flat_map(|p| [p - 1, p, -p, -p - 1]).chain(-300..300).chain([i64::MIN])
    }

    #[test]
    fn every_size_reads_back_and_ends_where_it_was_written_to() {
        for value in edges() {
            let mut bytes = Vec::new();
            put(&mut bytes, value);
            assert_eq!(bytes.len(), size(value), "{value}");
            bytes.push(0xff);
            let mut rest = bytes.as_slice();
            assert_eq!(take_i64(&mut rest), Some(value));
            assert_eq!(rest, [0xff]);
            let narrow = take_i32(&mut bytes.as_slice());
            assert_eq!(narrow, i32::try_from(value).ok(), "{value} as 32 bits");
        }
    }

    #[test]
    fn a_varint_that_is_cut_or_too_wide_is_refused() {
        for value in edges() {
            let mut bytes = Vec::new();
            put(&mut bytes, value);
            for cut in 0..bytes.len() {
                assert_eq!(take_i64(&mut &bytes[..cut]), None, "{value} cut at {cut}");
            }
        }
        assert_eq!(take_i64(&mut [0xff; 10].as_slice()), None, "no end");
        assert_eq!(take_i32(&mut [0xff, 0xff, 0xff, 0xff, 0x10].as_slice()), None, "33 bits");
        let mut wide = [0xff; 10];
        wide[9] = 0x02;
        assert_eq!(take_i64(&mut wide.as_slice()), None, "65 bits");
    }
}
