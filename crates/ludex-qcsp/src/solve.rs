//! The entry: from a model to a report.

use std::time::Instant;

use crate::config::{Report, SolveConfig, Statistics};
use crate::definition::by_definition;
use crate::error::ModelError;
use crate::model::Model;

/// Solves a model.
///
/// # Errors
/// When the model means nothing (see [`Model::check`]), or an option does not apply.
pub fn solve(model: &Model, _config: &SolveConfig) -> Result<Report, ModelError> {
    let start = Instant::now();
    if let Some(error) = model.check().into_iter().next() {
        return Err(error);
    }
    let (is_true, value) = by_definition(model);
    Ok(Report {
        verdict: is_true.into(),
        value,
        strategy: None,
        strategy_refused: None,
        statistics: Statistics { time: start.elapsed(), ..Statistics::default() },
    })
}
