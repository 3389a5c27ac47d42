//! Printing of the tree in both forms; reading the text gives the same tree.

use ludex_base::Symbols;

use crate::syntax::{Clause, Formula, FormulaKind, Notation, Rulesheet, Term, TermKind};

/// Prints a rulesheet in the prefix form of the community.
pub fn print_kif(sheet: &Rulesheet) -> String {
    print(sheet, Notation::Kif)
}

/// Prints a rulesheet in the infix form of the papers.
pub fn print_infix(sheet: &Rulesheet) -> String {
    print(sheet, Notation::Infix)
}

/// Prints a rulesheet in one of the forms: a line for each fact and for each condition of a rule.
pub fn print(sheet: &Rulesheet, notation: Notation) -> String {
    let mut printer = Printer { symbols: &sheet.symbols, notation, text: String::new() };
    let mut was_rule = false;
    for clause in &sheet.clauses {
        let is_rule = !clause.body.is_empty();
        if (is_rule || was_rule) && !printer.text.is_empty() {
            printer.text.push('\n');
        }
        printer.clause(clause);
        was_rule = is_rule;
    }
    printer.text
}

/// Prints a term as an author writes it in a form.
pub fn term_text(term: &Term, symbols: &Symbols, notation: Notation) -> String {
    let mut printer = Printer { symbols, notation, text: String::new() };
    printer.term(term);
    printer.text
}

/// Prints a formula as an author writes it in a form.
pub(crate) fn formula_text(formula: &Formula, symbols: &Symbols, notation: Notation) -> String {
    let mut printer = Printer { symbols, notation, text: String::new() };
    printer.formula(formula);
    printer.text
}

/// Prints a variable as an author writes it in a form.
///
/// Infix variables start with an upper-case letter; their first letter is lower-case in the tree,
/// as authors of prefix form write it. All other names get the question mark of the prefix form, in
/// quotes if necessary.
pub(crate) fn variable_text(name: &str, notation: Notation) -> String {
    let first = name.chars().next();
    match notation {
        Notation::Kif => format!("?{name}"),
        Notation::Infix if !is_plain(name) => format!("?{}", quoted(name)),
        Notation::Infix if first.is_some_and(|c| c.is_ascii_lowercase()) => {
            let mut text = name.to_owned();
            text[..1].make_ascii_uppercase();
            text
        }
        // `_` alone is a new variable at each occurrence.
        Notation::Infix
            if name != "_" && first.is_some_and(starts_variable) && !is_ascii_upper(first) =>
        {
            name.to_owned()
        }
        Notation::Infix => format!("?{name}"),
    }
}

/// Prints a name as an author writes it in a form.
pub(crate) fn name_text(name: &str, notation: Notation) -> String {
    match notation {
        Notation::Kif => name.to_owned(),
        Notation::Infix if is_bare_name(name) => name.to_owned(),
        Notation::Infix => quoted(name),
    }
}

fn is_ascii_upper(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_ascii_uppercase())
}

/// Returns whether infix words that start with this character are variables.
pub(crate) fn starts_variable(c: char) -> bool {
    c == '_' || c.is_uppercase()
}

/// Returns whether this character may continue a word.
pub(crate) fn is_word_char(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Returns the length of the word at the beginning of a text: letters, digits, `_`, and hyphens
/// between those. 0 if there is none.
pub(crate) fn word_length(text: &str) -> usize {
    let mut length = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_hyphen = c == '-' && at > 0 && chars.peek().is_some_and(|&(_, c)| is_word_char(c));
        if !is_word_char(c) && !is_hyphen {
            break;
        }
        length = at + c.len_utf8();
    }
    length
}

/// The words with a meaning in formulas, in any letter case.
pub(crate) const CONNECTIVES: [&str; 4] = ["not", "and", "or", "distinct"];

fn is_plain(name: &str) -> bool {
    !name.is_empty() && word_length(name) == name.len()
}

fn is_bare_name(name: &str) -> bool {
    let number = name.strip_prefix('-').unwrap_or(name);
    if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
        return true;
    }
    is_plain(name)
        && !name.starts_with(starts_variable)
        && !CONNECTIVES.iter().any(|word| word.eq_ignore_ascii_case(name))
}

fn quoted(name: &str) -> String {
    format!("'{}'", name.replace('\'', "''"))
}

struct Printer<'a> {
    symbols: &'a Symbols,
    notation: Notation,
    text: String,
}

