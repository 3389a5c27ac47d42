//! The meaning of each constraint, computed as directly as possible.
//!
//! Tests, local search and the searches for study rely on these definitions and on no
//! propagator.

use crate::constraint::Constraint;
use crate::domains::VarId;
use crate::expr::Expr;
use crate::propagator::Propagator;
use crate::{Value, ValueSet};

impl Constraint {
    /// Whether the assignment satisfies the constraint, computed from its meaning and not by a
    /// propagator.
    pub fn holds(&self, value_of: &dyn Fn(VarId) -> i64) -> bool {
        self.meaning(value_of).unwrap_or(false)
    }

    /// `None` where a term is undefined.
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
