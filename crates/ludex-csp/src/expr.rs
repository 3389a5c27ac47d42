//! Expressions over variables: arithmetic, comparison and logic.
//!
//! Truth is 1 and falsehood 0. Division truncates towards zero and the remainder has the
//! sign of the dividend, as in XCSP3. An expression that divides by zero or leaves 64 bits
//! has no value, and a constraint with such an expression anywhere in it does not hold.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Rem, Sub};

use crate::domains::VarId;
use crate::{Value, ValueSet};

/// A comparison of integers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Comparison {
    /// Less than.
    Lt,
    /// At most.
    Le,
    /// Equal.
    Eq,
    /// Different.
    Ne,
    /// At least.
    Ge,
    /// Greater than.
    Gt,
}

/// Bytes that an allocation costs besides its contents.
const BYTES_ALLOCATED: usize = 16;

impl Comparison {
    /// Whether the comparison holds.
    #[inline]
    pub fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Comparison::Lt => left < right,
            Comparison::Le => left <= right,
            Comparison::Eq => left == right,
            Comparison::Ne => left != right,
            Comparison::Ge => left >= right,
            Comparison::Gt => left > right,
        }
    }

    /// Returns the comparison that holds exactly when this one does not.
    pub fn negated(self) -> Self {
        match self {
            Comparison::Lt => Comparison::Ge,
            Comparison::Le => Comparison::Gt,
            Comparison::Eq => Comparison::Ne,
            Comparison::Ne => Comparison::Eq,
            Comparison::Ge => Comparison::Lt,
            Comparison::Gt => Comparison::Le,
        }
    }

    /// Returns the comparison with its sides exchanged.
    pub fn mirrored(self) -> Self {
        match self {
            Comparison::Lt => Comparison::Gt,
            Comparison::Le => Comparison::Ge,
            Comparison::Ge => Comparison::Le,
            Comparison::Gt => Comparison::Lt,
            same => same,
        }
    }

    /// Returns the name in XCSP3.
    pub fn name(self) -> &'static str {
        match self {
            Comparison::Lt => "lt",
            Comparison::Le => "le",
            Comparison::Eq => "eq",
            Comparison::Ne => "ne",
            Comparison::Ge => "ge",
            Comparison::Gt => "gt",
        }
    }
}

/// An operation on two integers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operation {
    /// Product.
    Mul,
    /// Quotient, truncated.
    Div,
    /// Remainder, with the sign of the dividend.
    Mod,
    /// Power, with an exponent of at least 0.
    Pow,
    /// Absolute difference.
    Dist,
}

impl Operation {
    /// Returns the result, or `None` when it is undefined or overflows.
    #[inline]
    pub fn apply(self, left: i64, right: i64) -> Option<i64> {
        match self {
            Operation::Mul => left.checked_mul(right),
            Operation::Div => left.checked_div(right),
            Operation::Mod => left.checked_rem(right),
            Operation::Pow => left.checked_pow(u32::try_from(right).ok()?),
            Operation::Dist => left.checked_sub(right)?.checked_abs(),
        }
    }

    /// Returns the name in XCSP3.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Mul => "mul",
            Operation::Div => "div",
            Operation::Mod => "mod",
            Operation::Pow => "pow",
            Operation::Dist => "dist",
        }
    }
}

/// An expression.
///
/// ```
/// use ludex_csp::Network;
/// let mut network = Network::new();
/// let [x, y] = [network.int("x", 0..=9), network.int("y", 0..=9)];
/// let law = (x * 2 + y).equals(7) & x.less_than(y);
/// let value = |v| if v == x { 2 } else { 3 };
/// assert_eq!(law.eval(&value), Some(1));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    /// A number.
    Constant(i64),
    /// A variable.
    Var(VarId),
    /// A sum.
    Sum(Vec<Expr>),
    /// The opposite.
    Neg(Box<Expr>),
    /// The absolute value.
    Abs(Box<Expr>),
    /// An operation on two integers.
    Binary(Operation, Box<Expr>, Box<Expr>),
    /// The least of a list.
    Min(Vec<Expr>),
    /// The greatest of a list.
    Max(Vec<Expr>),
    /// A comparison.
    Compare(Comparison, Box<Expr>, Box<Expr>),
    /// Whether all have the same value.
    AllEqual(Vec<Expr>),
    /// Membership in a set.
    In(Box<Expr>, ValueSet),
    /// Negation.
    Not(Box<Expr>),
    /// Conjunction.
    And(Vec<Expr>),
    /// Disjunction.
    Or(Vec<Expr>),
    /// Whether an odd number of the parts is true.
    Xor(Vec<Expr>),
    /// The second if the first is true, else the third.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The term at an index of a list, counted from 0; undefined outside the list.
    Element(Vec<Expr>, Box<Expr>),
}

