//! Why a call failed, with its error message and exit code.

use std::io;
use std::process::ExitCode;

use ludex_base::{Diagnostic, Source};
use serde::Serialize;

use crate::diagnostics::{self, DiagnosticJson};
use crate::input::InputError;
use crate::output;

/// The job was done.
pub const DONE: u8 = 0;
/// The input is invalid.
pub const INVALID_INPUT: u8 = 1;
/// The command line is wrong.
pub const USAGE_ERROR: u8 = 2;
/// A limit stopped the work.
pub const LIMIT: u8 = 3;

/// Why a call failed.
#[derive(Debug)]
pub enum Failure {
    /// The input cannot be read.
    Input(InputError),
    /// The rulesheet is invalid.
    Rules {
        /// The rulesheet.
        source: Box<Source>,
        /// Its errors and warnings.
        diagnostics: Vec<Diagnostic>,
    },
    /// A file other than a rulesheet is invalid.
    File {
        /// The path.
        path: String,
        /// The kind of error, in kebab case.
        code: &'static str,
        /// The line, counted from 1, if known.
        line: Option<usize>,
        /// The message.
        message: String,
    },
    /// An option does not fit the game or the file.
    Call(String),
    /// A limit stopped the work.
    Limit(String),
    /// Output failed.
    Io(io::Error),
}

#[derive(Serialize)]
struct FailureJson {
    ok: bool,
    error: String,
    errors: Vec<DiagnosticJson>,
    warnings: Vec<DiagnosticJson>,
}

impl Failure {
    /// Prints the failure on standard error, and with `json` also on standard output; returns the
    /// exit code.
    pub fn report(self, json: bool) -> ExitCode {
        let mut found = Vec::new();
        let (code, message, about) = match self {
            // The reader of our output is gone, so there is nobody to tell.
            Failure::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                return ExitCode::from(DONE);
            }
            Failure::Input(error) => {
                let code = if error.is_usage_error() { USAGE_ERROR } else { INVALID_INPUT };
                (code, error.to_string(), None)
            }
            Failure::Rules { source, diagnostics } => {
                let n_errors = diagnostics.iter().filter(|d| d.severity.is_error()).count();
                let s = if n_errors == 1 { "" } else { "s" };
                let message = format!("`{}` has {n_errors} error{s}", source.name());
                (INVALID_INPUT, message, Some((source, diagnostics)))
            }
            Failure::File { path, code, line, message } => {
                let location = line.map_or_else(|| path.clone(), |line| format!("{path}:{line}"));
                let full = format!("{location}: {message}");
                found.push(DiagnosticJson::on_line(code, message, line.unwrap_or(1)));
                (INVALID_INPUT, full, None)
            }
            Failure::Call(message) => (USAGE_ERROR, message, None),
            Failure::Limit(message) => (LIMIT, message, None),
            Failure::Io(error) => (INVALID_INPUT, format!("cannot write output: {error}"), None),
        };
        if let Some((source, diagnostics)) = &about {
            diagnostics::report(source, diagnostics, false);
        }
        eprintln!("ludex: {message}");
        if json {
            let (errors, warnings) = match &about {
                Some((source, diagnostics)) => diagnostics::split_json(source, diagnostics),
                None => (found, Vec::new()),
            };
            // If standard output is closed, the exit code still reports the failure.
            let _ = output::json(&FailureJson { ok: false, error: message, errors, warnings });
        }
        ExitCode::from(code)
    }
}

/// Returns the JSON of a failure without diagnostics, with its line end.
pub fn json_of(message: &str) -> String {
    let failure =
        FailureJson { ok: false, error: message.into(), errors: Vec::new(), warnings: Vec::new() };
    serde_json::to_string(&failure).map_or_else(|_| String::new(), |text| text + "\n")
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Failure::Input(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Io(error)
    }
}
