//! Items to a model: parameters get their values, loops are run, scopes are opened.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use ludex_base::{Deadline, Diagnostic, Severity, Span};
use ludex_csp::{Constraint, Expr as Formula, VALUE_LIMIT, ValueSet, VarId, Variable};

use super::data::{Data, Datum};
use super::eval::{Evaluated, Evaluator, Failed, conjuncts};
use super::limits::Limits;
use super::syntax::{self, *};
use super::value::{Array, Binding, Term, Value};
use super::{codes, optimum, suggest};
use crate::{AggregateFunction, Measure, Model, Quantifier, ScopeId, Ties};

/// A model with what the text said beside it.
#[derive(Clone)]
pub struct Compiled {
    /// The quantified network.
    pub model: Model,
    /// The parameters with their values as text, in the order of declaration.
    pub parameters: Vec<(String, String)>,
    /// Things worth knowing that are no mistakes.
    pub warnings: Vec<Diagnostic>,
}

/// Turns a tree whose names are checked into a model.
pub fn lower(
    tree: &syntax::Model,
    data: &Data,
    limits: &Limits,
    deadline: &Deadline,
) -> Result<Compiled, Vec<Diagnostic>> {
    let mut evaluator = Evaluator::new(limits, deadline);
    evaluator.solve_inner = Some(optimum::solve);
    let mut lowering = Lowering::new(evaluator, data);
    lowering.unknown_data(tree);
    // A mistake in one item leaves the others to be looked at, where they can be.
    let _ = lowering.items(&tree.items).and_then(|()| lowering.finish());
    let Lowering { evaluator, model, parameters, warnings, .. } = lowering;
    if evaluator.has_failed() {
        return Err(evaluator.into_diagnostics());
    }
    if let Some(error) = model.check().into_iter().next() {
        let place = Span::new(0, 0);
        let message = error.to_string();
        return Err(vec![Diagnostic::new(Severity::Fatal, codes::UNSUPPORTED, place, message)]);
    }
    Ok(Compiled { model, parameters, warnings })
}

/// The model that is being built.
pub struct Lowering<'a, 'b> {
    pub(super) evaluator: Evaluator<'a>,
    data: &'b Data,
    pub(super) model: Model,
    parameters: Vec<(String, String)>,
    pub(super) warnings: Vec<Diagnostic>,
    /// Objectives and aggregates whose expressions wait for their variables.
    pending: Vec<Pending>,
    /// Who has won when the rounds of a game are over: 0 for nobody, 1 for the existential
    /// player, 2 for the universal one.
    pub(super) winner: Option<Value>,
    /// Goals that stand behind a game, which may be over before its last round.
    pub(super) later_goals: Vec<Expr>,
    has_goal: bool,
    /// The names of the values of enumerations; the value 0 has none.
    enumerations: HashMap<String, Arc<[String]>>,
}

/// An objective or an aggregate that may look ahead.
struct Pending {
    scope: ScopeId,
    use_: Use,
    expr: Expr,
    found: Option<Found>,
}

enum Use {
    Optimize { is_minimized: bool },
    Aggregate { name: Name, function: AggregateFunction },
}

enum Found {
    Variable(VarId),
    /// The name of an aggregate.
    Aggregate(String),
}

impl<'a, 'b> Lowering<'a, 'b> {
    /// An empty model.
    pub fn new(evaluator: Evaluator<'a>, data: &'b Data) -> Self {
        Self {
            evaluator,
            data,
            model: Model::new(),
            parameters: Vec::new(),
            warnings: Vec::new(),
            pending: Vec::new(),
            winner: None,
            later_goals: Vec::new(),
            has_goal: false,
            enumerations: HashMap::new(),
        }
    }

    /// Data for parameters that the model does not have.
    fn unknown_data(&mut self, tree: &syntax::Model) {
        let names: Vec<&str> = tree
            .items
            .iter()
            .filter_map(|item| match item {
                Item::Param(param) => Some(param.name.text.as_str()),
                _ => None,
            })
            .collect();
        for name in self.data.values.keys().filter(|name| !names.contains(&name.as_str())) {
            let message = format!("the model has no parameter `{name}`");
            let help = match suggest::closest(name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if names.is_empty() => "it has no parameters at all".into(),
                None => format!("its parameters are {}", names.join(", ")),
            };
            let place = Span::new(0, 0);
            self.evaluator.report(
                Diagnostic::new(Severity::Fatal, codes::UNKNOWN_PARAMETER, place, message)
                    .with_help(help),
            );
        }
    }

