//! Min-conflicts: start anywhere, and give variables in conflict the value that hurts least.
//!
//! After Minton, Johnston, Philips and Laird, *Minimizing conflicts*, AI 1992, with random
//! walk steps against local minima. It finds solutions and proves nothing.

use ludex_base::{Deadline, Seed};

use crate::Value;
use crate::domains::VarId;
use crate::expr::Expr;
use crate::network::{Constraint, Network};

/// How long and how wildly to search.
#[derive(Clone, Debug)]
pub struct LocalConfig {
    /// Changes of a variable.
    pub max_steps: u64,
    /// Of a thousand steps, how many take a random value.
    pub noise: usize,
    /// Start again after so many steps without a better assignment.
    pub patience: u64,
    /// Where randomness comes from.
    pub seed: Seed,
    /// When to stop; it is asked every 64 steps.
    pub deadline: Deadline,
}

impl Default for LocalConfig {
    fn default() -> Self {
        Self {
            max_steps: 1_000_000,
            noise: 20,
            patience: 2_000,
            seed: Seed(0),
            deadline: Deadline::never(),
        }
    }
}

/// Looks for a solution by repairing an assignment; the objective is not considered.
///
/// `None` means that none was found, not that there is none.
pub fn min_conflicts(network: &Network, config: &LocalConfig) -> Option<Vec<Value>> {
    let mut search = LocalSearch::new(network)?;
    let mut rng = config.seed.rng();
    search.scramble(&mut rng);
    let (mut best, mut n_idle) = (u64::MAX, 0);
    for step in 0..config.max_steps {
        let violated: Vec<usize> =
            (0..search.costs.len()).filter(|&c| search.costs[c] > 0).collect();
        if violated.is_empty() {
            return network.is_solution(&search.assignment).then_some(search.assignment);
        }
        if step.is_multiple_of(64) && config.deadline.reached() {
            return None;
        }
        n_idle += 1;
        if n_idle > config.patience {
            search.scramble(&mut rng);
            (best, n_idle) = (u64::MAX, 0);
            continue;
        }
        let constraint = *rng.choose(&violated).expect("some constraint is violated");
        let culprits = search.culprits(constraint);
        let x = *rng.choose(&culprits).expect("a violated constraint has a variable");
        let values = &search.domains[x.index()];
        let value = if rng.below(1000) < config.noise {
            *rng.choose(values).expect("domains are not empty")
        } else {
            let mut least = u64::MAX;
            let mut choices = Vec::new();
            for value in values.clone() {
                let cost = search.cost_with(x, value);
                if cost < least {
                    least = cost;
                    choices.clear();
                }
                if cost == least {
                    choices.push(value);
                }
            }
            *rng.choose(&choices).expect("domains are not empty")
        };
        search.set(x, value);
        let total = search.costs.iter().sum();
        if total < best {
            (best, n_idle) = (total, 0);
        }
    }
    None
}

struct LocalSearch<'a> {
    network: &'a Network,
    domains: Vec<Vec<Value>>,
    scopes: Vec<Vec<VarId>>,
    /// By variable: the constraints with it.
    constraints: Vec<Vec<usize>>,
    assignment: Vec<Value>,
    costs: Vec<u64>,
}

/// Domains with more values than this are too large to try every value.
const MAX_VALUES: u64 = 1 << 16;

impl<'a> LocalSearch<'a> {
    fn new(network: &'a Network) -> Option<Self> {
        let is_small = |len: u64| 0 < len && len <= MAX_VALUES;
        if !network.variables().iter().all(|x| is_small(x.domain.len())) {
            return None;
        }
        let domains: Vec<Vec<Value>> =
            network.variables().iter().map(|x| x.domain.iter().collect()).collect();
        let scopes: Vec<Vec<VarId>> = network.constraints().iter().map(Constraint::scope).collect();
        let mut constraints = vec![Vec::new(); domains.len()];
        for (c, scope) in scopes.iter().enumerate() {
            for x in scope {
                constraints[x.index()].push(c);
            }
        }
        let assignment = domains.iter().map(|domain| domain[0]).collect();
        let costs = vec![0; scopes.len()];
        Some(Self { network, domains, scopes, constraints, assignment, costs })
    }

    fn scramble(&mut self, rng: &mut ludex_base::Rng) {
        for (value, domain) in self.assignment.iter_mut().zip(&self.domains) {
            *value = *rng.choose(domain).expect("domains are not empty");
        }
        for c in 0..self.costs.len() {
            self.costs[c] = self.cost(c);
        }
    }

    /// How far a constraint is from holding; 0 when it holds.
    fn cost(&self, c: usize) -> u64 {
        let value_of = |x: VarId| i64::from(self.assignment[x.index()]);
        let constraint = &self.network.constraints()[c];
        // An all-different counts its pairs, else one step would rarely be seen to help.
        if let Constraint::AllDifferent { list, except } = constraint {
            let values: Option<Vec<i64>> = list.iter().map(|e| e.eval(&value_of)).collect();
            let Some(mut values) = values else {
                return 1;
            };
            values.retain(|&v| !Value::try_from(v).is_ok_and(|v| except.contains(v)));
            values.sort_unstable();
            return values.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
        }
        u64::from(!constraint.holds(&value_of))
    }

    /// The variables whose change can help a violated constraint.
    fn culprits(&self, c: usize) -> Vec<VarId> {
        let Constraint::AllDifferent { list, .. } = &self.network.constraints()[c] else {
            return self.scopes[c].clone();
        };
        let value_of = |x: VarId| i64::from(self.assignment[x.index()]);
        let mut valued: Vec<(Option<i64>, &Expr)> =
            list.iter().map(|e| (e.eval(&value_of), e)).collect();
        valued.sort_by_key(|(value, _)| *value);
        let equal = valued.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1);
        let culprits: Vec<VarId> = equal.flatten().flat_map(|(_, e)| e.scope()).collect();
        if culprits.is_empty() { self.scopes[c].clone() } else { culprits }
    }

    fn cost_with(&mut self, x: VarId, value: Value) -> u64 {
        let old = std::mem::replace(&mut self.assignment[x.index()], value);
        let cost = self.constraints[x.index()].iter().map(|&c| self.cost(c)).sum();
        self.assignment[x.index()] = old;
        cost
    }

    fn set(&mut self, x: VarId, value: Value) {
        self.assignment[x.index()] = value;
        for at in 0..self.constraints[x.index()].len() {
            let c = self.constraints[x.index()][at];
            self.costs[c] = self.cost(c);
        }
    }
}
