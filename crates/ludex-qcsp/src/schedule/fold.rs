//! Simplifies expressions in which some variables are known.

use ludex_csp::{Comparison, Expr, Operation, Value, VarId};

/// The least and the greatest value of each variable.
pub(crate) type Bounds<'a> = &'a dyn Fn(VarId) -> (i64, i64);

/// Whether the expression has a value for all values of its variables.
pub(crate) fn is_total(e: &Expr, bounds: Bounds<'_>) -> bool {
    // A thousand million numbers this small can be added without overflowing 64 bits.
    const SAFE: i64 = 1 << 31;
    let is_safe = |e: &Expr| {
        let (lo, hi) = e.bounds(bounds);
        -SAFE <= lo && hi <= SAFE
    };
    let is_here = match e {
        Expr::Binary(Operation::Mul | Operation::Dist, a, b) => is_safe(a) && is_safe(b),
        Expr::Binary(Operation::Div | Operation::Mod, a, b) => {
            let (lo, hi) = b.bounds(bounds);
            (lo > 0 || hi < 0) && is_safe(a)
        }
        Expr::Binary(Operation::Pow, ..) => false,
        Expr::Sum(list) => list.iter().all(is_safe),
        Expr::Neg(e) | Expr::Abs(e) => is_safe(e),
        Expr::Min(list) | Expr::Max(list) => !list.is_empty(),
        Expr::Element(list, index) => {
            let (lo, hi) = index.bounds(bounds);
            0 <= lo && hi < list.len() as i64
        }
        _ => true,
    };
    is_here && e.children().into_iter().all(|child| is_total(child, bounds))
}

/// Replaces the known variables and simplifies. The result has the same value, or none, for all
/// values of the other variables.
pub(crate) fn fold(e: &Expr, known: &dyn Fn(VarId) -> Option<Value>, bounds: Bounds<'_>) -> Expr {
    let one = |e: &Expr| fold(e, known, bounds);
    let all = |list: &[Expr]| list.iter().map(one).collect::<Vec<Expr>>();
    let total = |e: &Expr| is_total(e, bounds);
    let folded = match e {
        Expr::Constant(_) => return e.clone(),
        Expr::Var(x) => return known(*x).map_or_else(|| e.clone(), Expr::from),
        Expr::Sum(list) => sum(all(list)),
        Expr::Neg(e) => Expr::Neg(Box::new(one(e))),
        Expr::Abs(e) => Expr::Abs(Box::new(one(e))),
        Expr::Binary(op, a, b) => Expr::Binary(*op, Box::new(one(a)), Box::new(one(b))),
        Expr::Min(list) => Expr::Min(all(list)),
        Expr::Max(list) => Expr::Max(all(list)),
        Expr::Compare(op, a, b) => compare(*op, one(a), one(b), bounds),
        Expr::AllEqual(list) => Expr::AllEqual(all(list)),
        Expr::In(e, set) => Expr::In(Box::new(one(e)), set.clone()),
        Expr::Not(e) => match one(e) {
            Expr::Compare(op, a, b) => Expr::Compare(op.negated(), a, b),
            e => Expr::Not(Box::new(e)),
        },
        Expr::And(list) => junction(all(list), true, &total),
        Expr::Or(list) => junction(all(list), false, &total),
        Expr::Xor(list) => Expr::Xor(all(list)),
        Expr::If(c, a, b) => match (one(c), one(a), one(b)) {
            (Expr::Constant(0), a, b) if total(&a) => return b,
            (Expr::Constant(c), a, b) if c != 0 && total(&b) => return a,
            (_, a, b) if a == b && total(c) => return a,
            (c, a, b) => Expr::If(Box::new(c), Box::new(a), Box::new(b)),
        },
        Expr::Element(list, index) => {
            let (list, index) = (all(list), one(index));
            if let Expr::Constant(place) = index
                && let Some(e) = usize::try_from(place).ok().and_then(|place| list.get(place))
                && list.iter().all(&total)
            {
                return e.clone();
            }
            Expr::Element(list, Box::new(index))
        }
    };
    // A constant expression without a value stays as it is.
    if !matches!(folded, Expr::Var(_))
        && folded.children().iter().all(|child| matches!(child, Expr::Constant(_)))
        && let Some(value) = folded.eval(&|_| 0)
    {
        return Expr::Constant(value);
    }
    folded
}

fn sum(list: Vec<Expr>) -> Expr {
    let mut constant = 0_i64;
    let mut rest = Vec::new();
    for e in list {
        match e {
            Expr::Constant(value) if constant.checked_add(value).is_some() => constant += value,
            e => rest.push(e),
        }
    }
    if constant != 0 || rest.is_empty() {
        rest.push(Expr::Constant(constant));
    }
    if rest.len() == 1 { rest.pop().expect("it has one") } else { Expr::Sum(rest) }
}