impl Expr {
    /// Returns the value under an assignment; `None` where it is undefined.
    pub fn eval(&self, value_of: &dyn Fn(VarId) -> i64) -> Option<i64> {
        let eval_all =
            |list: &[Expr]| list.iter().map(|e| e.eval(value_of)).collect::<Option<Vec<i64>>>();
        Some(match self {
            Expr::Constant(value) => *value,
            Expr::Var(x) => value_of(*x),
            Expr::Sum(list) => {
                list.iter().try_fold(0_i64, |sum, e| sum.checked_add(e.eval(value_of)?))?
            }
            Expr::Neg(e) => e.eval(value_of)?.checked_neg()?,
            Expr::Abs(e) => e.eval(value_of)?.checked_abs()?,
            Expr::Binary(op, a, b) => op.apply(a.eval(value_of)?, b.eval(value_of)?)?,
            Expr::Min(list) => eval_all(list)?.into_iter().min()?,
            Expr::Max(list) => eval_all(list)?.into_iter().max()?,
            Expr::Compare(op, a, b) => i64::from(op.holds(a.eval(value_of)?, b.eval(value_of)?)),
            Expr::AllEqual(list) => {
                i64::from(eval_all(list)?.windows(2).all(|pair| pair[0] == pair[1]))
            }
            Expr::In(e, set) => {
                let value = e.eval(value_of)?;
                i64::from(Value::try_from(value).is_ok_and(|value| set.contains(value)))
            }
            Expr::Not(e) => i64::from(e.eval(value_of)? == 0),
            Expr::And(list) => i64::from(eval_all(list)?.into_iter().all(|value| value != 0)),
            Expr::Or(list) => i64::from(eval_all(list)?.into_iter().any(|value| value != 0)),
            Expr::Xor(list) => {
                i64::from(eval_all(list)?.into_iter().filter(|&value| value != 0).count() % 2 == 1)
            }
            Expr::If(c, a, b) => {
                let (c, a, b) = (c.eval(value_of)?, a.eval(value_of)?, b.eval(value_of)?);
                if c != 0 { a } else { b }
            }
            Expr::Element(list, index) => {
                let place = usize::try_from(index.eval(value_of)?).ok()?;
                *eval_all(list)?.get(place)?
            }
        })
    }

    /// Whether the expression has a value other than 0 under an assignment.
    pub fn holds(&self, value_of: &dyn Fn(VarId) -> i64) -> bool {
        self.eval(value_of).is_some_and(|value| value != 0)
    }

    /// Returns bounds on the values of the expression, saturating at the ends of 64 bits.
    pub fn bounds(&self, bounds_of: &dyn Fn(VarId) -> (i64, i64)) -> (i64, i64) {
        match self {
            Expr::Constant(value) => (*value, *value),
            Expr::Var(x) => bounds_of(*x),
            Expr::Sum(list) => list.iter().fold((0, 0), |(lo, hi), e| {
                let (l, h) = e.bounds(bounds_of);
                (lo.saturating_add(l), hi.saturating_add(h))
            }),
            Expr::Neg(e) => {
                let (lo, hi) = e.bounds(bounds_of);
                (hi.saturating_neg(), lo.saturating_neg())
            }
            Expr::Abs(e) => abs_bounds(e.bounds(bounds_of)),
            Expr::Binary(op, a, b) => op.bounds(a.bounds(bounds_of), b.bounds(bounds_of)),
            Expr::Min(list) => list
                .iter()
                .map(|e| e.bounds(bounds_of))
                .reduce(|(l1, h1), (l2, h2)| (l1.min(l2), h1.min(h2)))
                .unwrap_or((0, 0)),
            Expr::Max(list) => list
                .iter()
                .map(|e| e.bounds(bounds_of))
                .reduce(|(l1, h1), (l2, h2)| (l1.max(l2), h1.max(h2)))
                .unwrap_or((0, 0)),
            Expr::If(_, a, b) => {
                let ((l1, h1), (l2, h2)) = (a.bounds(bounds_of), b.bounds(bounds_of));
                (l1.min(l2), h1.max(h2))
            }
            Expr::Element(list, _) => list
                .iter()
                .map(|e| e.bounds(bounds_of))
                .reduce(|(l1, h1), (l2, h2)| (l1.min(l2), h1.max(h2)))
                .unwrap_or((0, 0)),
            _ => (0, 1),
        }
    }

