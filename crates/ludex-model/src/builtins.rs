//! The functions of the language, most under their names in MiniZinc.

use std::rc::Rc;
use std::sync::Arc;

use ludex_base::Span;
use ludex_csp::propagators::Automaton;
use ludex_csp::propagators::table::Table;
use ludex_csp::{
    Comparison, Condition, Constraint, Expr as Formula, Operation, Value as Number, ValueSet, VarId,
};

use crate::eval::{Evaluated, Evaluator};
use crate::syntax::Name;
use crate::value::{Array, Term, Value};
use crate::{arithmetic, codes, generator, suggest};

/// A function: its name, its arguments, and its implementation.
struct Builtin {
    name: &'static str,
    /// The arguments as shown in the reference.
    usage: &'static str,
    n_arguments: std::ops::RangeInclusive<usize>,
    run: fn(&mut Call<'_, '_>) -> Evaluated,
}

macro_rules! builtins {
    ($($name:literal, $usage:literal, $n:expr, $run:expr;)*) => {
        &[$(Builtin { name: $name, usage: $usage, n_arguments: $n, run: $run }),*]
    };
}

/// The functions in the order of the reference.
static BUILTINS: &[Builtin] = builtins! {
    // Lists of numbers.
    "sum", "list", 1..=1, |call| { let list = call.list(0)?; arithmetic::add(call.evaluator, list, call.span) };
    "product", "list", 1..=1, product;
    "min", "list, or numbers", 1..=usize::MAX, |call| extreme(call, true);
    "max", "list, or numbers", 1..=usize::MAX, |call| extreme(call, false);
    "count", "list of conditions, or list, number", 1..=2, count;
    "length", "list", 1..=1, |call| { let list = call.list(0)?; Ok(Value::Int(list.len() as i64)) };
    "card", "set", 1..=1, |call| { let set = call.set(0)?; Ok(Value::Int(set.len() as i64)) };
    "index_set", "array", 1..=1, index_set;
    "array1d", "set, list", 2..=2, |call| reshape(call, 1);
    "array2d", "set, set, list", 3..=3, |call| reshape(call, 2);
    "array3d", "set, set, set, list", 4..=4, |call| reshape(call, 3);
    // Numbers.
    "abs", "number", 1..=1, |call| { let value = call.take(0); arithmetic::absolute(call.evaluator, value, call.span) };
    "pow", "number, number", 2..=2, |call| { let (a, b) = (call.take(0), call.take(1)); arithmetic::operate(call.evaluator, Operation::Pow, a, b, call.span) };
    "ceil_div", "number, number", 2..=2, ceil_div;
    "bool2int", "condition", 1..=1, bool2int;
    "draw", "seed, place, low, high", 4..=4, draw;
    // Conditions.
    "forall", "list of conditions", 1..=1, |call| { let list = call.list(0)?; call.evaluator.all(list, call.span) };
    "exists", "list of conditions", 1..=1, |call| { let list = call.list(0)?; call.evaluator.any(list, call.span) };
    "all_equal", "list", 1..=1, |call| ordered(call, Comparison::Eq);
    "increasing", "list", 1..=1, |call| ordered(call, Comparison::Le);
    "strictly_increasing", "list", 1..=1, |call| ordered(call, Comparison::Lt);
    "decreasing", "list", 1..=1, |call| ordered(call, Comparison::Ge);
    "strictly_decreasing", "list", 1..=1, |call| ordered(call, Comparison::Gt);
    "at_least", "n, list, number", 3..=3, |call| occurrences(call, Comparison::Ge);
    "at_most", "n, list, number", 3..=3, |call| occurrences(call, Comparison::Le);
    "exactly", "n, list, number", 3..=3, |call| occurrences(call, Comparison::Eq);
    // Global constraints.
    "all_different", "list", 1..=1, |call| all_different(call, ValueSet::default());
    "all_different_except_0", "list", 1..=1, |call| all_different(call, ValueSet::from([0]));
    "nvalue", "n, list", 2..=2, nvalue;
    "global_cardinality", "list, values, counts", 3..=3, |call| cardinality(call, false);
    "global_cardinality_closed", "list, values, counts", 3..=3, |call| cardinality(call, true);
    "lex_less", "list, list", 2..=2, |call| lex(call, true);
    "lex_lesseq", "list, list", 2..=2, |call| lex(call, false);
    "cumulative", "starts, durations, needs, limit", 4..=4, cumulative;
    "disjunctive", "starts, durations", 2..=2, disjunctive;
    "diffn", "x, y, dx, dy", 4..=4, diffn;
    "circuit", "successors", 1..=1, circuit;
    "inverse", "list, list", 2..=2, inverse;
    "table", "variables, rows", 2..=2, table;
    "regular", "list, n states, n letters, transitions, start, accepting", 6..=6, regular;
};

