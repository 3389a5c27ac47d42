//! Members and parts of arrays.

use std::rc::Rc;

use ludex_base::Span;
use ludex_csp::{Comparison, Expr as Formula, Operation, ValueSet};

use crate::arithmetic::number;
use crate::codes;
use crate::eval::{Evaluated, Evaluator};
use crate::indexing::Place;
use crate::value::{Array, Term, Value};

/// Returns the member or the part of an array at the given indices.
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

/// Returns the part of an array at whole dimensions or sets of indices.
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

/// Returns the member of an array at indices that depend on variables.
fn member(evaluator: &mut Evaluator<'_>, array: &Array, places: &[Place], span: Span) -> Evaluated {
    let cut = Cut::new(array, places);
    if cut.at.is_empty() {
        return evaluator.fail(codes::INDEX, span, "an empty array has no members");
    }
    let is_bool = cut.at.iter().all(|&at| array.items[at].is_bool());
    let members = members(evaluator, array, &cut.at, span)?;
    let Term { formula: place, mut defined, size, depth, .. } =
        place_in_list(evaluator, &cut, span)?;
    // A member that is not always defined must be defined where it is chosen.
    for (i, needs) in members.needs {
        let elsewhere = Formula::Compare(
            Comparison::Ne,
            Box::new(place.clone()),
            Box::new(Formula::Constant(i as i64)),
        );
        let guarded = needs.into_iter().map(|need| Formula::Or(vec![elsewhere.clone(), need]));
        defined.extend(guarded);
    }
    let size = size + members.size;
    let depth = depth.max(members.depth) + 1;
    let formula = Formula::Element(members.list, Box::new(place));
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

/// The part of an array that is left after its constant indices are applied.
struct Cut<'a> {
    /// The dimensions whose indices depend on variables, each with its index.
    open: Vec<((i64, usize), &'a Term)>,
    /// The remaining members, the last dimension running fastest.
    at: Vec<usize>,
}

impl<'a> Cut<'a> {
    fn new(array: &Array, places: &'a [Place]) -> Self {
        let mut open = Vec::new();
        let mut at = vec![0];
        for (place, &(first, length)) in places.iter().zip(&array.dims) {
            match place {
                Place::At(offset) => at.iter_mut().for_each(|base| *base = *base * length + offset),
                Place::Term(term) => {
                    open.push(((first, length), term));
                    at = at
                        .iter()
                        .flat_map(|base| (0..length).map(move |o| base * length + o))
                        .collect();
                }
                _ => unreachable!("parts are handled before"),
            }
        }
        Self { open, at }
    }
}

/// Members of an array as numbers.
struct Members {
    list: Vec<Formula>,
    /// By position: the conditions under which a member is defined.
    needs: Vec<(usize, Vec<Formula>)>,
    size: usize,
    depth: usize,
}

fn members(
    evaluator: &mut Evaluator<'_>,
    array: &Array,
    at: &[usize],
    span: Span,
) -> Evaluated<Members> {
    let list = Vec::with_capacity(at.len());
    let mut members = Members { list, needs: Vec::new(), size: 0, depth: 1 };
    for &at in at {
        let (formula, size) = match &array.items[at] {
            Value::Int(number) => (Formula::Constant(*number), 1),
            item => {
                let term = number(evaluator, item.clone(), span)?;
                if !term.defined.is_empty() {
                    members.needs.push((members.list.len(), term.defined));
                }
                members.depth = members.depth.max(term.depth);
                (term.formula, term.size)
            }
        };
        members.size += size;
        members.list.push(formula);
    }
    Ok(members)
}

/// Returns the position in the list of the remaining members.
fn place_in_list(evaluator: &mut Evaluator<'_>, cut: &Cut<'_>, span: Span) -> Evaluated<Term> {
    let mut defined: Vec<Formula> = Vec::new();
    let mut parts: Vec<Formula> = Vec::new();
    let mut stride = cut.at.len();
    let (mut size, mut depth) = (1, 1);
    for &((first, length), term) in &cut.open {
        stride /= length;
        size += term.size * 3 + 4;
        depth = depth.max(term.depth + 3);
        evaluator.grow(term.size * 2, span)?;
        defined.extend(term.defined.iter().cloned());
        let last = first + length as i64 - 1;
        let index = kept_inside(evaluator, term, (first, last), &mut defined, span)?;
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
    let mut term = Term::new(place, false, size, depth);
    term.defined = defined;
    Ok(term)
}

/// Returns an index clamped to its dimension. The conditions of the member get one more: that
/// the index was inside without clamping.
fn kept_inside(
    evaluator: &mut Evaluator<'_>,
    term: &Term,
    (first, last): (i64, i64),
    defined: &mut Vec<Formula>,
    span: Span,
) -> Evaluated<Formula> {
    let (low, high) = evaluator.bounds_of(&term.formula);
    if high < first || low > last {
        let message = format!("this index is {low}..{high} and never inside of {first}..{last}");
        return evaluator.fail(codes::INDEX, span, message);
    }
    let mut index = term.formula.clone();
    let compared = |op, bound| {
        let bound = Box::new(Formula::Constant(bound));
        Formula::Compare(op, Box::new(term.formula.clone()), bound)
    };
    if low < first {
        defined.push(compared(Comparison::Ge, first));
        index = Formula::Max(vec![index, Formula::Constant(first)]);
    }
    if high > last {
        defined.push(compared(Comparison::Le, last));
        index = Formula::Min(vec![index, Formula::Constant(last)]);
    }
    Ok(index)
}
