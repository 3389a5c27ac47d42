//! Rewrites rules of large games into equivalent ones that have fewer instances.
//!
//! A rule such as
//!
//! ```text
//! threatened(C,D,X,Y,I,J) :- rook(U,V,X,Y,I,J), apart(C,D,U,V).
//! threatened(C,D,X,Y,I,J) :- queen(U,V,X,Y,I,J), apart(C,D,U,V).
//! threatened(C,D,X,Y,I,J) :- pawn(U,V,X,Y), apart(C,D,U,V), n(I), n(J).
//! apart(C,D,U,V) :- n(C), n(D), n(U), n(V), distinct(C,U).
//! apart(C,D,U,V) :- n(C), n(D), n(U), n(V), distinct(D,V).
//! ```
//!
//! has an instance for every two cells that are apart, in each of its forms. Three steps take it apart:
//!
//! 1. *Separate*: conditions that say nothing of some arguments of the head, here of `I` and `J` in the third
//!    rule, become a relation without these arguments.
//! 2. *Merge*: rules that differ in one condition, here the first two, become one rule with a relation for
//!    either condition.
//! 3. *Unfold*: a relation that does not depend on the state, and each of whose rules ties fewer arguments
//!    together than it has, is replaced by the conditions of its rules. `V` then occurs with neither `C` nor
//!    `U`, and [`crate::split`] projects it away.
//!
//! Small games lose time by this, and their circuits are good as they are: only what is grounded on demand is
//! rewritten.

use std::collections::HashMap;

use ludex_base::{Pace, StopReason};
use ludex_gdl::{Atom, Keyword, Pattern, RelationId};

use crate::clauses::{Clause, Clauses, Positive, RelationInfo};
use crate::estimate::{Found, VariableSet, variable_list, variables_of, variables_of_pattern};

/// Largest number of rules that one rule is unfolded to.
const MAX_UNFOLDED: usize = 8;

/// Most rules of a relation that is unfolded.
const MAX_DEFINITIONS: usize = 4;

/// Rewrites the rules. Relations that are known to be small stay as they are.
///
/// # Errors
/// When the deadline is reached.
pub(crate) fn rewrite(
    clauses: &mut Clauses,
    found: &[Found],
    pace: &Pace<'_>,
) -> Result<(), StopReason> {
    let all = std::mem::take(&mut clauses.clauses);
    for clause in all {
        pace.steps(1 + clause.positives.len())?;
        let separated = separate(clause.compacted(), clauses);
        clauses.clauses.extend(separated);
    }
    merge(clauses, pace)?;
    unfold(clauses, found, pace)
}

/// Whether the rules of a relation may be changed: it depends on the state, and neither play nor the program
/// itself asks for it in a way of its own.
fn is_free(relation: RelationId, clauses: &Clauses) -> bool {
    relation.index() >= Keyword::ALL.len()
        && !clauses.info(relation).is_static
        && !clauses.on_demand.contains(&relation)
}

fn variables_of_pair((left, right): &(Pattern, Pattern)) -> VariableSet {
    variables_of_pattern(left) | variables_of_pattern(right)
}

/// Adds a relation over some variables for conditions of the rules of another relation.
fn add_relation(of: RelationId, variables: VariableSet, clauses: &mut Clauses) -> Atom {
    let args = variable_patterns(variables);
    let info = RelationInfo {
        name: clauses.info(of).name,
        arity: args.len(),
        is_static: false,
        is_lazy: false,
        is_guard: false,
        is_written: false,
        demand: None,
    };
    Atom { relation: clauses.add_relation(info), args }
}

/// Gives a relation of its own to each group of conditions that says nothing of some arguments of the head.
fn separate(mut clause: Clause, clauses: &mut Clauses) -> Vec<Clause> {
    let mut done = Vec::new();
    if is_free(clause.head.relation, clauses) {
        while let Some(variables) = find_separate(&clause) {
            let head = variables_of(&clause.head);
            let aux = add_relation(clause.head.relation, variables & head, clauses);
            let is_in = |set: VariableSet| set & variables != 0;
            let (positives, others): (Vec<_>, Vec<_>) =
                clause.positives.into_iter().partition(|it| is_in(variables_of(&it.atom)));
            let (negatives, other_negatives): (Vec<_>, Vec<_>) =
                clause.negatives.into_iter().partition(|it| is_in(variables_of(it)));
            let (distinct, other_distinct): (Vec<_>, Vec<_>) =
                clause.distinct.into_iter().partition(|it| is_in(variables_of_pair(it)));
            let (n_variables, span) = (clause.n_variables, clause.span);
            let part =
                Clause { head: aux.clone(), positives, negatives, distinct, n_variables, span };
            done.push(part.compacted());
            clause.positives = vec![Positive { atom: aux, is_guard: false }];
            clause.positives.extend(others);
            clause.negatives = other_negatives;
            clause.distinct = other_distinct;
        }
    }
    done.push(clause);
    done
}

