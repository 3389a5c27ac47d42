//! The memory of the process: how much it uses, how much it may use, and what happens at the limit.
//!
//! A binary installs [`Counted`] as its global allocator and calls [`set_budget`] once. Two things
//! then keep the process within the budget:
//!
//! - Loops that check a [`Deadline`](crate::Deadline) stop when nine tenths of the budget are in
//!   use, and say that memory was the reason.
//! - An allocation that would exceed the budget, or that the system refuses, does not happen: the
//!   process ends through the function that was given to [`set_budget`].
//!
//! The program itself, and what the allocator loses to rounding and to free blocks between others,
//! take memory that no allocation asks for. The system knows it: it is asked for the size of the
//! process each time that the count has grown by some more, and the difference is added. Blocks that
//! were freed and that the allocator keeps are no such difference while others are not yet written
//! to; so beyond half of the budget it gives them back.
//!
//! In a process without [`Counted`] nothing is counted, and [`is_short`] is always false.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::fs::File;
use std::io::Read as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// An allocator that counts the bytes it has handed out.
///
/// Each thread counts for itself and adds to the sum of the process in steps of 64 KiB, so that
/// threads do not wait for each other.
#[derive(Debug)]
pub struct Counted<A>(pub A);

/// Why the process must end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The allocation exceeds the budget.
    Budget,
    /// The system has no memory left for the process.
    System,
}

/// Bytes in use, without what threads have not added yet.
static IN_USE: AtomicI64 = AtomicI64::new(0);

/// Bytes that the process has beyond those in use, when the system was last asked.
static BEYOND: AtomicI64 = AtomicI64::new(0);

/// The least value of [`BEYOND`]: what the process had before it began to work.
static LEAST_BEYOND: AtomicI64 = AtomicI64::new(0);

/// Bytes in use from which the system is asked again: more than there ever were, because freed
/// blocks that the allocator keeps for later are not lost.
static NEXT_LOOK: AtomicI64 = AtomicI64::new(i64::MAX);

/// Bytes from which loops stop.
static SHORT: AtomicI64 = AtomicI64::new(i64::MAX);

/// Bytes that allocations never exceed.
static MOST: AtomicI64 = AtomicI64::new(i64::MAX);

/// Ends the process.
static END: OnceLock<fn(Refusal) -> !> = OnceLock::new();

/// Makes the allocator give back what it keeps.
static GIVE_BACK: OnceLock<fn()> = OnceLock::new();

/// Bytes that were freed since the allocator gave back what it keeps.
static FREED: AtomicI64 = AtomicI64::new(0);

/// Largest difference between what a thread has allocated and what it has added to the sum.
const STEP: i64 = 64 << 10;

/// The system is asked when the bytes in use have grown by this part of the budget.
const LOOKS: i64 = 128;

/// The allocator gives back what it keeps when this part of the budget was freed.
const FREED_PARTS: i64 = 32;

/// Sets the memory that the process may use, in bytes, the function that ends the process when an
/// allocation is refused, and the one that makes the allocator return free memory to the system.
///
/// The functions must not allocate; what `end` writes and which code it exits with is the business
/// of the binary. They are set by the first call only.
pub fn set_budget(bytes: u64, end: fn(Refusal) -> !, give_back: fn()) {
    let most = i64::try_from(bytes).unwrap_or(i64::MAX);
    END.get_or_init(|| end);
    GIVE_BACK.get_or_init(|| give_back);
    SHORT.store(most - most / 10, Relaxed);
    MOST.store(most, Relaxed);
    look(IN_USE.load(Relaxed));
    LEAST_BEYOND.store(BEYOND.load(Relaxed), Relaxed);
}

/// Returns whether so much memory is in use that work should stop.
#[inline]
pub fn is_short() -> bool {
    taken() > SHORT.load(Relaxed)
}

/// Returns the bytes in use; 0 in a process without [`Counted`].
pub fn in_use() -> u64 {
    u64::try_from(IN_USE.load(Relaxed)).unwrap_or(0)
}

