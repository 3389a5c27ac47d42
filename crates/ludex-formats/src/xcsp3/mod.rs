//! XCSP3, the interchange format of the constraint community: reading, solving, writing.
//!
//! [`read`] turns text into an [`Instance`], [`write`] turns a network into text,
//! [`solve_text`] solves, and [`Answer`] prints itself in the format of the XCSP3 competition.
//! An unsupported element gives an error with its name and line. The frameworks beyond CSP and
//! COP are in [`quantified`] and [`stochastic`].

mod answer;
pub mod quantified;
mod read;
pub mod stochastic;
mod text;
mod write;
mod xml;

use ludex_base::Deadline;
use ludex_model::Problem;

use crate::FormatError;

pub use answer::{Answer, Status, solve_instance, solve_text};
pub use read::{Instance, read, read_by};
pub use write::write;

/// Reads an instance of any framework.
pub(crate) fn read_problem(text: &str, deadline: &Deadline) -> Result<Problem, FormatError> {
    let root = read::root(text, deadline)?;
    match root.attribute("type") {
        Some("SCSP" | "SCOP") => stochastic::read_element(&root, deadline).map(Problem::Stochastic),
        Some("QCSP" | "QCSP+" | "QCOP" | "QCOP+") => {
            read::read_quantified(&root, deadline).map(Problem::Quantified)
        }
        _ if root.child("quantification").is_some() => {
            read::read_quantified(&root, deadline).map(Problem::Quantified)
        }
        _ => Ok(Problem::Plain(read::plain(&root, deadline)?.network)),
    }
}