/// Returns each function with its arguments, as the reference lists them.
pub fn usages() -> impl Iterator<Item = (&'static str, &'static str)> {
    BUILTINS.iter().map(|builtin| (builtin.name, builtin.usage))
}

/// Whether a function has this name.
pub fn is_builtin(name: &str) -> bool {
    BUILTINS.iter().any(|builtin| builtin.name == normal(name))
}

/// Translates older MiniZinc spellings of some names.
fn normal(name: &str) -> &str {
    match name {
        "alldifferent" => "all_different",
        "alldifferent_except_0" => "all_different_except_0",
        "atleast" => "at_least",
        "atmost" => "at_most",
        name => name,
    }
}

/// Calls a function of the language.
pub fn call(
    evaluator: &mut Evaluator<'_>,
    name: &Name,
    values: Vec<Value>,
    places: &[Span],
    span: Span,
) -> Evaluated {
    let Some(builtin) = BUILTINS.iter().find(|builtin| builtin.name == normal(&name.text)) else {
        let own = evaluator.function_names();
        let known =
            BUILTINS.iter().map(|builtin| builtin.name).chain(own.iter().map(String::as_str));
        let near = suggest::closest(&name.text, known).map(String::from);
        let message = format!("there is no function `{}`", name.text);
        return match near {
            Some(near) => evaluator.fail_with_help(
                codes::UNKNOWN_NAME,
                name.at.0,
                message,
                format!("did you mean `{near}`?"),
            ),
            None => evaluator.fail(codes::UNKNOWN_NAME, name.at.0, message),
        };
    };
    if !builtin.n_arguments.contains(&values.len()) {
        let message = format!("`{}` is called with {} arguments", name.text, values.len());
        return evaluator.fail_with_help(
            codes::ARGUMENTS,
            span,
            message,
            format!("it is `{}({})`", builtin.name, builtin.usage),
        );
    }
    (builtin.run)(&mut Call { evaluator, name: builtin.name, values, places, span })
}

struct Call<'a, 'b> {
    evaluator: &'a mut Evaluator<'b>,
    name: &'static str,
    values: Vec<Value>,
    places: &'a [Span],
    span: Span,
}

impl Call<'_, '_> {
    fn place(&self, i: usize) -> Span {
        self.places.get(i).copied().unwrap_or(self.span)
    }

    fn take(&mut self, i: usize) -> Value {
        std::mem::replace(&mut self.values[i], Value::Bool(false))
    }

    fn wrong<T>(&mut self, i: usize, wanted: &str, found: &Value) -> Evaluated<T> {
        let message =
            format!("argument {} of `{}` is {wanted}, found {}", i + 1, self.name, found.kind());
        let span = self.place(i);
        self.evaluator.fail(codes::TYPE, span, message)
    }

    /// Returns all members of an array or a set.
    fn list(&mut self, i: usize) -> Evaluated<Vec<Value>> {
        match self.take(i) {
            Value::Array(array) => {
                Ok(Rc::try_unwrap(array)
                    .map_or_else(|array| array.items.clone(), |array| array.items))
            }
            Value::Set(set) if set.len() <= self.evaluator.limits().max_length as u64 => {
                Ok(set.iter().map(|value| Value::Int(value.into())).collect())
            }
            other => self.wrong(i, "a list", &other),
        }
    }

