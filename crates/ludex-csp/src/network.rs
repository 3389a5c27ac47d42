//! Networks as a modeler states them: variables, constraints, an objective.

use std::sync::Arc;

use crate::domains::VarId;
use crate::expr::{Comparison, Expr};
use crate::propagator::Propagator;
use crate::propagators::table::Table;
use crate::propagators::{Automaton, Mdd};
use crate::{Value, ValueSet};

/// Variables, constraints and perhaps an objective.
///
/// ```
/// use ludex_csp::{Network, SearchConfig, solve};
/// let mut network = Network::new();
/// let x = network.int("x", 1..=9);
/// let y = network.int("y", 1..=9);
/// network.require((x * y).equals(12));
/// network.require(x.less_than(y));
/// network.minimize(x + y);
/// let report = solve(&network, &SearchConfig::default())?;
/// assert_eq!(report.best().unwrap(), [3, 4]);
/// # Ok::<(), ludex_csp::CspError>(())
/// ```
#[derive(Clone, Default)]
pub struct Network {
    variables: Vec<Variable>,
    constraints: Vec<Constraint>,
    objective: Option<Objective>,
}

/// A variable of a network.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its name, in messages and answers.
    pub name: String,
    /// Its values.
    pub domain: ValueSet,
    /// The names of the values 0, 1, …, when they are symbols.
    pub labels: Option<Arc<[String]>>,
}

/// What is to be made small or large.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Objective {
    /// The expression.
    pub expr: Expr,
    /// Whether it is to be small.
    pub is_minimized: bool,
}

/// What must be true of a number that a constraint computes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Condition {
    /// It compares so with an expression.
    Compare(Comparison, Expr),
    /// It is in the set.
    In(ValueSet),
}

impl Condition {
    /// It equals the term.
    pub fn equals(term: impl Into<Expr>) -> Self {
        Condition::Compare(Comparison::Eq, term.into())
    }

    /// It is at most the term.
    pub fn at_most(term: impl Into<Expr>) -> Self {
        Condition::Compare(Comparison::Le, term.into())
    }

    /// It is at least the term.
    pub fn at_least(term: impl Into<Expr>) -> Self {
        Condition::Compare(Comparison::Ge, term.into())
    }

    /// The condition on a given expression.
    pub fn on(&self, left: Expr) -> Expr {
        match self {
            Condition::Compare(op, right) => {
                Expr::Compare(*op, Box::new(left), Box::new(right.clone()))
            }
            Condition::In(set) => Expr::In(Box::new(left), set.clone()),
        }
    }

    fn holds(&self, left: i64, value_of: &dyn Fn(VarId) -> i64) -> bool {
        self.on(Expr::Constant(left)).holds(value_of)
    }
}