    /// Lowers items in order.
    pub fn items(&mut self, items: &[Item]) -> Evaluated<()> {
        // Functions may be called before the place where they are written.
        for item in items {
            if let Item::Function(function) = item {
                let binding = Binding::Function(Rc::new(function.clone()));
                self.evaluator.bind(&function.name.text, binding);
            }
        }
        let mut result = Ok(());
        for (i, item) in items.iter().enumerate() {
            if let Item::Game(_) = item {
                let goals = items[i + 1..].iter().filter_map(|item| match item {
                    Item::Goal(goal) => Some(goal.clone()),
                    _ => None,
                });
                self.later_goals = goals.collect();
            }
            if self.item(item).is_err() {
                result = Err(Failed);
                // What follows a broken declaration would be full of echoes.
                if !matches!(item, Item::Goal(_) | Item::Assert { .. }) {
                    return result;
                }
            }
        }
        result
    }

    fn item(&mut self, item: &Item) -> Evaluated<()> {
        match item {
            Item::Param(param) => self.param(param),
            Item::Enum { name, members } => self.enumeration(name, members),
            Item::Let(definition) => self.definition(definition),
            Item::Function(_) => Ok(()),
            Item::Assert { condition, message } => {
                if self.evaluator.constant_bool(condition)? {
                    return Ok(());
                }
                let message = message.clone().unwrap_or_else(|| "this does not hold".into());
                self.evaluator.fail(codes::ASSERTION, condition.at.0, message)
            }
            Item::Scope(scope) => self.scope(scope),
            Item::For { generators, body } => self.repetition(generators, body),
            Item::If { condition, then, otherwise } => {
                let is_taken = self.evaluator.constant_bool(condition)?;
                self.items(if is_taken { then } else { otherwise })
            }
            Item::Game(game) => self.game(game),
            Item::Goal(goal) => self.goal(goal),
        }
    }

    // ---- constants ----

    fn param(&mut self, param: &Param) -> Evaluated<()> {
        let span = param.name.at.0;
        let name = &param.name.text;
        let value = match (self.data.values.get(name), &param.default) {
            (Some(datum), _) => {
                let value = self.datum(datum, name, span)?;
                self.fitted(value, &param.ty, name, span)?
            }
            (None, Some(default)) => {
                let value = self.evaluator.eval(default)?;
                self.fitted(value, &param.ty, name, default.at.0)?
            }
            (None, None) => {
                return self.evaluator.fail_with_help(
                    codes::MISSING_DATA,
                    span,
                    format!("the parameter `{name}` has no value"),
                    format!("give it with `-D {name}=…` or in a data file"),
                );
            }
        };
        self.parameters.push((name.clone(), shown(&value)));
        self.evaluator.bind(name, Binding::Value(value));
        Ok(())
    }

    fn datum(&mut self, datum: &Datum, name: &str, span: Span) -> Evaluated {
        match datum {
            Datum::Int(number) => Ok(Value::Int(*number)),
            Datum::Bool(truth) => Ok(Value::Bool(*truth)),
            Datum::Name(member) => match self.evaluator.binding(member) {
                Some(Binding::Value(value @ Value::Int(_))) => Ok(value.clone()),
                _ => {
                    let message =
                        format!("the data gives `{name}` the value `{member}`, which is not known");
                    self.evaluator.fail(codes::DATA_TYPE, span, message)
                }
            },
            Datum::Set(ranges) => {
                let mut small = Vec::new();
                for &(low, high) in ranges {
                    small.push((
                        self.evaluator.small(low, span)?,
                        self.evaluator.small(high, span)?,
                    ));
                }
                Ok(Value::Set(Rc::new(ValueSet::from_ranges(small))))
            }
            Datum::List(list) => {
                let items = list
                    .iter()
                    .map(|item| self.datum(item, name, span))
                    .collect::<Evaluated<Vec<_>>>()?;
                Ok(Value::list(items))
            }
        }
    }

