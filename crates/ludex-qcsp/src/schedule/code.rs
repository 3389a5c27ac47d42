//! Expressions compiled for evaluation on an array of values.
//!
//! Each common shape (a variable compared with a number, conjunctions of those, a choice between
//! two variables, a list of numbers) is one instruction. Logic stops at the first deciding member
//! if the others always have a value.

use ludex_csp::{Comparison, Expr, Operation, Value, ValueSet};

use super::fold::{Bounds, is_total};

/// A compiled expression.
#[derive(Clone, Debug)]
pub(crate) enum Code {
    Constant(i64),
    Slot(u32),
    /// Compares a variable with a number.
    Test(Comparison, u32, Value),
    /// Whether all of these variables have these values.
    AllEqual(Box<[(u32, Value)]>),
    /// One expression if all of these variables have these values, else another.
    Select(Box<[(u32, Value)]>, Atom, Atom),
    Sum(Box<[Code]>),
    /// A sum of products of numbers and variables, and a constant.
    Linear(Box<[(i64, u32)]>, i64),
    /// A sum of products of a number and two variables, and a linear rest.
    Quadratic(Box<[(i64, u32, u32)]>, Box<[(i64, u32)]>, i64),
    /// The negated quotient of a division without remainder.
    Quotient(Box<(Code, Code)>),
    Neg(Box<Code>),
    Abs(Box<Code>),
    Binary(Operation, Box<(Code, Code)>),
    Min(Box<[Code]>),
    Max(Box<[Code]>),
    Compare(Comparison, Box<(Code, Code)>),
    Same(Box<[Code]>),
    In(Box<Code>, ValueSet),
    Not(Box<Code>),
    /// Conjunction; the flag allows it to stop early.
    And(Box<[Code]>, bool),
    /// Disjunction; the flag allows it to stop early.
    Or(Box<[Code]>, bool),
    Xor(Box<[Code]>),
    /// Choice; the flag allows one side to stay unevaluated.
    If(Box<(Code, Code, Code)>, bool),
    Numbers(Box<[i64]>, Box<Code>),
    Slots(Box<[u32]>, Box<Code>),
    Element(Box<[Code]>, Box<Code>),
}

/// A number or a variable.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Atom {
    Constant(Value),
    Slot(u32),
}

impl Atom {
    #[inline]
    fn get(self, values: &[Value]) -> i64 {
        i64::from(match self {
            Atom::Constant(value) => value,
            Atom::Slot(x) => values[x as usize],
        })
    }
}

#[inline]
fn all_equal(tests: &[(u32, Value)], values: &[Value]) -> bool {
    tests.iter().all(|&(x, value)| values[x as usize] == value)
}

impl Code {
    /// Returns the value, if there is one.
    pub fn eval(&self, values: &[Value]) -> Option<i64> {
        Some(match self {
            Code::Constant(value) => *value,
            Code::Slot(x) => values[*x as usize].into(),
            Code::Test(op, x, value) => {
                op.holds(values[*x as usize].into(), (*value).into()).into()
            }
            Code::AllEqual(tests) => all_equal(tests, values).into(),
            Code::Select(tests, yes, no) => {
                (if all_equal(tests, values) { *yes } else { *no }).get(values)
            }
            Code::Linear(terms, constant) => terms
                .iter()
                .fold(*constant, |sum, &(factor, x)| sum + factor * i64::from(values[x as usize])),
            Code::Quadratic(products, terms, constant) => {
                let at = |x: u32| i64::from(values[x as usize]);
                let mut sum = *constant;
                for &(factor, x, y) in products {
                    sum += factor * at(x) * at(y);
                }
                for &(factor, x) in terms {
                    sum += factor * at(x);
                }
                sum
            }
            Code::Quotient(pair) => {
                let (dividend, divisor) = (pair.0.eval(values)?, pair.1.eval(values)?);
                // Dividing 32 bits takes half the time, and most numbers fit.
                if let (Ok(a), Ok(b)) = (i32::try_from(dividend), i32::try_from(divisor))
                    && a != i32::MIN
                {
                    if a.checked_rem(b)? != 0 {
                        return None;
                    }
                    -i64::from(a / b)
                } else {
                    if dividend.checked_rem(divisor)? != 0 {
                        return None;
                    }
                    dividend.checked_div(divisor)?.checked_neg()?
                }
            }
            Code::Sum(list) => {
                list.iter().try_fold(0_i64, |sum, e| sum.checked_add(e.eval(values)?))?
            }
            Code::Neg(e) => e.eval(values)?.checked_neg()?,
            Code::Abs(e) => e.eval(values)?.checked_abs()?,
            Code::Binary(op, pair) => op.apply(pair.0.eval(values)?, pair.1.eval(values)?)?,
            Code::Min(list) => extremum(list, values, i64::min)?,
            Code::Max(list) => extremum(list, values, i64::max)?,
            Code::Compare(op, pair) => op.holds(pair.0.eval(values)?, pair.1.eval(values)?).into(),
            Code::Same(list) => {
                let all: Option<Vec<i64>> = list.iter().map(|e| e.eval(values)).collect();
                all?.windows(2).all(|pair| pair[0] == pair[1]).into()
            }
            Code::In(e, set) => {
                let value = e.eval(values)?;
                Value::try_from(value).is_ok_and(|value| set.contains(value)).into()
            }
            Code::Not(e) => (e.eval(values)? == 0).into(),
            Code::And(list, is_lazy) => {
                let mut is_true = true;
                for e in list {
                    is_true &= e.eval(values)? != 0;
                    if *is_lazy && !is_true {
                        return Some(0);
                    }
                }
                is_true.into()
            }
            Code::Or(list, is_lazy) => {
                let mut is_true = false;
                for e in list {
                    is_true |= e.eval(values)? != 0;
                    if *is_lazy && is_true {
                        return Some(1);
                    }
                }
                is_true.into()
            }
            Code::Xor(list) => {
                let mut is_odd = false;
                for e in list {
                    is_odd ^= e.eval(values)? != 0;
                }
                is_odd.into()
            }
            Code::If(parts, is_lazy) => {
                let (c, a, b) = &**parts;
                let is_true = c.eval(values)? != 0;
                if *is_lazy {
                    return if is_true { a.eval(values) } else { b.eval(values) };
                }
                let (a, b) = (a.eval(values)?, b.eval(values)?);
                if is_true { a } else { b }
            }
            Code::Numbers(list, index) => *list.get(place(index, values)?)?,
            Code::Slots(list, index) => values[*list.get(place(index, values)?)? as usize].into(),
            Code::Element(list, index) => {
                let place = place(index, values)?;
                let mut found = None;
                for (i, e) in list.iter().enumerate() {
                    let value = e.eval(values)?;
                    if i == place {
                        found = Some(value);
                    }
                }
                found?
            }
        })
    }

