//! The fifth step: rules with many variables are split into several with fewer.
//!
//! A frame axiom such as
//!
//! ```text
//! next(cell(X,Y,P)) :- does(R,move(U,V,W,Z)), true(cell(X,Y,P)), apart(X,Y,U,V), apart(X,Y,W,Z).
//! ```
//!
//! has an instance for each move, cell and piece. But `R`, `U`, `V`, `W` and `Z` occur in no
//! literal with `P`, so the join can be split:
//!
//! ```text
//! aux(X,Y)        :- does(R,move(U,V,W,Z)), apart(X,Y,U,V), apart(X,Y,W,Z).
//! next(cell(X,Y,P)) :- aux(X,Y), true(cell(X,Y,P)).
//! ```
//!
//! This is bucket elimination, one variable at a time, for as long as the estimated work decreases.
//! After Morak and Woltran, *Preprocessing of Complex Non-Ground Rules in Answer Set Programming*,
//! 2012. Our estimate takes functional dependencies into account, so that chains of successors stay
//! whole.

use std::collections::HashMap;

use ludex_base::{Pace, Span, StopReason};
use ludex_gdl::{Atom, Pattern, RelationId};

use crate::clauses::{Clause, Clauses, MAX_VARIABLES, Positive, RelationInfo};
use crate::estimate::{
    Domains, Stats, VariableSet, join_cost, variable_list, variables_of, variables_of_pattern,
};

/// A split must save at least this share of the estimated work.
const MIN_SPLIT_SAVING: f64 = 0.4;

/// Rules with less estimated work than this are not split.
const MIN_SPLIT_WORK: f64 = 30.0;

/// The identity of a part: its literals with flags, and the size of the interface, whose variables
/// have the first numbers.
type PartKey = (Vec<(Atom, bool)>, Vec<Atom>, Vec<(Pattern, Pattern)>, usize, bool);

/// Splits rules, and shares equal parts between them.
#[derive(Default)]
pub(crate) struct Splitter {
    known_parts: HashMap<PartKey, RelationId>,
}

impl Splitter {
    /// Splits a clause as far as that pays; the result derives the same atoms of its relation.
    /// `stats` has an entry for each relation and gets one for each relation that is added.
    ///
    /// # Errors
    /// When the deadline is reached.
    pub fn split(
        &mut self,
        clause: Clause,
        clauses: &mut Clauses,
        stats: &mut Vec<Stats>,
        pace: &Pace<'_>,
    ) -> Result<Vec<Clause>, StopReason> {
        let mut done = Vec::new();
        let mut open = vec![clause];
        while let Some(mut clause) = open.pop() {
            while let Some(part) = best_part(&clause, stats, pace)? {
                let (aux, new_clauses) = self.name_part(&clause, &part, clauses, stats);
                open.extend(new_clauses);
                clause = part.rest(&clause, aux);
            }
            done.push(clause.compacted());
        }
        Ok(done)
    }

    /// Returns the relation that stands for a part, with the clauses that define it if it is new.
    fn name_part(
        &mut self,
        clause: &Clause,
        part: &Part,
        clauses: &mut Clauses,
        stats: &mut Vec<Stats>,
    ) -> (Atom, Vec<Clause>) {
        let interface = variable_list(part.interface);
        let args: Box<[Pattern]> = interface.iter().map(|&v| Pattern::Variable(v)).collect();
        let mut new_clauses = Vec::new();
        let mut positives: Vec<Positive> =
            part.positives.iter().map(|&idx| clause.positives[idx].clone()).collect();
        for &(guard_idx, projection) in &part.guards {
            let literal = &clause.positives[guard_idx].atom;
            let span = clause.span;
            let guard = self.guard(literal, projection, span, clauses, stats, &mut new_clauses);
            positives.push(Positive { atom: guard, is_guard: true });
        }
        let negatives: Vec<Atom> =
            part.negatives.iter().map(|&idx| clause.negatives[idx].clone()).collect();
        let distinct: Vec<_> =
            part.distinct.iter().map(|&idx| clause.distinct[idx].clone()).collect();
        let infos = || {
            let atoms = positives.iter().map(|p| &p.atom).chain(&negatives);
            atoms.map(|atom| clauses.info(atom.relation))
        };
        let is_static = infos().all(|info| info.is_static);
        let is_lazy = !is_static && infos().all(|info| info.is_static || info.is_lazy);

        let body = Clause {
            head: Atom { relation: RelationId::new(0), args: args.clone() },
            positives,
            negatives,
            distinct,
            n_variables: clause.n_variables,
            span: clause.span,
        };
        let of = clauses.info(clause.head.relation);
        let info = RelationInfo {
            name: of.name,
            arity: args.len(),
            is_static,
            is_lazy,
            is_guard: of.is_guard && !is_static,
            is_written: false,
            demand: None,
        };
        let relation = self.define(body, info, part.n_rows, clauses, stats, &mut new_clauses);
        (Atom { relation, args }, new_clauses)
    }

