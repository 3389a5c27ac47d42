//! Machine code in memory, and calls of it: all the unsafe code that this takes.

use std::ffi::c_void;

use crate::lanes::word::Word;
use crate::native::emit::{Emitted, SPILL_BYTES, SPILL_OFFSET};

/// A value in working memory.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Spill([u8; SPILL_BYTES]);

impl Spill {
    pub const ZERO: Self = Self([0; SPILL_BYTES]);
}

/// Functions that can be called. Their memory can't be written any more.
#[derive(Debug)]
pub(crate) struct Native {
    start: *mut c_void,
    n_bytes: usize,
    functions: Vec<Function>,
}

#[derive(Debug)]
struct Function {
    /// Where it begins.
    offset: usize,
    n_slots: usize,
    n_spills: usize,
    slot_bytes: usize,
}

// SAFETY: the memory is its own, and nothing writes to it once it is made.
unsafe impl Send for Native {}
// SAFETY: as above.
unsafe impl Sync for Native {}

impl Native {
    /// Makes functions; none if this processor or system can't run them.
    pub fn new(emitted: &[Emitted]) -> Option<Self> {
        let (mut bytes, mut functions) = (Vec::new(), Vec::new());
        for &Emitted { bytes: ref code, n_slots, n_spills, slot_bytes } in emitted {
            // Functions begin with a line of the cache.
            bytes.resize(bytes.len().next_multiple_of(64), 0);
            functions.push(Function { offset: bytes.len(), n_slots, n_spills, slot_bytes });
            bytes.extend(code);
        }
        let start = system::map(&bytes)?;
        Some(Self { start, n_bytes: bytes.len(), functions })
    }

    /// How large its functions are.
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// How much working memory its functions need.
    pub fn n_spills(&self) -> usize {
        self.functions.iter().map(|it| it.n_spills).max().unwrap_or(0)
    }

    /// Calls a function, for 256 lanes after the other.
    #[inline]
    pub fn run<const N: usize>(
        &self,
        function: usize,
        values: &mut [Word<N>],
        spills: &mut [Spill],
    ) {
        let Function { offset, n_slots, n_spills, slot_bytes } = self.functions[function];
        assert_eq!(slot_bytes, size_of::<Word<N>>(), "the code is for words of this size");
        assert!(values.len() >= n_slots, "there is a value for every slot");
        assert!(spills.len() >= n_spills, "there is enough working memory");
        let values = values.as_mut_ptr().cast::<u8>();
        let spills = spills.as_mut_ptr().cast::<u8>().wrapping_add(SPILL_OFFSET);
        for part in 0..slot_bytes / SPILL_BYTES {
            // SAFETY: a function begins there. It reads and writes 32 bytes of each of its slots from the
            // pointer on, and of its working memory; as was just seen, there is enough of both.
            unsafe {
                let code = self.start.cast::<u8>().add(offset);
                system::call(code, values.add(part * SPILL_BYTES), spills);
            }
        }
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        // SAFETY: it is the memory that was mapped, and nobody can call a function any more.
        unsafe { system::unmap(self.start, self.n_bytes) };
    }
}

#[cfg(all(target_arch = "x86_64", unix))]
mod system {
    use std::ffi::c_void;
    use std::ptr::null_mut;

    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

    /// Memory with this code; none if the processor or the system can't run it.
    pub fn map(code: &[u8]) -> Option<*mut c_void> {
        if code.is_empty() || !is_x86_feature_detected!("avx2") {
            return None;
        }
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: this is new memory, which nothing else points to.
        let start = unsafe { mmap_anonymous(null_mut(), code.len(), access, MapFlags::PRIVATE) };
        let start = start.ok()?;
        // SAFETY: as above; it is as long as the code, and never written from then on.
        let done = unsafe {
            start.cast::<u8>().copy_from_nonoverlapping(code.as_ptr(), code.len());
            mprotect(start, code.len(), MprotectFlags::READ | MprotectFlags::EXEC)
        };
        if done.is_err() {
            // SAFETY: nothing points to it yet.
            unsafe { unmap(start, code.len()) };
            return None;
        }
        Some(start)
    }

    /// Gives the memory back.
    ///
    /// # Safety
    /// It has been mapped with this length, and nothing points to it any more.
    pub unsafe fn unmap(start: *mut c_void, n_bytes: usize) {
        // SAFETY: as the caller promises. When the system refuses, the memory stays, which harms nobody.
        _ = unsafe { munmap(start, n_bytes) };
    }

    /// Calls a function.
    ///
    /// # Safety
    /// Code that was emitted is mapped there, and the pointers are as it wants them.
    #[inline(always)]
    pub unsafe fn call(code: *const u8, values: *mut u8, spills: *mut u8) {
        // SAFETY: the code takes two pointers by this convention, and changes nothing that the
        // convention wants left alone. The processor has its instructions, or it would not be mapped.
        unsafe {
            let function: extern "sysv64" fn(*mut u8, *mut u8) = std::mem::transmute(code);
            function(values, spills);
        }
    }
}

/// Elsewhere there is no machine code.
#[cfg(not(all(target_arch = "x86_64", unix)))]
mod system {
    use std::ffi::c_void;

    pub fn map(_code: &[u8]) -> Option<*mut c_void> {
        None
    }

    pub unsafe fn unmap(_start: *mut c_void, _n_bytes: usize) {}

    pub unsafe fn call(_code: *const u8, _values: *mut u8, _spills: *mut u8) {
        unreachable!("nothing is mapped")
    }
}