/// Returns the bytes in use, and those that the process has beyond them.
#[inline]
fn taken() -> i64 {
    IN_USE.load(Relaxed) + BEYOND.load(Relaxed)
}

/// Returns the bytes that may still be allocated before [`is_short`]; `None` without a budget.
pub fn left() -> Option<u64> {
    let short = SHORT.load(Relaxed);
    (short < i64::MAX).then(|| u64::try_from(short - taken()).unwrap_or(0))
}

/// Returns whether this many more bytes can be allocated before [`is_short`]; always without a
/// budget. A table that is about to double asks this first.
pub fn has_room(bytes: u64) -> bool {
    left().is_none_or(|left| bytes <= left)
}

thread_local! {
    /// What the thread has allocated and not yet added to the sum, plus [`STEP`], so that a single
    /// comparison bounds it in both directions. From twice the step on it means something else.
    ///
    /// It has no destructor, because access to a variable with one takes longer.
    static PENDING: Cell<u64> = const { Cell::new(FIRST) };

    /// Adds what is pending when the thread ends.
    static AT_END: AtEnd = const { AtEnd };
}

/// The thread has not counted anything yet.
const FIRST: u64 = u64::MAX / 2;

/// The thread is ending: it adds every count at once.
const ENDING: u64 = u64::MAX / 4;

struct AtEnd;

impl Drop for AtEnd {
    fn drop(&mut self) {
        IN_USE.fetch_add(added(PENDING.replace(ENDING)), Relaxed);
    }
}

/// Counts bytes, negative ones for memory that is returned.
#[inline]
fn count(bytes: i64) {
    let sum = PENDING.get().wrapping_add_signed(bytes);
    if sum < 2 * STEP as u64 {
        PENDING.set(sum);
    } else {
        count_rarely(bytes);
    }
}

/// Counts the first bytes of a thread, those that complete a step, and those of a thread that ends.
#[cold]
fn count_rarely(bytes: i64) {
    match PENDING.get() {
        ENDING => add(bytes),
        FIRST => {
            PENDING.set(STEP as u64);
            // The first access arranges that the value is dropped when the thread ends.
            if AT_END.try_with(|_| ()).is_err() {
                PENDING.set(ENDING);
            }
            count(bytes);
        }
        pending => {
            PENDING.set(STEP as u64);
            let sum = added(pending) + bytes;
            if sum < 0 {
                FREED.fetch_sub(sum, Relaxed);
            } else {
                give_back_freed();
            }
            add(sum);
        }
    }
}

/// Lets the allocator give back what it keeps, if that may matter.
fn give_back_freed() {
    let most = MOST.load(Relaxed);
    if FREED.load(Relaxed) > most / FREED_PARTS && taken() > most / 2 {
        FREED.store(0, Relaxed);
        if let Some(give_back) = GIVE_BACK.get() {
            give_back();
        }
    }
}

/// The bytes that a value of [`PENDING`] stands for.
fn added(pending: u64) -> i64 {
    pending as i64 - STEP
}

fn add(bytes: i64) {
    let sum = IN_USE.fetch_add(bytes, Relaxed) + bytes;
    if bytes > 0 {
        if sum > NEXT_LOOK.load(Relaxed) {
            look(sum - bytes);
        }
        if sum + BEYOND.load(Relaxed) > MOST.load(Relaxed) {
            refuse(Refusal::Budget);
        }
    }
}

/// Asks the system how much the process has beyond these bytes in use.
#[cold]
fn look(in_use: i64) {
    let most = MOST.load(Relaxed);
    if most < i64::MAX {
        NEXT_LOOK.store(in_use + most / LOOKS, Relaxed);
        if let Some(resident) = resident() {
            BEYOND.store((resident - in_use).max(LEAST_BEYOND.load(Relaxed)), Relaxed);
        }
    }
}

