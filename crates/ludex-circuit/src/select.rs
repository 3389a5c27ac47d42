//! Selections: the source of a move separated from its target.
//!
//! `next (on b king)` is often a disjunction over all moves to `b`; each term joins the move and
//! the king on the square that the move comes from. So every move is listed for every piece. But a
//! role plays one move, so two conditions suffice: the move goes to `b`, and the move, wherever it
//! goes, comes from a square with the king. The first is the same for all pieces, the second for
//! all squares.
//!
//! In general, let `φ` give each move of a role a condition. Exactly one of the moves is played, so
//! `⋁ m ∧ φ(m)` over some moves equals `(⋁ m) ∧ g`, where `g` is the same disjunction over all
//! moves.

use std::collections::BTreeMap;

use ludex_base::{MoveId, Pace, RoleId, StopReason};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::circuit::{Circuit, Gate, GateId};

/// Shorter disjunctions stay as they are.
const MIN_TERMS: usize = 4;

/// Largest number of terms to look at: a few hundredths of a second.
const MAX_WORK: usize = 4_000_000;

impl Circuit {
    /// Returns an equivalent circuit in which disjunctions over moves share their conditions.
    ///
    /// It is equivalent for transitions in which every role plays exactly one of its moves.
    ///
    /// # Errors
    /// When the deadline of the pace is reached, which counts gates and inputs.
    pub fn with_selections(&self, pace: &Pace<'_>) -> Result<Circuit, StopReason> {
        let Some((selections, selection_of)) = self.selections() else {
            return Ok(self.clone());
        };
        let mut made: Vec<Option<GateId>> = vec![None; selections.len()];
        self.rebuilt(pace, |builder, new_ids, id| {
            let &selection = selection_of.get(&id)?;
            let new = |id: GateId| new_ids[id.index()];
            let found = *made[selection].get_or_insert_with(|| {
                let mut cases: BTreeMap<GateId, Vec<GateId>> = BTreeMap::new();
                for (played, condition) in &selections[selection].conditions {
                    cases.entry(new(*condition)).or_default().push(builder.played(*played));
                }
                let mut cases: Vec<GateId> = (cases.into_iter())
                    .map(|(condition, mut moves)| {
                        let played = builder.or(&mut moves);
                        builder.and(&mut vec![condition, played])
                    })
                    .collect();
                builder.or(&mut cases)
            });
            let mut moves = Vec::new();
            let mut rest = Vec::new();
            for &input in self.inputs(id) {
                match self.term(input) {
                    Some(term) if term.role == selections[selection].role => {
                        moves.push(builder.played(term.played));
                    }
                    _ => rest.push(new(input)),
                }
            }
            let played = builder.or(&mut moves);
            rest.push(builder.and(&mut vec![played, found]));
            Some(builder.or(&mut rest))
        })
    }

    /// Finds the selections that several disjunctions can share, and the selection of each
    /// disjunction.
    fn selections(&self) -> Option<(Vec<Selection>, FxHashMap<GateId, usize>)> {
        let mut selections: Vec<Selection> = Vec::new();
        let mut selection_of: FxHashMap<GateId, usize> = FxHashMap::default();
        // By condition, the selections in which it occurs.
        let mut with_condition: FxHashMap<GateId, Vec<usize>> = FxHashMap::default();
        let mut work = 0;
        for id in self.gate_ids() {
            let Some((role, terms)) = self.terms_of(id) else { continue };
            let mut candidates: Vec<usize> = (terms.values())
                .flat_map(|condition| with_condition.get(condition).into_iter().flatten())
                .copied()
                .filter(|&it| selections[it].role == role)
                .collect();
            work += terms.len() + candidates.len();
            candidates.sort_unstable();
            // Choose the selection that agrees with most of the terms.
            let mut best: Option<(usize, usize)> = None;
            for run in candidates.chunk_by(|a, b| a == b) {
                work += terms.len();
                if 2 * run.len() >= terms.len() && selections[run[0]].agrees(&terms) {
                    best = best.max(Some((run.len(), run[0])));
                }
            }
            if work > MAX_WORK {
                return None;
            }
            let idx = best.map_or(selections.len(), |(_, idx)| idx);
            if idx == selections.len() {
                selections.push(Selection {
                    role,
                    first: id,
                    conditions: BTreeMap::new(),
                    n_terms: 0,
                });
            }
            let selection = &mut selections[idx];
            selection.n_terms += terms.len();
            for (played, condition) in terms {
                let of_condition = with_condition.entry(condition).or_default();
                if !of_condition.contains(&idx) {
                    of_condition.push(idx);
                }
                selection.conditions.insert(played, condition);
            }
            selection_of.insert(id, idx);
        }
        // Each term costs an edge to a gate with two inputs; each condition costs one case.
        selection_of.retain(|_, idx| {
            let it = &selections[*idx];
            let n_conditions = it.conditions.values().collect::<FxHashSet<_>>().len();
            it.n_terms >= 4 * n_conditions
        });
        (!selection_of.is_empty()).then_some((selections, selection_of))
    }
}

/// A condition for each of some moves of a role.
struct Selection {
    role: RoleId,
    /// The first disjunction that uses the selection: all conditions come before it.
    first: GateId,
    conditions: BTreeMap<MoveId, GateId>,
    /// How many terms the disjunctions with this selection have together.
    n_terms: usize,
}

impl Selection {
    /// Returns whether these conditions do not contradict its own.
    fn agrees(&self, terms: &BTreeMap<MoveId, GateId>) -> bool {
        terms.iter().all(|(played, &condition)| {
            condition < self.first
                && self.conditions.get(played).is_none_or(|known| *known == condition)
        })
    }
}

/// The conjunction of a move and a condition.
struct Term {
    role: RoleId,
    played: MoveId,
    condition: GateId,
}

impl Circuit {
    fn term(&self, id: GateId) -> Option<Term> {
        let Gate::And(&[a, b]) = self.gate(id) else { return None };
        let (played, condition) = match (self.gate(a), self.gate(b)) {
            (Gate::Move(_), Gate::Move(_)) => return None,
            (Gate::Move(played), _) => (played, b),
            (_, Gate::Move(played)) => (played, a),
            _ => return None,
        };
        Some(Term { role: self.vocabulary.moves[played.index()].0, played, condition })
    }

    /// Returns the terms of a disjunction, with the role that most of them are about. `None` if
    /// there are too few, or if a move has several conditions.
    fn terms_of(&self, id: GateId) -> Option<(RoleId, BTreeMap<MoveId, GateId>)> {
        let Gate::Or(inputs) = self.gate(id) else { return None };
        if inputs.len() < MIN_TERMS || self.is_in_loop(id) {
            return None;
        }
        let terms: Vec<Term> = inputs.iter().filter_map(|&input| self.term(input)).collect();
        let mut counts = vec![0; self.n_roles()];
        terms.iter().for_each(|term| counts[term.role.index()] += 1);
        let role = (0..counts.len()).max_by_key(|&role| counts[role]).map(RoleId::new)?;
        let n_terms = counts[role.index()];
        let of_role = terms.iter().filter(|term| term.role == role);
        let terms: BTreeMap<MoveId, GateId> =
            of_role.map(|term| (term.played, term.condition)).collect();
        (n_terms >= MIN_TERMS && terms.len() == n_terms).then_some((role, terms))
    }
}