/// A constraint as it was stated.
#[non_exhaustive]
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
    /// All terms differ, but for values that may be repeated.
    AllDifferent {
        /// The terms.
        list: Vec<Expr>,
        /// Values that may be repeated.
        except: ValueSet,
    },
    /// All lists differ somewhere.
    AllDifferentLists {
        /// The lists, of one length.
        lists: Vec<Vec<Expr>>,
    },
    /// The number of terms with a value in a set.
    Count {
        /// The terms.
        list: Vec<Expr>,
        /// The values counted.
        values: ValueSet,
        /// What is true of the number.
        condition: Condition,
    },
    /// The number of different values.
    NValues {
        /// The terms.
        list: Vec<Expr>,
        /// Values that don't count.
        except: ValueSet,
        /// What is true of the number.
        condition: Condition,
    },
    /// How often each of some values occurs.
    Cardinality {
        /// The terms.
        list: Vec<Expr>,
        /// The values.
        values: Vec<Value>,
        /// What is true of the number of occurrences of each.
        occurrences: Vec<Condition>,
        /// Whether other values are forbidden.
        is_closed: bool,
    },
    /// The term at a place of a list.
    Element {
        /// The list.
        list: Vec<Expr>,
        /// The number of its first place.
        start: Value,
        /// The place.
        index: Expr,
        /// What is true of the term there.
        condition: Condition,
    },
    /// Each list is before the next in lexicographic order.
    Lex {
        /// The lists, of one length.
        lists: Vec<Vec<Expr>>,
        /// Whether they must differ.
        is_strict: bool,
    },
    /// Boxes (tasks, in one dimension) that share no inside.
    NoOverlap {
        /// By box, its start in each dimension.
        origins: Vec<Vec<Expr>>,
        /// By box, its length in each dimension.
        lengths: Vec<Vec<Expr>>,
        /// Whether a box of no size may lie anywhere.
        ignores_zeros: bool,
    },
    /// Tasks that share a resource.
    Cumulative {
        /// When tasks start.
        origins: Vec<Expr>,
        /// How long they last.
        lengths: Vec<Expr>,
        /// What they need.
        heights: Vec<Expr>,
        /// There is at most this much.
        limit: Expr,
    },
    /// Successors in one circuit; a place that is its own successor is not on it.
    Circuit {
        /// The successors.
        list: Vec<Expr>,
        /// The number of the first place.
        start: Value,
        /// What is true of the number of places on the circuit.
        size: Option<Condition>,
    },
    /// A word of an automaton.
    Regular {
        /// The letters.
        list: Vec<Expr>,
        /// The automaton.
        automaton: Arc<Automaton>,
    },
    /// A path of a decision diagram.
    Mdd {
        /// The letters.
        list: Vec<Expr>,
        /// The diagram.
        mdd: Arc<Mdd>,
    },
    /// Two lists that are inverse to each other; the first is not the longer one.
    Channel {
        /// One list.
        first: Vec<Expr>,
        /// The number of its first place.
        start_first: Value,
        /// The other list.
        second: Vec<Expr>,
        /// The number of its first place.
        start_second: Value,
    },
    /// A propagator made by the caller.
    Custom(Box<dyn Propagator>),
}

impl Clone for Constraint {
    fn clone(&self) -> Self {
        self.mapped(&|x| x, &Expr::clone)
    }
}

