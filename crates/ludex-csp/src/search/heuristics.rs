//! The order in which the search tries variables and values.

use ludex_base::Rng;

use crate::domains::{Domains, VarId};
use crate::engine::{Engine, PropagatorId};
use crate::{Propagator, Value};

/// The variable to branch on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VariableOrder {
    /// The first in the network.
    Lexicographic,
    /// The smallest domain.
    Dom,
    /// The smallest ratio of domain size to number of constraints.
    DomDeg,
    /// The smallest ratio of domain size to number of constraints with another open variable.
    DomDdeg,
    /// The smallest ratio of domain size to weight of the constraints that failed.
    ///
    /// After Boussemart, Hemery, Lecoutre and Sais, *Boosting systematic search by weighting
    /// constraints*, ECAI 2004, with the increments "ca.cd" of Wattez, Lecoutre, Paparrizou
    /// and Tabary, *Refining Constraint Weighting*, ICTAI 2019: a failure counts more for a
    /// variable when the constraint has few open variables and the variable few values. Weight
    /// of an auxiliary variable goes to the variables it is computed from.
    DomWdeg,
    /// The greatest reduction of the search space by past decisions.
    Impact,
    /// The greatest ratio of prunings to domain size.
    Activity,
}

impl VariableOrder {
    /// All orders with their names in options.
    pub const ALL: [(&'static str, VariableOrder); 7] = [
        ("lex", VariableOrder::Lexicographic),
        ("dom", VariableOrder::Dom),
        ("dom/deg", VariableOrder::DomDeg),
        ("dom/ddeg", VariableOrder::DomDdeg),
        ("dom/wdeg", VariableOrder::DomWdeg),
        ("impact", VariableOrder::Impact),
        ("activity", VariableOrder::Activity),
    ];

    /// Returns the name in options.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, order)| *order == self).expect("all are listed").0
    }
}

/// The value to try first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueOrder {
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// A random value.
    Random,
    /// The value in the last solution. Before the first solution: the value that leaves the
    /// best bound for the objective, and without objective the least value.
    LastSolution,
}

impl ValueOrder {
    /// All orders with their names in options.
    pub const ALL: [(&'static str, ValueOrder); 4] = [
        ("min", ValueOrder::Min),
        ("max", ValueOrder::Max),
        ("random", ValueOrder::Random),
        ("last", ValueOrder::LastSolution),
    ];

    /// Returns the index of the value to try.
    pub(super) fn choose(
        self,
        x: VarId,
        last_solution: Option<&[Value]>,
        domains: &Domains,
        rng: &mut Rng,
    ) -> u32 {
        let (lo, hi) = domains.index_bounds(x);
        match self {
            ValueOrder::Min => lo,
            ValueOrder::Max => hi,
            ValueOrder::Random if domains.size(x) <= 1 << 16 => {
                let at = rng.below(domains.size(x) as usize);
                domains.indexes(x).nth(at).expect("the size counts the values")
            }
            ValueOrder::Random => lo,
            ValueOrder::LastSolution => last_solution
                .and_then(|solution| solution.get(x.index()))
                .and_then(|&value| domains.index_of(x, value))
                .filter(|&index| domains.contains_index(x, index))
                .unwrap_or(lo),
        }
    }
}

/// The scores that the adaptive orders have learned.
pub(super) struct Scores {
    order: VariableOrder,
    /// By variable: degree, weighted degree, impact or activity.
    scores: Vec<f64>,
    /// By variable: the number of observations in the mean impact.
    n_seen: Vec<u32>,
    /// By variable: the propagators that have it in their scope.
    constraints: Vec<Vec<PropagatorId>>,
    /// By variable: the variables it is computed from, if it is auxiliary.
    origins: Vec<Vec<VarId>>,
    /// Sizes before the decision under observation.
    sizes: Vec<u64>,
}

/// Factor by which activity decays.
const ACTIVITY_DECAY: f64 = 0.999;

impl Scores {
    pub fn new(order: VariableOrder, engine: &Engine, origins: Vec<Vec<VarId>>) -> Self {
        let n = engine.domains().n_variables();
        let mut constraints = vec![Vec::new(); n];
        for id in engine.propagator_ids() {
            let mut scope = engine.propagator(id).scope().to_vec();
            scope.sort_unstable();
            scope.dedup();
            for x in scope {
                constraints[x.index()].push(id);
            }
        }
        let scores = match order {
            VariableOrder::DomDeg | VariableOrder::DomWdeg | VariableOrder::DomDdeg => {
                constraints.iter().map(|list| list.len() as f64).collect()
            }
            _ => vec![0.0; n],
        };
        Self { order, scores, n_seen: vec![0; n], constraints, origins, sizes: vec![0; n] }
    }

