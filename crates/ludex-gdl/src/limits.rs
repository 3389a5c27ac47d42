//! Limits on the size of a rulesheet, so that untrusted text can't exhaust time or memory.

use ludex_base::{Diagnostic, Limits, Pace, Severity, Sizes, Span, Symbol};
use rustc_hash::FxHashSet;

use crate::codes;
use crate::syntax::{Clause, Formula, FormulaKind, Term};

/// Tokens, clauses or conditions between two checks of the deadline: a few milliseconds of work.
const STEPS_PER_CHECK: usize = 1 << 12;

/// Largest number of different variables of one clause that the checks support, whatever
/// [`Sizes::variables`] allows.
pub(crate) const MAX_VARIABLES: usize = 1024;

/// Largest number of arguments that interned terms support, whatever [`Sizes::arguments`] allows.
pub(crate) const MAX_ARGUMENTS: usize = u16::MAX as usize;

/// Largest number of mistakes of one kind that are reported. Readers stop after this many mistakes,
/// since a text with more is not a rulesheet.
pub const MAX_MISTAKES: usize = 1000;

/// What the stages from text to program may use.
pub(crate) struct Budget<'a> {
    pub sizes: Sizes,
    pub pace: Pace<'a>,
}

impl<'a> Budget<'a> {
    pub fn new(limits: &'a Limits) -> Self {
        Self { sizes: limits.sizes, pace: Pace::new(&limits.deadline, STEPS_PER_CHECK) }
    }

    /// The usual sizes, without a deadline.
    pub fn unlimited() -> Self {
        Self { sizes: Sizes::default(), pace: Pace::unlimited() }
    }
}

/// Takes the result of work with an unlimited pace, which nothing stops.
pub(crate) fn unstopped<T>(result: Result<T, ludex_base::StopReason>) -> T {
    result.unwrap_or_else(|_| unreachable!("work without a deadline is not stopped"))
}

pub(crate) fn too_large(n_bytes: usize, sizes: &Sizes) -> Diagnostic {
    let message = format!("the rulesheet has {n_bytes} bytes, more than {}", sizes.text_bytes);
    Diagnostic::new(Severity::Fatal, codes::TOO_LARGE, Span::default(), message)
        .with_help("a rulesheet states rules with variables; list fewer ground facts")
}

pub(crate) fn too_many_rules(span: Span, sizes: &Sizes) -> Diagnostic {
    let message = format!("the rulesheet has more than {} rules and facts", sizes.rules);
    Diagnostic::new(Severity::Fatal, codes::TOO_LARGE, span, message)
        .with_help("a rulesheet states rules with variables; list fewer ground facts")
}

pub(crate) fn too_deep(span: Span, sizes: &Sizes) -> Diagnostic {
    let message = format!("forms are nested more than {} deep", sizes.nesting);
    Diagnostic::new(Severity::Fatal, codes::TOO_DEEP, span, message)
        .with_help("define relations for the inner parts")
}

/// Returns the limit that a clause exceeds, if any.
pub(crate) fn excess(clause: &Clause, sizes: &Sizes) -> Option<Diagnostic> {
    if clause.depth() > sizes.nesting {
        return Some(too_deep(clause.span, sizes));
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
    let max_variables = sizes.variables.min(MAX_VARIABLES);
    if variables.len() > max_variables {
        return Some(wide("variables", variables.len(), max_variables));
    }
    let n_args = clause.body.iter().map(most_args).max().unwrap_or(0);
    let n_args = n_args.max(most_args_of_term(&clause.head));
    let max_args = sizes.arguments.min(MAX_ARGUMENTS);
    (n_args > max_args).then(|| wide("arguments in one place", n_args, max_args))
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
