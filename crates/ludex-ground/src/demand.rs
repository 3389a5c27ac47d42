//! Demand: only what the rules of `legal`, `next`, `terminal`, `goal` and `sees` can ask for.
//!
//! A rule such as
//!
//! ```text
//! threatened(P,CX,CY,X,Y,U,V) :- attacks(P,U2,V2,X,Y,U,V), apart(CX,CY,U2,V2).
//! ```
//!
//! has an instance for every value of seven variables, and the rules that use it ask for few of them. So
//! each relation gets a *demand* relation that collects the arguments it is asked with, and its rules are
//! joined with it. These are the magic sets of Bancilhon, Maier, Sagiv and Ullman (1986). A demand is no
//! condition: ground rules do not contain it, and it depends on no negation, because grounding assumes that
//! a negation that depends on the state may hold. Where a relation is negated, the instance that negates it
//! says what is asked.
//!
//! A relation that does not depend on the state is derived on demand as well if no rule negates it and it
//! is large: it is then derived together with those that depend on the state.
//!
//! Small games lose time by this, so [`crate::ground`] begins without it.

use std::collections::HashSet;

use ludex_base::{Pace, StopReason};
use ludex_gdl::{Atom, Keyword, Pattern, RelationId};

use crate::clauses::{Clause, Clauses, Positive, RelationInfo};
use crate::estimate::{Found, VariableSet, variables_of, variables_of_pattern};

/// A set of arguments of a relation. Relations with more than 64 are not restricted.
type Arguments = u64;

/// Largest total number of conditions in the rules that derive demand.
const MAX_CONDITIONS: usize = 1_000_000;

/// Restricts the rules to what is asked for. Relations that do not depend on the state and are known to be
/// small are derived in full.
///
/// # Errors
/// When the deadline is reached.
pub(crate) fn restrict(
    clauses: &mut Clauses,
    found: &[Found],
    pace: &Pace<'_>,
) -> Result<(), StopReason> {
    let mut asked = settled(clauses, found, Vec::new(), pace)?;
    let relations = clauses.relations.iter().zip(&asked.arguments);
    let is_tested = relations.map(|(info, &args)| {
        !info.is_static && args != 0 && args.count_ones() as usize == info.arity
    });
    asked = settled(clauses, found, is_tested.collect(), pace)?;
    let n_conditions: usize = clauses
        .clauses
        .iter()
        .map(|it| it.positives.len() * it.positives.iter().filter(|p| asked.is(&p.atom)).count())
        .sum();
    if n_conditions <= MAX_CONDITIONS {
        add_demand(clauses, &asked);
    }
    pace.check()
}

/// Finds the arguments with which each relation is asked.
fn settled(
    clauses: &Clauses,
    found: &[Found],
    is_tested: Vec<bool>,
    pace: &Pace<'_>,
) -> Result<Asked, StopReason> {
    let mut asked = find_asked(clauses, found);
    asked.is_tested = is_tested;
    loop {
        settle(clauses, &mut asked, pace)?;
        if !complete(clauses, &mut asked) {
            return Ok(asked);
        }
    }
}

/// How relations are asked.
struct Asked {
    /// By relation, the arguments that every rule binds that asks for it; none if it is derived in full.
    arguments: Vec<Arguments>,
    /// By relation, whether what fluents and moves bind is only compared with its atoms.
    is_tested: Vec<bool>,
}

impl Asked {
    fn of(&self, relation: RelationId) -> Arguments {
        self.arguments[relation.index()]
    }

    fn is_tested(&self, relation: RelationId) -> bool {
        self.is_tested.get(relation.index()).copied().unwrap_or(false)
    }

    fn is(&self, atom: &Atom) -> bool {
        self.of(atom.relation) != 0
    }

    /// The arguments of an atom that a call binds.
    fn inputs<'a>(&self, atom: &'a Atom) -> impl Iterator<Item = &'a Pattern> {
        let asked = self.of(atom.relation);
        atom.args.iter().enumerate().filter(move |(idx, _)| asked >> idx & 1 != 0).map(|it| it.1)
    }
}

