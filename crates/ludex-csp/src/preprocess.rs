//! Making a network smaller without changing its solutions.
//!
//! The three steps of the game networks of Piette: constraints on one variable become part
//! of its domain, tables over the same variables are merged into one, and what is left
//! universal goes: constraints that allow everything, and variables in no constraint.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::domains::VarId;
use crate::expr::Expr;
use crate::network::{Constraint, Network};
use crate::propagators::table::{STAR, Table};
use crate::{Value, ValueSet};

/// A network made smaller, and the way back.
pub struct Preprocessed {
    /// The network that is left.
    pub network: Network,
    /// By variable of the smaller network: the variable of the original.
    pub kept: Vec<VarId>,
    /// The variables that are in no constraint, each with the values it may take.
    pub free: Vec<(VarId, ValueSet)>,
    /// How many constraints were projected on a domain.
    pub n_unary: usize,
    /// How many tables were merged into another.
    pub n_merged: usize,
    /// How many constraints allowed everything.
    pub n_universal: usize,
}

impl Preprocessed {
    /// A solution of the original network from one of the smaller: free variables take their
    /// least value.
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

    /// How many solutions of the original each solution of the smaller network stands for.
    pub fn multiplicity(&self) -> u128 {
        self.free.iter().map(|(_, set)| u128::from(set.len())).product()
    }
}

/// Projects unary constraints, merges tables of equal scope, removes what is universal.
///
/// A domain that becomes empty is reported when the result is posted, by the name of its
/// variable.
pub fn preprocess(network: &Network) -> Preprocessed {
    let mut network = network.clone();
    let n_unary = project_unary(&mut network);
    let n_merged = merge_tables(&mut network);
    let n_universal = drop_universal(&mut network);
    let (network, kept, free) = drop_free_variables(network);
    Preprocessed { network, kept, free, n_unary, n_merged, n_universal }
}

/// Values are tried one by one up to this many.
const MAX_PROJECTED: u64 = 1 << 20;

fn project_unary(network: &mut Network) -> usize {
    let (mut left, mut n_unary) = (Vec::new(), 0);
    for constraint in network.constraints().to_vec() {
        match constraint.scope()[..] {
            [x] if network.variable(x).domain.len() <= MAX_PROJECTED => {
                let variable = network.variable_mut(x);
                variable.domain =
                    variable.domain.filter(|value| constraint.holds(&|_| i64::from(value)));
                n_unary += 1;
            }
            _ => left.push(constraint),
        }
    }
    network.set_constraints(left);
    n_unary
}

/// Merges positive tables with the same set of variables: a tuple stays when all allow it.
fn merge_tables(network: &mut Network) -> usize {
    let mut left = Vec::new();
    let mut by_scope: BTreeMap<Vec<VarId>, Vec<Constraint>> = BTreeMap::new();
    for constraint in network.constraints().to_vec() {
        match &constraint {
            Constraint::Table { scope, table, is_positive: true } if !table.has_stars() => {
                let mut key = scope.clone();
                key.sort_unstable();
                by_scope.entry(key).or_default().push(constraint);
            }
            _ => left.push(constraint),
        }
    }
    let mut n_merged = 0;
    for (scope, mut same) in by_scope {
        if same.len() == 1 {
            left.append(&mut same);
            continue;
        }
        n_merged += same.len() - 1;
        let mut common: Option<FxHashSet<Vec<Value>>> = None;
        for constraint in &same {
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
        left.push(Constraint::Table { scope, table, is_positive: true });
    }
    network.set_constraints(left);
    n_merged
}

fn drop_universal(network: &mut Network) -> usize {
    let is_universal = |constraint: &Constraint| {
        let Constraint::Table { scope, table, is_positive } = constraint else {
            return false;
        };
        let sets: Vec<&ValueSet> = scope.iter().map(|&x| &network.variable(x).domain).collect();
        let is_valid = |tuple: &&[Value]| {
            tuple.iter().zip(&sets).all(|(&value, set)| value == STAR || set.contains(value))
        };
        let n_valid = || table.tuples().filter(is_valid).collect::<FxHashSet<_>>().len() as u128;
        let n_all: u128 =
            sets.iter().fold(1, |n: u128, set| n.saturating_mul(u128::from(set.len())));
        match is_positive {
            true => !table.has_stars() && n_all <= table.len() as u128 && n_valid() == n_all,
            false => n_valid() == 0,
        }
    };
    let (universal, left): (Vec<_>, Vec<_>) =
        network.constraints().iter().cloned().partition(is_universal);
    let n_universal = universal.len();
    network.set_constraints(left);
    n_universal
}

type Kept = (Network, Vec<VarId>, Vec<(VarId, ValueSet)>);

/// Renumbers the variables that some constraint or the objective speaks of.
fn drop_free_variables(network: Network) -> Kept {
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
        return (network, kept, free);
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
    (smaller, kept, free)
}
