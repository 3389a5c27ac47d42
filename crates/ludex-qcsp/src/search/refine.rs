//! Counterexample-guided refinement for models that begin with one existential and one universal
//! scope.
//!
//! A choice of the first scope comes from an ordinary network: the restrictor and, for each known
//! counterexample, the rest of the model with the universal choice fixed. If the network has no
//! solution, the model is false. A solution that no universal choice refutes makes it true;
//! otherwise the refutation becomes a new counterexample.
//!
//! After Janota and Marques-Silva (RAReQS, 2012), with a constraint solver in place of SAT.

use ludex_base::StopReason;
use ludex_csp::{Constraint, Expr, Network, SearchConfig, ValueSet, VarId, conjuncts};
use rustc_hash::FxHashMap;

use super::decide::Opened;
use super::{Searcher, Stopped};
use crate::model::Model;
use crate::scope::Quantifier;

impl Searcher<'_> {
    /// Whether the model has the shape for refinement, and enough choices.
    pub fn can_refine(&self) -> bool {
        let model = self.schedule.model;
        let quantifiers: Vec<Quantifier> =
            model.scopes().iter().map(|scope| scope.quantifier).collect();
        let shape = [Quantifier::Exists, Quantifier::Forall, Quantifier::Exists];
        let levels =
            &self.schedule.levels[..self.schedule.first_level.get(1).copied().unwrap_or(0)];
        let n_choices: f64 = levels.iter().map(|level| level.values.len() as f64).product();
        (2..=3).contains(&quantifiers.len())
            && quantifiers == shape[..quantifiers.len()]
            && n_choices >= self.config.sizes.min_refined as f64
            // The last scope must be a network itself; otherwise trying the choices is cheaper.
            && (quantifiers.len() == 2 || self.engines.solves(2))
            && is_closed(model, 1)
            // A custom propagator cannot be moved to other variables.
            && !model.goal_constraints().iter().chain(&model.scopes()[quantifiers.len() - 1].restrictor)
                .any(|constraint| matches!(constraint, Constraint::Custom(_)))
    }

    /// Whether the existential player wins.
    pub fn refine(&mut self) -> Result<bool, Stopped> {
        let model = self.schedule.model;
        let mut network = Network::new();
        for &x in &model.scopes()[0].variables {
            network.int(model.name(x), model.domain(x).clone());
        }
        add_scope(model, 0, &mut network, &FxHashMap::default());
        // The search below begins after the first scope, and so after the goals decided there.
        let n_levels = self.schedule.first_level[1];
        if self.schedule.levels[..n_levels].iter().any(|level| !level.goal.is_empty()) {
            let is_own = |x: &VarId| model.variable(*x).scope.index() == 0;
            for constraint in conjuncts(model.goal_constraints()) {
                if constraint.scope().iter().all(is_own) {
                    network.add(constraint);
                }
            }
        }
        loop {
            let config =
                SearchConfig { deadline: self.config.deadline.clone(), ..SearchConfig::default() };
            // A network that cannot be posted would have been rejected earlier.
            let report =
                ludex_csp::solve(&network, &config).map_err(|_| Stopped(StopReason::Fault))?;
            self.statistics.n_nodes += report.statistics.n_nodes;
            let Some(solution) = report.best() else {
                return report.stopped.map_or(Ok(false), |reason| Err(Stopped(reason)));
            };
            let n_own = model.scopes()[0].variables.len();
            self.values[..n_own].copy_from_slice(&solution[..n_own]);
            let level = self.schedule.first_level[1];
            let verdict = match self.look(level) {
                Opened::Decided(verdict) => verdict,
                Opened::Open(key) => self.decide_scope(level, key)?,
            };
            if verdict {
                self.first_choice = Some(solution[..n_own].to_vec());
                return Ok(true);
            }
            self.statistics.n_refinements += 1;
            self.add_counter_example(&mut network);
        }
    }

    /// Adds the rest of the model with the universal choice just found.
    fn add_counter_example(&self, network: &mut Network) {
        let model = self.schedule.model;
        let mut names: FxHashMap<VarId, VarId> = FxHashMap::default();
        for &x in &model.scopes()[1].variables {
            // Unused definitions have no value, and nothing reads their copies either.
            let value = if self.schedule.is_known[x.index()] { self.values[x.index()] } else { 0 };
            names.insert(x, network.int(model.name(x), ValueSet::from([value])));
        }
        if let Some(scope) = model.scopes().get(2) {
            for &x in &scope.variables {
                names.insert(x, network.int(model.name(x), model.domain(x).clone()));
            }
            add_scope(model, 2, network, &names);
        }
        for constraint in model.goal_constraints() {
            network.add(renamed(constraint, &names));
        }
    }
}

/// Whether the restrictor of a scope mentions only its own variables.
fn is_closed(model: &Model, scope: usize) -> bool {
    let is_own = |x: &VarId| model.variable(*x).scope.index() == scope;
    let of = &model.scopes()[scope];
    let definitions = of.variables.iter().filter_map(|x| model.variable(*x).definition.as_ref());
    of.restrictor.iter().all(|constraint| constraint.scope().iter().all(is_own))
        && definitions.into_iter().all(|definition| definition.scope().iter().all(is_own))
}

/// Adds the restrictor and the definitions of a scope to a network.
fn add_scope(model: &Model, scope: usize, network: &mut Network, names: &FxHashMap<VarId, VarId>) {
    let scope = &model.scopes()[scope];
    for constraint in &scope.restrictor {
        network.add(renamed(constraint, names));
    }
    for &x in &scope.variables {
        if let Some(definition) = &model.variable(x).definition {
            let law = Constraint::Intension(x.equals(definition));
            network.add(renamed(&law, names));
        }
    }
}

fn renamed(constraint: &Constraint, names: &FxHashMap<VarId, VarId>) -> Constraint {
    let name = |x: VarId| names.get(&x).copied().unwrap_or(x);
    constraint.renamed(&name, &|x| Expr::Var(name(x)))
}
