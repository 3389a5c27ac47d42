//! Stochastic networks as a modeler states them.

use std::thread;

use ludex_base::Deadline;
use ludex_csp::{Constraint, Expr, Named, ValueSet, VarId, Variable};
use num_bigint::BigInt;
use num_rational::BigRational;

use crate::distribution::Distribution;
use crate::error::ScspError;

/// An exact probability.
pub type Rational = BigRational;

/// The fraction `numerator / denominator`.
///
/// # Panics
/// When the denominator is zero.
pub fn rational(numerator: i64, denominator: i64) -> Rational {
    Rational::new(numerator.into(), denominator.into())
}

/// Reads `1/3`, `0.25` or `1`, exactly.
pub fn parse_probability(text: &str) -> Option<Rational> {
    let whole = |digits: &str| {
        let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        (is_number && digits.len() <= 300).then(|| digits.parse::<BigInt>().ok()).flatten()
    };
    let text = text.trim();
    if let Some((above, below)) = text.split_once('/') {
        let below = whole(below.trim()).filter(|below| *below != BigInt::ZERO)?;
        return Some(Rational::new(whole(above.trim())?, below));
    }
    match text.split_once('.') {
        Some((units, decimals)) => {
            let digits = whole(&format!("{units}{decimals}"))?;
            let scale = BigInt::from(10).pow(u32::try_from(decimals.len()).ok()?);
            Some(Rational::new(digits, scale))
        }
        None => whole(text).map(Rational::from_integer),
    }
}

/// A variable of a stochastic network.
#[derive(Clone, Debug)]
pub struct StochasticVariable {
    /// Its name and values.
    pub variable: Variable,
    /// The stage it belongs to, counted from 0.
    pub stage: usize,
    /// How it is drawn; `None` when it is decided.
    pub distribution: Option<Distribution>,
}

/// A constraint of a stochastic network.
#[derive(Clone, Debug)]
pub struct StochasticConstraint {
    /// The constraint.
    pub constraint: Constraint,
    /// How likely it has to hold by itself; `None` when it is one of those that hold together
    /// with the probability of the network.
    pub threshold: Option<Rational>,
}

/// Decision and chance variables in stages, constraints, and how likely they have to hold.
///
/// [`StochasticNetwork::stage`] opens the stages in order; in each the decisions come before
/// what is drawn. A variable is decided knowing everything declared before it.
#[derive(Clone, Debug)]
pub struct StochasticNetwork {
    variables: Vec<StochasticVariable>,
    constraints: Vec<StochasticConstraint>,
    threshold: Rational,
    utility: Option<Expr>,
    n_stages: usize,
}

impl Default for StochasticNetwork {
    fn default() -> Self {
        Self::new()
    }
}

impl StochasticNetwork {
    /// A network without variables, whose constraints have to hold surely.
    pub fn new() -> Self {
        Self {
            variables: Vec::new(),
            constraints: Vec::new(),
            threshold: rational(1, 1),
            utility: None,
            n_stages: 0,
        }
    }

    /// Opens the next stage.
    pub fn stage(&mut self) {
        self.n_stages += 1;
    }

    /// Adds a variable that is decided to the stage opened last.
    pub fn decision(&mut self, name: impl Into<String>, domain: impl Into<ValueSet>) -> VarId {
        self.add_variable(name.into(), domain.into(), None)
    }

    /// Adds a variable that is drawn to the stage opened last.
    pub fn chance(
        &mut self,
        name: impl Into<String>,
        domain: impl Into<ValueSet>,
        distribution: Distribution,
    ) -> VarId {
        self.add_variable(name.into(), domain.into(), Some(distribution))
    }

    fn add_variable(
        &mut self,
        name: String,
        domain: ValueSet,
        distribution: Option<Distribution>,
    ) -> VarId {
        self.variable_with(StochasticVariable {
            variable: Variable { name, domain, labels: None },
            stage: self.n_stages.max(1) - 1,
            distribution,
        })
    }

    /// Adds a variable as it is, with its stage.
    pub fn variable_with(&mut self, variable: StochasticVariable) -> VarId {
        self.n_stages = self.n_stages.max(variable.stage + 1);
        self.variables.push(variable);
        VarId::new(self.variables.len() - 1)
    }

    /// The expression is one of those that have to hold together.
    pub fn require(&mut self, expr: impl Into<Expr>) {
        self.add(Constraint::Intension(expr.into()));
    }

    /// The constraint is one of those that have to hold together.
    pub fn add(&mut self, constraint: Constraint) {
        self.constraints.push(StochasticConstraint { constraint, threshold: None });
    }

    /// The constraint has to hold with this probability, whether the others do or not.
    pub fn add_with_threshold(&mut self, constraint: Constraint, threshold: Rational) {
        self.constraints.push(StochasticConstraint { constraint, threshold: Some(threshold) });
    }

    /// The constraints that have no threshold of their own hold together at least this likely.
    pub fn set_threshold(&mut self, threshold: Rational) {
        self.threshold = threshold;
    }

