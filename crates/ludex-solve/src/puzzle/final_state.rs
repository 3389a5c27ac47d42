//! A final state as constraints: what the gates of the circuit require of it.
//!
//! A requirement is split into its conjuncts. Those on few variables become tables, one for all
//! conjuncts on the same variables: this is what makes a row of a nonogram one constraint. The
//! others become expressions, with an auxiliary variable for each gate.

use std::collections::BTreeMap;

use ludex_base::{BitSet, FluentId, Limits};
use ludex_circuit::{Circuit, Gate, GateId};
use ludex_csp::propagators::table::Table;
use ludex_csp::{Expr, Network, Value, ValueSet, VarId};
use ludex_encode::StateVar;
use rustc_hash::FxHashMap;

use super::lanes::{Assumptions, Cones, Groups, Lanes, Literal, conjuncts, first_lanes};
use super::placement::state_vars;

/// The largest number of combinations of values that a table lists.
const MAX_CELLS: usize = 1 << 14;

/// Variables, and values of gates that depend on these variables alone.
type Part = (Vec<usize>, Vec<(GateId, bool)>);

/// A network whose first variables are a final state.
pub(super) struct FinalState<'a> {
    pub network: Network,
    circuit: &'a Circuit,
    groups: &'a Groups,
    vars: Vec<StateVar>,
    /// For each fluent, its variable and its place in it.
    place_of: Vec<(usize, usize)>,
    /// The expressions of gates that have one.
    exprs: FxHashMap<GateId, Expr>,
    cones: Cones<'a>,
}

impl<'a> FinalState<'a> {
    pub fn new(circuit: &'a Circuit, groups: &'a Groups) -> Self {
        let n_fluents = circuit.vocabulary.fluents.len();
        let vars = state_vars(n_fluents, groups);
        let mut network = Network::new();
        let mut place_of = vec![(0, 0); n_fluents];
        for (idx, var) in vars.iter().enumerate() {
            network.int(circuit.vocabulary.fluent_text(var.fluents[0]), 0..var.size() as Value);
            for (place, fluent) in var.fluents.iter().enumerate() {
                place_of[fluent.index()] = (idx, place);
            }
        }
        Self {
            network,
            circuit,
            groups,
            vars,
            place_of,
            exprs: FxHashMap::default(),
            cones: Cones::new(circuit),
        }
    }

    /// Returns the expression of a literal.
    pub fn literal(&self, literal: Literal) -> Expr {
        let (idx, place) = self.place_of[literal.fluent.index()];
        let value = self.vars[idx].value_of(place);
        let var = VarId::new(idx);
        match (literal.value, self.vars[idx].size()) {
            (true, _) => var.equals(value),
            (false, 2) => var.equals(1 - value),
            (false, _) => var.differs(value),
        }
    }

    /// Requires one of some gates to be true; `None` at a limit.
    pub fn require(&mut self, gates: &[GateId], limits: &Limits) -> Option<()> {
        let &[gate] = gates else {
            let any = gates.iter().map(|&gate| self.expr(gate)).collect();
            self.network.require(Expr::Or(any));
            return Some(());
        };
        let mut small: Vec<Part> = Vec::new();
        for (gate, value) in conjuncts(self.circuit, gate, true) {
            let scope = {
                let cone = self.cones.of([gate]);
                self.scope_of(&cone)
            };
            let n_cells = scope.iter().try_fold(1_usize, |n, &idx| {
                n.checked_mul(self.vars[idx].size()).filter(|&n| n <= MAX_CELLS)
            });
            match n_cells {
                Some(_) => small.push((scope, vec![(gate, value)])),
                None => self.require_value(gate, value),
            }
            if limits.deadline.reached() {
                return None;
            }
        }
        for (scope, parts) in joined(small) {
            self.add_table(&scope, &parts);
            if limits.deadline.reached() {
                return None;
            }
        }
        Some(())
    }

    /// Forbids that both expressions of a pair hold. Each is about one variable.
    pub fn exclude(&mut self, pairs: Vec<(Expr, Expr)>) {
        let mut tuples: BTreeMap<(VarId, VarId), Vec<[Value; 2]>> = BTreeMap::new();
        for (a, b) in pairs {
            let ((a, of_a), (b, of_b)) = (self.satisfying(&a), self.satisfying(&b));
            let ((a, of_a), (b, of_b)) =
                if a <= b { ((a, of_a), (b, of_b)) } else { ((b, of_b), (a, of_a)) };
            if a == b {
                for value in of_a.into_iter().filter(|value| of_b.contains(value)) {
                    self.network.require(a.differs(value));
                }
                continue;
            }
            let list = tuples.entry((a, b)).or_default();
            list.extend(of_a.iter().flat_map(|&x| of_b.iter().map(move |&y| [x, y])));
        }
        for ((a, b), mut list) in tuples {
            list.sort_unstable();
            list.dedup();
            self.network.forbid(&[a, b], Table::from_tuples(2, list));
        }
    }

