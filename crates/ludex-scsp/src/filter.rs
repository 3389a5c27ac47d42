//! Filters: the values that the constraints leave, given those assigned so far.

use ludex_base::{Deadline, StopReason};
use ludex_csp::{Engine, Network, PostConfig, Value, ValueSet, VarId};

use crate::config::{Method, SolveConfig};
use crate::error::{ScspError, Stop};
use crate::network::{StochasticConstraint, StochasticNetwork};

/// Follows the values of a play, with one level per variable.
pub(crate) trait Filter {
    /// Assigns a variable and returns whether the constraints can still hold. `values` has the
    /// values of all assigned variables, including this one. [`Filter::undo`] undoes every call,
    /// whatever it returns.
    fn assign(&mut self, x: VarId, values: &[Value]) -> bool;
    /// Undoes the last assignment.
    fn undo(&mut self);
    /// Whether a variable can have a value.
    fn allows(&self, x: VarId, value: Value) -> bool;
    /// Returns the number of values that a variable can have.
    fn n_values(&self, x: VarId) -> u64;
    /// Whether the filter looks ahead, so that its domains are informative.
    fn looks_ahead(&self) -> bool;
    /// Returns the reason why it stopped; its answers are invalid then.
    fn stopped(&self) -> Option<StopReason> {
        None
    }
}

/// Creates the filter of a method over the joint constraints, or returns `None` if they are
/// unsatisfiable.
pub(crate) fn filter(
    network: &StochasticNetwork,
    config: &SolveConfig,
) -> Result<Option<Box<dyn Filter + Send>>, Stop> {
    let deadline = &config.deadline;
    let is_joint = |constraint: &&StochasticConstraint| constraint.threshold.is_none();
    let constraints: Vec<&StochasticConstraint> =
        network.constraints().iter().filter(is_joint).collect();
    let value_of = |_: VarId| 0;
    let constant = constraints.iter().filter(|c| c.constraint.scope().is_empty());
    if constant.into_iter().any(|c| !c.constraint.holds(&value_of)) {
        return Ok(None);
    }
    Ok(match config.method {
        Method::Backtracking => Some(Box::new(Backward::new(network, &constraints))),
        Method::ForwardChecking => {
            let mut forward = Forward::new(network, &constraints, config);
            let can_hold = forward.filter_unary();
            match forward.stopped {
                Some(reason) => return Err(Stop::Limit(reason)),
                None => can_hold.then(|| Box::new(forward) as Box<dyn Filter + Send>),
            }
        }
        Method::Propagation => {
            let mut plain = Network::new();
            for x in network.variables() {
                plain.int(x.variable.name.clone(), x.variable.domain.clone());
            }
            for constraint in &constraints {
                plain.add(constraint.constraint.clone());
            }
            let mut engine = plain.post(&PostConfig::default()).map_err(ScspError::from)?;
            engine.set_deadline(deadline);
            match engine.propagate() {
                Err(_) if !engine.is_stopped() => None,
                _ => Some(Box::new(Propagated { engine })),
            }
        }
    })
}

/// Checks constraints when their last variable is assigned.
struct Backward {
    /// The constraints by their last variable.
    by_last: Vec<Vec<ludex_csp::Constraint>>,
    domains: Vec<ludex_csp::ValueSet>,
}

impl Backward {
    fn new(network: &StochasticNetwork, constraints: &[&StochasticConstraint]) -> Self {
        let mut by_last = vec![Vec::new(); network.variables().len()];
        for constraint in constraints {
            if let Some(last) = constraint.constraint.scope().into_iter().max() {
                by_last[last.index()].push(constraint.constraint.clone());
            }
        }
        let domains = network.ids().map(|x| network.domain(x).clone()).collect();
        Self { by_last, domains }
    }
}

impl Filter for Backward {
    fn assign(&mut self, x: VarId, values: &[Value]) -> bool {
        let value_of = |y: VarId| i64::from(values[y.index()]);
        self.by_last[x.index()].iter().all(|constraint| constraint.holds(&value_of))
    }
    fn undo(&mut self) {}
    fn allows(&self, x: VarId, value: Value) -> bool {
        self.domains[x.index()].contains(value)
    }
    fn n_values(&self, x: VarId) -> u64 {
        self.domains[x.index()].len()
    }
    fn looks_ahead(&self) -> bool {
        false
    }
}

/// Filters the values of the only open variable of a constraint.
struct Forward {
    constraints: Vec<ludex_csp::Constraint>,
    scopes: Vec<Vec<VarId>>,
    by_variable: Vec<Vec<usize>>,
    n_open: Vec<usize>,
    is_assigned: Vec<bool>,
    domains: Vec<ValueSet>,
    /// The values of each variable and whether they remain; empty until some are filtered.
    listed: Vec<Listed>,
    n_left: Vec<u64>,
    removed: Vec<(VarId, usize)>,
    /// The assigned variables, each with the number of values removed before.
    levels: Vec<(VarId, usize)>,
    deadline: Deadline,
    /// The number of bytes left for lists.
    bytes_left: usize,
    /// Values examined since the deadline was last checked.
    n_steps: usize,
    stopped: Option<StopReason>,
}

#[derive(Clone, Default)]
struct Listed {
    values: Vec<Value>,
    is_left: Vec<bool>,
}

