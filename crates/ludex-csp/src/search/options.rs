//! One entry point for all searches, with options by name.

use std::time::{Duration, Instant};

use ludex_base::{Deadline, Seed, StopReason};

use super::local::{LocalConfig, LocalReport, min_conflicts};
use super::study::{Method, StudyConfig, StudyReport, study_with};
use super::{
    Branching, Goal, Report, Restarts, SearchConfig, Statistics, ValueOrder, VariableOrder,
    solve_with,
};
use crate::Value;
use crate::error::CspError;
use crate::network::Network;
use crate::post::AllDifferentStrength;
use crate::propagators::table::TableAlgorithm;
use crate::symmetry::{MAX_ELEMENTS, StructureLimits, break_symmetries, find_symmetries};

/// The search to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchMethod {
    /// Maintaining consistency.
    Mac,
    /// One of the searches kept for study.
    Study(Method),
    /// Min-conflicts, which finds solutions but proves nothing.
    Local,
}

impl SearchMethod {
    /// All methods with their names in options: `mac`, `local`, and those of [`Method::ALL`].
    pub const ALL: [(&'static str, SearchMethod); Method::ALL.len() + 2] = {
        let mut all = [("mac", SearchMethod::Mac); Method::ALL.len() + 2];
        all[1] = ("local", SearchMethod::Local);
        let mut i = 0;
        while i < Method::ALL.len() {
            let (name, method) = Method::ALL[i];
            all[i + 2] = (name, SearchMethod::Study(method));
            i += 1;
        }
        all
    };

    /// Returns the name in options.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, method)| *method == self).expect("all are listed").0
    }

    /// Returns the method with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        by_name(&Self::ALL, name)
    }
}

/// Options of a solver run. They can be set by name, so that an outer layer only passes them
/// on.
#[derive(Clone, Debug)]
pub struct SolveOptions {
    /// The solutions to search for.
    pub goal: Goal,
    /// The search to run.
    pub method: SearchMethod,
    /// The variable to branch on. `None` means the order in `search`; the searches kept for
    /// study then take the order of the file.
    pub order: Option<VariableOrder>,
    /// Whether to find the symmetries of the network first, and to add constraints that leave at
    /// least one of several symmetric solutions. Counts are then those of the solutions left.
    pub breaks_symmetries: bool,
    /// The configuration of the search that maintains consistency.
    pub search: SearchConfig,
}

impl Default for SolveOptions {
    fn default() -> Self {
        Self {
            goal: Goal::First(1),
            method: SearchMethod::Mac,
            order: None,
            breaks_symmetries: false,
            search: SearchConfig::default(),
        }
    }
}

impl SolveOptions {
    /// Sets an option by its name: `propagator`, `all-different`, `search`, `order`, `values`,
    /// `branching`, `restarts`, `threads`, `seed`, `time` (seconds), `limit`, and with `true`
    /// or `false` `sac`, `preprocess` and `break-symmetries`.
    ///
    /// # Errors
    /// Returns a message for the user that lists the valid choices.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number = || -> Result<u64, String> {
            value.parse().map_err(|_| format!("`{value}` for `{name}` is not a whole number"))
        };
        let flag = || -> Result<bool, String> {
            value.parse().map_err(|_| format!("`{value}` for `{name}` is not `true` or `false`"))
        };
        match name {
            "propagator" => {
                self.search.post.table = named(&TableAlgorithm::ALL, name, value)?;
            }
            "all-different" => {
                self.search.post.all_different = named(&AllDifferentStrength::ALL, name, value)?;
            }
            "search" => self.method = named(&SearchMethod::ALL, name, value)?,
            "order" => self.order = Some(named(&VariableOrder::ALL, name, value)?),
            "branching" => self.search.branching = named(&Branching::ALL, name, value)?,
            "values" => self.search.value_order = named(&ValueOrder::ALL, name, value)?,
            "restarts" => self.search.restarts = named(&Restarts::ALL, name, value)?,
            "threads" => self.search.n_threads = number()?.clamp(1, 1024) as usize,
            "seed" => self.search.seed = Seed(number()?),
            "limit" => self.goal = Goal::First(number()?.max(1)),
            "time" => {
                let seconds: f64 =
                    value.parse().map_err(|_| format!("`{value}` is not a number of seconds"))?;
                let time = Duration::try_from_secs_f64(seconds)
                    .map_err(|_| format!("`{value}` is not a number of seconds"))?;
                self.search.deadline = Deadline::after(time);
            }
            "sac" => self.search.singleton_consistency = flag()?,
            "preprocess" => self.search.preprocesses = flag()?,
            "break-symmetries" => self.breaks_symmetries = flag()?,
            _ => return Err(format!("there is no option `{name}`")),
        }
        Ok(())
    }
}