    /// Returns a relation that holds for the values of `projection` in some instance of the
    /// literal.
    fn guard(
        &mut self,
        literal: &Atom,
        projection: VariableSet,
        span: Span,
        clauses: &mut Clauses,
        stats: &mut Vec<Stats>,
        new_clauses: &mut Vec<Clause>,
    ) -> Atom {
        if variables_of(literal) == projection {
            return literal.clone();
        }
        let args: Box<[Pattern]> =
            variable_list(projection).into_iter().map(Pattern::Variable).collect();
        let body = Clause {
            head: Atom { relation: RelationId::new(0), args: args.clone() },
            positives: vec![Positive { atom: literal.clone(), is_guard: true }],
            negatives: Vec::new(),
            distinct: Vec::new(),
            n_variables: MAX_VARIABLES,
            span,
        };
        let of = clauses.info(literal.relation);
        let info = RelationInfo {
            name: of.name,
            arity: args.len(),
            is_static: of.is_static,
            is_lazy: of.is_lazy,
            is_guard: !of.is_static,
            is_written: false,
            demand: None,
        };
        let relation = self.define(body, info, f64::INFINITY, clauses, stats, new_clauses);
        Atom { relation, args }
    }

    /// Returns the relation defined by a clause; equal clauses have the same relation.
    fn define(
        &mut self,
        body: Clause,
        info: RelationInfo,
        max_rows: f64,
        clauses: &mut Clauses,
        stats: &mut Vec<Stats>,
        new_clauses: &mut Vec<Clause>,
    ) -> RelationId {
        let mut body = body.compacted();
        let key = (
            body.positives.iter().map(|p| (p.atom.clone(), p.is_guard)).collect(),
            body.negatives.clone(),
            body.distinct.clone(),
            body.head.args.len(),
            info.is_guard,
        );
        *self.known_parts.entry(key).or_insert_with(|| {
            stats.push(Stats::Unknown { max_rows });
            let relation = clauses.add_relation(info);
            body.head.relation = relation;
            new_clauses.push(body);
            relation
        })
    }
}

/// Some literals of a clause that become a relation.
struct Part {
    positives: Vec<usize>,
    negatives: Vec<usize>,
    distinct: Vec<usize>,
    /// Literals of the rest that bind variables for the part, each with those variables.
    guards: Vec<(usize, VariableSet)>,
    /// The variables it shares with the rest.
    interface: VariableSet,
    n_rows: f64,
}

impl Part {
    /// Returns the clause with the part replaced by an atom.
    fn rest(&self, clause: &Clause, aux: Atom) -> Clause {
        let without = |idx: &usize, taken: &[usize]| !taken.contains(idx);
        let keep =
            |n: usize, taken: &[usize]| (0..n).filter(|i| without(i, taken)).collect::<Vec<_>>();
        let mut positives = vec![Positive { atom: aux, is_guard: false }];
        let kept = keep(clause.positives.len(), &self.positives);
        positives.extend(kept.into_iter().map(|idx| clause.positives[idx].clone()));
        Clause {
            head: clause.head.clone(),
            positives,
            negatives: keep(clause.negatives.len(), &self.negatives)
                .into_iter()
                .map(|idx| clause.negatives[idx].clone())
                .collect(),
            distinct: keep(clause.distinct.len(), &self.distinct)
                .into_iter()
                .map(|idx| clause.distinct[idx].clone())
                .collect(),
            n_variables: clause.n_variables,
            span: clause.span,
        }
    }
}

/// Returns the part whose separation saves most work, if it saves enough.
fn best_part(
    clause: &Clause,
    stats: &[Stats],
    pace: &Pace<'_>,
) -> Result<Option<Part>, StopReason> {
    if clause.n_variables > MAX_VARIABLES || clause.positives.len() < 2 {
        return Ok(None);
    }
    let head = variables_of(&clause.head);
    let everything = clause.positives.iter().fold(head, |set, p| set | variables_of(&p.atom));
    let domains = Domains::new(clause.n_variables, clause.with_stats(stats));
    let (_, whole_work) = join_cost(&clause.with_stats(stats).collect::<Vec<_>>(), &domains);
    if whole_work < MIN_SPLIT_WORK {
        return Ok(None);
    }
    let mut best: Option<(Part, f64)> = None;
    for variables in candidates(clause, everything & !head) {
        // Each candidate is compared with every pair of literals.
        pace.steps(1 + clause.positives.len() / 8)?;
        if let Some((part, work)) = part_of(clause, variables, everything, head, stats, &domains)
            && best.as_ref().is_none_or(|(_, least)| work < *least)
        {
            best = Some((part, work));
        }
    }
    let is_enough = |work: f64| work < whole_work * (1.0 - MIN_SPLIT_SAVING);
    Ok(best.filter(|&(_, work)| is_enough(work)).map(|(part, _)| part))
}

