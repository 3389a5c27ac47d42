//! Expands all scenarios: chance variables become constants of an ordinary network.
//!
//! Each decision is copied for every history of earlier draws, and each constraint for every
//! scenario, with a truth variable for whether the policy satisfies the scenario. The weights of
//! the satisfied scenarios must sum to the threshold. This is a second opinion for small networks.

use std::sync::Arc;

use ludex_base::{Deadline, StopReason};
use ludex_csp::propagators::table::{STAR, Table};
use ludex_csp::{
    Constraint, Expr, Network, Operation, SearchConfig, VALUE_LIMIT, Value, VarId, all_of, solve,
    sum,
};
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive};
use rustc_hash::FxHashMap;

use crate::error::{ScspError, Stop};
use crate::network::{Rational, StochasticConstraint, StochasticNetwork};

/// An ordinary network that represents all scenarios of a stochastic one.
pub struct Expansion {
    /// The network. Its objective is the total weight of satisfied scenarios.
    pub network: Network,
    /// The total weight of all scenarios.
    pub weight: Value,
    /// The number of scenarios.
    pub n_scenarios: usize,
}

/// The result of searching an expansion for its best policy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExpansionReport {
    /// The greatest satisfaction of any policy that reaches the thresholds of single constraints;
    /// `None` if there is none. If the search was stopped, the greatest so far.
    pub best: Option<Rational>,
    /// Number of decisions of the search.
    pub n_nodes: u64,
    /// The reason why a better policy may have been missed.
    pub stopped: Option<StopReason>,
}

impl ExpansionReport {
    /// Returns the greatest satisfaction, rounded.
    pub fn value(&self) -> Option<f64> {
        self.best.as_ref().and_then(ToPrimitive::to_f64)
    }
}

impl Expansion {
    /// Searches for the policy of greatest satisfaction.
    ///
    /// # Errors
    /// Returns an error if the network cannot be posted.
    pub fn best(&self, deadline: &Deadline) -> Result<ExpansionReport, ScspError> {
        let config = SearchConfig { deadline: deadline.clone(), ..SearchConfig::default() };
        let report = solve(&self.network, &config)?;
        let best = report.value.map(|value| Rational::new(value.into(), self.weight.into()));
        let n_nodes = report.statistics.n_nodes;
        Ok(ExpansionReport { best, n_nodes, stopped: report.stopped })
    }
}

/// The maximal number of scenarios.
const MAX_SCENARIOS: usize = 100_000;

/// Expands a network to all its scenarios within a limit of bytes; an inner `Err` names the limit
/// that was reached.
///
/// # Errors
/// Returns an error if the network is invalid, has too many scenarios, has probabilities that
/// depend on decisions or whose common denominator is too large, or has a constraint that cannot be
/// made conditional, such as an expression that may have no value.
pub fn expand_scenarios_by(
    network: &StochasticNetwork,
    max_bytes: u64,
    deadline: &Deadline,
) -> Result<Result<Expansion, StopReason>, ScspError> {
    match expand(network, max_bytes, deadline) {
        Ok(expansion) => Ok(Ok(expansion)),
        Err(Stop::Limit(reason)) => Ok(Err(reason)),
        Err(Stop::Error(error)) => Err(error),
    }
}

/// As [`expand_scenarios_by`], without limits of time and memory.
///
/// # Errors
/// As [`expand_scenarios_by`].
pub fn expand_scenarios(network: &StochasticNetwork) -> Result<Expansion, ScspError> {
    let expansion = expand_scenarios_by(network, u64::MAX, &Deadline::never())?;
    Ok(expansion.expect("there are no limits"))
}

fn expand(
    network: &StochasticNetwork,
    max_bytes: u64,
    deadline: &Deadline,
) -> Result<Expansion, Stop> {
    if let Some(error) = network.check_by(deadline).into_iter().next() {
        return Err(error.into());
    }
    check_independent(network)?;
    let mut room = Room { deadline, bytes_left: max_bytes };
    let mut scenarios = Vec::new();
    let mut values = vec![0; network.variables().len()];
    network.on_deep_stack(|| {
        draw(network, 0, &mut values, Rational::one(), &mut scenarios, &mut room)
    })?;
    let weight = whole_weight(&scenarios)?;
    let mut expander = Expander::new(network, weight);
    for (s, scenario) in scenarios.iter().enumerate() {
        room.take(expander.bytes_per_scenario)?;
        let n_before = expander.plain.variables().len();
        let copies = expander.variables(&scenario.values);
        room.take(BYTES_PER_VARIABLE * (expander.plain.variables().len() - n_before))?;
        expander.constraints(s, scenario, &copies)?;
    }
    Ok(Expansion { network: expander.finish(), weight, n_scenarios: scenarios.len() })
}

