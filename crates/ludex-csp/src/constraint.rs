//! Constraints as a modeler writes them.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::domains::VarId;
use crate::expr::{Comparison, Expr};
use crate::propagator::Propagator;
use crate::propagators::table::Table;
use crate::propagators::{Automaton, Mdd};
use crate::{Value, ValueSet};

/// A constraint as the modeler wrote it.
#[derive(Debug)]
pub enum Constraint {
    /// An expression is true.
    Intension(Expr),
    /// The variables take, or don't take, one of the tuples.
    Table {
        /// The variables.
        scope: Vec<VarId>,
        /// The tuples.
        table: Arc<Table>,
        /// Whether the tuples are the allowed ones.
        is_positive: bool,
    },
    /// All terms differ, except for values that may be repeated.
    AllDifferent {
        /// The terms.
        list: Vec<Expr>,
        /// Values that may be repeated.
        except: ValueSet,
    },
    /// The lists are pairwise different.
    AllDifferentLists {
        /// The lists, of one length.
        lists: Vec<Vec<Expr>>,
    },
    /// A condition on the number of terms with a value in a set.
    Count {
        /// The terms.
        list: Vec<Expr>,
        /// The values counted.
        values: ValueSet,
        /// The condition on the number.
        condition: Condition,
    },
    /// A condition on the number of different values.
    NValues {
        /// The terms.
        list: Vec<Expr>,
        /// Values that don't count.
        except: ValueSet,
        /// The condition on the number.
        condition: Condition,
    },
    /// Conditions on how often each of some values occurs.
    Cardinality {
        /// The terms.
        list: Vec<Expr>,
        /// The values.
        values: Vec<Value>,
        /// By value: the condition on its number of occurrences.
        occurrences: Vec<Condition>,
        /// Whether other values are forbidden.
        is_closed: bool,
    },
    /// A condition on the term at an index of a list.
    Element {
        /// The list.
        list: Vec<Expr>,
        /// The index of the first term.
        start: Value,
        /// The index.
        index: Expr,
        /// The condition on the term there.
        condition: Condition,
    },
    /// Each list precedes the next in lexicographic order.
    Lex {
        /// The lists, of one length.
        lists: Vec<Vec<Expr>>,
        /// Whether they must differ.
        is_strict: bool,
    },
    /// Boxes (in one dimension: tasks) whose interiors are disjoint.
    NoOverlap {
        /// By box, its start in each dimension.
        origins: Vec<Vec<Expr>>,
        /// By box, its length in each dimension.
        lengths: Vec<Vec<Expr>>,
        /// Whether a box of size zero may lie anywhere.
        ignores_zeros: bool,
    },
    /// Tasks that share a resource of limited capacity.
    Cumulative {
        /// The start of each task.
        origins: Vec<Expr>,
        /// The duration of each task.
        lengths: Vec<Expr>,
        /// The demand of each task.
        heights: Vec<Expr>,
        /// The capacity.
        limit: Expr,
    },
    /// Successors that form one circuit; an index that is its own successor is not on it.
    Circuit {
        /// The successors.
        list: Vec<Expr>,
        /// The index of the first successor.
        start: Value,
        /// The condition on the length of the circuit.
        size: Option<Condition>,
    },
    /// The terms form a word that an automaton accepts.
    Regular {
        /// The letters.
        list: Vec<Expr>,
        /// The automaton.
        automaton: Arc<Automaton>,
    },
    /// The terms form a path of a decision diagram.
    Mdd {
        /// The letters.
        list: Vec<Expr>,
        /// The diagram.
        mdd: Arc<Mdd>,
    },
    /// Two lists that are inverse to each other; the first is not longer than the second.
    Channel {
        /// One list.
        first: Vec<Expr>,
        /// The index of its first term.
        start_first: Value,
        /// The other list.
        second: Vec<Expr>,
        /// The index of its first term.
        start_second: Value,
    },
    /// A propagator that the caller supplies.
    Custom(Box<dyn Propagator>),
}

impl Clone for Constraint {
    fn clone(&self) -> Self {
        self.mapped(&|x| x, &Expr::clone)
    }
}

