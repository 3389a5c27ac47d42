//! Values for parameters, from the command line or from files.

use std::collections::BTreeMap;

use ludex_base::{Diagnostic, Severity, Source};

use crate::codes;
use crate::parse::{parse_assignments, parse_expression};
use crate::syntax::{Binary, Expr, ExprKind};

/// A value for a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Datum {
    /// A number.
    Int(i64),
    /// True or false.
    Bool(bool),
    /// A member of an enumeration.
    Name(String),
    /// A set of numbers, as ranges.
    Set(Vec<(i64, i64)>),
    /// A list; an array with more dimensions is a list of lists.
    List(Vec<Datum>),
}

impl Datum {
    /// Returns the kind of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Datum::Int(_) => "a number",
            Datum::Bool(_) => "a truth value",
            Datum::Name(_) => "a name",
            Datum::Set(_) => "a set",
            Datum::List(_) => "a list",
        }
    }

    /// Reads a value in the form of `-D name=value`.
    ///
    /// # Errors
    /// When the text is not a constant of the language.
    pub fn read(text: &str) -> Result<Datum, String> {
        let (expr, diagnostics) = parse_expression(text);
        let expr = expr.ok_or_else(|| {
            diagnostics.first().map_or_else(|| "not a value".into(), |d| d.message.clone())
        })?;
        constant(&expr).ok_or_else(|| {
            "a value is a number, true or false, a name, a set or an array of these".into()
        })
    }
}

/// Values by the name of their parameter; a later value replaces an earlier one.
#[derive(Clone, Debug, Default)]
pub struct Data {
    /// The values.
    pub values: BTreeMap<String, Datum>,
}

impl Data {
    /// Reads assignments `name = value;`, the form of `.dzn` files.
    ///
    /// # Errors
    /// Returns all mistakes in the text.
    pub fn read(source: &Source) -> Result<Data, Vec<Diagnostic>> {
        let (assignments, mut diagnostics) = parse_assignments(source.text());
        let mut data = Data::default();
        for (name, expr) in assignments {
            match constant(&expr) {
                Some(datum) => {
                    data.values.insert(name.text, datum);
                }
                None => {
                    let message = format!("the value of `{}` is no constant", name.text);
                    diagnostics.push(
                        Diagnostic::new(Severity::Fatal, codes::NOT_CONSTANT, expr.at.0, message)
                            .with_help("data holds numbers, truth values, names, sets and arrays"),
                    );
                }
            }
        }
        if diagnostics.is_empty() { Ok(data) } else { Err(diagnostics) }
    }

    /// Adds values, which replace those of the same name.
    pub fn extend(&mut self, other: Data) {
        self.values.extend(other.values);
    }
}

/// Returns the expression as a constant, if it is one.
fn constant(expr: &Expr) -> Option<Datum> {
    let all = |list: &[Expr]| list.iter().map(constant).collect::<Option<Vec<_>>>();
    match &expr.kind {
        ExprKind::Int(number) => Some(Datum::Int(*number)),
        ExprKind::Bool(truth) => Some(Datum::Bool(*truth)),
        ExprKind::Name(name) => Some(Datum::Name(name.clone())),
        ExprKind::List(list) => Some(Datum::List(all(list)?)),
        ExprKind::Rows(rows) => {
            let rows = rows.iter().map(|row| Some(Datum::List(all(row)?)));
            Some(Datum::List(rows.collect::<Option<Vec<_>>>()?))
        }
        ExprKind::Set(members) => {
            let members = members.iter().map(|member| match constant(member)? {
                Datum::Int(number) => Some((number, number)),
                _ => None,
            });
            Some(Datum::Set(members.collect::<Option<Vec<_>>>()?))
        }
        ExprKind::Binary(Binary::Range, low, high) => match (constant(low)?, constant(high)?) {
            (Datum::Int(low), Datum::Int(high)) => Some(Datum::Set(vec![(low, high)])),
            _ => None,
        },
        // `.dzn` files repeat the shape of a matrix, which the parameter already has.
        ExprKind::Call(name, arguments) if name.text.starts_with("array") => {
            constant(arguments.last()?)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_are_read() {
        let source = Source::new("d.dzn", "n = 3; c = [| 1, 2 | 3, 4 |]; s = {1, 5}; q = win;");
        let data = Data::read(&source).unwrap();
        assert_eq!(data.values["n"], Datum::Int(3));
        assert_eq!(data.values["s"], Datum::Set(vec![(1, 1), (5, 5)]));
        assert_eq!(data.values["q"], Datum::Name("win".into()));
        let row = |a, b| Datum::List(vec![Datum::Int(a), Datum::Int(b)]);
        assert_eq!(data.values["c"], Datum::List(vec![row(1, 2), row(3, 4)]));
    }

    #[test]
    fn what_is_no_value_is_refused() {
        assert_eq!(Datum::read("-4"), Ok(Datum::Int(-4)));
        assert_eq!(Datum::read("1..3"), Ok(Datum::Set(vec![(1, 3)])));
        assert!(Datum::read("1 +").is_err() && Datum::read("x + 1").is_err());
        assert!(Data::read(&Source::new("d", "n = m + 1;")).is_err());
    }
}
