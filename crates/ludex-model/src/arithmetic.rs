//! Numbers, known or not: sums, products, choices and members of arrays.

use std::rc::Rc;

use ludex_base::Span;
use ludex_csp::{Comparison, Expr as Formula, Operation, ValueSet};

use crate::codes;
use crate::eval::{Evaluated, Evaluator};
use crate::indexing::Place;
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

/// The member or the part of an array at some places.
pub fn select(
    evaluator: &mut Evaluator<'_>,
    array: &Array,
    places: &[Place],
    span: Span,
) -> Evaluated {
    if places.iter().all(|place| matches!(place, Place::At(_))) {
        let at = places.iter().zip(&array.dims).fold(0, |at, (place, dim)| match place {
            Place::At(offset) => at * dim.1 + offset,
            _ => at,
        });
        let value = array.items[at].clone();
        if let Value::Term(term) = &value {
            evaluator.grow(term.size, span)?;
        }
        return Ok(value);
    }
    let has_term = places.iter().any(|place| matches!(place, Place::Term(_)));
    let has_part = places.iter().any(|place| matches!(place, Place::All | Place::Some(_)));
    if has_term && has_part {
        return evaluator.fail(
            codes::NOT_CONSTANT,
            span,
            "a part of an array can't be chosen by a variable",
        );
    }
    if has_term {
        member(evaluator, array, places, span)
    } else {
        part(evaluator, array, places, span)
    }
}

/// The part of an array at whole dimensions or sets of indices.
fn part(evaluator: &mut Evaluator<'_>, array: &Array, places: &[Place], span: Span) -> Evaluated {
    let mut offsets: Vec<Vec<usize>> = Vec::new();
    let mut dims = Vec::new();
    for (d, (place, &(first, length))) in places.iter().zip(&array.dims).enumerate() {
        offsets.push(match place {
            Place::At(offset) => vec![*offset],
            Place::Some(set) => {
                dims.push((1, set.len() as usize));
                let inside = ValueSet::from_ranges([(
                    first.clamp(i32::MIN.into(), i32::MAX.into()) as i32,
                    (first + length as i64 - 1).clamp(i32::MIN.into(), i32::MAX.into()) as i32,
                )]);
                if set.intersection(&inside).len() != set.len() {
                    let message = format!("indices outside of {}", array.range(d));
                    return evaluator.fail(codes::INDEX, span, message);
                }
                set.iter().map(|index| (i64::from(index) - first) as usize).collect()
            }
            _ => {
                dims.push((first, length));
                (0..length).collect()
            }
        });
    }
    let mut at = vec![0];
    for (offsets, dim) in offsets.iter().zip(&array.dims) {
        at = at.iter().flat_map(|base| offsets.iter().map(move |o| base * dim.1 + o)).collect();
    }
    let items = at.into_iter().map(|at| array.items[at].clone()).collect();
    Ok(Value::Array(Rc::new(Array { dims, items })))
}

/// The member of an array at places that variables decide.
fn member(evaluator: &mut Evaluator<'_>, array: &Array, places: &[Place], span: Span) -> Evaluated {
    // Fixed places cut the array down first.
    let mut dims: Vec<(i64, usize)> = Vec::new();
    let mut terms: Vec<&Term> = Vec::new();
    let mut at = vec![0];
    for (place, &(first, length)) in places.iter().zip(&array.dims) {
        match place {
            Place::At(offset) => at.iter_mut().for_each(|base| *base = *base * length + offset),
            Place::Term(term) => {
                dims.push((first, length));
                terms.push(term);
                at = at
                    .iter()
                    .flat_map(|base| (0..length).map(move |o| base * length + o))
                    .collect();
            }
            _ => unreachable!("parts are handled before"),
        }
    }
    if at.is_empty() {
        return evaluator.fail(codes::INDEX, span, "an empty array has no members");
    }
    let is_bool = at.iter().all(|&at| array.items[at].is_bool());
    let mut list: Vec<Formula> = Vec::with_capacity(at.len());
    // What members that depend on variables need to be defined, by their place.
    let mut needs: Vec<(usize, Vec<Formula>)> = Vec::new();
    let (mut members_size, mut members_depth) = (0, 1);
    for at in at {
        let (formula, size) = match &array.items[at] {
            Value::Int(number) => (Formula::Constant(*number), 1),
            item => {
                let term = number(evaluator, item.clone(), span)?;
                if !term.defined.is_empty() {
                    needs.push((list.len(), term.defined));
                }
                members_depth = members_depth.max(term.depth);
                (term.formula, term.size)
            }
        };
        members_size += size;
        list.push(formula);
    }
    // The place in the list, with each index kept inside of its dimension.
    let mut defined: Vec<Formula> = Vec::new();
    let mut parts: Vec<Formula> = Vec::new();
    let mut stride = list.len();
    let (mut size, mut depth) = (1, 1);
    for (term, &(first, length)) in terms.iter().zip(&dims) {
        stride /= length;
        size += term.size * 3 + 4;
        depth = depth.max(term.depth + 3);
        evaluator.grow(term.size * 2, span)?;
        defined.extend(term.defined.iter().cloned());
        let last = first + length as i64 - 1;
        let (low, high) = evaluator.bounds_of(&term.formula);
        let mut index = term.formula.clone();
        if high < first || low > last {
            let message =
                format!("this index is {low}..{high} and never inside of {first}..{last}");
            return evaluator.fail(codes::INDEX, span, message);
        }
        if low < first || high > last {
            let inside = |op, bound| {
                let bound = Box::new(Formula::Constant(bound));
                Formula::Compare(op, Box::new(index.clone()), bound)
            };
            let (least, most) = (inside(Comparison::Ge, first), inside(Comparison::Le, last));
            if low < first {
                defined.push(least);
                index = Formula::Max(vec![index, Formula::Constant(first)]);
            }
            if high > last {
                defined.push(most);
                index = Formula::Min(vec![index, Formula::Constant(last)]);
            }
        }
        let offset = match first {
            0 => index,
            first => Formula::Sum(vec![index, Formula::Constant(-first)]),
        };
        parts.push(match stride {
            1 => offset,
            stride => Formula::Binary(
                Operation::Mul,
                Box::new(offset),
                Box::new(Formula::Constant(stride as i64)),
            ),
        });
    }
    let place = if parts.len() == 1 { parts.remove(0) } else { Formula::Sum(parts) };
    // A member that is defined only sometimes must be so where it is chosen.
    for (i, needs) in needs {
        let elsewhere = Formula::Compare(
            Comparison::Ne,
            Box::new(place.clone()),
            Box::new(Formula::Constant(i as i64)),
        );
        let guarded = needs.into_iter().map(|need| Formula::Or(vec![elsewhere.clone(), need]));
        defined.extend(guarded);
    }
    size += members_size;
    depth = depth.max(members_depth) + 1;
    let formula = Formula::Element(list, Box::new(place));
    evaluator.grow(size, span)?;
    if is_bool {
        let truth =
            Formula::Compare(Comparison::Ne, Box::new(formula), Box::new(Formula::Constant(0)));
        return evaluator.condition(truth, defined, size, depth + 1, span);
    }
    let mut term = Term::new(formula, false, size, depth);
    term.defined = defined;
    evaluator.term(term, span)
}
