//! Gates as conditions on variables of a network.
//!
//! Each gate becomes a [`GateCondition`] over few variables. If joining the inputs of a gate would
//! make a condition too large, its inputs get auxiliary variables, and a gate with many inputs gets
//! one of its own, so that no table explodes. The size decides whether a table with short tuples or
//! an expression relates an auxiliary variable to its condition.
//!
//! Invariant: auxiliary variables are functions of the state and the moves, whatever these are.

use ludex_circuit::{Circuit, Gate, GateId};
use ludex_csp::propagators::table::{STAR, Table};
use ludex_csp::{Comparison, Expr, Network, Value, ValueSet, VarId};
use rustc_hash::FxHashMap;

use crate::bounds::Bounds;
use crate::condition::{Dense, GateCondition, Member, Scope};
use crate::config::EncodeError;

/// The maximal number of values of a variable whose membership in a set becomes a table.
const MAX_MEMBER: usize = 16;
/// The maximal number of entries of the short table of a gate with many inputs.
const MAX_SHORT: usize = 256;

/// Builds the network of a circuit, gate by gate.
pub(crate) struct Weaver {
    pub network: Network,
    /// The number of values of each variable; they are 0, 1, ….
    sizes: Vec<usize>,
    /// Whether each variable is a move or depends on one.
    has_moves: Vec<bool>,
    /// Auxiliary variables by their conditions.
    truths: FxHashMap<GateCondition, VarId>,
    n_auxiliary: usize,
    bounds: Bounds,
}

