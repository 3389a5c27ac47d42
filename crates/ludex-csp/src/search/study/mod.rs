//! The searches from which MAC grew, kept for study and comparison.
//!
//! They go through the variables of the network in order (forward checking in any order
//! that it can tell), try values from the least, and only ask constraints whether they hold, so a node costs constraint checks and nothing
//! else. A constraint is asked when its last variable gets a value; an all-different is
//! asked pair by pair, as the clique of disequalities that it stands for.
//!
//! | method | looks back | looks ahead |
//! | --- | --- | --- |
//! | generate and test | to the last variable | not at all |
//! | backtracking | to the last variable | checks every covered constraint |
//! | backward checking | to the last variable | checks the constraints just covered |
//! | conflict-directed backjumping | to the last culprit | checks the constraints just covered |
//! | dynamic backtracking | takes back the last culprit alone | checks the constraints just covered |
//! | forward checking | to the last variable | prunes variables that a constraint leaves alone |

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
    /// Complete assignments are made and then tested.
    GenerateAndTest,
    /// Every constraint on assigned variables is tested after each assignment.
    Backtracking,
    /// Only constraints with the new variable are tested.
    BackwardChecking,
    /// A dead end is left to the last variable that had a part in it.
    Backjumping,
    /// The last variable that had a part in a dead end is unassigned, later ones stay.
    DynamicBacktracking,
    /// Values in conflict with an assignment are removed ahead.
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
    /// Whether the method can go by an order: the others than forward checking have nothing
    /// to tell variables apart by.
    pub fn knows(self, order: VariableOrder) -> bool {
        match order {
            VariableOrder::Lexicographic => true,
            VariableOrder::Impact | VariableOrder::Activity => false,
            _ => self == Method::ForwardChecking,
        }
    }
}

/// How to search.
#[derive(Clone, Debug)]
pub struct StudyConfig {
    /// The method.
    pub method: Method,
    /// What to look for.
    pub goal: Goal,
    /// Which variable is next; see [`Method::knows`].
    pub order: VariableOrder,
    /// When to stop; it is asked every 1024 checks of a constraint.
    pub deadline: Deadline,
}

impl StudyConfig {
    /// The method with variables as they come and no limit.
    pub fn new(method: Method, goal: Goal) -> Self {
        let deadline = Deadline::never();
        Self { method, goal, order: VariableOrder::Lexicographic, deadline }
    }
}

/// One thing a search did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A variable got a value that passed its checks.
    Assigned(VarId, Value),
    /// All values of the first failed, and the search went back to the second.
    WentBack(VarId, VarId),
}

/// What a study search found and what it cost.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StudyReport {
    /// The solutions, in the order found; only the last when they are counted.
    pub solutions: Vec<Vec<Value>>,
    /// How many solutions were found.
    pub n_solutions: u64,
    /// Values tried.
    pub n_nodes: u64,
    /// Values tried that failed their checks.
    pub n_conflicts: u64,
    /// Times a constraint was asked whether it holds.
    pub n_checks: u64,
    /// The most variables that had a value at once.
    pub max_depth: usize,
    /// The steps, as long as there are not more than a hundred thousand.
    pub steps: Vec<Step>,
    /// Why the search stopped before the end, if it did.
    pub stopped: Option<StopReason>,
    /// Time in all.
    pub time: Duration,
}

/// Searches a network; its objective is not considered.
///
/// # Errors
/// When the network is malformed, a domain has too many values to be listed, or the method
/// does not know the order.
pub fn study(network: &Network, config: &StudyConfig) -> Result<StudyReport, CspError> {
    study_with(network, config, &mut |_| {})
}

/// As [`study`], and tells of every solution as it is found.
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
    // Constraints on nothing hold or not from the start.
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

/// One question to ask when all variables of its scope have a value.
enum Check<'a> {
    /// A pair of terms that differ, or share a value that may be repeated.
    Differ(&'a Expr, &'a Expr, &'a ValueSet),
    /// A table, its tuples in a hash set.
    Table { scope: &'a [VarId], tuples: FxHashSet<&'a [Value]>, is_positive: bool },
    /// Anything else.
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
    /// By variable: the checks with it.
    checks_of: Vec<Vec<usize>>,
    assignment: Vec<Option<Value>>,
    report: StudyReport,
}

const MAX_STEPS: usize = 100_000;
/// Domains with more values than this are not listed.
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

    /// Counts a value tried; true when the search is to end.
    fn tick(&mut self) -> bool {
        self.report.n_nodes += 1;
        if self.report.n_nodes.is_multiple_of(1024) {
            self.ask_deadline();
        }
        self.report.stopped.is_some()
    }

    fn ask_deadline(&mut self) {
        if self.config.deadline.reached() {
            self.report.stopped = Some(StopReason::Time);
        }
    }

    fn step(&mut self, step: Step) {
        if self.report.steps.len() < MAX_STEPS {
            self.report.steps.push(step);
        }
    }

    /// Whether a constraint holds; `None` when not all its variables are assigned.
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

    /// The other variables of the first violated constraint that has `x`.
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

    /// A variable got a value that passed its checks.
    fn assigned(&mut self, x: usize, depth: usize) {
        let value = self.assignment[x].expect("the variable was assigned");
        self.report.max_depth = self.report.max_depth.max(depth);
        self.step(Step::Assigned(VarId::new(x), value));
    }

    /// Enters a solution; true when there are enough.
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
