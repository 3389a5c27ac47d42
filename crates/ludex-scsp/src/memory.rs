//! A memory of the values of subproblems.
//!
//! The value of the rest of a play depends on the earlier values only through some numbers: those
//! of the largest expressions over them in later constraints, later weights and the utility. A
//! remaining stock, for instance, is one number, however it came about.

use ludex_csp::{Constraint, Expr, Value, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::distribution::Distribution;
use crate::network::{StochasticConstraint, StochasticNetwork};

/// The maximal number of steps spent on finding the numbers.
const MAX_STEPS: usize = 5_000_000;
/// After this many lookups, a memory that answers fewer than one in 64 is switched off.
const N_TRIAL_LOOKUPS: u64 = 8192;

/// The rest of a play: the variable it begins with, and the numbers that decide its value.
pub(crate) type Rest = (usize, Box<[i64]>);

/// A memory of values by rest of play.
pub(crate) struct Memory<T> {
    /// The numbers that decide the rest from each variable on; `None` if nothing is remembered
    /// there.
    numbers: Vec<Option<Vec<Part>>>,
    known: FxHashMap<Rest, T>,
    n_bytes: usize,
    max_bytes: usize,
    n_asked: u64,
    n_answered: u64,
}

/// The time at which constraints are checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    /// As soon as their variables have values, so every play that continues satisfies them.
    Soon,
    /// At the end of a play, joint constraints all at once.
    Together,
    /// At the end of a play, each constraint by itself.
    AtTheEnd,
}

/// A number that decides the rest of a play.
enum Part {
    /// The value of an expression over earlier variables.
    Value(Expr),
    /// Whether constraints over earlier variables hold.
    Truth(Vec<Constraint>),
}

impl<T> Memory<T> {
    /// Creates an empty memory of at most `max_bytes` bytes.
    pub fn new(
        network: &StochasticNetwork,
        wants_utility: bool,
        asked: Asked,
        max_bytes: usize,
    ) -> Self {
        Self {
            numbers: numbers(network, wants_utility, asked).unwrap_or_default(),
            known: FxHashMap::default(),
            n_bytes: 0,
            max_bytes,
            n_asked: 0,
            n_answered: 0,
        }
    }

    /// Whether the memory is in use.
    pub fn is_on(&self) -> bool {
        !self.numbers.is_empty()
    }

    /// Forgets everything and remembers nothing from now on.
    pub fn switch_off(&mut self) {
        self.numbers = Vec::new();
        self.known = FxHashMap::default();
        self.n_bytes = 0;
    }

    /// Returns the rest that begins with a variable, or `None` if it cannot be remembered.
    pub fn rest(&self, at: usize, values: &[Value]) -> Option<Rest> {
        let numbers = self.numbers.get(at)?.as_ref()?;
        let value_of = |x: VarId| i64::from(values[x.index()]);
        let number = |number: &Part| match number {
            Part::Value(expr) => expr.eval(&value_of),
            Part::Truth(all) => Some(i64::from(all.iter().all(|c| c.holds(&value_of)))),
        };
        Some((at, numbers.iter().map(number).collect::<Option<_>>()?))
    }

    /// Returns what is known of a rest.
    pub fn get(&mut self, rest: &Rest) -> Option<&T> {
        if self.n_asked >= N_TRIAL_LOOKUPS && self.n_answered < self.n_asked / 64 {
            self.switch_off();
        }
        self.n_asked += 1;
        let known = self.known.get(rest);
        self.n_answered += u64::from(known.is_some());
        known
    }

    /// Stores what is known of a rest, which takes `n_bytes`; `n_others` bytes are in use besides
    /// the memory.
    pub fn put(&mut self, rest: Rest, known: T, n_bytes: usize, n_others: usize) {
        const BYTES_PER_REST: usize = 64;
        if !self.is_on() {
            return;
        }
        self.n_bytes += BYTES_PER_REST + size_of::<T>() + 8 * rest.1.len() + n_bytes;
        if self.n_bytes + n_others > self.max_bytes {
            return self.switch_off();
        }
        self.known.insert(rest, known);
    }
}

