//! Numbers, known or not: sums, products and choices.

use std::rc::Rc;

use ludex_base::Span;
use ludex_csp::{Comparison, Expr as Formula, Operation};

use crate::codes;
use crate::eval::{Evaluated, Evaluator};
use crate::value::{Array, Term, Value};

/// A value as a number; truth counts as 1 and falsehood as 0.
pub fn as_number(value: Value) -> Result<Term, Value> {
    match value {
        Value::Int(number) => Ok(Term::new(Formula::Constant(number), false, 1, 1)),
        Value::Bool(truth) => Ok(Term::new(Formula::Constant(i64::from(truth)), false, 1, 1)),
        Value::Term(mut term) => {
            term.is_bool = false;
            Ok(*term)
        }
        other => Err(other),
    }
}

/// A value as a number, or a mistake.
pub fn number(evaluator: &mut Evaluator<'_>, value: Value, span: Span) -> Evaluated<Term> {
    as_number(value).or_else(|other| {
        let message = format!("expected a number, found {}", other.kind());
        evaluator.fail(codes::TYPE, span, message)
    })
}

/// A number from what it is made of.
fn made(
    evaluator: &mut Evaluator<'_>,
    parts: Vec<Term>,
    make: impl FnOnce(Vec<Formula>) -> Formula,
    span: Span,
) -> Evaluated {
    let size = 1 + parts.iter().map(|part| part.size).sum::<usize>();
    let depth = 1 + parts.iter().map(|part| part.depth).max().unwrap_or(0);
    let mut defined = Vec::new();
    let mut formulas = Vec::new();
    for part in parts {
        defined.extend(part.defined);
        formulas.push(part.formula);
    }
    let mut term = Term::new(make(formulas), false, size, depth);
    term.defined = defined;
    evaluator.term(term, span)
}

fn overflow<T>(evaluator: &mut Evaluator<'_>, span: Span) -> Evaluated<T> {
    evaluator.fail(codes::ARITHMETIC, span, "this number does not fit in 64 bits")
}

/// The opposite.
pub fn negate(evaluator: &mut Evaluator<'_>, value: Value, span: Span) -> Evaluated {
    let term = number(evaluator, value, span)?;
    match term.formula {
        Formula::Constant(number) => match number.checked_neg() {
            Some(number) => Ok(Value::Int(number)),
            None => overflow(evaluator, span),
        },
        _ => made(evaluator, vec![term], |mut parts| Formula::Neg(Box::new(parts.remove(0))), span),
    }
}

/// The sum.
pub fn add(evaluator: &mut Evaluator<'_>, values: Vec<Value>, span: Span) -> Evaluated {
    let mut constant = 0_i64;
    let mut parts = Vec::new();
    for value in values {
        let term = number(evaluator, value, span)?;
        match term.formula {
            Formula::Constant(number) => match constant.checked_add(number) {
                Some(sum) => constant = sum,
                None => return overflow(evaluator, span),
            },
            _ => parts.push(term),
        }
    }
    if parts.is_empty() {
        return Ok(Value::Int(constant));
    }
    if constant != 0 {
        parts.push(Term::new(Formula::Constant(constant), false, 1, 1));
    }
    if parts.len() == 1 {
        return Ok(Value::Term(Box::new(parts.remove(0))));
    }
    let flatten = |parts: Vec<Formula>| {
        let flat = parts.into_iter().flat_map(|part| match part {
            Formula::Sum(inner) => inner,
            part => vec![part],
        });
        Formula::Sum(flat.collect())
    };
    made(evaluator, parts, flatten, span)
}

/// A product, quotient, remainder, power or distance.
pub fn operate(
    evaluator: &mut Evaluator<'_>,
    op: Operation,
    a: Value,
    b: Value,
    span: Span,
) -> Evaluated {
    let (a, mut b) = (number(evaluator, a, span)?, number(evaluator, b, span)?);
    match (op, &a.formula, &b.formula) {
        (_, Formula::Constant(x), Formula::Constant(y)) => {
            return match op.apply(*x, *y) {
                Some(number) => Ok(Value::Int(number)),
                None if *y == 0 && matches!(op, Operation::Div | Operation::Mod) => {
                    evaluator.fail(codes::ARITHMETIC, span, "division by zero")
                }
                None => overflow(evaluator, span),
            };
        }
        (Operation::Div | Operation::Mod, _, Formula::Constant(0)) => {
            return evaluator.fail(codes::ARITHMETIC, span, "division by zero");
        }
        (Operation::Mul, _, Formula::Constant(1)) | (Operation::Div, _, Formula::Constant(1)) => {
            return Ok(Value::Term(Box::new(a)));
        }
        (Operation::Mul, Formula::Constant(1), _) => return Ok(Value::Term(Box::new(b))),
        (Operation::Mul, Formula::Constant(0), _) if b.defined.is_empty() => {
            return Ok(Value::Int(0));
        }
        (Operation::Mul, _, Formula::Constant(0)) if a.defined.is_empty() => {
            return Ok(Value::Int(0));
        }
        _ => {}
    }
    if matches!(op, Operation::Div | Operation::Mod) {
        let (low, high) = evaluator.bounds_of(&b.formula);
        if low <= 0 && high >= 0 {
            let is_zero = |op| {
                Formula::Compare(op, Box::new(b.formula.clone()), Box::new(Formula::Constant(0)))
            };
            let (zero, other) = (is_zero(Comparison::Eq), is_zero(Comparison::Ne));
            b.size = b.size * 3 + 6;
            b.depth += 2;
            b.defined.push(other);
            let one = Box::new(Formula::Constant(1));
            b.formula = Formula::If(Box::new(zero), one, Box::new(b.formula));
        }
    }
    let binary = |mut parts: Vec<Formula>| {
        let right = parts.pop().expect("two parts");
        let left = parts.pop().expect("two parts");
        Formula::Binary(op, Box::new(left), Box::new(right))
    };
    made(evaluator, vec![a, b], binary, span)
}

