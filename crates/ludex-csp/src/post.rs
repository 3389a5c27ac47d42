//! From a network as it was stated to propagators in an engine.
//!
//! Global constraints get their propagator. Expressions are taken apart: comparisons of sums
//! become linear constraints, disjunctions clauses, and everything else either a table, when
//! its variables have few combinations, or a definition of an auxiliary variable. Equal
//! subexpressions share one auxiliary variable.
//!
//! Invariant: variables of the network keep their number in the engine, and auxiliary
//! variables are functions of them, so that solutions are counted right.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::domains::{Conflict, Domains, VarId};
use crate::engine::Engine;
use crate::error::CspError;
use crate::expr::{Comparison, Expr, Operation};
use crate::network::{Condition, Constraint, Network};
use crate::propagator::Propagator;
use crate::propagators::table::{Table, TableAlgorithm, table_propagator};
use crate::propagators::*;
use crate::{VALUE_LIMIT, Value, ValueSet};

/// How constraints are enforced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PostConfig {
    /// The algorithm for tables.
    pub table: TableAlgorithm,
    /// The strength of all-different.
    pub all_different: AllDifferentStrength,
    /// An expression whose variables have up to this many combinations becomes a table;
    /// five times as many for two variables.
    pub max_tabled: u64,
}

impl Default for PostConfig {
    fn default() -> Self {
        Self {
            table: TableAlgorithm::Auto,
            all_different: AllDifferentStrength::Auto,
            max_tabled: 10_000,
        }
    }
}

/// How much an all-different constraint prunes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AllDifferentStrength {
    /// Domain consistency, unless there are very many values.
    Auto,
    /// As the clique of disequalities.
    Value,
    /// Bounds consistency.
    Bounds,
    /// Domain consistency.
    Gac,
}

impl AllDifferentStrength {
    /// All strengths with their names in options.
    pub const ALL: [(&'static str, AllDifferentStrength); 4] = [
        ("auto", AllDifferentStrength::Auto),
        ("value", AllDifferentStrength::Value),
        ("bounds", AllDifferentStrength::Bounds),
        ("gac", AllDifferentStrength::Gac),
    ];
}

/// A network in an engine.
#[derive(Clone)]
pub struct Posted {
    /// The engine; the first variables are those of the network.
    pub engine: Engine,
    /// How many variables the network has; the others are auxiliary.
    pub n_variables: usize,
    /// The variable that holds the objective, and whether it is minimized.
    pub objective: Option<(VarId, bool)>,
    /// By variable: those it is computed from, when it is auxiliary.
    pub origins: Vec<Vec<VarId>>,
}

impl Network {
    /// Puts the network in an engine. Nothing is propagated yet.
    ///
    /// # Errors
    /// When a domain is empty or too large, a scope is malformed, or sums leave the range of
    /// numbers.
    pub fn post(&self, config: &PostConfig) -> Result<Engine, CspError> {
        Ok(self.post_all(config)?.engine)
    }

    /// Puts the network and its objective in an engine. Nothing is propagated yet.
    ///
    /// # Errors
    /// As [`Network::post`].
    pub fn post_all(&self, config: &PostConfig) -> Result<Posted, CspError> {
        let mut poster = Poster {
            network: self,
            config,
            engine: Engine::new(),
            constants: FxHashMap::default(),
            defined: FxHashMap::default(),
            tabled: FxHashMap::default(),
            origins: FxHashMap::default(),
        };
        poster.add_variables()?;
        for constraint in self.constraints() {
            poster.constraint(constraint)?;
        }
        let objective = match self.objective() {
            Some(objective) => Some((poster.var_of(&objective.expr)?, objective.is_minimized)),
            None => None,
        };
        let mut origins = vec![Vec::new(); poster.engine.domains().n_variables()];
        for (x, scope) in poster.origins {
            origins[x.index()] = scope;
        }
        let n_variables = self.variables().len();
        Ok(Posted { engine: poster.engine, n_variables, objective, origins })
    }
}

struct Poster<'a> {
    network: &'a Network,
    config: &'a PostConfig,
    engine: Engine,
    constants: FxHashMap<Value, VarId>,
    /// Auxiliary variables by what they are equal to.
    defined: FxHashMap<Expr, VarId>,
    /// Tables of expressions, by their form and their domains.
    tabled: FxHashMap<(Expr, Vec<ValueSet>), Arc<Table>>,
    /// By auxiliary variable: the variables of what it is equal to.
    origins: FxHashMap<VarId, Vec<VarId>>,
}

/// Sums stay below this, so that adding bounds can't overflow.
const SUM_LIMIT: i128 = 1 << 61;

