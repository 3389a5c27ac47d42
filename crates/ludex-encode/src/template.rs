//! One step of a game as a network.

use ludex_base::{BitSet, FluentId, MoveId, RoleId};
use ludex_circuit::{Circuit, Gate};
use ludex_csp::propagators::table::{STAR, Table};
use ludex_csp::{Condition, Constraint, Expr, Network, Value, ValueSet, VarId};

use crate::bounds::Bounds;
use crate::condition::GateCondition;
use crate::config::{EncodeConfig, EncodeError};
use crate::gates::Weaver;
use crate::groups::find_groups;
use crate::information::Information;
use crate::prove::Group;

/// Encodes one step of a game.
///
/// # Examples
///
/// ```
/// use ludex_base::{Limits, Source};
/// use ludex_encode::{EncodeConfig, Solution, Steps, encode};
///
/// let rules = "(role r) (init dark) (legal r wait) (legal r switch)
///     (<= (next dark) (does r wait)) (<= (next light) (does r switch))
///     (<= terminal (true light)) (goal r 100)";
/// let program = ludex_gdl::check_source(&Source::new("lamp", rules)).program.unwrap();
/// let ground = ludex_ground::ground(&program, &Limits::usual()).unwrap();
/// let circuit = ludex_circuit::compile(&ground);
///
/// let template = encode(&circuit, &EncodeConfig::default())?;
/// let mut steps = Steps::new(&template)?;
/// // In the initial state there is a solution for either move.
/// assert!(steps.inject(&circuit.init));
/// let mut solutions = Vec::new();
/// steps.for_each_solution(&mut |engine| {
///     solutions.push(Solution::read(&template, engine));
///     true
/// });
/// assert_eq!(solutions.len(), 2);
/// assert_ne!(solutions[0].next, solutions[1].next);
/// # Ok::<(), ludex_encode::EncodeError>(())
/// ```
///
/// # Errors
/// Returns an error if the loops of the circuit are too large to unroll, or if a limit of the
/// configuration is reached.
pub fn encode(circuit: &Circuit, config: &EncodeConfig) -> Result<Template, EncodeError> {
    let max_gates = circuit.n_gates().saturating_add(config.max_unrolled);
    let too_large = EncodeError::LoopsTooLarge { max_gates };
    let circuit = if circuit.loops.is_empty() {
        circuit.optimized()
    } else {
        circuit.unrolled(max_gates).ok_or(too_large)?.optimized()
    };
    let mut bounds = Bounds::new(config.deadline.clone(), config.max_bytes);
    bounds.add((circuit.n_gates() * size_of::<u64>()) as u64);
    bounds.go_on(&Network::new())?;
    let groups = find_groups(&circuit, &config.groups, &config.deadline);
    let groups = groups.ok_or(EncodeError::TooLong { n_variables: 0, n_constraints: 0 })?;
    let information = Information::of(&circuit, &groups, &config.groups, &config.deadline);
    bounds.go_on(&Network::new())?;
    let state_vars = chosen_groups(&circuit, &groups);
    let mut encoder = Encoder::new(&circuit, state_vars, bounds);
    encoder.conditions()?;
    encoder.legal_moves()?;
    encoder.next_state()?;
    encoder.goals()?;
    encoder.percepts()?;
    Ok(encoder.finish(groups, information))
}

