//! The small languages inside the elements: domains, lists, tuples, expressions.

use std::sync::Arc;

use ludex_base::Deadline;
use ludex_csp::propagators::table::{STAR, Table};
use ludex_csp::{Comparison, Expr, Operation, VALUE_LIMIT, Value, ValueSet};
use rustc_hash::FxHashMap;

/// An error message about a piece of text.
pub(super) type Problem = String;

/// Largest number of values of a range in a list.
const MAX_LISTED: i64 = 10_000_000;
/// Deepest nesting of expressions.
const MAX_DEPTH: usize = 200;

/// Reads an integer within the range of values.
pub(super) fn integer(text: &str) -> Result<Value, Problem> {
    let wide: i64 = text.trim().parse().map_err(|_| {
        let is_number = !text.is_empty()
            && text.trim().trim_start_matches(['-', '+']).bytes().all(|b| b.is_ascii_digit());
        if is_number {
            format!("the number `{text}` is out of range")
        } else {
            format!("`{text}` is not an integer")
        }
    })?;
    Value::try_from(wide)
        .ok()
        .filter(|value| (-VALUE_LIMIT..=VALUE_LIMIT).contains(value))
        .ok_or_else(|| format!("the number `{text}` is out of range"))
}

/// The symbols of a file, numbered in order of first occurrence.
#[derive(Clone, Debug, Default)]
pub(super) struct Symbols {
    numbers: FxHashMap<String, Value>,
    labels: Vec<String>,
}

impl Symbols {
    /// Numbers the symbols of a list.
    pub fn collect(&mut self, text: &str) {
        for token in text.split_whitespace() {
            if !self.numbers.contains_key(token) {
                self.numbers.insert(token.to_string(), self.labels.len() as Value);
                self.labels.push(token.to_string());
            }
        }
    }

    /// Returns the symbols by their numbers.
    pub fn labels(&self) -> Arc<[String]> {
        self.labels.as_slice().into()
    }

    pub fn get(&self, text: &str) -> Option<Value> {
        self.numbers.get(text).copied()
    }

    /// Returns the number of a symbol, or an integer.
    pub fn value(&self, text: &str) -> Result<Value, Problem> {
        match self.get(text) {
            Some(value) => Ok(value),
            None => integer(text),
        }
    }
}

/// Reads `lo..hi`; `None` when the text is not a range.
fn range(text: &str) -> Result<Option<(Value, Value)>, Problem> {
    match text.split_once("..") {
        Some((lo, hi)) => {
            let (lo, hi) = (integer(lo)?, integer(hi)?);
            if lo > hi {
                return Err(format!("the range `{text}` is empty"));
            }
            Ok(Some((lo, hi)))
        }
        None => Ok(None),
    }
}

/// Reads a set of values: `0 3..7 12`.
pub(super) fn value_set(text: &str, symbols: &Symbols) -> Result<ValueSet, Problem> {
    let mut ranges = Vec::new();
    for token in text.split_whitespace() {
        match range(token)? {
            Some(range) => ranges.push(range),
            None => {
                let value = symbols.value(token)?;
                ranges.push((value, value));
            }
        }
    }
    Ok(ValueSet::from_ranges(ranges))
}

/// Reads a list of integers: `3 1..4 0x5`, where the last means five zeros.
pub(super) fn integers(text: &str, symbols: &Symbols) -> Result<Vec<Value>, Problem> {
    let mut values = Vec::new();
    for token in text.split_whitespace() {
        if let Some((lo, hi)) = range(token)? {
            if values.len() as i64 + i64::from(hi) - i64::from(lo) >= MAX_LISTED {
                return Err(format!("the range `{token}` is too long to be a list"));
            }
            values.extend(lo..=hi);
        } else if let Some((value, n)) = repeated(token)? {
            if values.len() as i64 + n as i64 > MAX_LISTED {
                return Err(format!("`{token}` makes the list too long"));
            }
            values.extend(std::iter::repeat_n(value, n));
        } else {
            values.push(symbols.value(token)?);
        }
    }
    Ok(values)
}

