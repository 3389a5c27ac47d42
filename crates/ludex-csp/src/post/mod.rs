//! Turns a network into propagators in an engine.
//!
//! Global constraints get their propagator. Expressions are decomposed: comparisons of sums
//! become linear constraints, disjunctions become clauses, and all else becomes a table, when
//! its variables have few combinations, or defines an auxiliary variable. Equal subexpressions
//! share one auxiliary variable.
//!
//! Invariant: variables of the network keep their number in the engine, and auxiliary variables
//! are functions of them, so the engine has exactly as many solutions as the network.

mod define;
mod globals;
mod linear;
mod require;
mod tabling;

use std::collections::BTreeMap;
use std::sync::Arc;

use ludex_base::{Deadline, StopReason};
use rustc_hash::FxHashMap;

use self::linear::Sum;
use crate::constraint::Constraint;
use crate::domains::{Conflict, Domains, VarId};
use crate::engine::Engine;
use crate::error::{CspError, Named};
use crate::expr::Expr;
use crate::network::Network;
use crate::propagator::Propagator;
use crate::propagators::Clause;
use crate::propagators::table::{STAR, Table, TableAlgorithm};
use crate::{VALUE_LIMIT, Value, ValueSet};

/// How constraints are enforced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PostConfig {
    /// The algorithm for tables.
    pub table: TableAlgorithm,
    /// The strength of all-different.
    pub all_different: AllDifferentStrength,
    /// Largest number of combinations of values for which an expression becomes a table; five
    /// times as many for two variables.
    pub max_tabled: u64,
    /// Memory limit in bytes, as far as memory is measured: domains, propagators, and
    /// expressions remembered while posting.
    pub max_bytes: u64,
}

impl Default for PostConfig {
    fn default() -> Self {
        Self {
            table: TableAlgorithm::Auto,
            all_different: AllDifferentStrength::Auto,
            max_tabled: 10_000,
            max_bytes: u64::MAX,
        }
    }
}

/// How much an all-different constraint prunes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AllDifferentStrength {
    /// Domain consistency, unless there are very many values.
    Auto,
    /// As strong as the clique of disequalities.
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
    /// The variable of the objective, and whether it is minimized.
    pub objective: Option<(VarId, bool)>,
    /// By auxiliary variable: the variables it is computed from; empty for the others.
    pub origins: Vec<Vec<VarId>>,
}

impl Network {
    /// Posts the network in a new engine, without propagation.
    ///
    /// # Errors
    /// When a domain is empty or too large, a scope is malformed, or sums leave the range of
    /// numbers.
    pub fn post(&self, config: &PostConfig) -> Result<Engine, CspError> {
        Ok(self.post_all(config)?.engine)
    }

    /// Posts the network and its objective in a new engine, without propagation.
    ///
    /// # Errors
    /// As [`Network::post`].
    pub fn post_all(&self, config: &PostConfig) -> Result<Posted, CspError> {
        self.post_by(config, &Deadline::never())
    }