/// One step of a game as a network, the µSCSP of the game.
///
/// Until the end, each role plays a legal move, and the variables of the next state have the values
/// it leads to. After the end nobody moves and the state stays, so every state in which each role
/// can move has a solution, and a terminal state exactly one. Goals are 0 until the end.
#[derive(Clone)]
pub struct Template {
    /// The network.
    pub network: Network,
    /// The fluents that the variables of a state represent.
    pub state_vars: Vec<StateVar>,
    /// The variables of the state, one for each of [`Template::state_vars`].
    pub now: Vec<VarId>,
    /// The variables of the next state, in the same order.
    pub next: Vec<VarId>,
    /// Whether the game is over.
    pub terminal: VarId,
    /// The goal of each role.
    pub goals: Vec<VarId>,
    /// The move of each role, including `random`.
    pub moves: Vec<MoveVar>,
    /// Whether each percept is seen.
    pub percepts: Vec<VarId>,
    /// The chance variables.
    pub chance: Vec<Chance>,
    /// Groups of fluents of which at most one is true, including those without a variable of their
    /// own.
    pub groups: Vec<Group>,
    /// What roles learn about a step.
    pub information: Information,
    /// The number of auxiliary variables, which come last.
    pub n_auxiliary: usize,
    /// Whether the state alone determines each variable.
    pub(crate) is_of_state: Vec<bool>,
    /// By percept: the role that sees it.
    pub(crate) percept_roles: Vec<RoleId>,
    pub(crate) init: BitSet,
    pub(crate) n_fluents: usize,
}

impl Template {
    /// Whether the state alone determines a variable: fluents, the end, the goals, and auxiliary
    /// variables that depend on no move.
    pub fn is_of_state(&self, var: VarId) -> bool {
        self.is_of_state[var.index()]
    }
}

/// Fluents that share a variable: at most one of them is true.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateVar {
    /// The fluents. With several fluents, the variable is the number of the true one; with a single
    /// fluent, it is 1 if the fluent is true.
    pub fluents: Vec<FluentId>,
    /// Whether one of several is always true. If not, an additional value stands for none.
    pub is_exact: bool,
}

impl StateVar {
    /// Returns the number of values.
    pub fn size(&self) -> usize {
        match self.fluents.len() {
            1 => 2,
            n => n + usize::from(!self.is_exact),
        }
    }

    /// Returns the value for which a fluent, by its place in the list, is true.
    pub fn value_of(&self, place: usize) -> Value {
        if self.fluents.len() == 1 { 1 } else { place as Value }
    }

    /// Returns the true fluent for a value, if any.
    pub fn fluent(&self, value: Value) -> Option<FluentId> {
        match self.fluents[..] {
            [only] => (value == 1).then_some(only),
            _ => self.fluents.get(value as usize).copied(),
        }
    }

    /// Returns the value for no true fluent; an exact group has none.
    pub fn none(&self) -> Option<Value> {
        match self.fluents.len() {
            1 => Some(0),
            n => (!self.is_exact).then_some(n as Value),
        }
    }
}

/// The variable of a role's move. Value `i` is the move number `first + i`; the last value stands
/// for no move, after the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MoveVar {
    /// The role that moves.
    pub role: RoleId,
    /// The variable.
    pub var: VarId,
    /// The first move of the role.
    pub first: MoveId,
    /// The number of its moves.
    pub n_moves: usize,
}

impl MoveVar {
    /// Returns the value for no move.
    pub fn none(&self) -> Value {
        self.n_moves as Value
    }

    /// Returns the move of a value, or `None` for no move.
    pub fn played(&self, value: Value) -> Option<MoveId> {
        (value != self.none()).then(|| MoveId::new(self.first.index() + value as usize))
    }
}

/// A chance variable, drawn after the roles have chosen. Every legal move of `random`, that is,
/// every value left once the state is injected, is equally likely.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chance {
    /// The variable.
    pub var: VarId,
    /// Its stage; the roles decide in stage 0.
    pub stage: usize,
}

/// Chooses groups that share no fluent, the largest first, and a variable for each remaining
/// fluent.
fn chosen_groups(circuit: &Circuit, groups: &[Group]) -> Vec<StateVar> {
    let n_fluents = circuit.vocabulary.fluents.len();
    let mut is_taken = vec![false; n_fluents];
    let mut state_vars: Vec<StateVar> = Vec::new();
    for group in groups {
        let mut fluents = group.fluents.clone();
        fluents.retain(|fluent| !is_taken[fluent.index()]);
        if fluents.len() > 1 {
            fluents.iter().for_each(|fluent| is_taken[fluent.index()] = true);
            let is_exact = group.is_exact && fluents.len() == group.fluents.len();
            state_vars.push(StateVar { fluents, is_exact });
        }
    }
    let left = (0..n_fluents).filter(|&idx| !is_taken[idx]).map(FluentId::new);
    state_vars.extend(left.map(|fluent| StateVar { fluents: vec![fluent], is_exact: false }));
    state_vars.sort_by_key(|it| it.fluents[0]);
    state_vars
}

