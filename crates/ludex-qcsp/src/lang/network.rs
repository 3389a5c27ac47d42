//! Plain constraint networks as text in the language: one `exists` scope and goals.

use std::fmt::Write;

use ludex_csp::propagators::table::{STAR, Table};
use ludex_csp::xcsp3::unused_name;
use ludex_csp::{Condition, Constraint, Expr, Network, ValueSet, VarId};
use rustc_hash::FxHashSet;

use super::builtins::usages;
use super::conditions::sign;
use super::syntax::KEYWORDS;
use crate::ModelError;

/// The most numbers of a table in one line.
const MAX_IN_LINE: usize = 24;

/// Writes a network without objective. What is read back has the same variables, in order, and
/// the same solutions. Names become words of the language; what they and the values stood for is
/// kept in comments.
///
/// ```
/// use ludex_csp::Network;
/// let mut network = Network::new();
/// let x = network.symbol("the cell", ["empty", "full"]);
/// let y = network.int("y", 0..=3);
/// network.require((x + y).equals(2));
/// let text = ludex_qcsp::lang::write_network(&network)?;
/// assert!(text.contains("the_cell: 0..1") && text.contains("goal the_cell + y = 2;"));
/// # Ok::<(), ludex_qcsp::ModelError>(())
/// ```
///
/// # Errors
/// When the language has no form for a part of the network, or this writer does not know it.
pub fn write_network(network: &Network) -> Result<String, ModelError> {
    if network.objective().is_some() {
        return Err(unwritable("an objective"));
    }
    let writer = Writer { names: names(network) };
    let mut out = String::new();
    for (variable, name) in network.variables().iter().zip(&writer.names) {
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
    for (at, (variable, name)) in network.variables().iter().zip(&writer.names).enumerate() {
        let begin = if at == 0 { "exists" } else { ",\n      " };
        let _ = write!(out, "{begin} {name}: {}", set(&variable.domain));
    }
    if !network.variables().is_empty() {
        out += ";\n";
    }
    for constraint in network.constraints() {
        let _ = writeln!(out, "goal {};", writer.constraint(constraint)?);
    }
    Ok(out)
}

fn unwritable(what: impl std::fmt::Display) -> ModelError {
    ModelError::Option { option: "the text language", reason: format!("no form for {what}") }
}

fn in_comment(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

fn names(network: &Network) -> Vec<String> {
    let functions = usages().map(|(name, _)| name);
    let mut taken: FxHashSet<String> =
        KEYWORDS.iter().copied().chain(functions).map(String::from).collect();
    let mut names = Vec::new();
    for variable in network.variables() {
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

fn set(values: &ValueSet) -> String {
    let range = |&(first, last): &(i32, i32)| match first == last {
        true => format!("{{{first}}}"),
        false => format!("{first}..{last}"),
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
    fn constraint(&self, constraint: &Constraint) -> Result<String, ModelError> {
        match constraint {
            Constraint::Intension(e) => self.condition(e),
            Constraint::Table { scope, table, is_positive } => {
                let allowed = self.table(scope, table);
                Ok(if *is_positive { allowed } else { format!("not ({allowed})") })
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

    /// A table as it is, or with its short tuples as cases.
    fn table(&self, scope: &[VarId], table: &Table) -> String {
        let names: Vec<&str> = scope.iter().map(|x| self.name(*x)).collect();
        let is_short = table.tuples().any(|tuple| tuple.contains(&STAR));
        if table.is_empty() {
            return "false".to_string();
        }
        let glue = if table.len() * scope.len() > MAX_IN_LINE { "\n  " } else { " " };
        if !is_short {
            let row = |tuple: &[i32]| {
                tuple.iter().map(|value| value.to_string()).collect::<Vec<_>>().join(", ")
            };
            let rows: Vec<String> = table.tuples().map(row).collect();
            let rows = rows.join(&format!("{glue}| "));
            return format!("table([{}],{glue}[| {rows} |])", names.join(", "));
        }
        let case = |tuple: &[i32]| {
            let given = names.iter().zip(tuple).filter(|(_, value)| **value != STAR);
            let parts: Vec<String> =
                given.map(|(name, value)| format!("{name} = {value}")).collect();
            if parts.is_empty() { "true".to_string() } else { parts.join(" /\\ ") }
        };
        let cases: Vec<String> = table.tuples().map(case).collect();
        cases.join(&format!("{glue}\\/ "))
    }

    fn name(&self, x: VarId) -> &str {
        &self.names[x.index()]
    }

    fn all(
        &self,
        list: &[Expr],
        write: fn(&Self, &Expr) -> Result<String, ModelError>,
    ) -> Result<Vec<String>, ModelError> {
        list.iter().map(|e| write(self, e)).collect()
    }

    /// An expression that is true or false.
    fn condition(&self, e: &Expr) -> Result<String, ModelError> {
        let joined = |list: &[Expr], word: &str, empty: &str| {
            let inside = |e: &Expr| Ok(format!("({})", self.condition(e)?));
            let parts = list.iter().map(inside).collect::<Result<Vec<_>, ModelError>>()?;
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

    /// An expression that is a number.
    fn number(&self, e: &Expr) -> Result<String, ModelError> {
        let of = |name: &str, list: &[Expr]| {
            Ok::<_, ModelError>(format!("{name}([{}])", self.all(list, Self::number)?.join(", ")))
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
                return Err(unwritable("a product, or a list with a place, in an expression"));
            }
            condition => format!("bool2int({})", self.condition(condition)?),
        })
    }
}
