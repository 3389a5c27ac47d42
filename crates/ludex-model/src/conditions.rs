//! Conditions: comparisons, combined by `not`, `and`, `or` and `if`.

use ludex_base::{Diagnostic, Severity, Span};
use ludex_csp::{Comparison, Constraint, Expr as Formula};

use crate::eval::{Evaluated, Evaluator, Failed};
use crate::syntax::Expr;
use crate::value::{Term, Value};
use crate::{arithmetic, builtins, codes};

/// Returns the comparison as written in the language.
pub(crate) fn sign(op: Comparison) -> &'static str {
    match op {
        Comparison::Lt => "<",
        Comparison::Le => "<=",
        Comparison::Eq => "=",
        Comparison::Ne => "!=",
        Comparison::Ge => ">=",
        Comparison::Gt => ">",
    }
}

impl Evaluator<'_> {
    /// Builds a condition on numbers, which includes that the numbers are defined.
    pub fn condition(
        &mut self,
        formula: Formula,
        defined: Vec<Formula>,
        size: usize,
        depth: usize,
        span: Span,
    ) -> Evaluated {
        let formula = if defined.is_empty() {
            formula
        } else {
            Formula::And(defined.into_iter().chain([formula]).collect())
        };
        self.term(Term::new(formula, true, size, depth + 1), span)
    }

    /// Returns the term as a value, unless it is too large.
    pub fn term(&mut self, term: Term, span: Span) -> Evaluated {
        if term.depth > self.limits.max_depth {
            let message = format!("a term nested deeper than {}", self.limits.max_depth);
            return self.fail_with_help(
                codes::TOO_DEEP,
                span,
                message,
                "give parts names with `let` in a scope",
            );
        }
        self.grow(1, span)?;
        Ok(Value::Term(Box::new(term)))
    }

    /// Compares two numbers.
    pub fn compare(&mut self, op: Comparison, a: Value, b: Value, span: Span) -> Evaluated {
        if let (Value::Int(a), Value::Int(b)) = (&a, &b) {
            return Ok(Value::Bool(op.holds(*a, *b)));
        }
        let (a_term, b_term) = match (arithmetic::as_number(a), arithmetic::as_number(b)) {
            (Ok(a), Ok(b)) => (a, b),
            (a, b) => {
                let kind = |value: &Result<Term, Value>| match value {
                    Ok(_) => "a number",
                    Err(value) => value.kind(),
                };
                let sign = sign(op);
                let message =
                    format!("`{sign}` takes two numbers, found {} and {}", kind(&a), kind(&b));
                return self.fail(codes::TYPE, span, message);
            }
        };
        let size = a_term.size + b_term.size + 1;
        let depth = a_term.depth.max(b_term.depth) + 1;
        let defined = [a_term.defined, b_term.defined].concat();
        let formula = Formula::Compare(op, Box::new(a_term.formula), Box::new(b_term.formula));
        // The domains may already decide the comparison.
        if defined.is_empty()
            && let Some(truth) = self.decided(&formula)
        {
            return Ok(Value::Bool(truth));
        }
        self.condition(formula, defined, size, depth, span)
    }

    /// Returns the truth of a comparison if the bounds of its sides decide it.
    pub(crate) fn decided(&self, formula: &Formula) -> Option<bool> {
        let Formula::Compare(op, a, b) = formula else { return None };
        let ((a_low, a_high), (b_low, b_high)) = (self.bounds_of(a), self.bounds_of(b));
        let (below, above) = (a_high < b_low, a_low > b_high);
        match op {
            Comparison::Lt if below || a_low >= b_high => Some(below),
            Comparison::Ge if below || a_low >= b_high => Some(!below),
            Comparison::Gt if above || a_high <= b_low => Some(above),
            Comparison::Le if above || a_high <= b_low => Some(!above),
            Comparison::Eq if below || above => Some(false),
            Comparison::Ne if below || above => Some(true),
            _ => None,
        }
    }

    /// Returns the least and the greatest value of a formula.
    pub fn bounds_of(&self, formula: &Formula) -> (i64, i64) {
        formula.bounds(&|x| self.bounds.get(x.index()).copied().unwrap_or((i64::MIN, i64::MAX)))
    }

    pub(crate) fn equality(&mut self, is_equal: bool, a: Value, b: Value, span: Span) -> Evaluated {
        let op = if is_equal { Comparison::Eq } else { Comparison::Ne };
        match (a, b) {
            (Value::Set(a), Value::Set(b)) => Ok(Value::Bool((a == b) == is_equal)),
            (Value::Array(a), Value::Array(b)) => {
                if a.items.len() != b.items.len() {
                    return self.fail(
                        codes::TYPE,
                        span,
                        "arrays of different lengths are compared",
                    );
                }
                let pairs: Vec<(Value, Value)> =
                    a.items.iter().cloned().zip(b.items.iter().cloned()).collect();
                let mut parts = Vec::new();
                for (a, b) in pairs {
                    parts.push(self.equality(is_equal, a, b, span)?);
                }
                if is_equal { self.all(parts, span) } else { self.any(parts, span) }
            }
            (a, b) if a.is_bool() && b.is_bool() => self.compare_truths(op, a, b, span),
            (a, b) => self.compare(op, a, b, span),
        }
    }

    pub(crate) fn compare_truths(
        &mut self,
        op: Comparison,
        a: Value,
        b: Value,
        span: Span,
    ) -> Evaluated {
        match (a, b) {
            (Value::Bool(a), Value::Bool(b)) => Ok(Value::Bool((a == b) == (op == Comparison::Eq))),
            (Value::Bool(known), other) | (other, Value::Bool(known)) if other.is_bool() => {
                if known == (op == Comparison::Eq) { Ok(other) } else { self.not(other, span) }
            }
            (a, b) if a.is_bool() && b.is_bool() => {
                let (a, b) = (self.truth(a, span)?, self.truth(b, span)?);
                let size = a.size + b.size + 1;
                let depth = a.depth.max(b.depth) + 1;
                let formula = Formula::Compare(op, Box::new(a.formula), Box::new(b.formula));
                self.term(Term::new(formula, true, size, depth), span)
            }
            (a, b) => {
                let sign = if op == Comparison::Eq { "<->" } else { "xor" };
                self.wrong_operands(sign, "two conditions", &a, &b, span)
            }
        }
    }

    /// Returns a condition as a term.
    pub fn truth(&mut self, value: Value, span: Span) -> Evaluated<Term> {
        match value {
            Value::Bool(truth) => Ok(Term::new(Formula::Constant(i64::from(truth)), true, 1, 1)),
            Value::Term(term) if term.is_bool => Ok(*term),
            Value::Law(laws) => {
                let mut parts = Vec::new();
                for law in laws {
                    match builtins::as_formula(&law) {
                        Some(formula) => parts.push(formula),
                        None => {
                            return self.fail_with_help(
                                codes::GLOBAL_INSIDE,
                                span,
                                format!("`{}` can't stand inside a negation, disjunction or equivalence", law.name()),
                                "global constraints stand in a conjunction by themselves",
                            );
                        }
                    }
                }
                let size = parts.len() * 4;
                Ok(Term::new(Formula::And(parts), true, size, 8))
            }
            other => {
                let message = format!("expected a condition, found {}", other.kind());
                let help = match &other {
                    Value::Int(_) | Value::Term(_) => Some("compare the number with something"),
                    _ => None,
                };
                let diagnostic = Diagnostic::new(Severity::Fatal, codes::TYPE, span, message);
                self.report(match help {
                    Some(help) => diagnostic.with_help(help),
                    None => diagnostic,
                });
                Err(Failed)
            }
        }
    }

    /// Negates a condition.
    pub fn not(&mut self, value: Value, span: Span) -> Evaluated {
        if let Value::Bool(truth) = value {
            return Ok(Value::Bool(!truth));
        }
        let term = self.truth(value, span)?;
        let (size, depth) = (term.size + 1, term.depth + 1);
        let formula = match term.formula {
            Formula::Not(inner) => *inner,
            Formula::Compare(op, a, b) => Formula::Compare(op.negated(), a, b),
            formula => Formula::Not(Box::new(formula)),
        };
        self.term(Term::new(formula, true, size, depth), span)
    }

    /// Joins two conditions by `and`.
    pub fn both(&mut self, a: Value, b: Value, span: Span) -> Evaluated {
        self.all(vec![a, b], span)
    }

    /// Joins conditions by `and`.
    pub fn all(&mut self, values: Vec<Value>, span: Span) -> Evaluated {
        let mut laws: Vec<Constraint> = Vec::new();
        let mut terms: Vec<Term> = Vec::new();
        for value in values {
            match value {
                Value::Bool(true) => {}
                Value::Bool(false) => return Ok(Value::Bool(false)),
                Value::Law(more) => laws.extend(more),
                value => terms.push(self.truth(value, span)?),
            }
        }
        if !laws.is_empty() {
            for term in terms {
                laws.extend(conjuncts(term.formula).into_iter().map(Constraint::Intension));
            }
            return Ok(Value::Law(laws));
        }
        self.junction(terms, true, span)
    }

    /// Joins conditions by `or`.
    pub fn any(&mut self, values: Vec<Value>, span: Span) -> Evaluated {
        let mut terms = Vec::new();
        for value in values {
            match value {
                Value::Bool(false) => {}
                Value::Bool(true) => return Ok(Value::Bool(true)),
                value => terms.push(self.truth(value, span)?),
            }
        }
        self.junction(terms, false, span)
    }

    pub(crate) fn junction(&mut self, mut terms: Vec<Term>, is_and: bool, span: Span) -> Evaluated {
        match terms.len() {
            0 => Ok(Value::Bool(is_and)),
            1 => Ok(Value::Term(Box::new(terms.remove(0)))),
            _ => {
                let size = 1 + terms.iter().map(|term| term.size).sum::<usize>();
                let depth = 1 + terms.iter().map(|term| term.depth).max().unwrap_or(0);
                let mut parts = Vec::new();
                for term in terms {
                    match term.formula {
                        Formula::And(inner) if is_and => parts.extend(inner),
                        Formula::Or(inner) if !is_and => parts.extend(inner),
                        formula => parts.push(formula),
                    }
                }
                let formula = if is_and { Formula::And(parts) } else { Formula::Or(parts) };
                self.term(Term::new(formula, true, size, depth), span)
            }
        }
    }

    pub(crate) fn conditional(&mut self, branches: &[(Expr, Expr)], otherwise: &Expr) -> Evaluated {
        let Some(((condition, value), rest)) = branches.split_first() else {
            return self.eval(otherwise);
        };
        let span = condition.at.0;
        match self.eval(condition)? {
            Value::Bool(true) => self.eval(value),
            Value::Bool(false) => self.conditional(rest, otherwise),
            other => {
                let condition = self.truth(other, span)?;
                let then = self.eval(value)?;
                let otherwise = self.conditional(rest, otherwise)?;
                arithmetic::choose(self, &condition, then, otherwise, value.at.0)
            }
        }
    }
}

/// Returns the parts of a conjunction.
pub fn conjuncts(formula: Formula) -> Vec<Formula> {
    match formula {
        Formula::And(parts) => parts,
        formula => vec![formula],
    }
}