struct Encoder<'a> {
    circuit: &'a Circuit,
    weaver: Weaver,
    conditions: Vec<GateCondition>,
    state_vars: Vec<StateVar>,
    now: Vec<VarId>,
    next: Vec<VarId>,
    terminal: VarId,
    goals: Vec<VarId>,
    moves: Vec<MoveVar>,
    percepts: Vec<VarId>,
}

/// The maximal number of tuples of the tables of a role's legal moves.
const MAX_LEGAL_TUPLES: usize = 2_048;

impl<'a> Encoder<'a> {
    /// Adds the variables in the order of the levels of a stochastic network: the state, the
    /// decisions of the roles, chance, and consequences.
    fn new(circuit: &'a Circuit, state_vars: Vec<StateVar>, bounds: Bounds) -> Self {
        let vocabulary = &circuit.vocabulary;
        let mut weaver = Weaver::new(bounds);
        let now = state_vars.iter().map(|it| add_state_var(&mut weaver, circuit, it, "")).collect();
        let terminal = weaver.truth("terminal".into());
        let roles = || (0..vocabulary.roles.len()).map(RoleId::new);
        let goals = roles()
            .map(|role| {
                let of_role = circuit.goals.iter().filter(|(of, _, _)| *of == role);
                let values = of_role.map(|(_, goal, _)| Value::from(goal.value())).chain([0]);
                let name = format!("goal {}", vocabulary.role_text(role));
                weaver.number(name, values.collect::<ValueSet>())
            })
            .collect();
        // The move of `random` comes after those of the roles that decide.
        let mut order: Vec<RoleId> = roles().collect();
        order.sort_by_key(|&role| vocabulary.is_random(role));
        let mut moves: Vec<MoveVar> = order
            .into_iter()
            .map(|role| {
                let first = vocabulary.moves.partition_point(|(of, _)| *of < role);
                let n_moves = vocabulary.moves.partition_point(|(of, _)| *of <= role) - first;
                let of_role = (first..first + n_moves).map(MoveId::new);
                let mut labels: Vec<String> = of_role.map(|it| vocabulary.move_text(it)).collect();
                labels.push("none".into());
                let name = format!("does {}", vocabulary.role_text(role));
                let var = weaver.symbol(name, labels);
                weaver.is_move(var);
                MoveVar { role, var, first: MoveId::new(first), n_moves }
            })
            .collect();
        moves.sort_by_key(|it| it.role);
        let percepts = (vocabulary.percepts.iter())
            .map(|&(role, term)| {
                let (role, term) = (vocabulary.role_text(role), vocabulary.terms.display(term));
                weaver.truth(format!("sees {role} {term}"))
            })
            .collect();
        let next =
            state_vars.iter().map(|it| add_state_var(&mut weaver, circuit, it, "next ")).collect();
        let conditions = Vec::new();
        Self {
            circuit,
            weaver,
            conditions,
            state_vars,
            now,
            next,
            terminal,
            goals,
            moves,
            percepts,
        }
    }

    fn conditions(&mut self) -> Result<(), EncodeError> {
        let mut fluents =
            vec![GateCondition::Constant(false); self.circuit.vocabulary.fluents.len()];
        for (state_var, &var) in self.state_vars.iter().zip(&self.now) {
            for (place, fluent) in state_var.fluents.iter().enumerate() {
                fluents[fluent.index()] = self.weaver.equals(var, state_var.value_of(place));
            }
        }
        let moves: Vec<GateCondition> = (self.circuit.vocabulary.moves.iter().enumerate())
            .map(|(idx, (role, _))| {
                let of_role = &self.moves[role.index()];
                self.weaver.equals(of_role.var, (idx - of_role.first.index()) as Value)
            })
            .collect();
        self.conditions =
            self.weaver.conditions(self.circuit, self.terminal, |gate| match gate {
                Gate::Fluent(fluent) => fluents[fluent.index()].clone(),
                Gate::Move(played) => moves[played.index()].clone(),
                _ => unreachable!("only fluents and moves are inputs"),
            })?;
        Ok(())
    }