    /// Whether the expression is a truth value rather than a number.
    pub fn is_boolean(&self) -> bool {
        match self {
            Expr::Compare(..)
            | Expr::AllEqual(_)
            | Expr::In(..)
            | Expr::Not(_)
            | Expr::And(_)
            | Expr::Or(_)
            | Expr::Xor(_) => true,
            Expr::If(_, a, b) => a.is_boolean() && b.is_boolean(),
            Expr::Constant(value) => *value == 0 || *value == 1,
            _ => false,
        }
    }

    /// Returns the variables, each once, in order of first occurrence.
    pub fn scope(&self) -> Vec<VarId> {
        let mut scope = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        self.visit(&mut |x| {
            if seen.insert(x) {
                scope.push(x);
            }
        });
        scope
    }

    /// Calls `see` for every occurrence of a variable.
    pub fn visit(&self, see: &mut dyn FnMut(VarId)) {
        if let Expr::Var(x) = self {
            see(*x);
        }
        for child in self.children() {
            child.visit(see);
        }
    }

    /// Returns the direct subexpressions.
    pub fn children(&self) -> Vec<&Expr> {
        match self {
            Expr::Constant(_) | Expr::Var(_) => Vec::new(),
            Expr::Neg(e) | Expr::Abs(e) | Expr::Not(e) | Expr::In(e, _) => vec![e],
            Expr::Binary(_, a, b) | Expr::Compare(_, a, b) => vec![a, b],
            Expr::If(c, a, b) => vec![c, a, b],
            Expr::Element(list, index) => list.iter().chain([&**index]).collect(),
            Expr::Sum(list)
            | Expr::Min(list)
            | Expr::Max(list)
            | Expr::AllEqual(list)
            | Expr::And(list)
            | Expr::Or(list)
            | Expr::Xor(list) => list.iter().collect(),
        }
    }

    /// Returns an estimate of the expression's size in bytes.
    pub fn n_bytes(&self) -> u64 {
        let set = match self {
            Expr::In(_, set) => size_of_val(set.ranges()),
            _ => 0,
        };
        let own = (size_of::<Expr>() + BYTES_ALLOCATED + set) as u64;
        own + self.children().into_iter().map(Expr::n_bytes).sum::<u64>()
    }

    /// Replaces each variable by an expression.
    pub fn rename(&self, to: &dyn Fn(VarId) -> Expr) -> Expr {
        let one = |e: &Expr| Box::new(e.rename(to));
        let all = |list: &[Expr]| list.iter().map(|e| e.rename(to)).collect();
        match self {
            Expr::Constant(value) => Expr::Constant(*value),
            Expr::Var(x) => to(*x),
            Expr::Sum(list) => Expr::Sum(all(list)),
            Expr::Neg(e) => Expr::Neg(one(e)),
            Expr::Abs(e) => Expr::Abs(one(e)),
            Expr::Binary(op, a, b) => Expr::Binary(*op, one(a), one(b)),
            Expr::Min(list) => Expr::Min(all(list)),
            Expr::Max(list) => Expr::Max(all(list)),
            Expr::Compare(op, a, b) => Expr::Compare(*op, one(a), one(b)),
            Expr::AllEqual(list) => Expr::AllEqual(all(list)),
            Expr::In(e, set) => Expr::In(one(e), set.clone()),
            Expr::Not(e) => Expr::Not(one(e)),
            Expr::And(list) => Expr::And(all(list)),
            Expr::Or(list) => Expr::Or(all(list)),
            Expr::Xor(list) => Expr::Xor(all(list)),
            Expr::If(c, a, b) => Expr::If(one(c), one(a), one(b)),
            Expr::Element(list, index) => Expr::Element(all(list), one(index)),
        }
    }