    /// A value as its type wants it: arrays with their indices, everything checked.
    fn fitted(&mut self, value: Value, ty: &Type, name: &str, span: Span) -> Evaluated {
        match (ty, value) {
            (Type::Int, value @ Value::Int(_)) | (Type::Bool, value @ Value::Bool(_)) => Ok(value),
            (Type::Bool, Value::Int(number @ 0..=1)) => Ok(Value::Bool(number == 1)),
            (Type::Set, value @ Value::Set(_)) => Ok(value),
            (Type::Set, Value::Array(array)) => {
                // JSON has no sets.
                let mut members = Vec::new();
                for item in &array.items {
                    let Value::Int(number) = item else {
                        return self.misfit(name, "a set of numbers", item, span);
                    };
                    members.push(self.evaluator.small(*number, span)?);
                }
                Ok(Value::Set(Rc::new(members.into_iter().collect())))
            }
            (Type::Domain(domain), Value::Int(number)) => {
                let set = self.evaluator.constant_set(domain)?;
                if i32::try_from(number).is_ok_and(|number| set.contains(number)) {
                    return Ok(Value::Int(number));
                }
                let message = format!("`{name}` is {number}, which is not in {set}");
                self.evaluator.fail(codes::DATA_TYPE, span, message)
            }
            (Type::Array { dimensions, of }, Value::Array(array)) => {
                let mut dims = Vec::new();
                for dimension in dimensions {
                    dims.push(self.dimension(dimension)?);
                }
                let items = flat(&array);
                let wanted = dims.iter().try_fold(1_usize, |n, dim| n.checked_mul(dim.1));
                if wanted != Some(items.len()) {
                    let sizes: Vec<String> = dims.iter().map(|dim| dim.1.to_string()).collect();
                    let message = format!(
                        "`{name}` has {} members, its index sets have {}",
                        items.len(),
                        sizes.join(" by ")
                    );
                    return self.evaluator.fail(codes::DATA_TYPE, span, message);
                }
                let mut fitted = Vec::new();
                for item in items {
                    fitted.push(self.fitted(item, of, name, span)?);
                }
                Ok(Value::Array(Rc::new(Array { dims, items: fitted })))
            }
            (ty, value) => {
                let wanted = match ty {
                    Type::Int | Type::Domain(_) => "a number",
                    Type::Bool => "true or false",
                    Type::Set => "a set",
                    Type::Array { .. } => "an array",
                };
                self.misfit(name, wanted, &value, span)
            }
        }
    }

    fn misfit<T>(&mut self, name: &str, wanted: &str, found: &Value, span: Span) -> Evaluated<T> {
        let message = format!("`{name}` is {wanted}, and its value is {}", found.kind());
        self.evaluator.fail(codes::DATA_TYPE, span, message)
    }

    /// First index and length of an index set.
    pub(super) fn dimension(&mut self, dimension: &Expr) -> Evaluated<(i64, usize)> {
        let set = self.evaluator.constant_set(dimension)?;
        let span = dimension.at.0;
        match set.ranges() {
            [] => Ok((1, 0)),
            [(first, _)] if set.len() <= self.evaluator.limits().max_length as u64 => {
                Ok((i64::from(*first), set.len() as usize))
            }
            [_] => {
                let message = format!("an array with {} places", set.len());
                self.evaluator.too_large(span, message)
            }
            _ => self.evaluator.fail(codes::TYPE, span, "an index set has no gaps"),
        }
    }

    fn enumeration(&mut self, name: &Name, members: &[Name]) -> Evaluated<()> {
        for (i, member) in members.iter().enumerate() {
            self.evaluator.bind(&member.text, Binding::Value(Value::Int(i as i64 + 1)));
        }
        let labels = std::iter::once("0").chain(members.iter().map(|member| member.text.as_str()));
        self.enumerations.insert(name.text.clone(), labels.map(String::from).collect());
        let set = ValueSet::from(1..=members.len() as i32);
        self.evaluator.bind(&name.text, Binding::Value(Value::Set(Rc::new(set))));
        Ok(())
    }

