//! Tries generated inputs, for [`ludex_tests::fuzzing`], which reads what is printed here.
//!
//! - `fuzz-cases batch GENERATOR SEED FIRST COUNT` tries inputs by number.
//! - `fuzz-cases input GENERATOR` tries the input that it reads.
//! - `fuzz-cases show GENERATOR SEED NUMBER` prints an input.

use std::io::{Read as _, Write as _, stdin, stdout};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use ludex_base::Seed;
use ludex_base::memory::{self, Counted};
use ludex_cli::resources::cpu_time;
use ludex_tests::fuzzing::Generator;
use ludex_tests::fuzzing::trial::{Depth, Trial};

#[global_allocator]
static ALLOCATOR: Counted<std::alloc::System> = Counted(std::alloc::System);

/// Bytes that the process may use: the limits of the stages are far below.
const MEMORY: u64 = 1500 << 20;

/// The number of the input that is tried, for panics of any thread.
static NUMBER: AtomicU64 = AtomicU64::new(0);
/// Inputs begun, for the clock.
static N_BEGUN: AtomicU64 = AtomicU64::new(0);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<u64>().ok();
    let generator = words.get(1).and_then(|name| Generator::find(name));
    let Some(generator) = generator else { return usage() };
    match words[..] {
        ["batch", _, seed, first, count] => {
            let (Some(seed), Some(first), Some(count)) =
                (number(seed), number(first), number(count))
            else {
                return usage();
            };
            let inputs = (first..first + count).map(|n| (n, generator.input(Seed(seed), n)));
            try_all(generator, inputs);
            ExitCode::SUCCESS
        }
        ["input", _] => {
            let mut input = Vec::new();
            if let Err(error) = stdin().read_to_end(&mut input) {
                eprintln!("fuzz-cases: no input: {error}");
                return ExitCode::FAILURE;
            }
            try_all(generator, std::iter::once((0, input)));
            ExitCode::SUCCESS
        }
        ["show", _, seed, n] => {
            let (Some(seed), Some(n)) = (number(seed), number(n)) else { return usage() };
            // Nobody may be reading.
            let _ = stdout().write_all(&generator.input(Seed(seed), n));
            ExitCode::SUCCESS
        }
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    let names: Vec<&str> = Generator::ALL.iter().map(|it| it.name()).collect();
    eprintln!(
        "fuzz-cases batch GENERATOR SEED FIRST COUNT\nfuzz-cases input GENERATOR\n\
         fuzz-cases show GENERATOR SEED NUMBER\ngenerators: {}",
        names.join(", ")
    );
    ExitCode::from(2)
}

fn try_all(generator: Generator, inputs: impl Iterator<Item = (u64, Vec<u8>)>) {
    let end = |_| {
        eprintln!("the memory of the process is used up");
        std::process::exit(4)
    };
    memory::set_budget(MEMORY, end, || {});
    panic::set_hook(Box::new(|info| {
        let place =
            info.location().map_or_else(String::new, |it| format!("{}:{}", it.file(), it.line()));
        let message = info.payload_as_str().unwrap_or("").lines().next().unwrap_or("").to_string();
        say(&format!("found {} panic at {place} {message}", NUMBER.load(SeqCst)));
    }));
    watch_clock();
    let mut trial = Trial::default();
    for (number, input) in inputs {
        NUMBER.store(number, SeqCst);
        N_BEGUN.fetch_add(1, SeqCst);
        say(&format!("case {number} {}", input.len()));
        let result = panic::catch_unwind(AssertUnwindSafe(|| trial.try_input(generator, &input)));
        match result {
            Ok(Ok(depth)) if depth == Depth::default() => {}
            Ok(Ok(depth)) => say(&format!("depth {} {}", depth.n_accepted, depth.n_compared)),
            Ok(Err(what)) => say(&format!("found {number} {}", what.replace('\n', " "))),
            // The hook has said it; what was shared may be broken.
            Err(_) => trial = Trial::default(),
        }
    }
    say("done");
}

/// Prints a line at once.
fn say(line: &str) {
    let mut out = stdout().lock();
    // Without a reader there is nobody to tell.
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}

/// Ends the process when an input takes too long: by the processor, because the machine may be busy, or
/// much longer by the clock.
fn watch_clock() {
    let seconds = std::env::var("LUDEX_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let Some(limit) = seconds.map(Duration::from_secs) else { return };
    let is_over = move |cpu: Duration, wall: Duration| cpu > limit || wall > 20 * limit;
    let now = || (cpu_time().unwrap_or_default(), Instant::now(), N_BEGUN.load(SeqCst));
    thread::spawn(move || {
        let mut start = now();
        loop {
            thread::sleep(Duration::from_millis(200));
            let (cpu, wall, n_begun) = now();
            if n_begun != start.2 {
                start = (cpu, wall, n_begun);
            } else if is_over(cpu.saturating_sub(start.0), wall - start.1) {
                say(&format!("found {} too slow: more than {limit:?}", NUMBER.load(SeqCst)));
                std::process::exit(5);
            }
        }
    });
}
