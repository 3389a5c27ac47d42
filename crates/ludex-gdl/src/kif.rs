//! The reader of the prefix form, as the community writes it.
//!
//! Each outermost form is read in two steps. The first turns characters into nested lists, with an
//! explicit stack, so that deep parentheses can't overflow the thread's stack; the second turns the
//! list into a clause. A mistake discards only the clause it occurs in, so that one reading reports
//! every mistake.

use ludex_base::{Diagnostic, Severity, Source, Span, StopReason, Symbols};

use crate::codes;
use crate::keyword::{Keyword, RANDOM_ROLE, is_random_role};
use crate::limits::{Budget, MAX_MISTAKES, excess, too_deep, too_many_rules, unstopped};
use crate::read::Parsed;
use crate::syntax::{Clause, Formula, FormulaKind, Notation, Rulesheet, Term, TermKind};

/// Reads a rulesheet in prefix form. Clauses with mistakes are left out of the tree.
pub fn parse_kif(source: &Source) -> (Rulesheet, Vec<Diagnostic>) {
    unstopped(read_kif(source, &Budget::unlimited()))
}

pub(crate) fn read_kif(source: &Source, budget: &Budget<'_>) -> Parsed {
    let mut reader = Reader { symbols: Symbols::default(), diagnostics: Vec::new() };
    let mut clauses = Vec::new();
    // Mistakes in clauses of `base` and `input`.
    let mut declarations = Vec::new();
    let mut forms = Forms::new(source.text());
    while let Some(form) = forms.next(budget, &mut reader.diagnostics)? {
        let n_before = reader.diagnostics.len();
        let Ok(clause) = reader.clause(&form) else {
            if is_declaration(&form) {
                declarations.extend(reader.diagnostics.drain(n_before..));
                declarations.truncate(MAX_MISTAKES);
            }
            continue;
        };
        match excess(&clause, &budget.sizes) {
            Some(excess) => reader.diagnostics.push(excess),
            None if clauses.len() >= budget.sizes.rules => {
                reader.diagnostics.push(too_many_rules(clause.span, &budget.sizes));
                break;
            }
            None => clauses.push(clause),
        }
    }
    let sheet = Rulesheet { notation: Notation::Kif, symbols: reader.symbols, clauses };
    // Play does not read `base` and `input`, unless other rules do.
    if !sheet.uses_declarations() {
        declarations.iter_mut().for_each(|it: &mut Diagnostic| it.severity = Severity::Warning);
    }
    reader.diagnostics.extend(declarations);
    Ok((sheet, reader.diagnostics))
}

/// Returns whether a form is a fact or a rule of `base` or `input`, with mistakes or without.
fn is_declaration(form: &Sexp<'_>) -> bool {
    let SexpKind::List(items) = &form.kind else { return false };
    let head = if is_arrow(items.first()) { items.get(1) } else { Some(form) };
    let name = match head.map(|head| &head.kind) {
        Some(SexpKind::Word(word)) => Some(*word),
        Some(SexpKind::List(items)) => items.first().and_then(|first| match first.kind {
            SexpKind::Word(word) => Some(word),
            SexpKind::List(_) => None,
        }),
        None => None,
    };
    name.and_then(Keyword::parse).is_some_and(Keyword::is_declaration)
}

/// A word or a list, with its place.
struct Sexp<'a> {
    kind: SexpKind<'a>,
    span: Span,
}

enum SexpKind<'a> {
    Word(&'a str),
    List(Vec<Sexp<'a>>),
}

/// A list that is not closed yet.
struct Open<'a> {
    start: usize,
    items: Vec<Sexp<'a>>,
}

/// The outermost lists and words of a text, one after the other.
struct Forms<'a> {
    tokens: Tokens<'a>,
    /// The lists around the next token, the outermost first.
    open: Vec<Open<'a>>,
    is_over: bool,
}

impl<'a> Forms<'a> {
    fn new(text: &'a str) -> Self {
        Self { tokens: Tokens { text, position: 0 }, open: Vec::new(), is_over: false }
    }

