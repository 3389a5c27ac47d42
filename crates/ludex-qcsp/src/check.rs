//! Validation of models.

use ludex_csp::{Constraint, Named, VarId};

use crate::error::{ModelError, Part};
use crate::model::Model;
use crate::scope::{AggregateId, Measure, Quantifier, ScopeId};

/// Returns all errors of a model.
pub(crate) fn check(model: &Model) -> Vec<ModelError> {
    let mut checker = Checker { model, errors: Vec::new() };
    checker.variables();
    for (i, scope) in model.scopes().iter().enumerate() {
        let id = ScopeId::new(i);
        for constraint in &scope.restrictor {
            checker.constraint(&Part::Restrictor(model.named_scope(id)), constraint, i + 1);
        }
        checker.declarations(id);
    }
    for constraint in model.goal_constraints() {
        checker.constraint(&Part::Goal, constraint, model.scopes().len());
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
            let variable = || self.model.named(VarId::new(i));
            if x.variable.domain.is_empty() {
                self.errors.push(ModelError::EmptyDomain { variable: variable() });
            }
            let Some(definition) = &x.definition else { continue };
            for y in definition.scope() {
                if y.index() >= i {
                    self.later(Part::Definition(variable()), y);
                }
            }
        }
    }

    /// Checks that a constraint mentions only variables of the first `n_scopes` scopes.
    fn constraint(&mut self, part: &Part, constraint: &Constraint, n_scopes: usize) {
        for x in constraint.scope() {
            let known = self.model.variables().get(x.index());
            if known.is_none_or(|x| x.scope.index() >= n_scopes) {
                self.later(part.clone(), x);
            }
        }
    }

    fn later(&mut self, part: Part, x: VarId) {
        self.errors.push(match self.model.variables().get(x.index()) {
            Some(variable) => ModelError::LaterVariable {
                part,
                variable: self.model.named(x),
                scope: self.model.named_scope(variable.scope),
            },
            None => ModelError::UnknownVariable { part },
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
                let problem =
                    "a symmetry must permute variables: each one must occur on both sides";
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
                self.later(Part::Declarations(self.model.named_scope(id)), x);
            }
        }
    }

    fn declaration(&mut self, id: ScopeId, problem: String) {
        let scope = self.model.named_scope(id);
        self.errors.push(ModelError::Declaration { scope, problem });
    }

    fn aggregates(&mut self) {
        for (i, aggregate) in self.model.aggregates().iter().enumerate() {
            let named = Named { id: AggregateId::new(i), name: aggregate.name.clone() };
            let part = Part::Aggregate(named);
            let Some(scope) = self.model.scopes().get(aggregate.scope.index()) else {
                self.measure(part, "its scope does not exist".to_string());
                continue;
            };
            if scope.quantifier != Quantifier::Forall {
                let problem = format!("scope `{}` is not universal", scope.name);
                self.measure(part.clone(), problem);
            }
            if matches!(aggregate.of, Measure::Aggregate(of) if of.index() >= i) {
                self.measure(part, "it uses an aggregate stated after it".to_string());
                continue;
            }
            self.visible(&part, aggregate.scope.index() + 1, aggregate.of);
        }
    }

    fn criteria(&mut self) {
        for (i, scope) in self.model.scopes().iter().enumerate() {
            let Some(criterion) = scope.criterion else { continue };
            let part = Part::Criterion(self.model.named_scope(ScopeId::new(i)));
            if scope.quantifier != Quantifier::Exists {
                let problem = "only an existential scope optimizes".to_string();
                self.measure(part.clone(), problem);
            }
            self.visible(&part, i, criterion.measure);
        }
    }

    /// Checks that a measure has a single value as seen from a scope: no universal scope may lie
    /// between, except the scope of the measure itself if it is an aggregate.
    fn visible(&mut self, part: &Part, from: usize, measure: Measure) {
        let model = self.model;
        let (at, is_variable) = match measure {
            Measure::Variable(x) => match model.variables().get(x.index()) {
                Some(x) => (x.scope.index(), true),
                None => {
                    let problem = "it uses a variable that the model does not have".to_string();
                    return self.measure(part.clone(), problem);
                }
            },
            Measure::Aggregate(of) => match model.aggregates().get(of.index()) {
                Some(aggregate) => (aggregate.scope.index(), false),
                None => {
                    let problem = "it uses an aggregate that the model does not have".to_string();
                    return self.measure(part.clone(), problem);
                }
            },
        };
        let name = model.measure_name(measure);
        if at < from {
            let problem = format!("`{name}` belongs to an earlier scope");
            return self.measure(part.clone(), problem);
        }
        let end = at + usize::from(is_variable);
        let between = model.scopes().get(from..end).unwrap_or_default();
        if let Some(scope) = between.iter().find(|s| s.quantifier == Quantifier::Forall) {
            let problem = format!(
                "`{name}` has many values, one for each branch of the universal scope `{}`; \
                 use an aggregate of that scope",
                scope.name
            );
            self.measure(part.clone(), problem);
        }
    }

    fn measure(&mut self, part: Part, problem: String) {
        self.errors.push(ModelError::Measure { part, problem });
    }
}
