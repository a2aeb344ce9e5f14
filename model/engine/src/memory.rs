//! Memory for large tables: huge pages where the system has them, and prefetching.
//!
//! The only module with `unsafe` code: the instruction that asks for a cache line has no safe
//! form. It reads and writes nothing, so it cannot be wrong, only useless; on other machines and
//! under Miri it does nothing.

/// From this size on a table asks for huge pages.
#[cfg(not(miri))]
const HUGE: usize = 1 << 20;

/// A zeroed table of words.
#[derive(Debug)]
pub struct Words {
    #[cfg(not(miri))]
    map: memmap2::MmapMut,
    #[cfg(miri)]
    map: Vec<u64>,
}

impl Words {
    /// `len` zeros; the system's own error if it has no room for them. They take no memory before
    /// they are written to.
    pub fn zeroed(len: usize) -> std::io::Result<Self> {
        #[cfg(miri)]
        return Ok(Self { map: vec![0; len] });
        #[cfg(not(miri))]
        memmap2::MmapMut::map_anon(len * size_of::<u64>()).map(|map| Self { map })
    }

    /// The first `len` words are going to be used.
    pub fn uses(&self, len: usize) {
        #[cfg(all(target_os = "linux", not(miri)))]
        if len * size_of::<u64>() >= HUGE {
            // A system without huge pages says no, and goes on with small ones.
            let _ = self.map.advise_range(memmap2::Advice::HugePage, 0, len * size_of::<u64>());
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
        bytemuck::cast_slice(&self.map)
    }

    /// The words, to be changed.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [u64] {
        #[cfg(miri)]
        return &mut self.map;
        #[cfg(not(miri))]
        bytemuck::cast_slice_mut(&mut self.map)
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
