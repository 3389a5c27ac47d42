//! The searches from which MAC developed, kept for study and comparison.
//!
//! They assign the variables in the order of the network (forward checking also in other
//! orders), try values from the least, and only test whether constraints hold, so a node costs
//! constraint checks and nothing else. A constraint is tested when its last variable gets a
//! value. An all-different is tested pair by pair, as a clique of disequalities.
//!
//! | method | looks back | looks ahead |
//! | --- | --- | --- |
//! | generate and test | to the last variable | not at all |
//! | backtracking | to the last variable | checks every covered constraint |
//! | backward checking | to the last variable | checks the constraints just covered |
//! | conflict-directed backjumping | to the last culprit | checks the constraints just covered |
//! | dynamic backtracking | unassigns only the last culprit | checks the constraints just covered |
//! | forward checking | to the last variable | prunes the last unassigned variable of a constraint |

mod dynamic;
mod forward;
mod look_back;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use ludex_base::{Deadline, StopReason};
use rustc_hash::FxHashSet;

use super::{Goal, VariableOrder};
use crate::constraint::Constraint;
use crate::domains::VarId;
use crate::error::CspError;
use crate::expr::Expr;
use crate::network::Network;
use crate::{Value, ValueSet};

/// A search method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Builds complete assignments and tests them.
    GenerateAndTest,
    /// Tests every constraint on assigned variables after each assignment.
    Backtracking,
    /// Tests only the constraints with the new variable.
    BackwardChecking,
    /// Backtracks from a dead end to the last variable that contributed to it.
    Backjumping,
    /// Unassigns the last variable that contributed to a dead end and keeps the later ones.
    DynamicBacktracking,
    /// Removes values in conflict with an assignment from later variables.
    ForwardChecking,
}

impl Method {
    /// All methods with their names in options.
    pub const ALL: [(&'static str, Method); 6] = [
        ("gt", Method::GenerateAndTest),
        ("bt", Method::Backtracking),
        ("bc", Method::BackwardChecking),
        ("cbj", Method::Backjumping),
        ("dbt", Method::DynamicBacktracking),
        ("fc", Method::ForwardChecking),
    ];
}

impl Method {
    /// Whether the method supports an order. Only forward checking has data to rank variables
    /// by.
    pub fn knows(self, order: VariableOrder) -> bool {
        match order {
            VariableOrder::Lexicographic => true,
            VariableOrder::Impact | VariableOrder::Activity => false,
            _ => self == Method::ForwardChecking,
        }
    }
}

/// The configuration of a study search.
#[derive(Clone, Debug)]
pub struct StudyConfig {
    /// The method.
    pub method: Method,
    /// The solutions to search for.
    pub goal: Goal,
    /// The order of variables; see [`Method::knows`].
    pub order: VariableOrder,
    /// When to stop; checked every 1024 tests of a constraint.
    pub deadline: Deadline,
}

impl StudyConfig {
    /// Creates a configuration in the order of the network and without limit.
    pub fn new(method: Method, goal: Goal) -> Self {
        let deadline = Deadline::never();
        Self { method, goal, order: VariableOrder::Lexicographic, deadline }
    }
}

/// One step of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A variable got a value that passed its checks.
    Assigned(VarId, Value),
    /// All values of the first variable failed, and the search went back to the second.
    WentBack(VarId, VarId),
}

/// The result of a study search, with its cost.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StudyReport {
    /// The solutions in the order found; only the last one when counting.
    pub solutions: Vec<Vec<Value>>,
    /// The number of solutions found.
    pub n_solutions: u64,
    /// Number of values tried.
    pub n_nodes: u64,
    /// Number of values that failed their checks.
    pub n_conflicts: u64,
    /// Number of tests of a constraint.
    pub n_checks: u64,
    /// Greatest number of variables assigned at once.
    pub max_depth: usize,
    /// The first hundred thousand steps.
    pub steps: Vec<Step>,
    /// Why the search stopped before the end, if it did.
    pub stopped: Option<StopReason>,
    /// Total time.
    pub time: Duration,
}