impl Poster<'_> {
    fn add_variables(&mut self) -> Result<(), CspError> {
        // Values that no allowed tuple has are left out from the start where the domain
        // would otherwise be too wide for tables.
        let mut sets: Vec<ValueSet> =
            self.network.variables().iter().map(|variable| variable.domain.clone()).collect();
        for constraint in self.network.constraints() {
            if let Constraint::Intension(e) = constraint {
                intersect_members(e, &mut sets);
            }
            if let Constraint::Table { scope, table, is_positive: true } = constraint {
                for (position, x) in scope.iter().enumerate() {
                    let set = &mut sets[x.index()];
                    let column = || table.tuples().map(move |tuple| tuple[position]);
                    if set.len() > 1 << 16
                        && table.arity() == scope.len()
                        && !column().any(|value| value == table::STAR)
                    {
                        *set = set.intersection(&column().collect());
                    }
                }
            }
        }
        for (variable, set) in self.network.variables().iter().zip(&mut sets) {
            if variable.domain.is_empty() {
                return Err(CspError::EmptyDomain { variable: variable.name.clone() });
            }
            if set.is_empty() {
                // The constraints leave nothing, which is an answer and not a mistake.
                *set = variable.domain.clone();
                self.fail();
            }
            let limits = -VALUE_LIMIT..=VALUE_LIMIT;
            if !set.min().is_some_and(|lo| limits.contains(&lo))
                || !set.max().is_some_and(|hi| limits.contains(&hi))
            {
                return Err(CspError::out_of_range(format!("the domain of `{}`", variable.name)));
            }
            self.engine
                .add_variable(set)
                .ok_or_else(|| CspError::DomainTooLarge { variable: variable.name.clone() })?;
        }
        Ok(())
    }

    fn domains(&self) -> &Domains {
        self.engine.domains()
    }

    fn name(&self, x: VarId) -> String {
        let variable = self.network.variables().get(x.index());
        variable.map_or_else(|| format!("auxiliary {}", x.index()), |v| v.name.clone())
    }

    /// The network has no solution; propagation will say so.
    fn fail(&mut self) {
        self.engine.post(Box::new(Clause::new(Vec::new())));
    }

    fn post(&mut self, propagator: impl Propagator + 'static) {
        self.engine.post(Box::new(propagator));
    }

    /// Prunes a domain for good.
    fn prune(&mut self, prune: impl FnOnce(&mut Domains) -> Result<bool, Conflict>) {
        if prune(self.engine.domains_mut()).is_err() {
            self.fail();
        }
    }

    fn aux(&mut self, set: &ValueSet) -> Result<VarId, CspError> {
        self.engine
            .add_variable(set)
            .ok_or_else(|| CspError::out_of_range("the value of an expression"))
    }

    fn aux_range(&mut self, lo: i64, hi: i64) -> Result<VarId, CspError> {
        let limit = i64::from(VALUE_LIMIT);
        if lo < -limit || hi > limit {
            return Err(CspError::out_of_range("the value of an expression"));
        }
        self.aux(&ValueSet::from(lo as Value..=hi as Value))
    }

    fn truth(&mut self) -> Result<VarId, CspError> {
        self.aux_range(0, 1)
    }

    fn constant(&mut self, value: i64) -> Result<VarId, CspError> {
        let value = Value::try_from(value)
            .ok()
            .filter(|value| (-VALUE_LIMIT..=VALUE_LIMIT).contains(value))
            .ok_or_else(|| CspError::out_of_range(format!("the number {value}")))?;
        if let Some(&x) = self.constants.get(&value) {
            return Ok(x);
        }
        let x = self.aux(&ValueSet::from(value..=value))?;
        self.constants.insert(value, x);
        Ok(x)
    }

    fn bounds_of(&self, x: VarId) -> (i64, i64) {
        (i64::from(self.domains().min(x)), i64::from(self.domains().max(x)))
    }

    // ---- Global constraints ----

    fn constraint(&mut self, constraint: &Constraint) -> Result<(), CspError> {
        match constraint {
            Constraint::Intension(e) => self.require(e),
            Constraint::Table { scope, table, is_positive } => {
                self.table(scope, table, *is_positive)
            }
            Constraint::AllDifferent { list, except } => {
                let vars = self.vars_of(list)?;
                self.distinct_scope("allDifferent", &vars)?;
                self.all_different(&vars, except);
                Ok(())
            }
            Constraint::AllDifferentLists { lists } => self.all_different_lists(lists),
            Constraint::Count { list, values, condition } => {
                let vars = self.vars_of(list)?;
                let n = self.number(condition, list.len())?;
                self.post(Count::new(&vars, values.clone(), n));
                Ok(())
            }
            Constraint::NValues { list, except, condition } => {
                let vars = self.vars_of(list)?;
                let n = self.number(condition, list.len())?;
                self.post(NValues::new(&vars, except.clone(), n));
                Ok(())
            }
            Constraint::Cardinality { list, values, occurrences, is_closed } => {
                self.cardinality(list, values, occurrences, *is_closed)
            }
            Constraint::Element { list, start, index, condition } => {
                self.element(list, *start, index, condition)
            }
            Constraint::Lex { lists, is_strict } => {
                if lists.windows(2).any(|pair| pair[0].len() != pair[1].len()) {
                    return Err(CspError::malformed("lex", "the lists have different lengths"));
                }
                let lists: Vec<Vec<VarId>> =
                    lists.iter().map(|list| self.vars_of(list)).collect::<Result<_, _>>()?;
                for pair in lists.windows(2) {
                    self.post(Lex::new(&pair[0], &pair[1], *is_strict));
                }
                Ok(())
            }
            Constraint::NoOverlap { origins, lengths, ignores_zeros } => {
                self.no_overlap(origins, lengths, *ignores_zeros)
            }
            Constraint::Cumulative { origins, lengths, heights, limit } => {
                if origins.len() != lengths.len() || origins.len() != heights.len() {
                    let problem = "origins, lengths and heights differ in number";
                    return Err(CspError::malformed("cumulative", problem));
                }
                let [origins, lengths, heights] =
                    [self.vars_of(origins)?, self.vars_of(lengths)?, self.vars_of(heights)?];
                let limit = self.var_of(limit)?;
                self.post(Cumulative::new(&origins, &lengths, &heights, limit));
                Ok(())
            }
            Constraint::Circuit { list, start, size } => {
                let vars = self.vars_of(list)?;
                self.distinct_scope("circuit", &vars)?;
                if let Some(size) = size {
                    let start = *start;
                    let on_circuit = (vars.iter().enumerate())
                        .map(|(i, &x)| x.differs(Expr::Constant(i64::from(start) + i as i64)));
                    self.require(&size.on(Expr::Sum(on_circuit.collect())))?;
                }
                self.all_different(&vars, &ValueSet::default());
                self.post(Circuit::new(&vars, *start));
                Ok(())
            }
            Constraint::Regular { list, automaton } => {
                let vars = self.vars_of(list)?;
                self.narrow_scope(&vars)?;
                let domains = self.engine.domains();
                let allows = |at: usize, value: Value| domains.contains(vars[at], value);
                match automaton.unroll(vars.len(), allows) {
                    Some(mdd) => self.post(MddPropagator::new(&vars, Arc::new(mdd))),
                    None => self.fail(),
                }
                Ok(())
            }
            Constraint::Mdd { list, mdd } => {
                if mdd.layers().len() != list.len() {
                    let problem = "the diagram has not one layer for each variable";
                    return Err(CspError::malformed("mdd", problem));
                }
                let vars = self.vars_of(list)?;
                self.narrow_scope(&vars)?;
                self.post(MddPropagator::new(&vars, Arc::clone(mdd)));
                Ok(())
            }
            Constraint::Channel { first, start_first, second, start_second } => {
                let (a, b) = (self.vars_of(first)?, self.vars_of(second)?);
                if a.len() > b.len() {
                    return Err(CspError::malformed("channel", "the first list is the longer one"));
                }
                self.distinct_scope("channel", &a)?;
                self.distinct_scope("channel", &b)?;
                self.all_different(&a, &ValueSet::default());
                if a.len() == b.len() && a != b {
                    self.all_different(&b, &ValueSet::default());
                }
                self.post(Channel::new(&a, *start_first, &b, *start_second));
                Ok(())
            }
            Constraint::Custom(propagator) => {
                self.engine.post(propagator.duplicate());
                Ok(())
            }
        }
    }

    fn distinct_scope(&self, constraint: &str, vars: &[VarId]) -> Result<(), CspError> {
        let mut sorted = vars.to_vec();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1] && !self.is_constant(pair[0])) {
            Some(pair) => Err(CspError::RepeatedVariable {
                constraint: constraint.to_string(),
                variable: self.name(pair[0]),
            }),
            None => Ok(()),
        }
    }

    /// Constraints that list values need domains whose values can be listed.
    fn narrow_scope(&self, vars: &[VarId]) -> Result<(), CspError> {
        match vars.iter().find(|&&x| self.domains().bits(x).is_none()) {
            Some(&x) => Err(CspError::WideDomain { variable: self.name(x) }),
            None => Ok(()),
        }
    }

    fn is_constant(&self, x: VarId) -> bool {
        x.index() >= self.network.variables().len() && self.domains().is_fixed(x)
    }

    fn table(
        &mut self,
        scope: &[VarId],
        table: &Arc<Table>,
        is_positive: bool,
    ) -> Result<(), CspError> {
        if table.arity() != scope.len() {
            let problem =
                format!("tuples of {} values for {} variables", table.arity(), scope.len());
            return Err(CspError::malformed("extension", problem));
        }
        self.distinct_scope("extension", scope)?;
        self.narrow_scope(scope)?;
        if let [x] = *scope {
            let set: rustc_hash::FxHashSet<Value> = table.tuples().map(|tuple| tuple[0]).collect();
            let has_star = table.has_stars();
            self.prune(|d| d.retain(x, |v| (has_star || set.contains(&v)) == is_positive));
            return Ok(());
        }
        if table.is_empty() {
            if is_positive {
                self.fail();
            }
            return Ok(());
        }
        let propagator =
            table_propagator(scope, table, is_positive, self.config.table, self.engine.domains());
        self.engine.post(propagator);
        Ok(())
    }

    fn all_different(&mut self, vars: &[VarId], except: &ValueSet) {
        let [x, y] = *vars else {
            return self.all_different_many(vars, except);
        };
        if except.is_empty() {
            self.post(NotEqual::new(x, y, 0));
        } else {
            self.all_different_many(vars, except);
        }
    }

    fn all_different_many(&mut self, vars: &[VarId], except: &ValueSet) {
        if vars.len() < 2 {
            return;
        }
        let n_values: u64 = vars.iter().map(|&x| self.domains().size(x)).sum();
        let strength = match self.config.all_different {
            AllDifferentStrength::Auto if n_values > 20_000 => AllDifferentStrength::Bounds,
            AllDifferentStrength::Auto => AllDifferentStrength::Gac,
            // Matching lists every value.
            AllDifferentStrength::Gac if n_values > 1 << 22 => AllDifferentStrength::Bounds,
            strength => strength,
        };
        self.post(AllDifferentValue::new(vars, except.clone()));
        match strength {
            AllDifferentStrength::Gac => self.post(AllDifferentGac::new(vars, except.clone())),
            AllDifferentStrength::Bounds if except.is_empty() => {
                self.post(AllDifferentBounds::new(vars));
            }
            _ => {}
        }
    }

    fn all_different_lists(&mut self, lists: &[Vec<Expr>]) -> Result<(), CspError> {
        if lists.windows(2).any(|pair| pair[0].len() != pair[1].len()) {
            return Err(CspError::malformed("allDifferent", "the lists have different lengths"));
        }
        for (i, first) in lists.iter().enumerate() {
            for second in &lists[..i] {
                let differs = first.iter().zip(second).map(|(a, b)| a.clone().differs(b));
                self.require(&Expr::Or(differs.collect()))?;
            }
        }
        Ok(())
    }

    /// The variable for a number between 0 and `most` that meets the condition.
    fn number(&mut self, condition: &Condition, most: usize) -> Result<VarId, CspError> {
        if let Condition::Compare(Comparison::Eq, right) = condition {
            return self.var_of(right);
        }
        let n = self.aux_range(0, most as i64)?;
        self.require(&condition.on(Expr::Var(n)))?;
        Ok(n)
    }

    fn cardinality(
        &mut self,
        list: &[Expr],
        values: &[Value],
        occurrences: &[Condition],
        is_closed: bool,
    ) -> Result<(), CspError> {
        if values.len() != occurrences.len() {
            let problem = "values and occurrences differ in number";
            return Err(CspError::malformed("cardinality", problem));
        }
        let vars = self.vars_of(list)?;
        let mut numbers = Vec::new();
        for (&value, condition) in values.iter().zip(occurrences) {
            let n = self.number(condition, list.len())?;
            self.post(Count::new(&vars, [value], n));
            numbers.push(n);
        }
        let set: ValueSet = values.iter().copied().collect();
        if is_closed {
            for &x in &vars {
                self.require_member(x, &set)?;
            }
        }
        // When each variable takes one of the values, the numbers add up.
        let is_covered = vars.iter().all(|&x| {
            self.domains().size(x) <= 1 << 16 && self.domains().values(x).all(|v| set.contains(v))
        });
        if is_covered && set.len() == values.len() as u64 {
            // One variable may be the number of several values.
            let mut terms: Vec<(i64, VarId)> = Vec::new();
            for &number in &numbers {
                match terms.iter_mut().find(|(_, x)| *x == number) {
                    Some((factor, _)) => *factor += 1,
                    None => terms.push((1, number)),
                }
            }
            self.linear(&terms, Comparison::Eq, vars.len() as i64)?;
        }
        Ok(())
    }

    fn element(
        &mut self,
        list: &[Expr],
        start: Value,
        index: &Expr,
        condition: &Condition,
    ) -> Result<(), CspError> {
        if list.is_empty() {
            self.fail();
            return Ok(());
        }
        let index = self.var_of(index)?;
        let value = match condition {
            Condition::Compare(Comparison::Eq, right) => self.var_of(right)?,
            _ => {
                let bounds = list.iter().map(|e| e.bounds(&|x| self.bounds_of(x)));
                let (lo, hi) = bounds
                    .reduce(|(l1, h1), (l2, h2)| (l1.min(l2), h1.max(h2)))
                    .expect("the list is not empty");
                let value = self.aux_range(lo, hi)?;
                self.require(&condition.on(Expr::Var(value)))?;
                value
            }
        };
        let n = list.len() as i64;
        self.prune(|d| d.at_least(index, start));
        self.prune(|d| d.at_most_wide(index, i64::from(start) + n - 1));
        let constants: Option<Vec<i64>> = (list.iter())
            .map(|e| match e {
                Expr::Constant(value) => Some(*value),
                Expr::Var(x) => self.domains().fixed_value(*x).map(i64::from),
                _ => None,
            })
            .collect();
        let has_bits = self.domains().bits(index).is_some() && self.domains().bits(value).is_some();
        match constants {
            Some(constants) if has_bits && index != value => {
                let pairs = constants
                    .iter()
                    .enumerate()
                    .filter_map(|(i, &v)| Some([start + i as Value, Value::try_from(v).ok()?]));
                let table = Arc::new(Table::from_tuples(2, pairs));
                self.table(&[index, value], &table, true)
            }
            _ => {
                let vars = self.vars_of(list)?;
                self.post(Element::new(&vars, start, index, value));
                Ok(())
            }
        }
    }

    fn no_overlap(
        &mut self,
        origins: &[Vec<Expr>],
        lengths: &[Vec<Expr>],
        ignores_zeros: bool,
    ) -> Result<(), CspError> {
        let n_dimensions = origins.first().map_or(0, Vec::len);
        let is_proper = origins.len() == lengths.len()
            && n_dimensions > 0
            && origins.iter().chain(lengths).all(|list| list.len() == n_dimensions);
        if !is_proper && !origins.is_empty() {
            return Err(CspError::malformed("noOverlap", "origins and lengths don't match"));
        }
        let mut boxes: Vec<Vec<(VarId, VarId)>> = Vec::new();
        for (origin, length) in origins.iter().zip(lengths) {
            let origin = self.vars_of(origin)?;
            let length = self.vars_of(length)?;
            boxes.push(origin.into_iter().zip(length).collect());
        }
        if n_dimensions == 1 {
            let starts: Vec<VarId> = boxes.iter().map(|sides| sides[0].0).collect();
            let lengths: Vec<VarId> = boxes.iter().map(|sides| sides[0].1).collect();
            self.post(NoOverlap::new(&starts, &lengths, ignores_zeros));
            return Ok(());
        }
        for (i, first) in boxes.iter().enumerate() {
            for second in &boxes[..i] {
                self.post(DisjointBoxes::new(first, second, ignores_zeros));
            }
        }
        Ok(())
    }

    // ---- Expressions that must be true ----

    fn require(&mut self, e: &Expr) -> Result<(), CspError> {
        match e {
            Expr::And(list) => return list.iter().try_for_each(|e| self.require(e)),
            Expr::Not(inner) => {
                if let Some(negated) = negation(inner) {
                    return self.require(&negated);
                }
            }
            Expr::If(c, a, b) => {
                self.require(&Expr::Or(vec![Expr::Not(c.clone()), (**a).clone()]))?;
                return self.require(&Expr::Or(vec![(**c).clone(), (**b).clone()]));
            }
            Expr::AllEqual(list) => {
                return list
                    .windows(2)
                    .try_for_each(|pair| self.require(&pair[0].clone().equals(&pair[1])));
            }
            _ => {}
        }
        let scope = e.scope();
        if scope.is_empty() {
            if !e.holds(&|_| 0) {
                self.fail();
            }
            return Ok(());
        }
        if let [x] = *scope
            && self.domains().bits(x).is_some()
        {
            self.prune(|d| d.retain(x, |value| e.holds(&|_| i64::from(value))));
            return Ok(());
        }
        if let Some(literal) = self.literal(e) {
            self.prune(|d| literal.assert(d));
            return Ok(());
        }
        if self.is_worth_tabling(e, &scope) {
            let table = self.tabled(e, &scope);
            if scope.len() <= 2 || !self.is_loose(&table, &scope) || !is_disjunction(e) {
                return self.table(&scope, &table, true);
            }
        }
        match e {
            Expr::Compare(op, a, b) => self.require_comparison(*op, a, b),
            Expr::Or(list) => self.require_clause(list),
            Expr::In(inner, set) => {
                let (lo, hi) = inner.bounds(&|x| self.bounds_of(x));
                let limit = i64::from(VALUE_LIMIT);
                let range = (lo.max(-limit) as Value, hi.min(limit) as Value);
                let set = set.intersection(&ValueSet::from_ranges([range]));
                if matches!(**inner, Expr::Var(_)) || self.defined.contains_key(&**inner) {
                    let x = self.var_of(inner)?;
                    return self.require_member(x, &set);
                }
                if set.is_empty() {
                    self.fail();
                    return Ok(());
                }
                // The set is the domain of the variable that the expression needs anyway.
                let x = self.aux(&set)?;
                self.define(x, inner)?;
                self.origins.insert(x, inner.scope());
                self.defined.insert((**inner).clone(), x);
                Ok(())
            }
            _ => {
                let x = self.var_of(e)?;
                self.prune(|d| d.remove(x, 0));
                Ok(())
            }
        }
    }

    /// The variable has a value of the set.
    fn require_member(&mut self, x: VarId, set: &ValueSet) -> Result<(), CspError> {
        let (Some(lo), Some(hi)) = (set.min(), set.max()) else {
            self.fail();
            return Ok(());
        };
        if self.domains().bits(x).is_some() {
            self.prune(|d| d.retain(x, |value| set.contains(value)));
            return Ok(());
        }
        // The gaps in a wide range are not listed, but said by a clause.
        self.prune(|d| d.at_least(x, lo));
        self.prune(|d| d.at_most(x, hi));
        match set.ranges() {
            [_] => Ok(()),
            ranges => {
                let inside = ranges.iter().map(|&(lo, hi)| x.at_least(lo) & x.at_most(hi));
                self.require_clause(&inside.collect::<Vec<_>>())
            }
        }
    }

    /// Whether a table says more than taking the expression apart, and is small.
    fn is_worth_tabling(&self, e: &Expr, scope: &[VarId]) -> bool {
        let is_flat = |e: &Expr| {
            e.linear_form().is_some_and(|(terms, _)| {
                terms.iter().all(|(_, term)| matches!(term, Expr::Var(_)))
            })
        };
        let is_simple = match e {
            Expr::Compare(_, a, b) => is_flat(a) && is_flat(b),
            Expr::Or(list) => list.iter().all(|e| self.literal(e).is_some()),
            _ => false,
        };
        !is_simple && self.is_small(scope)
    }

    fn is_small(&self, scope: &[VarId]) -> bool {
        let limit = match scope.len() {
            0..=2 => 5 * self.config.max_tabled,
            3..=8 => self.config.max_tabled,
            _ => 0,
        };
        let domains = self.domains();
        scope.iter().all(|&x| domains.bits(x).is_some())
            && scope.iter().fold(1, |n: u64, &x| n.saturating_mul(domains.size(x))) <= limit
    }

    fn require_table(&mut self, e: &Expr, scope: &[VarId]) -> Result<(), CspError> {
        let table = self.tabled(e, scope);
        self.table(scope, &table, true)
    }

    /// Whether so much is allowed that a table rarely prunes before all but one of its
    /// variables are fixed, which a clause sees as well for less.
    fn is_loose(&self, table: &Table, scope: &[VarId]) -> bool {
        let n_all: u64 = scope.iter().map(|&x| self.domains().size(x)).product();
        table.len() as u64 * 10 > n_all * 8
    }

    /// The tuples for which an expression is true.
    fn tabled(&mut self, e: &Expr, scope: &[VarId]) -> Arc<Table> {
        let place: FxHashMap<VarId, usize> =
            scope.iter().enumerate().map(|(at, &x)| (x, at)).collect();
        let form = e.rename(&|x| Expr::Var(VarId::new(place[&x])));
        let sets: Vec<ValueSet> = scope.iter().map(|&x| self.domains().value_set(x)).collect();
        let key = (form, sets);
        if let Some(table) = self.tabled.get(&key) {
            return Arc::clone(table);
        }
        let (form, sets) = &key;
        let mut values = Vec::new();
        for_each_tuple(sets, &mut |tuple| {
            if form.holds(&|x| i64::from(tuple[x.index()])) {
                values.extend_from_slice(tuple);
            }
        });
        let table = Arc::new(Table::new(scope.len(), values));
        self.tabled.insert(key, Arc::clone(&table));
        table
    }

    fn require_comparison(&mut self, op: Comparison, a: &Expr, b: &Expr) -> Result<(), CspError> {
        if op == Comparison::Eq {
            // A definition needs no variable of its own.
            for (x, e) in [(a, b), (b, a)] {
                if let Expr::Var(x) = x
                    && !matches!(e, Expr::Var(_) | Expr::Constant(_) | Expr::Sum(_) | Expr::Neg(_))
                    && !self.defined.contains_key(e)
                {
                    let x = *x;
                    self.define(x, e)?;
                    if !e.scope().contains(&x) {
                        self.defined.insert(e.clone(), x);
                    }
                    return Ok(());
                }
            }
        }
        let difference = Expr::Sum(vec![a.clone(), Expr::Neg(Box::new(b.clone()))]);
        let (terms, constant) = self.linear_terms(&difference)?;
        self.linear(&terms, op, -constant)
    }

    /// An expression as a weighted sum of variables plus a constant.
    fn linear_terms(&mut self, e: &Expr) -> Result<(Vec<(i64, VarId)>, i64), CspError> {
        let overflow = || CspError::out_of_range("a coefficient");
        let (terms, mut constant) = e.linear_form().ok_or_else(overflow)?;
        let mut merged: Vec<(i64, VarId)> = Vec::with_capacity(terms.len());
        let mut places: FxHashMap<VarId, usize> = FxHashMap::default();
        for (factor, term) in terms {
            let x = self.var_of(term)?;
            if let Some(value) = self.domains().fixed_value(x) {
                let product = factor.checked_mul(i64::from(value)).ok_or_else(overflow)?;
                constant = constant.checked_add(product).ok_or_else(overflow)?;
                continue;
            }
            match places.get(&x) {
                Some(&place) => {
                    let sum = merged[place].0.checked_add(factor).ok_or_else(overflow)?;
                    merged[place].0 = sum;
                }
                None => {
                    places.insert(x, merged.len());
                    merged.push((factor, x));
                }
            }
        }
        merged.retain(|term| term.0 != 0);
        let total: i128 = merged
            .iter()
            .map(|&(factor, x)| {
                let (lo, hi) = self.bounds_of(x);
                i128::from(factor).abs() * i128::from(lo.abs().max(hi.abs()))
            })
            .sum();
        if total + i128::from(constant).abs() > SUM_LIMIT {
            return Err(CspError::out_of_range("a sum"));
        }
        Ok((merged, constant))
    }

    /// Posts `sum of terms op constant`.
    fn linear(
        &mut self,
        terms: &[(i64, VarId)],
        op: Comparison,
        constant: i64,
    ) -> Result<(), CspError> {
        if terms.is_empty() {
            if !op.holds(0, constant) {
                self.fail();
            }
            return Ok(());
        }
        let (terms, relation, constant) = normalized(terms, op, constant);
        match (&terms[..], relation) {
            (&[(1, x), (-1, y)], LinearRelation::Ne) | (&[(-1, y), (1, x)], LinearRelation::Ne) => {
                self.post(NotEqual::new(x, y, constant));
            }
            (&[(1, x), (-1, y)], LinearRelation::Eq) | (&[(-1, y), (1, x)], LinearRelation::Eq) => {
                self.post(EqualOffset::new(x, y, constant));
            }
            (&[(a, x), (b, y)], LinearRelation::Eq) if self.is_small(&[x, y]) => {
                let e =
                    Expr::Sum(vec![scaled(a, x), scaled(b, y)]).equals(Expr::Constant(constant));
                return self.require_table(&e, &[x, y]);
            }
            _ => self.post(Linear::new(&terms, relation, constant)),
        }
        Ok(())
    }

    fn require_clause(&mut self, list: &[Expr]) -> Result<(), CspError> {
        let mut literals = Vec::new();
        for e in flattened_or(list) {
            match self.literal(&e) {
                Some(literal) => literals.push(literal),
                None => {
                    let truth = self.truth_of(&e)?;
                    literals.push(Literal::new(truth, Comparison::Ne, 0));
                }
            }
        }
        if literals.iter().any(|literal| literal.status(self.domains()) == Some(true)) {
            return Ok(());
        }
        self.post(Clause::new(literals));
        Ok(())
    }

    /// The expression as a statement about one variable, when it is one.
    fn literal(&self, e: &Expr) -> Option<Literal> {
        match e {
            Expr::Compare(op, a, b) => {
                let (x, op, value) = match (&**a, &**b) {
                    (Expr::Var(x), Expr::Constant(value)) => (*x, *op, *value),
                    (Expr::Constant(value), Expr::Var(x)) => (*x, op.mirrored(), *value),
                    _ => return None,
                };
                let limit = i64::from(VALUE_LIMIT) + 1;
                // Beyond the values there can be, one value is as good as another.
                Some(Literal::new(x, op, value.clamp(-limit, limit) as Value))
            }
            Expr::In(inner, set) => match (&**inner, set.ranges()) {
                (Expr::Var(x), [(lo, hi)]) if lo == hi => {
                    Some(Literal::new(*x, Comparison::Eq, *lo))
                }
                _ => None,
            },
            Expr::Var(x) => Some(Literal::new(*x, Comparison::Ne, 0)),
            Expr::Not(inner) => self.literal(inner).map(Literal::negated),
            _ => None,
        }
    }

    // ---- Expressions as variables ----

    fn vars_of(&mut self, list: &[Expr]) -> Result<Vec<VarId>, CspError> {
        list.iter().map(|e| self.var_of(e)).collect()
    }

    /// A variable that equals the expression.
    fn var_of(&mut self, e: &Expr) -> Result<VarId, CspError> {
        match e {
            Expr::Var(x) => return Ok(*x),
            Expr::Constant(value) => return self.constant(*value),
            _ => {}
        }
        if let Some(&x) = self.defined.get(e) {
            return Ok(x);
        }
        let x = if e.is_boolean() {
            self.truth_of(e)?
        } else {
            let scope = e.scope();
            let (lo, hi) = e.bounds(&|x| self.bounds_of(x));
            let x = if self.is_small(&scope) && hi.saturating_sub(lo) > 1 {
                let mut values = Vec::new();
                let sets: Vec<ValueSet> =
                    scope.iter().map(|&x| self.domains().value_set(x)).collect();
                for_each_tuple(&sets, &mut |tuple| {
                    let value = e.eval(&|x| {
                        let at = scope.iter().position(|&y| y == x).expect("x is in the scope");
                        i64::from(tuple[at])
                    });
                    values.extend(value.and_then(|value| Value::try_from(value).ok()));
                });
                values.sort_unstable();
                values.dedup();
                if values.is_empty() {
                    self.fail();
                    values.push(0);
                }
                self.aux(&ValueSet::from(values))?
            } else {
                self.aux_range(lo, hi)?
            };
            self.define(x, e)?;
            x
        };
        self.origins.insert(x, e.scope());
        self.defined.insert(e.clone(), x);
        Ok(x)
    }

    /// Posts `x = e`.
    fn define(&mut self, x: VarId, e: &Expr) -> Result<(), CspError> {
        if e.is_boolean() {
            return self.define_truth(x, e);
        }
        match e {
            Expr::Abs(inner) => {
                self.define_operation(Operation::Dist, inner, &Expr::Constant(0), x)
            }
            Expr::Binary(op, a, b) => {
                if let Some((terms, _)) = e.linear_form()
                    && !terms.iter().any(|(_, term)| *term == e)
                {
                    return self.define_sum(x, e);
                }
                self.define_operation(*op, a, b, x)
            }
            Expr::Min(list) | Expr::Max(list) => {
                let vars = self.vars_of(list)?;
                if vars.is_empty() {
                    return Err(CspError::malformed("minimum", "of nothing"));
                }
                self.post(match e {
                    Expr::Min(_) => Extremum::minimum(x, &vars),
                    _ => Extremum::maximum(x, &vars),
                });
                Ok(())
            }
            Expr::If(c, a, b) => {
                let [no, yes, truth] = [self.var_of(b)?, self.var_of(a)?, self.truth_of(c)?];
                self.post(Element::new(&[no, yes], 0, truth, x));
                Ok(())
            }
            Expr::Element(list, index) => {
                let (vars, index) = (self.vars_of(list)?, self.var_of(index)?);
                if vars.is_empty() {
                    return Err(CspError::malformed("element", "of an empty list"));
                }
                self.post(Element::new(&vars, 0, index, x));
                Ok(())
            }
            _ => self.define_sum(x, e),
        }
    }

    fn define_sum(&mut self, x: VarId, e: &Expr) -> Result<(), CspError> {
        let difference = Expr::Sum(vec![Expr::Var(x), Expr::Neg(Box::new(e.clone()))]);
        let (terms, constant) = self.linear_terms(&difference)?;
        self.linear(&terms, Comparison::Eq, -constant)
    }

    fn define_operation(
        &mut self,
        op: Operation,
        a: &Expr,
        b: &Expr,
        z: VarId,
    ) -> Result<(), CspError> {
        let (x, y) = (self.var_of(a)?, self.var_of(b)?);
        let mut scope = vec![x, y, z];
        scope.sort_unstable();
        scope.dedup();
        let inputs: &[VarId] = if x == y { &[x] } else { &[x, y] };
        if scope.len() == inputs.len() + 1
            && self.is_small(inputs)
            && self.domains().bits(z).is_some()
        {
            let sets: Vec<ValueSet> = inputs.iter().map(|&x| self.domains().value_set(x)).collect();
            let mut values = Vec::new();
            for_each_tuple(&sets, &mut |tuple| {
                let (a, b) = (i64::from(tuple[0]), i64::from(tuple[tuple.len() - 1]));
                if let Some(value) = op.apply(a, b).and_then(|value| Value::try_from(value).ok())
                    && self.engine.domains().contains(z, value)
                {
                    values.extend_from_slice(tuple);
                    values.push(value);
                }
            });
            let table = Arc::new(Table::new(inputs.len() + 1, values));
            // A fixed argument needs no column.
            let open: Vec<usize> =
                (0..inputs.len()).filter(|&at| !self.domains().is_fixed(inputs[at])).collect();
            if open.len() == 1 && inputs.len() == 2 {
                let pairs = table.tuples().map(|tuple| [tuple[open[0]], tuple[2]]);
                let table = Arc::new(Table::from_tuples(2, pairs));
                return self.table(&[inputs[open[0]], z], &table, true);
            }
            return self.table(&[inputs, &[z]].concat(), &table, true);
        }
        self.post(Arithmetic::new(op, x, y, z));
        Ok(())
    }

    /// A variable with values 0 and 1 that tells whether the expression is true.
    fn truth_of(&mut self, e: &Expr) -> Result<VarId, CspError> {
        match e {
            Expr::Var(x) if self.domains().min(*x) >= 0 && self.domains().max(*x) <= 1 => {
                return Ok(*x);
            }
            Expr::Constant(value) => return self.constant(i64::from(*value != 0)),
            _ => {}
        }
        let key = if e.is_boolean() { e.clone() } else { e.clone().differs(0) };
        if let Some(&truth) = self.defined.get(&key) {
            return Ok(truth);
        }
        let truth = self.truth()?;
        self.define_truth(truth, &key)?;
        self.origins.insert(truth, key.scope());
        self.defined.insert(key, truth);
        Ok(truth)
    }

    /// Posts `truth = 1 exactly when e`.
    fn define_truth(&mut self, truth: VarId, e: &Expr) -> Result<(), CspError> {
        self.prune(|d| d.at_least(truth, 0));
        self.prune(|d| d.at_most(truth, 1));
        if let Some(literal) = self.literal(e) {
            self.post(ReifiedLiteral::new(truth, literal));
            return Ok(());
        }
        let scope = e.scope();
        if scope.is_empty() {
            let value = Value::from(e.holds(&|_| 0));
            self.prune(|d| d.fix(truth, value));
            return Ok(());
        }
        if self.is_worth_tabling(e, &scope) && !scope.contains(&truth) {
            let definition =
                Expr::Compare(Comparison::Eq, Box::new(Expr::Var(truth)), Box::new(e.clone()));
            if self.is_small(&[&scope[..], &[truth]].concat()) {
                return self.require_table(&definition, &definition.scope());
            }
        }
        match e {
            Expr::Compare(op, a, b) => {
                let difference = Expr::Sum(vec![(**a).clone(), Expr::Neg(b.clone())]);
                let (terms, constant) = self.linear_terms(&difference)?;
                if terms.is_empty() {
                    let value = Value::from(op.holds(constant, 0));
                    self.prune(|d| d.fix(truth, value));
                    return Ok(());
                }
                let (terms, relation, constant) = normalized(&terms, *op, -constant);
                self.post(LinearReified::new(truth, &terms, relation, constant));
                Ok(())
            }
            Expr::Not(inner) => match negation(inner) {
                Some(negated) => self.define_truth(truth, &negated),
                None => {
                    let inner = self.truth_of(inner)?;
                    self.post(ReifiedLiteral::new(truth, Literal::new(inner, Comparison::Eq, 0)));
                    Ok(())
                }
            },
            Expr::And(list) | Expr::Or(list) => {
                let parts: Vec<VarId> =
                    list.iter().map(|e| self.truth_of(e)).collect::<Result<_, _>>()?;
                if parts.is_empty() {
                    let value = Value::from(matches!(e, Expr::And(_)));
                    self.prune(|d| d.fix(truth, value));
                    return Ok(());
                }
                self.post(match e {
                    Expr::And(_) => Extremum::minimum(truth, &parts),
                    _ => Extremum::maximum(truth, &parts),
                });
                Ok(())
            }
            Expr::Xor(list) => {
                let mut terms: Vec<(i64, VarId)> = Vec::new();
                for e in list {
                    terms.push((1, self.truth_of(e)?));
                }
                let half = self.aux_range(0, list.len() as i64 / 2)?;
                terms.extend([(-2, half), (-1, truth)]);
                let sum = Expr::Sum(terms.iter().map(|&(a, x)| scaled(a, x)).collect());
                let (terms, constant) = self.linear_terms(&sum)?;
                self.linear(&terms, Comparison::Eq, -constant)
            }
            Expr::AllEqual(list) => {
                let pairs = list.windows(2).map(|pair| pair[0].clone().equals(&pair[1]));
                self.define_truth(truth, &Expr::And(pairs.collect()))
            }
            Expr::In(inner, set) => {
                let x = self.var_of(inner)?;
                let inside = set.ranges().iter().map(|&(lo, hi)| x.at_least(lo) & x.at_most(hi));
                self.define_truth(truth, &Expr::Or(inside.collect()))
            }
            Expr::If(c, a, b) => {
                let yes = Expr::Or(vec![Expr::Not(c.clone()), (**a).clone()]);
                let no = Expr::Or(vec![(**c).clone(), (**b).clone()]);
                self.define_truth(truth, &Expr::And(vec![yes, no]))
            }
            number => {
                let x = self.var_of(number)?;
                self.post(ReifiedLiteral::new(truth, Literal::new(x, Comparison::Ne, 0)));
                Ok(())
            }
        }
    }
}

