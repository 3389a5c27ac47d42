//! The reader of the infix form, as the papers print it.
//!
//! ```text
//! sheet       = { atom [ arrow disjunction ] "." }
//! disjunction = conjunction { or conjunction }
//! conjunction = unary { and unary }
//! unary       = not unary | "(" disjunction ")" | "or(" unary { "," unary } ")"
//!             | "distinct(" term "," term ")" | term differs term | atom
//! atom, term  = variable | name [ "(" term { "," term } ")" ]
//! ```
//!
//! | part | written |
//! | --- | --- |
//! | arrow | `:-`, `<=`, `←`, `<-`, `⇐` |
//! | and | `,`, `&`, `∧`, `and`; also `and(…)` |
//! | or | `;`, `\|`, `∨`, `or`; also `or(…)` |
//! | not | `not`, `~`, `¬`, `\+` |
//! | differs | `!=`, `≠`, `\=` |
//! | variable | starts with an upper-case letter or `_`; `_` alone is new each time |
//! | name | starts with another letter or a digit, or is in single quotes (`''` for a quote) |
//! | comment | from `%`, `#` or `//` to the end of the line, or between `/*` and `*/` |
//!
//! Grouping is kept as written, so that printing a tree and reading it gives the same tree. The
//! first letter of a variable is lower-case in the tree: `X` here is `?x` in prefix form. The
//! question mark may be written here too, for names that have no other form: `?X`, `?'x+1'`.
//!
//! A mistake discards the clause it occurs in; reading continues after the next full stop.

use std::borrow::Cow;

use ludex_base::{Diagnostic, Severity, Source, Span, StopReason, Symbols};

use crate::codes;
use crate::keyword::{Keyword, RANDOM_ROLE, is_random_role};
use crate::kif::{is_name, is_variable_name};
use crate::limits::{Budget, MAX_MISTAKES, excess, too_deep, too_many_rules, unstopped};
use crate::print::{CONNECTIVES, starts_variable, word_length};
use crate::read::Parsed;
use crate::syntax::{Clause, Formula, FormulaKind, Notation, Rulesheet, Term, TermKind};

/// Reads a rulesheet in infix form. Clauses with mistakes are left out of the tree.
pub fn parse_infix(source: &Source) -> (Rulesheet, Vec<Diagnostic>) {
    unstopped(read_infix(source, &Budget::unlimited()))
}

pub(crate) fn read_infix(source: &Source, budget: &Budget<'_>) -> Parsed {
    let mut lexer = Lexer { text: source.text(), position: 0 };
    let current = lexer.next();
    let mut reader = Reader {
        lexer,
        current,
        last_end: 0,
        n_anonymous: 0,
        anonymous_prefix: None,
        symbols: Symbols::default(),
        diagnostics: Vec::new(),
        budget,
        stopped: None,
    };
    let mut clauses = Vec::new();
    while reader.current.kind != Kind::End && reader.diagnostics.len() < MAX_MISTAKES {
        match reader.clause() {
            Ok(clause) => match excess(&clause, &reader.budget.sizes) {
                Some(diagnostic) => reader.diagnostics.push(diagnostic),
                None if clauses.len() >= reader.budget.sizes.rules => {
                    reader.diagnostics.push(too_many_rules(clause.span, &reader.budget.sizes));
                    break;
                }
                None => clauses.push(clause),
            },
            Err(Spoiled::Clause) => reader.skip_clause(),
            Err(Spoiled::Sheet) => break,
        }
    }
    if let Some(reason) = reader.stopped {
        return Err(reason);
    }
    let sheet = Rulesheet { notation: Notation::Infix, symbols: reader.symbols, clauses };
    Ok((sheet, reader.diagnostics))
}