/// Searches a network; ignores its objective.
///
/// # Errors
/// When the network is malformed, a domain has too many values to list, or the method does not
/// support the order.
pub fn study(network: &Network, config: &StudyConfig) -> Result<StudyReport, CspError> {
    study_with(network, config, &mut |_| {})
}

/// Works as [`study`] and calls `on_solution` with each solution.
///
/// # Errors
/// As [`study`].
pub fn study_with(
    network: &Network,
    config: &StudyConfig,
    on_solution: &mut dyn FnMut(&[Value]),
) -> Result<StudyReport, CspError> {
    let start = Instant::now();
    network.check()?;
    if !config.method.knows(config.order) {
        return Err(CspError::UnknownOrder { order: config.order.name() });
    }
    let mut study = Study::new(network, config, on_solution)?;
    // Constraints without variables are decided from the start.
    let is_possible = (0..study.checks.len())
        .all(|c| !study.scopes[c].is_empty() || study.check(c) != Some(false));
    if is_possible {
        match config.method {
            Method::DynamicBacktracking => study.dynamic_backtracking(),
            Method::ForwardChecking => study.forward_checking(),
            method => study.look_back(method),
        }
    }
    Ok(StudyReport { time: start.elapsed(), ..study.report })
}

/// A test to make when all variables of its scope have a value.
enum Check<'a> {
    /// Two terms differ, or share a value that may be repeated.
    Differ(&'a Expr, &'a Expr, &'a ValueSet),
    /// A table, its tuples in a hash set.
    Table { scope: &'a [VarId], tuples: FxHashSet<&'a [Value]>, is_positive: bool },
    /// Any other constraint.
    Constraint(&'a Constraint),
}

impl Check<'_> {
    fn all(network: &Network) -> Vec<Check<'_>> {
        let mut checks = Vec::new();
        for constraint in network.constraints() {
            match constraint {
                Constraint::AllDifferent { list, except } => {
                    for (i, first) in list.iter().enumerate() {
                        checks.extend(list[..i].iter().map(|e| Check::Differ(e, first, except)));
                    }
                }
                Constraint::Table { scope, table, is_positive } if !table.has_stars() => {
                    let tuples = table.tuples().collect();
                    checks.push(Check::Table { scope, tuples, is_positive: *is_positive });
                }
                constraint => checks.push(Check::Constraint(constraint)),
            }
        }
        checks
    }

    fn scope(&self) -> Vec<usize> {
        let scope: BTreeSet<VarId> = match self {
            Check::Differ(a, b, _) => a.scope().into_iter().chain(b.scope()).collect(),
            Check::Table { scope, .. } => scope.iter().copied().collect(),
            Check::Constraint(constraint) => constraint.scope().into_iter().collect(),
        };
        scope.into_iter().map(VarId::index).collect()
    }

    fn holds(&self, value_of: &dyn Fn(VarId) -> i64) -> bool {
        match self {
            Check::Differ(a, b, except) => match (a.eval(value_of), b.eval(value_of)) {
                (Some(a), Some(b)) => {
                    a != b || Value::try_from(a).is_ok_and(|value| except.contains(value))
                }
                _ => false,
            },
            Check::Table { scope, tuples, is_positive } => {
                let tuple: Vec<Value> = scope.iter().map(|&x| value_of(x) as Value).collect();
                tuples.contains(&tuple[..]) == *is_positive
            }
            Check::Constraint(constraint) => constraint.holds(value_of),
        }
    }
}

struct Study<'a> {
    config: &'a StudyConfig,
    on_solution: &'a mut dyn FnMut(&[Value]),
    domains: Vec<Vec<Value>>,
    checks: Vec<Check<'a>>,
    /// By check: its variables, each once.
    scopes: Vec<Vec<usize>>,
    /// By variable: the checks that contain it.
    checks_of: Vec<Vec<usize>>,
    assignment: Vec<Option<Value>>,
    report: StudyReport,
}

