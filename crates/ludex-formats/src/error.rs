//! Errors in files, and in problems that cannot be written.

use ludex_base::StopReason;
use ludex_csp::CspError;
use ludex_qcsp::ModelError;
use ludex_scsp::ScspError;
use thiserror::Error;

/// An error in reading or writing a file. Lines are counted from 1.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The text is not valid in the format.
    #[error("line {line}: {problem}")]
    Syntax {
        /// The line.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// The file uses a feature of the format that Ludex does not support.
    #[error("line {line}: {element} is not supported")]
    Unsupported {
        /// The line.
        line: usize,
        /// The element, attribute or operator.
        element: String,
    },
    /// The file states an invalid problem.
    #[error("{}{problem}", line.map_or(String::new(), |line| format!("line {line}: ")))]
    Meaning {
        /// The line with the mistake, if known.
        line: Option<usize>,
        /// What is wrong.
        problem: ProblemError,
    },
    /// The format cannot express a part of the problem.
    #[error("{what} can't be written in {format}")]
    Unwritable {
        /// The name of the format.
        format: &'static str,
        /// The part that can't be written.
        what: String,
    },
    /// Reading did not finish in time.
    #[error("stopped by the limit of {}", .0.name())]
    Stopped(StopReason),
}

/// An error in a problem, by its kind.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ProblemError {
    /// An error in a plain network.
    #[error(transparent)]
    Plain(#[from] CspError),
    /// An error in a quantified model.
    #[error(transparent)]
    Quantified(#[from] ModelError),
    /// An error in a stochastic network.
    #[error(transparent)]
    Stochastic(#[from] ScspError),
}

impl FormatError {
    /// Returns the line of the mistake, if known.
    pub fn line(&self) -> Option<usize> {
        match self {
            FormatError::Syntax { line, .. } | FormatError::Unsupported { line, .. } => Some(*line),
            FormatError::Meaning { line, .. } => *line,
            FormatError::Unwritable { .. } | FormatError::Stopped(_) => None,
        }
    }

    /// Returns the message without the line.
    pub fn problem(&self) -> String {
        match self {
            FormatError::Syntax { problem, .. } => problem.clone(),
            FormatError::Unsupported { element, .. } => format!("{element} is not supported"),
            FormatError::Meaning { problem, .. } => problem.to_string(),
            FormatError::Unwritable { .. } | FormatError::Stopped(_) => self.to_string(),
        }
    }
}
