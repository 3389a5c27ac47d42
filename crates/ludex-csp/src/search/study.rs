//! The searches from which MAC grew, kept for study and comparison.
//!
//! They go through the variables of the network in order, try values from the least, and
//! only ask constraints whether they hold, so a node costs constraint checks and nothing
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
//!
//! Backjumping after Prosser, *Hybrid Algorithms for the Constraint Satisfaction Problem*,
//! 1993; dynamic backtracking after Ginsberg, 1993.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use ludex_base::{Deadline, StopReason};
use rustc_hash::FxHashSet;

use super::Goal;
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
/// The deadline is asked every 1024 values.
///
/// # Errors
/// When the network is malformed, or a domain has too many values to be listed.
pub fn study(
    network: &Network,
    method: Method,
    goal: Goal,
    deadline: &Deadline,
) -> Result<StudyReport, CspError> {
    study_with(network, method, goal, deadline, &mut |_| {})
}

/// As [`study`], and tells of every solution as it is found.
///
/// # Errors
/// As [`study`].
pub fn study_with(
    network: &Network,
    method: Method,
    goal: Goal,
    deadline: &Deadline,
    on_solution: &mut dyn FnMut(&[Value]),
) -> Result<StudyReport, CspError> {
    let start = Instant::now();
    network.check()?;
    let mut study = Study::new(network, goal, deadline, on_solution)?;
    // Constraints on nothing hold or not from the start.
    let is_possible = (0..study.checks.len())
        .all(|c| !study.scopes[c].is_empty() || study.check(c) != Some(false));
    if is_possible {
        match method {
            Method::DynamicBacktracking => study.dynamic_backtracking(),
            Method::ForwardChecking => study.forward_checking(),
            _ => study.look_back(method),
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
    goal: Goal,
    deadline: &'a Deadline,
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
        goal: Goal,
        deadline: &'a Deadline,
        on_solution: &'a mut dyn FnMut(&[Value]),
    ) -> Result<Self, CspError> {
        let variables = network.variables();
        if let Some(wide) = variables.iter().find(|x| x.domain.len() > MAX_VALUES) {
            let variable = wide.name.clone();
            return Err(CspError::WideDomain { variable, what: "this search" });
        }
        let checks = Check::all(network);
        let scopes: Vec<Vec<usize>> = checks.iter().map(Check::scope).collect();
        let mut checks_of = vec![Vec::new(); variables.len()];
        for (c, scope) in scopes.iter().enumerate() {
            scope.iter().for_each(|&x| checks_of[x].push(c));
        }
        Ok(Self {
            goal,
            deadline,
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
        if self.report.n_nodes.is_multiple_of(1024) && self.deadline.reached() {
            self.report.stopped = Some(StopReason::Time);
        }
        self.report.stopped.is_some()
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
        if self.goal == Goal::Count {
            self.report.solutions.clear();
        }
        self.report.solutions.push(solution);
        self.report.n_solutions += 1;
        matches!(self.goal, Goal::First(n) if self.report.n_solutions >= n)
    }

    /// The methods that only differ in what they check and how far they go back.
    fn look_back(&mut self, method: Method) {
        let n = self.n();
        let mut next_value = vec![0; n];
        // By variable: earlier variables that had a part in the loss of a value.
        let mut culprits: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); n];
        let mut x = 0;
        loop {
            // Step 1. A complete assignment is a solution; go on from the last variable.
            if x == n {
                let holds = method != Method::GenerateAndTest || self.all_covered_hold();
                if (holds && self.solution()) || n == 0 {
                    return;
                }
                x -= 1;
                culprits[x].extend(0..x);
                continue;
            }
            // Step 2. The next value that passes.
            let mut found = false;
            while next_value[x] < self.domains[x].len() {
                let value = self.domains[x][next_value[x]];
                next_value[x] += 1;
                self.assignment[x] = Some(value);
                if self.tick() {
                    return;
                }
                let passes = match method {
                    Method::GenerateAndTest => true,
                    Method::Backtracking => self.all_covered_hold(),
                    _ => match self.violated(x) {
                        Some(others) => {
                            culprits[x].extend(others);
                            false
                        }
                        None => true,
                    },
                };
                if passes {
                    found = true;
                    self.assigned(x, x + 1);
                    break;
                }
                self.report.n_conflicts += 1;
            }
            if found {
                x += 1;
                continue;
            }
            // Step 3. Go back.
            self.assignment[x] = None;
            let target = match method {
                Method::Backjumping => culprits[x].last().copied(),
                _ => x.checked_sub(1),
            };
            let Some(target) = target else {
                return;
            };
            self.step(Step::WentBack(VarId::new(x), VarId::new(target)));
            let mut inherited = std::mem::take(&mut culprits[x]);
            inherited.remove(&target);
            for y in target + 1..=x {
                self.assignment[y] = None;
                next_value[y] = 0;
                culprits[y].clear();
            }
            culprits[target].extend(inherited);
            x = target;
        }
    }

    fn dynamic_backtracking(&mut self) {
        let n = self.n();
        // By variable and value: the assigned variables that rule the value out.
        let mut reasons: Vec<Vec<Option<BTreeSet<usize>>>> =
            self.domains.iter().map(|domain| vec![None; domain.len()]).collect();
        let mut chosen = vec![0; n];
        let mut order: Vec<usize> = Vec::new();
        loop {
            // Step 1. A complete assignment is a solution, ruled out from now on.
            let Some(x) = (0..n).find(|&x| self.assignment[x].is_none()) else {
                if self.solution() || n == 0 {
                    return;
                }
                let last = *order.last().expect("all are assigned");
                let others = order[..n - 1].iter().copied().collect();
                self.unassign(last, &mut order, &mut reasons);
                reasons[last][chosen[last]] = Some(others);
                continue;
            };
            // Step 2. The first value that nothing rules out.
            let mut found = false;
            for (at, reason) in reasons[x].iter_mut().enumerate() {
                if reason.is_some() {
                    continue;
                }
                self.assignment[x] = Some(self.domains[x][at]);
                if self.tick() {
                    return;
                }
                match self.violated(x) {
                    Some(others) => {
                        *reason = Some(others.into_iter().collect());
                        self.report.n_conflicts += 1;
                    }
                    None => {
                        chosen[x] = at;
                        found = true;
                        break;
                    }
                }
            }
            if found {
                order.push(x);
                self.assigned(x, order.len());
                continue;
            }
            // Step 3. Take back the latest variable that rules a value out.
            self.assignment[x] = None;
            let mut culprits: BTreeSet<usize> =
                reasons[x].iter().flatten().flatten().copied().collect();
            let Some(&culprit) = order.iter().rev().find(|y| culprits.contains(y)) else {
                return;
            };
            self.step(Step::WentBack(VarId::new(x), VarId::new(culprit)));
            culprits.remove(&culprit);
            self.unassign(culprit, &mut order, &mut reasons);
            reasons[culprit][chosen[culprit]] = Some(culprits);
        }
    }

    /// Takes a variable back and forgets what it ruled out.
    fn unassign(
        &mut self,
        x: usize,
        order: &mut Vec<usize>,
        reasons: &mut [Vec<Option<BTreeSet<usize>>>],
    ) {
        self.assignment[x] = None;
        order.retain(|&y| y != x);
        for reason in reasons.iter_mut().flatten() {
            if reason.as_ref().is_some_and(|culprits| culprits.contains(&x)) {
                *reason = None;
            }
        }
    }

    fn forward_checking(&mut self) {
        let n = self.n();
        // By variable and value: whether an assignment has ruled the value out.
        let mut is_pruned: Vec<Vec<bool>> =
            self.domains.iter().map(|domain| vec![false; domain.len()]).collect();
        // By variable: what its value has ruled out.
        let mut pruned_by: Vec<Vec<(usize, usize)>> = vec![Vec::new(); n];
        let mut next_value = vec![0; n];
        let mut x = 0;
        loop {
            // Step 1. A complete assignment is a solution; go on from the last variable.
            if x == n {
                if self.solution() || n == 0 {
                    return;
                }
                x -= 1;
            }
            // Step 2. The next value that leaves every later variable one.
            let mut found = false;
            while !found && next_value[x] < self.domains[x].len() {
                for (y, at) in pruned_by[x].drain(..) {
                    is_pruned[y][at] = false;
                }
                let at = next_value[x];
                next_value[x] += 1;
                if is_pruned[x][at] {
                    continue;
                }
                self.assignment[x] = Some(self.domains[x][at]);
                if self.tick() {
                    return;
                }
                found =
                    self.holds_alone(x) && self.prune_ahead(x, &mut is_pruned, &mut pruned_by[x]);
                self.report.n_conflicts += u64::from(!found);
            }
            if found {
                self.assigned(x, x + 1);
                x += 1;
                continue;
            }
            // Step 3. Go back.
            for (y, at) in pruned_by[x].drain(..) {
                is_pruned[y][at] = false;
            }
            self.assignment[x] = None;
            next_value[x] = 0;
            if x == 0 {
                return;
            }
            self.step(Step::WentBack(VarId::new(x), VarId::new(x - 1)));
            x -= 1;
        }
    }

    /// Whether the constraints on `x` alone hold; the others have pruned it already.
    fn holds_alone(&mut self, x: usize) -> bool {
        (0..self.checks_of[x].len()).all(|at| {
            let c = self.checks_of[x][at];
            self.scopes[c].len() > 1 || self.check(c) != Some(false)
        })
    }

    /// Removes values of variables that a constraint with `x` leaves alone; false when a
    /// domain becomes empty.
    fn prune_ahead(
        &mut self,
        x: usize,
        is_pruned: &mut [Vec<bool>],
        pruned: &mut Vec<(usize, usize)>,
    ) -> bool {
        for list_at in 0..self.checks_of[x].len() {
            let c = self.checks_of[x][list_at];
            let mut open = self.scopes[c].iter().filter(|&&y| self.assignment[y].is_none());
            let (Some(&y), None) = (open.next(), open.next()) else {
                continue;
            };
            for (at, is_pruned) in is_pruned[y].iter_mut().enumerate() {
                if !*is_pruned {
                    self.assignment[y] = Some(self.domains[y][at]);
                    if self.check(c) == Some(false) {
                        *is_pruned = true;
                        pruned.push((y, at));
                    }
                }
            }
            self.assignment[y] = None;
            if is_pruned[y].iter().all(|&is_pruned| is_pruned) {
                return false;
            }
        }
        true
    }
}
