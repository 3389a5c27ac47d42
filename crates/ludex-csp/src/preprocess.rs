//! Makes a network smaller without changing its solutions.
//!
//! The three steps that Piette applies to game networks: constraints on one variable become
//! part of its domain, tables over the same variables are merged into one, and universal parts
//! are removed: constraints that allow everything, and variables in no constraint.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::constraint::Constraint;
use crate::domains::VarId;
use crate::error::CspError;
use crate::expr::Expr;
use crate::network::Network;
use crate::propagators::table::{STAR, Table};
use crate::{Value, ValueSet};

/// A smaller network, with the mapping back to the original.
pub struct Preprocessed {
    /// The smaller network.
    pub network: Network,
    /// By variable of the smaller network: the variable of the original.
    pub kept: Vec<VarId>,
    /// The variables that are in no constraint, each with the values it may take.
    pub free: Vec<(VarId, ValueSet)>,
    /// The number of constraints projected on a domain.
    pub n_unary: usize,
    /// The number of tables merged into another.
    pub n_merged: usize,
    /// The number of constraints that allowed everything.
    pub n_universal: usize,
    /// By constraint of the smaller network: its number in the original; for a merged table
    /// that of the first table merged.
    origins: Vec<usize>,
}

impl Preprocessed {
    /// Turns a solution of the smaller network into one of the original. Free variables take
    /// their least value.
    pub fn expand(&self, solution: &[Value]) -> Vec<Value> {
        let mut expanded = vec![0; self.kept.len() + self.free.len()];
        for (&x, &value) in self.kept.iter().zip(solution) {
            expanded[x.index()] = value;
        }
        for (x, set) in &self.free {
            expanded[x.index()] = set.min().unwrap_or(0);
        }
        expanded
    }

    /// Whether the unary constraints leave some variable no value.
    pub fn is_refuted(&self) -> bool {
        self.network.variables().iter().any(|x| x.domain.is_empty())
            || self.free.iter().any(|(_, set)| set.is_empty())
    }

    /// Turns an error in the smaller network into one in the original.
    pub(crate) fn place(&self, original: &Network, problem: CspError) -> CspError {
        match problem {
            CspError::InConstraint { number, problem, .. } => {
                let index = self.origins[number - 1];
                problem.in_constraint(index, original.constraints()[index].name())
            }
            problem => problem,
        }
    }

    /// Returns the number of solutions of the original for each solution of the smaller
    /// network, saturating.
    pub fn multiplicity(&self) -> u128 {
        self.free.iter().fold(1, |n, (_, set)| n.saturating_mul(u128::from(set.len())))
    }
}

/// Projects unary constraints, merges tables of equal scope and removes universal parts.
///
/// The network must pass [`Network::check`]. A domain may become empty; see
/// [`Preprocessed::is_refuted`].
pub fn preprocess(network: &Network) -> Preprocessed {
    drop_free_variables(simplify(network))
}

/// Works as [`preprocess`], but keeps variables that are in no constraint.
pub fn simplify(network: &Network) -> Preprocessed {
    let mut smaller = network.clone();
    let mut constraints: Vec<(usize, Constraint)> =
        smaller.set_constraints(Vec::new()).into_iter().enumerate().collect();
    let n_before = constraints.len();
    constraints.retain(|(_, constraint)| !project(constraint, &mut smaller));
    let n_unary = n_before - constraints.len();
    let n_merged = merge_tables(&mut constraints);
    let n_before = constraints.len();
    constraints.retain(|(_, constraint)| !is_universal(constraint, &smaller));
    let n_universal = n_before - constraints.len();
    let (origins, constraints) = constraints.into_iter().unzip();
    smaller.set_constraints(constraints);
    let kept = (0..network.variables().len()).map(VarId::new).collect();
    let free = Vec::new();
    Preprocessed { network: smaller, kept, free, n_unary, n_merged, n_universal, origins }
}

/// Largest domain whose values are tested one by one; wider domains keep their constraint.
const MAX_PROJECTED: u64 = 1 << 12;

/// Makes the constraint part of the domain if it has one variable, and returns whether it did.
fn project(constraint: &Constraint, network: &mut Network) -> bool {
    let [x] = constraint.scope()[..] else {
        return false;
    };
    let variable = network.variable_mut(x);
    if variable.domain.len() > MAX_PROJECTED {
        return false;
    }
    variable.domain = match constraint {
        // Testing values one by one would scan the table for each of them.
        Constraint::Table { table, is_positive, .. } if !table.has_stars() => {
            let listed: ValueSet = table.tuples().map(|tuple| tuple[0]).collect();
            variable.domain.filter(|value| listed.contains(value) == *is_positive)
        }
        _ => variable.domain.filter(|value| constraint.holds(&|_| i64::from(value))),
    };
    true
}

/// Largest number of values in tables to merge; more would take too much memory.
const MAX_MERGED: usize = 1 << 22;