    /// Adds constraints that each role plays a legal move before the end, and none at the end.
    fn legal_moves(&mut self) -> Result<(), EncodeError> {
        for of_role in self.moves.clone() {
            let is_none = of_role.var.equals(of_role.none());
            self.weaver.network.require(Expr::Var(self.terminal).equals(is_none));
            let legal: Vec<GateCondition> = (0..of_role.n_moves)
                .map(|idx| self.circuit.legal[of_role.first.index() + idx])
                .map(|gate| self.conditions[gate.index()].clone())
                .collect();
            if !self.legal_tables(&of_role, &legal) {
                let mut list: Vec<Expr> =
                    legal.iter().map(|condition| self.weaver.literal(condition)).collect();
                list.push(Expr::Constant(1));
                self.weaver.network.add(Constraint::Element {
                    list,
                    start: 0,
                    index: Expr::Var(of_role.var),
                    condition: Condition::equals(1),
                });
            }
            self.weaver.go_on()?;
        }
        Ok(())
    }

    /// Adds one table for the moves whose legality depends on the same variables, if these are
    /// small.
    fn legal_tables(&mut self, of_role: &MoveVar, legal: &[GateCondition]) -> bool {
        let mut by_scope: Vec<(&[VarId], Vec<usize>)> = Vec::new();
        for (idx, condition) in
            legal.iter().enumerate().filter(|(_, it)| **it != GateCondition::Constant(true))
        {
            match by_scope.iter_mut().find(|(vars, _)| *vars == condition.vars()) {
                Some((_, list)) => list.push(idx),
                None => by_scope.push((condition.vars(), vec![idx])),
            }
            if by_scope.len() * (legal.len() + 1) > MAX_LEGAL_TUPLES {
                return false;
            }
        }
        let mut tables = Vec::new();
        let mut n_tuples = 0;
        for (vars, of_scope) in by_scope {
            let mut tuples: Vec<Vec<Value>> = Vec::new();
            for (idx, condition) in legal.iter().enumerate() {
                if of_scope.binary_search(&idx).is_err() {
                    let any = std::iter::repeat_n(STAR, vars.len());
                    tuples.push(any.chain([idx as Value]).collect());
                    continue;
                }
                let Some(scope) = self.weaver.scope([condition]) else { return false };
                let holds = scope.cells_of(condition).into_iter();
                let results: Vec<Option<Value>> =
                    holds.map(|holds| holds.then_some(idx as Value)).collect();
                tuples.extend(scope.short_tuples(&results));
            }
            let any = std::iter::repeat_n(STAR, vars.len());
            tuples.push(any.chain([of_role.none()]).collect());
            n_tuples += tuples.len();
            let columns = [vars, &[of_role.var]].concat();
            tables.push((columns, tuples));
        }
        if n_tuples > MAX_LEGAL_TUPLES {
            return false;
        }
        for (columns, tuples) in tables {
            self.weaver.network.table(&columns, Table::from_tuples(columns.len(), tuples));
        }
        true
    }

    /// Adds constraints that the next state is derived by the rules before the end, and stays at
    /// the end.
    fn next_state(&mut self) -> Result<(), EncodeError> {
        for place in 0..self.state_vars.len() {
            let state_var = self.state_vars[place].clone();
            let conditions: Vec<GateCondition> = (state_var.fluents.iter())
                .map(|fluent| self.conditions[self.circuit.next[fluent.index()].index()].clone())
                .collect();
            if !self.next_table(place, &state_var, &conditions) {
                self.next_clauses(place, &state_var, &conditions);
            }
            self.weaver.go_on()?;
        }
        Ok(())
    }