fn by_name<T: Copy>(all: &[(&str, T)], name: &str) -> Option<T> {
    all.iter().find(|(own, _)| *own == name).map(|(_, value)| *value)
}

fn named<T: Copy>(all: &[(&'static str, T)], option: &str, name: &str) -> Result<T, String> {
    by_name(all, name).ok_or_else(|| choices(option, name, all.iter().map(|(name, _)| *name)))
}

fn choices<'a>(option: &str, name: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    format!("`{name}` is not a value of `{option}`; use one of {}", names.join(", "))
}

/// The part of the time in which symmetries are looked for, and the time if there is no limit.
const SYMMETRY_PART: f64 = 0.25;
const SYMMETRY_TIME: Duration = Duration::from_secs(60);

/// Solves a network by the search that the options name, and calls `on_solution` with each
/// solution and its objective.
///
/// # Errors
/// When the network can't be posted, or has an objective that the search does not support.
pub fn solve_by(
    network: &Network,
    options: &SolveOptions,
    on_solution: &mut (dyn FnMut(&[Value], Option<i64>) + Send),
) -> Result<Report, CspError> {
    if options.breaks_symmetries {
        let mut broken = network.clone();
        let whole = &options.search.deadline;
        let deadline = match whole.remaining() {
            Some(_) => whole.part(SYMMETRY_PART),
            None => whole.no_later_than(Instant::now() + SYMMETRY_TIME),
        };
        // A network that is too large to look at is solved as it is.
        if let Ok(found) = find_symmetries(network, &StructureLimits::default(), &deadline) {
            break_symmetries(&mut broken, &found, MAX_ELEMENTS);
        }
        let options = SolveOptions { breaks_symmetries: false, ..options.clone() };
        return solve_by(&broken, &options, on_solution);
    }
    match options.method {
        SearchMethod::Mac => {
            let variable_order = options.order.unwrap_or(options.search.variable_order);
            let config =
                SearchConfig { goal: options.goal, variable_order, ..options.search.clone() };
            solve_with(network, &config, on_solution)
        }
        _ if network.objective().is_some() => {
            Err(CspError::InObjective { problem: Box::new(CspError::ObjectiveIgnored) })
        }
        SearchMethod::Study(method) => {
            let config = StudyConfig {
                order: options.order.unwrap_or(VariableOrder::Lexicographic),
                deadline: options.search.deadline.clone(),
                ..StudyConfig::new(method, options.goal)
            };
            let mut tell = |solution: &[Value]| on_solution(solution, None);
            Ok(study_with(network, &config, &mut tell)?.into())
        }
        SearchMethod::Local => {
            let config = LocalConfig {
                seed: options.search.seed,
                deadline: options.search.deadline.clone(),
                ..LocalConfig::default()
            };
            let found = min_conflicts(network, &config)?;
            if let Some(solution) = &found.solution {
                on_solution(solution, None);
            }
            Ok(local_report(found, options.goal))
        }
    }
}

impl From<StudyReport> for Report {
    fn from(found: StudyReport) -> Self {
        Report {
            n_solutions: found.n_solutions,
            solutions: found.solutions,
            value: None,
            stopped: found.stopped,
            statistics: Statistics {
                n_nodes: found.n_nodes,
                n_conflicts: found.n_conflicts,
                max_depth: found.max_depth,
                time: found.time,
                ..Statistics::default()
            },
        }
    }
}

fn local_report(found: LocalReport, goal: Goal) -> Report {
    // Local search finds one solution and never knows whether there are more.
    let is_enough = found.solution.is_some() && goal == Goal::First(1);
    let stopped = (!is_enough).then_some(found.stopped.unwrap_or(StopReason::Count));
    let solutions: Vec<Vec<Value>> = found.solution.into_iter().collect();
    let statistics =
        Statistics { n_nodes: found.n_steps, time: found.time, ..Statistics::default() };
    let n_solutions = solutions.len() as u64;
    Report { n_solutions, solutions, stopped, statistics, value: None }
}
