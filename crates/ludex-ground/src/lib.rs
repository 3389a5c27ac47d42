//! Grounding: from rules with variables to rules without.
//!
//! [`ground`] finds the fluents and moves that can ever occur, by a relaxed play in which
//! everything that was ever true stays so, and with them every rule instance that can ever
//! fire. It does not need `base` and `input`, which public rulesheets often leave out and
//! sometimes get wrong.
//!
//! Read the modules in this order; each uses only those before it.

mod limits; // when to give up
mod clauses; // 1. the rules that matter, in the form the joins want
mod tables; // 2. ground atoms, indexed
mod estimate; // 3. how many rows a join is likely to have
mod split; // 4. rules with many variables become several with fewer
mod plan; // 5. in which order to join the literals of a rule
mod instantiate; // 6. every rule instance that can ever fire
mod simplify; // 7. fold what is always true or never true
mod program; // the result

#[cfg(test)]
mod tests;

use ludex_gdl::Program;

pub use limits::{GroundError, GroundLimits};
pub use program::{
    AtomId, AtomKind, GroundLiteral, GroundProgram, GroundRule, GroundSizes, Vocabulary,
};

/// Grounds a program.
///
/// # Errors
/// When a limit is reached, when terms grow without end, or when a ground atom depends on its own
/// negation.
pub fn ground(program: &Program, limits: &GroundLimits) -> Result<GroundProgram, GroundError> {
    let clauses = clauses::gather(program)?;
    let instances = instantiate::instantiate(clauses, limits)?;
    let ground_program = simplify::simplify(instances, limits)?;
    ground_program.refuse_negative_cycles()?;
    Ok(ground_program)
}
