//! The rules of a game in words, as far as they can be read off.

use crate::keyword::Keyword;
use crate::program::{Atom, Literal, Pattern, Program, Rule};

/// What a rulesheet says about moves, ends and goals, a sentence a rule.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Words {
    /// Who may do what, and when.
    pub moves: Vec<String>,
    /// When the game ends.
    pub ends: Vec<String>,
    /// What it is worth then.
    pub goals: Vec<String>,
    /// What roles see, in a game with hidden information.
    pub percepts: Vec<String>,
}

/// Reads the rules of a game, at most this many of each kind; the last sentence of a kind then says
/// how many are missing. Long terms are cut.
pub fn in_words(program: &Program, max_sentences: usize) -> Words {
    let sentences = |keyword: Keyword, say: fn(&Program, &Rule) -> String| {
        let rules = program.rules.iter();
        let of_kind = |rule: &&Rule| program.relation_name(rule.head.relation) == keyword.name();
        let of_kind: Vec<&Rule> = rules.filter(of_kind).collect();
        let mut found: Vec<String> =
            of_kind.iter().take(max_sentences).map(|rule| say(program, rule)).collect();
        if of_kind.len() > max_sentences {
            found.push(format!("and {} more rules", of_kind.len() - max_sentences));
        }
        found
    };
    Words {
        moves: sentences(Keyword::Legal, |program, rule| {
            let [who, what] = both(program, rule);
            format!("{who} may play `{what}`{}", conditions(program, rule))
        }),
        ends: sentences(Keyword::Terminal, |program, rule| {
            format!("the game ends{}", conditions(program, rule))
        }),
        goals: sentences(Keyword::Goal, |program, rule| {
            let [who, value] = both(program, rule);
            format!("{who} gets {value}{}", conditions(program, rule))
        }),
        percepts: sentences(Keyword::Sees, |program, rule| {
            let [who, what] = both(program, rule);
            format!("{who} sees `{what}`{}", conditions(program, rule))
        }),
    }
}

/// The two arguments of a head.
fn both(program: &Program, rule: &Rule) -> [String; 2] {
    let arg = |at: usize| rule.head.args.get(at).map(|it| pattern(program, rule, it));
    [0, 1].map(|at| arg(at).unwrap_or_default())
}

fn conditions(program: &Program, rule: &Rule) -> String {
    let texts: Vec<String> = rule.body.iter().map(|it| literal(program, rule, it)).collect();
    if texts.is_empty() { String::new() } else { format!(" if {}", texts.join(" and ")) }
}

fn literal(program: &Program, rule: &Rule, literal: &Literal) -> String {
    match literal {
        Literal::Positive(it) => atom(program, rule, it),
        Literal::Negative(it) => format!("not {}", atom(program, rule, it)),
        Literal::Distinct(left, right) => {
            let text = |it| pattern(program, rule, it);
            format!("{} differs from {}", text(left), text(right))
        }
    }
}

fn atom(program: &Program, rule: &Rule, atom: &Atom) -> String {
    let args: Vec<String> = atom.args.iter().map(|it| pattern(program, rule, it)).collect();
    match (Keyword::parse(program.relation_name(atom.relation)), &args[..]) {
        (Some(Keyword::True), [fluent]) => without_brackets(fluent).into(),
        (Some(Keyword::Does), [who, what]) => format!("{who} plays {}", without_brackets(what)),
        (Some(Keyword::Role), [who]) => format!("{who} is a role"),
        _ if args.is_empty() => program.relation_name(atom.relation).into(),
        _ => cut(&format!("{} {}", program.relation_name(atom.relation), args.join(" "))),
    }
}

/// A compound term without its outer brackets.
fn without_brackets(text: &str) -> &str {
    text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text)
}

fn pattern(program: &Program, rule: &Rule, found: &Pattern) -> String {
    let symbols = program.terms.symbols();
    match found {
        Pattern::Variable(number) => {
            let name = rule.variables.get(*number as usize);
            name.map_or_else(|| "?".into(), |&name| format!("?{}", symbols.name(name)))
        }
        Pattern::Ground(term) => cut(&program.terms.display(*term).to_string()),
        Pattern::Compound(name, args) => {
            let args: Vec<String> = args.iter().map(|it| pattern(program, rule, it)).collect();
            cut(&format!("({} {})", symbols.name(*name), args.join(" ")))
        }
    }
}

/// Letters of a term that are shown.
const MAX_LETTERS: usize = 200;

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_LETTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ludex_base::Source;

    #[test]
    fn rules_become_sentences() {
        let source = Source::new(
            "words",
            "(role x) (role o) (init (cell 1 b)) (init (control x))
             (<= (legal ?w (mark ?n)) (true (cell ?n b)) (true (control ?w)))
             (legal o noop)
             (<= (next (cell ?n ?w)) (does ?w (mark ?n)))
             (<= terminal (not open))
             (<= open (true (cell ?n b)))
             (<= (goal ?w 100) (role ?w) (distinct ?w o))
             (<= (sees ?w (marked ?n)) (does ?w (mark ?n)))",
        );
        let program = crate::check_source(&source).program.expect("a good sheet");
        let words = in_words(&program, 9);
        assert_eq!(
            words.moves,
            ["?w may play `(mark ?n)` if cell ?n b and control ?w", "o may play `noop`"]
        );
        assert_eq!(words.ends, ["the game ends if not open"]);
        assert_eq!(words.goals, ["?w gets 100 if ?w is a role and ?w differs from o"]);
        assert_eq!(words.percepts, ["?w sees `(marked ?n)` if ?w plays mark ?n"]);
        assert_eq!(in_words(&program, 1).moves[1], "and 1 more rules");
    }
}
