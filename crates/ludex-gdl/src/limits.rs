//! Limits on the size of a rulesheet, so that untrusted text can't exhaust time or memory.

use ludex_base::{Diagnostic, Severity, Span, Symbol};
use rustc_hash::FxHashSet;

use crate::codes;
use crate::syntax::{Clause, Formula, FormulaKind, Term};

/// Largest rulesheet, in bytes. The largest of the public corpus has 46 KiB.
pub const MAX_BYTES: usize = 4 << 20;

/// Deepest nesting, counted in parentheses of the prefix form.
pub const MAX_DEPTH: usize = 256;

/// Largest number of arguments of one term.
pub const MAX_ARGS: usize = 10_000;

/// Largest number of different variables of one clause.
pub const MAX_VARIABLES: usize = 1024;

/// Largest number of mistakes of one kind that are reported. Readers stop after this many mistakes,
/// since a text with more is not a rulesheet.
pub const MAX_MISTAKES: usize = 1000;

pub(crate) fn too_large(n_bytes: usize) -> Diagnostic {
    let message = format!("the rulesheet has {n_bytes} bytes, more than {MAX_BYTES}");
    Diagnostic::new(Severity::Fatal, codes::TOO_LARGE, Span::default(), message)
        .with_help("a rulesheet states rules with variables; list fewer ground facts")
}

pub(crate) fn too_deep(span: Span) -> Diagnostic {
    let message = format!("forms are nested more than {MAX_DEPTH} deep");
    Diagnostic::new(Severity::Fatal, codes::TOO_DEEP, span, message)
        .with_help("define relations for the inner parts")
}

/// Returns the limit that a clause exceeds, if any.
pub(crate) fn excess(clause: &Clause) -> Option<Diagnostic> {
    if clause.depth() > MAX_DEPTH {
        return Some(too_deep(clause.span));
    }
    let mut variables: FxHashSet<Symbol> = FxHashSet::default();
    let mut visit = |name, _| {
        variables.insert(name);
    };
    clause.head.for_each_variable(&mut visit);
    clause.body.iter().for_each(|formula| formula.for_each_variable(&mut visit));
    let wide = |what: &str, n: usize, max: usize| {
        let message = format!("this clause has {n} {what}, more than {max}");
        Diagnostic::new(Severity::Fatal, codes::TOO_WIDE, clause.span, message)
            .with_help("split it into several clauses with helper relations")
    };
    if variables.len() > MAX_VARIABLES {
        return Some(wide("variables", variables.len(), MAX_VARIABLES));
    }
    let n_args = clause.body.iter().map(most_args).max().unwrap_or(0);
    let n_args = n_args.max(most_args_of_term(&clause.head));
    (n_args > MAX_ARGS).then(|| wide("arguments in one place", n_args, MAX_ARGS))
}

fn most_args(formula: &Formula) -> usize {
    match &formula.kind {
        FormulaKind::Atom(atom) => most_args_of_term(atom),
        FormulaKind::Not(inner) => most_args(inner),
        FormulaKind::And(parts) | FormulaKind::Or(parts) => {
            parts.iter().map(most_args).max().unwrap_or(0)
        }
        FormulaKind::Distinct(left, right) => most_args_of_term(left).max(most_args_of_term(right)),
    }
}

fn most_args_of_term(term: &Term) -> usize {
    let inner = term.args().iter().map(most_args_of_term).max().unwrap_or(0);
    inner.max(term.args().len())
}