fn compare(op: Comparison, a: Expr, b: Expr, bounds: Bounds<'_>) -> Expr {
    let ((a_lo, a_hi), (b_lo, b_hi)) = (a.bounds(bounds), b.bounds(bounds));
    if is_total(&a, bounds) && is_total(&b, bounds) {
        let (always, never) = match op {
            Comparison::Lt => (a_hi < b_lo, a_lo >= b_hi),
            Comparison::Le => (a_hi <= b_lo, a_lo > b_hi),
            Comparison::Eq => (a == b, a_hi < b_lo || b_hi < a_lo),
            Comparison::Ne => (a_hi < b_lo || b_hi < a_lo, a == b),
            Comparison::Ge => (a_lo >= b_hi, a_hi < b_lo),
            Comparison::Gt => (a_lo > b_hi, a_hi <= b_lo),
        };
        if always || never {
            return Expr::Constant(always.into());
        }
        // x + k = c becomes x = c - k, which is a test of one variable.
        if let (Expr::Sum(list), Expr::Constant(c)) = (&a, &b)
            && let [e, Expr::Constant(k)] = &list[..]
            && let Some(c) = c.checked_sub(*k)
        {
            return Expr::Compare(op, Box::new(e.clone()), Box::new(Expr::Constant(c)));
        }
    }
    Expr::Compare(op, Box::new(a), Box::new(b))
}

/// Simplifies a conjunction or a disjunction by removing neutral members.
fn junction(list: Vec<Expr>, is_and: bool, total: &dyn Fn(&Expr) -> bool) -> Expr {
    let is_neutral = |e: &Expr| matches!(e, Expr::Constant(value) if (*value != 0) == is_and);
    let decides = |e: &Expr| matches!(e, Expr::Constant(value) if (*value != 0) != is_and);
    if list.iter().any(decides) && list.iter().all(total) {
        return Expr::Constant(i64::from(!is_and));
    }
    let mut rest: Vec<Expr> = Vec::new();
    for e in list.into_iter().filter(|e| !is_neutral(e)) {
        match e {
            Expr::And(inner) if is_and => rest.extend(inner),
            Expr::Or(inner) if !is_and => rest.extend(inner),
            e => rest.push(e),
        }
    }
    match rest.len() {
        0 => Expr::Constant(i64::from(is_and)),
        1 if rest[0].is_boolean() => rest.pop().expect("it has one"),
        _ if is_and => Expr::And(rest),
        _ => Expr::Or(rest),
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::{Rng, Seed};
    use ludex_csp::{element, if_then_else, maximum, minimum};

    use super::*;

    fn number(rng: &mut Rng, depth: usize) -> Expr {
        if depth == 0 {
            return match rng.below(4) {
                0 => Expr::from(rng.below(5) as Value - 2),
                _ => Expr::Var(VarId::new(rng.below(3))),
            };
        }
        let (a, b) = (number(rng, depth - 1), number(rng, depth - 1));
        match rng.below(11) {
            0 => a + b,
            1 => a - b,
            2 => a * b,
            3 => a / b,
            4 => a % b,
            5 => minimum([a, b]),
            6 => maximum([a.abs(), b]),
            7 => if_then_else(truth(rng, depth - 1), a, b),
            8 => element([a, b.clone(), 1.into()], b),
            9 => a + 2,
            _ => truth(rng, depth - 1),
        }
    }

    fn truth(rng: &mut Rng, depth: usize) -> Expr {
        let (a, b) = (number(rng, depth), number(rng, depth));
        if depth == 0 {
            return a.at_most(b);
        }
        let (p, q) = (truth(rng, depth - 1), truth(rng, depth - 1));
        match rng.below(9) {
            0 => a.equals(b),
            1 => a.differs(b),
            2 => p & q,
            3 => p | q,
            4 => !p,
            5 => p.iff(q),
            6 => a.is_in([0, 2, 3]),
            7 => Expr::And(vec![p, q, a]),
            _ => Expr::AllEqual(vec![a, b, q]),
        }
    }

    #[test]
    fn folded_and_compiled_expressions_mean_the_same() {
        let bounds = |_: VarId| (-2, 3);
        for seed in 0..3000 {
            let mut rng = Seed(seed).rng();
            let e = number(&mut rng, 1 + seed as usize % 4);
            let known = rng.below(4);
            let value = rng.below(6) as Value - 2;
            let folded = fold(&e, &|x| (x.index() == known).then_some(value), &bounds);
            let code = crate::schedule::code::compile(&folded, &bounds);
            for at in 0..216_i32 {
                let mut values = [at % 6 - 2, at / 6 % 6 - 2, at / 36 - 2];
                if known < 3 {
                    values[known] = value;
                }
                let value_of = |x: VarId| i64::from(values[x.index()]);
                let expected = e.eval(&value_of);
                assert_eq!(folded.eval(&value_of), expected, "{e:?} became {folded:?}");
                assert_eq!(code.eval(&values), expected, "{folded:?} became {code:?}");
            }
        }
    }
}
