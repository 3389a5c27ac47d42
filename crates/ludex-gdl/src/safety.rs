//! Safety: every variable of a head, of a negative literal or of a `distinct` occurs in a positive
//! literal that is true whenever the clause is used.
//!
//! This works on the tree, which has the places, and decides as if every `or` were split into
//! separate clauses: an `or` binds what each of its alternatives binds. `(not (distinct a b))` is
//! an equation and binds one side when the other is bound.

use ludex_base::{Diagnostic, Pace, Severity, Span, StopReason, Symbol};
use rustc_hash::FxHashMap;

use crate::codes;
use crate::keyword::Keyword;
use crate::limits::MAX_VARIABLES;
use crate::print::variable_text;
use crate::report::Report;
use crate::syntax::{Clause, Formula, FormulaKind, Rulesheet, Term, TermKind};

/// Reports each variable of each clause that nothing binds, at its first such occurrence.
pub(crate) fn check_safety(
    sheet: &Rulesheet,
    report: &mut Report,
    pace: &Pace<'_>,
) -> Result<(), StopReason> {
    for clause in &sheet.clauses {
        let numbers = FxHashMap::default();
        let mut safety = Safety { sheet, clause, numbers, found: Vec::new(), pace };
        safety.check()?;
        let mut found = safety.found;
        found.sort_by_key(|it| it.span.start);
        report.extend(found);
    }
    Ok(())
}

/// The result of a part of the check, unless the deadline stops it.
type Outcome = Result<(), StopReason>;

struct Safety<'a> {
    sheet: &'a Rulesheet,
    clause: &'a Clause,
    numbers: FxHashMap<Symbol, usize>,
    found: Vec<Diagnostic>,
    /// Counts the conditions.
    pace: &'a Pace<'a>,
}

/// A formula, or its negation.
#[derive(Clone, Copy)]
struct Part<'a> {
    formula: &'a Formula,
    is_positive: bool,
}

/// A set of variables of one clause.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Variables([u64; MAX_VARIABLES / 64]);

impl Variables {
    const NONE: Variables = Variables([0; MAX_VARIABLES / 64]);
    const ALL: Variables = Variables([u64::MAX; MAX_VARIABLES / 64]);

    fn contains(&self, variable: usize) -> bool {
        self.0[variable / 64] >> (variable % 64) & 1 == 1
    }

    fn insert(&mut self, variable: usize) {
        self.0[variable / 64] |= 1 << (variable % 64);
    }

    fn union(mut self, other: &Variables) -> Variables {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine |= theirs);
        self
    }

    fn without(mut self, other: &Variables) -> Variables {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine &= !theirs);
        self
    }

    fn intersect(&mut self, other: &Variables) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine &= theirs);
    }
}

/// A part of a body without its outermost connective, with its negation moved inwards.
enum Children<'a> {
    All(&'a [Formula], bool),
    Any(&'a [Formula], bool),
    Atom(&'a Term, bool),
    Distinct(&'a Term, &'a Term),
    Equal(&'a Term, &'a Term),
}

fn as_parts(formulas: &[Formula], is_positive: bool) -> impl DoubleEndedIterator<Item = Part<'_>> {
    formulas.iter().map(move |formula| Part { formula, is_positive })
}

impl<'a> Part<'a> {
    fn children(self) -> Children<'a> {
        let Part { formula, is_positive } = self;
        match &formula.kind {
            FormulaKind::Atom(atom) => Children::Atom(atom, is_positive),
            FormulaKind::Distinct(left, right) if is_positive => Children::Distinct(left, right),
            FormulaKind::Distinct(left, right) => Children::Equal(left, right),
            FormulaKind::Not(inner) => {
                Part { formula: inner, is_positive: !is_positive }.children()
            }
            FormulaKind::And(parts) if is_positive => Children::All(parts, true),
            FormulaKind::Or(parts) if !is_positive => Children::All(parts, false),
            FormulaKind::And(parts) | FormulaKind::Or(parts) => Children::Any(parts, is_positive),
        }
    }
}

