//! Expressions to values: what is constant is computed, what depends on variables becomes a
//! term.
//!
//! A number that may lack a value (an index that can leave its array, a divisor that can be 0)
//! carries the condition under which it has one; the nearest condition around it takes it in,
//! so that `a[i] = 3` is false where `a[i]` does not exist, as in MiniZinc.

use std::rc::Rc;

use ludex_base::{Deadline, Diagnostic, Severity, Span};
use ludex_csp::{Comparison, Constraint, Expr as Formula, Operation, VALUE_LIMIT, ValueSet};
use rustc_hash::FxHashMap;

use super::arithmetic;
use super::limits::Limits;
use super::suggest;
use super::syntax::*;
use super::value::{Array, Binding, Term, Value};
use super::{builtins, codes};

/// A mistake was reported, and there is no value.
#[derive(Clone, Copy, Debug)]
pub struct Failed;

/// A value, unless a mistake was reported.
pub type Evaluated<T = Value> = Result<T, Failed>;

/// Values by name, and what evaluation may cost.
pub struct Evaluator<'a> {
    names: FxHashMap<String, Binding>,
    locals: Vec<(String, Value)>,
    /// Locals below belong to callers.
    frame: usize,
    /// Functions that are being called.
    n_calls: usize,
    /// Least and greatest value of each variable.
    pub bounds: Vec<(i64, i64)>,
    limits: &'a Limits,
    deadline: &'a Deadline,
    n_steps: usize,
    n_parts: usize,
    diagnostics: Vec<Diagnostic>,
    /// Models inside the model that are being solved.
    pub solve_inner: Option<InnerSolver>,
}

