//! Solving a file, and saying what came out as the XCSP3 competition asks.

use std::sync::Arc;

use ludex_base::StopReason;
use ludex_csp::{SolveOptions, Statistics, Value, solve_by};

use super::read::{Instance, read_by};
use crate::FormatError;

/// What is known at the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// There is a solution.
    Satisfiable,
    /// There is none.
    Unsatisfiable,
    /// The last solution is a best one.
    Optimum,
    /// The search stopped before it knew anything.
    Unknown,
}

impl Status {
    /// The words of the competition.
    pub fn words(self) -> &'static str {
        match self {
            Status::Satisfiable => "SATISFIABLE",
            Status::Unsatisfiable => "UNSATISFIABLE",
            Status::Optimum => "OPTIMUM FOUND",
            Status::Unknown => "UNKNOWN",
        }
    }
}

/// What came out of solving a file.
#[derive(Clone)]
pub struct Answer {
    /// What is known.
    pub status: Status,
    /// The solutions kept, a value for each variable of the network.
    pub solutions: Vec<Vec<Value>>,
    /// How many solutions were found.
    pub n_solutions: u64,
    /// Whether all that was asked for was seen.
    pub is_complete: bool,
    /// Why not, where it was not.
    pub stopped: Option<StopReason>,
    /// The values of the objective, in the order found.
    pub values: Vec<i64>,
    /// What the search did.
    pub statistics: Statistics,
    /// The instance that was solved.
    pub instance: Arc<Instance>,
}

/// Reads and solves an instance; `on_value` is told each better value of the objective as
/// it is found.
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
/// When the text is no instance, or the network can't be posted.
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

/// Solves an instance; `on_solution` is told each solution, with its objective, as it is
/// found.
///
/// # Errors
/// When the network can't be posted, or has an objective that the search can't look at; with
/// the line of the file that states what is wrong.
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
    /// A solution as an XCSP3 instantiation, on one line.
    pub fn instantiation(&self, solution: &[Value]) -> String {
        self.instance.instantiation(solution)
    }
}

impl std::fmt::Display for Answer {
    /// The lines of the competition: `o` for values, `s` for the status, `v` for solutions,
    /// `d` for details.
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