/// Returns the variables of conditions that no variable connects with the others, if they have several
/// conditions, variables of their own, and some but not all variables of the head.
fn find_separate(clause: &Clause) -> Option<VariableSet> {
    let head = variables_of(&clause.head);
    let conditions: Vec<VariableSet> = (clause.positives.iter().map(|it| variables_of(&it.atom)))
        .chain(clause.negatives.iter().map(variables_of))
        .chain(clause.distinct.iter().map(variables_of_pair))
        .collect();
    let mut seen: VariableSet = 0;
    for &first in &conditions {
        if first == 0 || first & seen != 0 {
            continue;
        }
        let mut group = first;
        loop {
            let touching = conditions.iter().filter(|&&it| it & group != 0);
            let more = touching.fold(group, |set, it| set | it);
            if more == group {
                break;
            }
            group = more;
        }
        seen |= group;
        let has_some = group & head != 0 && group & head != head;
        let n_positives = clause.positives.iter().map(|it| variables_of(&it.atom) & group);
        if has_some && group & !head != 0 && n_positives.filter(|it| *it != 0).count() > 1 {
            return Some(group);
        }
    }
    None
}

/// A rule with a hole in place of one condition.
#[derive(PartialEq, Eq, Hash)]
struct Frame {
    head: Atom,
    positives: Vec<Atom>,
    negatives: Vec<Atom>,
    distinct: Vec<(Pattern, Pattern)>,
    hole_idx: usize,
    hole: VariableSet,
}

impl Frame {
    /// Takes a condition out of a rule; `None` if merging it with others would save nothing.
    fn new(clause: &Clause, hole_idx: usize, clauses: &Clauses) -> Option<Self> {
        let atom = &clause.positives[hole_idx].atom;
        if !is_free(atom.relation, clauses) || atom.relation == clause.head.relation {
            return None;
        }
        let hole = variables_of(atom);
        let mut positives: Vec<Atom> = clause.positives.iter().map(|it| it.atom.clone()).collect();
        positives.remove(hole_idx);
        if positives.iter().all(|it| variables_of(it) & !hole == 0) {
            return None;
        }
        Some(Self {
            head: clause.head.clone(),
            positives,
            negatives: clause.negatives.clone(),
            distinct: clause.distinct.clone(),
            hole_idx,
            hole,
        })
    }
}

/// Merges rules that differ in one condition.
fn merge(clauses: &mut Clauses, pace: &Pace<'_>) -> Result<(), StopReason> {
    let mut frames: HashMap<Frame, usize> = HashMap::new();
    let mut groups: Vec<Vec<(usize, usize)>> = Vec::new();
    for (clause_idx, clause) in clauses.clauses.iter().enumerate() {
        if !is_free(clause.head.relation, clauses) {
            continue;
        }
        for hole_idx in 0..clause.positives.len() {
            pace.steps(1 + clause.positives.len())?;
            let Some(frame) = Frame::new(clause, hole_idx, clauses) else { continue };
            let group = *frames.entry(frame).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push((clause_idx, hole_idx));
        }
    }
    groups.retain(|group| group.len() > 1);
    // The largest first; the sort keeps the order of the rules among equals.
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    // A rule is in one merge only, since its other groups were made for what it was.
    let mut is_used = vec![false; clauses.clauses.len()];
    let mut is_kept = vec![true; clauses.clauses.len()];
    let mut known: HashMap<Vec<Atom>, RelationId> = HashMap::new();
    let mut added = Vec::new();
    for mut group in groups {
        pace.check()?;
        group.retain(|&(clause_idx, _)| !is_used[clause_idx]);
        let [(first, hole_idx), _, ..] = group[..] else { continue };
        let merged = &clauses.clauses[first];
        let (relation, n_variables, span) = (merged.head.relation, merged.n_variables, merged.span);
        let hole = variables_of(&merged.positives[hole_idx].atom);
        let args = variable_patterns(hole);
        let either = |&(clause_idx, hole_idx): &(usize, usize)| {
            let positives = vec![clauses.clauses[clause_idx].positives[hole_idx].clone()];
            let head = Atom { relation, args: args.clone() };
            let (negatives, distinct) = (Vec::new(), Vec::new());
            Clause { head, positives, negatives, distinct, n_variables, span }.compacted()
        };
        let mut either: Vec<Clause> = group.iter().map(either).collect();
        let key = either.iter().map(|it| it.positives[0].atom.clone()).collect();
        let aux = *known.entry(key).or_insert_with(|| {
            let aux = add_relation(relation, hole, clauses).relation;
            either.iter_mut().for_each(|it| it.head.relation = aux);
            added.append(&mut either);
            aux
        });
        for &(clause_idx, _) in &group {
            is_used[clause_idx] = true;
            is_kept[clause_idx] = clause_idx == first;
        }
        clauses.clauses[first].positives[hole_idx].atom = Atom { relation: aux, args };
    }
    let mut is_kept = is_kept.into_iter();
    clauses.clauses.retain(|_| is_kept.next().unwrap_or(true));
    clauses.clauses.extend(added);
    Ok(())
}