const MAX_STEPS: usize = 100_000;
/// Largest domain whose values are listed.
const MAX_VALUES: u64 = 1 << 20;

impl<'a> Study<'a> {
    fn new(
        network: &'a Network,
        config: &'a StudyConfig,
        on_solution: &'a mut dyn FnMut(&[Value]),
    ) -> Result<Self, CspError> {
        let variables = network.variables();
        if let Some(wide) = network.ids().find(|&x| network.variable(x).domain.len() > MAX_VALUES) {
            let variable = network.named(wide);
            return Err(CspError::WideDomain { variable, what: "this search" });
        }
        let checks = Check::all(network);
        let scopes: Vec<Vec<usize>> = checks.iter().map(Check::scope).collect();
        let mut checks_of = vec![Vec::new(); variables.len()];
        for (c, scope) in scopes.iter().enumerate() {
            scope.iter().for_each(|&x| checks_of[x].push(c));
        }
        Ok(Self {
            config,
            on_solution,
            domains: variables.iter().map(|x| x.domain.iter().collect()).collect(),
            checks,
            scopes,
            checks_of,
            assignment: vec![None; variables.len()],
            report: StudyReport::default(),
        })
    }

    fn n(&self) -> usize {
        self.domains.len()
    }

    /// Counts a tried value; returns true when the search must end.
    fn tick(&mut self) -> bool {
        self.report.n_nodes += 1;
        if self.report.n_nodes.is_multiple_of(1024) {
            self.ask_deadline();
        }
        self.report.stopped.is_some()
    }

    fn ask_deadline(&mut self) {
        if self.config.deadline.reached() {
            self.report.stopped = Some(StopReason::of_deadline());
        }
    }

    fn step(&mut self, step: Step) {
        if self.report.steps.len() < MAX_STEPS {
            self.report.steps.push(step);
        }
    }

    /// Returns whether a constraint holds; `None` when some of its variables are unassigned.
    fn check(&mut self, c: usize) -> Option<bool> {
        if self.scopes[c].iter().any(|&x| self.assignment[x].is_none()) {
            return None;
        }
        self.report.n_checks += 1;
        if self.report.n_checks.is_multiple_of(1024) {
            self.ask_deadline();
        }
        let assignment = &self.assignment;
        let value_of = |x: VarId| i64::from(assignment[x.index()].expect("the scope is assigned"));
        Some(self.checks[c].holds(&value_of))
    }

    /// Returns the other variables of the first violated constraint that contains `x`.
    fn violated(&mut self, x: usize) -> Option<Vec<usize>> {
        for at in 0..self.checks_of[x].len() {
            let c = self.checks_of[x][at];
            if self.check(c) == Some(false) {
                return Some(self.scopes[c].iter().copied().filter(|&y| y != x).collect());
            }
        }
        None
    }

    fn all_covered_hold(&mut self) -> bool {
        (0..self.checks.len()).all(|c| self.check(c) != Some(false))
    }

    /// Records that a variable got a value that passed its checks.
    fn assigned(&mut self, x: usize, depth: usize) {
        let value = self.assignment[x].expect("the variable was assigned");
        self.report.max_depth = self.report.max_depth.max(depth);
        self.step(Step::Assigned(VarId::new(x), value));
    }

    /// Records a solution; returns true when there are enough.
    fn solution(&mut self) -> bool {
        let solution: Vec<Value> =
            self.assignment.iter().map(|value| value.expect("complete")).collect();
        (self.on_solution)(&solution);
        if self.config.goal == Goal::Count {
            self.report.solutions.clear();
        }
        self.report.solutions.push(solution);
        self.report.n_solutions += 1;
        matches!(self.config.goal, Goal::First(n) if self.report.n_solutions >= n)
    }
}
