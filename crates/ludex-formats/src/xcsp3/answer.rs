//! Solves a file and prints the answer in the format of the XCSP3 competition.

use std::sync::Arc;

use ludex_base::StopReason;
use ludex_csp::{SolveOptions, Statistics, Value, solve_by};

use super::read::{Instance, read_by};
use crate::FormatError;

/// The status of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// A solution was found.
    Satisfiable,
    /// There is no solution.
    Unsatisfiable,
    /// The last solution is a best one.
    Optimum,
    /// The search stopped without a result.
    Unknown,
}

impl Status {
    /// Returns the wording of the competition.
    pub fn words(self) -> &'static str {
        match self {
            Status::Satisfiable => "SATISFIABLE",
            Status::Unsatisfiable => "UNSATISFIABLE",
            Status::Optimum => "OPTIMUM FOUND",
            Status::Unknown => "UNKNOWN",
        }
    }
}

/// The result of solving a file.
#[derive(Clone)]
pub struct Answer {
    /// The status.
    pub status: Status,
    /// The solutions kept, a value for each variable of the network.
    pub solutions: Vec<Vec<Value>>,
    /// The number of solutions found.
    pub n_solutions: u64,
    /// Whether the search found all that was requested.
    pub is_complete: bool,
    /// Why the search stopped early, if it did.
    pub stopped: Option<StopReason>,
    /// The values of the objective, in the order found.
    pub values: Vec<i64>,
    /// Counts and times of the search.
    pub statistics: Statistics,
    /// The solved instance.
    pub instance: Arc<Instance>,
}

/// Reads and solves an instance; calls `on_value` with each better value of the objective.
///
/// ```
/// use ludex_csp::SolveOptions;
/// use ludex_formats::xcsp3::solve_text;
/// let text = r#"<instance format="XCSP3" type="COP">
///     <variables> <var id="x"> 1..5 </var> <var id="y"> 1..5 </var> </variables>
///     <constraints> <intension> gt(add(x,y),6) </intension> </constraints>
///     <objectives> <minimize> add(mul(2,x),y) </minimize> </objectives>
/// </instance>"#;
/// let answer = solve_text(text, &SolveOptions::default(), &mut |_| {})?;
/// assert!(answer.to_string().starts_with("o 9\ns OPTIMUM FOUND\nv <instantiation"));
/// # Ok::<(), ludex_formats::FormatError>(())
/// ```
///
/// # Errors
/// When the text is not an instance, or the network can't be posted.
pub fn solve_text(
    text: &str,
    options: &SolveOptions,
    on_value: &mut (dyn FnMut(i64) + Send),
) -> Result<Answer, FormatError> {
    let instance = Arc::new(read_by(text, &options.search.deadline)?);
    solve_instance(instance, options, &mut |_, value| {
        if let Some(value) = value {
            on_value(value);
        }
    })
}

/// Solves an instance; calls `on_solution` with each solution and its objective.
///
/// # Errors
/// When the network can't be posted, or has an objective that the search does not support; with
/// the line of the mistake.
pub fn solve_instance(
    instance: Arc<Instance>,
    options: &SolveOptions,
    on_solution: &mut (dyn FnMut(&[Value], Option<i64>) + Send),
) -> Result<Answer, FormatError> {
    let mut values = Vec::new();
    let mut tell = |solution: &[Value], value: Option<i64>| {
        values.extend(value);
        on_solution(solution, value);
    };
    let report = solve_by(&instance.network, options, &mut tell)
        .map_err(|problem| instance.locate(problem))?;
    let is_optimizing = instance.network.objective().is_some();
    let status = match (report.best().is_some(), report.is_complete()) {
        (true, true) if is_optimizing => Status::Optimum,
        (true, _) => Status::Satisfiable,
        (false, true) => Status::Unsatisfiable,
        (false, false) => Status::Unknown,
    };
    Ok(Answer {
        status,
        n_solutions: report.n_solutions,
        is_complete: report.is_complete(),
        stopped: report.stopped,
        values,
        statistics: report.statistics,
        solutions: report.solutions,
        instance,
    })
}

impl Answer {
    /// Returns a solution as an XCSP3 instantiation, on one line.
    pub fn instantiation(&self, solution: &[Value]) -> String {
        self.instance.instantiation(solution)
    }
}

impl std::fmt::Display for Answer {
    /// Writes the lines of the competition: `o` for values, `s` for the status, `v` for
    /// solutions, `d` for details.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for value in &self.values {
            writeln!(f, "o {value}")?;
        }
        writeln!(f, "s {}", self.status.words())?;
        for solution in &self.solutions {
            writeln!(f, "v {}", self.instantiation(solution))?;
        }
        writeln!(f, "d FOUND SOLUTIONS {}", self.n_solutions)?;
        writeln!(f, "d COMPLETE EXPLORATION {}", self.is_complete)?;
        writeln!(f, "d NODES {}", self.statistics.n_nodes)?;
        writeln!(f, "d WRONG DECISIONS {}", self.statistics.n_conflicts)?;
        writeln!(f, "d RESTARTS {}", self.statistics.n_restarts)?;
        writeln!(f, "d SECONDS {:.3}", self.statistics.time.as_secs_f64())
    }
}