    fn next_table(
        &mut self,
        place: usize,
        state_var: &StateVar,
        conditions: &[GateCondition],
    ) -> bool {
        let Some(scope) = self.weaver.scope(conditions) else { return false };
        let holds: Vec<Vec<bool>> =
            conditions.iter().map(|condition| scope.cells_of(condition)).collect();
        // If no fluent of an exact group follows, the combination never occurs.
        let results: Vec<Option<Value>> = (0..scope.n_cells())
            .map(|cell| {
                let mut true_ones = (0..conditions.len()).filter(|&it| holds[it][cell]);
                match (true_ones.next(), true_ones.next()) {
                    (None, _) => state_var.none(),
                    (Some(it), None) => Some(state_var.value_of(it)),
                    (Some(_), Some(_)) => None,
                }
            })
            .collect();
        let (now, next) = (self.now[place], self.next[place]);
        let mut columns = scope.vars.clone();
        for var in [now, self.terminal] {
            if !columns.contains(&var) {
                columns.push(var);
            }
        }
        let at = |var: VarId| columns.iter().position(|&it| it == var).expect("a column");
        let (at_now, at_terminal) = (at(now), at(self.terminal));
        columns.push(next);
        let mut tuples: Vec<Vec<Value>> = Vec::new();
        for mut short in scope.short_tuples(&results) {
            let result = short.pop().expect("the result is the last");
            short.resize(columns.len(), STAR);
            if short[at_terminal] != 1 {
                short[at_terminal] = 0;
                short[columns.len() - 1] = result;
                tuples.push(short);
            }
        }
        for value in 0..state_var.size() as Value {
            let mut tuple = vec![STAR; columns.len()];
            tuple[at_now] = value;
            tuple[at_terminal] = 1;
            tuple[columns.len() - 1] = value;
            tuples.push(tuple);
        }
        self.weaver.network.table(&columns, Table::from_tuples(columns.len(), tuples));
        true
    }

    fn next_clauses(&mut self, place: usize, state_var: &StateVar, conditions: &[GateCondition]) {
        let (now, next) = (self.now[place], self.next[place]);
        let is_over = || self.terminal.equals(1);
        for (it, condition) in conditions.iter().enumerate() {
            let value = state_var.value_of(it);
            if *condition != GateCondition::Constant(false) {
                let fails = self.weaver.literal(&condition.negated());
                let clause = vec![is_over(), fails, next.equals(value)];
                self.weaver.network.require(without_falsehood(clause));
            }
            if *condition != GateCondition::Constant(true) {
                let holds = self.weaver.literal(condition);
                let clause = vec![is_over(), holds, next.differs(value)];
                self.weaver.network.require(without_falsehood(clause));
            }
        }
        let mut tuples = vec![[0, STAR, STAR]];
        tuples.extend((0..state_var.size() as Value).map(|value| [1, value, value]));
        self.weaver.network.table(&[self.terminal, now, next], Table::from_tuples(3, tuples));
    }

    /// Adds constraints that a role gets its largest derived goal at the end, and 0 before.
    fn goals(&mut self) -> Result<(), EncodeError> {
        for role in 0..self.goals.len() {
            let derived: Vec<(Value, GateCondition)> = (self.circuit.goals.iter())
                .filter(|(of, goal, _)| of.index() == role && goal.value() > 0)
                .map(|(_, goal, gate)| {
                    (Value::from(goal.value()), self.conditions[gate.index()].clone())
                })
                .collect();
            if !self.goal_table(self.goals[role], &derived) {
                self.goal_clauses(self.goals[role], &derived);
            }
            self.weaver.go_on()?;
        }
        Ok(())
    }

    fn goal_table(&mut self, goal: VarId, derived: &[(Value, GateCondition)]) -> bool {
        let is_over = self.weaver.equals(self.terminal, 1);
        let all = derived.iter().map(|(_, condition)| condition).chain([&is_over]);
        let Some(scope) = self.weaver.scope(all) else { return false };
        let over = scope.cells_of(&is_over);
        let mut results = vec![Some(0); scope.n_cells()];
        for (value, condition) in derived {
            for (cell, holds) in scope.cells_of(condition).into_iter().enumerate() {
                if holds && over[cell] {
                    results[cell] = results[cell].max(Some(*value));
                }
            }
        }
        let tuples = scope.short_tuples(&results);
        let columns = [&scope.vars[..], &[goal]].concat();
        self.weaver.network.table(&columns, Table::from_tuples(columns.len(), tuples));
        true
    }