impl Forward {
    fn new(
        network: &StochasticNetwork,
        constraints: &[&StochasticConstraint],
        config: &SolveConfig,
    ) -> Self {
        let n_variables = network.variables().len();
        let scopes: Vec<Vec<VarId>> = constraints.iter().map(|c| c.constraint.scope()).collect();
        let mut by_variable = vec![Vec::new(); n_variables];
        for (i, scope) in scopes.iter().enumerate() {
            for x in scope {
                by_variable[x.index()].push(i);
            }
        }
        Self {
            constraints: constraints.iter().map(|c| c.constraint.clone()).collect(),
            n_open: scopes.iter().map(Vec::len).collect(),
            scopes,
            by_variable,
            is_assigned: vec![false; n_variables],
            domains: network.ids().map(|x| network.domain(x).clone()).collect(),
            listed: vec![Listed::default(); n_variables],
            n_left: network.ids().map(|x| network.domain(x).len()).collect(),
            removed: Vec::new(),
            levels: Vec::new(),
            deadline: config.deadline.clone(),
            bytes_left: config.policy_bytes,
            n_steps: 0,
            stopped: None,
        }
    }

    /// Filters by unary constraints permanently, and returns whether every variable keeps a value.
    fn filter_unary(&mut self) -> bool {
        let nothing = vec![0; self.domains.len()];
        let unary: Vec<usize> = (0..self.scopes.len()).filter(|&i| self.n_open[i] == 1).collect();
        unary.into_iter().all(|i| self.filter_by(i, &nothing))
    }

    /// Filters the open variable of a constraint, and returns whether it keeps a value.
    fn filter_by(&mut self, i: usize, assigned: &[Value]) -> bool {
        let open = self.scopes[i].iter().copied().find(|x| !self.is_assigned[x.index()]);
        let y = open.expect("one variable is open");
        if !self.list(y) {
            return false;
        }
        let listed = &mut self.listed[y.index()];
        for k in 0..listed.values.len() {
            if !listed.is_left[k] {
                continue;
            }
            self.n_steps += 1;
            if self.n_steps.is_multiple_of(4096) && self.deadline.reached() {
                self.stopped = Some(StopReason::of_deadline());
                return false;
            }
            let value = listed.values[k];
            let value_of = |x: VarId| i64::from(if x == y { value } else { assigned[x.index()] });
            if !self.constraints[i].holds(&value_of) {
                listed.is_left[k] = false;
                self.n_left[y.index()] -= 1;
                self.removed.push((y, k));
            }
        }
        self.n_left[y.index()] > 0
    }

    /// Lists the values of a variable, if memory allows.
    fn list(&mut self, y: VarId) -> bool {
        // Includes its place among the removed values.
        const BYTES_PER_VALUE: usize =
            size_of::<Value>() + size_of::<bool>() + size_of::<(VarId, usize)>();
        let listed = &mut self.listed[y.index()];
        if !listed.values.is_empty() {
            return true;
        }
        let n_values = self.domains[y.index()].len() as usize;
        let Some(bytes_left) = self.bytes_left.checked_sub(n_values * BYTES_PER_VALUE) else {
            self.stopped = Some(StopReason::Memory);
            return false;
        };
        self.bytes_left = bytes_left;
        listed.values = self.domains[y.index()].iter().collect();
        listed.is_left = vec![true; n_values];
        true
    }
}

impl Filter for Forward {
    fn assign(&mut self, x: VarId, values: &[Value]) -> bool {
        self.levels.push((x, self.removed.len()));
        self.is_assigned[x.index()] = true;
        for k in 0..self.by_variable[x.index()].len() {
            self.n_open[self.by_variable[x.index()][k]] -= 1;
        }
        for k in 0..self.by_variable[x.index()].len() {
            let i = self.by_variable[x.index()][k];
            if self.n_open[i] == 1 && !self.filter_by(i, values) {
                return false;
            }
        }
        true
    }
    fn undo(&mut self) {
        let (x, n_removed) = self.levels.pop().expect("a variable was assigned");
        self.is_assigned[x.index()] = false;
        for &i in &self.by_variable[x.index()] {
            self.n_open[i] += 1;
        }
        for (y, k) in self.removed.drain(n_removed..) {
            self.listed[y.index()].is_left[k] = true;
            self.n_left[y.index()] += 1;
        }
    }
    fn allows(&self, x: VarId, value: Value) -> bool {
        let listed = &self.listed[x.index()];
        if listed.values.is_empty() {
            self.domains[x.index()].contains(value)
        } else {
            listed.values.binary_search(&value).is_ok_and(|k| listed.is_left[k])
        }
    }
    fn n_values(&self, x: VarId) -> u64 {
        self.n_left[x.index()]
    }
    fn looks_ahead(&self) -> bool {
        true
    }
    fn stopped(&self) -> Option<StopReason> {
        self.stopped
    }
}

/// Propagates all constraints.
struct Propagated {
    engine: Engine,
}

impl Filter for Propagated {
    fn assign(&mut self, x: VarId, values: &[Value]) -> bool {
        self.engine.push_level();
        self.engine.assign(x, values[x.index()]).is_ok()
    }
    fn undo(&mut self) {
        self.engine.pop_level();
    }
    fn allows(&self, x: VarId, value: Value) -> bool {
        self.engine.domains().contains(x, value)
    }
    fn n_values(&self, x: VarId) -> u64 {
        self.engine.domains().size(x)
    }
    fn looks_ahead(&self) -> bool {
        true
    }
    fn stopped(&self) -> Option<StopReason> {
        self.engine.is_stopped().then_some(StopReason::of_deadline())
    }
}