/// Replaces relations that do not depend on the state by the conditions of their rules.
fn unfold(clauses: &mut Clauses, found: &[Found], pace: &Pace<'_>) -> Result<(), StopReason> {
    let definitions = find_definitions(clauses, found);
    let all = std::mem::take(&mut clauses.clauses);
    for clause in all {
        pace.steps(1 + clause.positives.len())?;
        if clauses.info(clause.head.relation).is_static {
            clauses.clauses.push(clause);
            continue;
        }
        let find = |clause: &Clause| {
            let is_defined = |it: &Positive| definitions.contains_key(&it.atom.relation);
            clause.positives.iter().position(is_defined)
        };
        let n_unfolded: usize = (clause.positives.iter())
            .filter_map(|it| definitions.get(&it.atom.relation))
            .map(Vec::len)
            .product();
        let mut open = vec![clause];
        while n_unfolded <= MAX_UNFOLDED
            && let Some(idx) = find(&open[0])
        {
            let unfolded = open.iter().flat_map(|clause| {
                let definition = &definitions[&clause.positives[idx].atom.relation];
                definition.iter().map(move |it| replaced(clause, idx, it))
            });
            open = unfolded.collect();
        }
        clauses.clauses.extend(open.into_iter().map(Clause::compacted));
    }
    Ok(())
}

/// Finds the relations to unfold, with their rules.
fn find_definitions(clauses: &Clauses, found: &[Found]) -> HashMap<RelationId, Vec<Clause>> {
    let mut definitions: HashMap<RelationId, Vec<Clause>> = HashMap::new();
    for clause in &clauses.clauses {
        let relation = clause.head.relation;
        let is_small = found.get(relation.index()).is_some_and(Found::is_small);
        if relation.index() >= Keyword::ALL.len() && clauses.info(relation).is_static && !is_small {
            definitions.entry(relation).or_default().push(clause.clone());
        }
    }
    definitions.retain(|_, rules| {
        (2..=MAX_DEFINITIONS).contains(&rules.len()) && rules.iter().all(is_loose)
    });
    definitions
}

/// Returns whether a rule has the arguments of its head as its only variables, and leaves some of them to
/// conditions on one variable.
fn is_loose(clause: &Clause) -> bool {
    let head = variables_of(&clause.head);
    let is_plain = clause.head.args.iter().all(|arg| matches!(arg, Pattern::Variable(_)))
        && head.count_ones() as usize == clause.head.args.len();
    let atoms = clause.positives.iter().map(|it| &it.atom).chain(&clause.negatives);
    let pairs = clause.distinct.iter().flat_map(|(left, right)| [left, right]);
    let mut patterns = atoms.flat_map(|atom| &atom.args).chain(pairs);
    let is_flat = patterns.all(|it| !matches!(it, Pattern::Compound(..)));
    let conditions = (clause.positives.iter().map(|it| variables_of(&it.atom)))
        .chain(clause.negatives.iter().map(variables_of))
        .chain(clause.distinct.iter().map(variables_of_pair));
    let (mut all, mut tied) = (0, 0);
    for set in conditions {
        all |= set;
        if set.count_ones() > 1 {
            tied |= set;
        }
    }
    is_plain && is_flat && all == head && tied != head
}

/// Replaces a condition by those of a rule that derives it.
fn replaced(clause: &Clause, idx: usize, definition: &Clause) -> Clause {
    let mut clause = clause.clone();
    let call = clause.positives.remove(idx);
    let values: HashMap<u32, &Pattern> = (definition.head.args.iter().zip(&call.atom.args))
        .filter_map(|(arg, value)| match arg {
            Pattern::Variable(variable) => Some((*variable, value)),
            _ => None,
        })
        .collect();
    let atom_of = |atom: &Atom| {
        let args = atom.args.iter().map(|arg| substituted(arg, &values)).collect();
        Atom { relation: atom.relation, args }
    };
    for positive in &definition.positives {
        // It tests what other conditions bind: what is asked does not depend on it.
        let atom = atom_of(&positive.atom);
        if clause.positives.iter().all(|it| it.atom != atom) {
            clause.positives.push(Positive { atom, is_guard: true });
        }
    }
    clause.negatives.extend(definition.negatives.iter().map(atom_of));
    let pair = |(left, right): &(Pattern, Pattern)| {
        (substituted(left, &values), substituted(right, &values))
    };
    clause.distinct.extend(definition.distinct.iter().map(pair));
    clause
}

fn substituted(pattern: &Pattern, values: &HashMap<u32, &Pattern>) -> Pattern {
    match pattern {
        Pattern::Variable(variable) => (*values[variable]).clone(),
        _ => pattern.clone(),
    }
}

fn variable_patterns(set: VariableSet) -> Box<[Pattern]> {
    variable_list(set).into_iter().map(Pattern::Variable).collect()
}