    fn set(&mut self, i: usize) -> Evaluated<Rc<ValueSet>> {
        match self.take(i) {
            Value::Set(set) => Ok(set),
            other => self.wrong(i, "a set", &other),
        }
    }

    fn int(&mut self, i: usize) -> Evaluated<i64> {
        match self.take(i) {
            Value::Int(number) => Ok(number),
            other => self.wrong(i, "a number without variables", &other),
        }
    }

    /// Returns the formulas of numbers, with the conditions under which they are defined.
    fn formulas(&mut self, i: usize) -> Evaluated<(Vec<Formula>, Vec<Formula>)> {
        let span = self.place(i);
        let mut formulas = Vec::new();
        let mut defined = Vec::new();
        for value in self.list(i)? {
            let term = arithmetic::number(self.evaluator, value, span)?;
            formulas.push(term.formula);
            defined.extend(term.defined);
        }
        Ok((formulas, defined))
    }

    fn formula(&mut self, i: usize) -> Evaluated<(Formula, Vec<Formula>)> {
        let (value, span) = (self.take(i), self.place(i));
        let term = arithmetic::number(self.evaluator, value, span)?;
        Ok((term.formula, term.defined))
    }

    fn law(&self, constraint: Constraint, defined: Vec<Formula>) -> Evaluated {
        let needs = defined.into_iter().map(Constraint::Intension);
        Ok(Value::Law(needs.chain([constraint]).collect()))
    }

    fn same_lengths(&mut self, lengths: &[usize]) -> Evaluated<()> {
        if lengths.windows(2).any(|pair| pair[0] != pair[1]) {
            let message = format!("the lists of `{}` differ in length", self.name);
            return self.evaluator.fail(codes::TYPE, self.span, message);
        }
        Ok(())
    }
}

fn product(call: &mut Call<'_, '_>) -> Evaluated {
    let mut result = Value::Int(1);
    for value in call.list(0)? {
        result = arithmetic::operate(call.evaluator, Operation::Mul, result, value, call.span)?;
    }
    Ok(result)
}

fn extreme(call: &mut Call<'_, '_>, is_least: bool) -> Evaluated {
    let values = match call.values.len() {
        1 => match call.take(0) {
            Value::Set(set) => {
                let bound = if is_least { set.min() } else { set.max() };
                bound.map(|bound| Value::Int(bound.into())).into_iter().collect()
            }
            other => {
                call.values[0] = other;
                call.list(0)?
            }
        },
        _ => std::mem::take(&mut call.values),
    };
    arithmetic::extreme(call.evaluator, values, is_least, call.span)
}

fn count(call: &mut Call<'_, '_>) -> Evaluated {
    let list = call.list(0)?;
    let span = call.span;
    let mut found = Vec::new();
    if call.values.len() == 1 {
        for value in list {
            found.push(Value::Term(Box::new(call.evaluator.truth(value, span)?)));
        }
    } else {
        let wanted = call.take(1);
        for value in list {
            found.push(call.evaluator.compare(Comparison::Eq, value, wanted.clone(), span)?);
        }
    }
    arithmetic::add(call.evaluator, found, span)
}

fn index_set(call: &mut Call<'_, '_>) -> Evaluated {
    match call.take(0) {
        Value::Array(array) if array.dims.len() == 1 => {
            let (first, length) = array.dims[0];
            let (first, last) = (
                call.evaluator.small(first, call.span)?,
                call.evaluator.small(first + length as i64 - 1, call.span)?,
            );
            Ok(Value::Set(Rc::new((first..=last).into())))
        }
        other => call.wrong(0, "an array with one dimension", &other),
    }
}

