//! Scopes: their variables, restrictors and definitions.

use std::rc::Rc;

use ludex_base::Span;
use ludex_csp::{Constraint, Expr as Formula, VALUE_LIMIT, ValueSet, VarId, Variable};
use ludex_qcsp::{AggregateFunction, Quantifier, ScopeId, Symmetry, Ties};

use crate::codes;
use crate::conditions::conjuncts;
use crate::draft::{Drawing, Owner};
use crate::eval::Evaluated;
use crate::lower::{Lowering, indices};
use crate::objectives::{Pending, Use};
use crate::syntax::{self, Clause, Declaration, Expr, ExprKind, Let, Name, Type};
use crate::value::{Array, Binding, Term, Value};

impl Lowering<'_, '_> {
    /// Returns the owner that the text names, or that a condition on constants selects.
    pub(crate) fn owner(&mut self, owner: &syntax::Quantifier, at: Span) -> Evaluated<Owner> {
        match owner {
            syntax::Quantifier::Exists => Ok(Owner::Player(Quantifier::Exists)),
            syntax::Quantifier::Forall => Ok(Owner::Player(Quantifier::Forall)),
            syntax::Quantifier::Random => Ok(Owner::Chance(Drawing { weight: None, at })),
            syntax::Quantifier::If(condition, then, otherwise) => {
                if self.evaluator.constant_bool(condition)? {
                    self.owner(then, at)
                } else {
                    self.owner(otherwise, at)
                }
            }
        }
    }

    /// Opens a scope, unless there are too many.
    pub(crate) fn open(&mut self, name: String, owner: Owner, span: Span) -> Evaluated<ScopeId> {
        let max_scopes = self.evaluator.limits().max_scopes;
        if self.draft.scopes.len() >= max_scopes {
            let message = format!("a model has at most {max_scopes} scopes");
            return self.evaluator.too_large(span, message);
        }
        Ok(self.draft.open(name, owner, span))
    }

    pub(crate) fn scope(&mut self, scope: &syntax::Scope) -> Evaluated<()> {
        let owner = self.owner(&scope.quantifier, scope.at.0)?;
        let name = scope.declarations.first().map_or_else(String::new, |d| d.name.text.clone());
        let name =
            self.indexed_name(&name, scope.declarations.first().map_or(&[][..], |d| &d.index))?;
        let id = self.open(name, owner.clone(), scope.at.0)?;
        for declaration in &scope.declarations {
            self.declaration(declaration)?;
        }
        match owner {
            Owner::Chance(_) => self.drawing(scope, id)?,
            Owner::Player(quantifier) => {
                for clause in &scope.clauses {
                    self.clause(clause, id, quantifier, scope)?;
                }
            }
        }
        self.settle_pending()
    }

    pub(crate) fn indexed_name(&mut self, name: &str, index: &[Expr]) -> Evaluated<String> {
        if index.is_empty() {
            return Ok(name.to_string());
        }
        let mut shown = Vec::new();
        for place in index {
            shown.push(self.evaluator.constant_int(place)?.to_string());
        }
        Ok(format!("{name}[{}]", shown.join(",")))
    }

    pub(crate) fn declaration(&mut self, declaration: &Declaration) -> Evaluated<()> {
        let name = &declaration.name;
        let mut index = Vec::new();
        for place in &declaration.index {
            index.push(self.evaluator.constant_int(place)?);
        }
        let shown = self.indexed_name(&name.text, &declaration.index)?;
        let value = self.variables(&shown, &declaration.ty, name.at.0)?;
        if index.is_empty() {
            if self.evaluator.binding(&name.text).is_some() {
                let message =
                    format!("`{}` is declared again in another round of the loop", name.text);
                return self.evaluator.fail_with_help(
                    codes::DUPLICATE_NAME,
                    name.at.0,
                    message,
                    format!("give it the index of the loop: `{}[i]`", name.text),
                );
            }
            self.evaluator.bind(&name.text, Binding::Value(value));
            return Ok(());
        }
        self.evaluator.bind_member(name, index, value)
    }