    /// What a play is worth whose constraints hold in the end, instead of 1.
    pub fn set_utility(&mut self, utility: impl Into<Expr>) {
        self.utility = Some(utility.into());
    }

    /// Leaves a decision only these values. What is drawn stays as it is.
    ///
    /// # Panics
    /// When the variable is drawn.
    pub fn decide_among(&mut self, x: VarId, domain: impl Into<ValueSet>) {
        assert!(!self.is_chance(x), "`{}` is drawn", self.name(x));
        self.variables[x.index()].variable.domain = domain.into();
    }

    /// The variables, in the order in which they get their values.
    pub fn variables(&self) -> &[StochasticVariable] {
        &self.variables
    }

    /// A variable.
    pub fn variable(&self, x: VarId) -> &StochasticVariable {
        &self.variables[x.index()]
    }

    /// The name of a variable.
    pub fn name(&self, x: VarId) -> &str {
        &self.variables[x.index()].variable.name
    }

    /// A variable with its name, for errors.
    pub(crate) fn named(&self, x: VarId) -> Named<VarId> {
        Named { id: x, name: self.name(x).to_string() }
    }

    /// The values of a variable.
    pub fn domain(&self, x: VarId) -> &ValueSet {
        &self.variables[x.index()].variable.domain
    }

    /// Whether a variable is drawn.
    pub fn is_chance(&self, x: VarId) -> bool {
        self.variables[x.index()].distribution.is_some()
    }

    /// The variables, by number.
    pub fn ids(&self) -> impl Iterator<Item = VarId> + use<> {
        (0..self.variables.len()).map(VarId::new)
    }

    /// The constraints.
    pub fn constraints(&self) -> &[StochasticConstraint] {
        &self.constraints
    }

    /// How likely the constraints without a threshold of their own have to hold together.
    pub fn threshold(&self) -> &Rational {
        &self.threshold
    }

    /// What a play is worth whose constraints hold in the end.
    pub fn utility(&self) -> Option<&Expr> {
        self.utility.as_ref()
    }

    /// The most that a play can be worth.
    pub fn greatest_utility(&self) -> i64 {
        let Some(utility) = &self.utility else { return 1 };
        utility.bounds(&|x| self.bounds(x)).1.max(0)
    }

    /// The least and the greatest value of a variable; (0, 0) when it has none.
    pub(crate) fn bounds(&self, x: VarId) -> (i64, i64) {
        let domain = self.domain(x);
        (domain.min().unwrap_or(0).into(), domain.max().unwrap_or(0).into())
    }

    /// Whether a constraint has a threshold of its own.
    pub fn has_own_thresholds(&self) -> bool {
        self.constraints.iter().any(|constraint| constraint.threshold.is_some())
    }

    /// How many stages there are.
    pub fn n_stages(&self) -> usize {
        self.n_stages
    }

    /// The same network with fewer values of some decisions. What is drawn stays as it is.
    pub(crate) fn with_decisions(&self, domains: &[ValueSet]) -> Self {
        let mut network = self.clone();
        for (x, domain) in network.variables.iter_mut().zip(domains) {
            if x.distribution.is_none() {
                x.variable.domain = domain.clone();
            }
        }
        network
    }

    /// Some variables with all that their distributions depend on, in order, and constraints
    /// over them, with the threshold of the whole.
    ///
    /// # Panics
    /// When a constraint or a distribution mentions another variable.
    pub(crate) fn part(&self, variables: &[VarId], constraints: &[&Constraint]) -> Self {
        let to =
            |x: VarId| VarId::new(variables.binary_search(&x).expect("a variable of the part"));
        let mut part = Self::new();
        part.threshold = self.threshold.clone();
        for &x in variables {
            let mut variable = self.variable(x).clone();
            match &mut variable.distribution {
                Some(Distribution::Table { on, .. }) => on.iter_mut().for_each(|y| *y = to(*y)),
                Some(Distribution::Weighted { weight, .. }) => {
                    *weight = weight.rename(&|y| to(y).into());
                }
                _ => {}
            }
            part.variable_with(variable);
        }
        for constraint in constraints {
            part.add(constraint.renamed(&to, &|x| to(x).into()));
        }
        part
    }

    /// Calls a function whose recursion is as deep as the network has variables.
    pub(crate) fn on_deep_stack<T: Send>(&self, run: impl FnOnce() -> T + Send) -> T {
        const BYTES_A_VARIABLE: usize = 8 << 10;
        // Expressions may be deep too.
        let bytes = (16 << 20) + BYTES_A_VARIABLE * self.variables.len();
        thread::scope(|scope| {
            let thread = thread::Builder::new().stack_size(bytes).spawn_scoped(scope, run);
            let result = thread.expect("a thread can be started").join();
            result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Everything that is wrong with the network; empty when it means something.
    pub fn check(&self) -> Vec<ScspError> {
        self.check_by(&Deadline::never())
    }

    /// The same, as far as it was seen before a deadline.
    pub fn check_by(&self, deadline: &Deadline) -> Vec<ScspError> {
        crate::check::check(self, deadline)
    }
}