/// The terms with the relation as one of the three that propagators know.
fn normalized(
    terms: &[(i64, VarId)],
    op: Comparison,
    constant: i64,
) -> (Vec<(i64, VarId)>, LinearRelation, i64) {
    let negative = || terms.iter().map(|&(a, x)| (-a, x)).collect();
    match op {
        Comparison::Eq => (terms.to_vec(), LinearRelation::Eq, constant),
        Comparison::Ne => (terms.to_vec(), LinearRelation::Ne, constant),
        Comparison::Le => (terms.to_vec(), LinearRelation::Le, constant),
        Comparison::Lt => (terms.to_vec(), LinearRelation::Le, constant - 1),
        Comparison::Ge => (negative(), LinearRelation::Le, -constant),
        Comparison::Gt => (negative(), LinearRelation::Le, -constant - 1),
    }
}

fn scaled(factor: i64, x: VarId) -> Expr {
    Expr::Binary(Operation::Mul, Box::new(Expr::Constant(factor)), Box::new(Expr::Var(x)))
}

/// The negation of an expression with its `not` pushed inwards; `None` where it stays.
fn negation(e: &Expr) -> Option<Expr> {
    let not = |e: &Expr| Expr::Not(Box::new(e.clone()));
    match e {
        Expr::Compare(op, a, b) => Some(Expr::Compare(op.negated(), a.clone(), b.clone())),
        // A number under a double negation is only its truth, which is all that matters.
        Expr::Not(inner) => Some((**inner).clone()),
        Expr::And(list) => Some(Expr::Or(list.iter().map(not).collect())),
        Expr::Or(list) => Some(Expr::And(list.iter().map(not).collect())),
        _ => None,
    }
}