    /// Adds a variable or an array of variables.
    pub(crate) fn variables(&mut self, name: &str, ty: &Type, span: Span) -> Evaluated {
        match ty {
            Type::Int | Type::Set => self.evaluator.fail_with_help(
                codes::TYPE,
                span,
                format!("`{name}` needs the values it can take"),
                "give a range or a set: `x: 0..9`",
            ),
            Type::Bool => {
                let variable = Variable {
                    name: name.to_string(),
                    domain: ValueSet::from(0..=1),
                    labels: Some(["false", "true"].map(String::from).into()),
                };
                let x = self.add_variable(variable, None, span)?;
                Ok(Value::Term(Box::new(Term::new(Formula::Var(x), true, 1, 1))))
            }
            Type::Domain(expr) => {
                let domain = self.evaluator.constant_set(expr)?;
                if domain.is_empty() {
                    return self.evaluator.fail_with_help(
                        codes::EMPTY_DOMAIN,
                        expr.at.0,
                        format!("`{name}` has no values"),
                        "a range whose ends are crossed is empty; check the parameters it is made of",
                    );
                }
                let labels = match &expr.kind {
                    ExprKind::Name(set) => self.enumerations.get(set).cloned(),
                    _ => None,
                };
                let variable =
                    Variable { name: name.to_string(), domain: (*domain).clone(), labels };
                let x = self.add_variable(variable, None, span)?;
                Ok(Value::Term(Box::new(Term::new(Formula::Var(x), false, 1, 1))))
            }
            Type::Array { dimensions, of } => {
                let mut dims = Vec::new();
                for dimension in dimensions {
                    dims.push(self.dimension(dimension)?);
                }
                let mut items = Vec::new();
                for index in indices(&dims) {
                    let shown: Vec<String> = index.iter().map(i64::to_string).collect();
                    // An array that is a member of a family has the indices of both.
                    let full = match name.strip_suffix(']') {
                        Some(open) => format!("{open},{}]", shown.join(",")),
                        None => format!("{name}[{}]", shown.join(",")),
                    };
                    items.push(self.variables(&full, of, span)?);
                }
                Ok(Value::Array(Rc::new(Array { dims, items })))
            }
        }
    }

    /// Adds a variable to the scope opened last.
    pub(crate) fn variable(
        &mut self,
        name: String,
        domain: ValueSet,
        definition: Option<Formula>,
        span: Span,
    ) -> Evaluated<VarId> {
        self.add_variable(Variable { name, domain, labels: None }, definition, span)
    }

    pub(crate) fn add_variable(
        &mut self,
        variable: Variable,
        definition: Option<Formula>,
        span: Span,
    ) -> Evaluated<VarId> {
        let max_variables = self.evaluator.limits().max_variables;
        if self.draft.variables.len() >= max_variables {
            let message = format!("a model has at most {max_variables} variables");
            return self.evaluator.too_large(span, message);
        }
        let bounds = |end: Option<i32>| i64::from(end.unwrap_or(0));
        let (low, high) = (bounds(variable.domain.min()), bounds(variable.domain.max()));
        self.evaluator.bounds.push((low, high));
        Ok(self.draft.add_variable(variable, definition, span))
    }

    pub(crate) fn clause(
        &mut self,
        clause: &Clause,
        id: ScopeId,
        quantifier: Quantifier,
        scope: &syntax::Scope,
    ) -> Evaluated<()> {
        match clause {
            Clause::Let(definition) => self.definition(definition),
            Clause::Where(condition) => {
                let value = self.evaluator.eval(condition)?;
                self.restrict(value, condition.at.0)
            }
            Clause::Optimize { is_minimized, expr, ties, at } => {
                if quantifier == Quantifier::Forall {
                    return self.evaluator.fail_with_help(
                        codes::MISPLACED,
                        at.0,
                        "a universal scope has nothing to optimize",
                        "an opponent who optimizes is an `exists` scope with a criterion of his own",
                    );
                }
                if let Some(ties) = ties {
                    let policy = self.ties(ties)?;
                    self.draft.scope_mut(id).ties = policy;
                }
                let use_ = Use::Optimize { is_minimized: *is_minimized };
                self.pending.push(Pending { scope: id, use_, expr: expr.clone(), found: None });
                Ok(())
            }
            Clause::Aggregate { name, function, expr } => {
                if quantifier == Quantifier::Exists {
                    return self.evaluator.fail_with_help(
                        codes::MISPLACED,
                        name.at.0,
                        "an existential scope has one branch and nothing to aggregate",
                        "aggregates stand in `forall` scopes",
                    );
                }
                let function = self.aggregate_function(function)?;
                let use_ = Use::Aggregate { name: name.clone(), function };
                self.pending.push(Pending { scope: id, use_, expr: expr.clone(), found: None });
                Ok(())
            }
            Clause::Order(order) => {
                if scope.declarations.len() != 1 {
                    return self.evaluator.fail(
                        codes::MISPLACED,
                        order.at.0,
                        "`order` is for scopes with one variable",
                    );
                }
                let variables = self.draft.scope(id).variables.clone();
                self.value_order(&variables, order)
            }
            Clause::Weight { at, .. } => self.evaluator.fail_with_help(
                codes::MISPLACED,
                at.0,
                "what is chosen has no weight",
                "weights stand in `random` scopes",
            ),
            Clause::Symmetry(equations) => self.symmetry(equations, id),
            Clause::NonBlocking => {
                self.draft.current().is_non_blocking = true;
                Ok(())
            }
        }
    }