/// Reads `VALUExCOUNT`; `None` when the text has another form.
pub(super) fn repeated(token: &str) -> Result<Option<(Value, usize)>, Problem> {
    let Some((value, n)) = token.split_once('x') else {
        return Ok(None);
    };
    let is_number = |text: &str| {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    };
    if !is_number(value) || !is_number(n) {
        return Ok(None);
    }
    let n = integer(n)?;
    if !(0..=MAX_LISTED as Value).contains(&n) {
        return Err(format!("`{token}` repeats too often"));
    }
    Ok(Some((integer(value)?, n as usize)))
}

/// Splits at white space that is not inside parentheses or braces.
pub(super) fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let (mut depth, mut start) = (0_i64, None);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth -= 1,
            _ => {}
        }
        if byte.is_ascii_whitespace() && depth <= 0 {
            if let Some(start) = start.take() {
                tokens.push(&text[start..at]);
            }
        } else if start.is_none() {
            start = Some(at);
        }
    }
    tokens.extend(start.map(|start| &text[start..]));
    tokens
}

/// Returns the insides of `(…)(…)…`, each split at its outer commas.
pub(super) fn tuples(text: &str) -> Result<Vec<Vec<&str>>, Problem> {
    let mut tuples = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    let mut parts: Vec<&str> = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => {
                depth += 1;
                if depth == 1 {
                    parts = Vec::new();
                    start = at + 1;
                }
            }
            b')' => {
                depth = depth.checked_sub(1).ok_or("a `)` without its `(`")?;
                if depth == 0 {
                    parts.push(text[start..at].trim());
                    tuples.push(std::mem::take(&mut parts));
                }
            }
            b',' if depth == 1 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ if depth == 0 && !byte.is_ascii_whitespace() => {
                return Err("unexpected text between tuples".into());
            }
            _ => {}
        }
    }
    match depth {
        0 => Ok(tuples),
        _ => Err("a `(` without its `)`".into()),
    }
}

/// Number of tuples between two checks of the deadline.
const TUPLES_PER_CHECK: usize = 1 << 14;

/// Reads the tuples of a table; `None` when the deadline was reached. This is the hot part of
/// reading, so it allocates no text.
pub(super) fn table(
    text: &str,
    arity: usize,
    symbols: &Symbols,
    deadline: &Deadline,
) -> Result<Option<Table>, Problem> {
    if arity == 1 && !text.contains('(') {
        let set = value_set(text, symbols)?;
        if set.len() > MAX_LISTED as u64 {
            return Err("a table has too many values".into());
        }
        return Ok(Some(Table::new(1, set.iter().collect())));
    }
    let mut n_tuples = 0_usize;
    let mut values: Vec<Value> = Vec::with_capacity(text.len() / 4);
    let mut rest = text.trim_ascii_start();
    while !rest.is_empty() {
        n_tuples += 1;
        if n_tuples.is_multiple_of(TUPLES_PER_CHECK) && deadline.reached() {
            return Ok(None);
        }
        rest = rest.strip_prefix('(').ok_or("a tuple begins with `(`")?;
        let (inside, after) = rest.split_once(')').ok_or("a `(` without its `)`")?;
        let n_before = values.len();
        if inside.contains(['{', '.']) {
            unfold(inside, arity, symbols, &mut values)?;
        } else {
            for part in inside.split(',') {
                let part = part.trim_ascii();
                values.push(if part == "*" { STAR } else { symbols.value(part)? });
            }
            let n = values.len() - n_before;
            if n != arity {
                return Err(wrong_arity(n, arity));
            }
        }
        rest = after.trim_ascii_start();
    }
    Ok(Some(Table::new(arity, values)))
}

