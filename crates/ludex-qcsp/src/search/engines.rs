//! Propagation of restrictors and the goal in engines of the constraint kernel.
//!
//! The restrictor of a scope with an engine is propagated while the scope is searched. In a
//! *cascade*, opening a scope also propagates the later restrictors and the goal, each on the
//! domains that the previous ones left. A restrictor without a solution cuts the prefix there, and
//! decides if no earlier scope can be blocked (Benedetti, Lallouet and Vautard, IJCAI 2007). A goal
//! that removes a value of an unrestricted universal variable is lost (existential analysis).
//!
//! An engine is brought to the current state of the search only when it is needed, so the search
//! itself has nothing to undo.

use ludex_base::StopReason;
use ludex_csp::{Constraint, Engine, Network, PostConfig, Value, ValueSet, VarId};

use super::{Searcher, Stopped};
use crate::config::{Propagation, SolveConfig};
use crate::error::{ModelError, Part};
use crate::model::Model;
use crate::schedule::Schedule;
use crate::scope::{Quantifier, ScopeId};

/// The engines of a model.
pub(crate) struct Engines {
    /// The engine that filters the choices of each scope.
    scopes: Vec<Option<Filter>>,
    /// The restrictor of the last scope together with the goal, if that scope is existential: there
    /// both form an ordinary network.
    last: Option<Filter>,
    /// For a cascade, the engines of all scopes and of the goal.
    cascade: Vec<Filter>,
    /// Whether the owner of each scope can be blocked.
    can_block: Vec<bool>,
    /// The unrestricted universal variables of each scope.
    entitled: Vec<Vec<VarId>>,
}

/// An engine at the fixpoint of its unconditional constraints.
struct Filter {
    engine: Engine,
    /// Whether its constraints are unsatisfiable.
    is_impossible: bool,
}

impl Engines {
    pub fn new(schedule: &Schedule<'_>, config: &SolveConfig) -> Result<Self, ModelError> {
        let model = schedule.model;
        let n_scopes = model.scopes().len();
        let propagates = |scope: usize| match config.propagation {
            Propagation::Auto => is_worth_propagating(schedule, scope, config.sizes.min_propagated),
            Propagation::None => false,
            Propagation::Restrictor
            | Propagation::Fusion
            | Propagation::Cascade
            | Propagation::Full => true,
        };
        let mut scopes = Vec::new();
        for scope in 0..n_scopes {
            scopes.push(if propagates(scope) {
                Some(filter(model, scope, false, config)?)
            } else {
                None
            });
        }
        let has_last = model.scopes().last().is_some_and(|scope| {
            scope.quantifier == Quantifier::Exists && propagates(n_scopes - 1)
        });
        // An optimizing scope compares its choices, so one winning choice is not enough.
        let last = if has_last && !model.is_optimization() {
            Some(filter(model, n_scopes - 1, true, config)?)
        } else {
            None
        };
        let mut cascade = Vec::new();
        if matches!(config.propagation, Propagation::Cascade | Propagation::Full) {
            for scope in 0..=n_scopes {
                cascade.push(filter(model, scope, false, config)?);
            }
        }
        let is_free = |scope: usize| {
            let scope = &model.scopes()[scope];
            scope.quantifier == Quantifier::Forall && scope.restrictor.is_empty()
        };
        let chosen = |x: &VarId| model.variable(*x).definition.is_none();
        let variables = |scope: usize| {
            model.scopes()[scope].variables.iter().copied().filter(chosen).collect::<Vec<_>>()
        };
        let entitled = (0..n_scopes)
            .map(|scope| {
                if is_free(scope) && !schedule.can_block[scope] {
                    variables(scope)
                } else {
                    Vec::new()
                }
            })
            .collect();
        Ok(Self { scopes, last, cascade, can_block: schedule.can_block.clone(), entitled })
    }

    /// Whether an engine filters the choices of a scope.
    #[inline]
    pub fn filters(&self, scope: usize) -> bool {
        self.scopes[scope].is_some()
    }

    /// Whether a scope is solved as an ordinary network.
    pub fn solves(&self, scope: usize) -> bool {
        self.last.is_some() && scope + 1 == self.scopes.len()
    }
}

/// Whether a scope has enough choices, related by constraints, for propagation to pay off.
fn is_worth_propagating(schedule: &Schedule<'_>, scope: usize, min_choices: u64) -> bool {
    let levels = &schedule.levels[schedule.first_level[scope]..schedule.first_level[scope + 1]];
    let n_choices: f64 = levels.iter().map(|level| level.values.len() as f64).product();
    let is_last = scope + 2 == schedule.first_level.len()
        && schedule.model.scopes()[scope].quantifier == Quantifier::Exists;
    let own = |constraint: &Constraint| {
        let scopes = constraint.scope();
        scopes.iter().filter(|x| schedule.model.variable(**x).scope.index() == scope).count()
    };
    let restrictor = schedule.model.scopes()[scope].restrictor.iter();
    let goal = schedule.model.goal_constraints().iter().filter(|_| is_last);
    n_choices >= min_choices as f64 && restrictor.chain(goal).any(|constraint| own(constraint) > 1)
}

