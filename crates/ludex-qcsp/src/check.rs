//! Whether a model means something.

use ludex_csp::{Constraint, VarId};

use crate::error::ModelError;
use crate::model::Model;
use crate::scope::{Measure, Quantifier, ScopeId};

/// Everything that is wrong with a model.
pub(crate) fn check(model: &Model) -> Vec<ModelError> {
    let mut checker = Checker { model, errors: Vec::new() };
    checker.variables();
    for (i, scope) in model.scopes().iter().enumerate() {
        let place = format!("the restrictor of scope `{}`", scope.name);
        for constraint in &scope.restrictor {
            checker.constraint(&place, constraint, i + 1);
        }
        checker.declarations(ScopeId::new(i));
    }
    for constraint in model.goal_constraints() {
        checker.constraint("the goal", constraint, model.scopes().len());
    }
    checker.aggregates();
    checker.criteria();
    checker.errors
}

struct Checker<'a> {
    model: &'a Model,
    errors: Vec<ModelError>,
}

impl Checker<'_> {
    fn variables(&mut self) {
        for (i, x) in self.model.variables().iter().enumerate() {
            let name = &x.variable.name;
            if x.variable.domain.is_empty() {
                self.errors.push(ModelError::EmptyDomain { variable: name.clone() });
            }
            let Some(definition) = &x.definition else { continue };
            let place = format!("the definition of `{name}`");
            for y in definition.scope() {
                if y.index() >= i {
                    self.later(&place, y);
                }
            }
        }
    }

    /// Constraints mention variables of the first scopes only.
    fn constraint(&mut self, place: &str, constraint: &Constraint, n_scopes: usize) {
        for x in constraint.scope() {
            let known = self.model.variables().get(x.index());
            if known.is_none_or(|x| x.scope.index() >= n_scopes) {
                self.later(place, x);
            }
        }
    }

    fn later(&mut self, place: &str, x: VarId) {
        let place = place.to_string();
        self.errors.push(match self.model.variables().get(x.index()) {
            Some(variable) => ModelError::LaterVariable {
                place,
                variable: variable.variable.name.clone(),
                scope: self.model.scope(variable.scope).name.clone(),
            },
            None => ModelError::UnknownVariable { place },
        });
    }

    fn declarations(&mut self, id: ScopeId) {
        let scope = self.model.scope(id);
        for (x, values) in &scope.value_orders {
            if self.model.variable(*x).scope != id {
                let problem = format!("`{}` is not one of its variables", self.model.name(*x));
                self.declaration(id, problem);
            }
            if let Some(value) = values.iter().find(|v| !self.model.domain(*x).contains(**v)) {
                let problem = format!("`{}` has no value {value}", self.model.name(*x));
                self.declaration(id, problem);
            }
        }
        for symmetry in &scope.symmetries {
            let sorted = |mut variables: Vec<VarId>| {
                variables.sort_unstable();
                variables
            };
            let to = sorted(symmetry.variables.iter().map(|&(to, _)| to).collect());
            let from = sorted(symmetry.variables.iter().map(|&(_, from)| from).collect());
            if to != from || to.windows(2).any(|pair| pair[0] == pair[1]) {
                let problem = "a symmetry exchanges variables: each that takes a place leaves one";
                self.declaration(id, problem.to_string());
            }
        }
        let symmetric = scope.symmetries.iter().flat_map(|symmetry| {
            let pairs = symmetry.variables.iter().flat_map(|&(x, y)| [x, y]);
            pairs.chain(symmetry.values.iter().map(|&(x, _, _)| x))
        });
        let declared: Vec<VarId> =
            scope.memory_key.iter().flatten().copied().chain(symmetric).collect();
        for x in declared {
            let known = self.model.variables().get(x.index());
            if known.is_none_or(|x| x.scope.index() >= id.index()) {
                let place = format!("the memory key or a symmetry of scope `{}`", scope.name);
                self.later(&place, x);
            }
        }
    }

    fn declaration(&mut self, id: ScopeId, problem: String) {
        let scope = self.model.scope(id).name.clone();
        self.errors.push(ModelError::Declaration { scope, problem });
    }

    fn aggregates(&mut self) {
        for (i, aggregate) in self.model.aggregates().iter().enumerate() {
            let place = format!("aggregate `{}`", aggregate.name);
            let Some(scope) = self.model.scopes().get(aggregate.scope.index()) else {
                self.measure(place, "its scope does not exist".to_string());
                continue;
            };
            if scope.quantifier != Quantifier::Forall {
                let problem = format!("scope `{}` is not universal", scope.name);
                self.measure(place.clone(), problem);
            }
            if matches!(aggregate.of, Measure::Aggregate(of) if of.index() >= i) {
                self.measure(place, "it uses an aggregate stated after it".to_string());
                continue;
            }
            self.visible(&place, aggregate.scope.index() + 1, aggregate.of);
        }
    }

    fn criteria(&mut self) {
        for (i, scope) in self.model.scopes().iter().enumerate() {
            let Some(criterion) = scope.criterion else { continue };
            let place = format!("the criterion of scope `{}`", scope.name);
            if scope.quantifier != Quantifier::Exists {
                let problem = "only an existential scope optimizes".to_string();
                self.measure(place.clone(), problem);
            }
            self.visible(&place, i, criterion.measure);
        }
    }

    /// A measure is seen from a scope when no universal scope lies between, but for its own
    /// when it is an aggregate.
    fn visible(&mut self, place: &str, from: usize, measure: Measure) {
        let model = self.model;
        let (at, is_variable) = match measure {
            Measure::Variable(x) => match model.variables().get(x.index()) {
                Some(x) => (x.scope.index(), true),
                None => {
                    let problem = "it uses a variable that the model does not have".to_string();
                    return self.measure(place.to_string(), problem);
                }
            },
            Measure::Aggregate(of) => match model.aggregates().get(of.index()) {
                Some(aggregate) => (aggregate.scope.index(), false),
                None => {
                    let problem = "it uses an aggregate that the model does not have".to_string();
                    return self.measure(place.to_string(), problem);
                }
            },
        };
        let name = model.measure_name(measure);
        if at < from {
            let problem = format!("`{name}` belongs to an earlier scope");
            return self.measure(place.to_string(), problem);
        }
        let end = at + usize::from(is_variable);
        let between = model.scopes().get(from..end).unwrap_or_default();
        if let Some(scope) = between.iter().find(|s| s.quantifier == Quantifier::Forall) {
            let problem = format!(
                "`{name}` has many values, one for each branch of the universal scope `{}`; \
                 use an aggregate of that scope",
                scope.name
            );
            self.measure(place.to_string(), problem);
        }
    }

    fn measure(&mut self, place: String, problem: String) {
        self.errors.push(ModelError::Measure { place, problem });
    }
}
