//! Networks of one stage in two parts, the hard constraints and the chance constraints.

use std::time::Instant;

use ludex_base::{Deadline, StopReason};
use ludex_csp::Value;
use ludex_csp::Verdict;
use ludex_scsp::{OneStage, StochasticNetwork, solve_one_stage};
use serde::Serialize;

use super::policy::{FirstDecisions, Shown};
use super::{stopped, wrong};
use crate::args::Common;
use crate::failure::{DONE, Failure};
use crate::output;

/// Most solutions that are listed.
const MAX_LISTED: u64 = 10_000;

#[derive(Serialize)]
struct TwoPartsJson {
    status: &'static str,
    /// How many decisions reach the threshold.
    solutions: usize,
    /// The decisions of each solution.
    decisions: Vec<FirstDecisions>,
    /// The decisions that the chance part mentions, and how many values of them it allows.
    scope: Vec<String>,
    feasible: usize,
    seconds: f64,
    /// Why there may be more solutions.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'static str>,
}

/// Lists all decisions that reach the threshold.
pub fn run(
    network: &StochasticNetwork,
    common: &Common,
    deadline: &Deadline,
    start: Instant,
) -> Result<u8, Failure> {
    let found = solve_one_stage(network, MAX_LISTED, deadline).map_err(wrong)?;
    let seconds = output::seconds(start.elapsed());
    let json = report(network, &found, seconds);
    if common.json {
        output::json(&json)?
    } else {
        output::text(&json.to_lines())?
    }
    Ok(found.stopped.map_or(DONE, stopped))
}

fn report(network: &StochasticNetwork, found: &OneStage, seconds: f64) -> TwoPartsJson {
    let verdict = match found.stopped {
        Some(reason) if found.solutions.is_empty() => Verdict::Unknown(reason),
        _ => Verdict::from(!found.solutions.is_empty()),
    };
    let decided: Vec<_> = network.ids().filter(|&x| !network.is_chance(x)).collect();
    let shown = |solution: &Vec<Value>| {
        let named = decided.iter().zip(solution);
        let named = named.map(|(&x, &v)| (network.name(x).to_string(), Shown::new(network, x, v)));
        FirstDecisions(named.collect())
    };
    TwoPartsJson {
        status: verdict.name(),
        solutions: found.solutions.len(),
        decisions: found.solutions.iter().map(shown).collect(),
        scope: found.scope.iter().map(|&x| network.name(x).to_string()).collect(),
        feasible: found.feasible.len(),
        seconds,
        stopped: found.stopped.map(StopReason::name),
    }
}

impl TwoPartsJson {
    fn to_lines(&self) -> String {
        let mut text = format!(
            "{}, {} solution{}; the chance part allows {} values of ({}) ({:.3} s)\n",
            self.status,
            self.solutions,
            if self.solutions == 1 { "" } else { "s" },
            self.feasible,
            self.scope.join(", "),
            self.seconds
        );
        for decisions in &self.decisions {
            text += &format!("{decisions}\n");
        }
        text
    }
}