    fn goal_clauses(&mut self, goal: VarId, derived: &[(Value, GateCondition)]) {
        let terminal = self.terminal;
        for (value, condition) in derived {
            let holds = self.weaver.literal(condition);
            let fails = self.weaver.literal(&condition.negated());
            let network = &mut self.weaver.network;
            network.require(without_falsehood(vec![goal.differs(*value), holds]));
            network.require(goal.differs(*value) | terminal.equals(1));
            let clause = vec![terminal.equals(0), fails, goal.at_least(*value)];
            network.require(without_falsehood(clause));
        }
    }

    fn percepts(&mut self) -> Result<(), EncodeError> {
        for (idx, percept) in self.percepts.clone().into_iter().enumerate() {
            let goes_on = self.weaver.equals(self.terminal, 0);
            let seen = self.conditions[self.circuit.sees[idx].index()].clone();
            let condition = self.weaver.all_of(vec![goes_on, seen]);
            self.weaver.define(percept, &condition);
            self.weaver.go_on()?;
        }
        Ok(())
    }

    fn finish(self, groups: Vec<Group>, information: Information) -> Template {
        let is_random = |it: &&MoveVar| self.circuit.vocabulary.is_random(it.role);
        let chance = self.moves.iter().filter(is_random).map(|it| Chance { var: it.var, stage: 1 });
        let mut is_of_state: Vec<bool> = self.weaver.has_moves().iter().map(|it| !it).collect();
        for var in self.percepts.iter().chain(&self.next) {
            is_of_state[var.index()] = false;
        }
        Template {
            is_of_state,
            chance: chance.collect(),
            n_auxiliary: self.weaver.n_auxiliary(),
            network: self.weaver.network,
            state_vars: self.state_vars,
            now: self.now,
            next: self.next,
            terminal: self.terminal,
            goals: self.goals,
            moves: self.moves,
            percepts: self.percepts,
            groups,
            information,
            percept_roles: self.circuit.vocabulary.percepts.iter().map(|it| it.0).collect(),
            init: self.circuit.init.clone(),
            n_fluents: self.circuit.vocabulary.fluents.len(),
        }
    }
}

/// Returns a clause without its false parts.
fn without_falsehood(mut clause: Vec<Expr>) -> Expr {
    clause.retain(|part| *part != Expr::Constant(0));
    Expr::Or(clause)
}

fn add_state_var(
    weaver: &mut Weaver,
    circuit: &Circuit,
    state_var: &StateVar,
    prefix: &str,
) -> VarId {
    let vocabulary = &circuit.vocabulary;
    if let [only] = state_var.fluents[..] {
        return weaver.truth(format!("{prefix}{}", vocabulary.fluent_text(only)));
    }
    let mut labels: Vec<String> =
        state_var.fluents.iter().map(|&fluent| vocabulary.fluent_text(fluent)).collect();
    let name = format!("{prefix}{}", pattern_text(circuit, &state_var.fluents));
    if !state_var.is_exact {
        labels.push("none".into());
    }
    weaver.symbol(name, labels)
}

/// Returns the common pattern of fluents of one name: `(cell 1 1 ?)`.
fn pattern_text(circuit: &Circuit, fluents: &[FluentId]) -> String {
    let vocabulary = &circuit.vocabulary;
    let term = |fluent: FluentId| vocabulary.fluents[fluent.index()];
    let first = term(fluents[0]);
    let mut text = format!("({}", vocabulary.terms.symbols().name(vocabulary.terms.name(first)));
    for (place, &arg) in vocabulary.terms.args(first).iter().enumerate() {
        let is_common = fluents.iter().all(|&it| vocabulary.terms.args(term(it))[place] == arg);
        if is_common {
            text.push_str(&format!(" {}", vocabulary.terms.display(arg)))
        } else {
            text.push_str(" ?")
        }
    }
    text.push(')');
    text
}
