//! Evaluates compiled expressions on ranges instead of values.

use ludex_csp::{Comparison, Operation, Value, VarId};

use super::code::{Atom, Code};
use super::{Check, Domain, Step};

/// The range of a variable, inclusive.
pub(crate) type Range = (Value, Value);

/// What is known about a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Certainty {
    Holds,
    Fails,
    Open,
}

/// The range of an expression; the flag says that it always has a value.
#[derive(Clone, Copy, Debug)]
struct Hull {
    lo: i64,
    hi: i64,
    is_total: bool,
}

impl Hull {
    const ANY: Hull = Hull { lo: i64::MIN, hi: i64::MAX, is_total: false };

    fn new(lo: i64, hi: i64) -> Self {
        Self { lo, hi, is_total: true }
    }

    fn truth(always: bool, never: bool, is_total: bool) -> Self {
        Self { lo: always.into(), hi: (!never).into(), is_total }
    }

    fn is_true(self) -> bool {
        self.lo > 0 || self.hi < 0
    }

    fn is_false(self) -> bool {
        self.lo == 0 && self.hi == 0
    }

    fn join(self, other: Hull) -> Self {
        let is_total = self.is_total && other.is_total;
        Self { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi), is_total }
    }
}

impl Code {
    fn hull(&self, ranges: &[Range]) -> Hull {
        let slot = |x: u32| {
            let (lo, hi) = ranges[x as usize];
            Hull::new(lo.into(), hi.into())
        };
        match self {
            Code::Constant(value) => Hull::new(*value, *value),
            Code::Slot(x) => slot(*x),
            Code::Test(op, x, value) => {
                compare(*op, slot(*x), Hull::new((*value).into(), (*value).into()))
            }
            Code::AllEqual(tests) => tested(tests, ranges),
            Code::Select(tests, yes, no) => {
                let atom = |atom: &Atom| match atom {
                    Atom::Constant(value) => Hull::new((*value).into(), (*value).into()),
                    Atom::Slot(x) => slot(*x),
                };
                choose(tested(tests, ranges), || atom(yes), || atom(no))
            }
            Code::Linear(terms, constant) => {
                let (mut lo, mut hi) = (*constant, *constant);
                for &(factor, x) in terms {
                    let (a, b) = ranges[x as usize];
                    let (a, b) = (factor * i64::from(a), factor * i64::from(b));
                    lo += a.min(b);
                    hi += a.max(b);
                }
                Hull::new(lo, hi)
            }
            Code::Sum(list) => list.iter().fold(Hull::new(0, 0), |sum, e| {
                let e = e.hull(ranges);
                Hull {
                    lo: sum.lo.saturating_add(e.lo),
                    hi: sum.hi.saturating_add(e.hi),
                    is_total: sum.is_total && e.is_total,
                }
            }),
            Code::Neg(e) => {
                let e = e.hull(ranges);
                Hull { lo: e.hi.saturating_neg(), hi: e.lo.saturating_neg(), ..e }
            }
            Code::Binary(op, pair) => binary(*op, pair.0.hull(ranges), pair.1.hull(ranges)),
            Code::Min(list) => extremum(list, ranges, i64::min),
            Code::Max(list) => extremum(list, ranges, i64::max),
            Code::Compare(op, pair) => compare(*op, pair.0.hull(ranges), pair.1.hull(ranges)),
            Code::Not(e) => {
                let e = e.hull(ranges);
                Hull::truth(e.is_false(), e.is_true(), e.is_total)
            }
            Code::And(list, _) => {
                let all: Vec<Hull> = list.iter().map(|e| e.hull(ranges)).collect();
                Hull::truth(
                    all.iter().all(|e| e.is_true()),
                    all.iter().any(|e| e.is_false()),
                    all.iter().all(|e| e.is_total),
                )
            }
            Code::Or(list, _) => {
                let all: Vec<Hull> = list.iter().map(|e| e.hull(ranges)).collect();
                Hull::truth(
                    all.iter().any(|e| e.is_true()),
                    all.iter().all(|e| e.is_false()),
                    all.iter().all(|e| e.is_total),
                )
            }
            Code::If(parts, _) => {
                let (c, a, b) = (parts.0.hull(ranges), parts.1.hull(ranges), parts.2.hull(ranges));
                let is_total = a.is_total && b.is_total && c.is_total;
                Hull { is_total, ..choose(c, || a, || b) }
            }
            Code::Numbers(list, index) => {
                element(list.len(), index.hull(ranges), |i| Hull::new(list[i], list[i]))
            }
            Code::Slots(list, index) => element(list.len(), index.hull(ranges), |i| slot(list[i])),
            Code::Element(list, index) => {
                let all: Vec<Hull> = list.iter().map(|e| e.hull(ranges)).collect();
                let found = element(list.len(), index.hull(ranges), |i| all[i]);
                Hull { is_total: found.is_total && all.iter().all(|e| e.is_total), ..found }
            }
            Code::Quadratic(..)
            | Code::Quotient(_)
            | Code::Abs(_)
            | Code::Same(_)
            | Code::In(..)
            | Code::Xor(_) => Hull::ANY,
        }
    }

