//! Evaluation: constant expressions become values, expressions with variables become terms.
//!
//! A number that may be undefined (an index that can leave its array, a divisor that can be 0)
//! carries the condition under which it is defined. The nearest condition around it includes
//! this condition, so that `a[i] = 3` is false where `a[i]` does not exist, as in MiniZinc.

use std::rc::Rc;

use ludex_base::{Deadline, Diagnostic, Severity, Span};
use ludex_csp::{Comparison, Expr as Formula, Operation, VALUE_LIMIT, ValueSet};
use rustc_hash::FxHashMap;

use crate::limits::ModelLimits;
use crate::syntax::*;
use crate::value::{Binding, Value};
use crate::{arithmetic, codes, suggest};

/// A mistake was reported, so there is no value.
#[derive(Clone, Copy, Debug)]
pub struct Failed;

/// A value, unless a mistake was reported.
pub type Evaluated<T = Value> = Result<T, Failed>;

/// The names with their values, and the limits on evaluation.
pub struct Evaluator<'a> {
    pub(crate) names: FxHashMap<String, Binding>,
    pub(crate) locals: Vec<(String, Value)>,
    /// Locals before this position belong to callers.
    pub(crate) frame: usize,
    /// The number of nested function calls.
    pub(crate) n_calls: usize,
    /// Least and greatest value of each variable.
    pub bounds: Vec<(i64, i64)>,
    pub(crate) limits: &'a ModelLimits,
    deadline: &'a Deadline,
    n_steps: usize,
    n_parts: usize,
    diagnostics: Vec<Diagnostic>,
    /// The solver for models inside the model.
    pub solve_inner: Option<InnerSolver>,
}

