//! The searches from which MAC grew, kept for study and comparison.
//!
//! They go through the variables in order and try values from the least, and they only ask
//! constraints whether they hold, so a node costs constraint checks and nothing else.
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

use ludex_base::{Deadline, StopReason};

use crate::domains::VarId;
use crate::engine::{Engine, PropagatorId};
use crate::{Propagator, Value};

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
    /// The solutions, in the order found.
    pub solutions: Vec<Vec<Value>>,
    /// Values tried.
    pub n_nodes: u64,
    /// Times a constraint was asked whether it holds.
    pub n_checks: u64,
    /// The steps, as long as there are not more than a hundred thousand.
    pub steps: Vec<Step>,
    /// Why the search stopped before the end, if it did.
    pub stopped: Option<StopReason>,
}

/// Searches the network in an engine for up to `limit` solutions. The engine is only read:
/// its domains as they are now are the domains searched.
///
/// The deadline is asked every 1024 values.
pub fn study(engine: &Engine, method: Method, limit: usize, deadline: &Deadline) -> StudyReport {
    let mut study = Study::new(engine, limit, deadline);
    // Constraints on nothing, such as an empty clause, hold or not from the start.
    let is_possible = engine.propagator_ids().all(|id| {
        let propagator = engine.propagator(id);
        !propagator.scope().is_empty() || propagator.holds(&[])
    });
    if is_possible {
        match method {
            Method::DynamicBacktracking => study.dynamic_backtracking(),
            Method::ForwardChecking => {
                let pruned = study.domains.iter().map(|domain| vec![0; domain.len()]).collect();
                study.forward_checking(0, pruned);
            }
            _ => study.look_back(method),
        }
    }
    study.report
}

struct Study<'a> {
    engine: &'a Engine,
    limit: usize,
    deadline: &'a Deadline,
    domains: Vec<Vec<Value>>,
    /// By variable: the constraints with it.
    constraints: Vec<Vec<PropagatorId>>,
    assignment: Vec<Option<Value>>,
    report: StudyReport,
}

const MAX_STEPS: usize = 100_000;

impl<'a> Study<'a> {
    fn new(engine: &'a Engine, limit: usize, deadline: &'a Deadline) -> Self {
        let domains = engine.domains();
        let n = domains.n_variables();
        let mut constraints = vec![Vec::new(); n];
        for id in engine.propagator_ids() {
            for x in engine.propagator(id).scope().iter().collect::<BTreeSet<_>>() {
                constraints[x.index()].push(id);
            }
        }
        Self {
            engine,
            limit,
            deadline,
            domains: domains.variables().map(|x| domains.values(x).collect()).collect(),
            constraints,
            assignment: vec![None; n],
            report: StudyReport::default(),
        }
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
    fn check(&mut self, id: PropagatorId) -> Option<bool> {
        let propagator: &dyn Propagator = self.engine.propagator(id);
        let tuple: Vec<Value> =
            propagator.scope().iter().map(|x| self.assignment[x.index()]).collect::<Option<_>>()?;
        self.report.n_checks += 1;
        Some(propagator.holds(&tuple))
    }

    /// The other variables of the first violated constraint that has `x`.
    fn violated(&mut self, x: usize) -> Option<Vec<usize>> {
        for at in 0..self.constraints[x].len() {
            let id = self.constraints[x][at];
            if self.check(id) == Some(false) {
                let scope = self.engine.propagator(id).scope();
                return Some(scope.iter().map(|y| y.index()).filter(|&y| y != x).collect());
            }
        }
        None
    }

    fn all_covered_hold(&mut self) -> bool {
        self.engine.propagator_ids().all(|id| self.check(id) != Some(false))
    }

    /// Enters a solution; true when there are enough.
    fn solution(&mut self) -> bool {
        let solution = self.assignment.iter().map(|value| value.expect("complete")).collect();
        self.report.solutions.push(solution);
        self.report.solutions.len() >= self.limit
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
                    self.step(Step::Assigned(VarId::new(x), value));
                    break;
                }
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
                    Some(others) => *reason = Some(others.into_iter().collect()),
                    None => {
                        chosen[x] = at;
                        found = true;
                        break;
                    }
                }
            }
            if found {
                order.push(x);
                let value = self.domains[x][chosen[x]];
                self.step(Step::Assigned(VarId::new(x), value));
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

    /// `pruned` holds, by variable and value, the depth at which the value went, or 0. True
    /// when the search is to end.
    fn forward_checking(&mut self, x: usize, mut pruned: Vec<Vec<usize>>) -> bool {
        if x == self.n() {
            return self.solution();
        }
        let depth = x + 1;
        for at in 0..self.domains[x].len() {
            if pruned[x][at] != 0 {
                continue;
            }
            let value = self.domains[x][at];
            self.assignment[x] = Some(value);
            if self.tick() {
                return true;
            }
            if self.violated(x).is_none() && self.prune_ahead(x, depth, &mut pruned) {
                self.step(Step::Assigned(VarId::new(x), value));
                if self.forward_checking(x + 1, pruned.clone()) {
                    return true;
                }
            }
            for depth_of in pruned.iter_mut().flatten() {
                if *depth_of == depth {
                    *depth_of = 0;
                }
            }
        }
        self.assignment[x] = None;
        if x > 0 {
            self.step(Step::WentBack(VarId::new(x), VarId::new(x - 1)));
        }
        false
    }

    /// Removes values of variables that a constraint with `x` leaves alone; false when a
    /// domain becomes empty.
    fn prune_ahead(&mut self, x: usize, depth: usize, pruned: &mut [Vec<usize>]) -> bool {
        for list_at in 0..self.constraints[x].len() {
            let id = self.constraints[x][list_at];
            let scope = self.engine.propagator(id).scope();
            let open: BTreeSet<usize> = (scope.iter().map(|y| y.index()))
                .filter(|&y| self.assignment[y].is_none())
                .collect();
            let [y] = open.into_iter().collect::<Vec<_>>()[..] else {
                continue;
            };
            for (at, depth_of) in pruned[y].iter_mut().enumerate() {
                if *depth_of == 0 {
                    self.assignment[y] = Some(self.domains[y][at]);
                    if self.check(id) == Some(false) {
                        *depth_of = depth;
                    }
                }
            }
            self.assignment[y] = None;
            if pruned[y].iter().all(|&depth_of| depth_of != 0) {
                return false;
            }
        }
        true
    }
}