/// The smallest unit of the text.
#[derive(Clone, Debug)]
struct Token<'a> {
    kind: Kind<'a>,
    span: Span,
    /// Whether it is the first of its line.
    starts_line: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Kind<'a> {
    /// A word that is not a variable.
    Name(&'a str),
    /// The contents of a name in quotes.
    Quoted(Cow<'a, str>),
    /// A word that is a variable.
    Variable(&'a str),
    /// `?` and a name.
    Marked(Cow<'a, str>),
    Open,
    Close,
    Comma,
    And,
    Or,
    Not,
    Arrow,
    Differs,
    Stop,
    /// A quote or a comment that is never closed.
    Unclosed,
    Unknown,
    End,
}

/// Signs; each comes before its own prefixes.
const SIGNS: [(&str, Kind<'static>); 22] = [
    (":-", Kind::Arrow),
    ("<=", Kind::Arrow),
    ("<-", Kind::Arrow),
    ("←", Kind::Arrow),
    ("⇐", Kind::Arrow),
    ("!=", Kind::Differs),
    ("≠", Kind::Differs),
    ("\\=", Kind::Differs),
    ("\\+", Kind::Not),
    ("~", Kind::Not),
    ("¬", Kind::Not),
    ("(", Kind::Open),
    (")", Kind::Close),
    (",", Kind::Comma),
    ("&&", Kind::And),
    ("&", Kind::And),
    ("∧", Kind::And),
    (";", Kind::Or),
    ("||", Kind::Or),
    ("|", Kind::Or),
    ("∨", Kind::Or),
    (".", Kind::Stop),
];

struct Lexer<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Lexer<'a> {
    fn next(&mut self) -> Token<'a> {
        let before = self.position;
        let comment = self.skip_blanks();
        let start = self.position;
        let starts_line = before == 0 || self.text[before..start].contains(['\n', '\r']);
        if let Err(start) = comment {
            let span = Span::new(start, start + 2);
            return Token { kind: Kind::Unclosed, span, starts_line };
        }
        let (kind, length) = self.token(&self.text[start..]);
        self.position += length;
        Token { kind, span: Span::new(start, start + length), starts_line }
    }

    /// Skips blanks and comments. The error is the place of a comment that is never closed.
    fn skip_blanks(&mut self) -> Result<(), usize> {
        loop {
            let rest = &self.text[self.position..];
            let Some(first) = rest.chars().next() else { return Ok(()) };
            if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(length) => self.position += length + 2,
                    None => {
                        let start = self.position;
                        self.position = self.text.len();
                        return Err(start);
                    }
                }
            } else if matches!(first, '%' | '#') || rest.starts_with("//") {
                self.position += rest.find(['\n', '\r']).unwrap_or(rest.len());
            } else if first.is_whitespace() || first.is_control() || first == '\u{feff}' {
                self.position += first.len_utf8();
            } else {
                return Ok(());
            }
        }
    }

    /// Returns the token at the beginning of a text, and its length.
    fn token(&self, rest: &'a str) -> (Kind<'a>, usize) {
        let Some(first) = rest.chars().next() else { return (Kind::End, 0) };
        if first == '\'' {
            return quoted(rest).map_or((Kind::Unclosed, rest.len()), |(name, length)| {
                (Kind::Quoted(name), length)
            });
        }
        if let Some(after) = rest.strip_prefix('?') {
            if after.starts_with('\'') {
                return quoted(after).map_or((Kind::Unclosed, rest.len()), |(name, length)| {
                    (Kind::Marked(name), length + 1)
                });
            }
            let length = word_length(after);
            return (Kind::Marked(Cow::Borrowed(&after[..length])), length + 1);
        }
        let length = word_length(rest);
        if length > 0 {
            let word = &rest[..length];
            let is_variable = starts_variable(first);
            return (if is_variable { Kind::Variable(word) } else { Kind::Name(word) }, length);
        }
        let digits = rest
            .strip_prefix('-')
            .map_or(0, |after| after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len()));
        if digits > 0 && word_length(&rest[1..]) == digits {
            return (Kind::Name(&rest[..=digits]), digits + 1);
        }
        let sign = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign));
        sign.map_or((Kind::Unknown, first.len_utf8()), |(sign, kind)| (kind.clone(), sign.len()))
    }
}