    /// Returns the best of the open variables. Ties go to the first in the network.
    pub fn choose(&self, open: &[VarId], engine: &Engine) -> VarId {
        let domains = engine.domains();
        let key = |x: VarId| -> f64 {
            let size = domains.size(x) as f64;
            let score = self.scores[x.index()];
            match self.order {
                VariableOrder::Lexicographic => 0.0,
                VariableOrder::Dom => size,
                VariableOrder::DomDeg | VariableOrder::DomWdeg => size / score.max(1e-9),
                VariableOrder::DomDdeg => size / self.dynamic_degree(x, engine).max(0.5),
                VariableOrder::Impact => -score * size,
                VariableOrder::Activity => -score / size,
            }
        };
        let mut best = open[0];
        let mut best_key = key(best);
        for &x in &open[1..] {
            let key = key(x);
            if key < best_key || (key == best_key && x < best) {
                (best, best_key) = (x, key);
            }
        }
        best
    }

    fn dynamic_degree(&self, x: VarId, engine: &Engine) -> f64 {
        let has_other = |propagator: &dyn Propagator| {
            propagator.scope().iter().any(|&y| y != x && !engine.domains().is_fixed(y))
        };
        let list = &self.constraints[x.index()];
        list.iter().filter(|&&id| has_other(engine.propagator(id))).count() as f64
    }

    /// Learns from a conflict, while the domains still show it.
    pub fn on_conflict(&mut self, engine: &Engine) {
        let (VariableOrder::DomWdeg, Some(id)) = (self.order, engine.last_conflict()) else {
            return;
        };
        let domains = engine.domains();
        let scope = engine.propagator(id).scope();
        let n_open = scope.iter().filter(|&&x| !domains.is_fixed(x)).count().max(1);
        let wiped = domains.conflict_var();
        for &x in scope {
            let is_wiped = wiped == Some(x);
            if domains.is_fixed(x) && !is_wiped {
                continue;
            }
            let size = if is_wiped { 0.5 } else { domains.size(x) as f64 };
            let increment = 1.0 / (n_open as f64 * size);
            self.scores[x.index()] += increment;
            if let Some(origins) = self.origins.get(x.index())
                && !origins.is_empty()
            {
                let share = increment / origins.len() as f64;
                for &origin in origins {
                    self.scores[origin.index()] += share;
                }
            }
        }
    }

    fn observes(&self) -> bool {
        matches!(self.order, VariableOrder::Impact | VariableOrder::Activity)
    }

    /// Records the sizes before a decision.
    pub fn before_decision(&mut self, engine: &Engine) {
        if self.observes() {
            for x in engine.domains().variables() {
                self.sizes[x.index()] = engine.domains().size(x);
            }
        }
    }

    /// Learns from the effect of a decision on `x`.
    pub fn after_decision(&mut self, x: VarId, engine: &Engine, is_conflict: bool) {
        if !self.observes() {
            return;
        }
        let domains = engine.domains();
        if self.order == VariableOrder::Impact {
            let log_ratio: f64 = domains
                .variables()
                .map(|y| (domains.size(y) as f64 / self.sizes[y.index()].max(1) as f64).log2())
                .sum();
            let impact = if is_conflict { 1.0 } else { 1.0 - log_ratio.exp2() };
            let n = &mut self.n_seen[x.index()];
            *n += 1;
            self.scores[x.index()] += (impact - self.scores[x.index()]) / f64::from(*n);
            return;
        }
        for y in domains.variables() {
            let score = &mut self.scores[y.index()];
            if domains.size(y) < self.sizes[y.index()] {
                *score += 1.0;
            } else if self.sizes[y.index()] > 1 {
                *score *= ACTIVITY_DECAY;
            }
        }
    }
}