/// Returns the relations that may be restricted, with all of their arguments. Those that are negated before
/// the play begins, and small ones, are derived in full.
fn find_asked(clauses: &Clauses, found: &[Found]) -> Asked {
    let n_relations = clauses.relations.len();
    let mut asked = vec![0; n_relations];
    for clause in &clauses.clauses {
        let relation = clause.head.relation.index();
        let arity = clause.head.args.len();
        let is_keyword = relation < Keyword::ALL.len();
        if !clause.positives.is_empty() && !is_keyword && (1..=64).contains(&arity) {
            asked[relation] = Arguments::MAX >> (64 - arity);
        }
    }
    for &relation in &clauses.on_demand {
        asked[relation.index()] = 0;
    }
    for clause in &clauses.clauses {
        for atom in clause.negatives.iter().filter(|it| clauses.info(it.relation).is_static) {
            asked[atom.relation.index()] = 0;
        }
    }
    for (idx, _) in found.iter().enumerate().filter(|(_, found)| found.is_small()) {
        if clauses.relations[idx].is_static {
            asked[idx] = 0;
        }
    }
    let mut asked = Asked { arguments: asked, is_tested: Vec::new() };
    complete(clauses, &mut asked);
    asked
}

/// A relation that is complete before the play begins needs those it depends on; returns whether there were
/// any that were asked for.
fn complete(clauses: &Clauses, asked: &mut Asked) -> bool {
    let mut bodies = vec![Vec::new(); clauses.relations.len()];
    for clause in &clauses.clauses {
        let positives = clause.positives.iter().map(|it| it.atom.relation);
        bodies[clause.head.relation.index()].extend(positives);
    }
    let is_complete = |idx: &usize| clauses.relations[*idx].is_static && asked.arguments[*idx] == 0;
    let mut open: Vec<usize> = (0..clauses.relations.len()).filter(is_complete).collect();
    let mut has_changed = false;
    while let Some(idx) = open.pop() {
        has_changed |= std::mem::take(&mut asked.arguments[idx]) != 0;
        // Each list is followed once.
        open.extend(std::mem::take(&mut bodies[idx]).into_iter().map(RelationId::index));
    }
    has_changed
}

/// Removes the arguments that some rule asks for without binding them, until nothing changes.
fn settle(clauses: &Clauses, asked: &mut Asked, pace: &Pace<'_>) -> Result<(), StopReason> {
    loop {
        let mut has_changed = false;
        for clause in &clauses.clauses {
            pace.steps(1 + clause.positives.len())?;
            let mut bound = bound_at_first(clause, clauses, asked);
            for positive in &clause.positives {
                let atom = &positive.atom;
                if asked.is(atom) {
                    let bound = bound.of(asked.is_tested(atom.relation));
                    let is_bound = |arg: &Pattern| variables_of_pattern(arg) & !bound == 0;
                    let args = (0_u32..).zip(&atom.args).filter(|(_, arg)| is_bound(arg));
                    let here = args.fold(0, |set: Arguments, (idx, _)| set | 1 << idx);
                    let before = asked.of(atom.relation);
                    asked.arguments[atom.relation.index()] &= here;
                    has_changed |= asked.of(atom.relation) != before;
                }
                if !positive.is_guard && asked.is(atom) {
                    bound.add(variables_of(atom));
                }
            }
        }
        if !has_changed {
            return Ok(());
        }
    }
}

/// The variables that are bound before something is asked.
struct Bound {
    /// By the demand for the head, and by conditions that do not depend on the state.
    by_rules: VariableSet,
    /// By fluents and moves, and by other relations that depend on the state and are derived in full.
    by_state: VariableSet,
}

impl Bound {
    /// Returns the variables with which a relation is asked.
    ///
    /// In the play without forgetting, nearly all fluents and moves hold. Where they bind all arguments that the
    /// rules leave open, there is often more to ask for than the relation has atoms. Then they are compared with
    /// its atoms instead.
    fn of(&self, is_tested: bool) -> VariableSet {
        if is_tested { self.by_rules } else { self.by_rules | self.by_state }
    }

    fn add(&mut self, variables: VariableSet) {
        self.by_rules |= variables;
    }
}

/// Whether a condition binds variables before anything is asked: it is derived in full, and no mere test of
/// what others bind.
fn is_full(positive: &Positive, asked: &Asked) -> bool {
    !asked.is(&positive.atom) && !positive.is_guard
}

fn bound_at_first(clause: &Clause, clauses: &Clauses, asked: &Asked) -> Bound {
    let by_rules = asked.inputs(&clause.head).fold(0, |set, arg| set | variables_of_pattern(arg));
    let mut bound = Bound { by_rules, by_state: 0 };
    for positive in clause.positives.iter().filter(|it| is_full(it, asked)) {
        let variables = variables_of(&positive.atom);
        if clauses.info(positive.atom.relation).is_static {
            bound.by_rules |= variables;
        } else {
            bound.by_state |= variables;
        }
    }
    bound
}