    /// Declares that the verdict from a scope on stays the same when earlier variables are
    /// exchanged.
    ///
    /// Nothing is declared where a variable would replace a constant: in the first rounds of a
    /// game many values are constant.
    pub(crate) fn symmetry(&mut self, equations: &[Expr], id: ScopeId) -> Evaluated<()> {
        let mut symmetry = Symmetry::default();
        let mut is_whole = true;
        for equation in equations {
            let ExprKind::Binary(syntax::Binary::Eq, left, right) = &equation.kind else {
                unreachable!("the parser takes equations only");
            };
            let (to, from) = (self.evaluator.eval(left)?, self.evaluator.eval(right)?);
            let span = equation.at.0;
            let (to, from) = (members(to), members(from));
            if to.len() != from.len() {
                let message = format!("{} members take the place of {}", from.len(), to.len());
                return self.evaluator.fail(codes::TYPE, span, message);
            }
            for pair in to.iter().zip(&from) {
                match pair {
                    (Value::Term(to), Value::Term(from)) => {
                        let (Formula::Var(x), Formula::Var(y)) = (&to.formula, &from.formula)
                        else {
                            return self.evaluator.fail_with_help(
                                codes::TYPE,
                                span,
                                "a symmetry exchanges variables, not what is computed from them",
                                "both sides are variables, state variables or arrays of them",
                            );
                        };
                        if [x, y].iter().any(|x| self.draft.variable(**x).scope >= id) {
                            return self.evaluator.fail_with_help(
                                codes::MISPLACED,
                                span,
                                "a symmetry is about variables of earlier scopes",
                                "put it into the scope after those whose variables it exchanges",
                            );
                        }
                        symmetry.variables.push((*x, *y));
                    }
                    (Value::Int(to), Value::Int(from)) => is_whole &= to == from,
                    (Value::Bool(to), Value::Bool(from)) => is_whole &= to == from,
                    _ => is_whole = false,
                }
            }
        }
        symmetry.variables.sort_unstable();
        symmetry.variables.dedup();
        let sorted = |variables: &mut dyn Iterator<Item = VarId>| {
            let mut variables: Vec<VarId> = variables.collect();
            variables.sort_unstable();
            variables
        };
        let to = sorted(&mut symmetry.variables.iter().map(|&(to, _)| to));
        let from = sorted(&mut symmetry.variables.iter().map(|&(_, from)| from));
        // Positions that share a variable are indistinguishable.
        let is_shared = |all: &[VarId]| all.windows(2).any(|pair| pair[0] == pair[1]);
        if !is_whole || is_shared(&to) || is_shared(&from) {
            return Ok(());
        }
        if to != from {
            return self.evaluator.fail_with_help(
                codes::TYPE,
                equations.first().map_or(Span::new(0, 0), |equation| equation.at.0),
                "a symmetry must permute variables: each one must occur on both sides",
                "say what takes the other place: `symmetry x = y, y = x`",
            );
        }
        if symmetry.variables.iter().any(|(x, y)| x != y) {
            self.draft.scope_mut(id).symmetries.push(symmetry);
        }
        Ok(())
    }

    pub(crate) fn value_order(&mut self, variables: &[VarId], order: &Expr) -> Evaluated<()> {
        let mut values = Vec::new();
        match self.evaluator.eval(order)? {
            Value::Array(array) => {
                for item in &array.items {
                    let Value::Int(number) = item else {
                        return self.evaluator.fail(
                            codes::TYPE,
                            order.at.0,
                            "`order` takes a list of numbers",
                        );
                    };
                    values.push(self.evaluator.small(*number, order.at.0)?);
                }
            }
            other => {
                let message = format!("`order` takes a list of numbers, found {}", other.kind());
                return self.evaluator.fail(codes::TYPE, order.at.0, message);
            }
        }
        for &x in variables {
            if self.draft.variable(x).definition.is_none() {
                let own =
                    values.iter().copied().filter(|&value| self.draft.domain(x).contains(value));
                let own: Vec<i32> = own.collect();
                let scope = self.draft.variable(x).scope;
                self.draft.scope_mut(scope).value_orders.push((x, own));
            }
        }
        Ok(())
    }