/// Builds the filter of a scope, or of the goal after the last one. Variables keep their ids.
fn filter(
    model: &Model,
    scope: usize,
    with_goal: bool,
    config: &SolveConfig,
) -> Result<Filter, ModelError> {
    let mut network = Network::new();
    for x in model.variables() {
        network.int(x.variable.name.clone(), x.variable.domain.clone());
    }
    let part = match model.scopes().get(scope) {
        Some(_) => {
            add_restrictor(model, scope, &mut network);
            if config.propagation == Propagation::Fusion {
                add_non_blocking(model, scope + 1, &mut network);
            }
            Part::Restrictor(model.named_scope(ScopeId::new(scope)))
        }
        None => Part::Goal,
    };
    if with_goal || scope == model.scopes().len() {
        for constraint in model.goal_constraints() {
            network.add(constraint.clone());
        }
    }
    let posted = network.post(&PostConfig::default());
    let mut engine = posted.map_err(|error| ModelError::Constraint { part, error })?;
    engine.set_deadline(&config.deadline);
    let is_impossible = engine.propagate().is_err() && !engine.is_stopped();
    Ok(Filter { engine, is_impossible })
}

fn add_restrictor(model: &Model, scope: usize, network: &mut Network) {
    let scope = &model.scopes()[scope];
    for constraint in &scope.restrictor {
        network.add(constraint.clone());
    }
    for &x in &scope.variables {
        if let Some(definition) = &model.variable(x).definition {
            network.require(x.equals(definition));
        }
    }
}

/// Adds the restrictors of the scopes from here on, up to the first that is not declared
/// non-blocking.
fn add_non_blocking(model: &Model, from: usize, network: &mut Network) {
    for scope in from..model.scopes().len() {
        if !model.scopes()[scope].is_non_blocking {
            return;
        }
        add_restrictor(model, scope, network);
    }
}

