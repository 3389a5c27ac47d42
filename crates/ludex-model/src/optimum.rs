//! Models inside other models, whose optimum is a constant.

use ludex_base::Span;
use ludex_csp::SearchConfig;

use crate::codes;
use crate::data::Data;
use crate::eval::{Evaluated, Evaluator};
use crate::lower::Lowering;
use crate::problem::to_network;
use crate::syntax::Item;

/// Returns the value of `optimum { … }`.
pub fn solve(evaluator: &mut Evaluator<'_>, items: &[Item], span: Span) -> Evaluated<i64> {
    let data = Data::default();
    let mut inner = Lowering::new(evaluator.inner(), &data);
    let result = inner.items(items).and_then(|()| inner.finish());
    let Lowering { evaluator: used, draft, .. } = inner;
    evaluator.take_over(used);
    result?;
    let model = (!draft.has_chance()).then(|| draft.quantified());
    let network = model.and_then(|model| to_network(&model));
    let network = network.filter(|network| network.objective().is_some());
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