    /// Whether there is a value and it is not 0.
    #[inline]
    pub fn holds(&self, values: &[Value]) -> bool {
        match self {
            Code::Test(op, x, value) => op.holds(values[*x as usize].into(), (*value).into()),
            code => code.eval(values).is_some_and(|value| value != 0),
        }
    }
}

fn place(index: &Code, values: &[Value]) -> Option<usize> {
    usize::try_from(index.eval(values)?).ok()
}

fn extremum(list: &[Code], values: &[Value], pick: fn(i64, i64) -> i64) -> Option<i64> {
    let mut best = None;
    for e in list {
        let value = e.eval(values)?;
        best = Some(best.map_or(value, |best| pick(best, value)));
    }
    best
}

/// Compiles an expression; variables become places of the array.
pub(crate) fn compile(e: &Expr, bounds: Bounds<'_>) -> Code {
    let one = |e: &Expr| compile(e, bounds);
    let all = |list: &[Expr]| list.iter().map(one).collect::<Box<[Code]>>();
    let are_total = |list: &[Expr]| list.iter().all(|e| is_total(e, bounds));
    if let Some(tests) = tests_of(e) {
        return match tests[..] {
            [(x, value)] => Code::Test(Comparison::Eq, x, value),
            _ => Code::AllEqual(tests.into()),
        };
    }
    match e {
        Expr::Constant(value) => Code::Constant(*value),
        Expr::Var(x) => Code::Slot(x.index() as u32),
        Expr::Sum(_) | Expr::Neg(_) | Expr::Binary(Operation::Mul, ..) if is_total(e, bounds) => {
            linear(e).or_else(|| quadratic(e, bounds)).unwrap_or_else(|| arithmetic(e, bounds))
        }
        Expr::Sum(_) | Expr::Neg(_) | Expr::Binary(..) => arithmetic(e, bounds),
        Expr::Abs(e) => Code::Abs(Box::new(one(e))),
        Expr::Min(list) => Code::Min(all(list)),
        Expr::Max(list) => Code::Max(all(list)),
        Expr::Compare(op, a, b) => match (&**a, &**b) {
            (Expr::Var(x), Expr::Constant(c)) if Value::try_from(*c).is_ok() => {
                Code::Test(*op, x.index() as u32, *c as Value)
            }
            (Expr::Constant(c), Expr::Var(x)) if Value::try_from(*c).is_ok() => {
                Code::Test(op.mirrored(), x.index() as u32, *c as Value)
            }
            (a, b) => Code::Compare(*op, Box::new((one(a), one(b)))),
        },
        Expr::AllEqual(list) => Code::Same(all(list)),
        Expr::In(e, set) => Code::In(Box::new(one(e)), set.clone()),
        Expr::Not(e) => Code::Not(Box::new(one(e))),
        Expr::And(list) => Code::And(all(list), are_total(list)),
        Expr::Or(list) => Code::Or(all(list), are_total(list)),
        Expr::Xor(list) => Code::Xor(all(list)),
        Expr::If(c, a, b) => match (tests_of(c), atom(a), atom(b)) {
            (Some(tests), Some(a), Some(b)) => Code::Select(tests.into(), a, b),
            _ => {
                let is_lazy = is_total(a, bounds) && is_total(b, bounds);
                Code::If(Box::new((one(c), one(a), one(b))), is_lazy)
            }
        },
        Expr::Element(list, index) if exact_quotient(list, index).is_some() => {
            let (dividend, divisor) = exact_quotient(list, index).expect("it is one");
            Code::Quotient(Box::new((one(dividend), one(divisor))))
        }
        Expr::Element(list, index) => {
            let index = Box::new(one(index));
            let numbers = list.iter().map(|e| match e {
                Expr::Constant(value) => Some(*value),
                _ => None,
            });
            let slots = list.iter().map(|e| match e {
                Expr::Var(x) => Some(x.index() as u32),
                _ => None,
            });
            if let Some(numbers) = numbers.collect::<Option<_>>() {
                Code::Numbers(numbers, index)
            } else if let Some(slots) = slots.collect::<Option<_>>() {
                Code::Slots(slots, index)
            } else {
                Code::Element(all(list), index)
            }
        }
    }
}

