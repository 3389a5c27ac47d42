//! Models without universal scopes: as networks of the constraint solver, and inside of other
//! models, where their optimum is a constant.

use ludex_base::Span;
use ludex_csp::{Expr as Formula, Network, SearchConfig};
use ludex_qcsp::{Measure, Model, Quantifier};

use crate::codes;
use crate::data::Data;
use crate::eval::{Evaluated, Evaluator};
use crate::lower::Lowering;
use crate::syntax::Item;

/// A model without universal scopes and with at most one criterion as a network.
///
/// `None` when it is not of that form.
pub fn to_network(model: &Model) -> Option<Network> {
    let is_existential = model.scopes().iter().all(|scope| scope.quantifier == Quantifier::Exists);
    let criteria: Vec<_> = model.scopes().iter().filter_map(|scope| scope.criterion).collect();
    if !is_existential || criteria.len() > 1 || !model.aggregates().is_empty() {
        return None;
    }
    let mut network = Network::new();
    for variable in model.variables() {
        let x = network.int(variable.variable.name.clone(), variable.variable.domain.clone());
        if let Some(definition) = &variable.definition {
            network.require(Formula::Var(x).equals(definition.clone()));
        }
    }
    let restrictors = model.scopes().iter().flat_map(|scope| &scope.restrictor);
    for constraint in restrictors.chain(model.goal_constraints()) {
        network.add(constraint.clone());
    }
    if let Some(criterion) = criteria.first()
        && let Measure::Variable(x) = criterion.measure
    {
        if criterion.is_minimized { network.minimize(x) } else { network.maximize(x) }
    }
    Some(network)
}

/// The value of `optimum { … }`.
pub fn solve(evaluator: &mut Evaluator<'_>, items: &[Item], span: Span) -> Evaluated<i64> {
    let data = Data::default();
    let mut inner = Lowering::new(evaluator.inner(), &data);
    let result = inner.items(items).and_then(|()| inner.finish());
    let Lowering { evaluator: used, model, .. } = inner;
    evaluator.take_over(used);
    result?;
    let network = to_network(&model).filter(|network| network.objective().is_some());
    let Some(network) = network else {
        return evaluator.fail_with_help(
            codes::MISPLACED,
            span,
            "`optimum` takes existential scopes of which one has a criterion",
            "write `optimum { exists … where … minimize …; }`",
        );
    };
    let config = SearchConfig {
        deadline: evaluator.deadline().clone(),
        n_threads: 1,
        ..SearchConfig::default()
    };
    let report = match ludex_csp::solve(&network, &config) {
        Ok(report) => report,
        Err(error) => return evaluator.fail(codes::UNSUPPORTED, span, error.to_string()),
    };
    if let Some(reason) = report.stopped {
        let message = format!("the optimum was not found: stopped by {}", reason.name());
        return evaluator.fail(codes::TOO_LARGE, span, message);
    }
    match (report.best(), network.objective()) {
        (Some(best), Some(objective)) => {
            let value = objective.expr.eval(&|x| i64::from(best[x.index()]));
            Ok(value.expect("a solution gives the objective a value"))
        }
        _ => evaluator.fail(codes::ARITHMETIC, span, "this model has no solution and no optimum"),
    }
}