impl Printer<'_> {
    fn clause(&mut self, clause: &Clause) {
        let is_rule = !clause.body.is_empty();
        match self.notation {
            Notation::Kif if is_rule => {
                self.text.push_str("(<= ");
                self.term(&clause.head);
                for formula in &clause.body {
                    self.text.push_str("\n    ");
                    self.formula(formula);
                }
                self.text.push(')');
            }
            Notation::Kif => self.term(&clause.head),
            Notation::Infix => {
                self.term(&clause.head);
                for (idx, formula) in clause.body.iter().enumerate() {
                    self.text.push_str(if idx == 0 { " :-\n    " } else { ",\n    " });
                    self.formula(formula);
                }
                self.text.push('.');
            }
        }
        self.text.push('\n');
    }

    fn formula(&mut self, formula: &Formula) {
        match (&formula.kind, self.notation) {
            (FormulaKind::Atom(atom), _) => self.term(atom),
            (FormulaKind::Not(inner), Notation::Kif) => {
                self.list("not", std::slice::from_ref(inner.as_ref()));
            }
            (FormulaKind::Not(inner), Notation::Infix) => {
                self.text.push_str("not ");
                self.formula(inner);
            }
            (FormulaKind::And(parts), Notation::Kif) => self.list("and", parts),
            (FormulaKind::Or(parts), Notation::Kif) => self.list("or", parts),
            (FormulaKind::And(parts), Notation::Infix) => self.group("and", ", ", parts),
            (FormulaKind::Or(parts), Notation::Infix) => self.group("or", " ; ", parts),
            (FormulaKind::Distinct(left, right), notation) => {
                self.text.push_str(if notation == Notation::Kif {
                    "(distinct "
                } else {
                    "distinct("
                });
                self.term(left);
                self.text.push_str(if notation == Notation::Kif { " " } else { ", " });
                self.term(right);
                self.text.push(')');
            }
        }
    }

    fn list(&mut self, connective: &str, parts: &[Formula]) {
        self.text.push('(');
        self.text.push_str(connective);
        for part in parts {
            self.text.push(' ');
            self.formula(part);
        }
        self.text.push(')');
    }

    /// Prints parts in parentheses; a connective of one part is written as a function, since
    /// parentheses around one formula would be lost in reading.
    fn group(&mut self, connective: &str, separator: &str, parts: &[Formula]) {
        if parts.len() == 1 {
            self.text.push_str(connective);
        }
        self.text.push('(');
        for (idx, part) in parts.iter().enumerate() {
            if idx > 0 {
                self.text.push_str(separator);
            }
            self.formula(part);
        }
        self.text.push(')');
    }

    fn term(&mut self, term: &Term) {
        match &term.kind {
            TermKind::Variable(name) => {
                self.text.push_str(&variable_text(self.symbols.name(*name), self.notation));
            }
            TermKind::Constant(name) => {
                self.text.push_str(&name_text(self.symbols.name(*name), self.notation));
            }
            TermKind::Compound(name, args) => {
                let name = name_text(self.symbols.name(*name), self.notation);
                match self.notation {
                    Notation::Kif => self.text.extend(["(", &name]),
                    Notation::Infix => self.text.extend([&name, "("]),
                }
                for (idx, arg) in args.iter().enumerate() {
                    match self.notation {
                        Notation::Kif => self.text.push(' '),
                        Notation::Infix if idx > 0 => self.text.push_str(", "),
                        Notation::Infix => {}
                    }
                    self.term(arg);
                }
                self.text.push(')');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use ludex_base::{Rng, Seed, Source, Span};

    use super::*;
    use crate::{parse, parse_infix, parse_kif};

    #[track_caller]
    fn check(rules: &str, notation: Notation, expected: Expect) {
        let (sheet, diagnostics) = parse(&Source::new("t", rules));
        assert_eq!(diagnostics, []);
        expected.assert_eq(&print(&sheet, notation));
    }

    #[test]
    fn facts_stand_together_and_rules_apart() {
        check(
            "(role a)(role b)(<= terminal (true x) (not (or (true y) (p ?z))))(init x)",
            Notation::Kif,
            expect![[r#"
                (role a)
                (role b)

                (<= terminal
                    (true x)
                    (not (or (true y) (p ?z))))

                (init x)
            "#]],
        );
    }

    #[test]
    fn infix_form_reads_like_the_papers() {
        check(
            "(<= (legal ?p (mark ?x 1)) (true (cell ?x 1 b)) (not (true done)) (or (p ?x) (q ?p)) (distinct ?x ?p))",
            Notation::Infix,
            expect![[r#"
                legal(P, mark(X, 1)) :-
                    true(cell(X, 1, b)),
                    not true(done),
                    (p(X) ; q(P)),
                    distinct(X, P).
            "#]],
        );
    }

    #[test]
    fn names_that_infix_form_has_no_word_for_are_quoted() {
        check(
            "(p N++ Upper it's not -5 a-b ?X ?x-1 ?+ ?_ ?_y ?1) (and_so_on 2x ÉTÉ été)",
            Notation::Infix,
            expect![[r#"
                p('N++', 'Upper', 'it''s', 'not', -5, a-b, ?X, X-1, ?'+', ?_, _y, ?1).
                and_so_on(2x, 'ÉTÉ', été).
            "#]],
        );
    }

    /// Names that are difficult to write in one form or the other.
    const NAMES: [&str; 32] = [
        "a", "cell", "x", "X", "N++", "Upper", "it's", "''", "'", "not", "OR", "and", "distinct",
        "true", "goal", "DOES", "random", "-5", "-", "5", "007", "a-b", "a-", "-a", "<=", ":-",
        "é", "ÉTÉ", "_", "__1", "%", "//",
    ];

    fn name(symbols: &mut Symbols, rng: &mut Rng) -> ludex_base::Symbol {
        symbols.intern(NAMES[rng.below(NAMES.len())])
    }

    fn term(symbols: &mut Symbols, rng: &mut Rng, depth: usize) -> Term {
        let kind = match rng.below(if depth == 0 { 2 } else { 4 }) {
            0 => TermKind::Variable(name(symbols, rng)),
            1 => TermKind::Constant(name(symbols, rng)),
            _ => compound(symbols, rng, depth),
        };
        Term { kind, span: Span::default() }
    }

    fn is_connective(name: &str) -> bool {
        CONNECTIVES.iter().any(|it| it.eq_ignore_ascii_case(name)) || name == "<="
    }

    fn compound(symbols: &mut Symbols, rng: &mut Rng, depth: usize) -> TermKind {
        let mut function = name(symbols, rng);
        while is_connective(symbols.name(function)) {
            function = name(symbols, rng);
        }
        let n_args = 1 + rng.below(3);
        TermKind::Compound(function, (0..n_args).map(|_| term(symbols, rng, depth - 1)).collect())
    }

    fn atom(symbols: &mut Symbols, rng: &mut Rng) -> Term {
        let mut kind = match rng.below(3) {
            0 => TermKind::Constant(name(symbols, rng)),
            _ => compound(symbols, rng, 3),
        };
        let (TermKind::Constant(name) | TermKind::Compound(name, _)) = &mut kind else {
            unreachable!("an atom has a name");
        };
        if let Some(keyword) = crate::Keyword::parse(symbols.name(*name)) {
            *name = symbols.intern(keyword.name());
        }
        Term { kind, span: Span::default() }
    }

    fn formula(symbols: &mut Symbols, rng: &mut Rng, depth: usize) -> Formula {
        let parts = |symbols: &mut Symbols, rng: &mut Rng| -> Vec<Formula> {
            let n_parts = 1 + rng.below(3);
            (0..n_parts).map(|_| formula(symbols, rng, depth - 1)).collect()
        };
        let kind = match rng.below(if depth == 0 { 2 } else { 6 }) {
            0 => FormulaKind::Distinct(term(symbols, rng, 2), term(symbols, rng, 2)),
            1 | 2 => FormulaKind::Atom(atom(symbols, rng)),
            3 => FormulaKind::Not(Box::new(formula(symbols, rng, depth - 1))),
            4 => FormulaKind::And(parts(symbols, rng)),
            _ => FormulaKind::Or(parts(symbols, rng)),
        };
        Formula { kind, span: Span::default() }
    }

    #[test]
    fn printing_and_reading_random_trees_gives_the_same_trees() {
        for seed in 0..3000 {
            let rng = &mut Seed(seed).rng();
            let mut symbols = Symbols::default();
            let mut clauses = Vec::new();
            for _ in 0..1 + rng.below(3) {
                let head = atom(&mut symbols, rng);
                let n_conditions = rng.below(4);
                let body = (0..n_conditions).map(|_| formula(&mut symbols, rng, 3)).collect();
                clauses.push(Clause { head, body, span: Span::default() });
            }
            let sheet = Rulesheet { notation: Notation::Kif, symbols, clauses };
            for notation in [Notation::Kif, Notation::Infix] {
                let text = print(&sheet, notation);
                let source = Source::new("t", text.as_str());
                let (again, diagnostics) = match notation {
                    Notation::Kif => parse_kif(&source),
                    Notation::Infix => parse_infix(&source),
                };
                assert_eq!(diagnostics, [], "seed {seed}\n{text}");
                assert!(again == sheet, "seed {seed}\n{text}\n{}", print(&again, notation));
            }
        }
    }
}
