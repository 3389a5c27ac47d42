//! Writes networks as text in the language: plain ones as one `exists` scope and goals,
//! stochastic ones with `random` scopes in between.

use std::fmt::Write;

use ludex_csp::propagators::table::{STAR, Table};
use ludex_csp::{Condition, Constraint, Expr, Network, Value, ValueSet, VarId, Variable};
use ludex_scsp::{Distribution, Rational, StochasticNetwork};
use num_bigint::BigInt;
use num_traits::{One as _, ToPrimitive as _};
use rustc_hash::FxHashSet;
use thiserror::Error;

use crate::builtins::usages;
use crate::conditions::sign;
use crate::syntax::keywords;

/// Largest number of values of a table on one line.
const MAX_IN_LINE: usize = 24;

/// A part of a network that the language cannot express.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{what} can't be written in the language of models")]
pub struct WriteError {
    /// The part.
    pub what: String,
}

/// Writes a network without objective.
///
/// The text compiles to the same variables, in order, with the same solutions. Names become
/// words of the language; comments record the original names and the labels of values.
///
/// ```
/// use ludex_csp::Network;
/// let mut network = Network::new();
/// let x = network.symbol("the cell", ["empty", "full"]);
/// let y = network.int("y", 0..=3);
/// network.require((x + y).equals(2));
/// let text = ludex_model::write_network(&network)?;
/// assert!(text.contains("the_cell: 0..1") && text.contains("goal the_cell + y = 2;"));
/// # Ok::<(), ludex_model::WriteError>(())
/// ```
///
/// # Errors
/// When the language cannot express a part of the network, or this writer does not support it.
pub fn write_network(network: &Network) -> Result<String, WriteError> {
    if network.objective().is_some() {
        return Err(unwritable("an objective"));
    }
    let writer = Writer::new(network.variables().iter());
    let mut out = writer.legend(network.variables().iter());
    writer.scope(&mut out, network.variables().iter(), 0);
    for constraint in network.constraints() {
        let _ = writeln!(out, "goal {};", writer.constraint(constraint)?);
    }
    Ok(out)
}

/// Writes a stochastic network.
///
/// The text compiles to the same variables, in order, and every policy has the same
/// satisfaction and utility.
///
/// # Errors
/// When the language cannot express a part of the network, or this writer does not support it.
pub fn write_stochastic(network: &StochasticNetwork) -> Result<String, WriteError> {
    let variables = || network.variables().iter().map(|it| &it.variable);
    let writer = Writer::new(variables());
    let mut out = writer.legend(variables());
    let ids: Vec<VarId> = network.ids().collect();
    for block in ids.chunk_by(|x, y| !network.is_chance(*x) && !network.is_chance(*y)) {
        let first = block[0].index();
        let Some(distribution) = &network.variable(block[0]).distribution else {
            writer.scope(&mut out, variables().skip(first).take(block.len()), first);
            continue;
        };
        let domain = set(network.domain(block[0]));
        let how = writer.distribution(block[0], distribution)?;
        let _ = writeln!(out, "random {}: {domain}{how};", writer.name(block[0]));
    }
    for own in network.constraints() {
        let goal = writer.constraint(&own.constraint)?;
        let threshold =
            own.threshold.as_ref().map_or(String::new(), |it| " ".to_string() + &of(it));
        let _ = writeln!(out, "goal {goal}{threshold};");
    }
    if !network.threshold().is_one() {
        let _ = writeln!(out, "{};", of(network.threshold()));
    }
    if let Some(utility) = network.utility() {
        let _ = writeln!(out, "utility {};", writer.number(utility)?);
    }
    Ok(out)
}

fn of(threshold: &Rational) -> String {
    format!("threshold {} of {}", threshold.numer(), threshold.denom())
}

/// Returns the separator between the rows of a table.
fn glue(scope: &[VarId], table: &Table) -> &'static str {
    if table.len() * scope.len() > MAX_IN_LINE { "\n  " } else { " " }
}

fn unwritable(what: impl std::fmt::Display) -> WriteError {
    WriteError { what: what.to_string() }
}

fn in_comment(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

fn names<'a>(variables: impl Iterator<Item = &'a Variable>) -> Vec<String> {
    let functions = usages().map(|(name, _)| name);
    let mut taken: FxHashSet<String> = keywords().chain(functions).map(String::from).collect();
    let mut names = Vec::new();
    for variable in variables {
        let mut stem = String::new();
        for part in variable.name.split(|c: char| !c.is_ascii_alphanumeric()) {
            if !(stem.is_empty() || part.is_empty()) {
                stem.push('_');
            }
            stem += part;
        }
        if !stem.starts_with(|c: char| c.is_ascii_alphabetic()) {
            stem.insert(0, 'v');
        }
        names.push(unused_name(&stem, &mut taken));
    }
    names
}

