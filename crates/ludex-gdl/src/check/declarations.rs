//! Comparison of `base` and `input` with the result of grounding, term by term. The rest of the
//! check compares only names.

use std::collections::BTreeSet;

use ludex_base::{Diagnostic, Severity, Source, Symbols};

use crate::codes;
use crate::keyword::Keyword;
use crate::kif::parse_kif;
use crate::print::term_text;
use crate::program::{Pattern, Program, RelationId, Rule};
use crate::syntax::{Notation, Term};
use crate::terms::Terms;

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
        Declaration {
            keyword: Keyword::Base,
            code: codes::BASE_DISAGREES,
            makers: &[Keyword::Init, Keyword::Next],
            occurring: &found.fluents,
            declared: &found.base,
        },
        Declaration {
            keyword: Keyword::Input,
            code: codes::INPUT_DISAGREES,
            makers: &[Keyword::Legal],
            occurring: &found.moves,
            declared: &found.input,
        },
    ]
    .into_iter()
    .filter_map(|declaration| compare(program, &declaration))
    .collect()
}

/// What a keyword declares, and the keywords whose rules decide what occurs.
struct Declaration<'a> {
    keyword: Keyword,
    code: &'static str,
    makers: &'a [Keyword],
    occurring: &'a BTreeSet<String>,
    declared: &'a BTreeSet<String>,
}

fn compare(program: &Program, declaration: &Declaration<'_>) -> Option<Diagnostic> {
    let &Declaration { keyword, code, makers, occurring, declared } = declaration;
    let first = rules_of(program, keyword).next()?;
    let missing: Vec<&String> = occurring.difference(declared).collect();
    let example = missing.first()?;
    let name = keyword.name();
    let message = match missing.len() {
        1 => format!("`{example}` may occur but is missing from `{name}`"),
        n => format!("`{example}` and {} more may occur but are missing from `{name}`", n - 1),
    };
    let help = format!("`{name}` is only informative; complete it or remove it");
    // A move is written with its role, in parentheses.
    let args = example.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let args = args.filter(|_| keyword == Keyword::Input).unwrap_or(example);
    let diagnostic = match maker(program, makers, args) {
        Some(rule) => Diagnostic::new(Severity::Warning, code, rule.span, message)
            .with_label(first.span, format!("the first `{name}`")),
        None => Diagnostic::new(Severity::Warning, code, first.span, message),
    };
    Some(diagnostic.with_help(help))
}

fn rules_of(program: &Program, keyword: Keyword) -> impl Iterator<Item = &Rule> {
    let relation = RelationId::from(keyword);
    program.rules.iter().filter(move |rule| rule.head.relation == relation)
}

/// Returns the first rule of some keywords whose head can be an atom with these arguments, which are
/// given as text.
fn maker<'p>(program: &'p Program, keywords: &[Keyword], args: &str) -> Option<&'p Rule> {
    let (sheet, _) = parse_kif(&Source::new("term", format!("(term {args})")));
    let args = sheet.clauses.first()?.head.args();
    let mut rules = keywords.iter().flat_map(|&keyword| rules_of(program, keyword));
    rules.find(|rule| {
        let can_be = |(pattern, term)| can_be(&program.terms, pattern, term, &sheet.symbols);
        rule.head.args.len() == args.len() && rule.head.args.iter().zip(args).all(can_be)
    })
}

/// Returns whether a term may be an instance of a pattern.
fn can_be(terms: &Terms, pattern: &Pattern, term: &Term, symbols: &Symbols) -> bool {
    match pattern {
        Pattern::Variable(_) => true,
        Pattern::Ground(ground) => {
            terms.display(*ground).to_string() == term_text(term, symbols, Notation::Kif)
        }
        Pattern::Compound(name, args) => {
            let is_same =
                term.name().map(|it| symbols.name(it)) == Some(terms.symbols().name(*name));
            let mut pairs = args.iter().zip(term.args());
            is_same
                && args.len() == term.args().len()
                && pairs.all(|(pattern, term)| can_be(terms, pattern, term, symbols))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    #[test]
    fn the_place_is_the_rule_that_makes_the_missing_term() {
        let rules = "(base a) (input r m) (init a) (role r) (legal r m)
            (<= (next (at ?x 1)) (true (at ?x 1))) (<= (next (at ?x 2)) (true (at ?x 3)))
            (<= (legal ?r (go ?x)) (role ?r) (true (at ?x 2)))";
        let source = Source::new("t", rules);
        let (program, _) = lower(&parse_kif(&source).0);
        let set = |text: &str| BTreeSet::from([text.to_owned()]);
        let found = Found {
            fluents: set("(at b 2)"),
            base: set("a"),
            moves: set("(r (go b))"),
            input: set("(r m)"),
        };
        let diagnostics = check_declarations(&program, &found);
        let texts = diagnostics.iter().map(|it| source.slice(it.span)).collect::<Vec<_>>();
        assert_eq!(texts.len(), 2);
        assert!(texts[0].starts_with("(<= (next (at ?x 2))"), "{texts:?}");
        assert!(texts[1].starts_with("(<= (legal ?r (go ?x))"), "{texts:?}");
        let label = |it: &Diagnostic| source.slice(it.labels[0].span).to_owned();
        assert_eq!(diagnostics.iter().map(label).collect::<Vec<_>>(), ["(base a)", "(input r m)"]);
    }
}
