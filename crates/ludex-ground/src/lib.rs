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
mod rigid; // 1. fluents that never change
mod estimate; // 2. how many rows a join is likely to have
mod clauses; // 3. the relevant rules, in a form for joins
mod automaton; // 4. lookups in huge relations, variable by variable
mod rewrite; // 5. equivalent rules with fewer instances, for large games
mod demand; // 6. only what the rules can ask for
mod tables; // 7. ground atoms, indexed
mod split; // 8. splits rules with many variables
mod join_plan; // 9. the order in which to join literals
mod instantiate; // 10. every rule instance that can ever fire
mod simplify; // 11. folds what is always true or never true
mod program; // the main type

#[cfg(test)]
mod tests;
#[cfg(test)]
mod twins;

use std::collections::BTreeSet;

use ludex_base::{Limits, Pace, Span};
use ludex_gdl::{Keyword, Program, RelationId, RulePlace};

use estimate::Found;
use instantiate::{Halt, Instances};

pub use limits::{GroundError, Progress};
pub use program::{
    AtomId, AtomKind, GroundLiteral, GroundProgram, GroundRule, GroundSizes, StaticPairs,
    Vocabulary,
};

/// Steps of joins after which grounding starts again, with only what is asked for.
const SIMPLE_STEPS: u64 = 2_000_000;

/// Conditions between two checks of the deadline.
const CONDITIONS_PER_CHECK: usize = 1 << 12;

/// Grounds a program.
///
/// # Errors
/// When a limit is reached, when terms grow without end, or when a ground atom depends on its own
/// negation.
pub fn ground(program: &Program, limits: &Limits) -> Result<GroundProgram, GroundError> {
    let resolved = rigid::resolve(program);
    let clauses = clauses::gather(&resolved, &clauses::ROOTS)?;
    let instances = match instantiate::instantiate(clauses, limits, SIMPLE_STEPS) {
        Ok(instances) => instances,
        Err(Halt { error, found: None }) => return Err(error),
        Err(Halt { error, found: Some(found) }) => {
            on_demand(&resolved, &found, limits).map_err(|halted| halted.unwrap_or(error))?
        }
    };
    finish(program, instances, limits)
}

/// Finds the instances of what is asked for. The error is `None` where the deadline came first.
fn on_demand(
    program: &Program,
    found: &[Found],
    limits: &Limits,
) -> Result<Instances, Option<GroundError>> {
    let mut clauses = clauses::gather(program, &clauses::ROOTS)?;
    let pace = Pace::new(&limits.deadline, CONDITIONS_PER_CHECK);
    automaton::replace(&mut clauses, found, &pace).map_err(|_| None)?;
    rewrite::rewrite(&mut clauses, found, &pace).map_err(|_| None)?;
    demand::restrict(&mut clauses, found, &pace).map_err(|_| None)?;
    instantiate::instantiate(clauses, limits, u64::MAX).map_err(|halt| Some(halt.error))
}

fn finish(
    program: &Program,
    instances: Instances,
    limits: &Limits,
) -> Result<GroundProgram, GroundError> {
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