    /// Requires variables to differ, as the groups imply that are not variables themselves.
    ///
    /// If no two cells have the same number, then the variables of the cells, translated to the
    /// groups "where is the number", are all different. Pairs of cells say the same, but all
    /// together know more: as many cells as numbers use every number.
    pub fn add_all_different(&mut self) {
        let mut family_of: Vec<Option<usize>> = vec![None; self.place_of.len()];
        // Variables that a chain of groups joins are compared together.
        let mut component: Vec<usize> = (0..self.vars.len()).collect();
        for (idx, group) in self.groups.list.iter().enumerate() {
            let mut vars: Vec<usize> =
                group.fluents.iter().map(|fluent| self.place_of[fluent.index()].0).collect();
            vars.sort_unstable();
            vars.dedup();
            let is_new = |fluent: &FluentId| family_of[fluent.index()].is_none();
            if vars.len() < 3
                || vars.len() < group.fluents.len()
                || !group.fluents.iter().all(is_new)
            {
                continue;
            }
            group.fluents.iter().for_each(|fluent| family_of[fluent.index()] = Some(idx));
            let joined: Vec<usize> = vars.iter().map(|&var| component[var]).collect();
            for part in &mut component {
                if joined.contains(part) {
                    *part = joined[0];
                }
            }
        }
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (var, &part) in component.iter().enumerate() {
            members.entry(part).or_default().push(var);
        }
        let n_groups = self.groups.list.len();
        for vars in members.into_values().filter(|vars| vars.len() > 2) {
            let translated: Vec<VarId> = vars
                .into_iter()
                .map(|idx| {
                    // A value that is in no group differs from all values of other variables.
                    let of_value = |value: usize| {
                        let fluent = self.vars[idx].fluent(value as Value);
                        let group = fluent.and_then(|fluent| family_of[fluent.index()]);
                        group.unwrap_or(n_groups + idx) as Value
                    };
                    let tuples: Vec<[Value; 2]> = (0..self.vars[idx].size())
                        .map(|value| [value as Value, of_value(value)])
                        .collect();
                    let domain: ValueSet = tuples.iter().map(|tuple| tuple[1]).collect();
                    let var = self.network.int("group", domain);
                    self.network.table(&[VarId::new(idx), var], Table::from_tuples(2, tuples));
                    var
                })
                .collect();
            self.network.all_different(translated);
        }
    }

    /// Requires the fluents of a set to be as in a state.
    pub fn fix(&mut self, fluents: &BitSet, state: &BitSet) {
        for idx in fluents.iter() {
            let fluent = FluentId::new(idx);
            let holds = self.literal(Literal { fluent, value: state.contains(idx) });
            self.network.require(holds);
        }
    }

    /// Requires the fluents of a set to be as in the state that a variable selects.
    pub fn follow(&mut self, selector: VarId, fluents: &BitSet, states: &[BitSet]) {
        for idx in fluents.iter() {
            let fluent = FluentId::new(idx);
            let holds = self.literal(Literal { fluent, value: true });
            let times = (0..states.len()).filter(|&time| states[time].contains(idx));
            let times: ValueSet = times.map(|time| time as Value).collect();
            self.network.require(holds.equals(Expr::In(Box::new(Expr::Var(selector)), times)));
        }
    }

    /// Returns the variable of an expression, and its values for which the expression holds.
    fn satisfying(&self, expr: &Expr) -> (VarId, Vec<Value>) {
        let var = expr.scope()[0];
        let domain = &self.network.variable(var).domain;
        let values = domain.iter().filter(|&value| expr.holds(&|_| i64::from(value)));
        (var, values.collect())
    }

    /// Returns the variables that some gates read, ascending.
    fn scope_of(&self, cone: &[GateId]) -> Vec<usize> {
        let mut scope: Vec<usize> = (cone.iter())
            .filter_map(|&gate| match self.circuit.gate(gate) {
                Gate::Fluent(fluent) => Some(self.place_of[fluent.index()].0),
                _ => None,
            })
            .collect();
        scope.sort_unstable();
        scope.dedup();
        scope
    }

