//! Standard output, and the progress of long work.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use indicatif::{ProgressBar, ProgressStyle};
use ludex_base::Deadline;
use serde::Serialize;

pub use ludex_record::{round, seconds};

/// Prints a value as one line of JSON.
///
/// # Errors
/// When standard output fails.
pub fn json(value: &impl Serialize) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    serde_json::to_writer(&mut stdout, value)?;
    writeln!(stdout)
}

/// Returns the message of a series that stopped at this deadline, of time or memory.
pub fn limit_text(stop: &Deadline) -> &'static str {
    match stop.remaining() {
        Some(Duration::ZERO) => "ludex: stopped by the time limit; allow more with `--time`",
        _ => "ludex: stopped by the memory limit; allow more with `--memory`",
    }
}

/// Prints a text that ends its own lines.
///
/// # Errors
/// When standard output fails.
pub fn text(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Prints a line on standard error, apart from the report.
pub fn say(words: &str) {
    // If standard error fails, there is nowhere to report it.
    let _ = writeln!(io::stderr(), "{words}");
}

/// Shows a spinner during long work if standard error is a terminal.
pub fn spinner(message: impl Into<String>) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style =
        ProgressStyle::with_template("{spinner} {msg} ({elapsed})").expect("a fixed template");
    let bar = ProgressBar::new_spinner().with_style(style).with_message(message.into());
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// Shows a progress bar if standard error is a terminal.
pub fn bar(length: u64, what: impl Into<String>) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {prefix} ({elapsed}) {msg}")
        .expect("a fixed template");
    let bar = ProgressBar::new(length).with_style(style).with_prefix(what.into());
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// Returns the current time, in milliseconds since 1970.
pub fn unix_millis() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

/// Returns the width of the terminal, or 80 without one.
pub fn width() -> usize {
    terminal_width().unwrap_or(80).clamp(40, 200)
}

#[cfg(unix)]
fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(size.ws_col.into()).filter(|&width| width > 0)
}

#[cfg(not(unix))]
fn terminal_width() -> Option<usize> {
    None
}