    /// Returns the expression as a weighted sum of other expressions plus a constant. No term
    /// is itself a sum, and no term occurs twice.
    ///
    /// `None` when a coefficient leaves 64 bits.
    pub fn linear_form(&self) -> Option<(Vec<(i64, &Expr)>, i64)> {
        let mut terms: Vec<(i64, &Expr)> = Vec::new();
        let mut constant = 0_i64;
        let mut stack = vec![(1_i64, self)];
        while let Some((factor, e)) = stack.pop() {
            match e {
                Expr::Constant(value) => {
                    constant = constant.checked_add(factor.checked_mul(*value)?)?
                }
                Expr::Sum(list) => stack.extend(list.iter().rev().map(|e| (factor, e))),
                Expr::Neg(e) => stack.push((factor.checked_neg()?, e)),
                Expr::Binary(Operation::Mul, a, b) => match (&**a, &**b) {
                    (Expr::Constant(k), e) | (e, Expr::Constant(k)) => {
                        stack.push((factor.checked_mul(*k)?, e));
                    }
                    _ => terms.push((factor, e)),
                },
                _ => terms.push((factor, e)),
            }
        }
        if terms.len() <= 16 {
            let mut merged: Vec<(i64, &Expr)> = Vec::new();
            for (factor, e) in terms {
                match merged.iter_mut().find(|(_, other)| *other == e) {
                    Some(term) => term.0 = term.0.checked_add(factor)?,
                    None => merged.push((factor, e)),
                }
            }
            terms = merged;
        }
        terms.retain(|&(factor, _)| factor != 0);
        Some((terms, constant))
    }
}

impl Operation {
    /// Returns bounds on the result for arguments within bounds, saturating at the ends of 64
    /// bits.
    ///
    /// Arguments for which the operation is undefined are left out.
    pub fn bounds(self, (a, b): (i64, i64), (c, d): (i64, i64)) -> (i64, i64) {
        match self {
            Operation::Mul => hull([
                a.saturating_mul(c),
                a.saturating_mul(d),
                b.saturating_mul(c),
                b.saturating_mul(d),
            ]),
            Operation::Div => {
                // Extreme quotients come from the divisors nearest to and farthest from zero on
                // each side.
                let divisors = [c, d, -1, 1].into_iter().filter(|&y| y != 0 && c <= y && y <= d);
                let quotients = divisors.flat_map(|y| [a.saturating_div(y), b.saturating_div(y)]);
                quotients
                    .fold(None, |range: Option<(i64, i64)>, q| {
                        Some(range.map_or((q, q), |(lo, hi)| (lo.min(q), hi.max(q))))
                    })
                    .unwrap_or((0, 0))
            }
            Operation::Mod => {
                let most = c.saturating_abs().max(d.saturating_abs()).saturating_sub(1).max(0);
                if a == b && c == d && c != 0 {
                    let r = a.checked_rem(c).unwrap_or(0);
                    return (r, r);
                }
                let lo = if a >= 0 { 0 } else { (-most).max(a) };
                let hi = if b <= 0 { 0 } else { most.min(b) };
                (lo, hi)
            }
            Operation::Pow => {
                let power =
                    |x: i64, y: i64| x.saturating_pow(u32::try_from(y.max(0)).unwrap_or(u32::MAX));
                let (low, high) = (c.max(0), d.max(0));
                let mut ends = vec![power(a, low), power(a, high), power(b, low), power(b, high)];
                if a < 0 {
                    // The exponents `high - 1` and `high` differ in parity, so together they
                    // give powers of both signs.
                    ends.extend([power(a, (high - 1).max(low)), power(b, (high - 1).max(low))]);
                    ends.push(power(a, (low + 1).min(high)));
                }
                if a <= 0 && b >= 0 {
                    ends.extend([0, power(0, low)]);
                }
                if a < 0 && b > 0 {
                    ends.push(1);
                }
                (*ends.iter().min().expect("not empty"), *ends.iter().max().expect("not empty"))
            }
            Operation::Dist => abs_bounds((a.saturating_sub(d), b.saturating_sub(c))),
        }
    }
}