/// The absolute value.
pub fn absolute(evaluator: &mut Evaluator<'_>, value: Value, span: Span) -> Evaluated {
    let term = number(evaluator, value, span)?;
    match term.formula {
        Formula::Constant(number) => match number.checked_abs() {
            Some(number) => Ok(Value::Int(number)),
            None => overflow(evaluator, span),
        },
        _ => made(evaluator, vec![term], |mut parts| Formula::Abs(Box::new(parts.remove(0))), span),
    }
}

/// The least or the greatest of some numbers.
pub fn extreme(
    evaluator: &mut Evaluator<'_>,
    values: Vec<Value>,
    is_least: bool,
    span: Span,
) -> Evaluated {
    let pick = |a: i64, b: i64| if is_least { a.min(b) } else { a.max(b) };
    let mut known: Option<i64> = None;
    let mut parts = Vec::new();
    for value in values {
        let term = number(evaluator, value, span)?;
        match term.formula {
            Formula::Constant(number) => {
                known = Some(known.map_or(number, |known| pick(known, number)));
            }
            _ => parts.push(term),
        }
    }
    match (known, parts.len()) {
        (None, 0) => {
            let word = if is_least { "least" } else { "greatest" };
            evaluator.fail(codes::ARITHMETIC, span, format!("an empty list has no {word} member"))
        }
        (Some(known), 0) => Ok(Value::Int(known)),
        (None, 1) => Ok(Value::Term(Box::new(parts.remove(0)))),
        _ => {
            parts.extend(known.map(|known| Term::new(Formula::Constant(known), false, 1, 1)));
            made(evaluator, parts, if is_least { Formula::Min } else { Formula::Max }, span)
        }
    }
}

/// One of two values, by a condition on variables.
pub fn choose(
    evaluator: &mut Evaluator<'_>,
    condition: &Term,
    then: Value,
    otherwise: Value,
    span: Span,
) -> Evaluated {
    match (then, otherwise) {
        (Value::Bool(true), Value::Bool(false)) => {
            evaluator.grow(condition.size, span)?;
            Ok(Value::Term(Box::new(condition.clone())))
        }
        (Value::Bool(a), Value::Bool(b)) if a == b => Ok(Value::Bool(a)),
        (Value::Int(a), Value::Int(b)) if a == b => Ok(Value::Int(a)),
        (Value::Set(_), _) | (_, Value::Set(_)) => evaluator.fail_with_help(
            codes::NOT_CONSTANT,
            span,
            "a set can't depend on variables",
            "write the membership in both branches",
        ),
        (Value::Array(a), Value::Array(b)) => {
            if a.dims != b.dims {
                return evaluator.fail(
                    codes::TYPE,
                    span,
                    "the branches are arrays of different shapes",
                );
            }
            let mut items = Vec::new();
            for (x, y) in a.items.iter().zip(&b.items) {
                items.push(choose(evaluator, condition, x.clone(), y.clone(), span)?);
            }
            Ok(Value::Array(Rc::new(Array { dims: a.dims.clone(), items })))
        }
        (then, otherwise) if then.is_bool() && otherwise.is_bool() => {
            let (a, b) = (evaluator.truth(then, span)?, evaluator.truth(otherwise, span)?);
            let size = condition.size + a.size + b.size + 1;
            let depth = condition.depth.max(a.depth).max(b.depth) + 1;
            evaluator.grow(condition.size, span)?;
            let formula = either(condition, a.formula, b.formula);
            evaluator.term(Term::new(formula, true, size, depth), span)
        }
        (then, otherwise) => {
            let (a, b) = (number(evaluator, then, span)?, number(evaluator, otherwise, span)?);
            let size = condition.size + a.size + b.size + 1;
            let depth = condition.depth.max(a.depth).max(b.depth) + 1;
            evaluator.grow(condition.size, span)?;
            let mut term = Term::new(either(condition, a.formula, b.formula), false, size, depth);
            // What a branch needs, it needs only where it is taken.
            let denied = Formula::Not(Box::new(condition.formula.clone()));
            let guard = |guard: &Formula, needs: Vec<Formula>| -> Vec<Formula> {
                needs.into_iter().map(|need| Formula::Or(vec![guard.clone(), need])).collect()
            };
            term.defined = guard(&denied, a.defined);
            term.defined.extend(guard(&condition.formula, b.defined));
            evaluator.term(term, span)
        }
    }
}

fn either(condition: &Term, a: Formula, b: Formula) -> Formula {
    Formula::If(Box::new(condition.formula.clone()), Box::new(a), Box::new(b))
}