/// Returns the name itself or, if it is taken, the name with the first free number; marks it as
/// taken.
pub fn unused_name(stem: &str, taken: &mut FxHashSet<String>) -> String {
    let mut name = stem.to_string();
    let mut n = 2;
    while !taken.insert(name.clone()) {
        name = format!("{stem}_{n}");
        n += 1;
    }
    name
}

fn set(values: &ValueSet) -> String {
    let range = |&(first, last): &(i32, i32)| {
        if first == last { format!("{{{first}}}") } else { format!("{first}..{last}") }
    };
    match values.ranges() {
        ranges if ranges.iter().all(|(first, last)| first == last) => {
            let values: Vec<String> = values.iter().map(|value| value.to_string()).collect();
            format!("{{{}}}", values.join(", "))
        }
        ranges => ranges.iter().map(range).collect::<Vec<_>>().join(" union "),
    }
}

struct Writer {
    names: Vec<String>,
}

impl Writer {
    fn new<'a>(variables: impl Iterator<Item = &'a Variable>) -> Self {
        Self { names: names(variables) }
    }

    /// Returns the meanings of names and values as comments.
    fn legend<'a>(&self, variables: impl Iterator<Item = &'a Variable>) -> String {
        let mut out = String::new();
        for (variable, name) in variables.zip(&self.names) {
            let labels = variable.labels.as_ref();
            if variable.name == *name && labels.is_none() {
                continue;
            }
            let _ = write!(out, "% {name} is {}", in_comment(&variable.name));
            if let Some(labels) = labels {
                let of = |value: i32| {
                    let label = usize::try_from(value).ok().and_then(|at| labels.get(at));
                    format!("{value} {}", in_comment(label.map_or("", |label| label)))
                };
                let values: Vec<String> = variable.domain.iter().map(of).collect();
                let _ = write!(out, ": {}", values.join(", "));
            }
            out.push('\n');
        }
        out
    }

    /// Writes an `exists` scope; `first` is the number of its first variable.
    fn scope<'a>(
        &self,
        out: &mut String,
        variables: impl Iterator<Item = &'a Variable>,
        first: usize,
    ) {
        let mut begin = "exists";
        for (variable, name) in variables.zip(&self.names[first..]) {
            let _ = write!(out, "{begin} {name}: {}", set(&variable.domain));
            begin = ",\n      ";
        }
        if begin != "exists" {
            out.push_str(";\n");
        }
    }

    /// Returns the text after the domain of a random variable.
    fn distribution(&self, x: VarId, distribution: &Distribution) -> Result<String, WriteError> {
        match distribution {
            Distribution::Uniform => Ok(String::new()),
            Distribution::Weights(weights) => {
                Ok(format!(" weight {}", self.weights(x, &[], &[], weights)?))
            }
            Distribution::Table { on, rows } => {
                let mut rows: Vec<_> = rows.iter().collect();
                rows.sort_unstable_by_key(|(row, _)| *row);
                let parts =
                    rows.into_iter().map(|(row, weights)| self.weights(x, on, row, weights));
                let parts = parts.collect::<Result<Vec<_>, WriteError>>()?;
                Ok(format!(" weight {}", parts.join("\n  + ")))
            }
            Distribution::Weighted { weight, total: Some(total) } => {
                Ok(format!(" weight {} of {total}", self.number(weight)?))
            }
            Distribution::Weighted { weight, total: None } => {
                Ok(format!(" weight {}", self.number(weight)?))
            }
        }
    }

    /// Returns the weights of the values of `x` when the variables `on` have the values of a
    /// row, as a sum: whole numbers in the proportion of the probabilities.
    fn weights(
        &self,
        x: VarId,
        on: &[VarId],
        row: &[Value],
        weights: &[(Value, Rational)],
    ) -> Result<String, WriteError> {
        let scale = weights.iter().fold(BigInt::one(), |scale, (_, p)| {
            let missing = (p * &scale).denom().clone();
            scale * missing
        });
        let given: String = (on.iter().zip(row))
            .map(|(y, value)| format!("{} = {value} /\\ ", self.name(*y)))
            .collect();
        let terms = weights.iter().map(|(value, p)| {
            let weight = p.numer() * (&scale / p.denom());
            let weight =
                weight.to_i32().ok_or_else(|| unwritable(format!("the weight {weight}")))?;
            Ok(format!("if {given}{} = {value} then {weight} else 0 endif", self.name(x)))
        });
        let terms = terms.collect::<Result<Vec<_>, WriteError>>()?;
        Ok(if terms.is_empty() { "0".into() } else { terms.join(" + ") })
    }

    fn constraint(&self, constraint: &Constraint) -> Result<String, WriteError> {
        match constraint {
            Constraint::Intension(e) => self.condition(e),
            Constraint::Table { scope, table, is_positive } => {
                // A table can't be negated in the language, but its cases can.
                Ok(match is_positive {
                    true => self.table(scope, table),
                    false => format!("not ({})", self.cases(scope, table)),
                })
            }
            Constraint::Element { list, start, index, condition } => {
                let list = self.all(list, Self::number)?.join(", ");
                let index = self.number(index)?;
                let member = format!("[{list}][{index} + {}]", 1 - i64::from(*start));
                match condition {
                    Condition::Compare(op, right) => {
                        Ok(format!("{member} {} {}", sign(*op), self.number(right)?))
                    }
                    Condition::In(values) => Ok(format!("{member} in {}", set(values))),
                }
            }
            other => Err(unwritable(format!("the constraint `{}`", other.name()))),
        }
    }

    /// Writes a table, with short tuples as cases.
    fn table(&self, scope: &[VarId], table: &Table) -> String {
        let names: Vec<&str> = scope.iter().map(|x| self.name(*x)).collect();
        if table.is_empty() || table.tuples().any(|tuple| tuple.contains(&STAR)) {
            return self.cases(scope, table);
        }
        let glue = glue(scope, table);
        let row = |tuple: &[i32]| {
            tuple.iter().map(|value| value.to_string()).collect::<Vec<_>>().join(", ")
        };
        let rows: Vec<String> = table.tuples().map(row).collect();
        let rows = rows.join(&format!("{glue}| "));
        format!("table([{}],{glue}[| {rows} |])", names.join(", "))
    }

    /// Writes the tuples of a table as a disjunction of cases.
    fn cases(&self, scope: &[VarId], table: &Table) -> String {
        let names: Vec<&str> = scope.iter().map(|x| self.name(*x)).collect();
        if table.is_empty() {
            return "false".to_string();
        }
        let case = |tuple: &[i32]| {
            let given = names.iter().zip(tuple).filter(|(_, value)| **value != STAR);
            let parts: Vec<String> =
                given.map(|(name, value)| format!("{name} = {value}")).collect();
            if parts.is_empty() { "true".to_string() } else { parts.join(" /\\ ") }
        };
        let cases: Vec<String> = table.tuples().map(case).collect();
        cases.join(&format!("{}\\/ ", glue(scope, table)))
    }

    fn name(&self, x: VarId) -> &str {
        &self.names[x.index()]
    }

    fn all(
        &self,
        list: &[Expr],
        write: fn(&Self, &Expr) -> Result<String, WriteError>,
    ) -> Result<Vec<String>, WriteError> {
        list.iter().map(|e| write(self, e)).collect()
    }

    /// Writes an expression as a condition.
    fn condition(&self, e: &Expr) -> Result<String, WriteError> {
        let joined = |list: &[Expr], word: &str, empty: &str| {
            let inside = |e: &Expr| Ok(format!("({})", self.condition(e)?));
            let parts = list.iter().map(inside).collect::<Result<Vec<_>, WriteError>>()?;
            Ok(if parts.is_empty() { empty.to_string() } else { parts.join(word) })
        };
        Ok(match e {
            Expr::Compare(op, a, b) => {
                format!("{} {} {}", self.number(a)?, sign(*op), self.number(b)?)
            }
            Expr::In(e, values) => format!("{} in {}", self.number(e)?, set(values)),
            Expr::Not(e) => format!("not ({})", self.condition(e)?),
            Expr::And(list) => joined(list, " /\\ ", "true")?,
            Expr::Or(list) => joined(list, " \\/ ", "false")?,
            Expr::Xor(list) => joined(list, " xor ", "false")?,
            Expr::AllEqual(list) => {
                format!("all_equal([{}])", self.all(list, Self::number)?.join(", "))
            }
            number => format!("{} != 0", self.number(number)?),
        })
    }

    /// Writes an expression as a number.
    fn number(&self, e: &Expr) -> Result<String, WriteError> {
        let of = |name: &str, list: &[Expr]| {
            Ok::<_, WriteError>(format!("{name}([{}])", self.all(list, Self::number)?.join(", ")))
        };
        Ok(match e {
            Expr::Constant(value) if *value < 0 => format!("({value})"),
            Expr::Constant(value) => value.to_string(),
            Expr::Var(x) => self.name(*x).to_string(),
            Expr::Sum(list) if list.is_empty() => "0".to_string(),
            Expr::Sum(list) => self.all(list, Self::number)?.join(" + "),
            Expr::Neg(e) => format!("(-{})", self.number(e)?),
            Expr::Abs(e) => format!("abs({})", self.number(e)?),
            Expr::Min(list) => of("min", list)?,
            Expr::Max(list) => of("max", list)?,
            Expr::If(c, a, b) => format!(
                "if {} then {} else {} endif",
                self.condition(c)?,
                self.number(a)?,
                self.number(b)?
            ),
            Expr::Binary(..) | Expr::Element(..) => {
                return Err(unwritable("a product, or an indexed list, in an expression"));
            }
            condition => format!("bool2int({})", self.condition(condition)?),
        })
    }
}
