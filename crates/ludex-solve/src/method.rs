//! The list of methods.

use crate::Kind;

/// A way to solve a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Constraints on the final state of a puzzle; see [`crate::puzzle::placement`].
    Placement,
    /// Best-first search of a puzzle; see [`crate::puzzle::best_first`].
    BestFirst,
    /// A* search of a puzzle; see [`crate::puzzle::best_first`].
    AStar,
    /// Breadth-first search of a puzzle; see [`crate::puzzle::breadth`].
    Breadth,
}

/// All methods, in the order of the help text.
pub static METHODS: &[Method] =
    &[Method::Placement, Method::BestFirst, Method::Breadth, Method::AStar];

impl Method {
    /// Returns its name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Method::Placement => "placement",
            Method::BestFirst => "best-first",
            Method::AStar => "astar",
            Method::Breadth => "breadth",
        }
    }

    /// Returns what it does, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Method::Placement => "solve a puzzle as one constraint network over its final state",
            Method::BestFirst => "visit the states of a puzzle that look nearest to the goal first",
            Method::AStar => "find a shortest line of a puzzle by A*",
            Method::Breadth => "visit the states of a puzzle in the order of their distance",
        }
    }

    /// Returns whether it can solve games of this kind.
    pub fn fits(self, kind: Kind) -> bool {
        match self {
            Method::Placement | Method::BestFirst | Method::Breadth | Method::AStar => {
                kind == Kind::Puzzle
            }
        }
    }

    /// Returns whether it is used without being asked for. A* is not: the others find some line of
    /// the best goal sooner.
    pub fn is_usual(self) -> bool {
        self != Method::AStar
    }

    /// Returns the method with this name.
    pub fn by_name(name: &str) -> Option<Method> {
        METHODS.iter().copied().find(|method| method.name() == name)
    }
}
