//! What an answer says.

use std::sync::Arc;
use std::time::Duration;

use ludex_base::{Goal, MoveId, RoleId, StopReason};
use ludex_verify::{Proof, Value};

use crate::Method;

/// Bounds that differ by at most this many points are one value. Means are rounded to a billionth of
/// a point in each state, and mixed choices to a billionth of a whole.
pub const TOLERANCE: f64 = 1e-6;

/// Returns whether bounds are close enough to be one value.
pub(crate) fn is_value(bounds: (Value, Value)) -> bool {
    points(bounds.1) - points(bounds.0) <= TOLERANCE
}

/// Returns a value in points.
pub fn points(value: Value) -> f64 {
    value.to_string().parse().expect("a value is written as a number")
}

/// What is known about a state: the value for each role, and how it is known.
#[derive(Clone, PartialEq, Debug)]
pub struct Solution {
    /// For each role, bounds on its goal if every role plays best.
    pub bounds: Vec<Bounds>,
    /// Joint moves that reach the lower bound, from the state to a terminal one. Empty if no play
    /// that ends is known.
    pub line: Vec<Vec<MoveId>>,
    /// The method that found the line, or that closed the bounds if there is none.
    pub method: Option<Method>,
    /// What proves the upper bounds.
    pub evidence: Evidence,
    /// Whether the line is proved to be a shortest one that reaches the lower bound.
    pub is_shortest: bool,
    /// For each role, closer bounds than `bounds` if these are not whole goals: there is chance, or
    /// roles mix their choices. Empty otherwise.
    pub means: Vec<(Value, Value)>,
    /// What a certificate says, if it was asked for and found.
    pub proofs: Arc<[Proof]>,
    /// Different states stored by all methods.
    pub n_states: u64,
    /// Nodes of all searches: states expanded, or decisions of a constraint solver.
    pub n_nodes: u64,
    /// Time taken.
    pub time: Duration,
    /// Why the work ended before the bounds met; `None` if they did, or if no method is left.
    pub stopped: Option<StopReason>,
}

impl Solution {
    /// Returns whether the value of every role is known.
    pub fn is_solved(&self) -> bool {
        let is_known = |(idx, bounds): (usize, &Bounds)| {
            bounds.value().is_some() || self.means.get(idx).is_some_and(|&it| is_value(it))
        };
        self.bounds.iter().enumerate().all(is_known)
    }

    /// Returns the value for a role, if it is known.
    pub fn value(&self, role: RoleId) -> Option<Goal> {
        self.bounds[role.index()].value()
    }
}

/// An interval that contains the value of a game for a role.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// The role can reach this goal.
    pub lower: Goal,
    /// The role cannot reach more than this goal.
    pub upper: Goal,
}

impl Bounds {
    /// Bounds that exclude nothing.
    pub const ANY: Bounds = Bounds { lower: Goal::MIN, upper: Goal::MAX };

    /// Returns the value if the bounds meet.
    pub fn value(self) -> Option<Goal> {
        (self.lower == self.upper).then_some(self.lower)
    }

    /// Returns whether a goal is within the bounds.
    pub fn contains(self, goal: Goal) -> bool {
        (self.lower..=self.upper).contains(&goal)
    }
}

/// What proves an upper bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// The rules derive no larger goal.
    Rules,
    /// Every state that can be reached was visited.
    Enumeration,
    /// A constraint network that every better play satisfies has no solution.
    Constraints,
    /// The other roles have a strategy against more.
    Strategy,
    /// The parts of the game, each explored alone, cannot show the goals more together.
    Parts,
}

impl Evidence {
    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Evidence::Rules => "rules",
            Evidence::Enumeration => "enumeration",
            Evidence::Constraints => "constraints",
            Evidence::Strategy => "strategy",
            Evidence::Parts => "parts",
        }
    }
}