/// Narrows domains by the memberships that an expression requires of single variables.
fn intersect_members(e: &Expr, sets: &mut [ValueSet]) {
    match e {
        Expr::And(list) => list.iter().for_each(|e| intersect_members(e, sets)),
        Expr::In(inner, set) => {
            if let Expr::Var(x) = **inner {
                sets[x.index()] = sets[x.index()].intersection(set);
            }
        }
        _ => {}
    }
}

/// Whether the expression becomes a clause when it is taken apart.
fn is_disjunction(e: &Expr) -> bool {
    match e {
        Expr::Or(_) => true,
        Expr::Not(inner) => matches!(**inner, Expr::And(_)),
        _ => false,
    }
}

/// The members of a disjunction with nested disjunctions and pushed-in negations opened.
fn flattened_or(list: &[Expr]) -> Vec<Expr> {
    let mut flat = Vec::new();
    for e in list {
        match e {
            Expr::Or(inner) => flat.extend(flattened_or(inner)),
            Expr::Not(inner) => match negation(inner) {
                Some(Expr::Or(inner)) => flat.extend(flattened_or(&inner)),
                Some(negated) => flat.push(negated),
                None => flat.push(e.clone()),
            },
            e => flat.push(e.clone()),
        }
    }
    flat
}

/// Calls `see` with every combination of values.
fn for_each_tuple(sets: &[ValueSet], see: &mut dyn FnMut(&[Value])) {
    let lists: Vec<Vec<Value>> = sets.iter().map(|set| set.iter().collect()).collect();
    let mut places = vec![0; lists.len()];
    let mut tuple: Vec<Value> = match lists.iter().map(|list| list.first().copied()).collect() {
        Some(tuple) => tuple,
        None => return,
    };
    loop {
        see(&tuple);
        let mut at = lists.len();
        loop {
            if at == 0 {
                return;
            }
            at -= 1;
            places[at] += 1;
            if places[at] < lists[at].len() {
                tuple[at] = lists[at][places[at]];
                break;
            }
            places[at] = 0;
            tuple[at] = lists[at][0];
        }
    }
}
