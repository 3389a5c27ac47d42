//! `ludex perft`: counts sequences of joint moves.

use std::time::Instant;

use ludex_base::StopReason;
use ludex_game::perft;
use ludex_pipeline::{EngineChoice, with_game};
use serde::Serialize;

use crate::args::Common;
use crate::failure::{DONE, Failure, LIMIT};
use crate::load::load;
use crate::{input, output};

#[derive(Serialize)]
struct PerftJson {
    nodes: Vec<u64>,
    seconds: f64,
    machine: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'static str>,
}

/// Counts the sequences of joint moves up to a length.
pub fn run(
    rules: &str,
    depth: usize,
    engine: EngineChoice,
    common: &Common,
) -> Result<u8, Failure> {
    let deadline = common.deadline();
    let input = input::read(rules)?;
    let loaded = load(&input, engine, common)?;
    let bar = output::spinner(format!("counting sequences of {depth} joint moves"));
    let start = Instant::now();
    let counted = with_game!(&loaded.engine, |game| perft(game, depth, &deadline));
    let seconds = output::seconds(start.elapsed());
    bar.finish_and_clear();
    let stopped = counted.stopped.map(StopReason::name);
    let code = if stopped.is_some() { LIMIT } else { DONE };
    if common.json {
        let machine = loaded.engine_name();
        output::json(&PerftJson { nodes: counted.nodes, seconds, machine, stopped })?;
        return Ok(code);
    }
    output::text(&table(&counted.nodes))?;
    if let Some(reason) = stopped {
        eprintln!("ludex: stopped at depth {} by the {reason} limit", counted.nodes.len() + 1);
    }
    Ok(code)
}

/// Formats one line per depth: the depth and the number of sequences.
pub fn table(nodes: &[u64]) -> String {
    nodes.iter().enumerate().map(|(index, n_paths)| format!("{} {n_paths}\n", index + 1)).collect()
}
