//! Grounding: from rules with variables to rules without.
//!
//! [`ground`] finds the fluents and moves that can ever occur by a relaxed play in which true facts
//! stay true, and from them every rule instance that can ever fire. It does not need `base` and
//! `input`, which public rulesheets often omit and sometimes get wrong.
//!
//! Read the modules in this order; each uses only those before it.

// Sizes come from texts of strangers: a number that does not fit must be noticed.
#![deny(clippy::cast_possible_truncation)]

mod limits; // errors
mod estimate; // 1. how many rows a join is likely to have
mod clauses; // 2. the relevant rules, in a form for joins
mod tables; // 3. ground atoms, indexed
mod split; // 4. splits rules with many variables
mod join_plan; // 5. the order in which to join literals
mod instantiate; // 6. every rule instance that can ever fire
mod simplify; // 7. folds what is always true or never true
mod program; // the main type

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use ludex_base::{Limits, Span};
use ludex_gdl::{Keyword, Program, RelationId, RulePlace};

pub use limits::{GroundError, Progress};
pub use program::{
    AtomId, AtomKind, GroundLiteral, GroundProgram, GroundRule, GroundSizes, StaticPairs,
    Vocabulary,
};

/// Grounds a program.
///
/// # Errors
/// When a limit is reached, when terms grow without end, or when a ground atom depends on its own
/// negation.
pub fn ground(program: &Program, limits: &Limits) -> Result<GroundProgram, GroundError> {
    let clauses = clauses::gather(program, &clauses::ROOTS)?;
    let instances = instantiate::instantiate(clauses, limits)?;
    let ground_program = simplify::simplify(program, instances, limits)?;
    match ground_program.negative_cycle() {
        Some(atom) => Err(negative_cycle(program, &ground_program, atom)),
        None => Ok(ground_program),
    }
}

fn negative_cycle(program: &Program, ground_program: &GroundProgram, atom: AtomId) -> GroundError {
    let relation = ground_program.relation_of(atom);
    let rule = RulePlace {
        relation,
        name: program.terms.symbols().name(relation).to_owned(),
        span: program.negating_rule(relation).map_or_else(Span::default, |rule| rule.span),
    };
    GroundError::NegativeCycle { atom: ground_program.atom_text(atom), rule }
}

/// The declarations of `base` and `input`, as text; moves with their roles: `(white noop)`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Declared {
    /// The fluents declared by `base`.
    pub base: BTreeSet<String>,
    /// The moves declared by `input`.
    pub input: BTreeSet<String>,
}

/// Evaluates `base` and `input`, which grounding does not need.
///
/// # Errors
/// When a limit is reached.
pub fn declared(program: &Program, limits: &Limits) -> Result<Declared, GroundError> {
    let clauses = clauses::gather(program, &[Keyword::Base, Keyword::Input])?;
    let (terms, tables) = instantiate::evaluate_static(clauses, limits)?;
    let rows = |keyword: Keyword| tables[RelationId::from(keyword).index()].rows();
    Ok(Declared {
        base: rows(Keyword::Base).map(|row| terms.display(row[0]).to_string()).collect(),
        input: rows(Keyword::Input)
            .map(|row| format!("({} {})", terms.display(row[0]), terms.display(row[1])))
            .collect(),
    })
}
