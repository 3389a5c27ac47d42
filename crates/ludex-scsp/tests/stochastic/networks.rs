//! Networks for the tests, and their values by listing all policies.

use ludex_csp::propagators::table::Table;
use ludex_csp::{Constraint, Value, VarId};
use ludex_scsp::*;
use ludex_testkit::property::{Choices, built};
use proptest::strategy::Strategy;
use rustc_hash::FxHashMap;

pub fn config(method: Method, aim: Aim, arithmetic: Arithmetic) -> SolveConfig {
    SolveConfig { method, aim, arithmetic, ..SolveConfig::default() }
}

pub fn exact(method: Method, aim: Aim) -> SolveConfig {
    config(method, aim, Arithmetic::Exact)
}

/// A network of two stages whose second decision repeats the first.
pub fn two_stages(only: Option<Value>) -> StochasticNetwork {
    let mut network = StochasticNetwork::new();
    network.stage();
    let first = only.map_or(0..=2, |value| value..=value);
    let xd1 = network.decision("xd1", first);
    let xs1 = network.chance("xs1", 0..=2, Distribution::Uniform);
    network.stage();
    let xd2 = network.decision("xd2", 0..=2);
    let xs2 = network.chance("xs2", 0..=2, Distribution::Uniform);
    network.require(xd1.equals(xd2));
    network.require((xd1 + xs1).greater_than(1));
    network.require((xd2 + xs2).greater_than(1));
    network.set_threshold(rational(1, 3));
    network
}

pub fn random_distribution(
    network: &StochasticNetwork,
    choices: &mut Choices,
    variables: &[VarId],
    last: Value,
) -> Distribution {
    let weights = |choices: &mut Choices| {
        // Now and then one value is much likelier than the others.
        let of_first = if choices.below(3) == 0 { 40 } else { choices.below(4) as i64 };
        let others = (0..last).map(|_| choices.below(4) as i64);
        let shares: Vec<i64> = std::iter::once(of_first).chain(others).collect();
        let total: i64 = shares.iter().sum();
        let shares = if total == 0 { vec![1; shares.len()] } else { shares };
        let total: i64 = shares.iter().sum();
        (0..=last).zip(shares).map(|(value, share)| (value, rational(share, total))).collect()
    };
    // The first variable depends on nothing.
    match choices.below(if variables.is_empty() { 2 } else { 5 }) {
        0 => Distribution::Uniform,
        1 => Distribution::Weights(weights(choices)),
        2 => {
            let parent = *choices.choose(variables).unwrap();
            let x = VarId::new(network.variables().len());
            // Zero is always possible.
            Distribution::uniform_where(x.at_most(parent))
        }
        3 => {
            let x = VarId::new(network.variables().len());
            let parent = *choices.choose(variables).unwrap();
            Distribution::Weighted { weight: (x + 1) * (parent + 1), total: None }
        }
        _ => {
            let on = vec![*choices.choose(variables).unwrap()];
            let rows: FxHashMap<Vec<Value>, _> =
                network.domain(on[0]).iter().map(|value| (vec![value], weights(choices))).collect();
            Distribution::Table { on, rows }
        }
    }
}

/// Networks of two or three stages whose chance variables may depend on earlier ones.
pub fn networks() -> impl Strategy<Value = StochasticNetwork> {
    built(300, network)
}

fn network(choices: &mut Choices) -> StochasticNetwork {
    let mut network = StochasticNetwork::new();
    let n_stages = 2 + choices.below(2);
    let mut variables: Vec<VarId> = Vec::new();
    for stage in 0..n_stages {
        network.stage();
        // The first variable may be a chance variable.
        let is_drawn_first = stage == 0 && choices.below(2) == 0;
        let n_decisions = if is_drawn_first { 0 } else { 1 + usize::from(choices.below(3) == 0) };
        for k in 0..n_decisions {
            let last = choices.below(3) as Value;
            variables.push(network.decision(format!("d{stage}{k}"), 0..=last));
        }
        let last = 1 + choices.below(2) as Value;
        let distribution = random_distribution(&network, choices, &variables, last);
        variables.push(network.chance(format!("s{stage}"), 0..=last, distribution));
    }
    for _ in 0..1 + choices.below(4) {
        let arity = 1 + choices.below(3.min(variables.len()));
        let mut left = variables.clone();
        let scope: Vec<VarId> =
            (0..arity).map(|_| left.swap_remove(choices.below(left.len()))).collect();
        if choices.below(3) == 0 && arity > 1 {
            network.require((scope[0] + scope[1]).differs(choices.below(4) as Value));
            continue;
        }
        let mut tuples: Vec<Vec<Value>> = vec![Vec::new()];
        for &x in &scope {
            let domain: Vec<Value> = network.domain(x).iter().collect();
            let longer = |tuple: &Vec<Value>| {
                domain.iter().map(|&v| [&tuple[..], &[v]].concat()).collect::<Vec<_>>()
            };
            tuples = tuples.iter().flat_map(longer).collect();
        }
        tuples.retain(|_| choices.below(3) > 0);
        let table = Table::from_tuples(arity, tuples).into();
        network.add(Constraint::Table { scope, table, is_positive: true });
    }
    network.set_threshold(random_threshold(choices));
    if choices.below(3) == 0 {
        let x = *choices.choose(&variables).unwrap();
        let y = *choices.choose(&variables).unwrap();
        network.set_utility(x * 2 + y);
    }
    network
}

/// 0, 1, or any fraction between.
fn random_threshold(choices: &mut Choices) -> Rational {
    match choices.below(6) {
        0 => rational(0, 1),
        1 => rational(1, 1),
        2 => rational(choices.below(41) as i64, 40),
        _ => rational(choices.below(13) as i64, 12),
    }
}