    fn certainty(&self, ranges: &[Range]) -> Certainty {
        let hull = self.hull(ranges);
        if hull.is_false() {
            Certainty::Fails
        } else if hull.is_true() && hull.is_total {
            Certainty::Holds
        } else {
            Certainty::Open
        }
    }
}

fn tested(tests: &[(u32, Value)], ranges: &[Range]) -> Hull {
    let range = |x: u32| ranges[x as usize];
    let always = tests.iter().all(|&(x, value)| range(x) == (value, value));
    let never = tests.iter().any(|&(x, value)| value < range(x).0 || range(x).1 < value);
    Hull::truth(always, never, true)
}

fn choose(c: Hull, yes: impl FnOnce() -> Hull, no: impl FnOnce() -> Hull) -> Hull {
    if c.is_true() {
        yes()
    } else if c.is_false() {
        no()
    } else {
        yes().join(no())
    }
}

fn compare(op: Comparison, a: Hull, b: Hull) -> Hull {
    let is_total = a.is_total && b.is_total;
    let same = a.lo == a.hi && b.lo == b.hi && a.lo == b.lo;
    let apart = a.hi < b.lo || b.hi < a.lo;
    let (always, never) = match op {
        Comparison::Lt => (a.hi < b.lo, a.lo >= b.hi),
        Comparison::Le => (a.hi <= b.lo, a.lo > b.hi),
        Comparison::Eq => (same, apart),
        Comparison::Ne => (apart, same),
        Comparison::Ge => (a.lo >= b.hi, a.hi < b.lo),
        Comparison::Gt => (a.lo > b.hi, a.hi <= b.lo),
    };
    Hull::truth(always, never, is_total)
}

fn binary(op: Operation, a: Hull, b: Hull) -> Hull {
    let (lo, hi) = op.bounds((a.lo, a.hi), (b.lo, b.hi));
    let is_small = |hull: Hull| hull.lo > -(1 << 31) && hull.hi < 1 << 31;
    let is_defined = match op {
        Operation::Mul | Operation::Dist => is_small(a) && is_small(b),
        Operation::Div | Operation::Mod => b.lo > 0 || b.hi < 0,
        Operation::Pow => false,
    };
    Hull { lo, hi, is_total: is_defined && a.is_total && b.is_total }
}

fn extremum(list: &[Code], ranges: &[Range], pick: fn(i64, i64) -> i64) -> Hull {
    let hulls = list.iter().map(|e| e.hull(ranges));
    let joined = hulls.reduce(|a, b| Hull {
        lo: pick(a.lo, b.lo),
        hi: pick(a.hi, b.hi),
        is_total: a.is_total && b.is_total,
    });
    joined.unwrap_or(Hull::ANY)
}

fn element(n: usize, index: Hull, at: impl Fn(usize) -> Hull) -> Hull {
    let (lo, hi) = (index.lo.max(0), index.hi.min(n as i64 - 1));
    let is_inside = index.is_total && lo == index.lo && hi == index.hi;
    let joined = (lo..=hi).map(|i| at(i as usize)).reduce(Hull::join);
    joined.map_or(Hull::ANY, |hull| Hull { is_total: hull.is_total && is_inside, ..hull })
}

impl Step {
    /// Runs the step on ranges, and returns whether it succeeds.
    pub fn run_on_ranges(&self, ranges: &mut [Range]) -> Certainty {
        match self {
            Step::Copy { from, to, n } => {
                ranges.copy_within(*from as usize..(*from + *n) as usize, *to as usize);
                Certainty::Holds
            }
            Step::Define { to, code, domain } => {
                let hull = code.hull(ranges);
                let (least, most) = match domain {
                    Domain::Any => (Value::MIN, Value::MAX),
                    Domain::Range(lo, hi) => (*lo, *hi),
                    Domain::Set(set) => (set.min().unwrap_or(0), set.max().unwrap_or(0)),
                };
                let lo = hull.lo.max(least.into());
                let hi = hull.hi.min(most.into());
                if lo > hi {
                    return Certainty::Fails;
                }
                ranges[*to as usize] = (lo as Value, hi as Value);
                let is_inside = lo == hull.lo && hi == hull.hi && !matches!(domain, Domain::Set(_));
                if hull.is_total && is_inside { Certainty::Holds } else { Certainty::Open }
            }
            Step::Check(check) => check.certainty(ranges),
        }
    }
}

impl Check {
    /// Whether the constraint holds, as far as ranges show.
    pub fn certainty(&self, ranges: &[Range]) -> Certainty {
        let value = |x: usize| ranges[x].0;
        let is_fixed = |x: usize| ranges[x].0 == ranges[x].1;
        match self {
            Check::Code(code) => code.certainty(ranges),
            Check::Tuples(scope, tuples) => {
                if !scope.iter().all(|&x| is_fixed(x as usize)) {
                    return Certainty::Open;
                }
                let tuple: Box<[Value]> = scope.iter().map(|&x| value(x as usize)).collect();
                if tuples.contains(&tuple) { Certainty::Holds } else { Certainty::Fails }
            }
            Check::Constraint(constraint) => {
                if !constraint.scope().iter().all(|x| is_fixed(x.index())) {
                    return Certainty::Open;
                }
                let holds = constraint.holds(&|x: VarId| value(x.index()).into());
                if holds { Certainty::Holds } else { Certainty::Fails }
            }
        }
    }
}