/// Returns the numbers that decide the rest from each variable on, or `None` if finding them takes
/// too long.
fn numbers(
    network: &StochasticNetwork,
    wants_utility: bool,
    asked: Asked,
) -> Option<Vec<Option<Vec<Part>>>> {
    let utility = network.utility().filter(|_| wants_utility);
    let places: Vec<usize> = (1..network.variables().len())
        .filter(|&at| network.is_chance(VarId::new(at)) || network.is_chance(VarId::new(at - 1)))
        .collect();
    let size_of_constraint = |c: &StochasticConstraint| match &c.constraint {
        Constraint::Intension(expr) => steps(expr).1,
        other => 1 + other.scope().len(),
    };
    let sizes = network.constraints().iter().map(size_of_constraint).sum::<usize>()
        + utility.map_or(0, |utility| steps(utility).1)
        + network.variables().len();
    if sizes.saturating_mul(places.len()) > MAX_STEPS {
        return None;
    }
    let mut numbers: Vec<Option<Vec<Part>>> = network.variables().iter().map(|_| None).collect();
    for at in places {
        let mut found = Found { at, seen: FxHashSet::default(), numbers: Vec::new() };
        let mut joint = Vec::new();
        for constraint in network.constraints() {
            let scope = constraint.constraint.scope();
            if scope.iter().all(|x| x.index() < at) {
                match (asked, &constraint.threshold) {
                    (Asked::Soon, _) => {}
                    (Asked::Together, None) => joint.push(constraint.constraint.clone()),
                    _ => {
                        found.numbers.push(Part::Truth(vec![constraint.constraint.clone()]));
                    }
                }
                continue;
            }
            match &constraint.constraint {
                Constraint::Intension(expr) => found.within(expr),
                _ => found.variables(&scope),
            }
        }
        if !joint.is_empty() {
            found.numbers.push(Part::Truth(joint));
        }
        for x in network.ids().skip(at) {
            match &network.variable(x).distribution {
                Some(Distribution::Weighted { weight, .. }) => found.within(weight),
                Some(Distribution::Table { on, .. }) => found.variables(on),
                _ => {}
            }
        }
        utility.into_iter().for_each(|utility| found.within(utility));
        numbers[at] = Some(found.numbers);
    }
    Some(numbers)
}

/// Returns the size of an expression, and the sum of the sizes of all its subexpressions.
fn steps(expr: &Expr) -> (usize, usize) {
    let parts = expr.children().into_iter().map(steps);
    let (n_parts, n_steps) = parts.fold((1, 0_usize), |(n_parts, n_steps), part| {
        (n_parts + part.0, n_steps.saturating_add(part.1))
    });
    (n_parts, n_steps.saturating_add(n_parts))
}

/// Collects the numbers that decide the rest from a place on.
struct Found {
    at: usize,
    seen: FxHashSet<Expr>,
    numbers: Vec<Part>,
}

impl Found {
    fn variables(&mut self, scope: &[VarId]) {
        for &x in scope {
            if x.index() < self.at {
                self.number(Expr::Var(x));
            }
        }
    }

    fn number(&mut self, expr: Expr) {
        if self.seen.insert(expr.clone()) {
            self.numbers.push(Part::Value(expr));
        }
    }

    /// Collects the largest subexpressions over earlier variables.
    fn within(&mut self, expr: &Expr) {
        if self.is_before(expr) {
            if !matches!(expr, Expr::Constant(_)) {
                self.number(expr.clone());
            }
            return;
        }
        let together = |parts: Vec<Expr>| match expr {
            Expr::Sum(_) => Some(Expr::Sum(parts)),
            Expr::Min(_) => Some(Expr::Min(parts)),
            Expr::Max(_) => Some(Expr::Max(parts)),
            Expr::And(_) => Some(Expr::And(parts)),
            Expr::Or(_) => Some(Expr::Or(parts)),
            Expr::Xor(_) => Some(Expr::Xor(parts)),
            _ => None,
        };
        let (before, open): (Vec<&Expr>, Vec<&Expr>) =
            expr.children().into_iter().partition(|part| self.is_before(part));
        open.into_iter().for_each(|part| self.within(part));
        let is_known = |part: &&Expr| matches!(part, Expr::Constant(_));
        if before.iter().all(is_known) {
            return;
        }
        match together(before.iter().map(|&part| part.clone()).collect()) {
            Some(part) => self.number(part),
            None => before.into_iter().for_each(|part| self.within(part)),
        }
    }

    fn is_before(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Constant(_) => true,
            Expr::Var(x) => x.index() < self.at,
            _ => expr.children().into_iter().all(|part| self.is_before(part)),
        }
    }
}
