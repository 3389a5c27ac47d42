//! Stochastic networks and the builder for them.

use std::thread;

use ludex_base::Deadline;
use ludex_csp::{Constraint, Expr, Named, ValueSet, VarId, Variable};
use num_bigint::BigInt;
use num_rational::BigRational;

use crate::distribution::Distribution;
use crate::error::ScspError;

/// An exact probability.
pub type Rational = BigRational;

/// Returns the fraction `numerator / denominator`.
///
/// # Panics
/// Panics if the denominator is zero.
pub fn rational(numerator: i64, denominator: i64) -> Rational {
    Rational::new(numerator.into(), denominator.into())
}

/// Parses `1/3`, `0.25` or `1` exactly.
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
    /// Its distribution if it is a chance variable; `None` if it is a decision.
    pub distribution: Option<Distribution>,
}

/// A constraint of a stochastic network.
#[derive(Clone, Debug)]
pub struct StochasticConstraint {
    /// The constraint.
    pub constraint: Constraint,
    /// The probability with which it must hold by itself; `None` if it is one of the joint
    /// constraints, which must hold together with the probability of the network.
    pub threshold: Option<Rational>,
}

/// Decisions and chance variables in stages, constraints, and the probabilities with which they
/// must hold.
///
/// [`StochasticNetwork::stage`] opens the stages in order; in each the decisions come before the
/// chance variables. A decision is made with knowledge of everything declared before it.
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
    /// Creates a network without variables whose constraints must hold with probability 1.
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

    /// Adds a decision to the stage opened last.
    pub fn decision(&mut self, name: impl Into<String>, domain: impl Into<ValueSet>) -> VarId {
        self.add_variable(name.into(), domain.into(), None)
    }

    /// Adds a chance variable to the stage opened last.
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

    /// Adds a complete variable, including its stage.
    pub fn variable_with(&mut self, variable: StochasticVariable) -> VarId {
        self.n_stages = self.n_stages.max(variable.stage + 1);
        self.variables.push(variable);
        VarId::new(self.variables.len() - 1)
    }

    /// Adds an expression to the joint constraints.
    pub fn require(&mut self, expr: impl Into<Expr>) {
        self.add(Constraint::Intension(expr.into()));
    }

    /// Adds a constraint to the joint constraints.
    pub fn add(&mut self, constraint: Constraint) {
        self.constraints.push(StochasticConstraint { constraint, threshold: None });
    }

    /// Adds a constraint that must hold with this probability, whether the others do or not.
    pub fn add_with_threshold(&mut self, constraint: Constraint, threshold: Rational) {
        self.constraints.push(StochasticConstraint { constraint, threshold: Some(threshold) });
    }

    /// Sets the probability with which the joint constraints must hold together.
    pub fn set_threshold(&mut self, threshold: Rational) {
        self.threshold = threshold;
    }

    /// Sets the value of a play whose constraints hold in the end, instead of 1.
    pub fn set_utility(&mut self, utility: impl Into<Expr>) {
        self.utility = Some(utility.into());
    }

    /// Restricts a decision to these values.
    ///
    /// # Panics
    /// Panics if it is a chance variable.
    pub fn decide_among(&mut self, x: VarId, domain: impl Into<ValueSet>) {
        assert!(!self.is_chance(x), "`{}` is drawn", self.name(x));
        self.variables[x.index()].variable.domain = domain.into();
    }

    /// Returns the variables in the order in which they get their values.
    pub fn variables(&self) -> &[StochasticVariable] {
        &self.variables
    }

    /// Returns a variable.
    pub fn variable(&self, x: VarId) -> &StochasticVariable {
        &self.variables[x.index()]
    }

    /// Returns the name of a variable.
    pub fn name(&self, x: VarId) -> &str {
        &self.variables[x.index()].variable.name
    }

    /// Returns a variable with its name, for errors.
    pub(crate) fn named(&self, x: VarId) -> Named<VarId> {
        Named { id: x, name: self.name(x).to_string() }
    }

    /// Returns the values of a variable.
    pub fn domain(&self, x: VarId) -> &ValueSet {
        &self.variables[x.index()].variable.domain
    }

    /// Whether it is a chance variable.
    pub fn is_chance(&self, x: VarId) -> bool {
        self.variables[x.index()].distribution.is_some()
    }

    /// Returns the ids of the variables in order.
    pub fn ids(&self) -> impl Iterator<Item = VarId> + use<> {
        (0..self.variables.len()).map(VarId::new)
    }

    /// Returns the constraints.
    pub fn constraints(&self) -> &[StochasticConstraint] {
        &self.constraints
    }

    /// Returns the probability with which the joint constraints must hold together.
    pub fn threshold(&self) -> &Rational {
        &self.threshold
    }

    /// Returns the value of a play whose constraints hold in the end, if it is not 1.
    pub fn utility(&self) -> Option<&Expr> {
        self.utility.as_ref()
    }

    /// Returns the greatest possible value of a play.
    pub fn greatest_utility(&self) -> i64 {
        let Some(utility) = &self.utility else { return 1 };
        utility.bounds(&|x| self.bounds(x)).1.max(0)
    }

    /// Returns the least and the greatest value of a variable, or (0, 0) if it has none.
    pub(crate) fn bounds(&self, x: VarId) -> (i64, i64) {
        let domain = self.domain(x);
        (domain.min().unwrap_or(0).into(), domain.max().unwrap_or(0).into())
    }

    /// Whether some constraint has a threshold of its own.
    pub fn has_own_thresholds(&self) -> bool {
        self.constraints.iter().any(|constraint| constraint.threshold.is_some())
    }

    /// Returns the number of stages.
    pub fn n_stages(&self) -> usize {
        self.n_stages
    }

    /// Returns the same network with the given domains for decisions. Chance variables keep theirs.
    pub(crate) fn with_decisions(&self, domains: &[ValueSet]) -> Self {
        let mut network = self.clone();
        for (x, domain) in network.variables.iter_mut().zip(domains) {
            if x.distribution.is_none() {
                x.variable.domain = domain.clone();
            }
        }
        network
    }

    /// Returns the subnetwork of some variables and constraints over them, with the threshold of
    /// the whole network. The variables must be in order and include all that their distributions
    /// depend on.
    ///
    /// # Panics
    /// Panics if a constraint or a distribution mentions another variable.
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

    /// Calls a function whose recursion depth is the number of variables.
    pub(crate) fn on_deep_stack<T: Send>(&self, run: impl FnOnce() -> T + Send) -> T {
        const BYTES_PER_VARIABLE: usize = 8 << 10;
        // Expressions may also be deep.
        let bytes = (16 << 20) + BYTES_PER_VARIABLE * self.variables.len();
        thread::scope(|scope| {
            let thread = thread::Builder::new().stack_size(bytes).spawn_scoped(scope, run);
            let result = thread.expect("a thread can be started").join();
            result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Returns all errors of the network; empty if it is valid.
    pub fn check(&self) -> Vec<ScspError> {
        self.check_by(&Deadline::never())
    }

    /// As [`StochasticNetwork::check`], with the errors found before the deadline.
    pub fn check_by(&self, deadline: &Deadline) -> Vec<ScspError> {
        crate::check::check(self, deadline)
    }
}