fn wrong_arity(n: usize, arity: usize) -> Problem {
    format!("a tuple of {n} values for {arity} variables")
}

/// Expands a tuple with ranges and sets.
fn unfold(
    inside: &str,
    arity: usize,
    symbols: &Symbols,
    values: &mut Vec<Value>,
) -> Result<(), Problem> {
    let mut cells: Vec<Vec<Value>> = Vec::new();
    let mut rest = inside.trim_ascii();
    loop {
        let end = match rest.strip_prefix('{') {
            Some(_) => rest.find('}').ok_or("a `{` without its `}`")? + 1,
            None => rest.find(',').unwrap_or(rest.len()),
        };
        let (cell, after) = rest.split_at(end);
        let cell = cell.trim_ascii();
        let list = cell.trim_start_matches('{').trim_end_matches('}').replace(',', " ");
        cells.push(if cell == "*" { vec![STAR] } else { integers(&list, symbols)? });
        let after = after.trim_ascii();
        match after.strip_prefix(',') {
            Some(after) => rest = after.trim_ascii(),
            None if after.is_empty() => break,
            None => return Err("unexpected text before a comma in a tuple".into()),
        }
    }
    if cells.len() != arity {
        return Err(wrong_arity(cells.len(), arity));
    }
    let n_tuples = cells.iter().try_fold(1_usize, |n, cell| n.checked_mul(cell.len()));
    let n_tuples = n_tuples
        .filter(|n| n.saturating_mul(arity).saturating_add(values.len()) <= MAX_LISTED as usize)
        .ok_or("a tuple with ranges or sets expands to too many tuples")?;
    for mut number in 0..n_tuples {
        let start = values.len();
        for cell in cells.iter().rev() {
            values.push(cell[number % cell.len()]);
            number /= cell.len();
        }
        values[start..].reverse();
    }
    Ok(())
}

