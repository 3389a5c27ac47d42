//! The values of expressions of the language: constants, and terms over variables.

use std::collections::BTreeMap;
use std::rc::Rc;

use ludex_csp::{Constraint, Expr as Formula, ValueSet};

use crate::syntax::Function;

/// The value of an expression.
#[derive(Clone)]
pub enum Value {
    /// A number.
    Int(i64),
    /// True or false.
    Bool(bool),
    /// A set of numbers.
    Set(Rc<ValueSet>),
    /// An array of values.
    Array(Rc<Array>),
    /// An expression that depends on variables.
    Term(Box<Term>),
    /// A conjunction that contains global constraints.
    Law(Vec<Constraint>),
}

impl Value {
    /// Returns the kind of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Int(_) => "a number",
            Value::Bool(_) => "a truth value",
            Value::Set(_) => "a set",
            Value::Array(_) => "an array",
            Value::Term(term) if term.is_bool => "a condition on variables",
            Value::Term(_) => "a number that depends on variables",
            Value::Law(_) => "a global constraint",
        }
    }

    /// Whether it is a truth value or a condition.
    pub fn is_bool(&self) -> bool {
        match self {
            Value::Bool(_) | Value::Law(_) => true,
            Value::Term(term) => term.is_bool,
            _ => false,
        }
    }

    /// Whether it contains no variable.
    pub fn is_constant(&self) -> bool {
        match self {
            Value::Int(_) | Value::Bool(_) | Value::Set(_) => true,
            Value::Array(array) => array.items.iter().all(Value::is_constant),
            Value::Term(_) | Value::Law(_) => false,
        }
    }

    /// Creates a list with indices from 1.
    pub fn list(items: Vec<Value>) -> Value {
        let dims = vec![(1, items.len())];
        Value::Array(Rc::new(Array { dims, items }))
    }
}

/// An array: the first index and length of each dimension, and the items, the last index
/// running fastest.
#[derive(Clone)]
pub struct Array {
    /// First index and length of each dimension.
    pub dims: Vec<(i64, usize)>,
    /// The items.
    pub items: Vec<Value>,
}

impl Array {
    /// Returns the index set of a dimension, as messages show it.
    pub fn range(&self, dimension: usize) -> String {
        let (first, length) = self.dims[dimension];
        format!("{first}..{}", first + length as i64 - 1)
    }
}

/// An expression over variables.
#[derive(Clone)]
pub struct Term {
    /// The formula.
    pub formula: Formula,
    /// Whether it is a truth value rather than a number.
    pub is_bool: bool,
    /// The conditions under which a number is defined: divisors other than 0, indices inside.
    /// The condition that uses the number includes them.
    pub defined: Vec<Formula>,
    /// The number of parts.
    pub size: usize,
    /// The depth.
    pub depth: usize,
}

impl Term {
    /// Creates a term that is always defined.
    pub fn new(formula: Formula, is_bool: bool, size: usize, depth: usize) -> Self {
        Self { formula, is_bool, defined: Vec::new(), size, depth }
    }
}

/// The meaning of a name.
#[derive(Clone)]
pub enum Binding {
    /// A value.
    Value(Value),
    /// Values by index, added one at a time.
    Family(Rc<BTreeMap<Vec<i64>, Value>>),
    /// A function.
    Function(Rc<Function>),
}
