//! File formats of other solvers: XCSP3 and QDIMACS.
//!
//! [`read`] turns the text of a file into a [`Problem`], [`write`] turns a problem into text.
//!
//! ```
//! use ludex_base::Deadline;
//! use ludex_csp::Verdict;
//! use ludex_formats::{Format, read, write};
//! use ludex_model::Problem;
//!
//! let text = "p cnf 2 2\na 1 0\ne 2 0\n1 -2 0\n-1 2 0\n";
//! let problem = read(text, Format::Qdimacs, &Deadline::never())?;
//! let instance = write(&problem, Format::Xcsp3)?;
//! assert!(instance.contains("type=\"QCSP\""));
//! let Problem::Quantified(model) = problem else { unreachable!("formulas are quantified") };
//! let report = ludex_qcsp::solve(&model, &ludex_qcsp::SolveConfig::default()).unwrap();
//! assert_eq!(report.verdict, Verdict::True);
//! # Ok::<(), ludex_formats::FormatError>(())
//! ```
//!
//! Read the modules in this order.
//!
//! 1. `error`: errors in files
//! 2. [`xcsp3`]: the format of the constraint community, in the frameworks of plain, quantified
//!    and stochastic problems, and the answers of its competition
//! 3. [`qdimacs`]: quantified Boolean formulas
//!
//! To add a format, write a module with `read` and `write`, and a variant of [`Format`].

mod error;
pub mod qdimacs;
pub mod xcsp3;

use std::path::Path;

use ludex_base::Deadline;
use ludex_model::Problem;

pub use error::{FormatError, ProblemError};

/// A format of files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// XCSP3, `.xml`.
    Xcsp3,
    /// QDIMACS, `.qdimacs`.
    Qdimacs,
}

impl Format {
    /// Returns the format by the extension of a file name.
    pub fn of_file(name: &str) -> Option<Self> {
        match Path::new(name).extension()?.to_str()? {
            "xml" => Some(Format::Xcsp3),
            "qdimacs" => Some(Format::Qdimacs),
            _ => None,
        }
    }
}

/// Reads a problem.
///
/// # Errors
/// When the text is not valid in the format or states an invalid problem, with the line; when
/// the deadline is reached.
pub fn read(text: &str, format: Format, deadline: &Deadline) -> Result<Problem, FormatError> {
    match format {
        Format::Xcsp3 => xcsp3::read_problem(text, deadline),
        Format::Qdimacs => qdimacs::read(text).map(Problem::Quantified),
    }
}

/// Writes a problem.
///
/// # Errors
/// [`FormatError::Unwritable`] when the format cannot express the problem or a part of it.
pub fn write(problem: &Problem, format: Format) -> Result<String, FormatError> {
    match (format, problem) {
        (Format::Xcsp3, Problem::Plain(network)) => xcsp3::write(network),
        (Format::Xcsp3, Problem::Quantified(model)) => xcsp3::quantified::write(model),
        (Format::Xcsp3, Problem::Stochastic(network)) => xcsp3::stochastic::write(network),
        (Format::Qdimacs, Problem::Quantified(model)) => qdimacs::write(model),
        (Format::Qdimacs, problem) => {
            let what = format!("a {} problem", problem.kind());
            Err(FormatError::Unwritable { format: "QDIMACS", what })
        }
    }
}

/// Includes the guide so that its code is tested.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/constraints.md")]
pub struct Guide;
