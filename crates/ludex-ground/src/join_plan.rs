//! The sixth step: the order in which to join the literals of a rule.
//!
//! A rule gets a plan for each of its literals that can be *new* (see [`crate::instantiate`]). The
//! new atom is given, and the other literals are looked up one after the other, those with the
//! fewest matches first. Tests come as early as their variables allow.

use ludex_base::Symbol;
use ludex_gdl::{Atom, Pattern, RelationId, TermId, Terms};

use crate::clauses::Clause;
use crate::estimate::{Domains, Stats, VariableSet, fan_out, variables_of, variables_of_pattern};
use crate::tables::{Shape, Table};

/// A plan for finding the instances of a rule.
pub(crate) struct JoinPlan {
    /// The pattern of the new atom; `None` if the rule runs once, with nothing new.
    pub trigger: Option<Box<[Match]>>,
    /// The index of the new literal among the positives.
    pub trigger_idx: usize,
    pub steps: Vec<Step>,
}

/// One step of a plan.
pub(crate) enum Step {
    /// Loop over the rows that match.
    Scan {
        relation: RelationId,
        index: usize,
        keys: Vec<Key>,
        matches: Box<[Match]>,
        /// The index of the literal among the positives.
        literal_idx: usize,
        /// Skip the new atom: the plan in which this literal is the new one covers it.
        excludes_new: bool,
    },
    /// Everything is bound: check that the atom exists.
    Find { atom: Atom, literal_idx: usize, excludes_new: bool },
    /// Check that an atom of a complete relation does not exist.
    Absent(Atom),
    /// Check that the two terms differ.
    Distinct(Pattern, Pattern),
}

/// A part of the key of an index.
pub(crate) enum Key {
    Ground(TermId),
    Variable(u32),
}

/// How to compare and decompose an argument of a row.
pub(crate) enum Match {
    /// Assigns the value to the variable.
    Bind(u32),
    /// Requires the value of the variable.
    Check(u32),
    Ground(TermId),
    Compound(Symbol, Box<[Match]>),
}

/// The planner, with what it needs to know of the relations.
pub(crate) struct JoinPlanner<'a> {
    pub terms: &'a Terms,
    pub tables: &'a mut [Table],
    pub stats: &'a [Stats],
    /// Whether negative literals of a relation can be decided now.
    pub is_complete: &'a dyn Fn(RelationId) -> bool,
}

impl JoinPlanner<'_> {
    /// Plans a clause whose positive literal `trigger_idx` is new, or with nothing new.
    pub fn plan(&mut self, clause: &Clause, trigger_idx: Option<usize>) -> JoinPlan {
        let mut steps = Vec::new();
        let mut bound: VariableSet = 0;
        let mut waiting: Vec<usize> = (0..clause.positives.len()).collect();
        let trigger = trigger_idx.map(|idx| {
            waiting.retain(|&other| other != idx);
            let atom = &clause.positives[idx].atom;
            atom.args.iter().map(|arg| compile_match(arg, &mut bound)).collect()
        });
        let mut tests = Tests::new(clause, self.is_complete);
        tests.take_ready(bound, &mut steps);
        let domains = Domains::new(clause.n_variables, clause.with_stats(self.stats));
        while let Some(position) = self.next_literal(clause, &waiting, bound, &domains) {
            let literal_idx = waiting.remove(position);
            let atom = &clause.positives[literal_idx].atom;
            let excludes_new = trigger_idx.is_some_and(|trigger_idx| {
                literal_idx < trigger_idx
                    && clause.positives[trigger_idx].atom.relation == atom.relation
            });
            if variables_of(atom) & !bound == 0 {
                steps.push(Step::Find { atom: atom.clone(), literal_idx, excludes_new });
                continue;
            }
            let mut keys = Vec::new();
            let shapes: Vec<Shape> =
                atom.args.iter().map(|arg| compile_shape(arg, bound, &mut keys)).collect();
            let index = self.tables[atom.relation.index()].index(&shapes, self.terms);
            let matches = atom.args.iter().map(|arg| compile_match(arg, &mut bound)).collect();
            let relation = atom.relation;
            steps.push(Step::Scan { relation, index, keys, matches, literal_idx, excludes_new });
            tests.take_ready(bound, &mut steps);
        }
        JoinPlan { trigger, trigger_idx: trigger_idx.unwrap_or(usize::MAX), steps }
    }

    /// Returns the position in `waiting` of the literal with the fewest matches.
    fn next_literal(
        &self,
        clause: &Clause,
        waiting: &[usize],
        bound: VariableSet,
        domains: &Domains,
    ) -> Option<usize> {
        let fan_out_of = |&idx: &usize| {
            let atom = &clause.positives[idx].atom;
            // Tests come first; among equals, literals connected to bound variables.
            let is_test = variables_of(atom) & !bound == 0;
            let is_apart = variables_of(atom) & bound == 0;
            let estimate = fan_out(atom, &self.stats[atom.relation.index()], bound, domains);
            if is_test { -1.0 } else { estimate + if is_apart { 0.5 } else { 0.0 } }
        };
        waiting
            .iter()
            .map(fan_out_of)
            .enumerate()
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(position, _)| position)
    }
}

/// Conditions that bind no variables.
struct Tests<'a> {
    absent: Vec<&'a Atom>,
    distinct: Vec<&'a (Pattern, Pattern)>,
}

impl<'a> Tests<'a> {
    fn new(clause: &'a Clause, is_complete: &dyn Fn(RelationId) -> bool) -> Self {
        let absent = clause.negatives.iter().filter(|atom| is_complete(atom.relation)).collect();
        Self { absent, distinct: clause.distinct.iter().collect() }
    }

    /// Moves the tests whose variables are bound to the steps.
    fn take_ready(&mut self, bound: VariableSet, steps: &mut Vec<Step>) {
        self.distinct.retain(|(left, right)| {
            let is_ready = (variables_of_pattern(left) | variables_of_pattern(right)) & !bound == 0;
            if is_ready {
                steps.push(Step::Distinct(left.clone(), right.clone()));
            }
            !is_ready
        });
        self.absent.retain(|atom| {
            let is_ready = variables_of(atom) & !bound == 0;
            if is_ready {
                steps.push(Step::Absent((*atom).clone()));
            }
            !is_ready
        });
    }
}

fn compile_match(pattern: &Pattern, bound: &mut VariableSet) -> Match {
    match pattern {
        Pattern::Ground(term) => Match::Ground(*term),
        Pattern::Variable(variable) => {
            let bit = 1 << variable;
            let is_bound = *bound & bit != 0;
            *bound |= bit;
            if is_bound { Match::Check(*variable) } else { Match::Bind(*variable) }
        }
        Pattern::Compound(name, args) => {
            Match::Compound(*name, args.iter().map(|arg| compile_match(arg, bound)).collect())
        }
    }
}

fn compile_shape(pattern: &Pattern, bound: VariableSet, keys: &mut Vec<Key>) -> Shape {
    match pattern {
        Pattern::Ground(term) => {
            keys.push(Key::Ground(*term));
            Shape::Key
        }
        Pattern::Variable(variable) if bound >> variable & 1 != 0 => {
            keys.push(Key::Variable(*variable));
            Shape::Key
        }
        Pattern::Variable(_) => Shape::Free,
        Pattern::Compound(name, args) => {
            let parts = args.iter().map(|arg| compile_shape(arg, bound, keys)).collect();
            Shape::Compound(*name, parts)
        }
    }
}