impl<'a> Safety<'a> {
    fn check(&mut self) -> Outcome {
        let mut names = Vec::new();
        let mut visit = |name, _| names.push(name);
        self.clause.head.for_each_variable(&mut visit);
        self.clause.body.iter().for_each(|formula| formula.for_each_variable(&mut visit));
        for name in names {
            let next = self.numbers.len();
            debug_assert!(next < MAX_VARIABLES, "readers refuse clauses with more variables");
            self.numbers.entry(name).or_insert(next);
        }
        let mut bound = Variables::NONE;
        self.conjunction(&self.clause.body, true, &mut bound)?;
        let mut reported = bound;
        self.head(&mut reported);
        self.inner(&self.clause.body, true, bound, &mut reported)
    }

    /// Adds the variables that the parts bind when all of them are true.
    ///
    /// Alternatives are visited once, after the atoms and equations beside them, so that the time
    /// is linear in the size of the clause however deeply they are nested.
    fn conjunction(
        &self,
        parts: &'a [Formula],
        is_positive: bool,
        bound: &mut Variables,
    ) -> Outcome {
        let mut alternatives = Vec::new();
        let mut equations = Vec::new();
        let mut open: Vec<Part<'a>> = as_parts(parts, is_positive).rev().collect();
        while let Some(part) = open.pop() {
            self.pace.step()?;
            match part.children() {
                Children::All(parts, is_positive) => {
                    open.extend(as_parts(parts, is_positive).rev())
                }
                Children::Any(parts, is_positive) => alternatives.push((parts, is_positive)),
                Children::Atom(atom, true) => self.bind_term(atom, bound),
                Children::Atom(_, false) | Children::Distinct(..) => {}
                Children::Equal(left, right) => equations.push((left, right)),
            }
        }
        self.solve(&equations, bound)?;
        for (parts, is_positive) in alternatives {
            let mut common = Variables::ALL;
            for part in parts {
                let mut of_part = *bound;
                self.conjunction(std::slice::from_ref(part), is_positive, &mut of_part)?;
                common.intersect(&of_part);
            }
            *bound = common;
        }
        self.solve(&equations, bound)
    }

    /// Adds the variables that equations bind.
    fn solve(&self, equations: &[(&Term, &Term)], bound: &mut Variables) -> Outcome {
        loop {
            self.pace.steps(equations.len())?;
            let before = *bound;
            for (left, right) in equations {
                if self.is_bound(left, bound) {
                    self.bind_term(right, bound);
                } else if self.is_bound(right, bound) {
                    self.bind_term(left, bound);
                }
            }
            if before == *bound {
                return Ok(());
            }
        }
    }

    fn bind_term(&self, term: &Term, bound: &mut Variables) {
        term.for_each_variable(&mut |name, _| bound.insert(self.numbers[&name]));
    }

    fn is_bound(&self, term: &Term, bound: &Variables) -> bool {
        let mut is_bound = true;
        term.for_each_variable(&mut |name, _| is_bound &= bound.contains(self.numbers[&name]));
        is_bound
    }

    fn head(&mut self, reported: &mut Variables) {
        let keyword = self.clause.keyword(&self.sheet.symbols);
        for (arg_idx, arg) in self.clause.head.args().iter().enumerate() {
            let is_role = arg_idx == 0 && matches!(arg.kind, TermKind::Variable(_));
            let (severity, what) = match keyword {
                Some(Keyword::Legal | Keyword::Goal | Keyword::Sees) if is_role => {
                    (Severity::Tolerated, "is the role in the head")
                }
                // These are never derived, or play does not depend on them.
                Some(Keyword::Base | Keyword::Input | Keyword::True | Keyword::Does) | None => {
                    (Severity::Tolerated, "is in the head")
                }
                Some(_) => (Severity::Fatal, "is in the head"),
            };
            self.term(arg, severity, what, reported);
        }
    }