/// Solves the model of an `optimum { … }`.
pub type InnerSolver = fn(&mut Evaluator<'_>, &[Item], Span) -> Evaluated<i64>;

/// More diagnostics than this help nobody.
const MAX_DIAGNOSTICS: usize = 50;

impl<'a> Evaluator<'a> {
    /// Nothing has a name yet.
    pub fn new(limits: &'a Limits, deadline: &'a Deadline) -> Self {
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

    /// The limits.
    pub fn limits(&self) -> &'a Limits {
        self.limits
    }

    /// When to stop.
    pub fn deadline(&self) -> &'a Deadline {
        self.deadline
    }

    /// An evaluator for a model inside of this one: it knows the same names, and has spent the
    /// same time.
    pub fn inner(&self) -> Evaluator<'a> {
        let mut names = self.names.clone();
        let locals = self.locals[self.frame..].iter().cloned();
        names.extend(locals.map(|(name, value)| (name, Binding::Value(value))));
        // Variables of this model are none of that one.
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

    /// Takes over what an inner evaluator found and spent.
    pub fn take_over(&mut self, inner: Evaluator<'a>) {
        self.n_steps = inner.n_steps;
        self.n_parts = inner.n_parts;
        for diagnostic in inner.diagnostics {
            self.report(diagnostic);
        }
    }

    /// What was found wrong, each mistake once.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }

    /// Whether something was found wrong.
    pub fn has_failed(&self) -> bool {
        !self.diagnostics.is_empty()
    }

    // ---- names ----

    /// Gives a name its meaning, or another one.
    pub fn bind(&mut self, name: &str, binding: Binding) {
        self.names.insert(name.to_string(), binding);
    }

    /// Takes a name away.
    pub fn unbind(&mut self, name: &str) -> Option<Binding> {
        self.names.remove(name)
    }

    /// What a name stands for outside of functions and comprehensions.
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

    /// Runs with a local name, which goes away after.
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

    /// Reports a mistake with its remedy.
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

    /// Reports a diagnostic, unless one of its kind has its place already: a mistake inside a
    /// loop is one mistake.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        let is_known = self
            .diagnostics
            .iter()
            .any(|own| own.code == diagnostic.code && own.span == diagnostic.span);
        if !is_known && self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Counts a step of the evaluation.
    pub fn step(&mut self, span: Span) -> Evaluated<()> {
        self.n_steps += 1;
        if self.n_steps > self.limits.max_steps {
            let message =
                format!("evaluating the model takes more than {} steps", self.limits.max_steps);
            return self.too_large(span, message);
        }
        // Every thousand steps take a millisecond at most.
        if self.n_steps.is_multiple_of(1024) && self.deadline.reached() {
            return self.fail(codes::TOO_LARGE, span, "the time was up before the model was read");
        }
        Ok(())
    }

    /// Reports that a limit was reached.
    pub fn too_large<T>(&mut self, span: Span, message: String) -> Evaluated<T> {
        self.fail_with_help(
            codes::TOO_LARGE,
            span,
            message,
            "make the parameters smaller, or state the model with fewer rounds or indices",
        )
    }

    // ---- expressions ----

    /// The value of an expression.
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

    fn local_names(&mut self, names: &[(Name, Expr)], body: &Expr) -> Evaluated {
        let Some(((name, value), rest)) = names.split_first() else { return self.eval(body) };
        let value = self.eval(value)?;
        self.with_local(&name.text, value, |evaluator| evaluator.local_names(rest, body))
    }

    fn name(&mut self, name: &str, span: Span) -> Evaluated {
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

    /// Reports a name that has no meaning here.
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

    /// A family whose indices fill a box, as an array.
    fn family_as_array(
        &mut self,
        name: &str,
        family: &std::collections::BTreeMap<Vec<i64>, Value>,
        span: Span,
    ) -> Evaluated {
        let n_dims = family.keys().next().map_or(0, Vec::len);
        let dims: Vec<(i64, usize)> = (0..n_dims)
            .map(|d| {
                let least = family.keys().map(|key| key[d]).min().unwrap_or(0);
                let most = family.keys().map(|key| key[d]).max().unwrap_or(0);
                (least, most.saturating_sub(least).saturating_add(1) as usize)
            })
            .collect();
        let n_places = dims.iter().try_fold(1_usize, |n, dim| n.checked_mul(dim.1));
        if n_places != Some(family.len()) {
            return self.fail(
                codes::INDEX,
                span,
                format!("`{name}` has gaps between its indices and is no array as a whole"),
            );
        }
        let items: Vec<Value> = family.values().cloned().collect();
        for item in &items {
            self.charge(item, span)?;
        }
        Ok(Value::Array(Rc::new(Array { dims, items })))
    }

    /// Counts the parts that a copy of a value is made of.
    fn charge(&mut self, value: &Value, span: Span) -> Evaluated<()> {
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

    fn check_length(&mut self, length: usize, span: Span) -> Evaluated<()> {
        if length > self.limits.max_length {
            let message = format!("a list of more than {} members", self.limits.max_length);
            return self.too_large(span, message);
        }
        Ok(())
    }

    /// A list of values; a list of arrays of one shape is an array with one more dimension.
    fn same_shape(&mut self, items: Vec<Value>, span: Span) -> Evaluated {
        let Some(Value::Array(first)) = items.first() else {
            if items.iter().any(|item| matches!(item, Value::Array(_))) {
                return self.fail(
                    codes::TYPE,
                    span,
                    "a list can't hold both arrays and other things",
                );
            }
            return Ok(Value::list(items));
        };
        let inner = first.dims.clone();
        let mut all = Vec::new();
        for item in &items {
            match item {
                Value::Array(array) if array.dims == inner => {
                    all.extend(array.items.iter().cloned())
                }
                _ => return self.fail(codes::TYPE, span, "the rows of this array differ in shape"),
            }
            self.check_length(all.len(), span)?;
        }
        let mut dims = vec![(1, items.len())];
        dims.extend(inner);
        Ok(Value::Array(Rc::new(Array { dims, items: all })))
    }

    fn rows(&mut self, rows: &[Vec<Expr>], span: Span) -> Evaluated {
        let length = rows.first().map_or(0, Vec::len);
        if rows.iter().any(|row| row.len() != length) {
            return self.fail(codes::TYPE, span, "the rows of this array differ in length");
        }
        let items =
            rows.iter().flatten().map(|item| self.eval(item)).collect::<Evaluated<Vec<_>>>()?;
        Ok(Value::Array(Rc::new(Array { dims: vec![(1, rows.len()), (1, length)], items })))
    }

    fn element_of_set(&mut self, member: &Expr) -> Evaluated<i32> {
        let number = self.constant_int(member)?;
        self.small(number, member.at.0)
    }

    /// A number that can be a value of a variable.
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

    /// The number an expression without variables comes to.
    pub fn constant_int(&mut self, expr: &Expr) -> Evaluated<i64> {
        match self.eval(expr)? {
            Value::Int(number) => Ok(number),
            Value::Bool(truth) => Ok(i64::from(truth)),
            other => self.not_constant(other, "a number", expr.at.0),
        }
    }

    /// The truth an expression without variables comes to.
    pub fn constant_bool(&mut self, expr: &Expr) -> Evaluated<bool> {
        match self.eval(expr)? {
            Value::Bool(truth) => Ok(truth),
            other => self.not_constant(other, "true or false", expr.at.0),
        }
    }

    /// The set an expression comes to.
    pub fn constant_set(&mut self, expr: &Expr) -> Evaluated<Rc<ValueSet>> {
        match self.eval(expr)? {
            Value::Set(set) => Ok(set),
            other => self.not_constant(other, "a set", expr.at.0),
        }
    }

    fn not_constant<T>(&mut self, found: Value, wanted: &str, span: Span) -> Evaluated<T> {
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

    fn binary(&mut self, op: Binary, left: &Expr, right: &Expr, span: Span) -> Evaluated {
        use Binary::*;
        // What is decided by the left side does not look at the right one.
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

    fn wrong_operands<T>(
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

    fn range(&mut self, a: Value, b: Value, span: Span) -> Evaluated {
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

    fn sets(&mut self, op: Binary, a: Value, b: Value, span: Span) -> Evaluated {
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

    fn membership(&mut self, a: Value, b: Value, span: Span) -> Evaluated {
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

    /// A condition on numbers, with what makes the numbers defined taken in.
    pub fn condition(
        &mut self,
        formula: Formula,
        defined: Vec<Formula>,
        size: usize,
        depth: usize,
        span: Span,
    ) -> Evaluated {
        let formula = if defined.is_empty() {
            formula
        } else {
            Formula::And(defined.into_iter().chain([formula]).collect())
        };
        self.term(Term::new(formula, true, size, depth + 1), span)
    }

    /// A term, unless it is too large.
    pub fn term(&mut self, term: Term, span: Span) -> Evaluated {
        if term.depth > self.limits.max_depth {
            let message = format!("a term nested deeper than {}", self.limits.max_depth);
            return self.fail_with_help(
                codes::TOO_DEEP,
                span,
                message,
                "give parts names with `let` in a scope",
            );
        }
        self.grow(1, span)?;
        Ok(Value::Term(Box::new(term)))
    }

    /// Compares two numbers.
    pub fn compare(&mut self, op: Comparison, a: Value, b: Value, span: Span) -> Evaluated {
        let sign = match op {
            Comparison::Lt => "<",
            Comparison::Le => "<=",
            Comparison::Eq => "=",
            Comparison::Ne => "!=",
            Comparison::Ge => ">=",
            Comparison::Gt => ">",
        };
        if let (Value::Int(a), Value::Int(b)) = (&a, &b) {
            return Ok(Value::Bool(op.holds(*a, *b)));
        }
        let (a_term, b_term) = match (arithmetic::as_number(a), arithmetic::as_number(b)) {
            (Ok(a), Ok(b)) => (a, b),
            (a, b) => {
                let kind = |value: &Result<Term, Value>| match value {
                    Ok(_) => "a number",
                    Err(value) => value.kind(),
                };
                let message =
                    format!("`{sign}` takes two numbers, found {} and {}", kind(&a), kind(&b));
                return self.fail(codes::TYPE, span, message);
            }
        };
        let size = a_term.size + b_term.size + 1;
        let depth = a_term.depth.max(b_term.depth) + 1;
        let defined = [a_term.defined, b_term.defined].concat();
        let formula = Formula::Compare(op, Box::new(a_term.formula), Box::new(b_term.formula));
        // What the domains decide is decided here.
        if defined.is_empty()
            && let Some(truth) = self.decided(&formula)
        {
            return Ok(Value::Bool(truth));
        }
        self.condition(formula, defined, size, depth, span)
    }

    /// Whether a comparison is decided by the bounds of its sides.
    fn decided(&self, formula: &Formula) -> Option<bool> {
        let Formula::Compare(op, a, b) = formula else { return None };
        let ((a_low, a_high), (b_low, b_high)) = (self.bounds_of(a), self.bounds_of(b));
        let (below, above) = (a_high < b_low, a_low > b_high);
        match op {
            Comparison::Lt if below || a_low >= b_high => Some(below),
            Comparison::Ge if below || a_low >= b_high => Some(!below),
            Comparison::Gt if above || a_high <= b_low => Some(above),
            Comparison::Le if above || a_high <= b_low => Some(!above),
            Comparison::Eq if below || above => Some(false),
            Comparison::Ne if below || above => Some(true),
            _ => None,
        }
    }

    /// Least and greatest value of a formula.
    pub fn bounds_of(&self, formula: &Formula) -> (i64, i64) {
        formula.bounds(&|x| self.bounds.get(x.index()).copied().unwrap_or((i64::MIN, i64::MAX)))
    }

    fn equality(&mut self, is_equal: bool, a: Value, b: Value, span: Span) -> Evaluated {
        let op = if is_equal { Comparison::Eq } else { Comparison::Ne };
        match (a, b) {
            (Value::Set(a), Value::Set(b)) => Ok(Value::Bool((a == b) == is_equal)),
            (Value::Array(a), Value::Array(b)) => {
                if a.items.len() != b.items.len() {
                    return self.fail(
                        codes::TYPE,
                        span,
                        "arrays of different lengths are compared",
                    );
                }
                let pairs: Vec<(Value, Value)> =
                    a.items.iter().cloned().zip(b.items.iter().cloned()).collect();
                let mut parts = Vec::new();
                for (a, b) in pairs {
                    parts.push(self.equality(is_equal, a, b, span)?);
                }
                if is_equal { self.all(parts, span) } else { self.any(parts, span) }
            }
            (a, b) if a.is_bool() && b.is_bool() => self.compare_truths(op, a, b, span),
            (a, b) => self.compare(op, a, b, span),
        }
    }

    fn compare_truths(&mut self, op: Comparison, a: Value, b: Value, span: Span) -> Evaluated {
        match (a, b) {
            (Value::Bool(a), Value::Bool(b)) => Ok(Value::Bool((a == b) == (op == Comparison::Eq))),
            (Value::Bool(known), other) | (other, Value::Bool(known)) if other.is_bool() => {
                if known == (op == Comparison::Eq) { Ok(other) } else { self.not(other, span) }
            }
            (a, b) if a.is_bool() && b.is_bool() => {
                let (a, b) = (self.truth(a, span)?, self.truth(b, span)?);
                let size = a.size + b.size + 1;
                let depth = a.depth.max(b.depth) + 1;
                let formula = Formula::Compare(op, Box::new(a.formula), Box::new(b.formula));
                self.term(Term::new(formula, true, size, depth), span)
            }
            (a, b) => {
                let sign = if op == Comparison::Eq { "<->" } else { "xor" };
                self.wrong_operands(sign, "two conditions", &a, &b, span)
            }
        }
    }

    /// A condition as a term.
    pub fn truth(&mut self, value: Value, span: Span) -> Evaluated<Term> {
        match value {
            Value::Bool(truth) => Ok(Term::new(Formula::Constant(i64::from(truth)), true, 1, 1)),
            Value::Term(term) if term.is_bool => Ok(*term),
            Value::Law(laws) => {
                let mut parts = Vec::new();
                for law in laws {
                    match builtins::as_formula(&law) {
                        Some(formula) => parts.push(formula),
                        None => {
                            return self.fail_with_help(
                                codes::GLOBAL_INSIDE,
                                span,
                                format!("`{}` can't stand inside a negation, disjunction or equivalence", law.name()),
                                "global constraints stand in a conjunction by themselves",
                            );
                        }
                    }
                }
                let size = parts.len() * 4;
                Ok(Term::new(Formula::And(parts), true, size, 8))
            }
            other => {
                let message = format!("expected a condition, found {}", other.kind());
                let help = match &other {
                    Value::Int(_) | Value::Term(_) => Some("compare the number with something"),
                    _ => None,
                };
                let diagnostic = Diagnostic::new(Severity::Fatal, codes::TYPE, span, message);
                self.report(match help {
                    Some(help) => diagnostic.with_help(help),
                    None => diagnostic,
                });
                Err(Failed)
            }
        }
    }

    /// The opposite of a condition.
    pub fn not(&mut self, value: Value, span: Span) -> Evaluated {
        if let Value::Bool(truth) = value {
            return Ok(Value::Bool(!truth));
        }
        let term = self.truth(value, span)?;
        let (size, depth) = (term.size + 1, term.depth + 1);
        let formula = match term.formula {
            Formula::Not(inner) => *inner,
            Formula::Compare(op, a, b) => Formula::Compare(op.negated(), a, b),
            formula => Formula::Not(Box::new(formula)),
        };
        self.term(Term::new(formula, true, size, depth), span)
    }

    /// Both conditions.
    pub fn both(&mut self, a: Value, b: Value, span: Span) -> Evaluated {
        self.all(vec![a, b], span)
    }

    /// All conditions.
    pub fn all(&mut self, values: Vec<Value>, span: Span) -> Evaluated {
        let mut laws: Vec<Constraint> = Vec::new();
        let mut terms: Vec<Term> = Vec::new();
        for value in values {
            match value {
                Value::Bool(true) => {}
                Value::Bool(false) => return Ok(Value::Bool(false)),
                Value::Law(more) => laws.extend(more),
                value => terms.push(self.truth(value, span)?),
            }
        }
        if !laws.is_empty() {
            for term in terms {
                laws.extend(conjuncts(term.formula).into_iter().map(Constraint::Intension));
            }
            return Ok(Value::Law(laws));
        }
        self.junction(terms, true, span)
    }

    /// At least one condition.
    pub fn any(&mut self, values: Vec<Value>, span: Span) -> Evaluated {
        let mut terms = Vec::new();
        for value in values {
            match value {
                Value::Bool(false) => {}
                Value::Bool(true) => return Ok(Value::Bool(true)),
                value => terms.push(self.truth(value, span)?),
            }
        }
        self.junction(terms, false, span)
    }

    fn junction(&mut self, mut terms: Vec<Term>, is_and: bool, span: Span) -> Evaluated {
        match terms.len() {
            0 => Ok(Value::Bool(is_and)),
            1 => Ok(Value::Term(Box::new(terms.remove(0)))),
            _ => {
                let size = 1 + terms.iter().map(|term| term.size).sum::<usize>();
                let depth = 1 + terms.iter().map(|term| term.depth).max().unwrap_or(0);
                let mut parts = Vec::new();
                for term in terms {
                    match term.formula {
                        Formula::And(inner) if is_and => parts.extend(inner),
                        Formula::Or(inner) if !is_and => parts.extend(inner),
                        formula => parts.push(formula),
                    }
                }
                let formula = if is_and { Formula::And(parts) } else { Formula::Or(parts) };
                self.term(Term::new(formula, true, size, depth), span)
            }
        }
    }

    fn conditional(&mut self, branches: &[(Expr, Expr)], otherwise: &Expr) -> Evaluated {
        let Some(((condition, value), rest)) = branches.split_first() else {
            return self.eval(otherwise);
        };
        let span = condition.at.0;
        match self.eval(condition)? {
            Value::Bool(true) => self.eval(value),
            Value::Bool(false) => self.conditional(rest, otherwise),
            other => {
                let condition = self.truth(other, span)?;
                let then = self.eval(value)?;
                let otherwise = self.conditional(rest, otherwise)?;
                arithmetic::choose(self, &condition, then, otherwise, value.at.0)
            }
        }
    }

    // ---- arrays ----

    fn index(&mut self, base: &Expr, index: &[Expr], span: Span) -> Evaluated {
        // A member of a family is found by its index; the rest of the index goes into it.
        if let ExprKind::Name(name) = &base.kind
            && !self.locals[self.frame..].iter().any(|(own, _)| own == name)
            && let Some(Binding::Family(family)) = self.names.get(name).cloned()
        {
            return self.index_family(name, &family, index, span);
        }
        let value = match &base.kind {
            // A name is looked up without being copied.
            ExprKind::Name(name) => self.name(name, base.at.0)?,
            _ => self.eval(base)?,
        };
        let Value::Array(array) = value else {
            return self.fail(codes::TYPE, base.at.0, format!("{} has no index", value.kind()));
        };
        self.index_array(&array, index, span)
    }

    fn index_family(
        &mut self,
        name: &str,
        family: &Rc<std::collections::BTreeMap<Vec<i64>, Value>>,
        index: &[Expr],
        span: Span,
    ) -> Evaluated {
        let n_key = family.keys().next().map_or(0, Vec::len);
        if index.len() < n_key {
            let message = format!("`{name}` needs {n_key} indices, found {}", index.len());
            return self.fail(codes::INDEX, span, message);
        }
        let mut key = Vec::new();
        for place in &index[..n_key] {
            if !matches!(place.kind, ExprKind::All)
                && let Value::Int(number) = self.eval(place)?
            {
                key.push(number);
            }
        }
        if key.len() < n_key {
            // A variable among the indices: the family has to be an array.
            let whole = self.family_as_array(name, family, span)?;
            let Value::Array(array) = whole else { unreachable!("a family is an array") };
            return self.index_array(&array, index, span);
        }
        let Some(value) = family.get(&key).cloned() else {
            let shown: Vec<String> = key.iter().map(i64::to_string).collect();
            return self.fail_with_help(
                codes::USED_BEFORE_SCOPE,
                span,
                format!("there is no `{name}[{}]` here", shown.join(", ")),
                "a member can be used only behind the scope or loop that declares it",
            );
        };
        match (&index[n_key..], value) {
            ([], value) => {
                self.charge(&value, span)?;
                Ok(value)
            }
            (rest, Value::Array(array)) => self.index_array(&array, rest, span),
            (_, value) => self.fail(codes::INDEX, span, format!("{} has no index", value.kind())),
        }
    }

    fn index_array(&mut self, array: &Array, index: &[Expr], span: Span) -> Evaluated {
        if index.len() != array.dims.len() {
            let message = format!(
                "an array with {} dimensions takes as many indices, found {}",
                array.dims.len(),
                index.len()
            );
            return self.fail(codes::INDEX, span, message);
        }
        let mut places = Vec::new();
        for (d, place) in index.iter().enumerate() {
            places.push(match &place.kind {
                ExprKind::All => Place::All,
                _ => match self.eval(place)? {
                    Value::Int(number) => {
                        let (first, length) = array.dims[d];
                        let offset =
                            number.checked_sub(first).filter(|&o| o >= 0 && (o as usize) < length);
                        match offset {
                            Some(offset) => Place::At(offset as usize),
                            None => {
                                let message =
                                    format!("index {number} is outside of {}", array.range(d));
                                return self.fail(codes::INDEX, place.at.0, message);
                            }
                        }
                    }
                    Value::Set(set) => Place::Some(set),
                    Value::Term(term) if !term.is_bool => Place::Term(*term),
                    other => {
                        let message = format!("{} is no index", other.kind());
                        return self.fail(codes::TYPE, place.at.0, message);
                    }
                },
            });
        }
        arithmetic::select(self, array, &places, span)
    }

    // ---- comprehensions and calls ----

    /// Runs for every choice of the names of the generators.
    pub fn generate(
        &mut self,
        generators: &[Generator],
        run: &mut dyn FnMut(&mut Self) -> Evaluated<()>,
    ) -> Evaluated<()> {
        let Some((generator, rest)) = generators.split_first() else { return run(self) };
        let span = generator.over.at.0;
        let over: Vec<Value> = match self.eval(&generator.over)? {
            Value::Set(set) => {
                if set.len() > self.limits.max_length as u64 {
                    let message = format!("a loop over {} members", set.len());
                    return self.too_large(span, message);
                }
                set.iter().map(|value| Value::Int(value.into())).collect()
            }
            Value::Array(array) => array.items.clone(),
            other => {
                let message = format!("a loop runs over a set or an array, not {}", other.kind());
                return self.fail(codes::TYPE, span, message);
            }
        };
        self.generate_names(&generator.names, &over, generator, rest, run)
    }

    fn generate_names(
        &mut self,
        names: &[Name],
        over: &[Value],
        generator: &Generator,
        rest: &[Generator],
        run: &mut dyn FnMut(&mut Self) -> Evaluated<()>,
    ) -> Evaluated<()> {
        let Some((name, more)) = names.split_first() else {
            if let Some(condition) = &generator.condition
                && !self.constant_bool(condition)?
            {
                return Ok(());
            }
            return self.generate(rest, run);
        };
        for value in over {
            self.step(name.at.0)?;
            self.with_local(&name.text, value.clone(), |evaluator| {
                evaluator.generate_names(more, over, generator, rest, run)
            })?;
        }
        Ok(())
    }

    fn fold(
        &mut self,
        name: &Name,
        generators: &[Generator],
        body: &Expr,
        span: Span,
    ) -> Evaluated {
        let mut items = Vec::new();
        // What is decided needs no more members.
        let stop = match name.text.as_str() {
            "forall" => Some(false),
            "exists" => Some(true),
            _ => None,
        };
        let mut is_decided = false;
        self.generate(generators, &mut |evaluator| {
            if is_decided {
                return Ok(());
            }
            let item = evaluator.eval(body)?;
            is_decided =
                matches!((&item, stop), (Value::Bool(truth), Some(stop)) if *truth == stop);
            items.push(item);
            evaluator.check_length(items.len(), span)
        })?;
        let list = self.same_shape(items, span)?;
        self.apply(name, vec![list], &[span], span)
    }

    fn call(&mut self, name: &Name, arguments: &[Expr], span: Span) -> Evaluated {
        let places: Vec<Span> = arguments.iter().map(|argument| argument.at.0).collect();
        let values =
            arguments.iter().map(|argument| self.eval(argument)).collect::<Evaluated<Vec<_>>>()?;
        self.apply(name, values, &places, span)
    }

    fn apply(&mut self, name: &Name, values: Vec<Value>, places: &[Span], span: Span) -> Evaluated {
        let Some(Binding::Function(function)) = self.names.get(&name.text).cloned() else {
            return builtins::call(self, name, values, places, span);
        };
        if function.arguments.len() != values.len() {
            let message = format!(
                "`{}` takes {} arguments, found {}",
                name.text,
                function.arguments.len(),
                values.len()
            );
            return self.fail(codes::ARGUMENTS, span, message);
        }
        if self.n_calls >= self.limits.max_calls {
            let message = format!("calls nested deeper than {}", self.limits.max_calls);
            return self.fail_with_help(
                codes::ENDLESS,
                span,
                message,
                "a function that calls itself needs an `if` on its arguments that ends it",
            );
        }
        let (frame, n_locals) = (self.frame, self.locals.len());
        let names = function.arguments.iter().map(|argument| argument.text.clone());
        self.locals.extend(names.zip(values));
        self.frame = n_locals;
        self.n_calls += 1;
        let result = self.eval(&function.body);
        self.n_calls -= 1;
        self.frame = frame;
        self.locals.truncate(n_locals);
        result
    }

    /// The names that can be called, for suggestions.
    pub fn function_names(&self) -> Vec<String> {
        let own = self.names.iter().filter(|(_, binding)| matches!(binding, Binding::Function(_)));
        own.map(|(name, _)| name.clone()).collect()
    }
}

/// An index of one dimension.
pub enum Place {
    /// The whole dimension.
    All,
    /// One place, counted from 0.
    At(usize),
    /// Some indices.
    Some(Rc<ValueSet>),
    /// The place a term gives.
    Term(Term),
}

/// The parts of a conjunction.
pub fn conjuncts(formula: Formula) -> Vec<Formula> {
    match formula {
        Formula::And(parts) => parts,
        formula => vec![formula],
    }
}
