//! Panics: mistakes of ours that an input has brought to light.
//!
//! Searches, players and matches catch their panics and go on. Any panic is reported in one line on
//! standard error, so that somebody learns of it; a panic that nobody caught ends the call.

use std::collections::BTreeSet;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use ludex_base::panic_message;

use crate::board::cut;
use crate::failure::{Failure, INVALID_INPUT, json_of};
use crate::output;

/// Where to report a panic.
const ISSUES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/issues");
/// Longest message that is shown, in characters.
const MAX_MESSAGE: usize = 300;
/// Most places that are reported; a search may panic at every move.
const MAX_PLACES: usize = 20;

/// Reports every panic from now on in one line, once for each place in the code. With
/// `RUST_BACKTRACE`, each is also shown in full.
pub fn report_in_one_line(verb: &str) {
    let verb = verb.to_string();
    let in_full = panic::take_hook();
    let has_backtrace = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
    let reported: Mutex<BTreeSet<String>> = Mutex::default();
    panic::set_hook(Box::new(move |info| {
        if has_backtrace {
            in_full(info);
        }
        let place = info.location().map_or_else(String::new, |place| format!(" at {place}"));
        let mut reported = reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.len() < MAX_PLACES && reported.insert(place.clone()) {
            let message = one_line(info.payload_as_str().unwrap_or("no message"));
            output::say(&format!(
                "ludex: internal error in `{verb}`{place}: {message}; please report it with your \
                 input at {ISSUES}"
            ));
        }
    }));
}

/// Runs the work of a call; a panic becomes a failure with an exit code.
pub fn guard(json: bool, work: impl FnOnce() -> Result<u8, Failure>) -> ExitCode {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(code)) => ExitCode::from(code),
        Ok(Err(failure)) => failure.report(json),
        Err(panic) => {
            let message = format!("internal error: {}", one_line(&panic_message(&*panic)));
            if json {
                // If standard output is closed, the exit code still reports the failure.
                let _ = output::text(&json_of(&message));
            }
            ExitCode::from(INVALID_INPUT)
        }
    }
}

/// A message as part of a line.
fn one_line(message: &str) -> String {
    let words: Vec<&str> = message.split_whitespace().collect();
    cut(&words.join(" "), MAX_MESSAGE).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_failure_of_the_call() {
        let code = |work: fn() -> Result<u8, Failure>| format!("{:?}", guard(false, work));
        assert_eq!(code(|| panic!("broken")), format!("{:?}", ExitCode::from(INVALID_INPUT)));
        assert_eq!(code(|| Ok(3)), format!("{:?}", ExitCode::from(3)));
    }

    #[test]
    fn long_messages_are_one_short_line() {
        assert_eq!(one_line("two\n lines"), "two lines");
        assert!(one_line(&"long ".repeat(100_000)).chars().count() < MAX_MESSAGE + 40);
    }
}