/// Reads an expression in functional form; `var` resolves words that are neither numbers nor
/// operators.
pub(super) fn expression(
    text: &str,
    symbols: &Symbols,
    var: &dyn Fn(&str) -> Result<Expr, Problem>,
) -> Result<Expr, Problem> {
    let mut parser = Parser { rest: text.trim(), symbols, var, depth: 0 };
    let expr = parser.expr()?;
    match parser.rest.trim() {
        "" => Ok(expr),
        rest => Err(format!("unexpected `{}` after the expression", shortened(rest))),
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

struct Parser<'a> {
    rest: &'a str,
    symbols: &'a Symbols,
    var: &'a dyn Fn(&str) -> Result<Expr, Problem>,
    depth: usize,
}

impl<'a> Parser<'a> {
    /// Takes the text before the next delimiter.
    fn word(&mut self) -> &'a str {
        let end = self.rest.find(['(', ')', ',', '}', '{']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.trim()
    }

    fn expr(&mut self) -> Result<Expr, Problem> {
        if self.depth >= MAX_DEPTH {
            return Err(format!("expressions are nested deeper than {MAX_DEPTH}"));
        }
        let word = self.word();
        let Some(rest) = self.rest.strip_prefix('(') else {
            let is_number = word.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
            return if is_number { Ok(Expr::from(integer(word)?)) } else { (self.var)(word) };
        };
        self.rest = rest.trim_start();
        if word == "in" || word == "notin" {
            return self.membership(word);
        }
        let mut args = Vec::new();
        self.depth += 1;
        if !self.rest.starts_with(')') {
            loop {
                args.push(self.expr()?);
                match self.rest.strip_prefix(',') {
                    Some(rest) => self.rest = rest,
                    None => break,
                }
            }
        }
        self.depth -= 1;
        self.rest = self.rest.strip_prefix(')').ok_or("a `(` without its `)`")?.trim_start();
        operation(word, args)
    }

    /// Reads `in(e,set(…))`, also with a set in braces or a range.
    fn membership(&mut self, word: &str) -> Result<Expr, Problem> {
        self.depth += 1;
        let e = self.expr()?;
        self.depth -= 1;
        self.rest = self.rest.strip_prefix(',').ok_or("`in` needs two arguments")?.trim_start();
        let set = if let Some(rest) = self.rest.strip_prefix("set(") {
            let (inside, after) = rest.split_once(')').ok_or("a `(` without its `)`")?;
            self.rest = after;
            value_set(&inside.replace(',', " "), self.symbols)?
        } else if let Some(rest) = self.rest.strip_prefix("range(") {
            let (inside, after) = rest.split_once(')').ok_or("a `(` without its `)`")?;
            self.rest = after;
            let ends = value_list(inside)?;
            let [lo, end] = ends[..] else {
                return Err("`range` needs two arguments".into());
            };
            ValueSet::from(lo..end)
        } else if let Some(rest) = self.rest.strip_prefix('{') {
            let (inside, after) = rest.split_once('}').ok_or("a `{` without its `}`")?;
            self.rest = after;
            value_set(&inside.replace(',', " "), self.symbols)?
        } else {
            value_set(self.word(), self.symbols)?
        };
        self.rest =
            self.rest.trim_start().strip_prefix(')').ok_or("a `(` without its `)`")?.trim_start();
        let inside = Expr::In(Box::new(e), set);
        Ok(if word == "in" { inside } else { Expr::Not(Box::new(inside)) })
    }
}

fn value_list(text: &str) -> Result<Vec<Value>, Problem> {
    text.split(',').map(integer).collect()
}

fn operation(name: &str, args: Vec<Expr>) -> Result<Expr, Problem> {
    let n = args.len();
    let wrong = || format!("`{name}` with {n} arguments");
    let one = |args: Vec<Expr>| -> Result<Box<Expr>, Problem> {
        let [a]: [Expr; 1] = args.try_into().map_err(|_| wrong())?;
        Ok(Box::new(a))
    };
    let two = |args: Vec<Expr>| -> Result<(Box<Expr>, Box<Expr>), Problem> {
        let [a, b]: [Expr; 2] = args.try_into().map_err(|_| wrong())?;
        Ok((Box::new(a), Box::new(b)))
    };
    let some = |args: Vec<Expr>| if args.is_empty() { Err(wrong()) } else { Ok(args) };
    let compare = |op: Comparison, args: Vec<Expr>| -> Result<Expr, Problem> {
        let (a, b) = two(args)?;
        Ok(Expr::Compare(op, a, b))
    };
    let binary = |op: Operation, args: Vec<Expr>| -> Result<Expr, Problem> {
        let (a, b) = two(args)?;
        Ok(Expr::Binary(op, a, b))
    };
    Ok(match name {
        "neg" => Expr::Neg(one(args)?),
        "abs" => Expr::Abs(one(args)?),
        "sqr" => {
            let a = one(args)?;
            Expr::Binary(Operation::Mul, a.clone(), a)
        }
        "add" => Expr::Sum(some(args)?),
        "sub" => {
            let (a, b) = two(args)?;
            Expr::Sum(vec![*a, Expr::Neg(b)])
        }
        "mul" => some(args)?
            .into_iter()
            .reduce(|a, b| Expr::Binary(Operation::Mul, Box::new(a), Box::new(b)))
            .ok_or_else(wrong)?,
        "div" => binary(Operation::Div, args)?,
        "mod" => binary(Operation::Mod, args)?,
        "pow" => binary(Operation::Pow, args)?,
        "dist" => binary(Operation::Dist, args)?,
        "min" => Expr::Min(some(args)?),
        "max" => Expr::Max(some(args)?),
        "lt" => compare(Comparison::Lt, args)?,
        "le" => compare(Comparison::Le, args)?,
        "ge" => compare(Comparison::Ge, args)?,
        "gt" => compare(Comparison::Gt, args)?,
        "ne" if n == 2 => compare(Comparison::Ne, args)?,
        "eq" if n == 2 => compare(Comparison::Eq, args)?,
        "eq" => Expr::AllEqual(some(args)?),
        "not" => Expr::Not(one(args)?),
        "and" => Expr::And(some(args)?),
        "or" => Expr::Or(some(args)?),
        "xor" => Expr::Xor(some(args)?),
        "iff" => {
            let truths =
                some(args)?.into_iter().map(|e| if e.is_boolean() { e } else { e.differs(0) });
            Expr::AllEqual(truths.collect())
        }
        "imp" => {
            let (a, b) = two(args)?;
            Expr::Or(vec![Expr::Not(a), *b])
        }
        "if" => {
            let [c, a, b]: [Expr; 3] = args.try_into().map_err(|_| wrong())?;
            Expr::If(Box::new(c), Box::new(a), Box::new(b))
        }
        _ => return Err(format!("the operator `{name}` is not supported")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ludex_csp::VarId;

    fn parse(text: &str) -> Result<Expr, Problem> {
        expression(text, &Symbols::default(), &|name| match name {
            "x" => Ok(Expr::Var(VarId::new(0))),
            _ => Err(format!("no variable `{name}`")),
        })
    }

    #[test]
    fn expressions_are_read_and_refused_by_name() {
        let value = |text: &str| parse(text).unwrap().eval(&|_| 3);
        assert_eq!(value("add(x, mul(x,2) ,-1)"), Some(8));
        assert_eq!(value("in(x,set(1,3..5))"), Some(1));
        assert_eq!(value("notin(x,{1,3})"), Some(0));
        assert_eq!(value("if(gt(x,2),7,8)"), Some(7));
        assert_eq!(value("iff(x,1)"), Some(1));
        let problem = |text: &str| parse(text).unwrap_err();
        assert_eq!(problem("sin(x)"), "the operator `sin` is not supported");
        assert_eq!(problem("sub(x)"), "`sub` with 1 arguments");
        assert_eq!(problem("add(x,1"), "a `(` without its `)`");
        assert_eq!(problem("add(x,1))"), "unexpected `)` after the expression");
        assert_eq!(problem("y"), "no variable `y`");
        assert_eq!(problem("99999999999"), "the number `99999999999` is out of range");
        assert!(problem(&"neg(".repeat(5000)).contains("deeper"));
    }

    #[test]
    fn lists_and_tables_are_read() {
        let mut symbols = Symbols::default();
        symbols.collect("red green");
        let integers = |text| integers(text, &symbols);
        assert_eq!(integers("1..3 0x2 -5 green").unwrap(), [1, 2, 3, 0, 0, -5, 1]);
        assert!(integers("0..1000000000").unwrap_err().contains("too long"));
        assert!(value_set("5..1", &symbols).is_err());
        let read = |text| table(text, 2, &symbols, &Deadline::never());
        let table = read(" (1,*) (2, 3)").unwrap().unwrap();
        assert_eq!(table.tuples().collect::<Vec<_>>(), [[1, STAR], [2, 3]]);
        let table = read("(0..1, {5, 7}) (green,{red})").unwrap().unwrap();
        let expected = [[0, 5], [0, 7], [1, 5], [1, 7], [1, 0]];
        assert_eq!(table.tuples().collect::<Vec<_>>(), expected);
        assert!(read("(0..1000000,0..1000000)").unwrap_err().contains("too many tuples"));
        assert!(read("({1,2)").unwrap_err().contains("without its `}`"));
        assert!(read("({1}2,3)").unwrap_err().contains("before a comma"));
        assert_eq!(tokens("a f(b, c) d"), ["a", "f(b, c)", "d"]);
        assert_eq!(tuples("(a,f(b,c))(d,e)").unwrap(), [["a", "f(b,c)"], ["d", "e"]]);
    }
}