    /// Returns the next outermost form; `None` at the end of the text, and where reading stops
    /// because of a mistake or too many of them.
    fn next(
        &mut self,
        budget: &Budget<'_>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Option<Sexp<'a>>, StopReason> {
        while !self.is_over && diagnostics.len() < MAX_MISTAKES {
            budget.pace.step()?;
            let Some((token, start)) = self.tokens.next() else {
                self.is_over = true;
                diagnostics.extend(self.open.first().map(|first| unclosed_at(first.start)));
                return Ok(None);
            };
            let form = match self.token(token, start, budget, diagnostics) {
                Some(form) => form,
                None => continue,
            };
            match self.open.last_mut() {
                Some(outer) => outer.items.push(form),
                None => return Ok(Some(form)),
            }
        }
        Ok(None)
    }

    /// Takes a token; returns the word or the list that it completes.
    fn token(
        &mut self,
        token: &'a str,
        start: usize,
        budget: &Budget<'_>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Sexp<'a>> {
        let end = start + token.len();
        match token {
            "(" if self.open.len() >= budget.sizes.nesting => {
                diagnostics.push(too_deep(Span::new(start, end), &budget.sizes));
                self.is_over = true;
                None
            }
            "(" => {
                self.open.push(Open { start, items: Vec::new() });
                None
            }
            ")" => match self.open.pop() {
                Some(Open { start, items }) => {
                    Some(Sexp { kind: SexpKind::List(items), span: Span::new(start, end) })
                }
                None => {
                    diagnostics.push(unbalanced(
                        Span::new(start, end),
                        "this `)` closes nothing",
                        "remove it, or add the missing `(`",
                    ));
                    None
                }
            },
            word => {
                // A rule is never part of another form, so a form that is still open was not
                // closed.
                let is_rule = matches!(word, "<=" | "⇐" | "←");
                let is_first = self.open.last().is_some_and(|open| open.items.is_empty());
                if is_rule && self.open.len() > 1 && is_first {
                    diagnostics.push(unclosed_at(self.open[0].start));
                    self.open.drain(..self.open.len() - 1);
                }
                Some(Sexp { kind: SexpKind::Word(word), span: Span::new(start, end) })
            }
        }
    }
}

fn unclosed_at(start: usize) -> Diagnostic {
    unbalanced(
        Span::new(start, start + 1),
        "this `(` is never closed",
        "add the `)` that closes this form",
    )
}

fn unbalanced(span: Span, message: &str, help: &str) -> Diagnostic {
    Diagnostic::new(Severity::Fatal, codes::UNBALANCED_PARENTHESES, span, message).with_help(help)
}

/// Parentheses and words, each with its offset; blanks and comments are skipped.
struct Tokens<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (&'a str, usize);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let rest = &self.text[self.position..];
            let first = rest.chars().next()?;
            let length = match first {
                ';' => {
                    self.position += rest.find(['\n', '\r']).unwrap_or(rest.len());
                    continue;
                }
                _ if is_blank(first) => {
                    self.position += first.len_utf8();
                    continue;
                }
                '(' | ')' => 1,
                _ => {
                    rest.find(|c| matches!(c, '(' | ')' | ';') || is_blank(c)).unwrap_or(rest.len())
                }
            };
            let start = self.position;
            self.position += length;
            return Some((&rest[..length], start));
        }
    }
}

/// Returns whether a character is white space, or the byte order mark that some editors put at the
/// beginning of a file.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control() || c == '\u{feff}'
}

/// Returns whether the name of a constant, function or relation can be written in this form.
pub(crate) fn is_name(name: &str) -> bool {
    is_variable_name(name) && !name.starts_with('?')
}

/// Returns whether the name of a variable can be written in this form.
pub(crate) fn is_variable_name(name: &str) -> bool {
    let is_ended_by = |c: char| matches!(c, '(' | ')' | ';') || is_blank(c);
    !name.is_empty() && !name.contains(is_ended_by)
}

/// A mistake that has been reported; the clause is discarded.
struct Spoiled;

type Read<T> = Result<T, Spoiled>;

struct Reader {
    symbols: Symbols,
    diagnostics: Vec<Diagnostic>,
}

impl Reader {
    fn spoiled<T>(&mut self, code: &'static str, span: Span, message: &str, help: &str) -> Read<T> {
        self.diagnostics
            .push(Diagnostic::new(Severity::Fatal, code, span, message).with_help(help));
        Err(Spoiled)
    }

