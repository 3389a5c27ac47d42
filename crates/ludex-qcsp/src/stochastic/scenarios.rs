//! All scenarios at once: chance variables become constants of an ordinary network.
//!
//! Each decision is copied for every history of draws before it, each constraint for every
//! scenario, with a truth variable that says whether the policy satisfies the scenario; the
//! weights of the satisfied ones sum to the threshold. A second opinion for small networks.

use std::sync::Arc;

use ludex_base::Deadline;
use ludex_csp::propagators::table::{STAR, Table};
use ludex_csp::{
    Constraint, Expr, Network, SearchConfig, VALUE_LIMIT, Value, VarId, Verdict, all_of, solve, sum,
};
use num_bigint::BigInt;
use num_traits::{One, ToPrimitive};
use rustc_hash::FxHashMap;

use super::error::StochasticError;
use super::network::{Rational, StochasticNetwork};

/// An ordinary network that stands for all scenarios of a stochastic one.
pub struct Expansion {
    /// The network. Its objective is the total weight of satisfied scenarios.
    pub network: Network,
    /// What all scenarios weigh together.
    pub weight: Value,
    /// How many scenarios there are.
    pub n_scenarios: usize,
}

impl Expansion {
    /// The greatest satisfaction of any policy that reaches the thresholds of the constraints
    /// that have their own; `None` when there is none, or the deadline came first.
    ///
    /// # Errors
    /// When the network can't be posted.
    pub fn best(&self, deadline: &Deadline) -> Result<Option<Rational>, StochasticError> {
        let config = SearchConfig { deadline: deadline.clone(), ..SearchConfig::default() };
        let report = solve(&self.network, &config)?;
        let is_known = report.is_complete() && matches!(report.verdict(), Verdict::Yes(_));
        let value = report.value.filter(|_| is_known);
        Ok(value.map(|value| Rational::new(value.into(), self.weight.into())))
    }
}

/// At most this many scenarios are expanded.
const MAX_SCENARIOS: usize = 100_000;

/// Expands a network to all its scenarios.
///
/// # Errors
/// When it means nothing, has too many scenarios, has probabilities that depend on decisions or
/// whose common denominator is too large, or a constraint that can't be made conditional.
pub fn expand_scenarios(network: &StochasticNetwork) -> Result<Expansion, StochasticError> {
    if let Some(error) = network.check().into_iter().next() {
        return Err(error);
    }
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
    let mut scenarios = Vec::new();
    draw(network, 0, &mut vec![0; network.variables().len()], Rational::one(), &mut scenarios)?;
    let denominator =
        scenarios.iter().fold(BigInt::one(), |all, (_, p)| common_multiple(&all, p.denom()));
    let weight = denominator.to_i32().filter(|&weight| weight <= VALUE_LIMIT);
    let weight = weight
        .ok_or_else(|| refused(format!("the probabilities have denominator {denominator}")))?;

    let mut plain = Network::new();
    let mut copies: FxHashMap<(VarId, Vec<Value>), VarId> = FxHashMap::default();
    let mut satisfied: Vec<Expr> = Vec::new();
    let mut own: Vec<Vec<Expr>> = vec![Vec::new(); network.constraints().len()];
    for (s, (values, p)) in scenarios.iter().enumerate() {
        let copy: Vec<VarId> = network
            .ids()
            .map(|x| {
                let drawn_before = network.ids().take(x.index()).filter(|&y| network.is_chance(y));
                let history: Vec<Value> = drawn_before.map(|y| values[y.index()]).collect();
                match network.is_chance(x) {
                    true => {
                        let value = values[x.index()];
                        plain.int(format!("{}@{s}", network.name(x)), value..=value)
                    }
                    false => *copies.entry((x, history)).or_insert_with_key(|(_, history)| {
                        let name = format!("{}{history:?}", network.name(x));
                        plain.int(name, network.domain(x).clone())
                    }),
                }
            })
            .collect();
        let times = (p * Rational::from_integer(weight.into())).to_integer();
        let times = times.to_i32().expect("at most the whole weight");
        let joint = plain.bool(format!("satisfied@{s}"));
        satisfied.push(joint * times);
        for (i, constraint) in network.constraints().iter().enumerate() {
            let to = |x: VarId| copy[x.index()];
            let constraint_here = constraint.constraint.renamed(&to, &|x| to(x).into());
            let truth = match constraint.threshold {
                None => joint,
                Some(_) => {
                    let truth = plain.bool(format!("constraint{}@{s}", i + 1));
                    own[i].push(truth * times);
                    truth
                }
            };
            plain.add(implied(truth, constraint_here)?);
        }
    }
    for (i, weights) in own.into_iter().enumerate() {
        let Some(threshold) = &network.constraints()[i].threshold else { continue };
        let least = (threshold * Rational::from_integer(weight.into())).ceil().to_integer();
        plain.require(sum(weights).at_least(least.to_i32().expect("at most the whole weight")));
    }
    plain.maximize(sum(satisfied));
    Ok(Expansion { network: plain, weight, n_scenarios: scenarios.len() })
}

fn refused(reason: String) -> StochasticError {
    StochasticError::Option { option: "scenario expansion", reason }
}

/// The least common multiple: a fraction is reduced by the greatest common divisor.
fn common_multiple(a: &BigInt, b: &BigInt) -> BigInt {
    let reduced = Rational::new(a.clone(), b.clone());
    reduced.numer() * b
}

/// Collects what can be drawn, with its probability; decisions are left at 0.
fn draw(
    network: &StochasticNetwork,
    at: usize,
    values: &mut Vec<Value>,
    p: Rational,
    scenarios: &mut Vec<(Vec<Value>, Rational)>,
) -> Result<(), StochasticError> {
    let Some(x) = (at..network.variables().len()).map(VarId::new).find(|&x| network.is_chance(x))
    else {
        if scenarios.len() == MAX_SCENARIOS {
            return Err(refused(format!("there are more than {MAX_SCENARIOS} scenarios")));
        }
        scenarios.push((values.clone(), p));
        return Ok(());
    };
    for (value, q) in network.outcomes(x, &|y| values[y.index()]) {
        values[x.index()] = value;
        draw(network, x.index() + 1, values, &p * q, scenarios)?;
    }
    values[x.index()] = 0;
    Ok(())
}

/// The constraint, where the truth variable is 1.
fn implied(truth: VarId, constraint: Constraint) -> Result<Constraint, StochasticError> {
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