/// Merges positive tables over the same set of variables: a tuple stays when all of them allow
/// it. The merged table replaces the first.
fn merge_tables(constraints: &mut Vec<(usize, Constraint)>) -> usize {
    let mut by_scope: BTreeMap<Vec<VarId>, Vec<usize>> = BTreeMap::new();
    for (place, (_, constraint)) in constraints.iter().enumerate() {
        if let Constraint::Table { scope, table, is_positive: true } = constraint
            && !table.has_stars()
        {
            let mut key = scope.clone();
            key.sort_unstable();
            by_scope.entry(key).or_default().push(place);
        }
    }
    let mut is_gone = vec![false; constraints.len()];
    for (scope, places) in by_scope {
        let size_of = |place: &usize| match &constraints[*place].1 {
            Constraint::Table { table, .. } => table.len() * table.arity(),
            _ => 0,
        };
        if places.len() == 1 || places.iter().map(size_of).sum::<usize>() > MAX_MERGED {
            continue;
        }
        let merged = common_tuples(&scope, places.iter().map(|&place| &constraints[place].1));
        constraints[places[0]].1 = merged;
        places[1..].iter().for_each(|&place| is_gone[place] = true);
    }
    let n_before = constraints.len();
    let mut is_gone = is_gone.into_iter();
    constraints.retain(|_| is_gone.next() == Some(false));
    n_before - constraints.len()
}

fn common_tuples<'a>(scope: &[VarId], tables: impl Iterator<Item = &'a Constraint>) -> Constraint {
    let mut common: Option<FxHashSet<Vec<Value>>> = None;
    for constraint in tables {
        let Constraint::Table { scope: own, table, .. } = constraint else { continue };
        let places: Vec<usize> = scope
            .iter()
            .map(|x| own.iter().position(|y| x == y).expect("the same variables"))
            .collect();
        let tuples: FxHashSet<Vec<Value>> =
            table.tuples().map(|tuple| places.iter().map(|&at| tuple[at]).collect()).collect();
        common = Some(match common {
            Some(common) => common.intersection(&tuples).cloned().collect(),
            None => tuples,
        });
    }
    let mut tuples: Vec<Vec<Value>> = common.unwrap_or_default().into_iter().collect();
    tuples.sort_unstable();
    let table = Arc::new(Table::from_tuples(scope.len(), tuples));
    Constraint::Table { scope: scope.to_vec(), table, is_positive: true }
}

/// Whether a table allows every combination of the domains.
fn is_universal(constraint: &Constraint, network: &Network) -> bool {
    let Constraint::Table { scope, table, is_positive } = constraint else {
        return false;
    };
    let sets: Vec<&ValueSet> = scope.iter().map(|&x| &network.variable(x).domain).collect();
    let is_valid = |tuple: &&[Value]| {
        tuple.iter().zip(&sets).all(|(&value, set)| value == STAR || set.contains(value))
    };
    if !is_positive {
        return !table.tuples().any(|tuple| is_valid(&tuple));
    }
    let n_all = sets.iter().fold(1, |n: u128, set| n.saturating_mul(u128::from(set.len())));
    let n_valid = || table.tuples().filter(is_valid).collect::<FxHashSet<_>>().len() as u128;
    !table.has_stars() && n_all <= table.len() as u128 && n_valid() == n_all
}

/// Drops the variables in no constraint and not in the objective, and renumbers the others.
fn drop_free_variables(simplified: Preprocessed) -> Preprocessed {
    let network = &simplified.network;
    let has_custom =
        network.constraints().iter().any(|constraint| matches!(constraint, Constraint::Custom(_)));
    let mut used: FxHashSet<VarId> =
        network.constraints().iter().flat_map(Constraint::scope).collect();
    if let Some(objective) = network.objective() {
        used.extend(objective.expr.scope());
    }
    let all = (0..network.variables().len()).map(VarId::new);
    let (kept, free): (Vec<VarId>, Vec<VarId>) = all.partition(|x| has_custom || used.contains(x));
    let free: Vec<(VarId, ValueSet)> =
        free.into_iter().map(|x| (x, network.variable(x).domain.clone())).collect();
    if free.is_empty() {
        return simplified;
    }
    let mut number = vec![None; network.variables().len()];
    let mut smaller = Network::new();
    for &x in &kept {
        let variable = network.variable(x);
        let new = match &variable.labels {
            Some(labels) => smaller.symbol(variable.name.clone(), labels.iter().cloned()),
            None => smaller.int(variable.name.clone(), variable.domain.clone()),
        };
        smaller.variable_mut(new).domain = variable.domain.clone();
        number[x.index()] = Some(new);
    }
    let renumber = |x: VarId| number[x.index()].expect("a variable in a constraint is kept");
    let rename = |x: VarId| Expr::Var(renumber(x));
    for constraint in network.constraints() {
        smaller.add(constraint.renamed(&renumber, &rename));
    }
    if let Some(objective) = network.objective() {
        let mut objective = objective.clone();
        objective.expr = objective.expr.rename(&rename);
        smaller.set_objective(Some(objective));
    }
    Preprocessed { network: smaller, kept, free, ..simplified }
}