impl Searcher<'_> {
    /// Brings the engine of a scope to the values known before it, and returns whether its owner
    /// can still choose.
    pub(super) fn open_engine(&mut self, scope: usize) -> bool {
        if !self.engines.filters(scope) {
            return true;
        }
        let known = self.known_before(scope);
        let filter = self.engines.scopes[scope].as_mut().expect("the scope has an engine");
        filter.open(known)
    }

    /// Returns the values known when a scope is opened.
    fn known_before(&self, scope: usize) -> Vec<(VarId, Value)> {
        (0..self.schedule.n_variables_before[scope])
            .filter(|&i| self.schedule.is_known[i])
            .map(|i| (VarId::new(i), self.values[i]))
            .collect()
    }

    /// Assigns the value of a level in the engine of its scope, and returns whether it is possible.
    pub(super) fn choose_in_engine(&mut self, level: usize) -> bool {
        let spec = &self.schedule.levels[level];
        let Some(Filter { engine, .. }) = &mut self.engines.scopes[spec.scope] else {
            return true;
        };
        let Some(x) = spec.x else { return true };
        // The scope was opened at level 1, and each of its variables has a level of its own.
        engine.pop_to(1 + level - self.schedule.first_level[spec.scope]);
        engine.push_level();
        let can_be = engine.assign(x, self.values[x.index()]).is_ok();
        self.statistics.n_pruned += u64::from(!can_be);
        can_be
    }

    /// Returns the verdict of propagating through the scopes from here on, if any.
    #[inline]
    pub(super) fn cascade(&mut self, scope: usize) -> Option<bool> {
        if self.engines.cascade.is_empty() {
            return None;
        }
        let known = self.known_before(scope);
        self.cascade_from(scope, known, false)
    }

    /// Returns the verdict of propagating after a choice inside a scope. It can only be against the
    /// owner, because it is unknown whether the scope has a complete choice.
    #[inline]
    pub(super) fn cascade_within(&mut self, level: usize) -> Option<bool> {
        if self.config.propagation != Propagation::Full {
            return None;
        }
        let scope = self.schedule.levels[level].scope;
        let mut known = self.known_before(scope);
        let chosen = &self.schedule.levels[self.schedule.first_level[scope]..=level];
        known
            .extend(chosen.iter().filter_map(|level| level.x).map(|x| (x, self.values[x.index()])));
        self.cascade_from(scope, known, true)
    }

    fn cascade_from(
        &mut self,
        scope: usize,
        known: Vec<(VarId, Value)>,
        is_partly_chosen: bool,
    ) -> Option<bool> {
        let engines = &mut self.engines;
        let model = self.schedule.model;
        let n_scopes = model.scopes().len();
        let first = self.schedule.n_variables_before[scope];
        let mut reduced: Vec<(VarId, ValueSet)> = Vec::new();
        let mut can_block = [false; 2];
        if is_partly_chosen {
            let is_universal = model.scopes()[scope].quantifier == Quantifier::Forall;
            can_block[usize::from(is_universal)] = true;
        }
        for k in scope..=n_scopes {
            let Filter { engine, is_impossible } = &mut engines.cascade[k];
            engine.pop_to(0);
            let is_consistent = !*is_impossible && {
                engine.push_level();
                engine
                    .decide(|domains| {
                        for &(x, value) in &known {
                            domains.fix(x, value)?;
                        }
                        for (x, set) in &reduced {
                            domains.retain(*x, |value| set.contains(value))?;
                        }
                        Ok(true)
                    })
                    .is_ok()
            };
            let is_universal =
                model.scopes().get(k).is_some_and(|s| s.quantifier == Quantifier::Forall);
            if !is_consistent {
                if engine.is_stopped() {
                    return None;
                }
                self.statistics.n_pruned += 1;
                // The owner of scope k cannot choose, if it is reached.
                if k == scope && is_partly_chosen {
                    return Some(is_universal);
                }
                return (!can_block[usize::from(!is_universal)]).then_some(is_universal);
            }
            if k == n_scopes {
                // A value that a restrictor removed is no loss of the goal.
                let n_given = |x: VarId| {
                    let taken = reduced.iter().find(|(y, _)| *y == x);
                    taken.map_or_else(|| model.domain(x).len(), |(_, set)| set.len())
                };
                let shrinks = |&x: &VarId| engine.domains().size(x) < n_given(x);
                let mut entitled = engines.entitled[scope..].iter().flatten();
                if !can_block[1] && entitled.any(shrinks) {
                    self.statistics.n_pruned += 1;
                    return Some(false);
                }
                let is_full = engine.propagator_ids().all(|id| engine.is_entailed(id))
                    && !(first..model.variables().len()).map(VarId::new).any(|x| shrinks(&x));
                return (is_full && !can_block[0]).then_some(true);
            }
            can_block[usize::from(is_universal)] |= engines.can_block[k];
            let until = self.schedule.n_variables_before[k + 1];
            for i in first..until {
                let x = VarId::new(i);
                if engine.domains().size(x) < model.domain(x).len() {
                    let set = engine.domains().value_set(x);
                    reduced.retain(|(y, _)| *y != x);
                    reduced.push((x, set));
                }
            }
        }
        None
    }

    /// Whether the last scope, as an ordinary network with the goal, has a solution; if so, assigns
    /// it.
    pub fn solve_last(&mut self, scope: usize) -> Result<bool, Stopped> {
        let known = self.known_before(scope);
        let mut filter = self.engines.last.take().expect("the last scope has a network");
        let found = filter.open(known) && {
            let own = &self.schedule.model.scopes()[scope].variables;
            match self.solve_in(&mut filter.engine, own) {
                Ok(found) => found,
                Err(stopped) => {
                    self.engines.last = Some(filter);
                    return Err(stopped);
                }
            }
        };
        let is_stopped = filter.engine.is_stopped();
        self.engines.last = Some(filter);
        if is_stopped { Err(Stopped(StopReason::of_deadline())) } else { Ok(found) }
    }

    /// Searches for values of some variables by propagation and branching on the smallest domain.
    fn solve_in(&mut self, engine: &mut Engine, own: &[VarId]) -> Result<bool, Stopped> {
        let base = engine.level();
        let mut stack: Vec<(VarId, Value)> = Vec::new();
        loop {
            let open = own.iter().copied().filter(|&x| !engine.domains().is_fixed(x));
            let Some(x) = open.min_by_key(|&x| engine.domains().size(x)) else {
                for &x in own {
                    self.values[x.index()] = engine.domains().min(x);
                }
                return Ok(true);
            };
            let value = engine.domains().min(x);
            engine.push_level();
            let mut is_consistent = engine.assign(x, value).is_ok();
            stack.push((x, value));
            self.count_node(0)?;
            while !is_consistent {
                if engine.is_stopped() {
                    return Ok(false);
                }
                let Some((x, value)) = stack.pop() else { return Ok(false) };
                engine.pop_to(base + stack.len());
                is_consistent = engine.refute(x, value).is_ok();
            }
        }
    }
}

impl Filter {
    /// Brings the engine to the known values, and returns whether they are possible.
    fn open(&mut self, known: Vec<(VarId, Value)>) -> bool {
        self.engine.pop_to(0);
        !self.is_impossible && self.engine.inject(known).is_ok()
    }
}