/// Returns the name in quotes at the beginning of a text, and its length with the quotes.
fn quoted(text: &str) -> Option<(Cow<'_, str>, usize)> {
    let mut position = 1;
    loop {
        position += text[position..].find('\'')?;
        if text[position + 1..].starts_with('\'') {
            position += 2;
        } else {
            break;
        }
    }
    let inner = &text[1..position];
    let name = if inner.contains('\'') {
        Cow::Owned(inner.replace("''", "'"))
    } else {
        Cow::Borrowed(inner)
    };
    Some((name, position + 1))
}

/// A mistake that has been reported; the clause, or all that follows, is discarded.
enum Spoiled {
    Clause,
    Sheet,
}

type Read<T> = Result<T, Spoiled>;

struct Reader<'a, 'b, 'c> {
    lexer: Lexer<'a>,
    /// The next token.
    current: Token<'a>,
    /// The end of the last token taken.
    last_end: u32,
    n_anonymous: usize,
    anonymous_prefix: Option<String>,
    symbols: Symbols,
    diagnostics: Vec<Diagnostic>,
    budget: &'b Budget<'c>,
    /// Why reading stops early; the text then seems to end.
    stopped: Option<StopReason>,
}

impl<'a> Reader<'a, '_, '_> {
    fn take(&mut self) -> Token<'a> {
        if let Err(reason) = self.budget.pace.step() {
            self.stopped = Some(reason);
            self.lexer.position = self.lexer.text.len();
        }
        let next = self.lexer.next();
        let token = std::mem::replace(&mut self.current, next);
        self.last_end = token.span.end;
        token
    }

    fn accepts(&mut self, kind: &Kind<'_>) -> bool {
        let is_it = self.current.kind == *kind;
        if is_it {
            self.take();
        }
        is_it
    }

    fn spoiled<T>(&mut self, code: &'static str, span: Span, message: &str, help: &str) -> Read<T> {
        self.diagnostics
            .push(Diagnostic::new(Severity::Fatal, code, span, message).with_help(help));
        Err(Spoiled::Clause)
    }

    /// Reports that the next token fits no form.
    fn unexpected<T>(&mut self, expected: &str) -> Read<T> {
        let Token { kind, span, .. } = self.current.clone();
        match kind {
            Kind::Unclosed => self.spoiled(
                codes::UNCLOSED_QUOTE,
                Span { start: span.start, end: span.start + 1 },
                "this quote or comment is never closed",
                "add the `'` or the `*/` that closes it",
            ),
            Kind::Close => self.spoiled(
                codes::UNBALANCED_PARENTHESES,
                span,
                "this `)` closes nothing",
                "remove it, or add the missing `(`",
            ),
            Kind::End => {
                let end = Span { start: self.last_end, end: self.last_end };
                let message = format!("the text ends where {expected} is needed");
                self.spoiled(codes::UNEXPECTED_TOKEN, end, &message, "complete the clause")
            }
            _ => {
                let found = &self.lexer.text[span.start as usize..span.end as usize];
                let message = format!("`{found}` stands where {expected} is needed");
                let help = "put names with other characters than letters, digits and `_` in quotes";
                self.spoiled(codes::UNEXPECTED_TOKEN, span, &message, help)
            }
        }
    }

    /// Continues after the next full stop.
    fn skip_clause(&mut self) {
        while !matches!(self.take().kind, Kind::Stop | Kind::End) {}
    }

    fn span_from(&self, start: u32) -> Span {
        Span { start, end: self.last_end.max(start) }
    }

    fn clause(&mut self) -> Read<Clause> {
        let start = self.current.span.start;
        if self.current.kind == Kind::Arrow {
            let span = self.current.span;
            return self.spoiled(
                codes::EMPTY_RULE,
                span,
                "this rule has no head",
                "write `head :- condition, ….`",
            );
        }
        let head = self.atom(0)?;
        let mut body = Vec::new();
        if self.accepts(&Kind::Arrow) && self.current.kind != Kind::Stop {
            let disjuncts = self.disjuncts(0)?;
            body = match <[Vec<Formula>; 1]>::try_from(disjuncts) {
                Ok([conjuncts]) => conjuncts,
                Err(disjuncts) => vec![or(disjuncts)],
            };
        }
        if !self.accepts(&Kind::Stop) {
            let is_next_clause = self.current.starts_line
                && matches!(self.current.kind, Kind::Name(_) | Kind::Quoted(_));
            if !is_next_clause && self.current.kind != Kind::End {
                return self.unexpected(if body.is_empty() { "`:-` or `.`" } else { "`,` or `.`" });
            }
            let end = Span { start: self.last_end, end: self.last_end };
            let message = "this clause does not end with a full stop";
            let code = codes::MISSING_FULL_STOP;
            self.diagnostics.push(
                Diagnostic::new(Severity::Fatal, code, end, message).with_help("add `.` here"),
            );
        }
        Ok(Clause { head, body, span: self.span_from(start) })
    }

    /// Reads the alternatives of a formula, each a conjunction.
    fn disjuncts(&mut self, depth: usize) -> Read<Vec<Vec<Formula>>> {
        let mut disjuncts = vec![self.conjuncts(depth)?];
        while self.current.kind == Kind::Or || self.is_word("or") {
            self.take();
            disjuncts.push(self.conjuncts(depth)?);
        }
        Ok(disjuncts)
    }

    fn conjuncts(&mut self, depth: usize) -> Read<Vec<Formula>> {
        let mut conjuncts = vec![self.unary(depth)?];
        while matches!(self.current.kind, Kind::Comma | Kind::And) || self.is_word("and") {
            self.take();
            conjuncts.push(self.unary(depth)?);
        }
        Ok(conjuncts)
    }

    /// Returns whether the next token is this connective, in any letter case.
    fn is_word(&self, connective: &str) -> bool {
        match self.current.kind {
            Kind::Name(word) | Kind::Variable(word) => word.eq_ignore_ascii_case(connective),
            _ => false,
        }
    }

    fn bounded(&mut self, depth: usize) -> Read<()> {
        if depth <= self.budget.sizes.nesting {
            return Ok(());
        }
        self.diagnostics.push(too_deep(self.current.span, &self.budget.sizes));
        Err(Spoiled::Sheet)
    }

    fn unary(&mut self, depth: usize) -> Read<Formula> {
        self.bounded(depth)?;
        let start = self.current.span.start;
        let kind = if self.current.kind == Kind::Not || self.is_word("not") {
            self.take();
            FormulaKind::Not(Box::new(self.unary(depth + 1)?))
        } else if self.current.kind == Kind::Open {
            let open = self.take().span;
            let mut disjuncts = self.disjuncts(depth + 1)?;
            self.close(open)?;
            match disjuncts.len() {
                1 => and(disjuncts.remove(0)).kind,
                _ => or(disjuncts).kind,
            }
        } else if self.is_word("distinct") {
            self.take();
            let (open, parts) = self.list(depth + 1, Reader::term)?;
            match <[Term; 2]>::try_from(parts) {
                Ok([left, right]) => FormulaKind::Distinct(left, right),
                Err(_) => return self.wrong_number("`distinct` takes two terms", open),
            }
        } else if self.is_word("or") {
            self.take();
            FormulaKind::Or(self.list(depth + 1, Reader::unary)?.1)
        } else if self.is_word("and") {
            self.take();
            FormulaKind::And(self.list(depth + 1, Reader::unary)?.1)
        } else {
            return self.comparison(depth);
        };
        Ok(Formula { kind, span: self.span_from(start) })
    }

    /// Reads an atom, or two terms with a sign between them.
    fn comparison(&mut self, depth: usize) -> Read<Formula> {
        let start = self.current.span.start;
        let is_variable = matches!(self.current.kind, Kind::Variable(_) | Kind::Marked(_));
        let atom = if is_variable && !self.is_keyword() {
            let term = self.term(depth)?;
            if self.current.kind != Kind::Differs {
                return self.variable_as_atom(term.span);
            }
            term
        } else {
            self.atom(depth)?
        };
        let kind = if self.accepts(&Kind::Differs) {
            FormulaKind::Distinct(atom, self.term(depth)?)
        } else {
            FormulaKind::Atom(atom)
        };
        Ok(Formula { kind, span: self.span_from(start) })
    }

    fn wrong_number<T>(&mut self, message: &str, open: Span) -> Read<T> {
        let span = self.span_from(open.start);
        self.spoiled(codes::CONNECTIVE_ARITY, span, message, "check the parentheses around it")
    }

    fn variable_as_atom<T>(&mut self, span: Span) -> Read<T> {
        self.spoiled(
            codes::VARIABLE_AS_ATOM,
            span,
            "a variable stands where a relation is needed",
            "start the name with a lower-case letter; GDL has no variables for relations",
        )
    }

    /// Reads a list in parentheses with commas, and returns the place of the parenthesis.
    fn list<T>(
        &mut self,
        depth: usize,
        item: impl Fn(&mut Self, usize) -> Read<T>,
    ) -> Read<(Span, Vec<T>)> {
        let open = self.current.span;
        if !self.accepts(&Kind::Open) {
            return self.unexpected("`(`");
        }
        if self.current.kind == Kind::Close {
            let span = Span { start: open.start, end: self.current.span.end };
            return self.spoiled(codes::EMPTY_LIST, span, "`()` has no meaning", "remove it");
        }
        let mut items = vec![item(self, depth)?];
        while self.accepts(&Kind::Comma) {
            items.push(item(self, depth)?);
        }
        self.close(open)?;
        Ok((open, items))
    }

    fn close(&mut self, open: Span) -> Read<()> {
        if self.accepts(&Kind::Close) {
            return Ok(());
        }
        match self.current.kind {
            Kind::Stop | Kind::End | Kind::Arrow => self.spoiled(
                codes::UNBALANCED_PARENTHESES,
                open,
                "this `(` is never closed",
                "add the `)` that closes it",
            ),
            _ => self.unexpected("`,` or `)`"),
        }
    }

    fn is_keyword(&self) -> bool {
        match self.current.kind {
            Kind::Variable(word) => Keyword::parse(word).is_some(),
            _ => false,
        }
    }

    /// Reads a term in the place of an atom: its name is a relation's, so keywords are recognized.
    fn atom(&mut self, depth: usize) -> Read<Term> {
        if self.is_keyword()
            && let Kind::Variable(word) = self.current.kind
        {
            self.current.kind = Kind::Name(word);
        }
        let is_connective = CONNECTIVES.iter().any(|connective| self.is_word(connective));
        if is_connective || matches!(self.current.kind, Kind::Not | Kind::Open) {
            let span = self.current.span;
            return self.misplaced_connective(span);
        }
        let mut atom = self.term(depth)?;
        let (TermKind::Constant(name) | TermKind::Compound(name, _)) = &mut atom.kind else {
            return self.variable_as_atom(atom.span);
        };
        if let Some(keyword) = Keyword::parse(self.symbols.name(*name)) {
            *name = self.symbols.intern(keyword.name());
        }
        Ok(atom)
    }

    fn misplaced_connective<T>(&mut self, span: Span) -> Read<T> {
        self.spoiled(
            codes::MISPLACED_CONNECTIVE,
            span,
            "a connective stands where a term is needed",
            "connectives belong in the bodies of rules",
        )
    }

    fn term(&mut self, depth: usize) -> Read<Term> {
        self.bounded(depth)?;
        let start = self.current.span.start;
        let name: Cow<'a, str> = match self.current.kind.clone() {
            Kind::Name(word) => Cow::Borrowed(word),
            Kind::Quoted(name) => name,
            Kind::Variable(_) | Kind::Marked(_) => return self.variable(),
            _ => return self.unexpected("a term"),
        };
        let span = self.take().span;
        self.writable(is_name(&name), span)?;
        // `random` is the one constant with a meaning, hence in any letter case.
        let name = if is_random_role(&name) { RANDOM_ROLE.into() } else { name };
        let symbol = self.symbols.intern(&name);
        if self.current.kind != Kind::Open {
            return Ok(Term { kind: TermKind::Constant(symbol), span });
        }
        if CONNECTIVES.iter().any(|it| it.eq_ignore_ascii_case(&name)) || is_arrow(&name) {
            return self.misplaced_connective(span);
        }
        let (_, args) = self.list(depth + 1, Reader::term)?;
        Ok(Term { kind: TermKind::Compound(symbol, args), span: self.span_from(start) })
    }

    fn variable(&mut self) -> Read<Term> {
        let Token { kind, span, .. } = self.take();
        let name: Cow<'a, str> = match kind {
            Kind::Variable("_") => self.anonymous().into(),
            Kind::Variable(word) => lowered(word),
            Kind::Marked(name) => name,
            _ => unreachable!("the caller checks for a variable"),
        };
        if name.is_empty() {
            let message = "this variable has no name";
            return self.spoiled(codes::EMPTY_VARIABLE, span, message, "name it: `X`");
        }
        self.writable(is_variable_name(&name), span)?;
        if self.current.kind == Kind::Open {
            return self.spoiled(
                codes::VARIABLE_AS_NAME,
                span,
                "a variable stands where a name is needed",
                "start the name with a lower-case letter, or put it in quotes: `'Name'(…)`",
            );
        }
        Ok(Term { kind: TermKind::Variable(self.symbols.intern(&name)), span })
    }

    /// Refuses names that prefix form can't write.
    fn writable(&mut self, is_writable: bool, span: Span) -> Read<()> {
        if is_writable {
            return Ok(());
        }
        self.spoiled(
            codes::UNWRITABLE_NAME,
            span,
            "this name can't be written in prefix form",
            "use a name without blanks, parentheses and semicolons that does not start with `?`",
        )
    }

    /// Returns a variable that occurs nowhere else.
    fn anonymous(&mut self) -> String {
        let text = self.lexer.text;
        let prefix = self.anonymous_prefix.get_or_insert_with(|| unused_prefix(text));
        self.n_anonymous += 1;
        format!("{prefix}{}", self.n_anonymous)
    }
}