impl Constraint {
    /// Returns the same constraint on other variables. A caller's propagator keeps its own.
    pub fn renamed(&self, var: &dyn Fn(VarId) -> VarId, expr: &dyn Fn(VarId) -> Expr) -> Self {
        self.mapped(var, &|e: &Expr| e.rename(expr))
    }

    fn mapped(&self, var: &dyn Fn(VarId) -> VarId, expr: &dyn Fn(&Expr) -> Expr) -> Self {
        use Constraint::*;
        let all = |list: &[Expr]| list.iter().map(expr).collect::<Vec<_>>();
        let lists = |lists: &[Vec<Expr>]| lists.iter().map(|list| all(list)).collect::<Vec<_>>();
        let on = |condition: &Condition| match condition {
            Condition::Compare(op, right) => Condition::Compare(*op, expr(right)),
            Condition::In(set) => Condition::In(set.clone()),
        };
        match self {
            Intension(e) => Intension(expr(e)),
            Table { scope, table, is_positive } => Table {
                scope: scope.iter().map(|&x| var(x)).collect(),
                table: Arc::clone(table),
                is_positive: *is_positive,
            },
            AllDifferent { list, except } => {
                AllDifferent { list: all(list), except: except.clone() }
            }
            AllDifferentLists { lists: of } => AllDifferentLists { lists: lists(of) },
            Count { list, values, condition } => {
                Count { list: all(list), values: values.clone(), condition: on(condition) }
            }
            NValues { list, except, condition } => {
                NValues { list: all(list), except: except.clone(), condition: on(condition) }
            }
            Cardinality { list, values, occurrences, is_closed } => Cardinality {
                list: all(list),
                values: values.clone(),
                occurrences: occurrences.iter().map(on).collect(),
                is_closed: *is_closed,
            },
            Element { list, start, index, condition } => Element {
                list: all(list),
                start: *start,
                index: expr(index),
                condition: on(condition),
            },
            Lex { lists: of, is_strict } => Lex { lists: lists(of), is_strict: *is_strict },
            NoOverlap { origins, lengths, ignores_zeros } => NoOverlap {
                origins: lists(origins),
                lengths: lists(lengths),
                ignores_zeros: *ignores_zeros,
            },
            Cumulative { origins, lengths, heights, limit } => Cumulative {
                origins: all(origins),
                lengths: all(lengths),
                heights: all(heights),
                limit: expr(limit),
            },
            Circuit { list, start, size } => {
                Circuit { list: all(list), start: *start, size: size.as_ref().map(on) }
            }
            Regular { list, automaton } => {
                Regular { list: all(list), automaton: Arc::clone(automaton) }
            }
            Mdd { list, mdd } => Mdd { list: all(list), mdd: Arc::clone(mdd) },
            Channel { first, start_first, second, start_second } => Channel {
                first: all(first),
                start_first: *start_first,
                second: all(second),
                start_second: *start_second,
            },
            Custom(propagator) => Custom(propagator.duplicate()),
        }
    }
}