    fn repetition(&mut self, generators: &[Generator], body: &[Item]) -> Evaluated<()> {
        // The choices are computed first, because running the body needs all of `self`.
        let names: Vec<String> = generators
            .iter()
            .flat_map(|generator| generator.names.iter().map(|name| name.text.clone()))
            .collect();
        let mut choices: Vec<Vec<Value>> = Vec::new();
        let name_exprs: Vec<Expr> = generators
            .iter()
            .flat_map(|generator| &generator.names)
            .map(|name| Expr { kind: ExprKind::Name(name.text.clone()), at: name.at })
            .collect();
        self.evaluator.generate(generators, &mut |evaluator| {
            choices.push(
                name_exprs.iter().map(|name| evaluator.eval(name)).collect::<Evaluated<_>>()?,
            );
            Ok(())
        })?;
        let mut result = Ok(());
        for choice in choices {
            // Loop names are bound like others, so that lets inside can see them.
            let mut hidden = Vec::new();
            for (name, value) in names.iter().zip(choice) {
                hidden.push((name.clone(), self.evaluator.unbind(name)));
                self.evaluator.bind(name, Binding::Value(value));
            }
            result = self.items(body);
            for (name, binding) in hidden {
                self.evaluator.unbind(&name);
                if let Some(binding) = binding {
                    self.evaluator.bind(&name, binding);
                }
            }
            if result.is_err() {
                break;
            }
        }
        result
    }

    // ---- scopes ----

    /// The quantifier that a condition on constants chooses.
    pub(super) fn quantifier(&mut self, quantifier: &syntax::Quantifier) -> Evaluated<Quantifier> {
        match quantifier {
            syntax::Quantifier::Exists => Ok(Quantifier::Exists),
            syntax::Quantifier::Forall => Ok(Quantifier::Forall),
            syntax::Quantifier::If(condition, then, otherwise) => {
                match self.evaluator.constant_bool(condition)? {
                    true => self.quantifier(then),
                    false => self.quantifier(otherwise),
                }
            }
        }
    }

    /// Opens a scope, unless there are too many.
    pub(super) fn open(
        &mut self,
        name: String,
        quantifier: Quantifier,
        span: Span,
    ) -> Evaluated<ScopeId> {
        let max_scopes = self.evaluator.limits().max_scopes;
        if self.model.scopes().len() >= max_scopes {
            let message = format!("a model has at most {max_scopes} scopes");
            return self.evaluator.too_large(span, message);
        }
        Ok(self.model.open(name, quantifier))
    }

    fn scope(&mut self, scope: &syntax::Scope) -> Evaluated<()> {
        let quantifier = self.quantifier(&scope.quantifier)?;
        let name = scope.declarations.first().map_or_else(String::new, |d| d.name.text.clone());
        let name =
            self.indexed_name(&name, scope.declarations.first().map_or(&[][..], |d| &d.index))?;
        let id = self.open(name, quantifier, scope.at.0)?;
        for declaration in &scope.declarations {
            self.declaration(declaration)?;
        }
        for clause in &scope.clauses {
            self.clause(clause, id, quantifier, scope)?;
        }
        self.settle_pending()
    }

    fn indexed_name(&mut self, name: &str, index: &[Expr]) -> Evaluated<String> {
        if index.is_empty() {
            return Ok(name.to_string());
        }
        let mut shown = Vec::new();
        for place in index {
            shown.push(self.evaluator.constant_int(place)?.to_string());
        }
        Ok(format!("{name}[{}]", shown.join(",")))
    }

