//! Ends the process at its limits when the work does not stop by itself.
//!
//! Work heeds its limits: loops check a deadline, which is also reached when memory is short. What
//! is here is the backstop for work that does not: an allocation beyond the budget, or a stage that
//! does not look at the clock, ends the process with a message and exit code 3, as any limit does.

use std::io::{IsTerminal as _, stderr};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use ludex_base::limits::USUAL_BYTES;
use ludex_base::memory::{self, Refusal};
// It defines `mi_collect`.
use mimalloc as _;

use crate::args::Common;
use crate::failure::{self, LIMIT};

/// What is written when the process ends at a limit. It is prepared, because there is no memory to
/// prepare it then.
struct LastWords {
    budget: Words,
    system: Words,
}

/// The texts for standard error and standard output.
struct Words {
    error: String,
    output: String,
}

/// Memory that the process may always have: a smaller `--memory` bounds what stages build, and the
/// program itself needs some.
const LEAST_BYTES: u64 = 64 << 20;

static LAST_WORDS: OnceLock<LastWords> = OnceLock::new();

/// Bounds the memory of the process and, if the verb is to end within `--time`, its time.
pub fn start(common: &Common, ends_in_time: bool) {
    let bytes = common.memory.unwrap_or(USUAL_BYTES).max(LEAST_BYTES);
    let words = |message: String| Words::of(&message, common.json);
    LAST_WORDS.get_or_init(|| LastWords {
        budget: words(format!(
            "stopped by the memory limit of {} MB; allow more with `--memory`",
            bytes >> 20
        )),
        system: words("stopped because the system has no memory left for this process".into()),
    });
    memory::set_budget(bytes, end_at_memory_limit, give_back);
    if let Some(time) = common.time.filter(|_| ends_in_time) {
        watch_clock(time, common.json);
    }
}

/// Returns free memory to the system, which the allocator otherwise keeps for a while.
fn give_back() {
    // SAFETY: it may be called at any time by any thread; it neither moves nor frees blocks in use.
    unsafe { mi_collect(true) }
}

/// Returns free memory to the system every second, for a process that runs for long: the allocator
/// itself does so only while it has work.
pub fn give_back_regularly() {
    // Without a thread the process keeps more than it needs, and its limits hold all the same.
    let _ = thread::Builder::new().name("memory".into()).stack_size(64 << 10).spawn(|| {
        loop {
            thread::sleep(Duration::from_secs(1));
            give_back();
        }
    });
}

unsafe extern "C" {
    /// Of the allocator of the command.
    fn mi_collect(force: bool);
}

/// Ends the process some time after the limit, if it is still there.
fn watch_clock(time: Duration, json: bool) {
    let message =
        format!("stopped by the time limit of {} s; allow more with `--time`", time.as_secs_f64());
    let words = Words::of(&message, json);
    // Without a thread there is no backstop, and the limits of the work itself remain.
    let _ = thread::Builder::new().name("clock".into()).stack_size(64 << 10).spawn(move || {
        thread::sleep(time + grace(time));
        end(&words);
    });
}

/// The time that work may take to stop after its limit: most of what the command promises, which
/// is one second, or a fifth of the limit if that is longer.
fn grace(time: Duration) -> Duration {
    Duration::from_millis(700).max(time.mul_f64(0.15))
}

fn end_at_memory_limit(refusal: Refusal) -> ! {
    match (LAST_WORDS.get(), refusal) {
        (Some(words), Refusal::Budget) => end(&words.budget),
        (Some(words), Refusal::System) => end(&words.system),
        (None, _) => exit(),
    }
}

/// Writes the words past all buffers and locks, which may be held, and ends the process.
#[cfg(unix)]
fn end(words: &Words) -> ! {
    let write_all = |stream: std::os::fd::BorrowedFd<'_>, mut bytes: &[u8]| {
        while let Ok(n_written @ 1..) = rustix::io::write(stream, bytes) {
            bytes = &bytes[n_written..];
        }
    };
    write_all(rustix::stdio::stdout(), words.output.as_bytes());
    write_all(rustix::stdio::stderr(), words.error.as_bytes());
    exit()
}

/// Writes the words and ends the process.
#[cfg(not(unix))]
fn end(words: &Words) -> ! {
    use std::io::Write as _;
    let _ = std::io::stdout().write_all(words.output.as_bytes());
    let _ = std::io::stderr().write_all(words.error.as_bytes());
    exit()
}

#[cfg(unix)]
fn exit() -> ! {
    // SAFETY: it ends the process at once and runs nothing else of it.
    unsafe { libc::_exit(i32::from(LIMIT)) }
}

#[cfg(not(unix))]
fn exit() -> ! {
    std::process::exit(i32::from(LIMIT))
}

impl Words {
    fn of(message: &str, json: bool) -> Self {
        // On a terminal the line may hold a spinner, and the cursor may be hidden.
        let clear = if stderr().is_terminal() { "\r\x1b[K\x1b[?25h" } else { "" };
        let error = format!("{clear}ludex: {message}\n");
        let output = if json { failure::json_of(message) } else { String::new() };
        Self { error, output }
    }
}
