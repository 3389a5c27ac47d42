//! Grounding: from rules with variables to rules without.
//!
//! [`ground`] finds the fluents and moves that can ever occur, by a relaxed play in which
//! everything that was ever true stays so, and with them every rule instance that can ever
//! fire. It does not need `base` and `input`, which public rulesheets often leave out and
//! sometimes get wrong.
//!
//! Read the modules in this order; each uses only those before it.

mod limits; // when to give up
mod estimate; // 1. how many rows a join is likely to have
mod clauses; // 2. the rules that matter, in the form the joins want
mod tables; // 3. ground atoms, indexed
mod split; // 4. rules with many variables become several with fewer
mod join_plan; // 5. in which order to join the literals of a rule
mod instantiate; // 6. every rule instance that can ever fire
mod simplify; // 7. fold what is always true or never true
mod program; // the result

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use ludex_base::Span;
use ludex_gdl::{Keyword, Program, RelationId};

pub use limits::{GroundError, GroundLimits, RulePlace};
pub use program::{
    AtomId, AtomKind, GroundLiteral, GroundProgram, GroundRule, GroundSizes, StaticPairs,
    Vocabulary,
};

/// Grounds a program.
///
/// # Errors
/// When a limit is reached, when terms grow without end, or when a ground atom depends on its own
/// negation.
pub fn ground(program: &Program, limits: &GroundLimits) -> Result<GroundProgram, GroundError> {
    let clauses = clauses::gather(program, &clauses::ROOTS)?;
    let instances = instantiate::instantiate(clauses, limits)?;
    let ground_program = simplify::simplify(instances, limits)?;
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

/// What `base` and `input` declare, as text; moves with their roles: `(white noop)`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Declared {
    /// The fluents of `base`.
    pub base: BTreeSet<String>,
    /// The moves of `input`.
    pub input: BTreeSet<String>,
}

/// Evaluates `base` and `input`, which grounding does without.
///
/// # Errors
/// When a limit is reached.
pub fn declared(program: &Program, limits: &GroundLimits) -> Result<Declared, GroundError> {
    let clauses = clauses::gather(program, &[Keyword::Base, Keyword::Input])?;
    let (terms, tables) = instantiate::evaluate_static(clauses, limits)?;
    let rows = |keyword: Keyword| {
        let table = &tables[RelationId::from(keyword).index()];
        (0..table.n_rows() as u32).map(|row| table.row(row))
    };
    Ok(Declared {
        base: rows(Keyword::Base).map(|row| terms.display(row[0]).to_string()).collect(),
        input: rows(Keyword::Input)
            .map(|row| format!("({} {})", terms.display(row[0]), terms.display(row[1])))
            .collect(),
    })
}