fn abs_bounds((lo, hi): (i64, i64)) -> (i64, i64) {
    if lo >= 0 {
        (lo, hi)
    } else if hi <= 0 {
        (hi.saturating_neg(), lo.saturating_neg())
    } else {
        (0, hi.max(lo.saturating_neg()))
    }
}

fn hull(values: [i64; 4]) -> (i64, i64) {
    let lo = values.iter().copied().min().expect("four values");
    (lo, values.into_iter().max().expect("four values"))
}

impl From<VarId> for Expr {
    fn from(x: VarId) -> Self {
        Expr::Var(x)
    }
}

impl From<&VarId> for Expr {
    fn from(x: &VarId) -> Self {
        Expr::Var(*x)
    }
}

impl From<Value> for Expr {
    fn from(value: Value) -> Self {
        Expr::Constant(i64::from(value))
    }
}

impl From<&Expr> for Expr {
    fn from(e: &Expr) -> Self {
        e.clone()
    }
}

fn list<T: Into<Expr>>(terms: impl IntoIterator<Item = T>) -> Vec<Expr> {
    terms.into_iter().map(Into::into).collect()
}

/// Returns the sum of the terms.
pub fn sum<T: Into<Expr>>(terms: impl IntoIterator<Item = T>) -> Expr {
    Expr::Sum(list(terms))
}

/// Returns the least of the terms.
pub fn minimum<T: Into<Expr>>(terms: impl IntoIterator<Item = T>) -> Expr {
    Expr::Min(list(terms))
}

/// Returns the greatest of the terms.
pub fn maximum<T: Into<Expr>>(terms: impl IntoIterator<Item = T>) -> Expr {
    Expr::Max(list(terms))
}

/// Returns the conjunction of the terms.
pub fn all_of<T: Into<Expr>>(terms: impl IntoIterator<Item = T>) -> Expr {
    Expr::And(list(terms))
}

/// Returns the disjunction of the terms.
pub fn any_of<T: Into<Expr>>(terms: impl IntoIterator<Item = T>) -> Expr {
    Expr::Or(list(terms))
}

/// Returns the first term where the condition is true, else the second.
pub fn if_then_else(condition: impl Into<Expr>, yes: impl Into<Expr>, no: impl Into<Expr>) -> Expr {
    Expr::If(Box::new(condition.into()), Box::new(yes.into()), Box::new(no.into()))
}

/// Returns the term at an index of a list, counted from 0.
pub fn element<T: Into<Expr>>(terms: impl IntoIterator<Item = T>, index: impl Into<Expr>) -> Expr {
    Expr::Element(list(terms), Box::new(index.into()))
}

/// Returns the absolute difference of two terms.
pub fn distance(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    Expr::Binary(Operation::Dist, Box::new(a.into()), Box::new(b.into()))
}

macro_rules! comparisons {
    ($($name:ident $op:ident $doc:literal)*) => {$(
        #[doc = $doc]
        pub fn $name(self, other: impl Into<Expr>) -> Expr {
            Expr::Compare(Comparison::$op, Box::new(self.into()), Box::new(other.into()))
        }
    )*};
}