/// Lists the sets of variables to try to eliminate: each variable alone, and pairs that occur in
/// one literal, since a sum of two unknowns is smaller than either of them with the sum.
fn candidates(clause: &Clause, local: VariableSet) -> Vec<VariableSet> {
    let mut candidates: Vec<VariableSet> = Vec::new();
    for first in variable_list(local) {
        candidates.push(1 << first);
        for second in variable_list(local).into_iter().filter(|&second| second > first) {
            let pair: VariableSet = 1 << first | 1 << second;
            if clause.positives.iter().any(|p| variables_of(&p.atom) & pair == pair) {
                candidates.push(pair);
            }
        }
    }
    candidates
}

/// Returns the part that contains some variables, and the work of the clause when it is separated.
fn part_of(
    clause: &Clause,
    variables: VariableSet,
    everything: VariableSet,
    head: VariableSet,
    stats: &[Stats],
    domains: &Domains,
) -> Option<(Part, f64)> {
    let has = |set: VariableSet| set & variables != 0;
    let pair = |(a, b): &(Pattern, Pattern)| variables_of_pattern(a) | variables_of_pattern(b);
    let of_positive = |idx: &usize| variables_of(&clause.positives[*idx].atom);
    let of_negative = |idx: &usize| variables_of(&clause.negatives[*idx]);
    let of_distinct = |idx: &usize| pair(&clause.distinct[*idx]);
    let (positives, other_positives): (Vec<usize>, Vec<usize>) =
        (0..clause.positives.len()).partition(|idx| has(of_positive(idx)));
    let (negatives, other_negatives): (Vec<usize>, Vec<usize>) =
        (0..clause.negatives.len()).partition(|idx| has(of_negative(idx)));
    let (distinct, other_distinct): (Vec<usize>, Vec<usize>) =
        (0..clause.distinct.len()).partition(|idx| has(of_distinct(idx)));

    let bound = positives.iter().map(of_positive).fold(0, |a, b| a | b);
    let inside = (negatives.iter().map(of_negative).chain(distinct.iter().map(of_distinct)))
        .fold(bound, |a, b| a | b);
    if inside == everything || other_positives.is_empty() {
        return None;
    }
    let outside = (other_positives.iter().map(of_positive))
        .chain(other_negatives.iter().map(of_negative))
        .chain(other_distinct.iter().map(of_distinct))
        .fold(head, |a, b| a | b);
    let interface = inside & outside;
    let guards = find_guards(clause, &other_positives, inside & !bound, interface, stats)?;

    // Atoms of the relations to be added; only their variables matter here.
    let over = |variables: VariableSet| Atom {
        relation: clause.head.relation,
        args: variable_list(variables).into_iter().map(Pattern::Variable).collect(),
    };
    let guard_atoms: Vec<Atom> = guards.iter().map(|&(_, projection)| over(projection)).collect();
    let unknown = Stats::Unknown { max_rows: f64::INFINITY };
    let mut literals: Vec<(&Atom, &Stats)> =
        guard_atoms.iter().map(|guard| (guard, &unknown)).collect();
    for &idx in &positives {
        let atom = &clause.positives[idx].atom;
        literals.push((atom, &stats[atom.relation.index()]));
    }
    let (n_rows, part_work) = join_cost(&literals, domains);
    let aux = over(interface);
    let aux_stats = Stats::Unknown { max_rows: n_rows };
    let mut rest: Vec<(&Atom, &Stats)> = vec![(&aux, &aux_stats)];
    let with_stats: Vec<(&Atom, &Stats)> = clause.with_stats(stats).collect();
    rest.extend(other_positives.iter().map(|&idx| with_stats[idx]));
    let (_, rest_work) = join_cost(&rest, domains);
    let part = Part { positives, negatives, distinct, guards, interface, n_rows };
    Some((part, part_work + rest_work))
}

/// Finds literals of the rest that bind the variables that the part leaves unbound; `None` if a
/// variable occurs in no other positive literal.
fn find_guards(
    clause: &Clause,
    others: &[usize],
    mut unbound: VariableSet,
    interface: VariableSet,
    stats: &[Stats],
) -> Option<Vec<(usize, VariableSet)>> {
    let mut guards = Vec::new();
    while unbound != 0 {
        let covered = |idx: usize| variables_of(&clause.positives[idx].atom) & interface;
        // Among equals, a guard of the rule says most: it is what the rule is asked for.
        let key = |&idx: &usize| {
            let Positive { atom, is_guard } = &clause.positives[idx];
            let is_known = matches!(stats[atom.relation.index()], Stats::Known { .. });
            let is_asked = *is_guard && !is_known;
            ((covered(idx) & unbound).count_ones(), is_asked)
        };
        let best = others.iter().copied().max_by_key(key)?;
        if covered(best) & unbound == 0 {
            return None;
        }
        guards.push((best, covered(best)));
        unbound &= !covered(best);
    }
    Some(guards)
}