    fn declaration(&mut self, declaration: &Declaration) -> Evaluated<()> {
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

    /// A variable, or an array of them.
    fn variables(&mut self, name: &str, ty: &Type, span: Span) -> Evaluated {
        match ty {
            Type::Int | Type::Set => self.evaluator.fail_with_help(
                codes::TYPE,
                span,
                format!("`{name}` needs the values it can take"),
                "give a range or a set: `x: 0..9`",
            ),
            Type::Bool => {
                let x = self.variable(name.to_string(), ValueSet::from(0..=1), None, span)?;
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
                    // A member of a family that is an array has the indices of both.
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
    pub(super) fn variable(
        &mut self,
        name: String,
        domain: ValueSet,
        definition: Option<Formula>,
        span: Span,
    ) -> Evaluated<VarId> {
        self.add_variable(Variable { name, domain, labels: None }, definition, span)
    }

    fn add_variable(
        &mut self,
        variable: Variable,
        definition: Option<Formula>,
        span: Span,
    ) -> Evaluated<VarId> {
        let max_variables = self.evaluator.limits().max_variables;
        if self.model.variables().len() >= max_variables {
            let message = format!("a model has at most {max_variables} variables");
            return self.evaluator.too_large(span, message);
        }
        let bounds = |end: Option<i32>| i64::from(end.unwrap_or(0));
        let (low, high) = (bounds(variable.domain.min()), bounds(variable.domain.max()));
        self.evaluator.bounds.push((low, high));
        Ok(self.model.variable_with(variable, definition))
    }

    fn clause(
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
                    self.model.ties(id, policy);
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
                let variables = self.model.scope(id).variables.clone();
                self.value_order(&variables, order)
            }
        }
    }

    pub(super) fn value_order(&mut self, variables: &[VarId], order: &Expr) -> Evaluated<()> {
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
            if self.model.variable(x).definition.is_none() {
                let own =
                    values.iter().copied().filter(|&value| self.model.domain(x).contains(value));
                let own: Vec<i32> = own.collect();
                self.model.value_order(x, own);
            }
        }
        Ok(())
    }

    fn ties(&mut self, ties: &Name) -> Evaluated<Ties> {
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

    fn aggregate_function(&mut self, function: &Name) -> Evaluated<AggregateFunction> {
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

    /// Makes a condition part of the restrictor of the scope opened last.
    pub(super) fn restrict(&mut self, value: Value, span: Span) -> Evaluated<()> {
        for constraint in self.constraints(value, span)? {
            self.model.restrict(constraint);
        }
        Ok(())
    }

    fn constraints(&mut self, value: Value, span: Span) -> Evaluated<Vec<Constraint>> {
        Ok(match value {
            Value::Bool(true) => Vec::new(),
            Value::Law(laws) => laws,
            value => {
                let term = self.evaluator.truth(value, span)?;
                conjuncts(term.formula).into_iter().map(Constraint::Intension).collect()
            }
        })
    }

    // ---- definitions ----

    fn definition(&mut self, definition: &Let) -> Evaluated<()> {
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

    /// A value whose terms are functional variables of the scope opened last.
    pub(super) fn named(&mut self, name: &str, value: Value, span: Span) -> Evaluated {
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
                let domain = match term.is_bool {
                    true => ValueSet::from(0..=1),
                    false => ValueSet::from(within(low)..=within(high)),
                };
                self.named_in(name, *term, &domain, span)
            }
            // A global constraint can be named, and is stated where the name is used.
            other => Ok(other),
        }
    }

    /// A term as a functional variable with a domain, unless it is a variable in it already.
    pub(super) fn named_in(
        &mut self,
        name: &str,
        term: Term,
        domain: &ValueSet,
        span: Span,
    ) -> Evaluated {
        for need in term.defined {
            self.model.restrict(Constraint::Intension(need));
        }
        if let Formula::Var(x) = term.formula {
            let own = self.model.domain(x);
            if own.intersection(domain).len() == own.len() {
                return Ok(Value::Term(Box::new(Term::new(Formula::Var(x), term.is_bool, 1, 1))));
            }
        }
        let x = self.variable(name.to_string(), domain.clone(), Some(term.formula), span)?;
        Ok(Value::Term(Box::new(Term::new(Formula::Var(x), term.is_bool, 1, 1))))
    }

    // ---- goals ----

    fn goal(&mut self, goal: &Expr) -> Evaluated<()> {
        self.has_goal = true;
        let span = goal.at.0;
        let mut value = self.evaluator.eval(goal)?;
        if let Some(winner) = self.winner.clone() {
            value = self.decided_or(winner, value, span)?;
        }
        for constraint in self.constraints(value, span)? {
            self.model.goal_constraint(constraint);
        }
        Ok(())
    }

    /// The goal of a game that may be over: won, or undecided and the goal holds.
    pub(super) fn decided_or(&mut self, winner: Value, goal: Value, span: Span) -> Evaluated {
        use ludex_csp::Comparison::Eq;
        let won = self.evaluator.compare(Eq, winner.clone(), Value::Int(1), span)?;
        let open = self.evaluator.compare(Eq, winner, Value::Int(0), span)?;
        let holds = self.evaluator.both(open, goal, span)?;
        self.evaluator.any(vec![won, holds], span)
    }

    /// What can be done only when all scopes are there.
    pub(super) fn finish(&mut self) -> Evaluated<()> {
        if let Some(winner) = self.winner.clone()
            && !self.has_goal
        {
            let place = Span::new(0, 0);
            let value = self.decided_or(winner, Value::Bool(true), place)?;
            for constraint in self.constraints(value, place)? {
                self.model.goal_constraint(constraint);
            }
        }
        self.settle_pending()?;
        self.measures()
    }

    // ---- objectives and aggregates ----

    /// Gives waiting objectives and aggregates their variables, where these are declared now.
    ///
    /// A computed one becomes a functional variable of the first scope that has all it needs.
    pub(super) fn settle_pending(&mut self) -> Evaluated<()> {
        for i in 0..self.pending.len() {
            if self.pending[i].found.is_some() {
                continue;
            }
            let expr = self.pending[i].expr.clone();
            if let ExprKind::Name(name) = &expr.kind
                && self.is_aggregate(name)
            {
                self.pending[i].found = Some(Found::Aggregate(name.clone()));
                continue;
            }
            if !self.has_names(&expr) {
                continue;
            }
            let value = self.evaluator.eval(&expr)?;
            let value = match value {
                Value::Int(number) => {
                    Value::Term(Box::new(Term::new(Formula::Constant(number), false, 1, 1)))
                }
                Value::Bool(truth) => {
                    Value::Term(Box::new(Term::new(Formula::Constant(truth.into()), false, 1, 1)))
                }
                value => value,
            };
            let shown = super::print::print_expression(&expr);
            match self.named(&shown, value, expr.at.0)? {
                Value::Term(term) => {
                    let Formula::Var(x) = term.formula else {
                        unreachable!("named terms are variables")
                    };
                    self.pending[i].found = Some(Found::Variable(x));
                }
                other => {
                    let message = format!("expected a number, found {}", other.kind());
                    return self.evaluator.fail(codes::TYPE, expr.at.0, message);
                }
            }
        }
        Ok(())
    }

    fn is_aggregate(&self, name: &str) -> bool {
        self.pending.iter().any(
            |pending| matches!(&pending.use_, Use::Aggregate { name: own, .. } if own.text == name),
        )
    }

    /// Whether all names of an expression that stand for values are known.
    fn has_names(&self, expr: &Expr) -> bool {
        let mut names = Vec::new();
        free_names(expr, &mut Vec::new(), &mut names);
        names.iter().all(|name| self.evaluator.binding(name).is_some())
    }

    /// States aggregates, inner ones first, and then objectives.
    fn measures(&mut self) -> Evaluated<()> {
        let mut pending = std::mem::take(&mut self.pending);
        pending.sort_by_key(|pending| std::cmp::Reverse(pending.scope));
        let mut aggregates: Vec<(String, crate::AggregateId)> = Vec::new();
        for one in &pending {
            if let Use::Aggregate { name, function } = &one.use_ {
                let measure = self.measure(one, &aggregates)?;
                let id = self.model.aggregate(one.scope, &name.text, *function, measure);
                aggregates.push((name.text.clone(), id));
            }
        }
        for one in &pending {
            if let Use::Optimize { is_minimized } = one.use_ {
                let measure = self.measure(one, &aggregates)?;
                if self.model.scope(one.scope).criterion.is_some() {
                    return self.evaluator.fail(
                        codes::MISPLACED,
                        one.expr.at.0,
                        "a scope has one criterion",
                    );
                }
                match is_minimized {
                    true => self.model.minimize(one.scope, measure),
                    false => self.model.maximize(one.scope, measure),
                }
                if let Some(error) = self.wrong_measure(one.scope) {
                    return self.evaluator.fail_with_help(
                        codes::UNKNOWN_VARIABLE,
                        one.expr.at.0,
                        error,
                        "aggregate it in the universal scope between: `aggregate total = sum(…)`",
                    );
                }
            }
        }
        Ok(())
    }

    /// What the model says about a criterion that can't be seen from its scope.
    fn wrong_measure(&self, scope: ScopeId) -> Option<String> {
        let criterion = self.model.scope(scope).criterion?;
        let Measure::Variable(x) = criterion.measure else { return None };
        let own = self.model.variable(x).scope;
        let between = scope.index() + 1..=own.index();
        let universal = between
            .clone()
            .map(|i| self.model.scope(ScopeId::new(i)))
            .find(|scope| scope.quantifier == Quantifier::Forall)?;
        Some(format!(
            "`{}` is chosen behind the universal scope `{}` and has a value for each of its branches",
            self.model.name(x),
            universal.name
        ))
    }

    fn measure(
        &mut self,
        pending: &Pending,
        aggregates: &[(String, crate::AggregateId)],
    ) -> Evaluated<Measure> {
        match &pending.found {
            Some(Found::Variable(x)) => Ok(Measure::Variable(*x)),
            Some(Found::Aggregate(name)) => match aggregates.iter().find(|(own, _)| own == name) {
                Some((_, id)) => Ok(Measure::Aggregate(*id)),
                None => self.evaluator.fail_with_help(
                    codes::UNKNOWN_VARIABLE,
                    pending.expr.at.0,
                    format!("`{name}` is aggregated by an earlier scope"),
                    "an aggregate is of what a later scope chooses or aggregates",
                ),
            },
            None => {
                let message = "this looks at what no scope chooses";
                self.evaluator.fail_with_help(
                    codes::UNKNOWN_VARIABLE,
                    pending.expr.at.0,
                    message,
                    "an aggregate can be optimized or aggregated only by itself, not inside of an expression",
                )
            }
        }
    }
}

/// All index tuples of an array, the last running fastest.
pub(super) fn indices(dims: &[(i64, usize)]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for &(first, length) in dims {
        all = all
            .into_iter()
            .flat_map(|index| {
                (0..length as i64).map(move |offset| {
                    let mut index = index.clone();
                    index.push(first + offset);
                    index
                })
            })
            .collect();
    }
    all
}

/// The members of an array of arrays, in one list.
fn flat(array: &Array) -> Vec<Value> {
    let mut items = Vec::new();
    for item in &array.items {
        match item {
            Value::Array(inner) => items.extend(flat(inner)),
            item => items.push(item.clone()),
        }
    }
    items
}

/// The names an expression uses that it does not bind itself, functions aside.
fn free_names(expr: &Expr, bound: &mut Vec<String>, names: &mut Vec<String>) {
    let generators =
        |generators: &[Generator], bound: &mut Vec<String>, names: &mut Vec<String>| {
            for generator in generators {
                free_names(&generator.over, bound, names);
                bound.extend(generator.names.iter().map(|name| name.text.clone()));
                if let Some(condition) = &generator.condition {
                    free_names(condition, bound, names);
                }
            }
        };
    let n_bound = bound.len();
    match &expr.kind {
        ExprKind::Name(name) => {
            if !bound.contains(name) {
                names.push(name.clone());
            }
        }
        ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::All | ExprKind::Optimum(_) => {}
        ExprKind::Unary(_, inner) => free_names(inner, bound, names),
        ExprKind::Binary(_, left, right) => {
            free_names(left, bound, names);
            free_names(right, bound, names);
        }
        ExprKind::If(branches, otherwise) => {
            for (condition, value) in branches {
                free_names(condition, bound, names);
                free_names(value, bound, names);
            }
            free_names(otherwise, bound, names);
        }
        ExprKind::Index(base, list) => {
            free_names(base, bound, names);
            list.iter().for_each(|item| free_names(item, bound, names));
        }
        ExprKind::Call(_, list) | ExprKind::List(list) | ExprKind::Set(list) => {
            list.iter().for_each(|item| free_names(item, bound, names));
        }
        ExprKind::Rows(rows) => {
            rows.iter().flatten().for_each(|item| free_names(item, bound, names));
        }
        ExprKind::Fold(_, over, body)
        | ExprKind::Each(body, over)
        | ExprKind::SetOf(body, over) => {
            generators(over, bound, names);
            free_names(body, bound, names);
        }
        ExprKind::Let(list, body) => {
            for (name, value) in list {
                free_names(value, bound, names);
                bound.push(name.text.clone());
            }
            free_names(body, bound, names);
        }
    }
    bound.truncate(n_bound);
}

/// A constant as text.
fn shown(value: &Value) -> String {
    match value {
        Value::Int(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Set(set) => format!("{{{set}}}"),
        Value::Array(array) => {
            let items: Vec<String> = array.items.iter().map(shown).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Term(_) | Value::Law(_) => "…".into(),
    }
}
