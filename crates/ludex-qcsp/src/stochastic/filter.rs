//! Which values the constraints leave, after those given so far.

use ludex_base::Deadline;
use ludex_csp::{Engine, Network, PostConfig, Value, VarId};

use super::error::StochasticError;
use super::network::{StochasticConstraint, StochasticNetwork};
use super::solve::Method;

/// Follows the values of a play, one level a variable.
pub(super) trait Filter {
    /// Gives a variable its value; says whether the constraints can still hold. `values` has
    /// the values of all assigned variables, this one too. Every call is undone by
    /// [`Filter::undo`], whatever it says.
    fn assign(&mut self, x: VarId, values: &[Value]) -> bool;
    /// Undoes the last value.
    fn undo(&mut self);
    /// Whether a variable can have a value.
    fn allows(&self, x: VarId, value: Value) -> bool;
    /// How many values a variable can have.
    fn n_values(&self, x: VarId) -> u64;
    /// Whether the filter looks ahead, so that its domains say something.
    fn looks_ahead(&self) -> bool;
    /// Whether it was stopped by its deadline.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// The filter of a method over the constraints without a threshold of their own; `None` when
/// they can't hold at all.
pub(super) fn filter(
    network: &StochasticNetwork,
    method: Method,
    deadline: &Deadline,
) -> Result<Option<Box<dyn Filter + Send>>, StochasticError> {
    let is_joint = |constraint: &&StochasticConstraint| constraint.threshold.is_none();
    let constraints: Vec<&StochasticConstraint> =
        network.constraints().iter().filter(is_joint).collect();
    let value_of = |_: VarId| 0;
    let constant = constraints.iter().filter(|c| c.constraint.scope().is_empty());
    if constant.into_iter().any(|c| !c.constraint.holds(&value_of)) {
        return Ok(None);
    }
    Ok(match method {
        Method::Backtracking => Some(Box::new(Backward::new(network, &constraints))),
        Method::ForwardChecking => {
            let mut forward = Forward::new(network, &constraints);
            forward.filter_unary().then(|| Box::new(forward) as Box<dyn Filter + Send>)
        }
        Method::Propagation => {
            let mut plain = Network::new();
            for x in network.variables() {
                plain.int(x.variable.name.clone(), x.variable.domain.clone());
            }
            for constraint in &constraints {
                plain.add(constraint.constraint.clone());
            }
            let mut engine = plain.post(&PostConfig::default())?;
            engine.set_deadline(deadline);
            match engine.propagate() {
                Err(_) if !engine.is_stopped() => None,
                _ => Some(Box::new(Propagated { engine })),
            }
        }
    })
}

/// Constraints are checked when their last variable gets its value.
struct Backward {
    /// By variable, the constraints whose last variable it is.
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

/// A constraint with one variable left open filters its values.
struct Forward {
    constraints: Vec<ludex_csp::Constraint>,
    scopes: Vec<Vec<VarId>>,
    by_variable: Vec<Vec<usize>>,
    n_open: Vec<usize>,
    is_assigned: Vec<bool>,
    values: Vec<Vec<Value>>,
    is_left: Vec<Vec<bool>>,
    n_left: Vec<u64>,
    removed: Vec<(VarId, usize)>,
    /// By assigned variable, how many values had been removed before.
    levels: Vec<(VarId, usize)>,
}

impl Forward {
    fn new(network: &StochasticNetwork, constraints: &[&StochasticConstraint]) -> Self {
        let scopes: Vec<Vec<VarId>> = constraints.iter().map(|c| c.constraint.scope()).collect();
        let mut by_variable = vec![Vec::new(); network.variables().len()];
        for (i, scope) in scopes.iter().enumerate() {
            for x in scope {
                by_variable[x.index()].push(i);
            }
        }
        let values: Vec<Vec<Value>> =
            network.ids().map(|x| network.domain(x).iter().collect()).collect();
        Self {
            constraints: constraints.iter().map(|c| c.constraint.clone()).collect(),
            n_open: scopes.iter().map(Vec::len).collect(),
            scopes,
            by_variable,
            is_assigned: vec![false; values.len()],
            is_left: values.iter().map(|values| vec![true; values.len()]).collect(),
            n_left: values.iter().map(|values| values.len() as u64).collect(),
            values,
            removed: Vec::new(),
            levels: Vec::new(),
        }
    }

    /// Filters by constraints on one variable, for good; says whether every variable keeps a
    /// value.
    fn filter_unary(&mut self) -> bool {
        let nothing = vec![0; self.values.len()];
        let unary: Vec<usize> = (0..self.scopes.len()).filter(|&i| self.n_open[i] == 1).collect();
        unary.into_iter().all(|i| self.filter_by(i, &nothing))
    }

    /// Filters the open variable of a constraint; says whether it keeps a value.
    fn filter_by(&mut self, i: usize, assigned: &[Value]) -> bool {
        let open = self.scopes[i].iter().copied().find(|x| !self.is_assigned[x.index()]);
        let y = open.expect("one variable is open");
        for k in 0..self.values[y.index()].len() {
            if !self.is_left[y.index()][k] {
                continue;
            }
            let value = self.values[y.index()][k];
            let value_of = |x: VarId| i64::from(if x == y { value } else { assigned[x.index()] });
            if !self.constraints[i].holds(&value_of) {
                self.is_left[y.index()][k] = false;
                self.n_left[y.index()] -= 1;
                self.removed.push((y, k));
            }
        }
        self.n_left[y.index()] > 0
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
        let (x, n_removed) = self.levels.pop().expect("a value was given");
        self.is_assigned[x.index()] = false;
        for &i in &self.by_variable[x.index()] {
            self.n_open[i] += 1;
        }
        for (y, k) in self.removed.drain(n_removed..) {
            self.is_left[y.index()][k] = true;
            self.n_left[y.index()] += 1;
        }
    }
    fn allows(&self, x: VarId, value: Value) -> bool {
        let k = self.values[x.index()].binary_search(&value);
        k.is_ok_and(|k| self.is_left[x.index()][k])
    }
    fn n_values(&self, x: VarId) -> u64 {
        self.n_left[x.index()]
    }
    fn looks_ahead(&self) -> bool {
        true
    }
}

/// All constraints are propagated.
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
    fn is_stopped(&self) -> bool {
        self.engine.is_stopped()
    }
}