impl Constraint {
    /// Returns the name of the kind of constraint, as in XCSP3 if it exists there.
    pub fn name(&self) -> &'static str {
        match self {
            Constraint::Intension(_) => "intension",
            Constraint::Table { .. } => "extension",
            Constraint::AllDifferent { .. } | Constraint::AllDifferentLists { .. } => {
                "allDifferent"
            }
            Constraint::Count { .. } => "count",
            Constraint::NValues { .. } => "nValues",
            Constraint::Cardinality { .. } => "cardinality",
            Constraint::Element { .. } => "element",
            Constraint::Lex { .. } => "lex",
            Constraint::NoOverlap { .. } => "noOverlap",
            Constraint::Cumulative { .. } => "cumulative",
            Constraint::Circuit { .. } => "circuit",
            Constraint::Regular { .. } => "regular",
            Constraint::Mdd { .. } => "mdd",
            Constraint::Channel { .. } => "channel",
            Constraint::Custom(propagator) => propagator.name(),
        }
    }

    /// Returns the expressions in the constraint; a table and a caller's propagator have only
    /// variables.
    pub fn terms(&self) -> Vec<Expr> {
        let mut terms = Vec::new();
        self.for_each_term(&mut |e| terms.push(e.clone()));
        terms
    }

    /// Calls `see` for each expression in the constraint, in order.
    pub fn for_each_term(&self, see: &mut dyn FnMut(&Expr)) {
        fn condition_term(condition: &Condition, see: &mut dyn FnMut(&Expr)) {
            if let Condition::Compare(_, right) = condition {
                see(right);
            }
        }
        match self {
            Constraint::Intension(e) => see(e),
            Constraint::Table { scope, .. } => scope.iter().for_each(|&x| see(&Expr::Var(x))),
            Constraint::AllDifferent { list, .. }
            | Constraint::Regular { list, .. }
            | Constraint::Mdd { list, .. } => list.iter().for_each(see),
            Constraint::AllDifferentLists { lists } | Constraint::Lex { lists, .. } => {
                lists.iter().flatten().for_each(see);
            }
            Constraint::Count { list, condition, .. }
            | Constraint::NValues { list, condition, .. } => {
                list.iter().for_each(&mut *see);
                condition_term(condition, see);
            }
            Constraint::Cardinality { list, occurrences, .. } => {
                list.iter().for_each(&mut *see);
                occurrences.iter().for_each(|condition| condition_term(condition, see));
            }
            Constraint::Element { list, index, condition, .. } => {
                list.iter().for_each(&mut *see);
                see(index);
                condition_term(condition, see);
            }
            Constraint::NoOverlap { origins, lengths, .. } => {
                origins.iter().chain(lengths).flatten().for_each(see);
            }
            Constraint::Cumulative { origins, lengths, heights, limit } => {
                origins.iter().chain(lengths).chain(heights).for_each(&mut *see);
                see(limit);
            }
            Constraint::Circuit { list, size, .. } => {
                list.iter().for_each(&mut *see);
                size.iter().for_each(|condition| condition_term(condition, see));
            }
            Constraint::Channel { first, second, .. } => {
                first.iter().chain(second).for_each(see);
            }
            Constraint::Custom(propagator) => {
                propagator.scope().iter().for_each(|&x| see(&Expr::Var(x)));
            }
        }
    }

    /// Returns the variables in the constraint, each once.
    pub fn scope(&self) -> Vec<VarId> {
        let mut scope = Vec::new();
        let mut seen = FxHashSet::default();
        self.for_each_term(&mut |e| {
            e.visit(&mut |x| {
                if seen.insert(x) {
                    scope.push(x);
                }
            });
        });
        scope
    }
}

/// Splits conjunctions into their parts.
pub fn conjuncts(constraints: &[Constraint]) -> Vec<Constraint> {
    fn flatten(e: &Expr, into: &mut Vec<Constraint>) {
        match e {
            Expr::And(list) => list.iter().for_each(|e| flatten(e, into)),
            e => into.push(Constraint::Intension(e.clone())),
        }
    }
    let mut all = Vec::new();
    for constraint in constraints {
        match constraint {
            Constraint::Intension(e) => flatten(e, &mut all),
            other => all.push(other.clone()),
        }
    }
    all
}

/// A condition on a number that a constraint computes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Condition {
    /// The comparison with an expression holds.
    Compare(Comparison, Expr),
    /// The number is in the set.
    In(ValueSet),
}

impl Condition {
    /// The number equals the term.
    pub fn equals(term: impl Into<Expr>) -> Self {
        Condition::Compare(Comparison::Eq, term.into())
    }

    /// The number is at most the term.
    pub fn at_most(term: impl Into<Expr>) -> Self {
        Condition::Compare(Comparison::Le, term.into())
    }

    /// The number is at least the term.
    pub fn at_least(term: impl Into<Expr>) -> Self {
        Condition::Compare(Comparison::Ge, term.into())
    }

    /// Returns the condition as an expression over `left`.
    pub fn on(&self, left: Expr) -> Expr {
        match self {
            Condition::Compare(op, right) => {
                Expr::Compare(*op, Box::new(left), Box::new(right.clone()))
            }
            Condition::In(set) => Expr::In(Box::new(left), set.clone()),
        }
    }

    pub(crate) fn holds(&self, left: i64, value_of: &dyn Fn(VarId) -> i64) -> bool {
        self.on(Expr::Constant(left)).holds(value_of)
    }
}