/// Adds the demand relations, the rules that derive them, and the demand to the rules it restricts.
fn add_demand(clauses: &mut Clauses, asked: &Asked) {
    for relation in (0..clauses.relations.len()).map(RelationId::new) {
        let inputs: Vec<usize> =
            (0..64).filter(|&idx| asked.of(relation) >> idx & 1 != 0).collect();
        if inputs.is_empty() {
            continue;
        }
        let info = clauses.info(relation);
        let demand = RelationInfo {
            name: info.name,
            arity: inputs.len(),
            is_static: false,
            is_lazy: false,
            is_guard: true,
            is_written: false,
            demand: None,
        };
        let demand = clauses.add_relation(demand);
        let info = &mut clauses.relations[relation.index()];
        info.is_lazy = info.is_static;
        info.is_static = false;
        info.demand = Some((demand, inputs));
    }
    let mut calls = Vec::new();
    let mut known = HashSet::new();
    for clause_idx in 0..clauses.clauses.len() {
        let clause = &clauses.clauses[clause_idx];
        let demand_of = |atom: &Atom| {
            let (relation, _) = clauses.info(atom.relation).demand.as_ref()?;
            let args = asked.inputs(atom).cloned().collect();
            let atom = Atom { relation: *relation, args };
            Some(Positive { atom, is_guard: true })
        };
        let of_head = demand_of(&clause.head);
        let as_guard = |it: &Positive| Positive { is_guard: true, ..it.clone() };
        let full = clause.positives.iter().filter(|it| is_full(it, asked));
        let (of_rules, of_state): (Vec<&Positive>, Vec<&Positive>) =
            full.partition(|it| clauses.info(it.atom.relation).is_static);
        let mut before: Vec<Positive> =
            of_head.iter().cloned().chain(of_rules.into_iter().map(as_guard)).collect();
        let of_state: Vec<Positive> = of_state.into_iter().map(as_guard).collect();
        for positive in clause.positives.iter().filter(|it| asked.is(&it.atom)) {
            if let Some(demand) = demand_of(&positive.atom) {
                let is_tested = asked.is_tested(positive.atom.relation);
                let more = if is_tested { &[] } else { &of_state[..] };
                let before: Vec<Positive> = before.iter().chain(more).cloned().collect();
                // Rules that differ in what they do not ask for ask for the same.
                let call = call(clause, &demand.atom, &before).map(Clause::compacted);
                calls.extend(call.filter(|it| {
                    let positives: Vec<Atom> =
                        it.positives.iter().map(|it| it.atom.clone()).collect();
                    known.insert((it.head.clone(), positives, it.distinct.clone()))
                }));
            }
            before.push(as_guard(positive));
        }
        // A fact holds whether it is asked for or not.
        if let Some(demand) = of_head
            && !clause.positives.is_empty()
        {
            clauses.clauses[clause_idx].positives.insert(0, demand);
        }
    }
    clauses.clauses.extend(calls);
}

/// Returns the rule that derives a demand from the conditions before the call, as far as they have to do
/// with it; `None` if the demand is among them.
fn call(clause: &Clause, demand: &Atom, before: &[Positive]) -> Option<Clause> {
    if before.iter().any(|it| it.atom == *demand) {
        return None;
    }
    let mut reached = variables_of(demand);
    loop {
        let touching =
            before.iter().map(|it| variables_of(&it.atom)).filter(|it| it & reached != 0);
        let more = touching.fold(reached, |set, it| set | it);
        if more == reached {
            break;
        }
        reached = more;
    }
    let is_near = |it: &&Positive| {
        let variables = variables_of(&it.atom);
        variables == 0 || variables & reached != 0
    };
    let positives: Vec<Positive> = before.iter().filter(is_near).cloned().collect();
    let bound = positives.iter().fold(0, |set, it| set | variables_of(&it.atom));
    let pair = |(a, b): &(Pattern, Pattern)| variables_of_pattern(a) | variables_of_pattern(b);
    Some(Clause {
        head: demand.clone(),
        positives,
        negatives: Vec::new(),
        distinct: clause.distinct.iter().filter(|it| pair(it) & !bound == 0).cloned().collect(),
        n_variables: clause.n_variables,
        span: clause.span,
    })
}
