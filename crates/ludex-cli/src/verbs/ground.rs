//! `ludex ground`: grounds and compiles a rulesheet, and prints the sizes.

use std::time::Instant;

use ludex_pipeline::EngineChoice;
use serde::Serialize;

use crate::args::Common;
use crate::failure::{DONE, Failure, LIMIT};
use crate::load::load;
use crate::{input, output, resources};

#[derive(Serialize)]
struct GroundJson {
    name: String,
    seconds: f64,
    fluents: Option<usize>,
    moves: Option<usize>,
    rules: Option<usize>,
    gates: Option<usize>,
    edges: Option<usize>,
    optimized_gates: Option<usize>,
    optimized_edges: Option<usize>,
    peak_mb: Option<f64>,
    machine: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Grounds a rulesheet and prints the sizes.
pub fn run(rules: &str, common: &Common) -> Result<u8, Failure> {
    let input = input::read(rules)?;
    let start = Instant::now();
    let loaded = match load(&input, EngineChoice::Auto, common) {
        Err(Failure::Limit(reason)) => return report_none(input.name, start, reason, common),
        loaded => loaded?,
    };
    let sizes = loaded.sizes;
    let report = GroundJson {
        name: input.name.clone(),
        seconds: output::seconds(loaded.setup_time),
        fluents: sizes.map(|sizes| sizes.fluents),
        moves: sizes.map(|sizes| sizes.moves),
        rules: sizes.map(|sizes| sizes.rules),
        gates: sizes.map(|sizes| sizes.gates),
        edges: sizes.map(|sizes| sizes.edges),
        optimized_gates: sizes.map(|sizes| sizes.optimized_gates),
        optimized_edges: sizes.map(|sizes| sizes.optimized_edges),
        peak_mb: resources::peak_mb(),
        machine: loaded.engine_name(),
        reason: loaded.fallback.clone(),
    };
    let code = if report.reason.is_some() { LIMIT } else { DONE };
    if common.json {
        output::json(&report)?;
        return Ok(code);
    }
    let count = |n: Option<usize>| n.map_or_else(|| "unknown".into(), |n| n.to_string());
    let mb = report.peak_mb.map_or_else(|| "unknown".into(), |mb| format!("{mb} MB"));
    output::text(&format!(
        "machine  {}\nfluents  {}\nmoves    {}\nrules    {}\ngates    {}\nseconds  {:.3}\npeak     {mb}\n",
        report.machine,
        count(report.fluents),
        count(report.moves),
        count(report.rules),
        count(report.gates),
        report.seconds,
    ))?;
    Ok(code)
}

/// Reports why grounding failed and why the limits of the call do not suffice for the reasoner
/// either.
fn report_none(
    name: String,
    start: Instant,
    reason: String,
    common: &Common,
) -> Result<u8, Failure> {
    if !common.json {
        return Err(Failure::Limit(reason));
    }
    output::json(&GroundJson {
        name,
        seconds: output::seconds(start.elapsed()),
        fluents: None,
        moves: None,
        rules: None,
        gates: None,
        edges: None,
        optimized_gates: None,
        optimized_edges: None,
        peak_mb: resources::peak_mb(),
        machine: "reasoner",
        reason: Some(reason),
    })?;
    Ok(LIMIT)
}
