//! Machine code in executable memory and calls to it, with all the unsafe code that this takes.

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

/// Callable functions. Their memory is read-only.
#[derive(Debug)]
pub(crate) struct Native {
    start: *mut c_void,
    n_bytes: usize,
    functions: Vec<Function>,
}

#[derive(Debug)]
struct Function {
    /// Its start.
    offset: usize,
    n_slots: usize,
    n_spills: usize,
    slot_bytes: usize,
}

// SAFETY: `Native` owns the memory, and nothing writes to it after its creation.
unsafe impl Send for Native {}
// SAFETY: as above.
unsafe impl Sync for Native {}

impl Native {
    /// Makes functions; `None` if this processor or system can't run them.
    pub fn new(emitted: &[Emitted]) -> Option<Self> {
        let (mut bytes, mut functions) = (Vec::new(), Vec::new());
        for &Emitted { bytes: ref code, n_slots, n_spills, slot_bytes } in emitted {
            // Functions begin at cache lines.
            bytes.resize(bytes.len().next_multiple_of(64), 0);
            functions.push(Function { offset: bytes.len(), n_slots, n_spills, slot_bytes });
            bytes.extend(code);
        }
        let start = system::map(&bytes)?;
        Some(Self { start, n_bytes: bytes.len(), functions })
    }

    /// Returns the size of its functions.
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// Returns how much working memory its functions need.
    pub fn n_spills(&self) -> usize {
        self.functions.iter().map(|it| it.n_spills).max().unwrap_or(0)
    }

    /// Calls a function for 256 lanes after the other.
    #[inline]
    pub fn run<const N: usize>(
        &self,
        function: usize,
        values: &mut [Word<N>],
        spills: &mut [Spill],
    ) {
        let Function { offset, n_slots, n_spills, slot_bytes } = self.functions[function];
        assert_eq!(slot_bytes, size_of::<Word<N>>(), "the code must be for words of this size");
        assert!(values.len() >= n_slots, "every slot needs a value");
        assert!(spills.len() >= n_spills, "the code needs more working memory");
        let values = values.as_mut_ptr().cast::<u8>();
        let spills = spills.as_mut_ptr().cast::<u8>().wrapping_add(SPILL_OFFSET);
        for part in 0..slot_bytes / SPILL_BYTES {
            // SAFETY: a function begins there. From the pointers on, it reads and writes 32 bytes
            // of each of its slots, and its working memory; the assertions above ensure that there
            // is enough of both.
            unsafe {
                let code = self.start.cast::<u8>().add(offset);
                system::call(code, values.add(part * SPILL_BYTES), spills);
            }
        }
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        // SAFETY: this memory was mapped with this length, and no function can be called any more.
        unsafe { system::unmap(self.start, self.n_bytes) };
    }
}

#[cfg(all(target_arch = "x86_64", unix))]
mod system {
    use std::ffi::c_void;
    use std::ptr::null_mut;

    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

    /// Maps memory with this code; `None` if the processor or the system can't run it.
    pub fn map(code: &[u8]) -> Option<*mut c_void> {
        if code.is_empty() || !is_x86_feature_detected!("avx2") {
            return None;
        }
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: this is new memory, which nothing else points to.
        let start = unsafe { mmap_anonymous(null_mut(), code.len(), access, MapFlags::PRIVATE) };
        let start = start.ok()?;
        // SAFETY: as above; it is as long as the code, and never written again.
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

    /// Unmaps the memory.
    ///
    /// # Safety
    /// The memory was mapped with this length, and nothing points to it any more.
    pub unsafe fn unmap(start: *mut c_void, n_bytes: usize) {
        // SAFETY: the caller promises it. If the system refuses, the memory merely stays mapped.
        _ = unsafe { munmap(start, n_bytes) };
    }

    /// Calls a function.
    ///
    /// # Safety
    /// Emitted code is mapped there, and the pointers satisfy its requirements.
    #[inline(always)]
    pub unsafe fn call(code: *const u8, values: *mut u8, spills: *mut u8) {
        // SAFETY: the code takes two pointers by this calling convention and preserves the
        // registers that the convention protects. The processor has its instructions, or it would
        // not be mapped.
        unsafe {
            let function: extern "sysv64" fn(*mut u8, *mut u8) = std::mem::transmute(code);
            function(values, spills);
        }
    }
}

/// Other systems have no machine code.
#[cfg(not(all(target_arch = "x86_64", unix)))]
mod system {
    use std::ffi::c_void;

    pub fn map(_code: &[u8]) -> Option<*mut c_void> {
        None
    }

    pub unsafe fn unmap(_start: *mut c_void, _n_bytes: usize) {}

    pub unsafe fn call(_code: *const u8, _values: *mut u8, _spills: *mut u8) {
        unreachable!("no code is mapped on this system")
    }
}