fn reshape(call: &mut Call<'_, '_>, n_dims: usize) -> Evaluated {
    let mut dims = Vec::new();
    for d in 0..n_dims {
        let set = call.set(d)?;
        if set.ranges().len() > 1 {
            let span = call.place(d);
            return call.evaluator.fail(codes::TYPE, span, "an index set has no gaps");
        }
        dims.push((i64::from(set.min().unwrap_or(1)), set.len() as usize));
    }
    let items = call.list(n_dims)?;
    let wanted = dims.iter().try_fold(1_usize, |n, dim| n.checked_mul(dim.1));
    if wanted != Some(items.len()) {
        let message = format!("{} members do not fill the index sets", items.len());
        return call.evaluator.fail(codes::TYPE, call.span, message);
    }
    Ok(Value::Array(Rc::new(Array { dims, items })))
}

/// Returns the quotient rounded up, for a divisor above 0.
fn ceil_div(call: &mut Call<'_, '_>) -> Evaluated {
    let (a, b, span) = (call.take(0), call.take(1), call.span);
    let Value::Int(divisor) = b else {
        return call.wrong(1, "a number without variables", &b);
    };
    if divisor <= 0 {
        return call.evaluator.fail(
            codes::ARITHMETIC,
            span,
            "the divisor of `ceil_div` is above 0",
        );
    }
    // Euclidean division rounds down, also for negative dividends.
    if let Value::Int(number) = a {
        return Ok(Value::Int(
            number.div_euclid(divisor) + i64::from(number.rem_euclid(divisor) > 0),
        ));
    }
    let low = match &a {
        Value::Term(term) => call.evaluator.bounds_of(&term.formula).0,
        _ => i64::MIN,
    };
    if low < 0 {
        return call.evaluator.fail(codes::TYPE, span, "`ceil_div` takes a dividend of at least 0");
    }
    let more = arithmetic::add(call.evaluator, vec![a, Value::Int(divisor - 1)], span)?;
    arithmetic::operate(call.evaluator, Operation::Div, more, Value::Int(divisor), span)
}

fn bool2int(call: &mut Call<'_, '_>) -> Evaluated {
    let value = call.take(0);
    let term = call.evaluator.truth(value, call.span)?;
    Ok(match term.formula {
        Formula::Constant(number) => Value::Int(number),
        _ => Value::Term(Box::new(Term { is_bool: false, ..term })),
    })
}

fn draw(call: &mut Call<'_, '_>) -> Evaluated {
    let [seed, place, low, high] = [call.int(0)?, call.int(1)?, call.int(2)?, call.int(3)?];
    if place < 1 || low > high {
        let message = "`draw` takes a place from 1 on and bounds in order";
        return call.evaluator.fail(codes::ARITHMETIC, call.span, message);
    }
    Ok(Value::Int(generator::draw(seed as u64, place as u64, low, high)))
}

fn ordered(call: &mut Call<'_, '_>, op: Comparison) -> Evaluated {
    let list = call.list(0)?;
    let mut parts = Vec::new();
    for pair in list.windows(2) {
        let (a, b) = (pair[0].clone(), pair[1].clone());
        parts.push(call.evaluator.compare(op, a, b, call.span)?);
    }
    call.evaluator.all(parts, call.span)
}

fn occurrences(call: &mut Call<'_, '_>, op: Comparison) -> Evaluated {
    let (bound, wanted) = (call.take(0), call.take(2));
    let span = call.span;
    let mut found = Vec::new();
    for value in call.list(1)? {
        found.push(call.evaluator.compare(Comparison::Eq, value, wanted.clone(), span)?);
    }
    let number = arithmetic::add(call.evaluator, found, span)?;
    call.evaluator.compare(op, number, bound, span)
}

fn all_different(call: &mut Call<'_, '_>, except: ValueSet) -> Evaluated {
    let (list, defined) = call.formulas(0)?;
    if list.len() < 2 {
        return Ok(Value::Bool(true));
    }
    call.law(Constraint::AllDifferent { list, except }, defined)
}

fn nvalue(call: &mut Call<'_, '_>) -> Evaluated {
    let (number, needs) = call.formula(0)?;
    let (list, mut defined) = call.formulas(1)?;
    defined.extend(needs);
    let condition = Condition::equals(number);
    call.law(Constraint::NValues { list, except: ValueSet::default(), condition }, defined)
}