/// Networks small enough to list all policies, with several thresholds.
pub fn small_networks() -> impl Strategy<Value = StochasticNetwork> {
    built(60, small_network)
}

/// A network small enough to list all policies, with several thresholds.
pub fn small_network(choices: &mut Choices) -> StochasticNetwork {
    let mut network = StochasticNetwork::new();
    network.stage();
    let mut before = Vec::new();
    if choices.below(2) == 0 {
        let rare = rational(1, *choices.choose(&[2, 20, 9_000_000_000_000_000_000]).unwrap());
        let often = rational(1, 1) - &rare;
        let weights = Distribution::Weights(vec![(0, rare), (1, often)]);
        before.push(network.chance("r", 0..=1, weights));
        network.stage();
    }
    let a = network.decision("a", 0..=2);
    let distribution = random_distribution(&network, choices, &[a], 1);
    let s = network.chance("s", 0..=1, distribution);
    network.stage();
    let b = network.decision("b", 0..=1);
    let distribution = random_distribution(&network, choices, &[a, s, b], 1);
    let t = network.chance("t", 0..=1, distribution);
    let mut expressions = vec![
        (a + s).at_least(1 + choices.below(2) as Value),
        (b + t).differs(choices.below(3) as Value),
        (a + t).at_most(choices.below(3) as Value),
        (s + b).equals(1),
    ];
    expressions.extend(before.iter().map(|&r| (r + a).at_least(1)));
    for expr in expressions {
        let constraint = Constraint::Intension(expr);
        match choices.below(4) {
            0 => network.add(constraint),
            1 | 2 => network.add_with_threshold(constraint, random_threshold(choices)),
            _ => {}
        }
    }
    network.set_threshold(random_threshold(choices));
    match choices.below(6) {
        0 | 1 => network.set_utility(a * 3 + b + t),
        2 => network.set_utility(b * 1_000_000_000 * 1_000_000 + t),
        3 => network.set_utility(a * 0),
        _ => {}
    }
    network
}

/// The plays of a policy: each with its probability, as the values of all variables.
pub type Plays = Vec<(Rational, Vec<Value>)>;

/// Returns all policies.
pub fn all_policies(network: &StochasticNetwork) -> Vec<Plays> {
    fn policies(network: &StochasticNetwork, values: &mut Vec<Value>, p: &Rational) -> Vec<Plays> {
        let x = VarId::new(values.len());
        if x.index() == network.variables().len() {
            return vec![vec![(p.clone(), values.clone())]];
        }
        let mut all = Vec::new();
        if network.is_chance(x) {
            all.push(Vec::new());
            for (value, q) in network.outcomes(x, &|y| values[y.index()]) {
                values.push(value);
                let below = policies(network, values, &(p * q));
                values.pop();
                let join = |plays: &Plays| {
                    below.iter().map(|more| [&plays[..], more].concat()).collect::<Vec<_>>()
                };
                all = all.iter().flat_map(join).collect();
            }
        } else {
            for value in network.domain(x).iter() {
                values.push(value);
                all.extend(policies(network, values, p));
                values.pop();
            }
        }
        all
    }
    policies(network, &mut Vec::new(), &rational(1, 1))
}

/// Returns the number of policies, saturating.
pub fn n_policies(network: &StochasticNetwork) -> u64 {
    fn count(network: &StochasticNetwork, values: &mut Vec<Value>) -> u64 {
        let x = VarId::new(values.len());
        if x.index() == network.variables().len() {
            return 1;
        }
        let known = values.clone();
        let mut below = |value: Value| {
            values.push(value);
            let n = count(network, values);
            values.pop();
            n
        };
        if !network.is_chance(x) {
            return network.domain(x).iter().map(below).fold(0, u64::saturating_add);
        }
        let outcomes = network.outcomes(x, &|y| known[y.index()]);
        outcomes.into_iter().map(|(value, _)| below(value)).fold(1, u64::saturating_mul)
    }
    count(network, &mut Vec::new())
}

/// Returns the value of a policy if it reaches all thresholds.
pub fn worth(network: &StochasticNetwork, plays: &Plays) -> Option<Rational> {
    let zero = || rational(0, 1);
    let n_constraints = network.constraints().len();
    let (mut joint, mut utility) = (zero(), zero());
    let mut own = vec![zero(); n_constraints];
    for (p, values) in plays {
        let value_of = |x: VarId| i64::from(values[x.index()]);
        let holds: Vec<bool> =
            network.constraints().iter().map(|c| c.constraint.holds(&value_of)).collect();
        let is_joint = |i: &usize| network.constraints()[*i].threshold.is_none();
        if (0..n_constraints).filter(is_joint).all(|i| holds[i]) {
            joint += p;
            let worth = network.utility().map_or(1, |u| u.eval(&value_of).unwrap());
            utility += p * rational(worth, 1);
        }
        for i in (0..n_constraints).filter(|&i| holds[i]) {
            own[i] += p;
        }
    }
    let reaches = joint >= *network.threshold()
        && network.constraints().iter().zip(&own).all(|(constraint, p)| {
            constraint.threshold.as_ref().is_none_or(|threshold| p >= threshold)
        });
    reaches.then_some(utility)
}

/// Returns the greatest value of a policy that reaches all thresholds, among all policies.
pub fn best_of_all_policies(network: &StochasticNetwork) -> Option<Rational> {
    all_policies(network).iter().filter_map(|plays| worth(network, plays)).max()
}
