//! Comparison of `base` and `input` with the result of grounding, term by term. The rest of the
//! check compares only names.

use std::collections::BTreeSet;

use ludex_base::{Diagnostic, Severity};

use crate::codes;
use crate::keyword::Keyword;
use crate::program::{Program, RelationId};

/// The fluents and moves found by grounding, as text. Moves are written with their roles: `(white
/// noop)`.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The fluents that may become true.
    pub fluents: BTreeSet<String>,
    /// The fluents that `base` declares.
    pub base: BTreeSet<String>,
    /// The moves that may become legal.
    pub moves: BTreeSet<String>,
    /// The moves that `input` declares.
    pub input: BTreeSet<String>,
}

/// Compares `base` and `input` with the fluents and moves that may occur. Skips a declaration that
/// the program does not have.
///
/// Declarations of terms that never occur are not mistakes: `base` and `input` may declare too
/// much.
pub fn check_declarations(program: &Program, found: &Found) -> Vec<Diagnostic> {
    [
        compare(program, Keyword::Base, codes::BASE_DISAGREES, &found.fluents, &found.base),
        compare(program, Keyword::Input, codes::INPUT_DISAGREES, &found.moves, &found.input),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn compare(
    program: &Program,
    keyword: Keyword,
    code: &'static str,
    occurring: &BTreeSet<String>,
    declared: &BTreeSet<String>,
) -> Option<Diagnostic> {
    let relation = RelationId::from(keyword);
    let first = program.rules.iter().find(|rule| rule.head.relation == relation)?;
    let missing: Vec<&String> = occurring.difference(declared).collect();
    let example = missing.first()?;
    let name = keyword.name();
    let message = match missing.len() {
        1 => format!("`{example}` may occur but is missing from `{name}`"),
        n => format!("`{example}` and {} more may occur but are missing from `{name}`", n - 1),
    };
    Some(
        Diagnostic::new(Severity::Warning, code, first.span, message)
            .with_help(format!("`{name}` is only informative; complete it or remove it")),
    )
}

#[cfg(test)]
mod tests {
    use ludex_base::Source;

    use super::*;
    use crate::kif::parse_kif;
    use crate::lower::lower;

    #[test]
    fn missing_terms_are_counted() {
        let rules = "(base a) (input r m) (init a) (init b) (init c) (role r) (legal r m)";
        let (program, _) = lower(&parse_kif(&Source::new("t", rules)).0);
        let set = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect();
        let found = Found {
            fluents: set(&["a", "b", "c"]),
            base: set(&["a"]),
            moves: set(&["(r m)"]),
            input: set(&["(r m)", "(r a)"]),
        };
        let diagnostics = check_declarations(&program, &found);
        let messages: Vec<&str> = diagnostics.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, ["`b` and 1 more may occur but are missing from `base`"]);
    }
}
