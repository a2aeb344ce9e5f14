//! Memory for large tables: huge pages where the system has them, and prefetching.
//!
//! The only module with `unsafe` code: the instruction that asks for a cache line has no safe
//! form. It reads and writes nothing, so it cannot be wrong, only useless; on other machines and
//! under Miri it does nothing.

/// What a huge page holds. A table that fills half of one asks for them.
#[cfg(not(miri))]
const HUGE: usize = 2 << 20;

/// A zeroed table of words.
#[derive(Debug)]
pub struct Words {
    #[cfg(not(miri))]
    map: memmap2::MmapMut,
    #[cfg(miri)]
    map: Vec<u64>,
    /// How many words stand before it in `map`, so that it starts with a page of any size.
    skip: usize,
    len: usize,
}

impl Words {
    /// `len` zeros; the system's own error if it has no room for them. They take no memory before
    /// they are written to.
    pub fn zeroed(len: usize) -> std::io::Result<Self> {
        #[cfg(miri)]
        return Ok(Self { map: vec![0; len], skip: 0, len });
        #[cfg(not(miri))]
        {
            let bytes = len.saturating_mul(size_of::<u64>());
            let more = if bytes < HUGE { 0 } else { HUGE };
            let map = memmap2::MmapMut::map_anon(bytes.saturating_add(more))?;
            let skip = map.as_ptr().align_offset(HUGE).min(more) / size_of::<u64>();
            Ok(Self { map, skip, len })
        }
    }

    /// The first `len` words are going to be used.
    pub fn uses(&self, len: usize) {
        #[cfg(all(target_os = "linux", not(miri)))]
        if len * size_of::<u64>() >= HUGE / 2 {
            let (from, all) = (self.skip * size_of::<u64>(), self.len * size_of::<u64>());
            let whole = (len * size_of::<u64>()).next_multiple_of(HUGE).min(all);
            // A system without huge pages says no, and goes on with small ones.
            let _ = self.map.advise_range(memmap2::Advice::HugePage, from, whole);
        }
        #[cfg(not(all(target_os = "linux", not(miri))))]
        let _ = len;
    }

    /// The words.
    #[inline]
    pub fn as_slice(&self) -> &[u64] {
        #[cfg(miri)]
        return &self.map;
        #[cfg(not(miri))]
        &bytemuck::cast_slice(&self.map)[self.skip..][..self.len]
    }

    /// The words, to be changed.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [u64] {
        #[cfg(miri)]
        return &mut self.map;
        #[cfg(not(miri))]
        &mut bytemuck::cast_slice_mut(&mut self.map)[self.skip..][..self.len]
    }
}

/// Asks for the cache line of `place`, which will be needed soon.
#[inline]
#[allow(unsafe_code)]
pub fn prefetch<T>(place: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the instruction is a hint; it never faults, and SSE is part of x86_64.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = place;
}
