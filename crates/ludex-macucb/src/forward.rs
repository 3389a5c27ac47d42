//! Forward checking: a constraint filters only when one of its variables is unassigned.
//!
//! Variables with one value left are assigned first, then moves, then all others in their order.
//!
//! After Haralick and Elliott, *Increasing Tree Search Efficiency for Constraint Satisfaction
//! Problems*, 1980.

use std::sync::Arc;

use ludex_base::{BitSet, Deadline, MoveId, Rng};
use ludex_csp::{Constraint, Value, VarId};
use ludex_encode::Template;

use crate::resolve::{Facts, Resolver};

/// Solves the network of a state by forward checking.
pub(crate) struct Forward {
    template: Arc<Template>,
    n_fluents: usize,
    /// For each constraint, its variables without repetitions.
    scopes: Vec<Vec<u32>>,
    /// For each variable, the constraints on it.
    constraints_of: Vec<Vec<u32>>,
    /// For each variable, its values and which of them are pruned.
    domains: Vec<Domain>,
    /// For each constraint, the number of its unassigned variables.
    n_open: Vec<u32>,
    assigned: Vec<Option<Value>>,
    /// Variables in branching order.
    order: Vec<u32>,
    trail: Vec<Undo>,
    /// Variables with one value left that have not been assigned yet.
    forced: Vec<u32>,
    /// Length of the trail at each injection.
    levels: Vec<usize>,
    deadline: Deadline,
    n_checks: u32,
    is_stopped: bool,
}

struct Domain {
    values: Vec<Value>,
    is_pruned: Vec<bool>,
    n_left: usize,
}

enum Undo {
    Assigned(u32),
    Pruned(u32, u32),
}

/// Constraint checks between two looks at the clock.
const CHECKS_PER_CLOCK_CHECK: u32 = 1_024;

impl Forward {
    /// Prepares to solve the network of a template.
    pub fn new(template: Arc<Template>) -> Self {
        let network = &template.network;
        let scope = |constraint: &Constraint| {
            let mut scope: Vec<u32> = constraint.scope().iter().map(|x| x.index() as u32).collect();
            scope.sort_unstable();
            scope.dedup();
            scope
        };
        let scopes: Vec<Vec<u32>> = network.constraints().iter().map(scope).collect();
        let mut constraints_of = vec![Vec::new(); network.variables().len()];
        for (at, scope) in scopes.iter().enumerate() {
            scope.iter().for_each(|&x| constraints_of[x as usize].push(at as u32));
        }
        let domains = network.variables().iter().map(|variable| {
            let values: Vec<Value> = variable.domain.iter().collect();
            Domain { is_pruned: vec![false; values.len()], n_left: values.len(), values }
        });
        let moves = template.moves.iter().map(|of_role| of_role.var.index() as u32);
        let n_fluents = template.state_vars.iter().map(|var| var.fluents.len()).sum();
        let mut forward = Self {
            n_fluents,
            domains: domains.collect(),
            n_open: scopes.iter().map(|scope| scope.len() as u32).collect(),
            assigned: vec![None; constraints_of.len()],
            order: moves.chain(0..constraints_of.len() as u32).collect(),
            trail: Vec::new(),
            forced: Vec::new(),
            levels: Vec::new(),
            deadline: Deadline::never(),
            n_checks: 0,
            is_stopped: false,
            scopes,
            constraints_of,
            template,
        };
        for at in 0..forward.scopes.len() {
            if let [x] = forward.scopes[at][..] {
                forward.filter(at, x);
            }
        }
        forward.trail.clear();
        forward
    }

    /// Whether a constraint holds; all its variables must be assigned.
    fn holds(&mut self, constraint: usize) -> bool {
        self.n_checks += 1;
        if self.n_checks.is_multiple_of(CHECKS_PER_CLOCK_CHECK) {
            self.is_stopped |= self.deadline.reached();
        }
        let assigned = &self.assigned;
        let value_of =
            |x: VarId| i64::from(assigned[x.index()].expect("all its variables are assigned"));
        self.template.network.constraints()[constraint].holds(&value_of)
    }

    /// Prunes the values of the only unassigned variable of a constraint that violate it; false when none
    /// is left.
    fn filter(&mut self, constraint: usize, x: u32) -> bool {
        for at in 0..self.domains[x as usize].values.len() {
            if self.domains[x as usize].is_pruned[at] || self.is_stopped {
                continue;
            }
            self.assigned[x as usize] = Some(self.domains[x as usize].values[at]);
            if !self.holds(constraint) {
                self.prune(x, at);
            }
        }
        self.assigned[x as usize] = None;
        self.domains[x as usize].n_left > 0 && !self.is_stopped
    }

    fn prune(&mut self, x: u32, at: usize) {
        let domain = &mut self.domains[x as usize];
        domain.is_pruned[at] = true;
        domain.n_left -= 1;
        if domain.n_left == 1 {
            self.forced.push(x);
        }
        self.trail.push(Undo::Pruned(x, at as u32));
    }

