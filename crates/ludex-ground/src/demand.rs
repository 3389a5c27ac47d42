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

use ludex_base::{Pace, StopReason};
use ludex_gdl::{Atom, Keyword, Pattern, RelationId};

use crate::clauses::{Clause, Clauses, Positive, RelationInfo};
use crate::estimate::{VariableSet, variables_of, variables_of_pattern};

/// A set of arguments of a relation. Relations with more than 64 are not restricted.
type Arguments = u64;

/// Largest total number of conditions in the rules that derive demand.
const MAX_CONDITIONS: usize = 1_000_000;

/// Restricts the rules to what is asked for. `is_small` tells which relations that do not depend on the
/// state are known to be small; they are derived in full.
///
/// # Errors
/// When the deadline is reached.
pub(crate) fn restrict(
    clauses: &mut Clauses,
    is_small: &[bool],
    pace: &Pace<'_>,
) -> Result<(), StopReason> {
    let mut asked = find_asked(clauses, is_small);
    loop {
        settle(clauses, &mut asked, pace)?;
        if !complete(clauses, &mut asked) {
            break;
        }
    }
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

/// By relation, the arguments that every rule binds that asks for it; none if it is derived in full.
struct Asked(Vec<Arguments>);

impl Asked {
    fn of(&self, relation: RelationId) -> Arguments {
        self.0[relation.index()]
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
fn find_asked(clauses: &Clauses, is_small: &[bool]) -> Asked {
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
    for (idx, _) in is_small.iter().enumerate().filter(|&(_, is_small)| *is_small) {
        if clauses.relations[idx].is_static {
            asked[idx] = 0;
        }
    }
    let mut asked = Asked(asked);
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
    let is_complete = |idx: &usize| clauses.relations[*idx].is_static && asked.0[*idx] == 0;
    let mut open: Vec<usize> = (0..clauses.relations.len()).filter(is_complete).collect();
    let mut has_changed = false;
    while let Some(idx) = open.pop() {
        has_changed |= std::mem::take(&mut asked.0[idx]) != 0;
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
            let mut bound = bound_at_first(clause, asked);
            for positive in &clause.positives {
                let atom = &positive.atom;
                if asked.is(atom) {
                    let is_bound = |arg: &Pattern| variables_of_pattern(arg) & !bound == 0;
                    let args = (0_u32..).zip(&atom.args).filter(|(_, arg)| is_bound(arg));
                    let here = args.fold(0, |set: Arguments, (idx, _)| set | 1 << idx);
                    let before = asked.of(atom.relation);
                    asked.0[atom.relation.index()] &= here;
                    has_changed |= asked.of(atom.relation) != before;
                }
                bound |= variables_of(atom);
            }
        }
        if !has_changed {
            return Ok(());
        }
    }
}

/// The variables that are bound before anything is asked: those of the demand for the head, and of all
/// conditions that are derived in full.
fn bound_at_first(clause: &Clause, asked: &Asked) -> VariableSet {
    let of_head = asked.inputs(&clause.head).fold(0, |set, arg| set | variables_of_pattern(arg));
    let full = clause.positives.iter().filter(|it| !asked.is(&it.atom));
    full.fold(of_head, |set, it| set | variables_of(&it.atom))
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
        let full = clause.positives.iter().filter(|it| !asked.is(&it.atom)).map(as_guard);
        let mut before: Vec<Positive> = of_head.iter().cloned().chain(full).collect();
        for positive in clause.positives.iter().filter(|it| asked.is(&it.atom)) {
            if let Some(demand) = demand_of(&positive.atom) {
                calls.extend(call(clause, &demand.atom, &before));
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
