//! Finds the decision variable of a scope by trial.
//!
//! If the form of the constraints does not show which variable determines the others (a table, an
//! automaton), propagation does: earlier variables get random values, and a variable is decided
//! first if every value tried fixes all others of the scope. This changes the order of the search,
//! never its answer.

use ludex_base::{Rng, Seed};
use ludex_csp::{Constraint, Engine, Network, PostConfig, VarId};

use crate::model::Model;

/// The maximal number of variables of a probed scope.
const MAX_VARIABLES: usize = 64;
/// The maximal number of variables before a probed scope.
const MAX_EARLIER: usize = 1000;
/// The number of random assignments of earlier variables.
const N_SAMPLES: usize = 3;
/// The number of values tried per variable.
const MAX_VALUES: usize = 4;

/// Returns the candidate whose values determine the others, if there is one.
pub(super) fn decider(model: &Model, scope_idx: usize, candidates: &[VarId]) -> Option<VarId> {
    let scope = &model.scopes()[scope_idx];
    let is_plain = |constraint: &Constraint| matches!(constraint, Constraint::Intension(_));
    let first = scope.variables.iter().map(|x| x.index()).min()?;
    let is_large = candidates.len() > MAX_VARIABLES || first > MAX_EARLIER;
    if is_large || scope.restrictor.iter().all(is_plain) {
        return None;
    }
    let mut engine = posted(model, scope_idx)?;
    let mut rng = Seed(0).rng();
    let mut deciders: Vec<VarId> = candidates.to_vec();
    for _ in 0..N_SAMPLES {
        engine.pop_to(0);
        engine.push_level();
        if !(0..first).map(VarId::new).all(|x| assign_any(&mut engine, x, &mut rng)) {
            continue;
        }
        let n_before = candidates.iter().filter(|&&x| !engine.domains().is_fixed(x)).count();
        if n_before < 2 {
            continue;
        }
        deciders.retain(|&x| decides(&mut engine, x, candidates));
    }
    // If no sample could be drawn, all candidates were kept.
    (deciders.len() < candidates.len()).then(|| deciders.first().copied()).flatten()
}

fn posted(model: &Model, scope_idx: usize) -> Option<Engine> {
    let mut network = Network::new();
    let last = model.scopes()[scope_idx].variables.iter().map(|x| x.index()).max()?;
    for x in &model.variables()[..=last] {
        network.int(x.variable.name.clone(), x.variable.domain.clone());
    }
    for constraint in &model.scopes()[scope_idx].restrictor {
        network.add(constraint.clone());
    }
    for &x in &model.scopes()[scope_idx].variables {
        if let Some(definition) = &model.variable(x).definition {
            network.require(x.equals(definition));
        }
    }
    let mut engine = network.post(&PostConfig::default()).ok()?;
    engine.propagate().is_ok().then_some(engine)
}

/// Assigns a variable one of its remaining values, and returns whether that is possible.
fn assign_any(engine: &mut Engine, x: VarId, rng: &mut Rng) -> bool {
    let left = engine.domains().value_set(x);
    let place = rng.below(left.len().min(64) as usize);
    let value = left.iter().nth(place).expect("a domain has a value");
    engine.assign(x, value).is_ok()
}

/// Whether every value tried fixes all candidates.
fn decides(engine: &mut Engine, x: VarId, candidates: &[VarId]) -> bool {
    let base = engine.level();
    let values: Vec<_> = engine.domains().value_set(x).iter().take(MAX_VALUES).collect();
    values.into_iter().all(|value| {
        engine.push_level();
        let is_decided = engine.assign(x, value).is_err()
            || candidates.iter().all(|&y| engine.domains().is_fixed(y));
        engine.pop_to(base);
        is_decided
    })
}

#[cfg(test)]
mod tests {
    use ludex_csp::propagators::table::Table;

    use super::*;
    use crate::schedule::schedule;

    /// A move that is declared after the state it leads to, both related by tables.
    #[test]
    fn a_variable_that_decides_the_others_comes_first() {
        let mut model = Model::new();
        model.exists("before");
        let before = model.int("before", 0..=3);
        model.forall("round");
        let (parity, after) = (model.int("parity", 0..=1), model.int("after", 0..=6));
        let step = model.int("step", 0..=3);
        let rows = (0..=3).flat_map(|b| (0..=3).map(move |s| [b, s, b + s]));
        let table = Table::from_tuples(3, rows).into();
        let scope = vec![before, step, after];
        model.restrict(Constraint::Table { scope, table, is_positive: true });
        let table = Table::from_tuples(2, (0..=6).map(|a| [a, a % 2])).into();
        let scope = vec![after, parity];
        model.restrict(Constraint::Table { scope, table, is_positive: true });
        model.goal((after + step).less_than(20));
        assert_eq!(decider(&model, 1, &[parity, step]), Some(step));
        assert_eq!(decider(&model, 1, &[parity, after, step]), Some(after));
        let schedule = schedule(&model, true, false).unwrap();
        assert_eq!(schedule.levels[1].x, Some(after));
        // Two variables that determine nothing give no result.
        assert_eq!(decider(&model, 0, &[before]), None);
    }
}