impl Weaver {
    pub fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            network: Network::new(),
            sizes: Vec::new(),
            has_moves: Vec::new(),
            truths: FxHashMap::default(),
            n_auxiliary: 0,
        }
    }

    /// Adds a variable with values 0, 1, … and their names.
    pub fn symbol(&mut self, name: String, labels: Vec<String>) -> VarId {
        self.sizes.push(labels.len());
        self.has_moves.push(false);
        self.network.symbol(name, labels)
    }

    /// Adds a variable that is true or false.
    pub fn truth(&mut self, name: String) -> VarId {
        self.sizes.push(2);
        self.has_moves.push(false);
        self.network.bool(name)
    }

    /// Adds a variable that no condition mentions.
    pub fn number(&mut self, name: String, values: ValueSet) -> VarId {
        self.sizes.push(usize::MAX);
        self.has_moves.push(false);
        self.network.int(name, values)
    }

    /// Marks a variable as a move, before anything depends on it.
    pub fn is_move(&mut self, var: VarId) {
        self.has_moves[var.index()] = true;
    }

    /// Returns by variable whether it is a move or an auxiliary variable that depends on one.
    pub fn has_moves(&self) -> &[bool] {
        &self.has_moves
    }

    /// Checks the limits; to be called after each piece of work.
    ///
    /// # Errors
    /// Returns an error if a limit is reached.
    pub fn go_on(&mut self) -> Result<(), EncodeError> {
        self.bounds.go_on(&self.network)
    }

    /// Returns the number of auxiliary variables.
    pub fn n_auxiliary(&self) -> usize {
        self.n_auxiliary
    }

    pub fn size_of(&self, var: VarId) -> usize {
        self.sizes[var.index()]
    }

    /// Returns the condition that the variable has the value.
    pub fn equals(&self, var: VarId, value: Value) -> GateCondition {
        GateCondition::equals(var, value, self.size_of(var))
    }

    /// Builds the conditions of all gates. `input` gives those of fluents and moves; the gate of
    /// `terminal` becomes the variable.
    ///
    /// # Errors
    /// Returns an error if a limit is reached.
    pub fn conditions(
        &mut self,
        circuit: &Circuit,
        terminal: VarId,
        input: impl Fn(Gate<'_>) -> GateCondition,
    ) -> Result<Vec<GateCondition>, EncodeError> {
        let mut conditions: Vec<GateCondition> = Vec::with_capacity(circuit.n_gates());
        for id in circuit.gate_ids() {
            let of = |ids: &[GateId]| ids.iter().map(|id| conditions[id.index()].clone()).collect();
            let condition = match circuit.gate(id) {
                Gate::Constant(value) => GateCondition::Constant(value),
                gate @ (Gate::Fluent(_) | Gate::Move(_)) => input(gate),
                Gate::Not(input) => conditions[input.index()].negated(),
                Gate::And(inputs) => self.all_of(of(inputs)),
                Gate::Or(inputs) => self.any_of(of(inputs)),
                Gate::Feedback => unreachable!("loops were unrolled"),
            };
            if id == circuit.terminal {
                self.define(terminal, &condition);
            }
            let is_read =
                id == circuit.terminal && !matches!(condition, GateCondition::Constant(_));
            let condition = if is_read { self.equals(terminal, 1) } else { condition };
            self.bounds.add(condition.n_bytes());
            self.go_on()?;
            conditions.push(condition);
        }
        Ok(conditions)
    }

    /// Returns the disjunction of the conditions.
    pub fn any_of(&mut self, parts: Vec<GateCondition>) -> GateCondition {
        self.all_of(parts.iter().map(GateCondition::negated).collect()).negated()
    }

    /// Returns the conjunction of the conditions.
    pub fn all_of(&mut self, parts: Vec<GateCondition>) -> GateCondition {
        let Some(mut parts) = self.merged(parts) else { return GateCondition::Constant(false) };
        match &parts[..] {
            [] => return GateCondition::Constant(true),
            [only] => return only.clone(),
            _ => {}
        }
        if let Some(joined) = self.joined(&parts) {
            return joined;
        }
        // A listed condition gets a variable of its own, and so does a member of a large domain.
        for part in &mut parts {
            if let GateCondition::Dense(_) = part {
                *part = self.truth_condition(part);
            }
        }
        let Some(parts) = self.merged(parts) else { return GateCondition::Constant(false) };
        match (&parts[..], self.joined(&parts)) {
            ([only], _) => only.clone(),
            (_, Some(joined)) => joined,
            _ => self.conjunction(&parts),
        }
    }

    /// Returns the parts with at most one member per variable and without those that are always
    /// true, or `None` if they are contradictory.
    fn merged(&self, parts: Vec<GateCondition>) -> Option<Vec<GateCondition>> {
        let mut members: Vec<Member> = Vec::new();
        let mut merged: Vec<GateCondition> = Vec::new();
        for part in parts {
            match part {
                GateCondition::Constant(true) => {}
                GateCondition::Constant(false) => return None,
                GateCondition::Member(member) => members.push(member),
                dense => merged.push(dense),
            }
        }
        members.sort_by_key(|member| member.var);
        for of_one in members.chunk_by(|a, b| a.var == b.var) {
            match self.intersection(of_one) {
                GateCondition::Constant(true) => {}
                GateCondition::Constant(false) => return None,
                condition => merged.push(condition),
            }
        }
        merged.sort_by(|a, b| a.vars().cmp(b.vars()));
        merged.dedup();
        Some(merged)
    }

    /// Intersects all members of one variable.
    fn intersection(&self, members: &[Member]) -> GateCondition {
        if let [only] = members {
            return GateCondition::Member(only.clone());
        }
        let var = members[0].var;
        let mut excluded: Vec<Value> = Vec::new();
        for member in members.iter().filter(|member| !member.is_inside) {
            excluded.extend_from_slice(&member.values);
        }
        excluded.sort_unstable();
        excluded.dedup();
        let mut inside = members.iter().filter(|member| member.is_inside);
        let Some(first) = inside.next() else {
            return GateCondition::member(var, excluded, false, self.size_of(var));
        };
        let mut values = first.values.to_vec();
        values.retain(|value| excluded.binary_search(value).is_err());
        for other in inside {
            values.retain(|value| other.values.binary_search(value).is_ok());
        }
        GateCondition::member(var, values, true, self.size_of(var))
    }

    /// Returns the conjunction as one condition, if it is small.
    fn joined(&self, parts: &[GateCondition]) -> Option<GateCondition> {
        let scope = self.scope(parts)?;
        let mut cells = scope.cells_of(&parts[0]);
        for part in &parts[1..] {
            for (cell, holds) in cells.iter_mut().zip(scope.cells_of(part)) {
                *cell &= holds;
            }
        }
        Some(scope.condition(cells))
    }

    pub fn scope<'a>(
        &self,
        conditions: impl IntoIterator<Item = &'a GateCondition>,
    ) -> Option<Scope> {
        Scope::of(conditions, &|var| self.size_of(var))
    }

    /// Returns the condition as an auxiliary variable that is true or false.
    fn truth_condition(&mut self, condition: &GateCondition) -> GateCondition {
        let (truth, is_positive) = self.truth_of(condition);
        self.equals(truth, Value::from(is_positive))
    }

    /// Returns a variable and the value, 1 or 0, that it has if and only if the condition holds.
    fn truth_of(&mut self, condition: &GateCondition) -> (VarId, bool) {
        // A condition and its negation share a variable.
        let is_positive = match condition {
            GateCondition::Member(member) => member.is_inside,
            GateCondition::Dense(dense) => !dense.cells[0],
            GateCondition::Constant(_) => true,
        };
        let key = if is_positive { condition.clone() } else { condition.negated() };
        if let GateCondition::Member(member) = &key
            && self.size_of(member.var) == 2
        {
            return (member.var, is_positive == (member.values[0] == 1));
        }
        if let Some(&truth) = self.truths.get(&key) {
            return (truth, is_positive);
        }
        let truth = self.auxiliary(std::slice::from_ref(&key));
        self.define(truth, &key);
        self.truths.insert(key, truth);
        (truth, is_positive)
    }

    /// Adds a variable that depends on these parts.
    fn auxiliary(&mut self, parts: &[GateCondition]) -> VarId {
        self.n_auxiliary += 1;
        let truth = self.truth(format!("aux {}", self.n_auxiliary));
        let mut vars = parts.iter().flat_map(|part| part.vars());
        self.has_moves[truth.index()] = vars.any(|var| self.has_moves[var.index()]);
        truth
    }

    /// Adds constraints that relate a variable with the values 0 and 1 to a condition.
    pub fn define(&mut self, truth: VarId, condition: &GateCondition) {
        match condition {
            GateCondition::Constant(value) => {
                self.network.require(truth.equals(Value::from(*value)))
            }
            GateCondition::Member(member) if self.size_of(member.var) > MAX_MEMBER => {
                let positive = Member { is_inside: true, ..member.clone() };
                let holds = self.membership(&positive);
                let law = if member.is_inside {
                    Expr::Var(truth).equals(holds)
                } else {
                    Expr::Var(truth).differs(holds)
                };
                self.network.require(law);
            }
            GateCondition::Dense(dense) if self.define_conjunction(truth, dense) => {}
            condition => {
                let scope = self.scope([condition]).expect("a condition is small");
                let holds = scope.cells_of(condition);
                let results: Vec<Option<Value>> =
                    holds.into_iter().map(|holds| Some(Value::from(holds))).collect();
                let tuples = scope.short_tuples(&results);
                let columns = [&scope.vars[..], &[truth]].concat();
                self.network.table(&columns, Table::from_tuples(columns.len(), tuples));
            }
        }
    }

    /// Relates a variable to a conjunction of members, or to its negation, by an expression.
    /// Returns false if a table is as good: it then has as many tuples as the largest domain has
    /// values.
    fn define_conjunction(&mut self, truth: VarId, dense: &Dense) -> bool {
        if dense.sizes.iter().all(|&size| size <= MAX_MEMBER) {
            return false;
        }
        let found = [true, false]
            .into_iter()
            .find_map(|wanted| dense.members(wanted).map(|members| (wanted, members)));
        let Some((wanted, members)) = found else { return false };
        let literals = members.iter().map(|member| self.literal(member)).collect();
        let holds = Expr::And(literals);
        let truth = Expr::Var(truth);
        self.network.require(if wanted { truth.equals(holds) } else { truth.differs(holds) });
        true
    }

    fn membership(&self, member: &Member) -> Expr {
        let var = Expr::Var(member.var);
        let (first, last) = (member.values[0], member.values[member.values.len() - 1]);
        match (first == last, member.is_inside) {
            (true, true) => var.equals(first),
            (true, false) => var.differs(first),
            (false, is_inside) => {
                let inside = Expr::In(Box::new(var), member.values.iter().copied().collect());
                if is_inside { inside } else { Expr::Not(Box::new(inside)) }
            }
        }
    }

    /// Adds a variable for a conjunction of many parts.
    fn conjunction(&mut self, parts: &[GateCondition]) -> GateCondition {
        let truth = self.auxiliary(parts);
        let n_tuples = 1 + parts.iter().map(|part| self.n_falsifying(part)).sum::<usize>();
        if parts.iter().all(|part| self.n_satisfying(part) == 1)
            && n_tuples * (parts.len() + 1) <= MAX_SHORT
        {
            self.short_conjunction(truth, parts);
        } else {
            let literals = parts.iter().map(|part| self.literal(part)).collect();
            self.network.require(Expr::Var(truth).equals(Expr::And(literals)));
        }
        self.equals(truth, 1)
    }

    fn n_satisfying(&self, part: &GateCondition) -> usize {
        match part {
            GateCondition::Member(member) if member.is_inside => member.values.len(),
            GateCondition::Member(member) => self.size_of(member.var) - member.values.len(),
            _ => usize::MAX,
        }
    }

    fn n_falsifying(&self, part: &GateCondition) -> usize {
        match part {
            GateCondition::Member(member) => self.size_of(member.var) - self.n_satisfying(part),
            _ => usize::MAX / 2,
        }
    }

    /// Returns one tuple for all parts holding, and one for each value that makes a part fail.
    fn short_conjunction(&mut self, truth: VarId, parts: &[GateCondition]) {
        let mut columns: Vec<VarId> = parts.iter().map(|part| part.vars()[0]).collect();
        let n = columns.len();
        let values = |place: usize, wanted: bool| {
            let part = &parts[place];
            (0..self.size_of(columns[place]) as Value).filter(move |&v| part.holds(&[v]) == wanted)
        };
        let mut tuples = Vec::new();
        let mut holding: Vec<Value> =
            (0..n).map(|place| values(place, true).next().expect("one value fits")).collect();
        holding.push(1);
        for place in 0..n {
            for value in values(place, false) {
                let mut tuple = vec![STAR; n + 1];
                tuple[place] = value;
                tuple[n] = 0;
                tuples.push(tuple);
            }
        }
        tuples.push(holding);
        columns.push(truth);
        self.network.table(&columns, Table::from_tuples(n + 1, tuples));
    }

    /// Returns the condition as an expression over one variable, which it gets if it has none.
    pub fn literal(&mut self, condition: &GateCondition) -> Expr {
        match condition {
            GateCondition::Constant(value) => Expr::Constant(i64::from(*value)),
            GateCondition::Member(member) if member.values.len() == 1 => {
                if self.size_of(member.var) == 2 {
                    return self.truth_literal(member.var, member.holds(1));
                }
                self.membership(member)
            }
            condition => {
                let (truth, is_positive) = self.truth_of(condition);
                self.truth_literal(truth, is_positive)
            }
        }
    }

    fn truth_literal(&self, truth: VarId, is_positive: bool) -> Expr {
        let op = if is_positive { Comparison::Eq } else { Comparison::Ne };
        Expr::Compare(op, Box::new(Expr::Var(truth)), Box::new(Expr::Constant(1)))
    }
}