fn cardinality(call: &mut Call<'_, '_>, is_closed: bool) -> Evaluated {
    let (list, mut defined) = call.formulas(0)?;
    let mut values = Vec::new();
    for value in call.list(1)? {
        let Value::Int(number) = value else { return call.wrong(1, "a list of numbers", &value) };
        values.push(call.evaluator.small(number, call.span)?);
    }
    let (counts, needs) = call.formulas(2)?;
    defined.extend(needs);
    call.same_lengths(&[values.len(), counts.len()])?;
    let occurrences = counts.into_iter().map(Condition::equals).collect();
    call.law(Constraint::Cardinality { list, values, occurrences, is_closed }, defined)
}

fn lex(call: &mut Call<'_, '_>, is_strict: bool) -> Evaluated {
    let (a, mut defined) = call.formulas(0)?;
    let (b, needs) = call.formulas(1)?;
    defined.extend(needs);
    call.same_lengths(&[a.len(), b.len()])?;
    call.law(Constraint::Lex { lists: vec![a, b], is_strict }, defined)
}

fn cumulative(call: &mut Call<'_, '_>) -> Evaluated {
    let (origins, mut defined) = call.formulas(0)?;
    let (lengths, more) = call.formulas(1)?;
    let (heights, still) = call.formulas(2)?;
    let (limit, last) = call.formula(3)?;
    defined.extend([more, still, last].concat());
    call.same_lengths(&[origins.len(), lengths.len(), heights.len()])?;
    call.law(Constraint::Cumulative { origins, lengths, heights, limit }, defined)
}

fn disjunctive(call: &mut Call<'_, '_>) -> Evaluated {
    let (starts, mut defined) = call.formulas(0)?;
    let (durations, needs) = call.formulas(1)?;
    defined.extend(needs);
    call.same_lengths(&[starts.len(), durations.len()])?;
    let each = |list: Vec<Formula>| list.into_iter().map(|term| vec![term]).collect();
    let (origins, lengths) = (each(starts), each(durations));
    call.law(Constraint::NoOverlap { origins, lengths, ignores_zeros: true }, defined)
}

fn diffn(call: &mut Call<'_, '_>) -> Evaluated {
    let mut lists = Vec::new();
    let mut defined = Vec::new();
    for i in 0..4 {
        let (list, needs) = call.formulas(i)?;
        lists.push(list);
        defined.extend(needs);
    }
    let lengths: Vec<usize> = lists.iter().map(Vec::len).collect();
    call.same_lengths(&lengths)?;
    let pair = |a: &[Formula], b: &[Formula]| {
        a.iter().zip(b).map(|(a, b)| vec![a.clone(), b.clone()]).collect::<Vec<_>>()
    };
    let (origins, lengths) = (pair(&lists[0], &lists[1]), pair(&lists[2], &lists[3]));
    call.law(Constraint::NoOverlap { origins, lengths, ignores_zeros: true }, defined)
}

fn first_index(call: &Call<'_, '_>, i: usize) -> i64 {
    match &call.values[i] {
        Value::Array(array) => array.dims.first().map_or(1, |dim| dim.0),
        _ => 1,
    }
}

/// Requires all nodes to be on one circuit.
fn circuit(call: &mut Call<'_, '_>) -> Evaluated {
    let first = first_index(call, 0);
    let start = call.evaluator.small(first, call.span)?;
    let (list, defined) = call.formulas(0)?;
    let size = Some(Condition::equals(Formula::Constant(list.len() as i64)));
    call.law(Constraint::Circuit { list, start, size }, defined)
}

fn inverse(call: &mut Call<'_, '_>) -> Evaluated {
    let (one, two) = (first_index(call, 0), first_index(call, 1));
    let start_first = call.evaluator.small(one, call.span)?;
    let start_second = call.evaluator.small(two, call.span)?;
    let (first, mut defined) = call.formulas(0)?;
    let (second, needs) = call.formulas(1)?;
    defined.extend(needs);
    call.same_lengths(&[first.len(), second.len()])?;
    call.law(Constraint::Channel { first, start_first, second, start_second }, defined)
}

