//! What an answer says.

use std::time::Duration;

use ludex_base::{Goal, MoveId, RoleId, StopReason};

use crate::Method;

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
        self.bounds.iter().all(|bounds| bounds.value().is_some())
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
}

impl Evidence {
    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Evidence::Rules => "rules",
            Evidence::Enumeration => "enumeration",
            Evidence::Constraints => "constraints",
        }
    }
}