/// Checks that no draw depends on a decision, because scenarios are listed before any decision.
fn check_independent(network: &StochasticNetwork) -> Result<(), ScspError> {
    for x in network.ids() {
        let Some(distribution) = &network.variable(x).distribution else { continue };
        if let Some(&parent) = distribution.parents(x).iter().find(|&&y| !network.is_chance(y)) {
            return Err(refused(format!(
                "how `{}` is drawn depends on the decision `{}`",
                network.name(x),
                network.name(parent)
            )));
        }
    }
    Ok(())
}

/// Returns the total weight of all scenarios, scaled so that each weight is a whole number.
fn whole_weight(scenarios: &[Scenario]) -> Result<Value, ScspError> {
    let denominator = scenarios
        .iter()
        .fold(BigInt::one(), |all, scenario| common_multiple(&all, scenario.probability.denom()));
    let weight = denominator.to_i32().filter(|&weight| weight <= VALUE_LIMIT);
    weight.ok_or_else(|| refused(format!("the probabilities have denominator {denominator}")))
}

/// One combination of outcomes of all chance variables.
struct Scenario {
    /// The values by variable; those of decisions are 0.
    values: Vec<Value>,
    probability: Rational,
}

/// The ordinary network under construction.
struct Expander<'a> {
    network: &'a StochasticNetwork,
    weight: Value,
    plain: Network,
    /// The copies of variables: of a decision by the earlier draws, of a chance variable by its
    /// value.
    copies: FxHashMap<(VarId, Vec<Value>), VarId>,
    /// The weights of satisfied scenarios, and for each constraint with a threshold of its own
    /// those of scenarios that satisfy it.
    satisfied: Vec<Expr>,
    own: Vec<Vec<Expr>>,
    /// The size of the truth variables with their names, and of the constraints, which the solver
    /// copies.
    bytes_per_scenario: usize,
}

impl<'a> Expander<'a> {
    fn new(network: &'a StochasticNetwork, weight: Value) -> Self {
        let n_constraints = network.constraints().len();
        let n_mentioned = |c: &StochasticConstraint| match &c.constraint {
            Constraint::Intension(expr) => n_parts(expr),
            Constraint::Table { table, .. } => table.len() * table.arity(),
            other => other.scope().len().pow(2),
        };
        let n_mentioned: usize = network.constraints().iter().map(n_mentioned).sum();
        Self {
            network,
            weight,
            plain: Network::new(),
            copies: FxHashMap::default(),
            satisfied: Vec::new(),
            own: vec![Vec::new(); n_constraints],
            bytes_per_scenario: BYTES_PER_VARIABLE * (1 + n_constraints)
                + BYTES_PER_PART * n_mentioned,
        }
    }

    /// Returns the copy of each variable for a scenario.
    fn variables(&mut self, values: &[Value]) -> Vec<VarId> {
        let Self { network, plain, copies, .. } = self;
        let copy = |x: VarId| {
            if network.is_chance(x) {
                let value = values[x.index()];
                return *copies.entry((x, vec![value])).or_insert_with(|| {
                    plain.int(format!("{}={value}", network.name(x)), value..=value)
                });
            }
            let drawn_before = network.ids().take(x.index()).filter(|&y| network.is_chance(y));
            let history: Vec<Value> = drawn_before.map(|y| values[y.index()]).collect();
            *copies.entry((x, history)).or_insert_with_key(|(_, history)| {
                let name = format!("{}{history:?}", network.name(x));
                plain.int(name, network.domain(x).clone())
            })
        };
        network.ids().map(copy).collect()
    }

    /// Adds the constraints on the copies of a scenario, with truth variables.
    fn constraints(
        &mut self,
        s: usize,
        scenario: &Scenario,
        copies: &[VarId],
    ) -> Result<(), ScspError> {
        let Self { network, plain, satisfied, own, weight, .. } = self;
        let times = (&scenario.probability * Rational::from_integer((*weight).into())).to_integer();
        let times = times.to_i32().expect("at most the whole weight");
        let joint = plain.bool(format!("satisfied@{s}"));
        satisfied.push(joint * times);
        for (i, constraint) in network.constraints().iter().enumerate() {
            let to = |x: VarId| copies[x.index()];
            let constraint_here = constraint.constraint.renamed(&to, &|x| to(x).into());
            let truth = match constraint.threshold {
                None => joint,
                Some(_) => {
                    let truth = plain.bool(format!("constraint{}@{s}", i + 1));
                    own[i].push(truth * times);
                    truth
                }
            };
            if let Constraint::Intension(expr) = &constraint_here
                && may_lack_value(expr, plain)
            {
                let reason = "an expression may have no value, as it divides by 0 or has an index \
                              outside of its list, and can't be made conditional";
                return Err(refused(reason.into()));
            }
            plain.add(implied(truth, constraint_here)?);
        }
        Ok(())
    }