    fn clause(&mut self, form: &Sexp<'_>) -> Read<Clause> {
        let items = match &form.kind {
            SexpKind::List(items) if is_arrow(items.first()) => &items[1..],
            _ => return Ok(Clause { head: self.atom(form)?, body: Vec::new(), span: form.span }),
        };
        let Some((head, body)) = items.split_first() else {
            return self.spoiled(
                codes::EMPTY_RULE,
                form.span,
                "this rule has no head",
                "write `(<= head condition …)`",
            );
        };
        let head = self.atom(head)?;
        let body = body.iter().map(|part| self.formula(part)).collect::<Read<_>>()?;
        Ok(Clause { head, body, span: form.span })
    }

    fn formula(&mut self, form: &Sexp<'_>) -> Read<Formula> {
        let span = form.span;
        let SexpKind::List(items) = &form.kind else {
            return Ok(Formula { kind: FormulaKind::Atom(self.atom(form)?), span });
        };
        let Some(connective) = items.first().and_then(connective) else {
            return Ok(Formula { kind: FormulaKind::Atom(self.atom(form)?), span });
        };
        let parts = &items[1..];
        let kind = match (connective, parts) {
            (Connective::Not, [part]) => FormulaKind::Not(Box::new(self.formula(part)?)),
            (Connective::Distinct, [left, right]) => {
                FormulaKind::Distinct(self.term(left)?, self.term(right)?)
            }
            (Connective::And, [_, ..]) => FormulaKind::And(self.formulas(parts)?),
            (Connective::Or, [_, ..]) => FormulaKind::Or(self.formulas(parts)?),
            (Connective::Not, _) => return self.wrong_number("`not` takes one formula", span),
            (Connective::Distinct, _) => {
                return self.wrong_number("`distinct` takes two terms", span);
            }
            (Connective::And | Connective::Or, []) => {
                return self.wrong_number("a connective takes at least one formula", span);
            }
        };
        Ok(Formula { kind, span })
    }

    fn wrong_number<T>(&mut self, message: &str, span: Span) -> Read<T> {
        self.spoiled(codes::CONNECTIVE_ARITY, span, message, "check the parentheses around it")
    }

    fn formulas(&mut self, forms: &[Sexp<'_>]) -> Read<Vec<Formula>> {
        forms.iter().map(|form| self.formula(form)).collect()
    }

    /// Reads a term in the place of an atom: its name is a relation's, so keywords are recognised.
    fn atom(&mut self, form: &Sexp<'_>) -> Read<Term> {
        let mut atom = self.term(form)?;
        let (TermKind::Constant(name) | TermKind::Compound(name, _)) = &mut atom.kind else {
            return self.spoiled(
                codes::VARIABLE_AS_ATOM,
                form.span,
                "a variable stands where a relation is needed",
                "name the relation; GDL has no variables for relations",
            );
        };
        if let Some(keyword) = Keyword::parse(self.symbols.name(*name)) {
            *name = self.symbols.intern(keyword.name());
        }
        Ok(atom)
    }

    fn term(&mut self, form: &Sexp<'_>) -> Read<Term> {
        let span = form.span;
        let items = match &form.kind {
            SexpKind::Word(word) => return Ok(Term { kind: self.word(word, span)?, span }),
            SexpKind::List(items) => items,
        };
        let Some((name, args)) = items.split_first() else {
            return self.spoiled(codes::EMPTY_LIST, span, "`()` has no meaning", "remove it");
        };
        if connective(name).is_some() || is_arrow(Some(name)) {
            return self.spoiled(
                codes::MISPLACED_CONNECTIVE,
                name.span,
                "a connective stands where a term is needed",
                "connectives belong in the bodies of rules",
            );
        }
        let SexpKind::Word(word) = name.kind else {
            return self.spoiled(
                codes::LIST_AS_NAME,
                name.span,
                "a list stands where a name is needed",
                "start the list with a name",
            );
        };
        let TermKind::Constant(name) = self.word(word, name.span)? else {
            return self.spoiled(
                codes::VARIABLE_AS_NAME,
                name.span,
                "a variable stands where a name is needed",
                "write the name; GDL has no variables for functions and relations",
            );
        };
        if args.is_empty() {
            return Ok(Term { kind: TermKind::Constant(name), span });
        }
        let args = args.iter().map(|arg| self.term(arg)).collect::<Read<_>>()?;
        Ok(Term { kind: TermKind::Compound(name, args), span })
    }

    fn word(&mut self, word: &str, span: Span) -> Read<TermKind> {
        match word.strip_prefix('?') {
            Some("") => self.spoiled(
                codes::EMPTY_VARIABLE,
                span,
                "this variable has no name",
                "name it: `?x`",
            ),
            Some(name) => Ok(TermKind::Variable(self.symbols.intern(name))),
            // `random` is the one constant with a meaning, hence in any letter case.
            None if is_random_role(word) => {
                Ok(TermKind::Constant(self.symbols.intern(RANDOM_ROLE)))
            }
            None => Ok(TermKind::Constant(self.symbols.intern(word))),
        }
    }
}

enum Connective {
    Not,
    And,
    Or,
    Distinct,
}

fn connective(form: &Sexp<'_>) -> Option<Connective> {
    let SexpKind::Word(word) = form.kind else { return None };
    let known = [
        ("not", Connective::Not),
        ("and", Connective::And),
        ("or", Connective::Or),
        ("distinct", Connective::Distinct),
    ];
    known.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, it)| it)
}