fn table(call: &mut Call<'_, '_>) -> Evaluated {
    let (terms, defined) = call.formulas(0)?;
    let rows = match call.take(1) {
        Value::Array(array) if array.dims.len() == 2 => array,
        other => return call.wrong(1, "an array with two dimensions", &other),
    };
    if rows.dims[1].1 != terms.len() || terms.is_empty() {
        let message = format!("rows of {} numbers for {} variables", rows.dims[1].1, terms.len());
        return call.evaluator.fail(codes::TYPE, call.span, message);
    }
    let mut values: Vec<Number> = Vec::new();
    for item in &rows.items {
        let Value::Int(number) = item else { return call.wrong(1, "an array of numbers", item) };
        values.push(call.evaluator.small(*number, call.span)?);
    }
    let scope: Option<Vec<VarId>> =
        terms.iter().map(|term| if let Formula::Var(x) = term { Some(*x) } else { None }).collect();
    match scope {
        Some(scope) => {
            let table = Arc::new(Table::new(terms.len(), values));
            call.law(Constraint::Table { scope, table, is_positive: true }, defined)
        }
        None => {
            let span = call.place(0);
            call.evaluator.fail_with_help(
                codes::TYPE,
                span,
                "`table` is about variables",
                "give what is computed a name with `let` in its scope",
            )
        }
    }
}

/// Builds an automaton. States are counted from 1 and 0 is the failing state, as in MiniZinc.
fn regular(call: &mut Call<'_, '_>) -> Evaluated {
    let (list, defined) = call.formulas(0)?;
    let (n_states, n_letters, start) = (call.int(1)?, call.int(2)?, call.int(4)?);
    let accepting = call.set(5)?;
    let rows = match call.take(3) {
        Value::Array(array) if array.dims.len() == 2 => array,
        other => return call.wrong(3, "an array with two dimensions", &other),
    };
    let has_shape = (1..=100_000).contains(&n_states)
        && rows.dims[0].1 as i64 == n_states
        && rows.dims[1].1 as i64 == n_letters
        && (1..=n_states).contains(&start);
    if !has_shape {
        let message = "the transitions are an array of states by letters";
        return call.evaluator.fail(codes::TYPE, call.span, message);
    }
    let mut transitions = Vec::new();
    for (at, item) in rows.items.iter().enumerate() {
        let Value::Int(to) = item else { return call.wrong(3, "an array of numbers", item) };
        if *to > n_states || *to < 0 {
            return call.evaluator.fail(codes::INDEX, call.span, format!("there is no state {to}"));
        }
        if *to > 0 {
            let (from, letter) = (at / n_letters as usize, at % n_letters as usize);
            transitions.push((from, letter as Number + 1, (*to - 1) as usize));
        }
    }
    let automaton = Arc::new(Automaton {
        n_states: n_states as usize,
        start: (start - 1) as usize,
        accepting: accepting.iter().filter(|&s| s >= 1).map(|s| s as usize - 1).collect(),
        transitions,
    });
    call.law(Constraint::Regular { list, automaton }, defined)
}

/// Returns a global constraint as one formula, if it has a short one.
pub fn as_formula(law: &Constraint) -> Option<Formula> {
    match law {
        Constraint::Intension(formula) => Some(formula.clone()),
        Constraint::AllDifferent { list, except } if except.is_empty() && list.len() <= 64 => {
            let mut parts = Vec::new();
            for (i, a) in list.iter().enumerate() {
                for b in &list[i + 1..] {
                    let (a, b) = (Box::new(a.clone()), Box::new(b.clone()));
                    parts.push(Formula::Compare(Comparison::Ne, a, b));
                }
            }
            Some(Formula::And(parts))
        }
        _ => None,
    }
}