/// Returns more `_` in a row than the text has anywhere, so that no name of the text begins with
/// it.
fn unused_prefix(text: &str) -> String {
    let longest = text.split(|c| c != '_').map(str::len).max().unwrap_or(0);
    "_".repeat(longest + 1)
}

/// Makes the first letter of a variable lower-case; letters outside ASCII stay, since some have no
/// lower-case form.
fn lowered(word: &str) -> Cow<'_, str> {
    if word.starts_with(|c: char| c.is_ascii_uppercase()) {
        let mut name = word.to_owned();
        name[..1].make_ascii_lowercase();
        name.into()
    } else {
        word.into()
    }
}

fn is_arrow(name: &str) -> bool {
    matches!(name, "<=" | "⇐" | "←")
}

/// Returns the conjunction of formulas; a single formula is itself.
fn and(mut formulas: Vec<Formula>) -> Formula {
    if formulas.len() == 1 {
        return formulas.remove(0);
    }
    let span = formulas[0].span.to(formulas[formulas.len() - 1].span);
    Formula { kind: FormulaKind::And(formulas), span }
}

fn or(disjuncts: Vec<Vec<Formula>>) -> Formula {
    let parts: Vec<Formula> = disjuncts.into_iter().map(and).collect();
    let span = parts[0].span.to(parts[parts.len() - 1].span);
    Formula { kind: FormulaKind::Or(parts), span }
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
        let (sheet, diagnostics) = parse_infix(&source);
        expected.assert_eq(&(print_kif(&sheet) + &listed(&source, &diagnostics)));
    }

    #[test]
    fn every_sign_has_its_meaning() {
        check(
            "p :- a, b & c ∧ d and e.
             q <= a ; b | c ∨ d or e.
             r ← ~a, ¬b, not c, \\+ d, NOT(e).
             s <- X != Y, X ≠ a, f(X) \\= Y, distinct(X, Y).",
            expect![[r#"
                (<= p
                    a
                    b
                    c
                    d
                    e)

                (<= q
                    (or a b c d e))

                (<= r
                    (not a)
                    (not b)
                    (not c)
                    (not d)
                    (not e))

                (<= s
                    (distinct ?x ?y)
                    (distinct ?x a)
                    (distinct (f ?x) ?y)
                    (distinct ?x ?y))
            "#]],
        );
    }

    #[test]
    fn conjunction_binds_more_than_disjunction() {
        check(
            "p :- a, b ; c, (d ; e), not (f, g).",
            expect![[r#"
            (<= p
                (or (and a b) (and c (or d e) (not (and f g)))))
        "#]],
        );
    }

    #[test]
    fn variables_start_with_upper_case() {
        check(
            "p(X, Xy, XY, _y, _, _, ?X, ?'a+b', É).",
            expect![[r#"
            (p ?x ?xy ?xY ?_y ?__1 ?__2 ?X ?a+b ?É)
        "#]],
        );
    }

    #[test]
    fn anonymous_variables_have_names_of_their_own() {
        check(
            "p(_, __1, ___2, _).",
            expect![[r#"
            (p ?____1 ?__1 ?___2 ?____2)
        "#]],
        );
    }

    #[test]
    fn names_in_quotes_are_names() {
        check(
            "'P'('it''s', 'not', not, -5, a-b, 2x) :- 'or', 'TRUE'(x), role('RANDOM').",
            expect![[r#"
                (<= (P it's not not -5 a-b 2x)
                    or
                    (true x)
                    (role random))
            "#]],
        );
    }

    #[test]
    fn comments_of_four_kinds() {
        check(
            "p. % q.\n# r.\n// s.\n/* t.\n u. */ v.",
            expect![[r#"
            p
            v
        "#]],
        );
    }

    #[test]
    fn reading_goes_on_after_the_next_full_stop() {
        check(
            "p(a. q(b). r(c)) . s(d), e. t :- . u(f) :- g h. v.",
            expect![[r#"
                (q b)
                t
                v
                1:2 fatal[unbalanced-parentheses]: this `(` is never closed
                1:16 fatal[unbalanced-parentheses]: this `)` closes nothing
                1:24 fatal[unexpected-token]: `,` stands where `:-` or `.` is needed
                1:46 fatal[unexpected-token]: `h` stands where `,` or `.` is needed
            "#]],
        );
    }

    #[test]
    fn too_deep_nesting_stops_the_reading() {
        check(
            &format!("p. q :- {}", "not ".repeat(Sizes::default().nesting + 2)),
            expect![[r#"
            p
            1:1037 fatal[too-deep]: forms are nested more than 256 deep
        "#]],
        );
        check(
            &format!("p. q({}", "f(".repeat(Sizes::default().nesting + 2)),
            expect![[r#"
            p
            1:518 fatal[too-deep]: forms are nested more than 256 deep
        "#]],
        );
        // Each level has an alternative and a conjunction, which are two lists in prefix form.
        let levels = format!("{}a{}", "(b ; c, ".repeat(200), ")".repeat(200));
        check(
            &format!("q :- {levels}."),
            expect![[r#"
            1:1 fatal[too-deep]: forms are nested more than 256 deep
        "#]],
        );
    }
}