/// Solves the model of an `optimum { … }`.
pub type InnerSolver = fn(&mut Evaluator<'_>, &[Item], Span) -> Evaluated<i64>;

/// Largest number of diagnostics to report.
const MAX_DIAGNOSTICS: usize = 50;

impl<'a> Evaluator<'a> {
    /// Creates an evaluator without names.
    pub fn new(limits: &'a ModelLimits, deadline: &'a Deadline) -> Self {
        Self {
            names: FxHashMap::default(),
            locals: Vec::new(),
            frame: 0,
            n_calls: 0,
            bounds: Vec::new(),
            limits,
            deadline,
            n_steps: 0,
            n_parts: 0,
            diagnostics: Vec::new(),
            solve_inner: None,
        }
    }

    /// Returns the limits.
    pub fn limits(&self) -> &'a ModelLimits {
        self.limits
    }

    /// Returns the deadline.
    pub fn deadline(&self) -> &'a Deadline {
        self.deadline
    }

    /// Creates an evaluator for a model inside this one, with the same names and the same
    /// consumption of limits.
    pub fn inner(&self) -> Evaluator<'a> {
        let mut names = self.names.clone();
        let locals = self.locals[self.frame..].iter().cloned();
        names.extend(locals.map(|(name, value)| (name, Binding::Value(value))));
        // Variables of this model are not variables of the inner one.
        names.retain(|_, binding| match binding {
            Binding::Value(value) => value.is_constant(),
            Binding::Family(family) => family.values().all(Value::is_constant),
            Binding::Function(_) => true,
        });
        Evaluator {
            names,
            n_steps: self.n_steps,
            n_parts: self.n_parts,
            n_calls: self.n_calls,
            solve_inner: self.solve_inner,
            ..Evaluator::new(self.limits, self.deadline)
        }
    }

    /// Takes over the diagnostics and the consumption of an inner evaluator.
    pub fn take_over(&mut self, inner: Evaluator<'a>) {
        self.n_steps = inner.n_steps;
        self.n_parts = inner.n_parts;
        for diagnostic in inner.diagnostics {
            self.report(diagnostic);
        }
    }

    /// Returns the diagnostics, each once.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }

    /// Whether a mistake was reported.
    pub fn has_failed(&self) -> bool {
        !self.diagnostics.is_empty()
    }

    // ---- names ----

    /// Binds a name, replacing an earlier binding.
    pub fn bind(&mut self, name: &str, binding: Binding) {
        self.names.insert(name.to_string(), binding);
    }

    /// Removes the binding of a name and returns it.
    pub fn unbind(&mut self, name: &str) -> Option<Binding> {
        self.names.remove(name)
    }

    /// Returns the binding of a name outside functions and comprehensions.
    pub fn binding(&self, name: &str) -> Option<&Binding> {
        self.names.get(name)
    }

    /// Adds a member to a family of values.
    pub fn bind_member(&mut self, name: &Name, index: Vec<i64>, value: Value) -> Evaluated<()> {
        let binding = self
            .names
            .entry(name.text.clone())
            .or_insert_with(|| Binding::Family(Rc::new(std::collections::BTreeMap::new())));
        if let Binding::Family(family) = binding
            && family.keys().next().is_none_or(|own| own.len() == index.len())
            && !family.contains_key(&index)
        {
            Rc::make_mut(family).insert(index, value);
            return Ok(());
        }
        let shown: Vec<String> = index.iter().map(i64::to_string).collect();
        let message = format!("`{}[{}]` is declared twice", name.text, shown.join(", "));
        self.fail(codes::DUPLICATE_NAME, name.at.0, message)
    }

    /// Runs `body` with a local name.
    pub fn with_local<T>(
        &mut self,
        name: &str,
        value: Value,
        run: impl FnOnce(&mut Self) -> Evaluated<T>,
    ) -> Evaluated<T> {
        self.locals.push((name.to_string(), value));
        let result = run(self);
        self.locals.pop();
        result
    }

    // ---- mistakes and limits ----

    /// Reports a mistake.
    pub fn fail<T>(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> Evaluated<T> {
        self.report(Diagnostic::new(Severity::Fatal, code, span, message));
        Err(Failed)
    }

    /// Reports a mistake with help.
    pub fn fail_with_help<T>(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Evaluated<T> {
        self.report(Diagnostic::new(Severity::Fatal, code, span, message).with_help(help));
        Err(Failed)
    }

    /// Reports a diagnostic, unless the same code was reported at this position: a mistake
    /// inside a loop is one mistake.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        let is_known = self
            .diagnostics
            .iter()
            .any(|own| own.code == diagnostic.code && own.span == diagnostic.span);
        if !is_known && self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Counts one step of the evaluation.
    pub fn step(&mut self, span: Span) -> Evaluated<()> {
        self.steps(1, span)
    }

    /// Counts steps of the evaluation.
    pub(crate) fn steps(&mut self, n_steps: usize, span: Span) -> Evaluated<()> {
        let n_before = self.n_steps;
        self.n_steps = n_before.saturating_add(n_steps);
        if self.n_steps > self.limits.max_steps {
            let message =
                format!("evaluating the model takes more than {} steps", self.limits.max_steps);
            return self.too_large(span, message);
        }
        // A thousand steps take a millisecond at most.
        if n_before / 1024 != self.n_steps / 1024 && self.deadline.reached() {
            return self.fail(codes::TOO_LARGE, span, "the time was up before the model was read");
        }
        Ok(())
    }

    /// Reports that a limit is exceeded.
    pub fn too_large<T>(&mut self, span: Span, message: String) -> Evaluated<T> {
        self.fail_with_help(
            codes::TOO_LARGE,
            span,
            message,
            "make the parameters smaller, or state the model with fewer rounds or indices",
        )
    }

    // ---- expressions ----

    /// Evaluates an expression.
    pub fn eval(&mut self, expr: &Expr) -> Evaluated {
        let span = expr.at.0;
        self.step(span)?;
        match &expr.kind {
            ExprKind::Int(number) => Ok(Value::Int(*number)),
            ExprKind::Bool(truth) => Ok(Value::Bool(*truth)),
            ExprKind::Name(name) => self.name(name, span),
            ExprKind::All => {
                self.fail(codes::SYNTAX, span, "`_` stands for a dimension of an array: `a[_, 2]`")
            }
            ExprKind::Unary(op, inner) => {
                let value = self.eval(inner)?;
                match op {
                    Unary::Neg => arithmetic::negate(self, value, span),
                    Unary::Not => self.not(value, inner.at.0),
                }
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, span),
            ExprKind::If(branches, otherwise) => self.conditional(branches, otherwise),
            ExprKind::Index(base, index) => self.index(base, index, span),
            ExprKind::Call(name, arguments) => self.call(name, arguments, span),
            ExprKind::Fold(name, generators, body) => self.fold(name, generators, body, span),
            ExprKind::List(list) => {
                let items =
                    list.iter().map(|item| self.eval(item)).collect::<Evaluated<Vec<_>>>()?;
                self.same_shape(items, span)
            }
            ExprKind::Rows(rows) => self.rows(rows, span),
            ExprKind::Each(body, generators) => {
                if let Some(items) = self.computed(body, generators, span)? {
                    return Ok(Value::list(items));
                }
                let mut items = Vec::new();
                self.generate(generators, &mut |evaluator| {
                    items.push(evaluator.eval(body)?);
                    evaluator.check_length(items.len(), span)
                })?;
                self.same_shape(items, span)
            }
            ExprKind::Set(members) => {
                let mut values = Vec::new();
                for member in members {
                    values.push(self.element_of_set(member)?);
                }
                Ok(Value::Set(Rc::new(values.into_iter().collect())))
            }
            ExprKind::SetOf(body, generators) => {
                let mut values = Vec::new();
                self.generate(generators, &mut |evaluator| {
                    values.push(evaluator.element_of_set(body)?);
                    evaluator.check_length(values.len(), span)
                })?;
                Ok(Value::Set(Rc::new(values.into_iter().collect())))
            }
            ExprKind::Let(names, body) => self.local_names(names, body),
            ExprKind::Optimum(items) => match self.solve_inner {
                Some(solve) => Ok(Value::Int(solve(self, items, span)?)),
                None => self.fail(codes::MISPLACED, span, "`optimum` can't stand here"),
            },
        }
    }

    pub(crate) fn local_names(&mut self, names: &[(Name, Expr)], body: &Expr) -> Evaluated {
        let Some(((name, value), rest)) = names.split_first() else { return self.eval(body) };
        let value = self.eval(value)?;
        self.with_local(&name.text, value, |evaluator| evaluator.local_names(rest, body))
    }

    pub(crate) fn name(&mut self, name: &str, span: Span) -> Evaluated {
        let local = self.locals[self.frame..].iter().rev().find(|(own, _)| own == name);
        if let Some((_, value)) = local {
            let value = value.clone();
            self.charge(&value, span)?;
            return Ok(value);
        }
        match self.names.get(name).cloned() {
            Some(Binding::Value(value)) => {
                self.charge(&value, span)?;
                Ok(value)
            }
            Some(Binding::Family(family)) => self.family_as_array(name, &family, span),
            Some(Binding::Function(_)) => self.fail_with_help(
                codes::TYPE,
                span,
                format!("`{name}` is a function"),
                format!("call it: `{name}(…)`"),
            ),
            None => self.unknown(name, span),
        }
    }

    /// Reports an unknown name.
    pub fn unknown<T>(&mut self, name: &str, span: Span) -> Evaluated<T> {
        let known = self.names.keys().map(String::as_str);
        let locals = self.locals[self.frame..].iter().map(|(own, _)| own.as_str());
        let near = suggest::closest(name, known.chain(locals)).map(String::from);
        let diagnostic = Diagnostic::new(
            Severity::Fatal,
            codes::UNKNOWN_NAME,
            span,
            format!("`{name}` is not known here"),
        );
        self.report(match near {
            Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")),
            None => diagnostic,
        });
        Err(Failed)
    }

    /// Counts the parts of a copied value.
    pub(crate) fn charge(&mut self, value: &Value, span: Span) -> Evaluated<()> {
        match value {
            Value::Term(term) => self.grow(term.size, span),
            _ => Ok(()),
        }
    }

    /// Counts parts of terms.
    pub fn grow(&mut self, n_parts: usize, span: Span) -> Evaluated<()> {
        self.n_parts = self.n_parts.saturating_add(n_parts);
        if self.n_parts > self.limits.max_parts {
            let message =
                format!("the model has more than {} parts of terms", self.limits.max_parts);
            return self.too_large(span, message);
        }
        Ok(())
    }

    pub(crate) fn check_length(&mut self, length: usize, span: Span) -> Evaluated<()> {
        if length > self.limits.max_length {
            let message = format!("a list of more than {} members", self.limits.max_length);
            return self.too_large(span, message);
        }
        Ok(())
    }

    pub(crate) fn element_of_set(&mut self, member: &Expr) -> Evaluated<i32> {
        let number = self.constant_int(member)?;
        self.small(number, member.at.0)
    }

    /// Returns the number as a value of a variable, if it is in range.
    pub fn small(&mut self, number: i64, span: Span) -> Evaluated<i32> {
        match i32::try_from(number) {
            Ok(number) if (-VALUE_LIMIT..=VALUE_LIMIT).contains(&number) => Ok(number),
            _ => self.fail(
                codes::ARITHMETIC,
                span,
                format!("{number} is not between -{VALUE_LIMIT} and {VALUE_LIMIT}"),
            ),
        }
    }

    // ---- constants ----

    /// Evaluates an expression without variables to a number.
    pub fn constant_int(&mut self, expr: &Expr) -> Evaluated<i64> {
        match self.eval(expr)? {
            Value::Int(number) => Ok(number),
            Value::Bool(truth) => Ok(i64::from(truth)),
            other => self.not_constant(other, "a number", expr.at.0),
        }
    }

    /// Evaluates an expression without variables to a truth value.
    pub fn constant_bool(&mut self, expr: &Expr) -> Evaluated<bool> {
        match self.eval(expr)? {
            Value::Bool(truth) => Ok(truth),
            other => self.not_constant(other, "true or false", expr.at.0),
        }
    }

    /// Evaluates an expression to a set.
    pub fn constant_set(&mut self, expr: &Expr) -> Evaluated<Rc<ValueSet>> {
        match self.eval(expr)? {
            Value::Set(set) => Ok(set),
            other => self.not_constant(other, "a set", expr.at.0),
        }
    }

    pub(crate) fn not_constant<T>(
        &mut self,
        found: Value,
        wanted: &str,
        span: Span,
    ) -> Evaluated<T> {
        let message = format!("expected {wanted}, found {}", found.kind());
        match found {
            Value::Term(_) | Value::Law(_) => self.fail_with_help(
                codes::NOT_CONSTANT,
                span,
                message,
                "here only parameters, indices of loops and what is computed from them can stand",
            ),
            _ => self.fail(codes::TYPE, span, message),
        }
    }

    // ---- operators ----

    pub(crate) fn binary(
        &mut self,
        op: Binary,
        left: &Expr,
        right: &Expr,
        span: Span,
    ) -> Evaluated {
        use Binary::*;
        // The left side may decide the result; the right side is then not evaluated.
        if matches!(op, And | Or | Implies) {
            let value = self.eval(left)?;
            return match (op, &value) {
                (And, Value::Bool(false)) => Ok(Value::Bool(false)),
                (Or, Value::Bool(true)) | (Implies, Value::Bool(false)) => Ok(Value::Bool(true)),
                (And, _) => {
                    let other = self.eval(right)?;
                    self.both(value, other, span)
                }
                (Or, _) => {
                    let other = self.eval(right)?;
                    self.any(vec![value, other], span)
                }
                _ => {
                    let denied = self.not(value, left.at.0)?;
                    let other = self.eval(right)?;
                    self.any(vec![denied, other], span)
                }
            };
        }
        let a = self.eval(left)?;
        let b = self.eval(right)?;
        match op {
            And | Or | Implies => unreachable!("handled above"),
            ImpliedBy => {
                let denied = self.not(b, right.at.0)?;
                self.any(vec![a, denied], span)
            }
            Iff => self.compare_truths(Comparison::Eq, a, b, span),
            Xor => self.compare_truths(Comparison::Ne, a, b, span),
            Eq | Ne => self.equality(op == Eq, a, b, span),
            Lt => self.compare(Comparison::Lt, a, b, span),
            Le => self.compare(Comparison::Le, a, b, span),
            Gt => self.compare(Comparison::Gt, a, b, span),
            Ge => self.compare(Comparison::Ge, a, b, span),
            In => self.membership(a, b, span),
            Subset | Union | Diff | Intersect => self.sets(op, a, b, span),
            Range => self.range(a, b, span),
            Add => arithmetic::add(self, vec![a, b], span),
            Sub => {
                let opposite = arithmetic::negate(self, b, span)?;
                arithmetic::add(self, vec![a, opposite], span)
            }
            Mul => arithmetic::operate(self, Operation::Mul, a, b, span),
            Div => arithmetic::operate(self, Operation::Div, a, b, span),
            Mod => arithmetic::operate(self, Operation::Mod, a, b, span),
            Pow => arithmetic::operate(self, Operation::Pow, a, b, span),
            Concat => match (a, b) {
                (Value::Array(a), Value::Array(b)) if a.dims.len() == 1 && b.dims.len() == 1 => {
                    let items = a.items.iter().chain(&b.items).cloned().collect::<Vec<_>>();
                    self.check_length(items.len(), span)?;
                    Ok(Value::list(items))
                }
                (a, b) => self.wrong_operands("++", "two lists", &a, &b, span),
            },
        }
    }

    pub(crate) fn wrong_operands<T>(
        &mut self,
        sign: &str,
        wanted: &str,
        a: &Value,
        b: &Value,
        span: Span,
    ) -> Evaluated<T> {
        let (a, b) = (a.kind(), b.kind());
        self.fail(codes::TYPE, span, format!("`{sign}` takes {wanted}, found {a} and {b}"))
    }

    pub(crate) fn range(&mut self, a: Value, b: Value, span: Span) -> Evaluated {
        let (Value::Int(low), Value::Int(high)) = (&a, &b) else {
            return match (&a, &b) {
                (Value::Term(_), _) | (_, Value::Term(_)) => self.fail_with_help(
                    codes::NOT_CONSTANT,
                    span,
                    "the ends of a range can't depend on variables",
                    "write the condition with `<=`",
                ),
                _ => self.wrong_operands("..", "two numbers", &a, &b, span),
            };
        };
        if low > high {
            return Ok(Value::Set(Rc::default()));
        }
        let (low, high) = (self.small(*low, span)?, self.small(*high, span)?);
        Ok(Value::Set(Rc::new((low..=high).into())))
    }

    pub(crate) fn sets(&mut self, op: Binary, a: Value, b: Value, span: Span) -> Evaluated {
        let (Value::Set(x), Value::Set(y)) = (&a, &b) else {
            return self.wrong_operands(op.about().0, "two sets", &a, &b, span);
        };
        let too_long = x.len().max(y.len()) > self.limits.max_length as u64;
        if too_long && op == Binary::Diff {
            return self.too_large(span, "a set of so many members".into());
        }
        let minus = || x.filter(|value| !y.contains(value));
        Ok(match op {
            Binary::Union => {
                let ranges = x.ranges().iter().chain(y.ranges()).copied();
                Value::Set(Rc::new(ValueSet::from_ranges(ranges)))
            }
            Binary::Intersect => Value::Set(Rc::new(x.intersection(y))),
            Binary::Diff => Value::Set(Rc::new(minus())),
            _ => Value::Bool(x.intersection(y).len() == x.len()),
        })
    }

    pub(crate) fn membership(&mut self, a: Value, b: Value, span: Span) -> Evaluated {
        match (a, b) {
            (Value::Int(number), Value::Set(set)) => {
                Ok(Value::Bool(i32::try_from(number).is_ok_and(|number| set.contains(number))))
            }
            (Value::Term(term), Value::Set(set)) if !term.is_bool => {
                let formula = Formula::In(Box::new(term.formula), (*set).clone());
                self.condition(formula, term.defined, term.size + 1, term.depth + 1, span)
            }
            (a, b) => self.wrong_operands("in", "a number and a set", &a, &b, span),
        }
    }
}