    /// Works as [`Network::post_all`], but stops at a deadline, which it checks at each
    /// constraint and at each part of those it decomposes.
    ///
    /// # Errors
    /// As [`Network::post`], and [`CspError::Stopped`].
    pub fn post_by(&self, config: &PostConfig, deadline: &Deadline) -> Result<Posted, CspError> {
        self.check()?;
        let mut poster = Poster {
            network: self,
            config,
            deadline,
            engine: Engine::new(),
            constants: FxHashMap::default(),
            defined: FxHashMap::default(),
            tabled: FxHashMap::default(),
            origins: FxHashMap::default(),
            counted: BTreeMap::new(),
            sums: Vec::new(),
            indicators: BTreeMap::new(),
            n_bytes: 0,
        };
        poster.add_variables()?;
        for (index, constraint) in self.constraints().iter().enumerate() {
            poster.check_deadline()?;
            poster.check_memory()?;
            poster
                .constraint(constraint)
                .map_err(|problem| problem.in_constraint(index, constraint.name()))?;
        }
        poster.add_up_counts()?;
        let objective = match self.objective() {
            Some(objective) => {
                let x = poster
                    .var_of(&objective.expr)
                    .map_err(|problem| CspError::InObjective { problem: Box::new(problem) })?;
                poster.bound_objective(x, objective.is_minimized);
                Some((x, objective.is_minimized))
            }
            None => None,
        };
        poster.add_indicators();
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
    deadline: &'a Deadline,
    engine: Engine,
    constants: FxHashMap<Value, VarId>,
    /// By expression: the auxiliary variable that equals it.
    defined: FxHashMap<Expr, VarId>,
    /// By expression and domains: its table.
    tabled: FxHashMap<(Expr, Vec<ValueSet>), Arc<Table>>,
    /// By auxiliary variable: the variables in its expression.
    origins: FxHashMap<VarId, Vec<VarId>>,
    /// By list: the counted sets of values, each with the variable of its count.
    counted: BTreeMap<Vec<VarId>, Vec<(ValueSet, VarId)>>,
    /// The posted sums, if there is an objective.
    sums: Vec<Sum>,
    /// By variable: values, each with the truth variable that says whether the variable has it.
    indicators: BTreeMap<VarId, Vec<(Value, VarId)>>,
    /// Bytes of propagators and expressions so far.
    n_bytes: u64,
}

/// Bytes that a variable, a propagator or a name takes in the lists that contain it.
const BYTES_EACH: u64 = 64;
/// Bytes of one subscription to a variable.
const BYTES_PER_WATCH: u64 = 12;

impl Poster<'_> {
    fn add_variables(&mut self) -> Result<(), CspError> {
        // Where a domain would be too wide for tables, values that no allowed tuple has are
        // dropped from the start.
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
                    if set.len() > 1 << 16 && !column().any(|value| value == STAR) {
                        *set = set.intersection(&column().collect());
                    }
                }
            }
        }
        for (x, set) in self.network.ids().zip(&mut sets) {
            if set.is_empty() {
                // An empty intersection means that there is no solution, which is an answer and
                // not an error.
                *set = self.network.variable(x).domain.clone();
                self.fail();
            }
            self.engine
                .add_variable(set)
                .ok_or_else(|| CspError::DomainTooLarge { variable: self.network.named(x) })?;
        }
        Ok(())
    }

    fn check_deadline(&self) -> Result<(), CspError> {
        if self.deadline.reached() {
            Err(CspError::Stopped(StopReason::of_deadline()))
        } else {
            Ok(())
        }
    }

    fn check_memory(&self) -> Result<(), CspError> {
        let n_variables = self.domains().n_variables() as u64;
        let n_bytes = self.n_bytes + n_variables * BYTES_EACH + self.domains().n_bytes() as u64;
        if n_bytes > self.config.max_bytes {
            Err(CspError::Stopped(StopReason::Memory))
        } else {
            Ok(())
        }
    }

    fn domains(&self) -> &Domains {
        self.engine.domains()
    }

    fn named(&self, x: VarId) -> Named<VarId> {
        if x.index() < self.network.variables().len() {
            self.network.named(x)
        } else {
            Named { id: x, name: format!("auxiliary {}", x.index()) }
        }
    }

    /// Records that the network has no solution; propagation then reports a conflict.
    fn fail(&mut self) {
        self.engine.post(Box::new(Clause::new(Vec::new())));
    }

    fn post(&mut self, propagator: impl Propagator + 'static) {
        self.post_boxed(Box::new(propagator));
    }

    fn post_boxed(&mut self, propagator: Box<dyn Propagator>) {
        let id = self.engine.post(propagator);
        let posted = self.engine.propagator(id);
        let n_told = posted.scope().len() as u64;
        self.n_bytes += BYTES_EACH + posted.n_bytes() as u64 + BYTES_PER_WATCH * n_told;
    }

    /// Records that a variable equals an expression.
    fn remember(&mut self, e: Expr, x: VarId) {
        self.n_bytes += BYTES_EACH + e.n_bytes();
        self.defined.insert(e, x);
    }

    /// Prunes a domain permanently.
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
}

/// Narrows domains by the set memberships that an expression requires of single variables.
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

/// Returns the negation of an expression with `not` pushed inwards; `None` if it cannot be
/// pushed.
fn negation(e: &Expr) -> Option<Expr> {
    let not = |e: &Expr| Expr::Not(Box::new(e.clone()));
    match e {
        Expr::Compare(op, a, b) => Some(Expr::Compare(op.negated(), a.clone(), b.clone())),
        // A double negation turns a number into its truth value, and only that matters here.
        Expr::Not(inner) => Some((**inner).clone()),
        Expr::And(list) => Some(Expr::Or(list.iter().map(not).collect())),
        Expr::Or(list) => Some(Expr::And(list.iter().map(not).collect())),
        _ => None,
    }
}
