//! The list of methods.

use crate::Kind;

/// A way to solve a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Breadth-first search of a puzzle; see [`crate::puzzle::breadth`].
    Breadth,
}

/// All methods, in the order of the help text.
pub static METHODS: &[Method] = &[Method::Breadth];

impl Method {
    /// Returns its name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Method::Breadth => "breadth",
        }
    }

    /// Returns what it does, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Method::Breadth => "visit the states of a puzzle in the order of their distance",
        }
    }

    /// Returns whether it can solve games of this kind.
    pub fn fits(self, kind: Kind) -> bool {
        match self {
            Method::Breadth => kind == Kind::Puzzle,
        }
    }

    /// Returns the method with this name.
    pub fn by_name(name: &str) -> Option<Method> {
        METHODS.iter().copied().find(|method| method.name() == name)
    }
}