impl Constraint {
    /// The same constraint on other variables. A caller's propagator keeps its own.
    pub(crate) fn renamed(
        &self,
        var: &dyn Fn(VarId) -> VarId,
        expr: &dyn Fn(VarId) -> Expr,
    ) -> Self {
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
    /// The name of its kind, that of XCSP3 where there is one.
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

    /// The expressions it is made of; a table and a caller's propagator have only variables.
    pub fn terms(&self) -> Vec<Expr> {
        let mut terms: Vec<Expr> = Vec::new();
        let condition_term = |condition: &Condition| match condition {
            Condition::Compare(_, right) => Some(right.clone()),
            Condition::In(_) => None,
        };
        match self {
            Constraint::Intension(e) => terms.push(e.clone()),
            Constraint::Table { scope, .. } => terms.extend(scope.iter().map(Expr::from)),
            Constraint::AllDifferent { list, .. }
            | Constraint::Regular { list, .. }
            | Constraint::Mdd { list, .. } => terms.extend(list.iter().cloned()),
            Constraint::AllDifferentLists { lists } | Constraint::Lex { lists, .. } => {
                terms.extend(lists.iter().flatten().cloned());
            }
            Constraint::Count { list, condition, .. }
            | Constraint::NValues { list, condition, .. } => {
                terms.extend(list.iter().cloned());
                terms.extend(condition_term(condition));
            }
            Constraint::Cardinality { list, occurrences, .. } => {
                terms.extend(list.iter().cloned());
                terms.extend(occurrences.iter().filter_map(condition_term));
            }
            Constraint::Element { list, index, condition, .. } => {
                terms.extend(list.iter().cloned());
                terms.push(index.clone());
                terms.extend(condition_term(condition));
            }
            Constraint::NoOverlap { origins, lengths, .. } => {
                terms.extend(origins.iter().chain(lengths).flatten().cloned());
            }
            Constraint::Cumulative { origins, lengths, heights, limit } => {
                terms.extend(origins.iter().chain(lengths).chain(heights).cloned());
                terms.push(limit.clone());
            }
            Constraint::Circuit { list, size, .. } => {
                terms.extend(list.iter().cloned());
                terms.extend(size.as_ref().and_then(condition_term));
            }
            Constraint::Channel { first, second, .. } => {
                terms.extend(first.iter().chain(second).cloned());
            }
            Constraint::Custom(propagator) => {
                terms.extend(propagator.scope().iter().map(Expr::from));
            }
        }
        terms
    }

    /// The variables it speaks of, each once.
    pub fn scope(&self) -> Vec<VarId> {
        if let Constraint::Intension(e) = self {
            return e.scope();
        }
        Expr::And(self.terms()).scope()
    }

    /// Whether it holds, computed from its meaning and not by a propagator.
    pub fn holds(&self, value_of: &dyn Fn(VarId) -> i64) -> bool {
        self.meaning(value_of).unwrap_or(false)
    }

    /// `None` where a term has no value.
    fn meaning(&self, value_of: &dyn Fn(VarId) -> i64) -> Option<bool> {
        let eval = |e: &Expr| e.eval(value_of);
        let eval_all = |list: &[Expr]| list.iter().map(eval).collect::<Option<Vec<i64>>>();
        let eval_lists = |lists: &[Vec<Expr>]| {
            lists.iter().map(|list| eval_all(list)).collect::<Option<Vec<Vec<i64>>>>()
        };
        let as_values = |list: Vec<i64>| -> Option<Vec<Value>> {
            list.into_iter().map(|value| Value::try_from(value).ok()).collect()
        };
        let is_in = |set: &ValueSet, value: i64| {
            Value::try_from(value).is_ok_and(|value| set.contains(value))
        };
        Some(match self {
            Constraint::Intension(e) => e.holds(value_of),
            Constraint::Table { scope, table, is_positive } => {
                let tuple = as_values(scope.iter().map(|&x| value_of(x)).collect())?;
                table.matches(&tuple) == *is_positive
            }
            Constraint::AllDifferent { list, except } => {
                let values = eval_all(list)?;
                let mut counted: Vec<i64> =
                    values.into_iter().filter(|&value| !is_in(except, value)).collect();
                counted.sort_unstable();
                counted.windows(2).all(|pair| pair[0] != pair[1])
            }
            Constraint::AllDifferentLists { lists } => {
                let lists = eval_lists(lists)?;
                (0..lists.len()).all(|i| (0..i).all(|j| lists[i] != lists[j]))
            }
            Constraint::Count { list, values, condition } => {
                let n = eval_all(list)?.into_iter().filter(|&value| is_in(values, value)).count();
                condition.holds(n as i64, value_of)
            }
            Constraint::NValues { list, except, condition } => {
                let mut values: Vec<i64> =
                    eval_all(list)?.into_iter().filter(|&value| !is_in(except, value)).collect();
                values.sort_unstable();
                values.dedup();
                condition.holds(values.len() as i64, value_of)
            }
            Constraint::Cardinality { list, values, occurrences, is_closed } => {
                let list = eval_all(list)?;
                let covers = |value: &i64| values.iter().any(|&v| i64::from(v) == *value);
                (!is_closed || list.iter().all(covers))
                    && values.iter().zip(occurrences).all(|(&value, condition)| {
                        let n = list.iter().filter(|&&v| v == i64::from(value)).count();
                        condition.holds(n as i64, value_of)
                    })
            }
            Constraint::Element { list, start, index, condition } => {
                let list = eval_all(list)?;
                let place = eval(index)? - i64::from(*start);
                let term = usize::try_from(place).ok().and_then(|place| list.get(place));
                term.is_some_and(|&term| condition.holds(term, value_of))
            }
            Constraint::Lex { lists, is_strict } => eval_lists(lists)?
                .windows(2)
                .all(|pair| if *is_strict { pair[0] < pair[1] } else { pair[0] <= pair[1] }),
            Constraint::NoOverlap { origins, lengths, ignores_zeros } => {
                let (origins, lengths) = (eval_lists(origins)?, eval_lists(lengths)?);
                let apart = |i: usize, j: usize, k: usize| {
                    origins[i][k] + lengths[i][k] <= origins[j][k]
                        || origins[j][k] + lengths[j][k] <= origins[i][k]
                };
                let vanishes = |i: usize| *ignores_zeros && lengths[i].contains(&0);
                (0..origins.len()).all(|i| {
                    (0..i).all(|j| {
                        vanishes(i) || vanishes(j) || (0..origins[i].len()).any(|k| apart(i, j, k))
                    })
                })
            }
            Constraint::Cumulative { origins, lengths, heights, limit } => {
                let (origins, lengths) = (eval_all(origins)?, eval_all(lengths)?);
                let (heights, limit) = (eval_all(heights)?, eval(limit)?);
                let runs =
                    |j: usize, time: i64| origins[j] <= time && time < origins[j] + lengths[j];
                let is_proper =
                    lengths.iter().chain(&heights).all(|&value| value >= 0) && limit >= 0;
                is_proper
                    && origins.iter().all(|&time| {
                        let use_then: i64 =
                            (0..origins.len()).filter(|&j| runs(j, time)).map(|j| heights[j]).sum();
                        use_then <= limit
                    })
            }
            Constraint::Circuit { list, start, size } => {
                let tuple = as_values(eval_all(list)?)?;
                let n_members = (tuple.iter().enumerate())
                    .filter(|&(i, &value)| i64::from(value) != i as i64 + i64::from(*start))
                    .count();
                let vars: Vec<VarId> = (0..tuple.len()).map(VarId::new).collect();
                crate::propagators::Circuit::new(&vars, *start).holds(&tuple)
                    && size.as_ref().is_none_or(|size| size.holds(n_members as i64, value_of))
            }
            Constraint::Regular { list, automaton } => {
                let mut states = vec![automaton.start];
                for letter in eval_all(list)? {
                    states = (automaton.transitions.iter())
                        .filter(|(from, v, _)| states.contains(from) && i64::from(*v) == letter)
                        .map(|transition| transition.2)
                        .collect();
                    states.sort_unstable();
                    states.dedup();
                }
                states.iter().any(|state| automaton.accepting.contains(state))
            }
            Constraint::Mdd { list, mdd } => mdd.accepts(&as_values(eval_all(list)?)?),
            Constraint::Channel { first, start_first, second, start_second } => {
                let (first, second) = (eval_all(first)?, eval_all(second)?);
                let inverts = |a: &[i64], b: &[i64], start_a: Value, start_b: Value| {
                    a.iter().enumerate().all(|(i, value)| {
                        usize::try_from(value - i64::from(start_b))
                            .ok()
                            .and_then(|place| b.get(place))
                            .is_some_and(|&back| back == i as i64 + i64::from(start_a))
                    })
                };
                inverts(&first, &second, *start_first, *start_second)
                    && (first.len() != second.len()
                        || inverts(&second, &first, *start_second, *start_first))
            }
            Constraint::Custom(propagator) => {
                let tuple = as_values(propagator.scope().iter().map(|&x| value_of(x)).collect())?;
                propagator.holds(&tuple)
            }
        })
    }
}

impl Network {
    /// A network without variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a variable with integer values.
    ///
    /// An empty or too large domain is reported when the network is posted.
    pub fn int(&mut self, name: impl Into<String>, domain: impl Into<ValueSet>) -> VarId {
        self.variables.push(Variable { name: name.into(), domain: domain.into(), labels: None });
        VarId::new(self.variables.len() - 1)
    }