fn is_arrow(form: Option<&Sexp<'_>>) -> bool {
    form.is_some_and(|form| matches!(form.kind, SexpKind::Word("<=" | "⇐" | "←")))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use ludex_base::Sizes;

    use super::*;
    use crate::print::print_kif;
    use crate::testing::listed;

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let source = Source::new("t", text);
        let (sheet, diagnostics) = parse_kif(&source);
        expected.assert_eq(&(print_kif(&sheet) + &listed(&source, &diagnostics)));
    }

    #[test]
    fn comments_line_ends_and_letter_case_do_not_count() {
        check(
            "\u{feff}(ROLE a) ; (role b)\r\n(<= Terminal\r\n  (True ;)\n X) (NOT (DOES Random x)))\t(p)",
            expect![[r#"
                (role a)

                (<= terminal
                    (true X)
                    (not (does random x)))

                p
            "#]],
        );
    }

    #[test]
    fn arrows_of_the_papers_are_read() {
        check(
            "(⇐ p q) (← p r) (<= p)",
            expect![[r#"
            (<= p
                q)

            (<= p
                r)

            p
        "#]],
        );
    }

    #[test]
    fn names_keep_their_letter_case() {
        check(
            "(p Cell CELL cell (Goal 1))",
            expect![[r#"
            (p Cell CELL cell (Goal 1))
        "#]],
        );
    }

    #[test]
    fn a_rule_ends_unclosed_forms_before_it() {
        check(
            "(role a)\n(<= p (q (r a)\n(<= s t)\n(u))",
            expect![[r#"
            (role a)

            (<= s
                t)

            u
            2:1 fatal[unbalanced-parentheses]: this `(` is never closed
            4:4 fatal[unbalanced-parentheses]: this `)` closes nothing
        "#]],
        );
    }

    #[test]
    fn a_mistake_discards_only_its_clause() {
        check(
            "(p a) (q ()) (<= r (not)) (s b)) (t c) ?x",
            expect![[r#"
            (p a)
            (s b)
            (t c)
            1:10 fatal[empty-list]: `()` has no meaning
            1:20 fatal[connective-arity]: `not` takes one formula
            1:32 fatal[unbalanced-parentheses]: this `)` closes nothing
            1:40 fatal[variable-as-atom]: a variable stands where a relation is needed
        "#]],
        );
    }

    #[test]
    fn too_deep_nesting_stops_the_reading() {
        let max_depth = Sizes::default().nesting;
        let text = format!("(p a) {}", "(q ".repeat(max_depth + 1));
        check(
            &text,
            expect![[r#"
            (p a)
            1:775 fatal[too-deep]: forms are nested more than 256 deep
        "#]],
        );
        let deepest = format!("{}a{}", "(q ".repeat(max_depth), ")".repeat(max_depth));
        assert!(parse_kif(&Source::new("t", deepest)).1.is_empty());
    }

    #[test]
    fn too_wide_clauses_are_refused() {
        let variables: String = (0..1025).map(|n| format!("?x{n} ")).collect();
        check(
            &format!("(p {variables}) (q {})", "a ".repeat(10_001)),
            expect![[r#"
            1:1 fatal[too-wide]: this clause has 1025 variables, more than 1024
            1:6071 fatal[too-wide]: this clause has 10001 arguments in one place, more than 10000
        "#]],
        );
    }
}
