//! XCSP3, the interchange format of the constraint community: reading, solving, writing.
//!
//! [`read`] turns text into an [`Instance`], [`write`] a network into text, [`solve_text`] solves, and
//! [`Answer`] prints itself as the XCSP3 competition asks. What we don't have is refused by
//! name and line. The frameworks beyond CSP and COP are in [`quantified`] and [`stochastic`].

mod answer;
pub mod quantified;
mod read;
pub mod stochastic;
mod text;
mod write;
mod xml;

pub use answer::{Answer, Status, solve_instance, solve_text};
pub use read::{Instance, read, read_by};
pub use write::write;