    /// Adds a variable with the values 0 and 1.
    pub fn bool(&mut self, name: impl Into<String>) -> VarId {
        self.int(name, 0..=1)
    }

    /// Adds `n` variables with the same domain, named `name[0]`, `name[1]`, ….
    pub fn ints(&mut self, name: &str, n: usize, domain: impl Into<ValueSet>) -> Vec<VarId> {
        let domain = domain.into();
        (0..n).map(|i| self.int(format!("{name}[{i}]"), domain.clone())).collect()
    }

    /// Adds a variable with symbols as values; the value of a symbol is its place in the list.
    pub fn symbol<S: Into<String>>(
        &mut self,
        name: impl Into<String>,
        labels: impl IntoIterator<Item = S>,
    ) -> VarId {
        let labels: Arc<[String]> = labels.into_iter().map(Into::into).collect();
        let domain = ValueSet::from(0..labels.len() as Value);
        self.variables.push(Variable { name: name.into(), domain, labels: Some(labels) });
        VarId::new(self.variables.len() - 1)
    }

    /// The variables.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// A variable.
    pub fn variable(&self, x: VarId) -> &Variable {
        &self.variables[x.index()]
    }

    pub(crate) fn variable_mut(&mut self, x: VarId) -> &mut Variable {
        &mut self.variables[x.index()]
    }