/// Returns the bytes of the process that are in memory; `None` if the system does not say. It does
/// not allocate.
fn resident() -> Option<i64> {
    let mut text = [0; 4096];
    let n_bytes = File::open("/proc/self/status").ok()?.read(&mut text).ok()?;
    let mut lines = text[..n_bytes].split(|&byte| byte == b'\n');
    let kib = lines.find_map(|line| line.strip_prefix(b"VmRSS:"))?.strip_suffix(b" kB")?;
    Some(std::str::from_utf8(kib).ok()?.trim().parse::<i64>().ok()? << 10)
}

#[cold]
fn refuse(refusal: Refusal) {
    if let Some(end) = END.get() {
        // The function may allocate against its contract; that must not lead back here.
        MOST.store(i64::MAX, Relaxed);
        end(refusal);
    }
}

/// Returns the size as a number that can be negated. A layout is never larger than `isize::MAX`.
#[inline]
fn size_of(layout: Layout) -> i64 {
    layout.size() as i64
}

/// Returns the block, unless there is none.
#[inline]
fn granted(block: *mut u8) -> *mut u8 {
    if block.is_null() {
        refuse(Refusal::System);
    }
    block
}

// SAFETY: every request goes to the inner allocator as it came, and the block that it returns is
// returned as it is. Counting neither allocates nor unwinds.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Counted<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(size_of(layout));
        // SAFETY: the caller keeps the contract of `alloc`.
        granted(unsafe { self.0.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(size_of(layout));
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        granted(unsafe { self.0.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-size_of(layout));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { self.0.dealloc(block, layout) }
    }

    /// Counts the old block until the new one is there, because a large block is copied.
    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if new_size < STEP as usize {
            count(new_size as i64 - size_of(layout));
            // SAFETY: the caller keeps the contract of `realloc`.
            return granted(unsafe { self.0.realloc(block, layout, new_size) });
        }
        count(new_size as i64);
        // SAFETY: the caller keeps the contract of `realloc`.
        let new = granted(unsafe { self.0.realloc(block, layout, new_size) });
        count(-size_of(layout));
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: Counted<std::alloc::System> = Counted(std::alloc::System);

    /// Allocations of other tests in the same process.
    const NOISE: u64 = 8 << 20;

    #[test]
    fn large_blocks_are_counted_while_they_live() {
        let before = in_use();
        let block = vec![1_u8; 64 << 20];
        assert!(in_use() >= before + (64 << 20) - NOISE);
        drop(block);
        assert!(in_use() <= before + NOISE);
    }

    #[test]
    fn a_thread_that_ends_leaves_no_count_behind() {
        let before = in_use();
        for _ in 0..500 {
            let texts: Vec<String> =
                std::thread::spawn(|| (0..200).map(|n| format!("text {n}")).collect())
                    .join()
                    .expect("the thread ends");
            assert_eq!(texts.len(), 200);
        }
        // 500 threads that lost a count of 60 KB each would leave 30 MB.
        assert!(in_use() <= before + NOISE, "{} after {before}", in_use());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_that_was_not_counted_is_noticed() {
        const UNCOUNTED: usize = 64 << 20;
        set_budget(1 << 40, |_| std::process::abort(), || {});
        let (before, left_before) = (BEYOND.load(Relaxed), left().expect("there is a budget"));
        assert!(before > 0, "the program itself takes memory");
        let layout = Layout::from_size_align(UNCOUNTED, 1).expect("a valid layout");
        // SAFETY: the size is not zero.
        let block = unsafe { std::alloc::System.alloc(layout) };
        assert!(!block.is_null());
        // SAFETY: the block has this size.
        unsafe { block.write_bytes(1, UNCOUNTED) };
        // Otherwise nothing reads the block, and it need not be written.
        std::hint::black_box(block);
        look(IN_USE.load(Relaxed));
        let (after, left_after) = (BEYOND.load(Relaxed), left().expect("there is a budget"));
        // SAFETY: the block comes from this allocator, with this layout.
        unsafe { std::alloc::System.dealloc(block, layout) };
        assert!(after >= before + UNCOUNTED as i64 - NOISE as i64, "{after} after {before}");
        assert!(left_after <= left_before - UNCOUNTED as u64 + NOISE);
    }
}