    /// Assigns a variable, and then every variable with one value left; false on a conflict.
    fn assign(&mut self, x: u32, value: Value) -> bool {
        let mut is_possible = self.assign_one(x, value);
        while let Some(x) = self.forced.pop() {
            if !is_possible || self.assigned[x as usize].is_some() {
                continue;
            }
            let domain = &self.domains[x as usize];
            let left = (0..domain.values.len()).find(|&at| !domain.is_pruned[at]);
            is_possible = left.is_some_and(|at| {
                let value = self.domains[x as usize].values[at];
                self.assign_one(x, value)
            });
        }
        is_possible
    }

    fn assign_one(&mut self, x: u32, value: Value) -> bool {
        let domain = &self.domains[x as usize];
        let at = domain.values.binary_search(&value);
        if !at.is_ok_and(|at| !domain.is_pruned[at]) {
            return false;
        }
        self.assigned[x as usize] = Some(value);
        self.trail.push(Undo::Assigned(x));
        for idx in 0..self.constraints_of[x as usize].len() {
            let constraint = self.constraints_of[x as usize][idx] as usize;
            self.n_open[constraint] -= 1;
        }
        for idx in 0..self.constraints_of[x as usize].len() {
            let constraint = self.constraints_of[x as usize][idx] as usize;
            let is_fine = match self.n_open[constraint] {
                0 => self.holds(constraint),
                1 => {
                    let open = |y: &&u32| self.assigned[**y as usize].is_none();
                    let y = *self.scopes[constraint]
                        .iter()
                        .find(open)
                        .expect("one variable is unassigned");
                    self.filter(constraint, y)
                }
                _ => true,
            };
            if !is_fine || self.is_stopped {
                return false;
            }
        }
        true
    }

    fn undo_to(&mut self, length: usize) {
        self.forced.clear();
        while self.trail.len() > length {
            match self.trail.pop().expect("the trail is longer") {
                Undo::Assigned(x) => {
                    self.assigned[x as usize] = None;
                    for &constraint in &self.constraints_of[x as usize] {
                        self.n_open[constraint as usize] += 1;
                    }
                }
                Undo::Pruned(x, at) => {
                    let domain = &mut self.domains[x as usize];
                    domain.is_pruned[at as usize] = false;
                    domain.n_left += 1;
                }
            }
        }
    }

    /// Calls `see` with each solution until it returns false. Values are tried in ascending order, or in
    /// random order if there is an `rng`.
    fn branch(
        &mut self,
        from: usize,
        rng: &mut Option<&mut Rng>,
        see: &mut dyn FnMut(&Self) -> bool,
    ) -> bool {
        let open =
            (from..self.order.len()).find(|&idx| self.assigned[self.order[idx] as usize].is_none());
        let Some(idx) = open else { return see(self) };
        let x = self.order[idx];
        let domain = &self.domains[x as usize];
        let mut left: Vec<Value> = (domain.values.iter().zip(&domain.is_pruned))
            .filter(|(_, is_pruned)| !**is_pruned)
            .map(|(value, _)| *value)
            .collect();
        if let Some(rng) = rng {
            for last in (1..left.len()).rev() {
                left.swap(last, rng.below(last + 1));
            }
        }
        for value in left {
            let length = self.trail.len();
            let goes_on = !self.assign(x, value) || self.branch(idx + 1, rng, see);
            self.undo_to(length);
            if !goes_on || self.is_stopped {
                return false;
            }
        }
        true
    }

    fn value(&self, x: VarId) -> Value {
        self.assigned[x.index()].expect("every variable of a solution is assigned")
    }

    fn next(&self) -> BitSet {
        let mut next = BitSet::new(self.n_fluents);
        for (state_var, &var) in self.template.state_vars.iter().zip(&self.template.next) {
            if let Some(fluent) = state_var.fluent(self.value(var)) {
                next.insert(fluent.index());
            }
        }
        next
    }
}

impl Resolver for Forward {
    fn inject(&mut self, state: &BitSet, deadline: &Deadline) -> Option<Facts> {
        self.deadline = deadline.clone();
        self.is_stopped = false;
        self.levels.push(self.trail.len());
        let template = Arc::clone(&self.template);
        for (x, value) in template.now.iter().zip(template.values_of(state)) {
            let x = x.index() as u32;
            let is_there = self.assigned[x as usize] == Some(value);
            if !is_there && !self.assign(x, value) {
                return None;
            }
        }
        let mut found = None;
        self.branch(0, &mut None, &mut |solution| {
            found = Some(Facts {
                is_terminal: solution.value(template.terminal) == 1,
                goals: template.goals.iter().map(|&goal| solution.value(goal) as u8).collect(),
            });
            false
        });
        found
    }

    fn solutions(&mut self, see: &mut dyn FnMut(&[MoveId], BitSet) -> bool) -> bool {
        self.branch(0, &mut None, &mut |solution| {
            let moves = solution.template.moves.iter();
            let joint: Vec<MoveId> =
                moves.filter_map(|of_role| of_role.played(solution.value(of_role.var))).collect();
            see(&joint, solution.next())
        });
        !self.is_stopped
    }

    fn draw(&mut self, rng: &mut Rng) -> Option<BitSet> {
        let mut found = None;
        self.branch(0, &mut Some(rng), &mut |solution| {
            found = Some(solution.next());
            false
        });
        found
    }

    fn take_back(&mut self) {
        let length = self.levels.pop().expect("a state was injected");
        self.undo_to(length);
    }
}
