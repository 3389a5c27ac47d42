//! What can be wrong with a file, or with a problem that is to become one.

use ludex_base::StopReason;
use ludex_csp::CspError;
use ludex_qcsp::ModelError;
use ludex_scsp::ScspError;
use thiserror::Error;

/// Why a file can't be read or written. Lines are counted from 1.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// Text that is not of the format.
    #[error("line {line}: {problem}")]
    Syntax {
        /// The line.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// Something of the format that we don't have.
    #[error("line {line}: {element} is not supported")]
    Unsupported {
        /// The line.
        line: usize,
        /// The element, attribute or operator.
        element: String,
    },
    /// A file that states a problem that means nothing.
    #[error("{}{problem}", line.map_or(String::new(), |line| format!("line {line}: ")))]
    Meaning {
        /// The line that states what is wrong, where that is known.
        line: Option<usize>,
        /// What is wrong.
        problem: ProblemError,
    },
    /// Something that the format does not have.
    #[error("{what} can't be written in {format}")]
    Unwritable {
        /// The name of the format.
        format: &'static str,
        /// What can't be written.
        what: String,
    },
    /// Reading was not finished in time.
    #[error("stopped by the limit of {}", .0.name())]
    Stopped(StopReason),
}

/// What is wrong with a problem, by its kind.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ProblemError {
    /// With a plain one.
    #[error(transparent)]
    Plain(#[from] CspError),
    /// With a quantified one.
    #[error(transparent)]
    Quantified(#[from] ModelError),
    /// With a stochastic one.
    #[error(transparent)]
    Stochastic(#[from] ScspError),
}

impl FormatError {
    /// The line of the file on which something is wrong, where that is known.
    pub fn line(&self) -> Option<usize> {
        match self {
            FormatError::Syntax { line, .. } | FormatError::Unsupported { line, .. } => Some(*line),
            FormatError::Meaning { line, .. } => *line,
            FormatError::Unwritable { .. } | FormatError::Stopped(_) => None,
        }
    }

    /// What is wrong, without the line.
    pub fn problem(&self) -> String {
        match self {
            FormatError::Syntax { problem, .. } => problem.clone(),
            FormatError::Unsupported { element, .. } => format!("{element} is not supported"),
            FormatError::Meaning { problem, .. } => problem.to_string(),
            FormatError::Unwritable { .. } | FormatError::Stopped(_) => self.to_string(),
        }
    }
}