    /// How the value of a variable is written: by its label if it has one.
    pub fn label(&self, x: VarId, value: Value) -> String {
        let labels = self.variables[x.index()].labels.as_ref();
        let label = labels.and_then(|labels| labels.get(usize::try_from(value).ok()?));
        label.cloned().unwrap_or_else(|| value.to_string())
    }

    /// The constraints.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    pub(crate) fn set_constraints(&mut self, constraints: Vec<Constraint>) {
        self.constraints = constraints;
    }

    /// The objective, if there is one.
    pub fn objective(&self) -> Option<&Objective> {
        self.objective.as_ref()
    }

    /// Adds a constraint.
    pub fn add(&mut self, constraint: Constraint) {
        self.constraints.push(constraint);
    }

    /// The expression is true.
    pub fn require(&mut self, expr: impl Into<Expr>) {
        self.add(Constraint::Intension(expr.into()));
    }

    /// All terms differ.
    pub fn all_different<T: Into<Expr>>(&mut self, terms: impl IntoIterator<Item = T>) {
        let list = terms.into_iter().map(Into::into).collect();
        self.add(Constraint::AllDifferent { list, except: ValueSet::default() });
    }

    /// The variables take one of the tuples.
    pub fn table(&mut self, scope: &[VarId], table: impl Into<Arc<Table>>) {
        self.add(Constraint::Table {
            scope: scope.to_vec(),
            table: table.into(),
            is_positive: true,
        });
    }

    /// The variables take none of the tuples.
    pub fn forbid(&mut self, scope: &[VarId], table: impl Into<Arc<Table>>) {
        self.add(Constraint::Table {
            scope: scope.to_vec(),
            table: table.into(),
            is_positive: false,
        });
    }

    /// Tasks that share a resource never need more than there is.
    pub fn cumulative<T: Into<Expr>>(
        &mut self,
        tasks: impl IntoIterator<Item = (VarId, Value, Value)>,
        limit: T,
    ) {
        let (mut origins, mut lengths, mut heights) = (Vec::new(), Vec::new(), Vec::new());
        for (origin, length, height) in tasks {
            origins.push(origin.into());
            lengths.push(length.into());
            heights.push(height.into());
        }
        self.add(Constraint::Cumulative { origins, lengths, heights, limit: limit.into() });
    }

    /// Tasks, each a start and a length, of which no two run at once.
    pub fn no_overlap<T: Into<Expr>>(&mut self, tasks: impl IntoIterator<Item = (VarId, T)>) {
        let (mut origins, mut lengths) = (Vec::new(), Vec::new());
        for (origin, length) in tasks {
            origins.push(vec![origin.into()]);
            lengths.push(vec![length.into()]);
        }
        self.add(Constraint::NoOverlap { origins, lengths, ignores_zeros: true });
    }

    /// The expression is to be as small as can be.
    pub fn minimize(&mut self, expr: impl Into<Expr>) {
        self.objective = Some(Objective { expr: expr.into(), is_minimized: true });
    }

    /// The expression is to be as large as can be.
    pub fn maximize(&mut self, expr: impl Into<Expr>) {
        self.objective = Some(Objective { expr: expr.into(), is_minimized: false });
    }

    pub(crate) fn set_objective(&mut self, objective: Option<Objective>) {
        self.objective = objective;
    }

    /// The first constraint that an assignment, a value for each variable, violates; it is
    /// computed from the meaning of the constraints, not by propagators.
    pub fn violated(&self, assignment: &[Value]) -> Option<&Constraint> {
        let value_of = |x: VarId| i64::from(assignment[x.index()]);
        self.constraints.iter().find(|constraint| !constraint.holds(&value_of))
    }

    /// Whether an assignment, a value for each variable, is a solution.
    pub fn is_solution(&self, assignment: &[Value]) -> bool {
        assignment.len() == self.variables.len()
            && self.variables.iter().zip(assignment).all(|(x, &value)| x.domain.contains(value))
            && self.violated(assignment).is_none()
    }
}