    /// Checks the negative literals and the `distinct` of a conjunction in which `bound` is bound.
    fn inner(
        &mut self,
        parts: &'a [Formula],
        is_positive: bool,
        bound: Variables,
        reported: &mut Variables,
    ) -> Outcome {
        for formula in parts {
            self.pace.step()?;
            match (Part { formula, is_positive }).children() {
                Children::All(parts, is_positive) => {
                    self.inner(parts, is_positive, bound, reported)?;
                }
                Children::Any(parts, is_positive) => {
                    for part in parts {
                        let mut of_part = bound;
                        self.conjunction(std::slice::from_ref(part), is_positive, &mut of_part)?;
                        // An alternative binds its variables only within itself; a variable
                        // reported in it is not reported again.
                        let mut reported_here = reported.union(&of_part);
                        let before = reported_here;
                        let parts = std::slice::from_ref(part);
                        self.inner(parts, is_positive, of_part, &mut reported_here)?;
                        *reported = reported.union(&reported_here.without(&before));
                    }
                }
                Children::Atom(_, true) | Children::Equal(..) => {}
                Children::Atom(atom, false) => {
                    self.term(atom, Severity::Tolerated, "is in a negative literal", reported);
                }
                Children::Distinct(left, right) => {
                    for term in [left, right] {
                        self.term(term, Severity::Tolerated, "is in a `distinct`", reported);
                    }
                }
            }
        }
        Ok(())
    }

    fn term(&mut self, term: &Term, severity: Severity, what: &str, reported: &mut Variables) {
        let mut occurrences: Vec<(Symbol, Span)> = Vec::new();
        term.for_each_variable(&mut |name, span| occurrences.push((name, span)));
        for (name, span) in occurrences {
            let variable = self.numbers[&name];
            if !reported.contains(variable) {
                reported.insert(variable);
                let name = variable_text(self.sheet.symbols.name(name), self.sheet.notation);
                let message = format!("`{name}` {what} but in no positive literal of the body");
                let help = format!("add a condition that says what `{name}` ranges over");
                self.found.push(
                    Diagnostic::new(severity, codes::UNSAFE_RULE, span, message).with_help(help),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::Source;

    use super::*;
    use crate::kif::parse_kif;

    /// `unsafe_places` has a `^` under the first letter of each reported variable.
    #[track_caller]
    fn check(clause: &str, unsafe_places: &str) {
        let (sheet, diagnostics) = parse_kif(&Source::new("t", clause));
        assert_eq!(diagnostics, []);
        let mut report = Report::default();
        check_safety(&sheet, &mut report, &Pace::unlimited()).expect("nothing stops it");
        let mut found = vec![b' '; unsafe_places.len().max(clause.len())];
        for diagnostic in report.into_diagnostics() {
            found[diagnostic.span.start as usize] = b'^';
        }
        let found = String::from_utf8(found).expect("blanks and signs");
        assert_eq!(found.trim_end(), unsafe_places.trim_end(), "\n{clause}");
    }

    #[test]
    fn positive_literals_bind() {
        check("(<= (p ?x) (q ?x) (not (r ?x)) (distinct ?x a))", "");
        check("(<= (p (f ?x ?y)) (q (g ?x)))", "             ^");
    }

    #[test]
    fn a_variable_is_reported_once() {
        check("(<= (p ?x ?x) (not (q ?x)) (distinct ?x a))", "       ^");
    }

    #[test]
    fn order_does_not_matter() {
        check("(<= p (distinct ?x ?y) (not (r ?x)) (q ?x ?y))", "");
    }

    #[test]
    fn alternatives_bind_what_each_of_them_binds() {
        check("(<= (p ?x) (or (q ?x) (and (r ?x) (s ?y))))", "");
        check("(<= (p ?x ?y) (or (q ?x) (and (r ?x) (s ?y))))", "          ^");
        check("(<= p (or (q ?x) (distinct ?x a)))", "                           ^");
        check("(<= p (s ?x) (or (q ?y) (and (r ?y) (distinct ?x ?y))))", "");
    }

    #[test]
    fn negation_changes_sides() {
        check("(<= (p ?x) (not (not (q ?x))))", "");
        check("(<= (p ?x) (not (or (not (q ?x)) (r ?x))))", "");
        check("(<= (p ?x) (not (and (not (q ?x)) (not (r ?x)))))", "");
        check("(<= p (not (and (q ?x) (r ?x))))", "                   ^");
    }

    #[test]
    fn equations_bind_one_side_by_the_other() {
        check("(<= (p ?x ?y) (q ?y) (not (distinct ?x (f ?y))))", "");
        check("(<= (p ?x) (not (distinct ?x a)))", "");
        check("(<= (p ?x) (not (distinct ?x ?z)) (not (distinct ?y ?z)) (q ?y))", "");
        check("(<= (p ?x) (not (distinct ?x ?y)))", "       ^");
        check("(<= (p ?x) (q ?y) (or (r ?x) (not (distinct ?x ?y))))", "");
    }
}