    pub(crate) fn ties(&mut self, ties: &Name) -> Evaluated<Ties> {
        if let Some((_, policy)) = Ties::ALL.iter().find(|(name, _)| *name == ties.text) {
            return Ok(*policy);
        }
        let known: Vec<&str> = Ties::ALL.iter().map(|(name, _)| *name).collect();
        self.evaluator.fail_with_help(
            codes::UNKNOWN_NAME,
            ties.at.0,
            format!("`{}` is no way to settle ties", ties.text),
            format!("ties are {}", known.join(", ")),
        )
    }

    pub(crate) fn aggregate_function(&mut self, function: &Name) -> Evaluated<AggregateFunction> {
        let all = AggregateFunction::ALL;
        if let Some((_, found)) = all.iter().find(|(name, _)| *name == function.text) {
            return Ok(*found);
        }
        let known: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        self.evaluator.fail_with_help(
            codes::UNKNOWN_NAME,
            function.at.0,
            format!("`{}` is no aggregate", function.text),
            format!("aggregates are {}", known.join(", ")),
        )
    }

    /// Adds a condition to the restrictor of the scope opened last.
    pub(crate) fn restrict(&mut self, value: Value, span: Span) -> Evaluated<()> {
        for constraint in self.constraints(value, span)? {
            self.draft.restrict(constraint, span);
        }
        Ok(())
    }

    pub(crate) fn constraints(&mut self, value: Value, span: Span) -> Evaluated<Vec<Constraint>> {
        Ok(match value {
            Value::Bool(true) => Vec::new(),
            Value::Law(laws) => laws,
            value => {
                let term = self.evaluator.truth(value, span)?;
                conjuncts(term.formula).into_iter().map(Constraint::Intension).collect()
            }
        })
    }

    pub(crate) fn definition(&mut self, definition: &Let) -> Evaluated<()> {
        let name = &definition.name;
        let mut index = Vec::new();
        for place in &definition.index {
            index.push(self.evaluator.constant_int(place)?);
        }
        let shown = self.indexed_name(&name.text, &definition.index)?;
        let value = self.evaluator.eval(&definition.value)?;
        let value = self.named(&shown, value, definition.value.at.0)?;
        if index.is_empty() {
            self.evaluator.bind(&name.text, Binding::Value(value));
            return Ok(());
        }
        self.evaluator.bind_member(name, index, value)
    }

    /// Turns the terms of a value into functional variables of the scope opened last.
    pub(crate) fn named(&mut self, name: &str, value: Value, span: Span) -> Evaluated {
        match value {
            Value::Array(array) => {
                let mut items = Vec::new();
                for (index, item) in indices(&array.dims).into_iter().zip(&array.items) {
                    let shown: Vec<String> = index.iter().map(i64::to_string).collect();
                    let full = match name.strip_suffix(']') {
                        Some(open) => format!("{open},{}]", shown.join(",")),
                        None => format!("{name}[{}]", shown.join(",")),
                    };
                    items.push(self.named(&full, item.clone(), span)?);
                }
                Ok(Value::Array(Rc::new(Array { dims: array.dims.clone(), items })))
            }
            Value::Term(term) => {
                let (low, high) = self.evaluator.bounds_of(&term.formula);
                let limit = i64::from(VALUE_LIMIT);
                let within = |bound: i64| bound.clamp(-limit, limit) as i32;
                let domain = if term.is_bool {
                    ValueSet::from(0..=1)
                } else {
                    ValueSet::from(within(low)..=within(high))
                };
                self.named_in(name, *term, &domain, span)
            }
            // A global constraint can have a name; it is posted where the name is used.
            other => Ok(other),
        }
    }

    /// Returns a term as a functional variable with a domain, unless it is already such a
    /// variable.
    pub(crate) fn named_in(
        &mut self,
        name: &str,
        term: Term,
        domain: &ValueSet,
        span: Span,
    ) -> Evaluated {
        for need in term.defined {
            self.draft.restrict(Constraint::Intension(need), span);
        }
        if let Formula::Var(x) = term.formula {
            let own = self.draft.domain(x);
            if own.intersection(domain).len() == own.len() {
                return Ok(Value::Term(Box::new(Term::new(Formula::Var(x), term.is_bool, 1, 1))));
            }
        }
        let x = self.variable(name.to_string(), domain.clone(), Some(term.formula), span)?;
        Ok(Value::Term(Box::new(Term::new(Formula::Var(x), term.is_bool, 1, 1))))
    }
}

/// Returns the members of an array, or the single value.
fn members(value: Value) -> Vec<Value> {
    match value {
        Value::Array(array) => array.items.clone(),
        value => vec![value],
    }
}