macro_rules! terms {
    ($($kind:ty),*) => {$(
        impl $kind {
            comparisons! {
                equals Eq "This term equals the other."
                differs Ne "This term differs from the other."
                less_than Lt "This term is less than the other."
                at_most Le "This term is at most the other."
                at_least Ge "This term is at least the other."
                greater_than Gt "This term is greater than the other."
            }

            /// Returns the absolute value.
            pub fn abs(self) -> Expr {
                Expr::Abs(Box::new(self.into()))
            }

            /// Raises this term to a power.
            pub fn pow(self, exponent: impl Into<Expr>) -> Expr {
                Expr::Binary(Operation::Pow, Box::new(self.into()), Box::new(exponent.into()))
            }

            /// The value is in a set.
            pub fn is_in(self, set: impl Into<ValueSet>) -> Expr {
                Expr::In(Box::new(self.into()), set.into())
            }

            /// If this term is true, so is the other.
            pub fn implies(self, other: impl Into<Expr>) -> Expr {
                Expr::Or(vec![Expr::Not(Box::new(self.into())), other.into()])
            }

            /// Both terms are true or both are false.
            pub fn iff(self, other: impl Into<Expr>) -> Expr {
                Expr::Not(Box::new(Expr::Xor(vec![self.into(), other.into()])))
            }
        }

        impl Neg for $kind {
            type Output = Expr;
            fn neg(self) -> Expr {
                Expr::Neg(Box::new(self.into()))
            }
        }

        impl Not for $kind {
            type Output = Expr;
            fn not(self) -> Expr {
                Expr::Not(Box::new(self.into()))
            }
        }

        impl<T: Into<Expr>> Add<T> for $kind {
            type Output = Expr;
            fn add(self, other: T) -> Expr {
                Expr::Sum(vec![self.into(), other.into()])
            }
        }

        impl<T: Into<Expr>> Sub<T> for $kind {
            type Output = Expr;
            fn sub(self, other: T) -> Expr {
                Expr::Sum(vec![self.into(), Expr::Neg(Box::new(other.into()))])
            }
        }

        impl<T: Into<Expr>> Mul<T> for $kind {
            type Output = Expr;
            fn mul(self, other: T) -> Expr {
                Expr::Binary(Operation::Mul, Box::new(self.into()), Box::new(other.into()))
            }
        }

        impl<T: Into<Expr>> Div<T> for $kind {
            type Output = Expr;
            fn div(self, other: T) -> Expr {
                Expr::Binary(Operation::Div, Box::new(self.into()), Box::new(other.into()))
            }
        }

        impl<T: Into<Expr>> Rem<T> for $kind {
            type Output = Expr;
            fn rem(self, other: T) -> Expr {
                Expr::Binary(Operation::Mod, Box::new(self.into()), Box::new(other.into()))
            }
        }

        impl<T: Into<Expr>> BitAnd<T> for $kind {
            type Output = Expr;
            fn bitand(self, other: T) -> Expr {
                Expr::And(vec![self.into(), other.into()])
            }
        }

        impl<T: Into<Expr>> BitOr<T> for $kind {
            type Output = Expr;
            fn bitor(self, other: T) -> Expr {
                Expr::Or(vec![self.into(), other.into()])
            }
        }
    )*};
}

terms!(VarId, Expr);

impl Mul<VarId> for Value {
    type Output = Expr;
    fn mul(self, x: VarId) -> Expr {
        Expr::from(self) * x
    }
}

impl Mul<Expr> for Value {
    type Output = Expr;
    fn mul(self, e: Expr) -> Expr {
        Expr::from(self) * e
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_operations_hold_every_result_and_are_met_by_products() {
        let operations =
            [Operation::Mul, Operation::Div, Operation::Mod, Operation::Pow, Operation::Dist];
        for op in operations {
            for a in -4..=4_i64 {
                for b in a..=4 {
                    for c in -4..=4_i64 {
                        for d in c..=4 {
                            let (lo, hi) = op.bounds((a, b), (c, d));
                            for x in a..=b {
                                for y in c..=d {
                                    if let Some(value) = op.apply(x, y) {
                                        assert!(
                                            lo <= value && value <= hi,
                                            "{op:?} {x} {y} = {value} not in {lo}..{hi}"
                                        );
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        assert_eq!(Operation::Mul.bounds((-3, 2), (-5, 4)), (-12, 15));
        assert_eq!(Operation::Div.bounds((7, 20), (-2, 3)), (-20, 20));
    }

    #[test]
    fn division_follows_xcsp3() {
        assert_eq!(Operation::Div.apply(-7, 2), Some(-3));
        assert_eq!(Operation::Mod.apply(-7, 2), Some(-1));
        assert_eq!(Operation::Div.apply(1, 0), None);
    }

    #[test]
    fn linear_forms_merge_equal_terms() {
        let x = VarId::new(0);
        let y = VarId::new(1);
        let e = (x + y) * 3 - (x * 3) + 5 - y;
        let (terms, constant) = e.linear_form().unwrap();
        assert_eq!((terms, constant), (vec![(2, &Expr::Var(y))], 5));
    }
}
