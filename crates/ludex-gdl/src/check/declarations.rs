//! `base` and `input` against what grounding has found: term by term, where the rest of the
//! check sees only names.

use std::collections::BTreeSet;

use ludex_base::{Diagnostic, Severity};

use crate::codes;
use crate::keyword::Keyword;
use crate::program::{Program, RelationId};
use crate::terms::{TermId, Terms};

/// What a later stage has found. Moves are pairs of role and move.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The fluents that can become true.
    pub fluents: Vec<TermId>,
    /// What `base` gives.
    pub base: Vec<TermId>,
    /// The moves that can become legal.
    pub moves: Vec<(TermId, TermId)>,
    /// What `input` gives.
    pub input: Vec<(TermId, TermId)>,
}

/// Compares `base` and `input` with the fluents and moves that can occur. The terms are those
/// of `terms`, which may be more than the program had. A program without `base` is not
/// compared with it, and neither is one without `input`.
///
/// Declarations of what never occurs are no mistake: `base` and `input` may say too much.
pub fn check_declarations(program: &Program, terms: &Terms, found: &Found) -> Vec<Diagnostic> {
    let fluents = found.fluents.iter().map(|&fluent| terms.display(fluent).to_string());
    let base = found.base.iter().map(|&fluent| terms.display(fluent).to_string());
    let pair =
        |&(role, it): &(TermId, TermId)| format!("{} {}", terms.display(role), terms.display(it));
    let moves = found.moves.iter().map(pair);
    let input = found.input.iter().map(pair);
    [
        compare(program, Keyword::Base, codes::BASE_DISAGREES, fluents.collect(), base.collect()),
        compare(program, Keyword::Input, codes::INPUT_DISAGREES, moves.collect(), input.collect()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn compare(
    program: &Program,
    keyword: Keyword,
    code: &'static str,
    occurring: BTreeSet<String>,
    declared: BTreeSet<String>,
) -> Option<Diagnostic> {
    let relation = RelationId::from(keyword);
    let first = program.rules.iter().find(|rule| rule.head.relation == relation)?;
    let missing: Vec<&String> = occurring.difference(&declared).collect();
    let example = missing.first()?;
    let name = keyword.name();
    let message = match missing.len() {
        1 => format!("`{example}` can occur but is missing from `{name}`"),
        n => format!("`{example}` and {} more can occur but are missing from `{name}`", n - 1),
    };
    Some(
        Diagnostic::new(Severity::Warning, code, first.span, message)
            .with_help(format!("`{name}` is not relied upon; complete it, or leave it out")),
    )
}

#[cfg(test)]
mod tests {
    use ludex_base::Source;

    use super::*;
    use crate::kif::parse_kif;
    use crate::lower::lower;

    #[test]
    fn what_is_missing_is_counted() {
        let rules = "(base a) (input r m) (init a) (init b) (init c) (role r) (legal r m)";
        let (mut program, _) = lower(&parse_kif(&Source::new("t", rules)).0);
        let [a, b, c, m, r] = ["a", "b", "c", "m", "r"].map(|name| {
            let name = program.terms.symbols_mut().intern(name);
            program.terms.constant(name)
        });
        let found = Found {
            fluents: vec![a, b, c],
            base: vec![a],
            moves: vec![(r, m)],
            input: vec![(r, m), (r, a)],
        };
        let diagnostics = check_declarations(&program, &program.terms, &found);
        let messages: Vec<&str> = diagnostics.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, ["`b` and 1 more can occur but are missing from `base`"]);
    }
}