    /// Adds the thresholds and the objective.
    fn finish(self) -> Network {
        let Self { network, mut plain, satisfied, own, weight, .. } = self;
        for (constraint, weights) in network.constraints().iter().zip(own) {
            let Some(threshold) = &constraint.threshold else { continue };
            let least = (threshold * Rational::from_integer(weight.into())).ceil().to_integer();
            plain.require(sum(weights).at_least(least.to_i32().expect("at most the whole weight")));
        }
        plain.maximize(sum(satisfied));
        plain
    }
}

fn refused(reason: String) -> ScspError {
    ScspError::Option { option: "scenario expansion", reason }
}

/// Returns the least common multiple, using that a fraction is reduced by the greatest common
/// divisor.
fn common_multiple(a: &BigInt, b: &BigInt) -> BigInt {
    let reduced = Rational::new(a.clone(), b.clone());
    reduced.numer() * b
}

/// The size of a variable of the expansion, including its name and domain and its data in the
/// solver.
const BYTES_PER_VARIABLE: usize = 1000;
/// The size of a part of a constraint, in the network and in the solver.
const BYTES_PER_PART: usize = 200;

fn n_parts(expr: &Expr) -> usize {
    1 + expr.children().into_iter().map(n_parts).sum::<usize>()
}

/// The remaining time and memory.
struct Room<'a> {
    deadline: &'a Deadline,
    bytes_left: u64,
}

impl Room<'_> {
    fn take(&mut self, n_bytes: usize) -> Result<(), Stop> {
        let left = self.bytes_left.checked_sub(n_bytes as u64);
        self.bytes_left = left.ok_or(Stop::Limit(StopReason::Memory))?;
        if self.deadline.reached() { Err(Stop::Limit(StopReason::of_deadline())) } else { Ok(()) }
    }
}

/// Collects all combinations of draws with their probabilities; decisions stay 0.
fn draw(
    network: &StochasticNetwork,
    at: usize,
    values: &mut Vec<Value>,
    p: Rational,
    scenarios: &mut Vec<Scenario>,
    room: &mut Room<'_>,
) -> Result<(), Stop> {
    let Some(x) = (at..network.variables().len()).map(VarId::new).find(|&x| network.is_chance(x))
    else {
        if scenarios.len() == MAX_SCENARIOS {
            let reason = format!("there are more than {MAX_SCENARIOS} scenarios");
            return Err(refused(reason).into());
        }
        room.take(size_of_val(&values[..]) + size_of::<Scenario>() + 64)?;
        scenarios.push(Scenario { values: values.clone(), probability: p });
        return Ok(());
    };
    let outcomes = network.outcomes(x, &|y| values[y.index()]);
    // The check does not cover every row of a large distribution.
    if outcomes.is_empty() {
        return Err(network.undrawable(x, &|y| values[y.index()], None).into());
    }
    for (value, q) in outcomes {
        values[x.index()] = value;
        draw(network, x.index() + 1, values, &p * q, scenarios, room)?;
    }
    values[x.index()] = 0;
    Ok(())
}

/// Whether an expression may have no value. A condition without a value does not hold, which a
/// condition that is evaluated only in some cases cannot express.
fn may_lack_value(expr: &Expr, network: &Network) -> bool {
    let bounds = |e: &Expr| {
        e.bounds(&|x| {
            let domain = &network.variable(x).domain;
            (domain.min().unwrap_or(0).into(), domain.max().unwrap_or(0).into())
        })
    };
    let lacks = match expr {
        Expr::Binary(Operation::Div | Operation::Mod, _, divisor) => {
            let (least, most) = bounds(divisor);
            least <= 0 && 0 <= most
        }
        Expr::Binary(Operation::Pow, _, exponent) => bounds(exponent).0 < 0,
        Expr::Element(list, index) => {
            let (least, most) = bounds(index);
            least < 0 || most >= list.len() as i64
        }
        _ => false,
    };
    lacks || expr.children().into_iter().any(|part| may_lack_value(part, network))
}

/// Returns the constraint under the condition that the truth variable is 1.
fn implied(truth: VarId, constraint: Constraint) -> Result<Constraint, ScspError> {
    Ok(match constraint {
        Constraint::Intension(expr) => Constraint::Intension(Expr::from(truth).implies(expr)),
        Constraint::Table { scope, table, is_positive } => {
            let arity = scope.len() + 1;
            let rows = table.tuples().map(|tuple| [&[1], tuple].concat());
            let free = is_positive.then(|| {
                let mut row = vec![STAR; arity];
                row[0] = 0;
                row
            });
            let table = Arc::new(Table::from_tuples(arity, rows.chain(free)));
            let scope = std::iter::once(truth).chain(scope).collect();
            Constraint::Table { scope, table, is_positive }
        }
        Constraint::AllDifferent { list, except } if except.is_empty() => {
            let pairs = (0..list.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
            let differ = pairs.map(|(i, j)| list[i].clone().differs(list[j].clone()));
            Constraint::Intension(Expr::from(truth).implies(all_of(differ)))
        }
        other => return Err(refused(format!("`{}` can't be made conditional", other.name()))),
    })
}
