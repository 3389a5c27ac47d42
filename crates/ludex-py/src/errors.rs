//! The exceptions of the package, and calls that let other Python threads run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ludex_base::{Source, Span};
use ludex_pipeline::LoadError;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(ludex, LudexError, PyException, "What all errors of Ludex have in common.");
create_exception!(ludex, RulesError, LudexError, "The rulesheet has a mistake; `args` says where.");
create_exception!(ludex, LimitError, LudexError, "A limit of time, memory or size was reached.");
create_exception!(ludex, IllegalMoveError, PyValueError, "A move is not legal in this state.");

/// Turns what loading says into an exception.
pub fn load_error(source: &Source, error: LoadError) -> PyErr {
    match error {
        LoadError::Rules { diagnostics } => {
            let lines: Vec<String> = diagnostics
                .iter()
                .map(|it| {
                    let place = place(source, it.span);
                    let help = it.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
                    format!("{place}: {} [{}]{help}", it.message, it.code)
                })
                .collect();
            RulesError::new_err(lines.join("\n"))
        }
        LoadError::Limit { reason } => LimitError::new_err(reason),
        other => LudexError::new_err(format!("{other:?}")),
    }
}

/// Returns the place of a span as `name:line:column`.
pub fn place(source: &Source, span: Span) -> String {
    let (line, column) = source.line_column(span.start);
    format!("{}:{line}:{column}", source.name())
}

/// Longest wait between two looks for Ctrl-C.
const MAX_WAIT: Duration = Duration::from_millis(20);

/// Runs work on a thread of its own without the interpreter's lock. On Ctrl-C it sets the flag, waits
/// for the work to end, and raises `KeyboardInterrupt`. A panic becomes an exception.
///
/// # Errors
/// When the work panics or is interrupted.
pub fn interruptible<T: Send>(
    py: Python<'_>,
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    std::thread::scope(|scope| {
        let worker = scope.spawn(work);
        let mut interrupted = None;
        let mut wait = Duration::from_micros(50);
        while !worker.is_finished() {
            py.detach(|| std::thread::sleep(wait));
            wait = (2 * wait).min(MAX_WAIT);
            if interrupted.is_none()
                && let Err(error) = py.check_signals()
            {
                stop.store(true, Ordering::Relaxed);
                interrupted = Some(error);
            }
        }
        match (worker.join(), interrupted) {
            (_, Some(error)) => Err(error),
            (Ok(result), None) => Ok(result),
            (Err(panic), None) => Err(panicked(&*panic)),
        }
    })
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> PyErr {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason");
    LudexError::new_err(format!("a fault of Ludex, please report it: {said}"))
}

/// Panics on the thread of a long call, so that tests see what becomes of it.
#[pyfunction]
pub fn _panic(py: Python<'_>, message: &str) -> PyResult<()> {
    interruptible(py, &AtomicBool::new(false), || panic!("{message}"))
}