    /// Lists the combinations of values for which all parts have their values.
    fn add_table(&mut self, scope: &[usize], parts: &[(GateId, bool)]) {
        let cone = self.cones.of(parts.iter().map(|&(gate, _)| gate));
        let mut lanes = Lanes::new(self.circuit);
        let n_cells: usize = scope.iter().map(|&idx| self.vars[idx].size()).product();
        let values_of = |mut cell: usize| -> Vec<Value> {
            let mut values = Vec::with_capacity(scope.len());
            for &idx in scope {
                values.push((cell % self.vars[idx].size()) as Value);
                cell /= self.vars[idx].size();
            }
            values
        };
        let mut tuples = Vec::new();
        for start in (0..n_cells).step_by(64) {
            let batch = start..(start + 64).min(n_cells);
            let mut assumptions = Assumptions::new(self.circuit, self.groups);
            for (lane, cell) in batch.clone().enumerate() {
                for (&idx, value) in scope.iter().zip(values_of(cell)) {
                    let is_true = self.vars[idx].fluent(value);
                    for &fluent in &self.vars[idx].fluents {
                        assumptions
                            .assume(Literal { fluent, value: Some(fluent) == is_true }, 1 << lane);
                    }
                }
            }
            lanes.evaluate(&cone, &assumptions);
            // Groups exclude some combinations; they never occur.
            let mut allowed = first_lanes(batch.len()) & !assumptions.contradictory();
            for &(gate, value) in parts {
                allowed &= lanes.known(gate).lanes(value);
            }
            let in_lane = |(lane, cell): (usize, usize)| (allowed >> lane & 1 == 1).then_some(cell);
            tuples.extend(batch.enumerate().filter_map(in_lane).map(values_of));
        }
        if tuples.len() == n_cells {
            return;
        }
        if scope.is_empty() || tuples.is_empty() {
            self.network.require(Expr::Constant(0));
            return;
        }
        let scope: Vec<VarId> = scope.iter().map(|&idx| VarId::new(idx)).collect();
        self.network.table(&scope, Table::from_tuples(scope.len(), tuples));
    }

    /// Requires a gate to have a value.
    fn require_value(&mut self, gate: GateId, value: bool) {
        let holds = match (self.circuit.gate(gate), value) {
            (Gate::Or(inputs), true) => Expr::Or(inputs.iter().map(|&it| self.expr(it)).collect()),
            (Gate::And(inputs), false) => {
                Expr::Or(inputs.iter().map(|&it| negated(self.expr(it))).collect())
            }
            (_, true) => self.expr(gate),
            (_, false) => negated(self.expr(gate)),
        };
        self.network.require(holds);
    }

    /// Returns the expression of a gate.
    fn expr(&mut self, gate: GateId) -> Expr {
        if let Some(known) = self.exprs.get(&gate) {
            return known.clone();
        }
        for id in self.cones.of([gate]) {
            if self.exprs.contains_key(&id) {
                continue;
            }
            let of = |ids: &[GateId]| ids.iter().map(|id| self.exprs[id].clone()).collect();
            let expr = match self.circuit.gate(id) {
                Gate::Constant(value) => Expr::Constant(i64::from(value)),
                Gate::Fluent(fluent) => self.literal(Literal { fluent, value: true }),
                Gate::Not(input) => negated(self.exprs[&input].clone()),
                Gate::And(inputs) => {
                    let all = Expr::And(of(inputs));
                    self.auxiliary(all)
                }
                Gate::Or(inputs) => {
                    let any = Expr::Or(of(inputs));
                    self.auxiliary(any)
                }
                Gate::Move(_) | Gate::Feedback => {
                    unreachable!("the end depends on no move, and the circuit has no loops")
                }
            };
            self.exprs.insert(id, expr);
        }
        self.exprs[&gate].clone()
    }

    fn auxiliary(&mut self, expr: Expr) -> Expr {
        let var = self.network.bool(format!("gate {}", self.exprs.len()));
        self.network.require(Expr::Var(var).equals(expr));
        var.equals(1)
    }
}

/// Joins parts whose variables are among those of others.
fn joined(mut parts: Vec<Part>) -> Vec<Part> {
    parts.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.0.cmp(&b.0)));
    let mut joined: Vec<Part> = Vec::new();
    for (scope, of_scope) in parts {
        let contains =
            |other: &&mut Part| scope.iter().all(|idx| other.0.binary_search(idx).is_ok());
        match joined.iter_mut().find(contains) {
            Some(larger) => larger.1.extend(of_scope),
            None => joined.push((scope, of_scope)),
        }
    }
    joined
}

/// Returns the negation of an expression that is 0 or 1.
fn negated(expr: Expr) -> Expr {
    match expr {
        Expr::Compare(op, a, b) => Expr::Compare(op.negated(), a, b),
        Expr::Constant(value) => Expr::Constant(i64::from(value == 0)),
        other => Expr::Not(Box::new(other)),
    }
}
