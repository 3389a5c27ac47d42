//! Min-conflicts: start anywhere, and give variables in conflict the value with the fewest
//! violations.
//!
//! After Minton, Johnston, Philips and Laird, *Minimizing conflicts*, AI 1992, with random
//! walk steps against local minima. It finds solutions and proves nothing.

use std::time::{Duration, Instant};

use ludex_base::{Deadline, Seed, StopReason};

use crate::Value;
use crate::constraint::Constraint;
use crate::domains::VarId;
use crate::error::CspError;
use crate::expr::Expr;
use crate::network::Network;

/// The limits and the randomness of local search.
#[derive(Clone, Debug)]
pub struct LocalConfig {
    /// Largest number of changes of a variable.
    pub max_steps: u64,
    /// Steps per thousand that take a random value.
    pub noise: usize,
    /// Number of steps without a better assignment before a new start.
    pub patience: u64,
    /// The seed of all random choices.
    pub seed: Seed,
    /// When to stop; checked at every step and every 256 values tried in it.
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

/// The result of a local search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalReport {
    /// A solution. `None` means that the search found none, not that none exists.
    pub solution: Option<Vec<Value>>,
    /// The number of changes of a variable and of new starts.
    pub n_steps: u64,
    /// Why the search stopped without a solution.
    pub stopped: Option<StopReason>,
    /// Total time.
    pub time: Duration,
}

/// Searches for a solution by repairing an assignment; ignores the objective.
///
/// # Errors
/// When the network is malformed, or a domain has too many values to try each.
pub fn min_conflicts(network: &Network, config: &LocalConfig) -> Result<LocalReport, CspError> {
    let start = Instant::now();
    network.check()?;
    let mut search = LocalSearch::new(network)?;
    let (solution, n_steps, stopped) = search.run(config);
    Ok(LocalReport { solution, n_steps, stopped, time: start.elapsed() })
}

struct LocalSearch<'a> {
    network: &'a Network,
    domains: Vec<Vec<Value>>,
    scopes: Vec<Vec<VarId>>,
    /// By variable: the constraints that contain it.
    constraints: Vec<Vec<usize>>,
    assignment: Vec<Value>,
    costs: Vec<u64>,
}

/// Largest domain of which the search tries every value.
const MAX_VALUES: u64 = 1 << 16;

impl<'a> LocalSearch<'a> {
    fn new(network: &'a Network) -> Result<Self, CspError> {
        if let Some(wide) = network.ids().find(|&x| network.variable(x).domain.len() > MAX_VALUES) {
            let variable = network.named(wide);
            return Err(CspError::WideDomain { variable, what: "local search" });
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
        Ok(Self { network, domains, scopes, constraints, assignment, costs })
    }

    fn run(&mut self, config: &LocalConfig) -> (Option<Vec<Value>>, u64, Option<StopReason>) {
        let mut rng = config.seed.rng();
        self.scramble(&mut rng);
        let (mut best, mut n_idle) = (u64::MAX, 0);
        for step in 0..config.max_steps {
            let violated: Vec<usize> =
                (0..self.costs.len()).filter(|&c| self.costs[c] > 0).collect();
            if violated.is_empty() {
                let solution = std::mem::take(&mut self.assignment);
                debug_assert!(
                    self.network.is_solution(&solution),
                    "an assignment of cost 0 is a solution"
                );
                return (Some(solution), step, None);
            }
            if config.deadline.reached() {
                return (None, step, Some(StopReason::of_deadline()));
            }
            n_idle += 1;
            if n_idle > config.patience {
                self.scramble(&mut rng);
                (best, n_idle) = (u64::MAX, 0);
                continue;
            }
            let constraint = *rng.choose(&violated).expect("some constraint is violated");
            let culprits = self.culprits(constraint);
            let Some(&x) = rng.choose(&culprits) else {
                // No change of a variable can satisfy a constraint without variables.
                return (None, step, Some(StopReason::Count));
            };
            let values = &self.domains[x.index()];
            let value = if rng.below(1000) < config.noise {
                *rng.choose(values).expect("domains are not empty")
            } else {
                let mut least = u64::MAX;
                let mut choices = Vec::new();
                for (at, value) in values.clone().into_iter().enumerate() {
                    if at % 256 == 255 && config.deadline.reached() {
                        break;
                    }
                    let cost = self.cost_with(x, value);
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
            self.set(x, value);
            let total = self.costs.iter().sum();
            if total < best {
                (best, n_idle) = (total, 0);
            }
        }
        (None, config.max_steps, Some(StopReason::Count))
    }

    fn scramble(&mut self, rng: &mut ludex_base::Rng) {
        for (value, domain) in self.assignment.iter_mut().zip(&self.domains) {
            *value = *rng.choose(domain).expect("domains are not empty");
        }
        for c in 0..self.costs.len() {
            self.costs[c] = self.cost(c);
        }
    }

    /// Returns the degree of violation of a constraint; 0 when it holds.
    fn cost(&self, c: usize) -> u64 {
        let value_of = |x: VarId| i64::from(self.assignment[x.index()]);
        let constraint = &self.network.constraints()[c];
        // An all-different counts its equal pairs; otherwise single steps would rarely lower
        // the cost.
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

    /// Returns the variables whose change can help a violated constraint.
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