fn arithmetic(e: &Expr, bounds: Bounds<'_>) -> Code {
    let one = |e: &Expr| compile(e, bounds);
    match e {
        Expr::Sum(list) => Code::Sum(list.iter().map(one).collect()),
        Expr::Neg(e) => Code::Neg(Box::new(one(e))),
        Expr::Binary(op, a, b) => Code::Binary(*op, Box::new((one(a), one(b)))),
        e => unreachable!("{e:?} is no arithmetic"),
    }
}

/// Returns a weighted sum of variables if the expression has that form.
fn linear(e: &Expr) -> Option<Code> {
    let (terms, constant) = e.linear_form()?;
    let terms = terms.into_iter().map(|(factor, e)| match e {
        Expr::Var(x) if factor.abs() < 1 << 20 => Some((factor, x.index() as u32)),
        _ => None,
    });
    let terms: Box<[(i64, u32)]> = terms.collect::<Option<_>>()?;
    (terms.len() < 1 << 8 && constant.abs() < 1 << 60).then_some(Code::Linear(terms, constant))
}

/// Returns a sum of products of two variables if the expression has that form.
fn quadratic(e: &Expr, bounds: Bounds<'_>) -> Option<Code> {
    let (terms, constant) = e.linear_form()?;
    let (mut products, mut rest) = (Vec::new(), Vec::new());
    for (factor, e) in terms {
        let (lo, hi) = (Expr::Constant(factor) * e.clone()).bounds(bounds);
        // This many of them can be added without overflowing 64 bits.
        if lo < -(1 << 54) || hi > 1 << 54 {
            return None;
        }
        match e {
            Expr::Var(x) => rest.push((factor, x.index() as u32)),
            Expr::Binary(Operation::Mul, a, b) => match (&**a, &**b) {
                (Expr::Var(x), Expr::Var(y)) => {
                    products.push((factor, x.index() as u32, y.index() as u32));
                }
                _ => return None,
            },
            _ => return None,
        }
    }
    let is_short = products.len() + rest.len() < 1 << 7 && constant.abs() < 1 << 60;
    is_short.then(|| Code::Quadratic(products.into(), rest.into(), constant))
}

/// Returns dividend and divisor of `[-(a / b)][|a % b|]`, which has a value if `b` divides `a`.
fn exact_quotient<'e>(list: &'e [Expr], index: &'e Expr) -> Option<(&'e Expr, &'e Expr)> {
    let [Expr::Neg(quotient)] = list else { return None };
    let Expr::Binary(Operation::Div, a, b) = &**quotient else { return None };
    let Expr::Abs(remainder) = index else { return None };
    let Expr::Binary(Operation::Mod, c, d) = &**remainder else { return None };
    (a == c && b == d).then_some((a, b))
}

/// Returns the tests of a conjunction of equalities between variables and numbers.
fn tests_of(e: &Expr) -> Option<Vec<(u32, Value)>> {
    match e {
        Expr::Compare(Comparison::Eq, a, b) => match (&**a, &**b) {
            (Expr::Var(x), Expr::Constant(c)) | (Expr::Constant(c), Expr::Var(x)) => {
                Some(vec![(x.index() as u32, Value::try_from(*c).ok()?)])
            }
            _ => None,
        },
        Expr::And(list) if !list.is_empty() => {
            let tests: Option<Vec<_>> = list.iter().map(tests_of).collect();
            Some(tests?.into_iter().flatten().collect())
        }
        _ => None,
    }
}

fn atom(e: &Expr) -> Option<Atom> {
    match e {
        Expr::Constant(value) => Some(Atom::Constant(Value::try_from(*value).ok()?)),
        Expr::Var(x) => Some(Atom::Slot(x.index() as u32)),
        _ => None,
    }
}
