//! XCSP3, the interchange format of the constraint community: reading, solving, writing.
//!
//! [`read`] turns text into an [`Instance`], [`solve_text`] solves it with typed options, and
//! [`Answer`] prints itself as the XCSP3 competition asks. What we don't have is refused by
//! name and line.

mod answer;
mod read;
mod text;
mod write;
mod xml;

pub use answer::{Answer, SearchMethod, SolveOptions, Status, solve_instance, solve_text};
pub use read::{
    Drawn, Instance, StageBlock, Stated, StochasticInstance, read, read_by, read_stochastic,
};
pub use write::{unused_name, write};
